"""The amounts in a question – money, users, lengths, speeds – found in free text and crossed out as they are read."""

import re
from collections.abc import Callable

from advisor.record import dataclass, field
from advisor.units import HOUR_S, KIB, KILO, MIB, MS

NUMBER_WORDS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "a dozen": 12, "dozen": 12, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "a hundred": 100,
}  # fmt: skip
NUMBER = r"(?:\d[\d,]*(?:\.\d+)?)"
COUNT = r"(?:\d+|" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + r")"
CURRENCIES = {
    "$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "bucks": "USD", "us$": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR",
    "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP", "quid": "GBP",
    "cad": "CAD", "c$": "CAD", "aud": "AUD", "a$": "AUD", "chf": "CHF", "francs": "CHF",
    "sek": "SEK", "kr": "SEK", "nok": "NOK", "dkk": "DKK", "zł": "PLN", "pln": "PLN", "zloty": "PLN", "czk": "CZK",
    "yen": "JPY", "jpy": "JPY", "¥": "JPY", "inr": "INR", "₹": "INR", "rupees": "INR",
    "brl": "BRL", "reais": "BRL", "krw": "KRW", "cny": "CNY", "yuan": "CNY", "rmb": "CNY",
}  # fmt: skip
_SIGN = r"(?:us\$|c\$|a\$|[$€£¥₹])"
_UNIT = r"(?:" + "|".join(sorted((re.escape(word) for word in CURRENCIES if word[0].isalpha()), key=len, reverse=True)) + r"|[€£₹])"
USERS = (
    r"users?|people|persons?|colleagues|employees|coworkers|co-workers|developers|devs|engineers|students|clients|customers|seats|"
    r"requests?|streams?|sessions?|chats|agents|conversations|guys|of us|readers|writers|lawyers|doctors|staff"
)


@dataclass
class Text:
    """The question with what was already read crossed out; offsets stay those of the original."""

    original: str
    left: str = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.original.lower()

    def cross_out(self, start: int, end: int) -> None:
        """Mark a stretch as read."""
        self.left = self.left[:start] + "\0" * (end - start) + self.left[end:]

    def take(self, pattern: str) -> re.Match[str] | None:
        """The first match of what is left, crossed out."""
        found = re.search(pattern, self.left)
        if found:
            self.cross_out(*found.span())
        return found


@dataclass(frozen=True)
class Amount:
    """A sum of money as it was written."""

    number: float
    currency: str


def number_of(word: str) -> float:
    """The number that digits or a number word state; `8k` is not read here."""
    word = word.strip()
    return float(NUMBER_WORDS[word]) if word in NUMBER_WORDS else float(word.replace(",", ""))


def _thousands(number: str, k: str | None) -> float:
    return number_of(number) * (KILO if k else 1)


def budget(text: Text) -> Amount | None:
    """What the buyer wants to spend: `$2k`, `under 3000 euros`, `a budget of 3k`."""
    for pattern in (
        rf"(?P<sign>{_SIGN})\s?(?P<number>{NUMBER})\s?(?P<k>k\b|grand\b|thousand\b)?",
        rf"(?<![\w.-])(?P<number>{NUMBER})\s?(?P<k>k|grand|thousand)?\s?(?P<unit>{_UNIT})(?!\w)",
        rf"budget\s*(?:is|of|:|=|around|about|under|max)*\s*(?P<number>{NUMBER})\s?(?P<k>k\b|grand\b)?",
        rf"(?<![\w.-])(?P<number>{NUMBER})\s?(?P<k>k\b|grand\b)?\s*budget",
        rf"\b(?:under|below|spend|for|around|about|up to|less than|max|maximum|at most)\s+(?P<number>{NUMBER})\s?(?P<k>k|grand)\b"
        r"(?!\s*-?(?:context|ctx|tokens?|prompts?|window|long))",
        rf"\b(?:spend|pay)\s+(?:up to\s+|at most\s+|about\s+|around\s+)?(?P<number>{NUMBER})(?P<k>k)?\b"
        r"(?!\s*(?:tok|token|w\b|watt|gb|users?))",
    ):
        found = text.take(pattern)
        if found:
            groups = found.groupdict()
            unit = groups.get("sign") or groups.get("unit") or "$"
            return Amount(_thousands(groups["number"], groups.get("k")), CURRENCIES[unit])
    return None


def electricity(text: Text) -> Amount | None:
    """The price of a kilowatt-hour."""
    found = text.take(rf"(?:electricity\s)?(?P<sign>{_SIGN})?\s?(?P<number>\d*\.?\d+)\s?(?P<unit>{_UNIT}|cents?|ct)?\s?(?:/|per|a)\s?kwh")
    if not found:
        return None
    unit = found["sign"] or found["unit"] or "$"
    cents = unit.startswith("c") and unit not in CURRENCIES
    return Amount(number_of(found["number"]) / (100 if cents else 1), "USD" if cents else CURRENCIES[unit])


def floor(text: Text) -> float | None:
    """The speed wanted for each user, tokens/s."""
    unit = r"(?:(?:tok(?:en)?s?|t)\s?(?:/|per|a|p)\s?s(?:ec(?:ond)?)?|tps)"
    found = text.take(rf"(?P<number>{NUMBER})\+?\s?{unit}\b(?:\s+(?:each|per user))?")
    return number_of(found["number"]) if found else None


def first_token(text: Text) -> float | None:
    """The wanted time to the first token, seconds."""
    found = text.take(rf"first token (?:\w+\s){{0,3}}?(?P<number>{NUMBER})\s?(?P<unit>ms|milliseconds|s|secs?|seconds?|min|minutes?)\b")
    if not found:
        found = text.take(rf"(?P<number>{NUMBER})\s?(?P<unit>ms|s|secs?|seconds?)\s(?:to|until|before|for)\s(?:the\s)?first token")
    if not found:
        return None
    unit = found["unit"]
    return number_of(found["number"]) * (MS if unit.startswith(("ms", "mil")) else HOUR_S / 60 if unit.startswith("min") else 1)


def _tokens(found: re.Match[str]) -> int:
    number, unit = number_of(found["number"]), (found["k"] or "").strip()
    return int(number * {"": 1, "k": KIB, "m": MIB}[unit])


_LENGTH = rf"(?P<number>{NUMBER})\s?(?P<k>[km])?"


def prompt(text: Text) -> int | None:
    """The length of the prompts, tokens."""
    for pattern in (
        rf"{_LENGTH}[- ]?(?:tokens?[- ])?prompts?\b",
        rf"prompts?\s(?:of|with|around|about|up to)\s(?:about\s|up to\s)?{_LENGTH}(?:\s?tokens?)?\b",
    ):
        found = text.take(pattern)
        if found:
            return _tokens(found)
    return None


def context(text: Text) -> int | None:
    """The context for each user, tokens."""
    for pattern in (
        rf"{_LENGTH}[- ]?(?:tokens?\s)?(?:of\s)?(?:context|ctx)(?:[- ](?:window|length|size))?\b",
        rf"\b(?:context|ctx)(?:[- ](?:window|length|size))?\s?(?:of|is|=|:|at|around|about|up to)?\s?{_LENGTH}(?:\s?tokens?)?\b",
        rf"(?<![\w.]){_LENGTH}[- ]tokens?\b(?!\s?(?:/|per))",
        r"(?<![\w.$€£])(?P<number>\d+)(?P<k>k)\b(?!\w)",
    ):
        found = text.take(pattern)
        if found:
            return _tokens(found)
    return None


def users(text: Text) -> int | None:
    """How many are served at the same time."""
    groups = r"(?:team|group|office|class|family|company|firm)"
    adjectives = r"(?:(?:concurrent|simultaneous|parallel|active|other)\s)*"
    found = text.take(rf"\b{groups}\s+of\s+(?:about\s)?(?P<number>{COUNT})\b(?:\s(?:{USERS}))?")
    found = found or text.take(rf"(?<![\w.-])(?P<number>{COUNT})(?:-|\s){adjectives}(?:{USERS})\b")
    if found:
        return int(number_of(found["number"]))
    if text.take(r"\b(?:just|only)\s(?:for\s)?(?:me|myself)\b|\bsingle[- ]user\b|\bfor myself\b|\bby myself\b"):
        return 1
    return None


def _number(pattern: str) -> Callable[[Text], float | None]:
    def read(text: Text) -> float | None:
        found = text.take(pattern)
        return number_of(found["number"]) if found else None

    return read


generate = _number(rf"(?P<number>{NUMBER})[- ]?tokens?\s(?:answers?|outputs?|replies|completions?|responses?)\b")
supply_w = _number(rf"(?P<number>{NUMBER})\s?w(?:atts?)?\s(?:psu|power supply|supply)\b")
hours = _number(rf"(?P<number>{NUMBER})\s?(?:hours?|hrs?|h)\s?(?:a|per|/)\s?day\b")
ram_gib = _number(
    rf"(?P<number>{NUMBER})\s?(?:gb|gib|g)\s(?:of\s)?(?:(?:system|host|main|cpu)\s(?:ram|memory)|(?:ddr[345]\s)?ram|ddr[345])\b"
)
