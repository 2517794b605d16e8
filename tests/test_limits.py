"""Limits of layouts and least steps by hand: what an offload holds, what must move out of the devices, what lies where."""

from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import choose
from advisor.advice import bounds as bounding
from advisor.advice.bounds import Bounds, _Lie
from advisor.advice.datasheet import Datasheet
from advisor.advice.desk import Desk, Work
from advisor.advice.holds import Holds, Stage, fits, lie_in_turn, short_bytes, stages_of
from advisor.advice.joins import NEVER, Joins
from advisor.advice.paces import Paces, Spilt, beside_bytes, least_moved
from advisor.around import HostKeeps
from advisor.buffers import State
from advisor.catalog import Catalog
from advisor.correction import Correction
from advisor.memory import Fit
from advisor.need import Need, Workload
from advisor.placement import Part
from advisor.platforms import Usable
from advisor.relaid import _largest, laid_either_way, relaid
from advisor.rooms import Load, _host_bytes, _host_load
from advisor.step import Terms
from advisor.units import GB, GIB

CATALOG = Catalog.load(user_folder=False)
CARD = CATALOG.device("rtx-3090")


def fit_of(fits_now: bool, at_a_time: int, users: int = 0, tokens: int = 0) -> Fit:
    return Fit(fits_now, at_a_time, at_a_time, (), 0.0, None, False, 0.0, lambda: users, lambda: tokens, lambda: ())


@given(st.integers(1, 70), st.integers(0, 80))
def test_the_largest_number_that_holds(most: int, holding: int) -> None:
    def holds(count: int) -> bool:
        assert 1 <= count <= most
        return count <= holding

    assert _largest(most, holds) == min(most, holding)


def way_of(users: int, tokens: int) -> Any:
    """An offload whose limits are known: of users at 8,192 tokens, of tokens for three users and for one."""
    return SimpleNamespace(limits={("users", 8192): users, ("tokens", 3): tokens, ("tokens", 1): tokens})


@pytest.mark.parametrize(
    ("fits_now", "asked", "found", "users"),
    [
        (True, 3, 7, 7),
        (True, 3, 2, 3),  # what is laid and fits is never denied
        (False, 3, 7, 2),  # three were seen not to fit
        (False, 3, 1, 1),
        (False, 2, 7, 1),
        (False, 1, 7, 0),
    ],
)
def test_the_most_users_of_an_offload(fits_now: bool, asked: int, found: int, users: int) -> None:
    work = Workload(users=asked, context_tokens=8192)
    assert relaid(way_of(found, 0), fit_of(fits_now, asked), work).max_users == users


@pytest.mark.parametrize(
    ("fits_now", "found", "tokens"), [(True, 9000, 9000), (True, 5000, 8192), (False, 9000, 8191), (False, 5000, 5000)]
)
def test_the_longest_context_of_an_offload(fits_now: bool, found: int, tokens: int) -> None:
    """Of the users that the engine takes at a time: three of the five."""
    assert relaid(way_of(1, found), fit_of(fits_now, 3), Workload(users=5, context_tokens=8192)).max_context_tokens == tokens


def test_limits_are_searched_up_to_what_the_engine_and_the_model_take() -> None:
    asked: list[Workload] = []

    def holds(work: Workload) -> bool:
        asked.append(work)
        return True

    way: Any = SimpleNamespace(
        limits={},
        holds=holds,
        engine=SimpleNamespace(max_sequences=64),
        choice=SimpleNamespace(model=SimpleNamespace(max_context_tokens=40960)),
    )
    found = relaid(way, fit_of(True, 2), Workload(users=2, context_tokens=8192))
    assert (found.max_users, found.max_context_tokens) == (64, 40960)
    assert [(work.users, work.context_tokens) for work in asked] == [(64, 8192), (2, 40960)]
    assert way.limits == {("users", 8192): 64, ("tokens", 2): 40960}
    way.limits, way.engine.max_sequences = {}, None
    assert relaid(way, fit_of(True, 1), Workload(users=None, context_tokens=8192)).max_users == 1  # an engine that says no number
    assert ("users", 8192) in way.limits


def test_of_two_layouts_the_roomier_sets_the_limits() -> None:
    both = laid_either_way(fit_of(True, 1, 3, 8000), fit_of(True, 1, 5, 4000))
    assert (both.max_users, both.max_context_tokens) == (5, 8000)


def moving(
    expert_bytes: float = 100, dense_bytes: float = 300, cache_bytes: float = 60, expert_layers: int = 10, keeps: str = "cache"
) -> Any:
    weights = SimpleNamespace(expert_bytes=expert_bytes, dense_bytes=dense_bytes, layers=12, expert_layers=expert_layers)
    return SimpleNamespace(weights=weights, cache_bytes=cache_bytes, engine=SimpleNamespace(offload_keeps=keeps))


def staged(way: Any, layers: int = 12, short: float = 0.0, number: int = 1, last: bool = True, **seat: Any) -> Any:
    return Stage(SimpleNamespace(way=way, **seat), number, layers, last, layers / 12, short)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("way", "layers", "short", "shares"),
    [
        (moving(), 12, 10, (0.2, 0)),  # 1 % to spare: 10.1 of 100, in tenths
        (moving(), 12, 0, (0, 0)),
        (moving(), 12, -50, (0, 0)),
        (moving(), 12, 200, (1, 4 / 12)),  # 202 - 100 of 360 with the cache beside: 3.4 of 12 layers
        (moving(keeps="streams"), 12, 200, (1, 5 / 12)),  # 102 of 300: 4.1 layers
        (moving(), 12, 500, None),  # 405 of 360
        (moving(expert_bytes=0, expert_layers=0), 12, 100, (0, 4 / 12)),  # 101 of 360: 3.4 layers
        (moving(), 3, 10, (0.5, 0)),  # a quarter of ten mixtures are two of its three layers, of 12.5 bytes each
        (moving(), 6, 10, (0.4, 0)),  # half of them are five, of 10 bytes each
        (moving(), 6, 100, (1, 2 / 6)),  # 101 - 50 of 180: 1.7 of 6 layers
        (moving(expert_layers=1), 3, 10, (0, 1 / 3)),  # none of its layers is a mixture: 10.1 of 90
    ],
)
def test_the_least_that_must_move_out(way: Any, layers: int, short: float, shares: tuple[float, float] | None) -> None:
    assert least_moved(staged(way, layers, short)) == (shares if shares is None else pytest.approx(shares))


def dealing(evenly: bool = False, told: str = "") -> Any:
    """12 layers of 360 bytes with experts and cache, a head of 7."""
    weights = SimpleNamespace(dense_bytes=200, expert_bytes=100, layers=12, head_bytes=7)
    return SimpleNamespace(weights=weights, cache_bytes=60, engine=SimpleNamespace(deals_evenly=evenly, flags=lambda split, count: told))


@pytest.mark.parametrize(
    ("way", "sizes", "stages"),
    [
        (dealing(), [(100, 1)], [(0, 1, 12, True, 360 + 7 - 100)]),
        (dealing(), [(100, 2)], [(0, 1, 6, False, 80), (0, 1, 6, True, 87)]),
        (dealing(), [(100, 3)], [(0, 2, 4, False, 20), (0, 1, 4, True, 27)]),
        (dealing(), [(100, 1), (20, 1)], [(0, 1, 10, False, 200), (1, 1, 2, True, 47)]),  # by memory
        (dealing(), [(100, 1), (1, 1)], [(0, 1, 12, True, 267)]),  # the other one has less room than half a layer's share
        (dealing(evenly=True), [(100, 1), (20, 1)], [(0, 1, 6, False, 80), (1, 1, 6, True, 167)]),
        (dealing(evenly=True, told="--by {n}"), [(100, 1), (20, 1)], [(0, 1, 10, False, 200), (1, 1, 2, True, 47)]),
    ],
)
def test_the_layers_that_devices_in_turn_are_dealt(way: Any, sizes: list[tuple[float, int]], stages: list[tuple[Any, ...]]) -> None:
    seats: Any = [(SimpleNamespace(way=way, memory_bytes=size, room_bytes=size), number) for size, number in sizes]
    found = stages_of(seats)
    assert [(each.seat, *each[1:4], each.short_bytes) for each in found] == [
        (seats[at][0], *of, pytest.approx(short)) for at, *of, short in stages
    ]
    assert [each.share for each in found] == [pytest.approx(each.layers / 12) for each in found]
    assert lie_in_turn(found) is False
    assert lie_in_turn([each._replace(short_bytes=0.0) for each in found])


def test_the_cache_moves_with_its_layers_unless_weights_are_streamed() -> None:
    assert beside_bytes(moving()) == 60
    assert beside_bytes(moving(keeps="streams")) == 0


def test_a_step_with_a_part_outside() -> None:
    """15 % of the memory is the computer's own. 1 s on the devices, 50 bytes at 100 bytes/s, and a quarter of a second of the way."""
    outside = Spilt(85, 1.0, 50, 0.25, HostKeeps(0.15, 10.0))
    assert outside.step_s(100, 100) == 1.75
    assert outside.step_s(99, 100) is None  # 84.15 of 85 bytes


@pytest.mark.parametrize(("flop", "knee", "seconds"), [(10, 1.0, 1.95), (50, 1.0, 3.55), (30, 2.0, 2.35), (30, 8.0, 2.250138)])
def test_a_step_whose_processor_multiplies_what_lies_outside(flop: float, knee: float, seconds: float) -> None:
    """Half a second of reading; 25 flop/s beside it: 0.4 s and 2 s that add; 1.2 s hide half a second, √(0.5² + 1.2²) is 1.3 s, and
    (0.5⁸ + 1.2⁸)^⅛ hardly more than 1.2.
    """
    outside = Spilt(85, 1.0, 50, 0.05, HostKeeps(0.15, 10.0), flop, knee)
    assert outside.step_s(100, 100, 25) == pytest.approx(seconds)
    assert outside.step_s(100, 100) == 1.55  # nobody knows the processor
    assert outside.step_s(99, 100, 25) is None


@pytest.mark.parametrize(("memory", "room"), [(0, 0), (5, 0), (10, 0), (50, 40), (60, 50), (80, 68), (100, 85), (1000, 850)])
def test_what_a_computer_leaves_of_its_memory(memory: float, room: float) -> None:
    """It keeps 15 % for itself, and 10 bytes at least."""
    assert HostKeeps(0.15, 10.0).room_bytes(memory) == pytest.approx(room)


def seated(room: float, held: float, alone: float) -> Any:
    return SimpleNamespace(room_bytes=room, held_bytes=held, alone_bytes=alone)


@pytest.mark.parametrize(
    ("seats", "short", "shared", "cut", "copied"),
    [
        ([(seated(20, 40, 30), 2)], 0, True, True, False),
        ([(seated(20, 41, 20), 2)], 1, False, False, True),
        ([(seated(30, 40, 20), 1), (seated(10, 41, 11), 1)], 0, True, False, False),  # 10 of each of two: 20 in equal shares
        ([(seated(30, 60, 30), 1), (seated(15, 61, 15), 2)], 0, True, False, True),  # the least of the needs counts; 15 of each of three
    ],
)
def test_what_devices_may_hold(seats: list[tuple[Any, int]], short: float, shared: bool, cut: bool, copied: bool) -> None:
    assert short_bytes(seats) == short
    assert (fits("layers", seats), fits("tensor", seats), fits("experts", seats), fits("replicas", seats)) == (shared, cut, cut, copied)


def test_room_on_one_device() -> None:
    """1,000 bytes of which the engine takes nine tenths, 300 of weights; a buffer of 100 or of 1 a token; half of each user's 2 a token."""
    cache: Any = SimpleNamespace(held_bytes=lambda tokens: 2 * tokens)
    part = Part(CARD, 1000.0, cache_share=0.5, user_share=0.5)
    load = Load(part, Usable(800.0, 1000.0, 0.0, None), 0.9, 300.0, cache, (State(100.0), State(0.0, 1.0)))
    assert load.usable_bytes == 900
    assert [load.users_here(users) for users in (1, 2, 3, 4)] == [1, 1, 2, 2]
    assert [load.overhead(tokens) for tokens in (50, 100, 150)] == [100, 100, 150]
    assert load.spare_bytes(150, 3) == 150  # 900 - 300 - 150 - 2 users × 150
    assert load.spare_bytes(150, 5) == 0


def test_the_hosts_memory_is_a_place_where_anything_is_kept_there() -> None:
    cache: Any = SimpleNamespace(held_bytes=lambda tokens: 2 * tokens)
    part = Part(CARD, 1000.0, cache_share=1.0, user_share=0.25)
    assert _host_load(part, cache, None, 50.0, 0.5) == ()  # nobody says how much there is
    assert _host_load(part, cache, 100.0, 0.0, 0.0) == ()
    (weights,) = _host_load(part, cache, 100.0, 120.0, 0.0)
    assert weights.spare_bytes(10, 3) == -20
    (kept,) = _host_load(part, cache, 100.0, 0.0, 0.5)
    assert kept.spare_bytes(10, 3) == 70  # half of 20 bytes of each of all three users


KEEPS = HostKeeps(0.15, 10.0)


class Clock(Paces):
    """Devices that take so many seconds for the dense part, for the experts, and for the cache of each user; 0.1 s are fixed."""

    def __init__(self, users: int = 4) -> None:
        self.users, self._alone, self._reading, self._host_layer_s = users, {}, {}, 0.01
        self._keeps = KEEPS
        self._calibration = SimpleNamespace(routing_exponent=1.0)  # type: ignore[assignment]

    def _terms(self, seat: Any, part: Part, users: float) -> Terms:
        dense, experts, cache = seat.seconds
        read = part.dense_share * dense + part.expert_share * experts + part.head_share * getattr(seat, "head_s", 0.0)
        return Terms(read, part.cache_share * cache * users, overhead_s=0.1)

    def constants(self, seat: Any) -> Any:
        return SimpleNamespace(weights_bytes_per_s=seat.rates[0], expert_bytes_per_s=seat.rates[1], knee_exponent=seat.knee)


def running(expert_bytes: float = 0, fills: bool = False, keeps: str = "cache") -> Any:
    """200 bytes of dense weights in 12 layers; experts in 10 of them, of which a step touches half."""
    weights = SimpleNamespace(
        dense_bytes=200, expert_bytes=expert_bytes, layers=12, expert_layers=10, experts_touched_share=lambda *_: 0.5,
        dense_params=400, expert_params=2 * expert_bytes, chosen_share=0.125,
    )  # fmt: skip
    cache = SimpleNamespace(read_bytes=lambda tokens: tokens / 10)
    engine = SimpleNamespace(pipeline_fills=fills, offload_keeps=keeps)
    return SimpleNamespace(weights=weights, cache=cache, engine=engine, cache_bytes=60, filled_tokens=100)


def seat(way: Any, memory_bytes: float, *seconds: float, rates: tuple[float, float] = (1, 1), knee: float = 3.0) -> Any:
    class Hashed(SimpleNamespace):
        __hash__ = object.__hash__  # type: ignore[assignment]

    return Hashed(way=way, device=CARD, memory_bytes=memory_bytes, seconds=seconds, rates=rates, knee=knee)


def test_users_of_one_pass() -> None:
    assert [Clock().together(running(), count) for count in (1, 2)] == [4, 4]
    assert [Clock().together(running(fills=True), count) for count in (1, 2, 8)] == [4, 2, 1]


def test_in_a_row_the_quicker_device_takes_what_it_holds() -> None:
    way = running()
    quick, slow = seat(way, 100, 1.0, 0.0, 0.0), seat(way, 150, 2.0, 0.0, 0.0)
    # 100 of 200 bytes at 1.1 s for all of them, the rest at 2.1 s
    assert Clock().in_line_s([(slow, 1), (quick, 1)], 2) == pytest.approx(0.5 * 1.1 + 0.5 * 2.1)
    assert Clock().in_line_s([(slow, 1), (quick, 2)], 3) == pytest.approx(11 / 12 * 1.1 + 2.1 / 12)  # two of them hold all but a layer
    assert Clock().in_line_s([(quick, 3)], 3) == pytest.approx(1.1)
    assert Clock().in_line_s([(quick, 1), (seat(way, 150, 2.0, 0.0, 0.5), 1)], 2) == pytest.approx(
        0.5 * 1.1 + 0.5 * 4.1
    )  # four users' cache
    short = seat(way, 50, 2.0, 0.0, 0.0)
    assert Clock().in_line_s([(quick, 1), (short, 1)], 2) == pytest.approx(
        0.5 * 1.1 + 0.25 * 2.1 + 0.25 * 2.1
    )  # what neither holds, slowly


def test_the_last_in_a_row_makes_the_words() -> None:
    way = running()
    quick, slow = seat(way, 400, 1.0, 0.0, 0.0), seat(way, 100, 2.0, 0.0, 0.0)
    quick.head_s, slow.head_s = 0.2, 0.7
    bare = 11 / 12 * 1.1 + 2.1 / 12
    assert Clock().in_line_s([(quick, 1), (slow, 1)], 2) == pytest.approx(bare + 0.7)
    assert Clock().in_line_s([(slow, 1), (quick, 1)], 2) == pytest.approx(bare + 0.2)
    assert Clock().in_line_s([(quick, 2)], 2) == pytest.approx(1.3)


def test_kept_busy_in_a_row_the_slowest_sets_the_pace() -> None:
    """Two batches of the four users pass two stages of 1.1 and 2.1 s for all layers: at best shared out so that both take as long."""
    way = running(fills=True)
    quick, slow = seat(way, 400, 1.0, 0.0, 0.0), seat(way, 100, 2.0, 0.0, 0.0)
    assert Clock().in_line_s([(quick, 1), (slow, 1)], 2) == pytest.approx(2 / (1 / 1.1 + 1 / 2.1))
    assert Clock(users=1).in_line_s([(quick, 1), (slow, 1)], 2) == pytest.approx(11 / 12 * 1.1 + 2.1 / 12)  # one batch


def test_of_experts_in_a_row_the_quicker_device_reads_the_most() -> None:
    way = running(expert_bytes=200)
    quick, slow = seat(way, 100, 1.0, 3.0, 0.0), seat(way, 400, 2.0, 4.0, 0.0)
    # without experts 1.1 and 2.1 s: a quarter of 400 bytes lies on the quick one; the experts take at least 3 s
    assert Clock().in_line_s([(quick, 1), (slow, 1)], 2) == pytest.approx(0.25 * 1.1 + 0.75 * 2.1 + 3.0)


def test_a_step_that_all_share() -> None:
    """Two that take 2 s and one that takes 4 s for all of it: a third each takes the slow one 4/3 s. Divided at best they do 1.25 of
    it a second. The fixed costs stay.
    """
    way = running()
    quick, slow = seat(way, 100, 2.0, 0.0, 0.0), seat(way, 100, 2.0, 0.0, 0.5)
    assert Clock().cut_s([(quick, 2), (slow, 1)]) == pytest.approx(4 / 3 + 0.1)
    assert Clock().shared_s([(quick, 2), (slow, 1)]) == pytest.approx(1 / 1.25 + 0.1)


def test_copies_share_the_users_by_the_memories_speed() -> None:
    """Of 300 and 100 GB/s the one serves three of four users, the other one; of equal ones each serves two."""
    way = running()
    quick, slow = seat(way, 100, 1.0, 0.0, 0.5), seat(way, 100, 3.0, 0.0, 0.5)
    quick.device, slow.device = SimpleNamespace(bandwidth_bytes_per_s=300 * GB), SimpleNamespace(bandwidth_bytes_per_s=100 * GB)
    assert Clock().apart_tokens_per_s([(quick, 1), (slow, 1)]) == pytest.approx((3 / 2.6 + 1 / 3.6) / 4)
    assert Clock().apart_tokens_per_s([(quick, 2)]) == pytest.approx(1 / 2.1)
    assert Clock(users=1).apart_tokens_per_s([(quick, 2)]) == pytest.approx(1 / 1.6)


def test_a_step_with_a_part_in_host_memory() -> None:
    """Half of the experts and a quarter of the layers outside: 50 + 50 bytes; read are 25 + 50 and a quarter of four users' 10 each."""
    way = running(expert_bytes=100)
    alone = Stage(seat(way, 100, 1.0, 2.0, 0.5), 1, 12, True, 1.0, 0.0)
    found = Clock().spilt([alone], [(0.5, 0.25)])
    # 0.75 of 1 s, 0.5 of 2 s, 0.75 of four users' 0.5 s; experts of 5 of 10 layers lie outside, and 3 of 12 layers whole
    assert found[:4] == pytest.approx((100, 0.75 + 1.0 + 1.5 + 0.1, 85, 0.05))
    assert found.keeps is KEEPS
    assert found.host_flop == 2 * 4 * (0.25 * 400 + 0.5 * 0.125 * 200)  # four users, each an eighth of the experts
    assert Clock().spilt([alone], [(0.5, 0.75)]).host_way_s == pytest.approx(0.09)
    streamed = running(expert_bytes=100, keeps="streams")  # the cache stays
    found = Clock().spilt([alone._replace(seat=seat(streamed, 100, 1.0, 2.0, 0.5))], [(0.5, 0.25)])
    assert found[:4] == pytest.approx((100, 0.75 + 1.0 + 2.0 + 0.1, 75, 0.05))


def test_a_step_of_several_with_a_part_of_each_in_host_memory() -> None:
    """Two with a quarter of the layers each, half of whose experts lie outside, and one with the other half, of which a third does."""
    way = running(expert_bytes=100)
    quick, slow = seat(way, 100, 1.0, 2.0, 0.5), seat(way, 100, 2.0, 4.0, 0.5, knee=5.0)
    quick.head_s = slow.head_s = 0.25
    found = Clock().spilt([Stage(quick, 2, 3, False, 0.25, 0.0), Stage(slow, 1, 6, True, 0.5, 0.0)], [(0.5, 0.0), (1.0, 1 / 3)])
    # of each quick one 0.25 of 1 s, 0.125 of 2 s, a quarter of 2 s; of the slow one a third of 2 s, none of 4 s, a third of 2 s, the head
    assert found.devices_s == pytest.approx(2 * (0.25 + 0.25 + 0.5 + 0.1) + 2 / 3 + 2 / 3 + 0.25 + 0.1)
    # outside are three quarters of 100 bytes of experts and a sixth of 200; read are half of the former, and a sixth of 40 of cache
    assert found.outside_bytes == pytest.approx(75 + 200 / 6)
    assert found.host_read_bytes == pytest.approx(37.5 + 200 / 6 + 40 / 6)
    assert found.host_way_s == pytest.approx(0.01 * (2 * 1 + 5))  # one of the two mixtures of each quick one, five of the slow one
    assert found.host_flop == pytest.approx(2 * 4 * (400 / 6 + 0.75 * 0.125 * 200))
    assert found.knee_exponent == 5  # hides the most


def test_a_stage_does_its_share_of_the_work() -> None:
    seen: list[Part] = []

    class Seen(Clock):
        def _terms(self, seat: Any, part: Part, users: float) -> Terms:
            seen.append(part)
            return super()._terms(seat, part, users)

    stage = Stage(seat(running(), 100, 1.0, 2.0, 0.5), 2, 3, False, 0.25, 0.0)
    Seen().spilt([stage], [(0.0, 1 / 3)])
    Seen().spilt([stage._replace(last=True)], [(0.0, 1 / 3)])
    assert [(each.layer_share, each.compute_share, each.head_share) for each in seen] == [(0.25, 0.25, 0.0), (0.25, 0.25, 1.0)]


def test_the_slowest_reading_of_all() -> None:
    way = running()
    seats = [(seat(way, 1, rates=(5, 4)), 1), (seat(way, 1, rates=(3, 6)), 1)]
    assert Clock().slowest_bytes_per_s(seats) == 3
    assert Clock().slowest_bytes_per_s(seats[:1]) == 4


def rough_of(users: int = 2) -> Datasheet:
    """100 bytes of weights and cache read, 200 of experts of which a step touches a quarter for each user; at least 400 must lie there."""
    found = object.__new__(Datasheet)
    found._users, found.dense_bytes, found.expert_bytes, found.least_bytes, found.dense_read_share = users, 100, 200, 400, 0.8
    found.touched = lambda tokens: tokens / 4  # type: ignore[assignment]
    return found


def offered(memory_bytes: float, count: int = 1, ram_bytes: float = 0.0) -> Any:
    """1,000 bytes/s on the devices, 100 in the host's memory."""
    return SimpleNamespace(
        key="", memory_bytes=memory_bytes, count=count, bandwidth_bytes_per_s=1000, ram_bytes=ram_bytes, ram_bytes_per_s=100, boxes=1
    )


@pytest.mark.parametrize(
    ("offer", "tokens_per_s"),
    [
        (offered(400), 1000 / 200),  # 100 and half of the experts
        (offered(400, count=4), 1000 / 150),  # each pass has one user at least
        (offered(399), 0),  # one byte has no place
        (offered(300, ram_bytes=1000), 1 / (50 / 100 + 150 / 1000)),  # 100 of the experts outside, of which half are read
        (offered(300, count=4, ram_bytes=1000), 1 / (12.5 / 100 + 137.5 / 1000)),  # an eighth of them, where four passes share the users
        (offered(100, ram_bytes=280), 1 / (180 / 100 + 20 / 1000)),  # all experts, and 100 of layers of which 80 are read
        (offered(100, ram_bytes=279), 0),  # 280 of them are weights: some would lie on disk
    ],
)
def test_the_rough_bound_is_bytes_over_datasheet_rates(offer: Any, tokens_per_s: float) -> None:
    assert rough_of().tokens_per_s(offer) == pytest.approx(tokens_per_s)


@pytest.mark.parametrize(("model", "wide", "narrow"), [("qwen3-8b", 147_456, 78_336), ("qwen3-30b-a3b", 98_304, 52_224)])
def test_the_bytes_of_the_rough_bound(model: str, wide: int, narrow: int) -> None:
    """36 layers × 8 heads, or 48 × 4, × 128 × 2 of two bytes a token, with eight bits of 8.5 with the scales; nine tenths of all."""
    work = Work(Workload(users=2, context_tokens=8192, prompt_tokens=1000), "q4_k_m", "f16")
    desk = Desk(Need(model=model, workload=work.workload), None, CATALOG, CATALOG.model(model), date(2026, 11, 30))
    weights = desk.bytes(work)[0]
    for smaller, each in (((), wide), (("q8_0", "f16"), narrow)):
        found, held, read = Datasheet(desk, work, smaller), 2 * 8192 * each, 2 * 1000 * each
        dense = weights.dense_bytes + weights.head_bytes
        assert found.dense_read_share == pytest.approx(weights.dense_bytes / (weights.dense_bytes + held), rel=0.01)
        assert found.least_bytes == pytest.approx(0.9 * (dense + weights.expert_bytes + held), rel=0.01)
        assert found.dense_bytes == pytest.approx(0.9 * (dense + read), rel=0.01)
        assert found.expert_bytes == pytest.approx(0.9 * weights.expert_bytes)


@pytest.mark.parametrize(("smaller", "each"), [(False, 147_456), (True, 78_336)])
def test_what_one_engine_lays_on_a_card(smaller: bool, each: int) -> None:
    """Of 300 users llama.cpp takes 256 at a time; the embedding stays in the host's memory. At the mean 1,000 + 200 / 2 tokens lie there."""
    load = Workload(users=300, context_tokens=8192, prompt_tokens=1000, generate_tokens=200)
    desk = Desk(Need(model="qwen3-8b", workload=load), None, CATALOG, CATALOG.model("qwen3-8b"), date(2026, 11, 30))
    holds = Holds(desk, Work(load, "q4_k_m", "f16"), smaller)
    (way,) = (each for each in holds.ways_of([CARD, CARD]) if each.engine.id == "llama.cpp")
    assert (way.filled_tokens, way.cache_bytes) == (1100, 256 * 8192 * each)
    found = holds.seat(way, CARD, 24 * GIB)
    assert found.held_bytes - found.alone_bytes == 255 * 8192 * each
    assert found.alone_bytes == way.weights.dense_bytes + way.weights.head_bytes + 8192 * each
    assert 0.9 * 24 * GIB < found.room_bytes < 24 * GIB
    assert holds.ways_of([CARD]) is holds.ways_of([CARD])


def counted(is_box: bool = False, room: float = 100, held: float = 100, alone: float = 100) -> Any:
    return SimpleNamespace(
        room_bytes=room, held_bytes=held, alone_bytes=alone, device=SimpleNamespace(is_box=is_box), memory_bytes=room, way=dealing_of(held)
    )


def dealing_of(held: float) -> Any:
    way = dealing()
    way.weights.dense_bytes, way.weights.head_bytes = held - 160, 0
    return way


BOTH, TENSOR, EXPERTS, NEITHER = (True, True), (True, False), (False, True), (False, False)


@pytest.mark.parametrize(
    ("seats", "count", "boxes", "users", "cuts", "step_s", "least_s"),
    [
        ([(counted(), 1)], 1, 1, 8, BOTH, 8, 8),  # a second for each user
        ([(counted(alone=101), 2)], 2, 1, 8, NEITHER, 7.5, 7),  # in a row, with half a second of messages
        ([(counted(), 2)], 2, 1, 8, NEITHER, 4, 4),  # copies of four users each
        ([(counted(), 4)], 4, 1, 2, NEITHER, 1, 1),  # one at least
        ([(counted(), 1), (counted(), 1)], 2, 1, 8, NEITHER, 4, 1),  # generously, unlike ones have one user
        ([(counted(alone=101), 2)], 2, 1, 8, TENSOR, 3.25, 2),  # cut, with a quarter of a second of messages
        ([(counted(alone=101), 2)], 2, 1, 8, EXPERTS, 3.25, 2),
        ([(counted(room=49, alone=101), 2)], 2, 1, 8, TENSOR, NEVER, NEVER),  # 98 of 100 bytes: no room to cut, nor in a row
        ([(counted(room=30, alone=101), 1), (counted(room=90, alone=101), 1)], 2, 1, 8, TENSOR, 7.5, 7),  # by memory it goes in
        ([(counted(alone=101), 2)], 2, 2, 8, NEITHER, 4, 4),  # cards of two computers: cut inside them, perhaps
        ([(counted(alone=101), 2)], 2, 2, 8, TENSOR, 2, 2),
        ([(counted(is_box=True, alone=101), 2)], 2, 2, 8, NEITHER, 7.5, 7),  # two machines
        ([(counted(is_box=True, alone=101), 2)], 2, 2, 8, TENSOR, 3.25, 2),
        ([(counted(is_box=True, alone=101), 2)], 2, 2, 8, EXPERTS, 2, 2),  # each with its own users' attention
    ],
)
def test_the_least_step_of_an_offer(
    seats: Any, count: int, boxes: int, users: int, cuts: tuple[bool, bool], step_s: float, least_s: float
) -> None:
    found, offer = object.__new__(Bounds), SimpleNamespace(count=count, boxes=boxes)
    found.users, found._cuts, found._better = users, lambda *_: cuts, lambda *_: 1.0  # type: ignore[method-assign]
    found._paces = SimpleNamespace(  # type: ignore[assignment]
        alone=lambda _, number: SimpleNamespace(total_s=number),
        apart_tokens_per_s=lambda _: 1 / max(1, users // count),
        in_line_s=lambda *_: 7,
        cut_s=lambda _: 3,
        shared_s=lambda _: 2,
        together=lambda *_: users,
    )
    found._joins = SimpleNamespace(hops_s=lambda *_: 0.5, reduces_s=lambda *_: 0.25)  # type: ignore[assignment]
    lie = found._steps(seats, 0.0, offer)  # type: ignore[arg-type]
    assert (found._holding(lie, offer), lie.least_s) == pytest.approx((1 / step_s, least_s))  # type: ignore[arg-type]


def test_the_bound_of_an_offer_is_that_of_its_quickest_way() -> None:
    """Held in 0.1 s, or in 0.05 where all is divided at best; by another way partly outside, 12 or with an idle processor 25 tokens/s."""
    found, offer = object.__new__(Bounds), offered(100)
    offer.words, offer.key = "x", "x in y"
    held, outside = _Lie((), 0.0, apart_s=0.1, least_s=0.05), _Lie((), 1.0)  # type: ignore[arg-type]
    found._better = lambda *_: 1.0  # type: ignore[method-assign]
    found._spilling = lambda lie, _, idle=False: (25.0 if idle else 12.0) if lie is outside else 0.0  # type: ignore[method-assign]
    for lies, bound, generously in (
        ([held], (10, True), 20),
        ([outside], (12, False), 25),
        ([held, outside], (12, True), 25),
        ([], (0, False), 0),
    ):
        found._known, found._generous, found._lies = {}, {}, {("x", 100): lies}
        assert found.of(offer) == (pytest.approx(bound[0]), bound[1])
        assert found.generously(offer) == pytest.approx(generously)
        assert (list(found._known), list(found._generous)) == (["x in y"], ["x in y"])


LINKED = [
    ("2x rtx-3090", "vllm", "tensor"),
    ("2x rtx-3090 via nvlink3-bridge-3090", "vllm", "tensor"),
    ("2x rtx-3090", "llama.cpp", "layers"),
    ("rtx-3090 + rtx-3060-12gb", "vllm", "layers"),
    ("2x mac-m3-ultra-80c 512gb via thunderbolt-5-rdma", "mlx", "tensor"),
    ("4x mac-m3-ultra-80c 512gb via thunderbolt-5-rdma", "mlx", "layers"),
    ("2x dgx-spark", "vllm", "tensor"),
]


@pytest.mark.parametrize(("words", "engine", "strategy"), LINKED)
@pytest.mark.parametrize("users", [1, 4])
def test_messages_take_what_they_take_in_estimates(words: str, engine: str, strategy: str, users: int) -> None:
    """As long as in the estimate; nothing where the offer's words do not say the link."""
    load = Workload(users=users)
    desk = Desk(Need(model="qwen3-32b", workload=load), None, CATALOG, CATALOG.model("qwen3-32b"), date(2026, 11, 30))
    work = Work(load, "4bit", "f16")
    system = choose.bind(words, CATALOG)
    way = next(each for each in desk.ways(system, work) if (each.placement.engine, each.placement.strategy) == (engine, strategy))
    assert way.terms
    box = system.boxes[0]
    groups = [(group.device, group.memory_bytes, group.count) for group in system.groups[: 1 if len(system.boxes) > 1 else None]]
    offer: Any = SimpleNamespace(
        words=words,
        host=box.host,
        groups=[(device, size, system.count) for device, size, _ in groups] if len(system.boxes) > 1 else groups,
        boxes=len(system.boxes),
        count=system.count,
        memory_bytes=sum(group.memory_bytes * group.gpus for group in system.groups),
    )
    joins, backend = Joins(desk, work), CATALOG.engine(engine).backends
    one: Any = SimpleNamespace(backend=next(each for each in backend if each.id == way.placement.backend))
    together = users / min(users, system.count) if CATALOG.engine(engine).pipeline_fills and strategy == "layers" else users
    least = joins.reduces_s(one, offer) if strategy == "tensor" else joins.hops_s(one, offer, together)
    if " via " not in words and len(system.boxes) > 1:
        assert least == 0
    else:
        assert 0 < least == pytest.approx(way.terms.link_s)
    assert joins.link(offer) is joins.link(offer)


def test_devices_that_no_message_reaches_do_not_share() -> None:
    """MLX talks over networks only: never over a PCIe slot."""
    load = Workload()
    desk = Desk(Need(model="qwen3-32b", workload=load), None, CATALOG, CATALOG.model("qwen3-32b"), date(2026, 11, 30))
    offer: Any = SimpleNamespace(words="2x rtx-3090 via pcie-4-x16", host=None, groups=[], boxes=1, count=2, memory_bytes=1.0)
    silent: Any = SimpleNamespace(backend=SimpleNamespace(staged_software=None, peer_software=None, rdma_software=None, tcp_software=None))
    assert Joins(desk, Work(load, "4bit", "f16")).reduces_s(silent, offer) == float("inf")


@pytest.mark.parametrize(
    ("splits", "unified", "ram_bytes", "quickest", "count", "steps", "tokens_per_s"),
    [
        (("offload",), False, 100, 200, 1, (1.2,), 1 / 1.2),
        (("whole",), False, 100, 200, 1, (1.2,), 0),
        (("offload",), True, 100, 200, 1, (1.2,), 0),  # its memory is the host's
        (("offload",), False, 0, 200, 1, (1.2,), 0),
        (("offload",), False, 100, 200, 1, (), 0),  # nothing need move, or more than all that can
        (("offload",), False, 100, 200, 1, (None,), 0),  # some would lie on disk
        (("offload",), False, 100, 200, 2, (1.2,), 1 / 1.5),  # 0.3 s of messages
        (("offload",), False, 100, 100, 1, (1.2,), 1 / 1.2),  # the host's memory is no quicker
        (("offload",), False, 100, 99, 1, (1.2, None, 0.5), 1.05 / 0.5),  # quicker: what moves may win a little
    ],
)
def test_the_bound_with_a_part_outside(
    splits: Any, unified: bool, ram_bytes: float, quickest: float, count: int, steps: Any, tokens_per_s: float
) -> None:
    """Steps with a busy processor; with an idle one they take half."""
    way = SimpleNamespace(backend=SimpleNamespace(splits=splits))
    lie: Any = SimpleNamespace(seats=[(SimpleNamespace(way=way, device=SimpleNamespace(unified_memory=unified)), 1)])
    found, offer, asked = object.__new__(Bounds), offered(0, count, ram_bytes), list[bool]()
    offer.words, offer.host = "x", "a computer"
    found._paces = SimpleNamespace(  # type: ignore[assignment]
        slowest_bytes_per_s=lambda _: quickest, host_flops=lambda host: {"a computer": 7.0}[host], together=lambda *_: 3.0
    )
    found._joins = SimpleNamespace(hops_s=lambda way, offer, users: users / 10)  # type: ignore[assignment]
    found._better = lambda *_: 1.0  # type: ignore[method-assign]

    def taking(step_s: float | None) -> Any:
        return SimpleNamespace(step_s=lambda ram, rate, flops: step_s and step_s / (1 if flops else 2))

    found._spilts = lambda lie, offer, quick: asked.append(quick) or [taking(each) for each in steps]  # type: ignore[func-returns-value]
    assert found._spilling(lie, offer) == pytest.approx(tokens_per_s)
    assert set(asked) <= {quickest < 100}
    if count == 1:
        assert found._spilling(lie, offer, idle=True) == pytest.approx(2 * tokens_per_s)
    offer.words = "2x (x)"  # in which order the devices of several computers work is not known
    assert found._spilling(lie, offer) == pytest.approx(tokens_per_s * (1.05 if quickest >= 100 else 1))


@pytest.mark.parametrize(
    ("stages", "quick", "moved"),
    [
        ([staged(moving(), short=10)], False, [[(0.2, 0)]]),
        ([staged(moving(), short=-10)], False, []),
        ([staged(moving(), short=500)], True, []),  # more than all that can move
        ([staged(moving(), 6, 10), staged(moving(), 6, -10)], False, [[(0.4, 0), (0, 0)]]),
        ([staged(moving(), 6, 10), staged(moving(), 6, 500)], False, []),
        ([staged(moving(), short=10)], True, [[(0.2, 0)], [(1, 1)], [(1, 0)]]),  # or all of the experts, or everything
        ([staged(moving(), short=-10)], True, [[(1, 1)], [(1, 0)]]),
        ([staged(moving(), short=200)], True, [[(1, 4 / 12)], [(1, 1)]]),  # whole layers must move
        ([staged(moving(expert_bytes=0, expert_layers=0), 6)] * 2, True, [[(1, 1)] * 2]),
    ],
)
def test_what_may_lie_outside(stages: list[Stage], quick: bool, moved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounding, "stages_of", lambda seats: stages)
    found, offer = object.__new__(Bounds), SimpleNamespace(words="x", memory_bytes=1.0)
    found._spilt = {}
    found._paces = SimpleNamespace(spilt=lambda _, moved: [pytest.approx(each) for each in moved])  # type: ignore[assignment]
    lie: Any = SimpleNamespace(seats=[(SimpleNamespace(way="a way"), 1)])
    spilts = found._spilts(lie, offer, quick)  # type: ignore[arg-type]
    assert spilts == moved
    assert found._spilts(lie, offer, quick) is spilts  # type: ignore[arg-type]
    assert list(found._spilt) == [("a way", "x", 1.0, quick)]


def test_what_a_processor_reaches() -> None:
    found = Clock()
    found._processor_share = 0.5
    assert [found.host_flops(host) for host in (None, SimpleNamespace(cpu_compute_flops=None))] == [None, None]  # type: ignore[arg-type]
    assert found.host_flops(SimpleNamespace(cpu_compute_flops=300.0)) == 150  # type: ignore[arg-type]


@pytest.mark.parametrize(("disk_share", "held"), [(0.0, 100), (0.1, 70), (0.5, 0)])
def test_weights_in_the_hosts_memory(disk_share: float, held: float) -> None:
    """Half of 100 bytes and a quarter of 200; less what lies on disk of all 300."""
    part = Part(CARD, 1000.0, host_dense_share=0.5, host_expert_share=0.25, disk_share=disk_share)
    weights: Any = SimpleNamespace(dense_bytes=100, expert_bytes=200)
    assert _host_bytes(part, weights) == held


@pytest.mark.parametrize(
    ("factors", "devices", "count", "more", "sooner"),
    [
        ((1.5, None), "aa", 2, 1.5, 1.5),  # of two sizes of memory
        ((1.5, 1.2), "a", 2, 1.5, 1.5),
        ((0.8, 1.2), "a", 2, 0.8, 1.2),
        ((0.8, None), "a", 2, 0.8, 1.0),
        ((None, 0.5), "a", 2, 1.0, 1.0),
        ((1.5, None), "a", 1, 1.0, 1.0),  # two tell nothing of one
        ((1.5, None), "ab", 2, 1.0, 1.0),  # what holds for equal devices tells nothing of unlike ones
        (None, "a", 2, 1.0, 1.0),
    ],
)
def test_own_measurements_move_the_bound(factors: Any, devices: str, count: int, more: float, sooner: float) -> None:
    found = object.__new__(Bounds)
    found._saved = {"2x a on vllm": Correction(*factors, 3, "2026-11-01")} if factors else {}
    way = SimpleNamespace(engine=SimpleNamespace(id="vllm"))
    seats: Any = [(SimpleNamespace(device=SimpleNamespace(id=each), way=way), 1) for each in devices]
    assert (found._better(seats, count), found._sooner(seats, count)) == (more, sooner)


def test_own_measurements_lift_the_rough_bound() -> None:
    """By what was measured with any engine of so many, and never below what others may reach."""
    found, offer = object.__new__(Bounds), offered(400)
    found._rough, found.datasheet, offer.groups = {}, rough_of(), ((SimpleNamespace(id="a"), 400, 1),)
    saved = {"1x a on vllm": 1.5, "1x a on mlx": 2.0, "1x a on exo": 0.5, "2x a on exo": 3.0, "1x b on exo": 3.0}
    found._saved = {key: Correction(factor, None, 1, "") for key, factor in saved.items()}
    found.desk = SimpleNamespace(lifts={("a", 1): 2.0, ("a", 2): 3.0, ("b", 1): 3.0})  # type: ignore[assignment]
    assert found.roughly(offer) == pytest.approx(2 * 1000 / 200)
