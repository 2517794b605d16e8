"""Text within text: a tool's output behind the marks that a log or a pager puts before each line, or kept as a string in JSON."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from advisor.intake.page import Page, page_of

MOST_INNER_TEXTS, MOST_INNER_CHARS = 200, 500_000  # of all texts within one wrapper
MOST_MARKED_LINES = 4_000
LEAST_LINES = 3  # of a text kept in JSON
NEARLY_ALL = 0.9  # share of the lines that bear a mark
_MARKS = tuple(
    re.compile(pattern)
    for pattern in (
        r"[\w./-]{1,64}\s*\| ?(?=[|+=\S ])",  # docker compose: `vllm-1  | `
        r"[A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d \S{1,64} [\w./@-]{1,64}(?:\[\d{1,8}\])?: ?",  # journalctl, syslog
        r"(?:\d{4}-\d\d-\d\dT\S{1,40} )?\S{1,64} [\w./@-]{1,64}\[\d{1,8}\]: ?",  # the same with ISO time
        r"\[ *\d{1,8}\.\d{6}\] ?",  # dmesg
        r"\[[\w./-]{1,200}\] ?",  # kubectl logs --prefix
        r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?(?: -| \||:)? ?",  # time of day
    )
)
_NUMBER = re.compile(r"[ \t]*(\d{1,6})(?:[:.)]|\t| ?\|)? ?")


def within(page: Page) -> tuple[Page, ...]:
    """The texts inside of a page whose own text says nothing."""
    return (*unmarked(page), *inner_texts(page))


def unmarked(page: Page) -> tuple[Page, ...]:
    """The page without the marks before its lines, where it has some."""
    bare = _unmarked(page.lines)
    return (page_of("\n".join(bare), page.source),) if bare else ()


def inner_texts(page: Page) -> Iterator[Page]:
    """Console output kept inside JSON, as a string or as a list of lines."""
    found = chars = 0
    for one in page.objects[:2000]:
        for text in _texts(one, 0):
            found, chars = found + 1, chars + len(text)
            if found > MOST_INNER_TEXTS or chars > MOST_INNER_CHARS:
                return
            yield page_of(text, page.source)


def _texts(one: Any, depth: int) -> Iterator[str]:
    """Strings of several lines within an object, and lists of lines."""
    if isinstance(one, str) and one.count("\n") >= LEAST_LINES - 1:
        yield one
    elif isinstance(one, list) and len(one) >= LEAST_LINES and all(isinstance(line, str) for line in one[:MOST_MARKED_LINES]):
        yield "\n".join(one[:MOST_MARKED_LINES])
    elif depth < 5 and isinstance(one, dict | list):
        for value in list(one.values() if isinstance(one, dict) else one)[:500]:
            yield from _texts(value, depth + 1)


def _unmarked(lines: Sequence[str]) -> list[str] | None:
    """The lines without the mark that nearly all of them bear; None where there is none."""
    full = [line for line in lines[:MOST_MARKED_LINES] if line.strip()]
    for mark in _MARKS:
        marked = [mark.match(line) for line in full]
        if full and sum(found is not None for found in marked) >= NEARLY_ALL * len(full):
            return [mark.sub("", line, count=1) if mark.match(line) else line for line in lines]
    return _unnumbered(lines, full) if len(full) > 1 else None


def _unnumbered(lines: Sequence[str], full: Sequence[str]) -> list[str] | None:
    """The lines without their numbers, or without the same words before each."""
    numbers = [int(found.group(1)) for line in full if (found := _NUMBER.match(line))]
    if len(numbers) >= NEARLY_ALL * len(full) and sum(b == a + 1 for a, b in pairwise(numbers)) >= NEARLY_ALL * (len(full) - 1):
        return [_NUMBER.sub("", line, count=1) for line in lines]
    common = re.sub(r"(?:\w+|\|)$", "", os.path.commonprefix(full))  # begun words and the bar of a table stay
    return [line[len(common) :] for line in lines] if common.strip() else None
