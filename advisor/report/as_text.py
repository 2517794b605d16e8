"""An answer for a terminal: 80 columns, the verdict first, tables and bars of plain characters."""

from collections.abc import Iterator
from itertools import zip_longest
from textwrap import wrap

from advisor.record import replace
from advisor.report.page import PICTURE, REST, Bar, Bars, Block, Chart, Facts, Forms, Listing, Page, Table, in_form

COLUMNS = 80
MOST_LINES = 72  # of a page that may leave something out
LABEL = 15
INDENT = "  "
FILLS = ("█", "▓", "▒")
FREE = "░"
LEAST_REST = 12


def _hanging(label: str, text: str) -> Iterator[str]:
    """A labelled sentence, its further lines under its first word."""
    first = f"{INDENT}{label:<{LABEL - 1}} "
    lines = wrap(text, COLUMNS, initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False, break_long_words=False)
    yield from lines or [first.rstrip()]


def _facts(block: Facts) -> Iterator[str]:
    for label, text in block.lines:
        yield from _hanging(label, text)


def _listing(block: Listing) -> Iterator[str]:
    """A URL and an id stay whole, so that they can be followed and asked for from the terminal."""
    yield f"{INDENT}{block.title}"
    for line in block.lines:
        if block.commands:
            yield f"{INDENT * 2}{line}"
        else:
            yield from wrap(line, COLUMNS, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)


def _table(block: Table) -> Iterator[str]:
    """The look of tabulate's "simple" without its import, which takes as long as weighing half the catalog."""
    if block.title:
        yield f"{INDENT}{block.title}"
    columns = [_wrapped(block, column, width) for column, width in enumerate(_widths(block))]
    cells = [[cell.splitlines() or [""] for cell in (header, *column)] for header, column in zip(block.headers, columns, strict=True)]
    room = [max(len(line) for cell in column for line in cell) for column in cells]
    for number, row in enumerate(zip(*cells, strict=True)):
        for line in zip_longest(*row, fillvalue=""):
            yield _aligned(line, room, block.right)
        if not number:
            yield _aligned(tuple("-" * width for width in room), room, ())


def _aligned(cells: tuple[str, ...], room: list[int], right: tuple[int, ...]) -> str:
    shown = (cell.rjust(room[column]) if column in right else cell.ljust(room[column]) for column, cell in enumerate(cells))
    return (INDENT + "  ".join(shown)).rstrip()


def _widths(block: Table) -> list[int | None]:
    """The most characters of each column; REST is what the others leave."""
    widths = list(block.widths or (None,) * len(block.headers))
    taken = len(INDENT) + sum(
        2 + max(len(line) for cell in (block.headers[column], *_wrapped(block, column, width)) for line in cell.splitlines() or [""])
        for column, width in enumerate(widths)
        if width != REST
    )
    return [max(LEAST_REST, COLUMNS - taken) if width == REST else width for width in widths]


def _wrapped(block: Table, column: int, width: int | None) -> list[str]:
    cells = [row[column] for row in block.rows]
    return ["\n".join(wrap(_breakable(cell, width), width, break_on_hyphens=False)) for cell in cells] if width else cells


def _breakable(cell: str, width: int) -> str:
    """A word too long for its column goes on behind its last slash: `llama.cpp/` over `vulkan,`."""
    return " ".join("/ ".join(word.rsplit("/", 1)) if word.rfind("/") < width < len(word) else word for word in cell.split(" "))


def _bars(block: Bars) -> Iterator[str]:
    """Bars share one scale; what is left of the room behind the labels and notes is theirs."""
    label = max(len(bar.label) for bar in block.bars)
    note = max(len(bar.note) for bar in block.bars)
    room = max(8, COLUMNS - len(INDENT) - label - note - 4)
    if block.title:
        yield f"{INDENT}{block.title}"
    for bar in block.bars:
        yield f"{INDENT}{bar.label:<{label}}  {_drawn(bar, block.most, room)}  {bar.note}".rstrip()


def _drawn(bar: Bar, most: float, room: int) -> str:
    """The parts of a bar one after another, rounded so that their ends are where they belong, then what it leaves of its room."""
    drawn, total = "", 0.0
    for index, (_, value) in enumerate(bar.parts):
        total += value
        end = min(room, round(room * total / most)) if most > 0 else 0
        drawn += FILLS[index % len(FILLS)] * (end - len(drawn))
    end = room if bar.room is None or most <= 0 else min(room, round(room * bar.room / most))
    return drawn.ljust(end, FREE).ljust(room)


_FORMS: Forms = {Facts: _facts, Listing: _listing, Table: _table, Bars: _bars}


def _only_elsewhere(block: Block) -> bool:
    """Pictures, and what stderr says."""
    if isinstance(block, Listing):
        return block.aside
    return isinstance(block, Chart) or (isinstance(block, Bars) and block.only == PICTURE)


def written(page: Page) -> str:
    """The page as lines of at most 80 columns (a command, a URL or an id that is longer stays whole), of one screen where it can."""
    lines = _lines(page)
    while len(lines) > MOST_LINES and (shorter := _shortened(page)) is not None:
        page, lines = shorter, _lines(shorter)
    return "\n".join(lines) + "\n"


def _lines(page: Page) -> list[str]:
    lines = wrap(page.headline, COLUMNS, break_on_hyphens=False)
    for block in page.blocks:
        if not _only_elsewhere(block):
            lines += ["", *in_form(block, _FORMS)]
    return lines


def _shortened(page: Page) -> Page | None:
    """The page with one thing less: the last line of the last list that may lose one, then what has a shorter form; None where nothing."""
    for place, block in reversed(tuple(enumerate(page.blocks))):
        if isinstance(block, Listing) and block.least is not None and len(block.lines) > block.least:
            kept = (replace(block, lines=block.lines[:-1]),) if len(block.lines) > 1 else ()
            return replace(page, blocks=(*page.blocks[:place], *kept, *page.blocks[place + 1 :]))
    for place, block in reversed(tuple(enumerate(page.blocks))):
        if isinstance(block, Facts) and block.shorter:
            return replace(page, blocks=(*page.blocks[:place], Facts(block.shorter), *page.blocks[place + 1 :]))
    return None
