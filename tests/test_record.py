"""`advisor.record` makes what `dataclasses` makes: the same class body under both decorators behaves alike."""

import copy
import dataclasses
import pickle
from functools import cached_property
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import record


def bodies(decorator, **options) -> Any:
    """The same fields under a decorator; the names are those that a careless `__init__` trips over."""

    @decorator(**options)
    class Thing:
        values: int
        self_: str = "x"
        many: list[int] = record.field(default_factory=list)
        note: str = record.field(default="", compare=False)
        hidden: int = record.field(default=0, repr=False)

        @property
        def double(self) -> int:
            return 2 * self.values

    return Thing


FORMS = ({"frozen": True}, {"frozen": True, "kw_only": True}, {"frozen": True, "eq": False}, {})
PAIRS = [pytest.param(bodies(record.dataclass, **form), bodies(dataclasses.dataclass, **form), id=str(form)) for form in FORMS]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@given(values=st.integers(), note=st.text(), hidden=st.integers(0, 2))
def test_fields_text_and_copies_are_those_of_dataclasses(ours, theirs, values, note, hidden):
    one, other = ours(values=values, note=note, hidden=hidden), theirs(values=values, note=note, hidden=hidden)
    assert repr(one) == repr(other)
    assert dataclasses.asdict(one) == dataclasses.asdict(other)
    assert dataclasses.asdict(record.replace(one, values=7)) == dataclasses.asdict(dataclasses.replace(other, values=7))
    assert dataclasses.asdict(dataclasses.replace(one, values=7)) == dataclasses.asdict(record.replace(one, values=7))
    assert (one == record.replace(one, note="other")) is (other == dataclasses.replace(other, note="other"))
    assert (one == record.replace(one, hidden=9)) is (other == dataclasses.replace(other, hidden=9))
    assert one == one and one != other and one != values


@pytest.mark.parametrize("post", [False, True])
@pytest.mark.parametrize("kw_only", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 23, 24, 25, 60, 300])
def test_records_of_any_number_of_fields_are_made_as_by_dataclasses(count, kw_only, post):
    """The templates of methods serve every number of fields; half of the fields have defaults."""

    def made(decorator, field):
        names = [f"field_{at}" for at in range(count)]
        body = {"__annotations__": dict.fromkeys(names, int)} | {name: at for at, name in enumerate(names) if at >= count / 2}
        body |= {names[-1]: field(default_factory=list)} if count > 3 else {}
        body |= {"__post_init__": lambda self: seen.append(type(self))} if post else {}
        return decorator(frozen=True, kw_only=kw_only)(type("Thing", (), body))

    seen: list[type] = []
    ours, theirs = made(record.dataclass, record.field), made(dataclasses.dataclass, dataclasses.field)
    named = {f"field_{at}": -at for at in range(count - 1)}
    given = [named] if count < 2 else [named, dict(list(named.items())[: (count + 1) // 2])]
    for values in given if count != 1 else [{"field_0": 7}]:
        one, other = ours(**values), theirs(**values)
        assert repr(one) == repr(other)
        assert list(vars(one)) == list(ours.__annotations__)
        assert one == ours(**values)
        for wrong in ({**values, "no_field": 1}, {}):
            failures = [_error_of(each, wrong) for each in (ours, theirs)]
            assert failures[0] == failures[1]
        if not kw_only:
            assert repr(ours(*values.values())) == repr(theirs(*values.values()))
    assert set(seen) == ({ours, theirs} if post else set())


def _error_of(cls, values):
    try:
        cls(**values)
    except TypeError as error:
        return str(error).rpartition(".")[2]
    return None


def test_a_field_without_a_default_behind_one_with_it_is_refused():
    @record.dataclass(frozen=True)
    class Pair:
        left: int = 0
        right: int

    with pytest.raises(TypeError, match="without a default"):
        Pair(1, 2)


@pytest.mark.parametrize("frozen", [True, False])
def test_equal_records_have_equal_hashes_and_changeable_ones_none(frozen):
    @record.dataclass(frozen=frozen)
    class Pair:
        left: int
        right: int = record.field(default=0, compare=False)

    if frozen:
        assert hash(Pair(3, 1)) == hash(Pair(3, 2)) != hash(Pair(4, 1))
        assert {Pair(3): "found"}[Pair(3, 5)] == "found"
    else:
        with pytest.raises(TypeError, match="unhashable"):
            hash(Pair(3))


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("decorator", [record.dataclass, dataclasses.dataclass])
def test_methods_that_the_class_writes_out_stay(decorator, frozen):
    @decorator(frozen=frozen)
    class Named:
        name: str
        size: int

        def __hash__(self) -> int:
            return 7

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "named"

    assert (hash(Named("a", 1)), repr(Named("a", 1)), Named("a", 1) == 3) == (7, "named", True)


def test_records_without_equality_are_themselves_alone():
    thing = bodies(record.dataclass, frozen=True, eq=False)
    assert thing(1) != thing(1)
    assert len({thing(1), thing(1)}) == 2


@pytest.mark.parametrize("arguments", [((), {}), ((1, "x", [], "", 0, 6), {}), ((1,), {"values": 2}), ((1,), {"nothing": 2})])
def test_wrong_arguments_are_refused(arguments):
    given_, named = arguments
    for decorator in (record.dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError, match=r"Thing\.__init__\(\)"):
            bodies(decorator, frozen=True)(*given_, **named)


def test_keywords_only_means_keywords_only():
    with pytest.raises(TypeError, match="positional"):
        bodies(record.dataclass, frozen=True, kw_only=True)(1)


def test_a_frozen_record_stays_as_it_is():
    thing = bodies(record.dataclass, frozen=True)(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="replace"):
        thing.values = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del thing.values
    with pytest.raises(dataclasses.FrozenInstanceError):
        thing.anything = 2
    assert thing.values == 1


def test_each_record_has_its_own_default():
    thing = bodies(record.dataclass, frozen=True)
    one, other = thing(1), thing(1)
    one.many.append(3)
    assert other.many == []


def test_replace_knows_its_fields_and_forgets_what_was_worked_out():
    @record.dataclass(frozen=True)
    class Square:
        side: int

        @cached_property
        def area(self) -> int:
            return self.side**2

    square = Square(3)
    assert square.area == 9
    assert record.replace(square, side=4).area == 16
    assert record.replace(square).__dict__ == {"side": 3}
    with pytest.raises(TypeError, match="area"):
        record.replace(square, area=1)


def test_what_follows_init_is_run_by_replace_too():
    @record.dataclass
    class Words:
        text: str
        left: str = record.field(init=False)

        def __post_init__(self) -> None:
            self.left = self.text.upper()

    assert record.replace(Words("ab"), text="cd").left == "CD"


@record.dataclass(frozen=True)
class Kept:
    """A record of a module, for pickle."""

    size_bytes: int


def test_records_are_copied_and_pickled():
    kept = Kept(3)
    assert pickle.loads(pickle.dumps(kept)) == copy.copy(kept) == copy.deepcopy(kept) == kept


def test_dataclasses_describes_a_record_when_asked_and_its_defaults_stay():
    def declared(decorator) -> Any:
        @decorator(frozen=True)
        class Base:
            left: int
            middle: str = "m"

        @decorator(frozen=True)
        class Wider(Base):
            right: list[int] = record.field(default_factory=list, compare=False)

        return Wider

    ours, theirs = declared(record.dataclass), declared(dataclasses.dataclass)

    def shown(cls) -> list[tuple[object, ...]]:
        return [(each.name, each.type, each.default, each.default_factory, each.compare, each.kw_only) for each in dataclasses.fields(cls)]

    assert [each.name for each in record.fields(ours)] == ["left", "middle", "right"]  # before dataclasses is asked
    assert record.is_record(ours) and not record.is_record(ours(1)) and not record.is_record(tuple[int, ...])
    assert shown(ours) == shown(theirs)
    assert record.fields(ours) == dataclasses.fields(ours)
    assert ours(1) == ours(1, "m", [3]) and dataclasses.replace(ours(1), left=2).middle == "m"
    assert not hasattr(ours, "middle")  # only instances have the fields: they are read faster so


@pytest.mark.parametrize("decorator", [record.dataclass, dataclasses.dataclass])
def test_fields_are_those_of_dataclasses_too(decorator):
    thing = bodies(decorator, kw_only=True)
    assert record.is_record(thing)
    assert [(each.name, each.kw_only, each.default) for each in record.fields(thing)] == [
        (each.name, True, each.default) for each in dataclasses.fields(bodies(dataclasses.dataclass, kw_only=True))
    ]
