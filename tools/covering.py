"""Which tests run which lines, and how long each takes: a run of the tests of one file that writes both down.

Coverage is asked for one context a test, set up and all. What an earlier test left in a cache hides lines from the later ones of its
file, so a line's tests are some of those that run it, not each. A test that fails is left out, and said.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator
from math import inf
from pathlib import Path

import pytest

Lines = dict[str, dict[str, list[str]]]  # module, as a path in the tree -> line -> tests
TIMES: pytest.StashKey[dict[str, float]] = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """This module is a plugin of the run: the lines that follow are this test's."""
    from coverage import Coverage

    running = Coverage.current()
    if running:
        running.switch_context(item.nodeid)
    yield


def pytest_configure(config: pytest.Config) -> None:
    """Where the times go."""
    config.stash[TIMES] = {}


def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> None:
    """Seconds of set-up, test and cleaning up together; endless where it fails."""
    times = config.stash[TIMES]
    times[report.nodeid] = inf if report.failed else times.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The times beside the lines."""
    path = os.environ.get("COVERING_TIMES")
    if path:
        Path(path).write_text(json.dumps(session.config.stash[TIMES]), encoding="utf-8")


def covering(file: str, tree: Path, modules: Iterable[str]) -> tuple[Lines, dict[str, float]]:
    """Run the tests of a file of this tree: the tests of each line of these modules, and the seconds of each test."""
    with tempfile.TemporaryDirectory() as name:
        data, times, settings = (Path(name) / each for each in ("lines", "times", "settings"))
        listed = "\n    ".join(str(tree / module) for module in modules)
        settings.write_text(f"[run]\ndata_file = {data}\ninclude =\n    {listed}\n", encoding="utf-8")
        known = {"PYTHONPATH": os.pathsep.join((str(tree), str(tree / "tools"))), "COVERING_TIMES": str(times)}
        command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q", "-p", "covering", file]
        done = subprocess.run(command, cwd=tree, env={**os.environ, **known}, capture_output=True, text=True, check=False)
        if not times.exists():
            raise SystemExit(f"{file} cannot be run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        seconds: dict[str, float] = json.loads(times.read_text(encoding="utf-8"))
        for test in (test for test, spent in seconds.items() if spent == inf):
            print(f"{test} fails without any change, and is left out")
        seconds = {test: spent for test, spent in seconds.items() if spent < inf}
        return _lines(data, tree, seconds), seconds


def _lines(data: Path, tree: Path, known: Collection[str]) -> Lines:
    """The known tests of each line, from what coverage wrote; nothing where the tests ran none of the modules."""
    from coverage import CoverageData

    measured = CoverageData(str(data))
    measured.read()
    found: Lines = {}
    for module in measured.measured_files():
        contexts = measured.contexts_by_lineno(module)
        found[str(Path(module).relative_to(tree))] = {
            str(line): [test for test in tests if test in known] for line, tests in contexts.items()
        }
    return found
