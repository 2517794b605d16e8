"""Money: what a system costs to buy and to run."""

from collections.abc import Iterable
from datetime import date
from math import ceil

from advisor.billed import CostLine, link_lines, unpriced_parts
from advisor.device import Device, lanes_needed
from advisor.host import Host
from advisor.memorykit import added
from advisor.money import Money, Part
from advisor.prices import PriceUsed, first_day, price_of, resale_of
from advisor.reason import Fact, Reason
from advisor.record import dataclass, replace
from advisor.supply import given_w, needed_w, supply_for, tight
from advisor.system import Box, Group, System
from advisor.units import GIB, HOUR_S, KILO, MEGA, YEAR_S


@dataclass(frozen=True, eq=False)
class Cost:
    """What a system costs: the whole of it, the part that must be bought, its power, and its tokens over three years."""

    price_usd: float | None
    price_as_of: str | None
    spend_usd: float | None
    resale_usd: float | None
    power_w: float | None
    usd_per_million_tokens: float | None
    lines: tuple[CostLine, ...] = ()
    upgrades: tuple[Reason, ...] = ()  # host parts that must be bought beside it, and why
    warnings: tuple[Reason, ...] = ()
    rental_usd_per_hour: float | None = None
    rental_even_hours_per_day: float | None = None

    @property
    def bought(self) -> tuple[CostLine, ...]:
        """The lines that are paid; all of them where everything is owned."""
        return tuple(line for line in self.lines if not line.owned) or self.lines


def thing_name(device: Device, memory_bytes: float) -> str:
    """What a device is called, with its memory where it is sold with several sizes."""
    return f"{device.name} {memory_bytes / GIB:g} GB" if len(device.memory_options_bytes) > 1 else device.name


def _device_lines(system: System, have: System | None, terms: "Terms") -> list[CostLine]:
    """The devices of the system, those that are owned apart from those to buy."""
    left: dict[tuple[str, float], int] = {}
    for group in have.groups if have else ():
        left[group.device.id, group.memory_bytes] = left.get((group.device.id, group.memory_bytes), 0) + group.count
    lines = []
    for device, memory_bytes, count in _counted(system.groups):
        owned = min(count, left.get((device.id, memory_bytes), 0))
        price, name = terms.price(device, memory_bytes), thing_name(device, memory_bytes)
        if owned:
            lines.append(CostLine(device.id, name, owned, price.usd, True, price.as_of, price.condition))
        if count > owned:
            lines.append(CostLine(device.id, name, count - owned, price.usd, False, price.as_of, price.condition))
    return lines


def _counted(groups: Iterable[Group]) -> list[tuple[Device, float, int]]:
    """Equal devices counted together, in order."""
    counts: dict[tuple[str, float], tuple[Device, float, int]] = {}
    for group in groups:
        key = group.device.id, group.memory_bytes
        counts[key] = group.device, group.memory_bytes, counts[key][2] + group.count if key in counts else group.count
    return list(counts.values())


@dataclass(frozen=True, eq=False)
class Terms:
    """On what terms one buys: the prices, their conditions, and the running cost. One for each recommendation."""

    money: Money
    new_only: bool = False
    overrides: tuple[tuple[str, float], ...] = ()
    electricity_usd_per_kwh: float | None = None
    hours_per_day: float = 8.0
    today: date | None = None
    owned_supply_w: float | None = None  # what the power supply of the owned computer gives, where stated
    owned_host: str | None = None  # id of a computer that is owned without cards
    owned_ram_bytes: float | None = None  # the memory of the owned computer, where stated
    supply_w: float | None = None  # the same of whatever computer is around the cards
    memory_reached_share: float = 1.0  # of the nominal rate of a computer's memory

    def price(self, thing: Device | Host, memory_bytes: float | None = None) -> PriceUsed:
        """The price of one thing on these terms."""
        return price_of(thing, memory_bytes, money=self.money, new_only=self.new_only, overrides=dict(self.overrides), today=self.today)

    def stated_supply_w(self, owned: bool) -> float | None:
        """What the supply of a computer gives, where the buyer says so."""
        return (self.owned_supply_w if owned else None) or self.supply_w

    @property
    def usd_per_kwh(self) -> float:
        """The electricity price stated, or the catalog's first."""
        stated = self.electricity_usd_per_kwh
        return self.money.electricity[0].usd_per_kwh if stated is None else stated

    def running_usd(self, watts: float, hours: float = 1.0) -> float:
        """What the electricity of so many watts costs in so many hours."""
        return watts / KILO * hours * self.usd_per_kwh


def power_w(system: System) -> float | None:
    """Watts at work: every device at its limit, and each host around cards; None where a device's is unknown."""
    watts = 0.0
    for box in system.boxes:
        for group in box.groups:
            if group.device.power_w is None:
                return None
            watts += group.count * group.device.power_w
        if box.host and not box.groups[0].device.is_box:
            watts += box.host.base_power_w
    return watts


def host_lines(box: Box, owned: bool, terms: Terms) -> tuple[list[CostLine], list[Reason]]:
    """The host of a box of cards, and the stronger power supply that it needs for them."""
    host = box.host
    if host is None or box.groups[0].device.is_box:
        return [], []
    price = terms.price(host)
    lines = [CostLine(host.id, host.name, 1, price.usd, owned, price.as_of, price.condition), *_docks(box, host, terms.money)]
    watts, given = needed_w(box), given_w(box, terms.stated_supply_w(owned))
    if watts <= given:
        return lines, []
    facts: dict[str, Fact] = {"need_w": watts, "have_w": given, "host": host.name}
    supply = supply_for(watts, terms.money)
    if supply is None:  # several of the strongest, so that more cards never cost less
        strongest = max(terms.money.parts_of("power-supply"), key=lambda part: part.watts or 0.0)
        lines.append(CostLine(strongest.id, strongest.name, ceil(watts / (strongest.watts or watts)), strongest.usd, False, strongest.date))
        return lines, [Reason("host.power-beyond", facts)]
    lines.append(CostLine(supply.id, supply.name, 1, supply.usd, False, supply.date))
    return lines, [Reason("host.power", {**facts, "part": supply.name, "price_usd": supply.usd})]


def dock_of(host: Host, money: Money) -> Part | None:
    """The box that each card needs to be joined to that computer; None where cards go into slots."""
    return next((part for part in money.parts if part.id == host.dock), None) if host.dock else None


def _docks(box: Box, host: Host, money: Money) -> list[CostLine]:
    """The boxes of the cards of a computer without slots."""
    dock, cards = dock_of(host, money), sum(group.count for group in box.groups if group.device.mount == "slot")
    return [CostLine(dock.id, dock.name, cards, dock.usd, False, dock.date)] if dock and cards else []


def _new_host(box: Box, have: System, terms: Terms) -> list[Reason]:
    """That the owned computer does not take the cards, or gives them less; and what the other one costs."""
    mine = have.boxes[0].host
    if mine is None or box.host is None or have.groups[0].device.is_box or box.groups[0].device.is_box:
        return []
    facts: dict[str, Fact] = {"host": box.host.name, "price_usd": terms.price(box.host).usd}
    cards = sum(group.count for group in box.groups)  # boards: one may carry several GPUs
    if cards > mine.max_cards:
        return [Reason("host.new", {**facts, "cards": cards, "most_cards": mine.max_cards})]
    needs = lanes_needed((group.device, group.count) for group in box.groups)
    if not mine.takes(cards, needs):
        return [Reason("host.lanes", {**facts, "lanes": needs[0], "own": mine.name})]
    share = terms.memory_reached_share
    rates = {"reached_bytes_per_s": box.host.reached_bytes_per_s(share), "owned_bytes_per_s": mine.reached_bytes_per_s(share)}
    sizes = {"ram_bytes": box.host.memory_bytes, "owned_bytes": have.ram_bytes or mine.memory_bytes}
    return [Reason("host.roomier", {**facts, **sizes, **rates})]


def _total(lines: Iterable[CostLine]) -> float | None:
    """The sum of the lines; None where one price is unknown."""
    total = 0.0
    for line in lines:
        if line.usd is None:
            return None
        total += line.count * line.usd
    return total


def usd_per_million_tokens(spend_usd: float | None, watts: float | None, tokens_per_s: float | None, terms: Terms) -> float | None:
    """Dollars for a million generated tokens over three years of daily hours: what is paid once, and the electricity."""
    if spend_usd is None or watts is None or not tokens_per_s or terms.hours_per_day <= 0:
        return None
    hours = terms.money.choice("years-of-use") * YEAR_S / HOUR_S * terms.hours_per_day / 24
    return (spend_usd + terms.running_usd(watts, hours)) / (tokens_per_s * hours * HOUR_S / MEGA)


def rental_usd_per_hour(system: System, money: Money) -> float | None:
    """Renting the same devices by the hour; None where one of them has no rental price."""
    total = 0.0
    for group in system.groups:
        rental = next((each for each in money.rentals if each.device == group.device.id), None)
        if rental is None:
            return None
        total += group.count * rental.usd_per_hour
    return total


def _rental_even(spend_usd: float | None, watts: float | None, rental: float | None, terms: Terms) -> float | None:
    """Hours a day, over three years, from which buying is cheaper than renting the same."""
    if not spend_usd or rental is None or watts is None:
        return None
    saved_per_hour = rental - terms.running_usd(watts)
    return spend_usd / (terms.money.choice("years-of-use") * YEAR_S / HOUR_S / 24 * saved_per_hour) if saved_per_hour > 0 else None


def resale(have: System | None, system: System, terms: Terms) -> float | None:
    """What the owned devices that the system leaves out would bring."""
    if have is None:
        return None
    kept = {(device.id, memory): count for device, memory, count in _counted(system.groups)}
    total = 0.0
    for device, memory_bytes, count in _counted(have.groups):
        each = resale_of(device, memory_bytes, dict(terms.overrides))
        idle = max(0, count - kept.get((device.id, memory_bytes), 0))
        if idle and each is None:
            return None
        total += idle * (each or 0.0)
    return total


def _bill(system: System, have: System | None, terms: Terms) -> tuple[list[CostLine], list[Reason], list[Reason]]:
    """Every line of the bill, the upgrades of hosts in it, and where a supply has little to spare."""
    overrides = dict(terms.overrides)
    lines = _device_lines(system, have, terms)
    upgrades, strained = list[Reason](), list[Reason]()
    hosts_owned = [box.host.id for box in have.boxes if box.host] if have else [terms.owned_host]
    for box in system.boxes:
        owned = box.host is not None and box.host.id in hosts_owned
        if owned and box.host:
            hosts_owned.remove(box.host.id)
        more, needed = host_lines(box, owned, terms)
        strained += filter(None, (tight(box, terms.stated_supply_w(owned), terms.money),))
        upgrades += _new_host(box, have, terms) if have and not owned else ()
        has_link = have is not None and any(box.link == other.link and other.count >= box.count for other in have.boxes)
        if owned and box.host and not box.groups[0].device.is_box:
            kits, why = added(box.host, system.ram_bytes, terms.owned_ram_bytes or box.host.memory_bytes, terms.money)
            more, needed = [*more, *kits], [*needed, *why]
        lines += more + link_lines(box.link, box.count, box.count, has_link, overrides)
        upgrades += needed
    joined = have is not None and have.link == system.link and len(have.boxes) >= len(system.boxes)
    return lines + link_lines(system.link, len(system.boxes), system.count, joined, overrides, system.boxes), upgrades, strained


def bill(system: System, have: System | None, terms: Terms) -> Cost:
    """What a system costs to buy; `cost` adds what its tokens cost."""
    lines, upgrades, strained = _bill(system, have, terms)
    bought = [line for line in lines if not line.owned]
    dates = sorted((line.as_of for line in bought or lines if line.as_of), key=first_day)
    spend, watts = _total(bought), power_w(system)
    rental = rental_usd_per_hour(system, terms.money)
    return Cost(
        price_usd=_total(lines),
        price_as_of=dates[0] if dates else None,
        spend_usd=spend,
        resale_usd=resale(have, system, terms),
        power_w=watts,
        usd_per_million_tokens=None,
        lines=tuple(lines),
        upgrades=tuple(upgrades),
        warnings=(*_mind(system, bought, terms), *strained),
        rental_usd_per_hour=rental,
        rental_even_hours_per_day=_rental_even(spend, watts, rental, terms),
    )


def price_dates(lines: Iterable[CostLine]) -> str:
    """From when to when the prices of these lines are: `2026-08 to 2026-09`; `2026` where the first is of some day of that year."""
    days = {first_day(written): written for written in sorted({line.as_of for line in lines if line.as_of})}  # the more exact of one day
    if not days:
        return ""
    first, last = days[min(days)], days[max(days)]
    return first if last.startswith(first) else f"{first} to {last}"


def _mind(system: System, bought: list[CostLine], terms: Terms) -> tuple[Reason, ...]:
    """What the buyer must know of the prices of devices and computers that are bought."""
    ids = {line.what for line in bought}
    devices = [terms.price(device, size).warnings for device, size, _ in _counted(system.groups) if device.id in ids]
    overrides = dict(terms.overrides)
    ends = [(system.link, len(system.boxes), system.count), *((box.link, box.count, box.count) for box in system.boxes)]
    parts = [reason for link, joined, count in ends for reason in unpriced_parts(link, joined, count, overrides)]
    hosts = {box.host.id: box.host for box in system.boxes if box.host and box.host.id in ids}
    return tuple(reason for found in (*devices, *(terms.price(host).warnings for host in hosts.values()), parts) for reason in found)


def with_tokens(cost: Cost, tokens_per_s: float | None, terms: Terms) -> Cost:
    """The same bill with what a million tokens cost at that sustained speed."""
    return replace(cost, usd_per_million_tokens=usd_per_million_tokens(cost.spend_usd, cost.power_w, tokens_per_s, terms))


def cost(system: System, terms: Terms, *, have: System | None = None, tokens_per_s: float | None = None) -> Cost:
    """What a system costs to buy beside what is owned, and what its tokens cost at `tokens_per_s` of sustained speed."""
    return with_tokens(bill(system, have, terms), tokens_per_s, terms)
