"""Which Mac a question means: by its form, by its line without a chip, by the memory that it is sold with."""

import re
from collections.abc import Iterable
from operator import ge
from typing import TYPE_CHECKING

from advisor.intake.question_words import Text
from advisor.units import GIB

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.market import Terms

LINE = r"mac (?:studio|mini)s?|macbook (?:pro|air)s?|apple laptops?"
_FORMS = {  # how the names of Macs in the catalog say which machine it is
    r"(?:mac\s?)?minis?": r"mini", r"(?:mac\s?)?studios?": "Studio", r"imacs?": "iMac", r"(?:macbook\s)?airs?": "Air",
    r"(?:macbook\s(?:pro)?s?|mbp)": r"MacBook Pro|\" Pro|/ Pro",
}  # fmt: skip


def of_that_form(text: Text, start: int, end: int, ids: tuple[str, ...], catalog: "Catalog") -> tuple[str, ...]:
    """Of several Macs of one chip those that are the machine which stands in the name or beside it: a Mac mini is no iMac."""
    if len(ids) < 2 or not all(each.startswith("mac-") for each in ids):
        return ids
    after = re.match(r"\s\w+", text.original[end:])
    near = text.original[max(0, start - 14) : start] + "|" + text.original[start:end] + (after[0] if after else "")
    for form, written in _FORMS.items():
        if re.search(rf"\b{form}\b(?:\s(?:with\s)?(?:an?\s)?\||[^|]*$)", near):
            fitting = tuple(each for each in ids if re.search(written, catalog.plain("devices", each)["name"]))
            return fitting or ids
    return ids


def any_of_line(name: str, catalog: "Catalog", gib: float | None = None) -> tuple[str, ...]:
    """Of a line of machines named without a chip – `Mac Studio`, `MacBook Pro` – the newest that one can buy, with so much memory."""
    launched = {each: str(catalog.plain("devices", each)["launched"] or "") for each in whole_line(name, catalog)}
    launched = {each: day for each, day in launched.items() if gib is None or gib in sizes_gib(each, catalog)}
    newest = max(launched.values(), default="")
    return tuple(each for each, day in launched.items() if day == newest)


def whole_line(name: str, catalog: "Catalog") -> tuple[str, ...]:
    """Every machine of a line that is named without a chip; empty where the name is none of a line."""
    if not re.fullmatch(LINE, name):
        return ()
    name = name.replace("apple laptop", "macbook").rstrip("s")
    plain = (catalog.plain("devices", each) for each in catalog.ids("devices"))
    return tuple(each["id"] for each in plain if name in each["name"].lower() and each["availability"] != "announced")


def best_for(usd: float, ids: Iterable[str], gib: float | None, terms: "Terms", catalog: "Catalog") -> tuple[str, ...]:
    """SYSTEM words of those that the money buys and that none of them beats in memory and in its speed, the most memory first."""
    within: dict[str, tuple[float, float]] = {}
    for each in ids:
        device, sizes = catalog.devices[each], sizes_gib(each, catalog)
        for size in sizes:
            price = terms.price(device, size * GIB).usd
            if price is not None and price <= usd and gib in (None, size):
                within[f"{each} {size:g}gb" if len(sizes) > 1 else each] = size, device.bandwidth_bytes_per_s
    beaten = {one for one, mine in within.items() for theirs in within.values() if theirs != mine and all(map(ge, theirs, mine))}
    return tuple(sorted((each for each in within if each not in beaten), key=lambda each: (-within[each][0], -within[each][1])))


def sizes_gib(device: str, catalog: "Catalog") -> tuple[float, ...]:
    """The memory sizes that a device is sold with, GiB."""
    sizes = catalog.plain("devices", device)["memory_gib"]
    return tuple(float(size) for size in (sizes if isinstance(sizes, list) else [sizes]))
