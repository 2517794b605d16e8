"""The three conditions for more devices to mean more speed: the fact that decides each, and what would change an unmet one."""

import json
from typing import Any

import pytest

from advisor.advice.remedies import other_count
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.cli import run
from advisor.speed import Estimate
from advisor.system import System


def conditions(capsys: pytest.CaptureFixture[str], system: str, model: str) -> dict[str, Any]:
    run(("estimate", system, "--model", model, "--json"))
    return json.loads(capsys.readouterr().out)["conditions"]  # type: ignore[no-any-return]


def test_one_device_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert conditions(capsys, "rtx-3090", "qwen3-8b") is None


def test_all_met_say_the_deciding_facts_and_change_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    found = conditions(capsys, "2x rtx-3090 via nvlink on vllm", "qwen3-32b")
    assert [each["met"] for each in found.values()] == [True, True, True]
    assert [each["change"] for each in found.values()] == [None, None, None]
    assert found["software"]["facts"]["engine"] == "vllm"
    assert found["link"]["facts"]["speedup_factor"] > 1.15
    assert found["model"]["facts"]["heads"] == 64


@pytest.mark.parametrize(
    ("system", "model", "name", "code", "fact"),
    [
        # the Sparks' own RoCE instead of Ethernet: 60 ms become 16 ms a token
        ("2x dgx-spark via eth-10g-tcp", "gpt-oss-120b", "link", "condition.by-link", ("link_id", "dgx-spark-connectx7")),
        # a riser with one lane; the board's slots have eight, and a patched driver lets cards talk directly
        ("2x rtx-3090 via pcie-3-x1", "qwen3.6-35b-a3b", "link", "condition.by-link-patched", ("link_id", "pcie-4-x8-p2p")),
        ("2x mac-m3-ultra-80c 512gb on llama.cpp", "qwen3-235b-a22b", "software", "condition.by-engine", ("engine", "mlx")),
        ("3x rtx-3090 on vllm", "llama-3-8b", "model", "condition.by-count", ("devices", 2)),
        # of five boxes, three or five do not divide 4 KV heads, four do
        ("5x mac-m3-ultra-80c 512gb on mlx", "qwen3-235b-a22b", "model", "condition.by-count", ("devices", 4)),
    ],
)
def test_what_would_change_the_missing_one(
    capsys: pytest.CaptureFixture[str], system: str, model: str, name: str, code: str, fact: tuple[str, object]
) -> None:
    found = conditions(capsys, system, model)[name]
    assert found["met"] is False
    change = found["change"]
    assert (change["code"], change["facts"][fact[0]]) == (code, fact[1])
    assert change["facts"]["cut_tokens_per_s"] > 0
    assert change["facts"]["speed_factor"] is None or change["facts"]["speed_factor"] > 1.05


@pytest.mark.parametrize(
    ("words", "tried"),
    [
        ("4x rtx-3090 on vllm", [3, 2]),
        ("5x mac-m3-ultra-80c 512gb on mlx", [4, 3, 2]),  # boxes
        ("2x (3x rtx-3090 as tensor) via eth-10g-tcp on vllm", []),  # two boxes, not six cards: fewer is one, which is no cut
        ("3x rtx-3090 + rtx-4090 on vllm", []),  # of two kinds it is not said which to leave out
    ],
)
def test_smaller_numbers_are_tried_from_the_largest(words: str, tried: list[int]) -> None:
    catalog = Catalog.load(user_folder=False)
    asked: list[int] = []

    def none_cuts(system: System) -> tuple[Estimate, ...]:
        asked.append(len(system.boxes) if len(system.boxes) > 1 else system.count)
        return ()

    assert other_count(bind(words, catalog), 64, none_cuts, catalog) is None
    assert asked == tried


def test_the_nearest_number_that_divides_is_sought_among_numbers_of_heads() -> None:
    """Of 500 cards no model is cut over more than it has heads: 64 for this one, so that hundreds of cards answer at once."""
    catalog = Catalog.load(user_folder=False)
    asked: list[int] = []

    def none(system: System) -> tuple[Estimate, ...]:
        asked.append(system.count)
        return ()

    assert other_count(bind("500x rtx-3090 on vllm", catalog), 64, none, catalog) is None
    assert asked == list(range(64, 1, -1))
