"""The manual pages: one for each command, with every option, and nothing that a roff reader complains about."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from advisor.cli import COMMANDS, group, run

SPEC = importlib.util.spec_from_file_location("manpages", Path(__file__).parent.parent / "tools" / "manpages.py")
assert SPEC and SPEC.loader
manpages = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(manpages)
PAGES = manpages.pages()


def read_as_text(text: str) -> str:
    """What a roff page says, without its macros and escapes."""
    plain = re.sub(r"\\f[BRI]|\\&", "", text).replace("\\-", "-").replace("\\(aq", "'")
    return re.sub(r"\\\[u([0-9A-F]+)\]", lambda found: chr(int(found[1], 16)), plain)


def test_every_command_has_a_page():
    assert set(PAGES) == {"advisor.1", *(f"advisor-{name}.1" for name in COMMANDS)}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_page_names_every_option(name):
    text = read_as_text(PAGES[f"advisor-{name}.1"])
    command = group.get_command(None, name)
    for parameter in command.params:
        for option in parameter.opts:
            assert option in text or not option.startswith("-"), option
    assert ".SH EXAMPLE" in text
    assert "-h, --help" in text


def test_the_program_answers_to_a_short_help_once_its_page_is_made(capsys):
    assert "-h, --help" in read_as_text(manpages.pages()["advisor.1"])
    assert run(["-h"]) == 0
    assert "recommend" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "shown"), [(".B not a macro", "\\&.B not a macro"), ("'quoted", "\\(aqquoted"), ("a\\b", "a\\eb"), ("…", "\\[u2026]")]
)
def test_no_text_is_taken_for_roff(text, shown):
    assert manpages.escaped(text) == shown


@pytest.mark.skipif(not shutil.which("mandoc"), reason="no mandoc on this machine")
def test_mandoc_reads_every_page(tmp_path):
    for path in manpages.write(tmp_path):
        said = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path], capture_output=True, text=True, check=False).stdout
        assert [line for line in said.splitlines() if "missing date" not in line] == []


@pytest.mark.skipif(not shutil.which("man"), reason="no man on this machine")
def test_man_shows_a_page(tmp_path):
    manpages.write(tmp_path)
    shown = subprocess.run(
        ["man", "-l", str(tmp_path / "advisor-recommend.1")],
        capture_output=True,
        text=True,
        check=True,
        env={"MANWIDTH": "80", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    ).stdout
    assert "--budget USD" in shown
    assert "Nothing satisfies the need." in shown
