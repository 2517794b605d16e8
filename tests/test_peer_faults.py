"""What others' tools got wrong about names, figures and usable memory is right here: the cases of tests/peer_faults.yaml."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor import browse
from advisor.catalog import Catalog
from advisor.errors import AmbiguousName, UnknownName
from advisor.intake import detect
from advisor.intake.page import page_of
from advisor.platforms import usable
from advisor.units import GIB

CASES: dict[str, list[dict[str, Any]]] = yaml.safe_load((Path(__file__).parent / "peer_faults.yaml").read_text(encoding="utf-8"))
CATALOG = Catalog.load(user_folder=False)


def cases(group: str) -> Any:
    """The cases of a group, each named by its kind and report."""
    return pytest.mark.parametrize("case", CASES[group], ids=[f"{each['kind']}-{each['report'].split()[0]}" for each in CASES[group]])


@cases("pasted")
def test_pasted_output(case: dict[str, Any]) -> None:
    found = detect.detect([page_of(case["text"])], CATALOG)
    assert found.system == case["system"]
    assert sum(each.integrated for each in found.devices) == case["integrated"]
    cards = [each for each in found.devices if not each.integrated]
    if "memory_gib" in case:
        assert cards[0].memory_bytes == pytest.approx(case["memory_gib"] * GIB, rel=0.001)
    if "free_gib" in case:
        assert (cards[0].free_bytes or 0.0) / GIB == pytest.approx(case["free_gib"] or 0.0, rel=0.001)
    if "all_gib" in case:
        assert [(each.memory_bytes or 0.0) / GIB for each in found.devices] == pytest.approx(
            [gib or 0.0 for gib in case["all_gib"]], rel=0.001
        )
    if "warns" in case:
        assert any(case["warns"] in warning for warning in found.warnings)
    if "candidates" in case:
        assert cards[0].device is None
        assert set(case["candidates"]) == set(cards[0].candidates)


@cases("names")
def test_names(case: dict[str, Any]) -> None:
    if case.get("unknown"):
        with pytest.raises(UnknownName):
            CATALOG.device(case["name"])
    elif "among" in case:
        with pytest.raises(AmbiguousName) as error:
            CATALOG.device(case["name"])
        assert set(error.value.nearest) == set(case["among"])
    else:
        assert CATALOG.device(case["name"]).id == case["id"]


@cases("figures")
def test_figures(case: dict[str, Any]) -> None:
    card = browse.card(CATALOG, case["id"])
    value = next(each for each in card.figures if each.key == case["key"]).value
    assert (value[-1] if isinstance(value, list) else value) == pytest.approx(case["value"], rel=0.005)


@cases("usable")
def test_usable_memory(case: dict[str, Any]) -> None:
    found = usable(CATALOG.device(case["id"]), case["memory_gib"] * GIB, CATALOG.platforms)
    assert case["least_gib"] <= found.default_bytes / GIB <= case["most_gib"]


def test_of_every_figure_that_can_be_doubled_by_sparsity_the_check_asks() -> None:
    """The sparse H100 rate that users ask for (qoofyk/LLM_Sizing_Guide 3) is twice that of all its peers."""
    from dataclasses import replace

    from advisor import sanity

    card = CATALOG.device("h100-pcie-80gb")
    doubled = replace(card, compute=replace(card.compute, fp16_flops=1513e12, fp16_fast_flops=1513e12))
    records = {kind: dict(CATALOG.records(kind)) for kind in ("devices", "links", "hosts", "money", "bounds")}
    records["devices"]["h100-pcie-80gb"] = doubled
    said = [message for kind, each, message in sanity.problems(records) if each == "h100-pcie-80gb"]
    assert any("fp16_tflops" in message and "is it the figure with sparsity?" in message for message in said), said
