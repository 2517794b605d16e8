"""What the JSON answers are made of, as JSON Schema (draft 2020-12): a speed, a system, a reason, a road, a point of a curve."""

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


def by_name(kind: Schema) -> Schema:
    """An object of such things under any names."""
    return {"type": "object", "additionalProperties": kind}


def thing(**keys: Schema) -> Schema:
    """An object whose keys are always there."""
    return {"type": "object", "properties": keys, "required": list(keys)}


SPEED = thing(value=NUMBER, low=NUMBER, high=NUMBER)
FACTS = by_name(FACT)
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
        "device": maybe(TEXT),
        "facts": FACTS,
    },
    "required": ["if", "then", "kind", "kind_before", "wish", "before", "value", "device", "facts"],
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
    no_faster_because=maybe(REASON),
)
CURVE = {
    "points": many(POINT),
    "best_devices": maybe(COUNT),
    "cheapest_devices": maybe(COUNT),
    "slower_from_devices": maybe(COUNT),
    "amdahl": AMDAHL,
}
