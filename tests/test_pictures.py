"""Charts: axes that tell points apart, words that lie on nothing, bars as long as their numbers."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.report import as_text
from advisor.report.page import Bar, Bars, Chart, Dot, Page
from advisor.report.svg.axis import LEAST_GAP, Logarithmic, of_counts, of_values
from advisor.report.svg.bars import bars, part_names
from advisor.report.svg.chart import chart
from advisor.report.svg.drawing import FRAMES, NARROW, WIDE, cut, legend
from advisor.report.svg.labels import Box, Spot, placed


def test_one_far_value_does_not_press_the_others_together():
    """102,500 is 20 times the middle of 2,320, 2,440, 5,150, 10,356 and itself: on a straight axis the first two share 0.1 % of it."""
    prices = [2_320, 2_440, 5_150, 10_356, 102_500]
    axis = of_values(prices, 64, 650)
    assert isinstance(axis, Logarithmic)
    places = [axis(price) for price in prices]
    assert places == sorted(places)
    assert axis(5_150) - axis(2_440) > 60
    assert axis(0) == 64
    assert not isinstance(of_values(prices[:4], 64, 650), Logarithmic), "4.2 times the middle: a straight axis tells them apart"


@given(st.lists(st.floats(1, 1e7), min_size=1, max_size=9), st.sampled_from(FRAMES))
def test_every_value_lies_on_its_axis_and_its_ticks_have_room(values, frame):
    axis = of_values(values, frame.left, frame.width - frame.right)
    for value in (0.0, *values, *axis.ticks):
        assert frame.left - 1e-6 <= axis(value) <= frame.width - frame.right + 1e-6
    places = [axis(tick) for tick in axis.ticks]
    assert len(places) > 1
    assert all(after - before > LEAST_GAP for before, after in zip(places, places[1:], strict=False))


def test_devices_are_counted_in_whole_numbers():
    assert of_counts(1, 4, 0, 100).ticks == [1, 2, 3, 4]
    assert of_counts(2, 16, 0, 100).ticks == [2, 5, 10, 15]
    assert of_counts(1, 1, 0, 100)(1) == 0


def spots_of(points, frame):
    """Points on a plane of 100 by 100, the first of them chosen."""
    wide, high = frame.width - frame.left - frame.right, frame.height - frame.top - frame.bottom
    return [
        Spot(Dot(f"a road of {number}", x, y, chosen=not number), frame.left + wide * x / 100, frame.top + high * y / 100, 0, 0)
        for number, (x, y) in enumerate(points)
    ]


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=1, max_size=7), st.sampled_from(FRAMES))
def test_words_lie_on_no_other_words(points, frame):
    reserved = Box(frame.width - frame.right - 100, frame.width - frame.right, 100, 115)
    found = placed(spots_of(points, frame), frame, [reserved], [])
    assert len(found) == len(points)
    boxes = [each.box for each in found] + [reserved]
    for index, box in enumerate(boxes):
        assert not any(box.meets(other) for other in boxes[:index])
        assert frame.left <= box.left
        assert box.right <= frame.width
        assert box.bottom <= frame.height - frame.bottom


def test_words_do_not_cross_the_line_of_the_budget():
    """A point just right of the budget has its words on that side too, though the left is as near."""
    spot = Spot(Dot("pair", 1, 1), 210, 150, 150, 150)
    (found,) = placed([spot], WIDE, [], [Box(204, 206, 20, 350)])
    assert found.x > 210


@pytest.mark.parametrize(("x", "on_the_left"), [(9_000, True), (500, False)])
def test_the_wanted_speed_is_named_where_no_point_is(x, on_the_left):
    dots = (Dot("point", x, 10.5, 8.0, 12.0), Dot("far", 10_000, 30))
    drawn = chart(Chart("t", dots, "USD", "tokens/s", line_at_y=(10, "wanted speed")), "c", WIDE)
    at = float(re.search(r'x="([0-9.]+)"[^>]*>wanted speed 10<', drawn)[1])
    assert (at < 200) is on_the_left


def test_parts_keep_the_order_of_every_bar():
    """The link comes before the fixed costs in each bar that has one, so it does in the legend."""
    first, second = Bar("a", (("weights", 1.0), ("fixed", 1.0)), ""), Bar("b", (("weights", 1.0), ("link", 1.0), ("fixed", 1.0)), "")
    assert part_names(Bars("", (first, second), 3, "ms")) == ("weights", "link", "fixed")


def widths(drawn, kind):
    """The widths of the bars' rectangles of a class."""
    return [float(wide) for wide in re.findall(rf'<rect class="{kind}"[^>]* width="([0-9.]+)" height="22"', drawn)]


@pytest.mark.parametrize("frame", FRAMES)
def test_each_bar_leaves_what_its_own_device_has_left(frame):
    """12 GiB beside 24 GiB: half the scale is there for the smaller, and 6 of its 12 are a quarter of the scale."""
    given_bars = Bars("", (Bar("a", (("w", 18.0),), "", 24.0), Bar("b", (("w", 6.0),), "", 12.0)), 24.0, "GiB", "free")
    drawn = bars(given_bars, "b", frame)
    whole, half = widths(drawn, "free")
    assert half == pytest.approx(whole / 2, abs=0.1)
    assert widths(drawn, "s0") == pytest.approx([whole * 0.75, whole / 4], abs=0.1)
    assert "free" in re.sub(r"<desc.*?</desc>", "", drawn).split("</title>", 1)[1]
    lines = as_text.written(Page("x", "x", (given_bars,))).splitlines()[-2:]
    used, free = (line.count(as_text.FILLS[0]) for line in lines), [line.count(as_text.FREE) for line in lines]
    assert list(used)[1] == pytest.approx(free[1], abs=1)
    assert free[1] == pytest.approx(free[0], abs=1)


def test_a_legend_breaks_its_line_before_the_edge():
    signs, end = legend([("s0", "a long name of a part")] * 4, NARROW, 0)
    places = [float(x) for x in re.findall(r'<text[^>]* x="([0-9.]+)"', "".join(signs))]
    assert max(places) < NARROW.width - 100
    assert end > 40


def test_words_too_long_for_their_room_are_cut():
    assert cut("rtx-3090", 100) == "rtx-3090"
    assert cut("4x rtx-pro-6000-blackwell-server", 100) == "4x rtx-pro-6…"
