"""Cards of which a question tells only the memory: `two 24 GB cards`, `a 32 GB AMD card`, `70b on 12gb`."""

import re
from typing import TYPE_CHECKING

from advisor.intake.question_macs import of_that_form
from advisor.intake.question_names import PAIRS, Mention
from advisor.intake.question_roles import WANT, roles
from advisor.intake.question_words import COUNT, Text, sentence_start, whole
from advisor.reason import Reason
from advisor.units import GIB

if TYPE_CHECKING:
    from advisor.catalog import Catalog

_COUNT = rf"(?:(?P<count>{COUNT}|{'|'.join(PAIRS)})\s?x?[\s-]+(?:of\s)?(?:my\s)?)?"
_MAKER = r"(?:(?P<{name}>nvidia|amd|radeon|intel|arc)\s)?"
_GIB = r"(?<![\w.])(?P<gib>\d{1,3})[\s-]?(?:gb|gib|gigs?|g)\b"
_CARDS = r"(?:vram|gpu memory|video memory|(?:gpus?|cards?|graphics cards?|video cards?)(?!\s?memory))"
NAMED_SO = re.compile(rf"{_COUNT}{_MAKER.format(name='maker')}{_GIB}\s(?:of\s)?{_MAKER.format(name='made')}{_CARDS}\b")
ON_SO_MUCH = re.compile(
    rf"(?:\b(?:on|with|in|into|has|have|got|is|just|only)\s(?:just\s|only\s|my\s)?)"
    rf"(?P<whole>{_GIB})(?!\s?(?:of\s)?(?:system|main|host|cpu|ddr|ram|unified|mac|ssd|disk|memory|laptop|\w*book))"
)
MAKERS = {"radeon": "amd", "arc": "intel"}
MAC_OF = re.compile(
    rf"(?P<whole>{_GIB}\s(?:of\s)?(?:apple\s|unified\s)?(?:macs?|macbooks?(?:\s(?:pro|air))?|mac (?:mini|studio)|unified memory)\b|"
    r"\b(?:macs?|macbooks?(?:\s(?:pro|air))?|mac (?:mini|studio))\s(?:with\s)?(?<![\w.])(?P<gib2>\d{1,3})\s?(?:gb|gib|gigs?|g)\b)"
)
ENOUGH = re.compile(rf"(?P<whole>{_GIB})(?=\s(?:\w+\s)?(?:enough|suffic\w+|too (?:little|small)))")
TALKS_OF_MACS = r"\b(?:macs?|macbooks?|apple|unified)\b"
TALKS_OF_OTHERS = (
    r"\b(?:(?:raspberry|orange|banana) pi|phones?|android|iphone|ipad|tablet|steam deck|handheld|nas|chromebook|mini pc|strix|ddr\d?|"
    r"system ram)\b"
)
HELD = r"\b(?:(?:on|my|have|got|into|in)\s(?:an?\s|my\s)?|(?<!card )(?<!gpu )with\s(?:an?\s|my\s)?)$"
SEEKS = r"\b(?:best|cheapest|which|recommend\w*|looking for|what)\b[^.?!]*$"


def unnamed_cards(text: Text, catalog: "Catalog") -> list[Mention]:
    """The usual card of that memory, said aloud; none where the text wishes for one, since then the catalog chooses."""
    apple = bool(re.search(TALKS_OF_MACS, text.original))
    if re.search(TALKS_OF_OTHERS, text.original):
        return []
    found = list(NAMED_SO.finditer(text.left)) if not apple else []
    single = (MAC_OF,) if apple else (ON_SO_MUCH, ENOUGH)
    found = found or [match for pattern in single if (match := pattern.search(text.left))][:1]
    cards = [_card(text, each, apple, len(found) > 1, catalog) for each in found]
    return [card for card in cards if card]


def macs_of_any_kind(text: Text, catalog: "Catalog") -> list[Mention]:
    """`which Mac should I buy`, `a new MacBook`: any of them, of which a budget tells the best."""
    found = re.search(r"\b(?:which|what|best|cheapest|an?|new|good|used|fastest)\s(?P<name>(?:mac|macbook)s?)\b", text.left)
    macs = tuple(each for each in catalog.ids("devices") if each.startswith("mac-"))
    if found is None or not macs:
        return []
    start, end = found.span("name")
    return [Mention(macs[0], 1, start, end, None, start, family=of_that_form(text, start, end, macs, catalog))]


def _card(text: Text, found: re.Match[str], apple: bool, rivals: bool, catalog: "Catalog") -> Mention | None:
    """One of them."""
    groups = found.groupdict()
    maker = "apple" if apple else groups.get("maker") or groups.get("made")
    gib = int(groups.get("gib") or groups["gib2"])
    device = _usual(gib, MAKERS.get(maker, maker) if maker else None, catalog)
    count = groups.get("count")
    many = 1 if count is None else PAIRS.get(count) or whole(count)
    start, end = found.span("whole") if "whole" in groups else found.span()
    if device is None or (_sought(text, start, end, device) and not rivals):
        return None
    words = f"{device} {gib}gb" if apple else device
    taken = str(catalog.plain("devices", device)["name"])
    note = Reason("ask.usual-card", {"name": text.original[start:end].strip(), "taken": taken})
    text.cross_out(start, end)
    macs = tuple(each for each in catalog.ids("devices") if each.startswith("mac-")) if apple else ()
    family = of_that_form(text, start, end, macs, catalog)
    return Mention(words, max(1, many), start, end, note, start, family=family, family_gib=gib)


def _sought(text: Text, start: int, end: int, device: str) -> bool:
    """Whether a card of that memory is wished for, so that the catalog is to choose it."""
    before = text.original[sentence_start(text.original, start) : start]
    if re.search(r"\b(?:enough|suffic\w+|fit)\b", text.original) or re.search(HELD, before):
        return False
    return bool(re.search(SEEKS, before)) or roles(text.original, [Mention(device, 1, start, end, None, start)])[0].role == WANT


def _usual(gib: int, maker: str | None, catalog: "Catalog") -> str | None:
    """The card of that memory that is most often asked about."""
    of_size = [card for card in catalog.wording.usual_cards if card.memory_bytes == gib * GIB and catalog.bearing("devices", card.device)]
    made = [card for card in of_size if card.maker == (None if maker == "nvidia" else maker)]
    return made[0].device if made else None
