"""The rule by hand: what meets a need, what misses it and by how much, which of two is better, how sure the answer is, and what is said."""

from types import SimpleNamespace
from typing import Any

import pytest
from test_judged import CATALOG, need_of, option, way

from advisor.advice.judge import (
    Option,
    affordable,
    best_way,
    counted_usd,
    enough,
    fast_enough,
    gains,
    lies,
    meets,
    per_user,
    rank,
    score,
    short_of_memory,
    shortfalls,
    unpriced,
)
from advisor.advice.roads import _held_share, _lost_to, _missed, _won_speed, impossible, miss, nearest, no_slot, road, why_chosen, why_not
from advisor.advice.sureness import confidence, straddles
from advisor.billed import CostLine
from advisor.bind import bind
from advisor.evidence import Evidence
from advisor.memory import DeviceFit
from advisor.need import Need
from advisor.reason import Reason
from advisor.record import replace


def speed(value: float, low: float, high: float) -> Any:
    return SimpleNamespace(value=value, low=low, high=high)


def held(usable: float, weights: float, cache: float = 0.0, overhead: float = 0.0, count: int = 1) -> DeviceFit:
    return DeviceFit("rtx-3090", count, usable, weights, cache, overhead)


def test_speeds_that_count() -> None:
    two = way(12, sustained=20)
    assert (per_user(two), score(two)) == (12, 20)  # of several users what all get while prompts are read in between
    assert (per_user(way(12)), score(way(12))) == (12, 12)
    assert (per_user(way(12, fits=False)), score(way(12, fits=False))) == (0, 0)


@pytest.mark.parametrize(
    ("rate", "first", "fits", "latest", "does"),
    [
        (10.0, 1.0, True, None, True),  # at the very floor
        (9.99, 1.0, True, None, False),
        (10.0, 2.0, True, 2.0, True),
        (10.0, 2.01, True, 2.0, False),
        (10.0, 1.0, False, None, False),
    ],
)
def test_fast_enough(rate: float, first: float, fits: bool, latest: float | None, does: bool) -> None:
    assert fast_enough(way(rate, first=first, fits=fits), need_of(max_first_token_s=latest)) is does


def test_without_a_prompt_nothing_is_late() -> None:
    unread = way(10)
    unread.first_token_s = None
    assert fast_enough(unread, need_of(max_first_token_s=0.1))
    assert shortfalls(option("mac", 100, unread), need_of(max_first_token_s=0.1)) == ()


@pytest.mark.parametrize(
    ("usd", "resale", "sell_old", "counted", "within"),
    [
        (1000, 300, True, 700, True),
        (1000, 300, False, 1000, False),
        (700, 0, False, 700, True),
        (701, 0, True, 701, False),
        (None, 300, True, None, False),
    ],
)
def test_money_that_counts(usd: float | None, resale: float, sell_old: bool, counted: float | None, within: bool) -> None:
    need, one = need_of(budget_usd=700.0, sell_old=sell_old), option("mac", usd, way(10), resale)
    assert (counted_usd(one.cost, need), affordable(one.cost, need), meets(one, need)) == (counted, within, within)
    assert affordable(one.cost, replace(need, budget_usd=None)) is (usd is not None)  # without a price it is never bought


@pytest.mark.parametrize(("low", "high", "inside"), [(9, 11, True), (10, 11, False), (9, 10, False)])
def test_a_floor_within_an_interval(low: float, high: float, inside: bool) -> None:
    assert straddles(speed(10, low, high), 10) is inside
    assert not straddles(None, 10)


@pytest.mark.parametrize(
    ("evidence", "interval", "sure"),
    [
        (Evidence("measured"), (10, 14), "high"),
        (Evidence("measured"), (9, 14), "medium"),  # the floor lies inside
        (Evidence("calibrated", own_rows=1), (10, 14), "high"),
        (Evidence("calibrated", own_rows=1, host_rows=23), (10, 14), "medium"),  # of host memory only the kind was measured
        (Evidence("calibrated", own_rows=1), (9, 14), "medium"),
        (Evidence("calibrated", family_rows=3), (10, 14), "medium"),
        (Evidence("calibrated", family_rows=2), (10, 14), "low"),  # hardly any of its kin
        (Evidence("extrapolated", family_rows=3), (10, 14), "medium"),
        (Evidence("extrapolated", family_rows=3), (9, 14), "low"),
        (Evidence("physics-only", own_rows=1), (9, 14), "low"),
    ],
)
def test_how_sure_the_answer_is(evidence: Evidence, interval: tuple[float, float], sure: str) -> None:
    one = way(12)
    one.evidence, one.decode_per_user = evidence, speed(12, *interval)
    assert confidence(one, need_of(), 3) == sure


def test_a_first_token_near_the_latest_is_a_doubt_too() -> None:
    one = way(12)
    one.evidence, one.decode_per_user, one.first_token_s = Evidence("measured"), speed(12, 11, 14), speed(1.9, 1.5, 2.5)
    assert [confidence(one, need_of(max_first_token_s=latest), 3) for latest in (None, 2.0, 3.0)] == ["high", "medium", "high"]


def codes(reasons: tuple[Reason, ...]) -> list[str]:
    return [reason.code for reason in reasons]


def test_every_way_in_which_an_option_misses_the_need() -> None:
    need = need_of(max_first_token_s=2.0, budget_usd=900.0)
    found = shortfalls(option("mac", 1000, way(9, first=3.0)), need)
    assert codes(found) == ["need.too-slow", "need.first-token", "need.over-budget"]
    assert [each.facts for each in found] == [
        {"per_user_tokens_per_s": 9, "floor_tokens_per_s": 10},
        {"first_token_s": 3.0, "floor_s": 2.0},
        {"spend_usd": 1000, "budget_usd": 900, "over_usd": 100},
    ]
    assert shortfalls(option("mac", 900, way(10, first=2.0)), need) == ()
    assert codes(shortfalls(option("mac", None, way(10)), need)) == ["price.unknown"]
    assert codes(shortfalls(option("mac", None, way(10)), need_of(new_only=True))) == ["price.not-new"]


def test_the_first_part_to_buy_without_a_price() -> None:
    line = lambda name, usd, owned: CostLine(name, name, 1, usd, owned, None, None)  # noqa: E731
    cost: Any = SimpleNamespace(lines=(line("card", 700, False), line("old card", None, True), line("bridge", None, False)))
    assert unpriced(cost) == "bridge"
    assert unpriced(SimpleNamespace(lines=())) == "a part"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("devices", "host", "disk", "code", "facts"),
    [
        ((held(100, 90, 20),), None, 0, "need.memory-short", {"short_bytes": 10, "needed_bytes": 110, "usable_bytes": 100}),
        ((held(100, 90, 20, count=2),), None, 0, "need.memory-short-each", {"short_bytes": 10, "needed_bytes": 110, "usable_bytes": 100}),
        (
            (held(100, 90, 20), held(50, 40, 20, 5)),
            None,
            0,
            "need.memory-short-each",
            {"short_bytes": 15, "needed_bytes": 65, "usable_bytes": 50},
        ),
        ((held(100, 90, 10),), (80, 64), 0, "need.host-short", {"short_bytes": 16, "needed_bytes": 80, "usable_bytes": 64}),
        ((held(100, 90, 20),), (80, 64), 0, "need.memory-short", {"short_bytes": 10, "needed_bytes": 110, "usable_bytes": 100}),
        ((held(100, 90, 20),), (80, 64), 5, "need.from-disk", {"disk_bytes": 5}),
    ],
)
def test_what_memory_is_short(devices: Any, host: Any, disk: float, code: str, facts: dict[str, float]) -> None:
    needed, usable = host or (0.0, None)
    one: Any = SimpleNamespace(
        fit=SimpleNamespace(devices=devices, disk_bytes=disk, host_needed_bytes=needed, host_usable_bytes=usable),
        quant=SimpleNamespace(id="q4_k_m"),
    )
    found = short_of_memory(one)
    assert (found.code, {name: found.facts[name] for name in facts}) == (code, facts)


LARGE, FITS, SLOW, FAST, FASTER = way(50, fits=False), way(5), way(8), way(12), way(15)


def test_of_the_ways_the_fastest_that_does_else_the_nearest() -> None:
    assert best_way([LARGE, SLOW, FAST, FASTER], need_of()) is FASTER
    assert best_way([LARGE, FITS, SLOW], need_of()) is SLOW
    assert best_way([FASTER, way(11, first=1.0), way(40, first=9.0)], need_of(max_first_token_s=2.0)) is FASTER
    assert best_way([LARGE], need_of()) is LARGE
    assert best_way([], need_of()) is None


def test_what_lies_in_the_devices() -> None:
    assert [lies(each) for each in (FAST, way(12, "offload"), LARGE)] == [True, False, False]
    assert [enough(each, need_of()) for each in (FAST, SLOW, way(12, "offload"))] == [True, False, False]


@pytest.mark.parametrize(
    ("smaller", "full", "worth"),
    [
        (FAST, SLOW, True),  # only the smaller cache does it
        (SLOW, FAST, False),
        (FASTER, FAST, False),  # the full one does it where it lies
        (FASTER, way(12, "offload"), True),
        (way(11), way(12, "offload"), False),  # not faster
        (way(15, "offload"), way(12, "offload"), False),  # outside all the same, and both fast enough
        (way(9, "offload"), way(8, "offload"), True),  # both too slow: the nearer one
        (way(9), way(8), False),
    ],
)
def test_whether_a_smaller_cache_gains(smaller: Any, full: Any, worth: bool) -> None:
    assert gains(smaller, full, need_of()) is worth


def ranked(need: Need, *options: Option) -> list[int]:
    return sorted(range(len(options)), key=lambda number: rank(options[number], need))


def test_the_order_of_the_rule() -> None:
    dear, cheap, quick = option("mac", 2000, way(30)), option("mac", 1000, way(12)), option("second-gpu", 1000, way(15))
    unknown, kept, changed = option("mac", None, way(99)), option("keep", 0, way(11)), option("change-settings", 0, way(40))
    every = (dear, cheap, quick, unknown, kept, changed)
    assert ranked(need_of(), *every) == [4, 5, 2, 1, 0, 3]  # free ones: kept before changed; of one price the faster
    assert ranked(need_of(prefer="fastest"), *every) == [3, 5, 0, 2, 1, 4]
    same = option("keep", 0, way(40))
    assert ranked(need_of(prefer="fastest"), changed, same) == [1, 0]


@pytest.mark.parametrize(
    ("fits", "reached", "usd", "order"),
    [
        (True, 1.0, 900, (False, False, -1.0, 900)),
        (True, 0.8, 900, (False, False, -0.8, 900)),
        (True, 0.8, 2000, (False, False, -0.4, 2000)),  # twice the budget counts like half the speed
        (True, 1.0, None, (False, True, -1.0, 0)),
        (False, 0.5, 1000, (True, False, -0.5, 1000)),
    ],
)
def test_how_far_from_the_need(fits: bool, reached: float, usd: float | None, order: tuple[Any, ...]) -> None:
    assert _missed(fits, reached, usd, need_of(budget_usd=1000.0)) == order


def test_the_nearest_miss() -> None:
    need = need_of(max_first_token_s=2.0)
    assert miss(option("mac", 500, way(8, first=1.0)), need) == (False, False, -0.8, 500)
    assert miss(option("mac", 500, way(20, first=4.0)), need) == (False, False, -0.5, 500)  # in time by half
    assert miss(option("mac", 500, way(8, first=4.0)), need) == (False, False, -0.4, 500)
    assert miss(option("mac", 500, way(8)), replace(need, min_tokens_per_s=0.0)) == (False, False, -1.0, 500)
    one, other, does = option("mac", 500, way(8)), option("mac", 400, way(9)), option("mac", 3000, way(10))
    assert nearest([one, other], need) is other
    assert nearest([one, other, does], need) is does
    assert nearest([does, option("mac", 2500, way(10))], need).cost.spend_usd == 2500  # type: ignore[union-attr]
    assert nearest([], need) is None


@pytest.mark.parametrize(
    ("devices", "host", "disk", "share"),
    [
        ((held(100, 125),), None, 0, 0.8),
        ((held(100, 125), held(50, 100)), None, 0, 0.5),
        ((held(100, 50),), (80, 60), 0, 0.75),
        ((held(100, 50),), None, 50, 0.75),  # 50 of 200 bytes on disk
        ((held(100, 50), held(100, 0)), None, 0, 1.0),  # an empty one is not asked
    ],
)
def test_how_much_of_it_is_held(devices: Any, host: Any, disk: float, share: float) -> None:
    needed, usable = host or (0.0, None)
    fit = SimpleNamespace(devices=devices, disk_bytes=disk, host_needed_bytes=needed, host_usable_bytes=usable)
    assert _held_share(SimpleNamespace(fit=fit, weights=SimpleNamespace(total_bytes=200))) == share  # type: ignore[arg-type]


def told(need: Need, offers: int = 7) -> Any:
    return SimpleNamespace(need=need, offers=SimpleNamespace(every=range(offers)))


def running(rate: float, **more: Any) -> Any:
    one = way(rate, **more)
    one.reasons, one.decode_per_user = (), speed(rate, 0.9 * rate, 1.1 * rate)
    one.fit.devices, one.fit.raise_limit = (held(100, 60, 20, 5, count=2), held(50, 30, 10, 5)), False
    one.workload = replace(one.workload, context_tokens=8192)
    return one


def test_why_the_chosen_won() -> None:
    """Two devices of 100 bytes and one of 50: 60, 60 and 30 of weights, 20, 20 and 10 of cache, 5 each of buffers."""
    found = why_chosen(option("second-gpu", 700, running(12)), told(need_of()))
    assert codes(found) == ["won.fits", "won.speed", "won.cheapest"]
    fits = {"needed_bytes": 215, "usable_bytes": 250, "weights_bytes": 150, "cache_bytes": 50, "other_bytes": 15, "context_tokens": 8192}
    assert found[0].facts == fits
    assert found[2].facts == {"spend_usd": 700, "systems": 7}
    assert codes(why_chosen(option("second-gpu", 700, running(12)), told(need_of(prefer="fastest"))))[-1] == "won.fastest"
    assert codes(why_chosen(option("keep", 0, running(12)), told(need_of())))[-1] == "won.keep"
    assert codes(why_chosen(option("change-settings", 0, running(12)), told(need_of())))[-1] == "won.change"


@pytest.mark.parametrize(("rate", "code"), [(12, "won.speed"), (11, "won.speed-likely"), (9.5, "won.speed-likely"), (9, "won.speed")])
def test_a_speed_is_likely_where_the_floor_lies_in_its_interval(rate: float, code: str) -> None:
    found = _won_speed(option("mac", 700, running(rate)), need_of())
    facts = {"per_user_tokens_per_s": rate, "floor_tokens_per_s": 10, "low_tokens_per_s": 0.9 * rate, "high_tokens_per_s": 1.1 * rate}
    assert (found.code, found.facts) == (code, facts)


CHOSEN = option("second-gpu", 1000, way(20))


@pytest.mark.parametrize(
    ("other", "chosen", "wished", "code", "facts"),
    [
        (option("mac", 1500, way(15)), CHOSEN, {}, "lost.dearer", {"spend_usd": 1500, "more_usd": 500, "speed_factor": 0.75}),
        (option("mac", 1000, way(15)), CHOSEN, {}, "lost.tie", {"more_usd": 0}),
        (option("mac", 800, way(15)), CHOSEN, {}, "lost.not-asked", {"more_usd": -200, "less_usd": 200}),
        (option("mac", 800, way(15)), CHOSEN, {"prefer": "fastest"}, "lost.slower", {"chosen_tokens_per_s": 20}),
        (option("mac", 800, way(15)), option("keep", 0, way(20)), {}, "lost.to-keep", {"more_usd": 800}),
        (option("mac", 800, way(15)), option("change-settings", 0, way(20)), {}, "lost.to-change-settings", {}),
        (option("change-settings", 0, way(15)), option("keep", 0, way(20)), {}, "lost.setting-idle", {}),
        (option("mac", 1500, way(15), resale=700), CHOSEN, {"sell_old": True}, "lost.not-asked", {"more_usd": -200}),
    ],
)
def test_why_another_was_passed_over(other: Option, chosen: Option, wished: dict[str, Any], code: str, facts: dict[str, float]) -> None:
    found = _lost_to(other, chosen, need_of(**wished))
    assert (found.code, {name: found.facts[name] for name in facts}) == (code, facts)


def test_of_two_prices_that_are_not_both_known_no_difference_is_told() -> None:
    known, unknown = option("mac", 1500, way(15)), option("mac", None, way(15))
    for one, other in ((unknown, CHOSEN), (known, option("second-gpu", None, way(20)))):
        assert not {"spend_usd", "more_usd"} & set(_lost_to(one, other, need_of()).facts)


def test_why_not_tells_the_misses_first() -> None:
    set_otherwise = (Reason("change.kv-quant", {"kv_quant": "q8_0"}),)
    slow = replace(option("mac", 500, running(8)), changes=set_otherwise)
    assert codes(why_not(slow, CHOSEN, told(need_of()))) == ["need.too-slow", "change.kv-quant"]
    assert codes(why_not(replace(slow, kind="change-settings"), CHOSEN, told(need_of()))) == ["need.too-slow"]
    dear = replace(option("mac", 1500, running(12)), changes=set_otherwise)
    assert codes(why_not(dear, CHOSEN, told(need_of()))) == ["lost.dearer", "change.kv-quant"]
    assert codes(why_not(dear, CHOSEN, told(need_of(consider=("second-gpu",)))))[:2] == ["lost.not-considered", "lost.dearer"]
    assert codes(why_not(dear, None, told(need_of())))[0] == "lost.not-named"
    assert codes(why_not(dear, None, told(need_of(consider=("second-gpu",)))))[0] == "lost.not-considered"
    raised = option("keep", 0, running(12))
    raised.estimate.fit.raise_limit = True  # type: ignore[misc]
    assert codes(why_not(raised, CHOSEN, told(need_of()))) == ["keep.raise-limit"]
    assert codes(why_not(replace(raised, estimate=running(8)), CHOSEN, told(need_of()))) == ["need.too-slow"]


@pytest.mark.parametrize(
    ("have", "kind", "found"),
    [
        ("rtx-4090", "nvlink-pair", ["impossible.no-nvlink", "impossible.none-fits"]),
        ("rtx-3090", "nvlink-pair", ["impossible.none-fits"]),  # it has a bridge
        (None, "nvlink-pair", ["impossible.none-fits"]),
        ("rtx-3090", "rdma-cluster", ["impossible.no-rdma", "impossible.none-fits"]),
        ("dgx-spark", "rdma-cluster", ["impossible.none-fits"]),
        ("mac-m3-ultra-80c 512gb", "rdma-cluster", ["impossible.none-fits"]),  # by one of its two networks
        ("rtx-3090 + rtx-4090", "nvlink-pair", ["impossible.none-fits"]),  # one of the two has a bridge
        ("rtx-3090", "change-settings", ["impossible.no-setting"]),
        ("rtx-3090", "one-bigger-gpu", ["impossible.none-fits"]),
    ],
)
def test_why_a_road_has_no_candidate(have: str | None, kind: str, found: list[str]) -> None:
    desk = SimpleNamespace(have=bind(have, CATALOG) if have else None, catalog=CATALOG)
    assert codes(impossible(SimpleNamespace(desk=desk), kind)) == found  # type: ignore[arg-type]


def test_a_card_without_a_slot_has_no_second() -> None:
    def said(have: str) -> Reason | None:
        return no_slot(SimpleNamespace(desk=SimpleNamespace(have=bind(have, CATALOG))))  # type: ignore[arg-type]

    assert said("rtx-3090") is None
    module = said("h100-sxm")
    assert module
    assert (module.code, module.facts) == ("impossible.no-slot", {"name": CATALOG.device("h100-sxm").name})


def test_the_status_of_a_road() -> None:
    case = told(need_of())
    chosen, other, large = (option(kind, 700, running(12)) for kind in ("second-gpu", "mac", "mac"))
    large.estimate.fit.fits = False  # type: ignore[misc]
    large.estimate.fit.disk_bytes, large.estimate.quant = 0.0, SimpleNamespace(id="q4_k_m")  # type: ignore[misc]
    large.estimate.fit.host_usable_bytes = None  # type: ignore[misc]
    assert [road(case, each.kind, each, chosen).status for each in (chosen, other, large)] == ["chosen", "passed-over", "impossible"]
    none = road(case, "mac", Reason("impossible.no-slot", {}), chosen)
    assert (none.status, none.system, codes(none.because)) == ("impossible", None, ["impossible.no-slot"])
