"""The amounts in a question – money, users, lengths, speeds – found in free text and crossed out as they are read."""

import re
from collections.abc import Callable

from advisor.record import dataclass, field
from advisor.units import KIB, KILO, MIB
from advisor.words import CURRENCIES, Amount

SIGNS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "×": "x", "–": "-", "—": ", ", "\u00a0": " ", "\t": " ", "≥": " at least ", "≤": " at most "}
)
NUMBER_WORDS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "a dozen": 12, "dozen": 12, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "a hundred": 100,
}  # fmt: skip
MOST = 1e15
NUMBER = r"(?:\d[\d,]*(?:\.\d+)?)"
COUNT = r"(?:\d+|" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + r")"
SENTENCE_ENDS = (". ", "? ", "! ", "\n", "; ", "?", "!")
_SIGN = r"(?:us\$|c\$|a\$|[$€£¥₹])"
_UNIT = r"(?:" + "|".join(sorted((re.escape(word) for word in CURRENCIES if word[0].isalpha()), key=len, reverse=True)) + r"|[€£₹])"
USERS = (
    r"users?|people|persons?|colleagues|employees|coworkers|co-workers|developers|devs|engineers|students|clients|customers|seats|"
    r"requests?|streams?|sessions?|chats|agents|conversations|guys|of us|readers|writers|lawyers|doctors|staff"
)


def plain(text: str) -> str:
    """The text in lower case with plain signs: `w/o` as without, arrows as to, second hand as used."""
    text = re.sub(r"\s*(?:->|=>|→)\s*", " to ", text.translate(SIGNS).lower())
    text = re.sub(r"\bw/o\b", "without", re.sub(r"\bw/\s?(?=\w)", "with ", text))
    text = re.sub(r"(?<=\w)\s*&\s*(?=\w)", " and ", text)
    text = re.sub(r"\b(?:second|2nd)[- ]hand\b|\bpre-?owned\b", "used", text)
    text = re.sub(r"(?<![\w.])(\d{1,2})[x*](?=\d{4}(?!\d)|[a-z]{1,4}[- ]?\d{2})", r"\1x ", text)  # 2x3090, 8xa100
    text = re.sub(r"(?<![\w.])(\d{4}(?: ?ti| ?xtx?)?)x(\d)\b", r"\1 x\2", text)  # 3090x2
    text = re.sub(r"\bin the long run\b", "over the years", text)
    return text.replace("\0", " ")


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


def _thousands(number: str, k: str | None) -> float:
    return number_of(number) * (100 if k == "hundred" else KILO if k else 1)


_K = r"(?:k|grand|thousand|g)\b"
_LESS = (
    r"(?:under|below|up to|less than|no more than|not more than|at most|max(?:imum|ed)?|within|limit(?:ed to)?|cap(?:ped at)?|budget|"
    r"spend(?:ing)?|pay(?:ing)?)"
)
_NEARLY = (
    r"(?:\s*(?:is|of|:|=|around|about|approx\w*|roughly|under|max|up to|at most|~|to|like|maybe|a|the|my|say|only|just|currently|"
    r"would be))*"
)
_NO_MONEY = (
    r"(?!\s?[-+]?\s?(?:tok|t/s|tps|w\b|watt|gb|gib|tb|tokens?|users?|people|context|ctx|prompt|ms\b|s\b|sec|min|hours?|h\b|%|b\b|"
    r"cards?|gpus?|x\b|ti\b|"
    r"super|xtx?\b|mhz|pcie|lanes?|window|long|mb|concurrent|requests?|streams?|[.,]?\d|k))"
)


_NOTHING_SPENT = (
    r"\b(?:(?:do not|don't|dont|can't|cannot|won't) (?:want to |wanna |need to |have to |plan to )?(?:buy|spend)|without (?:buying|"
    r"spending)) (?:anything|any money|money|a (?:cent|dime|penny)|any (?:new |more )?hardware)(?: (?:else|new|more|extra|now))*"
    r"(?! (?:on|if|unless|until|before|from|used|bigger|larger|with|over|above|that|for (?:an?|the)))\b"
)


def budget(text: Text) -> Amount | None:
    """What the buyer wants to spend: `$2k`, `under 3000 euros`, `a budget of 3k`; of a range the upper end."""
    if text.take(_NOTHING_SPENT):
        return Amount(0, "USD")
    to = rf"(?:{NUMBER}\s?(?:k|grand)?\s?(?:-|to|and|or)\s?(?:{_SIGN}\s?)?)?"
    found = text.take(
        rf"(?P<sign>{_SIGN})\s?{to}(?P<number>{NUMBER})\s?(?P<k>{_K})?(?:\s?{_UNIT}\b)?",
        rf"(?<![\w.-]){to}(?P<number>{NUMBER}|{COUNT})\s?(?P<k>k|grand|thousand|hundred)?[\s-]?(?P<unit>{_UNIT})(?!\w)",
        rf"\b{_LESS}{_NEARLY}\s*{to}(?P<number>{NUMBER}|{COUNT})\s?(?P<k>{_K})(?!\s*-?(?:context|ctx|tokens?|prompts?|window|long))",
        rf"(?<![\w.-]){to}(?P<number>{NUMBER})\s?(?P<k>k\b|grand\b)?\s*(?:budget|to spend|to play with|burning)",
        rf"(?<![\w.-]){to}(?P<number>{NUMBER}|{COUNT})\s(?P<k>grand)\b",
        rf"\b(?:gave|gives|given|have|got|has|with)\s(?:me\s|us\s)?(?:about\s|around\s)?(?P<number>{NUMBER})(?P<k>k)\s(?:to|for)\b",
        rf"\b(?:budget|spend|pay){_NEARLY}\s*{to}(?P<number>\d[\d,]*)(?P<k>k)?\b{_NO_MONEY}",
        rf"(?<!ai )(?<!m\d )\b{_LESS}{_NEARLY}\s*{to}(?P<number>\d,?\d\d\d|\d\d,?\d\d\d|[3-9]\d\d)(?P<k>k)?\b{_NO_MONEY}",
        rf"\b(?:for|around|about)\s+(?P<number>{NUMBER})\s?(?P<k>k|grand)\b(?!\s*-?(?:context|ctx|tokens?|prompts?|window|long))",
    )
    if not found:
        return None
    groups = found.groupdict()
    unit = groups.get("sign") or groups.get("unit") or "$"
    return Amount(_thousands(groups["number"], groups.get("k")), CURRENCIES[unit])


def price(text: Text, place: int) -> Amount | None:
    """What stands behind a device's name as its price: ` for $650`, ` at 700 euros`; crossed out."""
    after = text.original[place:]
    few = r"(?:about\s|around\s|only\s|just\s|like\s|~)?"
    lead = rf"(?:\s?\((?:used|new|at)?\s?|\s(?:used\s|new\s|each\s|card\s)?(?:for|at|@|costs?|is|goes for|going for)\s){few}"
    found = re.match(rf"{lead}(?P<sign>{_SIGN})\s?(?P<number>{NUMBER})(?P<k>k\b)?", after)
    found = found or re.match(rf"{lead}(?P<number>{NUMBER})(?P<k>k)?\s?(?P<unit>{_UNIT})(?!\w)", after)
    if not found or re.match(r"\s?(?:\w+\s?)?(?:/|per|a)\s?kwh", after[found.end() :]):
        return None
    text.cross_out(place, place + found.end())
    unit = found.groupdict().get("sign") or found.groupdict().get("unit") or "$"
    return Amount(_thousands(found["number"], found["k"]), CURRENCIES[unit])


def electricity(text: Text) -> Amount | None:
    """The price of a kilowatt-hour."""
    found = text.take(rf"(?:electricity\s)?(?P<sign>{_SIGN})?\s?(?P<number>\d*\.?\d+)\s?(?P<unit>{_UNIT}|cents?|ct)?\s?(?:/|per|a)\s?kwh")
    if not found:
        return None
    unit = found["sign"] or found["unit"] or "$"
    cents = unit.startswith("c") and unit not in CURRENCIES
    return Amount(number_of(found["number"]) / (100 if cents else 1), "USD" if cents else CURRENCIES[unit])


def _tokens(found: re.Match[str]) -> int:
    number, unit = number_of(found["number"]), (found["k"] or "").strip()
    return int(min(number, MOST) * {"": 1, "k": KIB, "m": MIB}[unit])


_LENGTH = rf"(?P<number>{NUMBER})\s?(?P<k>[km])?"


def prompt(text: Text) -> int | None:
    """The length of the prompts, tokens."""
    found = text.take(
        rf"{_LENGTH}[- ]?(?:tokens?[- ])?prompts?\b",
        rf"\b(?:prompt processing|prefill|pp)\s(?:of\s|with\s|for\s|at\s|on\s)?{_LENGTH}(?:\s?tokens?)?\b{_NO_MONEY}",
        rf"prompts?\s(?:of|with|around|about|up to)\s(?:about\s|up to\s)?{_LENGTH}(?:\s?tokens?)?\b",
    )
    return _tokens(found) if found else None


def context(text: Text) -> int | None:
    """The context for each user, tokens."""
    found = text.take(
        rf"{_LENGTH}[- ]?(?:tokens?\s)?(?:of\s)?(?:context|ctx)(?:[- ](?:window|length|size))?\b",
        rf"\b(?:context|ctx)(?:[- ](?:window|length|size))?\s?(?:of|is|=|:|at|around|about|up to)?\s?{_LENGTH}(?:\s?tokens?)?\b",
        rf"\b(?:context|ctx)\b[\w\s]{{0,16}}?(?<![\w.]){_LENGTH}\b{_NO_MONEY}",
        rf"(?<![\w.]){_LENGTH}[- ]tokens?\b(?!\s?(?:/|per|a\b))",
        r"(?<![\w.$€£])(?P<number>\d{1,4})(?P<k>k)\b(?!\w)",
    )
    return _tokens(found) if found else None


def users(text: Text) -> int | None:
    """How many are served at the same time."""
    groups = r"(?:team|group|office|class|family|company|firm|household|department|lab|studio|startup|crew|party|club|staff)"
    adjectives = r"(?:(?:concurrent|simultaneous|parallel|active|other|different|small|busy|local|human|team)\s)*"
    together = r"(?:concurrent(?:ly)?|simultaneous(?:ly)?|parallel|in parallel|at once|at the same time|at a time)"
    found = text.take(
        rf"\b{groups}\s+(?:of|with)\s+(?:about\s|around\s|~)?(?P<number>{COUNT})\b(?:\s(?:{USERS}))?",
        rf"(?<![\w.-])(?P<number>{COUNT})(?:-|\s){adjectives}(?:{USERS})\b(?:\s{together})?",
        rf"(?<![\w.-])(?P<number>{COUNT})(?:-|\s)person\b",
        rf"(?<![\w.-])(?P<number>\d+)\s{together}\b",
        r"\b(?:serve|serving|support|host for|batch(?: size)?(?: of)?|concurrency(?: of)?)\s(?P<number>\d+)\b(?!\s?(?:b\b|k\b|gb|x))",
    )
    if found:
        return whole(found["number"])
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
)
hours = _number(rf"(?P<number>{NUMBER})\s?(?:hours?|hrs?|h)\s?(?:a|per|/)\s?day\b")
ram_gib = _number(
    rf"(?<=\0)\s?(?:\+|and|plus)\s(?P<number>{NUMBER})\s?(?:gb|gib|g)\b(?!\s?(?:vram|cards?|gpus?|mac\w*|nvidia|amd|rtx|\d))",
    rf"(?P<number>{NUMBER})\s?(?:gb|gib|g)\s(?:of\s)?(?:(?:system|host|main|cpu)\s(?:ram|memory)|(?:ddr[345](?:-\d+)?\s)?ram|"
    rf"(?:ecc\s)?ddr[345](?:-\d+)?)\b",
)


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
