"""What fits by hand: bytes on each device, the longest context, the most users, and what is said about it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.buffers import State
from advisor.cache import Cache
from advisor.catalog import Catalog
from advisor.memory import UNBOUNDED_CONTEXT_TOKENS, Fit, _most_tokens, _on_the_line, fitted, largest_between, longest_context, most_users
from advisor.need import Workload
from advisor.placement import Part
from advisor.platforms import Usable
from advisor.record import replace
from advisor.rooms import Load, Rooms

CATALOG = Catalog.load(user_folder=False)
CARD = CATALOG.device("rtx-3090")
MODEL = replace(CATALOG.model("qwen3-8b"), max_context_tokens=500)
PLAIN = Cache("f16", 2.0, (), 10.0, 8, False, 0, ())  # two bytes a token and ten of state


def load(
    part: Part | None = None,
    cache: Cache = PLAIN,
    usable: Usable | None = None,
    taken: float = 1.0,
    fixed: float = 100.0,
    mask: float = 0.0,
) -> Load:
    """A device of 1,000 bytes: 300 of weights, a buffer of 100 or `mask` a token."""
    return Load(part or Part(CARD, 1000.0), usable or Usable(1000.0, 1000.0, 0.0, None), taken, 300.0, cache, (State(fixed, mask),))


def rooms(*loads: Load, **more: Any) -> Rooms:
    given_ = {"host_room_bytes": None, "host_weights_bytes": 0.0, "host_cache_share": 0.0, "disk_bytes": 0.0, "max_sequences": 64, **more}
    return Rooms(loads=loads, cache=PLAIN, places=loads, **given_)


def asked(place: Rooms, users: int | None = 1, tokens: int = 100) -> Fit:
    return fitted(place, MODEL, Workload(users=users, context_tokens=tokens))


@pytest.mark.parametrize(
    ("room", "growing", "mask", "block", "tokens"),
    [
        (0, 2, 0, 1, 0),
        (-5, 2, 1, 1, 0),
        (11, 2, 0, 1, 5),
        (11, 2, 1, 1, 3),  # 9 of 11 bytes; a fourth needs 12
        (40, 1, 0, 16, 32),  # two whole blocks
        (40, 1, 1, 16, 16),  # 16 + 16; the 17th begins a block: 32 + 17
        (50, 1, 1, 16, 18),  # 32 + 18
        (62, 1, 1, 16, 30),
        (20, 1, 3, 16, 1),  # a block, and 3 of the 4 bytes left
        (10, 1, 1, 16, 0),  # no block
        (5, 0, 2, 1, 2),
        (7, 0, 0, 1, UNBOUNDED_CONTEXT_TOKENS),  # nothing grows
    ],
)
def test_tokens_that_fit_in_whole_blocks(room: float, growing: float, mask: float, block: int, tokens: int) -> None:
    assert _most_tokens(room, growing, mask, block) == tokens


@given(st.integers(1, 2000), st.integers(0, 9), st.integers(0, 9), st.integers(1, 40))
def test_one_more_token_never_fits(room: int, growing: int, mask: int, block: int) -> None:
    def needed(tokens: int) -> int:
        return growing * -(-tokens // block) * block + mask * tokens

    found = _most_tokens(room, growing, mask, block)
    assert needed(found) <= room
    assert needed(found + 1) > room or growing + mask == 0


def test_the_longest_context_on_the_straight_line() -> None:
    # 1,000 - 300 - 100 - 10 of state = 590 bytes at 2 a token
    assert _on_the_line(load(), 1) == 295
    assert _on_the_line(load(), 2) == 145  # 1,000 - 300 - 100 - 20 = 580 at 4 a token
    half = load(Part(CARD, 1000.0, cache_share=0.5, user_share=0.5))
    assert _on_the_line(half, 3) == 295  # two of three users, half of each one's cache
    # full windows hold 20 tokens of 3 bytes; one without an end grows by 1 a token: 1,000 - 300 - 100 - 60 - 10 = 530 at 3
    windows = replace(PLAIN, windows=((3.0, 16.0, 20.0), (1.0, float("inf"), float("inf"))))
    assert _on_the_line(load(cache=windows), 1) == 176
    # of two states of the buffers the one that leaves less: 590 at 2, or 650 - 10 at 2 + 1
    masked = replace(load(), buffers=(State(100.0), State(50.0, 1.0)))
    assert _on_the_line(masked, 1) == 213


@pytest.mark.parametrize(("users", "tokens"), [(1, 295), (2, 145), (6, 45), (30, 5), (60, 0), (61, 0)])
def test_the_longest_context_is_the_straight_lines(users: int, tokens: int) -> None:
    assert longest_context((load(),), users, MODEL) == tokens


def test_the_longest_context_is_at_most_the_models() -> None:
    roomy = load(usable=Usable(5000.0, 5000.0, 0.0, None))
    assert longest_context((roomy,), 1, MODEL) == 500
    assert longest_context((roomy, load()), 1, MODEL) == 295  # of two devices the shorter
    endless = load(cache=replace(PLAIN, growing_bytes_per_token=0.0))
    assert longest_context((endless,), 1, replace(MODEL, max_context_tokens=None)) == UNBOUNDED_CONTEXT_TOKENS


def test_a_window_that_is_not_full_is_found_by_halving() -> None:
    """Windows of 400 tokens of 2 bytes beside the growing layers: 590 bytes hold 147 tokens at 4, though full ones never fit."""
    windows = replace(PLAIN, windows=((2.0, 400.0, 400.0),))
    assert _on_the_line(load(cache=windows), 1) == 0
    assert longest_context((load(cache=windows),), 1, MODEL) == 147


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_largest_number_between(most: int, holding: int) -> None:
    assert largest_between(0, most, lambda number: number <= holding) == min(most, holding)


@pytest.mark.parametrize(
    ("part", "spare", "held", "users"),
    [
        (Part(CARD, 1000.0), 600.0, 100.0, 6),
        (Part(CARD, 1000.0), 600.0, 599.0, 1),
        (Part(CARD, 1000.0), 599.0, 600.0, 0),
        (Part(CARD, 1000.0, cache_share=0.5), 600.0, 100.0, 12),
        (Part(CARD, 1000.0, user_share=0.5), 700.0, 200.0, 6),  # three here, as many elsewhere
        (Part(CARD, 1000.0, user_share=0.07), 700.0, 100.0, 64),  # 100, but the engine takes 64
        (Part(CARD, 1000.0), 0.3, 0.1, 3),  # 0.3 / 0.1 is 2.999… to a computer
        (Part(CARD, 1000.0), -1.0, 100.0, 0),
        (Part(CARD, 1000.0), 0.0, 0.0, 64),  # no cache: as many as the engine takes
    ],
)
def test_the_most_users(part: Part, spare: float, held: float, users: int) -> None:
    place = replace(load(part, usable=Usable(spare, spare, 0.0, None), fixed=0.0), weights_bytes=0.0)
    assert most_users(rooms(place), 100, held) == users


def test_whole_users_at_shares_that_are_no_binary_numbers() -> None:
    place = replace(load(Part(CARD, 1000.0, user_share=0.07)), buffers=(State(0.0),))
    assert most_users(rooms(place, max_sequences=1000), 1, 100.0) == 100  # 7 / 0.07 is 99.999… to a computer


def test_what_each_user_adds_to_the_buffers() -> None:
    """One byte for each token of each user's: 1,000 - 300 - 100 - 20 of state = 580 at 2 × (2 + 1); 600 / (100 + 100)."""
    place = replace(load(), buffers=(State(100.0, 0.0, 1.0),))
    assert (_on_the_line(place, 2), longest_context((place,), 2, MODEL)) == (96, 96)
    assert most_users(rooms(place), 100, 100.0) == 3
    assert most_users(rooms(replace(place, buffers=(State(100.0), State(500.0, 0.0, 1.0)))), 100, 100.0) == 1  # of two states the larger
    assert asked(rooms(place), users=2).devices[0].overhead_bytes == 300


def test_bytes_on_each_device() -> None:
    """Three users of 100 tokens: 210 bytes each; one device serves half of the users and keeps half of each one's cache."""
    half = load(Part(CARD, 1000.0, cache_share=0.5, user_share=0.5))
    found = asked(rooms(load(), half), users=3)
    whole, shared = found.devices
    assert (whole.weights_bytes, whole.cache_bytes, whole.overhead_bytes, whole.needed_bytes) == (300, 630, 100, 1030)
    assert (whole.headroom_bytes, shared.cache_bytes, shared.headroom_bytes) == (-30, 210, 390)
    assert not found.fits
    assert asked(rooms(load(), half), users=2).fits


def test_who_does_not_get_a_turn_keeps_no_cache() -> None:
    """Five users of an engine that takes two at a time."""
    found = asked(rooms(load(), max_sequences=2), users=5)
    assert (found.users, found.at_a_time, found.devices[0].cache_bytes, found.fits) == (5, 2, 420, True)


def test_as_many_as_fit_are_at_least_one() -> None:
    assert asked(rooms(load()), users=None).users == 2  # 600 / 210
    assert asked(rooms(load()), users=None, tokens=400).users == 1  # 810 of 600: it does not fit, and that is said of one
    assert not asked(rooms(load()), users=None, tokens=400).fits


def code(found: Fit) -> list[str]:
    return [each.code for each in found.reasons]


def test_a_limit_to_raise() -> None:
    """800 bytes by default, 1,000 when raised, of which an engine takes nine tenths: 610 fit at once, 730 only after raising."""
    room = Usable(800.0, 1000.0, 0.0, "raise it")
    place = rooms(load(usable=room, taken=0.9))
    assert (asked(place).fits, asked(place).raise_limit, code(asked(place))) == (True, False, ["memory.fits"])
    raised = asked(place, tokens=160)  # 300 + 330 + 100 of 720
    assert (raised.fits, raised.raise_limit, code(raised)) == (True, True, ["memory.fits", "memory.raise-limit"])
    assert raised.reasons[1].facts == {"device": "rtx-3090", "default_bytes": 800.0, "limit_bytes": 1000.0, "command": "raise it"}
    assert not asked(place, tokens=155).raise_limit  # 720 of 720
    both = rooms(*(load(usable=room, taken=0.9),) * 2)
    assert code(asked(both, tokens=160)) == ["memory.fits", "memory.raise-limit"]  # one command, said once
    full = rooms(load(usable=Usable(730.0, 730.0, 0.0, None)))
    assert code(asked(full, tokens=160)) == ["memory.fits"]  # to the last byte
    assert code(asked(place, tokens=300)) == ["memory.short"]  # 1,010 of 900: raising does not help, and is not advised


def test_the_hosts_memory_is_counted_with_its_users() -> None:
    """120 bytes of weights and half of each of two users' 210: 330 bytes."""

    def place(room: float | None) -> Rooms:
        return rooms(load(), host_room_bytes=room, host_weights_bytes=120.0, host_cache_share=0.5)

    assert [asked(place(room), users=2).fits for room in (330.0, 329.0, None)] == [True, False, True]
    short = asked(place(329.0), users=2)
    assert (short.host_needed_bytes, code(short)) == (330, ["memory.host-short"])
    assert short.reasons[0].facts == {"needed_bytes": 330, "usable_bytes": 329}
    assert code(asked(place(329.0), users=3)) == ["memory.short", "memory.host-short"]  # 1,030 of 1,000 on the card, 435 of 329 in the host
    assert code(asked(place(1000.0), users=3)) == ["memory.short"]


def test_the_tightest_device_is_the_one_spoken_of() -> None:
    small = load(Part(CATALOG.device("rtx-3060-12gb"), 1000.0), usable=Usable(600.0, 600.0, 0.0, None))
    (said,) = asked(rooms(load(), small)).reasons
    assert (said.code, said.facts["device"], said.facts["short_bytes"]) == ("memory.short", "rtx-3060-12gb", 10)  # 610 of 600


def test_what_is_read_from_disk_is_no_fit() -> None:
    found = asked(rooms(load(), disk_bytes=50.0, host_room_bytes=900.0))
    assert (found.fits, found.max_users, found.max_context_tokens) == (False, 0, 0)
    (said,) = found.reasons
    assert (said.code, said.facts) == ("memory.disk", {"disk_bytes": 50.0, "usable_bytes": 900.0})
