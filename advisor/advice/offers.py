"""Systems worth trying, as offers: words, kind, least price and a cheap bound on speed; not yet bound, billed or estimated."""

from collections.abc import Iterator
from dataclasses import dataclass

from advisor.advice.desk import Desk, Work
from advisor.device import Device
from advisor.host import Host
from advisor.link import Link
from advisor.system import System
from advisor.units import GIB

REACHED_SHARE = 0.97  # of bandwidth and of memory: more than this nobody reaches
CARD_COUNTS = (3, 4, 6, 8)
BOX_COUNTS = (2, 3, 4)
SMALLEST_CARD_BYTES = 8 * GIB


@dataclass(frozen=True)
class Offer:
    """One way to spend money: SYSTEM words, where the cards go, what its devices and host cost at least, how fast at most."""

    kind: str
    words: str
    host: Host | None
    least_usd: float | None  # None: one of the prices is unknown
    bound_tokens_per_s: float  # for each user; 0 where it cannot hold the weights
    holds: bool


def is_sold(device: Device) -> bool:
    """Whether one can buy it, new or used, on its own."""
    return device.availability != "announced" and device.kind in ("gpu", "mac", "apu-box", "module")


def goes_in_slot(device: Device) -> bool:
    """Whether it is a card for a PCIe slot (an SXM module is not)."""
    return device.kind == "gpu" and device.slots is not None and device.pcie_lanes is not None


def owned_cards(have: System | None) -> list[tuple[Device, float, int]]:
    """What is owned, counted by device and size."""
    counts: dict[tuple[str, float], tuple[Device, float, int]] = {}
    for group in have.groups if have else ():
        key = group.device.id, group.memory_bytes
        counts[key] = group.device, group.memory_bytes, group.count + (counts[key][2] if key in counts else 0)
    return list(counts.values())


def name_of(device: Device, memory_bytes: float) -> str:
    """The SYSTEM words of one device."""
    return f"{device.id} {memory_bytes / GIB:g}gb" if len(device.memory_options_bytes) > 1 else device.id


def bridge_of(device: Device, desk: Desk) -> Link | None:
    """The NVLink bridge that joins two of them, if there is one."""
    links = (desk.catalog.link(link) for link in device.links)
    return next((link for link in links if link.kind == "nvlink" and link.parts), None)


class Shelf:
    """Makes the offers of one need: what it must hold and read, and what hosts cost, are worked out once."""

    def __init__(self, desk: Desk, work: Work) -> None:
        self.desk = desk
        self.work = work
        weights, cache, share = desk.bytes(work)
        self.users = work.workload.users or 1
        self.weights, self.share = weights, share
        self.weights_bytes = share * (weights.total_bytes - weights.vision_bytes)
        self.cache_bytes = self.users * cache.held_bytes(work.workload.context_tokens)
        self.cache_read_bytes = self.users * cache.read_bytes(work.workload.prompt_tokens)
        self.hosts = self._hosts()

    def _hosts(self) -> tuple[tuple[float, Host], ...]:
        """Hosts on sale with their prices, cheapest first."""
        priced = ((self.desk.terms.price(host).usd, host) for host in self.desk.catalog.hosts.values())
        return tuple(sorted(((usd, host) for usd, host in priced if usd is not None), key=lambda pair: pair[0]))

    def supply_usd(self, host: Host, watts: float) -> float:
        """What the stronger power supply costs that `watts` of cards need in this host; 0 where its own suffices."""
        if host.base_power_w + watts <= host.power_supply_w:
            return 0.0
        parts = self.desk.terms.money.parts_of("power-supply")
        return next((part.usd for part in parts if (part.watts or 0.0) >= host.base_power_w + watts), float("inf"))

    def host_for(self, count: int, watts: float) -> tuple[float, Host | None]:
        """The host for `count` cards: the owned one while they go in, else the cheapest on sale that takes them."""
        owned = self.desk.have.boxes[0].host if self.desk.have and not self.desk.have.groups[0].device.is_box else None
        if owned and count <= owned.max_cards:
            return self.supply_usd(owned, watts), owned
        stated = self.desk.host
        fitting = [(usd + self.supply_usd(host, watts), host) for usd, host in self.hosts if host.max_cards >= count]
        if stated and stated.max_cards >= count:
            return self.supply_usd(stated, watts), stated
        return min(fitting, key=lambda pair: pair[0], default=(float("inf"), None))

    def read_bytes(self, sharers: int) -> float:
        """Least bytes that a step reads in all, when `sharers` devices may serve their own users."""
        tokens = max(1.0, self.users / sharers)
        weights = self.weights
        touched = weights.expert_bytes * weights.experts_touched_share(tokens)
        return self.share * (weights.dense_bytes + weights.head_bytes + touched) + self.cache_read_bytes

    def bound(self, groups: list[tuple[Device, float, int]], ram_bytes: float, ram_bytes_per_s: float) -> tuple[float, bool]:
        """The most tokens/s for each user that the memory's speed allows, and whether the devices alone hold the work."""
        memory = sum(size * count for _, size, count in groups) * REACHED_SHARE
        bandwidth = sum(device.bandwidth_bytes_per_s * device.gpus_on_board * count for device, _, count in groups) * REACHED_SHARE
        count = sum(count for *_, count in groups)
        short = self.weights_bytes + self.cache_bytes - memory
        step_s = self.read_bytes(count) / bandwidth
        if short <= 0:
            return 1 / step_s, True
        if short > ram_bytes:
            return 0.0, False
        expert = self.weights.expert_bytes * self.share
        touched = self.weights.experts_touched_share(self.users)
        host_read = touched * min(short, expert) + max(0.0, short - expert)
        return 1 / (host_read / ram_bytes_per_s + max(0.0, step_s - host_read / bandwidth)), False

    def card_offer(self, kind: str, words: str, groups: list[tuple[Device, float, int]], bought: list[tuple[Device, float, int]]) -> Offer:
        """An offer of cards in one host."""
        count = sum(number for *_, number in groups)
        host_usd, host = self.host_for(count, sum((device.power_w or 0.0) * number for device, _, number in groups))
        ram = self.desk.need.ram_bytes or (host.memory_bytes if host else 0.0)
        ram_speed = (host.memory_reached_bytes_per_s or host.memory_bandwidth_bytes_per_s) if host else 1.0
        bound, holds = self.bound(groups, ram, ram_speed)
        return Offer(kind, words, host, self.least_usd(bought, host_usd), bound if host else 0.0, holds)

    def box_offer(self, kind: str, words: str, device: Device, memory_bytes: float, count: int, owned: int) -> Offer:
        """An offer of whole machines."""
        bound, holds = self.bound([(device, memory_bytes, count)], 0.0, 1.0)
        return Offer(kind, words, None, self.least_usd([(device, memory_bytes, count - owned)], 0.0), bound, holds)

    def least_usd(self, bought: list[tuple[Device, float, int]], more_usd: float) -> float | None:
        """What the devices to buy cost, and the host."""
        total = more_usd
        for device, memory_bytes, count in bought:
            usd = self.desk.price(device, memory_bytes).usd
            if usd is None and count:
                return None
            total += count * (usd or 0.0)
        return total


def card_kind(count: int, bridged: bool) -> str:
    """The verdict kind of cards in one host."""
    return "one-bigger-gpu" if count == 1 else "multi-gpu-server" if count > 2 else "nvlink-pair" if bridged else "second-gpu"


def cards(shelf: Shelf, device: Device, owned: int) -> Iterator[Offer]:
    """One to eight of one card, bridged where it can be; `owned` of them are there already."""
    memory = device.largest_memory_bytes
    bridge = bridge_of(device, shelf.desk)
    counts = sorted({count for count in (1, 2, owned + 1, *CARD_COUNTS) if count > owned and count <= max(8, owned + 1)})
    for count in counts:
        words = f"{count}x {device.id}" if count > 1 else device.id
        yield shelf.card_offer(card_kind(count, False), words, [(device, memory, count)], [(device, memory, count - owned)])
    if bridge and owned <= 2:
        groups = [(device, memory, 2)]
        yield shelf.card_offer("nvlink-pair", f"2x {device.id} via {bridge.id}", groups, [(device, memory, 2 - owned)])


def beside(shelf: Shelf, device: Device, owned: list[tuple[Device, float, int]]) -> Iterator[Offer]:
    """Another card beside those that are owned."""
    if any(card.id == device.id for card, *_ in owned) or any(card.maker != device.maker for card, *_ in owned):
        return
    memory = device.largest_memory_bytes
    words = " + ".join([f"{count}x {card.id}" if count > 1 else card.id for card, _, count in owned] + [device.id])
    kind = card_kind(1 + sum(count for *_, count in owned), False)
    yield shelf.card_offer(kind, words, [*owned, (device, memory, 1)], [(device, memory, 1)])


def network_kind(link: Link) -> str:
    """The verdict kind of boxes joined by that link."""
    return "rdma-cluster" if link.transport == "rdma" else "network-cluster"


def machines(shelf: Shelf, device: Device, memory_bytes: float, owned: int) -> Iterator[Offer]:
    """One to four whole machines, over each network that is built in."""
    name = name_of(device, memory_bytes)
    if not owned:
        yield shelf.box_offer("unified-memory-machine", name, device, memory_bytes, 1, 0)
    fastest = _fastest_networks(device, shelf.desk)
    for link in fastest:
        for count in BOX_COUNTS:
            if count > owned and count <= (link.max_devices or count):
                words = f"{count}x {name} via {link.id}"
                yield shelf.box_offer(network_kind(link), words, device, memory_bytes, count, owned)


def _fastest_networks(device: Device, desk: Desk) -> list[Link]:
    """The fastest built-in RDMA link and the fastest built-in TCP link."""
    links = [desk.catalog.link(link) for link in device.network]
    rdma = [link for link in links if link.transport == "rdma"]
    tcp = [link for link in links if link.transport == "tcp"]
    return [max(kind, key=lambda link: link.bandwidth_bytes_per_s) for kind in (rdma, tcp) if kind]


def all_offers(desk: Desk, work: Work) -> tuple[Offer, ...]:
    """Every system worth trying for this work: a fixed number for each device of the catalog."""
    shelf = Shelf(desk, work)
    owned = owned_cards(desk.have)
    counts = {(device.id, memory): count for device, memory, count in owned}
    cards_owned = [item for item in owned if goes_in_slot(item[0])] if all(goes_in_slot(item[0]) for item in owned) else []
    found: list[Offer] = []
    for device in desk.catalog.devices.values():
        if not is_sold(device):
            continue
        if goes_in_slot(device) and device.largest_memory_bytes >= SMALLEST_CARD_BYTES:
            mine = counts.get((device.id, device.largest_memory_bytes), 0) if len(owned) == 1 else 0
            found += cards(shelf, device, mine)
            if cards_owned:
                found += beside(shelf, device, cards_owned)
        elif device.is_box:
            for memory_bytes in device.memory_options_bytes:
                found += machines(shelf, device, memory_bytes, counts.get((device.id, memory_bytes), 0))
    return tuple(found)

