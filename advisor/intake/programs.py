"""Devices as programs print them: PyTorch, TensorFlow, Kubernetes' node labels, LM Studio's survey, dcgmi, fastfetch."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, known, maker_of, number, size_bytes, whole
from advisor.intake.seen import Seen, View
from advisor.record import replace
from advisor.units import MIB

TOOL = "program"

MOST_COUNT = 64
_PROPERTIES = re.compile(r"_CudaDeviceProperties\(name='([^']{2,80})'(.{0,200})")
_TOTAL = re.compile(r"total_memory=(\d+)\s*(MB|MiB)?")
_NAME = re.compile(r"get_device_name\([^)]*\)")
_COUNT = re.compile(r"device_count\(\)")
_MODEL = re.compile(r"^[\s\d|]*(?:Model|Name):\s+((?:NVIDIA|GeForce|Tesla|Quadro|TITAN|GRID) .{2,60}?)[\s|]*$")
_PLACE = re.compile(r"^[\s|]*(?:Bus Location|PCI Bus ID):\s+(\S+)")
_QUERY = re.compile(r"^\s*Device (\d{1,3}): \"([^\"]{3,80})\"|^\s*id (\d{1,3})\s+b'([^']{3,80})'")
_GLOBAL = re.compile(r"Total amount of global memory:\s+(\d+) MBytes")
_TENSORFLOW = re.compile(r"device: (\d{1,3}), name: ([^,]{3,80}), pci bus id: ([0-9a-fA-F:.]{7,16})")
_LABEL = re.compile(r"\b(nvidia|amd)\.com/gpu\.(product|count|memory|product-name|vram)[=:]\s*\"?([^\s\",]{1,80})")
_CAPACITY = re.compile(r"\b(?:nvidia|amd)\.com/gpu:\s*\"?(\d{1,3})\b")


def recognise(page: Page) -> bool:
    """Whether one of these may be in the text."""
    return page.has(
        "DeviceProperties(",
        "get_device_name",
        "pci bus id:",
        ".com/gpu.product",
        "gpuInfo",
        "gpuSurvey",
        "Bus Location:",
        'Device 0: "',
        "b'",
        "PCI Bus ID:",
        '"platformApi"',
    )


def read(page: Page) -> tuple[View, ...]:
    """A view for each."""
    views = []
    for tool, devices in (
        ("torch", (*_properties(page.text), *_torch(page.lines))),
        ("driver", tuple(_driver(page.lines))),
        ("deviceQuery", _query(page.lines)),
        ("tensorflow", tuple(_tensorflow(page.lines))),
        ("kubernetes", _node(page.text)),
        ("LM Studio", tuple(_survey(page.objects, 0))),
    ):
        if devices:
            views.append(View(tool=tool, devices=devices))
    return (*views, *_fetched(page.objects))


def _fetched(objects: Iterable[Mapping[str, Any]]) -> Iterator[View]:
    """`fastfetch --json`: parts with a type and a result; a GPU of a processor is `Integrated`."""
    parts = {one["type"]: one.get("result") for one in objects if isinstance(one.get("type"), str)}
    listed = parts.get("GPU")
    gpus = [one for one in listed[:MOST_COUNT] if isinstance(one, dict)] if isinstance(listed, list) else []
    devices = tuple(_fetched_device(one) for one in gpus if maker_of(known(one.get("name"))))
    if devices:
        memory, cpu = parts.get("Memory"), parts.get("CPU")
        yield View(
            tool="fastfetch",
            devices=devices,
            ram_bytes=number(memory.get("total")) if isinstance(memory, dict) else None,
            cpu=known(cpu.get("cpu")) if isinstance(cpu, dict) else None,
        )


def _fetched_device(one: Mapping[str, Any]) -> Seen:
    """A GPU with the memory of its own, where that is told."""
    name = known(one.get("name"))
    apple, pools = maker_of(name) == "apple", one.get("memory")
    own = pools.get("dedicated") if isinstance(pools, dict) else None
    return Seen(
        name=name,
        maker=maker_of(name),
        gpu_cores=whole(one.get("coreCount")) if apple else None,
        memory_bytes=(number(own.get("total")) or None) if isinstance(own, dict) and not apple else None,
        integrated=True if one.get("type") == "Integrated" and not apple else None,
    )


def _properties(text: str) -> tuple[Seen, ...]:
    """`_CudaDeviceProperties(name='…', total_memory=40536MB, …)`: MB are MiB here."""
    found = []
    for place, row in enumerate(_PROPERTIES.finditer(text)):
        total = _TOTAL.search(row.group(2))
        size = float(total.group(1)) * (MIB if total.group(2) else 1.0) if total else None
        found.append(Seen(name=known(row.group(1)), index=place, maker=maker_of(row.group(1)), memory_bytes=size))
    return tuple(found[:MOST_COUNT])


def _torch(lines: Iterable[str]) -> tuple[Seen, ...]:
    """The answers below `torch.cuda.get_device_name(…)` and `device_count()`."""
    name: str | None = None
    count, asked = 1, ""
    for line in lines:
        if _NAME.search(line) or _COUNT.search(line):
            asked = "name" if _NAME.search(line) else "count"
        elif asked and line.strip():
            answer = re.sub(r"^(?:Out\[\d+\]:|>>>)?\s*['\"]?|['\"]\s*$", "", line.strip())
            if asked == "name" and maker_of(answer):
                name = answer
            elif asked == "count" and answer.isdigit():
                count = int(answer)
            asked = ""
    devices = range(min(count, MOST_COUNT)) if name else ()
    return tuple(Seen(name=known(name), index=place, maker=maker_of(name)) for place in devices)


def _driver(lines: Iterable[str]) -> Iterator[Seen]:
    """`Model:` and `Bus Location:` of /proc/driver/nvidia and nvidia-container-cli, `Name:` and `PCI Bus ID:` of dcgmi."""
    name: str | None = None
    for line in lines:
        model, place = _MODEL.match(line), _PLACE.match(line)
        name = model.group(1) if model else name
        if place and name:
            yield Seen(name=known(name), maker="nvidia", bus=bus_of(place.group(1)))
            name = None


def _query(lines: Iterable[str]) -> tuple[Seen, ...]:
    """CUDA's deviceQuery with its memory, and numba's list."""
    found: list[Seen] = []
    for line in lines:
        row, memory = _QUERY.match(line), _GLOBAL.search(line) if found else None
        name = (row.group(2) or row.group(4)) if row else None
        if row and maker_of(name) and len(found) < MOST_COUNT:
            found.append(Seen(name=known(name), index=int(row.group(1) or row.group(3)), maker=maker_of(name)))
        elif memory and found[-1].memory_bytes is None:
            found[-1] = replace(found[-1], memory_bytes=size_bytes(f"{memory.group(1)} MiB"))
    return tuple(found)


def _tensorflow(lines: Iterable[str]) -> Iterator[Seen]:
    """`-> device: 0, name: NVIDIA …, pci bus id: 0000:01:00.0`: its memory is what TensorFlow took, not the card's."""
    seen: set[str] = set()
    for line in lines:
        row = _TENSORFLOW.search(line) if "pci bus id:" in line else None
        if row and row.group(3) not in seen and len(seen) < MOST_COUNT:
            seen.add(row.group(3))
            yield Seen(name=known(row.group(2)), index=int(row.group(1)), maker=maker_of(row.group(2)), bus=bus_of(row.group(3)))


def _node(text: str) -> tuple[Seen, ...]:
    """The labels of a node: product, count, memory in MiB (where MIG cuts it, a slice's: then left out)."""
    facts: dict[str, str] = {}
    for maker, key, value in _LABEL.findall(text):
        facts.setdefault({"product-name": "product", "vram": "memory"}.get(key, key), value)
        facts.setdefault("maker", maker)
    name = facts.get("product", "").replace("-SHARED", "")
    if not name:
        return ()
    sliced = re.search(r"-MIG-\S*$", name)
    held = _CAPACITY.search(text)
    count = whole(facts.get("count")) or (int(held.group(1)) if held and "-SHARED" not in facts["product"] else 1)
    printed = facts.get("memory", "")
    size = size_bytes(printed, MIB) if not sliced else None
    plain = re.sub(r"-MIG-\S*$", "", name).replace("_", " ")
    plain = re.sub(r"-(?=(?:GeForce|RTX|Quadro|Tesla|TITAN|L\d|[ABH]\d)|\d{3,4}(?:-|$)|Ti\b|SUPER\b|Ada\b|Generation\b)", " ", plain)
    return tuple(Seen(name=plain, index=place, maker=facts["maker"], memory_bytes=size) for place in range(min(count, MOST_COUNT)))


def _survey(found: Any, depth: int) -> Iterator[Seen]:
    """LM Studio's `gpuInfo`: names with their dedicated memory."""
    if isinstance(found, dict):
        infos = found.get("gpuInfo")
        for info in infos[:MOST_COUNT] if isinstance(infos, list) else ():
            if isinstance(info, dict) and isinstance(info.get("name"), str):
                size = number(info.get("dedicatedMemoryCapacityBytes")) or number(info.get("totalMemoryCapacityBytes"))
                inside = info.get("integrationType") == "Integrated" and maker_of(info["name"]) != "apple"
                yield Seen(
                    name=known(info["name"]),
                    maker=maker_of(info["name"]),
                    memory_bytes=None if inside else size or None,
                    integrated=True if inside else None,
                )
        if not isinstance(infos, list) and depth < 5:
            for value in list(found.values())[:50]:
                yield from _survey(value, depth + 1)
    elif isinstance(found, list | tuple) and depth < 5:
        for member in found[:50]:
            yield from _survey(member, depth + 1)
