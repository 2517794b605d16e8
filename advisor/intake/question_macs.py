"""Which Mac a question means: by its form, by its line without a chip, by the memory that it is sold with."""

import re
from typing import TYPE_CHECKING

from advisor.intake.question_words import Text

if TYPE_CHECKING:
    from advisor.catalog import Catalog

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
    if not re.fullmatch(LINE, name):
        return ()
    name = name.replace("apple laptop", "macbook")
    plain = [catalog.plain("devices", each) for each in catalog.ids("devices")]
    line = [each for each in plain if name.rstrip("s") in each["name"].lower() and each["availability"] != "announced"]
    line = [each for each in line if gib is None or gib in sizes_gib(each["id"], catalog)]
    newest = max((str(each["launched"] or "") for each in line), default="")
    return tuple(each["id"] for each in line if str(each["launched"] or "") == newest)


def sizes_gib(device: str, catalog: "Catalog") -> tuple[float, ...]:
    """The memory sizes that a device is sold with, GiB."""
    sizes = catalog.plain("devices", device)["memory_gib"]
    return tuple(float(size) for size in (sizes if isinstance(sizes, list) else [sizes]))
