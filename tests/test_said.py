"""What a recommendation says is true of the numbers beside it: shortfalls, loads, labels, second cards, what would change it."""

import json
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from types import SimpleNamespace
from typing import Any, cast

import pytest

from advisor.advice.naming import set_up
from advisor.billed import CostLine
from advisor.catalog import Catalog
from advisor.cli import run
from advisor.market import Cost
from advisor.record import replace
from advisor.speed import Estimate
from advisor.system import System


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


@pytest.mark.parametrize(
    "words",
    [("--have", "mac-m4-max-32c", "--model", "llama-3.3-70b"), ("--have", "rtx-3090", "--model", "llama-3.3-70b", "--new-only")],
    ids=" ".join,
)
def test_a_second_one_without_a_price_is_refused_for_that(words: tuple[str, ...]) -> None:
    second = given("recommend", *words)["second_gpu"]
    assert second["answer"] == "no"
    assert "unknown price" not in second["text"]
    assert "budget" not in second["text"]


def test_another_card_that_is_advised_is_a_second_one_though_not_the_same() -> None:
    """The verdict adds a 3060 Ti; a second 4060 Ti has no known price: no bare "No." under a verdict that buys a second card."""
    words = ("recommend", "--have", "rtx-4060-ti-16gb", "--model", "qwen3-32b", "--context", "32k")
    answer = given(*words)
    assert (answer["verdict"]["kind"], answer["second_gpu"]["answer"]) == ("second-gpu", "no")
    assert "Second GPU? Yes, the one above; not the same again. A second GeForce RTX 4060 Ti 16GB would do" in told(*words)


def test_a_speed_that_is_only_likely_enough_is_said_so_in_plain_words() -> None:
    assert given("recommend", "--model", "llama-3.3-70b")["verdict"]["meets_need"]
    assert ", likely enough. But for $" in told("recommend", "--model", "llama-3.3-70b")


def test_no_ceiling_is_told_of_a_model_that_one_holds_only_in_part() -> None:
    """With a 70B model partly in host memory four cards are some forty times as fast, so no serial share of one's step is a law."""
    assert "Amdahl's law sets no ceiling here" in told("scale", "rtx-3090", "--max", "4", "--model", "llama-3.3-70b")
    assert "times its speed with any number (Amdahl)" in told("scale", "rtx-3090", "--max", "4", "--model", "qwen3-8b")


FLIPPED = [
    ("recommend", "--model", "llama-3.3-70b", "--budget", "2500"),
    ("recommend", "--model", "qwen3-8b"),
    ("recommend", "--have", "rtx-3090", "--model", "qwen3-8b"),
    ("ask", "rtx 3090 or rtx 4090 for qwen3-8b?"),
    ("recommend", "--model", "llama-3.3-70b", "--consider", "one-bigger-gpu"),
]


@pytest.mark.parametrize("words", FLIPPED, ids=" ".join)
def test_what_would_change_it_is_said_so_that_it_holds(words: tuple[str, ...]) -> None:
    """Nothing but what was asked between is denied, 'as above' is today's system, and the two values never look alike."""
    answer = given(*words)
    named = "--among" in (answer.get("understood_as") or "") or "--consider" in words
    need = answer["need"]
    for flip in answer["flips"]:
        assert not (named and flip["then"] == "nothing meets the need")
        if "as above" in flip["if"] and flip["wish"] in ("users", "context_tokens"):
            assert flip["before"] == need[flip["wish"]]
        if "(" in flip["if"] and flip["wish"] == "min_tokens_per_s":
            value = flip["if"].split(" tokens/s")[0].removeprefix("If ").split()[0]
            assert f"up to {value} tokens/s" not in flip["if"]


def test_the_work_that_is_timed_is_said_and_the_full_context_where_it_is_far_longer() -> None:
    answer = given("recommend", "--have", "rtx-3090", "--model", "qwen3-8b", "--context", "32k")
    assert any("prompt of 1,024 tokens" in line for line in answer["assumptions"])
    facts = next(each["facts"] for each in answer["assumption_reasons"] if each["code"] == "assumed.full-context")
    work = ("--quant", "q4_k_m", "--context", "32768", "--prompt", str(32768 - 256), "--generate", "256")
    engine = next(road for road in answer["roads"] if road["status"] == "chosen")["system"]
    full = given("estimate", engine, "--model", "qwen3-8b", *work)["speed"]["decode_tokens_per_s"]["value"]
    assert facts["full_tokens_per_s"] == pytest.approx(full)
    assert facts["full_tokens_per_s"] < answer["verdict"]["facts"]["per_user_tokens_per_s"]
    floor = str(facts["full_tokens_per_s"] + 1)
    slow = given("recommend", "--have", "rtx-3090", "--model", "qwen3-8b", "--context", "32k", "--min-tokens-per-s", floor)
    assert any(each["code"] == "full.too-slow" for each in slow["warning_reasons"])
    short = given("recommend", "--have", "rtx-3090", "--model", "qwen3-8b", "--context", "4k")
    assert not any(each["code"] == "assumed.full-context" for each in short["assumption_reasons"])


def test_what_the_old_parts_bring_is_said_where_they_are_sold() -> None:
    words = ("recommend", "--have", "rtx-3060-12gb", "--model", "qwen3-32b", "--sell-old", "--consider", "one-bigger-gpu")
    assert told(*words).count("for the old parts") == 2  # the first line, and what it costs


def test_the_command_names_the_prices_and_the_running_cost() -> None:
    words = ("--price", "rtx-3090=700", "--electricity", "0.4", "--hours-per-day", "3")
    assert " ".join(words) in told("recommend", "--model", "qwen3-8b", *words)
    road = next(road for road in given("recommend", "--model", "qwen3-8b", *words)["roads"] if road["estimate"])
    assert road["estimate"]["again"].endswith(" ".join(words))


def test_two_cards_of_which_none_is_owned_are_no_second_one() -> None:
    new, owned = told("recommend", "--model", "llama-3.3-70b"), told("recommend", "--have", "rtx-3090", "--model", "llama-3.3-70b")
    assert "* two cards" in new or " two cards " in new
    assert "second GPU" not in new
    assert "second GPU" in owned


PRICED = [
    ("recommend", "--model", "qwen3-235b-a22b", "--budget", "4000"),  # a card and a server, part of the model in its memory
    ("recommend", "--have", "rtx-4090", "--model", "qwen3-235b-a22b"),  # what is owned moves; a kit of memory and a supply in a flip
    ("recommend", "--budget", "4000"),
    ("recommend", "--have", "rtx-3090", "--model", "llama-3.3-70b"),
]


def roads_of(answer: Any) -> list[Any]:
    return [*answer["roads"], *(road for rung in answer["ladder"] or () for road in rung["roads"])]


@pytest.mark.parametrize("words", PRICED, ids=" ".join)
def test_a_price_says_all_that_it_buys(words: tuple[str, ...], catalog: Catalog) -> None:
    """A computer on the bill stands beside the card, in the tables as in what would change the answer; and what lies in its memory."""
    answer, page = given(*words), told(*words)
    shown = [road for road in roads_of(answer) if road["status"] == "chosen" and road["estimate"]]
    for road in shown:
        bought = [part["id"] for part in road["estimate"]["cost"]["parts"] if not part["owned"]]
        for host in set(bought) & set(catalog.hosts):
            assert f"+ {catalog.hosts[host].short}" in page
        if " as offload" in road["system"]:
            assert "RAM: holds a part" in page
    for flip in answer["flips"]:
        if "setup" in flip["facts"] and flip["kind"] not in ("keep", "change-settings"):
            assert flip["facts"]["setup"] in flip["then"]
            assert (" as offload" in flip["facts"]["system"]) == ("part of the model in" in flip["then"])


def bought(lines: tuple[CostLine, ...]) -> Cost:
    return Cost(1.0, None, 1.0, None, None, None, lines)


def test_what_a_price_buys_is_named_in_short_words(catalog: Catalog) -> None:
    """By hand: a card in a bought server of 256 GB; the same beside an owned card; a supply and two kits in the owned desktop."""
    from advisor.bind import bind

    def bound(words: str, host: str) -> System:
        return bind(words, catalog, host=catalog.host(host))

    def line(what: str, name: str, count: int = 1, owned: bool = False) -> CostLine:
        return CostLine(what, name, count, 1.0, owned)

    def estimate(system: System, strategy: str) -> Estimate:
        return cast("Estimate", SimpleNamespace(system=system, placement=SimpleNamespace(strategy=strategy)))

    card, server, desktop = line("rtx-4090", "GeForce RTX 4090 24GB"), line("epyc-sp3", "Server board"), line("desktop-x8x8", "Desktop")
    alone, at_home = bound("rtx-4090", "epyc-sp3"), bound("rtx-4090", "desktop-x8x8")
    spilt = set_up(estimate(alone, "offload"), bought((card, server)))
    assert spilt == "GeForce RTX 4090 24GB in a server with 256 GB, part of the model in its memory"
    assert set_up(estimate(alone, "whole"), bought((card, server))) == "GeForce RTX 4090 24GB in a server"
    moved = bought((replace(card, owned=True), server))
    assert set_up(estimate(alone, "whole"), moved) == "GeForce RTX 4090 24GB in another computer (a server)"
    parts = (line("psu-1200w", "1200 W PSU"), line("ram-ddr5-64gb", "64 GB of DDR5 memory", 2))
    at_home_cost = bought((card, replace(desktop, owned=True), *parts))
    said = "GeForce RTX 4090 24GB, a 1200 W PSU, 2 × 64 GB of DDR5 memory, part of the model in the computer's memory"
    assert set_up(estimate(at_home, "offload"), at_home_cost) == said
    assert set_up(estimate(at_home, "whole"), bought((card, replace(desktop, owned=True)))) == "GeForce RTX 4090 24GB"


def test_a_size_out_of_reach_shows_what_would_do_it() -> None:
    """A 70B for $800 beside a 3060: the row names what is to be bought for more, not what is owned and does not do it."""
    words = ("recommend", "--have", "rtx-3060-12gb", "--budget", "800")
    rung = next(each for each in given(*words)["ladder"] if each["label"] == "70B dense")
    assert not any(road["status"] == "chosen" for road in rung["roads"])
    assert rung["roads"][-1]["spend_usd"] > 800
    page = told(*words).split("By size of model")[1].split("Roads")[0]
    assert "70B dense keep" not in page.replace("x keep", "keep")


def test_one_card_is_no_bigger_one_where_nothing_is_owned() -> None:
    new, owned = PRICED[0], PRICED[1]
    assert "one bigger GPU" not in told(*new)
    assert " one GPU " in told(*new)
    assert "one bigger GPU" in told(*owned)
    assert any(road["kind"] == "one-bigger-gpu" for road in given(*new)["roads"])


OWNED_TOO = [  # what is owned, the systems named, what is bought of them and what one more is called
    ("rtx-3090", ("2x rtx-3090", "2x rtx-4090"), "Buy a second GeForce RTX 3090", "a second GeForce RTX 3090"),
    ("rtx-3090", ("rtx-3090 + rtx-4090", "2x rtx-4090"), "Buy a GeForce RTX 4090", "a second GeForce RTX 3090"),
    ("2x rtx-3090", ("2x rtx-3090 + rtx-4090", "4x rtx-3090"), "Buy 2 × GeForce RTX 3090", "a third GeForce RTX 3090"),
]


@pytest.mark.parametrize(("have", "among", "bought", "more"), OWNED_TOO)
def test_one_more_is_named_where_others_are_asked_about(have: str, among: tuple[str, ...], bought: str, more: str) -> None:
    """“Second GPU?” speaks of one more of what is owned, whatever else was named: it says of which."""
    quant = ("--quant", "q8_0") if have.startswith("2x") else ()
    named = (word for each in among for word in ("--among", each))
    page = told("recommend", "--have", have, "--model", "llama-3.3-70b", *quant, *named)
    assert page.replace(" x ", " × ").startswith(bought)
    assert more in page.split("Second GPU?")[1].split("Roads")[0]


def test_a_part_of_what_is_owned_is_no_bigger_card() -> None:
    """One of two cards is yours already: no road to buy, though the question named it; nothing owned, it is one."""
    asked = ("--among", "rtx-3090", "--among", "rtx-4090", "--model", "llama-3.3-70b", "--quant", "q8_0")
    owned = given("recommend", "--have", "2x rtx-3090", *asked)
    assert not any(road["spend_usd"] == 0 and road["kind"] not in ("keep", "change-settings") for road in owned["roads"])
    assert not any(road["spend_usd"] == 0 for road in owned["passed_over"])
    assert any(road["system"].startswith("rtx-3090") for road in given("recommend", *asked)["passed_over"])


def test_one_user_is_one() -> None:
    from advisor.reason import Reason
    from advisor.report.sentences import text

    assert "serves 1 user of" in text(Reason("asked.users", {"users": 1}))
    assert "serves 11 users of" in text(Reason("asked.users", {"users": 11}))


def test_a_smaller_cache_with_layers_in_host_memory_says_both() -> None:
    from advisor.advice.naming import main_change
    from advisor.reason import Reason
    from advisor.report.sentences import SENTENCES

    for code in ("change.kv-quant", "change.quant-loss", "change.context-tokens"):
        kind = main_change((Reason(code), Reason("change.offload")))
        assert kind.endswith("-offload")
        assert "in host memory" in SENTENCES[f"verdict.change-{kind}"]
        assert "in host memory" in SENTENCES[f"flip.change-{kind}"]
