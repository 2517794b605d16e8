"""The mixers of a config.json: for each layer the attention or recurrence that its keys describe, equal layers together."""

from collections import Counter

from advisor.intake.hf_families import Family
from advisor.intake.hf_keys import Keys
from advisor.intake.hf_recurrences import RECURRENCES, head_dim_of, heads_of
from advisor.mixer import Mixer
from advisor.record import replace

BIAS_KEYS = ("attention_bias", "qkv_bias", "use_qkv_bias", "add_qkv_bias", "attn_bias", "use_bias", "bias")
QK_NORM_KEYS = ("use_qk_norm", "qk_layernorm", "qk_norm")
KV_HEADS_KEYS = (
    "num_key_value_heads_per_layer",
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "n_kv_heads",
    "num_key_value_groups",
    "num_attention_groups",
)
WINDOW_KEYS = (
    "sliding_window",
    "sliding_window_size",
    "interleaved_sliding_window",
    "attention_window",
    "attention_window_size",
    "window_size",
)


def mixers(keys: Keys, family: Family, kinds: list[str], hidden: int) -> tuple[Mixer, ...]:
    """All layers that mix tokens, equal ones in one record."""
    found: Counter[Mixer] = Counter()
    for index, kind in enumerate(kinds):
        if kind not in ("mlp", "moe"):
            for mixer in _layer(keys.layer(index), family, kind, index, len(kinds), hidden):
                found[mixer] += 1
    return tuple(_together(mixer, count) for mixer, count in found.items())


def _together(mixer: Mixer, count: int) -> Mixer:
    shared = count if mixer.kv_shared_layers else 0
    indexed = count if mixer.indexer_layers else 0
    return replace(mixer, layers=count, kv_shared_layers=shared, indexer_layers=indexed)


def _layer(keys: Keys, family: Family, kind: str, index: int, layers: int, hidden: int) -> list[Mixer]:
    """The mixer of one layer; two where attention and Mamba run side by side."""
    if kind in RECURRENCES:
        return [RECURRENCES[kind](keys, family, hidden)]
    if kind == "compressed":
        return [_compressed(keys, index)]
    attention = _latent(keys, index) if keys.whole("kv_lora_rank") else _attention(keys, family, kind, index, layers, hidden)
    if keys.whole("mamba_d_ssm", "mamba_d_head") and keys.text("model_type") == "falcon_h1":
        return [attention, RECURRENCES["mamba"](keys, family, hidden)]
    return [attention]


def kv_heads_of(keys: Keys, heads: int, index: int = 0) -> int:
    """Key-value heads, in the old spellings too."""
    if keys.flag("multi_query_attention"):
        return keys.whole("multi_query_group_num", "num_key_value_heads") or 1
    inner = keys.part("attn_config")
    if inner is not None and inner.whole("kv_n_heads"):
        return inner.whole("kv_n_heads") or heads
    new_falcon = keys.value("new_decoder_architecture")
    if keys.flag("multi_query") and not new_falcon:
        return 1
    return keys.each(index, *KV_HEADS_KEYS) or heads


def _attention(keys: Keys, family: Family, kind: str, index: int, layers: int, hidden: int) -> Mixer:
    sliding = kind == "sliding"
    heads = heads_of(keys, index)
    kv_heads, head_dim, v_head_dim = kv_heads_of(keys, heads, index), head_dim_of(keys, hidden, heads), keys.whole("v_head_dim")
    other = keys.part("attention_other_setting") if sliding else None
    if other is not None:  # Step-3.5: window layers have heads of their own
        heads = other.whole("num_attention_heads") or heads
        kv_heads = other.whole("num_attention_groups", "num_key_value_heads") or kv_heads
    if sliding:
        heads = keys.whole("swa_num_attention_heads") or heads
        kv_heads = keys.whole("swa_num_key_value_heads") or kv_heads
        head_dim = keys.whole("swa_head_dim") or head_dim
        v_head_dim = keys.whole("swa_v_head_dim") or v_head_dim
    wide = kind == "full" and bool(keys.whole("global_head_dim"))
    if wide:
        head_dim = keys.whole("global_head_dim") or head_dim
        kv_heads = keys.whole("num_global_key_value_heads") or kv_heads
    blocks = keys.many("block_configs") or [None]
    block = blocks[index % len(blocks)]
    if isinstance(block, dict) and isinstance(block.get("attention"), dict):
        group = block["attention"].get("n_heads_in_group")
        kv_heads = heads // group if isinstance(group, int) and group > 0 else block["attention"].get("num_key_value_heads") or kv_heads
    shared = keys.whole("num_kv_shared_layers") or 0
    bias = _bias(keys, family)
    return Mixer(
        kind=kind,
        layers=1,
        heads=heads,
        kv_heads=min(kv_heads, heads) or heads,
        head_dim=head_dim,
        v_head_dim=v_head_dim if v_head_dim and v_head_dim != head_dim else None,
        window_tokens=_window(keys, kind),
        kv_shared_layers=1 if (shared and index >= layers - shared) or _reads_earlier(keys, index) else 0,
        key_is_value=wide and keys.flag("attention_k_eq_v"),
        q_bias=bias,
        kv_bias=bias,
        o_bias=_o_bias(keys, family, bias),
        qk_norm=_qk_norm(keys, family),
        output_gate=_gate(keys, family),
        sinks=family.sinks or keys.flag("add_swa_attention_sink_bias" if sliding else "add_full_attention_sink_bias"),
        fused_qkv=family.fused_qkv,
        q_lora_rank=keys.whole("share_q_dim") or None,
    )


def _reads_earlier(keys: Keys, index: int) -> bool:
    """Layers that keep no keys and values of words: those that attend to pictures [Llama 3.2 Vision], and in cross-layer
    attention [Hunyuan-Large] all but the first of each few."""
    if index in (keys.many("cross_attention_layers") or ()):
        return True
    return keys.flag("use_cla") and index % max(1, keys.whole("cla_share_factor") or 2) != 0


def _window(keys: Keys, kind: str) -> int | None:
    if kind == "chunked":
        return keys.whole("attention_chunk_size") or None
    if kind != "sliding":
        return None
    return keys.whole(*WINDOW_KEYS) or keys.whole("usual_sliding_window")


def _bias(keys: Keys, family: Family) -> bool:
    if keys.value("no_bias") is not None:
        return not keys.flag("no_bias")
    if keys.text("model_type") in ("nemotron_h", "bamba"):
        return keys.flag("attention_bias")
    return keys.flag(*BIAS_KEYS, default=family.qkv_bias)


def _o_bias(keys: Keys, family: Family, bias: bool) -> bool:
    stated = keys.value("attention_out_bias", "attention_output_bias")
    if stated is not None:
        return bool(stated)
    return bias if family.o_bias is None else family.o_bias


def _qk_norm(keys: Keys, family: Family) -> str:
    stated = keys.value(*QK_NORM_KEYS)
    if family.architecture == "llama4":
        return "none"  # norms without weights
    if stated is None:
        return family.qk_norm if family.architecture != "minimax-m2" else "none"
    if not stated:
        return "none"
    return "per-head" if family.architecture in ("command-r", "stablelm") else family.qk_norm if family.qk_norm != "none" else "head"


def _gate(keys: Keys, family: Family) -> str:
    if keys.value("use_head_wise_attn_gate") is not None:
        return "head" if keys.flag("use_head_wise_attn_gate") else "none"
    stated = keys.value("gating")
    if stated is not None:  # Laguna: true and per-head, or false and per-element
        return "head" if stated is True or "head" in str(stated) else "channel"
    if keys.value("attn_output_gate") is not None:
        return "channel" if keys.flag("attn_output_gate") else "none"
    return family.output_gate


def _latent(keys: Keys, index: int) -> Mixer:
    heads = heads_of(keys)
    nope, rope = keys.whole("qk_nope_head_dim") or 0, keys.whole("qk_rope_head_dim") or 0
    types = keys.many("indexer_types")
    indexed = bool(keys.whole("index_n_heads")) and (types is None or types[index % len(types)] != "shared")
    return Mixer(
        kind="mla",
        layers=1,
        heads=heads,
        kv_heads=1,
        head_dim=nope + rope,
        v_head_dim=keys.whole("v_head_dim") or nope or None,
        q_lora_rank=keys.whole("q_lora_rank") or None,
        kv_lora_rank=keys.whole("kv_lora_rank"),
        nope_dim=nope,
        rope_dim=rope,
        output_gate="channel" if keys.flag("mla_use_output_gate") else "none",
        indexer_heads=keys.whole("index_n_heads") or 0 if indexed else 0,
        indexer_head_dim=keys.whole("index_head_dim") or 0 if indexed else 0,
        indexer_tokens=keys.whole("index_topk") or None,
        indexer_layers=int(indexed),
    )


def _compress_ratio(keys: Keys, index: int) -> int:
    """Tokens in one entry of a layer: listed layer by layer, or by the word for the layer's kind."""
    ratios, words = keys.many("compress_ratios"), keys.many("layer_types")
    if ratios is not None:
        ratio = ratios[index % len(ratios)]
        return ratio if isinstance(ratio, int) and ratio >= 0 else 0
    rates = keys.part("compress_rates")
    return (rates.whole(str(words[index % len(words)])) if rates and words else None) or 0


def _compressed(keys: Keys, index: int) -> Mixer:
    ratio = _compress_ratio(keys, index)
    indexed = ratio == 4
    return Mixer(
        kind="compressed",
        layers=1,
        heads=heads_of(keys),
        kv_heads=1,
        head_dim=keys.whole("head_dim", "compressed_head_dim") or 0,
        window_tokens=keys.whole("sliding_window", "compressed_window") or None,
        q_lora_rank=keys.whole("q_lora_rank") or None,
        o_lora_rank=keys.whole("o_lora_rank") or None,
        o_groups=keys.whole("o_groups") or None,
        hyper_connections=keys.whole("hc_mult") or 0,
        compress_ratio=ratio,
        indexer_heads=keys.whole("index_n_heads") or 0 if indexed else 0,
        indexer_head_dim=keys.whole("index_head_dim") or 0 if indexed else 0,
        indexer_tokens=keys.whole("index_topk") or None if indexed else None,
        indexer_layers=int(indexed),
    )
