"""Systems worth trying, as offers: words, kind, least price, and what a cheap bound on speed needs; not yet bound or estimated."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from advisor.advice.desk import Desk
from advisor.device import Device
from advisor.host import Host
from advisor.link import Link
from advisor.record import dataclass, replace
from advisor.system import System
from advisor.units import GIB

CARD_COUNTS = (3, 4, 6, 8)
MOST_CARDS = 8
MOST_KEPT = 8  # ranges of offers kept with a catalog
BOX_COUNTS = (2, 3, 4)
SMALLEST_CARD_BYTES = 8 * GIB
SPILLING_CARD_BYTES = 16 * GIB  # least memory of a card beside which a computer with much memory is weighed
MORE_RAM_FACTOR = 2  # much memory: more than this many times the usual computer's

Owned = tuple[Device, float, int]  # a device, its memory in bytes, how many


@dataclass(frozen=True, eq=False)
class Offer:
    """One way to spend money: SYSTEM words, where the cards go, what its devices and host cost at least, what it is made of."""

    kind: str
    words: str
    host: Host | None
    least_usd: float | None  # None: one of the prices is unknown
    bought: tuple[tuple[str, int], ...]  # ids of the devices to buy, how many of each
    count: int
    memory_bytes: float
    bandwidth_bytes_per_s: float
    ram_bytes: float = 0.0  # host memory that weights may spill into
    ram_bytes_per_s: float = 1.0
    mixed: bool = False  # of unlike devices
    same_again: bool = False  # of what is owned, and nothing else


def is_sold(device: Device) -> bool:
    """Whether one can buy it, new or used, on its own."""
    return device.availability != "announced" and device.kind in ("gpu", "mac", "apu-box", "module")


def goes_in_slot(device: Device) -> bool:
    """Whether it is a card for a PCIe slot (an SXM module is not)."""
    return device.kind == "gpu" and device.mount == "slot" and device.pcie_lanes is not None


def owned_cards(have: System | None) -> list[Owned]:
    """What is owned, counted by device and size."""
    counts: dict[tuple[str, float], Owned] = {}
    for group in have.groups if have else ():
        key = group.device.id, group.memory_bytes
        counts[key] = group.device, group.memory_bytes, group.count + (counts[key][2] if key in counts else 0)
    return list(counts.values())


def name_of(device: Device, memory_bytes: float) -> str:
    """The SYSTEM words of one device."""
    return f"{device.id} {memory_bytes / GIB:g}gb" if len(device.memory_options_bytes) > 1 else device.id


def times(count: int, name: str) -> str:
    """The SYSTEM words of several."""
    return f"{count}x {name}" if count > 1 else name


def bridge_of(device: Device, desk: Desk) -> Link | None:
    """The NVLink bridge that joins two of them, if there is one."""
    links = (desk.catalog.link(link) for link in device.links)
    return next((link for link in links if link.kind == "nvlink" and link.parts), None)


def card_kind(count: int, bridged: bool) -> str:
    """The verdict kind of cards in one host."""
    return "one-bigger-gpu" if count == 1 else "multi-gpu-server" if count > 2 else "nvlink-pair" if bridged else "second-gpu"


def network_kind(link: Link) -> str:
    """The verdict kind of boxes joined by that link."""
    return "rdma-cluster" if link.transport == "rdma" else "network-cluster"


class Shelf:
    """Makes offers: hosts and their prices are looked up once."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.supplies = desk.terms.money.parts_of("power-supply")
        self.owned = owned_cards(desk.have)
        self.owned_ids = {device.id for device, *_ in self.owned}
        self.hosts = self._hosts()
        self._chosen: dict[tuple[int, float], tuple[float, Host | None]] = {}

    def _hosts(self) -> tuple[tuple[float, Host], ...]:
        """Hosts on sale with their prices, cheapest first; none with slots too narrow for more than mining."""
        least = self.desk.catalog.hints.least_lanes.lanes
        wide = (host for host in self.desk.catalog.hosts.values() if min(slot.lanes_shared or slot.lanes for slot in host.slots) >= least)
        priced = ((self.desk.terms.price(host).usd, host) for host in wide if host.max_cards)
        return tuple(sorted(((usd, host) for usd, host in priced if usd is not None), key=lambda pair: pair[0]))

    def supply_usd(self, host: Host, watts: float) -> float:
        """What the stronger power supply costs that `watts` of cards need in this host; 0 where its own suffices."""
        needed = host.base_power_w + watts
        if needed <= (self.desk.need.psu_w or host.power_supply_w):
            return 0.0
        return next((part.usd for part in self.supplies if (part.watts or 0.0) >= needed), float("inf"))

    def host_for(self, count: int, watts: float) -> tuple[float, Host | None]:
        """(what it costs, the host) for `count` cards: the owned one while they go in, else the cheapest that takes them."""
        key = count, watts
        if key not in self._chosen:
            self._chosen[key] = self._host_for(count, watts)
        return self._chosen[key]

    def _host_for(self, count: int, watts: float) -> tuple[float, Host | None]:
        have = self.desk.have
        owned = have.boxes[0].host if have and goes_in_slot(have.groups[0].device) else None
        for host in (owned, self.desk.host):
            if host and count <= host.max_cards:
                return self.supply_usd(host, watts), host
        fitting = [(usd + self.supply_usd(host, watts), host) for usd, host in self.hosts if host.max_cards >= count]
        return min(fitting, key=lambda pair: pair[0], default=(float("inf"), None))

    def card_offer(self, kind: str, words: str, groups: Sequence[Owned], bought: Sequence[Owned]) -> Offer | None:
        """An offer of cards in one host; None where no host takes them."""
        count = sum(number for *_, number in groups)
        host_usd, host = self.host_for(count, sum((device.power_w or 0.0) * number for device, _, number in groups))
        if host is None:
            return None
        reached = host.memory_reached_bytes_per_s or host.memory_bandwidth_bytes_per_s
        ram = self.desk.need.ram_bytes or host.memory_bytes
        same = bool(self.owned) and {device.id for device, *_ in groups} == self.owned_ids
        usd, ids, mixed = self.least_usd(bought, host_usd), _ids(bought), len(groups) > 1
        return Offer(kind, words, host, usd, ids, count, *_sums(groups), ram, reached, mixed, same)

    def is_bigger(self, device: Device) -> bool:
        """Whether one of it is more than the largest card that is owned: no less memory, and more of it or faster."""
        cards = [card for card, *_ in self.owned if goes_in_slot(card)]
        if not cards:
            return True
        memory = max(card.largest_memory_bytes for card in cards)
        speed = max(card.bandwidth_bytes_per_s for card in cards)
        return device.largest_memory_bytes > memory or (device.largest_memory_bytes == memory and device.bandwidth_bytes_per_s > speed)

    def spilling_offer(self, device: Device, memory_bytes: float) -> Offer | None:
        """One card in a computer with more memory than the usual one: large mixtures keep their experts there."""
        _, usual = self.host_for(1, device.power_w or 0.0)
        roomy = [pair for pair in self.hosts if usual and pair[1].memory_bytes > MORE_RAM_FACTOR * usual.memory_bytes]
        if not roomy:
            return None
        usd, host = roomy[0]
        groups = [(device, memory_bytes, 1)]
        total = self.least_usd(groups, usd + self.supply_usd(host, device.power_w or 0.0))
        reached = host.memory_reached_bytes_per_s or host.memory_bandwidth_bytes_per_s
        return Offer("one-bigger-gpu", device.id, host, total, _ids(groups), 1, *_sums(groups), host.memory_bytes, reached)

    def box_offer(self, kind: str, words: str, device: Device, memory_bytes: float, count: int, owned: int) -> Offer:
        """An offer of whole machines."""
        bought = [(device, memory_bytes, count - owned)]
        return Offer(kind, words, None, self.least_usd(bought, 0.0), _ids(bought), count, *_sums([(device, memory_bytes, count)]))

    def least_usd(self, bought: Sequence[Owned], more_usd: float) -> float | None:
        """What the devices to buy cost, and the host."""
        total = more_usd
        for device, memory_bytes, count in bought:
            usd = self.desk.price(device, memory_bytes).usd if count else 0.0
            if usd is None:
                return None
            total += count * usd
        return total


def _ids(bought: Sequence[Owned]) -> tuple[tuple[str, int], ...]:
    return tuple((device.id, count) for device, _, count in bought)


def dearer(offer: Offer, device: str, more_usd: float) -> Offer:
    """The same offer when each of one device costs more (or less)."""
    count = next((number for name, number in offer.bought if name == device), 0)
    return replace(offer, least_usd=offer.least_usd + count * more_usd) if count and offer.least_usd is not None else offer


def _sums(groups: Sequence[Owned]) -> tuple[float, float]:
    """Memory and memory speed of all of them together."""
    memory = sum(size * count for _, size, count in groups)
    return memory, sum(device.bandwidth_bytes_per_s * device.gpus_on_board * count for device, _, count in groups)


def cards(shelf: Shelf, device: Device, owned: int) -> Iterator[Offer | None]:
    """One to eight of one card, bridged where it can be; `owned` of them are there already."""
    memory = device.largest_memory_bytes
    counts = sorted({count for count in (1, 2, owned + 1, *CARD_COUNTS) if owned < count <= max(MOST_CARDS, owned + 1)})
    for count in counts:
        groups, bought = [(device, memory, count)], [(device, memory, count - owned)]
        if count > 1 or shelf.is_bigger(device):
            yield shelf.card_offer(card_kind(count, False), times(count, device.id), groups, bought)
    if not owned and memory >= SPILLING_CARD_BYTES and shelf.is_bigger(device):
        yield shelf.spilling_offer(device, memory)
    bridge = bridge_of(device, shelf.desk)
    if bridge and owned <= 2:
        words = f"2x {device.id} via {bridge.id}"
        yield shelf.card_offer("nvlink-pair", words, [(device, memory, 2)], [(device, memory, 2 - owned)])


def beside(shelf: Shelf, device: Device, owned: Sequence[Owned]) -> Iterator[Offer | None]:
    """Another card of the same maker beside those that are owned."""
    if any(card.id == device.id or card.maker != device.maker for card, *_ in owned):
        return
    memory = device.largest_memory_bytes
    words = " + ".join([*(times(count, card.id) for card, _, count in owned), device.id])
    kind = card_kind(1 + sum(count for *_, count in owned), False)
    yield shelf.card_offer(kind, words, [*owned, (device, memory, 1)], [(device, memory, 1)])


def machines(shelf: Shelf, device: Device, memory_bytes: float, owned: int) -> Iterator[Offer]:
    """One to four whole machines, over the fastest RDMA and the fastest TCP network that is built in."""
    name = name_of(device, memory_bytes)
    if not owned:
        yield shelf.box_offer("unified-memory-machine", name, device, memory_bytes, 1, 0)
    for link in fastest_networks(device, shelf.desk):
        for count in BOX_COUNTS:
            if owned < count <= (link.max_devices or count):
                words = f"{count}x {name} via {link.id}"
                yield shelf.box_offer(network_kind(link), words, device, memory_bytes, count, owned)


def fastest_networks(device: Device, desk: Desk) -> list[Link]:
    """The fastest built-in RDMA link and the fastest built-in TCP link."""
    links = [desk.catalog.link(link) for link in device.network]
    kinds = ([link for link in links if link.transport == transport] for transport in ("rdma", "tcp"))
    return [max(kind, key=lambda link: link.bandwidth_bytes_per_s) for kind in kinds if kind]


class Range:
    """Offers in the order of their least prices, as a whole and by kind; those of unknown price are only in `every`."""

    def __init__(self, offers: Iterable[Offer]) -> None:
        self.every = tuple(offers)
        self.priced = sorted((offer for offer in self.every if offer.least_usd is not None), key=_least_usd)
        self._of_kind: dict[str, tuple[Offer, ...]] = {}

    def of_kind(self, kind: str) -> tuple[Offer, ...]:
        """The offers that may turn out to be of this kind: copies side by side need no link of their own."""
        if kind not in self._of_kind:
            kinds = ("second-gpu", "network-cluster", "replicas") if kind == "replicas" else (kind,)
            self._of_kind[kind] = tuple(offer for offer in self.every if offer.kind in kinds)
        return self._of_kind[kind]

    def priced_of_kind(self, kind: str | None) -> Sequence[Offer]:
        """Those of them whose price is known, the cheapest first; of all kinds for None."""
        if kind is None:
            return self.priced
        key = f"priced {kind}"
        if key not in self._of_kind:
            self._of_kind[key] = tuple(sorted((o for o in self.of_kind(kind) if o.least_usd is not None), key=_least_usd))
        return self._of_kind[key]


def _least_usd(offer: Offer) -> float:
    return offer.least_usd or 0.0


def all_offers(desk: Desk) -> Range:
    """Every system worth trying: a fixed number for each device of the catalog that one can and should buy.

    Kept with the catalog for the next question on the same terms.
    """
    kept: dict[tuple[object, ...], Range] = desk.catalog.__dict__.setdefault("_offers", {})
    key = _terms_key(desk)
    if key not in kept:
        if len(kept) >= MOST_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = Range(_offers(desk))
    return kept[key]


def _terms_key(desk: Desk) -> tuple[object, ...]:
    """What offers depend on: what is owned, how one buys, and the day."""
    need, terms = desk.need, desk.terms
    owned = desk.key(desk.have) if desk.have else None
    return owned, need.new_only, need.prices_usd, need.host, need.ram_bytes, need.psu_w, terms.today or date.today()


def _offers(desk: Desk) -> Iterator[Offer]:
    shelf, hints = Shelf(desk), desk.catalog.hints
    owned = owned_cards(desk.have)
    counts = {(device.id, memory): count for device, memory, count in owned}
    in_slots = owned if all(goes_in_slot(device) for device, *_ in owned) else []
    for device in desk.catalog.devices.values():
        mine = any(device.id == card.id for card, *_ in owned)
        if not is_sold(device) or (hints.is_retired(device.maker, device.architecture) and not mine):
            continue
        found: list[Offer | None] = []
        if goes_in_slot(device) and device.largest_memory_bytes >= SMALLEST_CARD_BYTES:
            found += cards(shelf, device, counts.get((device.id, device.largest_memory_bytes), 0) if len(owned) == 1 else 0)
            found += beside(shelf, device, in_slots) if in_slots else ()
        elif device.is_box:
            for memory_bytes in device.memory_options_bytes:
                found += machines(shelf, device, memory_bytes, counts.get((device.id, memory_bytes), 0))
        yield from (offer for offer in found if offer)
