"""Why a step takes as long as it does, by hand: the longest terms first, each of a tenth or more; waiting for weights; stops."""

from dataclasses import replace
from typing import Any

import pytest
from test_pace import CARD, MIXTURE, SEND, SLOW, part, runner

from advisor.placement import Placement
from advisor.step import Terms
from advisor.why import _read_bytes, reasons, stops, waiting

PAIR = Placement("layers", (part(), part(device=SLOW, stage=1)), (SEND,))


def test_the_longest_terms_first_and_none_below_a_tenth() -> None:
    terms = Terms(weights_s=0.3, cache_s=0.1, compute_s=0.5, host_memory_s=0.099, overhead_s=0.001)
    found = reasons(terms, runner(), PAIR, 1)
    assert [each.code for each in found] == ["decode.compute", "decode.weights", "decode.cache"]
    assert [each.facts["term_s"] for each in found] == [0.5, 0.3, 0.1]
    assert found[0].facts["total_s"] == pytest.approx(1.0)


def test_the_part_that_reads_longest_is_spoken_of() -> None:
    """Half of 8 GB each: 360 GB/s take longer than 936; with a tenth of it there the other one does."""
    terms = Terms(weights_s=1.0)
    assert reasons(terms, runner(), PAIR, 1)[0].facts["device"] == SLOW.id
    assert reasons(terms, runner(), PAIR, 1)[0].facts["read_bytes"] == 4e9
    light = replace(PAIR, parts=(part(0.9), part(0.1, device=SLOW, stage=1)))
    assert reasons(terms, runner(), light, 1)[0].facts["device"] == CARD.id


def test_bytes_that_a_part_reads() -> None:
    # a quarter of 8 GB, of 1 GB of head, and of the eighth of 16 GB that one token touches
    weights = replace(MIXTURE, head_bytes=1e9)
    assert _read_bytes(part(0.25), runner(weights), 1) == pytest.approx(2e9 + 0.25e9 + 0.5e9)


def test_what_messages_wait_for() -> None:
    # 7 µs of latency and 5 µs for five users' 10 KB: beside 1 µs of the rest both are worth a word
    found = reasons(Terms(link_s=12e-6, weights_s=1e-6), runner(), PAIR, 5)
    assert [each.code for each in found] == ["decode.link-latency", "decode.link-bandwidth"]
    assert [each.facts["term_s"] for each in found] == pytest.approx([7e-6, 5e-6])
    assert (found[0].facts["messages"], found[0].facts["devices"], found[0].facts["message_bytes"]) == (1, 2, 5e4)


@pytest.mark.parametrize(
    ("load_s", "share"),
    [(None, None), (0.0, None), (86.0, None), (86.4, 0.01), (864.0, 0.1), (8640.0, 1.0), (20000.0, 1.0)],  # ten swaps a day: 8,640 s each
)
def test_waiting_for_weights(load_s: float | None, share: float | None) -> None:
    found = waiting(load_s, "an SSD")
    assert [each.facts["waiting_share"] for each in found] == ([] if share is None else [pytest.approx(share)])
    assert all(each.facts["swaps_per_day"] == 10 for each in found)


@pytest.mark.parametrize(
    ("devices", "groups", "code", "more"),
    [
        (4, 1, "stops.together", {}),
        (4, 4, "stops.alone", {"groups": 4, "devices_each": 1}),
        (4, 2, "stops.group", {"groups": 2, "devices_each": 2}),
    ],
)
def test_stops_of_several_devices(devices: int, groups: int, code: str, more: dict[str, Any]) -> None:
    (found,) = stops(runner(), replace(PAIR, groups=groups), devices, 2)
    facts = {"devices": devices, "boxes": 2, "stops_per_year": 0.17 * devices, "stops_per_device_year": 0.17, **more}
    assert (found.code, found.facts) == (code, facts)
    assert stops(runner(), PAIR, 1, 1) == ()
