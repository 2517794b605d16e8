"""A model: a language model's shape – layers, widths, heads, experts – and what follows from it."""

from functools import cached_property

from advisor.feedforward import FeedForward
from advisor.mixer import ATTENTION_KINDS, RECURRENT_KINDS, SCAN_KINDS, Mixer
from advisor.price import Source
from advisor.record import dataclass
from advisor.tensor import PARTS, Tensor, vector
from advisor.units import GIB
from advisor.yamlfile import given

TOLERANCE_SHARE = 0.01
INT4_GROUP = 32  # weights that share a scale in Kimi's int4 experts: publishers that count scales count one more for each


@dataclass(frozen=True, kw_only=True)
class MeasuredFile:
    """A published file of this model at one quantization: its real size, which the total of that quantization takes."""

    quant: str = given()
    size_bytes: float = given("size_gib", GIB, above=0)
    source: str = given()


@dataclass(frozen=True, kw_only=True)
class Model:
    """A language model's shape, from which parameters, bytes and work follow."""

    id: str = given()
    name: str = given()
    aliases: tuple[str, ...] = given(default=())
    hf_repo: str | None = given(default=None)
    architecture: str = given()  # llama.cpp's word: llama qwen3moe deepseek2 gemma3 gpt-oss …
    released: str | None = given(default=None)
    license: str | None = given(default=None)
    layers: int = given(least=1)  # blocks; where mixers and feed-forwards stand in blocks of their own, all of them
    hidden_size: int = given(least=1)
    vocab_size: int = given(least=1)
    tied_embeddings: bool = given(default=False)
    max_context_tokens: int | None = given(default=None, above=0)
    native_quant: str = given(default="bf16")  # the quantization it was published in
    mixers: tuple[Mixer, ...] = given()
    ffns: tuple[FeedForward, ...] = given(default=())
    norms_per_mixer: int = given(default=1, least=0)
    norms_per_ffn: int = given(default=1, least=0)
    norm_bias: bool = given(default=False)
    final_norm: bool = given(default=True)
    embedding_size: int | None = given(default=None, above=0)  # width of the embedding where it is not hidden_size
    head_bias: bool = given(default=False)
    lookup_params: int = given(default=0, least=0)  # further tables looked up, not multiplied: positions, per-layer embeddings
    extra_params: int = given(default=0)  # dense weights that no other field holds
    vision_params: int = given(default=0, least=0)  # towers for pictures and sound, and their projectors
    mtp_layers: int = given(default=0, least=0)
    mtp_params: int = given(default=0, least=0)  # draft layers (multi-token prediction): in no other figure
    published_params: int | None = given(default=None, above=0)
    published_includes: tuple[str, ...] = given(default=())  # vision, mtp, head-copy, int4-scales
    shape_unknown: str | None = given(default=None)  # why the shape cannot give the parameters; then `stated_params` does
    stated_params: int | None = given(default=None, above=0)
    stated_active_params: int | None = given(default=None, above=0)
    files: tuple[MeasuredFile, ...] = given(default=())
    sources: tuple[Source, ...] = given(default=())
    unverified: tuple[str, ...] = given(default=())
    notes: str | None = given(default=None)
    assumed: tuple[str, ...] = given(default=())  # what was not known and taken as usual
    weights_bytes: float | None = given(default=None)  # exact bytes of the files it was read from

    def __hash__(self) -> int:
        return hash(self.id)  # the fields are many and the caches ask often; equality still compares them all

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every weight tensor, the towers and draft layers apart."""
        return _tensors(self)

    @cached_property
    def part_params(self) -> dict[str, float]:
        """Parameters by part (of tensor.PARTS); a tied head counts under `head`."""
        return {part: sum(t.params for t in self.tensors if t.part == part) for part in PARTS}

    @property
    def decoder_params(self) -> float:
        """Each weight of the language model once."""
        return sum(self.part_params.values())

    @property
    def params(self) -> float:
        """Each weight once: language model and towers, without draft layers."""
        return self.decoder_params + self.vision_params

    @cached_property
    def active_params(self) -> float:
        """Weights that one token multiplies with: no look-up tables, k of E experts, no towers."""
        if self.stated_active_params is not None:
            return self.stated_active_params
        parts = self.part_params
        experts = sum(
            t.params * f.experts_per_token / f.experts
            for f in self.ffns
            if f.experts
            for t in f.tensors(self.hidden_size)
            if t.part == "expert"
        )
        return sum(n for part, n in parts.items() if part not in ("embedding", "expert")) + experts

    @cached_property
    def recurrent_layers(self) -> int:
        """Layers that keep a state instead of a cache."""
        return sum(mixer.layers for mixer in self.mixers if mixer.kind in RECURRENT_KINDS)

    @cached_property
    def scan_layers(self) -> int:
        """Those of them whose state is a plain scan (Mamba and its kin), for which engines have other kernels."""
        return sum(mixer.layers for mixer in self.mixers if mixer.kind in SCAN_KINDS)

    @cached_property
    def is_moe(self) -> bool:
        """Whether tokens are routed to experts."""
        return any(f.kind == "moe" for f in self.ffns)

    @property
    def moe(self) -> FeedForward | None:
        """The (largest) mixture of experts, if there is one."""
        mixtures = [f for f in self.ffns if f.kind == "moe"]
        return max(mixtures, key=lambda f: f.layers) if mixtures else None

    @property
    def attention(self) -> Mixer | None:
        """The attention of the most layers: its heads are the model's."""
        kinds = [m for m in self.mixers if m.is_attention]
        return max(kinds, key=lambda m: m.layers) if kinds else None

    @property
    def heads(self) -> int:
        """Query heads of its attention; of its recurrence where it has no attention."""
        mixer = self.attention or self.mixers[0]
        return mixer.heads

    @property
    def kv_heads(self) -> int:
        """Fewest KV heads of any attention layer; 1 for a latent."""
        return min((1 if m.latent else m.kv_heads for m in self.mixers if m.is_attention), default=1)

    @property
    def hidden_bytes(self) -> float:
        """The hidden state of one token at 16 bits: what crosses a link."""
        return 2.0 * self.hidden_size

    @property
    def comparable_params(self) -> float:
        """What the published total should be: with the towers, draft layers and copies that the publisher counts."""
        total = self.decoder_params
        total += self.vision_params if "vision" in self.published_includes else 0
        total += self.part_params["expert"] / INT4_GROUP if "int4-scales" in self.published_includes else 0
        total += self.mtp_params if "mtp" in self.published_includes else 0
        return total + (self.vocab_size * self.hidden_size if "head-copy" in self.published_includes else 0)

    def impossible(self) -> tuple[str, ...]:
        """What no estimate could bear: attention without heads, or heads without a width."""
        needed = ("heads", "kv_heads", "head_dim")
        asked = ((index, mixer, key) for index, mixer in enumerate(self.mixers) if mixer.kind in ATTENTION_KINDS for key in needed)
        return tuple(f"mixers[{index}]: {mixer.kind} attention without {key}" for index, mixer, key in asked if not getattr(mixer, key))

    def problems(self) -> tuple[str, ...]:
        """What in the record contradicts itself, for `advisor check`."""
        found = []
        mixing, feeding = sum(m.layers for m in self.mixers), sum(f.layers for f in self.ffns)
        if mixing % self.layers and self.layers != mixing + feeding:
            found.append(f"layers: {self.layers}, but the mixers have {mixing} and the feed-forwards {feeding}")
        for index, mixer in enumerate(self.mixers):
            if mixer.kv_heads and mixer.heads and mixer.heads % mixer.kv_heads:
                found.append(f"mixers: [{index}] {mixer.heads} heads do not divide among {mixer.kv_heads} kv_heads")
        if self.published_params is not None and self.shape_unknown is None:
            off = self.comparable_params / self.published_params - 1
            if abs(off) > TOLERANCE_SHARE:
                found.append(f"published_params: {self.published_params}, but the shape gives {self.comparable_params:.0f} ({off:+.1%})")
        if self.shape_unknown is not None and self.stated_params is None:
            found.append("stated_params: missing, though shape_unknown says that the shape cannot give the parameters")
        return tuple(found)


def _tensors(model: Model) -> tuple[Tensor, ...]:
    hidden = model.hidden_size
    width = model.embedding_size or hidden
    found = [Tensor("token_embd" if model.tied_embeddings else "output", "head", width, model.vocab_size, 1)]
    if not model.tied_embeddings:
        found.append(Tensor("token_embd", "embedding", width, model.vocab_size, 1))
    if width != hidden:
        found.append(Tensor("embed_proj", "mixer", width, hidden, 2))
    if model.lookup_params:
        found.append(Tensor("per_layer_embd", "embedding", 256, -(-model.lookup_params // 256), 1))
    for mixer in model.mixers:
        found.extend(mixer.tensors(hidden))
    for ffn in model.ffns:
        found.extend(ffn.tensors(hidden))
    found.append(vector("norm", hidden * (1 + model.norm_bias), _norms(model)))
    found.append(vector("head", model.vocab_size * model.head_bias, 1))
    found.append(vector("norm", model.extra_params, 1))
    if model.stated_params is not None:
        rest = model.stated_params - model.vision_params - sum(t.params for t in found)
        found.append(Tensor("ffn_up", "dense-ffn", hidden, round(rest / hidden), 1))
    return tuple(t for t in found if t.params)


def _norms(model: Model) -> float:
    """Norm vectors of the hidden width: around mixers and feed-forwards, and the last one."""
    mixing = sum(m.layers for m in model.mixers if m.kind != "none")
    feeding = sum(f.layers for f in model.ffns)
    return mixing * model.norms_per_mixer + feeding * model.norms_per_ffn + model.final_norm
