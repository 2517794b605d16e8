"""Conditions as `advisor list --where` takes them: a key, a comparison, a word, a date, or a number with its unit."""

import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from advisor.errors import BadValue
from advisor.record import dataclass
from advisor.units import GIGA, KILO, MEGA

WRITTEN = re.compile(r"\s*([A-Za-z0-9_.]+)\s*(>=|<=|!=|==|=|>|<|~)\s*(.*?)\s*")
AMOUNT = re.compile(r"\$?\s*([-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(\D*)", re.IGNORECASE)
DATE = re.compile(r"\d{4}(-\d{2}){0,2}")
COUNTS = {"k": KILO, "m": MEGA, "b": GIGA, "million": MEGA, "billion": GIGA}
BINARY = 1024.0
WORDS: Mapping[str, Mapping[str, float]] = {  # unit of the key -> words for it and for its multiples; a GB of memory is a GiB
    "GiB": {"gib": 1, "gb": 1, "g": 1, "tib": BINARY, "tb": BINARY, "mib": 1 / BINARY, "mb": 1 / BINARY},
    "GB/s": {"gb/s": 1, "tb/s": KILO, "mb/s": 1 / KILO},
    "TFLOP/s, dense": {"tflop/s": 1, "tflops": 1, "pflops": KILO},
    "TOP/s, dense": {"top/s": 1, "tops": 1, "pops": KILO},
    "W": {"w": 1, "watt": 1, "watts": 1, "kw": KILO},
    "USD": {"usd": 1, "dollar": 1, "dollars": 1, "k": KILO},
    "tokens": {"token": 1, "tokens": 1, "k": BINARY, "m": BINARY**2},
    "tokens/s": {"tokens/s": 1, "t/s": 1, "tok/s": 1},
    "bits": {"bit": 1, "bits": 1, "-bit": 1},
    "\u00b5s": {"us": 1, "\u00b5s": 1, "ms": KILO},
}


@dataclass(frozen=True)
class Condition:
    """One condition as it was said."""

    said: str
    key: str
    operator: str
    wanted: str

    def test(self, unit: str) -> Callable[[Sequence[Any]], bool]:
        """Whether any of some values meets it; `unit` is that of the key."""
        number = self._number(unit)
        if self.operator not in (">", "<", ">=", "<="):
            return lambda values: self._matches(values, number)
        if number is None and not DATE.fullmatch(self.wanted):
            known = ", ".join(WORDS.get(unit, COUNTS))
            raise BadValue(f"--where {self.said!r}: {self.wanted!r} is not a number (it may have a unit: {known})")
        return lambda values: any(self._compares(each, number) for each in values)

    def _number(self, unit: str) -> float | None:
        """The amount that is wanted, in the unit of the key."""
        found = AMOUNT.fullmatch(self.wanted)
        if not found:
            return None
        word = found[2].strip().lower()
        scale = WORDS.get(unit, COUNTS).get(word) if word else 1.0
        number = float(found[1].replace(",", ""))
        return number * scale if scale and isfinite(number) else None

    def _compares(self, value: Any, number: float | None) -> bool:
        """A number against the number, a date against as much of one as was written; anything else is not in order."""
        if isinstance(value, str) and DATE.fullmatch(value) and DATE.fullmatch(self.wanted):
            return self._ordered(value[: len(self.wanted)], self.wanted)
        if number is None or isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self._ordered(value, number)

    def _ordered(self, left: Any, right: Any) -> bool:
        return bool({">": left > right, "<": left < right, ">=": left >= right, "<=": left <= right}[self.operator])

    def _matches(self, values: Sequence[Any], number: float | None) -> bool:
        wanted = self.wanted.lower()
        said = ["null" if value is None else str(value).lower() for value in values] or ["null"]
        if self.operator == "~":
            return any(wanted in each for each in said)
        equal = wanted in said or any(number == value for value in values if number is not None and not isinstance(value, bool))
        return equal if self.operator != "!=" else not equal


def condition_of(expression: str) -> Condition:
    """The condition that an expression states."""
    found = WRITTEN.fullmatch(expression)
    if not found:
        raise BadValue(f"--where {expression!r}: write KEY>=NUMBER, KEY=WORD or KEY~PART, as in 'memory_gib>=48' or 'maker=nvidia'")
    return Condition(expression, found[1], found[2], found[3])
