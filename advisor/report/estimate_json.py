"""The JSON of an estimate, and of what other answers share with it: figures, reasons, systems, work, memory, cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.report.again import Said, again
from advisor.report.sentences import text
from advisor.system import System, spec
from advisor.units import GIB, MS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.advice import Condition
    from advisor.evidence import Nearest
    from advisor.market import Cost
    from advisor.memory import DeviceFit, Fit
    from advisor.need import Workload
    from advisor.reason import Reason
    from advisor.speed import Estimate, Speed
    from advisor.step import Terms

Json = dict[str, Any]


def speed(figure: Speed | None) -> Json | None:
    """A figure with its 80 % interval."""
    return None if figure is None else {"value": figure.value, "low": figure.low, "high": figure.high}


def reason(claim: Reason) -> Json:
    """A claim with its sentence, its numbers and its sources."""
    return {"code": claim.code, "text": text(claim), "facts": dict(claim.facts), "sources": list(claim.sources)}


def reasons(claims: tuple[Reason, ...]) -> list[Json]:
    """Claims in their order."""
    return [reason(claim) for claim in claims]


def texts(claims: tuple[Reason, ...]) -> list[str]:
    """Only the sentences."""
    return [text(claim) for claim in claims]


def system(given: System, price_usd: float | None, power_w: float | None, estimate: Estimate | None = None) -> Json:
    """What is on the bill; strategy and engine are those of the estimate where the words left them open."""
    shown = given if estimate is None else estimate.system
    counts: dict[tuple[str, float], int] = {}
    for group in given.groups:
        key = group.device.id, group.memory_bytes
        counts[key] = counts.get(key, 0) + group.count
    link = shown.shown_link
    inner = shown.boxes[0].link if len(shown.boxes) > 1 else None
    return {
        "spec": spec(shown),
        "devices": [{"id": name, "count": count, "memory_gib": size / GIB} for (name, size), count in counts.items()],
        "link": link.id if link else None,
        "inner_link": inner.id if inner else None,
        "strategy": estimate.placement.strategy if estimate else shown.strategy,
        "engine": estimate.placement.engine if estimate else shown.engine.id if shown.engine else None,
        "backend": estimate.placement.backend if estimate else shown.backend.id if shown.backend else None,
        "hosts": [box.host.id for box in shown.boxes if box.host],
        "price_usd": price_usd,
        "power_w": power_w,
    }


def workload(given: Workload) -> Json:
    """How much is asked at once."""
    return {
        "users": given.users,
        "context_tokens": given.context_tokens,
        "prompt_tokens": given.prompt_tokens,
        "generate_tokens": given.generate_tokens,
    }


def _model(given: Estimate) -> Json:
    weights = given.weights
    return {
        "id": given.model.id,
        "params": weights.params,
        "mtp_params": weights.mtp_params,
        "active_params": weights.active_params,
        "quant": given.quant.id,
        "bits_per_weight": weights.bits_per_weight,
        "kv_quant": given.kv_quant,
        "weights_gib": weights.total_bytes / GIB,
        "kv_cache_bytes_per_token": given.cache_bytes_per_token,
    }


def _device_memory(fit: DeviceFit) -> Json:
    return {
        "id": fit.device,
        "usable_gib": fit.usable_bytes / GIB,
        "weights_gib": fit.weights_bytes / GIB,
        "kv_cache_gib": fit.cache_bytes / GIB,
        "overhead_gib": fit.overhead_bytes / GIB,
        "headroom_gib": fit.headroom_bytes / GIB,
    }


def memory_sums(fit: Fit) -> Json:
    """Sums over the devices, copies included; host memory apart."""
    kinds = [(_device_memory(each), each.count) for each in fit.devices]
    keys = ("usable_gib", "weights_gib", "kv_cache_gib", "overhead_gib", "headroom_gib")
    sums = {key: sum(each[key] * count for each, count in kinds) for key in keys}
    return {
        "needed_gib": sums["weights_gib"] + sums["kv_cache_gib"] + sums["overhead_gib"],
        **sums,
        "max_context_tokens": fit.max_context_tokens,
        "max_users": fit.max_users,
        "host_needed_gib": fit.host_needed_bytes / GIB,
        "host_usable_gib": None if fit.host_usable_bytes is None else fit.host_usable_bytes / GIB,
    }


def memory(fit: Fit) -> Json:
    """The sums, and each device for itself."""
    return {**memory_sums(fit), "per_device": [_device_memory(each) for each in fit.devices for _ in range(each.count)]}


def _speeds(given: Estimate) -> Json:
    return {
        "decode_tokens_per_s": speed(given.decode),
        "decode_tokens_per_s_per_user": speed(given.decode_per_user),
        "prefill_tokens_per_s": speed(given.prefill),
        "first_token_s": speed(given.first_token_s),
        "sustained_tokens_per_s": speed(given.sustained),
    }


def _terms(terms: Terms | None) -> Json | None:
    if terms is None:
        return None
    return {
        "weights": terms.weights_s / MS,
        "kv_cache": terms.cache_s / MS,
        "compute": terms.compute_s / MS,
        "host_memory": terms.host_memory_s / MS,
        "link": terms.link_s / MS,
        "overhead": terms.overhead_s / MS,
        "total": terms.total_s / MS,
    }


def _evidence(given: Estimate) -> Json:
    found = given.evidence
    return {
        "basis": found.basis,
        "own_rows": found.own_rows,
        "architecture": found.architecture,
        "family_rows": found.family_rows,
        "host_rows": found.host_rows,
        "nearest": [_nearest(row) for row in found.nearest],
    }


def _nearest(row: Nearest) -> Json:
    return {
        "id": row.id,
        "decode_tokens_per_s": row.decode_tokens_per_s,
        "devices": [{"id": device, "count": count} for device, count in row.devices],
        "engine": row.engine,
        "model": row.model,
        "quant": row.quant,
        "users": row.users,
        "source": row.source,
    }


def _parts(cost: Cost) -> list[Json]:
    """The bill, line by line: the prices sum to `price_usd`."""
    return [
        {
            "id": line.what,
            "name": line.name,
            "count": line.count,
            "usd": line.usd,
            "total_usd": None if line.usd is None else line.count * line.usd,
            "owned": line.owned,
            "condition": line.condition,
            "price_as_of": line.as_of,
        }
        for line in cost.lines
    ]


def _cost(cost: Cost, given: Estimate) -> Json:
    return {
        "price_usd": cost.price_usd,
        "price_as_of": cost.price_as_of,
        "power_w": cost.power_w,
        "usd_per_million_tokens": cost.usd_per_million_tokens,
        "load_s": given.load_s,
        "interruptions_per_year": given.interruptions_per_year,
        "parts": _parts(cost),
    }


def amdahl(serial_fraction: float | None, ceiling: float | None) -> Json | None:
    """How much more devices can bring at the most; None where one device is all there is."""
    return None if serial_fraction is None else {"serial_fraction": serial_fraction, "ceiling": ceiling}


def estimate_body(given: Estimate, cost: Cost, stated: Said) -> Json:
    """The keys of an estimate; also what a road of a recommendation carries."""
    return {
        "system": system(given.system, cost.price_usd, cost.power_w, given),
        "workload": workload(given.workload),
        "model": _model(given),
        "fits": given.fit.fits,
        "memory": memory(given.fit),
        "speed": _speeds(given),
        "time_per_token_ms": _terms(given.terms),
        "bottleneck": given.bottleneck,
        "speedup_over_one_device": given.speedup_over_one_device,
        "amdahl": amdahl(given.amdahl_serial_fraction, given.amdahl_ceiling),
        "verify": given.verify,
        "again": again(given, stated),
        "evidence": _evidence(given),
        "cost": _cost(cost, given),
        "reasons": reasons(given.reasons),
        "warnings": texts((*given.warnings, *cost.warnings)),
    }


def _condition(given: Condition | None) -> Json:
    if given is None:
        return {"met": None, "text": None, "facts": {}, "change": None}
    change = reason(given.change) if given.change else None
    return {"met": given.met, "text": text(given.text), "facts": dict(given.text.facts), "change": change}


def conditions(given: Mapping[str, Condition]) -> Json:
    """The three conditions for more devices to mean more speed."""
    return {name: _condition(given.get(name)) for name in ("software", "link", "model")}
