"""The JSON Schema (draft 2020-12) of each command's answer: every key is always there, unknown keys may come with a minor version."""

from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
FACT: Schema = {"type": ["number", "string", "boolean", "null"]}
VERDICTS = (
    "keep", "change-settings", "replicas", "second-gpu", "nvlink-pair", "one-bigger-gpu", "unified-memory-machine",
    "rdma-cluster", "network-cluster", "multi-gpu-server", "new-host", "more-memory", "nothing-fits",
)  # fmt: skip


def one_of(*words: str) -> Schema:
    """One of these words."""
    return {"enum": list(words)}


def maybe(kind: Schema) -> Schema:
    """The kind, or null where nobody knows."""
    return {"anyOf": [kind, {"type": "null"}]}


def many(kind: Schema) -> Schema:
    """A list of the kind."""
    return {"type": "array", "items": kind}


def thing(**keys: Schema) -> Schema:
    """An object whose keys are always there."""
    return {"type": "object", "properties": keys, "required": list(keys)}


SPEED = thing(value=NUMBER, low=NUMBER, high=NUMBER)
FACTS: Schema = {"type": "object", "additionalProperties": FACT}
REASON = thing(code=TEXT, text=TEXT, facts=FACTS, sources=many(TEXT))
ERROR = thing(code=TEXT, message=TEXT, exit_code=COUNT, nearest=many(TEXT))
AMDAHL = maybe(thing(serial_fraction=NUMBER, ceiling=maybe(NUMBER)))
SYSTEM = thing(
    spec=TEXT,
    devices=many(thing(id=TEXT, count=COUNT, memory_gib=NUMBER)),
    link=maybe(TEXT),
    inner_link=maybe(TEXT),
    strategy=maybe(TEXT),
    engine=maybe(TEXT),
    backend=maybe(TEXT),
    hosts=many(TEXT),
    price_usd=maybe(NUMBER),
    power_w=maybe(NUMBER),
)
WORK = {"users": maybe(COUNT), "context_tokens": COUNT, "prompt_tokens": COUNT, "generate_tokens": COUNT}
MODEL = thing(
    id=TEXT,
    params=NUMBER,
    mtp_params=NUMBER,
    active_params=NUMBER,
    quant=TEXT,
    bits_per_weight=NUMBER,
    kv_quant=TEXT,
    weights_gib=NUMBER,
    kv_cache_bytes_per_token=NUMBER,
)
_PARTS = {"usable_gib": NUMBER, "weights_gib": NUMBER, "kv_cache_gib": NUMBER, "overhead_gib": NUMBER, "headroom_gib": NUMBER}
_MEMORY: dict[str, Schema] = {
    "needed_gib": NUMBER,
    **_PARTS,
    "max_context_tokens": COUNT,
    "max_users": COUNT,
    "host_needed_gib": NUMBER,
    "host_usable_gib": maybe(NUMBER),
}
MEMORY = thing(**_MEMORY, per_device=many(thing(id=TEXT, **_PARTS)))
SPEEDS = thing(
    decode_tokens_per_s=maybe(SPEED),
    decode_tokens_per_s_per_user=maybe(SPEED),
    prefill_tokens_per_s=maybe(SPEED),
    first_token_s=maybe(SPEED),
    sustained_tokens_per_s=maybe(SPEED),
)
TIMES = thing(weights=NUMBER, kv_cache=NUMBER, compute=NUMBER, host_memory=NUMBER, link=NUMBER, overhead=NUMBER, total=NUMBER)
BOTTLENECK = maybe(one_of("memory-bandwidth", "compute", "link-latency", "link-bandwidth", "host-memory", "overhead"))
EVIDENCE = thing(
    basis=one_of("measured", "calibrated", "extrapolated", "physics-only"),
    own_rows=COUNT,
    architecture=TEXT,
    family_rows=COUNT,
    host_rows=maybe(COUNT),
    nearest=many(
        thing(
            id=TEXT,
            decode_tokens_per_s=maybe(NUMBER),
            devices=many(thing(id=TEXT, count=COUNT)),
            engine=maybe(TEXT),
            model=TEXT,
            quant=maybe(TEXT),
            users=maybe(COUNT),
            source=TEXT,
        )
    ),
)
COST = thing(
    price_usd=maybe(NUMBER),
    price_as_of=maybe(TEXT),
    power_w=maybe(NUMBER),
    usd_per_million_tokens=maybe(NUMBER),
    load_s=maybe(NUMBER),
    interruptions_per_year=maybe(NUMBER),
    parts=many(
        thing(
            id=TEXT,
            name=TEXT,
            count=COUNT,
            usd=maybe(NUMBER),
            total_usd=maybe(NUMBER),
            owned=FLAG,
            condition=maybe(TEXT),
            price_as_of=maybe(TEXT),
        )
    ),
)
ESTIMATE_KEYS = {
    "system": SYSTEM,
    "workload": thing(**WORK),
    "model": MODEL,
    "fits": FLAG,
    "memory": MEMORY,
    "speed": SPEEDS,
    "time_per_token_ms": maybe(TIMES),
    "bottleneck": BOTTLENECK,
    "speedup_over_one_device": maybe(NUMBER),
    "amdahl": AMDAHL,
    "verify": TEXT,
    "again": TEXT,
    "evidence": EVIDENCE,
    "cost": COST,
    "reasons": many(REASON),
    "warnings": many(TEXT),
}
ROAD = thing(
    kind=one_of(*VERDICTS),
    status=one_of("chosen", "passed-over", "impossible"),
    system=maybe(TEXT),
    estimate=maybe(thing(**ESTIMATE_KEYS)),
    spend_usd=maybe(NUMBER),
    resale_usd=maybe(NUMBER),
    price_usd=maybe(NUMBER),
    power_w=maybe(NUMBER),
    usd_per_million_tokens=maybe(NUMBER),
    because=many(REASON),
)
NEED = thing(
    model=maybe(TEXT),
    quant=maybe(TEXT),
    kv_quant=maybe(TEXT),
    **WORK,
    min_tokens_per_s=NUMBER,
    max_first_token_s=maybe(NUMBER),
    budget_usd=maybe(NUMBER),
    prefer=one_of("cheapest", "fastest"),
    consider=many(TEXT),
    new_only=FLAG,
    sell_old=FLAG,
    have=maybe(TEXT),
)
VERDICT = thing(
    kind=one_of(*VERDICTS),
    system=maybe(TEXT),
    answer=TEXT,
    facts=FACTS,
    meets_need=FLAG,
    confidence=one_of("high", "medium", "low"),
    spend_usd=maybe(NUMBER),
    resale_usd=maybe(NUMBER),
)
SECOND_GPU = thing(answer=one_of("yes-for-speed", "yes-for-capacity", "yes-for-users", "no"), text=TEXT, because=many(REASON), facts=FACTS)
CONDITION = thing(met=maybe(FLAG), text=maybe(TEXT), facts=FACTS, change=maybe(REASON))
CONDITIONS = thing(software=CONDITION, link=CONDITION, model=CONDITION)
FLIP = {
    "type": "object",
    "properties": {
        "if": TEXT,
        "then": TEXT,
        "kind": one_of(*VERDICTS),
        "kind_before": one_of(*VERDICTS),
        "wish": TEXT,
        "before": FACT,
        "value": FACT,
        "facts": FACTS,
    },
    "required": ["if", "then", "kind", "kind_before", "wish", "before", "value", "facts"],
}
RECOMMENDATION_KEYS = {
    "need": NEED,
    "verdict": VERDICT,
    "second_gpu": maybe(SECOND_GPU),
    "roads": many(ROAD),
    "conditions": CONDITIONS,
    "flips": many(FLIP),
    "passed_over": many(ROAD),
    "remarks": many(REASON),
    "settings": many(thing(text=TEXT, command=maybe(TEXT), gain=maybe(TEXT), facts=FACTS)),
    "ladder": maybe(many(thing(label=TEXT, model=TEXT, roads=many(ROAD)))),
    "assumptions": many(TEXT),
    "catalog": thing(version=TEXT, overlays=many(TEXT), prices_as_of=TEXT),
    "warnings": many(TEXT),
    "assumption_reasons": many(REASON),
    "warning_reasons": many(REASON),
}
POINT = thing(
    devices=COUNT,
    fits=FLAG,
    strategy=maybe(TEXT),
    decode_tokens_per_s=maybe(SPEED),
    decode_tokens_per_s_per_user=maybe(SPEED),
    prefill_tokens_per_s=maybe(SPEED),
    first_token_s=maybe(SPEED),
    sustained_tokens_per_s=maybe(SPEED),
    memory=maybe(thing(**_MEMORY)),
    speedup=maybe(NUMBER),
    efficiency=maybe(NUMBER),
    link_share=maybe(NUMBER),
    price_usd=maybe(NUMBER),
    power_w=maybe(NUMBER),
    usd_per_million_tokens=maybe(NUMBER),
    usd_per_tokens_per_s=maybe(NUMBER),
    engine=maybe(TEXT),
    because=maybe(REASON),
)
CURVE = {
    "points": many(POINT),
    "best_devices": maybe(COUNT),
    "cheapest_devices": maybe(COUNT),
    "slower_from_devices": maybe(COUNT),
    "amdahl": AMDAHL,
}


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
    return thing(**_head("calibrate"), rows=many(row), correction={}, warnings=many(TEXT))


def _accuracy() -> Schema:
    group = thing(name=TEXT, rows=COUNT, median_abs_error=maybe(NUMBER), within_30_percent=maybe(NUMBER), inside_interval=maybe(NUMBER))
    return thing(**_head("accuracy"), groups=many(group), kept_out={}, repeated=many({"type": "object"}), worst=many({"type": "object"}))


def _list() -> Schema:
    return thing(**_head("list"), kind=TEXT, records=many({"type": "object"}))


def _show() -> Schema:
    figure = thing(key=TEXT, value={}, unit=maybe(TEXT), source=maybe(TEXT), url=maybe(TEXT), seen=maybe(TEXT), unverified=FLAG)
    return thing(**_head("show"), kind=TEXT, id=TEXT, record={"type": "object"}, figures=many(figure))


def _check() -> Schema:
    counts = {"type": "object", "additionalProperties": COUNT}
    return thing(**_head("check"), valid=FLAG, problems=many(TEXT), files=COUNT, records=counts)


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
}


def schema(command: str) -> Schema:
    """The schema of a command's `--json` answer; a command that ends in an error gives `error` instead."""
    failed = thing(schema_version=TEXT, command=maybe(TEXT), error=ERROR)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"advisor {command} --json",
        "anyOf": [BUILDERS[command](), failed],
    }
