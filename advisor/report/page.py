"""What an answer shows, before it has a form: a headline, labelled lines, tables, bars, charts. Each form draws these."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from advisor.reason import Reason
from advisor.record import dataclass
from advisor.report.sentences import text
from advisor.units import figure, show


@dataclass(frozen=True)
class Facts:
    """Labelled sentences; an empty label goes on with the one before. `shorter` stands in their place where a page has no room."""

    lines: tuple[tuple[str, str], ...]
    shorter: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Listing:
    """Sentences under a title; commands are shown as they are typed. `aside`: on a terminal stderr has said it already.

    `least`: so many lines stay where a page has no room for all; None: all do.
    """

    title: str
    lines: tuple[str, ...]
    commands: bool = False
    aside: bool = False
    least: int | None = None


REST = 0
PICTURE, PLAIN = "picture", "plain"


@dataclass(frozen=True)
class Table:
    """Rows under headers; `right` are the columns of numbers.

    `widths` are the most characters of each column in text: None as many as there are, REST (one column) what the others leave.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    widths: tuple[int | None, ...] = ()
    right: tuple[int, ...] = ()
    chosen: tuple[int, ...] = ()  # the rows that the answer takes


@dataclass(frozen=True)
class Bar:
    """One bar: its parts (name, value), what is written behind it, and how long it could be (None: nothing bounds it)."""

    label: str
    parts: tuple[tuple[str, float], ...]
    note: str
    room: float | None = None


@dataclass(frozen=True)
class Bars:
    """Bars on one scale: `most` is its length, in `unit`; `rest` names what a bar leaves of its room.

    `only`: PICTURE for forms that draw pictures alone, PLAIN for those that do not.
    """

    title: str
    bars: tuple[Bar, ...]
    most: float
    unit: str
    rest: str = ""
    only: str = ""


@dataclass(frozen=True)
class Dot:
    """One point of a scatter or a curve."""

    label: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    chosen: bool = False


@dataclass(frozen=True)
class Chart:
    """Points with axes, drawn where pictures are possible; the same numbers stand in a table of the page."""

    title: str
    dots: tuple[Dot, ...]
    x_name: str
    y_name: str
    line_at_x: tuple[float, str] | None = None  # a vertical line: the budget
    line_at_y: tuple[float, str] | None = None  # a horizontal line: the wanted speed, a ceiling
    joined: bool = False
    bound: tuple[tuple[float, float], ...] = ()  # (x, y) of the curve that nothing can pass
    bound_name: str = ""
    note: str = ""  # what could not be drawn, and why


Block = Facts | Listing | Table | Bars | Chart
Forms = Mapping[type, Callable[[Any], Iterator[str]]]


def in_form(block: Block, forms: Forms) -> Iterator[str]:
    """The lines of a block; none where the form does not draw its kind."""
    draw = forms.get(type(block))
    return draw(block) if draw else iter(())


@dataclass(frozen=True)
class Page:
    """The answer: its first line, the word of it that carries the verdict, and the blocks below."""

    headline: str
    verdict: str
    blocks: tuple[Block, ...]


def shown(name: str, value: float | None, missing: str = "–") -> str:
    """A number with the unit of its name; a dash where it is unknown."""
    return missing if value is None else show(name, value)


def bare(value: float | None) -> str:
    """A number without a unit, for a column whose header names it."""
    return "–" if value is None else figure(value)


def dollars(value: float | None) -> str:
    """Dollars for a column."""
    return "–" if value is None else show("x_usd", value)


def sentences(claims: Iterable[Reason]) -> tuple[str, ...]:
    """The sentences of claims, each once."""
    return tuple(dict.fromkeys(text(claim) for claim in claims))
