"""Limits of layouts and least steps by hand: what an offload holds, what must move out of the devices, what lies where."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.advice.holds import fits, short_bytes
from advisor.advice.paces import Spilt, beside_bytes, least_moved
from advisor.catalog import Catalog
from advisor.memory import Fit
from advisor.need import Workload
from advisor.placement import Part
from advisor.platforms import Usable
from advisor.relaid import _largest, laid_either_way, relaid
from advisor.rooms import Load

CARD = Catalog.load(user_folder=False).device("rtx-3090")


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


@pytest.mark.parametrize(
    ("way", "count", "short", "shares"),
    [
        (moving(), 1, 10, (0.2, 0)),  # 1 % to spare: 10.1 of 100, in tenths
        (moving(), 2, 10, (0.101, 0)),  # each of two rounds its own share
        (moving(expert_layers=12), 2, 10, (2 / 12, 0)),  # all 12 layers are mixtures: 10.1 % of 12 is 1.2 layers
        (moving(), 1, 0, (0, 0)),
        (moving(), 1, 200, (1, 4 / 12)),  # 202 - 100 of 360 with the cache beside: 3.4 of 12 layers
        (moving(keeps="streams"), 1, 200, (1, 5 / 12)),  # 102 of 300: 4.1 layers
        (moving(), 1, 500, None),  # 405 of 360
        (moving(expert_bytes=0, expert_layers=0), 1, 100, (0, 4 / 12)),  # 101 of 360: 3.4 layers
    ],
)
def test_the_least_that_must_move_out(way: Any, count: int, short: float, shares: tuple[float, float] | None) -> None:
    assert least_moved(way, count, short) == (shares if shares is None else pytest.approx(shares))


def test_the_cache_moves_with_its_layers_unless_weights_are_streamed() -> None:
    assert beside_bytes(moving()) == 60
    assert beside_bytes(moving(keeps="streams")) == 0


def test_a_step_with_a_part_outside() -> None:
    """15 % of the memory is the computer's own. 1 s on the devices, 50 bytes at 100 bytes/s, and a quarter of a second of the way."""
    outside = Spilt(85, 1.0, 50, 0.25)
    assert outside.step_s(100, 100) == 1.75
    assert outside.step_s(99, 100) is None  # 84.15 of 85 bytes


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
    load = Load(part, Usable(800.0, 1000.0, 0.0, None), 0.9, 300.0, cache, ((100.0, 0.0), (0.0, 1.0)))
    assert load.usable_bytes == 900
    assert [load.users_here(users) for users in (1, 2, 3, 4)] == [1, 1, 2, 2]
    assert [load.overhead(tokens) for tokens in (50, 100, 150)] == [100, 100, 150]
    assert load.spare_bytes(150, 3) == 150  # 900 - 300 - 150 - 2 users × 150
    assert load.spare_bytes(150, 5) == 0
