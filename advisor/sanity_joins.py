"""What is well written and still cannot be, of links, hosts and money; and what is asked of every record: dates, prices, names of keys."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import Any

from advisor.bounds import Bounds
from advisor.device import Device
from advisor.host import Host
from advisor.link import Link
from advisor.money import Money
from advisor.price import Price, Source, first_day
from advisor.units import BITS_PER_BYTE, GB, MEGA, US
from advisor.yamlcheck import did_you_mean
from advisor.yamlfile import plans

Problem = tuple[str, str, str]  # kind, id, `yaml_key: what is wrong`
Records = Mapping[str, Mapping[str, Any]]

SLACK = 1.05  # rounding of printed figures


def joins(records: Records, bounds: Bounds | None, day: date) -> Iterator[Problem]:
    """Every contradiction in and between links, hosts and money: (kind, id, `key: message`)."""
    yield from _links(records, bounds, day)
    money = next(iter(records.get("money", {}).values()), None)
    for host in records.get("hosts", {}).values():
        for said in (*_host(host), *price_ranges(host.prices, money), *dates(host.prices, host.sources, day), *unsure(Host, host)):
            yield "hosts", host.id, said
    yield from _default_hosts(records.get("hosts", {}))
    yield from (("money", "money", said) for said in (_money(money, records) if money else ()))


def price_ranges(prices: tuple[Price, ...], money: Money | None) -> Iterator[str]:
    """Prices whose ends are exchanged, or in a currency without a rate."""
    for index, price in enumerate(prices):
        if price.low > price.high:
            yield f"prices[{index}].low: {price.low:g} is above high, {price.high:g}"
        if money is not None and money.rate(price.currency) is None:
            near = did_you_mean(price.currency, tuple(rate.currency for rate in money.rates))
            yield f"prices[{index}].currency: no rate for {price.currency} in money.yaml{near}"


def dates(prices: Iterable[Any], sources: tuple[Source, ...], day: date, key: str = "prices") -> Iterator[str]:
    """Days that are none, or lie in the future."""
    written = [(f"{key}[{index}].date", price.date) for index, price in enumerate(prices) if price.date]
    written += [(f"sources[{index}].seen", source.seen) for index, source in enumerate(sources) if source.seen]
    for where, text in written:
        try:
            later = first_day(text) > day
        except ValueError:
            yield f"{where}: {text} is no date; write 2026, 2026-09 or 2026-09-11"
        else:
            if later:
                yield f"{where}: {text} lies in the future"


def unsure(record_class: type, record: Any) -> Iterator[str]:
    """Keys that nobody verified must be keys."""
    known = set(_keys(record_class))
    for key in record.unverified:
        if key.rsplit(".", 1)[-1].partition("[")[0] not in known:
            yield f"unverified: {key} is no key{did_you_mean(key, tuple(known))}"


@lru_cache(maxsize=8)
def _keys(record_class: type) -> tuple[str, ...]:
    """The keys of a record and of those inside it."""
    found = []
    for key, plan in plans(record_class).items():
        inner = [shape.record for shape in (plan.shape, *plan.shape.inner) if shape.kind == "record"]
        found += [key, *(name for each in inner for name in _keys(each))]
    return tuple(found)


def _links(records: Records, bounds: Bounds | None, day: date) -> Iterator[Problem]:
    devices: Mapping[str, Device] = records.get("devices", {})
    having: dict[str, set[str]] = defaultdict(set)
    for device in devices.values():
        for link_id in (*device.links, *device.network):
            having[link_id].add(device.id)
    for link in records.get("links", {}).values():
        for said in (*_link(link), *_lane_rate(link, bounds), *_ends(link, having[link.id], devices), *_reach(link, bounds)):
            yield "links", link.id, said
        for said in (*dates(link.parts, link.sources, day, "parts"), *unsure(Link, link)):
            yield "links", link.id, said


def _link(link: Link) -> Iterator[str]:
    if link.effective_bytes_per_s is not None and link.effective_bytes_per_s > link.bandwidth_bytes_per_s * SLACK:
        yield "effective_gb_per_s: more than the nominal bandwidth_gb_per_s"
    between = link.scope == "between-boxes"
    if between != (link.transport in ("tcp", "rdma")):
        yield f"transport: {link.transport} does not go {link.scope}"


def _lane_rate(link: Link, bounds: Bounds | None) -> Iterator[str]:
    """A PCIe link's nominal rate follows from generation and lanes."""
    if link.kind != "pcie" or bounds is None or not link.pcie_generation or not link.pcie_lanes:
        return
    lane = next((each.bytes_per_s for each in bounds.pcie_lanes if each.generation == link.pcie_generation), None)
    if lane and not 1 / SLACK <= link.bandwidth_bytes_per_s / (lane * link.pcie_lanes) <= SLACK:
        yield f"bandwidth_gb_per_s: PCIe {link.pcie_generation} x{link.pcie_lanes} carries {lane * link.pcie_lanes / GB:.2f}"


def _reach(link: Link, bounds: Bounds | None) -> Iterator[str]:
    """A rate that no link of its kind has is mostly Gb/s; a latency of many milliseconds another unit."""
    if bounds is None:
        return
    most = next((each.bytes_per_s for each in bounds.links if each.kind == link.kind), None)
    if most and link.bandwidth_bytes_per_s > most:
        yield f"bandwidth_gb_per_s: {link.bandwidth_bytes_per_s / GB:g}; {link.kind} has at most {most / GB:g} one way: is it Gb/s?"
    if link.latency_s is not None and link.latency_s > bounds.most_latency_s:
        yield f"latency_us: {link.latency_s / US:g}; links have at most {bounds.most_latency_s / US:g}"


def _ends(link: Link, having: set[str], devices: Mapping[str, Device]) -> Iterator[str]:
    """A bridge or switch that no device has is of no use; one that names a device must be named by it."""
    if link.kind in ("nvlink", "fabric") and not link.devices:
        yield "devices: no device has this link"
    key = "links" if link.scope == "in-box" else "network"
    for device_id in link.devices:
        if device_id in devices and device_id not in having and link.joins == "devices":
            patch = f"devices: [{{id: {device_id}, {key}: [{', '.join((*getattr(devices[device_id], key), link.id))}]}}]"
            yield f"devices: {device_id} names it neither in links nor in network; write in its file, or in one of your own: {patch}"


def _host(host: Host) -> Iterator[str]:
    if host.max_cards > len(host.slots):
        yield f"max_cards: {host.max_cards} cards in {len(host.slots)} slots"
    reached = host.memory_reached_bytes_per_s
    if reached is not None and reached > host.memory_bandwidth_bytes_per_s:
        yield "memory_reached_gb_per_s: more than the nominal memory_bandwidth_gb_per_s"
    rate = host.memory_type.rpartition("-")[2]
    if rate.isdigit() and host.memory_type.startswith("DDR"):
        follows = host.memory_channels * BITS_PER_BYTE * float(rate) * MEGA  # a channel is eight bytes wide
        if not 1 / SLACK <= host.memory_bandwidth_bytes_per_s / follows <= SLACK:
            yield f"memory_bandwidth_gb_per_s: {host.memory_channels} channels of {host.memory_type} give {follows / GB:g}"
    if host.power_supply_w <= host.base_power_w:
        yield f"power_supply_w: {host.power_supply_w:g} W do not even feed the computer itself, {host.base_power_w:g}"
    for index, slot in enumerate(host.slots):
        if slot.lanes_shared is not None and slot.lanes_shared > slot.lanes:
            yield f"slots[{index}].lanes_shared: {slot.lanes_shared} is more than its {slot.lanes} lanes"


def _default_hosts(hosts: Mapping[str, Host]) -> Iterator[Problem]:
    defaults = [host.id for host in hosts.values() if host.owned_default]
    for host_id in defaults[1:]:
        yield "hosts", host_id, f"owned_default: {defaults[0]} is it already"
    if hosts and not defaults:
        yield "hosts", next(iter(hosts)), "owned_default: no host is the one assumed around owned cards"


def _money(money: Money, records: Records) -> Iterator[str]:
    for rental in money.rentals:
        if rental.device not in records.get("devices", {}):
            yield f"rentals: {rental.device} is no device"
    for part in money.parts:
        if part.link is not None and part.link not in records.get("links", {}):
            yield f"parts: {part.id} serves {part.link}, which is no link"
        if part.kind == "power-supply" and part.watts is None:
            yield f"parts: {part.id} is a power supply without watts"
    if not money.electricity:
        yield "electricity: at least one price is needed"
