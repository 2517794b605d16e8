"""The feed-forwards of a config.json: dense or routed to experts, equal layers together."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from advisor.feedforward import FeedForward
from advisor.intake.hf_families import Family
from advisor.intake.hf_keys import Keys
from advisor.intake.hf_layers import is_mixture
from advisor.record import replace

EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "num_routed_experts", "num_moe_experts")
CHOSEN = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "moe_topk",
    "moe_k",
    "top_k_experts",
    "moe_top_k",
    "experts_per_token",
    "num_selected_experts",
    "moe_router_topk",
)
EXPERT_WIDTH = ("moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size", "expert_hidden_size")
DENSE_WIDTH = (
    *("intermediate_size_mlp", "dense_intermediate_size", "ffn_hidden_size", "intermediate_size", "ff_intermediate_size"),
    *("n_inner", "ffn_dim", "d_ff", "hidden_dim"),
)
SHARED_COUNT = ("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts")
SHARED_WIDTH = ("shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim")
ROUTER_BIAS = ("use_routing_bias", "use_moe_router_bias", "use_expert_bias", "moe_router_enable_expert_bias", "moe_use_aux_free")
UNGATED = ("relu2", "relu", "gelu", "gelu_new", "gelu_fast", "xielu", "gelu_pytorch_tanh")
PICTURE_EXPERTS = ("ernie4_5_vl_moe_text", "ernie4_5_vl_moe", "ernie4_5_moe_vl", "ernie4_5_vl")
NAS_MULTIPLE = 256
LARGEST_MULTIPLE = 100


def feed_forwards(keys: Keys, family: Family, kinds: list[str], hidden: int) -> tuple[FeedForward, ...]:
    """All layers with a feed-forward, equal ones in one record."""
    blocks = any(kind in ("mlp", "moe") for kind in kinds)
    alone = keys.text("model_type") in ("mamba", "mamba2", "falcon_mamba")
    layers = len(kinds)
    mixture = _mixture(keys, family) if _experts(keys) else None
    routed = is_mixture(keys, layers) if mixture is not None and not blocks else [kind == "moe" for kind in kinds]
    found: Counter[FeedForward] = Counter()
    for index, kind in enumerate(kinds):
        if alone or (blocks and kind not in ("mlp", "moe")):
            continue
        ffn = mixture if routed[index] and mixture is not None else _dense(keys.layer(index), family, index, layers, hidden)
        if ffn is not None:
            found[ffn] += 1
    return tuple(replace(ffn, layers=count) for ffn, count in found.items())


def _experts(keys: Keys) -> int:
    if keys.value("is_moe", "use_moe", "enable_moe_block") is False:
        return 0
    inner = keys.part("ffn_config", "moe")
    return keys.whole(*EXPERTS) or (inner.whole("moe_num_experts", "num_experts") if inner else None) or 0


def _first(keys: Keys, *names: str) -> int | None:
    """A width; the first of a list that differs by layer or by kind of expert."""
    found = keys.value(*names)
    if isinstance(found, list) and found and isinstance(found[0], int) and found[0] >= 0:
        return found[0]
    return keys.whole(*names)


def _gated(keys: Keys, family: Family) -> bool:
    act = keys.text("mlp_hidden_act")
    return family.gated if act is None else family.gated or act not in UNGATED


def _mixture(keys: Keys, family: Family) -> FeedForward:
    inner = keys.part("ffn_config", "moe")
    stated = _first(keys, *EXPERT_WIDTH) or (inner.whole("ffn_hidden_size") if inner else None)
    width = stated or _first(keys, "intermediate_size") or _dense_width(keys)
    groups = keys.whole("n_group", "num_expert_group", "n_groups_moe") or 1
    beside = keys.flag("enable_moe_block", "residual_moe") and keys.whole("intermediate_size") or 0  # Gemma 4, Grok 2: a dense network too
    chosen = _first(keys, *CHOSEN) or (inner.whole("moe_top_k", "num_experts_per_tok") if inner else None) or 1
    experts = _experts(keys)
    noaux = keys.text("topk_method") == "noaux_tc"
    hidden = keys.whole("hidden_size") or 0
    latent = keys.whole("moe_latent_size", "routed_expert_hidden_size", "moe_hidden_size") or None
    return FeedForward(
        kind="moe",
        layers=1,
        width=beside,
        gated=_gated(keys, family),
        experts=experts,
        experts_per_token=min(chosen, experts),
        expert_width=width,
        shared_width=_shared(keys, width),
        shared_gate=family.shared_gate,
        router_bias=keys.flag(*ROUTER_BIAS, default=family.router_bias or noaux),
        expert_bias=family.expert_bias,
        expert_groups=groups,
        groups_per_token=(keys.whole("topk_group") or 1) if groups > 1 else 1,
        latent_size=latent,
        extra_layer_params=(hidden + experts if keys.flag("enable_moe_block") else 0) + _zero_experts(keys),
    )


def _zero_experts(keys: Keys) -> int:
    """LongCat: experts that only pass the token on still have a row in the router."""
    return (keys.whole("zero_expert_num") or 0) * (keys.whole("hidden_size") or 0)


def picture_experts(keys: Keys, feeding: tuple[FeedForward, ...]) -> int:
    """ERNIE 4.5 VL: parameters of a second set of experts, of their own width, that only tokens of pictures take."""
    widths, counts = keys.many("moe_intermediate_size"), keys.value("moe_num_experts")
    if keys.text("model_type") not in PICTURE_EXPERTS or widths is None or len(widths) != 2:
        return 0
    experts = Keys({"n": counts[-1] if isinstance(counts, list) and counts else counts, "w": widths[1]}, {}, keys.where)
    each = (experts.whole("w") or 0) * 3 + 1  # three matrices and a row of the router
    return sum(f.layers for f in feeding if f.kind == "moe") * (experts.whole("n") or 0) * each * (keys.whole("hidden_size") or 0)


def _shared(keys: Keys, width: int) -> int:
    """Width of what every token takes: stated as one width, or as so many experts."""
    count = _first(keys, *SHARED_COUNT)
    each = _first(keys, "moe_shared_expert_intermediate_size")
    if each is not None:
        return each * (count or 0) if keys.text("model_type") != "nemotron_h" else each
    stated = _first(keys, *SHARED_WIDTH)
    if stated is not None:
        return stated
    if keys.text("model_type") in ("llama4", "llama4_text"):
        return width
    return (count or 0) * width


def _dense_width(keys: Keys) -> int:
    ratio = keys.number("ffn_hidden_ratio", keys.number("expansion_ratio", 4.0))
    hidden = keys.whole("hidden_size", "n_embd", "d_model", "dim") or 0
    if keys.text("model_type") in ("rwkv5", "rwkv6"):
        ratio = keys.number("hidden_ratio", 3.5)
    return _first(keys, *DENSE_WIDTH) or _rounded_up(keys) or round(ratio * hidden)


def _rounded_up(keys: Keys) -> int:
    """Meta's own params.json: two thirds of four widths, times a factor, rounded up to a multiple."""
    multiple = keys.whole("multiple_of") or 0
    wide = int(keys.number("ffn_dim_multiplier", 1.0) * int(8 * (keys.whole("dim") or 0) / 3))
    return -(-wide // multiple) * multiple if multiple else 0


def _dense(keys: Keys, family: Family, index: int, layers: int, hidden: int) -> FeedForward | None:
    width = _width_of_layer(keys, index, layers, hidden)
    if not width:
        return None
    bias = keys.flag("mlp_bias", "add_bias_linear", "use_mlp_bias", default=family.mlp_bias)
    if keys.value("use_bias") is not None and family.mlp_bias:
        bias = keys.flag("use_bias")
    if keys.value("no_bias") is not None:
        bias = not keys.flag("no_bias")
    if family.architecture == "falcon":
        bias = keys.flag("bias")
    return FeedForward(kind="dense", layers=1, width=width, gated=_gated(keys, family), bias=bias, fused_gate=family.fused_gate)


def _width_of_layer(keys: Keys, index: int, layers: int, hidden: int) -> int:
    blocks = keys.many("block_configs") or [None]
    block = blocks[index % len(blocks)]
    if isinstance(block, dict):
        return _nas_width(block, hidden, keys)
    width = keys.value("intermediate_size")
    if isinstance(width, list) and width:
        width = width[index % len(width)]
        return width if isinstance(width, int) and width >= 0 else 0
    multipliers = keys.many("ffn_multipliers")
    if multipliers:
        return _divisible(multipliers[index % len(multipliers)], hidden, keys)
    if not _experts(keys) and keys.whole("shared_intermediate_size"):
        return keys.whole("shared_intermediate_size") or 0  # Granite hybrids without experts
    found = _dense_width(keys)
    if keys.text("model_type") in ("qwen", "recurrent_gemma", "molmo"):
        return found // 2  # they state the width of gate and up together
    if keys.flag("block_auto_adjust_ff_dim"):
        return _adjusted(keys, found)
    shared = keys.whole("num_kv_shared_layers") or 0
    doubled = keys.flag("use_double_wide_mlp") and shared and index >= layers - shared
    return found * 2 if doubled else found


def _adjusted(keys: Keys, width: int) -> int:
    """LFM2: two thirds of the width, times a factor, rounded up to a multiple."""
    multiple = keys.whole("block_multiple_of") or 1
    scaled = int(int(2 * width / 3) * keys.number("block_ffn_dim_multiplier", 1.0))
    return -(-scaled // multiple) * multiple


def _divisible(times: Any, hidden: int, keys: Keys) -> int:
    """OpenELM: a multiple of the hidden width, rounded to the nearest multiple of a divisor."""
    divisor = keys.whole("ffn_dim_divisor") or NAS_MULTIPLE
    if not isinstance(times, (int, float)) or not 0 < times < LARGEST_MULTIPLE:
        return 0
    return max(divisor, int(times * hidden + divisor / 2) // divisor * divisor)


def _nas_width(block: Mapping[str, Any], hidden: int, keys: Keys) -> int:
    """Nemotron-NAS: a multiplier of two thirds of the hidden width, rounded up to 256; or left out, or one square matrix."""
    found = block.get("ffn")
    ffn: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    if ffn.get("no_op"):
        return 0
    stated, times = ffn.get("intermediate_size"), ffn.get("ffn_mult")
    if isinstance(stated, int) and stated > 0:
        return stated
    if isinstance(times, (int, float)) and 0 < times < LARGEST_MULTIPLE:
        wide = int(2 * times * hidden / 3)
        return -(-wide // NAS_MULTIPLE) * NAS_MULTIPLE
    return keys.whole("intermediate_size") or 0
