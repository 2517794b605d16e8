"""Why a step takes as long as it does: its longest terms as reasons."""

from collections.abc import Iterator

from advisor.collective import spent
from advisor.correction import Correction, Doubt
from advisor.pace import Runner
from advisor.placement import Part, Placement
from advisor.reason import Fact, Reason
from advisor.step import Terms
from advisor.system import System
from advisor.units import DAY_S

WORTH_SAYING = 0.1  # share of the step from which a term is named


def reasons(terms: Terms, runner: Runner, placement: Placement, users: int) -> tuple[Reason, ...]:
    """One reason for each term that is worth a word, the longest first."""
    slowest = max(placement.parts, key=lambda part: _read_bytes(part, runner, users) / part.device.bandwidth_bytes_per_s)
    found = [*_device_terms(terms, slowest, runner, users), *_link_terms(terms, runner, placement, users)]
    found.sort(key=lambda each: -each[0])
    return tuple(reason for seconds, reason in found if seconds >= WORTH_SAYING * terms.total_s)


SWAPS_PER_DAY = 10  # of models, for the share of a day that a device waits for weights
TELLING_SHARE = 0.01  # chosen: nobody minds a smaller part of the day
IN_A_DAY = DAY_S / SWAPS_PER_DAY


def waiting(load_s: float | None, storage: str) -> tuple[Reason, ...]:
    """How long loading starves the devices, and what that comes to for whoever swaps models."""
    share = min(1.0, (load_s or 0.0) / IN_A_DAY)
    if load_s is None or share < TELLING_SHARE:
        return ()
    return (Reason("load.wait", {"load_s": load_s, "storage": storage, "swaps_per_day": SWAPS_PER_DAY, "waiting_share": share}),)


def stops(runner: Runner, placement: Placement, devices: int, boxes: int) -> tuple[Reason, ...]:
    """Unexpected stops to reckon with on several devices: replicas fail alone, one box of a split stops all of it."""
    if devices == 1:
        return ()
    known = runner.links.interruptions
    facts: dict[str, Fact] = {"devices": devices, "boxes": boxes, "stops_per_year": known.per_device_year * devices,
                              "stops_per_device_year": known.per_device_year}  # fmt: skip
    if placement.groups == 1:
        return (Reason("stops.together", facts, (known.source,)),)
    each = devices / placement.groups
    group = {"groups": placement.groups, "devices_each": each}
    return (Reason("stops.alone" if each == 1 else "stops.group", {**facts, **group}, (known.source,)),)


def _read_bytes(part: Part, runner: Runner, users: float) -> float:
    weights = runner.weights
    experts = part.expert_share * weights.expert_bytes * weights.experts_touched_share(users, runner.calibration.routing_exponent)
    return part.dense_share * weights.dense_bytes + part.head_share * weights.head_bytes + experts


def _device_terms(terms: Terms, part: Part, runner: Runner, users: int) -> Iterator[tuple[float, Reason]]:
    device, total = part.device, terms.total_s
    common: dict[str, Fact] = {"device": device.id, "total_s": total}
    rate = {"bandwidth_bytes_per_s": device.bandwidth_bytes_per_s}
    sources = tuple(source.url or source.title for source in device.sources[:1])
    read = _read_bytes(part, runner, users)
    yield terms.weights_s, Reason("decode.weights", {**common, **rate, "read_bytes": read, "term_s": terms.weights_s}, sources)
    yield terms.cache_s, Reason("decode.cache", {**common, **rate, "users": users, "term_s": terms.cache_s}, sources)
    yield terms.compute_s, Reason("decode.compute", {**common, "users": users, "term_s": terms.compute_s})
    host: dict[str, Fact] = {"term_s": terms.host_memory_s, "host_bytes_per_s": runner.host_bytes_per_s}
    yield terms.host_memory_s, Reason("decode.host-memory", {**common, **host})
    yield terms.overhead_s, Reason("decode.overhead", {**common, "layers": runner.weights.layers, "term_s": terms.overhead_s})


def _link_terms(terms: Terms, runner: Runner, placement: Placement, users: int) -> Iterator[tuple[float, Reason]]:
    for message in placement.messages:
        each = spent(message, users, runner.links)
        facts: dict[str, Fact] = {
            "link": message.link.id,
            "kind": message.kind,
            "messages": message.per_step,
            "devices": message.ranks,
            "message_bytes": message.bytes_per_token * users,
            "software": message.software,
            "total_s": terms.total_s,
        }
        sources = (runner.links.latency(message.software, message.link, message.ranks).source,)
        yield each.latency_s, Reason("decode.link-latency", {**facts, "term_s": each.latency_s}, sources)
        yield each.bandwidth_s, Reason("decode.link-bandwidth", {**facts, "term_s": each.bandwidth_s}, sources)


def corrected(known: Correction, device_id: str, engine_id: str) -> tuple[Reason, ...]:
    """By how much the owner's own measurements change the speeds."""
    facts: dict[str, Fact] = {"device": device_id, "engine": engine_id, "rows": known.rows, "date": known.date}
    facts |= {"decode_factor": known.decode_factor, "prefill_factor": known.prefill_factor}
    what = "" if known.prefill_factor is None else "-prompts" if known.decode_factor is None else "-both"
    return (Reason(f"calibration.local{what}", facts),)


def unmeasured(doubt: Doubt, system: System, engine_id: str) -> tuple[Reason, ...]:
    """That the owner measured less than estimated beside this run, and not this run itself."""
    facts: dict[str, Fact] = {"system": system.words, "engine": engine_id, "devices": system.count, **doubt.facts}
    return (Reason(f"calibration.unmeasured-{doubt.what}", facts),)
