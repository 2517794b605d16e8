"""What stands beside the verdict: free settings that are clearly faster, a little more money for much more speed, extraordinary prices."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from advisor import choose
from advisor.advice import Recommendation
from advisor.advice.judge import per_user
from advisor.advice.recommend import recommend
from advisor.advice.sureness import sure as _sure
from advisor.catalog import Catalog
from advisor.errors import Unsupported
from advisor.need import Need, Workload
from advisor.report.sentences import text
from advisor.speed import Estimate

CATALOG = Catalog.load(root=Path(__file__).parent / "catalog", user_folder=False)
SHIPPED = Catalog.load(user_folder=False)
CLEARLY = CATALOG.hints.choice("clearly-faster-factor")


def advised(have: str | None, model: str, users: int = 1, prompt: int = 1024, **wished: Any) -> Recommendation:
    work = Workload(users=users, context_tokens=max(8192, prompt + 256), prompt_tokens=prompt)
    need = Need(workload=work, model=model, context_stated=False, **wished)
    system = choose.bind(have, CATALOG, smallest_memory=True) if have else None
    return recommend(need, system, CATALOG, have_words=have, model=CATALOG.model(model), today=date(2026, 11, 30))


@pytest.mark.parametrize(
    ("have", "model", "users"),
    [("2x rtx-3090 on llama.cpp", "llama-3.3-70b", 1), ("rtx-3090", "qwen3-30b-a3b", 16)],
)
def test_a_free_setting_that_is_clearly_faster_is_told(have: str, model: str, users: int) -> None:
    answer = advised(have, model, users)
    assert answer.verdict.spend_usd == 0
    chosen = answer.verdict.estimate
    assert chosen
    gains = [each.gain.facts for each in answer.settings if each.gain and each.gain.code == "gain.speed"]
    speeds = [(facts["from_tokens_per_s"], facts["to_tokens_per_s"]) for facts in gains]
    assert any(slow == per_user(chosen) and fast >= CLEARLY * slow for slow, fast in speeds if isinstance(fast, float)), speeds


def test_where_the_devices_hold_it_nothing_is_given_up_for_speed() -> None:
    answer = advised("rtx-3090", "qwen3-8b")
    assert answer.verdict.kind == "keep"
    assert not [each for each in answer.settings if each.text.code.startswith("change.")]


def test_an_eight_bit_cache_wins_over_a_slow_spill() -> None:
    """16 users of 8,192 tokens spill from 24 GB with sixteen bits; with eight far less of the experts do."""
    verdict = advised("rtx-3090", "qwen3-30b-a3b", 16).verdict
    assert verdict.kind == "change-settings"
    assert verdict.estimate
    assert verdict.estimate.kv_quant == "q8_0"


def _as_fast(one: Estimate, other: Estimate) -> bool:
    return per_user(one) >= per_user(other)


@pytest.mark.parametrize(("have", "model"), [("rtx-3060-12gb", "qwen3-32b"), (None, "qwen3-32b"), (None, "llama-3.3-70b")])
def test_much_more_speed_for_little_more_money_is_remarked(have: str | None, model: str) -> None:
    answer = advised(have, model)
    chosen, most = answer.verdict, CATALOG.hints.choice("little-more-factor")
    assert chosen.spend_usd
    assert chosen.estimate
    told = [reason for reason in answer.remarks if reason.code.startswith("remark.little-more")]
    weighed = [road for road in (*answer.roads, *answer.passed_over) if road.estimate and road.spend_usd]
    able = [
        road
        for road in weighed
        if road.estimate and road.spend_usd and 1 <= road.spend_usd / chosen.spend_usd <= most
        if per_user(road.estimate) / per_user(chosen.estimate) >= max(CLEARLY, road.spend_usd / chosen.spend_usd)
        or (_sure(road.estimate, answer.need) and not _sure(chosen.estimate, answer.need) and _as_fast(road.estimate, chosen.estimate))
    ]
    assert bool(told) is bool(able)
    for reason in told:
        more, usd = reason.facts["more_usd"], reason.facts["spend_usd"]
        assert isinstance(more, float)
        assert usd == pytest.approx(chosen.spend_usd + more)


def test_one_more_of_what_is_owned_is_always_among_what_was_weighed() -> None:
    """Another card of the same kind of road may win: the one that people ask about stays in sight."""
    answer = advised("rtx-3060-12gb", "qwen3-32b")
    weighed = [road.system for road in (*answer.roads, *answer.passed_over) if road.system]
    assert any({group.device.id for group in system.groups} == {"rtx-3060-12gb"} and system.count == 2 for system in weighed)


def test_an_extraordinary_price_is_remarked_with_the_nearest_ordinary_machine() -> None:
    answer = advised(None, "llama-3.3-70b", prompt=8000, max_first_token_s=1.0)
    ordinary = CATALOG.hints.choice("ordinary-usd")
    spend = answer.verdict.spend_usd
    assert spend
    assert spend > ordinary
    (reason,) = answer.remarks
    assert reason.code.startswith("remark.extraordinary")
    near = reason.facts.get("near_usd")
    assert isinstance(near, float)
    assert near <= ordinary
    assert "no ordinary machine" in text(reason)


def test_with_a_budget_the_buyer_knows_what_it_costs() -> None:
    assert not [each for each in advised(None, "llama-3.3-70b", budget_usd=50000.0).remarks if "extraordinary" in each.code]


def test_a_run_on_the_processor_alone_is_told_not_to_be_estimated() -> None:
    """Two channels of DDR5-5600 give 89.6 GB/s. 30B-A3B reads some 2 GB a token, so they may give 10 tokens/s; 70B reads 40 GB."""
    told = {}
    for model in ("qwen3-30b-a3b", "llama-3.3-70b"):
        work = Workload(users=1, context_tokens=8192)
        need = Need(workload=work, model=model, host="desktop-x8x8", host_owned=True)
        answer = recommend(need, None, CATALOG, model=CATALOG.model(model), today=date(2026, 11, 30))
        (told[model],) = (reason for reason in answer.remarks if reason.code.startswith("remark.processor"))
    assert [reason.code for reason in told.values()] == ["remark.processor", "remark.processor-slow"]
    most = [float(str(reason.facts["most_tokens_per_s"])) for reason in told.values()]
    assert 89.6 / 3 < most[0] < 89.6 / 1.5
    assert 89.6 / 43 < most[1] < 89.6 / 35
    assert "-ngl 0" in text(told["qwen3-30b-a3b"])
    assert not [reason for reason in advised("rtx-3090", "llama-3.3-70b").remarks if reason.code.startswith("remark.processor")]


@pytest.mark.parametrize("words", ["epyc-sp3", "2x desktop-x8x8", "EPYC-SP3 on llama.cpp"])
def test_a_computer_is_no_device_and_says_so(words: str) -> None:
    with pytest.raises(Unsupported, match="without cards.*--host"):
        choose.bind(words, CATALOG)


def test_no_setting_is_praised_for_a_gain_that_nobody_sees() -> None:
    """Two Strix Halo boxes need their memory limit raised; the split is the usual one: 15.3 instead of 15.3 tokens/s is no gain."""
    for have in ("2x ryzen-ai-max-395-128gb", "2x rtx-3090", "2x rtx-3090 on llama.cpp", "mac-m4-pro-20c 48gb"):
        for model in ("qwen3-235b-a22b", "llama-3.3-70b", "qwen3-32b"):
            gains = [each.gain.facts for each in advised(have, model).settings if each.gain and each.gain.code == "gain.speed"]
            assert all(float(str(facts["speed_factor"])) >= 1.01 for facts in gains), (have, model)


def test_the_same_purchase_run_otherwise_is_a_setting_for_nothing() -> None:
    """Two RTX A6000 for 10 users of 16,384 tokens: llama.cpp likely does it, vllm with a cache of eight bits surely; neither costs more."""
    work = Workload(users=10, context_tokens=16384, prompt_tokens=1024)
    need = Need(workload=work, model="llama-3.3-70b")
    owned, two = (choose.bind(words, SHIPPED) for words in ("rtx-a6000", "2x rtx-a6000"))
    answer = recommend(need, owned, SHIPPED, model=SHIPPED.model("llama-3.3-70b"), today=date(2026, 11, 30), among=(two,))
    (told,) = (reason for reason in answer.remarks if reason.code.startswith("remark.other-run"))
    said = text(told)
    assert "on vllm as awq-4bit with its cache as fp8" in said
    assert said.endswith("for nothing.")
    assert "$0" not in said


@pytest.mark.parametrize(
    ("have", "model", "how"),
    [
        ("rtx-3090 + rtx-3060-12gb", "qwen3-8b", "run on one GeForce RTX 3090 24GB alone"),
        ("2x rtx-3090 on llama.cpp", "qwen3-8b", "run with every layer cut over all of it on vllm as awq-4bit"),
        ("rtx-3090", "qwen3-8b", None),
    ],
)
def test_a_free_way_that_is_clearly_faster_than_what_is_kept_comes_first(have: str, model: str, how: str | None) -> None:
    """The slower of two cards, or an engine that runs them one after the other, holds the whole back: to leave it costs nothing."""
    answer = advised(have, model)
    assert answer.verdict.kind == "keep"
    told = [reason for reason in answer.remarks if reason.code == "remark.quicker"]
    assert bool(told) is bool(how)
    if how:
        assert answer.remarks[0] is told[0]
        assert answer.verdict.estimate
        assert how in text(told[0])
        assert float(str(told[0].facts["speed_factor"])) >= CLEARLY
        speed = CLEARLY * per_user(answer.verdict.estimate)
        assert float(str(told[0].facts["per_user_tokens_per_s"])) >= speed
