"""The recurrences of a config.json – Mamba, gated DeltaNet, short convolutions and their kin – each by the keys that are there."""

from collections.abc import Callable
from math import ceil

from advisor.errors import BadInput
from advisor.intake.hf_families import Family
from advisor.intake.hf_keys import Keys
from advisor.mixer import Mixer

HEADS_KEYS = (
    "num_attention_heads_per_layer",
    "num_attention_heads",
    "n_head",
    "n_heads",
    "num_heads",
    "num_query_heads",
    "attention_heads",
)


def heads_of(keys: Keys, index: int = 0) -> int:
    """Query heads of a layer."""
    heads = keys.each(index, *HEADS_KEYS)
    if not heads:
        raise BadInput(f"{keys.where}: num_attention_heads: missing, or not above 0")
    return heads


def head_dim_of(keys: Keys, hidden: int, heads: int) -> int:
    """Width of a query head: stated, else the hidden state shared out."""
    return keys.whole("head_dim", "attention_head_dim", "kv_channels", "head_size") or max(1, hidden // heads)


def _linear(keys: Keys, family: Family, hidden: int) -> Mixer:
    """Gated DeltaNet, Kimi delta attention or lightning attention, by the keys that are there."""
    kimi = keys.part("linear_attn_config")
    if kimi is not None:
        return Mixer(
            kind="kda",
            layers=1,
            heads=kimi.whole("num_heads") or heads_of(keys),
            head_dim=kimi.whole("head_dim") or keys.whole("linear_head_dim") or 0,
            conv_kernel=kimi.whole("short_conv_kernel_size") or keys.whole("linear_conv_kernel_dim") or 0,
            full_rank_gate=kimi.flag("use_full_rank_gate"),
        )
    if keys.whole("linear_num_heads"):  # Kimi Linear as transformers 5 writes it
        return Mixer(
            kind="kda",
            layers=1,
            heads=keys.whole("linear_num_heads") or 1,
            head_dim=keys.whole("linear_head_dim") or 0,
            conv_kernel=keys.whole("linear_conv_kernel_dim") or 0,
        )
    if keys.whole("linear_num_value_heads"):
        return Mixer(
            kind="gated-deltanet",
            layers=1,
            heads=keys.whole("linear_num_value_heads") or 1,
            key_heads=keys.whole("linear_num_key_heads") or 1,
            head_dim=keys.whole("linear_value_head_dim") or 0,
            key_head_dim=keys.whole("linear_key_head_dim") or 0,
            conv_kernel=keys.whole("linear_conv_kernel_dim") or 0,
            state_bits=32 if keys.text("mamba_ssm_dtype") == "float32" else 16,
        )
    heads = heads_of(keys)
    return Mixer(kind="lightning", layers=1, heads=heads, head_dim=head_dim_of(keys, hidden, heads))


def _mamba(keys: Keys, family: Family, hidden: int) -> Mixer:
    """Mamba-2 where heads are named, else Mamba-1."""
    heads = keys.whole("mamba_num_heads", "mamba_n_heads", "n_mamba_heads")
    heads = keys.whole("num_heads") if keys.text("model_type") == "mamba2" else heads
    kernel = keys.whole("conv_kernel", "mamba_d_conv") or 0
    bias = keys.flag("use_conv_bias", "mamba_conv_bias", default=True)
    in_bias = keys.flag("mamba_proj_bias", "use_bias")
    expand = keys.whole("mamba_expand", "expand") or 1
    state = keys.whole("ssm_state_size", "mamba_d_state", "state_size")
    if heads:
        stated = keys.value("mamba_head_dim", "mamba_d_head", "mamba_headdim") or keys.value("head_dim")
        inner = keys.whole("mamba_d_ssm") or expand * hidden
        return Mixer(
            kind="mamba2",
            layers=1,
            heads=heads,
            head_dim=stated if isinstance(stated, int) and stated > 0 else max(1, inner // heads),
            state_size=state or keys.whole("mamba2_state_size") or 0,
            groups=max(1, keys.whole("n_groups", "mamba_n_groups", "mamba_ngroups") or 1),
            conv_kernel=kernel,
            conv_bias=bias,
            in_bias=in_bias,
            inner_norms=keys.flag("mamba_rms_norm", default=family.inner_norms),
            state_bits=32 if keys.text("mamba_ssm_cache_dtype") == "float32" else 16,
        )
    rank = keys.whole("mamba_dt_rank", "time_step_rank") or ceil(hidden / 16)
    return Mixer(
        kind="mamba1",
        layers=1,
        inner_size=keys.whole("intermediate_size") or expand * hidden if family.inner_norms is False else expand * hidden,
        state_size=state or keys.whole("mamba1_state_size") or 0,
        dt_rank=rank,
        conv_kernel=kernel,
        conv_bias=bias,
        in_bias=in_bias,
        inner_norms=family.inner_norms,
        state_bits=16,
    )


def _conv(keys: Keys, _family: Family, _hidden: int) -> Mixer:
    return Mixer(kind="shortconv", layers=1, conv_kernel=keys.whole("conv_L_cache", "conv_kernel") or 0, conv_bias=keys.flag("conv_bias"))


def _lru(keys: Keys, _family: Family, hidden: int) -> Mixer:
    """The gated linear recurrence of RecurrentGemma."""
    heads = heads_of(keys)
    return Mixer(
        kind="rg-lru", layers=1, heads=heads, inner_size=keys.whole("lru_width") or hidden, conv_kernel=keys.whole("conv1d_width") or 0
    )


def _rwkv(keys: Keys, _family: Family, hidden: int) -> Mixer:
    """Versions 4 to 7: receptance, key, value, output, from 5 on a gate; the feed-forward's receptance up to 6; low ranks from 6 on."""
    version = {"rwkv": 4, "rwkv5": 5, "rwkv6": 6}.get(keys.text("model_type") or "", 7)
    head_dim = keys.whole("head_size", "head_dim", "rwkv_head_size") or 1
    low = sum(keys.whole(f"{name}_low_rank_dim") or 0 for name in ("decay", "a", "v", "gate"))
    return Mixer(
        kind="rwkv",
        layers=1,
        heads=max(1, hidden // head_dim),
        head_dim=head_dim,
        square_matrices={4: 5, 7: 4}.get(version, 6),
        dt_rank=low if version == 7 else keys.whole("rwkv6_low_ranks") or 0 if version == 6 else 0,
        state_size=5 * hidden if version == 4 else hidden * (head_dim + 2),
    )


def _nothing(_keys: Keys, _family: Family, _hidden: int) -> Mixer:
    return Mixer(kind="none", layers=1)


RECURRENCES: dict[str, Callable[[Keys, Family, int], Mixer]] = {
    "linear": _linear,
    "mamba": _mamba,
    "conv": _conv,
    "lru": _lru,
    "rwkv": _rwkv,
    "none": _nothing,
    "replaced": _nothing,
}
