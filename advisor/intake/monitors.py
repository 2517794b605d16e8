"""Monitors on the terminal: gpustat, nvtop."""

import re
from collections.abc import Iterable

from advisor.intake.page import Page
from advisor.intake.readings import known, maker_of, number, size_bytes, whole
from advisor.intake.seen import Seen, View
from advisor.record import replace

TOOL = "monitor"

_STAT = re.compile(r"^\s*\[(\d{1,3})\]\s+(\S[^|]{2,60}?)\s*\|[^|]*\|\s*(\d+)\s*/\s*(\d+)\s*(MB|MiB)?")
_DEVICE = re.compile(r"\bDevice (\d{1,3}) \[([^\]]{3,60})\](?:.*?PCIe GEN (\d)@\s?(\d{1,2})x)?")
_MEMORY = re.compile(r"MEM\[[^\]]*?([\d.]+\s*[KMG]i?B?)/([\d.]+\s*[KMG]i?B?)\]")
_CAP = re.compile(r"POW\s+(?:[\d.]+|N/A)\s*/\s*(\d+)\s*W")


def recognise(page: Page) -> bool:
    """Whether one of these may be in the text."""
    return page.has("[0] ", "Device 0 [")


def read(page: Page) -> tuple[View, ...]:
    """A view for each."""
    views = [View(tool=tool, devices=devices) for tool, devices in (("gpustat", _gpustat(page.lines)), ("nvtop", _nvtop(page.lines)))]
    return tuple(view for view in views if view.devices)


def _gpustat(lines: Iterable[str]) -> tuple[Seen, ...]:
    """`[0] NVIDIA GeForce RTX 3090 | 45°C, 0 % | 312 / 24576 MB | …`; watched, each card counts once."""
    found: dict[int, Seen] = {}
    for line in lines:
        row = _STAT.match(line) if "|" in line and "[" in line else None
        if row and maker_of(row.group(2)):
            total = size_bytes(f"{row.group(4)} MiB")
            free = size_bytes(f"{max(0, int(row.group(4)) - int(row.group(3)))} MiB")
            name = row.group(2)
            found[int(row.group(1))] = Seen(
                name=known(name), index=int(row.group(1)), maker=maker_of(name), memory_bytes=total, free_bytes=free
            )
    return tuple(found.values())


def _nvtop(lines: Iterable[str]) -> tuple[Seen, ...]:
    """`Device 0 [name] PCIe GEN 4@16x`, below it memory and power limit; two devices may stand side by side."""
    found: dict[int, Seen] = {}
    row: list[int] = []
    for line in lines:
        devices = list(_DEVICE.finditer(line)) if "Device " in line else []
        if devices:
            row = [int(device.group(1)) for device in devices]
            found.update((seen.index or 0, seen) for seen in map(_named, devices))
        for at, memory in zip(row, _MEMORY.finditer(line), strict=False):
            found[at] = replace(found[at], memory_bytes=size_bytes(_binary(memory.group(2))))
        for at, cap in zip(row, _CAP.finditer(line), strict=False):
            found[at] = replace(found[at], power_limit_w=number(cap.group(1)))
    return tuple(seen for seen in found.values() if seen.maker)


def _named(device: re.Match[str]) -> Seen:
    """A device by its heading; the generation shown is the present one, the lanes the slot's."""
    return Seen(name=known(device.group(2)), index=int(device.group(1)), maker=maker_of(device.group(2)), pcie_lanes=whole(device.group(4)))


def _binary(text: str) -> str:
    """`24.000Gi` as `24.000 GiB`."""
    return text if text.rstrip().endswith("B") else f"{text}B"
