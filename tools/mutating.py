"""Small changes of a module: where there are some, how a module's source looks with one, and how a module is changed while it runs."""

import ast
import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

ROOMS: dict[str, tuple[str, ...]] = {  # room -> its modules
    "placement": ("placement/*.py", "offload_short.py", "dealing.py", "relaid.py", "ways.py", "choose.py"),
    "memory": ("memory.py", "rooms.py", "buffers.py", "weights.py", "cache.py", "platforms.py"),
    "speed": (
        "speed.py", "timed.py", "plan.py", "step.py", "pace.py", "served.py", "collective.py", "against.py", "why.py", "around.py",
        "hostrate.py", "bounds.py", "feedforward.py",
    ),
    "advice": ("advice/*.py", "market.py", "prices.py", "supply.py", "billed.py", "memorykit.py"),
}  # fmt: skip
COMPARED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
            ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}  # fmt: skip
COUNTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.Pow: ast.Mult,
}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil"}


@dataclass(frozen=True)
class Mutant:
    """One place of one module, and what is done there."""

    room: str
    path: Path  # in the tree
    index: int  # of the change among those of the module
    line: int
    what: str
    within: range  # lines of the function around it, or of the module


class Changer(ast.NodeTransformer):
    """Goes over the places that can be changed; makes the change of one of them."""

    def __init__(self, wanted: int | None = None) -> None:
        self.wanted = wanted
        self.seen: list[tuple[int, str]] = []

    def take(self, node: ast.AST, what: str) -> bool:
        """Count a place; whether it is the one."""
        self.seen.append((getattr(node, "lineno", 0), what))
        return len(self.seen) - 1 == self.wanted

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Docstrings, defaults and annotations stay."""
        node.body = [self.visit(each) for each in node.body]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """What a decorator makes of a class changes no answer."""
        node.body = [self.visit(each) for each in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """A record's field: its default is data."""
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        """What checks lengths of what is zipped changes no answer."""
        return node if node.arg == "strict" else self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for number, operator in enumerate(node.ops):
            other = COMPARED.get(type(operator))
            if other and self.take(node, f"{type(operator).__name__} -> {other.__name__}"):
                node.ops[number] = other()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        other = COUNTED.get(type(node.op))
        texts = any(isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str) for side in (node.left, node.right))
        if other and not texts and self.take(node, f"{type(node.op).__name__} -> {other.__name__}"):
            node.op = other()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self.take(node, "and <-> or"):
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not | ast.USub) and self.take(node, f"{type(node.op).__name__} dropped"):
            return node.operand
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if self.take(node, "branches exchanged"):
            node.body, node.orelse = node.orelse, node.body
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if self.take(node, "condition negated"):
            node.test = ast.UnaryOp(ast.Not(), node.test)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            if self.take(node, f"{node.value} -> {not node.value}"):
                return ast.copy_location(ast.Constant(not node.value), node)
        elif isinstance(node.value, int | float) and self.take(node, f"{node.value} -> {node.value + 1}"):
            return ast.copy_location(ast.Constant(node.value + 1), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "lru_cache":
            return node  # how much is remembered changes no answer
        self.generic_visit(node)
        other = CALLED.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if other and self.take(node, f"{node.func.id} -> {other}"):  # type: ignore[attr-defined]
            node.func.id = other  # type: ignore[attr-defined]
        return node


def mutants(root: Path, rooms: list[str]) -> Iterator[Mutant]:
    """Every mutant of these rooms in this tree."""
    for room in rooms:
        for path in sorted({path for pattern in ROOMS[room] for path in (root / "advisor").glob(pattern)}):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            spans = [range(each.lineno, (each.end_lineno or 0) + 1) for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
            whole = range(1, path.read_text(encoding="utf-8").count("\n") + 1)
            changer = Changer()
            changer.visit(tree)
            for index, (line, what) in enumerate(changer.seen):
                around = [span for span in spans if line in span]
                yield Mutant(room, path.relative_to(root), index, line, what, max(around, key=len, default=whole))


def mutated(mutant: Mutant, source: str) -> str:
    """The module's source with the change."""
    tree = Changer(mutant.index).visit(ast.parse(source))
    names = "".join(f"from math import {name}\n" for name in ("ceil", "floor") if mutant.what.endswith(f"-> {name}"))
    return names + ast.unparse(ast.fix_missing_locations(tree))


def change(mutant: Mutant, root: Path) -> None:
    """Make the change in this process: functions get their new code, constants their new values wherever they were imported.

    Functions stay the objects that they are, so that whoever holds one runs the change too.
    """
    module = importlib.import_module(".".join(mutant.path.with_suffix("").parts).removesuffix(".__init__"))
    source = mutated(mutant, (root / mutant.path).read_text(encoding="utf-8"))
    new = ModuleType(module.__name__)
    new.__dict__.update(__file__=module.__file__, __package__=module.__package__)
    exec(compile(source, str(module.__file__), "exec"), new.__dict__)
    for name in ("ceil", "floor"):
        module.__dict__.setdefault(name, new.__dict__.get(name))
    for name, value in vars(new).items():
        old = vars(module).get(name)
        if not name.startswith("__") and _plain(value) and _plain(old) and value != old:
            for other in [each for key, each in sys.modules.items() if key.startswith("advisor") and vars(each).get(name) is old]:
                setattr(other, name, value)
    _take_code(vars(module), vars(new), module)


def _plain(value: Any) -> bool:
    try:
        return json.dumps(value) is not None
    except (TypeError, ValueError):
        return isinstance(value, frozenset)


def _take_code(old: Any, new: Any, module: ModuleType) -> None:
    """Functions and methods that a module defines take the code of those of the same name."""
    for name, value in dict(old).items():
        if isinstance(value, type) and isinstance(new.get(name), type) and value.__module__ == module.__name__:
            _take_code(vars(value), vars(new[name]), module)
        before, after = _function(value), _function(new.get(name))
        own = before and after and before.__code__.co_filename == module.__file__
        if before and after and own and len(before.__code__.co_freevars) == len(after.__code__.co_freevars):
            before.__code__ = after.__code__


def _function(value: Any) -> FunctionType | None:
    """The function under a cache, a property or a decorator."""
    for inside in ("__wrapped__", "fget", "func", "__func__"):
        value = getattr(value, inside, None) or value
    return value if isinstance(value, FunctionType) else None
