"""Where the words of points stand: beside their point, on nothing else, joined to it by a thin line where they had to move away."""

from collections.abc import Iterable, Iterator
from functools import partial

from advisor.record import dataclass
from advisor.report.page import Dot
from advisor.report.svg.drawing import LINE, Frame, cut, width_of

GAP = 10  # from a point to its words
STEPS = 14  # lines up or down that words may move
ASIDE = (0, 40, 90)  # pixels further to a side
RADIUS = 8
BOLD = 1.12  # how much wider the words of the chosen point are
# What it costs to lie on something, in pixels that words would rather move.
ON_WORDS, ON_POINT, ON_LINE = 1e6, 2_000.0, 40.0


@dataclass(frozen=True)
class Box:
    """A rectangle of the picture."""

    left: float
    right: float
    top: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Whether the two share any place."""
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True)
class Spot:
    """A point in pixels, with the ends of its interval, and what is written beside it."""

    dot: Dot
    x: float
    y: float
    high: float
    low: float

    def body(self) -> Box:
        """The point itself."""
        return Box(self.x - RADIUS, self.x + RADIUS, self.y - RADIUS, self.y + RADIUS)

    def interval(self) -> Box:
        """The line of its interval."""
        return Box(self.x - 1, self.x + 1, self.high, self.low)


@dataclass(frozen=True)
class Placed:
    """Words at their place: `x`, `y` of the baseline's start, and how far from their point they are."""

    spot: Spot
    words: str
    box: Box
    moved: float

    @property
    def x(self) -> float:
        """Where the words begin."""
        return self.box.left

    @property
    def y(self) -> float:
        """Their baseline."""
        return self.box.bottom - 4


def _box(left: float, wide: float, middle: float) -> Box:
    return Box(left, left + wide, middle - LINE / 2, middle + LINE / 2)


def _places(spot: Spot, wide: float, frame: Frame) -> Iterator[tuple[Box, float]]:
    """Each place that is inside the axes: the box, and how far it is from the point."""
    for lines in range(-STEPS, STEPS + 1):
        right = ((spot.x + GAP + far, far) for far in ASIDE)
        sides = (*right, *((spot.x - GAP - wide - far, far + 2) for far in ASIDE), *([(spot.x - wide / 2, 4)] if lines else []))
        for left, cost in sides:
            box = _box(left, wide, spot.y + lines * LINE)
            level = frame.top - LINE < box.top and box.bottom < frame.height - frame.bottom
            if level and frame.left < box.left and box.right < frame.width:
                yield box, abs(lines) * LINE + cost


def placed(spots: Iterable[Spot], frame: Frame, words: Iterable[Box], lines: Iterable[Box]) -> list[Placed]:
    """Each label at the cheapest place; the chosen point's first. `words` are other words of the picture, `lines` its other lines."""
    spots = sorted(spots, key=lambda spot: (not spot.dot.chosen, spot.y, spot.x))
    taken, lines = list(words), list(lines)
    found: list[Placed] = []

    def cost(spot: Spot, place: tuple[Box, float]) -> float:
        box, moved = place
        points = sum(box.meets(other.body()) for other in spots)
        way = Box(min(box.left, spot.x), max(box.right, spot.x), box.top, box.bottom)  # words across the budget's line mislead
        crossed = sum(map(way.meets, lines)) + sum(way.meets(other.interval()) for other in spots if other is not spot)
        return moved + ON_WORDS * sum(map(box.meets, taken)) + ON_POINT * points + ON_LINE * crossed

    for spot in spots:
        said = cut(spot.dot.label, (frame.width - frame.left) * 0.7)
        wide = width_of(said) * (BOLD if spot.dot.chosen else 1)
        best = min(_places(spot, wide, frame), key=partial(cost, spot), default=None)
        if best and cost(spot, best) < ON_WORDS:  # in a crowd the table behind the picture must do
            box, moved = best
            taken.append(box)
            found.append(Placed(spot, said, box, moved))
    return found
