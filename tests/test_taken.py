"""What was taken where nobody said is told: the wanted speed, the kind of cache."""

from typing import Any

import pytest
from test_said import given, told

from advisor.catalog import Catalog
from advisor.cli import run

CATALOG = Catalog.load(user_folder=False)
BEYOND = ("recommend", "--have", "rtx-3060-12gb", "--model", "llama-3.3-70b", "--consider", "keep")


def codes(answer: Any) -> dict[str, dict[str, Any]]:
    return {reason["code"]: reason["facts"] for reason in answer["assumption_reasons"]}


@pytest.mark.parametrize("stated", [(), ("--min-tokens-per-s", "10"), ("--min-tokens-per-s", "0")], ids=" ".join)
def test_the_wanted_speed_is_an_assumption_where_nobody_stated_it(stated: tuple[str, ...]) -> None:
    words = ("recommend", "--have", "rtx-3090", "--model", "qwen3-8b", *stated)
    assert ("assumed.floor" in codes(given(*words))) is not bool(stated)
    assert ("10 tokens/s wanted, as nobody said" in told(*words)) is not bool(stated)


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


def test_what_does_not_fit_tells_what_it_needs_and_nothing_of_speed() -> None:
    page = told("recommend", "--model", "deepseek-r1", "--among", "rtx-3090")
    assert "GiB needed" in page and "GiB usable" in page
    assert "It fits" not in page and "It runs at" not in page and "Time goes to" not in page


LATE = ("recommend", "--have", "rtx-3060-12gb", "--model", "qwen3-235b-a22b", "--prompt", "16k", "--min-tokens-per-s", "2")


def test_a_long_wait_for_the_first_token_stands_under_the_verdict() -> None:
    answer = given(*LATE)
    waits = [each["facts"] for each in answer["remarks"] if each["code"] == "remark.wait"]
    assert [facts["prompt_tokens"] for facts in waits] == [16384]
    assert waits[0]["first_token_s"] > CATALOG.hints.choice("long-wait-s")
    page = told(*LATE)
    assert page.index("But the first token of a prompt of 16,384 tokens takes about") < page.index("It fits")
    allowed = given(*LATE, "--max-first-token-s", "100000")  # who states how long it may take knows
    assert not [each for each in allowed["remarks"] if each["code"] == "remark.wait"]


def test_a_short_wait_is_not_remarked() -> None:
    assert not given("recommend", "--have", "rtx-3090", "--model", "qwen3-8b")["remarks"]


@pytest.mark.parametrize("have", ["dgx-spark", "mac-m3-ultra-80c 96gb", "ryzen-ai-max-395 128gb"])
def test_a_second_box_is_called_by_its_name(have: str) -> None:
    second = given("recommend", "--have", have, "--model", "gpt-oss-120b")["second_gpu"]
    assert f"a second {CATALOG.device(have.split()[0]).name}" in second["text"]
    assert "unknown price (" not in second["text"]


def test_a_second_card_is_called_by_its_name_too() -> None:
    """Another card may be advised, or asked about: a second one is one more of what is owned."""
    second = given("recommend", "--have", "rtx-3090", "--model", "llama-3.3-70b")["second_gpu"]
    assert "with a second GeForce RTX 3090 24GB there are" in second["text"]


@pytest.mark.parametrize(("have", "model"), [("dgx-spark", "llama-3.1-405b"), ("rtx-3090", "deepseek-v3"), ("2x rtx-3090", "deepseek-r1")])
def test_shortfalls_of_other_weights_are_told_apart(have: str, model: str) -> None:
    words = ("recommend", "--have", have, "--model", model)
    first = [road["because"][0] for road in given(*words)["roads"] if road["because"]]
    short = {reason["facts"]["quant"] for reason in first if reason["code"].startswith("need.memory-short")}
    table = told(*words)
    for quant in short:
        assert (f"short as {quant}" in table) is (len(short) > 1)


@pytest.mark.parametrize(
    ("have", "model", "shown"),
    [
        ("rtx-3060-12gb", "qwen3-30b-a3b", False),
        ("rtx-3090", "gpt-oss-120b", False),
        ("rtx-3090", "llama-3.3-70b", True),
        ("rtx-3090", "qwen3-8b", True),
    ],
)
def test_more_than_one_is_no_question_where_one_with_host_memory_does_it(have: str, model: str, shown: bool) -> None:
    words = ("recommend", "--have", have, "--model", model)
    assert ("More than one" in told(*words)) is shown
    assert given(*words)["conditions"]


@pytest.mark.parametrize("have", ["mac-m3-ultra-80c", "dgx-spark", "2x rtx-3090"])
def test_a_page_with_all_of_it_is_still_a_page(have: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of 72 lines of 80 columns: a remark and the names of weights take the place of what would change the answer."""
    run(("recommend", "--have", have, "--model", "llama-3.1-405b"))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 72
    assert max(map(len, lines)) <= 80
