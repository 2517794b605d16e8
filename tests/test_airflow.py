"""Cards without a fan: said where they are bought or asked for outside of a server, and nothing else moves."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_said import given

from advisor import choose
from advisor.airflow import fanless
from advisor.catalog import Catalog
from advisor.report.sentences import text
from advisor.system import System

MODEL = ("--model", "llama-3.3-70b")
ANSWER = dict[str, Any]


def remarked(answer: ANSWER) -> list[ANSWER]:
    return [each["facts"] for each in answer["remarks"] if each["code"].startswith("remark.passive-cooling")]


def warned(answer: ANSWER) -> bool:
    return any("has no fan" in each for each in answer["warnings"])


def bound(catalog: Catalog, words: str, host: str) -> System:
    """The cards in a computer of that kind."""
    return choose.bind(words, catalog, host=catalog.hosts[host])


def recooled(system: System, cooling: str | None) -> System:
    """The same cards, cooled in another way."""
    boxes = (
        replace(box, groups=tuple(replace(each, device=replace(each.device, cooling=cooling)) for each in box.groups))
        for box in system.boxes
    )
    return replace(system, boxes=tuple(boxes))


@pytest.mark.parametrize("host", ["desktop-x8x8", "desktop-ddr4-x8x8", "workstation-xeon-w", "mining-rig", "epyc-sp3", "epyc-sp5"])
def test_a_passive_card_needs_a_fan_where_nothing_blows_through_it(catalog: Catalog, host: str) -> None:
    """Desktops, workstations and open frames: their fans do not push air through a card."""
    (claim,) = fanless(bound(catalog, "2x mi100-32gb", host))
    assert claim.code == "remark.passive-cooling-blind"
    assert claim.facts["cards"] == 2
    assert claim.facts["each_w"] == 300  # the data sheet of one
    assert claim.facts["host_id"] == host
    assert claim.sources
    assert "300 W" in text(claim)


def test_a_server_blows_through_its_cards(catalog: Catalog) -> None:
    assert not fanless(bound(catalog, "2x mi100-32gb", "server-8-gpu"))


@pytest.mark.parametrize(("cooling", "told"), [("passive", True), ("active", False), ("liquid", False), (None, False)])
def test_only_what_is_known_to_be_passive_is_said(catalog: Catalog, cooling: str | None, told: bool) -> None:
    assert bool(fanless(recooled(bound(catalog, "2x rtx-3090", "desktop-x8x8"), cooling))) is told


def test_a_module_has_its_own_cooling_in_its_own_computer(catalog: Catalog) -> None:
    assert not fanless(recooled(choose.bind("8x h100-sxm", catalog), "passive"))


def test_each_kind_of_card_is_told_once_with_its_number_over_all_boxes(catalog: Catalog) -> None:
    claims = fanless(choose.bind("2x (mi100-32gb + tesla-p40)", catalog))
    assert [(claim.facts["device_id"], claim.facts["cards"]) for claim in claims] == [("mi100-32gb", 2), ("tesla-p40", 2)]


def test_of_what_is_owned_in_part_only_the_rest_is_bought(catalog: Catalog) -> None:
    system = choose.bind("2x mi100-32gb", catalog)
    assert [claim.facts["cards"] for claim in fanless(system, {"mi100-32gb": 1, "desktop-x8x8": 1})] == [1]
    assert not fanless(system, {"desktop-x8x8": 1})


def test_a_processors_plug_is_told_where_a_source_says_so(catalog: Catalog) -> None:
    """NVIDIA's P40 brief: CPU 8-pin; AMD's MI100 takes two of the PCIe kind."""
    codes = [claim.code for words in ("tesla-p40", "mi100-32gb") for claim in fanless(choose.bind(words, catalog))]
    assert codes == ["remark.passive-cooling-eps-blind", "remark.passive-cooling-blind"]
    (claim,) = fanless(choose.bind("tesla-p40", catalog))
    assert "EPS" in text(claim)


def test_a_card_that_drives_no_screen_is_told(catalog: Catalog) -> None:
    """TechPowerUp: the A40 has three DisplayPorts, the P40 none."""
    said = [text(claim) for words in ("a40", "tesla-p40") for claim in fanless(choose.bind(words, catalog))]
    assert ["no screen" in each for each in said] == [False, True]


@pytest.mark.parametrize(
    ("words", "host", "told"),
    [("2x tesla-p40", "desktop-x8x8", True), ("2x a40", "server-8-gpu", False), ("2x rtx-3090", "desktop-x8x8", False)],
)
def test_estimate_and_compare_warn_of_it(words: str, host: str, told: bool) -> None:
    assert warned(given("estimate", words, "--host", host, *MODEL)) is told
    compared = given("compare", words, "rtx-4090", "--host", host, *MODEL)
    assert [warned(each) for each in compared["estimates"]] == [told, False]


def test_a_purchase_is_remarked_and_what_is_owned_is_not() -> None:
    bought = given("recommend", "--among", "2x mi100-32gb", *MODEL)
    assert bought["verdict"]["spend_usd"] > 0
    assert [(each["device_id"], each["cards"]) for each in remarked(bought)] == [("mi100-32gb", 2)]
    one_more = given("recommend", "--have", "mi100-32gb", "--among", "2x mi100-32gb", *MODEL)
    assert [each["cards"] for each in remarked(one_more)] == [1]
    kept = given("recommend", "--have", "2x mi100-32gb", *MODEL)
    assert kept["verdict"]["spend_usd"] == 0
    assert not remarked(kept)


def test_no_remark_on_cards_with_fans_or_in_a_server() -> None:
    assert not remarked(given("recommend", "--among", "2x rtx-3090", *MODEL))
    assert not remarked(given("recommend", "--among", "2x mi100-32gb", "--host", "server-8-gpu", *MODEL))


def test_what_little_more_money_would_buy_is_remarked_too() -> None:
    """The cards of the verdict have fans and spill; those that hold it all, for $400 more, have none."""
    prices = ("--price", "rx-7900-xt=700", "--price", "mi100-32gb=900")
    answer = given("recommend", "--among", "2x rx-7900-xt", "--among", "2x mi100-32gb", "--model", "gpt-oss-120b", *prices)
    assert answer["verdict"]["system"].startswith("2x rx-7900-xt")
    assert "remark.little-more" in [each["code"] for each in answer["remarks"]]
    assert [each["device_id"] for each in remarked(answer)] == ["mi100-32gb"]


def test_the_verdict_does_not_move(tmp_path: Path) -> None:
    """How a card is cooled enters neither an estimate nor a bill."""
    overlay = tmp_path / "cooled.yaml"
    overlay.write_text("devices:\n  - {id: mi100-32gb, cooling: active, power_plug: none, display_ports: 4}\n", encoding="utf-8")
    need = ("recommend", "--model", "gpt-oss-120b", "--min-tokens-per-s", "60")
    before, after = given(*need), given(*need, "--catalog", str(overlay))
    assert before["verdict"] == after["verdict"]
    shown = [[(road["kind"], road["system"], road["spend_usd"]) for road in each["roads"]] for each in (before, after)]
    assert shown[0] == shown[1]
    assert before["flips"] == after["flips"]


def test_passive_is_never_guessed(catalog: Catalog) -> None:
    """Cooling, plug and airflow each have a source that names them; only cards of a slot are called passive."""
    for record in (*catalog.devices.values(), *catalog.hosts.values()):
        named = {field for source in record.sources for field in source.fields}
        for key in ("cooling", "power_plug", "airflow"):
            assert not getattr(record, key, None) or key in named, f"{record.id}: {key}"
    passive = [device for device in catalog.devices.values() if device.cooling == "passive"]
    assert all(device.kind == "gpu" and device.mount == "slot" for device in passive)


# NVIDIA's product briefs (M40, P40, P100, T4, H100 PCIe), Lenovo's list of passive GPUs (V100, A100, A40, A30, A2, MI210), AMD (MI100)
@pytest.mark.parametrize(
    "device_id",
    [
        "tesla-m40-24gb",
        "tesla-p40",
        "tesla-p100-16gb",
        "tesla-t4",
        "tesla-v100-32gb-pcie",
        "a40-48gb",
        "mi50-32gb",
        "mi100-32gb",
        "l40s-48gb",
    ],
)
def test_server_cards_of_the_catalog_are_passive(catalog: Catalog, device_id: str) -> None:
    assert catalog.device(device_id).cooling == "passive"
