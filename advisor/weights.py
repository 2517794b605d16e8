"""The bytes of a model's weights at one quantization, by what a token does with them."""

from dataclasses import dataclass


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

    @property
    def total_bytes(self) -> float:
        """All that is loaded, once."""
        return self.embedding_bytes + self.head_bytes + self.dense_bytes + self.expert_bytes + self.vision_bytes

    @property
    def params(self) -> float:
        """Each weight once, decoder and vision tower."""
        return self.embedding_params + self.head_params + self.dense_params + self.expert_params + self.vision_params

    @property
    def active_params(self) -> float:
        """Weights that one token multiplies with: no embedding look-up, k of E experts, no vision tower."""
        share = self.experts_per_token / self.experts if self.experts else 0.0
        return self.head_params + self.dense_params + share * self.expert_params

    def experts_touched_share(self, tokens: float) -> float:
        """Share of the routed experts that `tokens` tokens of a step touch: 1 − (1 − k/E)^B."""
        if not self.experts:
            return 0.0
        return float(1 - (1 - self.experts_per_token / self.experts) ** tokens)
