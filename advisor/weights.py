"""The bytes of a model's weights at one quantization, by what a token does with them."""

from functools import cached_property, lru_cache
from math import exp, lgamma

from advisor.model import Model
from advisor.quant import Quant
from advisor.record import dataclass
from advisor.tensor import Tensor
from advisor.units import BITS_PER_BYTE

PLAUSIBLE_SCALE = (0.5, 2.0)  # a measured size outside this of the computed one belongs to something else


@dataclass(frozen=True)
class Weights:
    """Bytes and parameters by part. A tied head counts in `head_*`, with `embedding_*` 0, so that parts sum to the total.

    Every step reads `dense_bytes + head_bytes` once, and of `expert_bytes` the share of distinct experts its tokens touch.
    """

    quant: str  # id of the quantization
    speed_class: str  # "f16" "q8" "kquant" "iq" "q4" "mxfp4" "nvfp4" "fp8" "awq" "gptq" "int8" "mlx": the kernel that reads it
    embedding_bytes: float  # looked up, not read
    head_bytes: float
    dense_bytes: float  # attention and other mixers, dense and shared feed-forward, routers, norms: all layers
    expert_bytes: float  # all routed experts of all layers
    vision_bytes: float
    embedding_params: float
    head_params: float
    dense_params: float
    expert_params: float
    vision_params: float
    mtp_params: float  # apart: in no other figure
    experts: int  # routed experts of a mixture layer; 0 for a dense model
    experts_per_token: int
    expert_layers: int
    layers: int
    bits_per_weight: float  # total bits over total params
    mixer_bytes: float = 0.0  # of dense_bytes: attention and recurrences
    mixer_params: float = 0.0
    measured: bool = False  # the total is a published file's size, not the rules'

    @cached_property
    def total_bytes(self) -> float:
        """All that is loaded, once."""
        return self.embedding_bytes + self.head_bytes + self.dense_bytes + self.expert_bytes + self.vision_bytes

    @property
    def params(self) -> float:
        """Each weight once, decoder and vision tower."""
        return self.embedding_params + self.head_params + self.dense_params + self.expert_params + self.vision_params

    @cached_property
    def active_params(self) -> float:
        """Weights that one token multiplies with: no embedding look-up, k of E experts, no vision tower."""
        return self.head_params + self.dense_params + self.chosen_share * self.expert_params

    @cached_property
    def chosen_share(self) -> float:
        """Share of the routed experts that one token is sent to."""
        return self.experts_per_token / self.experts if self.experts else 0.0

    def experts_touched_share(self, tokens: float, routing_exponent: float) -> float:
        """Share of the routed experts that `tokens` tokens of a step touch.

        Routing is uneven: with each expert's popularity p drawn from a Beta distribution of mean k/E, an expert stays untouched
        with E[(1−p)^B] = Γ(b+B)Γ(a+b) / (Γ(b)Γ(a+b+B)); B = 1 gives k/E, even routing (a → ∞) 1 − (1 − k/E)^B. `routing_exponent`
        is a, one of the calibration's constants.
        """
        return _touched_share(self.experts, self.experts_per_token, tokens, routing_exponent) if self.experts and tokens > 0 else 0.0


@lru_cache(maxsize=4096)  # of each number of users, asked for every device
def _touched_share(experts: int, experts_per_token: int, tokens: float, routing_exponent: float) -> float:
    """By the formula of `Weights.experts_touched_share`."""
    rarely = routing_exponent * (experts / experts_per_token - 1)  # b of the Beta distribution
    if not rarely:
        return 1.0
    both = routing_exponent + rarely
    return 1 - exp(lgamma(rarely + tokens) - lgamma(rarely) + lgamma(both) - lgamma(both + tokens))


@lru_cache(maxsize=4096)
def weights_of(model: Model, quant: Quant, engine_id: str) -> Weights:
    """The weights of `model` at `quant` as `engine_id` loads them."""
    sizes = {"embedding": 0.0, "head": 0.0, "mixer": 0.0, "dense": 0.0, "expert": 0.0}
    params = dict.fromkeys(sizes, 0.0)
    for tensor in model.tensors:
        part = _part(tensor)
        params[part] += tensor.params
        sizes[part] += tensor.params * quant.tensor_bits(tensor, model, engine_id) / BITS_PER_BYTE
    tower_bits = 0.0 if engine_id in quant.tower_apart else quant.tower_bits or 0.0
    vision = model.vision_params * tower_bits / BITS_PER_BYTE
    scale = _scale(model, quant, sum(sizes.values()), vision)
    moe = model.moe
    decoder = sum(params.values())
    return Weights(
        quant=quant.id,
        speed_class=quant.speed_class,
        embedding_bytes=sizes["embedding"] * scale,
        head_bytes=sizes["head"] * scale,
        dense_bytes=(sizes["mixer"] + sizes["dense"]) * scale,
        expert_bytes=sizes["expert"] * scale,
        vision_bytes=vision,
        embedding_params=params["embedding"],
        head_params=params["head"],
        dense_params=params["mixer"] + params["dense"],
        expert_params=params["expert"],
        vision_params=model.vision_params,
        mtp_params=model.mtp_params,
        experts=moe.experts if moe else 0,
        experts_per_token=moe.experts_per_token if moe else 0,
        expert_layers=sum(f.layers for f in model.ffns if f.kind == "moe"),
        layers=model.layers,
        bits_per_weight=sum(sizes.values()) * scale * BITS_PER_BYTE / decoder if decoder else 0.0,
        mixer_bytes=sizes["mixer"] * scale,
        mixer_params=params["mixer"],
        measured=scale != 1.0,
    )


def _part(tensor: Tensor) -> str:
    if tensor.part in ("embedding", "head", "mixer", "expert"):
        return tensor.part
    return "dense"


def _scale(model: Model, quant: Quant, computed_bytes: float, vision_bytes: float) -> float:
    """What brings the rules' total to a published file's size, where one is known for exactly this quantization."""
    known = [file.size_bytes for file in model.files if file.quant == quant.id]
    if not known and model.weights_bytes is not None and quant.id == model.native_quant:
        known = [model.weights_bytes - vision_bytes]
    scale = known[0] / computed_bytes if known and computed_bytes else 1.0
    low, high = PLAUSIBLE_SCALE
    return scale if low <= scale <= high else 1.0
