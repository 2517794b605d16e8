"""Memory that llama.cpp says it took when it loaded a model: buffers by device and purpose; and what the log tells of the model."""

import re

from advisor.intake import quant_words
from advisor.intake.page import Page
from advisor.intake.readings import known
from advisor.record import dataclass
from advisor.units import GIGA, MIB

_BUFFER = re.compile(
    r"(\b[A-Za-z]+\d*(?:_[A-Za-z]+)?(?:\[[^\]]{1,40}\])?)\s+(model |KV |RS |output |compute )?buffer size\s*=\s*([\d.]+)\s*MiB"
)
_METAL = re.compile(r"(Metal|MTL)\d*_?(?:Mapped)?")
_NAME = re.compile(
    r"general\.name\s+str\s*=\s*(.{2,120})$|print_meta: general\.name\s*=\s*(.{2,120})$|print_info: general\.name\s*=\s*(.{2,120})$"
)
_LOADED = re.compile(r"(?:loaded meta data with .* from|loading model|load_model: loading model|model path:?)\s+'?(\S+\.gguf)'?")
_TYPE = re.compile(r"(?:ftype|file type)\s*=\s*(.{2,60})$")
_PARAMS = re.compile(r"model params\s*=\s*([\d.]+)\s*B")
_CONTEXT = re.compile(r"\bn_ctx\s*=\s*(\d+)")
_OFFLOADED = re.compile(r"offloaded (\d+)/(\d+) layers to GPU")
_KV = re.compile(r"K \((f16|f32|bf16|q8_0|q4_0|q4_1|q5_0|q5_1|iq4_nl)\)")


@dataclass(frozen=True)
class Buffer:
    """Bytes of one purpose (weights, cache, compute, output) on one device."""

    device: str
    what: str
    size_bytes: float


@dataclass(frozen=True)
class Load:
    """What a load log says."""

    model: str | None
    file: str | None
    quant: str | None
    params: float | None
    context_tokens: int | None
    kv_quant: str | None
    all_layers: bool | None  # whether every layer went to the GPUs
    buffers: tuple[Buffer, ...]


def read(page: Page) -> Load | None:
    """The load of a log; None where there is none."""
    buffers: list[Buffer] = []
    said: dict[str, str] = {}
    split: tuple[str, str] | None = None
    for line in page.lines:
        for name, pattern in (("name", _NAME), ("file", _LOADED), ("type", _TYPE), ("params", _PARAMS), ("context", _CONTEXT), ("kv", _KV)):
            found = pattern.search(line) if "=" in line or name in ("file", "kv") else None
            if found:
                said.setdefault(name, next(group for group in found.groups() if group))
        offloaded = _OFFLOADED.search(line)
        split = (offloaded.group(1), offloaded.group(2)) if offloaded else split
        if "buffer size" in line:
            buffers.extend(_buffer(line))
    if not buffers and split is None and "params" not in said:
        return None
    return Load(
        model=known(said.get("name")),
        file=said.get("file"),
        quant=quant_words.of_type(said.get("type")) or quant_words.of_file(said.get("file")),
        params=float(said["params"]) * GIGA if "params" in said else None,
        context_tokens=int(said["context"]) if "context" in said else None,
        kv_quant=said.get("kv"),
        all_layers=split[0] == split[1] if split else None,
        buffers=tuple(buffers),
    )


def _buffer(line: str) -> list[Buffer]:
    """The buffer of one line; the first word tells where, the second what."""
    found = _BUFFER.search(line)
    if not found:
        return []
    where = _METAL.sub("Metal0", found.group(1)) if _METAL.match(found.group(1)) else found.group(1)
    what = (found.group(2) or "model ").strip().lower()
    names = {"model": "weights", "kv": "cache", "rs": "cache", "compute": "compute", "output": "output"}
    return [Buffer(where.replace("_Mapped", ""), names[what], float(found.group(3)) * MIB)]
