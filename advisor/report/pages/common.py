"""What several answers say in the same words: a system's name, its memory bars, where a token's time goes, evidence."""

from collections.abc import Iterable

from advisor.billed import CostLine
from advisor.evidence import Evidence, Nearest
from advisor.market import Cost
from advisor.memory import DeviceFit, Fit, all_needed_bytes, all_usable_bytes
from advisor.record import replace
from advisor.report.page import PICTURE, Bar, Bars, shown
from advisor.report.sentences import text
from advisor.speed import Estimate, Speed
from advisor.step import Terms
from advisor.system import Box, System, spec
from advisor.units import GIB, MS, figure, show

LIMITS = {
    "memory-bandwidth": "the speed of the memory",
    "compute": "arithmetic",
    "link-latency": "the link's latency",
    "link-bandwidth": "the link's bandwidth",
    "host-memory": "the host's memory",
    "overhead": "fixed costs per layer",
}
BASES = {
    "measured": "this very setup was measured and published",
    "extrapolated": "extrapolated from measurements of similar hardware",
    "physics-only": "from datasheets only: no measurement is near",
}
STRATEGIES = {
    "whole": "on one device",
    "replicas": "a copy of the model on each",
    "layers": "layers split",
    "tensor": "tensor split",
    "experts": "experts shared out",
    "offload": "part in host memory",
}


def basis_words(found: Evidence) -> str:
    """What a figure rests on: this hardware's own published measurements, or only those of its kin."""
    if found.host_rows is not None and found.basis != "measured":
        return f"{_device_basis(found)}; time in host memory as in {found.host_rows} published runs of other computers"
    return _device_basis(found)


def _device_basis(found: Evidence) -> str:
    if found.basis != "calibrated":
        return BASES[found.basis]
    if found.own_rows:
        return "calibrated on published measurements of this hardware"
    rows = f"{found.family_rows} row{'' if found.family_rows == 1 else 's'}"
    return f"calibrated on its family (architecture {found.architecture}, {rows}; this very device has none of this kind)"


def nearest_words(row: Nearest) -> str:
    """A published speed with all that makes it comparable: on what, with what, of how many users."""
    devices = " + ".join(f"{f'{count} × ' if count > 1 else ''}{device}" for device, count in row.devices)
    users = "as many users as fit" if row.users is None else f"{row.users} user{'' if row.users == 1 else 's'}"
    ran = ", ".join(each for each in (" ".join(filter(None, (row.model, row.quant))), row.engine, users) if each)
    counted = ", reading the prompts counted" if row.sustained else ""
    return f"{figure(row.decode_tokens_per_s or 0)} tokens/s on {devices} ({ran}{counted})"


def _box_name(box: Box) -> str:
    counts: dict[tuple[str, float], int] = {}
    names: dict[tuple[str, float], str] = {}
    for group in box.groups:
        key = group.device.id, group.memory_bytes
        counts[key] = counts.get(key, 0) + group.count
        several = len(group.device.memory_options_bytes) > 1
        names[key] = group.device.name + (f" {figure(group.memory_bytes / GIB)} GB" if several else "")
    return " + ".join(f"{count} × {names[key]}" if count > 1 else names[key] for key, count in counts.items())


def system_name(system: System) -> str:
    """The system as one says it: 2 × GeForce RTX 3090."""
    boxes: dict[str, int] = {}
    for box in system.boxes:
        name = _box_name(box)
        boxes[name] = boxes.get(name, 0) + 1
    return " + ".join(_counted(name, count) for name, count in boxes.items())


def _counted(name: str, count: int) -> str:
    if count == 1:
        return name
    return f"{count} × ({name})" if " × " in name else f"{count} × {name}"


def short_name(system: System) -> str:
    """The system in catalog ids, without its software: for a column."""
    boxes = tuple(replace(box, link=None) for box in system.boxes)
    return spec(replace(system, boxes=boxes, link=None, strategy=None, engine=None, backend=None))


def setting(estimate: Estimate) -> str:
    """How the model runs there: engine, split, link."""
    links = [message.link for message in estimate.placement.messages]
    link = estimate.system.shown_link if estimate.system.shown_link in links else next(iter(links), None)
    over = f" over {link.name}" if link else ""
    return f"{estimate.placement.engine}/{estimate.placement.backend}, {STRATEGIES[estimate.placement.strategy]}{over}"


def memory_words(fit: Fit | None) -> str:
    """GiB needed of those usable, of all devices: for a column."""
    if fit is None:
        return "–"
    return f"{all_needed_bytes(fit.devices) / GIB:,.0f}/{all_usable_bytes(fit.devices) / GIB:,.0f}"


def used_words(fit: Fit) -> str:
    """The same in a sentence."""
    return f"{show('x_bytes', all_needed_bytes(fit.devices))} of {show('x_bytes', all_usable_bytes(fit.devices))}"


def lacking_words(fit: Fit) -> str:
    """The same where it does not fit."""
    return f"{show('x_bytes', all_needed_bytes(fit.devices))} needed, {show('x_bytes', all_usable_bytes(fit.devices))} usable"


def rate(speed: Speed | None, unit: str = "tokens/s") -> str:
    """A speed with its interval."""
    if speed is None:
        return "unknown"
    return f"{figure(speed.value)} {unit} ({figure(speed.low)} to {figure(speed.high)})"


def seconds(speed: Speed | None) -> str:
    """A time with its interval."""
    if speed is None:
        return "unknown"
    return f"{show('x_s', speed.value)} ({show('x_s', speed.low)} to {show('x_s', speed.high)})"


def _memory_bar(number: str, fit: DeviceFit) -> Bar:
    parts = (("weights", fit.weights_bytes / GIB), ("KV cache", fit.cache_bytes / GIB), ("overhead", fit.overhead_bytes / GIB))
    used = sum(value for _, value in parts)
    return Bar(f"{number}{fit.device}", parts, f"{figure(used)} of {figure(fit.usable_bytes / GIB)} GiB", fit.usable_bytes / GIB)


def _alike(devices: Iterable[DeviceFit]) -> list[tuple[DeviceFit, int]]:
    """Devices that are filled alike, once with their number."""
    counts: dict[DeviceFit, int] = {}
    for each in devices:
        one = replace(each, count=1)
        counts[one] = counts.get(one, 0) + each.count
    return list(counts.items())


def memory_bars(fit: Fit, only: str = "") -> Bars:
    """Each kind of device's memory: weights, cache, overhead, free."""
    bars = [_memory_bar(f"{count} × " if count > 1 else "", each) for each, count in _alike(fit.devices)]
    most = max(max(bar.room or 0.0, sum(value for _, value in bar.parts)) for bar in bars)
    return Bars("Memory of each device: weights, KV cache, overhead, free", tuple(bars), most, "GiB", "free", only)


def share_bars(fits: Iterable[tuple[str, Fit]], title: str) -> Bars:
    """The memory of each system's fullest device, as shares of what that device has: for devices of very different sizes."""
    bars = []
    for name, fit in fits:
        bar = _memory_bar(name, min(fit.devices, key=lambda each: each.headroom_bytes / each.usable_bytes))
        shares = tuple((part, 100 * value / (bar.room or 1.0)) for part, value in bar.parts)
        bars.append(replace(bar, parts=shares, room=100.0))
    most = max(100.0, *(sum(value for _, value in bar.parts) for bar in bars))
    return Bars(title, tuple(bars), most, "%", "free", PICTURE)


def assumed_lines(estimates: Iterable[Estimate]) -> list[tuple[str, str]]:
    """The computers around the cards where nobody named one, each once."""
    reasons = (reason for estimate in estimates for reason in estimate.reasons if reason.code == "host.assumed")
    return [("Assumed", words) for words in dict.fromkeys(map(text, reasons))]


def time_parts(terms: Terms) -> tuple[tuple[str, float], ...]:
    """Milliseconds of one token by what they are spent on, without the empty ones."""
    parts = (
        ("weights", terms.weights_s), ("KV cache", terms.cache_s), ("computing", terms.compute_s),
        ("host memory", terms.host_memory_s), ("link", terms.link_s), ("fixed costs", terms.overhead_s),
    )  # fmt: skip
    return tuple((name, spent / MS) for name, spent in parts if spent > 0)


def time_bars(times: list[tuple[str, Terms]]) -> Bars:
    """Where a token's time goes: a bar each, for forms that draw pictures."""
    bars = tuple(Bar(label, time_parts(terms), shown("x_s", terms.total_s)) for label, terms in times)
    return Bars("Where a token's time goes", bars, max(terms.total_s for _, terms in times) / MS, "ms", only=PICTURE)


def time_sentence(estimate: Estimate) -> str:
    """Where a token's time goes, and what limits it."""
    if estimate.terms is None:
        return "unknown"
    parts = ", ".join(f"{name} {figure(spent)}" for name, spent in time_parts(estimate.terms))
    limit = f"; the limit is {LIMITS[estimate.bottleneck]}" if estimate.bottleneck else ""
    return f"{shown('x_s', estimate.terms.total_s)} a token: {parts} ms{limit}"


def short_of(fit: Fit) -> str:
    """Where memory is short and by how much."""
    if fit.disk_bytes:
        return f"the host's memory is short of {show('x_bytes', fit.disk_bytes)}"
    worst = min(fit.devices, key=lambda each: each.headroom_bytes)
    if worst.headroom_bytes >= 0 and fit.host_usable_bytes is not None:
        return f"the host's memory is short of {show('x_bytes', fit.host_needed_bytes - fit.host_usable_bytes)}"
    return f"{worst.device} is short of {show('x_bytes', -worst.headroom_bytes)}"


def bill_words(cost: Cost) -> str:
    """What a price is made of, where that is more than one thing: GeForce RTX 3090 24GB $875, Desktop $2,480."""
    each = [f"{f'{line.count} × ' if line.count > 1 else ''}{line.name} {shown('x_usd', _line_usd(line))}" for line in cost.bought]
    return ", ".join(each) if len(each) > 1 else ""


def _line_usd(line: CostLine) -> float | None:
    return None if line.usd is None else line.count * line.usd
