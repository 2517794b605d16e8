"""What else would change the answer: other systems, models and rivals, other work of a system, one more machine; each decided by hand."""

from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from test_flips import sold
from test_judged import CATALOG, need_of, option, way
from test_second import ran

from advisor.advice import flips as turning
from advisor.advice import second, workflips
from advisor.advice.bounds import Bound, Bounds, _Lie
from advisor.advice.decide import Decision
from advisor.advice.desk import Desk, Work
from advisor.advice.flips import NOBODY_PAYS_USD, _filters, _models, _priced, _rival, _sure_to_stay
from advisor.advice.joins import NEVER
from advisor.advice.judge import Case, Option
from advisor.advice.workflips import _as_today, _cheaper, _otherwise, _taken, of_context, of_users
from advisor.bind import bind
from advisor.errors import AdvisorError, Unsupported
from advisor.need import Workload
from advisor.record import replace
from advisor.units import GIB
from advisor.weights import weights_of

CARD, MAC = sold("second-gpu", 700, 20.0), sold("unified-memory-machine", 900, 25.0)


def decided(chosen: Option | None) -> Decision:
    return Decision(chosen, None, (), ())


def prober(chosen: Option | None, at: Option | None = None, **wished: Any) -> Any:
    """Today's verdict, and the one at any other need."""
    case = SimpleNamespace(need=need_of(**wished), offers=1, desk=SimpleNamespace(have=None, catalog=CATALOG, model=None))
    return SimpleNamespace(today=decided(chosen), case=case, at=lambda need, harder=False: decided(at), rivals=[])


def test_other_systems_where_nothing_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turning, "replace", lambda record, **changed: record)
    monkeypatch.setattr(turning, "decide", lambda case: decided(case.best))
    told = lambda asked, offers, best=None: [(each.wish, each.kind) for each in _filters(asked, SimpleNamespace(offers=offers, best=best))]  # type: ignore[arg-type]  # noqa: E731
    assert told(prober(None, MAC, consider=("second-gpu",)), 1) == [("consider", "unified-memory-machine")]
    assert told(prober(None, None, consider=("second-gpu",)), 1) == told(prober(None, MAC), 1) == []
    assert told(prober(CARD, MAC, consider=("second-gpu",)), 2, MAC) == []  # something does
    assert told(prober(None, MAC), 2, CARD) == [("among", "second-gpu")]
    assert told(prober(None, MAC), 2) == []


@pytest.mark.parametrize(
    ("kind", "larger", "smaller"),
    [("keep", False, True), ("nothing-fits", True, False), ("second-gpu", False, False), ("change-settings", False, False)],
)
def test_which_models_need_no_asking(kind: str, larger: bool, smaller: bool) -> None:
    """What runs a model as it is runs a smaller one too; where nothing runs it, nothing runs a larger one."""
    asked: Any = SimpleNamespace(today=SimpleNamespace(kind=kind))
    assert (_sure_to_stay(asked, "larger"), _sure_to_stay(asked, "smaller")) == (larger, smaller)


@pytest.mark.parametrize(
    ("params", "kinds", "wished", "told"),
    [
        (30e9, {"m14": "keep", "m32": "keep", "m70": "mac"}, {}, [("m70", "mac"), ("m14", "keep")]),  # 32 is as large: within a tenth
        (29e9, {"m14": "keep", "m32": "mac", "m70": "x"}, {}, [("m32", "mac"), ("m14", "keep")]),  # the next one only
        (30e9, {"m14": "keep", "m70": "second-gpu"}, {}, [("m14", "keep")]),  # the larger one has the same answer
        (14e9, {"m32": "mac"}, {}, [("m32", "mac")]),  # none is smaller
        (70e9, {"m32": "keep"}, {}, [("m32", "keep")]),
        (30e9, {"m14": "keep", "m70": "mac"}, {"quant": "q4_k_m"}, []),  # a format that the other may not have
        (30e9, {"m14": "keep", "m70": "mac"}, {"quant": "4bit"}, [("m70", "mac"), ("m14", "keep")]),
    ],
)
def test_the_next_larger_and_the_next_smaller_model(
    monkeypatch: pytest.MonkeyPatch, params: float, kinds: dict[str, str], wished: dict[str, Any], told: list[Any]
) -> None:
    monkeypatch.setattr(turning, "Desk", lambda need, have, catalog, model, today: SimpleNamespace(clear=lambda: None))
    monkeypatch.setattr(turning, "case_of", lambda desk, need, like, lean: need)
    monkeypatch.setattr(turning, "decide", lambda need: decided(option(kinds[need.model], 1, ran(20))))
    sizes = {"m70": 70e9, "m14": 14e9, "m32": 32e9}

    def model(name: str) -> Any:
        if name not in sizes:
            raise Unsupported("an overlay took it away")
        return SimpleNamespace(params=sizes[name])

    asked = prober(CARD, **wished)
    rungs = [SimpleNamespace(model=name) for name in (*sizes, "gone")]
    asked.case.desk = SimpleNamespace(have=None, model=SimpleNamespace(params=params, id="here"), terms=SimpleNamespace(today=None),
                                      catalog=SimpleNamespace(model=model, hints=SimpleNamespace(ladder=rungs)))  # fmt: skip
    assert [(each.value, each.kind) for each in _models(asked)] == told


def test_the_rival_is_of_another_kind_and_needs_no_such_device(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    best: list[Option | None] = [MAC]

    def harder(case: Any, today: Decision) -> Decision:
        seen.append([each.words for each in case])
        return decided(best[0])

    monkeypatch.setattr(turning, "decide_harder", harder)
    monkeypatch.setattr(turning, "replace", lambda case, lean: case)
    offers = [("a", "second-gpu", "rtx-3090"), ("b", "nvlink-pair", "rtx-3090"), ("c", "nvlink-pair", "rtx-4090"), ("d", "mac", "m4")]
    asked = prober(CARD)
    asked.case.offers = SimpleNamespace(
        every=[SimpleNamespace(words=words, kind=kind, bought=((what, 1),)) for words, kind, what in offers]
    )
    asked.case.among = list
    assert _rival(asked, "rtx-3090") is MAC
    assert seen == [["c", "d"]]
    for none in (None, sold("mac", 900, 5.0), option("mac", 0, way(20.0))):  # none; too slow; free
        best[0] = none
        assert _rival(asked, "rtx-3090") is None


def test_the_rival_of_a_computer_is_what_wins_where_nobody_pays_it(monkeypatch: pytest.MonkeyPatch) -> None:
    best: list[Option | None] = [MAC]
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(turning, "_priced", lambda prober, *price: asked.append(price) or decided(best[0]))
    host = next(iter(CATALOG.hosts))
    assert _rival(prober(CARD), host) is MAC
    assert asked == [(host, 0.0, NOBODY_PAYS_USD)]
    for none in (None, sold("second-gpu", 900, 20.0), option("mac", 0, way(20.0))):  # none; the same kind; free
        best[0] = none
        assert _rival(prober(CARD), host) is None


def test_with_a_device_at_another_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its own price changes; of a computer all offers are made anew."""
    host = next(iter(CATALOG.hosts))
    monkeypatch.setattr(turning, "decide_harder", lambda case, today: case)
    monkeypatch.setattr(turning, "case_of", lambda desk, need, like, **how: SimpleNamespace(need=need, offers=like.offers, how=how))
    monkeypatch.setattr(turning, "replace", lambda record, **changed: SimpleNamespace(**{**vars(record), **changed}))
    asked = prober(CARD)
    asked.case.need = SimpleNamespace(prices_usd=(("rtx-3090", 700.0), ("rtx-4090", 1600.0)))
    asked.case.desk.repriced = lambda prices: SimpleNamespace(catalog=CATALOG)
    asked.case.offers = SimpleNamespace(dearer=lambda device, more: (device, more), rehosted=lambda desk: "made anew")
    found: Any = _priced(asked, "rtx-3090", 700.0, 650.0)
    assert (found.need.prices_usd, found.offers) == ((("rtx-4090", 1600.0), ("rtx-3090", 650.0)), ("rtx-3090", -50))
    assert found.how == {"harder": True, "lean": True}
    moved: Any = _priced(asked, host, 500.0, 900.0)
    assert (moved.need.prices_usd[-1], moved.offers) == ((host, 900), "made anew")


# ---- whether a system still does other work


def taken(
    chosen: Option, *, as_today: tuple[Any, ...] = (), able: tuple[Any, ...] = (), usual: Any = None, within: bool = True
) -> tuple[float, float]:
    """What it takes of the tenth of a second that a token may take, as it does today's, and in the quickest of all ways."""
    desk = SimpleNamespace(
        have="something" if usual is not None else None, usual=lambda have, work: usual, ways=lambda system, work: as_today
    )
    asking: Any = SimpleNamespace(case=SimpleNamespace(desk=desk))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workflips, "able_ways", lambda desk, system, work: able)
        return _as_today(asking, chosen, need_of(), within), _otherwise(asking, chosen, need_of())


def named(one: Any) -> Any:
    one.quant, one.fit.raise_limit = SimpleNamespace(id="q4_k_m"), False
    return one


FAST, SLOW = named(ran(12.5)), named(ran(8))


def test_a_system_does_it_as_today_within_its_memory_else_in_another_way() -> None:
    card, spilt = option("second-gpu", 700, FAST), option("second-gpu", 700, named(ran(12, "offload")))
    assert taken(card, as_today=(FAST,), able=(SLOW, FAST)) == (0.8, 0.8)
    assert taken(card, as_today=(SLOW,), able=(SLOW,)) == (1.25, 1.25)
    assert taken(card, as_today=(FAST,), within=False) == (NEVER, NEVER)  # that way is full, and there is no other
    assert taken(spilt, as_today=(FAST,), within=False)[0] == 0.8  # more of it goes to the host's memory


def test_what_is_kept_must_do_it_as_it_is() -> None:
    kept = option("keep", 0, FAST)
    raised = named(ran(12))
    raised.fit.raise_limit = True
    assert taken(kept, usual=FAST, within=False) == (0.8, NEVER)
    assert taken(kept, usual=SLOW) == (1.25, NEVER)
    for usual in (None, raised, Unsupported("no such engine")):
        assert taken(kept, usual=usual, able=(FAST,), as_today=(FAST,)) == (NEVER, NEVER)  # another setting is another answer
    assert issubclass(Unsupported, AdvisorError)


def test_the_share_of_a_tokens_time() -> None:
    late, full = named(ran(12.5)), named(ran(12.5))
    late.first_token_s, full.fit = SimpleNamespace(value=2.0), SimpleNamespace(fits=False)
    assert [_taken(FAST, need_of()), _taken(SLOW, need_of()), _taken(FAST, replace(need_of(), min_tokens_per_s=0.0))] == [0.8, 1.25, 0]
    assert [_taken(each, need_of(max_first_token_s=1.0)) for each in (late, full)] == [NEVER, NEVER]


@pytest.mark.parametrize(
    ("usd", "spent", "cheaper"), [(699, 700, True), (700, 700, False), (None, 700, False), (900, None, True), (None, None, False)]
)
def test_what_is_cheaper(usd: float | None, spent: float | None, cheaper: bool) -> None:
    assert _cheaper(option("mac", usd, way(12)), spent, need_of()) is cheaper


def test_of_what_runs_as_it_is_fewer_users_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workflips, "_rising", lambda *_: None)
    monkeypatch.setattr(workflips, "_falling", lambda prober, now, least, step, at: (now, now - 1))

    def told(chosen: Option | None, users: int | None) -> list[tuple[Any, ...]]:
        asked = prober(chosen, MAC)
        asked.case.need = replace(asked.case.need, workload=Workload(users=users))
        asked.at_users = lambda number: number
        return [(each.before, each.value, each.when.code) for each in of_users(asked)]

    assert told(CARD, 4) == [(4, 3, "flip.users-down")]
    assert told(option("keep", 0, way(12)), 4) == []  # less work: kept all the more
    assert told(CARD, None) == []  # as many as fit


def test_a_shorter_context_where_nothing_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workflips, "_rising", lambda *_: None)
    monkeypatch.setattr(workflips, "_shorter", lambda prober, now, least: None)
    monkeypatch.setattr(workflips, "_falling", lambda prober, now, least, step, at: (step, least))

    def told(chosen: Option | None) -> list[tuple[Any, ...]]:
        asked = prober(chosen, MAC)
        asked.case.desk.model, asked.at_context = SimpleNamespace(max_context_tokens=None), lambda tokens: tokens
        return [(each.before, each.value) for each in of_context(asked)]

    assert told(None) == [(1024, 1280)]  # 1,024 of prompt and 256 of answer are the least
    assert told(CARD) == []


# ---- one more of what is owned


def one_more(monkeypatch: pytest.MonkeyPatch, have: str, **rates: float) -> list[tuple[str, str]]:
    """The kinds and words of what is weighed, best first; the words' rates are 12 where nothing else is said."""

    class Shelf:
        def __init__(self, desk: Any) -> None:
            pass

        def card_offer(self, kind: str, words: str, groups: Any, bought: Any) -> Any:
            assert [(device.id, count) for device, _, count in bought] == [(groups[0][0].id, 1)]
            return SimpleNamespace(kind=kind, words=words)

    machines = lambda shelf, device, size, count: [SimpleNamespace(kind="rdma-cluster", words=f"{n}x", count=n) for n in (2, 3, 4)]  # noqa: E731
    made = lambda case, offer: [sold(offer.kind, 700, rates.get(offer.kind.replace("-", "_"), 12.0), offer.words)]  # noqa: E731
    monkeypatch.setattr(second, "Shelf", Shelf)
    monkeypatch.setattr(second, "machines", machines)
    monkeypatch.setattr(second, "beside_machine", lambda shelf, device, size: [])
    monkeypatch.setattr(second, "evaluate", made)
    case: Any = SimpleNamespace(desk=SimpleNamespace(have=bind(have, CATALOG), catalog=CATALOG), need=need_of())
    found = second.one_more(case)
    return [(each.kind, each.cost.lines[0].what) for each in found.options] or [("none", found.none.code if found.none else "")]


def test_one_more_of_each_kind_of_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    find = lambda have, **rates: one_more(monkeypatch, have, **rates)  # noqa: E731
    pair, bridged = ("second-gpu", "2x rtx-3090"), ("nvlink-pair", "2x rtx-3090 via nvlink3-bridge-3090")
    assert find("rtx-3090") == [pair, bridged]
    assert find("rtx-3090", nvlink_pair=15.0) == [bridged, pair]  # of one price the faster one
    assert find("rtx-3090", second_gpu=9.0) == [bridged, pair]  # what does it first
    assert find("rtx-4090") == [("second-gpu", "2x rtx-4090")]  # it has no bridge
    assert find("2x rtx-3090") == [("multi-gpu-server", "3x rtx-3090")]
    assert find("rtx-3090 + rtx-3060-12gb") == [("multi-gpu-server", "2x rtx-3090 + rtx-3060-12gb")]
    assert find("dgx-spark") == [("rdma-cluster", "2x")]
    assert find("2x dgx-spark") == [("rdma-cluster", "3x")]
    assert find("h100-sxm") == [("none", "impossible.no-slot")]


# ---- bounds and what is ruled out by them


def test_what_may_reach_a_speed() -> None:
    found, offer = object.__new__(Bounds), SimpleNamespace(key="a")
    found._known, found._generous, found._rough = {"a": Bound(10.0, True)}, {"a": 12.0}, {"b": 20.0}
    found._near = {"b": 18.0}
    reach = lambda speed, **how: found.may_reach(offer, speed, **how)  # type: ignore[arg-type]  # noqa: E731
    assert [reach(speed) for speed in (0.0, 10.0, 10.1)] == [True, True, False]
    assert [reach(speed, generously=True) for speed in (12.0, 12.1)] == [True, False]
    other: Any = SimpleNamespace(key="b")
    looked: list[str] = []
    found.of = lambda offer: looked.append(offer.key) or Bound(15.0, True)  # type: ignore[method-assign,func-returns-value]
    assert [found.may_reach(other, speed) for speed in (15.0, 16.0, 19.0, 21.0)] == [True, False, False, False]
    assert len(looked) == 2  # 19 is more than it nearly reaches, 21 more than its memories give


def test_what_failed_at_less_fails_at_more() -> None:
    reached: list[str] = []
    asked: Any = SimpleNamespace(may_reach=lambda offer, floor, generously: reached.append(offer) or offer != "slow", may_start=lambda offer, within: offer != "late",
                                 may_hold=lambda offer: offer != "spills")  # fmt: skip

    def case(easier: Case | None = None, **more: Any) -> Case:
        made = Case(SimpleNamespace(), need_of(max_first_token_s=1.0), SimpleNamespace(), SimpleNamespace(named=False), easier, **more)  # type: ignore[arg-type]
        made.__dict__["bounds"] = asked
        return made

    easy = case(lean=True, counts_tokens_per_s=10.0)
    assert [easy.may_do(offer) for offer in ("a", "slow", "late")] == [True, False, False]  # type: ignore[arg-type]
    assert easy.failed == {"slow", "late"}
    assert case().may_do("late")  # type: ignore[arg-type]  # a road shows what comes near
    assert case(lean=True).may_do("late")  # type: ignore[arg-type]
    reached.clear()
    hard = case(easy)
    assert [hard.may_do(offer) for offer in ("a", "slow", "late")] == [True, False, False]  # type: ignore[arg-type]
    assert reached == ["a"]  # the others are not asked again
    assert [easy.may_hold(offer) for offer in ("a", "spills")] == [True, False]  # type: ignore[arg-type]
    asked.may_hold = lambda offer: True
    assert [hard.may_hold(offer) for offer in ("a", "spills")] == [True, False]  # type: ignore[arg-type]


def bounded(users: int = 4, prompt: int = 1024, most: float = 10.0, measured: float = 1.0) -> Any:
    """Bounds of an offer that gives each user `most`, where reading a prompt keeps one from generating for half a second; `measured`
    times as fast as estimated."""
    found = object.__new__(Bounds)
    found.users, found.work = users, SimpleNamespace(workload=Workload(users=users, prompt_tokens=prompt))  # type: ignore[assignment]
    found._saved = {"measured": None} if measured != 1.0 else {}  # type: ignore[dict-item]
    found._better = found._sooner = lambda seats, count: measured  # type: ignore[method-assign]
    found.of = lambda offer: Bound(most, True)  # type: ignore[method-assign]
    found._seated = lambda offer: [("a", 0.0), ("b", 0.0)]  # type: ignore[method-assign, list-item, return-value]
    found._paces = SimpleNamespace(
        unhidden_s=lambda seats, count: {"a": 0.5, "b": 0.9}[seats], first_s=lambda seats, count: {"a": 2.0, "b": 3.0}[seats]
    )  # type: ignore[assignment]
    return found


def test_what_users_sustain_who_have_prompts_read() -> None:
    """256 tokens of each of 4 users in 4 × 0.5 s of reading and 25.6 s of generating: 1,024 in 27.6 s."""
    offer: Any = SimpleNamespace(count=1)
    assert bounded().sustained(offer) == pytest.approx(1024 / 27.6)
    assert bounded(users=1).sustained(offer) == 10  # one user reads before, not meanwhile
    assert bounded(prompt=0).sustained(offer) == 40
    # measured at half of what was estimated, 20 tokens/s: half of 1,024 in 4 × 0.5 s and 256 / 20 = 12.8 s
    assert bounded(measured=0.5).sustained(offer) == pytest.approx(512 / 14.8)
    assert bounded(most=0.0).sustained(offer) == 0


@pytest.mark.parametrize(("within", "may"), [(None, True), (2.0, True), (1.9, False)])
def test_when_the_last_may_start(within: float | None, may: bool) -> None:
    offer: Any = SimpleNamespace(count=1)
    assert bounded().may_start(offer, within) is may  # of two engines the quicker takes two seconds
    assert bounded(prompt=0).may_start(offer, within)
    assert bounded(measured=2.0).may_start(offer, within)  # in one second, as was measured
    assert bounded(measured=0.5).may_start(offer, within) is (within is None)  # in four


def test_which_splits_are_too_slow_to_be_tried() -> None:
    """In turn 0.2 s and 0.05 of messages, cut 0.05 and 0.15, alone 0.1: 4, 5 and 10 tokens/s."""
    seats: Any = ((SimpleNamespace(way=SimpleNamespace(engine=SimpleNamespace(id="vllm"))), 2),)
    lie = _Lie(seats, 0.0, apart_s=0.1, in_line_s=0.2, cut_s=0.05)
    found = object.__new__(Bounds)
    found._better, found._spilling = lambda *_: 1.0, lambda *_: 3.0  # type: ignore[method-assign]
    found._joins = SimpleNamespace(hops_s=lambda *_: 0.05, reduces_s=lambda *_: 0.15)  # type: ignore[assignment]
    found._paces = SimpleNamespace(together=lambda *_: 1.0)  # type: ignore[assignment]
    found.of = lambda offer: Bound(10.0, True)  # type: ignore[method-assign]
    cards, boxes = SimpleNamespace(is_box=False), SimpleNamespace(is_box=True)

    def slow(below: float, lie: _Lie = lie, count: int = 1, device: Any = cards) -> set[str]:
        offer: Any = SimpleNamespace(boxes=count, groups=((device, 1.0, 1),), words="x", memory_bytes=1.0, count=2)
        found._lies = {("x", 1.0): [lie]}
        assert all(engine == "vllm" for engine, _ in found.hopeless(offer, below))
        return {strategy for _, strategy in found.hopeless(offer, below)}

    assert slow(4.0) == set()
    assert slow(4.1) == {"layers"}
    assert slow(5.1) == {"layers", "tensor", "experts"}
    assert slow(11.0) == {"layers", "tensor", "experts", "whole", "replicas"}  # offload is not ruled out where they may hold it
    assert slow(5.1, lie._replace(shared_s=0.1)) == {"layers", "tensor"}
    assert slow(3.1, lie._replace(short_bytes=1.0)) == {"offload"}
    assert slow(2.9, lie._replace(short_bytes=1.0)) == set()
    assert slow(5.1, count=2) == set()  # cards of two computers may be split inside
    assert slow(5.1, count=2, device=boxes) == {"layers", "tensor", "experts"}
    assert {"layers", "tensor"} <= slow(0.1, lie._replace(in_line_s=NEVER, cut_s=NEVER))


@pytest.mark.parametrize(("lean", "named", "may"), [(True, False, False), (False, False, True), (True, True, True)])
def test_bounds_are_generous_where_what_comes_near_is_shown_and_none_counts_for_what_is_named(lean: bool, named: bool, may: bool) -> None:
    case = Case(SimpleNamespace(), need_of(), SimpleNamespace(), SimpleNamespace(named=named), lean=lean)  # type: ignore[arg-type]
    case.__dict__["bounds"] = SimpleNamespace(may_reach=lambda offer, floor, generously: generously)
    assert case.may_reach("an offer") is may  # type: ignore[arg-type]


# ---- the work table


def desk(have: str | None = None, **wished: Any) -> Desk:
    return Desk(need_of(**wished), bind(have, CATALOG) if have else None, CATALOG, CATALOG.model("qwen3-8b"), date(2026, 11, 30))


def test_words_of_a_width_stay_words() -> None:
    table = desk()
    assert [table.quant(word) for word in (None, "4bit", "8bit", "16bit")] == [None, "4bit", "8bit", "16bit"]
    assert table.quant("q4_k_m") is CATALOG.quant("q4_k_m")


def test_the_formats_that_a_width_may_come_to() -> None:
    engines = [engine for engine in CATALOG.engines.values() if engine.choice_rank is not None]
    for word, field in (("4bit", "usual_4bit"), ("8bit", "usual_8bit"), ("16bit", "usual_16bit")):
        assert {quant.id for quant in desk()._formats(word)} == {getattr(engine, field) for engine in engines}
    assert [quant.id for quant in desk()._formats("q3_k_m")] == ["q3_k_m"]
    own = Desk(need_of(), None, CATALOG, CATALOG.model("gpt-oss-20b"))
    assert own.model.native_quant not in {quant.id for quant in own._formats("8bit")}  # a stated width is kept
    assert {quant.id for quant in own._formats(None)} == {getattr(engine, "usual_4bit") for engine in engines} | {own.model.native_quant}  # noqa: B009


def test_bounds_are_made_of_the_smallest_of_the_formats_that_may_be_taken() -> None:
    table = desk()
    sizes = [weights_of(table.model, quant, "llama.cpp").total_bytes for quant in table._formats("4bit")]
    assert min(sizes) < max(sizes)
    assert table.bytes(Work(Workload(), "4bit", "f16"))[0].total_bytes == min(sizes)


def test_whose_cache_the_bounds_are_made_of() -> None:
    usual = CATALOG.engines["llama.cpp"]
    assert desk()._keeper("f16") is desk()._keeper("q8_0") is usual
    assert "fp8" in desk()._keeper("fp8").kv_types  # it has none of these: one that has


def test_stated_memory_is_that_of_the_buyers_own_computer() -> None:
    table, other = desk("rtx-3090", ram_bytes=float(96 * GIB)), CATALOG.host("epyc-sp5")
    own = table.own_host
    assert own
    sized = lambda *asked: getattr(table.system("2x rtx-3090", *asked), "ram_bytes", None)  # noqa: E731
    assert sized() == sized(own) == 96 * GIB
    assert sized(other) != 96 * GIB
    assert sized(other, float(256 * GIB)) == 256 * GIB
    assert isinstance(table.system("nonsense"), AdvisorError)
    assert table.key(bind("rtx-3090", CATALOG)) != table.key(bind("2x rtx-3090", CATALOG))


def test_with_other_prices_what_was_estimated_stays() -> None:
    table = desk("rtx-3090")
    kept = table.system("2x rtx-3090")
    other = table.repriced((("rtx-3090", 1.0),))
    assert other.system("2x rtx-3090") is kept
    assert (other.need.prices_usd, other.have, other.terms.today) == ((("rtx-3090", 1.0),), table.have, table.terms.today)
    assert other.price(CATALOG.device("rtx-3090"), 24 * GIB).usd == 1
    assert table.price(CATALOG.device("rtx-3090"), 24 * GIB).usd != 1
