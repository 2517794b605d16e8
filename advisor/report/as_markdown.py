"""An answer as Markdown: for an issue, a forum post, a wiki."""

import re
from collections.abc import Iterator

from advisor.report.page import PICTURE, Bars, Chart, Facts, Forms, Listing, Page, Table, in_form
from advisor.units import figure

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")


def _escaped(text: str) -> str:
    """Names are data: no character of theirs starts Markdown."""
    return _SPECIAL.sub(r"\\\1", text).replace("\n", " ")


def _facts(block: Facts) -> Iterator[str]:
    for label, text in block.lines:
        yield f"- **{_escaped(label)}:** {_escaped(text)}" if label else f"  {_escaped(text)}"


def _listing(block: Listing) -> Iterator[str]:
    yield from (f"**{_escaped(block.title)}**", "")
    if block.commands:
        yield from ("```sh", *block.lines, "```")
    else:
        yield from (f"- {_escaped(line)}" for line in block.lines)


def _rows(headers: tuple[str, ...], rows: tuple[tuple[str, ...], ...], right: tuple[int, ...]) -> Iterator[str]:
    yield f"| {' | '.join(map(_escaped, headers))} |"
    yield f"|{'|'.join('---:' if column in right else '---' for column in range(len(headers)))}|"
    yield from (f"| {' | '.join(map(_escaped, row))} |" for row in rows)


def _table(block: Table) -> Iterator[str]:
    if block.title:
        yield from (f"**{_escaped(block.title)}**", "")
    yield from _rows(block.headers, block.rows, block.right)


def _bars(block: Bars) -> Iterator[str]:
    """The bars' numbers as a table."""
    names = tuple(dict.fromkeys(name for bar in block.bars for name, _ in bar.parts))
    rows = tuple((bar.label, *(figure(dict(bar.parts).get(name, 0.0)) for name in names), bar.note) for bar in block.bars)
    yield from (f"**{_escaped(block.title)}**", "")
    yield from _rows(("", *(f"{name}, {block.unit}" for name in names), ""), rows, tuple(range(1, len(names) + 1)))


_FORMS: Forms = {Facts: _facts, Listing: _listing, Table: _table, Bars: _bars}


def written(page: Page) -> str:
    """The page as Markdown."""
    lines = [f"**{_escaped(page.headline)}**"]
    for block in page.blocks:
        if not (isinstance(block, Chart) or (isinstance(block, Bars) and block.only == PICTURE)):
            lines += ["", *in_form(block, _FORMS)]
    return "\n".join(lines) + "\n"
