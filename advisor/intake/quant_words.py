"""Quantization and model out of file names and llama.cpp's words: `llama 8B Q4_K - Medium`, `X-UD-Q4_K_XL-00001-of-00005.gguf`."""

import re

_TYPE = re.compile(
    r"\b((?:IQ|TQ|Q)\d(?:_[0-9K]+)?(?:_[A-Z]+)?|MXFP4|NVFP4|BF16|F16|FP16|F32|FP8|INT8|INT4)\b(?:\s*-\s*(Small|"
    r"Medium|Large|Extra Large|random|\d[\d.]* bpw))?",
    re.IGNORECASE,
)
_SIZES = {"small": "_S", "medium": "_M", "large": "_L", "extra large": "_XL"}
_IN_FILE = re.compile(
    r"(?:^|[-_.\s/@:])((?:UD-)?(?:I?Q\d+(?:_[0-9K])?(?:_(?:XXS|XS|XXL|XL|NL|S|M|L))?|TQ\d_\d)(?:_0|_1)?|MXFP4(?:_MOE)?|NVFP4|BF16|F16|FP16|F32|FP8(?:-DYNAMIC)?|AWQ(?:-?(?:INT)?4(?:BIT)?)?|GPTQ(?:-?INT[48])?|W4A16|W8A8|\dBIT|\d(?:\.\d)?BPW|INT[48])(?=$|[-_.\s/@:)])",
    re.IGNORECASE,
)
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
_WORDS = {
    "awq": "awq-4bit",
    "awq-int4": "awq-4bit",
    "awq-4bit": "awq-4bit",
    "awqint4": "awq-4bit",
    "w4a16": "awq-4bit",
    "gptq": "gptq-4bit",
    "gptq-int4": "gptq-4bit",
    "gptq-int8": "gptq-8bit",
    "fp16": "f16",
    "fp8-dynamic": "fp8",
    "mxfp4_moe": "mxfp4",
    "w8a8": "int8",
}


def of_type(text: str | None) -> str | None:
    """The quantization of llama.cpp's words: `Q4_K - Medium` is q4_k_m, `IQ2_XXS - 2.0625 bpw` iq2_xxs, `MXFP4 MoE` mxfp4."""
    found = _TYPE.search((text or "")[:200])
    if not found:
        return None
    size = (found.group(2) or "").lower()
    word = found.group(1).lower() + _SIZES.get(size, "").lower()
    return {"fp16": "f16", "q2_k_m": "q2_k", "q6_k_m": "q6_k"}.get(word, word)


def of_file(name: str | None) -> str | None:
    """The quantization that a file's or repository's name ends with."""
    found = list(_IN_FILE.finditer(_stem(name or "")))
    if not found:
        return None
    word = found[-1].group(1).lower()
    return _WORDS.get(word, word)


def model_of(name: str | None) -> str | None:
    """The model's name in a file's name: without folder, shard number, ending and quantization."""
    stem = _stem(name or "")
    found = list(_IN_FILE.finditer(stem))
    if found and found[-1].start() > 0:
        stem = stem[: found[-1].start()]
    stem = re.sub(r"[-_.](?:gguf|mlx|mtp|hf|imat|i1)$", "", stem.strip("-_. "), flags=re.IGNORECASE)
    return stem or None


def _stem(name: str) -> str:
    """The last part of a path without its ending; of a repository, the part after the publisher."""
    last = re.split(r"[/\\]", name[:400].strip().strip("'\"").rstrip("/\\"))[-1]
    last = re.sub(r"\.(?:gguf|bin|safetensors|json)$", "", last, flags=re.IGNORECASE)
    return _SHARD.sub("", last)
