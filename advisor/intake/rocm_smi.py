"""rocm-smi in every era: the concise table (one and two lines a row), JSON, CSV, and `GPU[0] : key: value` lines."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor.intake import amd_facts
from advisor.intake.page import Page
from advisor.intake.readings import known, number
from advisor.intake.seen import Seen, View
from advisor.record import replace

TOOL = "rocm-smi"

_CARD = re.compile(r"^card(\d{1,3})$")
_FACT = re.compile(r"^[\s>]*(?:WARNING:\s*)?GPU\[(\d{1,3})\]\s*:\s*([^:]{2,80}?)\s*:\s*(.+)$")
_HEAD = re.compile(r"^[\s>]*(?:GPU|Device|DEVICE)\s+.*(?:Temp|PwrCap|AvgPwr)")
_ROW = re.compile(r"^[\s>]*(\d{1,3})\s+(.*(?:%|N/A).*)$")
_DID = re.compile(r"(?<![\w])0x([0-9a-fA-F]{4})(?:\s*[:,]|\b)")
_WATT = re.compile(r"\b([\d.]+)W\b")
_RULE = re.compile(r"^[\s>]*=+")


def recognise(page: Page) -> bool:
    """Whether any of rocm-smi's forms may be in the text."""
    return page.has("ROCm System Management", "ROCm SMI", "GPU[", "PwrCap", "AvgPwr", "device,", '"card')


def read(page: Page) -> tuple[View, ...]:
    """Devices of all the forms, those of one index together."""
    found: dict[int, Seen] = {}
    for index, facts in (*_json(page.objects), *_csv(page.lines), *_facts(page.lines)):
        _join(found, amd_facts.device(index, facts))
    if not found:
        for seen in _table(page.lines):
            _join(found, seen)
    return (View(tool=TOOL, devices=tuple(found.values())),)


def _join(found: dict[int, Seen], seen: Seen) -> None:
    """What a second form says of a device fills what the first left open."""
    index = seen.index if seen.index is not None else len(found)
    before = found.get(index)
    if before is None:
        found[index] = seen
        return
    found[index] = replace(
        before, **{key: value for key, value in vars(seen).items() if value not in (None, ()) and getattr(before, key) in (None, ())}
    )


def _cards(found: Mapping[str, Any]) -> list[tuple[int, dict[str, object]]]:
    """The `card0` … members of a JSON object."""
    members = [(_CARD.match(str(key)), value) for key, value in list(found.items())[:1024]]
    return [(int(name.group(1)), amd_facts.plain_keys(value)) for name, value in members if name and isinstance(value, dict)]


def _json(objects: Iterable[dict[str, Any]]) -> Iterator[tuple[int, dict[str, object]]]:
    """Cards of every object, also one level down (`{"gpu": {"card0": …}}`)."""
    for found in objects:
        yield from _cards(found)
        for inner in list(found.values())[:64]:
            if isinstance(inner, dict):
                yield from _cards(inner)


def _csv(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, object]]]:
    """`device,Card series,…` and a row for each card."""
    header: list[str] | None = None
    for line in lines:
        if line.lstrip().startswith("device,"):
            header = _cells(line)
        elif header and _CARD.match(line.split(",", 1)[0].strip()):
            cells = _cells(line)
            if len(cells) <= len(header):
                yield int(cells[0].strip()[4:]), amd_facts.plain_keys(dict(zip(header, cells, strict=False)))


def _cells(line: str) -> list[str]:
    """The cells of one line."""
    try:
        return [cell.strip() for cell in next(csv.reader([line]))]
    except (csv.Error, StopIteration):
        return line.split(",")


def _facts(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, object]]]:
    """`GPU[0] : Card Series: …` lines, gathered by index."""
    found: dict[int, dict[str, object]] = {}
    for line in lines:
        fact = _FACT.match(line)
        if fact and len(found) < 1024:
            found.setdefault(int(fact.group(1)), {}).setdefault(fact.group(2), fact.group(3))
    for index, facts in found.items():
        yield index, amd_facts.plain_keys(facts)


def _table(lines: Iterable[str]) -> Iterator[Seen]:
    """Rows under the head of the concise table; the line after a row may hold the name."""
    inside = capped = False
    last: Seen | None = None
    for line in lines:
        if _HEAD.match(line):
            inside, capped = True, "PwrCap" in line
            continue
        row = _ROW.match(line) if inside else None
        name = _name_below(line) if inside and last is not None and not row else None
        if row:
            if last is not None:
                yield last
            last = _row(int(row.group(1)), row.group(2), capped)
        elif name and last is not None:
            last = replace(last, name=name)
        elif last is not None and _RULE.match(line):
            yield last
            last, inside = None, False
    if last is not None:
        yield last


def _name_below(line: str) -> str | None:
    """The second line of a two-line row: an indented name."""
    if not line[:4].isspace() or _RULE.match(line) or "%" in line or "(" in line.strip()[:1]:
        return None
    name = known(line)
    return name if name and re.match(r"[A-Z0-9]", name) and len(name) < 60 and not name.startswith(("Name", "(DID")) else None


def _row(index: int, rest: str, capped: bool) -> Seen:
    """A row: device id where it is printed, and the cap, which is the last figure in watts (N/A on an integrated GPU)."""
    did = _DID.search(rest)
    watts = _WATT.findall(rest)
    cap = number(watts[-1]) if capped and len(watts) >= 2 else None
    return Seen(index=index, maker="amd", pci_id=f"1002:{did.group(1)}".lower() if did else None, power_limit_w=cap)
