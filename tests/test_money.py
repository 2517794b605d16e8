"""Currency rates, electricity, rentals and parts of the shipped catalog; dates of prices."""

from datetime import date

import pytest

from advisor.answers import recommend
from advisor.catalog import Catalog
from advisor.errors import BadValue
from advisor.money import Choice, Electricity, Money, Part, Rate
from advisor.price import Price, first_day
from advisor.report.sentences import text
from advisor.units import GIB
from advisor.words import Amount, budget


@pytest.fixture(scope="module")
def money():
    return Catalog.load(user_folder=False).money


def test_rates_cross_over_the_euro(money):
    # ECB reference rates of 2026-10-30: 1 EUR = 1.1172 USD = 0.8338 GBP = 175.68 JPY
    assert money.rate("EUR").usd == 1.1172
    assert money.rate("gbp").usd == pytest.approx(1.1172 / 0.8338, rel=1e-4)
    assert money.rate("JPY").usd == pytest.approx(1.1172 / 175.68, rel=1e-4)
    assert money.rate("USD").usd == 1.0
    assert money.rate("XXX") is None
    assert {"CAD", "AUD", "CHF", "INR", "CNY"} <= {rate.currency for rate in money.rates}


def test_the_first_electricity_price_is_the_american_average(money):
    assert money.electricity[0].region == "US"
    assert money.electricity[0].usd_per_kwh == pytest.approx(0.1802)  # EIA forecast for 2026
    germany = next(each for each in money.electricity if each.region == "Germany")
    assert germany.usd_per_kwh == pytest.approx(0.3835 * 1.1172, rel=1e-3)  # Eurostat, first half of 2025


def test_parts_come_cheapest_first_and_supplies_give_watts(money):
    supplies = money.parts_of("power-supply")
    assert [part.usd for part in supplies] == sorted(part.usd for part in supplies)
    assert all(part.watts for part in supplies)
    assert max(part.watts for part in supplies) >= 1600


def test_every_figure_has_a_date_and_a_source(money):
    for each in (*money.electricity, *money.rates, *money.rentals, *money.parts):
        assert first_day(each.date) <= date(2026, 11, 30)
        assert each.source


@pytest.mark.parametrize(("written", "day"), [("2026", date(2026, 1, 1)), ("2026-09", date(2026, 9, 1)), ("2026-09-11", date(2026, 9, 11))])
def test_a_date_is_the_first_day_that_it_can_mean(written, day):
    price = Price(kind="street", condition="used", low=700, high=1050, date=written, source="x")
    assert price.day == day
    assert price.middle == 875


def test_small_money_of_one_part_and_one_rate():
    part = Part(id="psu", name="PSU", kind="power-supply", usd=110, watts=850, date="2026-08", source="x")
    money = Money(
        as_of="2026-11-30",
        electricity=(Electricity(region="US", usd_per_kwh=0.18, date="2026", source="x"),),
        rates=(Rate(currency="EUR", usd=1.1, date="2026-10-30", source="x"),),
        parts=(part,),
        choices=(Choice(id="years-of-use", value=3, reason="x"),),
    )
    assert money.choice("years-of-use") == 3
    assert money.parts_of("power-supply") == (part,)
    assert money.parts_of("nic") == ()
    assert money.rate("eur").usd == 1.1


def test_memory_of_a_price_is_in_bytes():
    row = Catalog.load(user_folder=False).device("mac-m3-ultra-80c").prices
    assert {price.memory_bytes for price in row} == {96 * GIB, 256 * GIB, 512 * GIB}


@pytest.mark.parametrize(
    ("written", "value"),
    [("3000", 3000), ("$2k", 2000), ("2k usd", 2000), ("USD 2,000", 2000), ("3000 EUR", Amount(3000, "EUR")), ("4000eur", Amount(4000, "EUR")),
     ("€ 1.5k", Amount(1500, "EUR")), ("£2k", Amount(2000, "GBP")), ("2 k pounds", Amount(2000, "GBP"))],
)  # fmt: skip
def test_a_budget_may_be_in_another_currency(written, value):
    assert budget(written, "--budget") == value


@pytest.mark.parametrize("written", ["3000 xyz", "EUR", "€3000 GBP", "-3 EUR", "EUR 3000 EUR 4000"])
def test_what_is_no_budget_is_refused(written):
    with pytest.raises(BadValue):
        budget(written, "--budget")


def test_a_budget_in_euros_is_one_in_dollars_at_the_rate_of_the_catalog_which_is_said():
    given = recommend(have="rtx-3090", model="qwen3-8b", budget="1000 EUR")
    assert given.need.budget_usd == 1117  # 1000 x 1.1172, European Central Bank, 2026-10-30
    assert next(text(each) for each in given.assumptions if each.code == "ask.converted").startswith("1,000 EUR are $1,117 at 1.12")
