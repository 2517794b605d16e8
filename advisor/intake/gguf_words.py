"""The metadata of a GGUF file in the words of a config.json, so that one reader knows the families of both."""

import re
from typing import Any

from advisor.intake.gguf_bytes import TensorInfo
from advisor.intake.hf_families import Habits
from advisor.record import dataclass


@dataclass(frozen=True)
class File:
    """All parts of one model."""

    name: str
    fields: dict[str, Any]
    lengths: dict[str, int]
    tensors: tuple[TensorInfo, ...]
    missing: tuple[str, ...]

    def field(self, key: str) -> Any:
        """A value under the architecture's own prefix."""
        return self.fields.get(f"{self.fields.get('general.architecture')}.{key}")

    def whole(self, key: str) -> int | None:
        """A whole number; of a list with one number a layer the largest."""
        found = self.field(key)
        if isinstance(found, list):
            found = max((each for each in found if isinstance(each, int)), default=None)
        return int(found) if isinstance(found, (int, float)) and not isinstance(found, bool) and found == found else None


def layer_of(tensor: TensorInfo) -> int | None:
    match = re.match(r"blk\.(\d{1,5})\.", tensor.name)
    return int(match[1]) if match else None


def config_of(file: File, architecture: str, habits: Habits) -> dict[str, Any]:
    """The metadata in the words of a config.json, what is null left out."""
    names = {t.name for t in file.tensors}
    drafts = file.whole("nextn_predict_layers") or 0
    blocks = file.whole("block_count")
    layers = blocks - drafts if blocks and blocks > drafts else blocks
    mla = file.whole("attention.kv_lora_rank")
    rope = file.whole("rope.dimension_count") or 64
    key_dim, value_dim = file.whole("attention.key_length"), file.whole("attention.value_length")
    expert_width = file.whole("expert_feed_forward_length")
    narrow = file.whole("attention.key_length_swa")
    shared = file.whole("expert_shared_feed_forward_length")
    found: dict[str, Any] = {
        "model_type": habits.gguf.get(architecture, architecture.replace("-", "_")),
        "hidden_size": file.whole("embedding_length"),
        "num_hidden_layers": layers,
        "num_attention_heads": _by_layer(file, "attention.head_count", layers) or file.whole("attention.head_count") or 1,
        "num_key_value_heads": _by_layer(file, "attention.head_count_kv", layers) or file.whole("attention.head_count_kv") or None,
        "head_dim": None if mla else narrow or key_dim,
        "global_head_dim": key_dim if narrow else None,
        "num_kv_shared_layers": file.whole("attention.shared_kv_layers"),
        "v_head_dim": file.whole("attention.value_length_mla") or (value_dim if value_dim != key_dim else None),
        "intermediate_size": _by_layer(file, "feed_forward_length", layers) or file.whole("feed_forward_length") or expert_width,
        "vocab_size": _vocabulary(file),
        "max_position_embeddings": file.whole("context_length"),
        "tie_word_embeddings": not names or "output.weight" not in names,
        "sliding_window": file.whole("attention.sliding_window") or None,
        "attention_chunk_size": file.whole("attention.chunk_size"),
        "num_experts": file.whole("expert_count") or None,
        "num_experts_per_tok": file.whole("expert_used_count") or None,
        "moe_intermediate_size": expert_width,
        "shared_expert_intermediate_size": shared,
        "num_shared_experts": file.whole("expert_shared_count"),
        "kv_lora_rank": mla,
        "q_lora_rank": file.whole("attention.q_lora_rank"),
        "qk_rope_head_dim": rope if mla else None,
        "qk_nope_head_dim": (file.whole("attention.key_length_mla") or key_dim or 0) - rope if mla else None,
        "num_nextn_predict_layers": drafts or None,
        "attention_bias": any(f"blk.{i}.attn_{part}.bias" in names for i in (0, (layers or 1) - 1) for part in ("q", "qkv")) or None,
    }
    found.update(_recurrence(file))
    found.update(_slides(file, layers or 0))
    found.update(_kinds(file, layers or 0))
    return {key: value for key, value in found.items() if value is not None}


def _by_layer(file: File, key: str, layers: int | None) -> list[int] | None:
    """Numbers that differ from layer to layer; None where one holds for all."""
    found = file.field(key)
    if not isinstance(found, list) or not layers or len(found) < layers or not all(isinstance(each, int) for each in found):
        return None
    found = found[:layers]
    return found if len(set(found)) > 1 and max(found) > 0 else None


def _slides(file: File, layers: int) -> dict[str, Any]:
    """Which layers attend within the window, where the file says it."""
    pattern = file.field("attention.sliding_window_pattern")
    if isinstance(pattern, list) and len(pattern) >= layers > 0:
        return {"layer_types": ["sliding_attention" if each else "full_attention" for each in pattern[:layers]]}
    whole = isinstance(pattern, int) and not isinstance(pattern, bool)
    return {"sliding_window_pattern": pattern} if whole else {}


def _vocabulary(file: File) -> int | None:
    """Rows of the embedding, else the words of the tokenizer."""
    table = next((t for t in file.tensors if t.name == "token_embd.weight" and len(t.dimensions) == 2), None)
    if table is not None:
        return table.dimensions[1]
    return file.whole("vocab_size") or file.lengths.get("tokenizer.ggml.tokens")


def _recurrence(file: File) -> dict[str, Any]:
    """State sizes: of gated DeltaNet in Qwen3-Next's words, of Mamba in Nemotron's."""
    inner, state, heads = file.whole("ssm.inner_size"), file.whole("ssm.state_size"), file.whole("ssm.time_step_rank")
    if not inner or not state:
        return {"conv_L_cache": file.whole("shortconv.l_cache")}
    groups, kernel = file.whole("ssm.group_count") or 1, file.whole("ssm.conv_kernel") or 4
    architecture = str(file.fields.get("general.architecture"))
    if architecture.startswith(("qwen3next", "qwen35")):
        return {
            "linear_num_value_heads": heads or 1,
            "linear_num_key_heads": groups,
            "linear_value_head_dim": inner // max(1, heads or 1),
            "linear_key_head_dim": state,
            "linear_conv_kernel_dim": kernel,
        }
    if architecture in ("mamba", "jamba", "falcon-mamba"):
        return {"mamba_d_state": state, "mamba_dt_rank": heads, "mamba_d_conv": kernel, "mamba_expand": 2}
    count = heads or 1
    return {
        "mamba_num_heads": count,
        "mamba_head_dim": inner // count,
        "ssm_state_size": state,
        "n_groups": groups,
        "conv_kernel": kernel,
    }


def _kinds(file: File, layers: int) -> dict[str, Any]:
    """Which layers attend, recur, or only feed forward: read off the names of their tensors."""
    has: dict[int, set[str]] = {i: set() for i in range(min(layers, 10000))}
    for tensor in file.tensors:
        layer = layer_of(tensor)
        if layer is not None and layer in has:
            has[layer].add(tensor.name.split(".")[2])
    recurrent = [bool(names & {"ssm_conv1d", "ssm_in", "ssm_a"}) for names in has.values()]
    short = [bool(names & {"shortconv", "shortconv_conv"}) for names in has.values()]
    routed = [bool(names & {"ffn_gate_inp"}) for names in has.values()]
    found: dict[str, Any] = {}
    if str(file.fields.get("general.architecture")).startswith("nemotron_h") and any(has.values()):
        letters = [
            "M" if m else "E" if e else "*" if "attn_q" in n else "-" for m, e, n in zip(recurrent, routed, has.values(), strict=True)
        ]
        return {"hybrid_override_pattern": "".join(letters)}
    if any(recurrent) and not all(recurrent):
        word = "linear_attention" if str(file.fields.get("general.architecture")).startswith("qwen") else "mamba"
        found["layer_types"] = [word if each else "full_attention" for each in recurrent]
    elif any("attn_q" in names for names in has.values()) and any(names and not _mixes(names) for names in has.values()):
        found["layer_types"] = ["full_attention" if _mixes(names) else "none" for names in has.values()]
    elif any(short):
        found["layer_types"] = ["conv" if each else "full_attention" for each in short]
    if any(routed) and not all(routed):
        found["mlp_layer_types"] = ["sparse" if each else "dense" for each in routed]
    return found


def _mixes(names: set[str]) -> bool:
    """Whether a layer with these tensors looks at other tokens; some layers of pruned models do not."""
    return any(name.startswith(("attn_q", "attn_kv", "ssm", "shortconv")) for name in names)
