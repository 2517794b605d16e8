"""How an answer is put together: which systems stand for a road, what is bought of a named one, what one more is judged beside."""

from types import SimpleNamespace
from typing import Any

import pytest
from test_flips import sold
from test_judged import CATALOG, need_of, option
from test_rule import codes
from test_second import ran

from advisor.advice import recommend as answering
from advisor.advice.decide import Decision, decide, decide_harder
from advisor.advice.judge import Option
from advisor.advice.prober import Prober, no_easier, then
from advisor.advice.recommend import (
    _beside,
    _conditions,
    _faster,
    _of_kind,
    _offers_of,
    _options,
    _over_ladder,
    _price_dates,
    _second,
    _to_buy,
    _unasked,
    _with_more_money,
)
from advisor.advice.second import OneMore
from advisor.billed import CostLine
from advisor.bind import bind
from advisor.need import Need, Workload
from advisor.reason import Reason
from advisor.record import replace

CARD, MAC, SLOW = sold("second-gpu", 700, 20.0), sold("unified-memory-machine", 900, 25.0), sold("second-gpu", 600, 5.0)
KEEP, CHANGE = option("keep", 0, ran(12, words="rtx-3090")), option("change-settings", 0, ran(15, words="rtx-3090"))


def decided(chosen: Any, keep: Any = None, changes: tuple[Option, ...] = (), seen: tuple[Option, ...] = ()) -> Decision:
    return Decision(chosen, keep, changes, seen)


# ---- what of a named system is bought


@pytest.mark.parametrize(
    ("words", "have", "bought"),
    [
        ("2x rtx-3090", None, [("rtx-3090", 2)]),
        ("2x rtx-3090", "rtx-3090", [("rtx-3090", 1)]),
        ("rtx-3090", "2x rtx-3090", [("rtx-3090", 0)]),  # fewer than are owned: none is bought
        ("rtx-3090 + rtx-4090", "rtx-3090", [("rtx-3090", 0), ("rtx-4090", 1)]),
        ("mac-m3-ultra-80c 512gb", "mac-m3-ultra-80c 256gb", [("mac-m3-ultra-80c", 1)]),  # another size is another machine
    ],
)
def test_of_a_named_system_what_is_owned_is_not_bought(words: str, have: str | None, bought: list[tuple[str, int]]) -> None:
    groups = [(group.device, group.memory_bytes, group.count) for group in bind(words, CATALOG).groups]
    found = _to_buy(groups, bind(have, CATALOG) if have else None)
    assert [(device.id, count) for device, _, count in found] == bought


class Shelf:
    """Writes down what is asked of it."""

    def __init__(self, desk: Any) -> None:
        pass

    def card_offer(self, kind: str, words: str, groups: Any, bought: Any) -> Any:
        return (kind, words, sum(count for *_, count in bought)) if groups[0][0].id != "h100-pcie" else None

    def box_offer(self, kind: str, words: str, device: Any, size: float, count: int, owned: int) -> Any:
        return kind, words, count - owned


@pytest.mark.parametrize(
    ("have", "among", "offers"),
    [
        (None, ("rtx-4090",), [("one-bigger-gpu", "rtx-4090", 1)]),
        ("rtx-3090", ("rtx-3090",), []),  # that is what is kept
        ("rtx-3090", ("2x rtx-3090",), [("second-gpu", "2x rtx-3090", 1)]),
        ("rtx-3090", ("2x rtx-3090 via nvlink",), [("nvlink-pair", "2x rtx-3090 via nvlink3-bridge-3090", 1)]),
        ("2x rtx-3090", ("2x rtx-3090 via nvlink",), [("nvlink-pair", "2x rtx-3090 via nvlink3-bridge-3090", 0)]),  # a bridge is new
        (None, ("2x rtx-3090 via pcie-3-x8",), [("second-gpu", "2x rtx-3090 via pcie-3-x8", 2)]),
        (None, ("3x rtx-3090",), [("multi-gpu-server", "3x rtx-3090", 3)]),
        (None, ("dgx-spark",), [("unified-memory-machine", "dgx-spark", 1)]),
        ("dgx-spark", ("2x dgx-spark",), [("rdma-cluster", "2x dgx-spark via dgx-spark-connectx7", 1)]),
        ("3x dgx-spark", ("2x dgx-spark via eth-10g-tcp",), [("network-cluster", "2x dgx-spark via eth-10g-tcp", 0)]),
        ("rtx-3090", ("2x dgx-spark",), [("rdma-cluster", "2x dgx-spark via dgx-spark-connectx7", 2)]),
        (None, ("rtx-3090", "dgx-spark"), [("one-bigger-gpu", "rtx-3090", 1), ("unified-memory-machine", "dgx-spark", 1)]),
    ],
)
def test_named_systems_as_offers(monkeypatch: pytest.MonkeyPatch, have: str | None, among: tuple[str, ...], offers: list[Any]) -> None:
    monkeypatch.setattr(answering, "Shelf", Shelf)
    case: Any = SimpleNamespace(desk=SimpleNamespace(have=bind(have, CATALOG) if have else None))
    assert list(_offers_of(case, [bind(words, CATALOG) for words in among])) == offers


# ---- the option of each road


def roads(monkeypatch: pytest.MonkeyPatch, market: dict[str, Option | None], faster: dict[str, Option | None] | None = None) -> None:
    """What the market has of each kind; and for who wants more speed than what is owned gives."""
    monkeypatch.setattr(answering, "best_of_road", lambda case, kind: (faster or {} if case.faster else market).get(kind))
    monkeypatch.setattr(answering, "faster", lambda case, speed: SimpleNamespace(**{**vars(case), "faster": True}))
    monkeypatch.setattr(answering, "no_slot", lambda case: case.slotless)


def asking(need: Need | None = None, **more: Any) -> Any:
    return SimpleNamespace(need=need or need_of(), faster=False, slotless=None, desk=SimpleNamespace(have=None), **more)


def test_who_stands_for_a_road(monkeypatch: pytest.MonkeyPatch) -> None:
    case, better, dear = asking(), sold("second-gpu", 800, 40.0), sold("second-gpu", 300, 4.0)
    roads(monkeypatch, {"second-gpu": CARD}, {"second-gpu": better})
    kind = lambda decision, *more: _of_kind(case, "second-gpu", decision, OneMore(more))  # noqa: E731
    assert kind(decided(None), CARD) is CARD  # one more of what is owned that does it
    assert kind(decided(MAC), SLOW) is CARD  # one that does not gives way to one of the market that does
    assert kind(decided(MAC)) is CARD
    assert kind(decided(KEEP, KEEP)) is better  # what is owned does it: a road would bring more speed
    assert kind(decided(CHANGE, KEEP)) is better
    roads(monkeypatch, {"second-gpu": CARD}, {"second-gpu": dear})
    assert kind(decided(KEEP, KEEP)) is CARD  # nothing brings more: what would do today's need
    roads(monkeypatch, {"second-gpu": dear})
    assert kind(decided(None), SLOW) is SLOW  # neither does it: one more of what is owned is what people ask about
    assert kind(decided(None)) is dear
    roads(monkeypatch, {})
    assert kind(decided(None), SLOW) is SLOW
    assert kind(decided(None)) is None
    case.slotless = Reason("impossible.no-slot", {})
    assert kind(decided(None), CARD) is CARD
    assert kind(decided(None)) is case.slotless
    assert _of_kind(case, "nvlink-pair", decided(None), OneMore(())) is None  # no slot is told of the second card


def test_each_kind_with_its_option(monkeypatch: pytest.MonkeyPatch) -> None:
    roads(monkeypatch, {"second-gpu": CARD, "unified-memory-machine": MAC})
    server, copies = sold("multi-gpu-server", 3000, 60.0), sold("replicas", 700, 15.0)
    found = _options(asking(), decided(server, KEEP, (CHANGE,), (server,)), OneMore((copies,)))
    expected = {"keep": KEEP, "change-settings": CHANGE, "second-gpu": CARD, "unified-memory-machine": MAC, "multi-gpu-server": server, "replicas": copies}  # fmt: skip
    assert {kind: found[kind] for kind in expected} == expected
    nothing = _options(asking(), decided(None), OneMore(()))
    assert not {"keep", "change-settings"} & set(nothing)  # nothing is owned
    assert _options(asking(), decided(None, KEEP), OneMore(()))["change-settings"] is None
    dearer = sold("second-gpu", 750, 22.0)
    assert _options(asking(), decided(dearer), OneMore(()))["second-gpu"] is dearer  # the chosen one stands for its kind


def test_what_no_road_shows_stands_beside() -> None:
    road: Any = SimpleNamespace(estimate=CARD.estimate)
    assert _beside([], [CARD, MAC, MAC], (road,)) == [MAC]
    assert _beside([CARD], [MAC], (road,)) == [CARD, MAC]  # who named it sees it


# ---- where nothing does


def test_more_money_is_asked_about_only_where_a_budget_keeps_from_it() -> None:
    asked: list[Need] = []

    def prober(chosen: Option | None, **wished: Any) -> Any:
        at = lambda need: asked.append(need) or decided(MAC)  # noqa: E731
        return SimpleNamespace(case=asking(need_of(**wished), offers=1), today=decided(chosen), at=at)

    assert _with_more_money(prober(None, budget_usd=500.0)) is MAC
    assert asked.pop().budget_usd is None
    assert _with_more_money(prober(None)) is _with_more_money(prober(CARD, budget_usd=500.0)) is None
    whole: Any = SimpleNamespace(offers=1)
    assert _unasked(prober(None, consider=("second-gpu",)), whole) is MAC
    assert asked.pop().consider == ()
    assert _unasked(prober(None), whole) is _unasked(prober(CARD, consider=("second-gpu",)), whole) is None
    assert asked == []


def test_beside_named_systems_the_whole_market_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "replace", lambda case, lean: case)
    monkeypatch.setattr(answering, "decide", lambda case: decided(case.best))
    whole: Any = SimpleNamespace(offers=2, best=MAC)
    prober: Any = SimpleNamespace(case=asking(offers=1), today=decided(None), at=None)
    assert _unasked(prober, whole) is MAC


def test_the_dates_of_prices() -> None:
    bought = sold("second-gpu", 700, 20.0)
    bought.cost.bought = (CostLine("a", "a", 1, 1.0, False, "2026-09"),)  # type: ignore[misc]
    road: Any = SimpleNamespace(cost=SimpleNamespace(bought=(CostLine("b", "b", 1, 1.0, False, "2026-07"),)))
    none: Any = SimpleNamespace(cost=None)
    assert _price_dates([road, none], decided(bought)) == "2026-09"
    assert _price_dates([road, none], decided(None)) == _price_dates([road], decided(KEEP)) == "2026-07"


def test_faster_for_nothing_is_told_of_what_is_owned_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "clearly_faster", lambda case, chosen, changes: CHANGE)
    assert _faster(asking(), decided(KEEP, KEEP)) is _faster(asking(), decided(CHANGE, KEEP)) is CHANGE
    assert _faster(asking(), decided(CARD, KEEP)) is _faster(asking(), decided(None, KEEP)) is _faster(asking(), decided(KEEP)) is None


def test_one_more_is_weighed_against_the_best_of_what_is_owned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "second_gpu", lambda case, keep, best, more: best)
    quick = option("change-settings", 0, ran(18, words="rtx-3090"))
    late = option("change-settings", 0, ran(30, words="rtx-3090", first=9.0))
    against = lambda decision: _second(asking(need_of(max_first_token_s=2.0)), decision, OneMore(()))  # noqa: E731
    assert against(decided(CARD, KEEP, (CHANGE, quick, late))) is quick  # the quickest that is in time
    assert against(decided(KEEP, KEEP, (quick,))) is KEEP  # where it is kept as it is, that counts
    assert against(decided(CHANGE, KEEP, (quick,))) is CHANGE
    assert against(decided(CARD, Reason("keep.unsupported", {}))) is None


def test_which_system_the_conditions_speak_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "conditions", lambda desk, work, system: system)
    monkeypatch.setattr(answering, "replace", lambda work, kv_quant: work)

    def about(chosen: Option | None, *more: Option, have: str | None = None, **roads: Option) -> Any:
        desk = SimpleNamespace(have=bind(have, CATALOG) if have else None)
        case: Any = SimpleNamespace(desk=desk, work=None)
        options: Any = {kind.replace("_", "-"): each for kind, each in roads.items()}
        found = _conditions(case, decided(chosen), OneMore(more), options)
        return found and (found.count, found.shown_link.kind)  # type: ignore[attr-defined]

    pair, bridged, four = (
        option("x", 1, ran(rate, words=words)) for rate, words in ((20, "2x rtx-3090"), (30, "2x rtx-3090 via nvlink"), (50, "4x rtx-3090"))
    )
    assert about(four, pair) == (4, "pcie")
    assert about(KEEP, pair, bridged) == (2, "pcie")  # one card: one more of it, as it would usually be joined
    assert about(KEEP, pair, bridged, have="dgx-spark") == (2, "nvlink")  # boxes: whatever joins them best
    assert about(None, second_gpu=KEEP, nvlink_pair=bridged, rdma_cluster=four) == (2, "nvlink")
    assert about(None, rdma_cluster=four) == (4, "pcie")
    assert about(KEEP) == {}


def test_over_a_ladder_the_answer_is_of_its_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "replace", lambda record, **changed: SimpleNamespace(**{**vars(record), **changed}))
    verdict = SimpleNamespace(kind="keep", answer=Reason("verdict.keep", {}), system=None)
    one: Any = SimpleNamespace(verdict=verdict, assumptions=(Reason("assumed.work", {}),), need=SimpleNamespace(model="m"), flips=(1,))
    found: Any = _over_ladder(one, {"owned": True}, (SimpleNamespace(rung="a"), SimpleNamespace(rung="b")), False)  # type: ignore[arg-type]
    assert codes(found.assumptions) == ["assumed.ladder", "assumed.work"]
    assert (found.need.model, found.flips, found.ladder, found.verdict.answer.code) == (None, (), ("a", "b"), "verdict.ladder-keep")


# ---- deciding


def deciding(monkeypatch: pytest.MonkeyPatch, owned: Any, changes: tuple[Option, ...], market: tuple[Option, ...], thorough: bool = False,
             **wished: Any) -> tuple[Any, ...]:  # fmt: skip
    """What is chosen, and whether other settings were looked at, only as far as the need asks."""
    from advisor.advice import decide as deciding_

    looked: list[bool] = []
    monkeypatch.setattr(deciding_, "keep", lambda case: owned)
    monkeypatch.setattr(deciding_, "change", lambda case, usual, need_only: looked.append(need_only) or changes)
    monkeypatch.setattr(deciding_, "search", lambda case: list(market))
    case: Any = SimpleNamespace(need=need_of(**wished), desk=SimpleNamespace(have=owned and "something"))
    return decide(case, thorough).chosen, looked


def test_what_is_owned_first_then_settings_then_the_market(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (KEEP, CHANGE):
        each.estimate.fit.raise_limit = False
    slow, other = option("keep", 0, ran(5)), option("change-settings", 0, ran(5))
    slow.estimate.fit.raise_limit = False
    assert deciding(monkeypatch, KEEP, (CHANGE,), (CARD,)) == (KEEP, [])  # nothing else is looked at
    assert deciding(monkeypatch, KEEP, (CHANGE,), (CARD,), thorough=True) == (KEEP, [True])
    assert deciding(monkeypatch, slow, (CHANGE,), (CARD,)) == (CHANGE, [False])
    assert deciding(monkeypatch, slow, (other,), (CARD, MAC)) == (CARD, [False])
    assert deciding(monkeypatch, Reason("keep.unsupported", {}), (CHANGE,), (CARD,)) == (CHANGE, [False])
    assert deciding(monkeypatch, None, (CHANGE,), (MAC, CARD)) == (CARD, [])
    assert deciding(monkeypatch, None, (), (MAC, CARD), consider=("unified-memory-machine",))[0] is MAC
    assert deciding(monkeypatch, None, (), (SLOW,))[0] is None
    fastest = {"prefer": "fastest"}
    assert deciding(monkeypatch, KEEP, (CHANGE,), (CARD, MAC), **fastest) == (MAC, [True])
    assert deciding(monkeypatch, KEEP, (CHANGE,), (SLOW,), **fastest)[0] is CHANGE
    assert deciding(monkeypatch, slow, (CHANGE,), (), **fastest) == (CHANGE, [False])
    raised = option("keep", 0, ran(12))
    raised.estimate.fit.raise_limit = True
    assert deciding(monkeypatch, raised, (CHANGE,), (CARD,)) == (CHANGE, [False])  # a raised limit is a setting


def test_a_harder_need_asks_the_market_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from advisor.advice import decide as deciding_

    monkeypatch.setattr(deciding_, "search", lambda case: [CARD])
    monkeypatch.setattr(deciding_, "decide", lambda case: decided(KEEP))
    harder = lambda today, **wished: decide_harder(SimpleNamespace(need=need_of(**wished)), today).chosen  # type: ignore[arg-type]  # noqa: E731
    assert harder(decided(MAC, KEEP)) is harder(decided(None)) is CARD
    assert harder(decided(KEEP, KEEP)) is harder(decided(CHANGE, KEEP)) is KEEP  # what is owned may do it still
    assert harder(decided(MAC, KEEP), prefer="fastest") is KEEP
    found = decide_harder(SimpleNamespace(need=need_of()), decided(MAC, KEEP, (CHANGE,)))  # type: ignore[arg-type]
    assert (found.keep, found.changes, found.seen) == (KEEP, (CHANGE,), (CARD,))


# ---- other needs


BASE = replace(need_of(), workload=Workload(users=4, context_tokens=8192))


@pytest.mark.parametrize(
    ("other", "no_easier_"),
    [
        (BASE, True),
        (replace(BASE, workload=replace(BASE.workload, users=5)), True),
        (replace(BASE, workload=replace(BASE.workload, users=3)), False),
        (replace(BASE, workload=replace(BASE.workload, users=None)), False),
        (replace(BASE, workload=replace(BASE.workload, context_tokens=8191)), False),
        (replace(BASE, workload=replace(BASE.workload, users=5, context_tokens=4096)), False),
        (replace(BASE, min_tokens_per_s=9.9), False),
        (replace(BASE, min_tokens_per_s=11.0), True),
        (replace(BASE, kv_quant="q8_0"), False),  # a smaller cache is less to hold
        (replace(BASE, budget_usd=1.0), True),
    ],
)
def test_what_is_no_easier(other: Need, no_easier_: bool) -> None:
    assert no_easier(other, BASE) is no_easier_


def test_each_need_is_decided_once_and_on_what_is_no_harder(monkeypatch: pytest.MonkeyPatch) -> None:
    from advisor.advice import prober as probing

    made: list[Any] = []

    def case_of(desk: Any, need: Need, like: Any, *, harder: bool, lean: bool) -> Any:
        made.append((need.min_tokens_per_s, like.need.min_tokens_per_s, harder, lean))
        return SimpleNamespace(desk=desk, need=need, work="the same" if need.quant is None else "other", counts_tokens_per_s=99.0)

    counted: list[float] = []
    monkeypatch.setattr(probing, "case_of", case_of)
    monkeypatch.setattr(probing, "replace", lambda case, **changed: SimpleNamespace(**{**vars(case), **changed}))
    monkeypatch.setattr(probing, "decide", lambda case: counted.append(case.counts_tokens_per_s) or decided(MAC))
    monkeypatch.setattr(probing, "decide_harder", lambda case, today: counted.append(case.counts_tokens_per_s) or decided(CARD))
    today = decided(CARD)
    prober = Prober(SimpleNamespace(desk=None, need=need_of(), work="the same"), today)  # type: ignore[arg-type]
    faster = lambda floor: replace(need_of(), min_tokens_per_s=floor)  # noqa: E731
    assert prober.at(need_of()) is today
    assert made == []
    assert prober.at(faster(20.0), harder=True) is prober.at(faster(20.0), harder=True)
    prober.at(faster(15.0), harder=True)
    prober.at(faster(30.0), harder=True)
    # 15 is judged on today's 10, since 20 was harder; 30 on the last that asked for no more
    assert [each[:2] for each in made] == [(20, 10), (15, 10), (30, 15)]
    assert {each[2:] for each in made} == {(True, True)}
    prober.at(faster(5.0))
    assert made[-1] == (5, 10, False, True)
    assert counted == [10, 10, 10, 5]  # slower ways than today's need count for nothing, of a lower floor than that
    prober.at(replace(faster(40.0), quant="q3_k_m"))
    assert counted[-1] == 99  # other work: as its own need has it
    assert not prober.differs(faster(20.0))
    assert prober.differs(faster(5.0))


def test_what_was_seen_of_todays_very_work() -> None:
    prober = Prober(SimpleNamespace(need=need_of()), decided(CARD, seen=(SLOW,)))  # type: ignore[arg-type]
    prober._known[replace(need_of(), min_tokens_per_s=20.0)] = decided(MAC)
    prober._known[replace(need_of(), min_tokens_per_s=90.0)] = decided(None, seen=(KEEP,))
    prober._known[replace(need_of(), quant="q3_k_m")] = decided(CHANGE, seen=(CHANGE,))
    prober.rivals.append(CHANGE)
    assert list(prober.alike()) == [SLOW, CARD, MAC, KEEP, CHANGE]


def test_what_the_verdict_becomes() -> None:
    found = then(decided(option("second-gpu", 700, ran(20))))
    assert (found.code, found.facts["spend_usd"], found.facts["per_user_tokens_per_s"]) == ("flip.second-gpu", 700, 20)
    changed = replace(CHANGE, changes=(Reason("change.engine", {"engine": "vllm"}), Reason("change.kv-quant", {"kv_quant": "q8_0"})))
    set_ = then(decided(changed))
    assert (set_.code, set_.facts["kv_quant"], set_.facts["engine"]) == ("flip.change-kv-quant", "q8_0", "vllm")
    assert then(decided(None)).code == "flip.nothing"
