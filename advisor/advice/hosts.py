"""The computers around cards: the one that is owned, the cheapest that takes them, and those that have more to give."""

from collections.abc import Iterator, Sequence

from advisor.advice.desk import Desk
from advisor.around import host_bytes_per_s
from advisor.device import Device, lanes_needed
from advisor.host import Host
from advisor.market import dock_of
from advisor.memorykit import kit, sizes
from advisor.supply import supply_for
from advisor.system import System
from advisor.ways import tables_of

Cards = tuple[int, float, tuple[int, ...]]  # how many, the watts that they draw, and the lanes of slots that they split
Priced = tuple[float, Host, float]  # what it costs with the power supply that the cards need, the computer, and its bytes of memory


def _lanes(host: Host, cards: int) -> float:
    """How wide the narrowest of the first slots is, in lanes of the first PCIe generation."""
    return min(((slot.lanes_shared or slot.lanes) * 2.0**slot.generation for slot in host.slots[:cards]), default=0.0)


class Hosts:
    """Prices and choices of computers on one buyer's terms, each looked up once."""

    def __init__(self, desk: Desk) -> None:
        need, terms = desk.need, desk.terms
        self.own = desk.own_host
        self.more_factor = desk.choice("roomier-factor")  # of the memory's speed, or of the slots' lanes
        self.owned = self.own is not None and (desk.have is not None or need.host_owned)  # paid already
        self.only_own = self.own is not None and not self.owned  # `--host` without cards: no other is wanted
        self.own_ram_bytes, self.own_supply_w = need.ram_bytes, need.psu_w
        self.money = terms.money
        self._supplies: dict[float, float] = {}
        least = desk.catalog.hints.least_lanes.lanes  # slots of fewer lanes are good for mining only
        slotted = (host for host in desk.catalog.hosts.values() if host.max_cards and host.mount == "slot")
        wide = [host for host in slotted if min(slot.lanes_shared or slot.lanes for slot in host.slots) >= least]
        priced = ((terms.price(host).usd, host) for host in wide)
        self.sold = sorted(((usd, host) for usd, host in priced if usd is not None), key=lambda pair: pair[0])
        self._own_usd = 0.0 if self.owned or self.own is None else terms.price(self.own).usd
        self._rates = tables_of(desk.catalog).hosts
        self._chosen: dict[Cards, tuple[float | None, Host | None]] = {}
        self._roomier: dict[tuple[str, Cards], tuple[Priced, ...]] = {}

    def ram_bytes(self, host: Host) -> float:
        """Memory of a computer: as stated of the own one, else its record's."""
        return self.own_ram_bytes if self.own_ram_bytes is not None and host is self.own else host.memory_bytes

    def bytes_per_s(self, host: Host) -> float:
        """What engines reach of its memory."""
        return host_bytes_per_s(host, self._rates)

    def supply_usd(self, host: Host, watts: float) -> float:
        """What the stronger power supply costs that `watts` of cards need there; 0 where its own suffices."""
        needed = host.base_power_w + watts
        given = (self.own_supply_w if host is self.own else None) or host.power_supply_w
        if needed <= given:
            return 0.0
        if needed not in self._supplies:
            part = supply_for(needed, self.money)
            self._supplies[needed] = part.usd if part else float("inf")
        return self._supplies[needed]

    def usual_usd(self, watts: float) -> float:
        """What the computer that is assumed around owned cards costs, with the power supply that `watts` of cards need there."""
        return next((usd + self.supply_usd(host, watts) for usd, host in self.sold if host.owned_default), 0.0)

    def for_cards(self, cards: int, watts: float, lanes: tuple[int, ...] = ()) -> tuple[float | None, Host | None]:
        """(what it costs, the computer): the own one while the cards go in, else the cheapest that takes them."""
        key = cards, watts, lanes
        if key not in self._chosen:
            self._chosen[key] = self._for_cards(*key)
        return self._chosen[key]

    def _for_cards(self, cards: int, watts: float, lanes: tuple[int, ...]) -> tuple[float | None, Host | None]:
        own = self.own
        if own and own.takes(cards, lanes):
            dock = dock_of(own, self.money)
            docks_usd = cards * dock.usd if dock else 0.0
            return None if self._own_usd is None else self._own_usd + self.supply_usd(own, watts) + docks_usd, own
        fitting = [(usd + self.supply_usd(host, watts), host) for usd, host in self.sold if host.takes(cards, lanes)]
        return min(fitting, key=lambda pair: pair[0], default=(float("inf"), None))

    def roomier(self, host: Host, cards: int, watts: float, lanes: tuple[int, ...] = ()) -> tuple[Priced, ...]:
        """Computers that give the cards more of something than `host`, cheapest first, none of which a cheaper one equals.

        One with less of another thing may do as well: whether what is left is enough, estimates tell.
        """
        key = host.id, (cards, watts, lanes)
        if key not in self._roomier:
            self._roomier[key] = () if self.only_own else tuple(self._better(host, key[1]))
        return self._roomier[key]

    def _better(self, host: Host, load: Cards) -> list[Priced]:
        cards, watts, lanes = load
        floor = self._gives(host, cards, self.ram_bytes(host))
        kept: list[Priced] = []
        taking = ((usd, other) for usd, other in self.sold if other is not host and other.takes(cards, lanes))
        fitting = [(usd + self.supply_usd(other, watts), other, self.ram_bytes(other)) for usd, other in taking]
        fitting += self._enlarged(host, load)
        for usd, other, ram_bytes in sorted(fitting, key=lambda priced: priced[0]):
            gives = self._gives(other, cards, ram_bytes)
            if self._is_more(gives, floor) and not any(_at_least(self._gives(each, cards, ram), gives) for _, each, ram in kept):
                kept.append((usd, other, ram_bytes))
        return kept

    def _is_more(self, gives: tuple[float, float, float], floor: tuple[float, float, float]) -> bool:
        """Whether it gives more of something: of memory any more, since a model goes in or does not."""
        return gives[0] > floor[0] or any(new >= self.more_factor * old for new, old in zip(gives[1:], floor[1:], strict=True))

    def _gives(self, host: Host, cards: int, ram_bytes: float) -> tuple[float, float, float]:
        """Memory, its speed, and the lanes between several cards."""
        return float(ram_bytes), self.bytes_per_s(host), _lanes(host, cards) if cards > 1 else 1.0

    def _enlarged(self, host: Host, load: Cards) -> Iterator[Priced]:
        """The owned computer with more memory in it."""
        usd, _ = self.for_cards(*load)
        if not self.owned or host is not self.own or usd is None:
            return
        for ram_bytes in sizes(host, self.ram_bytes(host)):
            line = kit(host, ram_bytes, self.money)
            if line is not None and line.usd is not None:
                yield usd + line.count * line.usd, host, ram_bytes


def load_of(groups: Sequence[tuple[Device, float, int]]) -> Cards:
    """What a computer must take to carry these cards: how many, their watts, and the slots that some of them split."""
    watts = sum((device.power_w or 0.0) * number for device, _, number in groups)
    return sum(number for *_, number in groups), watts, lanes_needed((device, number) for device, _, number in groups)


def _at_least(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(a >= b for a, b in zip(one, other, strict=True))


def takes(have: System | None) -> bool:
    """Whether what is owned are cards that another computer would take."""
    cards = [group.device for group in have.groups] if have and len(have.boxes) == 1 else []
    return bool(cards) and all(device.kind == "gpu" and device.mount == "slot" for device in cards)
