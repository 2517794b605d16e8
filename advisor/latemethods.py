"""A class as a record that is looked at, and whose methods are compiled, at its first use.

`dataclasses` describes every class and compiles six methods for it when its module is imported: a third of what a whole answer takes.
Here all of it comes when it is asked for, and a copy with changes takes the fields over as they are, without going through `__init__`.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import cache
from types import CodeType, FunctionType
from typing import Any, Never, TypeVar

Record = TypeVar("Record")
put = object.__setattr__  # past the refusal of frozen records; gives an instance its dict at once
_DESCRIBED = "__dataclass_fields__"


class _Described:
    """Stands in a record's class for `__dataclass_fields__`, until somebody asks `dataclasses` about the record.

    Takes the written defaults out of the class: what only instances have is read faster (in a fifth of the time by Python 3.13).
    """

    def __init__(self, cls: Any, kw_only: bool) -> None:
        self.cls, self.kw_only = cls, kw_only
        self.written = {name: cls.__dict__[name] for name in cls.__annotations__ if name in cls.__dict__}
        for name in self.written:
            delattr(cls, name)

    def __get__(self, _: Any, __: Any) -> dict[str, Field[Any]]:
        for name in self.cls.__annotations__:
            setattr(self.cls, name, _fields(self.cls)[name])
        dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=self.kw_only)(self.cls)
        found: dict[str, Field[Any]] = self.cls.__dict__[_DESCRIBED]
        for name in self.cls.__annotations__.keys() & self.cls.__dict__.keys():
            delattr(self.cls, name)
        return found


def dataclass(cls: Any = None, /, *, frozen: bool = False, kw_only: bool = False, eq: bool = True) -> Any:
    """The class as a record: `dataclasses` knows it as one of its own; its methods are made when they are first called."""
    if cls is None:
        return lambda each: dataclass(each, frozen=frozen, kw_only=kw_only, eq=eq)
    setattr(cls, _DESCRIBED, _Described(cls, kw_only))
    cls.__replace__ = replace  # for copy.replace
    for name, wanted in (("__init__", True), ("__repr__", True), ("__eq__", eq), ("__hash__", eq)):
        if wanted and cls.__dict__.get(name) is None:  # one that the class writes out stays
            setattr(cls, name, _late(cls, name) if name != "__hash__" or frozen else None)
    if frozen:
        cls.__setattr__, cls.__delattr__ = _refused, _refused
    return cls


def is_record(thing: Any) -> bool:
    """Whether it is the class of a record, or another dataclass."""
    return _DESCRIBED in getattr(thing, "__dict__", ())


def fields(cls: Any) -> tuple[Field[Any], ...]:
    """The fields of a record's class, as `dataclasses.fields` gives them."""
    return tuple(_fields(cls).values())


@cache
def _fields(cls: Any) -> dict[str, Field[Any]]:
    """The fields by name, those of the bases first, read off the class body: `dataclasses` takes ten times as long."""
    described = cls.__dict__[_DESCRIBED]
    if isinstance(described, dict):
        return described
    found: dict[str, Field[Any]] = {}
    for base in filter(is_record, reversed(cls.__mro__[1:])):
        found |= _fields(base)
    for name, annotation in cls.__annotations__.items():
        written = described.written.get(name, MISSING)
        each = written if isinstance(written, Field) else dataclasses.field(default=written)
        each.name, each.type = name, annotation
        if each.kw_only is MISSING:
            each.kw_only = described.kw_only
        found[name] = each
    return found


def replace(record: Record, /, **changes: Any) -> Record:
    """A copy of the record with some fields changed; what it has worked out from its fields is not taken over."""
    cls: Any = type(record)
    names, finish = _copying(cls)
    values = {**record.__dict__, **changes}
    if len(values) != len(names):
        if wrong := changes.keys() - names.keys():
            raise TypeError(f"{cls.__name__} has no field {min(wrong)!r}")
        values = {name: values[name] for name in names}
    new: Record = object.__new__(cls)
    put(new, "__dict__", values)
    if finish is not None:
        finish(new)
    return new


@cache
def _copying(cls: Any) -> tuple[dict[str, Field[Any]], Callable[[Any], None] | None]:
    """What each copy asks of its class: the fields, and what is done when one is made. (To ask for what is not there is slow.)"""
    return _fields(cls), getattr(cls, "__post_init__", None)


def _refused(record: Any, name: str, *_: Any) -> Never:
    """What assignment and `del` get from a frozen record."""
    raise FrozenInstanceError(f"{type(record).__name__} is frozen, and {name!r} with it: make a changed copy with replace()")


def _late(cls: Any, name: str) -> Callable[..., Any]:
    """A method that makes the real one at its first call, and leaves it in its place."""

    def first(self: Any, *given: Any, **named: Any) -> Any:
        if name == "__eq__" and self is given[0]:
            return True  # many records are only ever compared with themselves
        method = _MAKERS[name](cls)
        method.__qualname__, method.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
        setattr(cls, name, method)
        return method(self, *given, **named)

    return first


@cache
def _template(source: str) -> CodeType:
    """The code of a method whose fields are called f0, f1, …: one serves all records with as many fields."""
    place: dict[str, FunctionType] = {}
    exec(source, {}, place)
    (method,) = place.values()
    return method.__code__


def _method(source: str, names: Sequence[str], known: dict[str, Any] | None = None) -> FunctionType:
    """The method of a template with these names for its fields; to compile each record's own takes twenty times as long."""
    new = {f"f{at}": each for at, each in enumerate(names)}

    def renamed(thing: Any) -> Any:
        return tuple(map(renamed, thing)) if isinstance(thing, tuple) else new.get(thing, thing) if isinstance(thing, str) else thing

    code = _template(source)
    parts = {part: renamed(getattr(code, part)) for part in ("co_varnames", "co_names", "co_consts")}  # parameters, attributes, keys
    return FunctionType(code.replace(**parts), known or {})


def _init(cls: Any) -> Callable[..., Any]:
    """`__init__` with the fields as its parameters; gives the instance its dict at once, thrice as fast as field by field."""
    taken = {f"f{at}": each for at, each in enumerate(each for each in _fields(cls).values() if each.init)}
    positional = [name for name, each in taken.items() if not each.kw_only]
    by_keyword = [name for name, each in taken.items() if each.kw_only]
    made = {name: each.default_factory for name, each in taken.items() if each.default_factory is not MISSING}
    usual = {name: each.default for name, each in taken.items() if each.default is not MISSING or name in made}
    if any(name in usual for name in positional[: len(positional) - sum(name in usual for name in positional)]):
        raise TypeError(f"{cls.__name__}: a field without a default follows one that has it")
    values = (f"{name!r}: " + (f"new_{name}() if {name} is missing else {name}" if name in made else name) for name in taken)
    lines = [f"def __init__({', '.join(['self', *positional, *(['*', *by_keyword] if by_keyword else ())])}):"]
    lines.append(f"  put(self, '__dict__', {{{', '.join(values)}}})")
    if hasattr(cls, "__post_init__"):
        lines.append("  self.__post_init__()")
    known = {"missing": MISSING, "put": put, **{f"new_{name}": make for name, make in made.items()}}
    method = _method("\n".join(lines), [each.name for each in taken.values()], known)
    method.__defaults__ = tuple(usual[name] for name in positional if name in usual)
    method.__kwdefaults__ = {taken[name].name: usual[name] for name in by_keyword if name in usual}
    return method


def _compared(cls: Any) -> list[str]:
    """The names of the fields that count when two records are compared."""
    return [each.name for each in _fields(cls).values() if each.compare]


def _values(name: str, count: int) -> str:
    """The source of a tuple of so many fields."""
    return "(" + "".join(f"{name}.f{at}, " for at in range(count)) + ")"


def _hash(cls: Any) -> Callable[..., Any]:
    names = _compared(cls)
    return _method(f"def __hash__(self):\n  return hash({_values('self', len(names))})", names)


def _eq(cls: Any) -> Callable[..., Any]:
    """Equal in every field that is compared; never equal to another class."""
    names = _compared(cls)
    lines = [
        "def __eq__(self, other):",
        "  if self is other: return True",
        "  if other.__class__ is not self.__class__: return NotImplemented",
        f"  return {_values('self', len(names))} == {_values('other', len(names))}",
    ]
    return _method("\n".join(lines), names)


def _repr(cls: Any) -> Callable[..., Any]:
    names = [each.name for each in _fields(cls).values() if each.repr]
    shown = ", ".join(f"{name}={{self.{name}!r}}" for name in names)
    return _method(f"def __repr__(self):\n  return type(self).__qualname__ + f'({shown})'", ())


_MAKERS = {"__init__": _init, "__repr__": _repr, "__eq__": _eq, "__hash__": _hash}
