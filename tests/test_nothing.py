"""Where nothing that was asked for meets the need: the headline says what came nearest of it, and what else would do."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from advisor import choose
from advisor.advice import Recommendation
from advisor.advice.recommend import recommend
from advisor.catalog import Catalog
from advisor.need import Need, Workload
from advisor.report.sentences import text

CATALOG = Catalog.load(root=Path(__file__).parent / "catalog", user_folder=False)
TODAY = date(2026, 11, 30)


def answer(have: str | None, model: str, among: tuple[str, ...] = (), **wished: Any) -> Recommendation:
    need = Need(workload=Workload(), model=model, **wished)
    owned = choose.bind(have, CATALOG, smallest_memory=True) if have else None
    systems = tuple(choose.bind(words, CATALOG) for words in among)
    return recommend(need, owned, CATALOG, have_words=have, model=CATALOG.model(model), today=TODAY, among=systems)


CASES: list[tuple[str, Recommendation, str]] = [
    ("among, too dear", answer(None, "qwen3-8b", ("rtx-5090",), budget_usd=1500.0), "verdict.nothing-among-dear-but"),
    ("kinds, too dear", answer(None, "qwen3-8b", consider=("nvlink-pair",), budget_usd=1500.0), "verdict.nothing-considered-dear-but"),
    ("among, too slow", answer("rtx-3060-12gb", "llama-3.3-70b", ("2x rtx-3060-12gb",), quant="q4_k_m"), "verdict.nothing-among-slow-but"),
    ("budget", answer(None, "llama-3.3-70b", budget_usd=300.0), "verdict.nothing-all-dear"),
]


@pytest.mark.parametrize(("name", "given", "code"), CASES, ids=[name for name, *_ in CASES])
def test_the_headline_is_true(name: str, given: Recommendation, code: str) -> None:
    verdict = given.verdict
    assert not verdict.meets_need
    assert verdict.answer.code == code
    facts = verdict.answer.facts
    assert text(verdict.answer).startswith(("None of the systems", "Nothing"))
    if code.endswith("-but"):
        kinds = [road.kind for road in given.roads if road.status == "passed-over"]
        assert facts["other_kind"] in kinds
        assert float(facts["other_tokens_per_s"]) >= given.need.min_tokens_per_s  # type: ignore[arg-type]
        relaxed = [flip for flip in given.flips if flip.wish in ("among", "consider")]
        assert [flip.kind for flip in relaxed] != []


@pytest.mark.parametrize(("name", "given", "code"), CASES, ids=[name for name, *_ in CASES])
def test_every_road_says_why(name: str, given: Recommendation, code: str) -> None:
    assert all(road.because for road in given.roads)


def test_what_is_owned_is_no_purchase() -> None:
    given = answer("rtx-3090", "qwen3-8b", ("rtx-3090", "rtx-5090"))
    assert given.verdict.kind == "keep"
    assert not [road for road in given.roads if road.kind == "one-bigger-gpu" and road.spend_usd == 0]
    assert all(road.because for road in given.roads)


def test_another_order_of_words_is_another_purchase_only_where_it_is() -> None:
    """A bridge between two owned cards is bought, and so is no copy of what is there."""
    given = answer("2x rtx-3090", "llama-3.3-70b", ("2x rtx-3090 via nvlink",), quant="q4_k_m", min_tokens_per_s=25.0)
    bought = [road for road in given.roads if road.kind == "nvlink-pair"]
    assert bought
    assert bought[0].spend_usd


def test_what_only_costs_too_much_is_nearer_than_what_is_too_slow_and_too_dear() -> None:
    """Eight users of a 70B for $3,000: what would do for more money is the nearest, when no answer misses by less."""
    given = answer("rtx-3090", "llama-3.3-70b", quant="q4_k_m", budget_usd=3000.0, min_tokens_per_s=10.0)
    assert given.verdict.meets_need  # one user: two cards do
    eight = Need(workload=Workload(users=8), model="llama-3.3-70b", quant="q4_k_m", budget_usd=3000.0, min_tokens_per_s=10.0)
    owned = choose.bind("rtx-3090", CATALOG, smallest_memory=True)
    near = recommend(eight, owned, CATALOG, have_words="rtx-3090", model=CATALOG.model("llama-3.3-70b"), today=TODAY)
    budget = next(flip for flip in near.flips if flip.wish == "budget_usd")
    assert near.verdict.spend_usd == pytest.approx(float(budget.value), abs=1.0)
    assert near.verdict.estimate is not None
    assert near.verdict.estimate.decode_per_user.value >= 10.0
