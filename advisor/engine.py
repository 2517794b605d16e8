"""An engine: the software that runs the model – what it can do on which hardware, and how it splits."""

from dataclasses import dataclass

from advisor.price import Source
from advisor.units import GIB
from advisor.yamlfile import given

SPLITS = ("whole", "replicas", "layers", "tensor", "experts", "offload")


@dataclass(frozen=True, kw_only=True)
class Backend:
    """One way an engine drives hardware: which makers, which oldest chip, how it talks between devices."""

    id: str = given()  # cuda rocm vulkan metal sycl
    makers: tuple[str, ...] = given()
    least_compute_capability: str | None = given(default=None)
    architectures: tuple[str, ...] = given(default=())  # empty = all of the makers
    not_architectures: tuple[str, ...] = given(default=())
    splits: tuple[str, ...] = given()  # of SPLITS
    preference: int = given(default=0)  # the higher the sooner chosen on hardware that several backends drive


@dataclass(frozen=True, kw_only=True)
class TensorRule:
    """When a tensor split is possible."""

    degrees: str = given(one_of=("any", "power-of-two", "divides-heads"))
    heads_divide: bool = given(default=True)
    kv_heads_divide_or_copy: bool = given(default=False)  # kv_heads % n == 0 or n % kv_heads == 0
    kv_heads_divide: bool = given(default=False)
    vocabulary_divides: bool = given(default=False)
    hidden_divides: bool = given(default=False)
    most_devices: int | None = given(default=None)
    excluded_architectures: tuple[str, ...] = given(default=())  # Model.architecture words
    needs_rdma_between_boxes: bool = given(default=False)


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What the engine reads, where it runs, how it splits, how it keeps memory."""

    id: str = given()
    name: str = given()
    aliases: tuple[str, ...] = given(default=())
    backends: tuple[Backend, ...] = given()
    formats: tuple[str, ...] = given()  # quant formats it reads: Quant.format words (gguf safetensors awq gptq fp8 … mlx exl3)
    usual_quant: str = given()  # quant id taken when none is asked
    usual_4bit: str = given()
    usual_8bit: str = given()
    usual_16bit: str = given()
    kv_types: tuple[str, ...] = given()
    usual_split: str = given(one_of=("layers", "tensor"))  # on several devices when none is asked of what is owned
    tensor: TensorRule | None = given(default=None)
    multi_node: tuple[str, ...] = given(default=())  # splits it can do between boxes
    pipeline_fills: bool = given(default=False)  # many users keep all stages busy
    uneven_layers: bool = given(default=True)
    mixed_devices: tuple[str, ...] = given(default=())  # splits it can do on unlike devices
    excluded_architectures: tuple[str, ...] = given(default=())
    max_sequences: int | None = given(default=None)
    batched_prefill_tokens: int | None = given(default=None)  # chunk of prompt tokens read in one step
    memory_share: float | None = given(default=None)  # gpu_memory_utilization, mem-fraction-static
    overhead_bytes: float = given("overhead_gib", GIB, default=0.0)  # fixed, on each device
    collectives: str = given(default="nccl")  # key of the latency table in calibration: links
    command: str = given()  # template of the start command
    verify: str = given()  # template of the command that measures
    sources: tuple[Source, ...] = given()
    unverified: tuple[str, ...] = given(default=())
    notes: str | None = given(default=None)
