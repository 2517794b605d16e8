"""What a question wants and does not want: speed before price, nothing used, no Macs, no cluster, a pace, a length."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from advisor.advice import KINDS
from advisor.hints import Crowd, Length, Pace
from advisor.intake.question_words import Text
from advisor.reason import Reason

if TYPE_CHECKING:
    from advisor.catalog import Catalog

_Worded = TypeVar("_Worded", Pace, Length, Crowd)
_NOT = (
    r"(?:\bno\b|\bnot\b|\bnever\b|\bwithout\b|\bavoid(?:ing)?\b|\bhate\b|\bexcept\b|\bskip(?:ping)?\b|\banything but\b|\bexclud\w+\b|"
    r"\bnothing\b|"
    r"\b(?:do|does|would|can|could)(?:n't| not)\b|\bdont\b|\bcant\b|\bwouldnt\b|\brather not\b|\bneither\b|\bnor\b|\bisn't\b)"
)
_LOOSE = (
    r"(?:\s(?:way|i'm|im|i|want|like|need|buy|use|have|to|an?|any|the|buying|using|get|getting|interested|in|consider|touch|trust|deal|"
    r"mess|with|"
    r"more|than|of|some|my|from|one|build|building|run|running|go|be|other|apple|over|fan|room|for|space|budget|network))*\s"
)
_SEVERAL_CARDS = ("second-gpu", "nvlink-pair", "replicas", "multi-gpu-server")
# What is not wanted, and the kinds of answer that fall away with it.
REFUSED = (
    (
        r"(?:macs?|macbooks?|mac studios?|apple(?: silicon)?(?: stuff| hardware| products?)?|unified[- ]memory(?: machines?| boxes)?|"
        r"mini[- ]?pcs?|apu(?: box(?:es)?)?)",
     ("unified-memory-machine", "rdma-cluster")),
    (
        r"(?:clusters?|clustering|multiple (?:machines|boxes|computers|nodes)|several (?:machines|boxes|computers)|"
        r"distributed(?: setup)?|network(?:ing)? (?:cards?|gear))",
     ("rdma-cluster", "network-cluster")),
    (r"(?:nv-?link(?:ed)?(?: bridges?)?|bridges?)", ("nvlink-pair",)),
    (
        r"(?:multi[- ]?gpus?|multiple (?:gpus?|cards?)|several (?:gpus?|cards?)|(?:a )?(?:second|2nd) (?:gpu|card)|two (?:gpus?|"
        r"cards?)|dual (?:gpus?|cards?))",
     _SEVERAL_CARDS),
    (r"(?:servers?|racks?|server racks?)", ("multi-gpu-server",)),
)  # fmt: skip
_ONE_CARD = (
    r"\b(?:only (?:one|a single) (?:gpu|card|slot)|(?:just|only) one (?:pcie )?slot|single[- ](?:gpu|card|slot)(?: (?:only|solution|"
    r"build|setup))?|one card only)\b"
)
_USED = r"(?:used|refurb(?:ished)?|second[- ]hand|ebay|ex[- ]?mining|mining cards?)"
_NEW = (
    r"\b(?:only new|new only|new parts only|brand[- ]new|with (?:a )?warranty|new hardware|must be new|buy(?:ing)? new|all new|"
    r"new cards? only|"
    r"only buy new|only brand[- ]new|warranty)\b(?:\s(?:parts|cards|hardware|stuff|gear|ones))?(?:\s(?:please|only))?"
)
_SOLD = (
    r"\b(?:sell(?:ing)?\b(?! me\b)|trad(?:e|ing)(?:[- ]in\b| (?:my|the|it|them|up)\b)|flip(?:ping)? (?:my|the|it|them)\b|(?:ditch|"
    r"get(?:ting)? rid of)(?:ing)? (?:my|the)\b|offload(?:ing)? my\b)"
)
_FASTEST = (
    r"\b(?:the )?(?:fastest|as fast as possible|max(?:imum)? (?:speed|performance)|best performance|top speed|money is no (?:object|"
    r"issue)|speed (?:matters most|is everything|over price))\b"
)
_CHEAPEST = (
    r"\b(?:the )?(?:cheapest|as cheap as possible|lowest price|least money|best value|most bang for the buck|bang for (?:the|my) buck)\b"
)


def new_only(text: Text) -> bool | None:
    """Whether nothing used is wanted."""
    refused = text.take(rf"{_NOT}{_LOOSE}{_USED}\b(?:\s(?:parts?|cards?|gpus?|hardware|stuff|gear|ones?|market|mining cards?))?")
    return True if refused or text.take(_NEW) else None


def prefers(text: Text) -> str | None:
    """Fastest where the text says that speed comes before the price."""
    if text.take(_FASTEST):
        return "fastest"
    text.take(_CHEAPEST, r"\bno budget (?:limit|cap)\b")
    return None


def sells(text: Text) -> bool | None:
    """Whether what is owned is to be sold."""
    refused = re.search(rf"{_NOT}\s(?:\w+\s){{0,3}}?sell|\bkeep\b.{{0,30}}\binstead of selling", text.original)
    return True if re.search(_SOLD, text.original) and not refused else None


def kinds(text: Text, notes: list[Reason]) -> tuple[str, ...] | None:
    """The kinds of answer that are left when some are refused; said aloud. None where none is."""
    gone: list[str] = []
    for words, lost in REFUSED:
        while found := text.take(rf"{_NOT}{_LOOSE}{words}\b"):
            gone += lost
            _also_refused(text, found.end(), gone)
    if text.take(_ONE_CARD):
        gone += _SEVERAL_CARDS
    if not gone:
        return None
    left = tuple(kind for kind in KINDS[:-1] if kind not in gone)
    notes.append(Reason("ask.left-out", {"kinds": ", ".join(kind for kind in KINDS if kind in gone)}))
    return left


def _also_refused(text: Text, place: int, gone: list[str]) -> None:
    """`no Macs and no clusters` is two refusals; `no Macs or clusters` one that goes on."""
    for words, lost in REFUSED:
        found = re.compile(rf"\s?(?:,|or|nor|and)\s(?:an?\s)?{words}\b").match(text.left, place)
        if found:
            gone += lost
            text.cross_out(*found.span())


def pace(text: Text, catalog: "Catalog", notes: list[Reason]) -> float | None:
    """A speed in words, such as reading speed, said aloud with its number."""
    found = _in_words(text, catalog.hints.paces)
    if not found:
        return None
    notes.append(Reason("ask.pace", {"name": found.name, "floor_tokens_per_s": found.tokens_per_s}, (found.source,)))
    return found.tokens_per_s


def length(text: Text, catalog: "Catalog") -> Length | None:
    """A context in words, such as long documents or a coding agent's."""
    return _in_words(text, catalog.hints.lengths)


def crowd(text: Text, catalog: "Catalog", notes: list[Reason]) -> int | None:
    """Users in words, such as several users, said aloud with their number."""
    found = _in_words(text, catalog.hints.crowds)
    if not found:
        return None
    notes.append(Reason("ask.crowd", {"name": found.name, "users": found.users}, (found.source,)))
    return found.users


def _in_words(text: Text, known: Sequence[_Worded]) -> _Worded | None:
    """The first of these amounts that the text says in one of its ways."""
    found = next((each for each in known if text.take(rf"\b(?:{each.words})\b")), None)
    while found and text.take(rf"\b(?:{found.words})\b"):
        pass  # said in several ways, as in "a coding agent like Claude Code"
    return found
