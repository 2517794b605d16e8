"""Layers of unlike devices dealt by speed where that is faster, and what the engine is told; the limits of layouts that move."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_pace import CACHE, DENSE, part, runner

from advisor import choose, ways
from advisor.bind import bind
from advisor.buffers import State
from advisor.catalog import Catalog
from advisor.dealing import Stage, _dealt, _stage, by_speed
from advisor.memory import fit, fitted
from advisor.need import Workload
from advisor.placement import Job, Placement, lay
from advisor.plan import Plan
from advisor.platforms import Usable
from advisor.rooms import Load
from advisor.speed import Estimate
from advisor.timed import timed
from advisor.units import MS

CATALOG = Catalog.load(user_folder=False)
CARDS = ("rtx-4090", "rtx-3090", "rtx-3060-12gb", "rtx-5060-ti-16gb", "tesla-p40")


def best(words: str, model: str, quant: str, **work: int) -> Estimate:
    return choose.best(bind(words, CATALOG), CATALOG.model(model), quant, "f16", Workload(**{"context_tokens": 2048, **work}), CATALOG)


def layers_of(found: Estimate) -> list[int]:
    return [round(part.layer_share * found.model.layers) for part in found.placement.parts]


def test_one_at_a_time_the_fastest_takes_all_it_holds_and_busy_stages_are_balanced() -> None:
    stages = [Stage(1.0, 30), Stage(3.0, 40)]
    assert _dealt(stages, 40, busy=False) == (30, 10)  # its memory holds 30
    assert _dealt(stages, 20, busy=False) == (19, 1)  # each takes part
    assert _dealt(stages, 40, busy=True) == (30, 10)  # 30 against 30 seconds
    assert _dealt(stages, 20, busy=True) == (15, 5)  # 15 against 15
    assert _dealt(stages, 71, busy=True) is None  # 70 fit
    assert _dealt([Stage(1.0, 9), Stage(1.9, 9)], 5, busy=True) == (3, 2)  # 3.8 seconds at most; of four and one it would be 4


@pytest.mark.parametrize(("users", "here", "most"), [(2, 2, 35), (1, 1, 35), (None, 1, 35), (20, 20, 28)])
def test_what_a_stage_takes_for_a_layer_and_how_many_it_holds(users: int | None, here: int, most: int) -> None:
    """16 of 32 layers: 4 GB, and 50 MB of each user's cache of 1,000 tokens; 10 GB of which 1 GB are buffers."""
    half = part(0.5)
    load = Load(half, Usable(10e9, 10e9, 0.0, None), 1.0, 4e9, CACHE, (State(1e9),))
    plan: Any = SimpleNamespace(
        weights=replace(DENSE, head_bytes=1e9), cache=CACHE, model=CATALOG.model("qwen3-8b"), runner=runner()
    )  # the head is the last stage's
    work = Workload(users=users, context_tokens=1000, prompt_tokens=900, generate_tokens=200)
    found = _stage(plan, half, load, 16, here, work)
    # 4 GB at 1 TB/s, 50 MB of each at 0.5 TB/s, 16 × 10 µs and half of 100 µs
    assert found.layer_s == pytest.approx((4 + 0.1 * here + 0.21) * MS / 16)
    assert found.most == most  # (10 - 1 - 4.1) GB at 4.1 / 16 of them: 19 more; with twenty users 4 GB at 5 / 16: 12.8
    plan.weights = replace(plan.weights, dense_bytes=2e9, expert_bytes=6e9)
    assert _stage(plan, half, load, 16, here, work).most == most  # 1 GB and 3 GB of experts are 4 GB too


def test_for_one_user_layers_go_to_the_faster_card() -> None:
    found = best("rtx-4090 + rtx-3060-12gb as layers on llama.cpp", "qwen3-32b", "q4_k_m")
    fast, slow = layers_of(found)
    # by memory 64 layers × 24 / 36 = 43; the 4090 holds nearly all of the 18.5 GiB
    assert fast > 55
    assert fast + slow == 64
    assert f"-sm layer -ts {fast}/{slow + 1}" in found.verify  # the output layer goes with the last ones
    reason = next(reason for reason in found.reasons if reason.code == "layers.by-speed")
    assert reason.facts["counts"] == f"{fast}, {slow}"
    assert reason.facts["told"] == f"-sm layer -ts {fast},{slow + 1}"


def test_many_users_of_a_pipeline_balance_its_stages() -> None:
    one = best("rtx-5090 + rtx-3090 as layers on vllm", "qwen3-14b", "awq-4bit")
    many = best("rtx-5090 + rtx-3090 as layers on vllm", "qwen3-14b", "awq-4bit", users=32)
    assert layers_of(one)[1] == 1
    # 1,792 against 936 GB/s: the slower card works on about a third of 40 layers
    assert 9 <= layers_of(many)[1] <= 17
    told = next(reason.facts["told"] for reason in many.reasons if reason.code == "layers.by-speed")
    assert told == f"VLLM_PP_LAYER_PARTITION={layers_of(many)[0]},{layers_of(many)[1]} --pipeline-parallel-size 2"


def test_engines_that_deal_evenly_and_cannot_be_told_do_so() -> None:
    way = ways.way_of(
        bind("rtx-4090 + rtx-3060-12gb on vllm", CATALOG), CATALOG.engine("vllm"), CATALOG.model("qwen3-32b"), None, "f16", CATALOG
    )
    assert isinstance(way, ways.Way)
    even = replace(way.engine, split_flags=())
    placement = lay("layers", Job(CATALOG.model("qwen3-32b"), way.weights, way.cache, way.system, even, way.backend, Workload()))
    assert isinstance(placement, Placement)
    assert [part.layer_share for part in placement.parts] == [0.5, 0.5]


def test_equal_cards_are_told_nothing() -> None:
    found = best("2x rtx-3090 as layers on llama.cpp", "qwen3-32b", "q4_k_m")
    assert "-ts" not in found.verify
    assert not [reason for reason in found.reasons if reason.code == "layers.by-speed"]


def test_stages_of_several_cards_are_told_both_degrees() -> None:
    system = bind("2x (4x h100-sxm as tensor) via ib-ndr as layers on sglang", CATALOG)
    found = choose.best(system, CATALOG.model("llama-3.1-405b"), "fp8", "f16", Workload(), CATALOG)
    from advisor.commands import _split

    assert _split(CATALOG.engine("sglang"), found.placement, 8, bench=False) == "--pp-size 2 --tp-size 4"


@given(st.sampled_from(CARDS), st.sampled_from(CARDS), st.sampled_from(("llama.cpp", "vllm")), st.sampled_from((1, 4, 16)))
@settings(max_examples=20, deadline=None)
def test_by_speed_is_never_slower_than_by_memory(one: str, other: str, engine: str, users: int) -> None:
    work = Workload(users=users, context_tokens=2048, prompt_tokens=512, generate_tokens=128)
    system = bind(f"{one} + {other} via pcie-3-x16 as layers on {engine}", CATALOG)
    try:
        found = choose.best(system, CATALOG.model("qwen3-14b"), "4bit", "f16", work, CATALOG)
        usual = choose.usual_way(system, CATALOG.model("qwen3-14b"), "4bit", "f16", work, CATALOG)
    except Exception as error:  # an old card that this engine does not run on
        assume(not error)
        raise
    assume(usual.sustained is not None)
    assert found.fit.fits
    assert found.sustained.value >= usual.sustained.value
    assert found.fit.max_users >= usual.fit.max_users
    assert sum(layers_of(found)) == found.model.layers


@pytest.mark.parametrize("words", ["rtx-3090 as offload", "rx-6800 as offload on llama.cpp"])
def test_limits_of_an_offload_are_the_systems_whoever_asks(words: str) -> None:
    """More users move more of the weights out: the most users do not depend on those asked, nor the longest context."""
    few, more = (best(words, "qwen3-30b-a3b", "q8_0", users=users, context_tokens=8192) for users in (1, 8))
    assert few.fit.max_users == more.fit.max_users > 8
    assert best(words, "qwen3-30b-a3b", "q8_0", users=few.fit.max_users, context_tokens=8192).fit.fits
    assert not best(words, "qwen3-30b-a3b", "q8_0", users=few.fit.max_users + 1, context_tokens=8192).fit.fits
    most = best(words, "qwen3-30b-a3b", "q8_0", users=None, context_tokens=8192)  # type: ignore[arg-type]
    assert most.workload.users == few.fit.max_users
    # what is laid for one user holds fewer
    laid = fit(few.placement, few.model, few.weights, _cache(few), few.workload, CATALOG.engine("llama.cpp"), CATALOG.platforms, 64 * 2**30)
    assert laid.max_users < few.fit.max_users


def _cache(found: Estimate):
    from advisor.cache import cache_of

    return cache_of(found.model, found.kv_quant, CATALOG.engine(found.placement.engine))


def test_owned_unlike_cards_are_advised_to_deal_by_speed() -> None:
    """Nothing is given up, and the command says how; at the engine's usual setting the layers go by memory."""
    from advisor import answers
    from advisor.report.sentences import text

    found = answers.recommend(
        have="rtx-5090 + rtx-3060-12gb", model="qwen3-32b", quant="q8_0", context=4096, min_tokens_per_s=22, catalog=CATALOG
    )
    assert found.verdict.kind == "change-settings"
    assert "with more of the layers" in text(found.verdict.answer)
    assert "--tensor-split" in found.settings[0].command


def test_the_faster_card_takes_the_last_layer_that_it_holds() -> None:
    """Dealt by speed for one user: with one layer more on the faster card the work would no longer fit."""
    work = Workload(users=1, context_tokens=2048)
    way = ways.way_of(
        bind("rtx-4090 + rtx-3060-12gb on llama.cpp", CATALOG),
        CATALOG.engine("llama.cpp"),
        CATALOG.model("qwen3-32b"),
        "q6_k",
        "f16",
        CATALOG,
    )
    assert isinstance(way, ways.Way)
    plan = way.plan("layers", work)
    assert isinstance(plan, Plan)
    dealt = by_speed(plan, work)
    assert dealt
    assert dealt[1] > 1  # 26.9 GB: neither card holds all
    held = [way.told(counts, work) for counts in (dealt, (dealt[0] + 1, dealt[1] - 1))]
    assert [fitted(each.rooms, each.model, work).fits for each in held if isinstance(each, Plan)] == [True, False]
    assert by_speed(held[0], work) is None  # type: ignore[arg-type]  # they lie so already


def test_busy_stages_are_dealt_so_that_no_other_deal_is_faster() -> None:
    work = Workload(users=32, context_tokens=2048)
    way = ways.way_of(
        bind("rtx-5090 + rtx-3090 on vllm", CATALOG), CATALOG.engine("vllm"), CATALOG.model("qwen3-14b"), "awq-4bit", "f16", CATALOG
    )
    assert isinstance(way, ways.Way)
    plan = way.plan("layers", work)
    assert isinstance(plan, Plan)
    dealt = by_speed(plan, work)
    assert dealt

    def rate(first: int) -> float:
        told = way.told((first, 40 - first), work)
        assert isinstance(told, Plan)
        return timed(told, work, 32).decode_tokens_per_s

    best = max(range(5, 36), key=rate)
    assert abs(dealt[0] - best) <= 2  # the head, which one of them works on, is not dealt
