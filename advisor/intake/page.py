"""A pasted text made safe to read: decoded, without colours, cut to bounds. Everything that arrives here is untrusted."""

import gc
import html
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from advisor.errors import BadInput
from advisor.intake import excerpt
from advisor.record import dataclass, field
from advisor.units import MIB, show

MOST_BYTES = int(64 * MIB)
MOST_JSON_BYTES = int(12 * MIB)  # of one JSON text that is read whole
MOST_JSON_PARTS, MOST_JSON_STRINGS = 200_000, 2_000_000
MOST_LINES = excerpt.MOST_LINES
MOST_LINE_CHARS = 20_000
MOST_DOCUMENTS = 20_000
MOST_FAILED_STARTS = 200
MOST_FAILED_CHARS = int(4 * MIB)  # read in vain: a text cut off inside many levels is read once for each
MOST_DEPTH = 40  # levels of a JSON document that readers look into

_COLOUR = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")
_WIDE = re.compile(r"[ \t]{160,}")
_EMPTY = re.compile(r"\n(?:[ \t]*\n){3,}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff\u200b]")
_BREAK = re.compile(r"\r\n|\r|\x0c|\x85|\u2028|\u2029")
_QUOTED = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)+", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:`{3}|~{3})[\w.+-]{0,20}[ \t]*$", re.MULTILINE)
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d) ", re.MULTILINE)
_ENTITY = re.compile(r"&(?:lt|gt|quot|nbsp|amp|#\d{1,6}|#x[0-9a-fA-F]{1,6});")
_BAR = str.maketrans("│┃║ǀ", "||||")
_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32-le", 4),
    (b"\x00\x00\xfe\xff", "utf-32-be", 4),
    (b"\xff\xfe", "utf-16-le", 2),
    (b"\xfe\xff", "utf-16-be", 2),
)
_START = re.compile(r"^[ \t]*[\[{]|(?<=[:=\s])\{(?=\s*\")", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """One pasted text. `source` is the file's name, or `-`; `left_out` bytes of it are not in `text`."""

    text: str
    source: str = "-"
    left_out: int = 0
    whole: bytes = field(default=b"", repr=False)  # a long JSON text, which is read in one piece

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Lines without their ends; longer ones than any tool prints are left out."""
        found = self.text.split("\n", MOST_LINES)[:MOST_LINES]
        return tuple(line.rstrip() for line in found if len(line) <= MOST_LINE_CHARS)

    @cached_property
    def documents(self) -> tuple[Any, ...]:
        """Every JSON object or list in the text, also after log lines, a line each, or inside one that was cut off."""
        with _no_collection():
            return tuple(_documents(decode(self.whole), most_failed=0)) or tuple(_documents(self.text))

    def has(self, *words: str) -> bool:
        """Whether one of the words is in the text."""
        return any(word in self.text for word in words)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What of a large text was not looked at."""
        if not self.left_out or self.whole:
            return ()
        read = show("size_bytes", len(self.text))
        return (f"{self.source} is large: {read} of it were read, at its beginning, its end and near known words.",)

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


def _documents(text: str, most_failed: int = MOST_FAILED_STARTS) -> Iterator[Any]:
    """JSON values that begin where a line or a `key = {` begins, in one pass; a cut one gives its complete inner objects."""
    decoder = json.JSONDecoder(parse_constant=lambda word: None)
    at = failed = found = in_vain = 0
    while found < MOST_DOCUMENTS and failed <= most_failed and in_vain <= MOST_FAILED_CHARS:
        start = _START.search(text, at)
        if start is None:
            return
        begin = start.end() - 1
        try:
            value, at = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError) as error:
            at = begin + 1
            failed += 1
            in_vain += (error.pos if isinstance(error, json.JSONDecodeError) else len(text)) - begin
            continue
        found += 1
        if isinstance(value, dict | list) and value:
            yield value


def encoding_of(raw: bytes) -> tuple[str, int]:
    """The encoding that a terminal or an editor left, and the bytes of its signs."""
    for mark, name, width in _BOMS:
        if raw.startswith(mark):
            return name, width
    head = raw[:4096]
    if head.count(0) > len(head) // 4:
        return ("utf-16-le" if head[1::2].count(0) >= head[0::2].count(0) else "utf-16-be"), 2
    return "utf-8", 1


def decode(raw: bytes) -> str:
    """Text of bytes in whatever encoding they are."""
    name, width = encoding_of(raw)
    if width > 1:
        return raw.decode(name, errors="replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        broken = raw.decode("utf-8", errors="replace")
        return broken if broken.count("\ufffd") <= 3 else raw.decode("cp1252", errors="replace")


def page_of(raw: bytes | str, source: str = "-") -> Page:
    """A page of raw bytes: the parts that are looked at, cleaned."""
    data = raw.encode("utf-8", "replace") if isinstance(raw, str) else raw
    name, width = encoding_of(data)
    found = excerpt.cut(data, name, width)
    pieces = [piece.decode(name, errors="replace") if width > 1 else decode(piece) for piece in found.pieces]
    return Page(cleaned("\n".join(pieces)), source, found.left_out, data if found.left_out and _is_json(data) else b"")


def _is_json(data: bytes) -> bool:
    """Whether a long text may be one JSON value or a line each, of a size and a number of parts that can be held."""
    begins = data[:200].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    return (
        begins
        and len(data) <= MOST_JSON_BYTES
        and data.count(b"{") + data.count(b"[") <= MOST_JSON_PARTS
        and data.count(b'"') <= MOST_JSON_STRINGS
    )


def cleaned(text: str) -> str:
    """One line end, no colour codes, no control characters, plain blanks and bars, no marks of quoting, logging or HTML."""
    text = _BREAK.sub("\n", _COLOUR.sub("", text))
    text = _CONTROL.sub("", text).replace("\u00a0", " ").replace("\u202f", " ").translate(_BAR)
    if _ENTITY.search(text) and text.lstrip()[:1] not in ("{", "["):
        text = html.unescape(text)
    text = _STAMP.sub("", _FENCE.sub("", _QUOTED.sub("", text)))
    return _EMPTY.sub("\n\n", _WIDE.sub(" " * 160, text))


def page_from(path: str) -> Page:
    """The page at a path, or on standard input for `-`."""
    try:
        if path == "-":
            raw = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or error
        raise BadInput(f"{path}: cannot be read: {told}. Give a file with a tool's output, or - for standard input.") from error
    if len(raw) > MOST_BYTES:
        raise BadInput(f"{path}: more than {MOST_BYTES // int(MIB)} MiB. Cut out the part with the tool's output and give that.")
    return page_of(raw, path)
