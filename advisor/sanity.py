"""What is well written and still cannot be: figures of devices that contradict each other, their kind, or other records."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from advisor.bounds import RATES, Bounds, written
from advisor.device import LOOSE, SHARING, Device
from advisor.link import Link
from advisor.price import first_day
from advisor.sanity_joins import SLACK, Problem, Records, dates, joins, price_ranges, unsure
from advisor.units import BITS_PER_BYTE, GB, GBIT, GIB
from advisor.yamlcheck import did_you_mean

LANES = (1, 2, 4, 8, 16)
SHORT_WORD = 4  # letters: of shorter words one is easily taken for another


def problems(records: Records, today: date | None = None) -> Iterator[Problem]:
    """Every contradiction in and between devices, links, hosts and money: (kind, id, `key: message`)."""
    day = today or date.today()
    bounds = next(iter(records.get("bounds", {}).values()), None)
    yield from _devices(records, bounds, day)
    yield from joins(records, bounds, day)


def _devices(records: Records, bounds: Bounds | None, day: date) -> Iterator[Problem]:
    devices: Mapping[str, Device] = records.get("devices", {})
    peers, money = _peer_ratios(devices.values()), next(iter(records.get("money", {}).values()), None)
    links: Mapping[str, Link] = records.get("links", {})
    called, chips = _by_name(devices.values()), _chips_of_ids(devices.values())
    for device in devices.values():
        for said in (*_memory(device), *_names(device, devices, called), *_class(device), *_slots(device, links), *_chip(device, chips)):
            yield "devices", device.id, said
        for said in (*price_ranges(device.prices, money), *dates(device.prices, device.sources, day), *_mac_prices(device)):
            yield "devices", device.id, said
        yield from (("devices", device.id, said) for said in (*_launch(device, day), *unsure(Device, device), *_family(device, devices)))
        if bounds is not None:
            of_bounds = (*_pin_rate(device, bounds), *_rates(device, peers, bounds), *_price_class(device, bounds), *_size(device, bounds))
            yield from (("devices", device.id, said) for said in of_bounds)


def _by_name(devices: Any) -> dict[str, list[str]]:
    """The devices of each name."""
    found: dict[str, list[str]] = defaultdict(list)
    for device in devices:
        found[device.name.lower()].append(device.id)
    return found


def _chips_of_ids(devices: Any) -> dict[str, dict[str, str]]:
    """The architectures of the devices that bear a PCI id, and one device of each."""
    chips: dict[str, dict[str, str]] = defaultdict(dict)
    for device in devices:
        for pci_id in device.pci_ids:
            chips[pci_id].setdefault(device.architecture, device.id)
    return chips


def _chip(device: Device, chips: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """A PCI id is of one chip; the cards on which it sits may differ in memory, not in architecture."""
    for pci_id in device.pci_ids:
        if not re.fullmatch("[0-9a-f]{4}:[0-9a-f]{4}", pci_id):
            yield f"pci_ids: {pci_id} is no vendor:device, as `lspci -nn` prints it in brackets: 10de:2204"
        others = [other for architecture, other in chips[pci_id].items() if architecture != device.architecture]
        if others:
            yield f"pci_ids: {pci_id} is that of {others[0]}, which is another chip"


def _slots(device: Device, links: Mapping[str, Link]) -> Iterator[str]:
    """Lanes come in powers of two; what joins cards in a computer stands in links, what joins computers in network."""
    if device.pcie_lanes is not None and device.pcie_lanes not in LANES:
        yield f"pcie_lanes: {device.pcie_lanes}; a slot has 1, 2, 4, 8 or 16"
    if device.needs_lanes is not None and device.needs_lanes not in LANES:
        yield f"needs_lanes: {device.needs_lanes}; a slot has 1, 2, 4, 8 or 16"
    if device.needs_lanes is not None and device.gpus_on_board == 1:
        yield "needs_lanes: only a board with several GPUs (gpus_on_board) splits its slot"
    for key, ids, scope in (("links", device.links, "in-box"), ("network", device.network, "between-boxes")):
        for link in (links[each] for each in ids if each in links):
            if link.scope != scope:
                yield f"{key}: {link.id} is {link.scope}: it belongs into {'network' if key == 'links' else 'links'}"


def _family(device: Device, devices: Mapping[str, Device]) -> Iterator[str]:
    """A lone architecture that is spelled almost as another: the calibration is looked up by it."""
    others = {other.architecture for other in devices.values() if other.id != device.id}
    word = device.architecture.rstrip("0123456789")
    if word in {other.rstrip("0123456789") for other in others} or len(device.architecture) <= SHORT_WORD:
        return  # another generation of a family known
    near = did_you_mean(device.architecture, tuple(others))
    if near:
        yield f"architecture: no other device has {device.architecture}{near}"


def _size(device: Device, bounds: Bounds) -> Iterator[str]:
    """Figures far from those of every product known: mostly another unit."""
    rate, watts, largest = device.compute.fp32_flops, device.power_w, device.largest_memory_bytes / GIB
    each = rate / device.bandwidth_bytes_per_s if rate else None
    if each is not None and not bounds.least_ops_factor <= each <= bounds.most_ops_factor:
        span = f"{bounds.least_ops_factor:g} to {bounds.most_ops_factor:g}"
        yield f"compute: fp32_tflops is {each:.3g} operations for a byte of bandwidth; chips have {span}: is it TFLOP/s, and GB/s?"
    if watts is not None and not bounds.least_power_w <= watts <= bounds.most_power_w:
        yield f"power_w: {watts:g} W; devices have {bounds.least_power_w:g} to {bounds.most_power_w:g}"
    if largest > bounds.most_memory_gib:
        yield f"memory_gib: {largest:g} is more than any device has, {bounds.most_memory_gib:g}: is it MiB?"


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
        known = tuple(each.type for each in bounds.memory_types)
        near = did_you_mean(device.memory_type, known) or f" (there are {', '.join(known)})"
        yield f"memory_type: {device.memory_type} is not known{near}; a new one has its data rates in bounds.yaml"
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


def _names(device: Device, taken: Mapping[str, Device], called: Mapping[str, list[str]]) -> Iterator[str]:
    others = [each for each in called[device.name.lower()] if each != device.id]
    if others:
        yield f"name: {others[0]} is called so too"
    for alias in device.aliases:
        if alias != device.id and alias in taken:
            yield f"aliases: {alias} is the id of another device"
    if device.variant_of is not None and (device.variant_of not in taken or device.variant_of == device.id):
        yield f"variant_of: {device.variant_of} is no other device"


def _class(device: Device) -> Iterator[str]:
    """A laptop's GPU says so and is soldered; a card is not a whole computer; a Mac is Apple's."""
    if device.kind == "laptop-gpu" and not ("laptop" in device.name.lower() or "mobile" in device.name.lower()):
        yield "name: a laptop GPU's name must say Laptop, or it is taken for the desktop card"
    if device.kind == "gpu" and "laptop" in device.name.lower():
        yield "kind: a laptop's chip is a laptop-gpu, never taken for the card of its number"
    if device.kind not in LOOSE and device.mount != "fixed":
        yield f"mount: {_article(device.kind)} is fixed"
    if device.kind in SHARING and not device.unified_memory:
        yield f"unified_memory: {_article(device.kind)} has no memory of its own: write true"
    if (device.kind == "mac") != (device.maker == "apple"):
        yield f"kind: {device.kind} by {device.maker}"


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


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
