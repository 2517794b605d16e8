"""The JSON of a recommendation: the need, the verdict, the roads, and what would change the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.again import Said
from advisor.report.estimate_json import Json, conditions, estimate_body, reasons, texts, workload
from advisor.report.sentences import text
from advisor.system import System, spec

if TYPE_CHECKING:
    from advisor.advice import Flip, Recommendation, Road, Rung, SecondGpu, Setting, Verdict
    from advisor.need import Need
    from advisor.speed import Estimate


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


def road(given: Road, stated: Said) -> Json:
    """One kind of answer, with its best candidate or why there is none."""
    cost = given.cost
    return {
        "kind": given.kind,
        "status": given.status,
        "system": _words(given.system, given.estimate),
        "estimate": estimate_body(given.estimate, cost, stated) if given.estimate and cost else None,
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


def _flip(given: Flip) -> Json:
    return {
        "if": text(given.when),
        "then": text(given.then),
        "kind": given.kind,
        "kind_before": given.kind_before,
        "wish": given.wish,
        "before": given.before,
        "value": given.value,
        "device": given.device,
        "facts": {**given.then.facts, **given.when.facts},
    }


def _setting(given: Setting) -> Json:
    said = (given.text, *given.also)
    facts = {name: fact for each in (*said, *((given.gain,) if given.gain else ())) for name, fact in each.facts.items()}
    return {"text": " ".join(map(text, said)), "command": given.command, "gain": text(given.gain) if given.gain else None, "facts": facts}


def _rung(given: Rung, stated: Said) -> Json:
    return {"label": given.label, "model": given.model, "roads": [road(each, stated) for each in given.roads]}


def recommendation(given: Recommendation, stated: Said) -> Json:
    """What `recommend` and `ask` both answer."""
    return {
        "need": _need(given.need, given.have_words),
        "verdict": _verdict(given.verdict),
        "second_gpu": _second(given.second_gpu),
        "roads": [road(each, stated) for each in given.roads],
        "conditions": conditions(given.conditions),
        "passed_over": [road(each, stated) for each in given.passed_over],
        "remarks": reasons(given.remarks),
        "flips": [_flip(each) for each in given.flips],
        "settings": [_setting(each) for each in given.settings],
        "ladder": None if given.ladder is None else [_rung(each, stated) for each in given.ladder],
        "assumptions": texts(given.assumptions),
        "catalog": {"version": given.catalog_version, "overlays": list(given.overlays), "prices_as_of": given.prices_as_of},
        "warnings": texts(given.warnings),
        "assumption_reasons": reasons(given.assumptions),
        "warning_reasons": reasons(given.warnings),
    }
