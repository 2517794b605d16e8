"""Which tests run which lines of `advisor/`, and how long each takes: one run of the tests that writes both down.

Coverage is asked for one context a test, set up and all. What an earlier test left in a cache hides lines from the later ones, so a
line's tests are some of those that run it, not each.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
Tests = dict[str, dict[int, list[str]]]  # module below advisor/ -> line -> tests, the quickest first


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
    config.stash[TIMES] = Counter()


def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> None:
    """Seconds of set-up, test and cleaning up together."""
    config.stash[TIMES][report.nodeid] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The times beside the lines."""
    path = os.environ.get("COVERING_TIMES")
    if path:
        Path(path).write_text(json.dumps(session.config.stash[TIMES]), encoding="utf-8")


TIMES: pytest.StashKey[Counter[str]] = pytest.StashKey()


def covering(tests: list[str]) -> tuple[Tests, dict[str, float]]:
    """Run these tests (files or folders); the tests of each line, and the seconds of each test."""
    with tempfile.TemporaryDirectory() as name:
        data, times = Path(name) / "lines", Path(name) / "times"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tools"))), "COVERING_TIMES": str(times)}
        settings = Path(name) / "settings"
        settings.write_text(f"[run]\nsource = {ROOT / 'advisor'}\ndata_file = {data}\n", encoding="utf-8")
        command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q", "-p", "covering", *tests]
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            raise SystemExit("the tests fail without any change")
        seconds = json.loads(times.read_text(encoding="utf-8"))
        return lines(data, seconds), seconds


def lines(data: Path, seconds: dict[str, float]) -> Tests:
    """The tests of each line, from what coverage wrote."""
    from coverage import CoverageData

    measured = CoverageData(str(data))
    measured.read()
    found: Tests = {}
    for file in measured.measured_files():
        module = str(Path(file).relative_to(ROOT / "advisor"))
        contexts = measured.contexts_by_lineno(file)
        found[module] = {line: sorted(filter(None, tests), key=lambda test: seconds.get(test, 0)) for line, tests in contexts.items()}
    return found
