"""The speeds in a question: wanted for each user, wanted to the first token, seen today, and how many times as fast it shall be."""

import re
from typing import TYPE_CHECKING

from advisor.intake.question_words import COUNT, NUMBER, Text, number_of, sentence_start
from advisor.need import USUAL_TOKENS_PER_S
from advisor.reason import Reason
from advisor.record import dataclass
from advisor.units import HOUR_S, MS

if TYPE_CHECKING:
    from advisor.catalog import Catalog

_SPEED = r"(?:(?:tok(?:en)?s?|tk|t)\s?(?:/|per|a|p)\s?(?:s(?:ec(?:ond)?)?)|tkp?s|tps|toks)"
_FEW = r"(?:(?:only|about|around|me|us|just|like|maybe|roughly|approx\w*|currently|now|~)\s?)*"
_WANTED = (
    r"\b(?:want\w*|need\w*|wish\w*|would like|'d like|like to|hop(?:e|ing)|aim\w*|goal|target\w*|at least|minimum|must|should|looking|"
    r"to|can|could|will|would|how|what|which|if)\b"
)
_CLAUSE = r"(?:(?!\b(?:that|which|something|one|card|gpu)\b)(?:[^.,;?!]|\.(?=\d)))"  # a character of it; a dot only within a number
_SEEN = (
    rf"(?<!if )(?<!whether )\b(?:my|our|it)\b{_CLAUSE}{{0,40}}?\b(?:does|runs|makes|manages|gives|gets|is at)\b{_CLAUSE}{{0,30}}?"
    rf"(?<![\w.])(?P<speed>(?P<number>{NUMBER})\s?{_SPEED})\b",
    rf"(?<!can )(?<!could )(?<!should )(?<!would )(?<!do )(?<!if )(?<!when )\b(?:i|we) run\b{_CLAUSE}{{0,60}}?(?<![\w.])(?P<speed>at {_FEW}"
    rf"(?P<number>{NUMBER})\s?{_SPEED})\b",
    rf"\b(?:i'm|i am|we're|we are|im|currently|now) (?:running|using|at)\b{_CLAUSE}{{0,60}}?(?<![\w.])(?P<speed>at {_FEW}"
    rf"(?P<number>{NUMBER})\s?{_SPEED})\b",
    rf"\b(?:slow|sluggish|crawl\w*|unusable)\b\s?[(,:]?\s?(?P<speed>{_FEW}(?P<number>{NUMBER})\s?{_SPEED})\b",
    rf"\b(?P<speed>(?:get|gets|getting|give|gives|giving|see|seeing|is|are|reach\w*|promis\w+|claim\w*|publish\w*|only|now|"
    rf"(?:currently|now|stuck|sitting|runs|is) at)\s{_FEW}"
    rf"(?P<number>{NUMBER})(?:-{NUMBER})?\s?{_SPEED})\b",
)
_BARE = r"\b(?:want|need|gets? (?:me |us )?(?:to)?|reach|up to|to)\s(?:at least\s|about\s)?(?P<number>\d{1,3})(?=\s*(?:[?.!,]|$))"
NOBODYS = r"promis|claim|publish"  # a speed that somebody else tells
_TIMES = r"(?:as (?:fast|quick)|faster|quicker|the (?:current )?speed|my (?:current )?speed|speed)"
_FACTORS = (
    (rf"\b(?:twice|(?:two|2) times|2x|double)\s{_TIMES}\b|\b(?:double|twice)\s(?:that|it|the (?:speed|tok\w*(?:/s)?|throughput))\b", 2.0),
    (rf"\b(?:thrice|(?:three|3) times|3x|triple)\s{_TIMES}\b|\btriple\s(?:that|it|the (?:speed|throughput))\b", 3.0),
    (rf"\b(?:(?:four|4) times|4x)\s{_TIMES}\b", 4.0),
)
_PERCENT = r"\b(\d{1,3})\s?(?:%|percent)\s(?:faster|quicker|more (?:speed|tok\w*(?:/s)?))"
_FASTER = r"\b(?:faster|quicker|more (?:speed|tokens(?: per second|/s)?|tok/s|t/s)|speed (?:it|this|that|things) up|speed(?:ing)? up)\b"
_SLOW = (
    r"\b(?:is|are|it's|runs?|feels?|gets?|seems?|becomes?|answers?)\s(?:\w+\s){0,2}?"
    r"(?:(?:too|so|very|really|painfully|awfully|rather|quite|pretty|unbearably|annoyingly|terribly)\s(?:slow(?:ly)?|sluggish)|"
    r"slow for (?:me|us|my)|sluggish|not (?:\w+\s)?fast enough)\b"
    r"(?!\s(?:on|in|with|from) (?:the |my |a )?(?:cpu|ram|ssd|disk|processor)\b)|"
    r"\b(?:isn't|aren't|not) (?:\w+\s)?fast enough\b"
)
_DOUBTED = r"^\s*(?:(?:and|but|or|so) )?(?:is|are|was|will|would|does|do|can|could|if|whether|how|why)\b|\b(?:if|whether|that)\b"
_OTHER_SLOW = (
    r"\b(?:prompts?|prefill\w*|first token|slots?|links?|lanes?|pcie|usb\d?|network|ethernet|cpus?|ram|macs?|training|internet|swap\w*|"
    r"load\w*)\b"
)
_NOT_DECODE = r"\s(?:prompts?|prefill|pp\b|first token|ttft|card|gpu|ram|memory|cpu|machine|mac|link|slots?)"
_WISH = (
    r"^\s*(?:please )?(?:make|speed up)\b|"
    r"\b(?:want\w*(?! to (?:know|understand|ask|see|hear))|need\w*(?! to know)|wish\w*|would (?:like|love)|'d (?:like|love)|"
    r"like to(?! know)|hop(?:e|ing) (?:for|to)|aim\w*|goal|target|looking (?:for|to)|must be|what would|"
    r"how (?:do|can|could|should) (?:i|we)|which \w+ would|in order to|(?:ways?|options?|upgrade|how) to)\b"
)
_MOST = r"\b(?:best|most|biggest|cleverest|smartest|max(?:imum)?|as much)\b[^.?!]{0,40}\b(?:faster|quicker|speed)\b"


def first_token(text: Text) -> float | None:
    """The wanted time to the first token, seconds."""
    unit = r"(?P<unit>ms|milliseconds?|s|secs?|seconds?|min|minutes?)\b"
    first = r"(?:first[- ]token|ttft|time[- ]to[- ]first[- ]token|prompt processing|response starts?)"
    found = text.take(rf"{first}\s?(?:[<:=]|(?:\w+\s){{0,4}}?)\s?(?P<number>{NUMBER}|{COUNT})\s?{unit}")
    if not found:
        found = text.take(rf"(?P<number>{NUMBER}|{COUNT})\s?{unit}\s(?:to|until|before|for|till)\s(?:the\s)?{first}")
    if not found:
        return None
    unit = found["unit"]
    return number_of(found["number"]) * (MS if unit.startswith(("ms", "mil")) else HOUR_S / 60 if unit.startswith("min") else 1)


@dataclass(frozen=True)
class Pace:
    """Tokens/s for each user: what is wanted, what is seen today, and how many times today's speed is wished for."""

    floor: float | None = None
    seen: float | None = None
    factor: float | None = None
    just_faster: bool = False  # whether only that it shall be faster is told, not how much


def pace(text: Text, catalog: "Catalog") -> Pace:
    """The speeds of the text; one that is said to be seen or promised is no wish, but what it is to be doubled."""
    seen = _seen(text)
    found = text.take(rf"(?:{NUMBER}\s?(?:-|to)\s?)?(?P<number>{NUMBER}|{COUNT})\+?\s?{_SPEED}\b(?:\s+(?:each|per user))?")
    if not found and seen is not None:
        found = text.take(_BARE)
    if found:
        return Pace(number_of(found["number"]), seen)
    factor = _factor(text)
    if factor is None and (_wishes(text, rf"{_FASTER}(?!{_NOT_DECODE})") or _complains(text)):
        return Pace(None, seen, catalog.hints.choice("worth-factor"), just_faster=True)
    return Pace(None, seen, factor)


def _seen(text: Text) -> float | None:
    """The speed of today, crossed out."""
    last = None
    for pattern in _SEEN:
        for found in list(re.finditer(pattern, text.left)):
            start, end = found.span("speed")
            before = text.left[max(sentence_start(text.left, start), start - 30) : start]
            if pattern is _SEEN[-1] and re.search(rf"{_WANTED}[^,;]*$", before) and not re.search(NOBODYS, found["speed"]):
                continue
            text.cross_out(start, end)
            last = last if re.search(NOBODYS, found[0]) else number_of(found["number"])
    return last


def _factor(text: Text) -> float | None:
    """How many times as fast as today it shall be, where the text tells it."""
    for pattern, factor in ((_PERCENT, None), *_FACTORS):
        if found := _wishes(text, pattern):
            return factor if factor is not None else 1 + number_of(found[1]) / 100
    return None


def _wishes(text: Text, pattern: str) -> re.Match[str] | None:
    """Where the sentence is a wish, not where it compares two things; crossed out."""
    found = re.search(pattern, text.left)
    if not found:
        return None
    start = sentence_start(text.original, found.start())
    if not re.search(_WISH, text.original[start : found.end()]):
        return None
    text.cross_out(*found.span())
    return found


def _complains(text: Text) -> bool:
    """`qwen3 32b is too slow for me` is a wish; `is a 3090 too slow?` asks how it does, `the prompts are too slow` is another matter."""
    for found in re.finditer(_SLOW, text.left):
        clause = re.split(r"[,:(]", text.original[sentence_start(text.original, found.start()) : found.start()])[-1]
        if not re.search(_DOUBTED, clause + found[0]) and not re.search(_OTHER_SLOW, clause):
            text.cross_out(*found.span())
            return True
    return False


def wants_most(text: Text) -> bool:
    """Whether of all the ways to be faster the best one is asked for."""
    return bool(re.search(_MOST, text.original))


def wanted(given: Pace, notes: list[Reason]) -> float | None:
    """The wanted speed as far as the text alone tells it: stated, or so many times the one that is seen today."""
    if given.floor is not None or given.factor is None or given.seen is None:
        return given.floor
    floor = round(given.factor * given.seen, 1)
    if given.just_faster and floor < USUAL_TOKENS_PER_S:
        return None  # the usual wish is more
    notes.append(Reason("ask.faster", {"speed_factor": given.factor, "now_tokens_per_s": given.seen, "floor_tokens_per_s": floor}))
    return floor
