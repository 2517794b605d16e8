"""What money is worth and what the small things cost: electricity, currencies, renting, parts. One file, `catalog/money.yaml`."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from advisor.price import Source
from advisor.reason import Fact, Reason
from advisor.record import dataclass
from advisor.units import GIB
from advisor.yamlfile import given

if TYPE_CHECKING:
    from advisor.words import Amount

PART_KINDS = ("power-supply", "board", "case", "nic", "switch", "cable", "bridge", "riser", "memory", "cpu", "dock")


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A number that somebody had to choose, with the reason: from where on a price is called old, what is worth moving for."""

    id: str = given()
    value: float = given(above=0)
    reason: str = given()
    source: str | None = given(default=None)


class Chosen:
    """A record that holds chosen numbers: each is found by its id."""

    choices: tuple[Choice, ...]

    @cached_property
    def _choices(self) -> dict[str, float]:
        return {each.id: each.value for each in self.choices}

    def choice(self, name: str) -> float:
        """The chosen number of that id."""
        return self._choices[name]

    def why(self, name: str) -> str:
        """Why it was chosen so."""
        return next(each.reason for each in self.choices if each.id == name)


@dataclass(frozen=True, kw_only=True)
class Electricity:
    """What a kilowatt-hour costs a household somewhere; the first entry of the file is the default."""

    region: str = given()
    usd_per_kwh: float = given(above=0)
    date: str = given(about="the period that it holds for")
    source: str = given()
    unverified: bool = given(default=False)
    note: str | None = given(default=None)


@dataclass(frozen=True, kw_only=True)
class Rate:
    """What one unit of a currency is worth in dollars on a day."""

    currency: str = given(about="three letters, ISO 4217")
    usd: float = given(above=0, about="dollars for one unit")
    date: str = given()
    source: str = given()
    unverified: bool = given(default=False)


@dataclass(frozen=True, kw_only=True)
class Rental:
    """What renting a device costs for an hour: the usual offer, and the range where known."""

    device: str = given()
    usd_per_hour: float = given(above=0)
    low_usd_per_hour: float | None = given(default=None, above=0)
    high_usd_per_hour: float | None = given(default=None, above=0)
    date: str = given()
    source: str = given()
    unverified: bool = given(default=False)


@dataclass(frozen=True, kw_only=True)
class Part:
    """A thing bought beside devices and hosts; watts, slots, lanes or link say what it is good for."""

    id: str = given()
    name: str = given()
    kind: str = given(one_of=PART_KINDS)
    usd: float = given(above=0)
    condition: str = given(default="new", one_of=("new", "used", "refurbished"))
    watts: float | None = given(default=None, above=0, about="what a power supply gives")
    memory_bytes: float | None = given("gib", GIB, default=None, above=0, about="what a kit of memory holds")
    memory_type: str | None = given(default=None, about="DDR4 or DDR5, of a kit for desktops")
    slots: int | None = given(default=None, least=1, about="cards that a board takes")
    lanes: int | None = given(default=None, least=1, about="PCIe lanes of each of those slots when all are used")
    link: str | None = given(default=None, about="id of the link that it serves")
    date: str = given()
    source: str = given()
    unverified: bool = given(default=False)
    note: str | None = given(default=None)


@dataclass(frozen=True, kw_only=True)
class Money(Chosen):
    """The whole file."""

    as_of: str = given(about="the day on which the prices of the catalog were last gone over")
    electricity: tuple[Electricity, ...] = given()
    rates: tuple[Rate, ...] = given()
    rentals: tuple[Rental, ...] = given(default=())
    parts: tuple[Part, ...] = given(default=())
    choices: tuple[Choice, ...] = given()
    market: tuple[Source, ...] = given(default=())  # what moved the prices: a fact in each title

    @cached_property
    def known_prices(self) -> dict[Any, Any]:
        """Prices that were converted by these rates already; `prices` fills it."""
        return {}

    def rate(self, currency: str) -> Rate | None:
        """The rate of a currency; the dollar is worth a dollar; None where the file does not have it."""
        wanted = currency.upper()
        if wanted == "USD":
            return Rate(currency="USD", usd=1.0, date=self.as_of, source="")
        return next((rate for rate in self.rates if rate.currency == wanted), None)

    def in_usd(self, amount: "Amount", digits: int = 0) -> tuple[float, Reason] | None:
        """A sum in dollars at the dated rate, and the sentence that says so; None where there is no rate."""
        rate = self.rate(amount.currency)
        if rate is None:
            return None
        usd = round(amount.value * rate.usd, digits)
        facts: dict[str, Fact] = {"amount": amount.value, "currency": amount.currency, "rate": rate.usd, "date": rate.date}
        return usd, Reason("ask.converted", {**facts, "converted_usd": usd}, (rate.source,))

    def parts_of(self, kind: str) -> tuple[Part, ...]:
        """Every part of a kind, cheapest first."""
        return tuple(sorted((part for part in self.parts if part.kind == kind), key=lambda part: part.usd))
