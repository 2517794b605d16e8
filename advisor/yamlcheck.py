"""What is wrong with a YAML file as a record: everything at once, each as `file:line: key: message`. Knows no hardware."""

from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from advisor.errors import CatalogError
from advisor.record import dataclass
from advisor.yamlfile import Plan, Record, Shape, build, plans
from advisor.yamltext import Lined, Problem, Trap, read

LARGEST = 1e18  # of any number as written; what is larger is a slip of the unit
LEAST = 1e-12  # but nothing; quotients of smaller ones overflow
EXPECTED = {"whole": "a whole number", "decimal": "a number"}


def decode(record: type[Record], path: Path, label: str | None = None) -> Record:
    """The one record that a file holds, or CatalogError with all its problems."""
    file = label or str(path)
    tree, problems = read(path, file)
    problems = problems or problems_of(record, tree, file)
    if problems:
        raise CatalogError(tuple(str(problem) for problem in sorted(problems)))
    return build(record, tree)


def problems_of(record: Any, tree: Any, file: str, line: int = 1, path: str = "") -> list[Problem]:
    """Everything wrong with `tree` as a `record`: unknown, missing and misshapen keys, values out of bounds."""
    if not isinstance(tree, Mapping):
        return [Problem(file, line, path, f"expected keys and values, got {_said(tree)}")]
    known = plans(record)
    start = tree.line if isinstance(tree, Lined) else line
    lines = tree.lines if isinstance(tree, Lined) else {}
    problems = []
    for key, value in tree.items():
        at = _At(file, lines.get(key, start), f"{path}{key}")
        if key not in known:
            problems.append(at.problem("unknown key" + did_you_mean(key, tuple(known))))
        elif value is not None:
            problems += _value_problems(known[key].shape, known[key], value, at)
        elif known[key].required and not known[key].shape.nullable:
            problems.append(at.problem("missing: null says that nobody knows, and this must be known"))
    missing = (plan for key, plan in known.items() if plan.required and key not in tree)
    problems += [Problem(file, start, f"{path}{plan.key}", "missing") for plan in missing]
    return problems


def did_you_mean(word: str, known: tuple[str, ...]) -> str:
    """` (did you mean x?)` when something close is known, whatever the case of its letters, else nothing."""
    from difflib import get_close_matches

    spelled = {each.lower(): each for each in known}
    near = get_close_matches(word.lower(), spelled, n=1, cutoff=0.6)
    return f" (did you mean {spelled[near[0]]}?)" if near else ""


@dataclass(frozen=True)
class _At:
    """Where in the file we are."""

    file: str
    line: int
    key: str

    def problem(self, message: str) -> Problem:
        return Problem(self.file, self.line, self.key, message)

    def item(self, index: int | str, value: Any) -> "_At":
        line = value.line if isinstance(value, Lined) else self.line
        return _At(self.file, line, f"{self.key}[{index}]")


def _value_problems(shape: Shape, plan: Plan, value: Any, at: _At) -> list[Problem]:
    if isinstance(value, Trap):
        return [at.problem(f"{value.text!r} is not plain: {value.advice}")]
    return CHECKS[shape.kind](shape, plan, value, at)


def _record_problems(shape: Shape, _: Plan, value: Any, at: _At) -> list[Problem]:
    return problems_of(shape.record, value, at.file, at.line, f"{at.key}." if isinstance(value, Mapping) else at.key)


def _list_problems(shape: Shape, plan: Plan, value: Any, at: _At) -> list[Problem]:
    inner = shape.inner[0]
    if not isinstance(value, list):
        if inner.kind in ("whole", "decimal"):  # one number for a list of one
            return _value_problems(inner, plan, value, at)
        return [at.problem(f"expected a list, got {_said(value)}: put it in [ ] or after a dash")]
    if plan.required and not value:
        return [at.problem("expected at least one")]
    return [problem for index, item in enumerate(value) for problem in _value_problems(inner, plan, item, at.item(index, item))]


def _tuple_problems(shape: Shape, plan: Plan, value: Any, at: _At) -> list[Problem]:
    if not isinstance(value, list) or len(value) != len(shape.inner):
        return [at.problem(f"expected a list of {len(shape.inner)}, got {_said(value)}")]
    pairs = enumerate(zip(shape.inner, value, strict=True))
    return [problem for index, (inner, item) in pairs for problem in _value_problems(inner, plan, item, at.item(index, item))]


def _mapping_problems(shape: Shape, plan: Plan, value: Any, at: _At) -> list[Problem]:
    if not isinstance(value, Mapping):
        return [at.problem(f"expected keys and values, got {_said(value)}")]
    lines = value.lines if isinstance(value, Lined) else {}
    problems = []
    for key, item in value.items():
        inside = _At(at.file, lines.get(key, at.line), f"{at.key}.{key}")
        problems += _value_problems(shape.inner[0], plan, item, inside)
    return problems


def _choice_problems(shape: Shape, plan: Plan, value: Any, at: _At) -> list[Problem]:
    tries = [_value_problems(inner, plan, value, at) for inner in shape.inner]
    return [] if [] in tries else min(tries, key=len)


def _text_problems(shape: Shape, plan: Plan, value: Any, at: _At) -> list[Problem]:
    if not isinstance(value, str):
        quote = f": put it in quotes, '{value}'" if isinstance(value, int | float) else ""
        return [at.problem(f"expected text, got {_said(value)}{quote}")]
    allowed = shape.one_of or plan.one_of
    if allowed and value not in allowed:
        return [at.problem(f"{value!r} is none of {', '.join(allowed)}{did_you_mean(value, allowed)}")]
    return [] if value.strip() else [at.problem("empty")]


def _number_problems(shape: Shape, plan: Plan, value: Any, at: _At) -> list[Problem]:
    wanted = (int,) if shape.kind == "whole" else (int, float)
    if isinstance(value, bool) or not isinstance(value, wanted):
        return [at.problem(f"expected {EXPECTED[shape.kind]}, got {_said(value)}{_number_hint(value)}")]
    if not isfinite(value) or abs(value) > LARGEST or 0 < abs(value) < LEAST:
        return [at.problem(f"{value} is beyond any number a datasheet holds")]
    if plan.above is not None and value <= plan.above:
        return [at.problem(f"expected more than {plan.above:g}, got {value:g}")]
    if plan.least is not None and value < plan.least:
        return [at.problem(f"expected at least {plan.least:g}, got {value:g}")]
    if plan.most is not None and value > plan.most:
        return [at.problem(f"expected at most {plan.most:g}, got {value:g}")]
    return []


def _number_hint(value: Any) -> str:
    """What to do with a number that YAML 1.1 takes for text, or that carries its unit."""
    if not isinstance(value, str):
        return ""
    try:
        number = float(value)
    except ValueError:
        return ": the unit stands in the key, give the number alone" if value[:1].isdigit() else ""
    return f": YAML reads it as text, write {number:.0f}" if isfinite(number) and abs(number) < LARGEST else ""


def _truth_problems(_: Shape, __: Plan, value: Any, at: _At) -> list[Problem]:
    return [] if isinstance(value, bool) else [at.problem(f"expected true or false, got {_said(value)}")]


CHECKS: dict[str, Callable[[Shape, Plan, Any, _At], list[Problem]]] = {
    "text": _text_problems,
    "whole": _number_problems,
    "decimal": _number_problems,
    "truth": _truth_problems,
    "list": _list_problems,
    "tuple": _tuple_problems,
    "mapping": _mapping_problems,
    "record": _record_problems,
    "choice": _choice_problems,
}


def _said(value: Any) -> str:
    """A value as a message shows it."""
    if isinstance(value, str):
        return f"the text {value[:60]!r}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "nothing"}[value]
    if isinstance(value, Mapping):
        return "keys and values"
    return f"a list of {len(value)}" if isinstance(value, list) else f"the number {value}"
