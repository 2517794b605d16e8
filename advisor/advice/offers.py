"""Systems worth trying, as offers: words, kind, least price, and what a cheap bound on speed needs; not yet bound or estimated."""

from collections.abc import Iterator, Sequence
from datetime import date

from advisor.advice.alike import Classes
from advisor.advice.desk import Desk
from advisor.advice.hosts import Hosts, load_of, takes
from advisor.advice.ranges import Range
from advisor.device import Device
from advisor.host import Host
from advisor.link import Link
from advisor.record import dataclass
from advisor.system import System
from advisor.units import GIB

CARD_COUNTS = (3, 4, 6, 8)
MOST_CARDS = 8
MOST_KEPT = 3  # ranges of offers kept with a catalog
BOX_COUNTS = (2, 3, 4)

Owned = tuple[Device, float, int]  # a device, its memory in bytes, how many


@dataclass(frozen=True, eq=False)
class Offer:
    """One way to spend money: SYSTEM words, where the cards go, what its devices and host cost at least, what it is made of."""

    kind: str
    words: str
    host: Host | None
    least_usd: float | None  # None: one of the prices is unknown
    bought: tuple[tuple[str, int], ...]  # ids of the devices to buy, how many of each
    groups: tuple[Owned, ...]  # all of its devices
    count: int  # of them, as they compute: some boards carry several
    memory_bytes: float
    bandwidth_bytes_per_s: float
    boxes: int = 1
    ram_bytes: float = 0.0  # host memory that weights may spill into
    ram_bytes_per_s: float = 1.0
    key: str = ""  # the same for the same devices in the same computer, whatever they cost
    alike: str = ""  # the same for devices that differ in bandwidth and price alone
    more_ram_bytes: float | None = None  # all that its owned computer then has, where memory is bought for it


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
    """The NVLink bridge that joins two of them, if there is one whose price is known."""
    links = (desk.catalog.link(link) for link in device.links)
    return next((link for link in links if link.kind == "nvlink" and any(part.usd for part in link.parts)), None)


def card_kind(count: int, bridged: bool) -> str:
    """The verdict kind of cards in one host."""
    return "one-bigger-gpu" if count == 1 else "multi-gpu-server" if count > 2 else "nvlink-pair" if bridged else "second-gpu"


def network_kind(link: Link) -> str:
    """The verdict kind of boxes joined by that link."""
    return "rdma-cluster" if link.transport == "rdma" else "network-cluster"


class Shelf:
    """Makes offers: computers and their prices are looked up once."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.owned = owned_cards(desk.have)
        self.hosts = Hosts(desk)
        self.classes = Classes(desk.measured)

    def card_offer(self, kind: str, words: str, groups: Sequence[Owned], bought: Sequence[Owned]) -> Offer | None:
        """An offer of cards in one host; None where no host takes them."""
        host_usd, host = self.hosts.for_cards(*load_of(groups))
        if host is None:
            return None
        usd = None if host_usd is None else self.least_usd(bought, host_usd)
        ram = self.hosts.ram_bytes(host)
        sums = _sums(groups)
        named = f"{words} {sums[1]:.0f} {host.id}", self.classes.of(kind, groups, bought)
        return Offer(kind, words, host, usd, _ids(bought), tuple(groups), *sums, 1, ram, self.hosts.bytes_per_s(host), *named)

    def is_bigger(self, device: Device) -> bool:
        """Whether one of it is more than the largest card that is owned: no less memory, and more of it or faster."""
        cards = [card for card, *_ in self.owned if goes_in_slot(card)]
        if not cards:
            return True
        memory = max(card.largest_memory_bytes for card in cards)
        speed = max(card.bandwidth_bytes_per_s for card in cards)
        return device.largest_memory_bytes > memory or (device.largest_memory_bytes == memory and device.bandwidth_bytes_per_s > speed)

    def box_offer(self, kind: str, words: str, device: Device, memory_bytes: float, count: int, owned: int) -> Offer:
        """An offer of whole machines."""
        bought = [(device, memory_bytes, count - owned)]
        groups = ((device, memory_bytes, count),)
        alike = self.classes.of(kind, groups, bought)
        return Offer(kind, words, None, self.least_usd(bought, 0.0), _ids(bought), groups, *_sums(groups), count, key=words, alike=alike)

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


def _sums(groups: Sequence[Owned]) -> tuple[int, float, float]:
    """Devices that compute, their memory, and its speed, all together."""
    each = [(device, size, device.gpus_on_board * count) for device, size, count in groups]
    speed = sum(device.bandwidth_bytes_per_s * count for device, _, count in each)
    return sum(count for *_, count in each), sum(size * count for _, size, count in each), speed


def cards(shelf: Shelf, device: Device, owned: int) -> Iterator[Offer | None]:
    """One to eight of one card, bridged where it can be; `owned` of them are there already."""
    memory = device.largest_memory_bytes
    counts = sorted({count for count in (1, 2, owned + 1, *CARD_COUNTS) if owned < count <= max(MOST_CARDS, owned + 1)})
    for count in counts:
        groups, bought = [(device, memory, count)], [(device, memory, count - owned)]
        if count > 1 or shelf.is_bigger(device):
            yield shelf.card_offer(card_kind(count, False), times(count, device.id), groups, bought)
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


def beside_machine(shelf: Shelf, device: Device, memory_bytes: float) -> Iterator[Offer]:
    """A machine of another memory size beside those of the same chip that are owned, over their fastest networks."""
    if len(shelf.owned) != 1 or shelf.owned[0][0] is not device or shelf.owned[0][1] == memory_bytes:
        return
    _, own_bytes, count = shelf.owned[0]
    bought, groups = (device, memory_bytes, 1), (shelf.owned[0], (device, memory_bytes, 1))
    for link in fastest_networks(device, shelf.desk):
        if count < (link.max_devices or count + 1):
            words = f"{times(count, name_of(device, own_bytes))} + {name_of(device, memory_bytes)} via {link.id}"
            usd = shelf.least_usd([bought], 0.0)
            yield Offer(network_kind(link), words, None, usd, _ids([bought]), groups, *_sums(groups), count + 1, key=words)


def fastest_networks(device: Device, desk: Desk) -> list[Link]:
    """The fastest built-in RDMA link and the fastest built-in TCP link."""
    links = [desk.catalog.link(link) for link in device.network]
    kinds = ([link for link in links if link.transport == transport] for transport in ("rdma", "tcp"))
    return [max(kind, key=lambda link: link.bandwidth_bytes_per_s) for kind in kinds if kind]


def all_offers(desk: Desk) -> Range:
    """Every system worth trying: a fixed number for each device of the catalog that one can and should buy.

    Kept with the catalog for the next question on the same terms.
    """

    def found() -> Range:
        shelf = Shelf(desk)
        return Range(_offers(shelf), shelf.hosts)

    return desk.catalog.once("offers", MOST_KEPT, terms_key(desk), found)


def terms_key(desk: Desk) -> tuple[object, ...]:
    """What offers depend on: what is owned, how one buys, and the day."""
    need, terms = desk.need, desk.terms
    owned = desk.key(desk.have) if desk.have else None
    own = need.host, need.host_owned, need.ram_bytes, need.psu_w
    return owned, need.new_only, need.prices_usd, own, terms.today or date.today(), desk.measured


def owned_offer(shelf: Shelf) -> Offer | None:
    """What is owned, as it is: cards that other computers would take."""
    words = " + ".join(times(count, name_of(device, size)) for device, size, count in shelf.owned)
    return shelf.card_offer("keep", words, shelf.owned, ()) if takes(shelf.desk.have) else None


def _offers(shelf: Shelf) -> Iterator[Offer]:
    desk, owned = shelf.desk, shelf.owned
    hints, least = desk.catalog.hints, desk.choice("least-card-gib") * GIB
    counts = {(device.id, memory): count for device, memory, count in owned}
    in_slots = owned if all(goes_in_slot(device) for device, *_ in owned) else []
    if (mine_already := owned_offer(shelf)) is not None:
        yield mine_already
    for device in desk.catalog.devices.values():
        mine = any(device.id == card.id for card, *_ in owned)
        passed_by = device.rebuilt or hints.is_retired(device.maker, device.architecture)
        if not is_sold(device) or (passed_by and not mine):
            continue
        found: list[Offer | None] = []
        if goes_in_slot(device) and device.largest_memory_bytes >= least:
            found += cards(shelf, device, counts.get((device.id, device.largest_memory_bytes), 0))
            found += beside(shelf, device, in_slots) if in_slots else ()
        elif device.is_box:
            for memory_bytes in device.memory_options_bytes:
                found += machines(shelf, device, memory_bytes, counts.get((device.id, memory_bytes), 0))
                found += beside_machine(shelf, device, memory_bytes)
        yield from (offer for offer in found if offer)
