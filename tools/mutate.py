"""Do the tests fail when the code is broken? A random sample of small changes, each tried with the tests of its room.

    python tools/mutate.py                     300 mutants of placement, memory, speed and advice
    python tools/mutate.py --count 60 memory   fewer, of one room
    python tools/mutate.py --of dealing.py --of advice/holds.py   of these modules only

Each mutant is made in a copy of the tree: one comparison turned, one operator exchanged, one number or truth value changed, one
condition negated, one result dropped. A mutant whose tests still pass has survived, and shows what no test notices.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parent.parent
ROOMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # room -> (its modules, its tests, those that notice most first)
    "placement": (
        ("placement/*.py", "offload_short.py", "dealing.py", "relaid.py", "ways.py", "choose.py"),
        ("test_limits", "test_golden", "test_placement", "test_dealing", "test_choose", "test_known_points", "test_laws"),
    ),
    "memory": (
        ("memory.py", "rooms.py", "buffers.py", "weights.py", "cache.py", "platforms.py"),
        ("test_limits", "test_golden", "test_memory", "test_models", "test_known_points", "test_laws"),
    ),
    "speed": (
        ("speed.py", "timed.py", "plan.py", "step.py", "pace.py", "served.py", "collective.py", "against.py", "why.py", "around.py",
         "hostrate.py", "bounds.py", "feedforward.py"),
        ("test_golden", "test_timed", "test_known_points", "test_step", "test_placement", "test_hostrate", "test_collective", "test_scale",
         "test_choose", "test_laws"),
    ),
    "advice": (
        ("advice/*.py", "market.py", "prices.py", "supply.py", "billed.py", "memorykit.py"),
        ("test_golden", "test_hosts", "test_limits", "test_market", "test_money", "test_search", "test_remarks", "test_own_computer",
         "test_alike", "test_advice", "test_conditions", "test_questions"),
    ),
}  # fmt: skip
LONGEST_S = 600  # a mutant that hangs is noticed too
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
    path: Path
    index: int  # of the change among those of the module
    line: int
    what: str


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


def mutants(rooms: list[str]) -> Iterator[Mutant]:
    """Every mutant of these rooms."""
    for room in rooms:
        for path in sorted({path for pattern in ROOMS[room][0] for path in (ROOT / "advisor").glob(pattern)}):
            changer = Changer()
            changer.visit(ast.parse(path.read_text(encoding="utf-8")))
            for index, (line, what) in enumerate(changer.seen):
                yield Mutant(room, path, index, line, what)


def mutated(mutant: Mutant) -> str:
    """The module's source with the change."""
    tree = Changer(mutant.index).visit(ast.parse(mutant.path.read_text(encoding="utf-8")))
    names = "".join(f"from math import {name}\n" for name in ("ceil", "floor") if mutant.what.endswith(f"-> {name}"))
    return names + ast.unparse(ast.fix_missing_locations(tree))


def passing(room: str, tree: Path) -> bool:
    """Whether the tests of a room pass in this copy of the tree; not if they hang."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree),
        "XDG_CACHE_HOME": str(tree / "cache"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(tree / "examples"),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *(f"tests/{name}.py" for name in ROOMS[room][1])]
    try:
        return subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=LONGEST_S, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def killed(mutant: Mutant, tree: Path) -> bool:
    """Whether a test of the room fails with the change."""
    path = tree / mutant.path.relative_to(ROOT)
    path.write_text(mutated(mutant), encoding="utf-8")
    try:
        return not passing(mutant.room, tree)
    finally:
        shutil.copy(mutant.path, path)


def run(sample: list[Mutant], jobs: int) -> list[tuple[Mutant, bool]]:
    """Each mutant with whether it was killed; copies of the tree are handed round."""
    with tempfile.TemporaryDirectory() as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            tree = Path(folder) / str(number)
            for part in ("advisor", "tests", "catalog", "docs", "tools"):
                shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
            for file in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
                shutil.copy(ROOT / file, tree / file)
            trees.put(tree)

        def tried(mutant: Mutant) -> tuple[Mutant, bool]:
            tree, start = trees.get(), time.monotonic()
            try:
                result = mutant, killed(mutant, tree)
            finally:
                trees.put(tree)
            word = "killed  " if result[1] else "SURVIVED"
            print(f"{word} {mutant.path.relative_to(ROOT)}:{mutant.line} {mutant.what} ({time.monotonic() - start:.0f} s)", flush=True)
            return result

        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(tried, sample))


def main() -> int:
    """Try the sample; the share of each room that was killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="*", help=", ".join(ROOMS))
    parser.add_argument("--of", action="append", default=[], metavar="MODULE", help="only mutants of this module")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    rooms = asked.rooms or list(ROOMS)
    every = [each for each in mutants(rooms) if not asked.of or str(each.path.relative_to(ROOT / "advisor")) in asked.of]
    red = [room for room in rooms if not passing(room, ROOT)]
    if red:
        print(f"the tests of {', '.join(red)} fail without any change", file=sys.stderr)
        return 2
    sample = random.Random(asked.seed).sample(every, min(asked.count, len(every)))
    found = run(sample, asked.jobs)
    total, dead = Counter(each.room for each, _ in found), Counter(each.room for each, done in found if done)
    print("\n".join(f"{room}: {dead[room]} of {total[room]} killed ({100 * dead[room] / total[room]:.0f} %)" for room in total))
    share = sum(dead.values()) / len(found)
    print(f"all: {sum(dead.values())} of {len(found)} of {len(every)} killed ({100 * share:.0f} %)")
    return 0 if share >= 0.8 else 1


if __name__ == "__main__":
    sys.exit(main())
