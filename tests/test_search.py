"""The search against the whole market of the frozen catalog: nothing that it passed over would have won."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from advisor import choose
from advisor.advice.decide import decide
from advisor.advice.desk import Desk
from advisor.advice.evaluate import evaluate
from advisor.advice.judge import Case, Option, allowed, case_of, counted_usd, enough, fast_enough, lies, meets, per_user, rank, score
from advisor.advice.offers import Offer, all_offers
from advisor.advice.owned import change, keep
from advisor.advice.recommend import recommend
from advisor.advice.search import _by_price
from advisor.advice.second import one_more
from advisor.catalog import Catalog
from advisor.errors import AdvisorError
from advisor.need import Need, Workload
from advisor.record import replace
from advisor.report.again import Said, again
from advisor.units import GB
from advisor.ways import tables_of

CATALOG = Catalog.load(root=Path(__file__).parent / "catalog", user_folder=False)
TODAY = date(2026, 11, 30)
NEEDS: list[tuple[str | None, str, dict[str, Any]]] = [
    (None, "qwen3-32b", {"quant": "q4_k_m"}),
    (None, "llama-3.3-70b", {"users": 16, "min_tokens_per_s": 8.0}),
    (None, "qwen3-235b-a22b", {"quant": "q4_k_m"}),
    (None, "gpt-oss-120b", {"users": 4, "budget_usd": 5000.0}),
    (None, "qwen3-8b", {"users": 8, "prefer": "fastest", "budget_usd": 6000.0}),
    ("rtx-3090", "llama-3.3-70b", {"quant": "q4_k_m"}),
    ("rtx-3090", "gpt-oss-120b", {"users": 16, "min_tokens_per_s": 20.0}),
    ("rtx-4090", "qwen3-235b-a22b", {"quant": "q4_k_m"}),
    ("2x rtx-3090", "qwen3-235b-a22b", {"min_tokens_per_s": 5.0}),
    ("rtx-3060-12gb", "qwen3-30b-a3b", {"quant": "q8_0", "users": 8, "min_tokens_per_s": 20.0}),
    ("rtx-3060-12gb", "qwen3-32b", {"prefer": "fastest", "budget_usd": 4000.0}),
    ("mac-m4-pro-20c 48gb", "gpt-oss-120b", {"users": 2}),
    ("mac-m4-pro-20c 48gb", "llama-3.3-70b", {"users": 16, "quant": "q4_k_m", "min_tokens_per_s": 20.0}),  # wider slots decide
    ("dgx-spark", "deepseek-r1", {"min_tokens_per_s": 5.0}),
    ("mac-m3-ultra-80c 512gb", "deepseek-r1", {"min_tokens_per_s": 30.0}),  # one of 256 GB beside it, or two
    ("mac-m3-ultra-80c 96gb", "qwen3-235b-a22b", {"users": 4, "min_tokens_per_s": 8.0}),
    ("rx-7900-xtx", "llama-3.3-70b", {"users": 4, "min_tokens_per_s": 15.0}),
    ("rtx-3090", "qwen3-8b", {"users": 32, "min_tokens_per_s": 50.0, "consider": ("replicas",)}),  # offered as two cards
    (None, "qwen3-8b", {"users": 4, "consider": ("replicas", "rdma-cluster"), "quant": "q4_k_m"}),
    ("rtx-4090", "llama-3.3-70b", {"sell_old": True}),  # what sells the old card counts as less than what keeps it
    ("rx-7900-xtx", "llama-3.3-70b", {"sell_old": True, "users": 8, "min_tokens_per_s": 8.0}),
]
IDS = [f"{have}-{model}" for have, model, _ in NEEDS]


def case(have: str | None, model: str, wished: dict[str, Any]) -> Case:
    wishes = dict(wished)
    work = Workload(users=wishes.pop("users", 1), context_tokens=wishes.pop("context", 8192))
    need = Need(workload=work, model=model, **wishes)
    owned = choose.bind(have, CATALOG, smallest_memory=True) if have else None
    return case_of(Desk(need, owned, CATALOG, CATALOG.model(model), TODAY), need)


def market(whole: Case) -> Iterator[Offer]:
    """Every offer, and every one of cards in each computer that gives them more."""
    for offer in (each for each in whole.offers.every if each.least_usd is not None):
        yield offer
        yield from whole.offers.roomier(offer)


@pytest.mark.parametrize(("have", "model", "wished"), NEEDS, ids=IDS)
def test_nothing_in_the_market_is_better(have: str | None, model: str, wished: dict[str, Any]) -> None:
    chosen = decide(case(have, model, wished)).chosen
    whole = case(have, model, wished)
    options = [option for offer in market(whole) if offer.kind != "keep" for option in evaluate(whole, offer)]
    able = [option for option in options if meets(option, whole.need) and allowed(option.kind, whole.need)]
    if chosen is None:
        assert not able
        return
    best = min((rank(option, whole.need) for option in able), default=(float("inf"),))
    assert rank(chosen, whole.need)[0] <= best[0]


@pytest.mark.parametrize(("have", "model", "wished"), NEEDS[::2], ids=IDS[::2])
def test_no_estimate_passes_its_bound(have: str | None, model: str, wished: dict[str, Any]) -> None:
    whole = case(have, model, wished)
    for offer in market(whole):
        bound = whole.bound(offer)
        for option in evaluate(whole, offer):
            assert per_user(option.estimate) <= bound.tokens_per_s * (1 + 1e-9), (offer.words, option.estimate.placement.strategy)
            assert whole.bounds.may_reach(offer, per_user(option.estimate))
            assert score(option.estimate) <= whole.bounds.sustained(offer) * (1 + 1e-9)
            first = option.estimate.first_token_s
            assert first is None or whole.bounds.may_start(offer, first.value)
            if option.estimate.fit.fits and option.estimate.placement.strategy != "offload":
                assert bound.holds, offer.words


@pytest.mark.parametrize(("have", "model", "wished"), NEEDS[1::2], ids=IDS[1::2])
def test_what_is_left_out_as_hopeless_counts_for_nothing(have: str | None, model: str, wished: dict[str, Any]) -> None:
    """Every way that is fast enough is found without the hopeless ones too, and no other."""
    whole = case(have, model, wished)
    every, counting = replace(whole, lean=True, counts_tokens_per_s=0.0), replace(whole, lean=True)
    for offer in list(market(whole))[::3]:
        system = whole.desk.system(offer.words, offer.host, offer.more_ram_bytes)
        if isinstance(system, AdvisorError):
            continue
        hopeless = counting.hopeless(offer)
        fresh = Desk(whole.need, whole.desk.have, CATALOG, whole.desk.model, TODAY)
        few = [way for way in replace(counting, desk=fresh).ways(system, None, hopeless) if fast_enough(way, whole.need)]
        assert few == [way for way in every.ways(system) if fast_enough(way, whole.need)], offer.words
        for way in whole.desk.ways(system, whole.work):
            if (way.placement.engine, way.placement.strategy) in hopeless:
                assert per_user(way) < whole.need.min_tokens_per_s


@pytest.mark.parametrize("prefer", ["cheapest", "fastest"])
@pytest.mark.parametrize(
    ("words", "model", "quant", "users"),
    [
        ("rtx-4090 on exllamav3", "qwen3-8b", "exl3-4bpw", 1),
        ("2x rtx-3090 on exllamav3", "qwen3-32b", "exl3-4bpw", 8),
        ("rtx-5090 on tensorrt-llm", "qwen3-8b", "fp8", 8),
        ("rtx-4090 on ktransformers", "qwen3-30b-a3b", "q8_0", 1),
    ],
)
def test_a_named_engine_does_what_its_estimate_says(catalog: Catalog, words: str, model: str, quant: str, users: int, prefer: str) -> None:
    """No bound, made of the engines that are chosen from, rules it out."""
    work = Workload(users=users, context_tokens=4096)
    named = choose.bind(words, catalog)
    floor = per_user(choose.best(named, catalog.model(model), catalog.quant(quant), "f16", work, catalog))
    assert floor
    need = Need(workload=work, model=model, quant=quant, min_tokens_per_s=0.99 * floor, prefer=prefer)
    given = recommend(need, None, catalog, model=catalog.model(model), today=TODAY, among=(named,))
    assert given.verdict.meets_need
    assert given.verdict.estimate
    assert given.verdict.estimate.placement.engine == words.rpartition(" ")[2]


def test_formats_that_only_an_engine_reads_that_is_never_chosen_are_bound_by_it(catalog: Catalog) -> None:
    """GGUF weights and a cache as fp8: of the engines that are chosen from, none reads the one and keeps the other for good."""
    need = Need(workload=Workload(users=2, context_tokens=2048), model="minimax-m2", quant="q4_k_m", kv_quant="fp8", min_tokens_per_s=7.5)
    whole = case_of(Desk(need, None, catalog, catalog.model("minimax-m2"), TODAY), need)
    seen = set()
    for offer in (each for each in whole.offers.every if each.words in ("l20-48gb", "rtx-4090", "rtx-pro-5000-blackwell-48gb")):
        for each in (offer, *whole.offers.roomier(offer)):
            for option in evaluate(whole, each):
                seen.add((option.estimate.placement.engine, option.estimate.fit.fits))
                assert per_user(option.estimate) <= whole.bound(each).tokens_per_s * (1 + 1e-9), each.key
    assert seen >= {("ktransformers", True)}


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("have", ["rtx-3090", None])
def test_a_smaller_cache_brings_in_no_engine_that_is_taken_only_when_named(catalog: Catalog, have: str | None, lean: bool) -> None:
    """GGUF weights, and a cache that the tool may shrink: to eight bits of llama.cpp, not to an fp8 that only KTransformers keeps then."""
    need = Need(workload=Workload(users=4, context_tokens=65536), model="llama-3-8b", quant="q4_k_m", min_tokens_per_s=40.0)
    owned = choose.bind(have, catalog) if have else None
    whole = case_of(Desk(need, owned, catalog, catalog.model("llama-3-8b"), TODAY), need, lean=lean)
    card = next(offer for offer in whole.offers.every if offer.words == "rtx-4090")
    found = [*evaluate(whole, card), *(change(whole, keep(whole)) if have else ())]
    assert any(option.estimate.kv_quant != "f16" for option in found)
    assert all(catalog.engines[option.estimate.placement.engine].choice_rank for option in found)


def moved(have: str, model: str, **wished: Any) -> Option:
    chosen = decide(case(have, model, wished)).chosen
    assert chosen
    assert chosen.kind == "new-host"
    return chosen


def test_offers_of_the_same_price_come_as_they_were_made() -> None:
    """Cards in roomier computers of one price: whatever the addresses of the objects, the first that was found comes first."""
    whole = case("rtx-3090", "llama-3.3-70b", {"quant": "q4_k_m", "min_tokens_per_s": 0.0})
    bought = next(
        offer for offer in whole.offers.every if offer.kind != "keep" and offer.least_usd is not None and not whole.may_hold(offer)
    )
    moved = [replace(bought, key=str(each)) for each in range(40)]
    backwards = sorted(moved, key=id, reverse=True)
    few = SimpleNamespace(priced_of_kind=lambda _: [bought], roomier=lambda _: backwards)
    found = [offer for offer in _by_price(replace(whole, offers=few), None, float("inf")) if offer is not bought]
    assert found == backwards


def test_the_card_stays_and_the_computer_changes() -> None:
    """235B with 22B active: 11 to 12 GB a token from host memory, 60 GB/s in a desktop, 150 GB/s on eight channels."""
    chosen = moved("rtx-4090", "qwen3-235b-a22b", quant="q4_k_m")
    host = chosen.estimate.system.boxes[0].host
    assert host
    assert [line.what for line in chosen.cost.lines if not line.owned] == [host.id]
    assert [line.what for line in chosen.cost.lines if line.owned] == ["rtx-4090"]
    assert chosen.cost.spend_usd == pytest.approx(sum(row.middle for row in host.prices if row.kind == "street"))
    assert [reason.code for reason in chosen.cost.upgrades] == ["host.roomier"]
    owned = CATALOG.host("desktop-x8x8")
    told, share = chosen.cost.upgrades[0].facts, tables_of(CATALOG).hosts.reached_share
    assert told["owned_bytes_per_s"] == pytest.approx(share * 89.6 * GB)  # two channels of DDR5-5600; what estimates take of it
    assert told["reached_bytes_per_s"] == host.reached_bytes_per_s(share) > 1.2 * owned.reached_bytes_per_s(share)


def test_what_is_owned_never_makes_the_answer_dearer() -> None:
    for card in ("rtx-3060-12gb", "rtx-3090", "rtx-4090", "rtx-5090"):
        for model in ("qwen3-235b-a22b", "gpt-oss-120b", "llama-3.3-70b"):
            with_card, without = (case(have, model, {"quant": "q4_k_m"}) for have in (card, None))
            one, other = decide(with_card).chosen, decide(without).chosen
            assert one
            assert other
            assert (counted_usd(one.cost, with_card.need) or 0) <= (counted_usd(other.cost, without.need) or 0)


CACHES: list[tuple[str | None, str, dict[str, Any]]] = [
    ("rtx-3090", "llama-3.3-70b", {"users": 4}),
    ("rtx-3090", "llama-3.3-70b", {"context": 65536, "prefer": "fastest", "budget_usd": 4000.0}),
    ("rtx-4090", "qwen3-32b", {"context": 65536, "min_tokens_per_s": 5.0}),
    (None, "qwen3-30b-a3b", {"users": 8, "context": 32768}),
]


@pytest.mark.parametrize(("have", "model", "wished"), CACHES)
def test_every_system_may_take_a_cache_of_eight_bits(have: str | None, model: str, wished: dict[str, Any]) -> None:
    """Never slower than with a cache of eight bits that lies in the devices' memory where the full one does not; that one first."""
    whole = case(have, model, wished)
    seen = set()
    for offer in list(market(whole))[::4]:
        system = whole.desk.system(offer.words, offer.host)
        options = evaluate(whole, offer)
        if isinstance(system, AdvisorError) or not options:
            continue
        full, q8, fp8 = (whole.desk.ways(system, replace(whole.work, kv_quant=kept_as)) for kept_as in ("f16", "q8_0", "fp8"))
        best = max(options, key=lambda option: (fast_enough(option.estimate, whole.need), score(option.estimate)))
        if not any(lies(way) for way in full):
            assert score(best.estimate) >= max((score(way) for way in (*q8, *fp8) if lies(way)), default=0.0), offer.words
        if any(enough(way, whole.need) for way in full):
            assert best.estimate.kv_quant == "f16", offer.words
        smaller = best.estimate.kv_quant != "f16"
        assert [change.facts for change in best.changes] == ([{"kv_quant": best.estimate.kv_quant}] if smaller else [])
        seen.add(smaller)
    assert seen == {True, False}


def test_a_cache_that_is_stated_is_kept() -> None:
    whole = case("rtx-3090", "llama-3.3-70b", {"users": 4, "kv_quant": "f16"})
    kept = {option.estimate.kv_quant for offer in list(market(whole))[::20] for option in evaluate(whole, offer)}
    assert kept == {"f16"}


@pytest.mark.parametrize(("wished", "kinds"), [({}, ("q8_0", "fp8", "int8")), ({"kv_quant": "f16"}, ("f16",))])
def test_a_second_card_takes_a_cache_of_eight_bits(wished: dict[str, Any], kinds: tuple[str, ...]) -> None:
    """Four times 8,192 tokens of 80 layers, 8 heads, 128 wide, twice: 10 GiB in 16 bits beside 40 GiB of weights, 5 GiB in 8."""
    whole = case("rtx-3090", "llama-3.3-70b", {"users": 4, **wished})
    best = one_more(whole).options[0]
    assert best.estimate.kv_quant in kinds
    assert meets(best, whole.need) is ("f16" not in kinds)
    given = recommend(whole.need, whole.desk.have, CATALOG, model=whole.desk.model, today=TODAY)
    said = [setting for setting in given.settings if setting.text.code == "setting.kv-quant"]
    if "f16" not in kinds:
        assert given.verdict.kind in ("second-gpu", "nvlink-pair")
        assert given.second_gpu
        assert given.second_gpu.answer.startswith("yes")
        assert [setting.text.facts["kv_quant"] for setting in said] == [best.estimate.kv_quant]
        assert f"--kv-quant {best.estimate.kv_quant}" in again(given.verdict.estimate, Said())  # type: ignore[arg-type]


@pytest.mark.parametrize(("have", "model", "wished"), NEEDS[1::4], ids=IDS[1::4])
def test_what_is_not_laid_would_not_have_fitted(have: str | None, model: str, wished: dict[str, Any]) -> None:
    """A lean case leaves out only what does not fit, and comes to the same verdict."""
    whole, lean = case(have, model, wished), replace(case(have, model, wished), lean=True)
    for offer in list(market(whole))[::40]:
        system = whole.desk.system(offer.words, offer.host, offer.more_ram_bytes)
        if isinstance(system, AdvisorError):
            continue
        for kv_quant in (None, *whole.desk.eight_bit_caches):
            every, able = (
                [(way.placement.engine, way.placement.strategy, score(way)) for way in each.ways(system, kv_quant) if way.fit.fits]
                for each in (whole, lean)
            )
            assert able == every, (offer.words, kv_quant)
    full, quick = decide(whole).chosen, decide(lean).chosen
    assert (full and (full.kind, score(full.estimate))) == (quick and (quick.kind, score(quick.estimate)))


@pytest.mark.parametrize("have", [None, "rtx-4090"])
def test_offers_with_other_prices_of_computers_are_those_made_anew(have: str | None) -> None:
    table = case(have, "qwen3-32b", {}).desk
    offers = all_offers(table)
    for host in CATALOG.hosts:
        for usd in (1.0, 100_000.0):
            desk = table.repriced(((host, usd),))
            rehosted = offers.rehosted(desk)
            assert rehosted
            kept, made = (
                [(each.words, each.host.id if each.host else None, each.least_usd, each.key, each.ram_bytes) for each in found.every]
                for found in (rehosted, all_offers(desk))
            )
            assert [each[:2] + each[3:] for each in kept] == [each[:2] + each[3:] for each in made]
            assert [each[2] for each in kept] == pytest.approx([each[2] for each in made])
