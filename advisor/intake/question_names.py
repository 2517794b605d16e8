"""The names in a question – devices, models, quantizations, engines – found in free text by the catalog's own names."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from advisor.intake.question_words import COUNT, Text, number_of
from advisor.reason import Reason
from advisor.record import dataclass
from advisor.units import GIGA

if TYPE_CHECKING:
    from advisor.catalog import Catalog

WORD = re.compile(r"[a-z0-9][a-z0-9.+_/-]*[a-z0-9+]|[a-z0-9]")
MOST_WORDS = 7  # of a name, as in `apple m3 ultra 80-core gpu 512gb`
SIZE = re.compile(r"(?<![\w.])(?:\d+x\d+(?:\.\d+)?b(?:-a\d+(?:\.\d+)?b)?|\d+(?:\.\d+)?b(?:[- ]a\d+(?:\.\d+)?b)?)(?![\w.])")
MEMORY_AFTER = re.compile(r"[\s,(]*(?:with\s)?(\d+)\s?(?:gb|gib|g)\b(?:\s(?:of\s)?(?:unified\s)?(?:ram|memory|vram))?")
MEMORY_BEFORE = re.compile(r"(\d+)\s?(?:gb|gib)\s$")
COUNT_BEFORE = re.compile(
    rf"(?:\b(\d+)\s?[x×]|(?<![\w.])(?!an?\s)({COUNT})|\b(pair of|dual|couple of|triple|quad|both))\s+(?:of\s)?(?:used\s|new\s|my\s|old\s)?$"
)
COUNT_AFTER = re.compile(r"^\s?[x×]\s?(\d+)\b|^\s\((?:x|×)(\d+)\)|^\s(pair|duo|trio|quartet)\b")
GROUPS = {"pair": 2, "duo": 2, "trio": 3, "quartet": 4}
PAIRS = {"pair of": 2, "dual": 2, "couple of": 2, "both": 2, "triple": 3, "quad": 4}
WIDTH = r"\b(?:(4|8|16)[- ]?bits?\b|int(4|8)\b|(?:fp|bf|f)16\b|q(4|8)\b)"
OTHER_WIDTH = r"\b(?:(2|3|5|6)[- ]?bits?\b|q(2|3|5|6)\b)"
OTHER_WIDTHS = {"2": "q2_k", "3": "q3_k_m", "5": "q5_k_m", "6": "q6_k"}
MIXTURE = r"\b(?:moe|mixture of experts|mixture|sparse)\b"
NEAR_SHARE = 0.1  # a size in words and a model's own size this close are the same
NOT_NAMES = (
    "a", "an", "the", "one", "two", "it", "is", "as", "at", "or", "on", "of", "for", "and", "pro", "max", "ultra", "mini", "air", "studio",
    "mac", "server", "desktop", "laptop", "box", "ai", "1", "2", "3", "4", "5", "6", "7", "8", "exl",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Mention:
    """A device named in the text: its SYSTEM words, how many, where it stands, and how the name was read."""

    name: str
    count: int
    start: int
    end: int
    note: Reason | None = None

    @property
    def words(self) -> str:
        """SYSTEM words."""
        return f"{self.count}x {self.name}" if self.count > 1 else self.name


def _spans(text: str, most: int) -> Iterator[tuple[int, int, str]]:
    """Runs of words, the longest first at each place."""
    words = list(WORD.finditer(text))
    for first in range(len(words)):
        for last in range(min(first + most, len(words)) - 1, first - 1, -1):
            start, end = words[first].start(), words[last].end()
            stretch = text[start:end]
            if not re.search(r"[,;:!?()\0\n]", stretch):
                yield start, end, stretch


def _singular(name: str) -> tuple[str, ...]:
    """The name, and without a plural or possessive s."""
    return (name, name[:-1].rstrip("'’")) if name.endswith("s") and len(name) > 2 else (name,)


def _named(kind: str, name: str, catalog: "Catalog") -> tuple[str, ...]:
    if name in NOT_NAMES or (kind == "devices" and re.fullmatch(r"\d{1,3}|\d+ ?gb", name)):
        return ()
    return next((found for form in _singular(name) if (found := catalog.bearing(kind, form))), ())


def mentions(text: Text, catalog: "Catalog") -> tuple[list[Mention], list[str]]:
    """Every device of the text in order; names that fit several are taken as the least of them, and said so."""
    found: list[Mention] = []
    unclear: list[str] = []
    taken = 0
    for start, end, name in _spans(text.left, MOST_WORDS):
        if start < taken:
            continue
        ids = _named("devices", name, catalog)
        if ids:
            mention = _mention(text, start, end, name, ids, catalog)
            found.append(mention)
            taken = mention.end
    for mention in found:
        text.cross_out(mention.start, mention.end)
    return found, unclear


def _mention(text: Text, start: int, end: int, name: str, ids: tuple[str, ...], catalog: "Catalog") -> Mention:
    """One device with the count and the memory that stand beside its name."""
    memory, end = _memory(text, start, end, name, ids, catalog)
    count, start, end = _count(text, start, end, catalog)
    chosen, note = _least(ids, memory, name, catalog)
    sizes = catalog.devices[chosen].memory_options_bytes
    words = f"{chosen} {memory:g}gb" if memory and len(sizes) > 1 else chosen
    return Mention(words, count, start, end, note)


def _sizes_gib(device: str, catalog: "Catalog") -> tuple[float, ...]:
    sizes = catalog.plain("devices", device)["memory_gib"]
    return tuple(float(size) for size in (sizes if isinstance(sizes, list) else [sizes]))


def _memory(text: Text, start: int, end: int, name: str, ids: tuple[str, ...], catalog: "Catalog") -> tuple[float | None, int]:
    """The memory in the name, after it or before it, when one of the devices is sold with it."""
    sizes = {size for each in ids for size in _sizes_gib(each, catalog)}
    within = [float(size) for size in re.findall(r"(\d+)\s?(?:gb|gib|g)\b", name) if float(size) in sizes]
    after = MEMORY_AFTER.match(text.left, end)
    if within:
        return within[-1], end
    if after and float(after[1]) in sizes:
        return float(after[1]), after.end()
    before = MEMORY_BEFORE.search(text.left[:start])
    if before and float(before[1]) in sizes:
        text.cross_out(before.start(), start)
        return float(before[1]), end
    return None, end


def _count(text: Text, start: int, end: int, catalog: "Catalog") -> tuple[int, int, int]:
    """How many: `two 3090s`, `2x 3090`, `a pair of`, `3090 x2`."""
    before, after = COUNT_BEFORE.search(text.left[:start].replace("\0", ".")), COUNT_AFTER.match(text.left[end:])
    if after:
        return int(after[1] or after[2] or GROUPS[after[3]]), start, end + after.end()
    if not before or (before[2] and catalog.bearing("devices", before[2])):  # "3090 3090" is two cards, not 3090 of them
        return 1, start, end
    count = int(before[1]) if before[1] else PAIRS[before[3]] if before[3] else int(number_of(before[2]))
    return max(1, count), before.start(), end


def _least(ids: tuple[str, ...], memory: float | None, name: str, catalog: "Catalog") -> tuple[str, Reason | None]:
    """Of several devices of one name the one with the least memory and cores; what was taken is said aloud."""
    fitting = [each for each in ids if memory is None or memory in _sizes_gib(each, catalog)] or list(ids)
    records = [catalog.devices[each] for each in fitting]
    least = min(records, key=lambda device: (device.slots is None, device.memory_options_bytes[0], device.gpu_cores or 0, device.id))
    if len(fitting) == 1:
        return least.id, None
    return least.id, Reason("ask.took-least", {"name": name, "taken": least.name, "others": ", ".join(sorted(set(fitting) - {least.id}))})


def models_in(text: Text, catalog: "Catalog", unclear: list[str], notes: list[Reason]) -> str | None:
    """The model of the text: a name of the catalog, else a size."""
    found: list[tuple[int, int, str]] = []
    taken = 0
    for start, end, name in _spans(text.left, MOST_WORDS):
        ids = _named("models", name, catalog) if start >= taken and re.search(r"[a-z]", name) else ()
        if len(ids) == 1:
            found.append((start, end, ids[0]))
            taken = end
        elif ids:
            unclear.append(f"{name} ({', '.join(ids[:4])})")
            taken = end
    sizes = [(match.start(), match.end(), match.group().replace(" ", "-")) for match in SIZE.finditer(text.left)]
    for start, end, _ in (*found, *sizes):
        text.cross_out(start, end)
    mixture = text.take(MIXTURE)
    if not found and not sizes:
        return None
    named = [name for *_, name in found or sizes]
    unclear += [name for name in named[1:] if name != named[0]]
    return (None if found or not mixture else _mixture(named[0], catalog, notes)) or named[0]


def _mixture(size: str, catalog: "Catalog", notes: list[Reason]) -> str | None:
    """The catalog's mixture model nearest to a size in words, said aloud; the newest of equals."""
    if not re.fullmatch(r"\d+(?:\.\d+)?b", size):
        return None
    wanted = float(size[:-1]) * GIGA
    near = [model for model in catalog.models.values() if model.is_moe and abs(model.params - wanted) <= NEAR_SHARE * wanted]
    if not near:
        return None
    model = max(near, key=lambda each: (-round(abs(each.params - wanted) / wanted, 1), each.id))
    notes.append(Reason("ask.took-mixture", {"size": size, "taken": model.name}))
    return model.id


def quants_in(text: Text, catalog: "Catalog", notes: list[Reason]) -> str | None:
    """The quantization of the text, or a width."""
    for start, end, name in _spans(text.left, 1):
        ids = catalog.bearing("quants", name) if re.search(r"\d|^awq$|^gptq$", name) and re.search(r"[a-z]", name) else ()
        if ids and not re.fullmatch(r"int[48]|q\d", name):
            text.cross_out(start, end)
            return ids[0]
    width = text.take(WIDTH)
    if width:
        bits = width[1] or width[2] or width[3]
        return f"{bits}bit" if bits else "16bit"
    other = text.take(OTHER_WIDTH)
    if not other:
        return None
    bits = other[1] or other[2]
    notes.append(Reason("ask.took-quant", {"bits": bits, "quant": OTHER_WIDTHS[bits]}))
    return OTHER_WIDTHS[bits]


def engines_in(text: Text, catalog: "Catalog") -> str | None:
    """The engine of the text."""
    for start, end, name in _spans(text.left, 2):
        if name not in ("exo", "gguf") and len(name) > 2:
            ids = catalog.bearing("engines", name)
            if ids:
                text.cross_out(start, end)
                return ids[0]
    return None
