"""What reaches the terminal: no control characters, only characters that its encoding has, colour for one word."""

import sys
from typing import TextIO

# Bidirectional overrides and line separators can make a terminal show another text than the one that was written.
_CONTROLS = (*range(0x00, 0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))
_HIDDEN = (*_CONTROLS, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF)
_STRIPPED = dict.fromkeys(_HIDDEN)
_ASCII = str.maketrans(
    {"×": "x", "–": "-", "—": "-", "−": "-", "…": "...", "µ": "u", "≤": "<=", "≥": ">=", "≈": "~", "·": "-", "→": "->",
     "█": "#", "▓": "=", "▒": "+", "░": ".", "│": "|", "─": "-", "“": '"', "”": '"', "’": "'", "α": "a", "η": "n", "τ": "t",
     "§": "section ", "€": "EUR ", "£": "GBP ", "±": "+-"}
)  # fmt: skip


COLUMNS = 80


def plain(text: str) -> str:
    """The text without the characters that steer a terminal."""
    return text.translate(_STRIPPED)


def encodable(text: str, encoding: str | None) -> str:
    """The text in characters that the encoding has: its own, else an ASCII likeness, else a question mark."""
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        known = encoding or "ascii"
        return text.translate(_ASCII).encode(known, "replace").decode(known, "replace")
    return text


def say(text: str, *, error: bool = False, verdict: str | None = None) -> None:
    """Write the lines to stdout, or stderr; on a colour terminal the word `verdict` at the start stands out."""
    stream = sys.stderr if error else sys.stdout
    shown = encodable(plain(text), stream.encoding)
    if verdict and shown.startswith(verdict) and _has_colour(stream):
        shown = f"\x1b[1;32m{verdict}\x1b[0m{shown[len(verdict) :]}"
    stream.write(shown if shown.endswith("\n") else shown + "\n")
    stream.flush()


def wrapped(line: str) -> str:
    """A line of prose on at most 80 columns; what follows is indented as far as its label. Commands and paths stay whole."""
    from textwrap import fill

    label = line.partition(": ")[0]
    indent = " " * (len(label) + 2) if label == "Note" else ""
    return fill(line, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _has_colour(stream: TextIO) -> bool:
    """Whether the stream is a terminal whose owner did not ask for no colour (https://no-color.org)."""
    import os

    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
