"""Do the tests fail when the code is broken? A random sample of small changes, each tried with the tests that run the changed line.

    python tools/mutate.py                     300 mutants: 75 each of placement, memory, speed and advice
    python tools/mutate.py --count 60 memory   fewer, of one room
    python tools/mutate.py --of dealing.py --of advice/holds.py   of these modules only
    python tools/mutate.py --again LOG         those that survived in the output of an earlier run
    python tools/mutate.py --map lines.json    keeps which tests run which lines, and takes it from there the next time

One comparison turned, one operator exchanged, one number or truth value changed, one condition negated, one result dropped
(`mutating.py`). A mutant whose tests still pass has survived, and shows what no test notices. A run of each file of tests says which
of them run a line (`covering.py`); a mutant is tried with those, then with those that run its function otherwise, the quickest first,
until one fails or ten seconds of tests have passed. What is left out so can only make a killed mutant count as survived. The tests are
collected once, and each mutant lives in a fork of that process.
"""

import argparse
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import covering
import pytest
from mutating import ROOMS, Mutant, change, mutants

ROOT = Path(__file__).parent.parent
BAR = 0.8  # of the mutants of each room
MOST_S = 10.0  # of tests for one mutant, as they took when lines were noted
BROKEN = 99  # exit code of a fork that could not make its change
START_S = 4  # of the processor, that a mutant may take beside that


class Known(NamedTuple):
    """Which tests run which lines, and their seconds."""

    tests: dict[tuple[str, int], list[str]]  # module and line -> tests, the quickest first
    seconds: dict[str, float]

    def of(self, mutant: Mutant) -> list[str]:
        """Tests to try: those that run the line, then those that run another line of its function."""
        first = self.tests.get((str(mutant.path), mutant.line), [])
        around = {test for line in mutant.within for test in self.tests.get((str(mutant.path), line), [])}
        rest = sorted(around - set(first), key=self.seconds.__getitem__)
        found: list[str] = []
        for test in (*first, *rest):
            # who runs the line of a constant is who imports it first, often a slow one: quicker ones follow
            if not found or self.taking(found) + self.seconds[test] <= MOST_S:
                found.append(test)
        return found

    def taking(self, tests: list[str]) -> float:
        """Seconds of these tests together."""
        return sum(map(self.seconds.__getitem__, tests))


class Trier:
    """Runs in the place of the tests that pytest collected: each mutant is made and tried in a fork."""

    def __init__(self, sample: list[Mutant], known: Known, tree: Path) -> None:
        self.sample, self.known, self.tree = sample, known, tree
        self.found: list[tuple[Mutant, bool]] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Each mutant in turn."""
        items = {item.nodeid: item for item in session.items}
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all forks
        for mutant in self.sample:
            start = time.monotonic()
            tests = [items[test] for test in self.known.of(mutant) if test in items]
            done = self.killed(mutant, tests)
            self.found.append((mutant, done))
            word = "killed  " if done else "SURVIVED"
            said = f"{word} {mutant.path}:{mutant.line} {mutant.what} ({time.monotonic() - start:.1f} s, {len(tests)} tests)"
            print(said, file=sys.__stderr__, flush=True)
        return True

    def killed(self, mutant: Mutant, tests: list[pytest.Item]) -> bool:
        """Whether one of the tests fails with the change, or they hang."""
        child = os.fork()
        if not child:
            os._exit(self._tried(mutant, tests))
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) == BROKEN:
            raise SystemExit(f"{mutant.path}:{mutant.line} {mutant.what}: this change could not be made")
        return status != 0

    def _tried(self, mutant: Mutant, tests: list[pytest.Item]) -> int:
        """In the fork: the number of tests that failed, one at most. What hangs is ended when it has used its time."""
        most_s = START_S + round(self.known.taking([test.nodeid for test in tests]) / 2)  # noting lines took twice the time at least
        resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s))
        try:
            change(mutant, self.tree)
        except Exception:
            return BROKEN
        with suppress(BaseException):  # where the change makes pytest itself fail, it is noticed too
            for test, following in zip_longest(tests, tests[1:]):
                test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
                if test.session.testsfailed:
                    return 1
            return 0
        return 1


def copied(tree: Path) -> Path:
    """A copy of the tree, so that nobody changes it meanwhile."""
    for part in ("advisor", "tests", "catalog", "docs", "tools"):
        shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy2(ROOT / file, tree / file)
    return tree


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
    parser.add_argument("--tests", action="append", metavar="FILE", help="only these tests (repeatable); without it all")
    parser.add_argument("--again", type=Path, metavar="LOG", help="only mutants that survived in this output of an earlier run")
    parser.add_argument(
        "--map", type=Path, metavar="FILE", help="which tests run which lines: read from here as far as it has them, and kept"
    )
    asked = parser.parse_args()
    map_file = asked.map.resolve() if asked.map else None
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder) / "tree")
        every = [
            each for each in mutants(tree, asked.rooms or list(ROOMS)) if not asked.of or str(each.path.relative_to("advisor")) in asked.of
        ]
        if asked.again:
            again = {
                tuple(line.split(" (")[0].split(" ", 2)[1:]) for line in asked.again.read_text().splitlines() if line.startswith("SURVIVED")
            }
            every = [each for each in every if (f"{each.path}:{each.line}", each.what) in again]
        files = asked.tests or sorted(str(file.relative_to(tree)) for file in (tree / "tests").glob("test_*.py"))
        trier = Trier(sampled(every, asked.count, asked.seed), known_lines(map_file, files, tree), tree)
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        os.environ |= {"PYTHONPATH": str(tree), "TESTS_CACHE": str(tree / "cache"), "XDG_CACHE_HOME": str(tree / "cache")}
        code = pytest.main(["-p", "no:cacheprovider", "-p", "no:terminal", "-o", "addopts=", *files], plugins=[trier])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) or len(trier.found) < len(trier.sample):
            raise SystemExit(f"the tests could not be collected, or a mutant not be tried (pytest ended with {code})")
    found = trier.found
    total, dead = Counter(each.room for each, _ in found), Counter(each.room for each, done in found if done)
    print("\n".join(f"{room}: {dead[room]} of {total[room]} killed ({100 * dead[room] / total[room]:.0f} %)" for room in total))
    print(f"all: {sum(dead.values())} of {len(found)} of {len(every)} killed ({100 * sum(dead.values()) / len(found):.0f} %)")
    return 0 if all(dead[room] >= BAR * total[room] for room in total) else 1


if __name__ == "__main__":
    sys.exit(main())
