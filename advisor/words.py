"""Numbers as people write them – `8k`, `$3,000`, `64gb`, `max` – into values, or an error that says what would do."""

import math
import re
from typing import Any

from advisor.errors import BadValue
from advisor.record import dataclass
from advisor.units import GIB, KIB, KILO

_NUMBER = re.compile(r"([0-9][0-9_,]*(?:\.[0-9]*)?|\.[0-9]+)\s*([a-z%]*)", re.IGNORECASE | re.ASCII)
_TOKENS = {"": 1.0, "k": KIB, "ki": KIB, "m": KIB**2, "mi": KIB**2, "tokens": 1.0}
_DOLLARS = {"": 1.0, "k": KILO, "usd": 1.0, "dollars": 1.0}
_GIB = {"": GIB, "g": GIB, "gb": GIB, "gib": GIB, "t": GIB * KIB, "tb": GIB * KIB, "tib": GIB * KIB}
CURRENCIES = {
    "$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "bucks": "USD", "us$": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR",
    "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP", "quid": "GBP",
    "cad": "CAD", "c$": "CAD", "aud": "AUD", "a$": "AUD", "chf": "CHF", "francs": "CHF",
    "sek": "SEK", "kr": "SEK", "nok": "NOK", "dkk": "DKK", "zł": "PLN", "pln": "PLN", "zloty": "PLN", "czk": "CZK",
    "yen": "JPY", "jpy": "JPY", "¥": "JPY", "inr": "INR", "₹": "INR", "rupees": "INR", "rs": "INR",
    "mxn": "MXN", "sgd": "SGD", "hkd": "HKD", "nzd": "NZD", "zar": "ZAR", "rand": "ZAR", "ils": "ILS", "huf": "HUF", "ron": "RON",
    "thb": "THB", "baht": "THB", "myr": "MYR", "ringgit": "MYR",
    "brl": "BRL", "reais": "BRL", "krw": "KRW", "cny": "CNY", "yuan": "CNY", "rmb": "CNY",
}  # fmt: skip
_SUM = re.compile(r"([^\d\s.]*)\s*([\d.][\d,_.]*\s*k?)\s*([^\d\s.]*)", re.IGNORECASE)
_PLAIN = {"": 1.0}
MOST_TOKENS = 10**9
MOST_USERS = 10**6
MOST_DOLLARS = 1e12
MOST = 1e15


@dataclass(frozen=True)
class Amount:
    """A sum of money as it was written."""

    value: float
    currency: str


def shortened(value: Any) -> str:
    """The value as it can be repeated in a message: quoted, no control characters, not too long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…" + text[0]


def _scaled(value: Any, units: dict[str, float]) -> float | None:
    """The number in `value` times its unit; None when it is no finite number in one of these units."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < MOST**2 and math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    found = _NUMBER.fullmatch(value.strip())
    if not found or found[2].lower() not in units or len(found[1]) > 40:
        return None
    return float(found[1].replace(",", "").replace("_", "")) * units[found[2].lower()]


def _bounded(number: float | None, value: Any, name: str, low: float, high: float, expected: str) -> float:
    """`number` when it lies within the bounds, else the error that says what was expected."""
    if number is None or not low <= number <= high:
        raise BadValue(f"{name}: {shortened(value)} is not {expected}.")
    return number


def _whole(value: Any, name: str, units: dict[str, float], low: int, high: int, expected: str) -> int:
    number = _bounded(_scaled(value, units), value, name, low, high, expected)
    if number != int(number):
        raise BadValue(f"{name}: {shortened(value)} is not {expected}.")
    return int(number)


def tokens(value: Any, name: str) -> int:
    """A length of at least one token; `8k` is 8192."""
    return _whole(value, name, _TOKENS, 1, MOST_TOKENS, "a number of tokens from 1 to 1,000,000,000: write 8192, 8k or 128k")


def tokens_or_none(value: Any, name: str) -> int:
    """A length that may be 0."""
    return _whole(value, name, _TOKENS, 0, MOST_TOKENS, "a number of tokens, 0 or more: write 1024, 8k or 0")


def count(value: Any, name: str) -> int:
    """A whole number of things, at least 1."""
    return _whole(value, name, _PLAIN, 1, MOST_USERS, "a whole number from 1 to 1,000,000")


def users(value: Any, name: str) -> int | None:
    """Requests at the same time; None for `max`: as many as fit."""
    if isinstance(value, str) and value.strip().lower() == "max":
        return None
    return _whole(value, name, _PLAIN, 1, MOST_USERS, "a number of users: write a whole number from 1 up, or max")


def money(value: Any, name: str) -> float:
    """Dollars: `3000`, `$3,000`, `2k`."""
    plain = value.strip().removeprefix("$") if isinstance(value, str) else value
    return _bounded(_scaled(plain, _DOLLARS), value, name, 0, MOST_DOLLARS, "an amount of US dollars: write 3000, $3,000 or 2k")


def budget(value: Any, name: str) -> float | Amount:
    """Dollars, or a sum in another currency, `3000 EUR`, `£2k`, which needs the catalog's rates."""
    found = _SUM.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    currencies = {CURRENCIES.get(found[side], "") for side in (1, 3) if found[side]} if found else set()
    currency = currencies.pop() if len(currencies) == 1 else ""
    if found is None or not currency:
        return money(value, name)
    return money(found[2], name) if currency == "USD" else Amount(money(found[2], name), currency)


def memory(value: Any, name: str) -> float:
    """Bytes from GiB: `64`, `64gb`."""
    number = _scaled(value, _GIB) if isinstance(value, str) else (_scaled(value, _PLAIN) or 0.0) * GIB  # a bare number counts GiB
    return _bounded(number, value, name, 1, GIB * MOST_USERS, "an amount of memory in GiB: write 64 or 64gb")


def above_zero(value: Any, name: str) -> float:
    """A number above 0."""
    number = _scaled(value, _PLAIN)
    return _bounded(number if number else None, value, name, 0, MOST, "a number above 0")


def zero_or_more(value: Any, name: str) -> float:
    """A number that may be 0."""
    return _bounded(_scaled(value, _PLAIN), value, name, 0, MOST, "a number, 0 or more")


def hours(value: Any, name: str) -> float:
    """Hours of a day."""
    return _bounded(_scaled(value, _PLAIN), value, name, 0, 24, "hours a day: a number from 0 to 24")


def text(value: Any, name: str) -> str:
    """Words that are not empty."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise BadValue(f"{name}: {shortened(value)} is not a text.")
    return value.strip()


def flag(value: Any, name: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise BadValue(f"{name}: {shortened(value)} is neither true nor false.")
    return value


def texts(value: Any, name: str) -> tuple[str, ...]:
    """One text or a list of them."""
    items = (value,) if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise BadValue(f"{name}: {shortened(value)} is not a list of texts.")
    return tuple(text(item, name) for item in items)


def prices(value: Any, name: str) -> tuple[tuple[str, float], ...]:
    """`ID=USD`, a list of such, or a mapping of id to dollars."""
    if isinstance(value, dict):
        return tuple((text(key, name), money(each, name)) for key, each in value.items())
    pairs = [item.rpartition("=") for item in texts(value, name)]
    for key, _, usd in pairs:
        if not key.strip() or not usd.strip():
            raise BadValue(f"{name}: {shortened(value)} is not a price: write it as rtx-3090=700.")
    return tuple((key.strip(), money(usd, name)) for key, _, usd in pairs)


def one_of(value: Any, name: str, words: tuple[str, ...]) -> str:
    """One of the words, in lower case."""
    word = value.strip().lower() if isinstance(value, str) else ""
    if word not in words:
        raise BadValue(f"{name}: {shortened(value)} is not one of {', '.join(words)}.", nearest=words)
    return word
