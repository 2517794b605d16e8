"""Do the tests fail when the code is broken? A random sample of small changes, each tried with the tests that run the changed line.

    python tools/mutate.py                     300 mutants: 75 each of placement, memory, speed and advice
    python tools/mutate.py --count 60 memory   fewer, of one room
    python tools/mutate.py --of dealing.py --of advice/holds.py   of these modules only
    python tools/mutate.py --map lines.json    keeps which tests run which lines, and takes it from there the next time

Each mutant is made in a copy of the tree: one comparison turned, one operator exchanged, one number or truth value changed, one
condition negated, one result dropped. A mutant whose tests still pass has survived, and shows what no test notices. A run of each
file of tests says which of them run a line (`covering.py`); a mutant is tried with those, then with those that run its function otherwise,
the quickest first and a few of each kind, until one fails. What is left out so can only make a killed mutant count as survived.
"""

import argparse
import ast
import compileall
import json
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
from importlib.util import cache_from_source
from itertools import zip_longest
from pathlib import Path
from queue import SimpleQueue

import covering

ROOT = Path(__file__).parent.parent
ROOMS: dict[str, tuple[str, ...]] = {  # room -> its modules
    "placement": ("placement/*.py", "offload_short.py", "dealing.py", "relaid.py", "ways.py", "choose.py"),
    "memory": ("memory.py", "rooms.py", "buffers.py", "weights.py", "cache.py", "platforms.py"),
    "speed": (
        "speed.py", "timed.py", "plan.py", "step.py", "pace.py", "served.py", "collective.py", "against.py", "why.py", "around.py",
        "hostrate.py", "bounds.py", "feedforward.py",
    ),
    "advice": ("advice/*.py", "market.py", "prices.py", "supply.py", "billed.py", "memorykit.py"),
}  # fmt: skip
BAR = 0.8  # of the mutants of each room
TURNS_S = (8.0, 25.0)  # seconds of tests, as they took when lines were noted: a first turn, and one for what passes it
START_S = 60  # of a run of tests beside the tests' own time, on a busy machine
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


def mutants(rooms: list[str]) -> Iterator[Mutant]:
    """Every mutant of these rooms."""
    for room in rooms:
        for path in sorted({path for pattern in ROOMS[room] for path in (ROOT / "advisor").glob(pattern)}):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            spans = [range(each.lineno, (each.end_lineno or 0) + 1) for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
            whole = range(1, path.read_text(encoding="utf-8").count("\n") + 1)
            changer = Changer()
            changer.visit(tree)
            for index, (line, what) in enumerate(changer.seen):
                around = [span for span in spans if line in span]
                yield Mutant(room, path, index, line, what, max(around, key=len, default=whole))


def mutated(mutant: Mutant, source: str) -> str:
    """The module's source with the change."""
    tree = Changer(mutant.index).visit(ast.parse(source))
    names = "".join(f"from math import {name}\n" for name in ("ceil", "floor") if mutant.what.endswith(f"-> {name}"))
    return names + ast.unparse(ast.fix_missing_locations(tree))


@dataclass(frozen=True)
class Known:
    """Which tests run which lines, and their seconds."""

    tests: dict[tuple[str, int], list[str]]  # module and line -> tests, the quickest first
    seconds: dict[str, float]

    def turns(self, mutant: Mutant) -> Iterator[list[str]]:
        """Tests to try, a turn at a time: those that run the line, then those that run another line of its function."""
        module = str(mutant.path.relative_to(ROOT))
        first = self.tests.get((module, mutant.line), [])
        around = {test for line in mutant.within for test in self.tests.get((module, line), [])}
        rest = sorted(around - set(first), key=self.seconds.__getitem__)
        tests, taken = [*by_turns(first), *by_turns(rest)], 0
        for most_s in TURNS_S:
            turn: list[str] = []
            while taken < len(tests) and (not turn or sum(map(self.seconds.__getitem__, turn)) < most_s):
                turn.append(tests[taken])
                taken += 1
            if turn:
                yield turn


def by_turns(tests: list[str]) -> list[str]:
    """One case of each test, then a second of each, and so on."""
    cases: dict[str, list[str]] = {}
    for test in tests:
        cases.setdefault(test.partition("[")[0], []).append(test)
    return [each for turn in zip_longest(*cases.values()) for each in turn if each is not None]


def passing(tests: list[str], tree: Path, most_s: float) -> bool:
    """Whether these tests pass in this copy of the tree; not if they hang."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TESTS_CACHE": str(tree / "cache"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(tree / "examples"),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        return subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=most_s, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def killed(mutant: Mutant, tree: Path, known: Known) -> bool:
    """Whether a test fails with the change."""
    path = tree / mutant.path.relative_to(ROOT)
    source, kept = path.read_bytes(), path.stat()
    try:
        # of the same size and time, so that copies of the catalog, which belong to the package's files, still hold
        replaced(path, mutated(mutant, source.decode()).encode().ljust(len(source), b"#"), kept)
        return any(not passing(turn, tree, START_S + 10 * sum(map(known.seconds.__getitem__, turn))) for turn in known.turns(mutant))
    finally:
        replaced(path, source, kept)


def replaced(path: Path, source: bytes, kept: os.stat_result) -> None:
    """A module of other bytes and the old time; what was compiled of it is forgotten."""
    path.write_bytes(source)
    os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def copied(tree: Path) -> Path:
    """A copy of the tree, compiled, in which the tests run."""
    for part in ("advisor", "tests", "catalog", "docs", "tools"):
        shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy2(ROOT / file, tree / file)
    compileall.compile_dir(tree / "advisor", quiet=1)
    return tree


def run(sample: list[Mutant], trees: SimpleQueue[Path], known: Known, jobs: int) -> list[tuple[Mutant, bool]]:
    """Each mutant with whether it was killed; copies of the tree are handed round."""

    def tried(mutant: Mutant) -> tuple[Mutant, bool]:
        tree, start = trees.get(), time.monotonic()
        try:
            result = mutant, killed(mutant, tree, known)
        finally:
            trees.put(tree)
        word = "killed  " if result[1] else "SURVIVED"
        print(f"{word} {mutant.path.relative_to(ROOT)}:{mutant.line} {mutant.what} ({time.monotonic() - start:.0f} s)", flush=True)
        return result

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(tried, sample))


def known_lines(path: Path | None, files: list[str], tree: Path) -> Known:
    """What the tests of these files run: from the map as far as it has them; else found out, and put there."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}
    modules = sorted({str(each.relative_to(tree)) for room in ROOMS.values() for one in room for each in (tree / "advisor").glob(one)})
    for file in files:
        if file not in kept:
            kept[file] = covering.covering(file, tree, modules)
            if path:
                path.write_text(json.dumps(kept), encoding="utf-8")
    found: dict[tuple[str, int], list[str]] = {}
    seconds: dict[str, float] = {}
    for lines, spent in (kept[file] for file in files):
        seconds |= spent
        for module, of_lines in lines.items():
            for line, tests in of_lines.items():
                found.setdefault((module, int(line)), []).extend(tests)
    return Known({place: sorted(tests, key=seconds.__getitem__) for place, tests in found.items()}, seconds)


def sampled(every: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many mutants, the same number of each room as far as it has them, in no order."""
    lots = random.Random(seed)
    rooms = sorted({each.room for each in every})
    drawn: list[Mutant] = []
    for room in rooms:
        there = [each for each in every if each.room == room]
        drawn += lots.sample(there, min(-(-count // len(rooms)), len(there)))
    lots.shuffle(drawn)
    return drawn[:count]


def main() -> int:
    """Try the sample; the share of each room that was killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="*", help=", ".join(ROOMS))
    parser.add_argument("--of", action="append", default=[], metavar="MODULE", help="only mutants of this module")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tests", action="append", metavar="FILE", help="only these tests (repeatable); without it all")
    parser.add_argument(
        "--map", type=Path, metavar="FILE", help="which tests run which lines: read from here as far as it has them, and kept"
    )
    asked = parser.parse_args()
    every = [
        each for each in mutants(asked.rooms or list(ROOMS)) if not asked.of or str(each.path.relative_to(ROOT / "advisor")) in asked.of
    ]
    files = asked.tests or sorted(str(file.relative_to(ROOT)) for file in (ROOT / "tests").glob("test_*.py"))
    with tempfile.TemporaryDirectory() as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(asked.jobs):
            trees.put(tree := copied(Path(folder) / str(number)))
        found = run(sampled(every, asked.count, asked.seed), trees, known_lines(asked.map, files, tree), asked.jobs)
    total, dead = Counter(each.room for each, _ in found), Counter(each.room for each, done in found if done)
    print("\n".join(f"{room}: {dead[room]} of {total[room]} killed ({100 * dead[room] / total[room]:.0f} %)" for room in total))
    print(f"all: {sum(dead.values())} of {len(found)} of {len(every)} killed ({100 * sum(dead.values()) / len(found):.0f} %)")
    return 0 if all(dead[room] >= BAR * total[room] for room in total) else 1


if __name__ == "__main__":
    sys.exit(main())
