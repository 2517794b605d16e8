"""A feed-forward: what a layer does with each token by itself – one dense network, or a mixture of experts."""

from collections.abc import Iterator

from advisor.record import dataclass
from advisor.tensor import Tensor, vector
from advisor.yamlfile import given


@dataclass(frozen=True, kw_only=True)
class FeedForward:
    """`layers` equal layers. Dense: `width`. Mixture: `experts` of `expert_width`, of which a token takes
    `experts_per_token`, and `shared_width` that every token takes; `width` then is a dense network beside the experts.

    `expert_groups`: routing picks `groups_per_token` of them first, so a token visits few boxes.
    `latent_size`: experts work on a narrower copy of the hidden state.
    """

    kind: str = given(one_of=("dense", "moe"))
    layers: int = given(least=1)
    width: int = given(default=0, least=0)
    gated: bool = given(default=True)
    bias: bool = given(default=False)
    fused_gate: bool = given(default=False)  # gate and up are one tensor in GGUF files
    experts: int = given(default=0, least=0)
    experts_per_token: int = given(default=0, least=0)
    expert_width: int = given(default=0, least=0)
    shared_width: int = given(default=0, least=0)
    shared_gate: bool = given(default=False)
    router_bias: bool = given(default=False)
    expert_bias: bool = given(default=False)
    expert_groups: int = given(default=1, least=1)
    groups_per_token: int = given(default=1, least=1)
    latent_size: int | None = given(default=None, above=0)
    extra_layer_params: int = given(default=0)  # per layer, what no other field holds: scales, norms of the latent

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        """Every weight tensor of these layers."""
        return tuple(self._tensors(hidden_size))

    def _tensors(self, hidden: int) -> Iterator[Tensor]:
        if self.width:
            yield from self._network("", "dense-ffn", hidden, self.width, self.layers)
        if self.bias:
            yield vector("dense-ffn", self.width * (1 + self.gated) + hidden, self.layers)
        if self.kind == "moe":
            yield from self._mixture(hidden)
        yield vector("norm", self.extra_layer_params, self.layers)

    def _mixture(self, hidden: int) -> Iterator[Tensor]:
        yield Tensor("router", "router", hidden, self.experts, self.layers)
        yield vector("router", self.experts * self.router_bias, self.layers)
        inner = self.latent_size or hidden
        yield from self._network("_exps", "expert", inner, self.expert_width, self.layers * self.experts)
        if self.expert_bias:
            yield vector("expert", self.experts * (self.expert_width * (1 + self.gated) + hidden), self.layers)
        if self.shared_width:
            yield from self._network("_shexp", "shared", hidden, self.shared_width, self.layers)
            yield vector("shared", hidden * self.shared_gate, self.layers)
        if self.latent_size:
            yield Tensor("ffn_latent", "shared", hidden, self.latent_size, self.layers)
            yield Tensor("ffn_latent", "shared", self.latent_size, hidden, self.layers)

    def _network(self, kind: str, part: str, inner: int, width: int, copies: float) -> Iterator[Tensor]:
        """The two or three matrices of a network of `width` on `inner`."""
        if self.gated and self.fused_gate:
            yield Tensor(f"ffn_up{kind}", part, inner, 2 * width, copies)
        else:
            yield Tensor(f"ffn_up{kind}", part, inner, width, copies)
            if self.gated:
                yield Tensor(f"ffn_gate{kind}", part, inner, width, copies)
        yield Tensor(f"ffn_down{kind}", part, width, inner, copies)
