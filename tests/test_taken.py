"""What was taken where nobody said is told: the wanted speed, the kind of cache."""

from typing import Any

import pytest
from test_said import given, told

BEYOND = ("recommend", "--have", "rtx-3060-12gb", "--model", "llama-3.3-70b", "--consider", "keep")


def codes(answer: Any) -> dict[str, dict[str, Any]]:
    return {reason["code"]: reason["facts"] for reason in answer["assumption_reasons"]}


@pytest.mark.parametrize("stated", [(), ("--min-tokens-per-s", "10"), ("--min-tokens-per-s", "0")], ids=" ".join)
def test_the_wanted_speed_is_an_assumption_where_nobody_stated_it(stated: tuple[str, ...]) -> None:
    words = ("recommend", "--have", "rtx-3090", "--model", "qwen3-8b", *stated)
    assert ("assumed.floor" in codes(given(*words))) is not bool(stated)
    assert ("10 tokens/s for each user wanted, as nobody said" in told(*words)) is not bool(stated)


def test_a_speed_that_the_question_states_is_no_assumption() -> None:
    assert "assumed.floor" not in codes(given("ask", "what runs qwen3-32b at 20 tokens/s?"))
    assert "assumed.floor" in codes(given("ask", "what runs qwen3-32b?"))


def test_nothing_for_the_usual_speed_says_that_it_is_the_default() -> None:
    usual, stated = told(*BEYOND), told(*BEYOND, "--min-tokens-per-s", "10")
    assert "where 10 tokens/s (the default) are wanted" in usual.split("Otherwise")[0]
    assert "where 10 tokens/s are wanted" in stated.split("Otherwise")[0]
    assert given(*BEYOND)["verdict"]["facts"]["floor_tokens_per_s"] == 10.0


@pytest.mark.parametrize(
    "words",
    [
        ("--have", "rtx-3090", "--model", "qwen3-32b", "--context", "32k"),
        ("--have", "rtx-3090", "--model", "llama-3.3-70b", "--users", "4"),
    ],
    ids=" ".join,
)
def test_a_smaller_cache_that_nobody_asked_for_is_an_assumption(words: tuple[str, ...]) -> None:
    answer = given("recommend", *words)
    kept = codes(answer)["assumed.kv-quant"]["kv_quant"]
    assert kept != "f16"
    assert f"--kv-quant {kept}" in told("recommend", *words)
    assert any(f"as counted above, the cache as {kept}" in each["text"].lower() for each in answer["settings"])
    assert "assumed.kv-quant" not in codes(given("recommend", *words, "--kv-quant", kept))


def test_the_full_cache_is_not_told() -> None:
    assert "assumed.kv-quant" not in codes(given("recommend", "--have", "rtx-3090", "--model", "qwen3-8b"))
