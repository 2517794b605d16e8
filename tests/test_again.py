"""What `recommend` prints to get its numbers again gives its numbers again: hosts, memory and disk are said in it."""

import json
import shlex

import pytest

from advisor.cli import run

QUESTIONS = [
    ("--model", "gpt-oss-120b", "--budget", "1500", "--min-tokens-per-s", "1"),
    ("--model", "llama-3.3-70b", "--quant", "q4_k_m", "--budget", "4000"),
    ("--model", "gpt-oss-120b", "--prefer", "fastest", "--budget", "30000", "--users", "8"),
    ("--have", "rtx-3090", "--model", "llama-3.3-70b", "--ram-gib", "128", "--storage", "sata-ssd", "--min-tokens-per-s", "2"),
    ("--have", "2x rtx-3090", "--model", "qwen3-32b", "--host", "desktop-x16-x4", "--kv-quant", "q8_0", "--context", "16k"),
    ("--model", "13b", "--budget", "2000"),
]


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict:  # type: ignore[type-arg]
    run(words)
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda words: " ".join(words))
def test_a_road_gives_its_numbers_again(question: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    roads = [road for road in answer(capsys, "recommend", *question, "--json")["roads"] if road["estimate"]]
    assert roads
    for road in roads:
        command = shlex.split(road["estimate"]["again"])
        assert command[:2] == ["advisor", "estimate"]
        again = answer(capsys, *command[1:], "--json")
        for key in ("fits", "memory", "speed", "time_per_token_ms", "workload", "model"):
            assert again[key] == road["estimate"][key], (road["kind"], key, command)


def test_the_command_stands_under_why(capsys: pytest.CaptureFixture[str]) -> None:
    run(("recommend", "--model", "llama-3.3-70b", "--budget", "4000", "--why"))
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if "advisor estimate" in line)
    assert "--quant" in out[out.index(line) :]
