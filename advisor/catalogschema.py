"""The JSON Schema of each kind of catalog file, made from the records: for editors and for `advisor schema catalog`."""

from collections.abc import Mapping
from typing import Any

from advisor.errors import UnknownName
from advisor.tables import TABLES
from advisor.yamlfile import Plan, Shape, plans
from advisor.yamlwrite import unit_of

DRAFT = "https://json-schema.org/draft/2020-12/schema"
JSON_TYPES = {"text": "string", "whole": "integer", "decimal": "number", "truth": "boolean"}


def catalog_schema(kind: str) -> dict[str, Any]:
    """The schema of one file of a kind (`devices` or `device`)."""
    table = TABLES.get(kind) or next((each for each in TABLES.values() if each.one == kind), None)
    if table is None:
        raise UnknownName(f"no kind of catalog file is called {kind!r}: {', '.join(TABLES)}", tuple(TABLES))
    record = _record(table.record_class)
    head = {"$schema": DRAFT, "title": f"advisor catalog: {table.one}"}
    if table.form == "list":
        return {**head, "type": "object", "properties": {table.kind: {"type": "array", "items": record}}, "required": [table.kind]}
    if table.form == "rows":
        rows = {"type": "array", "items": {**record, "required": ["id"]}}
        return {**head, **record, "properties": {**record["properties"], "rows": rows}, "required": ["rows"]}
    return {**head, **record}


def _record(record: Any) -> dict[str, Any]:
    known = plans(record)
    return {
        "type": "object",
        "description": (record.__doc__ or "").strip().splitlines()[0],
        "properties": {key: _field(plan) for key, plan in known.items()},
        "required": [key for key, plan in known.items() if plan.required],
        "additionalProperties": False,
    }


def _field(plan: Plan) -> dict[str, Any]:
    schema = _shape(plan.shape, plan)
    said = "; ".join(word for word in (plan.about, unit_of(plan.key)) if word)
    if said:
        schema["description"] = said
    if plan.required and not plan.shape.nullable:
        return schema
    return {"anyOf": [schema, {"type": "null"}]} if "type" not in schema else {**schema, "type": [schema["type"], "null"]} | _null(schema)


def _null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A choice of words that may be left unknown has null among its words."""
    return {"enum": [*schema["enum"], None]} if "enum" in schema else {}


def _shape(shape: Shape, plan: Plan) -> dict[str, Any]:
    if shape.kind == "record":
        return _record(shape.record)
    if shape.kind == "mapping":
        return {"type": "object", "additionalProperties": _shape(shape.inner[0], plan)}
    if shape.kind == "choice":
        return {"anyOf": [_shape(each, plan) for each in shape.inner]}
    if shape.kind == "tuple":
        return {"type": "array", "prefixItems": [_shape(each, plan) for each in shape.inner], "items": False}
    if shape.kind == "list":
        inner = _shape(shape.inner[0], plan)
        several = {"type": "array", "items": inner} | ({"minItems": 1} if plan.required else {})
        return {"anyOf": [inner, several]} if shape.inner[0].kind in ("whole", "decimal") else several
    return {"type": JSON_TYPES[shape.kind]} | _bounds(shape, plan)


def _bounds(shape: Shape, plan: Plan) -> dict[str, Any]:
    words = list(shape.one_of or plan.one_of)
    bounds = {"exclusiveMinimum": plan.above, "minimum": plan.least, "maximum": plan.most, "enum": words or None}
    return {name: bound for name, bound in bounds.items() if bound is not None}
