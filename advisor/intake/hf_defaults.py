"""Values that configuration classes fill in for a part of a wrapper: `save_pretrained` leaves out of a nested part what is usual.

[Hugging Face transformers, configuration_*.py]. A config that stands alone states them all, so there they are never assumed.
"""

from typing import Any


def _text(vocabulary: int, hidden: int, inner: int, layers: int, heads: int, kv_heads: int, length: int, **more: Any) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "max_position_embeddings": length,
        **more,
    }


_LINEAR = {
    "head_dim": 256,
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "full_attention_interval": 4,
}
# By model_type of the text part (as written, then as the family it is read as).
TEXT: dict[str, dict[str, Any]] = {
    "llama": _text(32000, 4096, 11008, 32, 32, 32, 2048),
    "mistral": _text(32000, 4096, 14336, 32, 32, 8, 131072),
    "ministral3": _text(131072, 4096, 14336, 34, 32, 8, 262144, head_dim=128),
    "mistral4": _text(
        131072,
        4096,
        12288,
        36,
        32,
        32,
        1048576,
        moe_intermediate_size=2048,
        n_shared_experts=1,
        n_routed_experts=128,
        num_experts_per_tok=4,
        kv_lora_rank=256,
        q_lora_rank=1024,
        qk_rope_head_dim=64,
        qk_nope_head_dim=64,
        v_head_dim=128,
        first_k_dense_replace=0,
    ),
    "mixtral": _text(32000, 4096, 14336, 32, 32, 8, 131072, num_local_experts=8, num_experts_per_tok=2),
    "qwen2": _text(151936, 4096, 22016, 32, 32, 32, 32768),
    "qwen2_vl_text": _text(152064, 8192, 29568, 80, 64, 8, 32768),
    "qwen2_5_vl_text": _text(152064, 8192, 29568, 80, 64, 8, 32768),
    "qwen3": _text(151936, 4096, 22016, 32, 32, 32, 32768, head_dim=128),
    "qwen3_moe": _text(
        151936, 2048, 6144, 24, 32, 4, 32768, num_experts=128, num_experts_per_tok=8, moe_intermediate_size=768, decoder_sparse_step=1
    ),
    "qwen3_5_text": _text(248320, 4096, 12288, 32, 16, 4, 32768, **_LINEAR),
    "qwen3_5_moe_text": _text(
        248320,
        2048,
        5632,
        40,
        16,
        2,
        32768,
        **_LINEAR,
        num_experts=256,
        num_experts_per_tok=8,
        moe_intermediate_size=512,
        shared_expert_intermediate_size=512,
    ),
    "gemma": _text(256000, 3072, 24576, 28, 16, 16, 8192),
    "phi3": _text(32064, 3072, 8192, 32, 32, 32, 4096),
    "cohere2": _text(256000, 8192, 22528, 40, 64, 64, 8192),
    "llama4_text": _text(
        202048,
        5120,
        8192,
        48,
        40,
        8,
        131072,
        intermediate_size_mlp=16384,
        head_dim=128,
        num_local_experts=16,
        num_experts_per_tok=1,
        attention_chunk_size=8192,
        interleave_moe_layer_step=1,
    ),
    "mllama_text_model": _text(128256, 4096, 14336, 40, 32, 8, 131072),
    "glm4v_text": _text(151552, 4096, 13696, 40, 32, 2, 32768),
    "glm4v_moe_text": _text(
        151424,
        4096,
        10944,
        46,
        96,
        8,
        131072,
        moe_intermediate_size=1408,
        num_experts_per_tok=8,
        n_shared_experts=1,
        n_routed_experts=128,
        first_k_dense_replace=1,
    ),
    "lfm2": _text(65536, 2560, 12288, 32, 32, 8, 128000),
}
# By a word in the model_type of the tower: width, layers, inner width, patch, and what else its arithmetic asks for.
TOWERS: dict[str, dict[str, Any]] = {
    "siglip": {"hidden_size": 1152, "num_hidden_layers": 27, "intermediate_size": 4304, "patch_size": 14},
    "clip": {"hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 4096, "patch_size": 14},
    "pixtral": {"hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 4096, "patch_size": 16},
    "qwen2_5": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "patch_size": 14, "hidden_act": "silu"},
    "qwen2": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "patch_size": 14},
    "qwen3": {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "patch_size": 16, "num_position_embeddings": 2304},
    "gemma4": {"hidden_size": 768, "num_hidden_layers": 16, "intermediate_size": 3072, "patch_size": 16, "head_dim": 64},
    "llama4": {"hidden_size": 1408, "num_hidden_layers": 34, "intermediate_size": 5632, "patch_size": 14, "image_size": 336},
    "mllama": {"hidden_size": 1280, "num_hidden_layers": 32, "intermediate_size": 5120, "patch_size": 14, "image_size": 560},
    "internvl": {"hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 4096, "patch_size": 14, "image_size": 448},
    "glm4v": {"depth": 24, "hidden_size": 1536, "intermediate_size": 13696, "patch_size": 14},
    "moonvit": {"hidden_size": 1152, "num_hidden_layers": 27, "intermediate_size": 4304, "patch_size": 14},
    "gemma4_audio": {"hidden_size": 1024, "num_hidden_layers": 12},
}
