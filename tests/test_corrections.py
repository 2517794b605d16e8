"""What a saved correction of one engine says, and does not say, of the others on the same devices: in the ranks, the confidence, the words;
and bounds that hold with it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
import test_search
from test_search import CATALOG, IDS, NEEDS

from advisor import cli, correction
from advisor.advice.judge import per_user
from advisor.advice.owned import change
from advisor.correction import Correction, doubt_of
from advisor.reason import Reason
from advisor.record import replace

ASKED = ["recommend", "--have", "rtx-3090", "--model", "qwen3-32b", "--json"]


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Corrections of this test only."""
    for name in ("XDG_CONFIG_HOME", "APPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))


def save(factors: Mapping[str, float | None]) -> None:
    """Saved decode factors by key; None saves one of prompts alone."""
    rows = {key: [{"kind": "decode" if factor else "prefill", "factor": factor or 0.5, "date": "2026-03-03", "print": key}]
            for key, factor in factors.items()}  # fmt: skip
    correction.folder().mkdir(parents=True, exist_ok=True)
    correction.file().write_text(json.dumps({"schema_version": "1.0", "corrections": rows}))


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The JSON of a command that finds an answer."""
    assert cli.run(list(arguments)) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def codes(reasons: list[dict[str, Any]]) -> list[str]:
    return [each["code"] for each in reasons]


# saved -> (engine measured, devices, same devices) that speaks against one rtx-3090 on vllm
DOUBTS: list[tuple[dict[str, float | None], tuple[str, int, bool] | None]] = [
    ({}, None),
    ({"1x rtx-3090 on llama.cpp": 0.8}, ("llama.cpp", 1, True)),
    ({"1x rtx-3090 on llama.cpp": 1.2}, None),  # better than estimated speaks against nothing
    ({"1x rtx-3090 on llama.cpp": None}, None),  # prompts alone say nothing of generating
    ({"1x rtx-3090 on llama.cpp": 0.8, "1x rtx-3090 on sglang": 0.7}, ("sglang", 1, True)),  # of equals the slowest
    ({"2x rtx-3090 on vllm": 0.5, "1x rtx-3090 on llama.cpp": 0.8}, ("llama.cpp", 1, True)),  # the same devices before another number
    ({"2x rtx-3090 on vllm": 0.8, "2x rtx-3090 on llama.cpp": 0.5}, ("vllm", 2, False)),  # the same engine first
    ({"1x rtx-4090 on llama.cpp": 0.5}, None),  # of another device
    ({"rtx-3090": 0.5, "1x rtx-3090": 0.5, "x rtx-3090 on vllm": 0.5, "": 0.5}, None),  # no keys of ours
]


@pytest.mark.parametrize(("saved", "expected"), DOUBTS)
def test_what_speaks_against_an_engine_that_was_not_measured(
    saved: dict[str, float | None], expected: tuple[str, int, bool] | None
) -> None:
    held = {key: Correction(factor, None if factor else 0.5, 1, "2026-03-03") for key, factor in saved.items()}
    doubt = doubt_of(held, {"rtx-3090"}, 1, "vllm")
    assert (doubt and (doubt.engine, doubt.devices, doubt.same_devices)) == expected


def test_unlike_devices_are_doubted_by_either() -> None:
    held = {"1x rtx-3090 on vllm": Correction(0.8, None, 1, "")}
    doubt = doubt_of(held, {"rtx-3090", "rtx-4090"}, 2, "vllm")
    assert doubt is not None and not doubt.same_devices


@pytest.mark.parametrize("factor", [0.5, 0.7, 0.9])
def test_the_engine_that_was_measured_keeps_its_place(capsys: pytest.CaptureFixture[str], factor: float) -> None:
    """As far off as it, the other would not win: without corrections it does not, either."""
    plain = answer(capsys, "estimate", "rtx-3090", "--model", "qwen3-32b", "--json")
    save({"1x rtx-3090 on llama.cpp": factor})
    moved = answer(capsys, "estimate", "rtx-3090", "--model", "qwen3-32b", "--json")
    assert plain["system"]["engine"].startswith("llama.cpp") and moved["system"]["engine"] == plain["system"]["engine"]
    speeds = [each["speed"]["decode_tokens_per_s"]["value"] for each in (plain, moved)]
    assert speeds[1] == pytest.approx(factor * speeds[0], rel=1e-6)
    given = answer(capsys, *ASKED, "--min-tokens-per-s", str(0.9 * speeds[1]))
    assert given["verdict"]["kind"] == "keep" and "llama.cpp" in given["roads"][0]["estimate"]["system"]["engine"]
    assert not [code for code in codes(given["remarks"]) if code.startswith("remark.unmeasured")]


def test_a_measured_engine_of_a_lower_rank_comes_first_within_the_margin(capsys: pytest.CaptureFixture[str]) -> None:
    save({"1x rtx-3090 on vllm": 0.99})
    given = answer(capsys, "estimate", "rtx-3090", "--model", "qwen3-32b", "--json")
    assert given["system"]["engine"].startswith("vllm")


@pytest.mark.parametrize(("factor", "code"), [(0.6, "remark.unmeasured-engine-slow"), (0.75, "remark.unmeasured-engine")])
def test_advice_of_an_engine_that_was_not_measured_says_so(capsys: pytest.CaptureFixture[str], factor: float, code: str) -> None:
    """llama.cpp is estimated at some 32 tokens/s there and vLLM at some 35: 25 are wanted, so that 0.6 of the first is too slow, and so
    is 0.6 of the other; 0.75 of the other is enough.
    """
    save({"1x rtx-3090 on llama.cpp": factor})
    given = answer(capsys, *ASKED, "--min-tokens-per-s", "25")
    assert given["verdict"]["kind"] == "change-settings" and given["verdict"]["confidence"] == (
        "low" if code.endswith("slow") else "medium"
    )
    remark = given["remarks"][0]
    assert remark["code"] == code and remark["facts"]["measured_engine"] == "llama.cpp" and remark["facts"]["engine"] == "vllm"
    per_user = remark["facts"]["per_user_tokens_per_s"]
    assert remark["facts"]["left_tokens_per_s"] == pytest.approx(factor * per_user)
    assert "measure it before you rely on it" in remark["text"] and "llama.cpp" in remark["text"] and "vllm" in remark["text"]


def test_more_devices_than_were_measured_are_said_to_be_estimated(capsys: pytest.CaptureFixture[str]) -> None:
    save({"1x rtx-3090 on llama.cpp": 0.6})
    given = answer(capsys, *ASKED, "--min-tokens-per-s", "45", "--consider", "nvlink-pair")
    assert given["verdict"]["system"].startswith("2x rtx-3090") and given["verdict"]["confidence"] != "high"
    assert codes(given["remarks"])[0].startswith("remark.unmeasured-devices")


def test_an_estimate_of_what_was_not_measured_warns(capsys: pytest.CaptureFixture[str]) -> None:
    save({"1x rtx-3090 on llama.cpp": 0.6})
    for system, warned in (("rtx-3090 on vllm", True), ("2x rtx-3090", True), ("rtx-3090 on llama.cpp", False), ("rtx-4090", False)):
        given = answer(capsys, "estimate", system, "--model", "qwen3-32b", "--json")
        assert any("is only estimated" in each for each in given["warnings"]) is warned, system


def spread(devices: Iterable[str]) -> dict[str, Correction]:
    """Two of three numbers of each device with each engine, as slow and as fast as may be saved, in no order."""
    picked = Random(6)
    keys = [
        correction.key_of(device, engine, count)
        for device in devices
        for engine in ("llama.cpp", "vllm", "mlx")
        for count in (1, 2, 3, 4, 8)
    ]
    return {key: Correction(picked.choice((None, 0.1, 0.7, 1.0, 1.4, 3.0)), picked.choice((None, 0.1, 0.9, 3.0)), 1, "2026-03-03")
            for key in keys if picked.random() < 2 / 3}  # fmt: skip


@pytest.fixture(params=["every device", "one device"])
def measured(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Correction]:
    """Much that is saved, of all of the frozen catalog or of one card."""
    held = spread(CATALOG.ids("devices") if request.param == "every device" else ["rtx-3090"])
    monkeypatch.setattr(correction, "saved", lambda: held)
    return held


@pytest.mark.parametrize(("have", "model", "wished"), NEEDS[::3], ids=IDS[::3])
@pytest.mark.usefixtures("measured")
def test_bounds_hold_with_what_was_measured(have: str | None, model: str, wished: dict[str, Any]) -> None:
    test_search.test_no_estimate_passes_its_bound(have, model, wished)


@pytest.mark.parametrize(("have", "model", "wished"), NEEDS[1::3], ids=IDS[1::3])
@pytest.mark.usefixtures("measured")
def test_nothing_in_the_market_is_better_with_what_was_measured(have: str | None, model: str, wished: dict[str, Any]) -> None:
    test_search.test_nothing_in_the_market_is_better(have, model, wished)


@pytest.mark.parametrize(("have", "model", "wished"), NEEDS[2::6], ids=IDS[2::6])
@pytest.mark.usefixtures("measured")
def test_what_is_hopeless_counts_for_nothing_with_what_was_measured(have: str | None, model: str, wished: dict[str, Any]) -> None:
    test_search.test_what_is_left_out_as_hopeless_counts_for_nothing(have, model, wished)


@pytest.mark.parametrize("floor", [5.0, 10.0, 20.0, 40.0])
@pytest.mark.parametrize("model", ["qwen3-32b", "llama-3.3-70b"])
def test_one_of_several_that_was_measured_is_found(monkeypatch: pytest.MonkeyPatch, model: str, floor: float) -> None:
    """Of two cards both together may be too slow and one alone fast enough, where only it was measured; whatever bounds say of the two."""
    held = {correction.key_of("rtx-3090", engine, 2): Correction(0.1, None, 1, "") for engine in ("llama.cpp", "vllm")}
    held |= {correction.key_of("rtx-3090", engine, 1): Correction(3.0, None, 1, "") for engine in ("llama.cpp", "vllm")}
    monkeypatch.setattr(correction, "saved", lambda: held)
    lean, whole = (change(replace(test_search.case("2x rtx-3090", model, {"min_tokens_per_s": floor}), lean=is_lean), Reason("keep.unsupported"))
                   for is_lean in (True, False))  # fmt: skip
    fast = [any(per_user(option.estimate) >= floor for option in found) for found in (lean, whole)]
    assert fast[0] == fast[1]
    if model == "qwen3-32b" and floor == 40:  # one card gives about 32 tokens/s before it is corrected, two a tenth of some 50
        assert fast[1] and lean[0].estimate.system.count == 1


def test_the_most_that_is_saved_of_so_many_of_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {"1x a on vllm": 1.5, "1x a on mlx": 2.0, "2x a on exo": 0.5, "1x b on exo": None, "no key": 3.0}
    monkeypatch.setattr(correction, "saved", lambda: {key: Correction(factor, 3.0, 1, "") for key, factor in held.items()})
    desk = test_search.case(None, "qwen3-8b", {}).desk
    assert desk.lifts == {("a", 1): 2.0, ("a", 2): 1.0, ("b", 1): 1.0}
    assert desk.measured == {"a", "b"}


def test_a_curve_of_what_was_measured_and_what_was_not_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """The first point is corrected, the others are not: what a second one gains is not known."""
    asked = ["scale", "rtx-3090 on llama.cpp", "--max", "2", "--model", "llama-3.1-8b", "--json"]
    assert not answer(capsys, *asked)["warnings"]
    save({"1x rtx-3090 on llama.cpp": 0.6})
    (said,) = answer(capsys, *asked)["warnings"]
    assert said.startswith("The speed of 2x rtx-3090") and "on 1 × rtx-3090 with llama.cpp you measured 0.6× of the estimate" in said
