"""A model from the header of a GGUF file, split files too: its shape, and the exact bytes of its tensors.

The shape is told to the reader of config.json in that one's words, so both know the same families.
"""

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.errors import BadInput
from advisor.intake.gguf_bytes import Header, TensorInfo, read_header
from advisor.intake.hf_config import model_of
from advisor.intake.hf_families import habits_of
from advisor.model import Model
from advisor.record import dataclass, replace

if TYPE_CHECKING:
    from advisor.catalog import Catalog

PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
TOLERANCE_SHARE = 0.003
# llama.cpp's architecture as the model_type that is read alike; others have the same name.
MODEL_TYPES = {
    "llama": "llama",
    "mistral3": "ministral3",
    "qwen2moe": "qwen2_moe",
    "qwen3moe": "qwen3_moe",
    "qwen3next": "qwen3_next",
    "qwen35": "qwen3_5",
    "qwen35moe": "qwen3_5",
    "qwen3vl": "qwen3",
    "qwen3vlmoe": "qwen3_moe",
    "qwen2vl": "qwen2",
    "phi2": "phi",
    "gpt-oss": "gpt_oss",
    "deepseek2": "deepseek_v3",
    "deepseek32": "deepseek_v32",
    "deepseek4": "deepseek_v4",
    "glm-dsa": "glm_moe_dsa",
    "glm4moe": "glm4_moe",
    "minimax-m1": "minimax",
    "minimax-m2": "minimax_m2",
    "command-r": "cohere",
    "granitehybrid": "granitemoehybrid",
    "nemotron_h_moe": "nemotron_h",
    "deci": "llama",
    "gptneox": "gpt_neox",
    "starcoder": "gpt_bigcode",
    "hunyuan-moe": "hunyuan_v1_moe",
    "hunyuan-dense": "hunyuan_v1_dense",
    "ernie4_5-moe": "ernie4_5_moe",
    "bailingmoe": "bailing_moe",
    "bailingmoe2": "bailing_moe_v2",
    "lfm2moe": "lfm2_moe",
    "mimo2": "mimo_v2_flash",
    "kimi-linear": "kimi_linear",
    "falcon-h1": "falcon_h1",
    "step35": "step3p5",
    "exaone-moe": "exaone_moe",
    "olmo2": "olmo3",
}
NOT_MODELS = ("clip", "mmproj", "whisper", "bert", "nomic-bert")


@dataclass(frozen=True)
class _File:
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


def read(path: Path | str, catalog: "Catalog | None" = None) -> Model:
    """The model in a GGUF file; of a split one any part may be named."""
    file = _whole(Path(path))
    sizes = _block_sizes()
    architecture = file.fields.get("general.architecture")
    if not isinstance(architecture, str):
        raise BadInput(f"{path}: general.architecture: missing; is it the first part of a split model?")
    if architecture in NOT_MODELS:
        raise BadInput(f"{path}: holds {architecture!r}, not a language model; name the model's own .gguf file")
    model = model_of(_config(file, architecture), str(path), file.name, habits=habits_of(catalog))
    weights = [t for t in file.tensors if not _is_draft(t, model.layers)]
    total = float(sum(_bytes(t, sizes) for t in weights))
    counted = sum(t.elements for t in weights)
    assumed = tuple(each for each in model.assumed if "quantization" not in each)
    model = replace(model, architecture=architecture, native_quant=_quant(file), assumed=assumed, vision_params=0)
    if file.missing:
        missing = ", ".join(file.missing)
        return replace(model, assumed=(*assumed, f"parts {missing} are not there; sizes follow from the shape"))
    if counted and abs(model.decoder_params / counted - 1) > TOLERANCE_SHARE:
        model = replace(model, shape_unknown="the tensors of the file have other sizes", stated_params=counted)
    return replace(model, weights_bytes=total or None)


def _whole(path: Path) -> _File:
    """The first part's metadata and every part's tensors."""
    match = PART.match(path.name)
    if match is None:
        found = read_header(path)
        return _File(path.stem.lower(), found.fields, found.lengths, tuple(found.tensors), ())
    stem, count = match[1], int(match[3])
    names = [f"{stem}-{i:05d}-of-{count:05d}.gguf" for i in range(1, min(count, 999) + 1)]
    there = [path.parent / name for name in names if (path.parent / name).is_file()]
    headers = [read_header(each) for each in there]
    first = headers[0] if headers else Header()
    tensors = tuple(t for each in headers for t in each.tensors)
    missing = tuple(name for name in names if not (path.parent / name).is_file())
    return _File(stem.lower(), first.fields, first.lengths, tensors, missing)


def _block_sizes() -> dict[int, tuple[int, int, str]]:
    """By ggml type number: weights in a block, bytes of a block, name."""
    try:
        from gguf.constants import GGML_QUANT_SIZES
    except ImportError as error:
        raise BadInput('reading .gguf files needs the package gguf: pip install "advisor[gguf]" (or pip install gguf)') from error
    return {int(kind): (block, size, kind.name) for kind, (block, size) in GGML_QUANT_SIZES.items()}


def _bytes(tensor: TensorInfo, sizes: dict[int, tuple[int, int, str]]) -> float:
    block, size, _ = sizes.get(tensor.type_number, (1, 2, "F16"))
    return tensor.elements * size / block


def _layer(tensor: TensorInfo) -> int | None:
    match = re.match(r"blk\.(\d{1,5})\.", tensor.name)
    return int(match[1]) if match else None


def _is_draft(tensor: TensorInfo, layers: int) -> bool:
    """Whether it belongs to a draft layer behind the model's own."""
    layer = _layer(tensor)
    return ".nextn." in tensor.name or (layer is not None and layer >= layers)


def _quant(file: _File) -> str:
    """The quantization by the file type it states, dynamic mixes by their name; else by the type of most weights."""
    from gguf.constants import GGMLQuantizationType, LlamaFileType

    stated = file.fields.get("general.file_type")
    try:
        word = LlamaFileType(stated if isinstance(stated, int) else -1).name.removeprefix("MOSTLY_").removeprefix("ALL_").lower()
    except ValueError:
        word = "guessed"
    if word == "guessed":
        most = Counter[int]()
        for tensor in file.tensors:
            most[tensor.type_number] += tensor.elements
        word = GGMLQuantizationType(most.most_common(1)[0][0]).name.lower() if most else "f16"
    word = {"mxfp4_moe": "mxfp4", "q4_k": "q4_k_m", "q5_k": "q5_k_m", "q3_k": "q3_k_m"}.get(word, word)
    dynamic = re.search(r"ud-((?:i?q|tq)\d\w*)", file.name)
    return f"ud-{dynamic[1]}" if dynamic else word


def _config(file: _File, architecture: str) -> dict[str, Any]:
    """The metadata in the words of a config.json, what is null left out."""
    names = {t.name for t in file.tensors}
    drafts = file.whole("nextn_predict_layers") or 0
    blocks = file.whole("block_count")
    layers = blocks - drafts if blocks and blocks > drafts else blocks
    mla = file.whole("attention.kv_lora_rank")
    rope = file.whole("rope.dimension_count") or 64
    key_dim, value_dim = file.whole("attention.key_length"), file.whole("attention.value_length")
    shared = file.whole("expert_shared_feed_forward_length")
    found: dict[str, Any] = {
        "model_type": MODEL_TYPES.get(architecture, architecture.replace("-", "_")),
        "hidden_size": file.whole("embedding_length"),
        "num_hidden_layers": layers,
        "num_attention_heads": file.whole("attention.head_count") or 1,
        "num_key_value_heads": file.whole("attention.head_count_kv") or None,
        "head_dim": None if mla else key_dim,
        "v_head_dim": file.whole("attention.value_length_mla") or value_dim,
        "intermediate_size": file.whole("feed_forward_length") or file.whole("expert_feed_forward_length"),
        "vocab_size": _vocabulary(file),
        "max_position_embeddings": file.whole("context_length"),
        "tie_word_embeddings": not names or "output.weight" not in names,
        "sliding_window": file.whole("attention.sliding_window") or None,
        "attention_chunk_size": file.whole("attention.chunk_size"),
        "num_experts": file.whole("expert_count") or None,
        "num_experts_per_tok": file.whole("expert_used_count") or None,
        "moe_intermediate_size": file.whole("expert_feed_forward_length"),
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
    found.update(_kinds(file, layers or 0))
    return {key: value for key, value in found.items() if value is not None}


def _vocabulary(file: _File) -> int | None:
    """Rows of the embedding, else the words of the tokenizer."""
    table = next((t for t in file.tensors if t.name == "token_embd.weight" and len(t.dimensions) == 2), None)
    if table is not None:
        return table.dimensions[1]
    return file.whole("vocab_size") or file.lengths.get("tokenizer.ggml.tokens")


def _recurrence(file: _File) -> dict[str, Any]:
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


def _kinds(file: _File, layers: int) -> dict[str, Any]:
    """Which layers attend, recur, or only feed forward: read off the names of their tensors."""
    has: dict[int, set[str]] = {i: set() for i in range(min(layers, 10000))}
    for tensor in file.tensors:
        layer = _layer(tensor)
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
    elif any(short):
        found["layer_types"] = ["conv" if each else "full_attention" for each in short]
    if any(routed) and not all(routed):
        found["mlp_layer_types"] = ["sparse" if each else "dense" for each in routed]
    return found
