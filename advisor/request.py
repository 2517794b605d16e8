"""A question in option words – from the command line, a batch line or Python – into values. Knows no catalog."""

from collections.abc import Callable, Mapping
from typing import Any

from advisor import words
from advisor.errors import BadValue
from advisor.record import dataclass

PREFERENCES = ("cheapest", "fastest")


def _kinds() -> tuple[str, ...]:
    from advisor.advice import ROAD_KINDS

    return ROAD_KINDS


# How each option's words become a value; one table for flags and batch keys alike.
READERS: dict[str, Callable[[Any, str], Any]] = {
    "system": words.text,
    "systems": words.texts,
    "question": words.text,
    "max": words.count,
    "model": words.text,
    "quant": words.text,
    "kv_quant": words.text,
    "users": words.users,
    "context": words.tokens,
    "prompt": words.tokens_or_none,
    "generate": words.tokens,
    "min_tokens_per_s": words.zero_or_more,
    "max_first_token_s": words.above_zero,
    "catalog": words.texts,
    "price": words.prices,
    "host": words.text,
    "ram_gib": words.memory,
    "psu_w": words.above_zero,
    "storage": words.text,
    "electricity": words.zero_or_more,
    "hours_per_day": words.hours,
    "why": words.flag,
    "have": words.text,
    "budget": words.budget,
    "prefer": lambda value, name: words.one_of(value, name, PREFERENCES),
    "consider": lambda value, name: tuple(words.one_of(kind, name, _kinds()) for kind in words.texts(value, name)),
    "among": words.texts,
    "new_only": words.flag,
    "sell_old": words.flag,
}
_WORK = tuple(READERS)[4:22]
_PURCHASE = ("have", "budget", "prefer", "consider", "among", "new_only", "sell_old")
KEYS = {
    "estimate": ("system", *_WORK),
    "compare": ("systems", *_WORK),
    "scale": ("system", "max", *_WORK),
    "recommend": (*_WORK, *_PURCHASE),
    "ask": ("question", *_WORK, *_PURCHASE),
}
REQUIRED = {
    "estimate": ("system", "model"),
    "compare": ("systems", "model"),
    "scale": ("system", "max", "model"),
    "recommend": (),
    "ask": ("question",),
}
_ARGUMENTS = {"system": "SYSTEM", "systems": "SYSTEM", "question": "QUESTION"}


def option_name(key: str) -> str:
    """How a person writes the key: `--min-tokens-per-s`, or SYSTEM for an argument."""
    return _ARGUMENTS.get(key) or "--" + key.replace("_", "-")


@dataclass(frozen=True)
class Request:
    """One question: its command and its values, read but not yet looked up in the catalog. Absent = not stated."""

    command: str
    values: Mapping[str, Any]

    def get(self, key: str, default: Any = None) -> Any:
        """The stated value, or the default."""
        return self.values.get(key, default)


def read(command: str, raw: Mapping[str, Any]) -> Request:
    """Option words of one command into values; `None` and empty lists count as not stated."""
    keys = KEYS[command]
    values = {}
    for key, value in raw.items():
        if key not in keys:
            raise _unknown_key(key, command, keys)
        if value is not None and value != () and value != []:
            values[key] = READERS[key](value, option_name(key))
    for key in REQUIRED[command]:
        if key not in values:
            raise BadValue(f"{option_name(key)} is missing: `advisor {command}` needs it.")
    return Request(command, values)


def _unknown_key(key: str, command: str, keys: tuple[str, ...]) -> BadValue:
    from difflib import get_close_matches

    nearest = tuple(get_close_matches(str(key), keys, 3))
    hint = f"; did you mean {nearest[0]}?" if nearest else f"; it has {', '.join(keys)}."
    return BadValue(f"{words.shortened(key)} is not a key of {command}{hint}", nearest)
