"""What went wrong on other advisers' command lines: JSON beside log lines, consoles without Unicode, machines without a network."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.cli import run as run_here

ROOT = Path(__file__).parent.parent
WITH_WARNINGS = [
    ("estimate", "2x rtx-5090 via pcie-5-x8-p2p", "--model", "70b"),
    ("compare", "rtx-3090", "2x rtx-4090", "--model", "qwen3-32b"),
    ("scale", "rtx-3090", "--max", "2", "--model", "qwen3-32b"),
    ("recommend", "--have", "rtx-3090", "--model", "llama-3.3-70b"),
    ("ask", "is a 5090 faster than my 4090 for gemma 27b, budget 3000 euros"),
    ("ask", "do I need NVLink for two 3090s"),
    ("list", "devices"),
    ("show", "rtx-3090"),
    ("check",),
]
ERRORS = [
    ("estimate", "rtx-309", "--model", "qwen3-8b"),
    ("ask", "asdf qwer"),
    ("ask", "1000000 3090s for 70b"),
    ("recommend", "--model", "no-such-model"),
    ("estimate", "rtx-3090"),
]


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    known = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([sys.executable, "-m", "advisor", *words], capture_output=True, env=known, check=False)


def called(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The command in this process: its exit code and both streams."""
    code = run_here(words)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("words", WITH_WARNINGS, ids=" ".join)
def test_with_json_stdout_is_one_document(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = called(capsys, *words, "--json")
    assert out.endswith("}\n")
    assert json.loads(out)["command"] == words[0]
    assert "{" not in err


@pytest.mark.parametrize("words", ERRORS, ids=" ".join)
def test_an_error_with_json_is_one_document_and_a_plain_line(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = called(capsys, *words, "--json")
    error = json.loads(out)["error"]
    assert code == error["exit_code"] == 2
    assert err.startswith("Error: ")
    assert "Traceback" not in err


@pytest.mark.parametrize("words", [*WITH_WARNINGS[:6], WITH_WARNINGS[-1]], ids=" ".join)
def test_what_a_person_reads_keeps_to_80_columns(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = called(capsys, *words)
    typed = re.compile(r"^ {4}\S")  # a command to be typed stays whole, and so does one long word
    for line in (out + err).splitlines():
        assert len(line) <= 80 or typed.match(line) or max(map(len, line.split())) > 60, line


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "gbk", "utf-8"])
def test_a_console_of_any_encoding(encoding: str) -> None:
    done = run("recommend", "--have", "rtx-3090", "--model", "qwen3-8b", PYTHONIOENCODING=encoding, LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode(encoding).startswith("Keep what you have")


def test_files_are_read_as_utf_8_whatever_the_code_page(tmp_path: Path) -> None:
    """Python warns wherever a file is opened in the machine's own encoding (gbk, cp1252), and here a warning is an error."""
    pasted = tmp_path / "smi.txt"
    pasted.write_text("NVIDIA GeForce RTX 3090, 24576 MiB  # é 显卡\n", encoding="utf-8")
    strict = [
        sys.executable,
        "-X",
        "warn_default_encoding",
        "-W",
        "error::EncodingWarning",
        "-m",
        "advisor",
        "detect",
        "--from",
        str(pasted),
    ]
    known = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*strict, "--system"], capture_output=True, env=known, check=False)
    assert (done.returncode, done.stdout.decode().strip()) == (0, "rtx-3090"), done.stderr


def test_without_a_network(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    code, out, _ = called(capsys, "ask", "second 3090 for llama 3.3 70b?")
    assert (code, out.partition(" ")[0]) == (0, "Buy")


def test_every_command_of_the_pages_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = called(capsys, "--help")
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
    for command in set(re.findall(r"^\$ advisor ([a-z]+)", pages, flags=re.MULTILINE)):
        assert re.search(rf"^\s+{command}\b", out, flags=re.MULTILINE), command
