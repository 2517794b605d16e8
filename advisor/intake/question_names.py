"""The names in a question – devices, models, quantizations, engines – found in free text by the catalog's own names."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from advisor.intake.question_macs import LINE, any_of_line, of_that_form, sizes_gib, whole_line
from advisor.intake.question_words import COUNT, Text, whole
from advisor.reason import Reason
from advisor.record import dataclass, replace

if TYPE_CHECKING:
    from advisor.catalog import Catalog

WORD = re.compile(r"[a-z0-9][a-z0-9.+_/-]*[a-z0-9+]|[a-z0-9]")
MOST_WORDS = 7  # of a name, as in `apple m3 ultra 80-core gpu 512gb`
MEMORY_AFTER = re.compile(
    r"[\s,(]*(?:(?:box|boxes|machine|desktop|laptop|card|studio|macbook|mini|air|macs?)s?\s)?(?:with\s|and\s|the\s)?(\d+)\s?(?:gb|gib|"
    r"g)\b(?:\s(?:of\s)?(?:unified\s)?(?:ram|memory|vram))?\)?(?:\s(?:version|model|variant|one))?"
)
BARE_MEMORY_AFTER = re.compile(r"[\s,(]+(?:with\s)?(\d{1,3})\b(?!\s?(?:gb|gib|tok|t/s|k\b|w\b|users?|people|%|x\b|b\b|core|hours?|[.,]\d))")
OTHER_SIZE = re.compile(r"\s(\d{1,3})\s?(?:gb|gib)\b(?!\s(?:of\s)?(?:v?ram|ddr\d?|memory|system|unified))")
MEMORY_BEFORE = re.compile(r"(\d+)\s?(?:gb|gib)\s$")
ADJECTIVES = (
    r"(?:(?:used|new|my|old|more|extra|additional|of|the|those|these|cheap|existing|identical|matching|other|nvidia|refurbished|whole)\s)*"
)
GROUPS = {"pair": 2, "duo": 2, "trio": 3, "quartet": 4}
PAIRS = {"pair": 2, "dual": 2, "couple": 2, "both": 2, "double": 2, "twin": 2, "trio": 3, "triple": 3, "quad": 4, "quadruple": 4, "octa": 8}
COUNT_BEFORE = re.compile(
    rf"(?:(?<![\w.])(\d+)\s?[x*]|(?<![\w.])\(?((?!an?\s){COUNT})\)?|\b({'|'.join(PAIRS)})(?:\s(?:of|x))?)[\s-]+{ADJECTIVES}$"
)
COUNT_AFTER = re.compile(r"^\s?[x*]\s?(\d+)\b|^\s?\((?:x|\*)?\s?(\d)x?\)|^\s(pair|duo|trio|quartet)\b")
NO_LAPTOP = r"\b(?:desktop|vs|or|versus|than|e-?gpus?|external|dock\w*|buy\w*|add\w*|connect\w*|build\w*)\b"
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
    named_at: int = -1  # where the name itself begins, behind count and adjectives
    sizes: tuple[str, ...] = ()  # SYSTEM words of every memory size, where the text leaves it open
    family: tuple[str, ...] = ()  # ids of all that the name may mean, where it leaves the machine or its memory open
    family_gib: float | None = None  # the memory that the text tells of them
    within: bool = False  # whether it was taken from them as the best that the budget buys

    @property
    def device(self) -> str:
        """The device's id alone."""
        found = re.search(r"\((?:\d+x )?(\S+)\)", self.name)
        return found[1] if found else self.name.split()[0]

    @property
    def words(self) -> str:
        """SYSTEM words."""
        return f"{self.count}x {self.name}" if self.count > 1 else self.name


def spans(text: str, most: int) -> Iterator[tuple[int, int, str]]:
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


def named(kind: str, name: str, catalog: "Catalog") -> tuple[str, ...]:
    """The ids that bear the name, a plural s left out."""
    if name in NOT_NAMES or name.startswith(("a ", "an ", "i ", "the ")) or (kind == "devices" and re.fullmatch(r"\d{1,3}|\d+ ?gb", name)):
        return ()
    return next((found for form in _singular(name) if (found := catalog.bearing(kind, form))), ())


def mentions(text: Text, catalog: "Catalog") -> list[Mention]:
    """The devices of the text, longest names first."""
    found: list[Mention] = []
    taken = 0
    for start, end, name in spans(text.left, MOST_WORDS):
        if start < taken or (name == "m2" and text.left[:start].endswith("minimax ")):
            continue
        ids = named("devices", name, catalog) or any_of_line(name, catalog)
        if ids:
            called, told = _laptop(text, start, end, name, catalog, taken)
            mention = _mention(text, start, end, called, ids, catalog)
            mention = replace(mention, note=told) if told else mention
            found.append(mention)
            taken = mention.end
    found = [each for mention in found for each in _either_count(text, mention)]
    found = [each for mention in found for each in _either_size(text, mention, catalog)]
    found = [_near_name(text, _of_line_elsewhere(text, _as_elsewhere(mention, found), found)) for mention in found]
    for mention in found:
        text.cross_out(mention.start, mention.end)
    return found


def _of_line_elsewhere(text: Text, mention: Mention, found: list[Mention]) -> Mention:
    """`a second mac mini` beside `my mac mini m4 pro` is one more of that."""
    line = re.fullmatch(LINE, text.original[mention.named_at : mention.end].strip())
    if not line:
        return mention
    words = line[0].rstrip("s").split()[-1]
    full = [each for each in found if re.search(rf"\b{words}s?\b.*\bm\d|\bm\d.*\b{words}s?\b", text.original[each.named_at : each.end])]
    return replace(mention, name=full[0].name, note=None, sizes=()) if full else mention


def _as_elsewhere(mention: Mention, found: list[Mention]) -> Mention:
    """A name of several devices means the one that the text names in full elsewhere."""
    if mention.note is None or mention.note.code != "ask.took-least":
        return mention
    others = str(mention.note.facts["others"]).split(", ")
    full = {each.device: each.name for each in found if each.note is None and each.device in others and not each.device.startswith("mac-")}
    return replace(mention, name=next(iter(full.values())), note=None, sizes=()) if len(full) == 1 else mention


def _either_size(text: Text, mention: Mention, catalog: "Catalog") -> list[Mention]:
    """`an M3 Ultra 96 or 256 GB` speaks of two systems."""
    after = re.match(r"\s?(?:or|vs\.?|versus)\s(?:the\s)?(\d{2,3})\s?(?:gb|g)\b(?!\s(?:of\s)?(?:ram|ddr))", text.left[mention.end :])
    before = re.search(
        r"\b(?:the|an?|get|buy|pick|between|for)\s(\d{2,3})\s?gb\s(?:or|vs\.?|versus)\s(?:the\s|an?\s)?(?:\d{2,3}\s?gb\s)?$",
        text.original[: mention.start],
    )
    if before and float(before[1]) in sizes_gib(mention.device, catalog):
        other = f"{mention.device} {before[1]}gb"
        return [replace(mention, name=other, start=before.start(1), end=before.end(1) + 2, named_at=before.start(1), note=None), mention]
    if not after or float(after[1]) not in sizes_gib(mention.device, catalog) or len(sizes_gib(mention.device, catalog)) < 2:
        return [mention]
    start, end = mention.end + after.start(1), mention.end + after.end()
    return [mention, replace(mention, name=f"{mention.device} {after[1]}gb", start=start, end=end, named_at=start, sizes=(), note=None)]


def _near_name(text: Text, mention: Mention) -> Mention:
    """A device that the catalog has not, read as the one whose name it begins with: said aloud."""
    after = re.match(r"\s?(super|ti super|ti|xtx|gre|max-q)\b", text.left[mention.end :])
    if not after:
        return mention
    name = text.original[mention.named_at : mention.end + after.end()]
    return replace(mention, end=mention.end + after.end(), note=Reason("ask.near-name", {"name": name, "taken": mention.device}))


def _either_count(text: Text, mention: Mention) -> list[Mention]:
    """`two or four Mac Studios` speaks of two systems."""
    before = re.search(rf"(?<![\w.])((?!\d{{3}}){COUNT})x?\s(or|vs|versus)\s$", text.left[: mention.start])
    if not before or mention.count < 2:
        return [mention]
    first = replace(mention, count=max(1, whole(before[1])), start=before.start(), end=before.end(1), named_at=before.start())
    return [first, mention]


def _bridgeable(text: Text, ids: tuple[str, ...], catalog: "Catalog") -> tuple[str, ...]:
    """Of several devices of one name those that NVLink joins, where the text says that it is there."""
    sockets = tuple(each for each in ids if "sxm" in each)
    if len(ids) > 1 and sockets and re.search(r"\b(?:hgx|nvswitch|sxm\d?|dgx [ahb]\d00)\b", text.original):
        return sockets
    if len(ids) < 2 or not re.search(
        r"\b(?:over|via|with|on|through)\s(?:an?\s|the\s)?nv-?link|\bnv-?linked\b|\bnvswitch\b", text.original
    ):
        return ids
    return tuple(each for each in ids if any("nvlink" in link for link in catalog.devices[each].links)) or ids


def _of_that_memory(text: Text, end: int, name: str, ids: tuple[str, ...], catalog: "Catalog") -> tuple[str, ...]:
    """Of a line of machines those with the memory that is named behind it: a MacBook Pro with 64 GB is no newest one."""
    after = MEMORY_AFTER.match(text.left, end)
    if not after or any(float(after[1]) in sizes_gib(each, catalog) for each in ids):
        return ids
    return any_of_line(name, catalog, float(after[1])) or ids


def _laptop(text: Text, start: int, end: int, name: str, catalog: "Catalog", taken: int) -> tuple[str, Reason | None]:
    """The name with `laptop` where the text speaks of one and the catalog tells it from the desktop card; what is said where it cannot.

    `taken`: where the device before it ends, whose laptop it was.
    """
    before, after = text.original[max(0, start - 60, taken) : start], text.original[end : end + 45]
    behind = re.match(
        r"\s?(?:gpu\s)?(?:\(?(?:laptop|mobile)\b|max-q\b(?!.*pro)|(?:in|of|on|inside)\s(?:my|an?|the|this|our)\s(?:\w+\s){0,2}?\blaptops?\b)",
        after,
    )
    said = behind or re.search(rf"\blaptops?\b(?!.*{NO_LAPTOP})[^.?!]*$", before)
    if "laptop" in name or not said:
        return name, None
    if named("devices", f"{name} laptop", catalog):
        return f"{name} laptop", None
    cards = [catalog.plain("devices", each) for each in named("devices", name, catalog)]
    in_slot = any(each["kind"] == "gpu" and each["maker"] == "nvidia" for each in cards) and (
        behind or not re.search(NO_LAPTOP, text.original)
    )
    return name, Reason("ask.no-laptop", {"name": name}) if in_slot else None


def _mention(text: Text, start: int, end: int, name: str, ids: tuple[str, ...], catalog: "Catalog") -> Mention:
    """One device with the count and the memory that stand beside its name."""
    ids = named("devices", _of_the_line(text, start, name, catalog), catalog) or named("devices", name, catalog) or ids
    named_at = start
    ids = of_that_form(text, start, end, _bridgeable(text, ids, catalog), catalog)
    ids = _of_that_memory(text, end, name, ids, catalog)
    line = whole_line(name, catalog)
    memory, end = _memory(text, start, end, name, line or ids, catalog)
    ids = (any_of_line(name, catalog, memory) if memory else ()) or ids
    chosen, note = _least(ids, memory, name, catalog)
    other = OTHER_SIZE.match(text.left, end) if memory is None else None
    if other:  # of a size that it is not sold with
        end, note = other.end(), Reason("ask.near-name", {"name": text.original[named_at : other.end()], "taken": chosen})
    count, start, end = _count(text, start, end, catalog)
    sizes = sizes_gib(chosen, catalog)
    words = f"{chosen} {memory:g}gb" if memory and len(sizes) > 1 else chosen
    each = _every_size(chosen, ids, catalog) if len(sizes) > 1 and not memory else ()
    family = line or (ids if len(ids) > 1 or each else ())
    return Mention(words, count, start, end, note, named_at, each, family, memory)


def _every_size(chosen: str, ids: tuple[str, ...], catalog: "Catalog") -> tuple[str, ...]:
    """SYSTEM words of each memory size: those of the one that was taken, and what only others of its name are sold with."""
    found = {size: f"{each} {size:g}gb" for each in (*ids, chosen) for size in sizes_gib(each, catalog)}
    return tuple(found[size] for size in sorted(found))


def _of_the_line(text: Text, start: int, name: str, catalog: "Catalog") -> str:
    """`M4 Max or wait for the M5` speaks of the M5 Max."""
    line = re.search(r"\bm\d (pro|max|ultra)\b[^.?!]*\b(?:or|vs|versus|wait|than)\b[^.?!]*$", text.original[:start])
    longer = f"{name} {line[1]}" if line and re.fullmatch(r"m\d", name) else name
    return longer if named("devices", longer, catalog) else name


def _memory(text: Text, start: int, end: int, name: str, ids: tuple[str, ...], catalog: "Catalog") -> tuple[float | None, int]:
    """The memory in the name, after it or before it, when one of the devices is sold with it."""
    sizes = {size for each in ids for size in sizes_gib(each, catalog)}
    within = [float(size) for size in re.findall(r"(\d+)\s?(?:gb|gib|g)\b", name) if float(size) in sizes]
    after = MEMORY_AFTER.match(text.left, end)
    if within:
        return within[-1], end
    if after and float(after[1]) in sizes:
        return float(after[1]), after.end()
    bare = BARE_MEMORY_AFTER.match(text.left, end)
    if bare and float(bare[1]) in sizes:
        return float(bare[1]), bare.end()
    before = MEMORY_BEFORE.search(text.left[:start])
    if before and float(before[1]) in sizes:
        text.cross_out(before.start(), start)
        return float(before[1]), end
    return None, end


def _count(text: Text, start: int, end: int, catalog: "Catalog") -> tuple[int, int, int]:
    """How many: `two 3090s`, `2x 3090`, `a pair of`, `3090 x2`."""
    before, after = COUNT_BEFORE.search(text.left[:start].replace("\0", ".")), COUNT_AFTER.match(text.left[end:])
    if after and not (
        after[3] and re.search(r"(?:\+|\band)\s(?:an?\s)?$", text.left[:start].replace("\0", "."))
    ):  # "a 3090 + 3090 Ti pair"
        return int(after[1] or after[2] or GROUPS[after[3]]), start, end + after.end()
    if not before and re.match(r"^\s(?:cluster|stack|array)s?\b", text.left[end:]):
        return 2, start, end
    if not before or (before[2] and catalog.bearing("devices", before[2])):  # "3090 3090" is two cards, not 3090 of them
        return 1, start, end
    count = int(before[1]) if before[1] else PAIRS[before[3]] if before[3] else whole(before[2])
    return max(1, count), before.start(), end


def _least(ids: tuple[str, ...], memory: float | None, name: str, catalog: "Catalog") -> tuple[str, Reason | None]:
    """Of several devices of one name the one with the least memory and cores; what was taken is said aloud."""
    fitting = [each for each in ids if memory is None or memory in sizes_gib(each, catalog)] or list(ids)
    records = [catalog.devices[each] for each in fitting]
    least = min(records, key=lambda device: (device.slots is None, device.memory_options_bytes[0], device.gpu_cores or 0, device.id))
    if len(fitting) == 1:
        return least.id, None
    return least.id, Reason("ask.took-least", {"name": name, "taken": least.name, "others": ", ".join(sorted(set(fitting) - {least.id}))})
