"""What buying or changing the missing condition would bring: a better link, an engine that cuts, a number that divides."""

from collections.abc import Callable, Iterator

from advisor.billed import link_lines
from advisor.bind import between, with_link
from advisor.catalog import Catalog
from advisor.errors import Unsupported
from advisor.joined import pcie
from advisor.link import Link
from advisor.reason import Fact, Reason
from advisor.record import replace
from advisor.scale import grown
from advisor.speed import Estimate
from advisor.system import System

MOST_KNOWN = 256  # changed systems that are kept
WORTH_FACTOR = 1.05  # a change that brings less is none
Ways = Callable[[System], tuple[Estimate, ...]]  # every way to run the same work on a system


def better_link(system: System, now: Estimate | None, ways: Ways, catalog: Catalog) -> Reason | None:
    """The link that would make the split fastest, with what it costs; None where none would be noticed."""
    found = [(link, best) for link in _links(system, catalog) if (best := _over(link, system, ways, catalog)) is not None]
    link, best = max(found, key=lambda pair: _speed(pair[1]), default=(None, None))
    if link is None or best is None or _speed(best) < WORTH_FACTOR * _speed(now):
        return None
    ends = len(system.boxes) if len(system.boxes) > 1 else system.count
    prices = [None if line.usd is None else line.count * line.usd for line in link_lines(link, ends, system.count, False, {})]
    facts: dict[str, Fact] = {"link": link.name, "link_id": link.id, **_gain(best, now)}
    facts["price_usd"] = None if None in prices else sum(price or 0.0 for price in prices)
    patched = link.kind == "pcie" and link.transport == "peer" and not all(group.device.peer_access for group in system.groups)
    code = "condition.by-link-patched" if patched else "condition.by-link-slot" if link.kind == "pcie" else "condition.by-link"
    return Reason(code, facts)


def _links(system: System, catalog: Catalog) -> Iterator[Link]:
    """For boxes the RDMA that they have; for cards of one box their bridges, and their slots with and without peer access."""
    devices = [group.device for group in system.groups]
    if len(system.boxes) > 1:
        yield from (link for link in map(catalog.link, devices[0].network) if link.transport == "rdma")
        return
    yield from (link for link in map(catalog.link, devices[0].links) if link.scope == "in-box" and link.kind != "pcie")
    slot = system.boxes[0].slot
    if slot and slot.pcie_generation and slot.pcie_lanes:
        yield from (pcie(slot.pcie_generation, slot.pcie_lanes, peer, catalog) for peer in (False, True))


def _over(link: Link, system: System, ways: Ways, catalog: Catalog) -> Estimate | None:
    """The fastest split of every layer over that link; None where it cannot be had."""
    known: dict[tuple[int, str], tuple[System, System | None]] = catalog.kept("relinked")
    key = id(system), link.id
    found = known.get(key)
    if found is None:
        if len(known) >= MOST_KNOWN:
            known.clear()
        found = known[key] = system, _relinked(link, system, catalog)
    changed = found[1]
    return fastest_cut(ways(changed)) if changed else None


def _relinked(link: Link, system: System, catalog: Catalog) -> System | None:
    """The system with that link; None where it cannot be had."""
    try:
        if len(system.boxes) > 1:
            return replace(system, link=between(link.id, link, system.boxes, None, catalog), link_stated=True)
        return with_link(system, link, catalog)
    except Unsupported:
        return None


def other_engine(system: System, now: Estimate | None, ways: Ways) -> Reason | None:
    """The engine that cuts this model here, where the one that was named does not."""
    if system.engine is None:
        return None
    best = fastest_cut(ways(system.unrun))
    return Reason("condition.by-engine", {"engine": best.placement.engine, **_gain(best, now)}) if best else None


def other_count(system: System, heads: int, ways: Ways, catalog: Catalog) -> Reason | None:
    """The largest smaller number of the same devices that divides the model; none divides one into more parts than it has heads."""
    if len({(group.device.id, group.memory_bytes) for group in system.groups}) > 1:
        return None
    units = len(system.boxes) if len(system.boxes) > 1 else system.count
    for count in range(min(units - 1, heads * units // system.count), 1, -1):
        fewer = grown(system, count, catalog)
        best = fastest_cut(ways(fewer)) if isinstance(fewer, System) else None
        if best is not None:
            return Reason("condition.by-count", {"devices": count, **_gain(best, None)})
    return None


def fastest_cut(found: tuple[Estimate, ...]) -> Estimate | None:
    """The fastest of the ways that cut every layer and fit."""
    cut = [each for each in found if each.placement.strategy == "tensor" and each.decode]
    return max(cut, key=_speed, default=None)


def _speed(given: Estimate | None) -> float:
    return given.decode.value if given and given.decode else 0.0


def _gain(best: Estimate, now: Estimate | None) -> dict[str, Fact]:
    """Its speed, and how many times the present one."""
    before = _speed(now)
    return {"cut_tokens_per_s": _speed(best), "speed_factor": _speed(best) / before if before else None}
