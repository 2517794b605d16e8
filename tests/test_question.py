"""Free text into options: what a buyer's words mean, what was taken on trust, what was not understood."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from advisor.catalog import Catalog
from advisor.errors import BadValue
from advisor.intake.question import understand
from advisor.intake.question_line import command_line
from advisor.intake.question_money import budget, electricity
from advisor.intake.question_plain import plain
from advisor.intake.question_speeds import first_token, pace
from advisor.intake.question_words import Text, context, hours, prompt, ram_gib, supply_w, users
from advisor.request import Request, read

SHIPPED = Catalog.load(user_folder=False)

QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("should I buy a second 3090 for a 70B model with 4 users?", {"have": "rtx-3090", "model": "70b", "users": 4}),
    ("Is another RTX 4090 worth it for Llama 3.3 70B in Q4_K_M?", {"have": "rtx-4090", "model": "llama-3.3-70b", "quant": "q4_k_m"}),
    ("I own two 3090s. Would a third 3090 help with qwen3 32b?", {"have": "2x rtx-3090", "model": "qwen3-32b"}),
    ("a third 3090 for a 123B model?", {"have": "2x rtx-3090", "model": "123b"}),
    ("I have a 3090 joined with nothing, what about gpt-oss-120b for my team of 8?", {"have": "rtx-3090", "model": "gpt-oss-120b", "users": 8}),
    ("my 2x 3090 with nvlink on vllm, qwen3.6-27b", {"have": "2x rtx-3090 via nvlink on vllm", "model": "qwen3.6-27b"}),
    ("3090 x2 with deepseek r1", {"have": "2x rtx-3090", "model": "deepseek-r1"}),
    ("RTX 5090 or two used 3090s for a 32b at 8 bit?", {"among": ["rtx-5090", "2x rtx-3090"], "model": "32b", "quant": "8bit"}),
    ("DGX Spark vs Strix Halo for gpt-oss 120b", {"among": ["dgx-spark", "ryzen-ai-max-395-128gb"], "model": "gpt-oss-120b"}),
    ("I have a 3090. Should I get another 3090 or a 5090 for 70b?", {"have": "rtx-3090", "among": ["2x rtx-3090", "rtx-5090"], "model": "70b"}),
    ("I have a gaming PC without a GPU, which card for qwen3-32b?", {"have": "desktop-x8x8", "model": "qwen3-32b"}),
    ("I own a PC with 64 GB of RAM but no GPU: 30b-a3b?", {"have": "desktop-x8x8", "ram_gib": 64.0, "model": "30b-a3b"}),
    ("a 3090 or a 4090 for our office desktop, 14b", {"have": "desktop-x8x8", "among": ["rtx-3090", "rtx-4090"], "model": "14b"}),
    ("I already have a laptop, what runs gpt-oss-20b?", {"have": "laptop", "model": "gpt-oss-20b"}),
    ("I don't have a PC, what runs gpt-oss-20b?", {"model": "gpt-oss-20b"}),
    ("my desktop has a 3090, 14b?", {"have": "rtx-3090", "model": "14b"}),
    ("What should I buy for qwen3-8b with $2k?", {"model": "qwen3-8b", "budget": 2000.0}),
    ("best machine for mixtral 8x7b under 3,500 dollars", {"model": "mixtral-8x7b", "budget": 3500.0}),
    ("fastest thing for a 14b, budget 1500", {"model": "14b", "budget": 1500.0, "prefer": "fastest"}),
    ("70b, only new hardware, at least 20 tok/s", {"model": "70b", "new_only": True, "min_tokens_per_s": 20.0}),
    ("if I sell my 3080 Ti, what runs a 30b-a3b?", {"have": "rtx-3080-ti", "sell_old": True, "model": "30b-a3b"}),
    ("32k context for 5 developers on my 4090 with qwen3-14b", {"have": "rtx-4090", "context": 32768, "users": 5, "model": "qwen3-14b"}),
    ("Mac Studio M3 Ultra 512GB for deepseek r1, first token within 30 s with 8k prompts",
     {"model": "deepseek-r1", "max_first_token_s": 30.0, "prompt": 8192}),
    ("my MacBook Air M1 16GB and a 27b at 3-bit", {"have": "mac-m1-7c 16gb", "model": "27b", "quant": "q3_k_m"}),
    ("a 5060 Ti 16GB pair for 27b with 131072 tokens of context", {"have": "2x rtx-5060-ti-16gb", "model": "27b", "context": 131072}),
    ("I run a 3060 with 64 GB of RAM and a 750 W PSU: gpt-oss-120b?", {"have": "rtx-3060-12gb", "ram_gib": 64.0, "psu_w": 750.0, "model": "gpt-oss-120b"}),
    ("upgrade from a 3060 to a 4090 for 14b", {"have": "rtx-3060-12gb", "model": "14b"}),
    ("70b for one user, 4 hours a day", {"model": "70b", "users": 1, "hours_per_day": 4.0}),
    ("Should I buy a second GPU?", {}),
]  # fmt: skip


@pytest.mark.parametrize(("question", "expected"), QUESTIONS, ids=[question for question, _ in QUESTIONS])
def test_what_is_understood(question: str, expected: dict[str, Any]) -> None:
    found = dict(understand(question, SHIPPED).words)
    for key, value in expected.items():
        assert found.get(key) == value, (key, found)
    assert set(found) <= {*expected, "have", "among"}, found
    assert read("recommend", found)


@pytest.mark.parametrize("question", [question for question, _ in QUESTIONS])
def test_the_command_line_says_the_same(question: str) -> None:
    understood = understand(question, SHIPPED)
    words = shlex.split(understood.command_line)
    assert words[:2] == ["advisor", "recommend"]
    again: dict[str, Any] = {}
    place = 2
    while place < len(words):
        key = words[place].removeprefix("--").replace("-", "_")
        if key in ("new_only", "sell_old"):
            again[key], place = True, place + 1
        elif key == "among":
            again.setdefault(key, []).append(words[place + 1])
            place += 2
        else:
            again[key], place = words[place + 1], place + 2
    assert values(read("recommend", again)) == values(read("recommend", dict(understood.words)))


def values(request: Request) -> dict[str, Any]:
    return dict(request.values)


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("$2k", 2000, "USD"),
        ("about $2,500", 2500, "USD"),
        ("under 3000 euros", 3000, "EUR"),
        ("€1.5k", 1500, "EUR"),
        ("£900", 900, "GBP"),
        ("a budget of 4000", 4000, "USD"),
        ("for 3k", 3000, "USD"),
        ("5 grand budget", 5000, "USD"),
        ("2000 CHF", 2000, "CHF"),
    ],
)
def test_money(text: str, amount: float, currency: str) -> None:
    found = budget(Text(text))
    assert found
    assert (found.value, found.currency) == (amount, currency)


@pytest.mark.parametrize("text", ["a 3090", "32k context", "4 users", "70b", "8k prompts", "128k"])
def test_what_is_no_money(text: str) -> None:
    assert budget(Text(text)) is None


def test_other_amounts() -> None:
    assert users(Text("for eight people")) == 8
    assert users(Text("a team of 12")) == 12
    assert users(Text("20 concurrent requests")) == 20
    assert users(Text("just for me")) == 1
    assert users(Text("two 3090")) is None
    assert context(Text("a context of 64k")) == 65536
    assert context(Text("16k ctx")) == 16384
    assert context(Text("at 131072 tokens")) == 131072
    assert prompt(Text("25K-token prompts")) == 25600
    assert pace(Text("at least 30 tokens per second"), SHIPPED).floor == 30
    assert pace(Text("15 t/s"), SHIPPED).floor == 15
    assert first_token(Text("first token in under 500 ms")) == pytest.approx(0.5)
    assert supply_w(Text("an 850 W power supply")) == 850
    assert hours(Text("6 hours a day")) == 6
    assert ram_gib(Text("128 GB of DDR5")) == 128
    power = electricity(Text("35 cents per kWh"))
    assert power
    assert power.value == pytest.approx(0.35)


def test_other_currencies_are_converted_aloud() -> None:
    understood = understand("under 3000 euros for a 70b", SHIPPED)
    rate = SHIPPED.money.rate("EUR")
    assert rate
    assert understood.words["budget"] == pytest.approx(3000 * rate.usd, abs=1)
    note = next(reason for reason in understood.assumptions if reason.code == "ask.converted")
    assert (note.facts["rate"], note.facts["date"]) == (rate.usd, rate.date)
    assert note.sources


def test_a_name_of_several_devices_is_taken_as_the_least_and_said() -> None:
    understood = understand("my V100 and a 8b", SHIPPED)
    note = next(reason for reason in understood.assumptions if reason.code == "ask.took-least")
    assert str(understood.words["have"]).startswith("tesla-v100-16gb")
    assert "tesla-v100-32gb-pcie" in str(note.facts["others"])


def test_what_is_not_understood_is_listed() -> None:
    understood = understand("would a frobnicator for zork-9000 help my 3090?", SHIPPED)
    assert understood.words["have"] == "rtx-3090"
    assert set(understood.not_understood) == {"frobnicator", "zork-9000"}


def test_nothing_at_all() -> None:
    assert understand("", SHIPPED).words == {}
    assert understand("   ???   ", SHIPPED).not_understood == ()
    assert command_line({}) == "advisor recommend"


def test_the_frozen_catalog_has_its_own_names() -> None:
    catalog = Catalog.load(root=Path(__file__).parent / "catalog", user_folder=False)
    assert understand("my 3090 with qwen3 8b", catalog).words == {"have": "rtx-3090", "model": "qwen3-8b"}


def test_a_name_said_twice_is_two_cards() -> None:
    """Bare numbers that are names are no counts: it was once read as 3090 cards."""
    assert understand("3090 3090 for a 70b", Catalog.load(user_folder=False)).words["have"] == "2x rtx-3090"


@pytest.mark.parametrize("text", ["budget -5 dollars, 70b", "what can I run for -500 dollars?", "$-20 for a card", "budget: -300, 32b"])
def test_less_than_nothing_is_no_budget(text: str) -> None:
    with pytest.raises(BadValue, match="no amount to spend"):
        understand(text, SHIPPED)


@pytest.mark.parametrize(
    ("written", "plainly"),
    [
        ("€2.500", "€2500"), ("2 500 €", "2500 €"), ("1.800,00 euros", "1800 euros"), ("2'500 chf", "2500 chf"), ("1.800,- €", "1800 €"),
        ("$1,500.50", "$1,500.50"), ("2,5k", "2.5k"), ("0.335 €/kwh", "0.335 €/kwh"), ("0,30 €/kwh", "0.30 €/kwh"), ("2.500 tokens", "2.500 tokens"),
        ("3090, 4090", "3090, 4090"), ("buy 2 3090 €", "buy 2 3090 €"), ("gemma3:27b", "gemma3-27b"), ("3090+3060", "3090 + 3060"), ("llama3.3:70b", "llama3.3-70b"),
    ],
)  # fmt: skip
def test_signs_are_made_plain(written: str, plainly: str) -> None:
    """Sums as the Swiss, French, Germans and Indians write them lose their marks; nothing else does, and twice is as once."""
    assert plain(written) == plainly
    assert plain(plain(written)) == plainly
