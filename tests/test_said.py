"""What a recommendation says is true of the numbers beside it: shortfalls, loads, labels, second cards, what would change it."""

import json
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from typing import Any

import pytest

from advisor.cli import run


@cache
def told(*words: str) -> str:
    """The text of an answer, on one line."""
    out = StringIO()
    with redirect_stdout(out):
        run(words)
    return out.getvalue() if "--json" in words else " ".join(out.getvalue().split())


@cache
def given(*words: str) -> Any:
    return json.loads(told(*words, "--json"))


ASKED = [
    ("recommend", "--have", "rtx-3090", "--model", "llama-3.3-70b"),
    ("recommend", "--have", "rtx-3060-12gb", "--model", "qwen3-235b-a22b", "--budget", "1500"),
    ("recommend", "--have", "2x rtx-3090", "--model", "llama-3.3-70b", "--quant", "q8_0", "--budget", "100"),
]


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_a_shortfall_is_what_is_needed_less_what_is_there(words: tuple[str, ...]) -> None:
    """Of one and the same memory: never one device's shortfall beside the sums of all."""
    reasons = [reason for road in given(*words)["roads"] for reason in road["because"]]
    short = [reason["facts"] for reason in reasons if "short_bytes" in reason["facts"]]
    assert short
    for facts in short:
        assert facts["short_bytes"] > 0
        assert facts["short_bytes"] == pytest.approx(facts["needed_bytes"] - facts["usable_bytes"])
