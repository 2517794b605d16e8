"""Ten buyers over the frozen catalog: the page that each gets, byte for byte. `pytest --golden` writes them anew."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from advisor import choose, report
from advisor.advice.recommend import recommend
from advisor.answers import Recommended
from advisor.catalog import Catalog
from advisor.need import Need, Workload

HERE = Path(__file__).parent
TODAY = date(2026, 11, 30)
BUYERS: dict[str, dict[str, Any]] = {
    "second-3090-for-a-70b": {"have": "rtx-3090", "model": "llama-3.3-70b", "quant": "q4_k_m"},
    "eight-users-on-3000-dollars": {"have": "rtx-3090", "model": "llama-3.3-70b", "quant": "q4_k_m", "users": 8, "budget": 3000.0},
    "keep-the-3090-for-an-8b": {"have": "rtx-3090", "model": "qwen3-8b", "quant": "q4_k_m"},
    "deepseek-on-a-large-mac": {"have": "mac-m3-ultra-80c 512gb", "model": "deepseek-r1", "quant": "q4_k_m"},
    "experts-to-host-memory": {"have": "rtx-4060-ti-16gb", "model": "qwen3-30b-a3b", "quant": "q4_k_m", "floor": 20.0},
    "nothing-owned-70b-under-4000": {"model": "llama-3.3-70b", "quant": "q4_k_m", "budget": 4000.0},
    "small-firm-gpt-oss-120b": {"model": "gpt-oss-120b", "users": 16, "floor": 15.0},
    "two-3090-or-one-5090": {"model": "qwen3-32b", "quant": "q4_k_m", "among": ("2x rtx-3090", "rtx-5090")},
    "fastest-for-10000": {"have": "rtx-4090", "model": "llama-3.3-70b", "quant": "q4_k_m", "prefer": "fastest", "budget": 10000.0},
    "no-model-named": {"have": "rtx-3060-12gb"},
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load(root=HERE / "catalog", user_folder=False)


def answer(buyer: dict[str, Any], catalog: Catalog) -> Recommended:
    model = catalog.model(buyer["model"]) if "model" in buyer else None
    need = Need(
        workload=Workload(users=buyer.get("users", 1)),
        model=model.id if model else None,
        quant=buyer.get("quant"),
        min_tokens_per_s=buyer.get("floor", 10.0),
        budget_usd=buyer.get("budget"),
        prefer=buyer.get("prefer", "cheapest"),
        context_stated=False,
    )
    have = choose.bind(buyer["have"], catalog, smallest_memory=True) if "have" in buyer else None
    among = tuple(choose.bind(words, catalog) for words in buyer.get("among", ()))
    given = recommend(need, have, catalog, have_words=buyer.get("have"), model=model, today=TODAY, among=among)
    return Recommended(replace(given, catalog_version="frozen"))


@pytest.mark.parametrize("name", BUYERS)
def test_page(name: str, catalog: Catalog, request: pytest.FixtureRequest) -> None:
    shown, _ = report.render("text", "recommend", answer(BUYERS[name], catalog))
    path = HERE / "golden" / f"{name}.txt"
    if request.config.getoption("--golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown)
    assert shown == path.read_text()
    assert max(len(line) for line in shown.splitlines()) <= 80
