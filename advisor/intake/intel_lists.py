"""Intel's tools: sycl-ls, and xpu-smi (discovery as table, JSON and CSV; the boxed table of version 2)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, known, maker_of, number, size_bytes
from advisor.intake.seen import Seen, View
from advisor.record import replace

TOOL = "xpu-smi"

_SYCL = re.compile(r"\[(?:(?:ext_oneapi_)?(level_zero|opencl|cuda|hip)):gpu[^\]]*\](?:\[[^\]]*\])?\s*(.{4,200})$")
_SYCL_NAME = re.compile(
    r"(?:^|,\s*)((?:Intel\(R\) |NVIDIA |AMD |Radeon )(?!OpenCL|oneAPI|Level|CUDA|HIP)[^,]{3,80}?)"
    r"(?:\s+\d+\.\d\S*.*|\s+\d\.\d.*|\s+OpenCL\b.*)?$"
)
_CELL = re.compile(r"^\s*\|\s*(\d*)\s*\|\s*([A-Z][\w ./()-]{2,40}):\s*(.*?)\s*\|\s*$")
_ROW = re.compile(
    r"^\s*\|\s*(\d{1,3})\s+(Intel\(R\)[^|]*?)\s*(?:\s(?:On|Off|N/A))?\s*\|\s*"
    r"([0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])"
)
_MEMORY = re.compile(r"(\d+)MiB\s*/\s*(\d+)MiB")
_CAP = re.compile(r"/\s*(\d+)W")


def recognise(page: Page) -> bool:
    """Whether one of these lists may be in the text."""
    return page.has(":gpu", "Device Information", "XPU-SMI", "device_name", "Device Name,", "Device Name: Intel")


def read(page: Page) -> tuple[View, ...]:
    """A view for each list; SYCL names a card once for each backend."""
    views = [View(tool=f"sycl-ls {backend}", devices=tuple(devices)) for backend, devices in _sycl(page.lines).items()]
    found = (tuple(_discovered(page.lines)), tuple(_table(page.lines)), tuple(_json(page.objects)))
    return (*views, *(View(tool=TOOL, devices=devices) for devices in found if devices))


def _sycl(lines: Iterable[str]) -> dict[str, list[Seen]]:
    """`[level_zero:gpu][level_zero:0] Intel(R) Level-Zero, Intel(R) Arc(TM) B580 Graphics 20.1.0 [1.6…]`."""
    found: dict[str, list[Seen]] = {}
    for line in lines:
        row = _SYCL.search(line) if ":gpu" in line else None
        name = _SYCL_NAME.search(re.sub(r"\s*\[[^\]]*\]\s*$", "", row.group(2))) if row else None
        if row and name:
            found.setdefault(row.group(1), []).append(Seen(name=known(name.group(1)), maker=maker_of(name.group(1))))
    return found


def _discovered(lines: Iterable[str]) -> Iterator[Seen]:
    """The cells `Key: value` of `discovery`; a number in the first column begins a device."""
    facts: dict[str, str] = {}
    for line in lines:
        cell = _CELL.match(line) if "|" in line else None
        if cell is None:
            continue
        if cell.group(1):
            yield from _device(facts)
            facts = {"index": cell.group(1)}
        facts.setdefault(cell.group(2).lower(), cell.group(3))
    yield from _device(facts)


def _device(facts: Mapping[str, object]) -> Iterator[Seen]:
    """A device of named facts."""
    name = known(facts.get("device name") or facts.get("device_name"))
    if name is None or "index" not in facts:
        return
    pci = re.search(r"0x([0-9a-fA-F]{4})", str(facts.get("pci device id") or facts.get("pci_device_id") or ""))
    index = number(facts.get("index"))
    yield Seen(
        name=name,
        index=int(index) if index is not None else None,
        maker=maker_of(name) or "intel",
        bus=bus_of(facts.get("pci bdf address") or facts.get("pci_bdf_address")),
        pci_id=f"8086:{pci.group(1)}".lower() if pci else None,
        memory_bytes=size_bytes(facts.get("memory physical size") or facts.get("memory_physical_size_byte"), 1.0),
    )


def _table(lines: Iterable[str]) -> Iterator[Seen]:
    """The boxed table: the row with the bus address, then one with memory and power, the name perhaps over two lines."""
    seen: Seen | None = None
    for line in lines:
        row = _ROW.match(line) if "Intel(R)" in line else None
        if row:
            yield from [seen] if seen else []
            seen = Seen(name=known(row.group(2)), index=int(row.group(1)), maker="intel", bus=bus_of(row.group(3)))
        elif seen is not None and "|" in line:
            memory, cap = _MEMORY.search(line), _CAP.search(line)
            if memory and seen.memory_bytes is None:
                seen = replace(seen, memory_bytes=size_bytes(f"{memory.group(2)} MiB"), power_limit_w=number(cap.group(1)) if cap else None)
    yield from [seen] if seen else []


def _json(objects: Iterable[dict[str, Any]]) -> Iterator[Seen]:
    """`{"device_list": [{"device_id": 0, "device_name": …}]}`, or one device."""
    for one in objects:
        inner = one.get("device_list")
        for member in (inner if isinstance(inner, list) else [one])[:256]:
            if isinstance(member, dict) and "device_id" in member and isinstance(member.get("device_name"), str):
                yield from _device({**{str(key).lower(): value for key, value in list(member.items())[:100]}, "index": member["device_id"]})
