"""SYSTEM words and catalog records put together: devices, boxes, hosts, and the links that join them."""

from collections.abc import Iterable
from typing import Any

from advisor.catalog import Catalog
from advisor.engine import Backend, Engine
from advisor.errors import AmbiguousName, BadValue, UnknownName, Unsupported
from advisor.host import Host
from advisor.joined import (
    has_link,
    in_box,
    link_of,
    most_boxes,
    networks_of,
    port_for,
    seated,
    usual_between,
    usual_host,
    usual_in_box,
    usual_slot,
)
from advisor.link import Link
from advisor.lookup import Found
from advisor.reason import Reason
from advisor.record import replace
from advisor.system import MOST_DEVICES, Box, BoxWords, Group, GroupWords, System, SystemWords, parse
from advisor.units import GIB


def bind(
    words: SystemWords | str,
    catalog: Catalog,
    *,
    host: Host | None = None,
    ram_bytes: float | None = None,
    storage: str | None = None,
    smallest_memory: bool = False,
    grows: bool = False,
) -> System:
    """The system that the words mean. Memory left out: the largest size sold, or the smallest of what is owned already.

    Of a system that `grows`, one box may name the network that further ones will use.
    """
    words = parse(words) if isinstance(words, str) else words
    remarks: list[Reason] = []
    link = link_of(words.link, catalog) if words.link else None
    apart = words.link in ("rdma", "ethernet") or (isinstance(link, Link) and link.scope == "between-boxes")
    boxes = tuple(_boxes(words, catalog, apart, host, smallest_memory, remarks))
    if (devices := sum(box.count for box in boxes)) > MOST_DEVICES:
        raise BadValue(f"SYSTEM {words.text!r}: {devices} devices; at most {MOST_DEVICES} in all")
    engine, backend = engine_of(words.engine, words.backend, catalog)
    if grows and apart and len(boxes) == 1:
        outer = between(words.link, link, boxes * 2, backend, catalog)
        boxes = tuple(box if box.link else replace(box, link=usual_in_box(box, catalog)) for box in boxes)
    else:
        boxes, outer = _joined(boxes, words.link, link, backend, catalog, remarks)
    return System(
        boxes=boxes,
        link=outer,
        strategy=words.strategy,
        engine=engine,
        backend=backend,
        storage=storage,
        ram_bytes=ram_bytes,
        link_stated=words.link is not None,
        remarks=tuple(remarks),
    )


def engine_of(name: str | None, backend_id: str | None, catalog: Catalog) -> tuple[Engine | None, Backend | None]:
    """The engine and backend that the words name."""
    if name is None:
        return None, None
    engine = catalog.engine(name)
    if backend_id is None:
        return engine, None
    ids = [backend.id for backend in engine.backends]
    for backend in engine.backends:
        if backend.id == backend_id.lower():
            return engine, backend
    from difflib import get_close_matches

    near = tuple(get_close_matches(backend_id.lower(), ids, 2)) or tuple(ids)
    raise UnknownName(f"{engine.id} has no backend {backend_id!r}: it has {', '.join(ids)}", near)


def _boxes(words: SystemWords, catalog: Catalog, apart: bool, host: Host | None, smallest: bool, remarks: list[Reason]) -> Iterable[Box]:
    """Boxes in the order written. Cards share one box, unless a network joins them; a whole computer is a box of its own."""
    cards: list[Group] = []
    boxes: list[Box | None] = []
    for member in words.members:
        if isinstance(member, BoxWords):
            boxes.extend([_inner(member.inside, catalog, host, smallest, remarks)] * member.count)
            continue
        group = _group(member, catalog, smallest, remarks)
        if group.device.is_box or apart:
            alone = box_of((replace(group, count=1),), catalog, host)
            boxes.extend([alone] * group.count)
            continue
        if not cards:
            boxes.append(None)  # the place of the cards' box
        cards.append(group)
    return [box or box_of(tuple(cards), catalog, host) for box in boxes]


def _device(name: str, catalog: Catalog) -> Found:
    """The device of that name; a computer that holds none is told apart from what nobody knows."""
    try:
        return catalog.find("devices", name)
    except UnknownName as unknown:
        try:
            host = catalog.find("hosts", name).id
        except (UnknownName, AmbiguousName):
            raise unknown from None
    raise Unsupported(
        f"{host} is a computer without cards, and a run on its processor alone is not estimated: name the cards, with --host {host}; or "
        f"ask what to put into it, recommend --have {host}"
    )


def _group(words: GroupWords, catalog: Catalog, smallest: bool, remarks: list[Reason]) -> Group:
    found = _device(words.name, catalog)
    device = catalog.device(found.id)
    if found.note:
        remarks.append(found.note)
    if found.memory_gib is not None:
        return Group(device, words.count, found.memory_gib * GIB)
    sizes = device.memory_options_bytes
    memory = sizes[0] if smallest else sizes[-1]
    if len(sizes) > 1:
        remarks.append(Reason("system.memory-assumed", {"device": device.id, "memory_bytes": memory, "smallest": smallest}))
    return Group(device, words.count, memory)


def box_of(groups: tuple[Group, ...], catalog: Catalog, host: Host | None) -> Box:
    """A box with its host: cards need one, stated or usual; a whole computer is its own."""
    if groups[0].device.is_box:
        return Box(groups, networks=networks_of(groups[0].device, None, catalog))
    chosen = host or usual_host(catalog, groups)
    if host:
        seated(groups, host)
    slot = usual_slot(groups, chosen, catalog) if chosen else None
    networks = networks_of(groups[0].device, chosen, catalog)
    return Box(groups, host=chosen, host_assumed=host is None, slot=slot, networks=networks)


def stated_link(link: Link | None, box: Box, catalog: Catalog) -> Link | None:
    """The link that was stated, where these cards can have it; else the usual one."""
    if link is None or box.count == 1:
        return usual_in_box(box, catalog)
    return in_box(link, box, catalog, [])


def with_link(system: System, link: Link, catalog: Catalog) -> System:
    """The one box of cards with that link between them; Unsupported where they cannot have it."""
    box = system.boxes[0]
    return replace(system, boxes=(replace(box, link=in_box(link, box, catalog, [])),), link_stated=True)


def _inner(words: SystemWords, catalog: Catalog, host: Host | None, smallest: bool, remarks: list[Reason]) -> Box:
    """The box in brackets: cards, or one whole computer."""
    link = link_of(words.link, catalog) if words.link else None
    boxes = list(_boxes(words, catalog, False, host, smallest, remarks))
    if len(boxes) > 1:
        raise Unsupported(f"SYSTEM {words.text!r}: brackets hold one computer with its cards; join computers outside the brackets")
    return replace(boxes[0], link=in_box(link, boxes[0], catalog, remarks), strategy=words.strategy)


def _joined(
    boxes: tuple[Box, ...], word: str | None, link: Link | str | None, backend: Backend | None, catalog: Catalog, remarks: list[Reason]
) -> tuple[tuple[Box, ...], Link | None]:
    """Boxes with the links inside, and the link between them."""
    if len(boxes) == 1:
        box = boxes[0]
        if box.link is not None:  # written in brackets
            return boxes, None
        return (replace(box, link=in_box(link, box, catalog, remarks)),), None
    boxes = tuple(box if box.link else replace(box, link=usual_in_box(box, catalog)) for box in boxes)
    return boxes, between(word, link, boxes, backend, catalog, remarks)


def between(
    word: str | None,
    link: Link | str | None,
    boxes: tuple[Box, ...],
    backend: Backend | None,
    catalog: Catalog,
    remarks: list[Reason] | None = None,
) -> Link | None:
    """The link between boxes: as stated where they can have it, else the fastest network that they all have."""
    if word is None:
        return usual_between(boxes, backend)
    if isinstance(link, str) and link in ("pcie", "nvlink"):
        raise Unsupported(f"{link} joins cards inside one box, but these are {len(boxes)} boxes: name a network such as eth-10g-tcp")
    if isinstance(link, str):
        return _of_kind(link, boxes, catalog)
    if link is not None and link.scope == "in-box":
        raise Unsupported(f"{link.id} joins devices inside one box, but these are {len(boxes)} boxes: name a network such as eth-10g-tcp")
    if link is not None:
        _reachable(link, boxes)
        _carried(link, boxes, catalog)
        _ported(link, boxes, [] if remarks is None else remarks)
    return link


def _of_kind(kind: str, boxes: tuple[Box, ...], catalog: Catalog) -> Link:
    """The network of that kind, `rdma` or `ethernet`, that all boxes have."""
    found = usual_between(boxes, None, only=kind)
    if found is not None:
        return found
    if fewer := usual_between(boxes[:2], None, only=kind):
        _reachable(fewer, boxes)  # says how many it joins
    names = ", ".join(sorted({group.device.id for box in boxes for group in box.groups}))
    raise Unsupported(f"{names}: these boxes have no {kind} link in common; name a link such as eth-10g-tcp")


def _carried(link: Link, boxes: tuple[Box, ...], catalog: Catalog) -> None:
    """Refuses RDMA over an adapter that a system knows no RDMA for."""
    if link.transport != "rdma":
        return
    for device in {group.device.id: group.device for box in boxes for group in box.groups}.values():
        own = max((each for each in catalog.platforms.values() if each.fits(device)), key=lambda each: each.closeness)
        if own.rdma_kinds and link.kind not in own.rdma_kinds:
            kinds = ", ".join(own.rdma_kinds)
            raise Unsupported(f"{link.id} is not on {device.id}: {own.name} has RDMA over {kinds} only; it has {', '.join(device.network)}")


def _ported(link: Link, boxes: tuple[Box, ...], remarks: list[Reason]) -> None:
    """Says which whole computers need an adapter for a faster Ethernet than their own; refuses what no port of theirs carries."""
    for box in {box.groups[0].device.id: box for box in boxes}.values():
        device, port = box.groups[0].device, port_for(link, box)
        if port == "nowhere":
            raise Unsupported(f"{link.id} is not on {device.id}, whose fastest port is slower; it has {', '.join(device.network)}")
        if isinstance(port, Link):
            facts = {"link": link.id, "device": device.id, "port": port.name, "has": ", ".join(device.network)}
            remarks.append(Reason("link.needs-adapter", facts))


def _reachable(link: Link, boxes: tuple[Box, ...]) -> None:
    """Refuses a network that a box has no port for, or that joins fewer boxes."""
    for box in boxes:
        for group in box.groups:
            if not has_link(group.device, link):
                raise Unsupported(f"{link.id} is not on {group.device.id}; it has {', '.join(group.device.network) or 'no network'}")
    most = most_boxes(link, (group.device for box in boxes for group in box.groups))
    if most is not None and len(boxes) > most:
        why = " (a mesh: a cable between every two, a port for each)" if link.shape == "mesh" else ""
        raise Unsupported(f"{link.id} joins at most {most} of these boxes{why}, not {len(boxes)}: take {most}, or a network with a switch")


def with_engine(system: System, engine: Engine, backend: Backend) -> System:
    """The system run by this engine; a network that nobody stated is the fastest that this engine can use."""
    changes: dict[str, Any] = {"engine": engine, "backend": backend}
    if len(system.boxes) > 1 and not system.link_stated:
        changes["link"] = usual_between(system.boxes, backend) or system.link
    return replace(system, **changes)
