"""`advisor accuracy`: errors counted by hand, groups, scatter of repeated runs, filters, the page in its three forms."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from advisor import accuracy
from advisor.accuracy import Accuracy, Checked, Refused
from advisor.calibration import KeptOut
from advisor.cli import run
from advisor.errors import BadValue
from advisor.measurement import Figure, Measurement, Ran, figures_of
from advisor.repeated import Repeated, repeated
from advisor.report.accuracy_page import accuracy_object, accuracy_page
from advisor.report.as_text import written
from advisor.speed import Speed

FROZEN = Path(__file__).parent / "catalog"
ROW = Measurement(id="row", source="somebody", where="table 1", devices=(Ran(device="rtx-3090", name="3090"),), engine="llama.cpp",
                  model="qwen3-8b", quant="q4_k_m", decode_tokens_per_s=100.0)  # fmt: skip


def checked(ratio: float, kind: str = "decode", maker: str = "nvidia", low: float = 0.8, high: float = 1.2) -> Checked:
    """100 tokens/s measured, `ratio` times as many estimated, in an interval from `low` to `high` times the estimate."""
    figure = Figure(ROW, kind, "decode", 100.0, 1, 256, 0, 128)
    labels = {
        "kind": kind,
        "maker": maker,
        "engine": "llama.cpp",
        "strategy": "whole",
        "model_kind": "dense",
        "model": "qwen3-8b",
        "quant": "q4_k_m",
    }
    return Checked(figure, "rtx-3090", Speed(100 * ratio, 100 * ratio * low, 100 * ratio * high), labels)


def test_errors_of_a_group_by_hand() -> None:
    # errors 0, 0.1, 0.28, 0.5: the median is (0.1 + 0.28) / 2, three of four within 0.3; 100 lies in 80-120 and 72-108, but not in 102-154
    # and 40-60
    [group] = accuracy._groups([checked(1.0), checked(0.9), checked(1.28), checked(0.5)])
    assert (group.name, group.rows, group.within_30_percent, group.inside_interval) == ("decode", 4, 0.75, 0.5)
    assert group.median_abs_error == pytest.approx(0.19)


@pytest.mark.parametrize(("low", "high", "inside"), [(1.0, 1.1, True), (0.9, 1.0, True), (1.01, 1.1, False), (0.9, 0.99, False)])
def test_an_interval_holds_its_ends(low: float, high: float, inside: bool) -> None:
    assert checked(1.0, low=low, high=high).inside is inside


def test_a_kind_is_told_apart_by_what_has_three_figures_or_more() -> None:
    found = [checked(1.0) for _ in range(3)] + [checked(1.5, maker="amd") for _ in range(2)] + [checked(2.0, "prefill")]
    groups = {group.name: group.rows for group in accuracy._groups(found)}
    assert groups == {"decode": 5, "decode nvidia": 3, "prefill": 1}  # two of AMD say nothing; one maker of prompts is all of them


def test_a_measurement_against_the_others_of_its_question() -> None:
    # 100, 110 and 130 tokens/s of one question: each against the median of the other two: 120 / 100, 115 / 110, 105 / 130
    figures = [Figure(ROW, "decode", "decode", speed, 1, 256, 0, 128) for speed in (100.0, 110.0, 130.0)]
    alone = Figure(ROW, "prefill", "prefill", 2000.0, 1, 768, 512, 1)
    [found] = repeated([*figures, alone])
    assert (found.kind, found.rows) == ("decode", 3)
    assert found.median_abs_error == pytest.approx(1 - 105 / 130)  # of 0.2, 0.045 and 0.192


def row(**given: object) -> Measurement:
    return Measurement(**{"id": "row", "source": "somebody", "devices": ROW.devices, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        ({"decode_tokens_per_s": 50.0}, [("decode", "decode", 1, 256)]),  # 128 tokens, in a block of 256
        ({"decode_tokens_per_s": 50.0, "filled_tokens": 4096}, [("decode", "decode", 1, 4352)]),  # 4,096 + 128 in 17 blocks
        ({"decode_tokens_per_s": 50.0, "users": 8, "sustained": True}, [("served", "sustained", 8, 256)]),
        ({"decode_tokens_per_s": 50.0, "as_many_users_as_fit": True}, [("served", "decode", None, 256)]),
        ({"decode_tokens_per_s": 50.0, "devices": (Ran(device="rtx-3090", name="3090", count=2),)}, [("decode-multi", "decode", 1, 256)]),
        ({"prefill_tokens_per_s": 900.0, "prompt_tokens": 256}, [("prefill", "prefill", 1, 512)]),
        ({"prefill_tokens_per_s": 900.0, "prompt_tokens": 255}, []),  # too short to fill a chip
        ({"prefill_tokens_per_s": 900.0, "prompt_tokens": 512, "users": 2}, []),
        ({"prefill_tokens_per_s": 900.0, "prompt_tokens": 512, "prefill_comparable": False}, []),
        ({"decode_tokens_per_s": 50.0, "unusable": "an average"}, []),
    ],
)
def test_what_a_row_can_be_compared_in(given: dict[str, object], kinds: list[tuple[object, ...]]) -> None:
    found = figures_of(row(**given))
    assert [(each.kind, each.estimated_by, each.users, each.context_tokens) for each in found] == kinds


def test_the_words_of_a_row() -> None:
    two = Ran(device="rtx-3090", name="3090", count=2)
    mac = Ran(device="mac-m4-pro-20c", name="M4 Pro", memory_bytes=24 * 1024.0**3)
    assert accuracy.system_words(ROW) == "rtx-3090 on llama.cpp"
    assert accuracy.system_words(row(devices=(mac,), engine="mlx", backend="metal")) == "mac-m4-pro-20c 24gb on mlx/metal"
    split = row(devices=(two,), engine="vllm", link="nvlink", strategy="tensor")
    assert accuracy.system_words(split) == "2x rtx-3090 via nvlink as tensor on vllm"
    alike = row(devices=(two,), engine="vllm", link="nvlink", strategy="replicas")
    assert accuracy.system_words(alike) == "2x rtx-3090 as replicas on vllm"  # replicas do not speak


FOUND = Accuracy(
    groups=tuple(accuracy._groups([checked(1.0), checked(1.0), checked(1.05), checked(1.5, maker="amd")])),
    worst=(checked(1.5, maker="amd"),),
    refused=(Refused(Figure(ROW, "decode", "decode", 9.0, 1, 256, 0, 128), "does not fit"),) * 2,
    compared=4,
    kept_out={"decode": {way: KeptOut(median_share=share, within_30_percent_share=0.9, inside_interval_share=0.8)
                         for way, share in (("rows", 0.061), ("devices", 0.125), ("sources", 0.2))},
              "unknown": {}},
    repeated=(Repeated("decode", 2, 0.02),),
)  # fmt: skip


def test_the_page_says_every_share_once() -> None:
    page = accuracy_page(FOUND)
    summary, unseen, families, worst, refused = page.blocks
    assert page.headline == "4 published figures against the estimate."
    # errors 0, 0, 0.05 and 0.5: the median is 0.025; below a tenth one decimal is shown
    assert summary.rows == (("one device, one user", "4", "2.5 %", "75 %", "75 %"),)
    assert unseen.rows == (("one device, one user", "6.1 %", "12 %", "20 %", "2.0 %"),)
    assert families.rows == (("decode nvidia", "3", "0.0 %", "100 %", "100 %"),)
    assert worst.rows == (("1.50×", "decode", "rtx-3090, qwen3-8b q4_k_m", "150, 100"),)
    assert refused.lines == ("row: does not fit",)


def test_a_page_of_one_and_of_none() -> None:
    one = Accuracy(tuple(accuracy._groups([checked(1.0)])), (checked(1.0),), (), 1, {}, ())
    assert accuracy_page(one).headline == "1 published figure against the estimate."
    none = accuracy_page(Accuracy((), (), (), 0, {}, ()))
    assert (none.headline, none.blocks) == ("0 published figures against the estimate.", ())


def test_the_object_has_what_the_page_has() -> None:
    found = accuracy_object(FOUND)
    assert found["refused"] == [{"id": "row", "kind": "decode", "why": "does not fit"}] * 2
    assert found["kept_out"]["decode"]["devices"]["median_share"] == 0.125
    assert found["worst"][0] == {
        "id": "row", "kind": "decode", "system": "rtx-3090", "model": "qwen3-8b", "quant": "q4_k_m", "users": 1, "prompt_tokens": 0,
        "measured_tokens_per_s": 100.0, "estimated_tokens_per_s": 150.0, "low_tokens_per_s": pytest.approx(120),
        "high_tokens_per_s": pytest.approx(180), "ratio": 1.5, "source": "somebody:table 1",
    }  # fmt: skip


def test_each_table_fits_80_columns() -> None:
    kinds = (*accuracy.KIND_ORDER, *(f"{kind} hybrid mixture" for kind in accuracy.KIND_ORDER))
    groups = tuple(accuracy._group(kind, [checked(0.5)] * 300) for kind in kinds)
    apart = {
        way: KeptOut(median_share=0.25, within_30_percent_share=0.9, inside_interval_share=0.8) for way in ("rows", "devices", "sources")
    }
    worst = tuple(
        replace(checked(0.01, "prefill-multi"), system="2x rtx-pro-6000-blackwell via pcie-5-x16 as tensor on vllm/cuda") for _ in range(3)
    )
    found = Accuracy(groups, worst, (), 1000, dict.fromkeys(accuracy.KIND_ORDER, apart), ())
    assert max(map(len, written(accuracy_page(found)).splitlines())) <= 80


@pytest.mark.parametrize("text", ["maker", "colour=red", "=nvidia"])
def test_a_filter_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match="is not KEY=VALUE with a KEY of: kind, maker"):
        accuracy.wanted([text])


def test_filters_narrow_together_in_any_case() -> None:
    kept = accuracy.wanted(["maker=NVIDIA", " kind = decode"])
    assert [kept(each) for each in (checked(1.0), checked(1.0, maker="amd"), checked(1.0, "prefill"))] == [True, False, False]


def test_the_command_over_the_frozen_catalog(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("advisor.catalog.shipped", lambda: FROZEN)
    where = ("--where", "device=rtx-pro-6000-blackwell")
    assert run(("accuracy", *where, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert 0 < found["compared"] <= accuracy.WORST_SHOWN  # so few that each is shown
    assert (found["refused"], found["kept_out"]) == ([], {})  # of all figures, not of some
    for kind in {each["kind"] for each in found["worst"]}:
        mine = [each for each in found["worst"] if each["kind"] == kind]
        assert all(each["ratio"] == each["estimated_tokens_per_s"] / each["measured_tokens_per_s"] for each in mine)
        group = next(each for each in found["groups"] if each["name"] == kind)
        assert group["median_abs_error"] == pytest.approx(median(abs(each["ratio"] - 1) for each in mine))
        inside = [each["low_tokens_per_s"] <= each["measured_tokens_per_s"] <= each["high_tokens_per_s"] for each in mine]
        assert group["inside_interval"] == pytest.approx(sum(inside) / len(inside))
    for form in ("text", "markdown"):
        assert run(("accuracy", *where, "--format", form)) == 0
        shown = capsys.readouterr().out
        assert shown.startswith(f"{found['compared']} published figure") or f"**{found['compared']} published figure" in shown
        assert max(map(len, shown.splitlines())) <= 80 or form == "markdown"
    assert run(("accuracy", "--where", "colour=red")) == 2
    assert "--where: 'colour=red' is not KEY=VALUE" in capsys.readouterr().err
