"""Questions that buyers asked in public: the verdict is one that their outcome supports, the figures are near the published ones."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.answers import Compared, Estimated, Recommended, Refused, answer
from advisor.request import read
from advisor.speed import Estimate, Speed

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("buyers.yaml").read_text())


def value(speed: Speed | None) -> float:
    assert speed is not None
    return speed.value


def near(found: float, published: tuple[float, float]) -> None:
    figure, tolerance = published
    assert figure * (1 - tolerance) <= found <= figure * (1 + tolerance), f"{found:.1f}, published {figure}"


def test_there_are_enough_questions() -> None:
    assert len(CASES) >= 45
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert all(case["source"] and case["about"] for case in CASES)


@pytest.mark.parametrize("case", [case for case in CASES if "recommend" in case], ids=lambda case: case["id"])
def test_verdict(case: dict[str, Any]) -> None:
    given = answer(read("recommend", case["recommend"]))
    assert isinstance(given, Recommended)
    found = given.recommendation
    kind = found.verdict.kind
    assert kind in case.get("kinds", [kind]), f"{kind}: {found.verdict.answer.facts}"
    assert kind not in case.get("not", []), f"{kind}: {found.verdict.answer.facts}"
    if "second" in case:
        assert found.second_gpu is not None
        assert found.second_gpu.answer in case["second"], found.second_gpu
    if "road" in case:
        name, statuses = case["road"]
        assert next(road.status for road in found.roads if road.kind == name) in statuses
    if "setting" in case:
        assert any(case["setting"] in setting.text.code for setting in found.settings), [s.text.code for s in found.settings]
    if "chosen" in case:
        assert found.verdict.system is not None
        assert found.verdict.system.groups[0].device.id == case["chosen"]


@pytest.mark.parametrize("case", [case for case in CASES if "estimate" in case], ids=lambda case: case["id"])
def test_published_figure(case: dict[str, Any]) -> None:
    given = answer(read("estimate", case["estimate"]))
    assert isinstance(given, Estimated)
    assert given.estimate.fit.fits
    if "tokens_per_s" in case:
        near(value(given.estimate.decode), case["tokens_per_s"])
    if "first_token_s" in case:
        near(value(given.estimate.first_token_s), case["first_token_s"])


def estimates(given: Compared) -> list[Estimate | None]:
    return [None if isinstance(item, Refused) else item.estimate for item in given.items]


@pytest.mark.parametrize("case", [case for case in CASES if "compare" in case], ids=lambda case: case["id"])
def test_comparison(case: dict[str, Any]) -> None:
    given = answer(read("compare", case["compare"]))
    assert isinstance(given, Compared)
    found = estimates(given)
    for place in case.get("refuses", []):
        assert found[place] is None
    for key, figure in (("ratio", "decode"), ("prompt_ratio", "prefill"), ("sustained_ratio", "sustained")):
        if key in case:
            one, other, least, most = case[key]
            ratio = value(getattr(found[one], figure)) / value(getattr(found[other], figure))
            assert least <= ratio <= most, f"{key} {ratio:.2f}"
    for key, figure in (("order", "decode"), ("sustained_order", "sustained")):
        speeds = [value(getattr(found[place], figure)) for place in case.get(key, [])]
        assert speeds == sorted(speeds, reverse=True)
    if case.get("more_context"):
        first, second = found
        assert first and second
        assert first.fit.max_context_tokens > second.fit.max_context_tokens
