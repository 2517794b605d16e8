"""Why a text is no JSON that is read, with the place: nesting and numbers without end are told as plainly as a wrong sign."""

import re

MOST_LEVELS = 500
MOST_DIGITS = 4300  # Python reads no longer whole numbers
_SIGNS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)
_LONG = re.compile(rf"\d{{{MOST_DIGITS + 1},}}")


def why(text: str | bytes, error: Exception) -> str:
    """What was wrong, in a few words."""
    words = text if isinstance(text, str) else text.decode("utf-8", "replace")
    if isinstance(error, RecursionError):
        return f"nested deeper than {MOST_LEVELS} levels ({_place(words, _deep(words))})"
    long = _LONG.search(words) if "set_int_max_str_digits" in str(error) else None
    return f"a number of {len(long.group())} digits ({_place(words, long.start())})" if long else str(error)[:200]


def _deep(text: str) -> int:
    """Where the nesting first exceeds what is read."""
    depth = 0
    for found in _SIGNS.finditer(text):
        sign = found.group()[0]
        depth += (sign in "[{") - (sign in "]}")
        if depth > MOST_LEVELS:
            return found.start()
    return 0


def _place(text: str, at: int) -> str:
    """A place as JSON's own errors name it."""
    return f"line {text.count(chr(10), 0, at) + 1} column {at - text.rfind(chr(10), 0, at)}"
