"""What is owned beside cards: a computer without any, a laptop, and what either takes."""

from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from advisor import answers
from advisor.advice import Recommendation
from advisor.advice.verdict import shopping
from advisor.billed import CostLine
from advisor.catalog import Catalog, shipped
from advisor.errors import BadValue
from advisor.memorykit import sizes
from advisor.units import GIB

CATALOG = Catalog.load(root=shipped(), user_folder=False)
DOCK = next(part for part in CATALOG.money.parts if part.id == "dock-thunderbolt")


def advised(**options: Any) -> Recommendation:
    return answers.recommend(catalog=CATALOG, model="qwen3-32b", **options)


def bought(given: Recommendation) -> list[str]:
    return [line.what for road in given.roads if road.cost for line in road.cost.lines if not line.owned]


@pytest.mark.parametrize("name", ["desktop", "desktop-x16", "Desktop with two slots, x8/x8"])
def test_a_computer_that_is_there_is_not_on_the_bill(name: str) -> None:
    host = CATALOG.host(name)
    given = advised(have=name)
    assert given.have is None
    assert given.need.host == host.id
    assert host.id not in bought(given)
    assert given.second_gpu is None
    assert given.verdict.spend_usd is not None
    assert [reason.facts["host"] for reason in given.assumptions if reason.code == "assumed.own-host"] == [host.name]
    stranger = advised(host=name).verdict
    assert stranger.spend_usd is not None
    assert stranger.spend_usd > given.verdict.spend_usd  # who only names it still buys it


def test_two_computers_are_one_too_many() -> None:
    with pytest.raises(BadValue, match="name one of them"):
        advised(have="desktop", host="epyc-sp3")


@pytest.mark.parametrize("have", ["rtx-3060-laptop", "rtx-4060-laptop", "laptop"])
def test_a_laptop_takes_a_card_only_in_a_box_of_its_own(have: str) -> None:
    """An eGPU box has one card; more of them need another computer, whose price is on the bill."""
    given = advised(have=have)
    for road in (*given.roads, *given.passed_over):
        if road.cost is None or road.system is None or road.kind in ("keep", "change-settings"):
            continue
        cards = [group for group in road.system.groups if group.device.mount == "slot"]
        lines = {line.what: line for line in road.cost.lines if not line.owned}
        host = road.system.boxes[0].host
        if not cards:
            continue
        assert host
        if host.mount == "laptop":
            assert sum(group.count for group in cards) == 1
            assert lines[DOCK.id].usd == DOCK.usd
        else:
            assert host.id in lines
    codes = {reason.code for reason in given.assumptions}
    assert "assumed.laptop" in codes
    assert "assumed.host" not in codes


def test_one_of_unlike_cards_that_is_there_is_in_no_least_price() -> None:
    """Offers are searched by their least prices: of six 3090 five are bought where one sits beside a 3060."""
    from advisor.advice.desk import Desk
    from advisor.advice.offers import all_offers
    from advisor.need import Need, Workload

    system = answers.estimate("rtx-3090 + rtx-3060-12gb", catalog=CATALOG, model="qwen3-8b").system
    desk = Desk(Need(workload=Workload(), model="qwen3-8b"), system, CATALOG, CATALOG.model("qwen3-8b"), date(2026, 11, 30))
    several = [offer for offer in all_offers(desk).every if offer.words in ("3x rtx-3090", "6x rtx-3090", "2x rtx-3090")]
    assert len(several) == 3
    for offer in several:
        found = desk.system(offer.words, offer.host)
        assert not isinstance(found, Exception)
        assert offer.bought == (("rtx-3090", offer.count - 1),)
        assert desk.cost(found).spend_usd == pytest.approx(offer.least_usd)


def test_the_dock_is_in_the_least_price_too() -> None:
    """Offers are searched by their least prices: the bill of the cheapest card in a box is no less than that."""
    from advisor.advice.desk import Desk
    from advisor.advice.offers import all_offers
    from advisor.need import Need, Workload

    system = answers.estimate("rtx-4060-laptop", catalog=CATALOG, model="qwen3-8b").system
    desk = Desk(Need(workload=Workload(), model="qwen3-8b"), system, CATALOG, CATALOG.model("qwen3-8b"), date(2026, 11, 30))
    single = [offer for offer in all_offers(desk).every if offer.count == 1 and offer.host and offer.host.mount == "laptop"]
    assert single
    for offer in single[:20]:
        found = desk.system(offer.words, offer.host)
        assert not isinstance(found, Exception)
        if offer.least_usd is not None and offer.kind != "keep":
            assert desk.cost(found).spend_usd == pytest.approx(offer.least_usd)


def test_more_memory_in_the_own_computer_may_be_the_answer() -> None:
    """63 GB of weights: 12 GB on the card, the rest does not go into 32 GiB, but does into 64, two kits of 32 GB."""
    given = answers.recommend(catalog=CATALOG, model="gpt-oss-120b", have="rtx-3060-12gb", host="desktop-ddr4-x8x8")
    kit = next(part for part in CATALOG.money.parts if part.id == "ram-ddr4-32gb")
    assert given.verdict.kind == "more-memory"
    assert given.verdict.cost
    assert [(line.what, line.count, line.usd) for line in given.verdict.cost.lines if not line.owned] == [(kit.id, 2, kit.usd)]
    assert given.verdict.spend_usd == 2 * kit.usd
    assert given.verdict.estimate
    assert given.verdict.estimate.system.ram_bytes == 64 * GIB


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ((), ""),
        (("Arc B570 10GB",), "an Arc B570 10GB"),
        (("Arc B570 10GB", "64 GB of DDR5 memory"), "an Arc B570 10GB and 64 GB of DDR5 memory"),
        (("GeForce RTX 3090", "850 W supply", "16 GB DDR4 kit"), "a GeForce RTX 3090, an 850 W supply and a 16 GB DDR4 kit"),
    ],
)
def test_what_is_bought_is_a_list_as_one_says_it(names: tuple[str, ...], said: str) -> None:
    lines = tuple(CostLine(name, name, 1, 100.0) for name in names)
    assert shopping(SimpleNamespace(lines=lines)) == said  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ram_gib", "most"), [(16, {32, 64, 128}), (32, {64, 128}), (48, {64, 128}), (96, {128}), (128, set()), (256, set())]
)
def test_a_board_takes_what_it_takes(ram_gib: int, most: set[int]) -> None:
    assert {size / GIB for size in sizes(CATALOG.host("desktop-x8x8"), ram_gib * GIB)} == most


def test_who_has_the_memory_is_sold_none() -> None:
    given = answers.recommend(catalog=CATALOG, model="gpt-oss-120b", have="rtx-3060-12gb", host="desktop-ddr4-x8x8", ram_gib=64)
    assert given.verdict.kind == "change-settings"
    assert given.verdict.spend_usd == 0


def test_the_price_of_another_computer_has_flips_too() -> None:
    given = answers.recommend(catalog=CATALOG, model="qwen3-235b-a22b", have="rtx-4090")
    assert given.verdict.kind == "new-host"
    devices = [flip.device for flip in given.flips if flip.wish == "price_usd"]
    assert given.verdict.cost
    assert given.verdict.cost.bought[0].what in devices


@pytest.mark.parametrize("host", [None, "desktop-ddr4-x8x8"])
def test_an_estimate_tells_the_computer_that_nobody_named(host: str | None) -> None:
    """`estimate` takes the usual desktop, `recommend` the cheapest that does it: each says so, and --host makes both the same."""
    card = answers.estimate(catalog=CATALOG, system="rtx-3090", model="qwen3-8b", host=host)
    told = [reason.facts["host"] for reason in card.reasons if reason.code == "host.assumed"]
    assert told == ([] if host else [CATALOG.host("desktop-x8x8").name])
    box = answers.estimate(catalog=CATALOG, system="dgx-spark", model="qwen3-8b")
    assert not [reason for reason in box.reasons if reason.code == "host.assumed"]
    advice = answers.recommend(catalog=CATALOG, model="qwen3-32b", consider=("one-bigger-gpu",), host=host)
    assumed = [reason.facts["host_id"] for reason in advice.assumptions if reason.code == "assumed.bought-host"]
    assert advice.verdict.system
    bought = advice.verdict.system.boxes[0].host
    assert bought
    assert assumed == ([] if host else [bought.id])


def test_the_speed_over_one_device_is_the_same_where_the_computer_is_named() -> None:
    """The "again" of an estimate names the computer that was assumed: one card alone is held against in that one too."""
    words, model = "4x rtx-3090 on llama.cpp", "gpt-oss-120b"
    assumed = answers.estimate(words, catalog=CATALOG, model=model)
    host = assumed.system.boxes[0].host
    assert host
    assert assumed.speedup_over_one_device
    assert answers.estimate(words, catalog=CATALOG, model=model, host=host.id).speedup_over_one_device == assumed.speedup_over_one_device
