"""What something costs, when, where, and who says so."""

import datetime

from advisor.record import dataclass
from advisor.units import GIB
from advisor.yamlfile import given


@dataclass(frozen=True, kw_only=True)
class Price:
    """One dated figure or range for one condition; `memory_bytes` where each memory size has its own."""

    kind: str = given(one_of=("list", "street"), about="list = what the maker asks; street = what shops or sellers ask")
    condition: str = given(one_of=("new", "used", "refurbished"))
    low: float = given(above=0, about="lowest figure; the same as high for a single one")
    high: float = given(above=0)
    currency: str = given(default="USD")
    region: str | None = given(default=None)
    date: str = given(about="2026, 2026-09 or 2026-09-11")
    memory_bytes: float | None = given("memory_gib", GIB, default=None, above=0, about="the memory size that it holds for")
    source: str = given(about="who says so, with the address")
    note: str | None = given(default=None)
    unverified: bool = given(default=False)

    @property
    def middle(self) -> float:
        """The midpoint of the range."""
        return (self.low + self.high) / 2

    @property
    def day(self) -> datetime.date:
        """The date; the first day of the period where only a year or a month is known."""
        return first_day(self.date)


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where figures come from: which fields, what is it called, where is it, when was it seen."""

    fields: tuple[str, ...] = given()
    title: str = given()
    url: str | None = given(default=None)
    seen: str | None = given(default=None)


def first_day(written: str) -> datetime.date:
    """`2026`, `2026-09` or `2026-09-11` as the first day it can mean."""
    year, month, day = (*(int(part) for part in written.split("-")), 1, 1)[:3]
    return datetime.date(year, month, day)
