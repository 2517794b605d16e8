"""Cards of which a question tells only the memory: `two 24 GB cards`, `a 32 GB AMD card`, `70b on 12gb`."""

import re
from typing import TYPE_CHECKING

from advisor.intake.question_names import PAIRS, Mention
from advisor.intake.question_roles import WANT, roles
from advisor.intake.question_words import COUNT, Text, whole
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
TALKS_OF_OTHERS = r"\b(?:macs?|macbooks?|apple|mini pc|unified)\b"


def unnamed_cards(text: Text, catalog: "Catalog", notes: list[Reason]) -> list[Mention]:
    """The usual card of that memory, said aloud; none where the text wishes for one, since then the catalog chooses."""
    found = NAMED_SO.search(text.left) or ON_SO_MUCH.search(text.left)
    if not found or re.search(TALKS_OF_OTHERS, text.original):
        return []
    groups = found.groupdict()
    maker = groups.get("maker") or groups.get("made")
    device = _usual(int(found["gib"]), MAKERS.get(maker, maker) if maker else None, catalog)
    if device is None:
        return []
    count = groups.get("count")
    many = 1 if count is None else PAIRS.get(count) or whole(count)
    start, end = found.span("whole") if "whole" in groups else found.span()
    mention = Mention(device, max(1, many), start, end, None, start)
    if roles(text.original, [mention])[0].role == WANT and not re.search(r"\b(?:enough|suffic\w+|fit)\b", text.original):
        return []
    said = text.original[start:end].strip()
    notes.append(Reason("ask.usual-card", {"name": said, "taken": str(catalog.plain("devices", device)["name"])}))
    text.cross_out(start, end)
    return [mention]


def _usual(gib: int, maker: str | None, catalog: "Catalog") -> str | None:
    """The card of that memory that is most often asked about."""
    of_size = [card for card in catalog.wording.usual_cards if card.memory_bytes == gib * GIB and catalog.bearing("devices", card.device)]
    made = [card for card in of_size if card.maker == maker] if maker in ("amd", "intel") else of_size
    return made[0].device if made else None
