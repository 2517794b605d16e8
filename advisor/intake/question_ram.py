"""More memory in the computer as the thing to buy: `would 128 GB of RAM let me run it?`, `from 32 to 128 GB`."""

import re

from advisor.intake.question_words import NUMBER, Text, number_of, sentence_end, sentence_start
from advisor.record import dataclass

_RAM = r"(?:(?:system|host|main|cpu)\s)?(?:(?:ddr[345](?:-\d+)?\s)?(?:ram|memory)|ddr[345](?:-\d+)?)"
_GB = r"\s?(?:gb|gib|gigs?|g)\b"
_BUYING = (
    r"(?:buy\w*|get\w*|add\w*|order\w*|install\w*|put\w*|purchas\w+|upgrad\w+(?:\s(?:it|my|the)(?:\s\w+)?)?(?:\sto)?|go(?:ing)? (?:to|for)|"
    r"max\w* (?:it )?out (?:at|to)|expand\w*(?:\s\w+)?(?:\sto)?)"
)
_MORE = r"(?:another|more|extra|additional)"
_UP_TO = r"(?:up to\s|about\s|around\s|an?\s|with\s|like\s)?"
_WANTED = (
    rf"\bfrom\s(?P<own>{NUMBER})(?:{_GB})?\s(?:(?:of\s)?{_RAM}\s)?to\s(?P<number>{NUMBER}){_GB}(?:\s(?:of\s)?{_RAM})?",
    rf"\b{_RAM}\b(?:\s(?:up|upgrade|expansion))?(?:\sfrom\s(?P<own>{NUMBER}){_GB})?\sto\s(?P<number>{NUMBER}){_GB}",
    rf"\b{_BUYING}\s{_UP_TO}(?P<more>{_MORE}\s)?(?P<number>{NUMBER}){_GB}\s(?P<after>{_MORE}\s)?(?:of\s)?(?:{_MORE}\s)?{_RAM}\b",
    rf"\b(?P<more>{_MORE}\s)(?P<number>{NUMBER}){_GB}\s(?:of\s)?{_RAM}\b",
    rf"(?<![\w.])(?P<number>{NUMBER}){_GB}\s(?P<more>{_MORE}\s)(?:of\s)?{_RAM}\b",
    rf"\b(?:would|will|is|are|does|do|could|should)\s(?:having\s|going\s(?:to|for)\s|an?\s)?(?P<number>{NUMBER}){_GB}\s(?:of\s)?{_RAM}\b"
    r"(?=[^.?!]*\b(?:let|allow|help|enable|make|worth|better|upgrade|instead|speed|faster|than|or(?!\s\d+\s?gb)|suffice)\b)",
    rf"\b(?P<number>{NUMBER}){_GB}\s(?:of\s)?{_RAM}\supgrade\b",
    rf"(?<!\d )(?<!gb )\b(?:or|vs\.?|versus)\s(?P<number>{NUMBER}){_GB}\s(?:of\s)?{_RAM}\b",
    rf"(?<!with )(?<!and )(?<!have )(?<!got )(?<![\w.])(?P<number>{NUMBER}){_GB}\s(?:of\s)?{_RAM}\s(?:or|vs\.?|versus)\s(?:an?\s|the\s)?"
    r"(?:second|another|third|used|new|bigger)\b",
)
_SOME = (
    rf"\b(?:{_BUYING}\s(?:(?:some|just)\s)?(?:more\s)?{_RAM}|{_MORE}\s{_RAM})\b(?!\s(?:bandwidth|speed|sticks? that))",
    rf"\b(?:would|will|does|is)\s(?:an?\s)?{_RAM}\supgrade\b",
)


@dataclass(frozen=True)
class Ram:
    """Memory of the computer, GiB: what is there where it is told, what is wanted in all or on top of that; `asked`: any more at all."""

    own_gib: float | None = None
    wanted_gib: float | None = None
    more_gib: float | None = None
    asked: bool = False


def wanted(text: Text) -> Ram:
    """How much memory the text thinks of buying; crossed out."""
    for pattern in _WANTED:
        found = re.search(pattern, text.left)
        if found is None or not _of_memory(text, found):
            continue
        text.cross_out(*found.span())
        groups = found.groupdict()
        own, number = groups.get("own"), number_of(found["number"])
        more = groups.get("more") or groups.get("after")
        return Ram(number_of(own) if own else None, None if more else number, number if more else None, asked=True)
    return Ram(asked=bool(text.take(*_SOME)))


def _of_memory(text: Text, found: re.Match[str]) -> bool:
    """Whether the sentence speaks of a computer's memory, not of a card's or a Mac's."""
    sentence = text.original[sentence_start(text.original, found.start()) : sentence_end(text.original, found.end())]
    return bool(re.search(r"\b(?:ram|ddr[345]|system memory|memory)\b", sentence)) and not re.search(
        r"\b(?:vram|unified|mac|macs|macbooks?|mac studio)\b", sentence
    )
