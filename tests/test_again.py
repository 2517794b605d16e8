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


ESTIMATES = [
    ("2x rtx-3090", "--model", "llama-3.3-70b", "--price", "rtx-3090=500", "--electricity", "0.4", "--hours-per-day", "3"),
    ("rtx-4090 + rtx-3090", "--model", "70b", "--ram-gib", "96", "--quant", "q8_0", "--users", "2", "--kv-quant", "q8_0"),
    ("rtx-4060-laptop", "--model", "qwen3-8b", "--prompt", "0", "--generate", "100"),
    ("2x rtx-5090", "--model", "llama-3.3-70b", "--psu-w", "1600"),
    ("2x mac-m4-pro-20c 48gb", "--model", "gpt-oss-120b", "--price", "mac-m4-pro-20c=1234.5"),
]


@pytest.mark.parametrize("question", ESTIMATES, ids=lambda words: " ".join(words))
def test_an_estimate_gives_itself_again(question: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Its own command yields the very same answer, money and evidence included, and so does that of the answer."""
    first = answer(capsys, "estimate", *question, "--json")
    again = answer(capsys, *shlex.split(first["again"])[1:], "--json")
    told = ("reasons", "warnings", "conditions")  # what was left open is said the first time only
    assert {key: value for key, value in again.items() if key not in told} == {
        key: value for key, value in first.items() if key not in told
    }


def test_rungs_and_prices_are_given_again(capsys: pytest.CaptureFixture[str]) -> None:
    stated = ("--price", "rtx-3090=600", "--electricity", "0.3")
    found = answer(capsys, "recommend", "--have", "rtx-3090", *stated, "--users", "2", "--json")
    roads = [road for rung in found["ladder"][:3] for road in rung["roads"] if road["estimate"]]
    assert roads
    for road in roads:
        again = answer(capsys, *shlex.split(road["estimate"]["again"])[1:], "--json")
        assert "--price rtx-3090=600 --electricity 0.3" in road["estimate"]["again"]
        for key in ("fits", "memory", "speed", "workload", "model"):
            assert again[key] == road["estimate"][key], (road["kind"], key)


def test_a_stated_supply_is_said_of_the_own_computer_only(capsys: pytest.CaptureFixture[str]) -> None:
    """The price of a road holds the supply that its cards need: 2 × 450 W are too much for 850 W, not for the stated 1,600 W."""
    found = answer(capsys, "recommend", "--have", "2x rtx-3090-ti", "--model", "llama-3.3-70b", "--psu-w", "1600", "--json")
    estimates = [road["estimate"] for road in found["roads"] if road["estimate"]]
    assert any("--psu-w 1600" in each["again"] for each in estimates)
    for each in estimates:
        again = answer(capsys, *shlex.split(each["again"])[1:], "--json")
        assert again["cost"]["price_usd"] == each["cost"]["price_usd"], each["again"]
        assert ("--psu-w" in each["again"]) == ("--host desktop-x8x8" in each["again"])


def test_a_model_given_as_a_file_is_named_again(capsys: pytest.CaptureFixture[str]) -> None:
    from pathlib import Path

    path = next((Path(__file__).parent / "inputs").rglob("config.json"), None)
    if path is None:
        pytest.skip("no config.json among the inputs")
    found = answer(capsys, "estimate", "2x rtx-3090", "--model", str(path), "--json")
    assert answer(capsys, *shlex.split(found["again"])[1:], "--json")["speed"] == found["speed"]


def test_the_command_stands_under_why(capsys: pytest.CaptureFixture[str]) -> None:
    run(("recommend", "--model", "llama-3.3-70b", "--budget", "4000", "--why"))
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if "advisor estimate" in line)
    assert "--quant" in out[out.index(line) :]
