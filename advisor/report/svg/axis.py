"""From numbers to pixels: round ticks, and a logarithm where one far value would press the others together."""

import math
from collections.abc import Iterable

from advisor.report.svg.drawing import width_of
from advisor.units import figure

TICKS = 5
LOGARITHM_FROM = 6  # times the middle value that the largest must be, for all others not to stand in a corner
LEAST_GAP = 12  # pixels between the words of two ticks


def step(span: float) -> float:
    """A round step – 1, 2 or 5 times a power of ten – that cuts the span into about five."""
    if span <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / TICKS))
    return next(power * each for each in (1, 2, 5, 10) if span / (power * each) <= TICKS)


def ticks(most: float) -> list[float]:
    """Round values from 0 to the first that covers `most`."""
    each = step(most)
    return [each * index for index in range(math.ceil(most / each - 1e-9) + 1)]


class Axis:
    """Pixels of values from `start` (of `low`) to `end`."""

    def __init__(self, start: float, end: float, low: float, most: float) -> None:
        self.start, self.end, self.low, self.most = start, end, low, most
        self.ticks = [value for value in ticks(most) if low <= value <= most * (1 + 1e-9)]

    def __call__(self, value: float) -> float:
        return self.start + (self.end - self.start) * (value - self.low) / (self.most - self.low)


class Logarithmic(Axis):
    """Pixels of ln(1 + value / unit), for values from 0 on: what is below the unit lies close to nothing."""

    def __init__(self, start: float, end: float, unit: float, most: float) -> None:
        super().__init__(start, end, 0.0, most)
        self.unit = unit
        self.ticks = self._apart()

    def __call__(self, value: float) -> float:
        return self.start + (self.end - self.start) * math.log1p(value / self.unit) / math.log1p(self.most / self.unit)

    def _apart(self) -> list[float]:
        """0 and the powers of ten, then their halves and fifths, as far as the words have room."""
        powers = range(math.floor(math.log10(self.unit)), math.ceil(math.log10(self.most)) + 1)
        found: list[float] = [0.0]
        for times in (1, 5, 2):
            for value in (times * 10.0**power for power in powers):
                if value <= self.most and all(self._clear(value, other) for other in found):
                    found.append(value)
        return sorted(found)

    def _clear(self, value: float, other: float) -> bool:
        room = (width_of(figure(value)) + width_of(figure(other))) / 2 + LEAST_GAP
        return abs(self(value) - self(other)) >= room


def of_values(values: Iterable[float], start: float, end: float) -> Axis:
    """The axis on which these values can be told apart."""
    given = sorted(value for value in values if value > 0)
    most = given[-1] if given else 1.0
    if given and most > LOGARITHM_FROM * given[len(given) // 2]:
        return Logarithmic(start, end, given[0], 1.05 * most)
    return Axis(start, end, 0.0, ticks(most)[-1])


def of_counts(least: int, most: int, start: float, end: float) -> Axis:
    """The axis of numbers of things: whole ones only, from the first to the last."""
    axis = Axis(start, end, float(least), float(max(most, least + 1)))
    each = max(1, round(step(most - least)))
    axis.ticks = [float(value) for value in range(least, most + 1) if value == least or not value % each]
    return axis
