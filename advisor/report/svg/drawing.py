"""What every picture is made of: words, lines, a legend, and the frame that names it for who cannot see it."""

from collections.abc import Iterable
from html import escape

from advisor.record import dataclass

CHARACTER = 7.2  # width of an average character at the labels' size, in a wide font
LINE = 15
MARGIN = 10
SWATCH, SWATCH_GAP, ENTRY_GAP = 12, 6, 18
SERIES = 6


@dataclass(frozen=True)
class Frame:
    """The size of a picture in pixels, and what its axes leave of it."""

    kind: str  # wide | narrow: the CSS class that shows one of the two
    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int


WIDE = Frame("wide", 680, 400, 56, 30, 30, 52)
NARROW = Frame("narrow", 360, 360, 48, 26, 30, 52)
FRAMES = (WIDE, NARROW)


def width_of(words: str) -> float:
    """About how wide words are drawn."""
    return len(words) * CHARACTER


def cut(words: str, room: float) -> str:
    """Words that fit, their end left out if need be."""
    most = int(room / CHARACTER + 1e-6)
    return words if len(words) <= most else words[: max(1, most - 1)] + "…"


def label(x: float, y: float, words: str, anchor: str = "middle", kind: str = "tick") -> str:
    """Words at a place."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def swatch(kind: str, x: float, y: float) -> str:
    """The sign of a legend's entry: a square of a series, a dot, a stretch of a line."""
    middle = y + SWATCH / 2
    if kind.startswith("dot"):
        return f'<circle class="{kind}" cx="{x + SWATCH / 2:.1f}" cy="{middle:.1f}" r="{6 if "chosen" in kind else 5}"/>'
    if kind == "interval":
        return line(x + SWATCH / 2, y - 1, x + SWATCH / 2, y + SWATCH + 1, kind)
    if kind in ("limit", "curve"):
        return line(x - 2, middle, x + SWATCH + 2, middle, kind)
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{SWATCH}" height="{SWATCH}"/>'


def legend(entries: Iterable[tuple[str, str]], frame: Frame, top: float) -> tuple[list[str], float]:
    """(kind, words) one after another over as many lines as they need; also where they end."""
    drawn: list[str] = []
    x, y = float(MARGIN), top
    for kind, said in entries:
        words = cut(said, frame.width - 2 * (SWATCH + SWATCH_GAP + MARGIN))
        wide = SWATCH + SWATCH_GAP + width_of(words)
        if x > MARGIN and x + wide > frame.width:
            x, y = float(MARGIN), y + LINE + 4
        drawn += [swatch(kind, x, y), label(x + SWATCH + SWATCH_GAP, y + 11, words, "start", "note")]
        x += wide + ENTRY_GAP
    return drawn, y + SWATCH


def framed(frame: Frame, height: float, name: str, title: str, said: str, inside: Iterable[str]) -> str:
    """The picture with its title and its numbers in words; `name` makes its ids unique in the page."""
    own = f"{name}-{frame.kind}"
    return (
        f'<svg class="{frame.kind}" viewBox="0 0 {frame.width} {height:.0f}" role="img" aria-labelledby="{own}-t {own}-d">'
        f'<title id="{own}-t">{escape(title)}</title><desc id="{own}-d">{escape(said)}</desc>{"".join(inside)}</svg>'
    )
