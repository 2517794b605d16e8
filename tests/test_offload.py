"""What an offload leaves in host memory, by hand: experts first, then whole layers with their cache, then the disk."""

from types import SimpleNamespace
from typing import Any

import pytest
from test_pace import DENSE, part

from advisor.need import Workload
from advisor.placement.offload import _moved, _to_disk, cache_beside_bytes, left_in_host, out_bytes
from advisor.record import replace

# eight layers of 100 bytes, of which five have experts of 200
WEIGHTS = replace(DENSE, dense_bytes=800.0, expert_bytes=1000.0, layers=8, expert_layers=5, experts=4, experts_per_token=1)


def job(room: float | None = None, keeps: str = "cache", users: int | None = 2, weights: Any = WEIGHTS) -> Any:
    """Two users with 40 bytes of cache each."""
    cache = SimpleNamespace(held_bytes=lambda tokens: 0.4 * tokens)
    engine = SimpleNamespace(offload_keeps=keeps)
    return SimpleNamespace(
        weights=weights, cache=cache, engine=engine, workload=Workload(users=users, context_tokens=100), host_room_bytes=room
    )


@pytest.mark.parametrize(
    ("short", "experts", "whole", "beside"),
    [
        (0, 0, 0, 0),
        (1, 1, 0, 1),  # of one layer the experts
        (200, 1, 0, 1),
        (201, 2, 0, 2),
        (1000, 5, 0, 5),  # of all
        (1001, 5, 1, 4),  # and a layer of 100 bytes with 10 of the users' cache; of the other four still only the experts
        (1110, 5, 1, 4),
        (1111, 5, 2, 3),
        (1880, 5, 8, 0),  # everything
    ],
)
def test_experts_move_first_then_layers_with_their_cache(short: float, experts: int, whole: int, beside: int) -> None:
    found = _moved(job(), part(1.0), short)
    assert found
    assert (found.layers, found.host_layers, found.host_expert_layers) == (8, whole, beside)
    assert (found.host_expert_share, found.expert_share) == pytest.approx((experts / 5, 1 - experts / 5))
    assert (found.host_dense_share, found.dense_share) == pytest.approx((whole / 8, 1 - whole / 8))
    assert (found.host_cache_share, found.cache_share) == pytest.approx((whole / 8, 1 - whole / 8))
    assert out_bytes(job(), found) == pytest.approx(800 * whole / 8 + 1000 * experts / 5)


def test_what_is_too_much_even_so() -> None:
    assert _moved(job(), part(1.0), 1881) is None


def test_the_cache_stays_where_weights_are_streamed() -> None:
    found = _moved(job(keeps="streams"), part(1.0), 1100)
    assert found
    assert (found.host_layers, found.host_cache_share, found.cache_share) == (1, 0, 1)
    beyond = _moved(job(keeps="streams"), part(1.0), 1101)
    assert beyond
    assert beyond.host_layers == 2  # 100 bytes each


def test_a_dense_model_and_half_of_a_mixture() -> None:
    plain = replace(WEIGHTS, expert_bytes=0.0, expert_layers=0)
    found = _moved(job(weights=plain), part(1.0), 111)
    assert found
    assert (found.host_layers, found.host_expert_layers, found.host_expert_share) == (2, 0, 0)
    half = _moved(job(), part(0.5), 251)  # four layers, two with experts of 250 bytes: both move
    assert half
    assert (half.layers, half.host_expert_layers, half.host_expert_share, half.expert_share) == (4, 2, 0.5, 0)


def test_a_part_with_so_many_layers_outside() -> None:
    found = left_in_host(part(1.0), WEIGHTS, 3, 2)
    assert (found.layers, found.host_layers, found.host_expert_layers) == (8, 2, 3)
    assert (found.host_expert_share, found.expert_share, found.host_dense_share, found.host_cache_share) == pytest.approx(
        (0.6, 0.4, 0.25, 0.25)
    )
    assert left_in_host(part(1.0), WEIGHTS, 0, 0).host_expert_share == 0


@pytest.mark.parametrize(("users", "keeps", "bytes_"), [(2, "cache", 80), (None, "cache", 40), (2, "streams", 0)])
def test_the_cache_beside_the_layers(users: int | None, keeps: str, bytes_: float) -> None:
    assert cache_beside_bytes(job(users=users, keeps=keeps)) == bytes_


@pytest.mark.parametrize(
    ("room", "lost"),
    [(None, 0), (840, 0), (839, 1 / 800), (640, 0.25), (40, 1.0), (0, 1.0)],  # half of the 80 bytes of cache lie there too
)
def test_what_the_hosts_memory_cannot_hold_goes_to_disk(room: float | None, lost: float) -> None:
    """Half of 800 bytes and two fifths of 1,000 outside: 800 of 1,800."""
    outside = part(1.0, host_dense_share=0.5, host_expert_share=0.4, host_cache_share=0.5)
    (found,) = _to_disk(job(room), (outside,))
    assert found.disk_share == pytest.approx(lost * 800 / 1800)


def test_two_parts_lose_in_proportion() -> None:
    one, other = part(1.0, host_dense_share=0.375), part(1.0, host_dense_share=0.125)  # 300 and 100 bytes
    assert [each.disk_share for each in _to_disk(job(200.0), (one, other))] == pytest.approx([150 / 1800, 50 / 1800])
