"""Should I buy a second one, and what to set: each answer decided by hand on estimates of made-up speeds."""

from types import SimpleNamespace
from typing import Any

import pytest
from test_flips import sold
from test_judged import CATALOG, need_of, option, way
from test_rule import held

from advisor.advice import roads
from advisor.advice import search as searching
from advisor.advice.judge import Case, Option
from advisor.advice.roads import best_of_road, nearest_misses
from advisor.advice.search import candidates, search
from advisor.advice.second import OneMore, second_gpu
from advisor.advice.settings import _drafting, _gain, _kv, _limit, _power, _split
from advisor.billed import CostLine
from advisor.bind import bind
from advisor.need import Need, Workload
from advisor.reason import Reason
from advisor.record import replace


def ran(rate: float, strategy: str = "whole", words: str = "2x rtx-3090", disk: float = 0.0, most: int = 5, **more: Any) -> Any:
    one = way(rate, strategy, **more)
    one.system, one.placement.engine, one.placement.parts = bind(words, CATALOG), "vllm", ()
    one.fit.devices, one.fit.disk_bytes, one.fit.max_users, one.fit.host_needed_bytes = (held(100, 60, 20, 5, count=2),), disk, most, 7.0
    one.fit.host_usable_bytes, one.quant = None, SimpleNamespace(id="q4_k_m")
    return one


def asked(need: Need, have: str = "rtx-3090", users: int | None = 1) -> Any:
    desk = SimpleNamespace(have=bind(have, CATALOG), choice={"worth-factor": 1.2}.__getitem__, catalog=CATALOG)
    return SimpleNamespace(need=need, desk=desk, work=SimpleNamespace(workload=Workload(users=users)))


def more(rate: float, usd: float | None = 700.0, *, beside: tuple[CostLine, ...] = (), **way_: Any) -> Option:
    found = option("second-gpu", usd, ran(rate, **way_))
    card = (CostLine("rtx-3090", "RTX 3090", 1, usd, False, None, None), CostLine("rtx-3090", "RTX 3090", 1, 700, True, None, None))
    found.cost.lines = (*card, *beside)  # type: ignore[misc]
    return found


def owned(rate: float, **way_: Any) -> Option:
    return option("keep", 0, ran(rate, words="rtx-3090", **way_))


@pytest.mark.parametrize(
    ("one", "two", "wished", "answer", "code"),
    [
        (owned(20), more(19.9), {}, "no", "second.no-slower"),
        (owned(20), more(20), {}, "no", "second.no-gain"),  # as fast: no slower, no gain
        (owned(20), more(23.9), {}, "no", "second.no-gain"),
        (owned(20), more(24), {}, "no", "second.no-need"),  # faster, and nobody needs it
        (owned(20), more(24), {"prefer": "fastest"}, "yes-for-speed", "second.yes-for-speed"),
        (owned(20), more(24), {"prefer": "fastest", "budget_usd": 600.0}, "no", "second.no-need"),
        (owned(20), more(23.9), {"prefer": "fastest"}, "no", "second.no-gain"),
    ],
)
def test_where_one_is_enough(one: Option, two: Option, wished: dict[str, Any], answer: str, code: str) -> None:
    found = second_gpu(asked(need_of(**wished)), one, one, OneMore((two,)))
    assert (found.answer, found.text.code) == (answer, code)


@pytest.mark.parametrize(
    ("two", "wished", "code"),
    [
        (more(20, fits=False), {}, "second.no-not-enough"),
        (more(20, fits=False, disk=5.0), {}, "second.no-not-held"),
        (more(20, strategy="offload", fits=False), {}, "second.no-not-held"),
        (more(9), {}, "second.no-too-slow"),
        (more(9, strategy="offload"), {}, "second.no-spills"),
        (more(20, first=3.0), {"max_first_token_s": 2.0}, "second.no-too-late"),
        (more(20, None), {}, "second.no-unpriced"),
        (more(20, None), {"new_only": True}, "second.no-not-new"),
        (more(20), {"budget_usd": 600.0}, "second.no-too-dear"),
    ],
)
def test_where_one_more_is_not_enough_either(two: Option, wished: dict[str, Any], code: str) -> None:
    slow = owned(5)
    found = second_gpu(asked(need_of(**wished)), slow, slow, OneMore((two,)))
    assert (found.answer, found.text.code) == ("no", code)
    assert found.text.facts["budget_usd"] == wished.get("budget_usd")
    assert found.text.facts.get("unpriced") == ("RTX 3090" if two.cost.spend_usd is None else None)


@pytest.mark.parametrize(
    ("keep", "users", "answer"),
    [
        (Reason("keep.unsupported", {}), 1, "yes-for-capacity"),
        (owned(5), 1, "yes-for-speed"),
        (owned(5), 4, "yes-for-users"),
        (owned(5), 2, "yes-for-users"),
        (owned(5), None, "yes-for-speed"),  # as many as fit: one that fits serves them all
        (owned(5, fits=False), 1, "yes-for-capacity"),
        (owned(5, fits=False, most=1), 2, "yes-for-users"),
        (owned(5, fits=False, most=1), 4, "yes-for-users"),  # it holds one user
        (owned(5, fits=False, most=0), 4, "yes-for-capacity"),
    ],
)
def test_what_the_second_one_is_for(keep: Any, users: int | None, answer: str) -> None:
    best = keep if isinstance(keep, Option) else None
    found = second_gpu(asked(need_of(), users=users), keep, best, OneMore((more(12), more(20, 900.0))))
    assert (found.answer, found.text.code) == (answer, f"second.{answer}")
    assert found.text.facts["two_tokens_per_s"] == 12  # the first that does, not the fastest
    assert found.because[-1].code == "second.setting"
    assert found.because[-1].facts == {"strategy": "whole", "engine": "vllm", "devices": 2}


def test_the_two_speeds_and_what_they_cost() -> None:
    bridge = CostLine("nvlink", "bridge", 2, 60.0, False, None, None)
    slow = owned(5)
    facts = second_gpu(asked(need_of()), slow, slow, OneMore((more(12, beside=(bridge,)),))).text.facts
    assert (facts["one_tokens_per_s"], facts["two_tokens_per_s"], facts["speed_factor"]) == (5, 12, 2.4)
    assert (facts["beside"], facts["beside_usd"], facts["spend_usd"]) == ("bridge", 120, 700)
    assert (facts["usable_bytes"], facts["needed_bytes"]) == (200, 170)  # of both
    assert (facts["count"], facts["ordinal"], facts["one_more"]) == (2, "second", "second RTX 3090")
    text = second_gpu(asked(need_of()), slow, slow, OneMore((more(12, beside=(bridge,)),))).text
    assert text.code == "second.yes-for-speed-beside"
    paid = replace(bridge, owned=True)
    assert second_gpu(asked(need_of()), slow, slow, OneMore((more(12, beside=(paid,)),))).text.code == "second.yes-for-speed"
    lost = second_gpu(asked(need_of()), slow, None, OneMore((more(12),))).text.facts
    assert (lost["one_tokens_per_s"], lost["one_per_user_tokens_per_s"], lost["speed_factor"]) == (0, 0, None)


@pytest.mark.parametrize(("have", "ordinal"), [("2x rtx-3090", "third"), ("8x rtx-3090", "ninth"), ("9x rtx-3090", "10th")])
def test_which_one_it_would_be(have: str, ordinal: str) -> None:
    slow = owned(5)
    assert second_gpu(asked(need_of(), have), slow, slow, OneMore((more(12),))).text.facts["ordinal"] == ordinal


def test_a_box_is_called_by_its_name() -> None:
    slow = owned(5)
    boxes = more(12, words="2x dgx-spark")
    named = CATALOG.device("dgx-spark").name
    assert second_gpu(asked(need_of(), "dgx-spark"), slow, slow, OneMore((boxes,))).text.facts["one_more"] == f"second {named}"


def test_nothing_to_add() -> None:
    slow = owned(5)
    assert second_gpu(asked(need_of()), slow, slow, OneMore((), Reason("impossible.no-slot", {}))).text.code == "impossible.no-slot"
    assert second_gpu(asked(need_of()), slow, slow, OneMore(())).text.code == "second.cannot"


# ---- the search for the cheapest, or the fastest


def offered(name: str, usd: float, bound: float, *, kind: str = "mac", holds: bool = True) -> Any:
    class Hashed(SimpleNamespace):
        __hash__ = object.__hash__  # type: ignore[assignment]

    return Hashed(kind=kind, words=name, least_usd=usd, bound=bound, holds=holds, boxes=1, count=1, host="a computer")


def shop(need: Need, offers: list[Any], roomier: dict[str, list[Any]] | None = None, users: int = 1, resale: float = 0.0) -> Any:
    """Offers with their bounds; `tried` are those that were estimated."""
    moved = roomier or {}
    ordered = sorted(offers, key=lambda each: each.least_usd)
    return SimpleNamespace(
        need=need, work=SimpleNamespace(workload=Workload(users=users)), failed=set(), tried=[], counted=[],
        offers=SimpleNamespace(priced_of_kind=lambda kind: [o for o in ordered if kind in (None, o.kind)], roomier=lambda o: moved.get(o.words, []), named=False),
        bound=lambda each: SimpleNamespace(tokens_per_s=each.bound), most=lambda each: each.bound, lean=True, counts_tokens_per_s=0.0, may_do=lambda each: each.bound >= need.min_tokens_per_s,
        may_hold=lambda each: each.holds, may_reach=lambda each: each.bound >= need.min_tokens_per_s, desk=SimpleNamespace(most_resale_usd=resale),
        bounds=SimpleNamespace(
            roughly=lambda each: each.bound * 1.5, nearly=lambda each: each.bound * 1.1,
            sustained=lambda each: getattr(each, "sustained", each.bound * users),
        ),
    )  # fmt: skip


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> dict[str, Option]:
    """What each offer turns out to be."""
    turned: dict[str, Option] = {}

    def evaluate(case: Any, offer: Any) -> list[Option]:
        case.counted.append((offer.words, case.counts_tokens_per_s))
        if offer.words not in case.tried:
            case.tried.append(offer.words)
        return [turned[offer.words]]

    monkeypatch.setattr(searching, "evaluate", evaluate)
    monkeypatch.setattr(searching, "replace", lambda case, **more: SimpleNamespace(**{**vars(case), **more}))
    return turned


def test_the_cheapest_that_does_ends_the_search(real: dict[str, Option]) -> None:
    real |= {"a": sold("mac", 500, 8), "b": sold("mac", 900, 12), "c": sold("mac", 1000, 30), "d": sold("mac", 800, 5)}
    case = shop(need_of(), [offered("a", 500, 11), offered("d", 600, 9), offered("b", 700, 15), offered("c", 901, 40)])
    assert [each.cost.spend_usd for each in search(case)] == [900, 500]
    assert case.tried == ["a", "b"]  # d cannot reach the floor; c costs more at least than b does
    assert [each.words for each in case.failed] == ["a"]
    cheaper = shop(need_of(), [offered("b", 700, 15), offered("c", 900, 40)])
    real["c"] = sold("mac", 900, 30)
    assert [each.cost.spend_usd for each in search(cheaper)] == [900, 900]
    assert [each.estimate.decode.value for each in search(cheaper)] == [30, 12]  # at one price the faster


def test_of_one_price_what_is_no_faster_is_not_tried_for_a_verdict(real: dict[str, Option]) -> None:
    real |= {"a": sold("mac", 500, 30), "b": sold("mac", 500, 20), "c": sold("mac", 500, 40)}
    offers = [offered("a", 500, 35), offered("b", 500, 29), offered("c", 500, 50)]
    case = shop(need_of(), offers)
    assert search(case)[0] is real["c"]
    assert case.tried == ["a", "c"]
    for lean, named in ((False, False), (True, True)):  # what comes near is shown, or each that was named
        every = shop(need_of(), offers)
        every.lean, every.offers.named = lean, named
        search(every)
        assert every.tried == ["a", "b", "c"]
    old = shop(need_of(sell_old=True), offers)
    search(old)
    assert old.tried == ["a", "b", "c"]  # what the old parts bring is not known


def test_ways_that_cannot_count_are_left_out_first(real: dict[str, Option]) -> None:
    real |= {"a": sold("mac", 500, 8), "b": sold("mac", 900, 12)}
    offers = [offered("a", 500, 11), offered("b", 700, 15)]
    case = shop(need_of(), offers)
    search(case)
    assert case.counted == [("a", 10.0), ("a", 0.0), ("b", 10.0)]  # a is too slow: every way of it is looked for
    asked = shop(need_of(), offers)
    asked.counts_tokens_per_s = 9.0
    search(asked)
    assert asked.counted == [("a", 9.0), ("b", 9.0)]
    fastest = shop(need_of(prefer="fastest"), [offered("a", 500, 11), offered("b", 700, 9)], users=2)
    real |= {"a": sold("mac", 500, 10, sustained=16), "b": sold("mac", 900, 9, sustained=18)}
    fastest.may_do = lambda each: True
    search(fastest)
    assert fastest.counted == [("a", 0.0), ("b", 8.0)]  # eight for each of two: what is slower cannot be the fastest
    assert not fastest.failed & {offers[1]}


def test_old_parts_that_are_sold_may_make_the_dearer_cheaper(real: dict[str, Option]) -> None:
    real |= {"b": option("mac", 900, way(12), resale=300), "c": sold("mac", 1000, 30)}
    case = shop(need_of(sell_old=True), [offered("b", 700, 15), offered("c", 900, 40)], resale=300)
    search(case)
    assert case.tried == ["b", "c"]  # 600 counts for b, but c may bring 300 too
    real |= {"b": sold("mac", 900, 12), "c": option("mac", 1000, way(30), resale=300)}
    keeping = shop(need_of(sell_old=True), [offered("b", 700, 15), offered("c", 1000, 40), offered("d", 1201, 40)], resale=300)
    assert search(keeping)[0] is real["c"]  # b keeps the old ones and costs 900; 1000 less 300 is less
    assert keeping.tried == ["b", "c"]  # 1201 less 300 is more
    nothing_old = shop(need_of(sell_old=True), [offered("b", 700, 15), offered("c", 900.5, 40)])
    search(nothing_old)
    assert nothing_old.tried == ["b"]


def test_the_fastest_ends_where_bounds_do(real: dict[str, Option]) -> None:
    real |= {"a": sold("mac", 500, 20), "b": sold("mac", 900, 12), "c": sold("mac", 1000, 30)}
    case = shop(need_of(prefer="fastest"), [offered("a", 500, 29), offered("b", 700, 15), offered("c", 900, 40)])
    assert search(case)[0] is real["c"]
    assert case.tried == ["c"]  # the others promise 29 at most
    level = shop(need_of(prefer="fastest"), [offered("a", 500, 30), offered("c", 900, 40)])
    search(level)
    assert level.tried == ["c", "a"]  # of two as fast the cheaper one counts


def test_several_users_are_counted_in_the_bound(real: dict[str, Option]) -> None:
    real |= {"a": sold("mac", 500, 9, sustained=50), "c": sold("mac", 1000, 20, sustained=30)}
    case = shop(need_of(prefer="fastest"), [offered("a", 500, 16), offered("c", 900, 40)], users=2)
    search(case)
    assert case.tried == ["c", "a"]  # 16 for each of two is 32 in all, more than 30
    waiting = [offered("a", 500, 16), offered("c", 900, 40)]
    waiting[0].sustained = 29.0
    for lean, tried in ((True, ["c"]), (False, ["c", "a"])):  # for prompts two users wait; who looks for what comes near sees both
        case = shop(need_of(prefer="fastest"), waiting, users=2)
        case.lean = lean
        search(case)
        assert case.tried == tried


def test_only_what_is_affordable_considered_and_no_copies_for_one(real: dict[str, Option]) -> None:
    offers = [offered("a", 500, 20, kind="second-gpu"), offered("b", 700, 20), offered("c", 901, 20), offered("k", 0, 20, kind="keep")]
    named = lambda case, kind=None: [each.words for each in candidates(case, kind)]  # noqa: E731
    assert named(shop(need_of(), offers)) == ["a", "b", "c"]
    assert named(shop(need_of(budget_usd=900.0), offers)) == ["a", "b"]
    assert named(shop(need_of(budget_usd=700.0), offers)) == ["a", "b"]
    assert named(shop(need_of(budget_usd=700.0, sell_old=True), offers)) == ["a", "b", "c"]  # what the old parts bring is not known yet
    assert named(shop(need_of(consider=("second-gpu",)), offers)) == ["a"]
    assert named(shop(need_of(), offers), "mac") == ["b", "c"]
    assert named(shop(need_of(), [offered("r", 1, 20, kind="replicas")]), "replicas") == []
    assert named(shop(need_of(), [offered("r", 1, 20, kind="replicas")], users=2), "replicas") == ["r"]


def test_cards_in_roomier_computers_come_at_their_price(real: dict[str, Option]) -> None:
    spills, larger = offered("a", 500, 20, holds=False), offered("a+", 800, 20)
    named = lambda case: [each.words for each in candidates(case)]  # noqa: E731
    assert named(shop(need_of(), [spills, offered("b", 700, 20), offered("c", 900, 20)], {"a": [larger]})) == ["a", "b", "a+", "c"]
    assert named(shop(need_of(), [spills, offered("b", 700, 20)], {"a": [larger]})) == ["a", "b", "a+"]
    assert named(shop(need_of(budget_usd=799.0), [spills, offered("b", 700, 20)], {"a": [larger]})) == ["a", "b"]
    assert named(shop(need_of(), [offered("a", 500, 20)], {"a": [larger]})) == ["a"]  # it holds the work: one card gains nothing
    pair = offered("a", 500, 20)
    pair.count = 2
    assert named(shop(need_of(), [pair], {"a": [larger]})) == ["a", "a+"]  # wider slots between two
    pair.bound = 9.0
    assert named(shop(need_of(), [pair], {"a": [larger]})) == []  # no slot makes two fast enough that cannot be


# ---- settings


def hints(**more: Any) -> Any:
    flags = {("kv-quant", "vllm"): "--kv-cache-dtype {kv_quant}", ("tensor", "vllm"): "--tensor-parallel-size {devices}"}
    flags |= {("power-limit", "system"): "nvidia-smi -pl {limit_w}", ("drafting", "vllm"): "--draft {draft_tokens}"}
    known = lambda name, engine: SimpleNamespace(command=flags[name, engine], source="a page") if (name, engine) in flags else None  # noqa: E731
    return SimpleNamespace(flag=known, **more)


def test_what_a_setting_brings() -> None:
    one, two, none = option("keep", 0, ran(10)), option("change-settings", 0, ran(15)), option("keep", 0, ran(10, fits=False))
    gain = _gain(one, two)
    assert gain
    assert (gain.code, gain.facts) == ("gain.speed", {"from_tokens_per_s": 10, "to_tokens_per_s": 15, "speed_factor": 1.5})
    fits = _gain(none, two)
    assert fits
    assert (fits.code, fits.facts) == ("gain.fits", {"per_user_tokens_per_s": 15})
    assert _gain(None, two) is None
    assert _gain(two, two) is None
    assert _gain(option("keep", 0, ran(10, words="rtx-3090")), two) is None  # other hardware


def test_a_power_limit_by_its_measurement() -> None:
    cap = SimpleNamespace(device="rtx-3090", limit_w=250.0, full_w=350.0, decode_kept_share=0.97, source="a page")
    found = _power(option("keep", 0, ran(10)), hints(power_caps=(cap,)))
    assert found
    assert found.gain
    assert (found.command, found.gain.facts["saved_w"]) == ("nvidia-smi -pl 250", 100)
    assert found.gain.facts["lost_share"] == pytest.approx(0.03)
    assert _power(option("keep", 0, ran(10, words="rtx-4090")), hints(power_caps=(cap,))) is None
    other = replace_device(cap, "rx-7900-xtx")
    assert _power(option("keep", 0, ran(10, words="rx-7900-xtx")), hints(power_caps=(other,))).command is None  # type: ignore[union-attr]


def replace_device(cap: Any, device: str) -> Any:
    return SimpleNamespace(**{**vars(cap), "device": device})


def test_drafting_by_its_publication() -> None:
    def row(engine: str, gain: float, model: str = "qwen3-8b") -> Any:
        return SimpleNamespace(model=model, engine=engine, gain=gain, draft_tokens=3, system="a card", plain_tokens_per_s=10.0,
                               drafted_tokens_per_s=10.0 * gain, source="a page")  # fmt: skip

    one = ran(10)
    one.model = SimpleNamespace(id="qwen3-8b")
    chosen = option("keep", 0, one)
    found = _drafting(chosen, hints(drafting=(row("mlx", 1.2), row("vllm", 1.9), row("vllm", 1.5), row("vllm", 1.1, "other"))))
    assert found
    assert found.gain
    assert (found.command, found.gain.facts["speed_factor"]) == ("--draft 3", 1.5)  # of this engine's the smallest
    other = _drafting(chosen, hints(drafting=(row("mlx", 1.4), row("sglang", 1.2))))
    assert other
    assert other.gain
    assert (other.command, other.gain.facts["speed_factor"]) == (None, 1.2)
    assert _drafting(chosen, hints(drafting=(row("vllm", 1.5, "other"),))) is None


def test_limits_to_raise_and_smaller_caches() -> None:
    one = ran(10)
    one.fit.reasons = (Reason("memory.fits", {}), Reason("memory.raise-limit", {"command": "sysctl 5", "limit_bytes": 5.0}))
    found = _limit(option("keep", 0, one))
    assert found
    assert (found.command, found.text.facts) == ("sysctl 5", {"usable_bytes": 5.0})
    one.fit.reasons = (Reason("memory.raise-limit", {"limit_bytes": 5.0}),)
    assert _limit(option("keep", 0, one)).command is None  # type: ignore[union-attr]
    one.fit.reasons = ()
    assert _limit(option("keep", 0, one)) is None
    assert _kv(option("keep", 0, one), hints()) is None  # nothing was changed


def test_one_device_is_not_split() -> None:
    assert _split(option("keep", 0, ran(10, words="rtx-3090")), None, hints()) is None
    assert _split(option("keep", 0, ran(10, "replicas")), None, hints()) is None


# ---- the best of a road, and what comes nearest where nothing does


def road_case(need: Need, offers: list[Any], monkeypatch: pytest.MonkeyPatch, real: dict[str, Option], *, fits: bool = True) -> list[str]:
    """The offers that are estimated for the nearest miss."""
    tried: list[str] = []

    def evaluate(case: Any, offer: Any) -> list[Option]:
        tried.append(offer.words)
        return [real[offer.words]] if fits or not case.lean else []

    monkeypatch.setattr(roads, "evaluate", evaluate)
    case = Case(SimpleNamespace(), need, SimpleNamespace(workload=Workload()), SimpleNamespace(of_kind=lambda _: offers), lean=True)  # type: ignore[arg-type]
    monkeypatch.setattr(Case, "bound", lambda self, each: SimpleNamespace(tokens_per_s=each.bound, holds=each.holds))
    found = nearest_misses(case, "mac")
    return [*tried, str(len(found))]


def test_what_promises_most_is_estimated_until_nothing_can_come_nearer(monkeypatch: pytest.MonkeyPatch) -> None:
    real = {"a": sold("mac", 500, 8), "b": sold("mac", 600, 7), "c": sold("mac", 100, 3)}
    offers = [offered("c", 100, 5), offered("b", 600, 9), offered("a", 500, 9)]
    # a and b promise nine tenths of the floor, a for less money; a turns out at 0.8, b may be nearer, c not
    assert road_case(need_of(), offers, monkeypatch, real) == ["a", "b", "2"]
    assert road_case(need_of(), [], monkeypatch, real) == ["0"]
    real = {"a": sold("mac", 500, 9), "b": sold("mac", 500, 5), "c": sold("mac", 500, 7)}
    offers = [offered("a", 500, 9.5), offered("b", 500, 9.3), offered("c", 500, 7)]
    assert road_case(need_of(), offers, monkeypatch, real) == ["a", "b", "2"]  # a is at 0.9: c cannot be nearer, though b was farther


def test_the_roads_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roads, "road", lambda case, kind, option, chosen: kind if option is not None else f"no {kind}")
    options: dict[str, Any] = {
        "keep": owned(12),
        "replicas": more(12),
        "rdma-cluster": more(12),
        "network-cluster": None,
        "new-host": more(9),
    }
    shown = lambda have: roads.shown_roads(SimpleNamespace(desk=SimpleNamespace(have=have)), options, None)  # type: ignore[arg-type]  # noqa: E731
    always = ("no one-bigger-gpu", "no nvlink-pair", "rdma-cluster")
    assert shown("something") == ("keep", "no change-settings", "no second-gpu", *always, "replicas", "new-host")
    del options["keep"]
    assert shown(None) == (*always, "replicas", "new-host")


def test_what_has_no_price_counts_if_it_holds_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    real = {"a": sold("mac", None, 8), "b": sold("mac", None, 7)}
    priceless = [offered("a", 0, 9), offered("b", 0, 9, holds=False)]
    for each in priceless:
        each.least_usd = None
    assert road_case(need_of(), priceless, monkeypatch, real) == ["a", "1"]


def test_where_none_fits_the_largest_memory_is_looked_at_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    real = {"a": sold("mac", 500, 8, fits=False), "b": sold("mac", 600, 7, fits=False)}
    for name in "ab":
        real[name].estimate.fit.devices, real[name].estimate.fit.host_usable_bytes = (held(100, 125),), None  # type: ignore[misc]
        real[name].estimate.fit.disk_bytes, real[name].estimate.weights = 0.0, SimpleNamespace(total_bytes=100.0)  # type: ignore[misc]
    offers = [offered("a", 500, 0), offered("b", 600, 0)]
    offers[0].memory_bytes, offers[1].memory_bytes = 24.0, 48.0
    assert road_case(need_of(), offers, monkeypatch, real, fits=False)[:3] == ["b", "a", "b"]  # both in vain, then again


def test_copies_are_no_road_for_one_user() -> None:
    case = Case(SimpleNamespace(), need_of(), SimpleNamespace(workload=Workload()), SimpleNamespace(of_kind=lambda _: []))  # type: ignore[arg-type]
    several = replace(case, work=SimpleNamespace(workload=Workload(users=2)), offers=SimpleNamespace(of_kind=lambda kind: [].index(kind)))  # type: ignore[arg-type]
    assert nearest_misses(replace(several, work=case.work), "replicas") == []  # nothing is asked for
    with pytest.raises(ValueError, match="not in list"):
        nearest_misses(several, "replicas")


def test_no_more_than_six_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    names = "abcdefgh"
    real = {name: sold("mac", 500, 1) for name in names}
    assert road_case(need_of(), [offered(name, 500, 9) for name in names], monkeypatch, real) == [*"abcdef", "6"]


def test_the_best_of_a_road(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does; else one that does for more money; else what comes nearest."""
    need = need_of(budget_usd=1000.0)
    does, dear, slow, other = sold("mac", 900, 12), sold("mac", 2000, 12), sold("mac", 900, 8), sold("mac", 900, 9)
    case = Case(SimpleNamespace(), need, SimpleNamespace(workload=Workload()), SimpleNamespace())  # type: ignore[arg-type]

    def best(within: list[Option], free: list[Option], misses: list[Option], need: Need = need) -> Option | None:
        monkeypatch.setattr(roads, "search", lambda case, kind: list(free if case.need.budget_usd is None and free else within))
        monkeypatch.setattr(roads, "nearest_misses", lambda case, kind: misses)
        return best_of_road(replace(case, need=need), "mac")

    assert best([does, slow], [dear], []) is does
    assert best([slow], [dear], []) is dear
    assert best([slow], [slow], [other]) is other
    assert best([], [], [slow]) is slow
    assert best([slow, dear], [], [], need_of()) is dear  # no budget: what does is among them
    assert best([], [], []) is None
