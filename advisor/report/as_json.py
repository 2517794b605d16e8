"""Answers as JSON objects: the keys of the promise, always present, floats as computed. See docs/json.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.answers import Compared, Estimated, Recommended, Refused, Scaled, cheapest, usd_per_tokens_per_s
from advisor.report.advice_json import recommendation
from advisor.report.again import said, said_of
from advisor.report.estimate_json import Json, amdahl, conditions, estimate_body, memory_sums, reason, reasons, speed, texts
from advisor.report.head import head

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.market import Cost
    from advisor.scale import Point, Scale


def estimate(answer: Estimated) -> Json:
    """`advisor estimate`."""
    met = conditions(answer.conditions) if answer.conditions else None
    return {**head("estimate"), **estimate_body(answer.estimate, answer.cost, said(answer.request, answer.overlays)), "conditions": met}


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
        **head("compare"),
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
        "memory": memory_sums(given.fit) if given else None,
        "speedup": point.speedup,
        "efficiency": point.efficiency,
        "link_share": point.link_share,
        "price_usd": cost.price_usd if cost else None,
        "power_w": cost.power_w if cost else None,
        "usd_per_million_tokens": cost.usd_per_million_tokens if cost else None,
        "usd_per_tokens_per_s": usd_per_tokens_per_s(point, cost),
        "engine": given.placement.engine if given else None,
        "because": reason(point.reason) if point.reason else None,
        "no_faster_because": reason(point.no_faster) if point.no_faster else None,
    }


def _scale(found: Scale, costs: tuple[Cost | None, ...]) -> Json:
    """A curve with its best count, the one from which it gets slower, and Amdahl's ceiling."""
    return {
        "points": [_point(point, cost) for point, cost in zip(found.points, costs, strict=True)],
        "best_devices": found.best_devices,
        "cheapest_devices": cheapest(found, costs),
        "slower_from_devices": found.slower_from_devices,
        "amdahl": amdahl(found.serial_fraction, found.ceiling),
    }


def scale(answer: Scaled) -> Json:
    """`advisor scale`; `one_user`: the same curve for a single user, where more were asked."""
    found = answer.scale
    alone = _scale(found.one_user, answer.one_user_costs) if found.one_user else None
    return {**head("scale"), **_scale(found, answer.costs), "one_user": alone, "warnings": texts(found.warnings)}


def recommend(answer: Recommended) -> Json:
    """`advisor recommend`."""
    return {**head("recommend"), **recommendation(answer.recommendation, said_of(answer))}


def ask(answer: Recommended) -> Json:
    """`advisor ask`: a recommendation, and how the question was understood."""
    understood = {"understood_as": answer.understood_as, "not_understood": list(answer.not_understood), "asked": reasons(answer.asked)}
    return {**head("ask"), **understood, **recommendation(answer.recommendation, said_of(answer))}


OBJECTS: dict[str, Callable[[Any], Json]] = {"estimate": estimate, "compare": compare, "scale": scale, "recommend": recommend, "ask": ask}
