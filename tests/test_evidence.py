"""What an estimate rests on: rows of this very device or only of its kin, and published speeds that can stand beside it."""

import re

import pytest

from advisor.advice.sureness import confidence
from advisor.answers import estimate, recommend
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.choose import tried
from advisor.cli import run
from advisor.record import replace
from advisor.report.pages.common import basis_words
from advisor.ways import single_of
from advisor.why import waiting

OF_THIS = "of this hardware"
PUBLISHED = re.compile(r"nearest published: \S+ tokens/s on (?:\d+ × )?[\w.+-]+ \(\S+ .*?, (as many users as fit|\d+ users?)[,)]")


@pytest.fixture(scope="module")
def shipped() -> Catalog:
    return Catalog.load(user_folder=False)


def measured_devices(catalog: Catalog) -> set[str]:
    """Devices that took part in a usable row which times one user's generating."""
    rows = (row for row in catalog.measurements.values() if not row.unusable and row.one_user and row.decode_tokens_per_s)
    return {ran.device for row in rows for ran in row.devices if ran.device}


@pytest.mark.parametrize("device", ["arc-pro-b60-dual-48gb", "arc-b580", "arc-b570", "pro-w7800-48gb", "rx-7800-xt", "ryzen-ai-max-385"])
def test_hardware_without_a_row_is_never_called_measured_hardware(device: str, shipped: Catalog) -> None:
    found = shipped.find("devices", device).id
    assert found not in measured_devices(shipped)
    advised = recommend(have=found, model="qwen3-8b", catalog=shipped)
    kept = next(road.estimate for road in advised.roads if road.kind == "keep" and road.estimate)
    assert kept.evidence.own_rows == 0
    assert OF_THIS not in basis_words(kept.evidence)
    assert confidence(kept, advised.need, 3) != "high"


@pytest.mark.parametrize(
    ("basis", "own", "family", "sure"),
    [
        ("calibrated", 0, 2, "low"),  # none of its own and two of its kin
        ("calibrated", 0, 3, "medium"),
        ("calibrated", 1, 1, "high"),  # its own row is one of the family's
        ("physics-only", 0, 0, "low"),
        ("measured", 0, 0, "high"),  # this very run was published
    ],
)
def test_a_family_with_hardly_a_row_is_little_to_rest_on(shipped: Catalog, basis: str, own: int, family: int, sure: str) -> None:
    advised = recommend(have="rtx-3090", model="qwen3-8b", catalog=shipped)
    kept = advised.verdict.estimate
    found = replace(kept)
    vars(found)["evidence"] = replace(kept.evidence, basis=basis, own_rows=own, family_rows=family, host_rows=None)  # worked out once
    need = replace(advised.need, min_tokens_per_s=1.0, max_first_token_s=None)  # far from every interval
    assert confidence(found, need, shipped.hints.choice("enough-family-rows")) == sure


def test_own_rows_are_those_that_the_catalog_holds(shipped: Catalog) -> None:
    """Every device that the calibration counts as its own has usable rows in the catalog, and only such a one is `known`."""
    counted = {key.rsplit("/", 1)[1] for key in shipped.calibration.intervals["decode"].device_rows}
    assert counted <= measured_devices(shipped)
    one, several = shipped.calibration.own_rows("llama.cpp/nvidia/cuda/rtx-3090")
    kinds = shipped.calibration.intervals
    assert one == sum(kinds[kind].device_rows["llama.cpp/nvidia/cuda/rtx-3090"] for kind in ("decode", "decode-multi"))
    assert several == 0  # no published row of several users there


def test_an_invented_card_is_calibrated_on_its_family_at_most(tmp_path, capsys) -> None:
    card = tmp_path / "devices" / "my-card.yaml"
    card.parent.mkdir()
    card.write_text(
        "id: my-card\nname: My card\nmaker: nvidia\nkind: gpu\narchitecture: ada\nmemory_gib: 24\nmemory_type: GDDR6\n"
        "bandwidth_gb_per_s: 900\ncompute: {fp32_tflops: 60, fp16_tflops: 120}\npower_w: 300\nslots: 2\n"
        "availability: on-sale\nsources: [{fields: [memory_gib], title: invented}]\n"
    )
    assert run(("estimate", "my-card", "--model", "qwen3-8b", "--catalog", str(tmp_path))) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "calibrated on its family (architecture ada" in shown and OF_THIS not in shown


@pytest.mark.parametrize(
    ("system", "model", "users"),
    [("2x rtx-3090", "llama-3.3-70b", 1), ("rx-9070-xt", "qwen3-8b", 1), ("h100-sxm", "llama-3.1-8b", 1), ("h100-sxm", "llama-3.1-8b", 8),
     ("dgx-spark", "gpt-oss-120b", 4), ("mac-m3-ultra-80c", "deepseek-r1", 1)],
)  # fmt: skip
def test_a_published_speed_says_what_ran_and_for_as_many_users(system: str, model: str, users: int, capsys) -> None:
    run(("estimate", system, "--model", model, "--users", str(users)))
    shown = " ".join(capsys.readouterr().out.split())
    if "nearest published" in shown:
        found = PUBLISHED.search(shown)
        assert found and found[1] in (("1 user",) if users == 1 else (f"{users} users", "as many users as fit"))


def test_ids_of_rows_stay_whole(capsys) -> None:
    """An id that is cut over two lines cannot be found in the catalog."""
    run(("estimate", "2x rtx-3090", "--model", "llama-3.3-70b", "--why"))
    lines = capsys.readouterr().out.split("Nearest measurements")[1].splitlines()
    ids = [line.split()[1].rstrip(":") for line in lines if line.startswith("  - ")]
    assert ids and set(ids) <= set(Catalog.load(user_folder=False).measurements)


@pytest.mark.parametrize("spec", ["2x mac-m3-ultra-80c 512gb", "2x rtx-3090", "2x rx-7900-xtx"])
def test_several_are_held_against_the_fastest_of_one(spec: str, shipped: Catalog) -> None:
    """Of the engines left open the fastest counts, not the one that a choice would prefer."""
    several = estimate(spec, model="qwen3-14b", catalog=shipped)
    single = single_of(bind(spec, shipped), several.system.groups[0], shipped)
    ways = tried(single, several.model, None, several.kv_quant, several.workload, shipped)[0]
    assert several.one and several.one.estimate and several.one.estimate.decode
    assert several.one.estimate.decode.value == max(way.decode.value for way in ways if way.decode)


@pytest.mark.parametrize(
    "spec", ["2x rtx-3090 as tensor on llama.cpp", "2x rtx-3090 as layers on llama.cpp", "2x rtx-3090 as tensor on vllm"]
)
def test_a_command_names_no_flag_twice(spec: str, shipped: Catalog) -> None:
    for users in (1, 4):
        words = estimate(spec, model="qwen3-14b", users=users, catalog=shipped).verify.split()
        flags = [word for word in words if word.startswith("-")]
        assert len(flags) == len(set(flags)), words


def test_what_does_not_fit_does_not_load(capsys) -> None:
    run(("estimate", "rtx-3060-12gb as whole", "--model", "llama-3.3-70b"))
    assert "loads in" not in capsys.readouterr().out


def test_a_wait_is_told_from_a_hundredth_of_the_day_on() -> None:
    """Ten swaps a day: a hundredth of the day is 86.4 s for each."""
    assert waiting(86.3, "nvme") == ()
    assert [reason.code for reason in waiting(86.5, "nvme")] == ["load.wait"]


@pytest.mark.parametrize(
    ("spec", "quant", "named"),
    [("rtx-3090 on vllm", "awq-4bit", "qwen3-8b-awq-4bit"), ("mac-m3-ultra-80c on mlx", "mlx-4bit", "qwen3-8b-mlx-4bit"),
     ("rtx-3090 on vllm", "bf16", "Qwen/Qwen3-8B")],
)  # fmt: skip
def test_a_command_names_the_weights_that_were_estimated(spec: str, quant: str, named: str, shipped: Catalog) -> None:
    assert f" {named} " in estimate(spec, model="qwen3-8b", quant=quant, catalog=shipped).verify


def test_a_command_starts_all_computers(shipped: Catalog) -> None:
    one, two = (estimate(f"{n}mac-m3-ultra-80c on mlx", model="qwen3-8b", catalog=shipped).verify for n in ("", "2x "))
    assert two.startswith("mlx.launch --hostfile hosts.json mlx_lm.benchmark ") and one.startswith("mlx_lm.benchmark ")


def test_two_averages_of_one_month_a_third_apart_are_a_conflict(capsys) -> None:
    """875 (700 to 1050) and 1207 dollars for the used RTX 3090 in September 2026: 1.38 times."""
    run(("recommend", "--have", "rtx-3090", "--model", "llama-3.3-70b"))
    assert "sources disagree: $875" in " ".join(capsys.readouterr().err.split())
