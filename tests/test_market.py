"""Money: which price is used and why, what a system costs, what its tokens cost. Figures are worked by hand beside them."""

from dataclasses import replace
from datetime import date, timedelta
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from advisor import choose, market
from advisor.billed import link_lines, parts_needed, unpriced_parts
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.device import Device
from advisor.link import LinkPart
from advisor.market import Terms, bill, usd_per_million_tokens
from advisor.price import Price
from advisor.prices import _middle, first_day, price_of
from advisor.supply import given_w, needed_w, supply_for, tight
from advisor.units import GIB

CATALOG = Catalog.load(root=Path(__file__).parent / "catalog", user_folder=False)
TODAY = date(2026, 11, 30)
MONEY = CATALOG.money


def row(kind: str, condition: str, usd: float, day: str, **more: Any) -> Price:
    return Price(kind=kind, condition=condition, low=usd, high=usd, date=day, source="a test", **more)


def card(*prices: Price, availability: str = "on-sale") -> Device:
    return replace(CATALOG.device("rtx-3090"), prices=prices, availability=availability)


LIST = row("list", "new", 1000, "2025-01")
NEW = row("street", "new", 1200, "2026-09")
USED = row("street", "used", 800, "2026-08")
OLD_USED = row("street", "used", 500, "2024-01")


@pytest.mark.parametrize(
    ("prices", "availability", "new_only", "expected"),
    [
        ((LIST,), "on-sale", False, (1000, "list", "new")),  # nobody says what it costs in the street
        ((replace(LIST, unverified=True),), "on-sale", False, (None, None, None)),  # 698 days old and nobody checked it
        ((row("list", "new", 1000, "2025-11-30", unverified=True),), "on-sale", False, (1000, "list", "new")),  # 365 days: a year, no more
        ((row("list", "new", 1000, "2025-11-29", unverified=True),), "on-sale", True, (None, None, None)),
        ((replace(LIST, unverified=True), NEW), "on-sale", True, (1200, "street", "new")),
        ((LIST, NEW), "on-sale", False, (1200, "street", "new")),
        ((LIST, NEW, USED), "on-sale", False, (800, "street", "used")),  # used is allowed and cheaper
        ((LIST, NEW, USED), "on-sale", True, (1200, "street", "new")),
        ((NEW, OLD_USED), "on-sale", False, (1200, "street", "new")),  # two years older: no price of today
        # 1 September to 1 September is 365 days, a year and no more: the used price still counts; 366 days do not
        ((NEW, row("street", "used", 800, "2025-09-01")), "on-sale", False, (800, "street", "used")),
        ((NEW, row("street", "used", 800, "2025-08-31")), "on-sale", False, (1200, "street", "new")),
        ((row("street", "new", 700, "2025-08-31"), row("street", "used", 800, "2026-09-01")), "on-sale", False, (800, "street", "used")),
        ((LIST, USED), "on-sale", True, (1000, "list", "new")),
        ((LIST, NEW), "discontinued", False, (None, None, None)),  # no longer offered as new
        ((LIST, NEW, USED), "discontinued", False, (800, "street", "used")),
        ((LIST, USED), "used-only", True, (None, None, None)),
        ((LIST,), "used-only", False, (None, None, None)),
        ((LIST, NEW), "announced", False, (None, None, None)),  # not sold yet
        ((), "on-sale", False, (None, None, None)),
        ((row("street", "used", 700, "2026"), USED), "used-only", False, (800, "street", "used")),  # 2026 may be January
    ],
)
def test_the_price_used(prices: tuple[Price, ...], availability: str, new_only: bool, expected: tuple[Any, ...]) -> None:
    used = price_of(card(*prices, availability=availability), 24 * GIB, money=MONEY, new_only=new_only, today=TODAY)
    assert (used.usd, used.kind, used.condition) == expected


def test_of_one_date_a_verified_price_goes_before_an_unverified_one() -> None:
    """RTX PRO 6000, September 2026: an older guide still had 8,700 when shops asked 17,800."""
    stale, fresh = row("street", "new", 8700, "2026-09", unverified=True), row("street", "new", 17800, "2026-09")
    for rows in ((stale, fresh), (fresh, stale)):
        assert price_of(card(*rows), money=MONEY, today=TODAY).usd == 17800


def test_the_midpoint_of_a_range() -> None:
    used = price_of(card(replace(USED, low=700, high=1050)), money=MONEY, today=TODAY)
    assert used.usd == 875  # (700 + 1050) / 2


def test_a_stated_price_wins() -> None:
    assert price_of(card(NEW), money=MONEY, overrides={"rtx-3090": 1.0}, today=TODAY).usd == 1.0


def test_each_memory_size_has_its_own_price() -> None:
    mac = replace(
        CATALOG.device("mac-m4-pro-20c"),
        availability="on-sale",
        prices=(row("list", "new", 1599, "2024-11", memory_bytes=24 * GIB), row("list", "new", 1999, "2024-11", memory_bytes=48 * GIB)),
    )
    assert [price_of(mac, size * GIB, money=MONEY, today=TODAY).usd for size in (24, 48, 64)] == [1599, 1999, None]


def test_another_currency_is_converted() -> None:
    rate = MONEY.rate("EUR")
    assert rate
    assert price_of(card(replace(USED, currency="EUR")), money=MONEY, today=TODAY).usd == pytest.approx(800 * rate.usd)


def codes(*prices: Price) -> list[str]:
    return [reason.code for reason in price_of(card(*prices), money=MONEY, today=TODAY).warnings]


def test_warnings() -> None:
    assert codes(LIST) == ["price.list-only", "price.old"]
    assert codes(row("street", "new", 1200, "2026-11")) == []  # 29 days
    assert codes(row("street", "new", 1200, "2026-10-01")) == []  # 60 days: still fresh
    assert codes(row("street", "new", 1200, "2026-09-30")) == ["price.old"]  # 61 days
    assert codes(row("street", "new", 1200, "2026-11", unverified=True)) == ["price.unverified"]
    assert codes(row("street", "new", 1300, "2026-11"), row("street", "new", 1000, "2026-02")) == ["price.spike"]  # +30 %
    assert codes(row("street", "new", 1200, "2026-11"), row("street", "new", 1000, "2026-02")) == []  # +20 %
    assert codes(row("street", "new", 1300, "2026-11"), row("street", "used", 1400, "2026-02")) == []  # another condition


def test_sources_that_disagree() -> None:
    """RTX PRO 6000 in September 2026: 15,599 to 19,999 in one guide, 7,999 to 9,449 in another, (17,799 / 8,724 = 2.04)."""
    new, old = row("street", "new", 17799, "2026-11"), row("street", "new", 8724, "2026-11", unverified=True)
    used = price_of(card(new, old), money=MONEY, today=TODAY)
    assert used.usd == 17799
    (warning,) = used.warnings
    assert warning.code == "price.conflict"
    assert warning.facts["apart_factor"] == pytest.approx(2.04, abs=0.01)
    assert codes(row("street", "new", 1280, "2026-11"), row("street", "new", 1000, "2026-10")) == ["price.spike"]  # 1.28 apart
    assert codes(row("street", "new", 1000, "2026-11"), row("street", "new", 1600, "2026-06")) == []  # another season
    day = date(2026, 11, 1)
    for later, told in ((0, ["price.conflict"]), (1, [])):  # up to so many days apart they are of one time
        other = (day - timedelta(days=MONEY.choice("conflict-days") + later)).isoformat()
        assert codes(row("street", "new", 1000, day.isoformat()), row("street", "new", 9000, other)) == told
    factor = MONEY.choice("conflict-factor")
    for more, told in ((0, []), (1, ["price.conflict"])):  # at the very factor it is no conflict yet
        assert codes(row("street", "new", 1000, "2026-11"), row("street", "new", 1000 * factor + more, "2026-11")) == told
    assert codes(row("street", "new", 1000, "2026-11"), row("street", "used", 500, "2026-11", unverified=True)) == ["price.unverified"]


def test_the_parts_sum_to_the_price() -> None:
    have, wide = choose.bind("rtx-3090", CATALOG), choose.bind("2x rtx-3090 via nvlink", CATALOG)
    for cost in (bill(wide, None, TERMS), bill(wide, have, TERMS)):
        each = [line.count * (line.usd or 0.0) for line in cost.lines]
        assert cost.price_usd == sum(each)
        assert cost.spend_usd == sum(usd for usd, line in zip(each, cost.lines, strict=True) if not line.owned)
        assert len(cost.lines) >= 3  # cards, bridge, computer


def test_the_dates_of_the_prices_used() -> None:
    cost = bill(choose.bind("2x rtx-3090", CATALOG), None, Terms(MONEY, today=TODAY))
    dates = sorted(line.as_of for line in cost.lines if line.as_of)
    assert market.price_dates(cost.lines) == (f"{dates[0]} to {dates[-1]}" if dates[0] != dates[-1] else dates[0])
    assert market.price_dates(()) == ""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (("2026", "2026-01", "2026-09"), "2026-01 to 2026-09"),  # both begin on 1 January: the more exact one
        (("2026-09", "2026-09-01"), "2026-09-01"),
        (("2026", "2026-09"), "2026"),  # of some day of that year
        (("2026-09", "2026-09-11"), "2026-09"),
        (("2025", "2026-09"), "2025 to 2026-09"),
        (("2025-12", "2026"), "2025-12 to 2026"),
        (("2026-08",), "2026-08"),
    ],
)
def test_two_ways_to_write_one_day_are_said_alike_in_any_order(written: tuple[str, ...], said: str) -> None:
    line = next(line for line in bill(choose.bind("2x rtx-3090", CATALOG), None, TERMS).lines if line.as_of)
    for order in permutations(written):
        assert market.price_dates(replace(line, as_of=each) for each in order) == said


def test_a_date_of_a_year_or_month_is_its_first_day() -> None:
    assert [first_day(text) for text in ("2026", "2026-09", "2026-09-11")] == [date(2026, 1, 1), date(2026, 9, 1), date(2026, 9, 11)]


TERMS = Terms(MONEY, overrides=(("rtx-3090", 900.0),), electricity_usd_per_kwh=0.20, hours_per_day=8.0, today=TODAY)


def test_a_second_card_is_all_that_is_paid() -> None:
    have, pair = (choose.bind(words, CATALOG) for words in ("rtx-3090", "2x rtx-3090"))
    cost = bill(pair, have, TERMS)
    assert cost.spend_usd == 900
    assert cost.resale_usd == 0
    assert cost.power_w == 2 * 350 + 110  # two cards, the desktop at work


def test_the_bridge_is_paid_too() -> None:
    have, pair = choose.bind("2x rtx-3090", CATALOG), choose.bind("2x rtx-3090 via nvlink", CATALOG)
    bridge = sum(part.usd for part in CATALOG.link("nvlink3-bridge-3090").parts)
    assert bill(pair, have, TERMS).spend_usd == bridge


def test_cards_without_a_host_bring_its_price() -> None:
    pair = choose.bind("2x rtx-3090", CATALOG)
    host = pair.boxes[0].host
    assert host
    assert bill(pair, None, TERMS).spend_usd == 1800 + (TERMS.price(host).usd or 0)


def test_a_short_power_supply_is_replaced() -> None:
    have, pair = choose.bind("rtx-3090", CATALOG), choose.bind("rtx-3090 + rtx-5090", CATALOG)
    cost = bill(pair, have, TERMS)
    needed = 350 + 575 + 110  # watts: more than the desktop's 850
    roomy = needed / MONEY.choice("supply-share")  # 1,294: what is bought leaves the reserve that the owned one may lack
    supply = next(part for part in MONEY.parts_of("power-supply") if (part.watts or 0) >= roomy)
    assert [reason.code for reason in cost.upgrades] == ["host.power"]
    assert supply.id in [line.what for line in cost.lines if not line.owned]


@pytest.mark.parametrize(
    ("words", "supply_w", "codes"),
    [("rtx-3090", None, []), ("2x rtx-3090", None, ["host.power-tight"]), ("2x rtx-3090", 1000, ["host.power-tight"]),
     ("2x rtx-3090", 1013, []), ("2x rtx-3090", 800, []), ("mac-m4-max-40c", None, [])],
)  # fmt: skip
def test_a_supply_without_reserve_is_remarked(words: str, supply_w: float | None, codes: list[str]) -> None:
    """350 + 110 W are 54 % of 850 W; 2 x 350 + 110 = 810 W are 95 % of 850 and 81 % of 1000 W, and 800 W fall short of it."""
    cost = bill(choose.bind(words, CATALOG), None, replace(TERMS, supply_w=supply_w))
    assert [reason.code for reason in cost.warnings if reason.code.startswith("host.")] == codes
    assert [reason.code for reason in cost.upgrades] == (["host.power"] if supply_w == 800 else [])


def test_what_the_old_card_brings() -> None:
    have, new = choose.bind("rtx-3090", CATALOG), choose.bind("rtx-5090", CATALOG)
    assert bill(new, have, Terms(MONEY, today=TODAY)).resale_usd == 700  # the lower end of the newest used price, 700 to 1,050


def test_parts_of_a_link() -> None:
    mesh, pair = CATALOG.link("thunderbolt-5-rdma"), CATALOG.link("nvlink3-bridge-3090")
    cable = LinkPart(name="cable", per="pair", usd=60)
    switch = LinkPart(name="switch", per="system", usd=1000, needed_from=3)
    assert [parts_needed(cable, replace(mesh, shape="mesh"), ends, ends) for ends in (2, 3, 4)] == [1, 3, 6]  # every pair joined
    assert parts_needed(cable, pair, 2, 2) == 1
    assert [parts_needed(switch, mesh, ends, ends) for ends in (2, 3, 4)] == [0, 1, 1]
    assert parts_needed(LinkPart(name="nic", per="box", usd=80), mesh, 3, 6) == 3
    assert parts_needed(LinkPart(name="riser", per="device", usd=20), mesh, 3, 6) == 6


def test_tokens_over_three_years() -> None:
    # 8 h a day for 3 years of 365.25 days = 8,766 h; 0.5 kW × 8,766 h × $0.20 = $876.60
    # 20 tokens/s × 8,766 h × 3,600 s = 631.152 million tokens; ($900 + $876.60) / 631.152 = $2.8148
    assert usd_per_million_tokens(900, 500, 20, TERMS) == pytest.approx(2.8148, rel=1e-4)
    assert usd_per_million_tokens(None, 500, 20, TERMS) is None
    assert usd_per_million_tokens(900, 500, None, TERMS) is None
    assert usd_per_million_tokens(900, 500, 20, replace(TERMS, hours_per_day=0.0)) is None


def test_renting_pays_up_to_some_hours_a_day() -> None:
    system = choose.bind("rtx-5090", CATALOG)
    rental = market.rental_usd_per_hour(system, MONEY)
    assert rental
    # over 1,095.75 days buying at $1,000 is even with renting when 1,095.75 × hours × (rent − power) = 1,000
    even = 1000 / (1095.75 * (rental - 0.6 * 0.20))
    assert market._rental_even(1000, 600, rental, TERMS) == pytest.approx(even)
    assert market._rental_even(0, 600, rental, TERMS) is None
    assert market._rental_even(1000, 600, 0.1, TERMS) is None


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("2x mac-m3-ultra-80c via eth-10g-tcp", []),  # the port is built in; two need no switch
        ("2x mac-m3-ultra-80c via eth-25g-tcp", [("adapter for 25 GbE, TCP", 2, None)]),  # no slot for the card that is priced
        ("3x rtx-3090 via eth-10g-tcp", [("X550-class dual NIC, used", 3, 120.0), ("switch 8 ports", 1, 300.0)]),
    ],
)
def test_a_network_costs_what_the_boxes_lack(words: str, parts: list[tuple[str, int, float | None]]) -> None:
    catalog = Catalog.load(user_folder=False)
    system = bind(words, catalog)
    lines = bill(system, None, Terms(catalog.money)).lines
    assert [(line.name, line.count, line.usd) for line in lines if line.what == system.link.id] == parts


@pytest.mark.parametrize(
    ("watts", "bought"), [(500, 650), (520, 650), (521, 850), (680, 850), (681, 1200), (960, 1200), (1200, 1200), (1201, None)]
)
def test_the_weakest_supply_with_a_reserve_is_bought(watts: float, bought: float | None) -> None:
    """Four fifths of 650, 850 and 1,200 W are 520, 680 and 960 W; beyond, the strongest that gives as much."""
    one = MONEY.parts_of("power-supply")[0]
    parts = tuple(replace(one, id=f"psu-{size}", watts=size, usd=usd) for size, usd in ((650.0, 60.0), (850.0, 110.0), (1200.0, 200.0)))
    share = replace(next(each for each in MONEY.choices if each.id == "supply-share"), value=0.8)
    found = supply_for(watts, replace(MONEY, parts=parts, choices=(share,)))
    assert (found and found.watts) == bought


def test_watts_of_one_computer() -> None:
    """Two cards of 350 W in a computer that draws 110 W; a machine brings its own supply; nobody knows what is around a bare card."""
    box = choose.bind("2x rtx-3090", CATALOG).boxes[0]
    assert (needed_w(box), given_w(box, None), given_w(box, 1000)) == (810, 850, 1000)
    assert needed_w(replace(box, host=None)) == 0
    assert given_w(replace(box, host=None), None) == 0
    assert needed_w(choose.bind("mac-m4-max-40c", CATALOG).boxes[0]) == 0
    warning = tight(box, 1000, MONEY)
    assert warning
    assert (warning.facts["used_share"], warning.facts["wanted_w"]) == (0.81, pytest.approx(810 / MONEY.choice("supply-share")))
    assert tight(replace(box, host=None), 1000, MONEY) is None


@pytest.mark.parametrize(
    ("shape", "ends", "cables"), [("pair", 2, 1), ("pair", 3, 1), ("pair", 4, 2), ("switch", 2, 1), ("switch", 4, 3), ("mesh", 4, 6)]
)
def test_cables_by_the_shape_of_a_link(shape: str, ends: int, cables: int) -> None:
    """A bridge for every two, a cable from the first to each other one, one for every pair of a mesh."""
    link = replace(CATALOG.link("eth-10g-tcp"), shape=shape, parts=())
    assert parts_needed(LinkPart(name="cable", per="pair", usd=60), link, ends, ends) == cables


def test_lines_of_a_link() -> None:
    """Three boxes of which one has its own port: two NICs, a cable to each other one, a switch from three on; nobody prices the rack."""
    parts = (
        LinkPart(name="nic", per="box", usd=80),
        LinkPart(name="cable", per="pair", usd=20, date="2026-05"),
        LinkPart(name="switch", per="system", usd=300, needed_from=3),
        LinkPart(name="rack", per="system"),
        LinkPart(name="router", per="system", usd=900, needed_from=4),
    )
    link = replace(CATALOG.link("eth-10g-tcp"), shape="switch", parts=parts)
    bare = replace(choose.bind("rtx-3090", CATALOG).boxes[0], networks=())
    boxes = (bare, bare, replace(bare, networks=(link,)))

    def lines(*given: Any) -> list[tuple[str, int, float | None]]:
        return [(line.name, line.count, line.usd) for line in link_lines(*given)]

    assert lines(link, 3, 3, False, {}, boxes) == [("nic", 2, 80), ("cable", 2, 20), ("switch", 1, 300)]
    assert lines(link, 3, 3, False, {}) == [("nic", 3, 80), ("cable", 2, 20), ("switch", 1, 300)]  # nothing known of their ports
    assert lines(link, 2, 2, False, {}, boxes[:2]) == [("nic", 2, 80), ("cable", 1, 20)]
    assert lines(link, 2, 2, False, {}, (boxes[2], boxes[2])) == [("cable", 1, 20)]
    assert lines(link, 1, 1, False, {}) == lines(None, 3, 3, False, {}) == []
    assert lines(link, 3, 3, False, {link.id: 500.0}) == [(link.name, 1, 500)]
    assert [line.as_of for line in link_lines(link, 2, 2, True, {}, boxes[:2])] == [None, "2026-05"]
    assert all(line.owned for line in link_lines(link, 2, 2, True, {}))
    assert [reason.facts["part"] for reason in unpriced_parts(link, 3, 3, {})] == ["rack"]
    assert unpriced_parts(link, 3, 3, {link.id: 500.0}) == unpriced_parts(link, 1, 1, {}) == unpriced_parts(None, 2, 2, {}) == []


@pytest.mark.parametrize(("cards", "supplies", "code"), [(2, 1, "host.power"), (9, 2, "host.power-beyond"), (18, 4, "host.power-beyond")])
def test_more_watts_than_any_supply_gives_take_several(cards: int, supplies: int, code: str) -> None:
    """Cards of 350 W in a computer of 110 W: 810 W; 3,260 W are two of 2,000 W; 6,410 W are four."""
    one = MONEY.parts_of("power-supply")[0]
    strong = replace(one, id="psu", watts=2000.0, usd=300.0)
    terms = replace(TERMS, money=replace(MONEY, parts=(replace(one, id="weak", watts=500.0, usd=60.0), strong)))
    box = choose.bind(f"{cards}x rtx-3090", CATALOG).boxes[0]
    assert box.host
    box = replace(box, host=replace(box.host, base_power_w=110.0, power_supply_w=300.0))
    lines, said = market.host_lines(box, False, terms)
    assert (lines[-1].what, lines[-1].count, lines[-1].usd, lines[-1].owned) == ("psu", supplies, 300, False)
    assert [each.code for each in said] == [code]


@pytest.mark.parametrize(("usd", "middle"), [([5.0], 5), ([9.0, 1.0, 2.0], 2), ([10.0, 1.0, 3.0, 2.0], 2.5), ([1, 2, 3, 4, 5, 6, 7.0], 4)])
def test_the_median_of_earlier_prices(usd: list[float], middle: float) -> None:
    assert _middle(usd) == middle


def test_only_of_what_is_bought_the_price_is_minded() -> None:
    """A card in the computer that is there: nobody minds what that computer would cost."""
    terms: Any = SimpleNamespace(overrides=(), price=lambda thing, size=None: SimpleNamespace(warnings=(thing.id,)))
    host = CATALOG.host("desktop-x8x8")
    system, line = bind("rtx-3090", CATALOG, host=host), lambda name: market.CostLine(name, name, 1, 1.0)
    assert market._mind(system, [line("rtx-3090")], terms) == ("rtx-3090",)
    assert market._mind(system, [line(host.id)], terms) == (host.id,)
    assert market._mind(system, [line("rtx-3090"), line(host.id)], terms) == ("rtx-3090", host.id)
    assert market._mind(system, [], terms) == ()


def test_equal_devices_are_counted_together() -> None:
    groups = bind("2x (rtx-3090 + rtx-4090) via eth-10g-tcp", CATALOG).groups
    assert [(device.id, count) for device, _, count in market._counted(groups)] == [("rtx-3090", 2), ("rtx-4090", 2)]
