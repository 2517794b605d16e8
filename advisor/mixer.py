"""A mixer: how the tokens of a sequence see each other in a group of equal layers – attention, or a recurrence."""

from collections.abc import Callable, Iterator

from advisor.record import dataclass
from advisor.tensor import Tensor, vector
from advisor.yamlfile import given

ATTENTION_KINDS = ("full", "sliding", "chunked")
SCAN_KINDS = ("mamba1", "mamba2", "shortconv", "rg-lru", "rwkv")
RECURRENT_KINDS = ("gated-deltanet", "kda", "lightning", *SCAN_KINDS)
KINDS = (*ATTENTION_KINDS, "mla", "compressed", *RECURRENT_KINDS, "none")


@dataclass(frozen=True, kw_only=True)
class Mixer:
    """`layers` equal layers. Attention: `heads` × `head_dim` queries on `kv_heads` keys and values; a recurrence has
    `heads` (value heads of gated DeltaNet), `key_heads`, `state_size`.

    full: every earlier token is cached; sliding: the last `window_tokens`; chunked: the chunk of `window_tokens` one is in;
    mla: one latent of `kv_lora_rank` + `rope_dim` for all heads; compressed: DeepSeek-V4, one shared key = value head, a
    window, and one entry for each `compress_ratio` tokens; none: the layer has no mixer.
    """

    kind: str = given(one_of=KINDS)
    layers: int = given(least=1)
    heads: int = given(default=0, least=0)
    kv_heads: int = given(default=0, least=0)
    head_dim: int = given(default=0, least=0)
    v_head_dim: int | None = given(default=None, above=0)  # None = head_dim
    window_tokens: int | None = given(default=None, above=0)
    kv_shared_layers: int = given(default=0, least=0)  # of `layers`: they read an earlier layer's cache and keep none
    key_is_value: bool = given(default=False)  # one projection gives both; both are cached all the same
    q_bias: bool = given(default=False)
    kv_bias: bool = given(default=False)
    o_bias: bool = given(default=False)
    qk_norm: str = given(default="none", one_of=("none", "head", "full", "per-head"))
    qk_norm_bias: bool = given(default=False)
    output_gate: str = given(default="none", one_of=("none", "channel", "head"))
    sinks: bool = given(default=False)
    fused_qkv: bool = given(default=False)  # one tensor in GGUF files
    q_lora_rank: int | None = given(default=None, above=0)
    kv_lora_rank: int | None = given(default=None, above=0)
    nope_dim: int | None = given(default=None, least=0)
    rope_dim: int | None = given(default=None, least=0)
    indexer_heads: int = given(default=0, least=0)  # sparse attention: a small head picks `indexer_tokens` of the context
    indexer_head_dim: int = given(default=0, least=0)
    indexer_tokens: int | None = given(default=None, above=0)
    indexer_layers: int = given(default=0, least=0)
    o_lora_rank: int | None = given(default=None, above=0)
    o_groups: int | None = given(default=None, above=0)
    hyper_connections: int = given(default=0, least=0)
    compress_ratio: int = given(default=0, least=0)
    key_heads: int = given(default=0, least=0)
    key_head_dim: int | None = given(default=None, above=0)
    conv_kernel: int = given(default=0, least=0)
    conv_bias: bool = given(default=False)
    state_size: int = given(default=0, least=0)
    groups: int = given(default=1, least=1)
    inner_size: int = given(default=0, least=0)
    dt_rank: int = given(default=0, least=0)
    inner_norms: bool = given(default=False)
    square_matrices: int = given(default=0, least=0)  # rwkv: those of the hidden width, with the one that gates the feed-forward
    full_rank_gate: bool = given(default=False)
    in_bias: bool = given(default=False)
    state_bits: int = given(default=32, least=8)  # precision of the state in engines that follow the model's own

    @property
    def value_dim(self) -> int:
        """Width of one value head."""
        return self.v_head_dim if self.v_head_dim is not None else self.head_dim

    @property
    def is_attention(self) -> bool:
        """Whether it keeps a cache that grows, at least up to a window."""
        return self.kind in ATTENTION_KINDS or self.latent

    @property
    def latent(self) -> bool:
        """Whether the cache is one latent for all heads, which every tensor rank holds in full."""
        return self.kind in ("mla", "compressed")

    @property
    def caching_layers(self) -> int:
        """Layers that hold a cache of their own."""
        return self.layers - self.kv_shared_layers if self.is_attention else 0

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        """Every weight tensor of these layers, norms around them apart."""
        return tuple(_MAKERS[self.kind](self, hidden_size))


def _attention(m: Mixer, hidden: int) -> Iterator[Tensor]:
    gated_rows = 2 if m.output_gate == "channel" else 1
    queries, keys, values = m.heads * m.head_dim, m.kv_heads * m.head_dim, m.kv_heads * m.value_dim
    values = 0 if m.key_is_value else values
    if m.fused_qkv:
        yield Tensor("attn_qkv", "mixer", hidden, queries * gated_rows + keys + values, m.layers)
    else:
        if m.q_lora_rank:
            yield Tensor("attn_q_a", "mixer", hidden, m.q_lora_rank, m.layers)
        yield Tensor("attn_q", "mixer", m.q_lora_rank or hidden, queries * gated_rows, m.layers)
        yield Tensor("attn_k", "mixer", hidden, keys, m.layers)
        yield Tensor("attn_v", "mixer", hidden, values, m.layers)
    yield Tensor("attn_output", "mixer", m.heads * m.value_dim, hidden, m.layers)
    if m.output_gate == "head":
        yield Tensor("attn_gate", "mixer", hidden, m.heads, m.layers)
    yield vector("mixer", queries * m.q_bias + (keys + values) * m.kv_bias + hidden * m.o_bias + m.heads * m.sinks, m.layers)
    yield vector("norm", _qk_norm_params(m) * (2 if m.qk_norm_bias else 1), m.layers)
    yield from _indexer(m, hidden, hidden)


def _qk_norm_params(m: Mixer) -> int:
    sizes = {"none": 0, "head": 2 * m.head_dim, "full": (m.heads + m.kv_heads) * m.head_dim}
    return sizes.get(m.qk_norm, (m.heads + m.kv_heads) * m.head_dim)


def _indexer(m: Mixer, hidden: int, query_width: int) -> Iterator[Tensor]:
    """DeepSeek sparse attention [DeepSeek-V3.2-Exp, 2025, eq. 1]: index queries, one index key, a weight for each head."""
    if m.indexer_heads and m.latent:
        yield Tensor("indexer", "mixer", query_width, m.indexer_heads * m.indexer_head_dim, m.indexer_layers)
        yield Tensor("indexer", "mixer", hidden, m.indexer_head_dim + m.indexer_heads, m.indexer_layers)
        yield vector("norm", 2 * m.indexer_head_dim, m.indexer_layers)
    elif m.indexer_heads:
        yield Tensor("indexer", "mixer", hidden, (m.indexer_heads + 1) * m.indexer_head_dim, m.indexer_layers)
        yield vector("norm", 2 * m.indexer_head_dim, m.indexer_layers)


def _mla(m: Mixer, hidden: int) -> Iterator[Tensor]:
    """Multi-head latent attention [DeepSeek-V2, 2024, §2.1]."""
    nope, rope, latent = m.nope_dim or 0, m.rope_dim or 0, m.kv_lora_rank or 0
    query_width = m.q_lora_rank or hidden
    if m.q_lora_rank:
        yield Tensor("attn_q_a", "mixer", hidden, m.q_lora_rank, m.layers)
        yield vector("norm", m.q_lora_rank, m.layers)
    yield Tensor("attn_q_b" if m.q_lora_rank else "attn_q", "mixer", query_width, m.heads * (nope + rope), m.layers)
    yield Tensor("attn_kv_a", "mixer", hidden, latent + rope, m.layers)
    yield vector("norm", latent, m.layers)
    yield Tensor("attn_k_b", "mixer", nope, m.heads * latent, m.layers)
    yield Tensor("attn_v_b", "mixer", latent, m.heads * m.value_dim, m.layers)
    yield Tensor("attn_output", "mixer", m.heads * m.value_dim, hidden, m.layers)
    if m.output_gate == "channel":
        yield Tensor("attn_gate", "mixer", hidden, m.heads * m.value_dim, m.layers)
    yield from _indexer(m, hidden, query_width)


def _gated_deltanet(m: Mixer, hidden: int) -> Iterator[Tensor]:
    """Gated DeltaNet as in Qwen3-Next: `heads` value heads on `key_heads` key heads."""
    keys, values = m.key_heads * (m.key_head_dim or m.head_dim), m.heads * m.head_dim
    yield Tensor("attn_qkv", "mixer", hidden, 2 * keys + values, m.layers)
    yield Tensor("attn_gate", "mixer", hidden, values, m.layers)
    yield Tensor("ssm_ba", "mixer", hidden, 2 * m.heads, m.layers)
    yield Tensor("ssm_conv", "mixer", m.conv_kernel, 2 * keys + values, m.layers)
    yield Tensor("ssm_out", "mixer", values, hidden, m.layers)
    yield vector("mixer", 2 * m.heads + m.head_dim, m.layers)


def _kda(m: Mixer, hidden: int) -> Iterator[Tensor]:
    """Kimi delta attention [Kimi Linear, 2025, §4]: as gated DeltaNet with a decay for each channel, gates of low rank."""
    width = m.heads * m.head_dim
    for role in ("attn_q", "attn_k", "attn_v"):
        yield Tensor(role, "mixer", hidden, width, m.layers)
    yield Tensor("ssm_conv", "mixer", m.conv_kernel, 3 * width, m.layers)
    yield Tensor("ssm_f_a", "mixer", hidden, m.head_dim, m.layers)
    yield Tensor("ssm_f_b", "mixer", m.head_dim, width, m.layers)
    yield Tensor("ssm_ba", "mixer", hidden, m.heads, m.layers)
    if m.full_rank_gate:
        yield Tensor("attn_gate", "mixer", hidden, width, m.layers)
    else:
        yield Tensor("ssm_g_a", "mixer", hidden, m.head_dim, m.layers)
        yield Tensor("ssm_g_b", "mixer", m.head_dim, width, m.layers)
    yield Tensor("attn_output", "mixer", width, hidden, m.layers)
    yield vector("mixer", m.heads + width + m.head_dim, m.layers)


def _lightning(m: Mixer, hidden: int) -> Iterator[Tensor]:
    """Lightning attention [MiniMax-01, 2025, §2.2]: queries, keys, values, an output gate."""
    width = m.heads * m.head_dim
    yield Tensor("attn_qkv", "mixer", hidden, 3 * width, m.layers)
    yield Tensor("attn_gate", "mixer", hidden, width, m.layers)
    yield Tensor("attn_output", "mixer", width, hidden, m.layers)
    yield vector("norm", width, m.layers)


def _mamba2(m: Mixer, hidden: int) -> Iterator[Tensor]:
    """Mamba-2 [Dao & Gu, 2024, §7]: input projection to gate, x, B, C, dt; convolution; output projection."""
    inner, state = m.heads * m.head_dim, m.groups * m.state_size
    yield Tensor("ssm_in", "mixer", hidden, 2 * inner + 2 * state + m.heads, m.layers)
    yield Tensor("ssm_conv", "mixer", m.conv_kernel, inner + 2 * state, m.layers)
    yield Tensor("ssm_out", "mixer", inner, hidden, m.layers)
    bias = (2 * inner + 2 * state + m.heads + hidden) * m.in_bias
    norm = inner if m.inner_norms else 0
    yield vector("mixer", (inner + 2 * state) * m.conv_bias + 3 * m.heads + norm + bias, m.layers)


def _mamba1(m: Mixer, hidden: int) -> Iterator[Tensor]:
    """Mamba [Gu & Dao, 2023, §3.4]: selective state space with a diagonal A for each channel."""
    inner, state, rank = m.inner_size, m.state_size, m.dt_rank
    yield Tensor("ssm_in", "mixer", hidden, 2 * inner, m.layers)
    yield Tensor("ssm_conv", "mixer", m.conv_kernel, inner, m.layers)
    yield Tensor("ssm_x", "mixer", inner, rank + 2 * state, m.layers)
    yield Tensor("ssm_dt", "mixer", rank, inner, m.layers)
    yield Tensor("ssm_a", "mixer", state, inner, m.layers)
    yield Tensor("ssm_out", "mixer", inner, hidden, m.layers)
    bias = (2 * inner + hidden) * m.in_bias
    norms = rank + 2 * state if m.inner_norms else 0
    yield vector("mixer", inner * (2 + m.conv_bias) + norms + bias, m.layers)


def _shortconv(m: Mixer, hidden: int) -> Iterator[Tensor]:
    """Gated short convolution of LFM2: in to three times the width, a convolution, out."""
    yield Tensor("shortconv_in", "mixer", hidden, 3 * hidden, m.layers)
    yield Tensor("ssm_conv", "mixer", m.conv_kernel, hidden, m.layers)
    yield Tensor("shortconv_out", "mixer", hidden, hidden, m.layers)
    yield vector("mixer", 5 * hidden * m.conv_bias, m.layers)


def _rg_lru(m: Mixer, hidden: int) -> Iterator[Tensor]:
    """Real-gated linear recurrent unit [Griffin, De et al., 2024, §2.4]: two branches in, a convolution, block-diagonal gates, out."""
    width, block = m.inner_size, m.inner_size // max(1, m.heads)
    yield Tensor("ssm_in", "mixer", hidden, 2 * width, m.layers)
    yield Tensor("ssm_conv", "mixer", m.conv_kernel, width, m.layers)
    yield Tensor("ssm_x", "mixer", block, 2 * width, m.layers)
    yield Tensor("ssm_out", "mixer", width, hidden, m.layers)
    yield vector("mixer", 6 * width + hidden, m.layers)


def _rwkv(m: Mixer, hidden: int) -> Iterator[Tensor]:
    """RWKV [Peng et al., 2023; "Eagle and Finch", 2024; "Goose", 2025]: square matrices, and pairs of low rank from version 6 on."""
    yield Tensor("attn_qkv", "mixer", hidden, m.square_matrices * hidden, m.layers)
    yield Tensor("ssm_f_a", "mixer", hidden, m.dt_rank, m.layers)
    yield Tensor("ssm_f_b", "mixer", m.dt_rank, hidden, m.layers)
    yield vector("mixer", 9 * hidden, m.layers)


def _compressed(m: Mixer, hidden: int) -> Iterator[Tensor]:
    """DeepSeek-V4: low-rank queries, one shared key = value head, grouped low-rank output, compressors, indexer."""
    rank, out_rank, out_groups = m.q_lora_rank or 0, m.o_lora_rank or 0, m.o_groups or 1
    width = m.heads * m.head_dim
    yield Tensor("attn_q_a", "mixer", hidden, rank, m.layers)
    yield Tensor("attn_q_b", "mixer", rank, width, m.layers)
    yield Tensor("attn_kv_a", "mixer", hidden, m.head_dim, m.layers)
    yield Tensor("attn_o_a", "mixer", width // out_groups, out_groups * out_rank, m.layers)
    yield Tensor("attn_output", "mixer", out_groups * out_rank, hidden, m.layers)
    yield vector("norm", rank + m.head_dim, m.layers)
    yield vector("mixer", m.heads, m.layers)
    yield from _hyper_connections(m, hidden)
    if m.compress_ratio:
        yield from _compressor(m, hidden, m.head_dim)
    if m.indexer_heads:
        yield Tensor("indexer", "mixer", rank, m.indexer_heads * m.indexer_head_dim, m.layers)
        yield Tensor("indexer", "mixer", hidden, m.indexer_heads, m.layers)
        yield from _compressor(m, hidden, m.indexer_head_dim)


def _hyper_connections(m: Mixer, hidden: int) -> Iterator[Tensor]:
    """`n` residual streams mixed before and after attention and feed-forward [Zhu et al., "Hyper-connections", 2024]."""
    n = m.hyper_connections
    if n:
        yield Tensor("hyper", "mixer", n * hidden, (2 + n) * n, 2 * m.layers)
        yield vector("mixer", (2 + n) * n + 3, 2 * m.layers)


def _compressor(m: Mixer, hidden: int, width: int) -> Iterator[Tensor]:
    """Pools `compress_ratio` tokens into one entry, with learnt weights by position; ratio 4 overlaps two blocks."""
    overlap = 2 if m.compress_ratio == 4 else 1
    yield Tensor("compressor", "mixer", hidden, 2 * overlap * width, m.layers)
    yield vector("mixer", m.compress_ratio * overlap * width + width, m.layers)


def _none(_m: Mixer, _hidden: int) -> Iterator[Tensor]:
    return iter(())


_MAKERS: dict[str, Callable[[Mixer, int], Iterator[Tensor]]] = {
    "full": _attention,
    "sliding": _attention,
    "chunked": _attention,
    "mla": _mla,
    "gated-deltanet": _gated_deltanet,
    "kda": _kda,
    "lightning": _lightning,
    "mamba2": _mamba2,
    "mamba1": _mamba1,
    "shortconv": _shortconv,
    "rg-lru": _rg_lru,
    "rwkv": _rwkv,
    "compressed": _compressed,
    "none": _none,
}
