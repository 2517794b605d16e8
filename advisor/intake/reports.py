"""Hardware named in the reports of benchmarks and of other tools: llama-bench JSON, community wrappers, neofetch lines."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from advisor.intake.page import Page
from advisor.intake.readings import known, maker_of, number, size_bytes, whole
from advisor.intake.seen import Seen, View
from advisor.units import GIB

TOOL = "report"

MOST_COUNT = 64
_FETCH = re.compile(r"^(?:.{0,80}(?:\s{2}|[^\w\s]))?\s*GPU\s?(?:\d\s?)?(?:\([^)]*\))?:\s+(.{4,100}?)\s*(?:\[(Discrete|Integrated)\])?\s*$")
_CLOCK = re.compile(r"(?:\s+\((\d{1,3})\))?\s+@\s+[\d.]+\s*[GM]Hz.*$")
_MEMORY = re.compile(r"(?:^|\s{2}|[^\w\s])\s*(?:Memory|RAM)(?:\s*\(RAM\))?:\s+[\d.]+\s*([KMGT]i?B)?\s*(?:/|of)\s*([\d.]+)\s*([KMGT]i?B)\b")
_NAMES = ("hardwareName", "gpuName", "gpu_name", "gpu", "device_name", "deviceName", "accelerator")
_COUNTS = ("gpuCount", "gpu_count", "num_gpus", "n_gpus")


def recognise(page: Page) -> bool:
    """Whether a report may name its hardware."""
    return page.has("GPU", "{")


def read(page: Page) -> tuple[View, ...]:
    """The devices of the first report that names some; one file is one machine."""
    for one in page.objects[:2000]:
        devices = _named(one)
        if devices:
            ram = _ram(one)
            return (View(tool=TOOL, devices=tuple(devices), ram_bytes=ram, cpu=_cpu(one)),)
    found = [seen for line in page.lines if "GPU" in line for seen in [_fetched(line)] if seen]
    memory = next((row for row in map(_MEMORY.search, page.lines) if row), None) if found else None
    ram = size_bytes(f"{memory.group(2)} {memory.group(3)}") if memory else None
    return (View(tool="fetch", devices=tuple(found[:64]), ram_bytes=ram),)


def _fetched(line: str) -> Seen | None:
    """`GPU: NVIDIA GeForce RTX 3090` of neofetch and its kin, perhaps with the memory in brackets."""
    found = _FETCH.match(line)
    if not found or not maker_of(found.group(1)) or re.search(r"UUID|\d+%|GB/s|GPU name|cores?:", line):
        return None
    clock = _CLOCK.search(found.group(1))
    name, memory = _CLOCK.sub("", found.group(1)), None
    sized = re.match(r"^(.*?)\s*\((\d+(?:\.\d+)?)\s*Gi?B\b[^)]*\)$", name)
    if sized:
        name, memory = sized.group(1), float(sized.group(2)) * GIB
    apple = maker_of(name) == "apple"
    inside = found.group(2) == "Integrated" and not apple
    cores = whole(clock.group(1)) if clock and apple else None
    return Seen(name=name, maker=maker_of(name), gpu_cores=cores, memory_bytes=memory, integrated=True if inside else None)


def _named(one: Mapping[str, Any]) -> list[Seen]:
    """Devices of one report: llama-bench's gpu_info, or a hardware block with a name, a count and the memory of all."""
    info = (
        one.get("gpu_info") or (one.get("bench_raw") or {}).get("gpu_info")
        if isinstance(one.get("bench_raw", {}), dict)
        else one.get("gpu_info")
    )
    if isinstance(info, str) and info and "backends" in (one.get("bench_raw") or one):
        return list(_of_info(info))
    for block in [one.get(key) for key in ("hardware", "system", "machine", "device")] + [one]:
        if isinstance(block, dict):
            name = next((known(block[key]) for key in _NAMES if isinstance(block.get(key), str) and maker_of(block[key])), None)
            if name:
                return list(_of_block(name, block))
    return []


def _of_info(info: str) -> Iterator[Seen]:
    """Names between commas; llama-bench of several backends repeats none."""
    for place, name in enumerate(part.strip() for part in info[:4000].split(",")):
        if name and place < MOST_COUNT:
            yield Seen(name=name, index=place, maker=maker_of(name))


def _of_block(name: str, block: Mapping[str, Any]) -> Iterator[Seen]:
    """`count` equal devices that share the stated memory; unified memory is the machine's."""
    count = next((whole(block[key]) for key in _COUNTS if whole(block.get(key))), 1) or 1
    total = number(block.get("vramGb") or block.get("vram_gb") or block.get("gpu_memory_gb"))
    for place in range(min(count, MOST_COUNT)):
        yield Seen(name=name, index=place, maker=maker_of(name), memory_bytes=total * GIB / count if total else None)


def _ram(one: Mapping[str, Any]) -> float | None:
    """Host memory of the report."""
    block = one.get("hardware")
    ram = number(block.get("ramGb") or block.get("ram_gb")) if isinstance(block, dict) else None
    return ram * GIB if ram else None


def _cpu(one: Mapping[str, Any]) -> str | None:
    """The processor's name: of a box with shared memory it tells the GPU."""
    inner = one.get("bench_raw")
    for block in (one, inner, one.get("hardware")):
        if isinstance(block, dict) and isinstance(block.get("cpu_info") or block.get("cpu"), str):
            return known(block.get("cpu_info") or block.get("cpu"))
    return None
