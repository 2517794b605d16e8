"""The pace of a placement by hand: stages, users on replicas, experts on ranks, what lies outside, prompts in chunks, the longest term."""

from math import log, sqrt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_collective import RING, link, message, table
from test_step import DEVICE

from advisor.cache import Cache
from advisor.catalog import Catalog
from advisor.pace import Runner, Team, _disk, _in_host_s, bottleneck, imbalance, prompt_s, served, step_terms, teams, times, uses_host
from advisor.placement import Part, Placement
from advisor.record import replace
from advisor.step import Terms
from advisor.units import MS
from advisor.weights import Weights

CATALOG = Catalog.load(root=Path(__file__).parent / "catalog", user_folder=False)
CARD, SLOW = CATALOG.device("rtx-3090"), CATALOG.device("rtx-3060-12gb")
# round numbers: 1 TB/s for weights, 0.5 TB/s for experts and cache, 10 µs a layer and 100 µs a step; unpacking and matrix work of
# decoding take nothing, prompts 100 TFLOPS in chunks of 512
PLAIN = replace(DEVICE, unpack_flops=1e30, batch_share=1e9, user_s=0.0)
DENSE = Weights(
    quant="q8_0", speed_class="q8", embedding_bytes=0, head_bytes=0, dense_bytes=8e9, expert_bytes=0, vision_bytes=0, embedding_params=0,
    head_params=0, dense_params=8e9, expert_params=0, vision_params=0, mtp_params=0, experts=0, experts_per_token=0, expert_layers=0,
    layers=32, bits_per_weight=8,
)  # fmt: skip
MIXTURE = replace(DENSE, expert_bytes=16e9, expert_params=16e9, experts=64, experts_per_token=8)
CACHE = Cache("f16", 1e5, (), 0, 8, False, 0, ())  # 100 KB a token


def runner(weights: Weights = DENSE, **more: Any) -> Runner:
    """Runs a model of 32 layers; the slow card reads weights at half the rate."""
    reached = {CARD.id: PLAIN, SLOW.id: replace(PLAIN, weights_bytes_per_s=0.5e12)}
    calibration: Any = SimpleNamespace(constants=lambda engine, backend, device, *_: reached[device.id], routing_exponent=0.7)
    return Runner(CATALOG.model("qwen3-8b"), weights, CACHE, calibration, table(RING), "llama.cpp", "cuda", **more)


def part(share: float = 0.5, **more: Any) -> Part:
    shares = dict.fromkeys(("layer_share", "dense_share", "expert_share", "head_share", "cache_share", "compute_share"), share)
    return Part(**{"device": CARD, "memory_bytes": CARD.largest_memory_bytes, **shares, **more})


def team(*stages: tuple[Part, ...], **more: Any) -> Team:
    return Team(
        **{"stages": stages, "messages": (), "copies": 1, "user_share": 1.0, "fill": 0.0, "overlap": 0.0, "expert_ranks": 1, **more}
    )


SEND = message("send", 2, 1e4, link())  # 7 µs, and 1 µs for each token of 10 KB at 10 GB/s
UNEVEN = (part(dense_share=0.75),), (part(dense_share=0.25),)


def test_stages_follow_one_another() -> None:
    # each user 1,000 tokens deep: 8 GB / 1 TB/s, 0.1 GB / 0.5 TB/s, 32 × 10 µs + 100 µs
    assert step_terms(runner(), team((part(1.0),)), 1, 1000).total_s == pytest.approx(8.62 * MS)
    assert step_terms(runner(), team((part(),), (part(),)), 1, 1000).total_s == pytest.approx(8.62 * MS)
    # two users read twice the cache and send 10 KB more
    found = step_terms(runner(), team((part(),), (part(),), messages=(SEND,)), 2, 1000)
    assert found == pytest.approx((8 * MS, 0.4 * MS, 0, 0, 0.009 * MS, 0.42 * MS), abs=1e-12)


def test_the_slowest_of_a_stage_sets_its_time() -> None:
    half = step_terms(runner(), team((part(), part(device=SLOW))), 1, 1000)
    assert half.total_s == pytest.approx((8 + 0.1 + 0.21) * MS)  # half of 8 GB at 0.5 TB/s


@pytest.mark.parametrize(
    ("users", "fill", "ms"),
    [
        (1, 1.0, 8.62 + 0.008),  # one user fills no pipeline
        (2, 1.0, 2 * (6.31 + 0.004)),  # two batches, each as long as 6 + 0.1 + 0.21 ms and half of what a pass sends
        (3, 1.0, 2 * (6.36 + 0.00425)),  # batches of one and a half users
        (3, 0.0, 6.51 + 2.51 + 0.010),
        (3, 0.5, (12.7285 + 9.03) / 2),
    ],
)
def test_batches_fill_the_stages(users: int, fill: float, ms: float) -> None:
    found = step_terms(runner(), team(*UNEVEN, messages=(SEND,), fill=fill), users, 1000)
    assert found.total_s == pytest.approx(ms * MS)


def test_a_round_is_no_shorter_than_one_pass() -> None:
    """Two users in three equal stages: twice a third is less than what each of them needs."""
    third = part(1 / 3)
    assert step_terms(runner(), team((third,), (third,), (third,), fill=1.0), 2, 1000).total_s == pytest.approx(8.62 * MS)


@pytest.mark.parametrize(
    "share",
    ["layer_share", "dense_share", "expert_share", "head_share", "cache_share", "compute_share", "host_dense_share", "host_expert_share",
     "disk_share"],
)  # fmt: skip
def test_equal_parts_are_worked_out_once_and_others_apart(share: str) -> None:
    assert team((part(), part()), (part(),)).unlike == ((part(),), ((0, 0), (0,)))
    other = part(**{share: 0.3})
    assert team((part(), other), (part(),)).unlike == ((part(), other), ((0, 1), (0,)))


def test_attention_on_its_own_users_reads_their_cache_alone() -> None:
    """Two boxes hold whole heads for half of the users each; two replicas have users of their own, counted by the group."""
    boxes = (part(cache_share=1.0, user_share=0.5), part(cache_share=1.0, user_share=0.5, stage=1))
    (one,) = teams(Placement("experts", boxes))
    assert ([each[0].cache_share for each in one.stages], one.user_share, one.copies) == ([0.5, 0.5], 1.0, 1)
    groups = (part(1.0, user_share=0.25), part(1.0, device=SLOW, user_share=0.5, group=1))
    found = teams(Placement("replicas", groups, groups=3, copies=(2, 1)))
    assert [(each.copies, each.user_share, each.stages[0][0].cache_share) for each in found] == [(2, 0.25, 1.0), (1, 0.5, 1.0)]


@pytest.mark.parametrize(
    ("shares", "users", "shared_out"),
    [  # (copies, share of all users of each); shared out as (copies, users of each)
        (((2, 0.25), (1, 0.5)), 4, [(2, 1), (1, 2)]),
        (((2, 0.25), (1, 0.5)), 5, [(2, 1), (1, 3)]),  # of 1.25, 1.25 and 2.5
        (((2, 0.25), (1, 0.5)), 6, [(1, 2), (1, 1), (1, 3)]),  # of 1.5, 1.5 and 3
        (((2, 0.25), (1, 0.5)), 7, [(2, 2), (1, 3)]),  # of 1.75, 1.75 and 3.5
        (((2, 0.25), (1, 0.5)), 1, [(1, 1)]),  # the others have nobody
        (((1, 0.25), (1, 0.75)), 2, [(1, 2)]),  # of 0.5 and 1.5: the one that is more to take it
        (((1, 0.29), (1, 0.71)), 100, [(1, 29), (1, 71)]),  # 100 × 0.29 is 28.999… to a computer
    ],
)
def test_users_go_to_copies_as_whole_people(shares: Any, users: int, shared_out: list[tuple[int, int]]) -> None:
    found = list(served(tuple(team((part(),), copies=copies, user_share=share) for copies, share in shares), users))
    assert [(copies, each) for _, copies, each in found] == shared_out
    assert sum(copies * each for _, copies, each in found) == users


@pytest.mark.parametrize(
    ("experts", "chosen", "ranks", "factor"),
    [
        (64, 8, 4, (2 + sqrt(2 * 2 * (7 / 8) * log(4))) / 2),  # 8 of 64 touched: 2 on each of 4 devices in the mean
        (64, 1, 8, 1 / (1 / 8)),  # one expert lies on one of 8 devices
        (8, 7, 8, 1 / (7 / 8)),  # no device reads more than the one that it holds
        (64, 8, 1, 1.0),
        (0, 0, 4, 1.0),
    ],
)
def test_the_busiest_of_the_devices_that_hold_experts(experts: int, chosen: int, ranks: int, factor: float) -> None:
    weights = replace(MIXTURE, experts=experts, experts_per_token=chosen)
    assert imbalance(weights, ranks, 1, 0.7) == pytest.approx(factor)  # one token touches what it chooses, whatever the exponent


def test_the_busiest_device_sets_the_pace_of_the_experts() -> None:
    # each of 4 holds 4 GB of experts; a token reads an eighth: 0.5 GB in the mean, at 0.5 TB/s
    four = team(tuple(part(dense_share=1.0, expert_share=0.25) for _ in range(4)), expert_ranks=4)
    alone = replace(four, expert_ranks=1)
    assert step_terms(runner(MIXTURE), alone, 1, 0).weights_s == pytest.approx((8 + 1) * MS)
    assert step_terms(runner(MIXTURE), four, 1, 0).weights_s == pytest.approx((8 + 1 * imbalance(MIXTURE, 4, 1, 0.7)) * MS)


def test_the_processor_reads_once_and_multiplies_for_each() -> None:
    outside = part(host_dense_share=0.5, host_expert_share=0.25, host_layers=2, host_expert_layers=3)
    unmeasured = runner(MIXTURE, host_layer_s=0.1 * MS)
    assert _in_host_s(unmeasured, outside, 2, 18 * MS) == pytest.approx(18.5 * MS)  # five ways of 0.1 ms
    # half of 8e9 and a quarter of an eighth of 16e9 weights, two operations each for two users, at 1 TFLOPS: 18 ms too
    counted = runner(MIXTURE, host_layer_s=0.1 * MS, host_flops=1e12)
    assert _in_host_s(counted, outside, 2, 18 * MS) == pytest.approx((0.5 + 18 * 2 ** (1 / 3)) * MS)


def test_host_memory_is_read_by_what_lies_there() -> None:
    """A quarter of 8 GB and of a user's 100 MB at 50 GB/s, beside three quarters on the card."""
    inside = part(0.75, host_dense_share=0.25, host_cache_share=0.25)
    found = step_terms(runner(host_bytes_per_s=50e9), team((inside,)), 1, 1000)
    assert found.host_memory_s == pytest.approx((2e9 + 25e6) / 50e9)
    assert found.weights_s == pytest.approx(6 * MS)
    assert step_terms(runner(host_bytes_per_s=50e9), team((part(0.75),)), 1, 1000).host_memory_s == 0
    assert [uses_host(part(**{share: 0.1})) for share in ("host_dense_share", "host_expert_share", "host_cache_share", "disk_share")] == [
        True, True, True, False,
    ]  # fmt: skip


def test_what_no_memory_holds_is_read_from_disk() -> None:
    # a tenth of 8 GB and of the eighth of 16 GB that a token touches, at 2 GB/s
    away = part(disk_share=0.1)
    assert _disk(runner(MIXTURE, disk_bytes_per_s=2e9), away, 1) == pytest.approx(Terms(host_memory_s=0.5))
    assert _disk(runner(MIXTURE), away, 1) == Terms()
    assert _disk(runner(MIXTURE, disk_bytes_per_s=2e9), part(), 1) == Terms()
    whole = step_terms(runner(MIXTURE, disk_bytes_per_s=2e9), team((away,)), 1, 0)
    assert whole.host_memory_s == pytest.approx(0.5)
    one = prompt_s(runner(MIXTURE, disk_bytes_per_s=2e9), team((away,)), 1)
    assert one - prompt_s(runner(MIXTURE, disk_bytes_per_s=2e9), team((part(),)), 1) == pytest.approx(0.5)


# of 1,024 tokens, in two chunks: 2 × 1,024 × 6e9 and 2e9 weights at 100 TFLOPS; twice 4 GB at 1 TB/s; twice 16 layers of 10 µs
READING = (part(compute_share=0.75),), (part(compute_share=0.25),)
FIRST_MS, SECOND_MS = 122.88 + 8 + 0.32, 40.96 + 8 + 0.32


@pytest.mark.parametrize(
    ("overlap", "ms"),
    [
        (0.0, FIRST_MS + SECOND_MS),
        (1.0, FIRST_MS + SECOND_MS / 2),  # the second chunk in the first stage while the first is in the second
        (0.5, FIRST_MS + 0.75 * SECOND_MS),
    ],
)
def test_chunks_of_a_prompt_overlap_in_the_stages(overlap: float, ms: float) -> None:
    assert prompt_s(runner(), team(*READING, overlap=overlap), 1024) == pytest.approx(ms * MS)


def test_a_begun_chunk_keeps_stages_as_a_whole_one() -> None:
    # 1,200 tokens in three chunks: a third of the second stage is not hidden
    first, second = (2 * 1200 * weights / 1e14 + 3 * 4.16 * MS for weights in (6e9, 2e9))
    assert prompt_s(runner(), team(*READING, overlap=1.0), 1200) == pytest.approx(first + second / 3)


def test_two_prompts_share_a_chunk() -> None:
    # 256 tokens of each of two: half of one chunk's weights and launches, and nothing to overlap with
    each_ms = 2 * 256 * 8e9 / 1e14 / MS + 0.5 * (8 + 0.32)
    assert prompt_s(runner(), team(*READING, overlap=1.0), 256, together=2) == pytest.approx(each_ms * MS)


def test_a_part_of_what_a_prompt_sends_is_hidden() -> None:
    # each chunk of 512 tokens: 7 µs, and three quarters of 512 × 10 KB at 10 GB/s
    sends = replace(runner(), links=replace(table(RING), prefill_hidden_share=0.25))
    silent = prompt_s(sends, team(*READING), 1024)
    assert prompt_s(sends, team(*READING, messages=(SEND,)), 1024) - silent == pytest.approx(2 * (0.007 + 0.75 * 0.512) * MS)


def test_a_prompt_carries_what_lies_outside_to_the_card() -> None:
    # each of two chunks carries a quarter of 8 GB at 10 GB/s
    outside = part(host_dense_share=0.25)
    carried = prompt_s(runner(host_prompt_bytes_per_s=10e9), team((outside,)), 1024)
    assert carried - prompt_s(runner(), team((outside,)), 1024) == pytest.approx(2 * 0.2)


@pytest.mark.parametrize(
    ("terms", "users", "word"),
    [
        (Terms(weights_s=2, cache_s=2, compute_s=3), 1, "memory-bandwidth"),
        (Terms(weights_s=1, cache_s=1, compute_s=3), 1, "compute"),
        (Terms(weights_s=1, link_s=3), 1, "link-latency"),  # 7 µs of 8
        (Terms(weights_s=1, link_s=3), 21, "link-bandwidth"),  # 7 µs of 28
        (Terms(weights_s=1, link_s=1.1), 1, "memory-bandwidth"),  # neither 0.96 nor 0.14 is the most
        (Terms(host_memory_s=2, weights_s=1), 1, "host-memory"),
        (Terms(overhead_s=2, weights_s=1), 1, "overhead"),
    ],
)
def test_the_longest_term_has_its_word(terms: Terms, users: int, word: str) -> None:
    assert bottleneck(terms, Placement("layers", (part(),), (SEND,)), runner(), users) == word


def test_without_messages_no_link_is_the_longest() -> None:
    assert bottleneck(Terms(weights_s=1), Placement("whole", (part(),)), runner(), 1) == "memory-bandwidth"


def test_every_term_is_multiplied() -> None:
    assert times(Terms(1, 2, 3, 4, 5, 6), 2) == (2, 4, 6, 8, 10, 12)
