"""JSON Lines in and out: order, errors in their line, shards, resuming."""

import gc
import io
import json
from pathlib import Path

import click
import pytest

from advisor.cli import batch, group, run
from advisor.errors import BadValue


@pytest.fixture
def echoed(monkeypatch):
    """Answers that only repeat the request, so that the lines themselves are under test."""
    monkeypatch.setattr(batch, "_answer", lambda asked, defaults: {**defaults, **asked})


def lines(*requests):
    """Requests as a file."""
    return io.BytesIO(b"".join(json.dumps(request).encode() + b"\n" for request in requests))


def ask(monkeypatch, capsys, stdin, *arguments):
    """Run `advisor batch`; its exit code and its answers."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stdin, encoding="utf-8"))
    code = run(["batch", *arguments])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def numbered(count):
    """So many requests, told apart by their number."""
    return [{"command": "estimate", "number": number} for number in range(count)]


def test_answers_keep_the_order(echoed, monkeypatch, capsys):
    code, answers = ask(monkeypatch, capsys, lines(*numbered(5)))
    assert code == 0
    assert [answer["number"] for answer in answers] == [0, 1, 2, 3, 4]


BAD = [
    (b"not json", "bad-input", "not JSON"),
    (b"[1, 2]", "bad-input", "command"),
    (b'"text"', "bad-input", "command"),
    (b"{}", "bad-input", "command"),
    (b'{"command": 3}', "bad-input", "command"),
    (b'{"command": "estimat"}', "bad-value", "estimat"),
    (b'{"command": "batch"}', "bad-value", "batch"),
    (b'{"command": "estimate"}', "bad-value", "SYSTEM is missing"),
    (b'{"command": "estimate", "system": "rtx-3090"}', "bad-value", "--model is missing"),
    (b'{"command": "estimate", "system": "rtx-3090", "model": "70b", "modle": 1}', "bad-value", "did you mean model"),
    (b'{"command": "estimate", "system": 7, "model": "70b"}', "bad-value", "SYSTEM"),
    (b'{"command": "estimate", "system": "rtx-3090", "model": "70b", "users": -1}', "bad-value", "--users"),
    (b'{"command": "estimate", "system": "rtx-3090", "model": "70b", "users": 1e400}', "bad-value", "--users"),
    (b'{"command": "estimate", "system": "rtx-3090", "model": "70b", "context": NaN}', "bad-value", "--context"),
    (b'{"command": "list", "nonsense": 1}', "bad-value", "nonsense"),
    (b'{"command": "estimate", "system": "\xff\xfe"}', "bad-input", "JSON"),
    (b"[" * 100_000, "bad-input", ""),
]


@pytest.mark.parametrize(("line", "code", "words"), BAD, ids=range(len(BAD)))
def test_a_bad_line_gives_an_error_in_its_place(line, code, words):
    error = json.loads(batch.answer_line(line))["error"]
    assert set(error) == {"code", "message", "exit_code", "nearest"}
    assert error["code"] == code
    assert error["exit_code"] == 2
    assert words in error["message"]
    assert "Traceback" not in error["message"]


@pytest.mark.parametrize("key", ["system", "model", "question", "nope"])
def test_half_a_character_is_refused(key):
    """A lone surrogate is no text, whatever holds it; a whole pair is."""
    half, whole = (f'{{"command": "estimate", "{key}": "x {word}"}}'.encode() for word in ("\\ud83d", "\\ud83d\\ude00"))
    assert json.loads(batch.answer_line(half))["error"]["code"] == "bad-input"
    assert json.loads(batch.answer_line(whole))["error"]["code"] != "bad-input"


def test_the_rest_goes_on_and_the_exit_code_is_2(monkeypatch, capsys):
    real = batch._answer
    monkeypatch.setattr(batch, "_answer", lambda asked, defaults: asked if asked["command"] == "good" else real(asked, defaults))
    stdin = io.BytesIO(b'{"command": "good"}\nbad\n\n  \n{"command": "good"}')
    code, answers = ask(monkeypatch, capsys, stdin)
    assert code == 2
    assert ["error" in answer for answer in answers] == [False, True, False]


def test_options_of_the_batch_stand_in(echoed, monkeypatch, capsys):
    _, answers = ask(monkeypatch, capsys, lines(*numbered(1)), "--users", "4")
    assert answers == [{"command": "estimate", "number": 0, "users": "4"}]


@pytest.mark.parametrize("command", ["estimate", "recommend", "ask", "batch"])
def test_what_was_not_said_is_no_wish_in_any_version_of_click(command):
    """8.2.2 hands over False for such a flag, which would stand in for what a question or a request says."""
    context = click.Context(group)
    flags = [each for each in group.get_command(context, command).params if each.name in ("why", "new_only", "sell_old")]
    assert flags
    assert all([each.callback(context, each, said) for said in (None, False, True)] == [None, None, True] for each in flags)


@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_shards_divide_the_requests(echoed, monkeypatch, capsys, of):
    shards = [ask(monkeypatch, capsys, lines(*numbered(10)), "--shard", f"{part}/{of}")[1] for part in range(1, of + 1)]
    assert [answer["number"] for answer in shards[0]] == list(range(0, 10, of))
    assert sorted(answer["number"] for shard in shards for answer in shard) == list(range(10))


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/", "-1/2", "1/2/3", "٣/٤", ""])
def test_no_shard(text):
    with pytest.raises(BadValue, match="--shard"):
        batch._shard(text)


@pytest.mark.parametrize("done", range(6))
@pytest.mark.parametrize("cut", [0, 3])
def test_resuming_gives_what_one_run_gives(echoed, monkeypatch, capsys, tmp_path, done, cut):
    """However many answers there are, and where half a line was being written."""
    whole = [json.dumps(request) for request in numbered(5)]
    out = tmp_path / "answers.jsonl"
    if done or cut:
        out.write_text("".join(line + "\n" for line in whole[:done]) + (whole[done][:cut] if done < 5 else ""))
    code, answers = ask(monkeypatch, capsys, lines(*numbered(5)), "--resume", str(out))
    assert code == 0
    assert answers == []
    assert out.read_text().splitlines() == whole


def test_resuming_remembers_errors(echoed, monkeypatch, capsys, tmp_path):
    out = tmp_path / "answers.jsonl"
    out.write_text('{"error": {"code": "bad-input", "message": "", "exit_code": 2, "nearest": []}}\n')
    code, _ = ask(monkeypatch, capsys, lines(*numbered(2)), "--resume", str(out))
    assert code == 2
    assert len(out.read_text().splitlines()) == 2


def test_no_progress_where_stderr_is_no_terminal(echoed, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(lines(*numbered(1000)), encoding="utf-8"))
    assert run(["batch"]) == 0
    assert capsys.readouterr().err == ""


def test_progress_on_a_terminal_is_one_line_that_ends(echoed, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(lines(*numbered(3)), encoding="utf-8"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(batch, "PROGRESS_EVERY_S", 0)
    assert run(["batch", "--resume", str(tmp_path / "answers.jsonl")]) == 0
    assert capsys.readouterr().err == "\r1 answered\r2 answered\r3 answered\r3 answered\n"


def test_an_unreadable_file_is_an_error(capsys):
    assert run(["batch", "no/such/file.jsonl"]) == 2
    assert "no/such/file.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"command": "detect", "from": "-"}, "name a file"),
        ({"command": "calibrate", "files": ["-"]}, "name a file"),
        ({"command": "add"}, "no command 'add'"),
        ({"command": "detect", "sources": "x"}, "'sources' is not a key of detect; it has from, system"),
    ],
)
def test_no_request_reads_the_other_requests(request_, words, monkeypatch, capsys):
    """Standard input holds them: what takes from it, or asks back, would swallow those that follow."""
    following = {"command": "list", "kind": "engines", "where": "id=vllm"}
    code, answers = ask(monkeypatch, capsys, lines(request_, following))
    assert code == 2
    assert words in answers[0]["error"]["message"]
    assert answers[1]["command"] == "list"


def test_keys_of_other_commands_are_their_long_options(monkeypatch, capsys):
    pasted = Path(__file__).parent / "inputs" / "smi_2x3090_bridge.txt"
    code, answers = ask(monkeypatch, capsys, lines({"command": "detect", "from": [str(pasted)]}, {"command": "show", "name": "vllm"}))
    assert code == 0
    assert [answer["command"] for answer in answers] == ["detect", "show"]


@pytest.mark.parametrize(
    "asked",
    [
        {"command": "recommend", "have": "rtx-3090", "model": "gpt-oss-120b", "users": 4},
        {"command": "recommend", "have": "rtx-4060"},  # a ladder of models
        {"command": "estimate", "system": "2x rtx-3090", "model": "qwen3-235b-a22b"},
    ],
    ids=lambda asked: str(asked.get("model")),
)
def test_what_an_answer_made_leaves_the_memory_by_itself(asked):
    """What holds itself in a circle stays until garbage is looked for: one work table of a recommendation is ten thousand objects."""
    first = {"command": "recommend", "have": "rtx-5090", "model": "qwen3-8b"}
    batch.answer_line(json.dumps(first))  # modules, the catalog
    gc.collect()
    gc.disable()
    try:
        assert "error" not in json.loads(batch.answer_line(json.dumps(asked)))
        assert gc.collect() < 3000
    finally:
        gc.enable()
