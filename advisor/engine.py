"""An engine: the software that runs the model – what it can do on which hardware, and how it splits."""

from collections.abc import Mapping

from advisor.price import Source
from advisor.record import dataclass
from advisor.units import GIB
from advisor.yamlfile import given

SPLITS = ("whole", "replicas", "layers", "tensor", "experts", "offload")
DEALT = "layers-dealt"  # layers of each device stated
OFFLOADS = ("offload-experts", "offload-experts-several", "offload-layers", "offload-layers-several")  # what moves out, of how many devices


@dataclass(frozen=True, kw_only=True)
class Backend:
    """One way an engine drives hardware: which makers, which oldest chip, how it talks between devices.

    `*_software` are keys of the latency table (`link_calibration.yaml`) by what the link is: peer access inside a box,
    staged through host memory, RDMA or TCP between boxes. None: it has no such path.
    """

    id: str = given()  # cuda rocm vulkan metal sycl
    makers: tuple[str, ...] = given()
    least_compute_capability: str | None = given(default=None)
    architectures: tuple[str, ...] = given(default=())  # empty = all of the makers
    not_architectures: tuple[str, ...] = given(default=())
    splits: tuple[str, ...] = given()  # of SPLITS
    preference: int = given(default=0)  # the higher the sooner chosen on hardware that several backends drive
    peer_software: str | None = given(default=None)
    staged_software: str | None = given(default=None)
    rdma_software: str | None = given(default=None)
    tcp_software: str | None = given(default=None)


@dataclass(frozen=True, kw_only=True)
class TensorRule:
    """When a tensor split is possible."""

    degrees: str = given(one_of=("any", "power-of-two", "divides-heads"))
    heads_divide: bool = given(default=True)
    kv_heads_divide_or_copy: bool = given(default=False)  # kv_heads % n == 0 or n % kv_heads == 0
    kv_heads_divide: bool = given(default=False)
    vocabulary_divides: bool = given(default=False)  # after padding to `vocabulary_pad`
    vocabulary_pad: int = given(default=64)
    hidden_divides: bool = given(default=False)
    most_devices: int | None = given(default=None)
    excluded_architectures: tuple[str, ...] = given(default=())  # Model.architecture words


@dataclass(frozen=True, kw_only=True)
class FormatRule:
    """The oldest NVIDIA chip, or the chips of other makers, on which the engine reads a quant format."""

    format: str = given()
    least_compute_capability: str | None = given(default=None)
    makers: tuple[str, ...] = given(default=())  # empty = all that the backend drives


@dataclass(frozen=True, kw_only=True)
class CacheRule:
    """The oldest NVIDIA chip, or the chips of other makers, on which the engine keeps a cache of this type."""

    kv_quant: str = given()
    least_compute_capability: str | None = given(default=None)
    makers: tuple[str, ...] = given(default=())  # empty = all that the backend drives


@dataclass(frozen=True, kw_only=True)
class SplitFlags:
    """What to write on the command line for a split; `{n}` is the number of devices, other blanks are those of `commands`."""

    split: str = given(one_of=(*SPLITS, DEALT, *OFFLOADS))
    flags: str = given()
    bench_flags: str | None = given(default=None)  # where the engine's benchmark writes it otherwise
    environment: str | None = given(default=None, about="what stands before the command that starts the engine")


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """How an engine keeps a cache: whole blocks, what a window layer holds beyond its window, what it makes of sparsity."""

    block_tokens: int = given(default=1, least=1)
    windows: bool = given(default=True)  # sliding layers hold a window only
    window_extra_tokens: int = given(default=0, least=0)
    window_quantized: bool = given(default=True)  # window layers take the asked cache type too
    full_architectures: tuple[str, ...] = given(default=())  # window ignored for these
    window_architectures: tuple[str, ...] = given(default=())  # window used for these only; empty = for all
    window_context_share: float | None = given(default=None, above=0, most=1)  # of the whole context, held by window layers come what may
    grouped_layers: bool = given(default=False)  # window layers fill up whole groups of as many layers as there are full ones
    state_as_model: bool = given(default=False)  # state in the model's own precision
    state_paged: bool = given(default=False)  # blocks of the cache are made as large as a layer's state, which fills whole ones
    sparse: bool = given(default=False)  # indexed attention reads only the tokens picked
    sparse_latent_bytes: float | None = given(default=None, above=0, about="of a token's latent in FP8, with scales and rotary numbers")
    sparse_index_bytes: float | None = given(default=None, above=0, about="of a token's index key, with its scale; empty = 16 bits each")
    absorbed: bool = given(default=True)  # MLA attends on the latent itself while reading a prompt
    unpacked_by: tuple[str, ...] = given(default=())  # backends that read prompts against a copy, in 16 bits, of a layer kept in fewer


@dataclass(frozen=True, kw_only=True)
class Corner:
    """A combination whose kernels are known to be slow: an estimate there says so, with who found it. Empty = any."""

    backend: str = given()
    architectures: tuple[str, ...] = given(default=())
    speed_classes: tuple[str, ...] = given(default=())  # kinds of weights, as quants have them
    mixtures: bool | None = given(default=None)  # true: only mixtures of experts; false: only dense models
    work: str = given(one_of=("generating", "reading prompts"))
    slower_factor: float = given(above=1)
    beside: str = given(about="what it is slower than, in a few words")
    source: str = given()

    def holds(self, backend: str, architecture: str, speed_class: str, is_mixture: bool) -> bool:
        """Whether a run falls into it."""
        return (
            self.backend == backend
            and (not self.architectures or architecture in self.architectures)
            and (not self.speed_classes or speed_class in self.speed_classes)
            and self.mixtures in (None, is_mixture)
        )


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What the engine reads, where it runs, how it splits, how it keeps memory."""

    id: str = given()
    name: str = given()
    aliases: tuple[str, ...] = given(default=())
    backends: tuple[Backend, ...] = given()
    formats: tuple[str, ...] = given()  # Quant.format words: plain gguf awq gptq fp8 int8 nvfp4 mxfp4 bnb mlx exl3 …
    experimental_formats: tuple[str, ...] = given(default=())  # of `formats`: run when the engine is named, never chosen for
    format_rules: tuple[FormatRule, ...] = given(default=())
    choice_rank: int | None = given(default=None)  # 1 = first among engines left open; None = only when named
    usual_quant: str = given()  # quant id taken when none is asked
    usual_4bit: str = given()
    usual_8bit: str = given()
    usual_16bit: str = given()
    speeds_as: str | None = given(default=None)  # id of the engine whose kernels it runs: that one's constants hold
    accumulates_fp16: bool = given(default=False)  # kernels sum up in FP16, at which GeForce cards compute twice as fast
    computes_low_precision: bool = given(default=False)  # uses FP8, FP4 and INT8 units where the chip has them
    kv_types: Mapping[str, float] = given(above=0)  # cache types that it takes, and the bits of one cached number, scales included
    cache_rules: tuple[CacheRule, ...] = given(default=())  # a type without one is kept on all that the engine runs on
    keeps: Keeping = given(default=Keeping())
    embedding_in_host: bool = given(default=False)  # the input embedding is looked up in host memory beside a card
    f32_buffers: bool = given(default=False)  # buffers in 32 bits, logits of every token of the batch
    pipeline_copies: int = given(default=1, least=1)  # of a batch's inputs, where batches follow each other through devices
    usual_split: str = given(one_of=("layers", "tensor"))  # on several devices when none is asked of what is owned
    tensor: TensorRule | None = given(default=None)
    multi_node: tuple[str, ...] = given(default=())  # splits it can do between boxes
    pipeline_fills: bool = given(default=False)  # many users keep all stages busy
    prefill_overlap: float = given(default=0.0, least=0, most=1)  # how far prompt chunks keep all stages busy: 0 one at a time
    prefill_overlap_of_mixtures: float | None = given(default=None, least=0, most=1)  # where it differs: their chunks wait for routing
    prefill_overlap_between_boxes: float = given(default=0.0, least=0, most=1)
    deals_evenly: bool = given(default=False, about="as many layers to each device when it is not told otherwise")
    mixed_devices: tuple[str, ...] = given(default=())  # splits it can do on unlike devices of one maker
    mixed_makers: tuple[str, ...] = given(default=())  # splits it can do on devices of several makers
    offload_keeps: str | None = given(default=None, one_of=("layers", "experts", "streams"))  # what it works on in host memory
    excluded_architectures: tuple[str, ...] = given(default=())
    max_sequences: int | None = given(default=None)
    sampler_logit_bytes: float | None = given(default=None, above=0, about="set apart for each user and word of the vocabulary")
    batched_prefill_tokens: int = given(default=512, least=1)  # chunk of prompt tokens read in one step
    memory_share: float | None = given(default=None)  # gpu_memory_utilization, mem-fraction-static
    overhead_bytes: float = given("overhead_gib", GIB, default=0.0)  # fixed, on each device
    split_flags: tuple[SplitFlags, ...] = given(default=())
    command: str = given()  # template of the start command
    kv_flags: str = given(default="")  # how it is told the type of the KV cache
    verify: str = given()  # template of the command that measures
    launch_boxes: str | None = given(default=None)  # what stands before it where several computers take part
    verify_users: str | None = given(default=None)  # the one for several users, where it is another
    corners: tuple[Corner, ...] = given(default=())  # known slow kernels
    sources: tuple[Source, ...] = given()
    unverified: tuple[str, ...] = given(default=())
    notes: str | None = given(default=None)

    def __hash__(self) -> int:
        return hash(self.id)  # asked often; equality still compares every field

    def environment(self, split: str) -> str:
        """What stands before the command that starts the engine, for a split; empty where it needs nothing."""
        return next((each.environment for each in self.split_flags if each.split == split and each.environment), "")

    def flags(self, split: str, count: int, bench: bool = False) -> str:
        """The command-line words for a split over `count` devices; empty where it needs none."""
        found = next((each for each in self.split_flags if each.split == split), None)
        words = (bench and found.bench_flags) or found.flags if found else ""
        return words.replace("{n}", str(count))
