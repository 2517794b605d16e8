"""How a frozen record is given in YAML: its keys, units and bounds; and a checked file's values made into the record.

Knows no hardware. What is wrong with a file is found by `yamlcheck`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from advisor.record import dataclass, field, fields, is_record

DATASHEET_UNIT = "datasheet_unit"
YAML_KEY = "yaml_key"
CHECK = "check"
ABOUT = "about"

Record = TypeVar("Record")


def given(
    key: str | None = None,
    unit: float = 1.0,
    *,
    default: Any = MISSING,
    one_of: tuple[str, ...] = (),
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    about: str = "",
) -> Any:
    """A record's field as the YAML gives it: under `key` (the field's own name if None), times `unit` into SI.

    `one_of`, `above` (exclusive), `least` and `most` bound the value as written in the file, before the unit. `about` says
    what it is, in the words of someone who holds the datasheet: for templates, prompts and the JSON Schema.
    """
    spec = {YAML_KEY: key, DATASHEET_UNIT: unit, CHECK: (one_of, above, least, most), ABOUT: about}
    if default is MISSING:
        return field(metadata=spec)
    return field(default=default, metadata=spec)


@dataclass(frozen=True)
class Shape:
    """What a value must look like: a scalar type, or a list, mapping or record of inner shapes."""

    kind: str  # text | whole | decimal | truth | list | tuple | mapping | record | choice
    inner: tuple["Shape", ...] = ()
    record: Any = None
    one_of: tuple[Any, ...] = ()
    nullable: bool = False


@dataclass(frozen=True)
class Plan:
    """One field of a record as the file gives it."""

    name: str
    key: str
    shape: Shape
    unit: float
    required: bool
    default: Any
    one_of: tuple[str, ...]
    above: float | None
    least: float | None
    most: float | None
    about: str


SCALARS = {str: "text", int: "whole", float: "decimal", bool: "truth"}
AS_THEY_ARE = {str, int, bool, str | None, int | None, bool | None}  # types whose checked values need no change


def shape_of(hint: Any) -> Shape:
    """The shape that a type annotation asks for."""
    if hint in SCALARS:
        return Shape(SCALARS[hint])
    if is_record(hint):
        return Shape("record", record=hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return Shape("text", one_of=args)
    if origin is tuple:
        variable = len(args) == 2 and args[1] is Ellipsis
        return Shape("list", (shape_of(args[0]),)) if variable else Shape("tuple", tuple(shape_of(each) for each in args))
    if origin in (Union, UnionType):
        inner = tuple(shape_of(each) for each in args if each is not NoneType)
        nullable = NoneType in args
        if len(inner) > 1:
            return Shape("choice", inner, nullable=nullable)
        return Shape(inner[0].kind, inner[0].inner, inner[0].record, inner[0].one_of, nullable)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return Shape("mapping", (shape_of(args[1]),))
    raise TypeError(f"a record cannot be given a {hint}")


@cache
def plans(record: Any) -> Mapping[str, Plan]:
    """How each field of a record class is given, by its key in the file."""
    return {key: _plan(each, key, hint) for key, each, hint in _given(record)}


def _given(record: Any) -> Iterator[tuple[str, Field[Any], Any]]:
    """Each field that a file gives, with its key there and its type."""
    known = fields(record)
    hints = get_type_hints(record) if any(isinstance(each.type, str) for each in known) else {}
    for each in known:
        if each.init:
            yield each.metadata.get(YAML_KEY) or each.name, each, hints.get(each.name, each.type)


def _default(each: Field[Any]) -> Any:
    """What stands where the file says nothing; MISSING where it must say something."""
    return each.default if each.default_factory is MISSING else each.default_factory()


def _plan(each: Field[Any], key: str, hint: Any) -> Plan:
    default = _default(each)
    one_of, above, least, most = each.metadata.get(CHECK, ((), None, None, None))
    unit = each.metadata.get(DATASHEET_UNIT, 1.0)
    about = each.metadata.get(ABOUT, "")
    return Plan(each.name, key, shape_of(hint), unit, default is MISSING, default, one_of, above, least, most, about)


def build(record: type[Record], plain: Mapping[str, Any]) -> Record:
    """The record of checked values: keys to field names, datasheet units to SI, lists to tuples."""
    return cast(Record, _builder(cast(Any, record))(plain))


@cache
def _builder(record: Any) -> Callable[[Mapping[str, Any]], Any]:
    """Fills the instance directly: some ten thousand records are made in a run, and frozen __init__ takes thrice as long."""
    known, defaults = {}, {}
    for key, each, hint in _given(record):
        convert = None if hint in AS_THEY_ARE else _converter(shape_of(hint), each.metadata.get(DATASHEET_UNIT, 1.0))
        known[key] = each.name, convert
        default = _default(each)
        defaults[each.name] = None if default is MISSING else default
    new = record.__new__
    finish = getattr(record, "__post_init__", None)

    def made(plain: Mapping[str, Any]) -> Any:
        values = defaults.copy()
        for key, value in plain.items():
            if value is not None:
                name, convert = known[key]
                values[name] = value if convert is None else convert(value)
        filled = new(record)
        filled.__dict__.update(values)
        if finish is not None:
            finish(filled)
        return filled

    return made


def _converter(shape: Shape, unit: float) -> Callable[[Any], Any] | None:
    """What turns a checked value into the field's; None where nothing is to be done."""
    if shape.kind == "record":
        return _builder(shape.record)
    if shape.kind == "decimal":
        return float if unit == 1.0 else lambda value: value * unit
    if shape.kind == "choice":
        return _choice_converter(shape, unit)
    if shape.kind not in ("list", "tuple", "mapping"):
        return None
    inner = [_converter(each, unit) or _same for each in shape.inner]
    if shape.kind == "mapping":
        return lambda value: {key: inner[0](item) for key, item in value.items()}
    if shape.kind == "tuple":
        return lambda value: tuple(convert(item) for convert, item in zip(inner, value, strict=True))
    if inner[0] is _same:
        return lambda value: tuple(value) if isinstance(value, list) else (value,)
    return lambda value: tuple(map(inner[0], value)) if isinstance(value, list) else (inner[0](value),)


def _same(value: Any) -> Any:
    return value


def _choice_converter(shape: Shape, unit: float) -> Callable[[Any], Any]:
    """Of several shapes, the first that the value's Python type answers to."""
    answers: dict[str, Any] = {"text": str, "whole": int, "decimal": (int, float), "truth": bool, "list": list, "tuple": list}

    def chosen(value: Any) -> Any:
        for each in shape.inner:
            fits = isinstance(value, answers.get(each.kind, Mapping)) and (each.kind == "truth") == isinstance(value, bool)
            if fits:
                return (_converter(each, unit) or _same)(value)
        return value

    return chosen
