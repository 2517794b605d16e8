"""What the verdict says, what it takes on trust and at which rung of the ladder it speaks: each case decided by hand on made-up speeds."""

from types import SimpleNamespace
from typing import Any

import pytest
from test_judged import CATALOG, need_of, option
from test_rule import codes, held, speed
from test_second import ran

from advisor.advice import ladder
from advisor.advice.decide import Decision
from advisor.advice.judge import Option
from advisor.advice.ladder import label_facts, turning, turning_between
from advisor.advice.verdict import _bought_host, assumptions, full_context, ladder_answer, shopping, verdict_of, warnings
from advisor.billed import CostLine
from advisor.bind import bind
from advisor.evidence import Evidence
from advisor.need import Need, Workload
from advisor.reason import Reason
from advisor.record import replace


def judged(rate: float, **more: Any) -> Any:
    """A measured estimate of so many tokens/s, sure to a tenth."""
    one = ran(rate, **more)
    one.model, one.evidence, one.warnings = SimpleNamespace(id="qwen3-8b"), Evidence("measured"), ()
    one.decode_per_user = speed(rate, 0.9 * rate, 1.1 * rate)
    return one


def offer(kind: str, usd: float | None, rate: float, resale: float = 0.0, **more: Any) -> Option:
    found: Option = option(kind, usd, judged(rate, **more), resale)
    return found


def case(need: Need, **more: Any) -> Any:
    terms = SimpleNamespace(usd_per_kwh=0.2, price=lambda host: SimpleNamespace(usd=900.0))
    desk = SimpleNamespace(choice={"enough-family-rows": 3}.__getitem__, model=SimpleNamespace(id="qwen3-8b"), own_host=None, have=None,
                           terms=terms, catalog=CATALOG, **more)  # fmt: skip
    return SimpleNamespace(need=need, desk=desk, work=SimpleNamespace(workload=need.workload, kv_quant="f16"))


def decided(chosen: Option | None, *seen: Option, changes: tuple[Option, ...] = ()) -> Decision:
    return Decision(chosen, None, changes, seen)


RAISED = (Reason("change.raise-limit", {"limit_w": 5}),)


@pytest.mark.parametrize(
    ("chosen", "wished", "code"),
    [
        (offer("keep", 0, 20), {}, "verdict.keep"),
        (offer("second-gpu", 700, 20), {}, "verdict.buy"),
        (offer("second-gpu", 700, 20, sustained=30), {}, "verdict.buy-users"),  # two of them
        (offer("second-gpu", 700, 20, 300), {}, "verdict.buy"),  # what is left over is not sold
        (offer("second-gpu", 700, 20, 300), {"sell_old": True}, "verdict.buy-sold"),
        (offer("second-gpu", 700, 20), {"sell_old": True}, "verdict.buy"),  # nothing is left over
        (offer("keep", 0, 20, 300), {"sell_old": True}, "verdict.keep"),
        (offer("new-host", 900, 20), {}, "verdict.buy-host"),
        (replace(offer("change-settings", 0, 20), changes=RAISED), {}, "verdict.change-raise-limit"),
        (offer("second-gpu", 700, 11), {}, "verdict.buy-likely"),  # 9.9 to 12.1, and 10 are wanted
        (offer("second-gpu", 700, 11, sustained=30), {}, "verdict.buy-users-likely"),
    ],
)
def test_the_sentence_of_what_was_chosen(chosen: Option, wished: dict[str, Any], code: str) -> None:
    found = verdict_of(case(need_of(**wished)), decided(chosen), {}, (), None, None)
    assert (found.answer.code, found.kind, found.meets_need, found.spend_usd) == (code, chosen.kind, True, chosen.cost.spend_usd)
    assert found.answer.facts.get("resale_usd") == (300 if code == "verdict.buy-sold" else None)
    assert found.confidence == ("medium" if code.endswith("-likely") else "high")


def test_what_the_sentence_counts() -> None:
    """Two cards, each user of two gets 20 tokens/s: 40 in all."""
    chosen = offer("second-gpu", 700, 20, sustained=30)
    chosen.cost.lines = (CostLine("rtx-3090", "RTX 3090", 1, 700, True), CostLine("rtx-3090", "RTX 3090", 1, 700, False, None, "used"))  # type: ignore[misc]
    facts = verdict_of(case(need_of(budget_usd=800.0)), decided(chosen), {}, (), None, None).answer.facts
    wanted = {"per_user_tokens_per_s": 20, "all_users_tokens_per_s": 40, "users": 2, "spend_usd": 700, "budget_usd": 800.0,
              "floor_tokens_per_s": 10, "shopping": "a second RTX 3090 (used)", "system": "2x rtx-3090 via pcie-4-x8"}  # fmt: skip
    assert {name: facts[name] for name in wanted} == wanted


def line(name: str, count: int = 1, owned: bool = False, condition: str | None = None) -> CostLine:
    return CostLine(name, name, count, 1.0, owned, None, condition)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((), ""),
        ((line("Mac"),), "a Mac"),
        ((line("RTX 3090", condition="new"),), "an RTX 3090"),
        ((line("RTX 3090", condition="used"), line("bridge")), "an RTX 3090 (used) and a bridge"),
        ((line("A", 2), line("bridge"), line("Mac")), "2 × A, a bridge and a Mac"),
        ((line("Mac", 1, True), line("Mac")), "a second Mac"),
        ((line("Mac", 2, True), line("Mac")), "another Mac"),
        ((line("Mac", 1, True), line("bridge")), "a bridge"),
        ((line("64 GB of DDR5 memory"), line("Two-slot bridge")), "64 GB of DDR5 memory and a Two-slot bridge"),
        ((line("Two QSFP cables"),), "two QSFP cables"),
        ((line("Three QSFP cables", condition="used"),), "three QSFP cables (used)"),
    ],
)
def test_what_is_bought_as_one_says_it(lines: tuple[CostLine, ...], said: str) -> None:
    cost: Any = SimpleNamespace(lines=lines)
    assert shopping(cost) == said


def test_a_first_token_that_may_be_late_is_told_with_its_limit() -> None:
    late = offer("second-gpu", 700, 20)
    late.estimate.first_token_s = speed(1.9, 1.5, 2.5)  # type: ignore[misc]
    for latest, code in ((2.0, "verdict.buy-late"), (3.0, "verdict.buy"), (None, "verdict.buy")):
        found = verdict_of(case(need_of(max_first_token_s=latest)), decided(late), {}, (), None, None).answer
        assert (found.code, found.facts.get("most_first_token_s")) == (code, 2.0 if code.endswith("late") else None)


def test_cards_that_move_are_named() -> None:
    moved = offer("new-host", 900, 20)
    moved.cost.lines = tuple(
        CostLine(name, name, count, 1.0, owned) for name, count, owned in (("a", 2, True), ("b", 1, True), ("c", 1, False))
    )  # type: ignore[misc]
    assert verdict_of(case(need_of()), decided(moved), {}, (), None, None).answer.facts["moved"] == "2 × a and b"


SLOW, SLOWER, DOES = offer("mac", 500, 8), offer("second-gpu", 400, 6), offer("second-gpu", 900, 12)
DEAR, LATE, LARGE = offer("mac", 2000, 20), offer("mac", 500, 20, first=3.0), offer("mac", 500, 20, fits=False)
UNPRICED = offer("mac", None, 20)


@pytest.mark.parametrize(
    ("near", "wished", "code"),
    [
        (SLOW, {}, "verdict.nothing-all-slow"),
        (SLOW, {"floor_stated": False}, "verdict.nothing-all-slow-default"),
        (DEAR, {"budget_usd": 1000.0}, "verdict.nothing-all-dear"),
        (DEAR, {"budget_usd": 1000.0, "floor_stated": False}, "verdict.nothing-all-dear"),
        (LATE, {"max_first_token_s": 2.0}, "verdict.nothing-all-late"),
        (LARGE, {}, "verdict.nothing-all-fits"),
        (UNPRICED, {}, "verdict.nothing-all-unpriced"),
        (UNPRICED, {"new_only": True}, "verdict.nothing-all-unpriced"),
    ],
)
def test_what_the_nearest_lacks(near: Option, wished: dict[str, Any], code: str) -> None:
    if near is LARGE:
        near.estimate.weights, near.estimate.fit.devices = SimpleNamespace(total_bytes=100.0), (held(100, 125),)  # type: ignore[misc]
    found = verdict_of(case(need_of(**wished)), decided(None), {"mac": near}, (), None, None)
    assert (found.answer.code, found.kind, found.meets_need) == (code, "nothing-fits", False)
    assert (found.spend_usd, found.estimate) == (near.cost.spend_usd, near.estimate)
    assert found.answer.facts["first_token_s"] == (3.0 if near is LATE else 1.0)
    assert found.answer.facts["most_first_token_s"] == wished.get("max_first_token_s")


def test_nothing_at_all() -> None:
    found = verdict_of(case(need_of()), decided(None), {"mac": Reason("impossible.none-fits", {}), "keep": None}, (), None, None)
    assert (found.answer.code, found.system, found.confidence) == ("verdict.nothing-all", None, "high")
    other = verdict_of(case(need_of(consider=("mac",))), decided(None), {"second-gpu": DOES}, (), None, None)
    assert (other.answer.code, other.answer.facts["other_usd"]) == ("verdict.nothing-considered-but", 900)


def near(need: Need, options: dict[str, Any], named: Any = (), dearer: Any = None, unasked: Any = None, **more: Any) -> tuple[Any, ...]:
    found = verdict_of(case(need), decided(None, *more.get("seen", ()), changes=more.get("changes", ())), options, named, dearer, unasked)
    facts = found.answer.facts
    return found.estimate and found.estimate.decode.value, found.answer.code.removeprefix("verdict.nothing-"), facts.get("other_usd")


def test_which_systems_are_compared_where_nothing_does() -> None:
    """The nearest is one of what was asked; what would do beside that is told apart."""
    roads = {"mac": SLOW, "second-gpu": SLOWER}
    assert near(need_of(), roads) == (8, "all-slow", None)
    assert near(need_of(), roads, seen=(offer("mac", 500, 9),)) == (9, "all-slow", None)
    assert near(need_of(), roads, changes=(offer("change-settings", 0, 9),)) == (9, "all-slow", None)
    assert near(need_of(consider=("second-gpu",)), roads) == (6, "considered-slow", None)
    assert near(need_of(consider=("mac",)), {"mac": SLOW, "second-gpu": DOES}) == (8, "considered-slow-but", 900)
    # named ones: what is owned counts beside them, the market does not
    named = [offer("multi-gpu-server", 700, 5)]
    assert near(need_of(), roads, named) == (5, "among-slow", None)
    assert near(need_of(), {**roads, "keep": offer("keep", 0, 7)}, named) == (7, "among-slow", None)
    assert near(need_of(), roads, named, seen=(offer("mac", 500, 9),)) == (9, "among-slow", None)
    # more money, or another system, that would do
    assert near(need_of(budget_usd=1000.0), roads, dearer=offer("mac", 1100, 12)) == (12, "all-dear", None)
    assert near(need_of(), roads, named, unasked=DOES) == (5, "among-slow-but", 900)


# ---- what is taken on trust


def trusted(need: Need, decision: Decision | None = None, full: Reason | None = None, **more: Any) -> list[str]:
    made = case(need)
    for name, value in more.items():
        setattr(made.desk, name, value)
    return codes(assumptions(made, decision or decided(None), full))


def test_what_the_buyer_stated_is_no_assumption() -> None:
    stated = need_of(quant="q4_k_m", kv_quant="f16")
    assert trusted(stated) == ["assumed.work", "assumed.running"]
    assert trusted(replace(stated, floor_stated=False)) == ["assumed.work", "assumed.floor", "assumed.running"]
    assert trusted(replace(stated, context_stated=False)) == ["assumed.work", "assumed.context", "assumed.running"]
    assert trusted(stated, full=Reason("assumed.full-context", {}))[-1] == "assumed.full-context"
    assert trusted(stated, full=Reason("full.too-slow", {}))[-1] == "assumed.running"  # that one is a warning


def test_formats_that_the_tool_chose_are_told() -> None:
    plain, small = decided(offer("second-gpu", 700, 20)), decided(offer("second-gpu", 700, 20, kv="q8_0"))
    assert trusted(need_of(), plain)[0] == "assumed.quant"
    assert "assumed.kv-quant" not in trusted(need_of(), plain)  # the cache is the work's own
    assert trusted(need_of(), small)[:2] == ["assumed.quant", "assumed.kv-quant"]
    assert "assumed.kv-quant" not in trusted(need_of(kv_quant="q8_0"), small)
    assert "assumed.quant" not in trusted(need_of(quant="4bit"), small)
    assert "assumed.quant" not in trusted(need_of())  # nothing was chosen


@pytest.mark.parametrize(
    ("wished", "assumed", "mount", "code"),
    [
        ({}, True, "slot", "assumed.host"),
        ({}, False, "slot", None),  # the computer was named
        ({"host_owned": True}, False, "slot", "assumed.own-host"),
        ({}, True, "laptop", "assumed.laptop"),
    ],
)
def test_the_computer_that_is_assumed(wished: dict[str, Any], assumed: bool, mount: str, code: str | None) -> None:
    host = replace(CATALOG.host("desktop"), mount=mount)
    have = SimpleNamespace(boxes=(SimpleNamespace(host_assumed=assumed),), remarks=(Reason("a.remark", {}),))
    made = case(need_of(quant="4bit", **wished))
    made.desk.own_host, made.desk.have = host, have
    found = assumptions(made, decided(None), None)
    assert codes(found)[: 2 if code else 1] == [code, "a.remark"] if code else codes(found)[0] == "a.remark"
    if code:
        assert found[0].facts == {"host": host.name, "supply_w": host.power_supply_w, "ram_bytes": host.memory_bytes}
        made.need = replace(made.need, psu_w=1200.0, ram_bytes=5.0)
        assert assumptions(made, decided(None), None)[0].facts == {"host": host.name, "supply_w": 1200.0, "ram_bytes": 5.0}


def test_another_computer_than_the_usual_one_is_told() -> None:
    usual = next(host for host in CATALOG.hosts.values() if host.owned_default)
    other = next(host for host in CATALOG.hosts if host != usual.id)

    def said(*bought: str) -> list[dict[str, Any]]:
        chosen = offer("second-gpu", 700, 20)
        chosen.cost.bought = tuple(CostLine(each, each, 1, 1.0) for each in bought)  # type: ignore[misc]
        return [dict(each.facts) for each in _bought_host(chosen, case(need_of()).desk)]

    assert said("rtx-3090", other) == [{"host_id": other, "usual_id": usual.id, "usual_usd": 900.0}]
    assert said("rtx-3090", usual.id) == said("rtx-3090") == []


@pytest.mark.parametrize(
    ("context", "rate", "code"),
    [
        (4 * 1280, 20, "assumed.full-context"),  # 1,024 of prompt and 256 of answer are timed
        (4 * 1280 - 1, 20, None),
        (8192, 10, "assumed.full-context"),
        (8192, 9.9, "full.too-slow"),
    ],
)
def test_a_full_context_is_told_where_it_is_far_longer(context: int, rate: float, code: str | None) -> None:
    chosen, asked = offer("second-gpu", 700, 20), list[Any]()
    chosen.estimate.workload = work = Workload(context_tokens=context)  # type: ignore[misc]
    made = case(replace(need_of(), workload=work), ways=lambda system, work: asked.append(work) or (judged(rate),))
    found = full_context(made, chosen)
    assert (found and found.code) == code
    if found:
        assert asked[0].workload.prompt_tokens == context - 256  # all but the answer is filled
        assert found.facts == {"context_tokens": context, "full_tokens_per_s": rate, "floor_tokens_per_s": 10}
    assert full_context(made, None) is None
    made.need = replace(made.need, context_stated=False)
    assert full_context(made, chosen) is None
    made.need, made.desk.ways = replace(made.need, context_stated=True), lambda *_: ()
    assert full_context(made, chosen) is None


def test_what_the_buyer_must_mind() -> None:
    old, hot = Reason("price.old", {"name": "a"}), Reason("heat", {})
    bought, free = offer("second-gpu", 700, 20), offer("keep", 0, 20)
    for each in (bought, free):
        each.cost.warnings, each.estimate.warnings = (old, old), (hot,)  # type: ignore[misc]
        each.cost.rental_even_hours_per_day, each.cost.rental_usd_per_hour = 3.0, 0.4  # type: ignore[misc]

    def minded(chosen: Option, full: Reason | None = None) -> list[str]:
        return codes(warnings(verdict_of(case(need_of()), decided(chosen), {}, (), None, None), full))

    assert minded(bought) == ["price.old", "heat", "rent.even"]  # each once
    assert minded(free) == ["heat"]  # who buys nothing minds no price
    assert minded(free, Reason("full.too-slow", {})) == ["heat", "full.too-slow"]
    assert minded(free, Reason("assumed.full-context", {})) == ["heat"]
    bought.cost.rental_even_hours_per_day = None  # type: ignore[misc]
    assert minded(bought) == ["price.old", "heat"]
    assert warnings(verdict_of(case(need_of()), decided(None), {}, (), None, None), None) == ()


# ---- over a ladder of models


@pytest.mark.parametrize(
    ("kind", "facts", "between", "code"),
    [
        ("keep", {"owned": True}, False, "keep"),
        ("change-settings", {"owned": True}, False, "keep"),
        ("second-gpu", {"owned": True}, False, "buy"),
        ("second-gpu", {"owned": False, "budget_usd": None}, False, "first"),
        ("second-gpu", {"owned": False, "budget_usd": 900}, False, "within"),
        ("nothing-fits", {"owned": True}, False, "nothing"),
        ("nothing-fits", {"owned": False}, False, "none"),
        ("keep", {"owned": True}, True, "between-keep"),
        ("change-settings", {"owned": True}, True, "between-keep"),
        ("second-gpu", {"owned": True}, True, "buy"),
        ("second-gpu", {"owned": False}, True, "between"),
        ("nothing-fits", {"owned": True}, True, "between-none"),
    ],
)
def test_the_first_line_over_the_ladder(kind: str, facts: dict[str, Any], between: bool, code: str) -> None:
    verdict: Any = SimpleNamespace(kind=kind, system=None, answer=Reason("verdict.x", {"spend_usd": 7}))
    found = ladder_answer(verdict, facts, between)
    assert (found.code, found.facts) == (f"verdict.ladder-{code}", {"spend_usd": 7, **facts})
    verdict.system = "something that comes near"
    assert (ladder_answer(verdict, facts, between) is verdict.answer) is (code == "between-none")


def steps(have: bool, *kinds: str | None, budget: float | None = None) -> tuple[Any, ...]:
    """Rungs by what is chosen at each: a kind, or nothing."""
    made = case(need_of(budget_usd=budget))
    made.desk.have = bind("rtx-3090", CATALOG) if have else None
    chosen = [offer(kind, 100.0 * at, 20) if kind else None for at, kind in enumerate(kinds)]
    return tuple(
        SimpleNamespace(rung=SimpleNamespace(label=f"{at}B", model=f"m{at}"), case=made, decision=decided(each))
        for at, each in enumerate(chosen)
    )


@pytest.mark.parametrize(
    ("have", "kinds", "budget", "at", "between"),
    [
        (True, ("keep", "change-settings", "mac", None), None, 2, 2),  # the smallest that what is owned does not do
        (True, ("keep", None, None), None, 1, 0),  # between named ones: none of them does it either
        (True, ("keep", None, "mac"), None, 1, 2),
        (True, ("keep", "keep"), None, 1, 1),
        (False, ("mac", "mac", None), None, 0, 1),
        (False, (None, "mac", "mac"), None, 1, 2),
        (False, ("mac", "mac", "mac", None), 900.0, 2, 2),  # within a budget the largest
        (False, (None, None), 900.0, 0, 0),
        (False, (None, None), None, 0, 0),
    ],
)
def test_the_rung_at_which_the_question_turns(
    have: bool, kinds: tuple[str | None, ...], budget: float | None, at: int, between: int
) -> None:
    made = steps(have, *kinds, budget=budget)
    assert turning(made) is made[at]
    assert turning_between(made) is made[between]


def test_what_the_rungs_are_called() -> None:
    made = steps(True, "keep", "change-settings", "mac", "mac", None, budget=900.0)
    found = label_facts(made, made[2])
    assert found == {"model": "m2", "runs": "0B, 1B", "next": "2B", "owned": True, "budget_usd": 900.0, "largest": "3B", "largest_usd": 300}
    none = steps(False, None, None)
    assert label_facts(none, none[0]) == {"model": "m0", "runs": "none of them", "next": "0B", "owned": False, "budget_usd": None}


def shown(
    monkeypatch: pytest.MonkeyPatch, decision: Decision, more: tuple[Option, ...] = (), free: Option | None = None, **wished: Any
) -> list[Any]:
    """The roads of one rung: kinds, and what they cost."""
    best = offer("one-bigger-gpu", 5000, 3)
    monkeypatch.setattr(ladder, "road", lambda case, kind, one, chosen: (kind, one.cost.spend_usd, one is chosen))
    monkeypatch.setattr(ladder, "one_more", lambda case: SimpleNamespace(options=more))
    monkeypatch.setattr(ladder, "best_of_road", lambda case, kind: best)
    monkeypatch.setattr(ladder, "without_budget", lambda case: case)
    monkeypatch.setattr(ladder, "replace", lambda case, **_: case)
    monkeypatch.setattr(ladder, "decide", lambda case: decided(free))
    return list(ladder._roads(case(need_of(**wished)), decision))


def test_the_roads_of_a_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, changed, second, mac = (
        offer("keep", 0, 20),
        offer("change-settings", 0, 20, words="rtx-3090"),
        offer("second-gpu", 700, 20),
        offer("mac", 600, 20, words="dgx-spark"),
    )
    own = lambda chosen, *changes: Decision(chosen, kept, changes, ())  # noqa: E731
    assert shown(monkeypatch, own(kept), (second,)) == [("keep", 0, True)]  # it is enough: one more is not asked about
    assert shown(monkeypatch, own(changed, changed), (second,)) == [
        ("keep", 0, False),
        ("change-settings", 0, True),
        ("second-gpu", 700, False),
    ]
    assert shown(monkeypatch, own(mac), (second,)) == [("keep", 0, False), ("second-gpu", 700, False), ("mac", 600, True)]
    assert shown(monkeypatch, own(second), (second,)) == [("keep", 0, False), ("second-gpu", 700, True)]  # the same system once
    assert shown(monkeypatch, decided(mac), (second,)) == [("mac", 600, True)]  # nothing is owned
    assert shown(monkeypatch, decided(None), budget_usd=500.0, free=mac) == [("mac", 600, False)]  # what it would take
    assert shown(monkeypatch, decided(None), free=mac) == [("one-bigger-gpu", 5000, False)]  # there was no budget
    assert shown(monkeypatch, decided(None), budget_usd=500.0) == [("one-bigger-gpu", 5000, False)]
    assert shown(monkeypatch, own(None), (second,))[:2] == [("keep", 0, False), ("second-gpu", 700, False)]
