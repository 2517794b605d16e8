"""Prices: the one that is taken for a thing, why, and what the buyer must know of it."""

from collections.abc import Iterable, Mapping
from datetime import date
from functools import lru_cache

from advisor.device import Device
from advisor.host import Host
from advisor.money import Money
from advisor.price import Price
from advisor.reason import Fact, Reason
from advisor.record import dataclass

SAME_SIZE_SHARE = 0.02  # memory sizes this close are one size
YEAR_DAYS = 365
MOST_KNOWN = 4096  # prices kept with the money that they were converted by


@dataclass(frozen=True, eq=False)
class PriceUsed:
    """The price taken for one thing: how much, of which kind and condition, how old; None where nobody says."""

    usd: float | None
    condition: str | None = None
    kind: str | None = None  # list | street | stated
    as_of: str | None = None
    warnings: tuple[Reason, ...] = ()
    source: str | None = None


@lru_cache(maxsize=4096)
def first_day(text: str) -> date:
    """The first day of `2026`, `2026-09` or `2026-09-11`."""
    parts = [int(part) for part in text.split("-")[:3]]
    year, month, day = (*parts, 1, 1)[:3]
    return date(year, month, day)


def _newest(rows: Iterable[Price]) -> Price | None:
    """The newest row; of several of one date a verified one, and of those the first."""
    return max(rows, key=lambda row: (first_day(row.date), not row.unverified), default=None)


def _of_size(thing: Device | Host, memory_bytes: float | None) -> list[Price]:
    """The rows for one memory size; a row without a size is for the only size, or else for the smallest."""
    sizes = thing.memory_options_bytes if isinstance(thing, Device) else ()
    if memory_bytes is None or not sizes:
        return list(thing.prices)
    smallest = abs(sizes[0] - memory_bytes) <= SAME_SIZE_SHARE * memory_bytes
    return [
        row
        for row in thing.prices
        if (smallest if row.memory_bytes is None else abs(row.memory_bytes - memory_bytes) <= SAME_SIZE_SHARE * memory_bytes)
    ]


def _usd(row: Price, money: Money) -> float | None:
    """The row's midpoint in dollars."""
    if row.currency == "USD":
        return row.middle
    rate = money.rate(row.currency)
    return None if rate is None else row.middle * rate.usd


def _street(rows: list[Price], sold_new: bool, new_only: bool, money: Money) -> Price | None:
    """The newest street row of each condition asked, the cheaper one; none that is a year older than the other."""
    street = [row for row in rows if row.kind == "street" and (row.condition != "new" or sold_new) and _usd(row, money) is not None]
    new = _newest(row for row in street if row.condition == "new")
    if new_only:
        return new
    used = _newest(row for row in street if row.condition != "new")
    if new is None or used is None:
        return new or used
    apart = (first_day(new.date) - first_day(used.date)).days
    if abs(apart) > YEAR_DAYS:
        return new if apart > 0 else used
    return min(used, new, key=lambda row: _usd(row, money) or 0.0)


def _listed(rows: list[Price], sold_new: bool) -> Price | None:
    """The newest list price of what is still sold new."""
    return _newest(row for row in rows if row.kind == "list" and row.condition == "new") if sold_new else None


def _outdated(row: Price, money: Money, today: date) -> bool:
    """Whether it is a list price that nobody checked, and too old to decide a purchase: the market has moved since."""
    unchecked = row.kind == "list" and row.unverified
    return unchecked and (today - first_day(row.date)).days > money.choice("unchecked-list-days")


def _middle(values: list[float]) -> float:
    """The median; statistics.median costs every start the import of decimal and fractions."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _spike(row: Price, rows: list[Price], name: str, money: Money) -> Reason | None:
    """A warning where the price stands far above its own earlier ones of that condition."""
    earlier = [
        _usd(other, money) or 0.0
        for other in rows
        if other.condition == row.condition and first_day(other.date) < first_day(row.date) and _usd(other, money) is not None
    ]
    usd = _usd(row, money)
    if not earlier or usd is None or usd <= money.choice("spike-factor") * _middle(earlier):
        return None
    usual = _middle(earlier)
    return Reason("price.spike", {"name": name, "price_usd": usd, "earlier_usd": usual, "above_share": usd / usual - 1})


def _conflict(row: Price, rows: list[Price], name: str, money: Money) -> Reason | None:
    """A warning where another source of that time says something quite different for the same condition."""
    usd, day = _usd(row, money), first_day(row.date)
    near = [
        (_usd(other, money) or 0.0, other)
        for other in rows
        if other is not row
        and (other.kind, other.condition) == (row.kind, row.condition)
        and abs((first_day(other.date) - day).days) <= money.choice("conflict-days")
        and _usd(other, money)
    ]
    if not near or not usd:
        return None
    apart, (other_usd, other) = max(((max(usd, each) / min(usd, each), (each, row_)) for each, row_ in near), key=lambda pair: pair[0])
    if apart <= money.choice("conflict-factor"):
        return None
    facts: dict[str, Fact] = {"name": name, "price_usd": usd, "date": row.date, "apart_factor": apart}
    facts |= {"other_usd": other_usd, "other_date": other.date}
    return Reason("price.conflict", facts, (row.source, other.source))


def _warnings(row: Price, rows: list[Price], name: str, money: Money, today: date) -> tuple[Reason, ...]:
    """What the buyer must know of this price: only listed, old, unverified, a spike."""
    days = (today - first_day(row.date)).days
    found = [
        Reason("price.list-only", {"name": name, "price_usd": _usd(row, money), "date": row.date}) if row.kind == "list" else None,
        Reason("price.old", {"name": name, "age_days": days, "date": row.date}) if days > money.choice("old-price-days") else None,
        Reason("price.unverified", {"name": name, "price_usd": _usd(row, money)}) if row.unverified else None,
        _spike(row, rows, name, money),
        _conflict(row, rows, name, money),
    ]
    return tuple(reason for reason in found if reason)


def _price_of(thing: Device | Host, memory_bytes: float | None, new_only: bool, money: Money, today: date) -> PriceUsed:
    rows = _of_size(thing, memory_bytes)
    sold_new = not isinstance(thing, Device) or thing.availability == "on-sale"
    if isinstance(thing, Device) and thing.availability == "announced":
        return PriceUsed(None, warnings=(Reason("price.not-yet-sold", {"name": thing.name}),))
    row = _street(rows, sold_new, new_only, money) or _listed(rows, sold_new)
    if row is None:
        return PriceUsed(None, warnings=(Reason("price.unknown", {"name": thing.name}),))
    if _outdated(row, money, today):
        facts: dict[str, Fact] = {"name": thing.name, "price_usd": _usd(row, money), "date": row.date, "device": thing.id}
        return PriceUsed(None, warnings=(Reason("price.outdated", facts, (row.source,)),))
    return PriceUsed(_usd(row, money), row.condition, row.kind, row.date, _warnings(row, rows, thing.name, money, today), row.source)


def price_of(
    thing: Device | Host,
    memory_bytes: float | None = None,
    *,
    money: Money,
    new_only: bool = False,
    overrides: Mapping[str, float] | None = None,
    today: date | None = None,
) -> PriceUsed:
    """The price used: stated by the user, else the newest street row of the asked condition, else the list price unless nobody checked it
    and it is old."""
    if overrides and thing.id in overrides:
        return PriceUsed(overrides[thing.id], kind="stated")
    known: dict[tuple[object, ...], PriceUsed] = money.known_prices  # asked for several times an answer
    day = today or date.today()
    key = thing, memory_bytes, new_only, day
    found = known.get(key)
    if found is None:
        if len(known) >= MOST_KNOWN:
            known.clear()
        found = known[key] = _price_of(thing, memory_bytes, new_only, money, day)
    return found


def resale_of(device: Device, memory_bytes: float, overrides: Mapping[str, float] | None = None) -> float | None:
    """What an owned one would bring: the lower end of its newest used street row."""
    if overrides and device.id in overrides:
        return overrides[device.id]
    used = (row for row in _of_size(device, memory_bytes) if row.kind == "street" and row.condition != "new" and row.currency == "USD")
    row = _newest(used)
    return None if row is None else row.low
