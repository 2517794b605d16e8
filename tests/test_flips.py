"""What would change the answer, over toy markets: each flip is worked out by hand from a few prices and speeds."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_judged import need_of, option, way

from advisor.advice import flips, workflips
from advisor.advice.decide import Decision
from advisor.advice.desk import Work
from advisor.advice.flips import _budget, _floor, _formats, _more_money, _price, _prices, _rounded, _slower, _step, _true
from advisor.advice.joins import NEVER
from advisor.advice.judge import Option, meets, rank
from advisor.advice.prober import Prober, flip_of
from advisor.advice.workflips import _between, _falling, _last_met, _rising, _shorter, of_context, of_users
from advisor.billed import CostLine
from advisor.need import Need, Workload
from advisor.reason import Reason
from advisor.record import replace

CHOICES = {"worth-factor": 1.2}


def sold(kind: str, usd: float | None, rate: float, what: str = "", count: int = 1, **more: Any) -> Option:
    """Something to buy: so many tokens/s for so many dollars, which go to so many devices of one kind."""
    found = option(kind, usd, way(rate, **more))
    lines = (CostLine(what or kind, what or kind, count, usd / count, False, None, None),) if usd else ()
    found.cost.lines = lines  # type: ignore[misc]
    return found


class Market(Prober):
    """The cheapest of a few options that meets the need, within the budget."""

    def __init__(self, need: Need, *options: Option, owned: tuple[Option, ...] = ()) -> None:
        self.options, self.owned = options, owned
        catalog = SimpleNamespace(devices={each.kind for each in options}, hosts={"a computer"})
        desk = SimpleNamespace(choice=CHOICES.__getitem__, catalog=catalog, have=None, model=SimpleNamespace(max_context_tokens=40960))
        super().__init__(SimpleNamespace(need=need, desk=desk, offers=object()), self.rule(need))  # type: ignore[arg-type]

    def rule(self, need: Need) -> Decision:
        able = [each for each in self.options if meets(each, need)]
        return Decision(min(able, key=lambda each: rank(each, need), default=None), None, self.owned, self.options)

    def at(self, need: Need, harder: bool = False) -> Decision:
        return self.rule(need)


@pytest.fixture(autouse=True)
def searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of the market of its case: what meets the need, the best first."""
    monkeypatch.setattr(flips, "case_of", lambda desk, need, like, **_: SimpleNamespace(need=need, market=like.market))
    found = lambda case: sorted((each for each in case.market if meets(each, case.need)), key=lambda each: rank(each, case.need))  # noqa: E731
    monkeypatch.setattr(flips, "search", found)


def market(need: Need, *options: Option, owned: tuple[Option, ...] = ()) -> Market:
    made = Market(need, *options, owned=owned)
    made.case.market = options  # type: ignore[attr-defined]
    return made


def sides(found: Any) -> list[tuple[Any, ...]]:
    return [(flip.wish, flip.before, flip.value, flip.kind) for flip in found]


@pytest.mark.parametrize(
    ("speed", "step", "above", "below"),
    [
        (5.01, 0.1, 5.1, 5.0),
        (23.47, 0.1, 23.5, 23.4),
        (99.96, 0.1, 100, 99.9),
        (123.4, 1, 124, 123),
        (1234, 10, 1240, 1230),
        (12345, 100, 12400, 12300),
    ],
)
def test_speeds_go_in_steps_of_a_tenth_or_three_figures(speed: float, step: float, above: float, below: float) -> None:
    assert (_step(speed), _rounded(speed, up=True), _rounded(speed, up=False)) == (step, above, below)


CARD, BETTER, MAC = sold("second-gpu", 1000, 23.47), sold("second-gpu", 1500, 30.0), sold("mac", 3000, 40.0)


def test_a_floor_above_what_is_chosen() -> None:
    assert sides(_floor(market(need_of(), CARD, MAC)))[0] == ("min_tokens_per_s", 23.4, 23.5, "mac")


def test_a_better_one_of_the_same_kind_is_no_other_answer() -> None:
    assert sides(_floor(market(need_of(), CARD, BETTER, MAC)))[0] == ("min_tokens_per_s", 30.0, 30.1, "mac")


def test_what_costs_and_does_hardly_more_is_passed_by_and_the_last_of_today_is_told() -> None:
    alike = sold("nvlink-pair", 1050, 24.0)
    assert sides(_floor(market(need_of(), CARD, alike, MAC)))[0] == ("min_tokens_per_s", 23.4, 24.1, "mac")


def test_above_everything_nothing_fits() -> None:
    (found,) = _floor(market(need_of(), CARD))
    assert (found.before, found.value, found.kind, found.then.code) == (23.4, 23.5, "nothing-fits", "flip.nothing")


def test_no_more_than_three_of_a_kind_are_followed() -> None:
    row = [sold("second-gpu", 1000 + 300 * number, 20.0 + number) for number in range(4)]
    assert sides(_floor(market(need_of(), *row[:3], MAC))) == [("min_tokens_per_s", 22.0, 22.1, "mac")]
    assert sides(_floor(market(need_of(), *row, MAC))) == []


@pytest.mark.parametrize(
    ("cheaper", "found"),
    [
        (sold("second-gpu", 1000, 13.94), [("min_tokens_per_s", 14.0, 13.9, "second-gpu")]),
        (sold("second-gpu", 2500, 13.94), [("min_tokens_per_s", 14.0, 13.9, "second-gpu")]),  # 3,000 / 1.2
        (sold("second-gpu", 2501, 13.94), []),  # not notably cheaper
        (sold("mac", 1000, 13.94), []),  # no other kind
        (sold("second-gpu", 1000, 13.94, fits=False), []),
    ],
)
def test_a_floor_at_which_something_cheaper_does_it(cheaper: Option, found: list[tuple[Any, ...]]) -> None:
    need = replace(need_of(), min_tokens_per_s=30.0)
    assert [each for each in sides(_floor(market(need, MAC, cheaper))) if each[2] < 30] == found


def test_the_fastest_of_what_is_cheaper_or_owned_counts() -> None:
    need = replace(need_of(), min_tokens_per_s=30.0)
    slow, quick = sold("second-gpu", 500, 5.0), sold("nvlink-pair", 800, 13.94)
    assert _slower(market(need, MAC, slow, quick)) == 13.9
    assert _slower(market(need, MAC, slow, owned=(option("change-settings", 0, way(18.27)),))) == 18.2
    assert _slower(market(need, MAC, slow, owned=(option("change-settings", 0, way(18.27, fits=False)),))) == 5.0
    assert _slower(market(need, MAC)) is None
    assert _slower(market(replace(need, prefer="fastest"), MAC, slow)) is None
    assert _slower(market(replace(need, min_tokens_per_s=0.0), MAC, slow)) is None
    assert _slower(market(need, sold("keep", 0, 40.0), slow)) is None  # nothing is cheaper than free


def test_where_nothing_meets_the_need_the_budget_bounds_what_is_slower() -> None:
    need = replace(need_of(), min_tokens_per_s=30.0, budget_usd=900.0)
    assert _slower(market(need, sold("second-gpu", 1000, 20.0), sold("nvlink-pair", 800, 13.94))) == 13.9


def test_a_budget_that_would_be_enough() -> None:
    need = replace(need_of(), budget_usd=900.0)
    dear = sold("second-gpu", 1000.4, 20.0)
    (found,) = _budget(market(need, dear, MAC))
    assert (found.before, found.value, found.kind) == (1000, 1001, "second-gpu")  # whole dollars
    assert list(_more_money(market(need, sold("second-gpu", None, 20.0)))) == []  # without a price
    assert list(_budget(market(need_of(), sold("second-gpu", 1000, 5.0)))) == []  # no budget was stated
    assert list(_budget(market(need, sold("second-gpu", 800, 20.0), MAC))) == []  # with less money nothing is


def test_less_money_takes_what_the_fastest_wish_did_not() -> None:
    """Of what is free and slower the buyer hears where the money ends; nothing where the fastest is wanted."""

    class Spending(Market):
        def rule(self, need: Need) -> Decision:
            able = [each for each in self.options if meets(each, need)]
            return Decision(max(able, key=lambda each: each.cost.spend_usd or 0.0, default=None), None, (), ())

    one, two, three = sold("second-gpu", 1000.5, 20.0), sold("mac", 2000, 40.0), sold("mac", 1500, 30.0)
    assert sides(_budget(Spending(need_of(), one, two, three))) == [("budget_usd", 1500, 1499, "second-gpu")]  # past the other Mac
    assert sides(_budget(Spending(need_of(), sold("second-gpu", 1900, 39.0), two))) == []  # hardly less money for hardly less speed
    assert sides(_budget(Spending(need_of(prefer="fastest"), one, two))) == []


def repriced(prober: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    """The market with one device at another price."""

    def at_price(_: Prober, device: str, now_usd: float, usd: float) -> Decision:
        def changed(each: Option) -> Option:
            more = sum(line.count * (usd - now_usd) for line in each.cost.lines if line.what == device)
            return sold(each.kind, (each.cost.spend_usd or 0.0) + more, each.estimate.decode.value)

        return Market(prober.case.need, *map(changed, prober.options)).today

    monkeypatch.setattr(flips, "_priced", at_price)


@pytest.mark.parametrize(
    ("other", "count", "turns"),
    [
        (sold("mac", 1300, 20.0), 1, [(1300, 1301, "mac"), (1000, 999, "mac")]),  # at the same price the faster one, today's
        (sold("mac", 1300, 40.0), 1, [(1299, 1300, "mac"), (1001, 1000, "mac")]),
        (sold("mac", 1300, 20.0), 2, [(650, 651, "mac"), (1000, 999, "mac")]),  # two cards of 500
    ],
)
def test_prices_at_which_the_order_turns(monkeypatch: pytest.MonkeyPatch, other: Option, count: int, turns: list[tuple[Any, ...]]) -> None:
    today = sold("second-gpu", 1000, 23.47, count=count)
    prober = market(need_of(), today, other)
    repriced(prober, monkeypatch)
    monkeypatch.setattr(flips, "_rival", lambda *_: other)
    found = list(_prices(prober))
    assert [(flip.before, flip.value, flip.kind) for flip in found] == turns
    assert [flip.device for flip in found] == ["second-gpu", "mac"]
    assert [flip.when.facts["now_usd"] for flip in found] == [1000 / count, 1300]
    assert list(_prices(market(need_of(prefer="fastest"), today, other))) == []
    assert list(_prices(market(need_of(), sold("keep", 0, 20.0), other))) == []


def test_no_price_turns_below_a_dollar_or_where_the_kind_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    today, other = sold("second-gpu", 1000, 23.47), sold("second-gpu", 1300, 20.0)
    prober = market(need_of(), today, other)
    repriced(prober, monkeypatch)
    assert list(_price(prober, today.cost.lines[0], 300, 1)) == []
    assert list(_price(prober, today.cost.lines[0], 1000, -1)) == []  # at nothing
    assert list(_price(prober, today.cost.lines[0], 999, -1)) == []  # 1 and 0


def test_the_price_that_is_asked_about_is_the_dearest_things() -> None:
    prober = market(need_of(), CARD)
    line = lambda what, usd, count=1, owned=False: CostLine(what, what, count, usd, owned, None, None)  # noqa: E731
    dearest = lambda *lines: flips._dearest(prober, SimpleNamespace(cost=SimpleNamespace(lines=lines)))  # type: ignore[arg-type]  # noqa: E731
    prober.case.desk.catalog.devices.update(("a", "b"))  # type: ignore[attr-defined]
    assert dearest(line("a", 300, 2), line("b", 500), line("a computer", 9000)).what == "a"  # 600 of one kind of device
    assert dearest(line("a", 300), line("b", 500)).what == "b"
    assert dearest(line("a", 300, owned=True), line("a computer", 900), line("cable", 1000)).what == "a computer"
    assert dearest(line("a", None), line("cable", 1000)) is None


def test_smaller_weights_where_nothing_does_it() -> None:
    """Four bits are no fewer than now, three are; a cache of eight bits does too."""
    sizes = {None: 60.0, "4bit": 60.0, "q3_k_m": 45.0}

    class Formats(Market):
        def rule(self, need: Need) -> Decision:
            able = need.quant == "q3_k_m" or need.kv_quant == "q8_0" or need.quant == "4bit"
            return Decision(CARD if able else None, None, (), ())

    def asked(need: Need) -> list[tuple[Any, ...]]:
        prober = Formats(need)
        prober.case.work = Work(Workload(), None, "f16")  # type: ignore[misc]
        prober.case.desk.bytes = lambda work: (SimpleNamespace(total_bytes=sizes[work.quant]),)  # type: ignore[method-assign, assignment]
        return sides(_formats(prober))

    small = ("quant", None, "q3_k_m", "second-gpu")
    assert asked(replace(need_of(), kv_quant="f16")) == [small, ("kv_quant", "f16", "q8_0", "second-gpu")]
    assert asked(replace(need_of(), kv_quant=None)) == [small]  # a cache left open was tried
    assert asked(replace(need_of(), kv_quant="q8_0")) == []  # something does it


@pytest.mark.parametrize(
    ("wish", "before", "now", "said"),
    [
        ("users", 4, 4, "flip.users-up"),
        ("users", 6, 4, "flip.users-up-still-second-gpu"),  # up to six of them today's kind does it, though not today's system
        ("context_tokens", 8192, 8192, "flip.users-up"),
        ("budget_usd", 1000, 900, "flip.users-up"),
        ("min_tokens_per_s", 23.4, 10.0, "flip.users-up"),  # today's system does 23.47
        ("min_tokens_per_s", 23.5, 10.0, "flip.users-up-still-second-gpu"),
        ("min_tokens_per_s", 9.0, 10.0, "flip.users-up-still-second-gpu"),
    ],
)
def test_a_flip_says_whether_it_is_todays_system_up_to_there(wish: str, before: float, now: float, said: str) -> None:
    need = replace(need_of(budget_usd=2000.0), workload=Workload(users=4, context_tokens=8192))
    flip = flips.Flip(wish, before, before + 1, Reason("flip.users-up", {"users": 5}), Reason("flip.mac", {}), "mac")
    found = _true(flip, market(need, CARD), among=False)
    assert (found.when.code, found.when.facts, found.then.code) == (said, {"users": 5}, "flip.mac")


def test_the_fastest_that_was_wished_for_may_be_another_up_to_there() -> None:
    """Whoever wants the fastest may get another of today's kind at 0.9 tokens/s too, though today's does 23."""
    flip = flips.Flip("min_tokens_per_s", 0.9, 1.0, Reason("flip.speed-up", {}), Reason("flip.mac", {}), "mac")
    cheapest, fastest = (replace(need_of(prefer=prefer), min_tokens_per_s=0.5) for prefer in ("cheapest", "fastest"))
    assert _true(flip, market(cheapest, CARD), among=False).when.code == "flip.speed-up"
    assert _true(flip, market(fastest, CARD), among=False).when.code == "flip.speed-up-still-second-gpu"


def test_nothing_is_said_of_what_was_asked_about_only() -> None:
    flip = flips.Flip("users", 1, 2, Reason("flip.users-up", {}), Reason("flip.nothing", {}), "nothing-fits")
    plain, asked = need_of(), need_of(consider=("second-gpu",))
    assert _true(flip, market(plain, CARD), among=False).then.code == "flip.nothing"
    assert _true(flip, market(plain, CARD), among=True).then.code == "flip.nothing-among"
    assert _true(flip, market(asked, CARD), among=False).then.code == "flip.nothing-considered"


@pytest.mark.parametrize(
    ("one", "other", "cares"),
    [
        ((1000, 20.0), (1199, 23.9), False),
        ((1000, 20.0), (1200, 20.0), True),  # a fifth more money
        ((1200, 20.0), (1000, 20.0), True),
        ((1000, 20.0), (1000, 24.0), True),  # a fifth more speed
        ((0, 20.0), (1, 20.0), True),  # bought, not free
        ((0, 20.0), (0, 23.9), False),
        ((1.0, 20.0), (1.1, 20.0), False),
    ],
)
def test_what_a_buyer_cares_for(one: tuple[float, float], other: tuple[float, float], cares: bool) -> None:
    prober = market(need_of(), sold("second-gpu", *one))
    assert prober.matters(Decision(sold("mac", *other), None, (), ())) is cares
    assert prober.matters(Decision(None, None, (), ()))


def test_of_two_that_are_free_another_kind_that_is_clearly_faster_matters() -> None:
    prober = market(need_of(), option("keep", 0, way(20.0)))
    assert prober.matters(Decision(option("change-settings", 0, way(24.0)), None, (), ()))
    assert not prober.matters(Decision(option("keep", 0, way(24.0)), None, (), ()))
    lost = market(need_of(), sold("second-gpu", 1000, 5.0))
    assert not lost.matters(Decision(None, None, (), ()))


def test_directions() -> None:
    found = [flip_of("users", before, value, Decision(CARD, None, (), ())) for before, value in ((4, 5), (5, 4))]
    assert [flip.when.code for flip in found] == ["flip.users-up", "flip.users-down"]
    assert found[0].when.facts == {"before": 4, "value": 5, "before_users": 4}


class Amounts(Market):
    """Systems that do up to so much work, the cheapest first; a need is the amount itself."""

    def __init__(self, now: int, *most: tuple[str, int], owned: tuple[Option, ...] = ()) -> None:
        self.most, self.now = most, now
        need = replace(need_of(), workload=Workload(users=now, context_tokens=now, prompt_tokens=500, generate_tokens=200))
        super().__init__(need, owned=owned)
        self.today = self.at(now)  # type: ignore[arg-type]

    def rule(self, need: Any) -> Decision:
        if not isinstance(need, int):
            return Decision(None, None, self.owned, ())
        able = [(number, kind, most) for number, (kind, most) in enumerate(self.most) if most >= need]
        if not able:
            return Decision(None, None, self.owned, ())
        number, kind, most = able[0]
        chosen = sold(kind, 1000.0 * (number + 1), 20.0 + 10 * number)
        chosen.estimate.fit.max_users = chosen.estimate.fit.max_context_tokens = most
        return Decision(chosen, None, self.owned, ())

    def at_users(self, users: int) -> Any:
        return users

    def at_context(self, tokens: int) -> Any:
        return tokens


@pytest.fixture
def follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system does other work within its memory's limit."""
    taken = lambda prober, option, need, within: 0.5 if need <= option.estimate.fit.max_users else NEVER  # noqa: E731
    monkeypatch.setattr(workflips, "_as_today", taken)
    monkeypatch.setattr(workflips, "_otherwise", lambda *_: NEVER)
    monkeypatch.setattr(workflips, "_taken", lambda *_: 0.5)


def taking(last: float, slope: float) -> Callable[[float], float]:
    """What is taken where all of it is at the last value that does it: evenly more with the work, or endless beyond it."""
    return lambda value: 1 + slope * (value - last) if slope else 0.5 if value <= last else NEVER


@given(st.integers(1, 50), st.integers(0, 400), st.integers(1, 40), st.integers(0, 500), st.integers(0, 500), st.integers(0, 500),
       st.sampled_from([0.0, 0.001, 0.1]))  # fmt: skip
def test_the_last_work_that_a_system_does(low: int, span: int, step: int, limit: int, as_today: int, otherwise: int, slope: float) -> None:
    """Wherever its memory's limit is thought to be, as today or in another way, however it gets slower."""
    way: Any = SimpleNamespace(estimate=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workflips, "_as_today", lambda prober, option, need, within: taking(max(as_today, low), slope)(need))
        patch.setattr(workflips, "_otherwise", lambda prober, option, need: taking(otherwise, slope)(need))
        patch.setattr(workflips, "_taken", lambda estimate, need: taking(max(as_today, low), slope)(need))
        last = _last_met(None, way, (low, low + span, step), int, limit)  # type: ignore[arg-type]
    assert last == low + (min(max(as_today, otherwise, low), low + span) - low) // step * step


@pytest.mark.parametrize(
    ("known", "good", "bad", "next_one"),
    [
        ({0: 0.5, 100: 1.5}, 0, 100, 50),
        ({0: 0.9, 100: 1.9}, 0, 100, 10),
        ({0: 0.5, 100: NEVER}, 0, 100, 50),  # it does not fit there: halfway
        ({0: 1.0, 100: 1.5}, 0, 100, 1),  # never one that is known
        ({10: 0.2, 12: 1.0001}, 10, 12, 11),
    ],
)
def test_where_a_token_would_take_as_long_as_it_may(known: dict[int, float], good: int, bad: int, next_one: int) -> None:
    assert _between(known, good, bad) == next_one


@pytest.mark.usefixtures("follows")
@pytest.mark.parametrize(
    ("most", "found"),
    [
        ((("second-gpu", 5), ("mac", 20)), (5, 6)),
        ((("second-gpu", 5), ("second-gpu", 9), ("mac", 20)), (9, 10)),  # another one of the kind
        ((("second-gpu", 5),), (5, 6)),  # then nothing does
        ((("second-gpu", 63), ("mac", 200)), (63, 64)),
        ((("second-gpu", 64), ("mac", 200)), None),  # asked are 32 times as many
    ],
)
def test_more_users_than_a_system_takes(most: Any, found: tuple[int, int] | None) -> None:
    prober = Amounts(2, *most)
    assert _rising(prober, 2, 64, 1, int, lambda fit: fit.max_users) == found
    assert [each[1:3] for each in sides(of_users(prober)) if each[2] > 2] == ([found] if found else [])


@pytest.mark.usefixtures("follows")
@pytest.mark.parametrize(("overtaken", "found"), [(11, (10, 11)), (24, (23, 24)), (99, (24, 25))])
def test_the_fastest_may_be_overtaken_before_it_no_longer_does_it(
    overtaken: int, found: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    prober = Amounts(2, ("second-gpu", 24), ("mac", 99))
    monkeypatch.setattr(prober.case, "need", replace(prober.case.need, prefer="fastest"))
    monkeypatch.setattr(prober, "differs", lambda users, harder: users >= overtaken)
    assert _rising(prober, 2, 64, 1, int, lambda fit: fit.max_users) == found


@pytest.mark.usefixtures("follows")
def test_a_longer_context_goes_in_steps_up_to_the_models() -> None:
    rows = ("second-gpu", 9000), ("mac", 40960)
    assert sides(of_context(Amounts(4096, *rows))) == [("context_tokens", 8192, 9216, "mac")]
    assert sides(of_context(Amounts(4096, ("second-gpu", 40960)))) == []


@pytest.mark.parametrize(
    ("now", "turns", "least", "step", "found"),
    [
        (16, 3, 1, 1, (4, 3)),  # 8 and 4 are as now, 2 is not; nor is 3
        (16, 7, 1, 1, (8, 7)),
        (16, 15, 1, 1, (16, 15)),
        (16, 1, 1, 1, None),  # halved three times: down to 2
        (16, 3, 3, 1, None),  # 2 is less than the least
        (8192, 3000, 700, 1024, (3072, 2048)),
        (8192, 7500, 700, 1024, (8192, 7168)),
        (10000, 8192, 700, 1024, (9216, 8192)),  # no multiple of a step: the search once had no end
        (10000, 9500, 700, 1024, (10000, 9216)),
    ],
)
def test_less_work_that_something_else_does(now: int, turns: int, least: int, step: int, found: tuple[int, int] | None) -> None:
    assert _falling(Amounts(now, ("mac", turns), ("second-gpu", now)), now, least, step, int) == found


@pytest.mark.parametrize(
    ("limit", "turns", "usd", "found"),
    [
        (5000, 4096, 0, (5120, 4096)),  # whole steps of 1,024
        (8000, 7168, 0, (8192, 7168)),
        (5000, 4096, 2000, None),  # as dear as today's
        (5000, 6000, 0, None),  # the answer is another one further up already
        (5000, 4000, 0, None),  # it does not do it, for another reason
        (600, 512, 0, None),  # shorter than prompt and answer
        (9000, 8192, 0, None),
    ],
)
def test_the_context_that_something_cheaper_holds(limit: int, turns: int, usd: float, found: tuple[int, int] | None) -> None:
    small = way(20.0)
    small.fit.max_context_tokens = limit
    owned = replace(option("change-settings", usd, small), ways=(small,))
    prober = Amounts(8192, ("mac", turns), ("second-gpu", 8192), owned=(owned,))
    if prober.today.kind == "mac":
        prober = Amounts(8192, ("second-gpu", 8192), owned=(owned,))
    assert _shorter(prober, 8192, 700) == found
