"""A record as YAML that people read and change: datasheet units, a comment beside each key. Knows no hardware."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from advisor.record import fields
from advisor.yamlfile import Plan, Shape, plans

WIDTH = 100
PLAIN_TEXT = r"[A-Za-z(][A-Za-z0-9 ._/+()-]*[A-Za-z0-9)+]|[A-Za-z]"
READ_AS_OTHER = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
UNITS = (  # what the suffix of a key says
    ("_gb_per_s", "GB/s"),
    ("_tokens_per_s", "tokens/s"),
    ("_usd_per_kwh", "USD per kWh"),
    ("_usd_per_hour", "USD per hour"),
    ("_tflops", "TFLOP/s, dense"),
    ("_gflops", "GFLOP/s"),
    ("_tops", "TOP/s, dense"),
    ("_gib", "GiB"),
    ("_mib", "MiB"),
    ("_bytes", "bytes"),
    ("_bits", "bits"),
    ("_tokens", "tokens"),
    ("_share", "of 1"),
    ("_usd", "USD"),
    ("_ms", "ms"),
    ("_us", "µs"),
    ("_w", "W"),
    ("_s", "s"),
)


def unit_of(key: str) -> str:
    """The unit that the suffix of a YAML key states, or nothing."""
    return next((unit for suffix, unit in UNITS if key.endswith(suffix)), "")


def plans_of(record: Any) -> Mapping[str, Plan]:
    """How the fields of this record are given."""
    kind: Any = type(record)
    return plans(kind)


def encode(record: Any) -> dict[str, Any]:
    """The record as its file gives it: datasheet units, without the keys that hold their default."""
    by_name = {plan.name: plan for plan in plans_of(record).values()}
    plain = {}
    for each in fields(type(record)):
        plan, value = by_name.get(each.name), getattr(record, each.name)
        if plan is not None and (plan.required or (value is not None and value != plan.default)):
            plain[plan.key] = _written(plan.shape, plan.unit, value)
    return plain


def _written(shape: Shape, unit: float, value: Any) -> Any:
    if isinstance(value, tuple | list):
        inner = shape.inner if shape.kind == "tuple" else (shape.inner[0] if shape.inner else shape,) * len(value)
        return [_written(each, unit, item) for each, item in zip(inner, value, strict=True)]
    if isinstance(value, Mapping):
        return {key: _written(shape.inner[0], unit, item) for key, item in value.items()}
    if shape.kind == "record":
        return encode(value)
    if shape.kind == "decimal" and isinstance(value, int | float):
        return _tidy(value / unit)
    return value


def _tidy(number: float) -> float | int:
    """The number as a person would write it: whole where it is whole, without the last bits of a division."""
    rounded = float(f"{number:.12g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def lines(record: Any, plain: Mapping[str, Any], *, absent: bool = True) -> Iterator[str]:
    """The record's keys in their order, each with its unit and meaning; those not given as comments to fill in."""
    for key, plan in plans(record).items():
        if key in plain:
            yield from _entry(key, plain[key], _comment(plan))
        elif absent:
            yield f"# {key}:{_comment(plan)}"


def _comment(plan: Plan) -> str:
    words = [unit_of(plan.key), plan.about, ", ".join(plan.one_of), *_inner_keys(plan.shape)]
    said = "; ".join(word for word in words if word)
    return f"  # {said}" if said else ""


def _inner_keys(shape: Shape) -> Iterator[str]:
    """What the entries of a nested record are."""
    for each in (shape, *shape.inner):
        if each.kind == "record":
            yield ("each: " if each is not shape else "") + ", ".join(plans(each.record))


def _entry(key: str, value: Any, comment: str) -> Iterator[str]:
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        yield f"{key}:{comment}"
        for item in value:
            yield from _item(item)
    elif isinstance(value, Mapping):
        yield f"{key}:{comment}"
        for inner, item in value.items():
            yield from (f"  {line}" for line in _entry(inner, item, ""))
    else:
        yield f"{key}: {_flow(value)}{comment}"


def _item(item: Mapping[str, Any]) -> Iterator[str]:
    """One entry of a list: on one line where it fits."""
    flow = f"  - {_flow(item)}"
    if len(flow) <= WIDTH:
        yield flow
        return
    for index, (key, value) in enumerate(item.items()):
        yield from (f"  {'- ' if not index and not deeper else '  '}{line}" for deeper, line in enumerate(_entry(key, value, "")))


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return _number(value)


def _number(value: float) -> str:
    """Plain digits: YAML 1.1 takes an exponent without a dot for text."""
    from decimal import Decimal

    return format(Decimal(repr(value)), "f")


def text(value: str) -> str:
    """Text that YAML reads back as the same text, in quotes where it needs them."""
    import re

    if re.fullmatch(PLAIN_TEXT, value) and value.lower() not in READ_AS_OTHER:
        return value
    return json.dumps(value, ensure_ascii=False)
