"""A class as a record that is looked at, and whose methods are compiled, at its first use.

`dataclasses` describes every class and compiles six methods for it when its module is imported: a third of what a whole answer takes.
Here all of it comes when it is asked for, and a copy with changes takes the fields over as they are, without going through `__init__`.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import cache
from typing import Any, Never, TypeVar

Record = TypeVar("Record")
_put = object.__setattr__  # past the refusal of frozen records
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
    names, known = _fields(cls), record.__dict__
    for name in changes:
        if name not in names:
            raise TypeError(f"{cls.__name__} has no field {name!r}")
    new: Record = object.__new__(cls)
    if len(known) != len(names):
        known = {name: known[name] for name in names}
    _put(new, "__dict__", {**known, **changes})
    if hasattr(cls, "__post_init__"):
        cls.__post_init__(new)
    return new


def _refused(record: Any, name: str, *_: Any) -> Never:
    """What assignment and `del` get from a frozen record."""
    raise FrozenInstanceError(f"{type(record).__name__} is frozen, and {name!r} with it: make a changed copy with replace()")


def _late(cls: Any, name: str) -> Callable[..., Any]:
    """A method that makes the real one at its first call, and leaves it in its place."""

    def first(self: Any, *given: Any, **named: Any) -> Any:
        method = _MAKERS[name](cls)
        setattr(cls, name, method)
        return method(self, *given, **named)

    return first


def _compiled(cls: Any, name: str, lines: list[str], known: dict[str, Any]) -> Callable[..., Any]:
    """The function of these lines of source."""
    place: dict[str, Any] = {}
    exec("\n".join(lines), known, place)
    method: Callable[..., Any] = place[name]
    method.__qualname__, method.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
    return method


def _init(cls: Any) -> Callable[..., Any]:
    """`__init__` with the fields as its parameters; gives the instance its dict at once, thrice as fast as field by field."""
    known: dict[str, Any] = {"_missing": MISSING, "_put": _put}
    positional, by_keyword, values = ["self"], ["*"], []
    for each in _fields(cls).values():
        if not each.init:
            continue
        parameter = value = each.name
        if each.default_factory is not MISSING:
            known[f"_new_{each.name}"] = each.default_factory
            parameter, value = f"{each.name}=_missing", f"_new_{each.name}() if {each.name} is _missing else {each.name}"
        elif each.default is not MISSING:
            known[f"_usual_{each.name}"] = each.default
            parameter = f"{each.name}=_usual_{each.name}"
        (by_keyword if each.kw_only else positional).append(parameter)
        values.append(f"{each.name!r}: {value}")
    parameters = [*positional, *(by_keyword if len(by_keyword) > 1 else ())]
    lines = [f"def __init__({', '.join(parameters)}):", f"  _put(self, '__dict__', {{{', '.join(values)}}})"]
    if hasattr(cls, "__post_init__"):
        lines.append("  self.__post_init__()")
    return _compiled(cls, "__init__", lines, known)


def _compared(cls: Any, name: str) -> str:
    """The source of a tuple of the fields that count when two records are compared."""
    return "(" + "".join(f"{name}.{each.name}, " for each in _fields(cls).values() if each.compare) + ")"


def _hash(cls: Any) -> Callable[..., Any]:
    return _compiled(cls, "__hash__", ["def __hash__(self):", f"  return hash({_compared(cls, 'self')})"], {})


def _eq(cls: Any) -> Callable[..., Any]:
    """Equal in every field that is compared; never equal to another class."""
    lines = [
        "def __eq__(self, other):",
        "  if self is other: return True",
        "  if other.__class__ is not self.__class__: return NotImplemented",
        f"  return {_compared(cls, 'self')} == {_compared(cls, 'other')}",
    ]
    return _compiled(cls, "__eq__", lines, {})


def _repr(cls: Any) -> Callable[..., Any]:
    shown = ", ".join(f"{each.name}={{self.{each.name}!r}}" for each in _fields(cls).values() if each.repr)
    return _compiled(cls, "__repr__", ["def __repr__(self):", f"  return type(self).__qualname__ + f'({shown})'"], {})


_MAKERS = {"__init__": _init, "__repr__": _repr, "__eq__": _eq, "__hash__": _hash}
