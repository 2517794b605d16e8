"""On which devices an engine keeps which cache: nothing is estimated, let alone advised, with one that they do not run."""

from datetime import date
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from advisor import choose
from advisor.advice.desk import Desk, Work
from advisor.advice.evaluate import evaluate
from advisor.advice.holds import Holds
from advisor.advice.judge import Case, case_of, per_user, score
from advisor.advice.offers import Offer
from advisor.advice.owned import change, keep
from advisor.advice.recommend import recommend
from advisor.catalog import Catalog
from advisor.engine import CacheRule
from advisor.errors import AdvisorError
from advisor.need import Need, Workload
from advisor.record import replace
from advisor.runs import devices, eight_bit_cache, unkept
from advisor.speed import Estimate

TODAY = date(2026, 11, 30)
TURING, AMPERE, CDNA = "quadro-rtx-8000", "rtx-a6000", "mi300x-192gb"
NEEDS: list[tuple[str, str, dict[str, Any]]] = [
    ("rtx-a6000", "llama-3.3-70b", {"users": 10, "context": 16384}),  # a Quadro RTX 8000 beside it was advised, with a cache as fp8
    ("quadro-rtx-8000", "llama-3.3-70b", {"users": 4}),
    ("2x rtx-2080-ti", "qwen3-32b", {"users": 2, "min_tokens_per_s": 5.0}),
    ("rtx-3090", "qwen3-32b", {"users": 5, "budget_usd": 3100.0}),
]
IDS = [f"{have}-{model}" for have, model, _ in NEEDS]


@cache
def catalog() -> Catalog:
    return Catalog.load(user_folder=False)


def case(have: str, model: str, wished: dict[str, Any]) -> Case:
    wishes = dict(wished)
    need = Need(workload=Workload(users=wishes.pop("users"), context_tokens=wishes.pop("context", 8192)), model=model, **wishes)
    return case_of(Desk(need, choose.bind(have, catalog()), catalog(), catalog().model(model), TODAY), need)


def of_turing(whole: Case) -> list[Offer]:
    """Offers with a card that keeps no cache of eight bits under vLLM, and those in roomier computers."""
    every = [each for each in whole.offers.every if each.least_usd is not None]
    old = [each for each in every if any(device.compute_capability == "7.5" for device, *_ in each.groups)]
    return [each for offer in old[::8] for each in (offer, *whole.offers.roomier(offer))]


def is_kept(estimate: Estimate) -> bool:
    return not unkept(catalog().engines[estimate.placement.engine], estimate.kv_quant, devices(estimate.system))


@pytest.mark.parametrize(
    ("engine", "ids", "kept_as"),
    [
        ("vllm", (TURING,), None),  # vllm#47549: FP8 is not supported on a Quadro RTX 8000 (compute capability 7.5)
        ("vllm", (AMPERE,), "fp8"),  # 8.6, by FlashInfer: vllm#45375
        ("vllm", (AMPERE, TURING), None),
        ("vllm", (CDNA,), "fp8"),
        ("vllm", (), "fp8"),
        ("llama.cpp", (TURING,), "q8_0"),
        ("exo", (AMPERE,), None),
    ],
)
def test_the_cache_of_eight_bits_of_an_engine_there(engine: str, ids: tuple[str, ...], kept_as: str | None) -> None:
    assert eight_bit_cache(catalog().engines[engine], tuple(catalog().device(each) for each in ids)) == kept_as


def test_a_type_that_does_not_run_leaves_the_next_of_eight_bits() -> None:
    rules = (CacheRule(kv_quant="fp8", least_compute_capability="8.9"),)
    engine = replace(catalog().engines["tensorrt-llm"], id="other", cache_rules=rules)  # fp8 and int8
    assert eight_bit_cache(engine, (catalog().device(AMPERE),)) == "int8"
    assert eight_bit_cache(engine, (catalog().device("rtx-4090"),)) == "fp8"


def test_several_devices_keep_what_each_of_them_keeps() -> None:
    for engine in catalog().engines.values():
        assert {rule.kv_quant for rule in engine.cache_rules} <= set(engine.kv_types)
        for kv_quant in engine.kv_types:
            for one, other in pairwise(catalog().devices.values()):
                together = unkept(engine, kv_quant, (one, other))
                assert (together is None) is not (unkept(engine, kv_quant, (one,)) or unkept(engine, kv_quant, (other,)))
            assert unkept(engine, kv_quant, ()) is None


@pytest.mark.parametrize(("ids", "kept_as"), [((TURING,), "f16"), ((AMPERE,), "fp8"), ((AMPERE, TURING), "f16")])
def test_the_least_cache_that_devices_may_take(ids: tuple[str, ...], kept_as: str) -> None:
    whole = case(*NEEDS[0])
    holds = Holds(whole.desk, Work(whole.work.workload, None, "f16"), smaller=True)
    kept = {way.engine.id: way.cache.kv_quant for way in holds.ways_of(catalog().device(each) for each in ids)}
    assert kept == {"llama.cpp": "q8_0", "vllm": kept_as}
    stated = Holds(whole.desk, Work(whole.work.workload, None, "fp8"), smaller=False)
    runs = {way.engine.id for way in stated.ways_of(catalog().device(each) for each in ids)}
    assert ("vllm" in runs) is (kept_as == "fp8")


@pytest.mark.parametrize(("have", "model", "wished"), NEEDS, ids=IDS)
def test_all_that_is_told_keeps_a_cache_that_its_devices_run(have: str, model: str, wished: dict[str, Any]) -> None:
    whole = case(have, model, wished)
    given = recommend(whole.need, whole.desk.have, catalog(), model=whole.desk.model, today=TODAY)
    told = [given.verdict.estimate, *(road.estimate for road in given.roads), *(each.estimate for each in given.passed_over)]
    assert all(is_kept(estimate) for estimate in told if estimate)
    assert all(is_kept(option.estimate) for option in change(whole, keep(whole)))


@pytest.mark.parametrize(("have", "model", "wished"), NEEDS, ids=IDS)
def test_no_bound_denies_what_old_cards_do_with_the_caches_that_they_keep(have: str, model: str, wished: dict[str, Any]) -> None:
    whole, lean = case(have, model, wished), replace(case(have, model, wished), lean=True)
    seen = set()
    for offer in of_turing(whole):
        system = whole.desk.system(offer.words, offer.host, offer.more_ram_bytes)
        if isinstance(system, AdvisorError):
            continue
        bound = whole.bound(offer)
        for option in evaluate(whole, offer):
            assert is_kept(option.estimate), offer.words
            assert per_user(option.estimate) <= bound.tokens_per_s * (1 + 1e-9), offer.words
            assert bound.holds or option.estimate.placement.strategy == "offload" or not option.estimate.fit.fits, offer.words
        for kv_quant in (None, *whole.desk.eight_bit_caches):
            every, able = ([score(way) for way in each.ways(system, kv_quant) if way.fit.fits] for each in (whole, lean))
            assert able == every, (offer.words, kv_quant)
            seen |= {kv_quant} if every else set()
    assert seen == {None, "q8_0"}
