"""amd-smi: the boxed table, `static`, `metric`, `list` as text or JSON or CSV, and `monitor`. Its "MB" are MiB."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, known, number, pcie_generation, size_bytes, unknown, uuid_of, whole
from advisor.intake.seen import Seen, View
from advisor.record import replace
from advisor.units import MIB

TOOL = "amd-smi"

_NAME_ROW = re.compile(r"^[\s>]*\|\s*([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s+(\S[^|]*?)\s*\|\s*([^|]*)\|?", re.IGNORECASE)
_INDEX_ROW = re.compile(r"^[\s>]*\|\s*(\d{1,3})\s+\S+[^|]*\|\s*([^|]*)\|?")
_GPU = re.compile(r"^\s*GPU:\s*(\d{1,3})\s*$")
_PAIR = re.compile(r"^(\s+)([A-Z][A-Z0-9_ ]{1,50}):\s*(.*)$")
_MONITOR = re.compile(r"^\s*GPU\s+(?:XCP\s+)?(?:POWER|VRAM_\w+|GPU_T|PWR|TIMESTAMP|GFX)\b")
_USAGE = re.compile(r"([\d.]+)\s*/\s*([\d.]+)\s*([MG]i?B)")


def recognise(page: Page) -> bool:
    """Whether any of amd-smi's forms may be in the text."""
    return page.has("AMD-SMI", "GPU:", "GPU ", "gpu,", "VRAM", '"gpu"', ":00.0 ")


def read(page: Page) -> tuple[View, ...]:
    """Devices of whichever form is there; several forms of one paste fill each other."""
    found: dict[int, Seen] = {}
    for seen in (*_table(page.lines), *_sections(page.lines), *_json(page.objects), *_csv(page.lines), *_monitor(page.lines)):
        index = seen.index if seen.index is not None else len(found)
        before = found.get(index)
        found[index] = seen if before is None else _filled(before, seen)
    return (View(tool=TOOL, devices=tuple(found.values())),)


def _filled(before: Seen, seen: Seen) -> Seen:
    """`before` with what it lacked."""
    return replace(
        before, **{key: value for key, value in vars(seen).items() if value not in (None, ()) and getattr(before, key) in (None, ())}
    )


def _table(lines: Iterable[str]) -> Iterator[Seen]:
    """A name row, then an index row, for each GPU."""
    found: dict[str, Seen] = {}
    at: str | None = None
    for line in lines:
        name = _NAME_ROW.match(line)
        if name and "MiB" not in line:
            at = name.group(1).lower()
            watts = re.search(r"/\s*(\d+)\s*W", name.group(3))
            found[at] = Seen(
                name=known(name.group(2)), index=None, maker="amd", bus=bus_of(at), power_limit_w=number(watts.group(1)) if watts else None
            )
            continue
        row = _INDEX_ROW.match(line) if at else None
        if row and at:
            found[at] = replace(found[at], index=int(row.group(1)), **_usage(row.group(2)))
            at = None
    yield from found.values()


def _usage(text: str) -> dict[str, Any]:
    """Memory total and free of `285/196288 MB` or `0.3/191.7 GB`."""
    found = _USAGE.search(text)
    if not found:
        return {}
    total, used = size_bytes(f"{found.group(2)} {found.group(3)}"), size_bytes(f"{found.group(1)} {found.group(3)}")
    return {"memory_bytes": total, "free_bytes": max(0.0, total - (used or 0.0)) if total else None}


def _sections(lines: Iterable[str]) -> Iterator[Seen]:
    """`GPU: 0` with keys indented below, of `static`, `metric` or `list`."""
    facts: dict[str, object] = {}
    index: int | None = None
    path: list[tuple[int, str]] = []
    for line in lines:
        gpu = _GPU.match(line)
        if gpu:
            if index is not None:
                yield _device(index, facts)
            index, facts, path = int(gpu.group(1)), {}, []
            continue
        pair = _PAIR.match(line) if index is not None else None
        if pair is None:
            continue
        indent, key = len(pair.group(1)), pair.group(2).lower()
        path = [step for step in path if step[0] < indent][-8:]
        if pair.group(3).strip():
            facts.setdefault(".".join([*(name for _, name in path), key])[:200], pair.group(3).strip())
        else:
            path.append((indent, key))
    if index is not None:
        yield _device(index, facts)


def _flat(found: Mapping[str, Any], head: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """Members of nested objects by dotted path; `{value, unit}` is one value."""
    for key, value in list(found.items())[:200]:
        name = f"{head}{str(key)[:60].lower()}"
        if isinstance(value, dict) and "value" in value:
            yield name, f"{value['value']} {value.get('unit', '')}"
        elif isinstance(value, dict) and depth < 5:
            yield from _flat(value, name + ".", depth + 1)
        elif not isinstance(value, list | dict):
            yield name, value


def _json(objects: Iterable[dict[str, Any]]) -> list[Seen]:
    """`[{"gpu": 0, "asic": {…}, "vram": {…}}]`, also inside `gpu_data`."""
    found: list[Seen] = []
    for one in objects:
        inner = one.get("gpu_data")
        members = (inner if isinstance(inner, list) else [one])[:1024]
        found += [_device(member["gpu"], dict(_flat(member))) for member in members if _is_gpu(member)]
    return found


def _is_gpu(member: object) -> bool:
    """Whether a JSON member describes a GPU."""
    known_keys = {"asic", "vram", "bus", "bdf", "mem_usage", "board"}
    return isinstance(member, dict) and isinstance(member.get("gpu"), int) and bool(known_keys & set(member))


def _is_csv(line: str) -> bool:
    """The header of `--csv`."""
    return line.startswith("gpu,") and bool(re.search(r"market_name|vram|bdf|total_", line))


def _csv(lines: Iterable[str]) -> Iterator[Seen]:
    """A row for each GPU under the header; `static --csv` leaves out the section names."""
    header: list[str] | None = None
    for line in lines:
        if _is_csv(line):
            header = line.strip().split(",")
        elif header and re.match(r"^\d{1,3},", line):
            row = dict(zip(header, next(csv.reader([line]), []), strict=False))
            sections = {
                "market_name": "asic.",
                "device_id": "asic.",
                "size": "vram.",
                "vram_size": "vram.",
                "total_vram": "mem_usage.",
                "bdf": "bus.",
            }
            yield _device(int(line.split(",", 1)[0]), {sections.get(key, "") + key: value for key, value in row.items()})


def _device(index: int, facts: Mapping[str, object]) -> Seen:
    """A device by amd-smi's keys."""
    total = _size(facts, "vram.size", "vram.vram_size", "mem_usage.total_vram", "vram_total")
    used = _size(facts, "mem_usage.used_vram")
    device_id = re.search(r"0x([0-9a-f]{4})\b", str(facts.get("asic.device_id", "")), re.IGNORECASE)
    name = known(facts.get("asic.market_name")) or known(facts.get("board.product_name"))
    return Seen(
        name=None if name and name.startswith("0x") else name,
        index=index,
        maker="amd",
        bus=bus_of(facts.get("bus.bdf") or facts.get("bdf")),
        uuid=uuid_of(facts.get("uuid")),
        pci_id=f"1002:{device_id.group(1)}".lower() if device_id else None,
        chip=known(facts.get("asic.target_graphics_version")),
        memory_bytes=total,
        free_bytes=_size(facts, "mem_usage.free_vram") or (total - used if total and used else None),
        shared_bytes=_size(facts, "mem_usage.total_gtt"),
        driver=known(facts.get("driver.version") or facts.get("driver.driver_version")),
        pcie_generation=_generation(facts),
        pcie_lanes=whole(known(facts.get("bus.max_pcie_width"))),
        power_limit_w=number(
            known(facts.get("limit.socket_power") or facts.get("limit.max_power") or facts.get("limit.ppt0.socket_power_limit"))
        ),
    )


def _size(facts: Mapping[str, object], *keys: str) -> float | None:
    """The first size that is known."""
    return next((size for size in (size_bytes(facts.get(key), MIB) for key in keys) if size), None)


def _generation(facts: Mapping[str, object]) -> int | None:
    """PCIe generation from the interface's version, else from its speed."""
    version = facts.get("bus.pcie_interface_version")
    return whole(version) if not unknown(version) else pcie_generation(known(facts.get("bus.max_pcie_speed")))


def _monitor(lines: Iterable[str]) -> Iterator[Seen]:
    """Rows of `monitor`: `VRAM_USAGE 0.3/191.7 GB`, or columns VRAM_USED and VRAM_TOTAL. Values are `151 W`, two blanks apart or one."""
    columns: list[str] = []
    seen_rows: dict[int, Seen] = {}
    for line in lines:
        if _MONITOR.match(line):
            columns = line.split()
            continue
        row = re.match(r"^\s*(\d{1,3})\s+\S", line) if columns else None
        if row:
            seen_rows[int(row.group(1))] = Seen(index=int(row.group(1)), maker="amd", **(_usage(line) or _columns(line, columns)))
        elif line.strip():
            columns = []
    yield from seen_rows.values()


def _columns(line: str, columns: list[str]) -> dict[str, Any]:
    """Total and used where each has its column: sizes in MB or GB in their order."""
    sizes = [f"{value} {unit}" for value, unit in re.findall(r"([\d.]+)\s*([MG]i?B)\b", line)]
    names = [name for name in columns if name.startswith("VRAM_") and "%" not in name]
    if not names or len(sizes) < len(names):
        return {}
    row = dict(zip(names, sizes[-len(names) :] if "VRAM_USED" in names else sizes, strict=False))
    return {"memory_bytes": size_bytes(row.get("VRAM_TOTAL")), "free_bytes": size_bytes(row.get("VRAM_FREE"))}
