"""Which link joins the devices of a box, and which network the boxes: as stated, or what slots and ports give."""

from collections.abc import Iterable, Sequence

from advisor.catalog import Catalog
from advisor.device import Device, lanes_needed
from advisor.engine import Backend
from advisor.errors import Unsupported
from advisor.host import Host
from advisor.link import Link
from advisor.reason import Reason
from advisor.system import Box, Group

GENERIC = ("pcie", "nvlink", "rdma", "ethernet")
NEWEST_PCIE = 5  # the catalog's links end there; newer slots run at it
LEAST_LANES = 4  # of each slot of a host taken for granted: nobody runs models on x1 risers unasked
USUAL_PCIE = (3, 16)  # of a card whose record does not say


def link_of(word: str, catalog: Catalog) -> Link | str:
    """A link's record; the word itself for `pcie nvlink rdma ethernet`, which depend on the devices."""
    return word.lower() if word.lower() in GENERIC else catalog.link(word)


def in_box(link: Link | str | None, box: Box, catalog: Catalog, remarks: list[Reason]) -> Link | None:
    """The stated link between the cards of a box; refuses what they do not have."""
    names = ", ".join(sorted({group.device.id for group in box.groups}))
    if isinstance(link, str):
        return _generic(link, box, names, catalog)
    if link is None:
        return usual_in_box(box, catalog)
    if link.scope == "between-boxes":
        raise Unsupported(f"{link.id} joins boxes, but {names} is one box: write for instance '2x {names} via {link.id}'")
    if box.groups[0].device.is_box:
        raise Unsupported(f"{link.id} joins cards inside one box, and {names} is a box by itself")
    _on_devices(link, box)
    return _clipped(link, box, catalog, remarks) if link.kind == "pcie" else link


def _generic(word: str, box: Box, names: str, catalog: Catalog) -> Link | None:
    if word == "pcie" and not box.groups[0].device.is_box:
        return box.slot
    if word == "nvlink":
        shared = [link for link in _own_links(box, catalog) if link.kind in ("nvlink", "fabric")]
        if not shared:
            raise Unsupported(f"{names}: there is no NVLink between these cards; leave 'via' out for PCIe")
        fitting = [link for link in shared if link.max_devices is None or box.count <= link.max_devices]
        if not fitting:
            raise Unsupported(f"{shared[0].id} joins {shared[0].max_devices} cards, not {box.count}: leave 'via' out for PCIe")
        return max(fitting, key=lambda link: link.bandwidth_bytes_per_s)
    raise Unsupported(f"{names}: {word} joins boxes, and this is one box" if word != "pcie" else f"{names} has no PCIe slot")


def has_link(device: Device, link: Link) -> bool:
    """Whether a device can have the link: it names it, or is named by it; a link that names nobody is for all with a slot or port."""
    return not link.devices or device.id in link.devices or link.id in (*device.links, *device.network)


def _on_devices(link: Link, box: Box) -> None:
    for group in box.groups:
        if not has_link(group.device, link):
            has = ", ".join(group.device.links) or "PCIe only"
            raise Unsupported(f"{link.id} is not on {group.device.id}, which has {has}", tuple(group.device.links))
    if link.max_devices is not None and box.count > link.max_devices:
        raise Unsupported(f"{link.id} joins at most {link.max_devices} cards, not {box.count}: leave 'via' out for PCIe")


def _own_links(box: Box, catalog: Catalog) -> list[Link]:
    """Bridges and fabrics that every device of the box has."""
    first, *others = (group.device.links for group in box.groups)
    return [catalog.link(name) for name in first if all(name in other for other in others)]


def pcie(generation: int, lanes: int, peer: bool, catalog: Catalog) -> Link:
    """The catalog's PCIe link of this generation and width, with peer access or staged through host memory."""
    return catalog.link(f"pcie-{min(generation, NEWEST_PCIE)}-x{lanes}{'-p2p' if peer else ''}")


def _wired(groups: Sequence[Group]) -> tuple[int, int]:
    """(generation, lanes) that the poorest card is wired for."""
    generations = [group.device.pcie_generation or USUAL_PCIE[0] for group in groups]
    lanes = [group.device.pcie_lanes or USUAL_PCIE[1] for group in groups]
    return min(generations), min(lanes)


def _clipped(link: Link, box: Box, catalog: Catalog, remarks: list[Reason]) -> Link:
    """A card wired x8 stays x8 in an x16 slot; says where the host or the driver cannot give what was stated."""
    generation, lanes = _wired(box.groups)
    asked = (link.pcie_generation or generation, link.pcie_lanes or lanes)
    given = (min(asked[0], generation), min(asked[1], lanes))
    peer = link.transport == "peer"
    found = link if given == asked else pcie(*given, peer, catalog)
    if found is not link:
        remarks.append(Reason("link.card-wired", {"link": link.id, "wired": found.id, "device": box.groups[0].device.id}))
    if peer and not all(group.device.peer_access for group in box.groups):
        remarks.append(Reason("link.peer-needs-patch", {"link": found.id, "device": box.groups[0].device.id}))
    if box.slot and not box.host_assumed and found.bandwidth_bytes_per_s > box.slot.bandwidth_bytes_per_s:
        host = box.host.id if box.host else ""
        remarks.append(Reason("link.host-cannot", {"link": found.id, "host": host, "slots": box.slot.id}))
    return found


def usual_in_box(box: Box, catalog: Catalog) -> Link | None:
    """What joins the cards when nobody says: a fabric built in, else PCIe as the slots give it; none for one device."""
    if box.count == 1 or box.groups[0].device.is_box:
        return None
    if all(group.device.mount == "module" for group in box.groups):
        built_in = [link for link in _own_links(box, catalog) if link.max_devices is None or box.count <= link.max_devices]
        if built_in:
            return max(built_in, key=lambda link: link.bandwidth_bytes_per_s)
    return box.slot


def usual_slot(groups: Sequence[Group], host: Host, catalog: Catalog) -> Link:
    """The PCIe link that the host's slots give to so many cards: the narrowest slot in use counts."""
    cards = sum(group.count for group in groups)
    used = host.slots[:cards] if host.slots else ()
    lanes = [(slot.lanes_shared or slot.lanes) if cards > 1 else slot.lanes for slot in used]
    generation, wired = _wired(groups)
    peer = all(group.device.peer_access for group in groups)
    return pcie(min([generation, *(slot.generation for slot in used)]), min([wired, *lanes]), peer, catalog)


def seated(groups: Sequence[Group], host: Host) -> None:
    """Refuses boards that split their slot among several GPUs where the host's slots are too narrow for that."""
    needs = lanes_needed((group.device, group.count) for group in groups)
    cards = sum(group.count for group in groups)
    if not needs or host.takes(cards, needs):
        return
    board = max((group.device for group in groups), key=lambda device: device.needs_lanes or 0)
    wide = f"a slot of {board.needs_lanes} lanes, which its {board.gpus_on_board} GPUs share"
    has = " and ".join(f"x{lanes}" for lanes in host.widest_lanes(cards)[: host.max_cards][:cards]) or "none"
    raise Unsupported(f"{board.id} needs {wide}; {host.id} has {has} for {cards} of them: leave the host out, or name one with such slots")


def usual_host(catalog: Catalog, groups: Sequence[Group]) -> Host | None:
    """A laptop for its GPU. For cards the owned desktop where it has room; else the cheapest host that has, so that more cards never
    need a cheaper one.
    """
    cards, device = sum(group.count for group in groups), groups[0].device
    needs = lanes_needed((group.device, group.count) for group in groups)
    known: dict[tuple[int, tuple[int, ...], str], Host | None] = catalog.kept("usual hosts")
    mount = "laptop" if device.kind == "laptop-gpu" else "module" if device.mount == "module" else "slot"
    key = cards, needs, mount
    if key not in known:
        hosts = catalog.hosts.values()
        known[key] = _usual_host(hosts, *key) or _usual_host(hosts, cards, needs, "slot")
    return known[key]


def _usual_host(hosts: Iterable[Host], cards: int, needs: Sequence[int], mount: str) -> Host | None:
    fitting = [host for host in hosts if host.mount == mount]
    owned = [host for host in fitting if host.owned_default and host.takes(cards, needs)]
    wide = [host for host in fitting if min((slot.lanes for slot in host.slots[:cards]), default=0) >= LEAST_LANES]
    roomy = sorted((host for host in wide if host.takes(cards, needs)), key=lambda host: (_price(host), host.max_cards, host.id))
    largest = sorted(wide, key=lambda host: -host.max_cards)
    return next(iter((*owned, *roomy, *largest)), None)


def _price(host: Host) -> float:
    return min((price.middle for price in host.prices), default=float("inf"))


def usual_between(boxes: Sequence[Box], backend: Backend | None, only: str | None = None) -> Link | None:
    """The fastest network that all boxes have and the engine can use, RDMA before TCP; the slowest box's Ethernet otherwise."""
    each = [list(box.networks) for box in boxes]
    shared = [link for link in each[0] if all(link in others for others in each[1:])]
    devices = [group.device for box in boxes for group in box.groups]
    fitting = [link for link in shared if _usable(link, backend, only) and len(boxes) <= (most_boxes(link, devices) or len(boxes))]
    if fitting:
        return max(fitting, key=lambda link: (link.transport == "rdma", link.bandwidth_bytes_per_s))
    wired = [[link for link in links if link.kind == "ethernet" and _usable(link, backend, only)] for links in each]
    if not all(wired):
        return None
    return min((max(links, key=lambda link: link.bandwidth_bytes_per_s) for links in wired), key=lambda link: link.bandwidth_bytes_per_s)


def networks_of(device: Device, host: Host | None, catalog: Catalog) -> tuple[Link, ...]:
    """What is built into a computer, or into the host of cards."""
    return tuple(catalog.link(name) for name in device.network or (host.network if host else ()))


def port_for(link: Link, box: Box) -> Link | str:
    """Where a box takes the cable of an Ethernet link: "built-in", on a card in a "slot", on an adapter at the port returned, or
    "nowhere". A whole computer whose network nobody knows counts as having it.
    """
    if link.kind != "ethernet" or box.has_port(link) or not box.networks:
        return "built-in"
    if not box.groups[0].device.is_box:
        return "slot"
    ports = (each for each in box.networks if each.kind in ("thunderbolt", "usb4"))
    wide = [each for each in ports if each.bandwidth_bytes_per_s >= link.bandwidth_bytes_per_s]
    return min(wide, key=lambda each: each.bandwidth_bytes_per_s) if wide else "nowhere"


def most_boxes(link: Link, devices: Iterable[Device]) -> int | None:
    """How many boxes a link can join: as its maker says, and in a mesh of cables at most a port for each other box."""
    found = [link.max_devices] if link.max_devices is not None else []
    if link.shape == "mesh" and link.kind == "thunderbolt":
        found += [device.thunderbolt_ports + 1 for device in devices if device.thunderbolt_ports]
    return min(found, default=None)


def _usable(link: Link, backend: Backend | None, only: str | None) -> bool:
    if only is not None:
        return link.transport == "rdma" if only == "rdma" else link.kind == "ethernet"
    if backend is None:
        return True
    return bool(backend.rdma_software) if link.transport == "rdma" else bool(backend.tcp_software)
