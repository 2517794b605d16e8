"""Points and curves with axes: the budget, the wanted speed and the ceiling as lines, a legend of the rest."""

from collections.abc import Iterator

from advisor.report.page import Chart, Dot
from advisor.report.svg.axis import Axis, Logarithmic, of_counts, of_values, ticks
from advisor.report.svg.drawing import LINE, Frame, framed, label, legend, line, width_of
from advisor.report.svg.labels import Box, Spot, placed
from advisor.units import figure

LEADER_FROM = 1.5 * LINE  # words farther from their point than that are joined to it
LEGEND_GAP = 8


class _Scale:
    """From the numbers of a chart to its pixels."""

    def __init__(self, chart: Chart, frame: Frame) -> None:
        xs = [dot.x for dot in chart.dots] + ([chart.line_at_x[0]] if chart.line_at_x else [])
        ys = [dot.high if dot.high is not None else dot.y for dot in chart.dots] + ([chart.line_at_y[0]] if chart.line_at_y else [])
        ys += [y for _, y in chart.bound]
        self.left, self.right = frame.left, frame.width - frame.right
        self.top, self.bottom = frame.top, frame.height - frame.bottom
        self.x: Axis = of_values(xs, self.left, self.right)
        if chart.joined:
            self.x = of_counts(round(min(xs)), round(max(xs)), self.left + 16, self.right - 16)
        self.y = Axis(self.bottom, self.top, 0.0, ticks(max(ys))[-1])


def _axes(chart: Chart, scale: _Scale) -> Iterator[str]:
    for value in scale.y.ticks:
        yield line(scale.left, scale.y(value), scale.right, scale.y(value), "grid")
        yield label(scale.left - 8, scale.y(value) + 4, figure(value), "end")
    for value in scale.x.ticks:
        yield line(scale.x(value), scale.bottom, scale.x(value), scale.bottom + 5, "axis")
        yield label(scale.x(value), scale.bottom + 20, figure(value))
    yield line(scale.left, scale.bottom, scale.right, scale.bottom, "axis")
    how = " (logarithmic)" if isinstance(scale.x, Logarithmic) else ""
    yield label((scale.left + scale.right) / 2, scale.bottom + 40, chart.x_name + how)
    yield label(2, LINE - 3, chart.y_name, "start")


def _limit_words(chart: Chart, scale: _Scale, spots: list[Spot]) -> Iterator[tuple[Box, str]]:
    """What the budget and the wanted speed are called, and where: at that end of their line which is the freer."""
    bodies = [box for spot in spots for box in (spot.body(), spot.interval())]

    def free(boxes: tuple[Box, ...]) -> Box:
        inside = [box for box in boxes if scale.left <= box.left and box.right <= scale.right + 12 and box.bottom <= scale.bottom]
        return min(inside or boxes, key=lambda box: sum(map(box.meets, bodies)))

    if chart.line_at_x:
        at, name = chart.line_at_x
        words, x = f"{name} {figure(at)}", scale.x(at)
        wide = width_of(words)
        starts = ((left, top) for top in (scale.top, scale.bottom - LINE - 4) for left in (x + 6, x - 6 - wide))
        yield free(tuple(Box(left, left + wide, top, top + LINE) for left, top in starts)), words
    if chart.line_at_y:
        at, name = chart.line_at_y
        words, y = f"{name} {figure(at)}", scale.y(at)
        wide = width_of(words)
        beside = ((left, top) for top in (y - LINE - 2, y + 2) for left in (scale.right - wide, scale.left + 6))
        yield free(tuple(Box(left, left + wide, top, top + LINE) for left, top in beside)), words


def _limits(chart: Chart, scale: _Scale) -> Iterator[tuple[Box, str]]:
    """The lines of the budget and the wanted speed, and what they cover."""
    if chart.line_at_x:
        x = scale.x(chart.line_at_x[0])
        yield Box(x - 1, x + 1, scale.top, scale.bottom), line(x, scale.top, x, scale.bottom, "limit")
    if chart.line_at_y:
        y = scale.y(chart.line_at_y[0])
        yield Box(scale.left, scale.right, y - 1, y + 1), line(scale.left, y, scale.right, y, "limit")


def _spot(dot: Dot, scale: _Scale) -> Spot:
    y = scale.y(dot.y)
    return Spot(dot, scale.x(dot.x), y, y if dot.high is None else scale.y(dot.high), y if dot.low is None else scale.y(dot.low))


def _circle(spot: Spot) -> str:
    kind, radius = ("dot chosen", 7) if spot.dot.chosen else ("dot", 5)
    return f'<circle class="{kind}" cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{radius}"/>'


def _scatter(chart: Chart, scale: _Scale, frame: Frame) -> Iterator[str]:
    """Lines first, points on them, words on top."""
    spots = [_spot(dot, scale) for dot in chart.dots]
    limits, names = list(_limits(chart, scale)), list(_limit_words(chart, scale, spots))
    words = placed(spots, frame, (box for box, _ in names), (box for box, _ in limits))
    yield from (drawn for _, drawn in limits)
    for each in words:
        if each.moved > LEADER_FROM:
            middle, near = (each.box.top + each.box.bottom) / 2, min(max(each.spot.x, each.box.left), each.box.right)
            yield line(each.spot.x, each.spot.y, near, middle, "leader")
    yield from (line(spot.x, spot.high, spot.x, spot.low, "interval") for spot in spots if spot.high < spot.low)
    yield from map(_circle, spots)
    yield from (label(box.left, box.bottom - 4, name, "start", "note") for box, name in names)
    for each in words:
        yield label(each.x, each.y, each.words, "start", "label chosen" if each.spot.dot.chosen else "label")


def _curve(chart: Chart, scale: _Scale) -> Iterator[str]:
    """The points joined, over the band of their intervals, under the curve that nothing can pass."""
    spots = [_spot(dot, scale) for dot in chart.dots]
    band = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*((s.x, s.high) for s in spots), *((s.x, s.low) for s in reversed(spots))])
    path = " ".join(f"{spot.x:.1f},{spot.y:.1f}" for spot in spots)
    yield f'<polygon class="band" points="{band}"/><polyline class="curve" points="{path}"/>'
    if chart.bound:
        bound = " ".join(f"{scale.x(x):.1f},{scale.y(y):.1f}" for x, y in chart.bound)
        yield f'<polyline class="limit" fill="none" points="{bound}"/>'
    yield from map(_circle, spots)


def _entries(chart: Chart) -> Iterator[tuple[str, str]]:
    """What the signs mean."""
    with_interval = any(dot.high is not None and dot.low is not None and dot.low < dot.high for dot in chart.dots)
    if chart.joined:
        yield "curve", "estimate"
        if with_interval:
            yield "band", "80 % interval"
        if chart.bound:
            yield "limit", f"{chart.bound_name} ({figure(chart.bound[-1][1])} at {figure(chart.bound[-1][0])})"
        return
    if any(dot.chosen for dot in chart.dots):
        yield "dot chosen", "the answer"
        yield "dot", "other roads"
    if with_interval:
        yield "interval", "80 % interval"


def chart(drawn: Chart, name: str, frame: Frame) -> str:
    """Points or a curve; `name` makes its ids unique in the page."""
    scale = _Scale(drawn, frame)
    parts = list(_axes(drawn, scale))
    parts += _curve(drawn, scale) if drawn.joined else _scatter(drawn, scale, frame)
    signs, end = legend(_entries(drawn), frame, frame.height + LEGEND_GAP)
    said = "; ".join(f"{dot.label}: {figure(dot.x)} {drawn.x_name}, {figure(dot.y)} {drawn.y_name}" for dot in drawn.dots)
    return framed(frame, end + LEGEND_GAP, name, drawn.title, said, [*parts, *signs])
