"""Stacked bars on one scale, with a legend: the name before each bar, or above it where the page is narrow."""

from collections.abc import Iterator
from html import escape

from advisor.record import dataclass
from advisor.report.page import Bar, Bars
from advisor.report.svg.drawing import LINE, MARGIN, NARROW, SERIES, Frame, cut, framed, label, legend, line, width_of
from advisor.units import figure

BAR, GAP = 22, 14
MOST_LABEL_SHARE = 0.4


@dataclass(frozen=True)
class _Room:
    """Where the bars lie: from `left` on, `wide` for the whole scale, each as high as `pitch` with its words."""

    left: float
    wide: float
    pitch: float
    above: float  # what the words above a bar take


def _room(drawn: Bars, frame: Frame) -> _Room:
    if frame is NARROW:
        return _Room(MARGIN, frame.width - 2 * MARGIN, BAR + LINE + GAP, LINE + 2)
    labels = min(MOST_LABEL_SHARE * frame.width, max(width_of(bar.label) for bar in drawn.bars))
    notes = max(width_of(bar.note) for bar in drawn.bars)
    left = MARGIN + labels + MARGIN
    return _Room(left, frame.width - left - 2 * MARGIN - notes, BAR + GAP, 0.0)


def part_names(drawn: Bars) -> tuple[str, ...]:
    """What the bars are made of, in the order in which each bar has them."""
    names: list[str] = []
    for bar in drawn.bars:
        at = 0
        for name, _ in bar.parts:
            if name in names:
                at = names.index(name) + 1
            else:
                names.insert(at, name)
                at += 1
    return tuple(names)


def _words(bar: Bar, room: _Room, top: float, frame: Frame) -> Iterator[str]:
    if room.above:
        most = room.wide - width_of(bar.note) - MARGIN
        yield label(room.left, top + LINE - 4, cut(bar.label, most), "start", "label")
        yield label(room.left + room.wide, top + LINE - 4, bar.note, "end", "label")
    else:
        yield label(room.left - MARGIN, top + BAR * 0.7, cut(bar.label, room.left - 2 * MARGIN), "end", "label")
        yield label(room.left + room.wide + MARGIN, top + BAR * 0.7, bar.note, "start", "label")


def _stack(drawn: Bars, index: int, room: _Room, frame: Frame) -> Iterator[str]:
    bar, names = drawn.bars[index], part_names(drawn)
    scale = room.wide / drawn.most if drawn.most > 0 else 0.0
    top = GAP + index * room.pitch
    yield from _words(bar, room, top, frame)
    top += room.above
    if bar.room is not None:
        yield f'<rect class="free" x="{room.left:.1f}" y="{top}" width="{scale * bar.room:.1f}" height="{BAR}"/>'
    start = room.left
    for name, value in bar.parts:
        wide = max(0.0, scale * value)
        hint = f"<title>{escape(name)}: {figure(value)} {escape(drawn.unit)}</title>"
        series = names.index(name) % SERIES
        yield f'<rect class="s{series}" x="{start:.1f}" y="{top}" width="{wide:.1f}" height="{BAR}">{hint}</rect>'
        start += wide
    if bar.room is not None:
        end = room.left + scale * bar.room
        yield line(end, top - 3, end, top + BAR + 3, "end")


def bars(drawn: Bars, name: str, frame: Frame) -> str:
    """Stacked bars; `name` makes its ids unique in the page."""
    names, room = part_names(drawn), _room(drawn, frame)
    parts = [each for index in range(len(drawn.bars)) for each in _stack(drawn, index, room, frame)]
    entries = [(f"s{index % SERIES}", each) for index, each in enumerate(names)]
    entries += [("free", drawn.rest)] if drawn.rest else []
    end = GAP + len(drawn.bars) * room.pitch
    if len(entries) > 1:
        signs, end = legend(entries, frame, end)
        parts, end = [*parts, *signs], end + GAP / 2
    said = "; ".join(f"{bar.label}: {', '.join(f'{part} {figure(value)}' for part, value in bar.parts)} {drawn.unit}" for bar in drawn.bars)
    return framed(frame, end, name, drawn.title, said, parts)
