"""`tools/deep-check`: which steps are run, that each is tried however the others end, and what is said of each.

No step does its work here: its Python ends at once, so that a step which needs one fails in milliseconds.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools" / "deep-check"
pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="a shell script")


def deep_check(tmp_path: Path, *steps: str) -> subprocess.CompletedProcess[str]:
    """With no Python that works, whoever is asked for one."""
    for name in ("python3.11", "python3.14", "pyenv", "uv", "broken"):
        (tmp_path / name).write_text("#!/bin/sh\necho broken on purpose\nexit 1\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    known = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHON": str(tmp_path / "broken")}
    return subprocess.run(["bash", str(TOOL), *steps], env=known, capture_output=True, text=True, check=False)


def closing(done: subprocess.CompletedProcess[str]) -> list[list[str]]:
    """The lines after the last heading: word, step, and the reason in words."""
    lines = done.stdout.rsplit("\n== in ", 1)[1].splitlines()[1:]
    return [[line.split()[0], line.split()[1], " ".join(line.split()[4:])] for line in lines]


def test_steps_are_run_in_the_order_asked_for_and_after_a_failure(tmp_path: Path) -> None:
    done = deep_check(tmp_path, "wheel", "python3.14", "oldest")
    assert closing(done) == [
        ["failed", "wheel", "broken on purpose"],
        ["skipped", "python3.14", "no Python 3.14 on PATH, in pyenv or in uv"],
        ["failed", "oldest", "broken on purpose"],
    ]
    assert done.returncode == 1
    assert "3 steps, about 13 minutes" in done.stdout, "1 of the wheel, 6 of either Python's tests"


def test_what_is_missing_here_is_no_failure(tmp_path: Path) -> None:
    done = deep_check(tmp_path, "python3.11", "python3.14")
    assert [word for word, *_ in closing(done)] == ["skipped", "skipped"]
    assert done.returncode == 0


def test_an_unknown_step_names_the_known_ones_before_anything_runs(tmp_path: Path) -> None:
    listed = [line.split("|")[0].strip() for line in deep_check(tmp_path, "--list").stdout.splitlines()]
    assert len(listed) == len(set(listed)) >= 12
    done = deep_check(tmp_path, "wheel", "whel")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"no step whel; there are: {' '.join(listed)}\n"


def test_help_is_the_head_of_the_file(tmp_path: Path) -> None:
    done = deep_check(tmp_path, "--help")
    assert done.stdout.startswith("What does not fit") and "set -e" not in done.stdout
