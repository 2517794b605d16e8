"""What is owned set otherwise, and what would make a split pay: on estimates of made-up speeds, each decided by hand."""

from types import SimpleNamespace
from typing import Any

import pytest
from test_judged import CATALOG, need_of, option
from test_rule import codes
from test_second import hints, ran

from advisor.advice import owned as owning
from advisor.advice import remedies
from advisor.advice.conditions import judged
from advisor.advice.desk import Work
from advisor.advice.judge import Option
from advisor.advice.owned import _changes, _dealt, _same, _single, _steps, _worth, change, clearly_faster, keep, keep_meets, lesser_weights
from advisor.advice.remedies import _links, better_link, fastest_cut, other_count, other_engine
from advisor.advice.settings import _free, _gain, _peer, _split
from advisor.bind import bind
from advisor.errors import Unsupported
from advisor.need import Need, Workload
from advisor.reason import Reason
from advisor.record import replace

CHOSEN = {"clearly-faster-factor": 1.5, "worth-factor": 1.2, "least-ceiling-factor": 1.5}


def run(rate: float, strategy: str = "whole", *, words: str = "rtx-3090", engine: str = "vllm", raised: bool = False, layers: tuple[int, ...] = (),
        **more: Any) -> Any:  # fmt: skip
    one = ran(rate, strategy, words=words, **more)
    one.placement = SimpleNamespace(
        strategy=strategy, engine=engine, backend="cuda", parts=tuple(SimpleNamespace(layers=each) for each in layers)
    )
    one.fit.raise_limit, one.weights = raised, SimpleNamespace(total_bytes=60.0, bits_per_weight=4.5)
    return one


def kept(rate: float, **more: Any) -> Option:
    return Option("keep", run(rate, **more), SimpleNamespace())  # type: ignore[arg-type]


# ---- which works are tried, from the one asked to those that give something up


def stepping(need: Need, context: int = 8192, usual_bytes: float | None = 60.0) -> list[tuple[str | None, Any]]:
    sizes = {"q3": 45.0, "q2": 60.0, "q1": 30.0}
    lower = tuple(SimpleNamespace(quant=name, last=name == "q1") for name in sizes)
    desk = SimpleNamespace(eight_bit_caches=("q8_0",), bytes=lambda work: (SimpleNamespace(total_bytes=sizes[work.quant]),),
                           catalog=SimpleNamespace(hints=SimpleNamespace(last_caches=("q4_0",), lower_quants=lower)))  # fmt: skip
    work = Work(Workload(context_tokens=context, prompt_tokens=1024, generate_tokens=256), None, "f16")
    found = list(_steps(SimpleNamespace(work=work, need=need, desk=desk), usual_bytes))  # type: ignore[arg-type]
    assert found[0] == (work, None, None)
    for changed, what, value in found[1:]:
        now = {"kv_quant": changed.kv_quant, "context_tokens": changed.workload.context_tokens, "quant": changed.quant}
        assert now[str(what)] == value
    return [(what, value) for _, what, value in found[1:]]


def test_what_is_given_up_in_which_order() -> None:
    """The smaller caches, the shortest context that holds prompt and answer (1,280 tokens, in steps of 1,024), then smaller weights."""
    caches, shorter, smaller = [("kv_quant", "q8_0"), ("kv_quant", "q4_0")], [("context_tokens", 2048)], [("quant", "q3"), ("quant", "q1")]
    everything = need_of(context_stated=False)
    assert stepping(everything) == caches + shorter + smaller  # q2 is no smaller than what is run: 60 bytes
    assert stepping(everything, usual_bytes=None) == caches + shorter + [("quant", "q3"), ("quant", "q2"), ("quant", "q1")]
    assert stepping(everything, context=2048) == caches + smaller  # it is that short already
    assert stepping(need_of()) == caches + smaller
    assert stepping(need_of(kv_quant="f16", context_stated=False)) == shorter + smaller
    assert stepping(need_of(quant="q4_k_m")) == caches


# ---- what counts as another setting


def test_each_of_several_devices_alone() -> None:
    alone = lambda words: [(each.count, each.groups[0].device.id) for each in _single(bind(words, CATALOG))]  # noqa: E731
    assert alone("rtx-3090") == []
    assert alone("2x rtx-3090") == [(1, "rtx-3090")]
    assert alone("rtx-3090 + rtx-4090") == [(1, "rtx-3090"), (1, "rtx-4090")]


def test_the_usual_way_is_no_change() -> None:
    usual = kept(10)
    assert _same(run(10), usual)
    assert not _same(run(10), Reason("keep.unsupported", {}))
    assert not _same(run(10), kept(10, raised=True))  # its limit is not raised yet
    for other in (run(10, "offload"), run(10, engine="llama.cpp"), run(10, words="2x rtx-3090")):
        assert not _same(other, usual)
    dealt = kept(10, strategy="layers", layers=(20, 16))
    assert _same(run(10, "layers", layers=(20, 16)), dealt)
    assert not _same(run(10, "layers", layers=(18, 18)), dealt)
    assert _dealt(run(10, "tensor", layers=(18, 18))) == ()


@pytest.mark.parametrize(
    ("way", "usual", "what", "value", "changes"),
    [
        (run(10), kept(10), None, None, []),
        (run(10), kept(10), "kv_quant", "q8_0", ["change.kv-quant"]),
        (run(10), kept(10), "context_tokens", 2048, ["change.context-tokens"]),
        (run(10, "offload"), kept(10), None, None, ["change.offload"]),
        (run(10), Reason("keep.unsupported", {}), None, None, ["change.whole"]),
        (run(10, engine="llama.cpp"), kept(10), None, None, ["change.engine"]),
        (run(10, raised=True), kept(10), None, None, ["change.raise-limit"]),
        (run(10, "layers", layers=(18, 18)), kept(10, strategy="layers", layers=(20, 16)), None, None, ["change.layers-dealt"]),
        (run(10, "offload", engine="llama.cpp"), kept(10), "kv_quant", "q8_0", ["change.kv-quant", "change.offload", "change.engine"]),
    ],
)
def test_what_is_set_differently(way: Any, usual: Any, what: str | None, value: Any, changes: list[str]) -> None:
    found = _changes(way, usual, what, value)
    assert codes(found) == changes
    facts = {name: fact for each in found for name, fact in each.facts.items()}
    assert not what or facts[what] == value
    assert facts.get("counts") == ("18, 18" if "change.layers-dealt" in changes else None)
    assert facts.get("from") == ("vllm" if "change.engine" in changes else None)


# ---- what is owned as it is


def test_what_is_owned_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owning, "_free", lambda desk, estimate: "free")
    usual: Any = run(10)
    desk: Any = SimpleNamespace(have="something", usual=lambda have, work: usual)
    found = keep(SimpleNamespace(desk=desk, work=None))  # type: ignore[arg-type]
    assert isinstance(found, Option)
    assert (found.kind, found.estimate, found.cost) == ("keep", usual, "free")
    usual = Unsupported("no such engine")
    assert keep(SimpleNamespace(desk=desk, work=None)).facts == {"why": "no such engine"}  # type: ignore[arg-type, union-attr]


def test_whether_it_does_as_it_is() -> None:
    assert keep_meets(kept(10), need_of())
    assert not keep_meets(kept(9.9), need_of())
    assert not keep_meets(kept(10, raised=True), need_of())
    assert not keep_meets(Reason("keep.unsupported", {}), need_of())


# ---- the search for another setting


FULL, SMALL, SMALLER = (SimpleNamespace(kv_quant=each) for each in ("f16", "q8_0", "q4_0"))


def changing(monkeypatch: pytest.MonkeyPatch, tried: dict[str, tuple[Any, ...]], *, may: bool = True, need_only: bool = False, have: str = "rtx-3090",
             usual: Any = None, lean: bool = False, **wished: Any) -> tuple[list[tuple[float, str]], list[str]]:  # fmt: skip
    """The settings that are found, and the caches that were looked at; `tried` are the ways with each."""
    looked: list[str] = []
    steps = ((FULL, None, None), (SMALL, "kv_quant", "q8_0"), (SMALLER, "kv_quant", "q4_0"))
    monkeypatch.setattr(owning, "_steps", lambda case, usual_bytes: iter(steps))
    monkeypatch.setattr(owning, "_as_offer", lambda desk: None)
    monkeypatch.setattr(owning, "_may_do", lambda *_: may)
    monkeypatch.setattr(owning, "_free", lambda desk, way: SimpleNamespace(spend_usd=0.0))
    monkeypatch.setattr(owning, "_changes", lambda best, before, what, value: (value,))
    monkeypatch.setattr(owning, "_ways", lambda case, system, work, mine: looked.append(work.kv_quant) or tried.get(work.kv_quant, ()))
    monkeypatch.setattr(owning, "_open", lambda case, ways, system, what: ways)
    hints = SimpleNamespace(lower_quants=())
    desk: Any = SimpleNamespace(
        have=bind(have, CATALOG),
        eight_bit_caches=("q8_0",),
        measured=frozenset(),
        choice=CHOSEN.__getitem__,
        catalog=SimpleNamespace(hints=hints),
    )
    case: Any = SimpleNamespace(desk=desk, need=need_of(**wished), lean=lean)
    found = change(case, usual or kept(5), need_only)
    return [(each.estimate.decode.value, each.changes[0]) for each in found], looked


OTHER, SPILT = run(12, engine="llama.cpp"), run(12, "offload")


def test_settings_are_tried_until_one_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    find = lambda tried, **more: changing(monkeypatch, tried, **more)  # noqa: E731
    assert find({"f16": (OTHER,), "q8_0": (run(40),)}) == ([(12, None)], ["f16"])  # it lies there and does it: nothing is given up
    assert find({"f16": (run(5),)})[0] == []  # the usual way again
    # too slow: the smaller caches too; the one of eight bits does it, so that of four is left alone
    assert find({"f16": (run(6, engine="x"),), "q8_0": (run(12),)}) == ([(12, "q8_0"), (6, None)], ["f16", "q8_0"])
    assert find({"f16": (run(6, engine="x"),), "q8_0": (run(7),), "q4_0": (run(11),)})[0] == [(11, "q4_0"), (7, "q8_0"), (6, None)]
    # what spills does it: a smaller cache that lies there is still looked at, and told where it is faster
    assert find({"f16": (SPILT,), "q8_0": (run(15),), "q4_0": (run(90),)}) == ([(15, "q8_0"), (12, None)], ["f16", "q8_0"])
    assert find({"f16": (SPILT,), "q8_0": (run(13, "offload"),)})[0] == [(12, None)]  # it spills too, and is hardly faster
    assert find({"f16": (SPILT,), "q8_0": (run(18, "offload"),)})[0] == [(18, "q8_0"), (12, None)]  # clearly: 1.5 times
    # only as far as the need asks, and never what cannot be
    assert find({"f16": (run(6, engine="x"),), "q8_0": (run(12),)}, need_only=True) == ([(6, None)], ["f16"])
    assert find({"f16": (OTHER,)}, need_only=True, may=False) == ([], [])
    assert find({"f16": (run(6, engine="x"),), "q8_0": (run(12),)}, may=False) == ([(6, None)], ["f16"])
    assert find({"f16": (OTHER,)}, have="2x rtx-3090")[1] == ["f16", "f16"]  # both together, and one alone
    # for a verdict alone what no bound allows is not tried; of unlike devices one may do better alone than the bound of both
    assert find({"f16": (OTHER,)}, may=False, lean=True)[1] == find({"f16": (OTHER,)}, may=False, lean=True, have="2x rtx-3090")[1] == []
    assert find({"f16": (OTHER,)}, may=False, lean=True, have="rtx-3090 + rtx-3060-12gb")[1] == ["f16"] * 3


@pytest.mark.parametrize(
    ("lesser", "full", "worth"),
    [
        (run(15), SPILT, True),  # it lies there
        (run(17.9, "offload"), SPILT, False),
        (run(18, "offload"), SPILT, True),
        (run(40), OTHER, False),  # the full one lies there: nothing is given up for speed
    ],
)
def test_what_is_worth_giving_something_up(lesser: Any, full: Any, worth: bool) -> None:
    case: Any = SimpleNamespace(need=need_of(), desk=SimpleNamespace(choice=CHOSEN.__getitem__))
    assert _worth(lesser, full, case) is worth


def quicker(monkeypatch: pytest.MonkeyPatch, chosen: Any, *changes: Option, ways: tuple[Any, ...] = (), may: bool = True) -> Option | None:
    monkeypatch.setattr(owning, "faster", lambda case, rate: SimpleNamespace(need=replace(case.need, min_tokens_per_s=rate)))
    monkeypatch.setattr(owning, "_as_offer", lambda desk: None)
    monkeypatch.setattr(owning, "_may_do", lambda *_: may)
    monkeypatch.setattr(owning, "_free", lambda desk, way: SimpleNamespace(spend_usd=0.0))
    monkeypatch.setattr(owning, "_changes", lambda best, before, what, value: (value,))
    steps = (("asked", None, None), ("last", "quant", "q1"), ("smaller", "quant", "q3"))
    monkeypatch.setattr(owning, "_steps", lambda case, usual_bytes: iter(steps))
    lower = (SimpleNamespace(quant="q1", last=True), SimpleNamespace(quant="q3", last=False))
    desk: Any = SimpleNamespace(choice=CHOSEN.__getitem__, have=bind("rtx-3090", CATALOG), ways=lambda system, work: ways if work == "smaller" else (run(99),),
                                catalog=SimpleNamespace(hints=SimpleNamespace(lower_quants=lower)))  # fmt: skip
    return clearly_faster(SimpleNamespace(need=need_of(), desk=desk), Option("keep", chosen, SimpleNamespace()), changes)  # type: ignore[arg-type]


def test_what_is_clearly_faster_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One and a half times 12 is 18."""
    set_ = lambda rate: Option("change-settings", run(rate), SimpleNamespace())  # type: ignore[arg-type]  # noqa: E731
    hardly, clearly, more = set_(17.9), set_(18), set_(25)
    assert quicker(monkeypatch, SPILT, hardly) is None
    assert quicker(monkeypatch, SPILT, hardly, clearly, more) is more
    assert quicker(monkeypatch, OTHER, ways=(run(40),)) is None  # it lies there: no smaller weights
    found = quicker(monkeypatch, SPILT, hardly, ways=(run(40),))
    assert found
    assert (found.kind, found.estimate.decode.value, found.changes) == ("change-settings", 40, ("q3",))  # type: ignore[union-attr]
    assert quicker(monkeypatch, SPILT, ways=(run(17),)) is None
    assert quicker(monkeypatch, SPILT, ways=()) is None
    assert quicker(monkeypatch, SPILT, ways=(run(40),), may=False) is None


# ---- what would make a split pay


def cut(
    rate: float, strategy: str = "tensor", held: tuple[float, float] | None = None, link_s: float = 0.0, words: str = "2x rtx-3090"
) -> Any:
    one = run(rate, strategy, words=words)
    one.held = SimpleNamespace(speedup=held[0], ceiling=held[1]) if held else None
    one.terms = SimpleNamespace(link_s=link_s, total_s=0.1)
    return one


def test_of_the_ways_the_fastest_that_cuts_every_layer() -> None:
    slow, quick, none = cut(10), cut(20), cut(30)
    none.decode = None
    assert fastest_cut((slow, cut(99, "layers"), quick, none)) is quick
    assert fastest_cut((cut(99, "layers"),)) is None


def linked(monkeypatch: pytest.MonkeyPatch, words: str, now: Any, speeds: dict[str, float]) -> Reason | None:
    """The link that is advised; `speeds` are those over each."""
    monkeypatch.setattr(remedies, "_over", lambda link, system, ways, catalog: cut(speeds[link.id]) if link.id in speeds else None)
    return better_link(bind(words, CATALOG), now, lambda system: (), CATALOG)


def test_a_link_is_advised_where_it_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    nvlink, pair = "nvlink3-bridge-3090", "2x rtx-3090"
    assert linked(monkeypatch, pair, cut(20), {nvlink: 20.9}) is None  # less than a twentieth
    found = linked(monkeypatch, pair, cut(20), {nvlink: 21})
    assert found
    assert (found.code, found.facts["link_id"], found.facts["cut_tokens_per_s"]) == ("condition.by-link", nvlink, 21)
    assert found.facts["speed_factor"] == pytest.approx(1.05)
    parts = [part.usd for part in CATALOG.link(nvlink).parts]
    assert found.facts["price_usd"] == sum(usd or 0.0 for usd in parts)
    new = linked(monkeypatch, pair, None, {nvlink: 5})
    assert new
    assert new.facts["speed_factor"] is None  # nothing cuts it now
    assert linked(monkeypatch, pair, cut(20), {}) is None
    slots = [link.id for link in _links(bind(pair, CATALOG), CATALOG) if link.kind == "pcie"]
    best = linked(monkeypatch, pair, cut(20), {nvlink: 30, slots[0]: 40, slots[1]: 35})
    assert best
    assert (best.code, best.facts["link_id"]) == ("condition.by-link-slot", slots[0])
    patched = linked(monkeypatch, pair, cut(20), {slots[1]: 35})
    assert patched
    assert patched.code == "condition.by-link-patched"  # GeForce drivers forbid it


def test_which_links_there_are() -> None:
    names = lambda words: [link.id for link in _links(bind(words, CATALOG), CATALOG)]  # noqa: E731
    assert names("2x rtx-3090") == ["nvlink3-bridge-3090", "pcie-4-x8", "pcie-4-x8-p2p"]
    assert names("2x dgx-spark via eth-10g-tcp") == ["dgx-spark-connectx7"]


def test_another_engine_only_where_one_was_named() -> None:
    named, free = bind("2x rtx-3090 on llama.cpp", CATALOG), bind("2x rtx-3090", CATALOG)
    asked: list[Any] = []
    ways = lambda system: asked.append(system) or (cut(30),)  # type: ignore[func-returns-value]  # noqa: E731
    found = other_engine(named, cut(20), ways)
    assert found
    assert found.facts == {"engine": "vllm", "cut_tokens_per_s": 30, "speed_factor": 1.5}
    assert asked[0].engine is None
    assert other_engine(free, cut(20), ways) is None
    assert other_engine(named, None, lambda system: ()) is None


def test_the_largest_number_that_divides() -> None:
    found = other_count(bind("4x rtx-3090", CATALOG), 64, lambda system: (cut(30),) if system.count == 2 else (), CATALOG)
    assert found
    assert found.facts == {"devices": 2, "cut_tokens_per_s": 30, "speed_factor": None}


def conditions(
    ways: tuple[Any, ...], refused: tuple[Reason, ...] = (), words: str = "2x rtx-3090", heads: int = 64
) -> dict[str, tuple[Any, ...]]:
    model: Any = SimpleNamespace(id="m", heads=heads, kv_heads=8)
    known: Any = SimpleNamespace(hints=SimpleNamespace(choice=CHOSEN.__getitem__))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("advisor.advice.conditions.said", lambda reasons: " ".join(codes(tuple(reasons))))
        for name in ("other_engine", "better_link", "other_count"):
            patch.setattr(f"advisor.advice.remedies.{name}", lambda *_, name=name: Reason(name, {}))
        found = judged(bind(words, CATALOG), model, lambda _: (ways, refused), known)
    return {key: (each.met, each.text.code, each.change and each.change.code) for key, each in found.items()}


def test_the_three_conditions() -> None:
    met = conditions((cut(30, held=(1.2, 1.5)), cut(99, "layers")))
    assert met == {
        "software": (True, "condition.software", None),
        "link": (True, "condition.link", None),  # 1.2 times one card at least
        "model": (True, "condition.model-ceiling", None),
    }
    slow = conditions((cut(30, held=(1.19, 1.49)),))
    assert slow["link"] == (False, "condition.link-slow", "better_link")
    assert slow["model"] == (False, "condition.model-fixed", None)  # another number of cards would not help
    assert conditions((cut(30, held=(1.3, 1.6)),), heads=65)["model"][1] == "condition.model-ceiling-uneven"
    assert conditions((cut(30, held=(1.1, 1.2)), cut(20, held=(1.3, 1.6))))["link"][0]  # of several the one that gains most
    assert conditions((cut(30),))["link"] == (False, "condition.link-slow", "better_link")
    assert conditions((cut(30),))["model"] == (True, "condition.model", None)


def test_what_forbids_a_split() -> None:
    heads, path, other = (Reason(code, {"strategy": "tensor"}) for code in ("placement.heads", "placement.no-path", "placement.other"))
    layers = Reason("placement.no-path", {"strategy": "layers"})
    assert conditions((), (heads,)) == {
        "software": (None, "condition.software-unknown", None),
        "link": (None, "condition.link-unasked", None),
        "model": (False, "condition.model-no", "other_count"),
    }
    assert conditions((), (path,))["link"] == (False, "condition.link-no", "better_link")
    assert conditions((), (other,))["software"] == (False, "condition.software-no", "other_engine")
    assert conditions((cut(30, "layers"),), (layers,))["link"][0] is None  # that is of another split
    assert conditions((), (Reason("placement.other", {}),))["software"][0] is False  # of every one


def test_how_much_of_a_step_the_messages_are() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("advisor.advice.remedies.better_link", lambda *_: None)
        known: Any = SimpleNamespace(hints=SimpleNamespace(choice=CHOSEN.__getitem__))
        model: Any = SimpleNamespace(id="m", heads=64, kv_heads=8)
        way = cut(30, held=(1.1, 4.0), link_s=0.025)
        found = judged(bind("2x rtx-3090", CATALOG), model, lambda _: ((way,), ()), known)
    assert found["link"].text.facts["link_share"] == 0.25  # of a tenth of a second
    assert found["model"].text.facts["serial_share"] == 0.25


# ---- settings


def named(way: Any, **more: Any) -> Any:
    way.workload, way.model, way.kv_quant = Workload(context_tokens=8192), SimpleNamespace(id="m", layers=36), "q8_0"
    way.weights = SimpleNamespace(expert_layers=more.get("experts", 0), total_bytes=1.0)
    way.placement.host_layers, way.placement.host_expert_layers = more.get("host", (0, 0))
    return way


def test_how_a_split_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("advisor.advice.settings.blanks", lambda *_: {})
    monkeypatch.setattr("advisor.advice.settings.setting_of", lambda placement: placement.strategy)
    before, pair = option("keep", 0, ran(10)), option("change-settings", 0, named(run(15, "tensor", words="2x rtx-3090")))
    found = _split(pair, before, hints())
    assert found
    assert found.gain
    assert (found.text.code, found.command, found.gain.facts["speed_factor"]) == ("setting.tensor", "--tensor-parallel-size 2", 1.5)
    assert found.text.facts == {"engine": "vllm", "strategy": "tensor", "devices": 2}
    spilt = _split(option("keep", 0, named(run(15, "offload"), experts=30, host=(4, 20))), None, hints())
    assert spilt
    assert {name: spilt.text.facts[name] for name in ("layers", "host_layers", "host_expert_layers")} == {
        "layers": 36, "host_layers": 4, "host_expert_layers": 24,
    }  # fmt: skip
    few = _split(option("keep", 0, named(run(15, "offload"), experts=10, host=(4, 20))), None, hints())
    assert few
    assert few.text.facts["host_expert_layers"] == 10  # no more than there are


def test_what_is_free_and_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("advisor.advice.settings.blanks", lambda *_: {})
    monkeypatch.setattr("advisor.advice.settings.setting_of", lambda placement: placement.strategy)
    small, engine = Reason("change.kv-quant", {}), Reason("change.engine", {})
    now = option("keep", 0, ran(10, words="rtx-3090"))
    found = _free(now, replace(option("change-settings", 0, named(run(15))), changes=(engine, small)), hints())
    assert (found.text, found.also, found.command) == (small, (engine,), "--kv-cache-dtype q8_0")
    pair = _free(now, replace(option("change-settings", 0, named(run(15, "tensor", words="2x rtx-3090"))), changes=(small,)), hints())
    assert pair.command == "--tensor-parallel-size 2 --kv-cache-dtype q8_0"
    none = _free(now, replace(option("change-settings", 0, named(run(15))), changes=(engine,)), hints())
    assert none.command is None


def test_peer_access_is_for_cut_layers_over_slots() -> None:
    desk: Any = SimpleNamespace(catalog=CATALOG)
    assert _peer(desk, option("keep", 0, run(15)), hints()) is None
    assert _peer(desk, option("keep", 0, run(15, "layers", words="2x rtx-3090")), hints()) is None
    assert _peer(desk, option("keep", 0, run(15, "tensor", words="2x rtx-3090 via nvlink")), hints()) is None


@pytest.mark.parametrize(
    ("patched", "there", "fast", "command"),
    [
        (("rtx-3090",), True, 30, "insmod"),
        (("rtx-4090",), True, 30, None),  # nobody has run the patch on such cards
        (None, True, 30, None),
        (("rtx-3090",), False, 30, None),
        (("rtx-3090",), True, 20, None),  # no faster
    ],
)
def test_peer_access_where_somebody_has_run_the_patch(
    patched: tuple[str, ...] | None, there: bool, fast: float, command: str | None
) -> None:
    """20 tokens/s over slots through the host, 30 directly: half as much again."""
    asked: list[str] = []
    ways: tuple[Any, ...] = (run(15, "tensor", words="2x rtx-3090"), run(fast, "tensor", words="2x rtx-3090"))

    def system(words: str, *_: object) -> object:
        asked.append(words)
        return "a system" if there else Unsupported("no such link")

    flag = lambda name, engine: SimpleNamespace(command="insmod") if (name, engine) == ("peer-access", "system") else None  # noqa: E731
    risks = (
        SimpleNamespace(setting="peer-access", text="it hung", source="a page"),
        SimpleNamespace(setting="other", text="x", source="y"),
    )
    known: Any = SimpleNamespace(peer_patch=patched and SimpleNamespace(devices=patched), risks=risks, flag=flag)
    now = option("second-gpu", 700, run(20, "tensor", words="2x rtx-3090"))
    now.estimate.workload, now.estimate.quant = Workload(), SimpleNamespace(id="q4_k_m")
    found = _peer(SimpleNamespace(catalog=CATALOG, system=system, ways=lambda *_: ways), now, known)  # type: ignore[arg-type]
    assert (found and found.command) == command
    if found:
        assert asked == ["2x rtx-3090 via pcie-4-x8-p2p"]
        assert (found.text.facts["risk"], found.text.sources) == ("it hung", ("a page",))
        assert found.gain
        assert found.gain.facts == {"from_tokens_per_s": 20, "to_tokens_per_s": 30, "speed_factor": 1.5}


def test_no_patch_where_one_of_the_cards_was_never_run_with_it() -> None:
    known: Any = SimpleNamespace(peer_patch=SimpleNamespace(devices=("rtx-3090",)), risks=(), flag=lambda *_: None)
    mixed = option("second-gpu", 700, run(20, "tensor", words="rtx-3090 + rtx-4090"))
    assert _peer(None, mixed, known) is None  # type: ignore[arg-type]


def test_a_gain_that_nobody_sees_is_none() -> None:
    now = option("keep", 0, ran(10))
    assert _gain(now, option("keep", 0, ran(10.09))) is None
    assert _gain(now, option("keep", 0, ran(10.1)))  # a hundredth


def test_settings_are_of_what_was_chosen_else_of_what_is_owned(monkeypatch: pytest.MonkeyPatch) -> None:
    from advisor.advice import settings as setting

    of: list[Any] = []
    for name in ("_split", "_kv", "_limit", "_peer", "_power", "_drafting"):
        monkeypatch.setattr(setting, name, lambda *asked: of.append([each for each in asked if isinstance(each, Option)][0]))
    monkeypatch.setattr(setting, "_free", lambda option, faster, hints: "quicker")
    desk: Any = SimpleNamespace(catalog=SimpleNamespace(hints=None))
    chosen, kept_ = kept(20), kept(10)
    assert setting.settings(desk, chosen, kept_, None) == ()
    assert of == [chosen] * 6
    assert setting.settings(desk, None, kept_, kept(30)) == ("quicker",)
    assert of[6:] == [kept_] * 6
    assert setting.settings(desk, None, None, None) == ()


def weighed(quant: str, rise: float | None, fields: tuple[str, ...] = ("perplexity_rise_share",)) -> Any:
    way = run(10)
    way.quant = SimpleNamespace(
        id=quant,
        perplexity_rise_share=rise,
        sources=(SimpleNamespace(url="a page", fields=fields), SimpleNamespace(url=None, fields=fields)),
    )
    return way


def test_what_smaller_weights_lose_is_told_where_it_was_measured() -> None:
    usual, small = weighed("q4_k_m", 0.02), weighed("q3_k_m", 0.08)
    alone = lesser_weights(small, None)
    assert (alone.code, alone.facts) == ("change.quant", {"quant": "q3_k_m", "bits": 4.5})
    assert lesser_weights(small, small).code == "change.quant"  # the same weights
    both = lesser_weights(small, usual)
    assert (both.code, both.sources) == ("change.quant-loss", ("a page",))
    assert (both.facts["perplexity_rise_share"], both.facts["usual_rise_share"], both.facts["usual"]) == (0.08, 0.02, "q4_k_m")
    assert lesser_weights(weighed("q3_k_m", 0.08, ()), usual).sources == ()
    for one, other in ((weighed("q3_k_m", None), usual), (small, weighed("q4_k_m", None))):
        assert lesser_weights(one, other).code == "change.quant-from"
    assert _changes(small, replace(kept(10), estimate=usual), "quant", "q3_k_m")[0].code == "change.quant-loss"


def test_what_is_owned_costs_nothing_but_electricity() -> None:
    """40 tokens/s for all users together are what its tokens are counted by."""
    from advisor.billed import CostLine
    from advisor.market import Cost, Terms

    lines = (CostLine("rtx-3090", "RTX 3090", 1, 700.0, True), CostLine("psu", "supply", 1, 90.0, False))
    bill = Cost(790.0, None, 90.0, 300.0, 350.0, 5.0, lines, (Reason("host.power", {}),), (), 0.4, 2.0)
    desk: Any = SimpleNamespace(have=bind("rtx-3090", CATALOG), cost=lambda have: bill, terms=Terms(CATALOG.money))
    two = run(10, sustained=40)
    found, one = owning._free(desk, two), owning._free(desk, run(10))
    assert (found.spend_usd, found.resale_usd, found.upgrades, found.rental_even_hours_per_day) == (0, 0, (), None)
    assert [line.owned for line in found.lines] == [True, True]
    assert found.usd_per_million_tokens
    assert one.usd_per_million_tokens == pytest.approx(4 * found.usd_per_million_tokens)


def test_what_is_owned_as_an_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shelf:
        def __init__(self, desk: Any) -> None:
            pass

        def card_offer(self, kind: str, words: str, groups: Any, bought: Any) -> Any:
            return (kind, words, bought) if groups[0][0].kind == "gpu" else None

        def box_offer(self, kind: str, words: str, device: Any, size: float, count: int, owned: int) -> Any:
            return kind, words, device.id, count - owned

    monkeypatch.setattr(owning, "Shelf", Shelf)
    made = lambda words: owning._offered(SimpleNamespace(have=bind(words, CATALOG)))  # type: ignore[arg-type]  # noqa: E731
    assert made("2x rtx-3090 on vllm")[::2] == ("keep", ())  # type: ignore[index]
    assert made("2x dgx-spark")[2:] == ("dgx-spark", 0)  # type: ignore[index]
