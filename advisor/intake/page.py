"""A pasted text made safe to read: decoded, without colours, cut to bounds. Everything that arrives here is untrusted."""

import gc
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from advisor.errors import BadInput
from advisor.record import dataclass
from advisor.units import MIB

MOST_BYTES = int(64 * MIB)
MOST_LINES = 200_000
MOST_LINE_CHARS = 20_000
MOST_DOCUMENTS = 20_000
MOST_FAILED_STARTS = 200
MOST_DEPTH = 40  # levels of a JSON document that readers look into

_COLOUR = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")
_WIDE = re.compile(r"[ \t]{160,}")
_EMPTY = re.compile(r"\n(?:[ \t]*\n){3,}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff\u200b]")
_BREAK = re.compile(r"\r\n|\r|\x0c|\x85|\u2028|\u2029")
_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_START = re.compile(r"^[ \t]*[\[{]|(?<=[:=\s])\{(?=\s*\")", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """One pasted text. `source` is the file's name, or `-`."""

    text: str
    source: str = "-"

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Lines without their ends; longer ones than any tool prints are left out."""
        found = self.text.split("\n", MOST_LINES)[:MOST_LINES]
        return tuple(line.rstrip() for line in found if len(line) <= MOST_LINE_CHARS)

    @cached_property
    def documents(self) -> tuple[Any, ...]:
        """Every JSON object or list in the text, also after log lines, a line each, or inside one that was cut off."""
        with _no_collection():
            return tuple(_documents(self.text))

    @cached_property
    def objects(self) -> tuple[dict[str, Any], ...]:
        """The JSON objects at the top, and those of a list at the top."""
        found: list[dict[str, Any]] = []
        for document in self.documents:
            members = document if isinstance(document, list) else [document]
            found.extend(member for member in members if isinstance(member, dict))
        return tuple(found[:MOST_DOCUMENTS])


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the garbage collector, which would walk over all that is being built again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _documents(text: str) -> Iterator[Any]:
    """JSON values that begin where a line or a `key = {` begins, in one pass; a cut one gives its complete inner objects."""
    decoder = json.JSONDecoder(parse_constant=lambda word: None)
    at = failed = found = 0
    while found < MOST_DOCUMENTS and failed < MOST_FAILED_STARTS:
        start = _START.search(text, at)
        if start is None:
            return
        begin = start.end() - 1
        try:
            value, at = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            at = begin + 1
            failed += 1
            continue
        found += 1
        if isinstance(value, dict | list) and value:
            yield value


def decode(raw: bytes) -> str:
    """Text of bytes in whatever encoding a terminal or an editor left them."""
    for mark, name in _BOMS:
        if raw.startswith(mark):
            return raw.decode(name, errors="replace")
    head = raw[:4096]
    if head.count(0) > len(head) // 4:
        odd = head[1::2].count(0)
        return raw.decode("utf-16-le" if odd >= head[0::2].count(0) else "utf-16-be", errors="replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        broken = raw.decode("utf-8", errors="replace")
        return broken if broken.count("\ufffd") <= 3 else raw.decode("cp1252", errors="replace")


def page_of(raw: bytes | str, source: str = "-") -> Page:
    """A page of raw bytes: one line end, no colour codes, no control characters, plain blanks."""
    text = decode(raw) if isinstance(raw, bytes) else raw
    text = _BREAK.sub("\n", _COLOUR.sub("", text))
    text = _CONTROL.sub("", text).replace("\u00a0", " ").replace("\u202f", " ")
    return Page(_EMPTY.sub("\n\n", _WIDE.sub(" " * 160, text)), source)


def page_from(path: str) -> Page:
    """The page at a path, or on standard input for `-`."""
    try:
        if path == "-":
            raw = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be read: {error.strerror or error}. Give a file with a tool's output, or - for standard input."
        ) from error
    if len(raw) > MOST_BYTES:
        raise BadInput(f"{path}: more than {MOST_BYTES // int(MIB)} MiB. Cut out the part with the tool's output and give that.")
    return page_of(raw, path)
