"""Answers as JSON objects: the keys of the promise, always present, floats as computed. See docs/json.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.answers import Compared, Estimated, Recommended, Refused, Scaled
from advisor.report.again import again
from advisor.report.sentences import text
from advisor.system import System, spec
from advisor.units import GIB, MS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from advisor.advice import Condition, Flip, Recommendation, Road, Rung, SecondGpu, Setting, Verdict
    from advisor.market import Cost
    from advisor.memory import DeviceFit, Fit
    from advisor.need import Need, Workload
    from advisor.reason import Reason
    from advisor.scale import Point, Scale
    from advisor.speed import Estimate, Speed
    from advisor.step import Terms

SCHEMA_VERSION = "1.0"
Json = dict[str, Any]


def _head(command: str) -> Json:
    return {"schema_version": SCHEMA_VERSION, "command": command}


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


def memory(fit: Fit) -> Json:
    """Sums over the devices, copies included, and each device for itself; host memory apart."""
    per_device = [_device_memory(each) for each in fit.devices for _ in range(each.count)]
    keys = ("usable_gib", "weights_gib", "kv_cache_gib", "overhead_gib", "headroom_gib")
    sums = {key: sum(each[key] for each in per_device) for key in keys}
    return {
        "needed_gib": sums["weights_gib"] + sums["kv_cache_gib"] + sums["overhead_gib"],
        **sums,
        "max_context_tokens": fit.max_context_tokens,
        "max_users": fit.max_users,
        "host_needed_gib": fit.host_needed_bytes / GIB,
        "host_usable_gib": None if fit.host_usable_bytes is None else fit.host_usable_bytes / GIB,
        "per_device": per_device,
    }


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
    rows = [{"id": row.id, "decode_tokens_per_s": row.decode_tokens_per_s, "source": row.source} for row in given.evidence.nearest]
    return {"basis": given.evidence.basis, "nearest": rows}


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


def _estimate_body(given: Estimate, cost: Cost, model: str | None = None) -> Json:
    """The keys of an estimate; also what a road of a recommendation carries."""
    amdahl = None
    if given.amdahl_serial_fraction is not None:
        amdahl = {"serial_fraction": given.amdahl_serial_fraction, "ceiling": given.amdahl_ceiling}
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
        "amdahl": amdahl,
        "verify": given.verify,
        "again": again(given, model),
        "evidence": _evidence(given),
        "cost": _cost(cost, given),
        "reasons": reasons(given.reasons),
        "warnings": texts((*given.warnings, *cost.warnings)),
    }


def estimate(answer: Estimated) -> Json:
    """`advisor estimate`."""
    conditions = _conditions(answer.conditions) if answer.conditions else None
    return {**_head("estimate"), **_estimate_body(answer.estimate, answer.cost), "conditions": conditions}


def error(refused: Refused) -> Json:
    """A system that cannot be estimated, in its place of a comparison."""
    raised = refused.error
    return {
        "system": refused.system,
        "error": {"code": raised.code, "message": raised.message, "exit_code": raised.exit_code, "nearest": list(raised.nearest)},
    }


def compare(answer: Compared) -> Json:
    """`advisor compare`."""
    return {
        **_head("compare"),
        "estimates": [estimate(item) if isinstance(item, Estimated) else error(item) for item in answer.items],
    }


def _point(point: Point, cost: Cost | None) -> Json:
    given = point.estimate
    return {
        "devices": point.devices,
        "fits": given.fit.fits if given else False,
        "strategy": given.placement.strategy if given else None,
        "decode_tokens_per_s": speed(given.decode) if given else None,
        "decode_tokens_per_s_per_user": speed(given.decode_per_user) if given else None,
        "prefill_tokens_per_s": speed(given.prefill) if given else None,
        "first_token_s": speed(given.first_token_s) if given else None,
        "sustained_tokens_per_s": speed(given.sustained) if given else None,
        "speedup": point.speedup,
        "efficiency": point.efficiency,
        "link_share": point.link_share,
        "price_usd": cost.price_usd if cost else None,
        "power_w": cost.power_w if cost else None,
        "usd_per_million_tokens": cost.usd_per_million_tokens if cost else None,
        "usd_per_tokens_per_s": _each(point, cost),
        "engine": given.placement.engine if given else None,
        "because": reason(point.reason) if point.reason else None,
    }


def _each(point: Point, cost: Cost | None) -> float | None:
    """Price for each token/s of all users together."""
    speed_now = point.decode_tokens_per_s
    return cost.price_usd / speed_now if cost and cost.price_usd is not None and speed_now else None


def _scale(found: Scale, costs: tuple[Cost | None, ...]) -> Json:
    """A curve with its best count, the one from which it gets slower, and Amdahl's ceiling."""
    amdahl = None
    if found.serial_fraction is not None:
        amdahl = {"serial_fraction": found.serial_fraction, "ceiling": found.ceiling}
    return {
        "points": [_point(point, cost) for point, cost in zip(found.points, costs, strict=True)],
        "best_devices": found.best_devices,
        "slower_from_devices": found.slower_from_devices,
        "amdahl": amdahl,
    }


def scale(answer: Scaled) -> Json:
    """`advisor scale`; `one_user`: the same curve for a single user, where more were asked."""
    found = answer.scale
    alone = _scale(found.one_user, answer.one_user_costs) if found.one_user else None
    return {**_head("scale"), **_scale(found, answer.costs), "one_user": alone, "warnings": texts(found.warnings)}


def _need(need: Need, have: str | None) -> Json:
    return {
        "model": need.model,
        "quant": need.quant,
        "kv_quant": need.kv_quant,
        **workload(need.workload),
        "min_tokens_per_s": need.min_tokens_per_s,
        "max_first_token_s": need.max_first_token_s,
        "budget_usd": need.budget_usd,
        "prefer": need.prefer,
        "consider": list(need.consider),
        "new_only": need.new_only,
        "sell_old": need.sell_old,
        "have": have,
    }


def _words(given: System | None, estimated: Estimate | None) -> str | None:
    """The SYSTEM words of what is advised, with the engine and strategy of its estimate."""
    shown = estimated.system if estimated else given
    return spec(shown) if shown else None


def _verdict(given: Verdict) -> Json:
    return {
        "kind": given.kind,
        "system": _words(given.system, given.estimate),
        "answer": text(given.answer),
        "meets_need": given.meets_need,
        "confidence": given.confidence,
        "spend_usd": given.spend_usd,
        "resale_usd": given.resale_usd,
        "facts": dict(given.answer.facts),
    }


def road(given: Road, model: str | None = None) -> Json:
    """One kind of answer, with its best candidate or why there is none. `model`: the words that named it."""
    cost = given.cost
    return {
        "kind": given.kind,
        "status": given.status,
        "system": _words(given.system, given.estimate),
        "estimate": _estimate_body(given.estimate, cost, model) if given.estimate and cost else None,
        "spend_usd": given.spend_usd,
        "resale_usd": given.resale_usd,
        "price_usd": cost.price_usd if cost else None,
        "power_w": cost.power_w if cost else None,
        "usd_per_million_tokens": cost.usd_per_million_tokens if cost else None,
        "because": reasons(given.because),
    }


def _second(given: SecondGpu | None) -> Json | None:
    if given is None:
        return None
    return {"answer": given.answer, "text": text(given.text), "because": reasons(given.because), "facts": dict(given.text.facts)}


def _condition(given: Condition | None) -> Json:
    if given is None:
        return {"met": None, "text": None, "facts": {}, "change": None}
    change = reason(given.change) if given.change else None
    return {"met": given.met, "text": text(given.text), "facts": dict(given.text.facts), "change": change}


def _conditions(given: Mapping[str, Condition]) -> Json:
    """The three conditions for more devices to mean more speed."""
    return {name: _condition(given.get(name)) for name in ("software", "link", "model")}


def _flip(given: Flip) -> Json:
    return {
        "if": text(given.when),
        "then": text(given.then),
        "kind": given.kind,
        "kind_before": given.kind_before,
        "wish": given.wish,
        "before": given.before,
        "value": given.value,
        "facts": {**given.then.facts, **given.when.facts},
    }


def _setting(given: Setting) -> Json:
    facts = {**given.text.facts, **(given.gain.facts if given.gain else {})}
    return {"text": text(given.text), "command": given.command, "gain": text(given.gain) if given.gain else None, "facts": facts}


def _rung(given: Rung) -> Json:
    return {"label": given.label, "model": given.model, "roads": [road(each) for each in given.roads]}


def _recommendation(given: Recommendation) -> Json:
    return {
        "need": _need(given.need, given.have_words),
        "verdict": _verdict(given.verdict),
        "second_gpu": _second(given.second_gpu),
        "roads": [road(each, given.need.model) for each in given.roads],
        "conditions": _conditions(given.conditions),
        "flips": [_flip(each) for each in given.flips],
        "settings": [_setting(each) for each in given.settings],
        "ladder": None if given.ladder is None else [_rung(each) for each in given.ladder],
        "assumptions": texts(given.assumptions),
        "catalog": {"version": given.catalog_version, "overlays": list(given.overlays), "prices_as_of": given.prices_as_of},
        "warnings": texts(given.warnings),
        "assumption_reasons": reasons(given.assumptions),
        "warning_reasons": reasons(given.warnings),
    }


def recommend(answer: Recommended) -> Json:
    """`advisor recommend`."""
    return {**_head("recommend"), **_recommendation(answer.recommendation)}


def ask(answer: Recommended) -> Json:
    """`advisor ask`: a recommendation, and how the question was understood."""
    understood = {"understood_as": answer.understood_as, "not_understood": list(answer.not_understood), "asked": reasons(answer.asked)}
    return {**_head("ask"), **understood, **_recommendation(answer.recommendation)}


OBJECTS: dict[str, Callable[[Any], Json]] = {"estimate": estimate, "compare": compare, "scale": scale, "recommend": recommend, "ask": ask}
