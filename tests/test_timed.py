"""What a plan takes for one work, put together by hand from the seconds of a step and of a prompt; speedups held against one device."""

from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from advisor.against import Held, held, held_terms
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.correction import Correction
from advisor.need import Workload
from advisor.pace import prompt_s, step_terms
from advisor.plan import Plan
from advisor.record import replace
from advisor.speed import Estimate
from advisor.step import Terms
from advisor.timed import Timed, corrected, timed
from advisor.ways import Way, way_of


@cache
def catalog() -> Catalog:
    return Catalog.load(user_folder=False)


@cache
def plan_of(words: str, model: str, quant: str, strategy: str) -> Plan:
    way = way_of(bind(words, catalog()), catalog().engine("llama.cpp"), catalog().model(model), quant, "f16", catalog())
    assert isinstance(way, Way)
    plan = way.plan(strategy, Workload())
    assert isinstance(plan, Plan)
    return plan


def work_of(users: int) -> Workload:
    return Workload(users=users, context_tokens=4096, prompt_tokens=1000, generate_tokens=200)


@pytest.mark.parametrize(("users", "turns"), [(1, 0), (4, 0), (5, 1), (8, 1), (9, 2)])
def test_the_last_to_get_a_first_token_waits_for_turns_and_prompts(users: int, turns: int) -> None:
    """Four at a time: each turn before reads four prompts and generates 200 tokens; in the last, the prompts before one's own."""
    plan = plan_of("rtx-3090", "qwen3-8b", "q4_k_m", "whole")
    (team,) = plan.teams
    here = min(users, 4)
    step_s = step_terms(plan.runner, team, here, 1100).total_s  # 1,000 + 200 / 2 tokens deep
    alone_s = prompt_s(plan.runner, team, 1000)
    each_s = prompt_s(plan.runner, team, 1000, here) if here > 1 else alone_s
    found = timed(plan, work_of(users), here)
    assert found.decode_tokens_per_s == pytest.approx(here / step_s)
    assert found.prefill_tokens_per_s == pytest.approx(1000 / alone_s)
    assert found.first_token_s == pytest.approx(alone_s + (here - 1) * each_s + step_s + turns * (here * each_s + 200 * step_s))
    assert found.terms.total_s == pytest.approx(step_s)
    assert found.team_users == here


def test_as_many_as_fit_do_not_wait() -> None:
    plan = plan_of("rtx-3090", "qwen3-8b", "q4_k_m", "whole")
    open_ended = replace(work_of(1), users=None)
    assert timed(plan, open_ended, 1).first_token_s == timed(plan, work_of(1), 1).first_token_s


def test_copies_add_up_and_wait_for_the_slowest() -> None:
    """Three users of two copies: one has two of them."""
    plan = plan_of("2x rtx-3090", "qwen3-8b", "q4_k_m", "replicas")
    one = plan_of("rtx-3090", "qwen3-8b", "q4_k_m", "whole")
    alone, pair = timed(one, work_of(1), 1), timed(one, work_of(2), 2)
    found = timed(plan, work_of(3), 3)
    assert found.decode_tokens_per_s == pytest.approx(alone.decode_tokens_per_s + pair.decode_tokens_per_s)
    assert found.sustained_tokens_per_s == pytest.approx(alone.sustained_tokens_per_s + pair.sustained_tokens_per_s)
    assert found.prefill_tokens_per_s == pytest.approx(2 * (alone.prefill_tokens_per_s or 0))
    assert found.first_token_s == pytest.approx(pair.first_token_s)
    assert found.team_users == 2
    assert found.terms.total_s == pytest.approx(3 / found.decode_tokens_per_s)


def test_without_a_prompt_there_is_no_first_token() -> None:
    found = timed(plan_of("rtx-3090", "qwen3-8b", "q4_k_m", "whole"), Workload(users=1, context_tokens=4096, prompt_tokens=0), 1)
    assert (found.prefill_tokens_per_s, found.first_token_s) == (None, None)


def test_own_measurements_divide_times() -> None:
    """Generating twice and reading four times as fast: of 3 s, 2.9 are reading, 0.1 is the first step."""
    given = Timed(10.0, 100.0, 3.0, 8.0, Terms(weights_s=0.06, overhead_s=0.04), 1)
    found = corrected(given, Correction(2.0, 4.0, 3, "2026-11-01"))
    assert (found.decode_tokens_per_s, found.prefill_tokens_per_s, found.sustained_tokens_per_s) == (20, 400, 16)
    assert found.first_token_s == pytest.approx(2.9 / 4 + 0.1 / 2)
    assert (found.terms.weights_s, found.terms.overhead_s) == pytest.approx((0.03, 0.02))
    assert corrected(given, None) is given
    unread = corrected(Timed(10.0, None, None, 10.0, Terms(weights_s=0.1), 1), Correction(None, 4.0, 3, "2026-11-01"))
    assert (unread.decode_tokens_per_s, unread.prefill_tokens_per_s, unread.first_token_s) == (10, None, None)


def test_layers_in_a_row_are_held_against_the_faster_card_alone() -> None:
    plan = plan_of("rtx-3060-12gb + rtx-4090 as layers", "qwen3-8b", "q4_k_m", "layers")
    one = timed(plan_of("rtx-4090", "qwen3-8b", "q4_k_m", "whole"), work_of(1), 1)
    decode = timed(plan, work_of(1), 1).decode_tokens_per_s
    found = held(plan.runner, plan.placement, decode, 1, 1100)
    assert found.speedup == pytest.approx(decode / one.decode_tokens_per_s, rel=1e-3)
    assert found.speedup < 1
    # any number of devices in a row at no cost of links: what they take in turn
    (team,) = plan.teams
    link_s = step_terms(plan.runner, team, 1, 1100).link_s
    assert found.limit_tokens_per_s == pytest.approx(1 / (1 / decode - link_s))
    assert found.ceiling == pytest.approx(found.limit_tokens_per_s / one.decode_tokens_per_s, rel=1e-3)


def test_what_lies_in_host_memory_is_held_against_one_device_that_holds_all() -> None:
    """Enough devices hold everything: no faster than one that does."""
    plan = plan_of("rtx-3060-12gb", "qwen3-32b", "q4_k_m", "offload")
    assert any(part.host_dense_share for part in plan.placement.parts)
    decode = timed(plan, work_of(1), 1).decode_tokens_per_s
    found = held(plan.runner, plan.placement, decode, 1, 1100)
    whole_s = held_terms(plan.runner, plan.placement, 1, 1100).total_s
    assert found.limit_tokens_per_s == pytest.approx(1 / whole_s)
    assert found.speedup == pytest.approx(decode * whole_s)
    assert found.speedup < found.ceiling == pytest.approx(1)


def test_one_part_in_host_memory_leaves_the_devices() -> None:
    plan = plan_of("2x rtx-3090 as layers", "qwen3-8b", "q4_k_m", "layers")
    first, *others = plan.placement.parts
    outside = replace(plan.placement, parts=(replace(first, host_dense_share=0.1), *others))
    assert not plan.leaves_device
    assert others
    assert replace(plan, placement=outside).leaves_device


@pytest.mark.parametrize(
    ("one", "limit", "ceiling", "serial"),
    [  # over what one device does; where it cannot run the model, over one that held everything: three times that at most
        (100.0, 250.0, 2.5, 0.4),
        (100.0, 150.0, 1.5, 1 / 1.5),
        (100.0, 80.0, 1.0, 1.0),  # one included, which does 100 already
        (None, 80.0, 3.0, 1 / 3),
        (100.0, None, None, None),
    ],
)
def test_the_most_that_any_number_of_devices_reaches(
    one: float | None, limit: float | None, ceiling: float | None, serial: float | None
) -> None:
    best = SimpleNamespace(estimate=SimpleNamespace(decode=SimpleNamespace(value=one)) if one else None)
    over: Any = SimpleNamespace(one=best, held=Held(2.0, 3.0, limit) if limit else None)
    over.amdahl_ceiling = Estimate.amdahl_ceiling.fget(over)  # type: ignore[attr-defined]
    assert over.amdahl_ceiling == ceiling
    assert Estimate.amdahl_serial_fraction.fget(over) == serial  # type: ignore[attr-defined]


def test_with_copies_enough_each_user_has_one() -> None:
    """The limit of four users on copies: four times what one user gets of a card alone."""
    plan = plan_of("2x rtx-3090", "qwen3-8b", "q4_k_m", "replicas")
    alone = timed(plan_of("rtx-3090", "qwen3-8b", "q4_k_m", "whole"), work_of(1), 1)
    found = held(plan.runner, plan.placement, timed(plan, work_of(4), 4).decode_tokens_per_s, 4, 1100)
    assert found.limit_tokens_per_s == pytest.approx(4 * alone.decode_tokens_per_s)


def test_whole_layers_of_a_mixture_in_host_memory_are_outside_too() -> None:
    """Equal shares of dense weights and experts lie there: held against one device that holds everything."""
    plan = plan_of("2x rtx-3090 as layers", "qwen3-30b-a3b", "q4_k_m", "layers")
    parts = tuple(replace(part, host_dense_share=0.1, host_expert_share=0.1) for part in plan.placement.parts)
    found = held(plan.runner, replace(plan.placement, parts=parts), 1.0, 1, 1100)
    assert found.limit_tokens_per_s == pytest.approx(1 / held_terms(plan.runner, plan.placement, 1, 1100).total_s)
