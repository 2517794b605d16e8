"""A quantization: how many bits each kind of tensor takes, and which arithmetic reads it."""

from fnmatch import fnmatchcase
from functools import lru_cache
from math import ceil, floor

from advisor.model import Model
from advisor.price import Source
from advisor.record import dataclass
from advisor.tensor import Tensor
from advisor.yamlfile import given

FORMATS = ("plain", "gguf", "mxfp4", "nvfp4", "fp8", "int8", "awq", "gptq", "bnb", "mlx", "exl2", "exl3")
SPEED_CLASSES = ("f16", "bf16", "q8", "kquant", "kquant3", "iq", "q4", "mxfp4", "nvfp4", "fp8", "awq", "gptq", "int8", "mlx", "exl", "bnb")
LAYERS = ("all", "more-bits", "first-8th", "first-16th", "first-2", "first-4", "middle")
CONDITIONS = ("always", "grouped-heads", "8-experts", "llama-70b", "falcon", "tied", "moe", "dense", "native-mxfp4")
LLAMA_70B_LAYERS = 80


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Tensors of these roles (shell patterns over Tensor.role) are stored in this type, on these layers, under this condition.

    Of several rules the first that fits holds; layers it leaves out fall to the next. Rows that the block does not divide
    take `narrow_bits` instead.
    """

    roles: tuple[str, ...] = given()
    type: str = given()
    bits: float = given(above=0)  # per weight, scales included
    block: int = given(default=1, least=1)
    narrow_bits: float | None = given(default=None, above=0)
    row_multiple: int = given(default=1, least=1)  # rows are filled up to a multiple of this when they are loaded
    layers: str = given(default="all", one_of=LAYERS)
    when: str = given(default="always", one_of=CONDITIONS)
    engines: tuple[str, ...] = given(default=())  # empty = all

    def bits_of(self, tensor: Tensor) -> float:
        """Bits a weight of this tensor takes."""
        if self.narrow_bits is not None and tensor.columns % self.block:
            return self.narrow_bits
        return self.bits * (-(-tensor.columns // self.row_multiple) * self.row_multiple) / tensor.columns


@dataclass(frozen=True, kw_only=True)
class Quant:
    """A quantization of weights."""

    id: str = given()
    name: str = given()
    aliases: tuple[str, ...] = given(default=())
    format: str = given(one_of=FORMATS)  # what an engine must read
    speed_class: str = given(one_of=SPEED_CLASSES)  # the kernel that reads it
    compute: str = given(default="fp16", one_of=("fp32", "fp16", "fp8", "fp4", "int8"))  # arithmetic where the chip has it
    nominal_bits: float = given(above=0)
    perplexity_rise_share: float | None = given(
        default=None, above=-0.1, about="how much worse than 16 bits a published test found it to predict text"
    )
    dynamic: bool = given(default=False)  # a mix of types chosen model by model: rules are typical, files are measured
    tower_bits: float | None = given(default=None, above=0)  # vision tower; None = in a file of its own, not loaded
    tower_apart: tuple[str, ...] = given(default=())  # engines that keep it in a file of its own, loaded only for pictures
    rules: tuple[Rule, ...] = given()
    sources: tuple[Source, ...] = given(default=())
    notes: str | None = given(default=None)

    def __hash__(self) -> int:
        return hash(self.id)  # asked often; equality still compares every field

    def tensor_bits(self, tensor: Tensor, model: Model, engine_id: str) -> float:
        """Mean bits per weight over the tensor's copies."""
        left, bits = 1.0, 0.0
        for rule in self._rules_for(tensor.role, engine_id):
            if not _holds(rule.when, model):
                continue
            share = left if rule.layers == "all" else min(left, _layer_share(rule.layers, max(1, round(tensor.copies)), model))
            bits += share * rule.bits_of(tensor)
            left -= share
            if left <= 0:
                return bits
        return bits + left * self.nominal_bits

    def _rules_for(self, role: str, engine_id: str) -> tuple[Rule, ...]:
        return _matching(self, role, engine_id)


@lru_cache(maxsize=8192)
def _matching(quant: Quant, role: str, engine_id: str) -> tuple[Rule, ...]:
    return tuple(
        rule
        for rule in quant.rules
        if (not rule.engines or engine_id in rule.engines) and any(_fits(role, pattern) for pattern in rule.roles)
    )


def _fits(role: str, pattern: str) -> bool:
    """Whether a shell pattern fits; most are plain words, for which no regular expression is compiled."""
    if any(sign in pattern for sign in "*?["):
        return fnmatchcase(role, pattern)
    return role == pattern


def _holds(condition: str, model: Model) -> bool:
    """Whether a rule's condition is true of a model [llama.cpp, llama_tensor_get_type]."""
    moe = model.moe
    experts = moe.experts if moe else 0
    grouped = model.heads >= 4 * model.kv_heads or experts >= 4
    return {
        "always": True,
        "grouped-heads": grouped,
        "8-experts": experts == 8,
        "llama-70b": model.architecture == "llama" and model.layers == LLAMA_70B_LAYERS and not experts,
        "falcon": model.architecture == "falcon",
        "tied": model.tied_embeddings,
        "moe": experts > 0,
        "dense": experts == 0,
        "native-mxfp4": model.native_quant == "mxfp4",
    }[condition]


def _layer_share(layers: str, copies: int, model: Model) -> float:
    """The share of a tensor's layers that a rule means; experts of one layer count once."""
    moe = model.moe
    n = copies // moe.experts if moe and copies > model.layers else copies
    n = max(1, n)
    eighth = n // 8
    more = sum(1 for i in range(n) if i < eighth or i >= 7 * n // 8 or (i - eighth) % 3 == 2)
    counts = {
        "more-bits": more,
        "first-8th": floor(n / 8),
        "first-16th": floor(n / 16),
        "first-2": 2,
        "first-4": 4,
        "middle": ceil(7 * n / 8) - floor(n / 8),
    }
    return min(1.0, counts[layers] / n)
