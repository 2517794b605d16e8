"""In which quantization a checkpoint is stored: `quantization_config` and its kin, as a quant id of the catalog."""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from advisor.intake.hf_keys import Keys

Methods = Mapping[str, str]
Found = tuple[str, str | None]
FEEDING = re.compile(r"expert|ffn|mlp|(gate|up|down)_proj")
ROUTER = re.compile(r"(?:\.gate|router|shared_expert_gate)$")
WEIGHTS = re.compile(r"(?i)u?(int|float|fp)(\d)(?:_?[a-z]{0,3})?_?weight")  # Int8DynamicActivationInt4Weight
WIDTH = re.compile(r"(?i)(?:\bq?|u)(int|float|fp)(\d)|\b(?=n?bits\W{1,4}(\d)\b)")
WIDTHS = {2: "gptq-2bit", 3: "gptq-3bit", 4: "w4a16", 8: "gptq-8bit"}  # integers, activations in 16 bits
MOST_CHARS = 20_000
EXL_BITS = (2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 8)
QUARK = {"fp4": "mxfp4", "mxfp4": "mxfp4", "int8": "int8", "int4": "w4a16", "uint4": "awq-4bit"}
DTYPES = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "torch.bfloat16": "bf16", "torch.float16": "f16"}


NAMES = {"nvfp4": "nvfp4", "mxfp4": "mxfp4", "fp8": "fp8", "awq": "awq-4bit", "gptq": "gptq-4bit"}  # last words of repositories


def native_quant(text: Keys, name: str, beside: Mapping[str, Any] | None = None, methods: Methods = MappingProxyType({})) -> Found:
    """The quant id, and what had to be assumed for it. `beside`: hf_quant_config.json; `methods`: words that mean one quant."""
    stated = text.part("quantization_config", "compression_config", "quantization")
    if stated is None and beside:
        stated = Keys(beside, {}, "hf_quant_config.json").part("quantization")
    if stated is None:
        return _unstated(text, name)
    found = _of_config(stated, text, methods)
    if found is not None:
        return found, None
    kind, alike = stated.text("quant_method", "quant_algo"), _by_width(stated)
    if alike is not None:
        return alike, f"quantization_config of kind {kind!r} is taken as {alike}, of the same width"
    return "bf16", f"quantization_config of kind {kind!r} is not known; taken as 16-bit"


def _unstated(text: Keys, name: str) -> tuple[str, str | None]:
    """What the name says where the file says nothing: makers keep it in a file beside, which may be missing."""
    word = name.lower().rsplit("-", 1)[-1]
    if word in NAMES:
        return NAMES[word], f"the file states no quantization; {NAMES[word]} taken from the name {name!r}"
    return DTYPES.get(text.text("dtype", "torch_dtype") or "bfloat16", "bf16"), None


def _of_config(stated: Keys, text: Keys, methods: Methods) -> str | None:
    if text.text("expert_dtype") == "fp4":
        return "nvfp4" if stated.text("moe_quant_algo") == "NVFP4" else "fp8-fp4"
    method = (stated.text("quant_method") or "").lower().replace("-", "_").rsplit("/", 1)[-1]
    inner = stated.part("quantization")
    algorithm = (stated.text("quant_algo") or (inner.text("quant_algo") if inner else None) or "").upper()
    if algorithm:
        return _model_optimizer(algorithm)
    reader = _READERS.get(method)
    if reader is not None:
        return reader(stated, text)
    if not method and stated.whole("bits"):
        return _mlx(stated, text)
    return methods.get(method)


def _by_width(stated: Keys) -> str | None:
    """HQQ, torchao, Quanto and their kin: the format of the catalog whose weights are as wide."""
    words = json.dumps(dict(stated.own), default=str)[:MOST_CHARS]
    found = WEIGHTS.search(words) or WIDTH.search(words)
    kind, bits = ((found.group(1) or "int").lower(), int(found.group(2) or found.group(3))) if found else ("int", 0)
    if kind in ("float", "fp"):
        return "fp8" if bits == 8 else "nvfp4" if "nv" in words.lower() else "mxfp4"
    return "int8" if bits == 8 and "DynamicActivation" in words else WIDTHS.get(bits)


def _fp8(stated: Keys, _text: Keys) -> str:
    return "fp8-block" if stated.many("weight_block_size") else "fp8"


def _bitsandbytes(stated: Keys, _text: Keys) -> str:
    if stated.flag("load_in_8bit") and not stated.flag("load_in_4bit"):
        return "bnb-int8"
    return "bnb-nf4-dq" if stated.flag("bnb_4bit_use_double_quant") else "bnb-nf4"


def _model_optimizer(algorithm: str) -> str:
    """NVIDIA ModelOpt: FP8, NVFP4, W4A16_AWQ, MIXED_PRECISION …"""
    if "FP4" in algorithm or "MIXED" in algorithm:
        return "nvfp4"
    if "MXFP8" in algorithm:
        return "mxfp8"
    return "awq-4bit" if "AWQ" in algorithm or "W4" in algorithm else "int8" if "INT8" in algorithm or "W8A8" in algorithm else "fp8"


def _gptq(stated: Keys, _text: Keys) -> str:
    if stated.whole("bits") in (2, 3, 8):
        return f"gptq-{stated.whole('bits')}bit"
    return "gptq-4bit-32g" if stated.value("group_size") == 32 else "gptq-4bit"


def _awq(stated: Keys, _text: Keys) -> str:
    return "gptq-8bit" if stated.whole("bits", "w_bit") == 8 else "awq-4bit"


def _mlx(stated: Keys, text: Keys) -> str:
    """MLX writes bits and group_size alone; `mode` for its microscaling formats; tensors of other widths one by one."""
    mode, bits = stated.text("mode"), round(_mean_bits(stated, text.whole("num_hidden_layers", "n_layer", "n_layers") or 1))
    if mode in ("mxfp4", "mxfp8", "nvfp4"):
        return f"mlx-{mode}"
    narrow = stated.value("group_size") == 32 and bits in (4, 8)
    return f"mlx-{bits if bits in (2, 3, 4, 5, 6, 8) else 4}bit{'-g32' if narrow else ''}"


def _mean_bits(stated: Keys, layers: int) -> float:
    """The mean width, where a recipe names tensors that are wider: a matrix of a feed-forward counts as four of the attention."""
    bits, weight = stated.whole("bits") or 4, {True: 4, False: 1}
    others = [
        (weight[bool(FEEDING.search(name))], wide)
        for name, each in stated.own.items()
        if isinstance(each, Mapping) and not ROUTER.search(name) and (wide := Keys(each, {}, name).whole("bits"))
    ]
    whole = max(layers * (3 * weight[True] + 4 * weight[False]), sum(each for each, _ in others))
    return bits + sum(each * (wide - bits) for each, wide in others) / whole


def _compressed(stated: Keys, text: Keys) -> str | None:
    """compressed-tensors: what the group with the feed-forwards, which hold most weights, is stored as; else its first."""
    groups = [each for each in (stated.part("config_groups") or stated).own.values() if isinstance(each, Mapping) and "weights" in each]
    chosen = next((each for each in groups if FEEDING.search(str(each.get("targets")))), groups[0] if groups else None)
    group = Keys(chosen, {}, "config_groups") if chosen is not None else stated
    form = group.text("format") or stated.text("format") or ""
    weights = group.part("weights")
    bits = weights.whole("num_bits") if weights else None
    if "nvfp4" in form:
        return "nvfp4"
    if "mxfp4" in form:
        return "mxfp4"
    if weights is None or bits is None:
        return None
    if weights.text("type") == "float":
        return "nvfp4" if bits != 8 else "fp8-block" if weights.text("strategy") == "block" else "fp8"
    if bits == 4:
        experts_only = any("attn" in str(each) for each in stated.many("ignore") or ())
        return "int4-experts" if experts_only and text.whole("n_routed_experts") else "w4a16"
    return "int8" if group.part("input_activations") else "gptq-8bit"


def _auto_round(stated: Keys, _text: Keys) -> str:
    return f"gptq-{stated.whole('bits')}bit" if stated.whole("bits") in (2, 3, 8) else "autoround-int4"


def _exllama(stated: Keys, _text: Keys) -> str:
    """ExLlamaV2 and V3 state mean bits, often with a fraction: the nearest width of the catalog."""
    method, bits = stated.text("quant_method") or "exl3", stated.number("bits", 4.0)
    return f"{method}-{min(EXL_BITS, key=lambda each: abs(each - bits)):g}bit"


def _quark(stated: Keys, _text: Keys) -> str:
    """AMD Quark: what the weights of all layers are stored as."""
    groups = stated.part("layer_quant_config")
    feeding = next((each for name, each in (groups.own if groups else {}).items() if FEEDING.search(name)), None)
    everywhere = Keys(feeding, {}, "layer_quant_config") if isinstance(feeding, Mapping) else stated.part("global_quant_config")
    weight = everywhere.value("weight") if everywhere else None
    last = weight[-1] if isinstance(weight, list) and weight else weight
    kind = Keys(last, {}, "weight").text("dtype") if isinstance(last, Mapping) else None
    return QUARK.get(kind or "", "fp8")


_READERS = {
    "auto_round": _auto_round,
    "inc": _auto_round,
    "awq": _awq,
    "awq_marlin": _awq,
    "auto_awq": _awq,
    "exl2": _exllama,
    "exl3": _exllama,
    "quark": _quark,
    "gptq_marlin": _gptq,
    "gptqmodel": _gptq,
    "marlin": _gptq,
    "compressed_tensors": _compressed,
    "gptq": _gptq,
    "bitsandbytes": _bitsandbytes,
    "bnb": _bitsandbytes,
    "fp8": _fp8,
}
