"""Bounds at reached rates: by hand, and never below what a closer look finds."""

from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from advisor.advice.bounds import bounds_of
from advisor.advice.desk import Desk, Work
from advisor.advice.nearly import Nearly
from advisor.advice.offers import all_offers
from advisor.advice.reaches import Reach
from advisor.catalog import Catalog
from advisor.choose import bind
from advisor.need import Need, Workload

CATALOG = Catalog.load(user_folder=False)
# 4 s of dense weights, 8 s of all experts, 1 s of unpacking for a user that grows with the square root of them, 0.5 s of matrix work
# for each, half a second that nobody shares, a cache of 10 bytes/s
SLOW = Reach(4.0, 8.0, 1.0, 0.5, 0.5, 0.5, 10.0, cuts=True)
QUICK = Reach(2.0, 4.0, 0.5, 0.5, 0.25, 0.25, 20.0, cuts=True)


@pytest.mark.parametrize(
    ("users", "dense", "experts", "seconds"),
    [
        (1, 1.0, 0.25, 4 + 2 + 1),
        (4, 1.0, 0.25, 4 + 2 + 2),
        (4, 0.5, 0.0, 2 + 0 + 2),
        (100, 1.0, 0.25, 100 * 0.5),  # 16 s of reading and unpacking hide behind it
    ],
)
def test_a_step_on_one_device(users: float, dense: float, experts: float, seconds: float) -> None:
    assert SLOW.layers_s(users, dense, experts) == pytest.approx(seconds)


def nearly(users: int = 4, together: float | None = None) -> Nearly:
    """Each user touches a sixteenth of the experts and has 5 bytes of cache; the host's processor reaches 50, a layer there takes 0.1 s."""
    found = object.__new__(Nearly)
    found._users, found._cached_bytes, found._touched = users, 5.0 * users, lambda count: count / 16
    paces: Any = SimpleNamespace(
        together=lambda way, count: users if together is None else together,
        slowest_bytes_per_s=lambda seats: 3.0,
        way_s=lambda layers: 0.1 * layers,
        host_flops=lambda host: host,
    )
    found._paces = paces
    reaches: Any = SimpleNamespace(
        of=lambda way, device: device.reach,
        quickest=lambda way, devices: min(device.reach for device in devices),
    )
    found._reaches = reaches
    return found


def seats(*reaches: Reach, room: float = 1000.0, splits: str = "offload") -> Any:
    """100 bytes of experts in 10 of 10 layers, 300 of layers with 60 of cache; a token multiplies 30 params of layers, 10 of experts."""
    weights = SimpleNamespace(
        expert_bytes=100.0, dense_bytes=300.0, layers=10, expert_layers=10, dense_params=30.0, chosen_share=0.25, expert_params=40.0
    )
    way = SimpleNamespace(
        weights=weights, backend=SimpleNamespace(splits={splits}), cache_bytes=60.0, engine=SimpleNamespace(offload_keeps="cache")
    )
    made = [SimpleNamespace(reach=reach, unified_memory=False) for reach in reaches]
    return [(SimpleNamespace(way=way, device=each, room_bytes=room, held_bytes=460.0, alone_bytes=415.0), 1) for each in made]


def offered(count: int, ram_bytes: float = 0.0, ram_bytes_per_s: float = 2.0, flops: float | None = None, boxes: int = 1) -> Any:
    return SimpleNamespace(count=count, boxes=boxes, ram_bytes=ram_bytes, ram_bytes_per_s=ram_bytes_per_s, host=flops)


def test_on_one_device_in_turn_and_each_on_every_layer() -> None:
    """Four users: 4 + 8 / 4 + 2 of weights and unpacking, 20 bytes of cache at 10 a second, half a second beside."""
    one = 4 + 2 + 2 + 2
    assert nearly().step_s(seats(SLOW), -1, offered(1)) == pytest.approx(one + 0.5)
    of_one_user = 4 + 0.5 + 1 + 0.5
    alike = [(seats(SLOW)[0][0], 2)]
    assert nearly().step_s(alike, -1, offered(2)) == pytest.approx(one / 2 + 0.5)  # both on every layer
    whole = [(seats(SLOW._replace(cuts=False))[0][0], 2)]
    of_two_users = 4 + 1 + 2**0.5 + 1
    assert nearly().step_s(whole, -1, offered(2)) == pytest.approx(of_two_users + 0.5)  # copies with two users each
    narrow = [(seats(SLOW._replace(cuts=False), room=414)[0][0], 2)]
    assert nearly().step_s(narrow, -1, offered(2)) == pytest.approx(one + 0.5)  # in turn
    assert nearly(together=1).step_s(narrow, -1, offered(2)) == pytest.approx(of_one_user + 0.5)
    assert nearly().step_s(narrow, -1, offered(2, boxes=2)) == pytest.approx(of_two_users + 0.5)


def test_of_unlike_devices_all_on_the_quickest_or_shared_by_speed() -> None:
    slow, quick = 4 + 2 + 2 + 2, 2 + 1 + 1 + 1
    copied = 2 + 0.25 + 0.5 + 0.25  # one user alone on the quick one
    assert nearly().step_s(seats(SLOW, QUICK), -1, offered(2)) == pytest.approx(copied + 0.25)
    assert nearly().step_s(seats(SLOW, QUICK, room=414), -1, offered(2)) == pytest.approx(1 / (1 / slow + 1 / quick) + 0.25)
    uncut = seats(SLOW._replace(cuts=False), QUICK._replace(cuts=False), room=414)
    assert nearly().step_s(uncut, -1, offered(2)) == pytest.approx(quick + 0.25)


def test_with_a_part_in_host_memory() -> None:
    """40 bytes short: two fifths of the experts. 40 / 4 of them are read there at 2 bytes/s, and four layers have something there."""
    inside = 4 + 0.6 * 2 + 2 + 2 + 0.5
    asked = seats(SLOW), 40.0, offered(1, ram_bytes=1000.0)
    assert nearly().step_s(*asked) == pytest.approx(10 / 2 + 0.1 * 4 + inside)
    # 2 x 4 users x 0.4 x 0.25 x 40 = 32 operations: at 4 a second longer than the reading, at 50 not
    for flops, seconds in ((4.0, 8.0), (50.0, 5.0)):
        assert nearly().step_s(seats(SLOW), 40.0, offered(1, 1000.0, flops=flops)) == pytest.approx(seconds + 0.4 + inside)
    # 180 bytes more than all experts: half of the layers with their cache, at 150 bytes to read beside the 25 of experts
    half = (25 + 150) / 2 + 0.1 * 10 + (2 + 0 + 2) + 1 + 0.5
    assert nearly().step_s(seats(SLOW), 280.0, offered(1, 1000.0)) == pytest.approx(half)
    assert nearly().step_s(seats(SLOW), 461.0, offered(1, 1000.0)) == float("inf")
    assert nearly().step_s(seats(SLOW), 40.0, offered(1)) == float("inf")  # no such memory
    assert nearly().step_s(seats(SLOW, splits="layers"), 40.0, offered(1, 1000.0)) == float("inf")


def test_a_quicker_host_memory_may_hold_more_than_it_must() -> None:
    """At 30 bytes/s all experts are read there in 25 / 30 s, where the device takes 2 s."""
    found = nearly().step_s(seats(SLOW), -1, offered(1, 1000.0, ram_bytes_per_s=30.0))
    assert found == pytest.approx(25 / 30 + 0.1 * 10 + 4 + 2 + 2 + 0.5)


@pytest.mark.parametrize(
    ("model", "users", "owned"),
    [
        ("llama-3.3-70b", 1, "rtx-3090"),
        ("gpt-oss-120b", 7, "rtx-3090"),
        ("qwen3-30b-a3b", 20, "rx-7900-xtx"),
        ("qwen3-235b-a22b", 3, "2x rtx-4090"),
        ("qwen3-8b", 64, None),
    ],
)
def test_never_below_the_closer_bound(model: str, users: int, owned: str | None) -> None:
    work = Workload(users=users, context_tokens=8192, prompt_tokens=1000)
    have = bind(owned, CATALOG) if owned else None
    desk = Desk(Need(model=model, workload=work), have, CATALOG, CATALOG.model(model), date(2026, 11, 30))
    found = bounds_of(desk, Work(work, None, "f16"))
    offers = [each for offer in all_offers(desk).priced[::3] for each in (offer, *all_offers(desk).roomier(offer)[:1])]
    near = [(found.nearly(offer), found.of(offer).tokens_per_s) for offer in offers]
    desk.clear()
    assert all(rough >= close for rough, close in near)
    assert sum(close > 0 for _, close in near) > 100
    assert sum(rough < 1.5 * close for rough, close in near if close) > 0.5 * sum(close > 0 for _, close in near)
