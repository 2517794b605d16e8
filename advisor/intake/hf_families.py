"""What a config.json leaves unsaid: the defaults and habits of each `model_type` [Hugging Face transformers, configuration_*.py].

Keys that are there always win. An unknown `model_type` is read like `llama`, and the answer says so.
"""

from collections.abc import Mapping
from typing import Any

from advisor.intake.hf_spellings import SAME
from advisor.record import dataclass, field, replace


@dataclass(frozen=True)
class Family:
    """Habits of a `model_type`, and values of keys that its configuration class fills in."""

    architecture: str = "llama"  # llama.cpp's word
    moe_architecture: str | None = None  # … with experts
    tied: bool = False
    qkv_bias: bool = False
    o_bias: bool | None = None  # None = as the bias key says
    mlp_bias: bool = False
    head_bias: bool = False
    gated: bool = True
    qk_norm: str = "none"
    norms_per_mixer: int = 1
    norms_per_ffn: int = 1
    norm_bias: bool = False
    norm_weights: bool = True
    fused_qkv: bool = False
    fused_gate: bool = False
    positions_extra: int | None = None  # learned positions: this many more than the longest context; None = none
    embedding_norms: int = 0  # norm vectors (weight and bias each one) on the embedding
    window: str = "none"  # none | all | from-max-window-layers | alternate | pattern: where `sliding_window` applies
    window_every: int = 0  # pattern: each n-th layer attends in full
    output_gate: str = "none"
    shared_gate: bool = False
    router_bias: bool = False
    expert_bias: bool = False
    sinks: bool = False
    inner_norms: bool = True  # Mamba: norms within
    values: Mapping[str, Any] = field(default_factory=dict)


LLAMA = Family()
_GEMMA = Family("gemma", tied=True, values={"head_dim": 256})
_QWEN3 = Family("qwen3", "qwen3moe", qk_norm="head")
_QWEN3_NEXT = Family("qwen3next", "qwen3next", qk_norm="head", output_gate="channel", shared_gate=True)
_DEEPSEEK = Family("deepseek2", "deepseek2")
_COHERE = Family("command-r", tied=True, norms_per_ffn=0)
_GPT = Family(qkv_bias=True, mlp_bias=True, gated=False, norm_bias=True, fused_qkv=True)
_GPT2 = replace(_GPT, architecture="gpt2", tied=True, positions_extra=0)
_PHI = replace(_GPT, architecture="phi2", fused_qkv=False, norms_per_ffn=0, head_bias=True)
_PHI3 = Family("phi3", fused_qkv=True, fused_gate=True)
_GLM4_MOE = Family("glm4moe", "glm4moe", qkv_bias=True, o_bias=False, router_bias=True)
_OLMO2 = Family("olmo2", qk_norm="full")
_GRANITE = Family("granite", "granitemoe", tied=True)
_GRANITE_HYBRID = Family("granitehybrid", "granitehybrid", tied=True)
_BAILING = Family("bailingmoe", "bailingmoe2", fused_qkv=True)
_STEP = Family("step35", "step35", qk_norm="head", output_gate="head")
_MINIMAX = Family("minimax-m2", "minimax-m2", qk_norm="full", router_bias=True)
_HUNYUAN = Family("hunyuan-dense", "hunyuan-moe", tied=True, qk_norm="head")
_ERNIE = Family("ernie4_5", "ernie4_5-moe", tied=True, router_bias=True)
_GEMMA3_VALUES = {
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "num_hidden_layers": 26,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "vocab_size": 262208,
    "sliding_window": 4096,
    "max_position_embeddings": 131072,
}
_GEMMA2_VALUES = {**_GEMMA3_VALUES, "vocab_size": 256000, "max_position_embeddings": 8192}
_GEMMA3N_VALUES = {
    "hidden_size": 2048,
    "intermediate_size": 16384,
    "num_hidden_layers": 35,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "vocab_size": 262400,
    "vocab_size_per_layer_input": 262144,
    "hidden_size_per_layer_input": 256,
    "num_kv_shared_layers": 15,
    "laurel_rank": 64,
    "altup_num_inputs": 4,
    "sliding_window": 512,
    "max_position_embeddings": 32768,
}
_GEMMA4_VALUES = {
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "num_hidden_layers": 30,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "global_head_dim": 512,
    "vocab_size": 262144,
    "vocab_size_per_layer_input": 262144,
    "hidden_size_per_layer_input": 256,
    "sliding_window": 512,
    "max_position_embeddings": 131072,
}

FAMILIES: dict[str, Family] = {
    "llama": LLAMA,
    "mistral": replace(LLAMA, window="all"),
    "ministral": replace(LLAMA, window="all"),
    "ministral3": Family("mistral3"),
    "mistral3": Family("mistral3"),
    "mistral4": Family("mistral4", "mistral4"),
    "mixtral": replace(LLAMA, window="all"),
    "exaone": Family("exaone"),
    "exaone4": Family("exaone4", qk_norm="head", window="pattern", window_every=4),
    "exaone_moe": Family("exaone-moe", "exaone-moe", qk_norm="head", window="pattern", window_every=4, router_bias=True),
    "qwen": Family("qwen", qkv_bias=True, o_bias=False, fused_qkv=True),
    "qwen2": Family("qwen2", qkv_bias=True, o_bias=False, window="from-max-window-layers"),
    "qwen2_moe": Family("qwen2moe", "qwen2moe", qkv_bias=True, o_bias=False, shared_gate=True, window="from-max-window-layers"),
    "qwen3": replace(_QWEN3, window="from-max-window-layers"),
    "qwen3_moe": _QWEN3,
    "qwen3_next": _QWEN3_NEXT,
    "qwen3_5": replace(_QWEN3_NEXT, architecture="qwen35", moe_architecture="qwen35moe"),
    "gemma": _GEMMA,
    "gemma2": replace(_GEMMA, architecture="gemma2", norms_per_mixer=2, norms_per_ffn=2, window="alternate", values=_GEMMA2_VALUES),
    "gemma3": replace(
        _GEMMA,
        architecture="gemma3",
        norms_per_mixer=2,
        norms_per_ffn=2,
        qk_norm="head",
        window="pattern",
        window_every=6,
        values=_GEMMA3_VALUES,
    ),
    "gemma3n": replace(
        _GEMMA,
        architecture="gemma3n",
        norms_per_mixer=2,
        norms_per_ffn=2,
        qk_norm="head",
        window="pattern",
        window_every=5,
        values=_GEMMA3N_VALUES,
    ),
    "gemma4": replace(
        _GEMMA,
        architecture="gemma4",
        norms_per_mixer=2,
        norms_per_ffn=2,
        qk_norm="head",
        window="pattern",
        window_every=6,
        values=_GEMMA4_VALUES,
    ),
    "vaultgemma": replace(_GEMMA, architecture="gemma2", window="alternate"),
    "phi": _PHI,
    "phi-msft": _PHI,
    "phi3": _PHI3,
    "phi3small": replace(_PHI3, norm_bias=True, qkv_bias=True, mlp_bias=True, tied=True),
    "phi4mm": _PHI3,
    "phimoe": Family("phimoe", "phimoe", qkv_bias=True, norm_bias=True, head_bias=True),
    "gpt_oss": Family("gpt-oss", "gpt-oss", qkv_bias=True, router_bias=True, expert_bias=True, sinks=True, window="alternate"),
    "deepseek": Family("deepseek", "deepseek"),
    "deepseek_v2": _DEEPSEEK,
    "deepseek_v3": _DEEPSEEK,
    "deepseek_v32": replace(_DEEPSEEK, architecture="deepseek32", moe_architecture="deepseek32"),
    "deepseek_v4": Family("deepseek4", "deepseek4", router_bias=True),
    "kimi_k2": _DEEPSEEK,
    "kimi_linear": Family("kimi-linear", "kimi-linear", router_bias=True),
    "glm_moe_dsa": replace(_DEEPSEEK, architecture="glm-dsa", moe_architecture="glm-dsa"),
    "glm4_moe_lite": _DEEPSEEK,
    "minicpm": Family("minicpm", tied=True),
    "minicpm3": Family("minicpm3", tied=True),
    "glm": Family("chatglm", qkv_bias=True, o_bias=False, fused_gate=True),
    "glm4": Family("glm4", o_bias=False, norms_per_mixer=2, norms_per_ffn=2, fused_gate=True),
    "glm4_moe": _GLM4_MOE,
    "chatglm": Family("chatglm", qkv_bias=True, o_bias=False, fused_qkv=True, fused_gate=True),
    "minimax": Family("minimax-m1", "minimax-m1"),
    "minimax_m2": _MINIMAX,
    "minimax_m3": replace(_MINIMAX, architecture="minimax-m3", moe_architecture="minimax-m3", qk_norm="head"),
    "nemotron": Family("nemotron", gated=False, norm_bias=True),
    "nemotron_h": Family("nemotron_h", "nemotron_h_moe", gated=False, router_bias=True),
    "nemotron-nas": Family("deci"),
    "falcon": Family("falcon", tied=True, gated=False, norm_bias=True, fused_qkv=True, values={"multi_query": True, "parallel_attn": True}),
    "falcon_h1": Family("falcon-h1", norms_per_ffn=0, inner_norms=False),
    "falcon_mamba": Family("falcon-mamba", inner_norms=False),
    "RefinedWeb": Family("falcon", tied=True, gated=False, norm_bias=True, fused_qkv=True, values={"parallel_attn": True}),
    "RefinedWebModel": Family(
        "falcon", tied=True, gated=False, norm_bias=True, fused_qkv=True, values={"multi_query": True, "parallel_attn": True}
    ),
    "gpt_neox": replace(_GPT, architecture="gptneox"),
    "gpt_neox_japanese": replace(_GPT, architecture="gptneox"),
    "gptj": replace(_GPT, architecture="gptj", qkv_bias=False, norms_per_ffn=0, head_bias=True),
    "codegen": replace(_GPT, architecture="codegen", qkv_bias=False, norms_per_ffn=0, head_bias=True),
    "gpt2": _GPT2,
    "gpt_neo": replace(_GPT2, architecture="gpt2", qkv_bias=False, o_bias=True),
    "gpt_bigcode": replace(_GPT2, architecture="starcoder", values={"multi_query": True}),
    "bloom": replace(_GPT, architecture="bloom", tied=True, embedding_norms=2),
    "opt": replace(_GPT, architecture="opt", tied=True, fused_qkv=False, positions_extra=2),
    "mpt": Family("mpt", tied=True, gated=False, fused_qkv=True),
    "dbrx": Family("dbrx", "dbrx", fused_qkv=True),
    "cohere": _COHERE,
    "cohere2": replace(_COHERE, architecture="cohere2", window="pattern", window_every=4),
    "granite": _GRANITE,
    "granitemoe": _GRANITE,
    "granitemoeshared": _GRANITE,
    "granitemoehybrid": _GRANITE_HYBRID,
    "bamba": replace(_GRANITE_HYBRID, tied=False),
    "jamba": Family("jamba", "jamba"),
    "mamba": Family("mamba", tied=True, inner_norms=False),
    "mamba2": Family("mamba2"),
    "olmo": Family("olmo", norm_weights=False),
    "olmo2": _OLMO2,
    "olmo3": replace(_OLMO2, window="pattern", window_every=4),
    "olmoe": Family("olmoe", "olmoe", qk_norm="full"),
    "internlm": Family("llama", qkv_bias=True),
    "internlm2": Family("internlm2", fused_qkv=False),
    "internlm3": Family("llama"),
    "baichuan": Family("baichuan"),
    "xverse": Family("xverse"),
    "orion": Family("orion", norm_bias=True),
    "stablelm": Family("stablelm", norm_bias=True, o_bias=False),
    "stablelm_epoch": Family("stablelm", norm_bias=True, o_bias=False),
    "starcoder2": Family("starcoder2", tied=True, qkv_bias=True, mlp_bias=True, gated=False, norm_bias=True, window="all"),
    "persimmon": Family("persimmon", qkv_bias=True, mlp_bias=True, gated=False, norm_bias=True, qk_norm="head", fused_qkv=True),
    "ernie4_5": _ERNIE,
    "ernie4_5_moe": _ERNIE,
    "hunyuan": _HUNYUAN,
    "hunyuan_v1_dense": _HUNYUAN,
    "hunyuan_v1_moe": _HUNYUAN,
    "seed_oss": Family("seed_oss", qkv_bias=True, o_bias=False),
    "dots1": Family("dots1", "dots1", qk_norm="head", router_bias=True),
    "bailing_moe": _BAILING,
    "bailing_moe_v2": replace(_BAILING, qk_norm="head"),
    "bailing_hybrid": replace(_BAILING, qk_norm="head"),
    "bailing_moe_linear": replace(_BAILING, qk_norm="head"),
    "apertus": Family("apertus", gated=False, qk_norm="head"),
    "arcee": Family("arcee", gated=False),
    "smollm3": Family("smollm3", tied=True),
    "llama4": Family("llama4", "llama4"),
    "step3": Family("step3", "step3"),
    "step3p5": _STEP,
    "step3p7": _STEP,
    "mimo": Family("qwen2", qkv_bias=True, o_bias=False),
    "mimo_v2_flash": Family("mimo2", "mimo2", router_bias=True),
    "longcat_flash": Family("longcat", "longcat"),
    "lfm2": Family("lfm2", tied=True, qk_norm="head"),
    "lfm2_moe": Family("lfm2moe", "lfm2moe", tied=True, qk_norm="head", router_bias=True),
    "afmoe": Family("afmoe", "afmoe", norms_per_mixer=2, norms_per_ffn=2, qk_norm="head", output_gate="channel", router_bias=True),
    "helium": Family("llama"),
    "bitnet": Family("bitnet", tied=True),
    "plamo": Family("plamo", norms_per_ffn=0),
    "smallthinker": Family("smallthinker", "smallthinker"),
    "flex_olmo": Family("olmo2", "olmoe", qk_norm="full"),
    "mllama": Family("mllama"),
    "openelm": Family("openelm", tied=True, qk_norm="head", fused_qkv=True, fused_gate=True),
}


def family_of(model_type: str | None) -> Family | None:
    """The habits of this `model_type`; None where nobody told them."""
    if model_type is None:
        return None
    return FAMILIES.get(SAME.get(model_type, model_type))
