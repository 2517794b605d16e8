"""The amounts in a question – users, lengths, memory – found in free text and crossed out as they are read."""

import re
from collections.abc import Callable

from advisor.intake.question_plain import plain
from advisor.record import dataclass, field
from advisor.units import KIB, MIB

NUMBER_WORDS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "a dozen": 12, "dozen": 12, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "a hundred": 100,
}  # fmt: skip
MOST = 1e15
DAY_H = 24.0
NUMBER = r"(?:\d[\d,]*(?:\.\d+)?)"
COUNT = r"(?:\d+|" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + r")"
SENTENCE_ENDS = (". ", "? ", "! ", "\n", "; ", "?", "!")
USERS = (
    r"users?|people|persons?|colleagues|employees|coworkers|co-workers|developers|devs|engineers|students|clients|customers|seats|"
    r"requests?|streams?|sessions?|chats|agents|conversations|guys|of us|readers|writers|lawyers|doctors|staff"
)


def sentence_start(text: str, place: int) -> int:
    """Where the sentence begins in which `place` stands."""
    return max([0, *(text.rfind(mark, 0, place) + len(mark) for mark in SENTENCE_ENDS if text.rfind(mark, 0, place) >= 0)])


def sentence_end(text: str, place: int) -> int:
    """Where it ends."""
    return min([len(text), *(found for mark in SENTENCE_ENDS if (found := text.find(mark, place)) >= 0)])


@dataclass
class Text:
    """The question with what was already read crossed out; offsets stay those of the original."""

    original: str
    left: str = field(init=False)

    def __post_init__(self) -> None:
        self.original = plain(self.original)
        self.left = self.original

    def cross_out(self, start: int, end: int) -> None:
        """Mark a stretch as read."""
        self.left = self.left[:start] + "\0" * (end - start) + self.left[end:]

    def take(self, *patterns: str) -> re.Match[str] | None:
        """The first match in what is left by the first pattern that has one, crossed out."""
        found = next((match for pattern in patterns if (match := re.search(pattern, self.left))), None)
        if found:
            self.cross_out(*found.span())
        return found


def number_of(word: str) -> float:
    """The number that digits or a number word state; `8k` is not read here."""
    word = word.strip()
    return float(NUMBER_WORDS[word]) if word in NUMBER_WORDS else float(word.replace(",", ""))


def whole(word: str) -> int:
    """The same as a whole number; one beyond all sense stays one, for its reader to refuse."""
    return int(min(number_of(word), MOST))


NO_MONEY = (
    r"(?!\s?[-+]?\s?(?:tok|t/s|tps|w\b|watt|gb|gib|tb|tokens?|users?|people|context|ctx|prompt|ms\b|s\b|sec|min|hours?|h\b|%|b\b|"
    r"cards?|gpus?|x\b|ti\b|"
    r"super|xtx?\b|mhz|pcie|lanes?|window|long|mb|concurrent|requests?|streams?|[.,]?\d|k))"
)


def _tokens(found: re.Match[str]) -> int:
    number, unit = number_of(found["number"]), (found["k"] or "").strip()
    return int(min(number, MOST) * {"": 1, "k": KIB, "m": MIB}[unit])


_LENGTH = rf"(?P<number>{NUMBER})\s?(?P<k>[km])?"


def prompt(text: Text) -> int | None:
    """The length of the prompts, tokens."""
    found = text.take(
        rf"{_LENGTH}[- ]?(?:tokens?[- ])?prompts?\b",
        rf"\b(?:prompt processing|prefill|pp)\s(?:of\s|with\s|for\s|at\s|on\s)?{_LENGTH}(?:\s?tokens?)?\b{NO_MONEY}",
        rf"prompts?\s(?:of|with|around|about|up to)\s(?:about\s|up to\s)?{_LENGTH}(?:\s?tokens?)?\b",
    )
    return _tokens(found) if found else None


def context(text: Text) -> int | None:
    """The context for each user, tokens."""
    found = text.take(
        rf"{_LENGTH}[- ]?(?:tokens?\s)?(?:of\s)?(?:context|ctx)(?:[- ](?:window|length|size))?\b",
        rf"\b(?:context|ctx)(?:[- ](?:window|length|size))?\s?(?:of|is|=|:|at|around|about|up to)?\s?{_LENGTH}(?:\s?tokens?)?\b",
        rf"\b(?:context|ctx)\b[\w\s]{{0,16}}?(?<![\w.]){_LENGTH}\b{NO_MONEY}",
        rf"(?<![\w.]){_LENGTH}[- ]tokens?\b(?!\s?(?:/|per|a\b))",
        r"(?<![\w.$€£])(?P<number>\d{1,4})(?P<k>k)\b(?!\w)",
    )
    return _tokens(found) if found else None


def users(text: Text) -> int | None:
    """How many are served at the same time."""
    groups = r"(?:team|group|office|class|family|company|firm|household|department|lab|studio|startup|crew|party|club|staff)"
    adjectives = (
        r"(?:(?:concurrent|simultaneous|parallel|active|other|different|small|busy|local|human|team|support|sales|"
        r"service|customer)\s)*"
    )
    together = r"(?:concurrent(?:ly)?|simultaneous(?:ly)?|parallel|in parallel|at once|at the same time|at a time)"
    found = text.take(
        rf"\b{groups}\s+(?:of|with)\s+(?:about\s|around\s|~)?(?P<number>{COUNT})\b(?:\s(?:{USERS}))?",
        rf"(?<![\w.-])(?:\d+\s?(?:-|to|or)\s?)?(?P<number>{COUNT})(?:-|\s){adjectives}(?:{USERS})\b(?:\s{together})?",
        rf"(?<![\w.-])(?P<number>{COUNT})(?:-|\s)person\b",
        rf"(?<![\w.-])(?P<number>\d+)\s{together}\b",
        r"\b(?:serve|serving|support|host for|batch(?: size)?(?: of)?|concurrency(?: of)?)\s(?P<number>\d+)\b(?!\s?(?:b\b|k\b|gb|x))",
    )
    if found:
        return whole(found["number"])
    if found := text.take(
        rf"\b(?P<number>{COUNT})\s(?:kids|children|adults)\s(?:and|\+|,)\s(?P<other>{COUNT})\s(?:kids|children|adults)\b"
    ):
        return whole(found["number"]) + whole(found["other"])
    if text.take(
        r"\b(?:my )?(?:wife|husband|partner|girlfriend|boyfriend|brother|son|daughter|friend)\s(?:and|\+)\s(?:i|me)\b|\b(?:me|i|"
        r"myself)\s(?:and|\+)\s(?:my )?(?:wife|husband|partner|girlfriend|boyfriend|brother|friend|son|daughter)\b|\bboth of us\b"
    ):
        return 2
    if text.take(
        r"\b(?:just|only)\s(?:for\s)?(?:me|myself)\b|\bsingle[- ]user\b|\bfor myself\b|\bby myself\b|\bone user\b|\bsolo\b|\bpersonal use\b"
    ):
        return 1
    return None


def _number(*patterns: str) -> Callable[[Text], float | None]:
    def read(text: Text) -> float | None:
        found = text.take(*patterns)
        return number_of(found["number"]) if found else None

    return read


generate = _number(rf"(?P<number>{NUMBER})[- ]?tokens?\s(?:answers?|outputs?|replies|completions?|responses?)\b")
supply_w = _number(
    rf"(?P<number>{NUMBER})\s?w(?:atts?)?\s(?:\w+\s)?(?:psu|power supply|supply)\b",
    r"\b(?:psu|power supply)\W{0,3}(?:(?:is|of|with|has|an?|only|just|my)\s)*(?P<number>\d{3,4})\s?w?(?:atts?)?\b",
    r"(?<=, )(?P<number>\d{3,4})\s?w(?:atts?)?(?=\s?[),.]|$)",
    r"(?<![\w.])(?P<number>\d{3,4})\s?w(?:atts?)?\b(?=[^.?!]{0,40}\b(?:enough|suffic\w+|handle|cope)\b)",
    r"\b(?:have|has|got|it's|mine is)\s(?:(?:an?|only|just|about)\s)*(?P<number>[4-9]\d\d|[12]\d{3})\s?w(?:atts?)?\b"
    r"(?!\s(?:power\s)?(?:limit|cap))",
)
limit_w = _number(
    r"\b(?:power[- ]?)?(?:limit(?:ed|ing)?|cap(?:ped|ping)?|undervolt(?:ed|ing)?)\s(?:(?:to|at|of|them|it|both|each)\s){1,2}"
    r"(?P<number>\d{2,3})\s?w(?:atts?)?\b",
    r"\b(?P<number>\d{2,3})\s?w(?:atts?)?\s(?:power[- ]?)?(?:limit|cap)\b",
)
_hours = _number(rf"(?P<number>{NUMBER})\s?(?:hours?|hrs?|h)\s?(?:a|per|/)\s?day\b", r"\b(?P<number>24)\s?/\s?7\b")


def hours(text: Text) -> float | None:
    """Hours of a day; all of them where it is always on."""
    return _hours(text) or (DAY_H if text.take(r"\b(?:always[- ]on|around the clock|day and night|all day(?: long)?)\b") else None)


ram_gib = _number(
    rf"(?<=\0)\s?(?:\+|and|plus)\s(?P<number>{NUMBER})\s?(?:gb|gib|g)\b(?!\s?(?:vram|cards?|gpus?|mac\w*|nvidia|amd|rtx|\d))",
    rf"(?P<number>{NUMBER})\s?(?:gb|gib|g)\s(?:of\s)?(?:(?:system|host|main|cpu)\s(?:ram|memory)|(?:ddr[345](?:-\d+)?\s)?ram|"
    rf"(?:ecc\s)?ddr[345](?:-\d+)?)\b",
)


bare_ram_gib = _number(rf"(?<![\w.])(?P<number>{NUMBER})\s?(?:gb|gib)\b(?!\s?(?:of\s)?(?:vram|cards?|gpus?|mac\w*|nvidia|amd|rtx|more|\d))")


def ram_beside(text: Text, start: int, end: int) -> float | None:
    """GiB that stand beside a computer's name, from `start` to `end`: `an EPYC server with 512 GB`, `a 1 TB EPYC`; crossed out."""
    memory = r"(?:\s(?:of\s)?(?:ram|memory|ddr[345]))?(?!\s?(?:vram|cards?|gpus?|ssd|nvme|disk))"
    size = rf"(?P<number>{NUMBER})\s?(?P<unit>gb|gib|tb|tib)\b{memory}"
    after = re.compile(rf"[^.;?!]{{0,40}}?(?<![\w.]){size}").match(text.left, end)
    found = after or re.search(rf"{size}\s(?:\w+\s)?$", text.left[:start])
    if found is None:
        return None
    text.cross_out(*found.span("number"))
    text.cross_out(*found.span("unit"))
    return number_of(found["number"]) * (KIB if found["unit"].startswith("t") else 1)
