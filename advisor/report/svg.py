"""Charts as SVG: points and curves with axes, stacked bars. Colours are CSS variables, so that they follow light and dark."""

import math
from collections.abc import Iterable, Iterator
from html import escape

from advisor.report.page import Bars, Chart, Dot
from advisor.units import figure

WIDTH, HEIGHT = 680, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 20, 52
BAR, GAP, LABEL_WIDTH, NOTE_WIDTH = 22, 14, 190, 130
TICKS = 5
CHARACTER = 6.6  # width of an average character at the labels' size
LINE = 15
SERIES = 6


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


class _Scale:
    """From the numbers of a chart to its pixels."""

    def __init__(self, chart: Chart) -> None:
        xs = [dot.x for dot in chart.dots] + ([chart.line_at_x[0]] if chart.line_at_x else [])
        ys = [dot.high if dot.high is not None else dot.y for dot in chart.dots] + ([chart.line_at_y[0]] if chart.line_at_y else [])
        ys += [y for _, y in chart.bound]
        self.x_ticks, self.y_ticks = ticks(max(xs) or 1.0), ticks(max(ys) or 1.0)

    def x(self, value: float) -> float:
        """Pixels from the left."""
        return LEFT + (WIDTH - LEFT - RIGHT) * value / self.x_ticks[-1]

    def y(self, value: float) -> float:
        """Pixels from the top."""
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.y_ticks[-1]


def _text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "tick") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _axes(chart: Chart, scale: _Scale) -> Iterator[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for value in scale.y_ticks:
        yield _line(LEFT, scale.y(value), right, scale.y(value), "grid")
        yield _text(LEFT - 8, scale.y(value) + 4, figure(value), "end")
    for value in scale.x_ticks:
        yield _line(scale.x(value), bottom, scale.x(value), bottom + 5, "axis")
        yield _text(scale.x(value), bottom + 20, figure(value))
    yield _line(LEFT, bottom, right, bottom, "axis")
    yield _text((LEFT + right) / 2, HEIGHT - 10, chart.x_name)
    middle = (TOP + bottom) / 2
    yield f'<text class="tick" text-anchor="middle" transform="translate(16 {middle}) rotate(-90)">{escape(chart.y_name)}</text>'


def _limits(chart: Chart, scale: _Scale) -> Iterator[str]:
    """The budget, the wanted speed, the ceiling."""
    if chart.line_at_x:
        at, words = chart.line_at_x
        late = scale.x(at) > WIDTH * 0.7
        yield _line(scale.x(at), TOP, scale.x(at), HEIGHT - BOTTOM, "limit")
        yield _text(scale.x(at) + (-6 if late else 6), TOP + 12, f"{words} {figure(at)}", "end" if late else "start", "note")
    if chart.line_at_y:
        at, words = chart.line_at_y
        yield _line(LEFT, scale.y(at), WIDTH - RIGHT, scale.y(at), "limit")
        start, _, y = _note(chart, scale)
        yield _text(start, y, f"{words} {figure(at)}", "start", "note")


def _note(chart: Chart, scale: _Scale) -> tuple[float, float, float]:
    """Where the words of the wanted speed stand, (from, to, y): at the right end of their line, at the left where points are there."""
    at, words = chart.line_at_y or (0.0, "")
    y, wide = scale.y(at) - 6, CHARACTER * (len(words) + 1 + len(figure(at)))
    ends = ((WIDTH - RIGHT - wide, WIDTH - RIGHT), (LEFT + 6, LEFT + 6 + wide))

    def points(span: tuple[float, float]) -> int:
        return sum(span[0] - 24 < scale.x(dot.x) < span[1] + 24 and scale.y(dot.high or dot.y) - 8 < y < scale.y(dot.low or dot.y) + 16
                   for dot in chart.dots)  # fmt: skip

    return (*min(ends, key=points), y)


def _bound(chart: Chart, scale: _Scale) -> Iterator[str]:
    """The curve that nothing can pass, named at its end."""
    if not chart.bound:
        return
    path = " ".join(f"{scale.x(x):.1f},{scale.y(y):.1f}" for x, y in chart.bound)
    x, y = chart.bound[-1]
    yield f'<polyline class="limit" fill="none" points="{path}"/>'
    yield _text(scale.x(x) - 6, scale.y(y) - 8, f"{chart.bound_name} {figure(y)}", "end", "note")


def _curve(dots: tuple[Dot, ...], scale: _Scale) -> Iterator[str]:
    """The points joined, over the band of their intervals."""
    upper = [(scale.x(dot.x), scale.y(dot.high)) for dot in dots if dot.high is not None]
    lower = [(scale.x(dot.x), scale.y(dot.low)) for dot in dots if dot.low is not None]
    band = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*upper, *reversed(lower)])
    path = " ".join(f"{scale.x(dot.x):.1f},{scale.y(dot.y):.1f}" for dot in dots)
    yield f'<polygon class="band" points="{band}"/><polyline class="curve" points="{path}"/>'


def _placed(dots: Iterable[Dot], scale: _Scale, reserved: list[tuple[float, float, float]]) -> Iterator[tuple[Dot, float, float, str]]:
    """Each label beside its point, moved down until it lies on no other, on no point and on nothing `reserved`."""
    taken = [(scale.x(dot.x) - 7, scale.x(dot.x) + 7, scale.y(dot.y) + 4) for dot in dots] + reserved
    for dot in sorted(dots, key=lambda dot: (scale.y(dot.y), dot.x)):
        wide = len(dot.label) * CHARACTER
        x, y = scale.x(dot.x), scale.y(dot.y)
        left_side = x + 10 + wide > WIDTH - RIGHT
        start = x - 10 - wide if left_side else x + 10
        at = y + 4
        while any(abs(at - other) < LINE and start < end and begin < start + wide for begin, end, other in taken):
            at += LINE
        taken.append((start, start + wide, at))
        yield dot, x - 10 if left_side else x + 10, at, "end" if left_side else "start"


def _points(chart: Chart, scale: _Scale) -> Iterator[str]:
    for dot, label_x, label_y, anchor in _placed(chart.dots, scale, [_note(chart, scale)] if chart.line_at_y else []):
        x, y = scale.x(dot.x), scale.y(dot.y)
        if dot.low is not None and dot.high is not None and not chart.joined:
            yield _line(x, scale.y(dot.low), x, scale.y(dot.high), "interval")
        yield f'<circle class="{"dot chosen" if dot.chosen else "dot"}" cx="{x:.1f}" cy="{y:.1f}" r="{7 if dot.chosen else 5}"/>'
        if not chart.joined:
            yield _text(label_x, label_y, dot.label, anchor, "label chosen" if dot.chosen else "label")


def _framed(name: str, title: str, said: str, width: int, height: int, inside: Iterable[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(said)}</desc>{"".join(inside)}</svg>'
    )


def chart(drawn: Chart, name: str) -> str:
    """Points or a curve; `name` makes its ids unique in the page."""
    scale = _Scale(drawn)
    parts = [*_axes(drawn, scale), *_limits(drawn, scale), *_bound(drawn, scale)]
    parts += _curve(drawn.dots, scale) if drawn.joined else ()
    parts += _points(drawn, scale)
    said = "; ".join(f"{dot.label}: {figure(dot.x)} {drawn.x_name}, {figure(dot.y)} {drawn.y_name}" for dot in drawn.dots)
    return _framed(name, drawn.title, said, WIDTH, HEIGHT, parts)


def part_names(drawn: Bars) -> tuple[str, ...]:
    """What the bars are made of, in order."""
    return tuple(dict.fromkeys(name for bar in drawn.bars for name, _ in bar.parts))


def _stack(drawn: Bars, index: int) -> Iterator[str]:
    bar, names = drawn.bars[index], part_names(drawn)
    top, room = GAP + index * (BAR + GAP), WIDTH - LABEL_WIDTH - NOTE_WIDTH
    yield _text(LABEL_WIDTH - 10, top + BAR * 0.7, bar.label, "end", "label")
    yield f'<rect class="free" x="{LABEL_WIDTH}" y="{top}" width="{room}" height="{BAR}"/>'
    start = float(LABEL_WIDTH)
    for name, value in bar.parts:
        wide = room * value / drawn.most if drawn.most > 0 else 0.0
        hint = f"<title>{escape(name)}: {figure(value)} {escape(drawn.unit)}</title>"
        series = names.index(name) % SERIES
        yield f'<rect class="s{series}" x="{start:.1f}" y="{top}" width="{max(0.0, wide):.1f}" height="{BAR}">{hint}</rect>'
        start += wide
    yield _text(LABEL_WIDTH + room + 10, top + BAR * 0.7, bar.note, "start", "label")


def _legend(names: tuple[str, ...], top: int) -> Iterator[str]:
    x = 10.0
    for index, name in enumerate(names):
        yield f'<rect class="s{index % SERIES}" x="{x:.1f}" y="{top}" width="12" height="12"/>'
        yield _text(x + 18, top + 11, name, "start", "note")
        x += 34 + len(name) * CHARACTER


def bars(drawn: Bars, name: str) -> str:
    """Stacked bars with a legend."""
    names = part_names(drawn)
    height = len(drawn.bars) * (BAR + GAP) + GAP + 26
    parts = [each for index in range(len(drawn.bars)) for each in _stack(drawn, index)]
    parts += _legend(names, height - 22)
    said = "; ".join(f"{bar.label}: {', '.join(f'{part} {figure(value)}' for part, value in bar.parts)} {drawn.unit}" for bar in drawn.bars)
    return _framed(name, drawn.title, said, WIDTH, height, parts)
