"""Which ways are looked at and what is remarked, on estimates of made-up speeds: each case is decided by hand."""

from types import SimpleNamespace
from typing import Any

import pytest

from advisor.advice.evaluate import _judged, evaluate
from advisor.advice.judge import Case, Option
from advisor.advice.remarks import _extraordinary, _little_more, _quicker, better, remarks
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.errors import BadValue
from advisor.need import Need, Workload
from advisor.reason import Reason
from advisor.report.sentences import text

CATALOG = Catalog.load(user_folder=False)
CHOSEN = {"clearly-faster-factor": 1.5, "little-more-factor": 1.3, "ordinary-usd": 4000.0, "long-wait-s": 20.0}


def need_of(**wished: Any) -> Need:
    return Need(model="qwen3-8b", workload=Workload(), min_tokens_per_s=10.0, **wished)


def way(
    rate: float,
    strategy: str = "whole",
    *,
    fits: bool = True,
    kv: str = "f16",
    sustained: float | None = None,
    first: float = 1.0,
    low: float | None = None,
) -> Any:
    """An estimate of so many tokens/s for its one user, or of so many in all for two; surely so many, or at the `low`est."""
    users = 1 if sustained is None else 2
    return SimpleNamespace(
        decode=SimpleNamespace(value=rate * users), decode_per_user=SimpleNamespace(value=rate, low=low or rate, high=rate),
        first_token_s=SimpleNamespace(value=first, low=first, high=first),
        sustained=SimpleNamespace(value=sustained or rate), fit=SimpleNamespace(fits=fits, devices=(), disk_bytes=1.0),
        doubt=None, placement=SimpleNamespace(strategy=strategy), kv_quant=kv, workload=Workload(users=users), system=bind("rtx-3090", CATALOG),
    )  # fmt: skip


def option(kind: str, usd: float | None, estimate: Any, resale: float = 0.0) -> Any:
    return Option(kind, estimate, SimpleNamespace(spend_usd=usd, resale_usd=resale, lines=(), upgrades=(), bought=()))  # type: ignore[arg-type]


def case_of(
    need: Need, full: tuple[Any, ...] = (), small: tuple[Any, ...] = (), bound: tuple[float, bool] = (100.0, True), **more: Any
) -> Any:
    """One system with these ways, and with these with a cache of eight bits."""
    system = SimpleNamespace(count=more.pop("count", 1))
    desk = SimpleNamespace(
        choice=CHOSEN.__getitem__,
        eight_bit_caches=("q8_0",),
        system=lambda *_: more.get("system", system),
        cost=lambda *_: SimpleNamespace(),
    )
    return SimpleNamespace(
        desk=desk, need=need, work=SimpleNamespace(kv_quant="f16", workload=Workload(users=more.get("users", 1))), lean=more.get("lean", False),
        ways=lambda _, kv=None, hopeless=None: small if kv else full, hopeless=lambda _: frozenset(), bound=lambda _: SimpleNamespace(tokens_per_s=bound[0], holds=bound[1]),
    )  # fmt: skip


FAST, SLOW, FAST_SPILL, SLOW_SPILL, LARGE = way(12), way(8), way(12, "offload"), way(8, "offload"), way(12, fits=False)
SMALL = way(15, kv="q8_0")


@pytest.mark.parametrize(
    ("full", "bound", "asked"),
    [
        ((FAST,), (100, True), False),  # enough as it is
        ((FAST_SPILL,), (100, False), False),  # fast, and no cache makes it lie in the devices
        ((FAST_SPILL,), (100, True), True),  # a smaller one may make it lie there
        ((FAST_SPILL, SLOW), (100, True), False),  # one is fast, another lies there
        ((SLOW,), (9, True), False),  # lies there; the bound gives no hope of the floor
        ((SLOW,), (10, True), True),
        ((SLOW_SPILL,), (9, True), True),  # it may at least lie there
        ((LARGE,), (100, True), True),
        ((), (100, True), True),
    ],
)
def test_when_a_smaller_cache_is_looked_at(full: tuple[Any, ...], bound: tuple[float, bool], asked: bool) -> None:
    assert _judged(case_of(need_of(), full, (SMALL,), bound), None, None) == (full, (SMALL,) if asked else ())  # type: ignore[arg-type]


def test_a_stated_cache_is_kept() -> None:
    assert _judged(case_of(need_of(kv_quant="f16"), (LARGE,), (SMALL,)), None, None) == ((LARGE,), ())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("small", "bound", "lean", "full_asked"),
    [
        ((SLOW_SPILL,), (100, False), True, False),  # it spills anyway, and even the smaller one is too slow
        ((SLOW_SPILL,), (100, False), False, True),  # a road that is shown
        ((SLOW_SPILL,), (100, True), True, True),  # the devices may hold it
        ((FAST_SPILL,), (100, False), True, True),
        ((SLOW_SPILL, FAST_SPILL), (100, False), True, True),  # one of them is fast
        ((), (100, False), True, True),
    ],
)
def test_for_a_verdict_alone_the_smaller_cache_of_a_spill_is_asked_first(
    small: tuple[Any, ...], bound: tuple[float, bool], lean: bool, full_asked: bool
) -> None:
    full, _ = _judged(case_of(need_of(), (SLOW_SPILL,), small, bound, lean=lean), None, None)  # type: ignore[arg-type]
    assert bool(full) is full_asked


COPIES = way(14, "replicas")


@pytest.mark.parametrize(
    ("kind", "ways", "users", "count", "kinds"),
    [
        ("second-gpu", (FAST,), 1, 2, ["second-gpu"]),
        ("second-gpu", (FAST, COPIES), 1, 2, ["second-gpu"]),  # one user gains nothing from copies
        ("second-gpu", (FAST, COPIES), 2, 2, ["second-gpu", "replicas"]),
        ("second-gpu", (FAST, COPIES), None, 2, ["second-gpu", "replicas"]),  # as many as fit
        ("multi-gpu-server", (FAST, COPIES), 2, 3, ["multi-gpu-server", "multi-gpu-server"]),
        ("new-host", (COPIES,), 2, 2, ["new-host"]),
        ("more-memory", (COPIES,), 2, 2, ["more-memory"]),
        ("keep", (), 2, 1, []),
    ],
)
def test_options_of_an_offer(kind: str, ways: tuple[Any, ...], users: int | None, count: int, kinds: list[str]) -> None:
    offer: Any = SimpleNamespace(kind=kind, words="", host=None, more_ram_bytes=None)
    found = evaluate(case_of(need_of(), ways, users=users, count=count, bound=(0.0, False)), offer)
    assert [each.kind for each in found] == kinds
    assert all(each.ways == ways and not each.changes for each in found)
    assert [each.estimate for each in found] == list(ways)[: len(kinds)]


def test_what_cannot_be_bound_is_no_option_and_a_smaller_cache_is_said() -> None:
    offer: Any = SimpleNamespace(kind="keep", words="", host=None, more_ram_bytes=None)
    assert evaluate(case_of(need_of(), (FAST,), system=BadValue("no")), offer) == []
    (found,) = evaluate(case_of(need_of(), (SLOW,), (SMALL,)), offer)
    assert found.estimate is SMALL
    assert [reason.facts for reason in found.changes] == [{"kv_quant": "q8_0"}]


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([("second-gpu", 1300, way(15))], 0),  # 1.5 times the speed for 1.3 times the money
        ([("second-gpu", 1301, way(20))], None),  # more than a little more
        ([("second-gpu", 1200, way(14.9))], None),  # not clearly faster
        ([("second-gpu", 1000, way(15))], 0),
        ([("second-gpu", 999, way(15))], None),  # cheaper ones were passed over for a reason
        ([("keep", 1200, way(20))], None),
        ([("mac", 1200, way(20))], None),  # the buyer does not consider it
        ([("second-gpu", None, way(20))], None),
        ([("second-gpu", 1200, way(20, first=3.0))], None),  # too late
        ([("second-gpu", 1200, way(20, fits=False))], None),
        ([("second-gpu", 1000, way(15)), ("second-gpu", 1300, way(21))], 1),  # 15.0 against 16.2 tokens/s for a thousand dollars
        ([("second-gpu", 1300, way(19)), ("second-gpu", 1000, way(15))], 1),  # 14.6 against 15.0
    ],
)
def test_a_little_more_money_for_much_more_speed(others: list[tuple[str, float | None, Any]], expected: int | None) -> None:
    """Chosen: 10 tokens/s for 1,000 dollars."""
    chosen = option("one-bigger-gpu", 1000, way(10))
    weighed = [chosen, *(option(*each) for each in others)]
    case = case_of(need_of(max_first_token_s=2.0, consider=("second-gpu", "one-bigger-gpu")))
    assert better(case, chosen, weighed) is (None if expected is None else weighed[expected + 1])


@pytest.mark.parametrize(
    ("chosen", "other", "code"),
    [
        (way(11, low=8), way(11, low=10), "remark.little-more-sure"),  # as fast, and surely 10 tokens/s
        (way(11, low=8), way(10.9, low=10), None),  # slower
        (way(11, low=8), way(14, low=9), None),  # only likely too, and not clearly faster
        (way(11, low=8), way(22, low=9), "remark.little-more"),
        (way(11, low=8), way(22, low=10), "remark.little-more-sure"),
        (way(11, low=10), way(14, low=13), None),  # sure already
    ],
)
def test_what_is_surely_fast_enough_for_little_more(chosen: Any, other: Any, code: str | None) -> None:
    cheap, dear, case = option("one-bigger-gpu", 1000, chosen), option("second-gpu", 1200, other), case_of(need_of())
    found = better(case, cheap, [dear])
    assert (_little_more(case, cheap, found).code if found else None) == code
    faster = option("second-gpu", 1200, way(30, low=9))
    assert better(case, cheap, [faster, dear]) is (dear if code == "remark.little-more-sure" else faster)  # being sure comes first


@pytest.mark.parametrize(
    ("kv", "change", "told"),
    [
        ("f16", "change.engine", True),
        ("fp8", "change.kv-quant", True),
        ("q4_0", "change.kv-quant", False),  # what four bits lose shows
        ("f16", "change.quant-loss", False),
        ("f16", "change.context-tokens", False),
    ],
)
def test_what_costs_accuracy_or_context_is_only_among_the_settings(kv: str, change: str, told: bool) -> None:
    case, kept, other = case_of(need_of()), option("keep", 0.0, way(10)), way(15, kv=kv)
    case.desk.catalog = CATALOG
    for estimate, engine in ((kept.estimate, "llama.cpp"), (other, "vllm")):
        estimate.placement.engine, estimate.quant = engine, SimpleNamespace(id="awq-4bit")
    found = _quicker(case, kept, Option("change-settings", other, kept.cost, (Reason(change),)))
    assert (found is not None) is told
    if found:
        assert found.facts["speed_factor"] == 1.5
        assert text(found).startswith("run on vllm")


def test_what_costs_the_same_is_never_told_as_more_money() -> None:
    """Of the same devices it is a setting for nothing, else another system for the same price; 40 cents are no money."""
    case, cheap = case_of(need_of()), option("second-gpu", 1000, way(12))
    case.desk.key = lambda system: system.groups[0].device.id
    for usd, name, code in ((1000.0, "rtx-3090", "other-run"), (1000.4, "rtx-4090", "as-dear"), (1001, "rtx-4090", "little-more")):
        for estimate in (cheap.estimate, other := way(24, "tensor", kv="fp8")):
            estimate.placement.engine, estimate.quant = "vllm", SimpleNamespace(id="awq-4bit")
        other.system = bind(name, CATALOG)
        found = _little_more(case, cheap, option("one-bigger-gpu", usd, other))
        assert found.code == f"remark.{code}"
        assert "$0" not in text(found)
        assert ("every layer cut over all of it with its cache as fp8" in text(found)) is (code == "other-run")


def test_both_speeds_of_several_users_must_be_clearly_more() -> None:
    chosen = option("one-bigger-gpu", 1000, way(10, sustained=15))
    less, more = (option("second-gpu", 1100, way(20, sustained=total)) for total in (22, 23))
    assert better(case_of(need_of()), chosen, [less]) is None  # 1.47 times in all
    assert better(case_of(need_of()), chosen, [less, more]) is more


def test_the_remark_says_how_much_more_for_how_much() -> None:
    """1,000 dollars less 300 for the old card against 1,200 less nothing: 500 more; 16 against 10 tokens/s."""
    chosen, other = option("one-bigger-gpu", 1000, way(10), resale=300), option("second-gpu", 1200, way(16))
    facts = _little_more(case_of(need_of(sell_old=True)), chosen, other).facts
    assert (facts["more_usd"], facts["spend_usd"], facts["kind"]) == (500, 1200, "second-gpu")
    assert (facts["per_user_tokens_per_s"], facts["speed_factor"]) == (16, 1.6)
    assert _little_more(case_of(need_of()), chosen, other).facts["more_usd"] == 200


def test_nothing_is_little_more_than_nothing_or_than_the_fastest() -> None:
    much = option("second-gpu", 1000, way(20))
    assert better(case_of(need_of()), option("keep", 0, way(10)), [much]) is None
    assert better(case_of(need_of()), None, [much]) is None
    assert better(case_of(need_of(prefer="fastest")), option("one-bigger-gpu", 1000, way(10)), [much]) is None


@pytest.mark.parametrize(
    ("usd", "wished", "seen", "expected"),
    [
        (4000, {}, [], None),  # ordinary
        (4001, {}, [], ("remark.extraordinary", None)),
        (None, {}, [], None),
        (9000, {"budget_usd": 9000.0}, [], None),  # the buyer knows
        (9000, {}, [(4000, way(8))], ("remark.extraordinary-near", 4000)),
        (9000, {}, [(4001, way(8)), (None, way(9)), (3000, way(9, fits=False))], ("remark.extraordinary", None)),
        (9000, {}, [(3000, way(7)), (3500, way(8))], ("remark.extraordinary-near", 3500)),
        (9000, {"max_first_token_s": 2.0}, [(3000, way(12, first=3.0))], ("remark.extraordinary-late", 3000)),
        (9000, {"max_first_token_s": 2.0}, [(3000, way(8, first=3.0))], ("remark.extraordinary-near", 3000)),  # too slow comes first
    ],
)
def test_an_extraordinary_price(
    usd: float | None, wished: dict[str, Any], seen: list[tuple[float | None, Any]], expected: tuple[str, float | None] | None
) -> None:
    verdict: Any = SimpleNamespace(cost=SimpleNamespace(spend_usd=usd, resale_usd=None))
    found = _extraordinary(case_of(need_of(**wished)), verdict, [option("second-gpu", *each) for each in seen])
    assert (found and (found.code, found.facts.get("near_usd"))) == expected
    if found and usd:
        assert (found.facts["spend_usd"], found.facts["ordinary_usd"]) == (usd, 4000)


def test_what_a_bound_rules_out_is_not_asked_again() -> None:
    """Not for this need, nor for a harder one; what may do it is not held against it."""

    class Hashed(SimpleNamespace):
        __hash__ = object.__hash__  # type: ignore[assignment]

    slow, quick = Hashed(bound=9.0, holds=False), Hashed(bound=11.0, holds=True)
    easier = Case(SimpleNamespace(), need_of(), SimpleNamespace(), SimpleNamespace(named=False), lean=True)  # type: ignore[arg-type]
    asked: list[Any] = []

    def may_reach(offer: Any, floor: float, **_: Any) -> bool:
        asked.append(offer)
        return bool(offer.bound >= floor)

    vars(easier)["bounds"] = SimpleNamespace(may_reach=may_reach, may_hold=lambda offer: offer.holds)
    assert [easier.may_do(each) for each in (slow, quick, slow)] == [False, True, False]
    assert [easier.may_hold(each) for each in (slow, quick)] == [False, True]
    assert (asked, easier.failed, easier.spilt) == ([slow, quick], {slow}, {slow})
    harder = Case(SimpleNamespace(), need_of(), SimpleNamespace(), SimpleNamespace(named=False), easier, lean=True)  # type: ignore[arg-type]
    vars(harder)["bounds"] = vars(easier)["bounds"]
    assert [harder.may_do(each) for each in (slow, quick)] == [False, True]
    assert asked == [slow, quick, quick]
    assert not harder.may_hold(slow)


def test_of_an_extraordinary_price_no_further_is_remarked() -> None:
    """What costs 9,000 dollars is remarked, not that a little more money buys more; an ordinary one the other way round."""
    case = case_of(need_of())
    case.desk.own_host = case.desk.have = None
    for usd, code in ((9000, "remark.extraordinary"), (1000, "remark.little-more")):
        chosen, more = option("one-bigger-gpu", usd, way(10)), option("second-gpu", 1.2 * usd, way(20))
        verdict: Any = SimpleNamespace(cost=chosen.cost, estimate=chosen.estimate, spend_usd=usd)
        found = remarks(case, verdict, chosen, more, [])
        assert found[0].code.startswith(code)
        assert len([each for each in found if each.code.startswith("remark.")]) == 1
    plain: Any = SimpleNamespace(cost=chosen.cost, estimate=chosen.estimate, spend_usd=1000)
    assert remarks(case, plain, chosen, None, []) == ()
    assert remarks(case, plain, None, more, []) == ()
