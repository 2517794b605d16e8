"""Lists of a Linux system: lshw (long, short, JSON), inxi, hwinfo, and amdgpu's lines of the kernel log."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor.intake import lspci
from advisor.intake.page import Page
from advisor.intake.readings import bus_of, maker_of, pcie_generation, size_bytes, whole
from advisor.intake.seen import Seen, View
from advisor.units import MIB

TOOL = "lshw"

_LSHW_START = re.compile(r"^\s*\*-(\w+)")
_LSHW_FACT = re.compile(r"^\s+(product|vendor|bus info|size|description):\s*(.+)$")
_LSHW_SHORT = re.compile(r"^\S*\s+(?:\S+\s+)?display\s{2,}(.{4,120})$")
_SECTION = re.compile(r"^(\S[\w ]{2,20}):(?:\s|$)")
_INXI = re.compile(r"^\s*(?:Device-\d+|Card-\d+|Card):\s*(.+)$")
_INXI_NAME = re.compile(r"^(.{3,100}?)(?:\s+(?:vendor|driver|bus-ID|chip-ID|type|v):|$)")
_HWINFO = re.compile(r'^\s*Model:\s*"([^"]{4,120})"')
_VRAM = re.compile(r"amdgpu ([0-9a-f:.]{12}): (?:amdgpu: )?VRAM: (\d+)M\b")
_READY = re.compile(r"amdgpu(?: ([0-9a-f:.]{12}))?: (?:amdgpu: )?(\d+)M of (VRAM|GTT) memory ready")
_VENDORS = (
    (re.compile(r"^(?:nVidia|NVIDIA)(?: Corporation)?\b"), "NVIDIA Corporation"),
    (
        re.compile(r"^(?:AMD(?:/ATI)?|ATI|Advanced Micro Devices)\b,?(?: Inc\.?)?(?: \[AMD(?:/ATI)?\])?"),
        "Advanced Micro Devices, Inc. [AMD/ATI]",
    ),
    (re.compile(r"^Intel(?: Corporation)?\b"), "Intel Corporation"),
)  # fmt: skip


def recognise(page: Page) -> bool:
    """Whether one of these lists may be in the text."""
    return page.has(
        "*-display", " display  ", "Graphics:", "graphics card", "amdgpu", '"class" : "display"', '"class": "display"', '"class":"display"'
    )


def read(page: Page) -> tuple[View, ...]:
    """A view for each list."""
    views = []
    for tool, devices in (
        ("lshw", (*_lshw(page.lines), *_lshw_json(page.documents))),
        ("lshw -short", tuple(_lshw_short(page.lines))),
        ("inxi", tuple(_inxi(page.lines))),
        ("hwinfo", tuple(_hwinfo(page.lines))),
        ("dmesg", tuple(_kernel(page.lines))),
    ):
        if devices:
            views.append(View(tool=tool, devices=devices))
    return tuple(views)


def _seen(words: str, bus: str | None = None, pci_id: str | None = None) -> Seen | None:
    """A device by its maker's and its own name, as lspci would print it; other makers' are none."""
    for pattern, vendor in _VENDORS:
        if pattern.match(words):
            words = pattern.sub(vendor, words, count=1)
            break
    return lspci.device_of(bus, words, pci_id)


def _lshw(lines: Iterable[str]) -> Iterator[Seen]:
    """Blocks begun by `*-display`."""
    facts: dict[str, str] | None = None
    for line in lines:
        start, fact = _LSHW_START.match(line), _LSHW_FACT.match(line)
        if start:
            yield from _lshw_device(facts)
            facts = {} if start.group(1) == "display" else None
        elif fact and facts is not None:
            facts.setdefault(fact.group(1), fact.group(2).strip())
    yield from _lshw_device(facts)


def _lshw_device(facts: Mapping[str, str] | None) -> Iterator[Seen]:
    """The device of a block that names a maker and a product."""
    seen = _seen(f"{facts.get('vendor', '')} {facts.get('product', '')}", facts.get("bus info")) if facts else None
    if seen is not None:
        yield seen


def _lshw_json(documents: Iterable[Any]) -> Iterator[Seen]:
    """Nodes of class `display`."""
    for node in _nodes(documents, 0):
        if node.get("class") == "display":
            yield from _lshw_device(
                {"vendor": str(node.get("vendor", "")), "product": str(node.get("product", "")), "bus info": str(node.get("businfo", ""))}
            )


def _nodes(found: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Every object of lshw's tree."""
    if isinstance(found, dict):
        yield found
        found = found.get("children", ())
    if depth < 12 and isinstance(found, list | tuple):
        for member in found[:1000]:
            yield from _nodes(member, depth + 1)


def _lshw_short(lines: Iterable[str]) -> Iterator[Seen]:
    """`/0/100/1/0   display   GA102 [GeForce RTX 3090]`."""
    for line in lines:
        row = _LSHW_SHORT.match(line) if " display " in line else None
        maker = maker_of(row.group(1)) if row else None
        if row and maker:
            yield Seen(name=" ".join(row.group(1).split()), maker=maker)


def _inxi(lines: Iterable[str]) -> Iterator[Seen]:
    """`Device-1: NVIDIA GA104 [GeForce RTX 3070] vendor: … bus-ID: … chip-ID: …` of the part `Graphics:`, over several lines."""
    inside = False
    text: list[str] = []
    for line in lines:
        section = _SECTION.match(line)
        if section:
            inside = section.group(1) == "Graphics"
            line = line.split(":", 1)[1]
        started = _INXI.match(line) if inside else None
        if started or not inside or re.match(r"^\s*(?:Display|API|Monitor|OpenGL|Info)[\w-]*:", line):
            yield from _inxi_device(" ".join(text))
            text = [started.group(1)] if started else []
        elif text:
            text.append(line.strip())
    yield from _inxi_device(" ".join(text))


def _inxi_device(text: str) -> Iterator[Seen]:
    """The device of a joined entry."""
    name = _INXI_NAME.match(text)
    if not name:
        return
    bus, chip = re.search(r"bus-ID:\s*(\S+)", text), re.search(r"chip-ID:\s*([0-9a-f]{4}:[0-9a-f]{4})", text)
    lanes = re.search(r"lanes:\s*(\d+)", text)
    best = re.search(r"link-max:.*?gen:\s*(\d)", text) or re.search(r"\bgen:\s*(\d)", text)
    speed = re.search(r"speed:\s*([\d.]+) GT/s", text)
    seen = _seen(name.group(1).strip(), bus.group(1) if bus else None, chip.group(1) if chip else None)
    if seen is not None:
        generation = int(best.group(1)) if best else pcie_generation(speed.group(1) if speed and speed.group(1) != "2.5" else None)
        yield lspci.linked(seen, generation, whole(lanes.group(1)) if lanes else None)


def _hwinfo(lines: Iterable[str]) -> Iterator[Seen]:
    """The short list below `graphics card:`, or the long list's models of that class."""
    below = graphics = False
    for line in lines:
        if re.match(r"^\s{0,4}graphics card", line):
            below = True
        elif below and re.match(r"^\s{8,}\S", line):
            seen = _seen(line.strip())
            yield from [seen] if seen else []
        else:
            below = False
        graphics = ("graphics card" in line) if "Hardware Class:" in line else graphics
        model = _HWINFO.match(line) if graphics else None
        seen = _seen(model.group(1)) if model else None
        yield from [seen] if seen else []


def _kernel(lines: Iterable[str]) -> Iterator[Seen]:
    """Memory of amdgpu's devices by bus address; what it may borrow (GTT) where one device is there."""
    found: dict[str, dict[str, float]] = {}
    for line in lines:
        if "amdgpu" not in line or len(found) > 64:
            continue
        vram, ready = _VRAM.search(line), _READY.search(line)
        if vram:
            found.setdefault(vram.group(1), {})["VRAM"] = float(vram.group(2)) * MIB
        elif ready:
            bus = ready.group(1) or next(reversed(found), "")
            found.setdefault(bus, {}).setdefault(ready.group(3), float(ready.group(2)) * MIB)
    for bus, sizes in found.items():
        yield Seen(maker="amd", bus=bus_of(bus), memory_bytes=size_bytes(sizes.get("VRAM"), 1.0), shared_bytes=sizes.get("GTT"))
