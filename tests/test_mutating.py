"""Small changes of a module while it runs: every place is found once, and whoever holds a function runs the changed one."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import mutating
from mutating import Changer, Mutant, change, mutants

SOURCE = '''"""A module."""
from functools import cached_property, lru_cache

STEP = 2
NAMES = ("a", "b")


def twice(value):
    """A docstring stays."""
    return value * STEP


@lru_cache
def least(*values: int, start: int = 7):
    return min(values) if values else start


class Box:
    size: int = 5

    @property
    def larger(self):
        return self.size + 1

    @cached_property
    def full(self):
        return not self.size

    @staticmethod
    def both(one, other):
        return one and other
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "advisor_toy.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "advisor_toy", raising=False)
    return tmp_path


def changes() -> list[str]:
    found = Changer()
    found.visit(ast.parse(SOURCE))
    return [what for _, what in found.seen]


def test_places_are_code_not_docstrings_defaults_or_options() -> None:
    found = ["1 -> 2", "2 -> 3", "Add -> Sub", "Mult -> Div", "Not dropped", "and <-> or", "branches exchanged", "min -> max"]
    assert sorted(changes()) == found


@pytest.mark.parametrize(
    ("what", "found"),
    [
        ("2 -> 3", (12, 1, 6, False, 3)),
        ("Mult -> Div", (2.0, 1, 6, False, 3)),
        ("min -> max", (8, 4, 6, False, 3)),
        ("branches exchanged", (8, 7, 6, False, 3)),
        ("Add -> Sub", (8, 1, 4, False, 3)),
        ("1 -> 2", (8, 1, 7, False, 3)),
        ("Not dropped", (8, 1, 6, 5, 3)),
        ("and <-> or", (8, 1, 6, False, 2)),
    ],
)
def test_a_change_reaches_who_holds_the_function(toy: Path, what: str, found: tuple[object, ...]) -> None:
    import advisor_toy

    twice, least, box = advisor_toy.twice, advisor_toy.least, advisor_toy.Box()
    assert (twice(4), box.larger) == (8, 6)
    change(Mutant("toy", Path("advisor_toy.py"), changes().index(what), 1, what, range(1)), toy)
    assert (twice(4), least(4, 1), box.larger, box.full, box.both(2, 3)) == found
    assert advisor_toy.twice is twice


def test_every_room_has_its_modules() -> None:
    root = Path(__file__).resolve().parent.parent
    places = list(mutants(root, list(mutating.ROOMS)))
    assert {each.room for each in places} == set(mutating.ROOMS)
    assert all(each.line in each.within for each in places)
    for patterns in mutating.ROOMS.values():
        assert all(any((root / "advisor").glob(pattern)) for pattern in patterns)
