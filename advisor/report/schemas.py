"""The JSON Schema (draft 2020-12) of each command's answer: every key is always there, unknown keys may come with a minor version."""

from collections.abc import Callable

from advisor.report.schema_parts import (
    CONDITIONS,
    COUNT,
    CURVE,
    ERROR,
    ESTIMATE_KEYS,
    FLAG,
    NUMBER,
    REASON,
    RECOMMENDATION_KEYS,
    TEXT,
    Schema,
    by_name,
    many,
    maybe,
    thing,
)


def _head(command: str) -> dict[str, Schema]:
    return {"schema_version": TEXT, "command": {"const": command}}


def _estimate() -> Schema:
    return thing(**_head("estimate"), **ESTIMATE_KEYS, conditions=maybe(CONDITIONS))


def _compare() -> Schema:
    return thing(**_head("compare"), estimates=many({"anyOf": [_estimate(), thing(system=TEXT, error=ERROR)]}))


def _scale() -> Schema:
    return thing(**_head("scale"), **CURVE, one_user=maybe(thing(**CURVE)), warnings=many(TEXT))


def _recommend() -> Schema:
    return thing(**_head("recommend"), **RECOMMENDATION_KEYS)


def _ask() -> Schema:
    understood = {"understood_as": TEXT, "not_understood": many(TEXT), "asked": many(REASON)}
    return thing(**_head("ask"), **understood, **RECOMMENDATION_KEYS)


def _batch() -> Schema:
    """A line: the answer of the request's command, or an error."""
    answers = [build() for name, build in BUILDERS.items() if name != "batch"]
    return {"anyOf": [*answers, thing(error=ERROR)]}


def _detect() -> Schema:
    device = thing(
        index=maybe(COUNT),
        name=maybe(TEXT),
        id=maybe(TEXT),
        candidates=many(TEXT),
        integrated=maybe(FLAG),
        memory_gib=maybe(NUMBER),
        memory_free_gib=maybe(NUMBER),
        driver=maybe(TEXT),
        pcie=maybe(thing(gen=maybe(NUMBER), lanes=maybe(NUMBER))),
        power_limit_w=maybe(NUMBER),
        mig=many(thing(memory_gib=maybe(NUMBER))),
        notes=many(TEXT),
    )
    return thing(
        **_head("detect"),
        devices=many(device),
        links=many(thing(a={"type": ["string", "integer"]}, b={"type": ["string", "integer"]}, kind=TEXT)),
        host=thing(ram_gib=maybe(NUMBER), os=maybe(TEXT)),
        system=maybe(TEXT),
        warnings=many(TEXT),
    )


def _calibrate() -> Schema:
    row = thing(
        system=maybe(TEXT),
        model=maybe(TEXT),
        quant=maybe(TEXT),
        test=maybe(TEXT),
        measured_tokens_per_s=maybe(NUMBER),
        estimated_tokens_per_s=maybe(NUMBER),
        ratio=maybe(NUMBER),
        accepted=FLAG,
        why=maybe(TEXT),
    )
    correction = thing(
        device=TEXT,
        devices=COUNT,
        engine=TEXT,
        decode_factor=maybe(NUMBER),
        prefill_factor=maybe(NUMBER),
        rows=COUNT,
        date=TEXT,
        saved=FLAG,
    )
    return thing(**_head("calibrate"), rows=many(row), memory=many(_loaded()), correction=maybe(many(correction)), warnings=many(TEXT))


def _loaded() -> Schema:
    """The memory that one load logs, beside the estimate of it."""
    parts = thing(**{key: maybe(NUMBER) for key in ("weights_gib", "kv_cache_gib", "overhead_gib", "total_gib")})
    return thing(
        source=TEXT,
        system=maybe(TEXT),
        model=maybe(TEXT),
        context_tokens=maybe(COUNT),
        devices=many(TEXT),
        gpu_share=maybe(NUMBER),
        measured=parts,
        estimated=maybe(parts),
    )


def _accuracy() -> Schema:
    group = thing(name=TEXT, rows=COUNT, median_abs_error=maybe(NUMBER), within_30_percent=maybe(NUMBER), inside_interval=maybe(NUMBER))
    apart = thing(median_share=NUMBER, within_30_percent_share=NUMBER, inside_interval_share=NUMBER)
    worst = thing(
        id=TEXT,
        kind=TEXT,
        system=TEXT,
        model=TEXT,
        quant=maybe(TEXT),
        users=maybe(COUNT),
        prompt_tokens=COUNT,
        measured_tokens_per_s=NUMBER,
        estimated_tokens_per_s=NUMBER,
        low_tokens_per_s=NUMBER,
        high_tokens_per_s=NUMBER,
        ratio=NUMBER,
        source=TEXT,
    )
    return thing(
        **_head("accuracy"),
        groups=many(group),
        kept_out=by_name(by_name(apart)),
        repeated=many(thing(kind=TEXT, rows=COUNT, median_abs_error=maybe(NUMBER))),
        worst=many(worst),
        compared=COUNT,
        refused=many(thing(id=TEXT, kind=TEXT, why=TEXT)),
    )


def _list() -> Schema:
    return thing(**_head("list"), kind=TEXT, records=many({"type": "object"}))


def _show(command: str = "show", **keys: Schema) -> Schema:
    figure = thing(key=TEXT, value={}, unit=maybe(TEXT), source=maybe(TEXT), url=maybe(TEXT), seen=maybe(TEXT), unverified=FLAG)
    return thing(**_head(command), kind=TEXT, id=TEXT, record={"type": "object"}, figures=many(figure), note=maybe(TEXT), **keys)


def _add() -> Schema:
    """The record as `show` has it, where it lies, and what the check of contributions says of it."""
    return _show("add", path=TEXT, problems=many(_problem()))


def _problem() -> Schema:
    return thing(file=TEXT, line=COUNT, key=TEXT, message=TEXT)


def _check() -> Schema:
    return thing(**_head("check"), valid=FLAG, problems=many(_problem()), files=COUNT, records=by_name(COUNT))


BUILDERS: dict[str, Callable[[], Schema]] = {
    "estimate": _estimate,
    "compare": _compare,
    "scale": _scale,
    "recommend": _recommend,
    "ask": _ask,
    "batch": _batch,
    "detect": _detect,
    "calibrate": _calibrate,
    "accuracy": _accuracy,
    "list": _list,
    "show": _show,
    "check": _check,
    "add": _add,
}


def schema(command: str) -> Schema:
    """The schema of a command's `--json` answer; a command that ends in an error gives `error` instead."""
    failed = thing(schema_version=TEXT, command=maybe(TEXT), error=ERROR)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"advisor {command} --json",
        "anyOf": [BUILDERS[command](), failed],
    }
