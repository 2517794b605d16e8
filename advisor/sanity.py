"""What is well written and still cannot be: figures that contradict each other, their kind, or other records."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from advisor.bounds import RATES, Bounds, written
from advisor.device import LOOSE, SHARING, Device
from advisor.host import Host
from advisor.link import Link
from advisor.money import Money
from advisor.price import Price, Source, first_day
from advisor.units import BITS_PER_BYTE, GB, GBIT, GIB, MEGA

Problem = tuple[str, str, str]  # kind, id, `yaml_key: what is wrong`
Records = Mapping[str, Mapping[str, Any]]

SLACK = 1.05  # rounding of printed figures


def problems(records: Records, today: date | None = None) -> Iterator[Problem]:
    """Every contradiction in and between devices, links, hosts and money: (kind, id, `key: message`)."""
    day = today or date.today()
    bounds = next(iter(records.get("bounds", {}).values()), None)
    yield from _devices(records, bounds, day)
    yield from _links(records, bounds)
    for host in records.get("hosts", {}).values():
        yield from (("hosts", host.id, said) for said in (*_host(host), *_dates(host.prices, host.sources, day)))
    yield from _default_hosts(records.get("hosts", {}))
    for money in records.get("money", {}).values():
        yield from (("money", "money", said) for said in _money(money, records))


def _devices(records: Records, bounds: Bounds | None, day: date) -> Iterator[Problem]:
    devices: Mapping[str, Device] = records.get("devices", {})
    peers = _peer_ratios(devices.values())
    taken = set(devices)
    for device in devices.values():
        for said in (*_memory(device), *_names(device, taken), *_class(device)):
            yield "devices", device.id, said
        for said in (*_ranges(device.prices), *_dates(device.prices, device.sources, day), *_mac_prices(device), *_launch(device, day)):
            yield "devices", device.id, said
        if bounds is not None:
            of_bounds = (*_pin_rate(device, bounds), *_rates(device, peers, bounds), *_price_class(device, bounds))
            yield from (("devices", device.id, said) for said in of_bounds)


def _memory(device: Device) -> Iterator[str]:
    sizes = device.memory_options_bytes
    if list(sizes) != sorted(set(sizes)):
        yield "memory_gib: sizes must be different and ascending"
    for key, value in (("usable_gib", device.usable_bytes), ("reported_gib", device.reported_bytes)):
        if value is not None and value > device.largest_memory_bytes:
            yield f"{key}: {value / GIB:g} is more than the largest size, {device.largest_memory_bytes / GIB:g}"
    if device.idle_power_w is not None and device.power_w is not None and device.idle_power_w >= device.power_w:
        yield f"idle_power_w: {device.idle_power_w:g} is not below power_w, {device.power_w:g}"


def _pin_rate(device: Device, bounds: Bounds) -> Iterator[str]:
    """Bandwidth is bus width times the data rate of a pin; the rate must be one that this type of memory has."""
    kind = next((each for each in bounds.memory_types if each.type == device.memory_type), None)
    if kind is None:
        yield f"memory_type: {device.memory_type} is not known; add its data rates to bounds.yaml"
    elif device.memory_bus_bits:
        rate = device.bandwidth_bytes_per_s / device.memory_bus_bits
        if not kind.least_bytes_per_s / SLACK <= rate <= kind.most_bytes_per_s * SLACK:
            span = f"{kind.least_bytes_per_s / GBIT:g} to {kind.most_bytes_per_s / GBIT:g}"
            said = f"{rate * BITS_PER_BYTE / GB:.2f} Gbit/s for each of {device.memory_bus_bits} pins; {device.memory_type} has {span}"
            yield f"bandwidth_gb_per_s: {said}"


def _group(device: Device) -> tuple[str, str, bool]:
    """Chips whose rates stand in one proportion: one architecture, and whether FP16 accumulation is faster on them."""
    rates = device.compute
    return device.maker, device.architecture, (rates.fp16_fast_flops or 0.0) > SLACK * (rates.fp16_flops or 0.0)


def _peer_ratios(devices: Any) -> dict[tuple[Any, str], list[float]]:
    """Each rate over the FP32 rate, for every group of chips, the largest first."""
    ratios: dict[tuple[Any, str], list[float]] = defaultdict(list)
    for device in devices:
        for key in RATES:
            rate = getattr(device.compute, key)
            if rate and device.compute.fp32_flops:
                ratios[_group(device), key].append(rate / device.compute.fp32_flops)
    return {group: sorted(found, reverse=True) for group, found in ratios.items()}


def _rates(device: Device, peers: Mapping[tuple[Any, str], list[float]], bounds: Bounds) -> Iterator[str]:
    """Dense rates: none more times the fast FP16 rate than dense units reach, none far above what all peers have."""
    rates = device.compute
    if rates.fp16_flops and rates.fp16_fast_flops and rates.fp16_fast_flops * SLACK < rates.fp16_flops:
        yield "compute: fp16_accumulate_fp16_tflops is below fp16_tflops"
    fast = rates.fp16_fast_flops or rates.fp16_flops
    times = {each.rate: each.most_fp16_factor for each in bounds.rates}
    for key in RATES:
        rate, said = getattr(rates, key), written(key)
        if fast and rate and rate > times.get(said, float("inf")) * SLACK * fast:
            yield f"compute: {said} is {rate / fast:.1f} times the FP16 rate; is it the figure with sparsity?"
        if rate and rates.fp32_flops:
            ratio = rate / rates.fp32_flops
            most = _most_of_others(peers.get((_group(device), key), []), ratio)
            if ratio > bounds.most_peer_factor * most:
                yield f"compute: {said} is {ratio:.1f} times FP32, its peers at most {most:.1f}; is it the figure with sparsity?"


def _most_of_others(ratios: list[float], own: float) -> float:
    """The largest ratio of the peers, where there are at least two; `ratios` has its own among them, the largest first."""
    if len(ratios) <= 2:  # fewer than two beside its own
        return own
    return ratios[1] if ratios[0] == own else ratios[0]


def _names(device: Device, taken: set[str]) -> Iterator[str]:
    for alias in device.aliases:
        if alias != device.id and alias in taken:
            yield f"aliases: {alias} is the id of another device"
    if device.variant_of is not None and (device.variant_of not in taken or device.variant_of == device.id):
        yield f"variant_of: {device.variant_of} is no other device"


def _class(device: Device) -> Iterator[str]:
    """A laptop's GPU says so and is soldered; a card is not a whole computer; a Mac is Apple's."""
    if device.kind == "laptop-gpu" and not ("laptop" in device.name.lower() or "mobile" in device.name.lower()):
        yield "name: a laptop GPU's name must say Laptop, or it is taken for the desktop card"
    if device.kind not in LOOSE and device.mount != "fixed":
        yield f"mount: {_article(device.kind)} is fixed"
    if device.kind in SHARING and not device.unified_memory:
        yield f"unified_memory: {_article(device.kind)} has no memory of its own: write true"
    if (device.kind == "mac") != (device.maker == "apple"):
        yield f"kind: {device.kind} by {device.maker}"


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _ranges(prices: tuple[Price, ...]) -> Iterator[str]:
    for index, price in enumerate(prices):
        if price.low > price.high:
            yield f"prices[{index}].low: {price.low:g} is above high, {price.high:g}"


def _dates(prices: tuple[Price, ...], sources: tuple[Source, ...], day: date) -> Iterator[str]:
    written = [(f"prices[{index}].date", price.date) for index, price in enumerate(prices)]
    written += [(f"sources[{index}].seen", source.seen) for index, source in enumerate(sources) if source.seen]
    for key, text in written:
        try:
            later = first_day(text) > day
        except ValueError:
            yield f"{key}: {text} is no date; write 2026, 2026-09 or 2026-09-11"
        else:
            if later:
                yield f"{key}: {text} lies in the future"


def _launch(device: Device, day: date) -> Iterator[str]:
    if device.launched is None or device.availability == "announced":
        return
    try:
        if first_day(device.launched) > day:
            yield f"launched: {device.launched} lies in the future; is it announced?"
    except ValueError:
        yield f"launched: {device.launched} is no date; write 2026, 2026-09 or 2026-09-11"


def _mac_prices(device: Device) -> Iterator[str]:
    """Each memory size of a Mac has its own price, but for sizes announced only: then `unverified` names memory_gib."""
    if device.kind != "mac" or "memory_gib" in device.unverified:
        return
    priced = {price.memory_bytes for price in device.prices}
    for size in device.memory_options_bytes:
        if size not in priced:
            yield f"prices: none for {size / GIB:g} GiB"


def _price_class(device: Device, bounds: Bounds) -> Iterator[str]:
    """A price against what memory costs, and the street against the list."""
    listed = [price.middle for price in device.prices if price.kind == "list" and price.memory_bytes is None]
    for index, price in enumerate(device.prices):
        size = (price.memory_bytes or device.memory_options_bytes[0]) * device.gpus_on_board
        per_gib = price.middle / (size / GIB)
        if price.currency == "USD" and not bounds.least_usd_per_gib <= per_gib <= bounds.most_usd_per_gib:
            yield f"prices[{index}]: {per_gib:.2f} dollars for a GiB of memory; is it the right device or currency?"
        if price.kind == "street" and listed and price.middle > bounds.most_street_over_list * max(listed):
            yield f"prices[{index}]: {price.middle / max(listed):.1f} times the list price"


def _links(records: Records, bounds: Bounds | None) -> Iterator[Problem]:
    devices: Mapping[str, Device] = records.get("devices", {})
    having: dict[str, set[str]] = defaultdict(set)
    for device in devices.values():
        for link_id in (*device.links, *device.network):
            having[link_id].add(device.id)
    for link in records.get("links", {}).values():
        for said in (*_link(link), *_lane_rate(link, bounds), *_ends(link, having[link.id])):
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


def _ends(link: Link, having: set[str]) -> Iterator[str]:
    """A bridge or switch that no device has is of no use; one that names a device must be named by it."""
    if link.kind in ("nvlink", "fabric") and not link.devices:
        yield "devices: no device has this link"
    for device_id in link.devices:
        if device_id not in having and link.joins == "devices":
            yield f"devices: {device_id} names it neither in links nor in network: add {link.id} there, or in a patch of {device_id}"


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
    yield from _ranges(host.prices)


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
