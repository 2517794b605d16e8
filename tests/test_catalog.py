"""The shipped catalog file by file, and the laws of reading it: laid over, lazily, from any place."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as some

from advisor.catalog import Catalog, let_go
from advisor.catalogcheck import check
from advisor.catalogfiles import laid_over
from advisor.catalogfolder import files_of
from advisor.catalogstack import overlay_paths, shipped, user_catalog
from advisor.errors import BadInput, CatalogError
from advisor.tables import TABLES
from advisor.units import GB, GIB
from advisor.yamlcheck import problems_of
from advisor.yamlfile import build
from advisor.yamltext import read

FROZEN = Path(__file__).parent / "catalog"
FILES = files_of(shipped())
RECORDS = [each for each in FILES if each.kind and TABLES[each.kind].form == "folder"]


@pytest.mark.parametrize("file", RECORDS, ids=[f"{each.kind}/{each.path.stem}" for each in RECORDS])
def test_a_record_decodes_and_bears_the_name_of_its_file(file: Any) -> None:
    record_class = TABLES[file.kind].record_class
    tree, problems = read(file.path, file.path.name)
    assert problems == []
    assert problems_of(record_class, tree, file.path.name) == []
    assert build(record_class, tree).id == file.path.stem


def test_the_whole_catalog_is_valid() -> None:
    """Every file, every id that is referred to, a source for every number, shapes that give the published parameters."""
    checked = check()
    assert [str(each) for each in checked.problems] == []
    assert checked.records["devices"] >= 136
    assert checked.records["links"] >= 50
    assert checked.records["models"] >= 120
    assert checked.records["engines"] >= 8


def test_devices_are_plausible() -> None:
    for device in Catalog.load(user_folder=False).devices.values():
        assert 5 * GB < device.bandwidth_bytes_per_s < 20_000 * GB, device.id
        assert GIB <= device.memory_options_bytes[0] <= 1024 * GIB, device.id
        assert list(device.memory_options_bytes) == sorted(device.memory_options_bytes), device.id


@pytest.fixture
def frozen() -> Catalog:
    return Catalog.load(root=FROZEN, user_folder=False)


def overlay(folder: Path, **files: str) -> Path:
    """A folder with these files; `devices__x` is devices/x.yaml."""
    for name, written in files.items():
        path = folder / f"{name.replace('__', '/').replace('_', '-')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written)
    return folder


NEW = """id: test-card
name: Test Card
maker: nvidia
kind: gpu
architecture: ampere
memory_gib: 32
memory_type: GDDR7
bandwidth_gb_per_s: 1000
compute: {fp16_tflops: 100}
availability: on-sale
sources:
  - {fields: [memory_gib, bandwidth_gb_per_s, fp16_tflops], title: a test}
"""


def test_nothing_is_decoded_before_it_is_asked_for(frozen: Catalog) -> None:
    assert "rtx-3090" in frozen.ids("devices")
    assert frozen.devices._made == {}  # type: ignore[attr-defined]
    assert frozen.device("rtx-3090").memory_options_bytes == (24 * GIB,)
    assert list(frozen.devices._made) == ["rtx-3090"]  # type: ignore[attr-defined]


def test_records_are_a_mapping(frozen: Catalog) -> None:
    assert len(frozen.devices) == len(list(frozen.devices)) == len(frozen.ids("devices"))
    assert "rtx-9999" not in frozen.devices
    with pytest.raises(KeyError):
        frozen.devices["rtx-9999"]
    assert frozen.devices["rtx-3090"] is frozen.devices["rtx-3090"]


def test_every_kind_has_its_door(frozen: Catalog) -> None:
    assert frozen.link("pcie-4-x8").id == "pcie-4-x8"
    assert frozen.model("Qwen/Qwen3-8B").id == "qwen3-8b"
    assert frozen.quant("Q4_K_M").id == "q4_k_m"
    assert frozen.engine("ollama").id == "llama.cpp"
    assert frozen.host("desktop-x8x8").id == "desktop-x8x8"
    assert frozen.storage("nvme-4").id == "nvme-4"
    assert frozen.platforms
    assert frozen.measurements
    assert frozen.money.as_of
    assert frozen.hints
    assert frozen.calibration
    assert frozen.link_calibration
    assert frozen.version.startswith("0.")
    assert frozen.prices_as_of[:2] == "20"


def test_measurements_of_a_device_or_a_model_and_no_others(frozen: Catalog) -> None:
    found = frozen.measurements_of(["rtx-3090"], "qwen3-8b")
    assert set(found) == {
        row.id for row in frozen.measurements.values() if row.model == "qwen3-8b" or any(ran.device == "rtx-3090" for ran in row.devices)
    }
    assert 0 < len(found) < len(frozen.measurements)


def test_an_overlay_changes_only_what_it_names(tmp_path: Path, frozen: Catalog) -> None:
    folder = overlay(tmp_path, devices__rtx_3090="id: rtx-3090\npower_w: 275\ncompute: {fp16_tflops: 1}\naliases: [my card]\n")
    changed = Catalog.load([folder], root=FROZEN, user_folder=False)
    mine, theirs = changed.device("my card"), frozen.device("rtx-3090")
    assert (mine.power_w, mine.compute.fp16_flops, mine.aliases) == (275.0, 1e12, ("my card",))
    assert mine.compute.fp32_flops == theirs.compute.fp32_flops
    same = {"power_w", "compute", "aliases"}
    assert {k: v for k, v in vars(mine).items() if k not in same} == {k: v for k, v in vars(theirs).items() if k not in same}
    assert changed.overlays == (str(folder),)
    assert changed.version == frozen.version


def test_an_overlay_may_be_one_file_of_any_name(tmp_path: Path) -> None:
    path = tmp_path / "whatever.yaml"
    path.write_text("id: rtx-3090\npower_w: 275\n")
    assert Catalog.load([path], root=FROZEN, user_folder=False).device("rtx-3090").power_w == 275
    path.write_text(NEW)
    assert Catalog.load([path], root=FROZEN, user_folder=False).device("test card").memory_options_bytes == (32 * GIB,)


def test_an_overlay_may_hold_several_kinds_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("devices:\n  - {id: rtx-3090, power_w: 275}\nlinks:\n  - {id: pcie-4-x8, effective_gb_per_s: 11}\n")
    catalog = Catalog.load([path], root=FROZEN, user_folder=False)
    assert (catalog.device("rtx-3090").power_w, catalog.link("pcie-4-x8").effective_bytes_per_s) == (275, 11 * GB)


def test_single_files_are_laid_over_too(tmp_path: Path, frozen: Catalog) -> None:
    folder = overlay(tmp_path, money="as_of: 2031-01-01\n", quants="quants:\n  - {id: q4_k_m, aliases: [mine]}\n")
    catalog = Catalog.load([folder], root=FROZEN, user_folder=False)
    assert catalog.money.as_of == "2031-01-01"
    assert catalog.money.electricity == frozen.money.electricity
    assert catalog.quant("mine").id == "q4_k_m"


def test_the_last_overlay_wins_and_null_takes_back(tmp_path: Path) -> None:
    first = overlay(tmp_path / "a", devices__rtx_3090="id: rtx-3090\npower_w: 275\nnoise: loud\n")
    second = overlay(tmp_path / "b", devices__rtx_3090="id: rtx-3090\npower_w: 300\nidle_power_w: null\n")
    device = Catalog.load([first, second], root=FROZEN, user_folder=False).device("rtx-3090")
    assert (device.power_w, device.noise, device.idle_power_w) == (300, "loud", None)


def test_the_order_is_user_folder_then_environment_then_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    own = overlay(tmp_path / "config" / "advisor" / "catalog", devices__rtx_3090="id: rtx-3090\npower_w: 1\nnoise: own\n")
    env = overlay(tmp_path / "env", devices__rtx_3090="id: rtx-3090\npower_w: 2\nslots: 7\n")
    flag = overlay(tmp_path / "flag", devices__rtx_3090="id: rtx-3090\npower_w: 3\n")
    monkeypatch.setenv("ADVISOR_CATALOG", str(env))
    assert overlay_paths([flag]) == (own, env, flag)
    device = Catalog.load([flag], root=FROZEN).device("rtx-3090")
    assert (device.power_w, device.slots, device.noise) == (3, 7, "own")


def test_the_user_folder_is_clicks() -> None:
    import click

    assert user_catalog() == Path(click.get_app_dir("advisor")) / "catalog"


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="nowhere: there is no such file or folder"):
        Catalog.load([tmp_path / "nowhere"], root=FROZEN)
    monkeypatch.setenv("ADVISOR_CATALOG", str(tmp_path / "gone"))
    with pytest.raises(BadInput, match="gone: there is no such file or folder"):
        Catalog.load(root=FROZEN)


BROKEN = [
    ({"devices__rtx_3090": "id: rtx-3090\npwer_w: 3\n"}, ["devices/rtx-3090.yaml:2: pwer_w: unknown key (did you mean power_w?)"]),
    ({"devices__rtx_3090": "id: rtx-3080\n"}, ["devices/rtx-3090.yaml:1: id: rtx-3080 in a file named rtx-3090.yaml: they must agree"]),
    ({"devices__x": "name: x\n"}, ["devices/x.yaml:1: id: missing"]),
    ({"devices__x": ""}, ["devices/x.yaml:1: file: empty"]),
    ({"devices__x": "[1]"}, ["devices/x.yaml:1: file: expected keys and values"]),
    ({"devices__x": "id: ../../etc\n"}, ["an id is lower-case letters, digits, dots, dashes and underscores"]),
    ({"devices__x": "id: ｘ\n"}, ["an id is lower-case letters, digits, dots, dashes and underscores"]),
    ({"devices__test_card": NEW + "links: [nvlink9]\n"}, ["test-card.yaml:13: links: no link is called 'nvlink9'"]),
    (
        {"devices__rtx_3091": "id: rtx-3091\npower_w: 3\n"},
        ["missing in the new device rtx-3091 (did you mean rtx-3090?)", "maker: missing"],
    ),
    ({"quants": "quants: 3\n"}, ["quants.yaml:1: quants: unknown key"]),
    ({"quants": "quants: [3]\n"}, ["quants.yaml:1: quants[0]: expected keys and values"]),
    ({"measurements__m": "source: x\n"}, ["m.yaml:1: rows: expected a list of rows"]),
    ({"measurements__m": "source: x\nrows: [3]\n"}, ["m.yaml:2: rows[0]: expected keys and values"]),
    (
        {"thing": "a: 1\nb: 2\n"},
        ["thing.yaml:1: file: cannot tell what this is: a device has maker and compute, a link has scope and transport, "],
    ),
    ({"devices__a": "id: a\n\tx", "links__b": "id: b\npower: 3\n"}, ["devices/a.yaml:2:", "links/b.yaml:2: power: unknown key"]),
]


@pytest.mark.parametrize(("files", "said"), BROKEN, ids=[next(iter(files)) + f"-{n}" for n, (files, _) in enumerate(BROKEN)])
def test_a_broken_overlay_is_told_with_file_and_line(
    files: dict[str, str], said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CatalogError) as error:
        Catalog.load([overlay(Path(), **files)], root=FROZEN, user_folder=False)
    assert error.value.exit_code == 4
    for part in said:
        assert any(part in problem for problem in error.value.problems), error.value.problems


def test_two_records_of_one_id_in_one_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("devices:\n  - {id: rtx-3090, power_w: 275}\n  - {id: rtx-3090, power_w: 276}\n")
    with pytest.raises(CatalogError, match=r"mine.yaml:3: id: rtx-3090 is also in .*mine.yaml, line 2"):
        Catalog.load([path], root=FROZEN, user_folder=False)


def test_an_empty_folder_is_no_catalog(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no catalog here"):
        Catalog.load(root=tmp_path, user_folder=False)
    assert Catalog.load([tmp_path], root=FROZEN, user_folder=False).device("rtx-3090").id == "rtx-3090"


PLAIN = some.recursive(
    some.none() | some.integers() | some.text(max_size=3),
    lambda inner: some.dictionaries(some.sampled_from("abcd"), inner, max_size=4),
    max_leaves=8,
)
TREES = some.dictionaries(some.sampled_from("abcd"), PLAIN, max_size=4)


@for_all(TREES, TREES, TREES)
@settings(max_examples=150, deadline=None)
def test_laws_of_laying_over(below: dict[str, Any], patch: dict[str, Any], top: dict[str, Any]) -> None:
    assert laid_over(below, {}) == below
    assert laid_over(below, below) == below
    assert laid_over(laid_over(below, patch), patch) == laid_over(below, patch)
    assert set(laid_over(below, patch)) == set(below) | set(patch)
    assert laid_over(laid_over(below, patch), top) == laid_over(below, laid_over(patch, top)) or _loses_a_mapping(patch, top)


def _loses_a_mapping(patch: Any, top: Any) -> bool:
    """Whether a mapping is first replaced by a plain value and then laid over again: then order matters, rightly."""
    return any(
        isinstance(top[key], dict) and (not isinstance(patch[key], dict) or _loses_a_mapping(patch[key], top[key]))
        for key in set(patch) & set(top)
    )


@pytest.mark.parametrize(("file", "name"), [("choices", "host-reserve-gib"), ("money", "years-of-use"), ("hints", "worth-factor")])
def test_an_overlay_changes_one_chosen_number_and_keeps_the_others(tmp_path: Path, file: str, name: str) -> None:
    (tmp_path / f"{file}.yaml").write_text(f"choices:\n  - {{id: {name}, value: 2.5, reason: mine}}\n")
    below, above = (getattr(Catalog.load(overlays, user_folder=False), file) for overlays in ([], [tmp_path]))
    assert {each.id for each in above.choices} == {each.id for each in below.choices}
    assert {each.id for each in above.choices if each not in below.choices} == {name}
    assert above.choice(name) == 2.5


@pytest.mark.parametrize(
    ("name", "written", "said"),
    [
        ("calibration", "terms: {weights_share: {factors: {backend: {nvidia/cuda: 0}}}}", "expected more than 0, got 0"),
        ("calibration", "terms: {weights_share: {factors: {backend: {nvidia/cuda: -1}}}}", "expected more than 0, got -1"),
        ("calibration", "intervals: {decode: {high: {device: 1000000}}}", "expected at most 5, got 1e+06"),
        ("calibration", "intervals: {decode: {low: {device: 0.1}}}", "expected at most 0, got 0.1"),
        ("calibration", "intervals: {decode: {spread: {nvidia/cuda: 0}}}", "expected more than 0, got 0"),
        ("engines/vllm", "id: vllm\nkv_types: {f16: 0}", "kv_types.f16: expected more than 0, got 0"),
        ("models/qwen3-8b", "id: qwen3-8b\nnative_quant: 7", "native_quant: expected text, got the number 7"),
        (
            "models/qwen3-8b",
            "id: qwen3-8b\nmixers: [{kind: full, layers: 36, heads: 32, head_dim: 128}]",
            "full attention without kv_heads",
        ),
        (
            "models/qwen3-8b",
            "id: qwen3-8b\nmixers: [{kind: none, layers: 1}, {kind: sliding, layers: 36, kv_heads: 8, head_dim: 128}]",
            "mixers[1]: sliding attention without heads",
        ),
        ("host_calibration", "decode_log_error: 1000", "expected at most 5, got 1000"),
        ("devices/rtx-3090", "id: rtx-3090\nlinks: 7", "links: expected a list, got the number 7"),
        ("devices/rtx-3090", "id: rtx-3090\nlinks: [[7], {a: b}]", "links[0]: expected text, got a list of 1"),
    ],
)
def test_what_no_estimate_could_bear_is_refused(name: str, written: str, said: str, tmp_path: Path) -> None:
    """Figures that would be divided by, or raised to a power, and names that are none."""
    path = tmp_path / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(written)
    with pytest.raises(CatalogError) as refused:
        Catalog.load([tmp_path], root=FROZEN, user_folder=False)
    assert any(said in problem for problem in refused.value.problems)


def test_threads_that_share_a_catalog_keep_what_they_found() -> None:
    """One may let go of what another has just kept, or is about to let go of itself."""
    catalog = Catalog.load(root=FROZEN, user_folder=False)
    assert catalog.once("sums", 1, "a", lambda: 1 + catalog.once("sums", 1, "b", lambda: 1)) == 2
    kept = {1: "one", 2: "two"}
    let_go(kept, 2)
    assert kept == {2: "two"}
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            asked = [number % 5 for number in range(4000)]
            assert list(threads.map(lambda number: catalog.once("squares", 2, number, lambda: number**2), asked)) == [n**2 for n in asked]
    finally:
        sys.setswitchinterval(usual)
