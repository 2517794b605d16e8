"""No argument makes a traceback: a table of bad input with its exit code, and whatever hypothesis thinks of."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.cli import COMMANDS, run
from advisor.cli.batch import answer_line
from advisor.cli.streams import COLUMNS

MODEL = ("--model", "qwen3-8b")
BAD_INPUT = [
    (("estimate", "rtx-309", *MODEL), "rtx-3090"),
    (("estimate", "m1 max", *MODEL), "mac-m1-max-24c"),
    (("estimate", "x" * 5000, *MODEL), "no device is called"),
    (("estimate", "rtx-3090", "--model", "y" * 5000), "no model is called"),
    (("show", "z" * 5000), "nothing called"),
    (("estimate", "", *MODEL), "SYSTEM"),
    (("estimate", "rtx-3090"), "--model is missing"),
    (("estimate", "rtx-3090", "--model", "lama-3.3-70b"), "llama-3.3-70b"),
    (("estimate", "rtx-3090", "--model", "no/such/config.json"), "no/such/config.json"),
    (("estimate", "rtx-3090", "--model", "no-such.gguf"), "no-such.gguf"),
    (("estimate", "rtx-3090", *MODEL, "--context", "8x"), "--context"),
    (("estimate", "rtx-3090", *MODEL, "--context", "100"), "1024 + 256"),
    (("estimate", "rtx-3090", *MODEL, "--users", "0"), "--users"),
    (("estimate", "rtx-3090", *MODEL, "--users", "-3"), "--users"),
    (("estimate", "rtx-3090", *MODEL, "--users", "1e9"), "--users"),
    (("estimate", "rtx-3090", *MODEL, "--generate", "0"), "--generate"),
    (("estimate", "rtx-3090", *MODEL, "--context", "9" * 400), "--context"),
    (("estimate", "rtx-3090", *MODEL, "--quant", "q17"), "q17"),
    (("estimate", "rtx-3090", *MODEL, "--kv-quant", "q17"), "q17"),
    (("estimate", "rtx-3090", *MODEL, "--host", "nonsense"), "nonsense"),
    (("estimate", "rtx-3090", *MODEL, "--storage", "nonsense"), "nonsense"),
    (("estimate", "rtx-3090", *MODEL, "--price", "nonsense=3"), "nonsense"),
    (("estimate", "rtx-3090", *MODEL, "--price", "rtx-3090"), "--price"),
    (("estimate", "rtx-3090", *MODEL, "--hours-per-day", "25"), "--hours-per-day"),
    (("estimate", "rtx-3090 on nonsense", *MODEL), "nonsense"),
    (("estimate", "rtx-3090 on llama.cpp/nonsense", *MODEL), "nonsense"),
    (("estimate", "rtx-3090 as nonsense", *MODEL), "nonsense"),
    (("estimate", "rtx-3090 via", *MODEL), "via"),
    (("estimate", "2x rtx-4090 via nvlink", *MODEL), "NVLink"),
    (("estimate", "2x rtx-3090 via rdma", *MODEL), "rdma"),
    (("estimate", "3x rtx-3090 as tensor on vllm", "--model", "llama-3.3-70b"), "3"),
    (("estimate", "rtx-3090 on mlx", *MODEL), "mlx"),
    (("estimate", "0x rtx-3090", *MODEL), "0"),
    (("estimate", "999999999x rtx-3090", *MODEL), "10000"),
    (("estimate", "2x (rtx-3090", *MODEL), "("),
    (("scale", "rtx-3090", *MODEL), "--max"),
    (("scale", "rtx-3090", *MODEL, "--max", "0"), "--max"),
    (("compare", *MODEL), "SYSTEM"),
    (("recommend", *MODEL, "--budget", "5₿"), "--budget"),
    (("recommend", *MODEL, "--budget", "-5"), "--budget"),
    (("recommend", *MODEL, "--prefer", "prettiest"), "cheapest, fastest"),
    (("recommend", *MODEL, "--consider", "nothing-fits"), "multi-gpu-server, new-host, more-memory."),  # no road that one could take
    (("recommend", *MODEL, "--consider", "prayer"), "second-gpu"),
    (("ask",), "QUESTION"),
    (("list", "nonsense"), "nonsense"),
    (("show", "nonsense"), "nonsense"),
    (("schema", "nonsense"), "nonsense"),
    (("batch", "no/such/file"), "no/such/file"),
    (("batch", "--shard", "5/4"), "--shard"),
    (("detect", "--from", "no/such/file"), "no/such/file"),
    (("calibrate", "no/such/file"), "no/such/file"),
    (("estimate", "rtx-3090", *MODEL, "--catalog", "no/such/folder"), "no/such/folder"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD_INPUT, ids=lambda value: " ".join(value)[:70] if isinstance(value, tuple) else "")
def test_bad_input_is_a_plain_error(arguments, words, capsys):
    code = run(arguments)
    shown = capsys.readouterr()
    assert code == 2, shown.out + shown.err
    assert shown.out == ""
    assert words in " ".join(shown.err.split())
    assert all(len(line) <= COLUMNS or " " not in line for line in shown.err.splitlines())
    assert "Traceback" not in shown.err
    assert "bug" not in shown.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id: x\nid: y\n", "id"),
        ("id: [unclosed\n", "overlay"),
        ("a: &a [1]\nb: *a\n", "overlay"),
        ("\x00", "overlay"),
        ("memory_gib: 1e400\n", "overlay"),
        ("id: ../../etc/passwd\nname: x\n", "overlay"),
    ],
)
def test_a_broken_overlay_ends_with_4(text, words, tmp_path, capsys):
    folder = tmp_path / "overlay" / "devices"
    folder.mkdir(parents=True)
    (folder / "overlay.yaml").write_text(text)
    assert run(["estimate", "overlay", *MODEL, "--catalog", str(tmp_path / "overlay")]) == 4
    shown = capsys.readouterr().err
    assert words in shown
    assert "Traceback" not in shown
    assert "bug" not in shown


def test_names_with_terminal_codes_are_shown_plain(tmp_path, capsys):
    """Whatever an overlay calls its device, no escape code reaches the terminal."""
    from pathlib import Path

    here = Path(__file__).parent.parent / "catalog" / "devices" / "rtx-3090.yaml"
    folder = tmp_path / "devices"
    folder.mkdir()
    lines = ['name: "Evil \\e[31m card"' if line.startswith("name:") else line for line in here.read_text().splitlines()]
    (folder / "rtx-3090.yaml").write_text("\n".join(lines) + "\n")
    run(["estimate", "rtx-3090", *MODEL, "--catalog", str(tmp_path)])
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err


WORDS = st.one_of(
    st.sampled_from(
        [*COMMANDS, "rtx-3090", "2x rtx-3090", "2x (2x rtx-3090) via ib-ndr", "via", "as", "on", "tensor", "vllm", "qwen3-8b", "70b", "8k",
         "max", "-1", "0", "--model", "--users", "--context", "--prompt", "--generate", "--quant", "--have", "--budget", "--json", "--why",
         "--max", "--format", "html", "--price", "rtx-3090=1", "--host", "--from", "-", "--", "--catalog", "--psu-w", "--ram-gib",
         "devices", "--where", "--sort", "auto"]
    ),
    st.text(st.characters(exclude_characters="\0"), max_size=12),  # no system passes a NUL in an argument
    st.integers().map(str),
    st.floats().map(str),
)  # fmt: skip
SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
SAVING = {"add", "--save", "--reset", "--export", "--resume"}


@SETTINGS
@given(st.sampled_from(sorted(set(COMMANDS) - {"add", "accuracy", "check"})), st.lists(WORDS, max_size=7))
def test_no_arguments_make_a_traceback(capsys, monkeypatch, command, words):
    import io

    arguments = [command, *(word for word in words if not set(word.split("=")) & SAVING)]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8"))
    code = run(arguments)
    shown = capsys.readouterr()
    assert code in (0, 2, 3, 4), f"{arguments}: exit {code}: {shown.err}"
    assert "Traceback" not in shown.err


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.lists(st.text(max_size=4), max_size=3))
KEYS = st.sampled_from(
    ["system", "model", "users", "context", "prompt", "generate", "quant", "have", "budget", "price", "max", "why", "psu_w", "x"]
)


@SETTINGS
@given(
    st.sampled_from(["estimate", "compare", "scale", "recommend", "ask", "show", "list"]),
    st.dictionaries(KEYS, VALUES, max_size=5),
    st.booleans(),
)
def test_no_request_makes_a_bug(command, asked, sound):
    base = {"system": "rtx-3090", "model": "qwen3-8b", "max": 2} if sound else {}
    answer = json.loads(answer_line(json.dumps({"command": command, **base, **asked})))
    assert answer.get("error", {}).get("code") != "bug", answer


@SETTINGS
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_no_line_makes_a_bug(line):
    answer = json.loads(answer_line(line))
    assert answer["error"]["code"] != "bug"
