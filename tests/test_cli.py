"""The command line itself: help, streams, exit codes, failures, colour, encodings, closed pipes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from advisor.cli import COMMANDS, group, run, streams
from advisor.errors import AmbiguousName, CatalogError, Unsupported


def advisor(*arguments, stdin=None, **environment):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "advisor", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        timeout=60,
        check=False,
    )


def bare_python(code):
    """The code in a process of its own, without coverage, which imports much itself."""
    uncovered = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env=uncovered)


def test_help_imports_neither_yaml_nor_tabulate_nor_the_rooms():
    code = (
        "import sys, advisor.cli\n"
        "assert advisor.cli.run(['--help']) == 0\n"
        "heavy = {'yaml', 'tabulate', 'dataclasses', 'hashlib', 'subprocess', 'advisor.catalog', 'advisor.speed', 'advisor.request'}\n"
        "loaded = sorted(heavy & set(sys.modules))\n"
        "sys.exit(f'loaded: {loaded}' if loaded else 0)"
    )
    done = bare_python(code)
    assert done.returncode == 0, done.stderr
    assert "recommend" in done.stdout


def test_an_answer_does_without_inspect_which_is_there_when_it_is_asked_for():
    code = (
        "import sys, advisor.__main__, inspect\n"
        "assert advisor.cli.run(['estimate', 'rtx-3090', '--model', 'qwen3-8b', '--json']) == 0\n"
        "assert not {'ast', 'dis', 'tokenize'} & set(sys.modules) and sys.modules['inspect'] is inspect\n"
        "assert not hasattr(inspect, '__path__') and inspect.cleandoc('  one\\n  two') == 'one\\ntwo'\n"
        "from inspect import signature, Parameter\n"
        "assert sys.modules['inspect'] is not inspect and sys.modules['inspect'].signature is signature is inspect.signature\n"
        "import click.core\n"
        "assert click.core.inspect.Parameter is Parameter and not hasattr(inspect, 'nothing')\n"
    )
    done = bare_python(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["recommend", "estimate", "batch"])
def test_help_is_what_click_would_write(command):
    """Options and commands of our own change nothing but when `inspect` is imported."""
    found = group.get_command(click.Context(group), command)
    assert found is not None

    def plain(option):
        return click.Option([*option.opts, option.name], metavar=option.metavar, is_flag=option.is_flag, help=option.help, type=option.type)

    own = [option for option in found.params if isinstance(option, click.Option) and option.opts != ["--json"]]
    context = click.Context(found, help_option_names=["-h", "--help"])
    theirs = click.Command(command, params=list(map(plain, own)), help=found.help)
    assert [option.help for option in own] == [option.help for option in theirs.params]
    ours = found.get_help_option(context)
    assert ours is found.get_help_option(context) is not None
    assert ours.get_help_record(context) == theirs.get_help_option(context).get_help_record(context)
    without = click.Context(found, help_option_names=[])
    assert found.get_help_option(without) is None


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    assert run([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"advisor {command}" in shown
    found = group.get_command(click.Context(group), command)
    assert found is not None
    assert found.help
    assert all(parameter.help for parameter in found.params if isinstance(parameter, click.Option))
    assert max(map(len, shown.splitlines())) <= 80


def test_the_group_help_names_every_command(capsys):
    assert run(["-h"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {command}" in shown for command in COMMANDS)


def test_version(capsys):
    from advisor import __version__

    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"advisor {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["estimate", "--nonsense"], ["estimate", "rtx-3090", "--format", "yaml"], ["--nonsense"], []]
)
def test_wrong_usage_ends_with_2_on_stderr(arguments, capsys):
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.strip()
    assert "Traceback" not in shown.err


def test_an_error_is_an_object_when_json_is_asked_for(capsys):
    assert run(["estimate", "rtx-3090", "--model", "llama-3.3-70b", "--context", "8x", "--json"]) == 2
    shown = capsys.readouterr()
    error = json.loads(shown.out)["error"]
    assert error == {"code": "bad-value", "message": error["message"], "exit_code": 2, "nearest": []}
    assert "--context" in error["message"]
    assert shown.err.startswith("Error: --context: '8x'")


def failing(error):
    """A command that raises."""

    def callback():
        raise error

    return click.Command("list", callback=callback, params=[click.Option(["--json"], is_flag=True, expose_value=False)])


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (Unsupported("vLLM cannot split 8 KV heads over 3 devices."), 2, "Error: vLLM cannot"),
        (AmbiguousName("'3080' fits several.", ("rtx-3080-10gb", "rtx-3080-12gb")), 2, "Did you mean: rtx-3080-10gb, rtx-3080-12gb?"),
        (CatalogError(("a.yaml:3: power_w: expected a number", "b.yaml:1: id: missing")), 4, "a.yaml:3: power_w: expected"),
        (PermissionError(13, "Permission denied", "secret.yaml"), 2, "secret.yaml: Permission denied"),
        (RecursionError(), 2, "too deeply"),
        (ZeroDivisionError("division by zero"), 1, "ADVISOR_DEBUG=1"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_failures_are_plain_lines(error, code, words, monkeypatch, capsys):
    monkeypatch.setattr(type(group), "get_command", lambda *_: failing(error))
    assert run(["list"]) == code
    shown = capsys.readouterr()
    assert words in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""


def test_debug_shows_the_traceback(monkeypatch, capsys):
    monkeypatch.setattr(type(group), "get_command", lambda *_: failing(ZeroDivisionError("x")))
    monkeypatch.setenv("ADVISOR_DEBUG", "1")
    assert run(["list"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_bare_advisor_shows_its_help_on_stderr(capsys):
    assert run([]) == 2
    assert "Commands:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("RTX \x1b[31m3090\x1b[0m", "RTX [31m3090[0m"),
        ("a\x07b\x00c\x9bd", "abcd"),
        ("evil\u202etxt.exe", "eviltxt.exe"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
    ],
)
def test_terminal_controls_never_pass(text, shown):
    assert streams.plain(text) == shown


def test_ascii_terminals_get_ascii():
    assert streams.encodable("2 × RTX – 8 µs ░█ 漢", "ascii") == "2 x RTX - 8 us .# ?"
    assert streams.encodable("2 × RTX", "latin-1") == "2 × RTX"
    assert streams.encodable("2 × 漢", None) == "2 x ?"


class Terminal:
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def __init__(self):
        self.written = ""

    def write(self, text):
        self.written += text

    def flush(self):
        pass

    def isatty(self):
        return True


def test_colour_only_on_a_terminal_and_only_for_the_verdict(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    streams.say("Keep your card.", verdict="Keep")
    assert terminal.written == "\x1b[1;32mKeep\x1b[0m your card.\n"
    terminal.written = ""
    monkeypatch.setenv("NO_COLOR", "1")
    streams.say("Keep your card.", verdict="Keep")
    assert terminal.written == "Keep your card.\n"


def test_a_reader_that_leaves_is_no_error():
    """`advisor schema batch | head -1`: more than a pipe holds, and nobody reads it."""
    with subprocess.Popen([sys.executable, "-m", "advisor", "schema", "batch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(timeout=60) == 0
    assert said == b""


@pytest.mark.parametrize(
    "words", [("recommend", "--have", "2x rtx-3090", "--model", "qwen3-8b"), ("estimate", "nonsense", "--model", "8b")]
)
def test_a_reader_of_both_streams_may_leave_too(words):
    """`advisor … 2>&1 | head -0`: what stderr still holds at the exit is nobody's fault either."""
    with subprocess.Popen([sys.executable, "-m", "advisor", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_full_disk_is_a_plain_error(form):
    with Path("/dev/full").open("wb") as full:
        words = ("estimate", "rtx-3090", "--model", "qwen3-8b", "--format", form)
        done = subprocess.run([sys.executable, "-m", "advisor", *words], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1] == "Error: No space left on device"


def test_python_m_is_the_same():
    assert advisor("--version").stdout.startswith("advisor ")


@pytest.mark.parametrize(
    ("words", "at", "offered"),
    [("advisor rec", 1, "recommend"), ("advisor estimate rtx-309", 2, "rtx-3090"), ("advisor schema rec", 2, "recommend"),
     ("advisor estimate rtx-3090 --model qwen3-8", 4, "qwen3-8b"), ("advisor recommend --have rtx-309", 3, "rtx-3090"),
     ("advisor recommend --have epyc-s", 3, "epyc-sp5"), ("advisor ask --among mac-m3-u", 3, "mac-m3-ultra-80c"),
     ("advisor recommend --consider second", 3, "second-gpu"), ("advisor recommend --prefer f", 3, "fastest"),
     ("advisor estimate rtx-3090 via pcie-4-x8", 4, "pcie-4-x8"), ("advisor estimate 'rtx-3090 on vl", 2, "vllm"),
     ("advisor compare '2x rtx-3090 as te", 2, "2x rtx-3090 as tensor"), ("advisor estimate rtx-3090 --quant q4_k_m", 4, "q4_k_m"),
     ("advisor estimate rtx-3090 --kv-quant q8", 4, "q8_0"), ("advisor list dev", 2, "devices"), ("advisor show vl", 2, "vllm"),
     ("advisor schema cat", 2, "catalog")],
)  # fmt: skip
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands_and_ids(words, at, offered, shell):
    last = words[words.find("'") :] if "'" in words else words.rpartition(" ")[2]
    state = {"COMP_WORDS": words, "COMP_CWORD": last if shell == "fish" else str(at), "_ADVISOR_COMPLETE": f"{shell}_complete"}
    assert offered in advisor(**state).stdout


def test_completing_ids_reads_no_yaml():
    code = (
        "import sys\nfrom advisor.cli.complete import catalog_ids\nimport click\n"
        "context = click.Context(click.Command('x'))\n"
        "found = [item.value for item in catalog_ids('devices')(context, None, '2x rtx-309')]\n"
        "assert '2x rtx-3090' in found, found\n"
        "assert 'yaml' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("redirected", ["batch <&-", "detect --from - <&-", "estimate rtx-3090 --model qwen3-8b >&-"])
def test_a_closed_stream_is_no_bug(redirected):
    done = subprocess.run(["sh", "-c", f"exec {sys.executable} -m advisor {redirected}"], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2)
    assert "bug" not in done.stderr


@pytest.mark.parametrize(
    ("awaiting", "seen"),
    [
        ("import atexit; atexit.register(print, 'the end')", "the end"),
        ("import threading; threading.Timer(0.2, print, ['the end']).start()", "the end"),
        ("import cProfile; cProfile.run('main()')", "function calls"),
        ("pass", "advisor 0."),
    ],
)
def test_what_waits_for_pythons_own_end_gets_it(awaiting, seen):
    """The process leaves at once otherwise: all that was written is out, and the exit code is the answer's."""
    program = f"import sys; from advisor.__main__ import main; sys.argv = ['advisor', '--version']; {awaiting}; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert "advisor 0." in done.stdout
    assert seen in done.stdout


def test_a_program_that_runs_a_command_line_goes_on_as_pythons_own_would(tmp_path):
    """What it wrote is out, and what it does at the end is done: only a process of our own leaves at once."""
    program = (
        "import sys; from advisor.cli import main; sys.argv = ['advisor', '--version']\n"
        f"kept = open({str(tmp_path / 'kept')!r}, 'w'); kept.write('kept')\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    print('ended with', ended.code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines()[1:] == ["ended with 0"]
    assert (tmp_path / "kept").read_text() == "kept"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "words", [("estimate", "nonsense", "--model", "8b"), ("recommend", "--have", "rtx-3090", "--model", "llama-3.3-70b")]
)
def test_a_full_disk_behind_stderr_is_no_bug(words):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([sys.executable, "-m", "advisor", *words], stdout=subprocess.DEVNULL, stderr=full, check=False)
    assert done.returncode == 2


def test_all_that_was_written_is_out_when_the_process_leaves():
    listed = advisor("list", "measurements", "--json")
    assert listed.returncode == 0
    assert len(json.loads(listed.stdout)["records"]) > 1000  # far more than a pipe holds at a time


def test_a_floor_of_nothing_is_a_floor(capsys):
    """--min-tokens-per-s 0 once divided by zero."""
    assert run(["recommend", "--model", "qwen3-8b", "--min-tokens-per-s", "0"]) in (0, 3)
    assert "bug" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["recommend", "--have", "rtx-3090", "--model", "qwen3-32b"], ["scale", "rtx-3090", "--model", "qwen3-8b", "--max", "4"]]
)
@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_a_terminal_without_unicode_gets_ascii(arguments, environment):
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONIOENCODING", "LANG", "LC_ALL")}
    done = subprocess.run([sys.executable, "-m", "advisor", *arguments], capture_output=True, check=False, env={**kept, **environment})
    assert done.returncode in (0, 3), done.stderr
    assert (done.stdout + done.stderr).isascii()
    assert b"tokens/s" in done.stdout
