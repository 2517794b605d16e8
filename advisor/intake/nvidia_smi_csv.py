"""`nvidia-smi --query-gpu=… --format=csv`, with or without header and units, with any word in brackets for "unknown"."""

import csv
import re
from collections.abc import Iterable, Sequence

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, known, maker_of, number, size_bytes, uuid_of, whole
from advisor.intake.seen import Seen, View
from advisor.record import replace
from advisor.units import GIB, MIB

TOOL = "nvidia-smi csv"

_FIELD = re.compile(r"^[a-z_0-9]+(?:\.[A-Za-z_0-9]+)*(?: \[[A-Za-z/%]+\])?$")
_TELLING = re.compile(
    r"^(?:name|gpu_name|gpu_uuid|uuid|gpu_bus_id|pci\.bus_id|memory\.(?:total|used|free)|index|driver_version|p"
    r"ower\.(?:limit|draw)|pcie\.link\.\S+|compute_cap|utilization\.\S+|temperature\.gpu|fan\.speed|pstate|cloc"
    r"ks\.\S+|mig\.mode\.\S+)(?: \[|$)"
)
_NVIDIA = re.compile(
    r"^(?:NVIDIA |GeForce |Tesla |Quadro |TITAN |RTX |GRID |GTX |A\d{2,3}|H\d{3}|L4|B\d{3}|GB\d{2,3}|Orin|Xavier)[\w .()/+-]*$"
)
_MAY = re.compile(
    r"[a-z]\.[a-z]|name|uuid|index|\[|NVIDIA|GeForce|Tesla|Quadro|TITAN|RTX|GTX|GRID|A\d\d|H\d\d|L4|B\d\d|GB\d|Orin|Xavier|\d, "
)
_DRIVER = re.compile(r"^\d{3}\.\d{2,3}(?:\.\d{2})?$")
# Sizes sold, of cards that the catalog lacks too: any whole number would take a memory clock (7001 MHz) for one.
_SIZES_GIB = (2, 3, 4, 5, 6, 8, 10, 11, 12, 15, 16, 20, 22, 24, 32, 40, 45, 48, 64, 72, 80, 94, 96, 128, 141, 180, 192, 288)
MOST_ROWS = 4096
MOST_COLUMN_LINES = 66  # of a query of one field without header


def recognise(page: Page) -> bool:
    """Whether there may be a header of query fields, a row with an NVIDIA name between commas, or one bare column."""
    return page.has(",", "name", "memory.") or len(page.lines) <= MOST_COLUMN_LINES


def read(page: Page) -> tuple[View, ...]:
    """A device a row; a query repeated with `-l` gives each device once."""
    column = _bare_column(page.lines)
    if column:
        return (View(tool=TOOL, devices=column),)
    header: Sequence[str] | None = None
    found: list[tuple[str, Seen]] = []
    for cells in _rows(page.lines):
        if len(found) >= MOST_ROWS:
            break
        if _is_header(cells):
            header = [cell.split(" [")[0] for cell in cells]
        elif header is not None and len(cells) == len(header):
            found.append(_from_header(dict(zip(header, cells, strict=True))))
        elif _name_at(cells) is not None:
            found.append(("", _from_bare(cells)))
    return (View(tool=TOOL, devices=tuple(_once(found))),)


def _bare_column(lines: Sequence[str]) -> tuple[Seen, ...]:
    """A query of one field without header: nothing but names, or nothing but sizes; one line a device."""
    filled = [line.strip() for line in lines if line.strip()] if len(lines) <= MOST_COLUMN_LINES else []
    if not filled:
        return ()
    if all(re.fullmatch(r"\d{3,6} MiB", line) for line in filled):
        return tuple(Seen(index=place, maker="nvidia", memory_bytes=size_bytes(line)) for place, line in enumerate(filled))
    named = all(_NVIDIA.match(line) and len(line) < 64 and re.search(r"\d", line) and maker_of(line) == "nvidia" for line in filled)
    return tuple(Seen(index=place, name=line, maker="nvidia") for place, line in enumerate(filled)) if named else ()


def _rows(lines: Iterable[str]) -> Iterable[list[str]]:
    """Lines that may be rows of a comma table. One column (`name` alone) counts when the header is a query field."""
    column = False
    mark: str | None = None  # what stands for the comma below a head that was separated so
    for line in lines:
        bare = line.strip()
        mark = mark if mark and mark in bare else _mark(bare)
        if mark and not set(bare) <= set("|-: "):
            yield [cell.strip(' "') for cell in bare.strip("| ").split(mark)]
            continue
        if "," not in bare:
            alone = bool(_TELLING.match(bare)) and bool(_FIELD.match(bare))
            column = alone or (column and bool(bare))
            if column:
                yield [bare]
            continue
        column = False
        if len(bare) < 16_000 and _MAY.search(bare) and '{"' not in bare and bare.count(",") < 400:
            yield _cells(bare)


def _mark(line: str) -> str | None:
    """The sign between the cells of a head that has no commas: of a spreadsheet, of a Markdown table."""
    if "," in line or not ("name" in line or "memory." in line):
        return None
    return next(
        (mark for mark in (";", "\t", "|") if mark in line and _is_header([cell.strip(' "') for cell in line.strip("| ").split(mark)])),
        None,
    )


def _cells(line: str) -> list[str]:
    """The cells of one row; a row that is not proper CSV is cut at its commas."""
    try:
        return [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True))]
    except (csv.Error, StopIteration):
        return [cell.strip() for cell in line.split(",")]


def _is_header(cells: Sequence[str]) -> bool:
    """Query fields only, one of them telling, and none of a process list."""
    if not cells or not _FIELD.match(cells[0]) or not all(_FIELD.match(cell) for cell in cells):
        return False
    telling = sum(bool(_TELLING.match(cell)) for cell in cells)
    with_unit = any("[" in cell or "." in cell for cell in cells)
    return telling > 0 and (with_unit or telling == len(cells)) and not {"pid", "process_name"} & set(cells)


def _name_at(cells: Sequence[str]) -> int | None:
    """Which cell holds a GPU's name, in a row without a header that also has a number or an unknown beside it."""
    if len(cells) < 2:
        return None
    for at, cell in enumerate(cells):
        if _NVIDIA.match(cell) and len(cell) < 64 and maker_of(cell) == "nvidia":
            others = [other for place, other in enumerate(cells) if place != at]
            return (
                at if all(len(other) < 64 for other in others) and any(re.match(r"^[\d\[]|^GPU-|^N/A", other) for other in others) else None
            )
    return None


def _from_header(row: dict[str, str]) -> tuple[str, Seen]:
    """The device of a row under its header, and the second at which it was printed."""
    total, used = row.get("memory.total"), row.get("memory.used")
    generation = row.get("pcie.link.gen.max") or row.get("pcie.link.gen.gpumax") or row.get("pcie.link.gen.current")
    lanes = row.get("pcie.link.width.current") or row.get("pcie.link.width.max")
    free = size_bytes(row.get("memory.free"), MIB)
    memory = size_bytes(total, MIB)
    if free is None and memory is not None and size_bytes(used, MIB) is not None:
        free = max(0.0, memory - (size_bytes(used, MIB) or 0.0))
    seen = Seen(
        name=known(row.get("name") or row.get("gpu_name")),
        index=whole(known(row.get("index"))),
        maker="nvidia",
        bus=bus_of(row.get("pci.bus_id") or row.get("gpu_bus_id")),
        uuid=uuid_of(row.get("uuid") or row.get("gpu_uuid")),
        memory_bytes=memory,
        free_bytes=free,
        driver=known(row.get("driver_version")),
        pcie_generation=whole(known(generation)),
        pcie_lanes=whole(known(lanes)),
        power_limit_w=number(known(row.get("power.limit") or row.get("enforced.power.limit"))),
    )
    if row.get("mig.mode.current") == "Enabled":
        seen = replace(seen, notes=("MIG is on: the card is cut into slices",))
    return row.get("timestamp", "").split(".")[0], seen


def _from_bare(cells: Sequence[str]) -> Seen:
    """The device of a row without header: cells are told by their form."""
    at = _name_at(cells) or 0
    before, after = cells[:at], cells[at + 1 :]
    indexes = [whole(cell) for cell in (*reversed(before), *after[:0]) if re.fullmatch(r"\d{1,2}", cell)]
    driver = next((cell for cell in cells if _DRIVER.match(cell)), None)
    return Seen(
        name=known(cells[at]),
        index=indexes[0] if indexes else None,
        maker="nvidia",
        driver=driver,
        bus=next((bus_of(cell) for cell in cells if bus_of(cell)), None),
        uuid=next((uuid_of(cell) for cell in cells if uuid_of(cell)), None),
        memory_bytes=_memory(after),
        free_bytes=None,
    )


def _memory(cells: Sequence[str]) -> float | None:
    """Total memory among cells without names: the largest with MiB; else total = used + free; else a size that is sold."""
    sized = [size_bytes(cell) for cell in cells if re.fullmatch(r"\d+ [MG]i?B", cell)]
    if sized:
        return max((size for size in sized if size), default=None)
    plain = [float(cell) for cell in cells if re.fullmatch(r"\d{3,7}(?:\.\d+)?", cell)]
    for one, two, three in zip(plain, plain[1:], plain[2:], strict=False):
        total = max(one, two, three)
        if total > 1000 and abs(one + two + three - 2 * total) < 0.08 * total:
            return total * MIB
    return next((value * MIB for value in plain if _is_sold(value * MIB / GIB)), None)


def _is_sold(gib: float) -> bool:
    """Whether a size is what the driver shows of a card sold with that many GiB: up to 2.5 % less."""
    return any(-0.025 * size <= gib - size <= 0.002 * size for size in _SIZES_GIB)


def _once(rows: Sequence[tuple[str, Seen]]) -> Iterable[Seen]:
    """Each device once: by UUID, bus or index, as last printed; rows without any of them count within the first second."""
    named: dict[object, Seen] = {}
    first = rows[0][0] if rows else ""
    for place, (second, seen) in enumerate(rows):
        key = seen.uuid or seen.bus or (seen.index if seen.index is not None else None)
        if key is None and second != first:
            continue
        named[key if key is not None else ("row", place)] = seen
    return named.values()
