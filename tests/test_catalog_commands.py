"""`advisor list`, `show`, `check`, `schema catalog`: filters, tables, figures with sources, every problem in one pass."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from advisor import browse, catalogcheck
from advisor.catalog import Catalog
from advisor.catalogschema import catalog_schema
from advisor.cli import run
from advisor.errors import BadValue, UnknownName
from advisor.report import as_text, catalog_pages
from advisor.tables import LISTED, TABLES

FROZEN = Path(__file__).parent / "catalog"
SHIPPED = Path(__file__).parent.parent / "catalog"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load(root=FROZEN, user_folder=False)


@pytest.fixture(autouse=True)
def on_the_frozen_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("advisor.catalog.shipped", lambda: FROZEN)
    monkeypatch.setattr("advisor.catalogcheck.shipped", lambda: FROZEN)


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(words)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def ids(catalog: Catalog, kind: str, *where: str, sort: str | None = None) -> list[str]:
    return [row["id"] for row in browse.listing(catalog, kind, where, sort)]


@pytest.mark.parametrize("kind", LISTED)
def test_a_list_fits_80_columns_and_has_every_record(kind: str, catalog: Catalog, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = answer(capsys, "list", kind)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert out.splitlines()[0] == f"{len(catalog.ids(kind))} {kind}."


@pytest.mark.parametrize("kind", LISTED)
def test_a_list_of_the_shipped_catalog_fits_80_columns(kind: str) -> None:
    rows = browse.listing(Catalog.load(root=SHIPPED, user_folder=False), kind)
    assert max(map(len, as_text.written(catalog_pages.list_page(kind, rows)).splitlines())) <= 80


@pytest.mark.parametrize("kind", LISTED)
def test_a_list_in_json_is_one_object_with_every_key(kind: str, catalog: Catalog, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = answer(capsys, "list", kind, "--json")
    found = json.loads(out)
    assert (code, err, out[-1]) == (0, "", "\n")
    assert list(found) == ["schema_version", "command", "kind", "records"]
    assert [row["id"] for row in found["records"]] == list(catalog.ids(kind))
    keys = [set(row) for row in found["records"]]
    assert all(each == keys[0] for each in keys)


@pytest.mark.parametrize(
    ("where", "test"),
    [
        ("memory_gib>=48", lambda row: max(row["memory_gib"]) >= 48),
        ("memory_gib < 16", lambda row: min(row["memory_gib"]) < 16),
        ("maker=nvidia", lambda row: row["maker"] == "nvidia"),
        ("maker!=NVIDIA", lambda row: row["maker"] != "nvidia"),
        ("name~3090", lambda row: "3090" in row["name"]),
        ("compute.fp16_tflops>100", lambda row: (row["compute"].get("fp16_tflops") or 0) > 100),
        ("fp16_tflops>100", lambda row: (row["compute"].get("fp16_tflops") or 0) > 100),
        ("price<1000", lambda row: row["price_usd"] is not None and row["price_usd"] < 1000),
        ("unified_memory=true", lambda row: row["unified_memory"] is True),
        ("pcie_lanes=null", lambda row: row["pcie_lanes"] is None),
        ("power_w=350", lambda row: row["power_w"] == 350),
        ("prices.condition=used", lambda row: any(price["condition"] == "used" for price in row["prices"])),
        ("memory>=48gb", lambda row: max(row["memory_gib"]) >= 48),  # a GB of memory is a GiB, as shops say it
        ("memory >= 0.046875 TB", lambda row: max(row["memory_gib"]) >= 48),
        ("bandwidth>=1TB/s", lambda row: row["bandwidth_gb_per_s"] >= 1000),
        ("price<$1,000", lambda row: row["price_usd"] is not None and row["price_usd"] < 1000),
        ("price<1k", lambda row: row["price_usd"] is not None and row["price_usd"] < 1000),
        ("power<=0.3 kW", lambda row: row["power_w"] is not None and row["power_w"] <= 300),
        ("launched>=2022", lambda row: (row["launched"] or "") >= "2022"),
        ("launched<2020-11", lambda row: row["launched"] is not None and row["launched"][:7] < "2020-11"),
        ("prices.low<=1000", lambda row: any(price["low"] <= 1000 for price in row["prices"])),
        ("links~nvlink", lambda row: any("nvlink" in each for each in row["links"])),
    ],
)
def test_a_condition_selects_what_meets_it(where: str, test: Any, catalog: Catalog) -> None:
    everything = browse.listing(catalog, "devices")
    wanted = [row["id"] for row in everything if test(row)]
    assert 0 < len(wanted) < len(everything)
    assert ids(catalog, "devices", where) == wanted


def test_all_conditions_must_hold(catalog: Catalog) -> None:
    both = ids(catalog, "devices", "memory_gib>=24", "maker=nvidia")
    assert both == [each for each in ids(catalog, "devices", "memory_gib>=24") if each in ids(catalog, "devices", "maker=nvidia")]


@pytest.mark.parametrize("kind", LISTED)
def test_every_key_can_be_asked_for_and_sorted_by(kind: str, catalog: Catalog) -> None:
    everything = ids(catalog, kind)
    for key in browse.keys_of(kind):
        assert sorted(ids(catalog, kind, sort=f"-{key}")) == everything, key
        assert set(ids(catalog, kind, f"{key}>=0")) <= set(everything), key
        assert set(ids(catalog, kind, f"{key}=null")) <= set(everything), key


@pytest.mark.parametrize(
    ("where", "test"),
    [
        ("params>=70b", lambda row: row["params"] >= 70e9),
        ("active_params<4 billion", lambda row: row["active_params"] < 4e9),
        ("max_context_tokens>=128k", lambda row: (row["max_context_tokens"] or 0) >= 131072),  # as --context 128k
        ("mixers.window_tokens<=4k", lambda row: any((each.get("window_tokens") or 1e9) <= 4096 for each in row["mixers"])),
        ("ffns.experts>=64", lambda row: any((each.get("experts") or 0) >= 64 for each in row["ffns"])),
    ],
)
def test_a_condition_on_models(where: str, test: Any, catalog: Catalog) -> None:
    everything = browse.listing(catalog, "models")
    wanted = [row["id"] for row in everything if test(row)]
    assert 0 < len(wanted) < len(everything)
    assert ids(catalog, "models", where) == wanted


def test_sorting_puts_the_unknown_last(catalog: Catalog) -> None:
    rows = browse.listing(catalog, "devices", sort="price")
    known = [row["price_usd"] for row in rows if row["price_usd"] is not None]
    assert known == sorted(known)
    assert all(row["price_usd"] is None for row in rows[len(known) :])
    assert ids(catalog, "devices", sort="-bandwidth")[0] == "h100-sxm"
    assert ids(catalog, "models", sort="params")[-1] == "deepseek-r1"
    assert ids(catalog, "devices", sort="name") == [
        row["id"] for row in sorted(browse.listing(catalog, "devices"), key=lambda row: row["name"])
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "device"), "'device' is not a kind of record"),
        (("list", "devices", "--where", "memry_gib>=3"), "devices have no key 'memry_gib'; did you mean memory_gib?"),
        (("list", "devices", "--where", "memory_gib"), "write KEY>=NUMBER, KEY=WORD or KEY~PART"),
        (("list", "devices", "--where", "memory_gib>=lots"), "'lots' is not a number"),
        (("list", "devices", "--where", "memory_gib>=nan"), "'nan' is not a number"),
        (("list", "devices", "--where", "memory_gib<inf"), "'inf' is not a number"),
        (("list", "devices", "--where", "memory>=48 parsecs"), "'48 parsecs' is not a number (it may have a unit: gib, gb, g, tib"),
        (("list", "models", "--where", "params>=70 watts"), "(it may have a unit: k, m, b, million, billion)"),
        (("list", "devices", "--sort", "prise"), "devices have no key 'prise'"),
        (("list", "devices", "--catalog", "/nowhere"), "catalog /nowhere: there is no such file or folder"),
        (("show", "rtx-309"), "the catalog has nothing called 'rtx-309': did you mean rtx-3090"),
        (("show", "H100"), "'H100' could be any of h100-pcie-80gb, h100-sxm"),
        (("schema", "catalog", "gadgets"), "no kind of catalog file is called 'gadgets'"),
    ],
)
def test_wrong_usage_is_told_plainly(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = answer(capsys, *words)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())
    assert "Traceback" not in err


def test_an_overlay_in_use_is_said_aloud(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.yaml").write_text("id: rtx-3090\npower_w: 1\n")
    code, out, err = answer(capsys, "show", "rtx-3090", "--json", "--catalog", str(tmp_path / "mine.yaml"))
    assert (code, json.loads(out)["record"]["power_w"]) == (0, 1)
    assert err == f"Note: The catalog is overlaid by {tmp_path / 'mine.yaml'}.\n"


def test_nothing_to_list_is_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "list", "devices", "--where", "memory_gib>9999") == (0, "0 devices.\n", "")


def test_show_gives_each_figure_its_source(catalog: Catalog) -> None:
    card = browse.card(catalog, "NVIDIA GeForce RTX 3090", today=date(2027, 1, 1))
    assert (card.kind, card.id) == ("devices", "rtx-3090")
    bandwidth = next(each for each in card.figures if each.key == "bandwidth_gb_per_s")
    assert (bandwidth.value, bandwidth.unit, bandwidth.seen, bandwidth.age_days) == (936.2, "GB/s", "2026-11", 61)
    assert str(bandwidth.url).startswith("https://")
    assert all(each.title for each in card.figures if isinstance(each.value, float) and each.key != "price_usd")


def test_show_marks_what_nobody_verified(catalog: Catalog) -> None:
    card = browse.card(catalog, "pcie-4-x8")
    assert {each.key for each in card.figures if each.unverified} == set(card.record["unverified"])
    assert card.record["unverified"]


def test_who_else_has_this(catalog: Catalog) -> None:
    card = browse.card(catalog, "rtx-3090")
    assert card.others
    for other in card.others:
        device = catalog.device(other)
        assert set(device.memory_options_bytes) & set(catalog.device("rtx-3090").memory_options_bytes)
        assert 0.9 <= device.bandwidth_bytes_per_s / catalog.device("rtx-3090").bandwidth_bytes_per_s <= 1.1
    assert "rtx-3090" not in card.others


@pytest.mark.parametrize("name", ["rtx-3090", "mac-m3-ultra-80c", "pcie-4-x8", "deepseek-r1", "vllm", "desktop-x8x8", "q4_k_m"])
def test_show_in_text_json_and_markdown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = answer(capsys, "show", name)
    assert (code, err) == (0, "")
    assert f"({name})" in out.splitlines()[0]
    assert max(len(line) for line in out.splitlines() if "http" not in line) <= 80
    found = json.loads(answer(capsys, "show", name, "--json")[1])
    assert (found["schema_version"], found["id"], found["record"]["id"]) == ("1.0", name, name)
    assert answer(capsys, "show", name, "--format", "markdown")[0] == 0


def test_show_says_how_it_read_a_bare_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert "is read as rtx-5090, the desktop card" in answer(capsys, "show", "5090")[1]


def test_an_id_goes_before_an_alias_of_another_kind(catalog: Catalog) -> None:
    for kind in LISTED[:-1]:
        for record_id in catalog.ids(kind):
            assert browse.find(catalog, record_id)[1].id == record_id


def test_a_name_of_no_kind_is_unknown(catalog: Catalog) -> None:
    with pytest.raises(UnknownName, match="`advisor list devices` shows what there is"):
        browse.find(catalog, "zzzz 1")
    with pytest.raises(BadValue, match="is not a kind"):
        browse.listing(catalog, "things")


def test_the_frozen_catalog_is_well_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("id: rtx-3090\npower_w: 340\n")
    assert answer(capsys, "check", str(path)) == (0, "Valid: 1 file.\n", "")
    found = json.loads(answer(capsys, "check", str(path), "--json")[1])
    assert (found["valid"], found["problems"], found["files"], found["records"]["devices"]) == (True, [], 1, 1)


DEVICE = """id: test-card
name: Test Card
maker: nvidia
kind: gpu
architecture: ampere
memory_gib: 24
memory_type: GDDR6X
bandwidth_gb_per_s: 900
compute: {fp16_tflops: 70}
availability: on-sale
sources:
  - {fields: [memory_gib, bandwidth_gb_per_s, fp16_tflops], title: a test}
"""
MODEL = """id: test-model
name: Test 8B
architecture: llama
layers: 32
hidden_size: 4096
vocab_size: 128256
mixers: [{kind: full, layers: 32, heads: 32, kv_heads: 8, head_dim: 128}]
ffns: [{kind: dense, layers: 32, width: 14336}]
published_params: 8030261248
sources:
  - {fields: [layers, hidden_size, vocab_size, mixers, ffns, published_params], title: a test}
"""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (DEVICE.replace(", fp16_tflops]", "]"), "mine.yaml:9: compute.fp16_tflops: no source names it in its fields"),
        (DEVICE.replace("memory_gib, ", "memory_gb, "), "mine.yaml:11: sources[0].fields: memory_gb is no key of a device"),
        (DEVICE + "power_w: 300\n", "mine.yaml:13: power_w: no source names it in its fields"),
        (MODEL.replace("8030261248", "8130261248"), "mine.yaml:9: published_params: 8130261248, but the shape gives 8030261248"),
        (
            MODEL.replace("mixers: [{kind: full, layers: 32", "mixers: [{kind: full, layers: 31"),
            "mine.yaml:4: layers: 32, but the mixers have 31",
        ),
    ],
)
def test_check_finds_what_is_well_written_and_wrong(written: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(written)
    assert any(str(each).startswith(said) for each in catalogcheck.check([Path("mine.yaml")]).problems)


@pytest.mark.parametrize("written", [DEVICE, MODEL], ids=["device", "model"])
def test_check_has_nothing_against_a_good_file(written: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(written)
    assert catalogcheck.check([tmp_path / "mine.yaml"]).problems == ()


def test_a_file_is_checked_upon_the_catalog_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A measurement of a card that only the user's own folder has; and a file of that folder named once more."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = tmp_path / "advisor" / "catalog" / "devices" / "test-card.yaml"
    measured = tmp_path / "measurements" / "mine.yaml"
    measured.parent.mkdir()
    measured.write_text(row().replace("device: rtx-3090", "device: test-card"))
    assert any("the catalog has no test-card" in str(each) for each in catalogcheck.check([measured]).problems)
    own.parent.mkdir(parents=True)
    own.write_text(DEVICE)
    checked = catalogcheck.check([measured])
    assert (checked.problems, checked.files, checked.records["devices"], checked.records["measurements"]) == ((), 1, 0, 1)
    assert catalogcheck.check([own]).problems == ()


def row(**changes: Any) -> str:
    fields = {
        "id": "r", "date": "2026-01", "engine": "llama.cpp", "backend": "cuda", "model": "llama-3.3-70b", "quant": "q4_k_m",
        "prompt_tokens": 512, "generate_tokens": 128, "decode_tokens_per_s": 17.0, **changes,
    }  # fmt: skip
    body = "".join(f"    {key}: {value}\n" for key, value in fields.items() if value is not None)
    return f"source: a test\nrows:\n  - devices: [{{device: rtx-3090, name: RTX 3090, count: 2}}]\n{body}"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"decode_tokens_per_s": 170}, "decode_tokens_per_s: faster than memory allows"),
        ({"prefill_tokens_per_s": 1e6}, "prefill_tokens_per_s: faster than the chip computes"),
        ({"decode_tokens_per_s": 170, "unusable": "a slip"}, None),
        ({"model": "llama-9-70b"}, "model: the catalog has no llama-9-70b"),
        ({"quant": "q4"}, "quant: the catalog has no q4"),
        ({"quant": "4bit"}, None),
    ],
)
def test_check_knows_what_hardware_cannot_do(changes: dict[str, Any], said: str | None, tmp_path: Path) -> None:
    (tmp_path / "measurements").mkdir()
    (tmp_path / "measurements" / "m.yaml").write_text(row(**changes))
    found = [f"{each.key}: {each.message}" for each in catalogcheck.check([tmp_path]).problems]
    assert (found == []) if said is None else any(each.startswith(said) for each in found)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"date": "2231-07"}, "date: 2231-07 lies in the future"),
        ({"host_layers": 90}, "host_layers: 90 of 80 layers"),
        ({"decode_tokens_per_s": 260}, "decode_tokens_per_s: 260; the memories of card and computer allow"),
        ({"device": "rtx-3099"}, "device: no device is called 'rtx-3099'"),
    ],
)
def test_check_knows_what_a_part_in_host_memory_cannot_do(changes: dict[str, Any], said: str | None, tmp_path: Path) -> None:
    fields = {
        "id": "r", "date": "2026-01", "host": "a PC", "memory_bandwidth_gb_per_s": 89.6, "memory_from": "2 channels of DDR5-5600",
        "device": "rtx-3090", "engine": "llama.cpp", "model": "llama-3.3-70b", "quant": "q4_k_m", "host_layers": 40,
        "decode_tokens_per_s": 3, **changes,
    }  # fmt: skip
    (tmp_path / "host_measurements").mkdir()
    (tmp_path / "host_measurements" / "m.yaml").write_text(json.dumps({"source": "a test", "rows": [fields]}))
    found = [f"{each.key}: {each.message}" for each in catalogcheck.check([tmp_path]).problems]
    assert (found == []) if said is None else any(said in each for each in found)


def test_check_tells_everything_in_one_pass_and_exits_4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("devices", "device", "links"):
        (tmp_path / folder).mkdir()
    (tmp_path / "devices" / "a.yaml").write_text("id: a\nnmae: x\n")
    (tmp_path / "devices" / "b.yml").write_text("id: b\n")
    (tmp_path / "links" / "c.yaml").write_text("id: d\n")
    code, out, err = answer(capsys, "check", ".")
    assert (code, out) == (4, "")
    for line in (
        "devices/a.yaml:2: nmae: unknown key (did you mean name?)",
        "devices/a.yaml:1: maker: missing",
        "devices/b.yml:1: file: not read: name it .yaml",
        "device:1: file: no kind of record has this folder (did you mean devices?)",
        "links/c.yaml:1: id: d in a file named c.yaml: they must agree",
    ):
        assert line in err.splitlines()
    found = json.loads(answer(capsys, "check", ".", "--json")[1])
    assert found["valid"] is False
    assert len(found["problems"]) == len(err.splitlines())


def test_a_file_that_cannot_be_read_hides_nothing_of_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "devices").mkdir()
    Path("devices/typo.yaml").write_text("id: typo\nnmae: x\n")
    Path("devices/test-card.yaml").write_text(DEVICE.replace("memory_gib: 24", "memory_gib: 24576") + "variant_of: typo\n")
    found = [str(each) for each in catalogcheck.check([Path()]).problems]
    assert "devices/typo.yaml:2: nmae: unknown key (did you mean name?)" in found
    assert any(each.startswith("devices/test-card.yaml:6: memory_gib: 24576 is more than any device has") for each in found)
    assert not any("variant_of" in each for each in found)


def test_check_of_a_path_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = answer(capsys, "check", "/nowhere")
    assert code == 2
    assert "/nowhere: cannot be read" in err


@pytest.mark.parametrize("kind", TABLES)
def test_every_file_of_the_frozen_catalog_meets_its_json_schema(kind: str, catalog: Catalog) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = catalog_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    table = TABLES[kind]
    for record_id in catalog.ids(kind):
        plain = catalog.plain(kind, record_id)
        whole = {kind: [plain]} if table.form == "list" else {"rows": [plain]} if table.form == "rows" else plain
        jsonschema.validate(whole, schema)


@pytest.mark.parametrize(
    "slip", [{"pwer_w": 3}, {"maker": "nvida"}, {"power_w": "3"}, {"memory_gib": []}, {"pcie_lanes": 99}, {"power_w": 0}]
)
def test_the_json_schema_refuses_what_the_decoder_refuses(slip: dict[str, Any], catalog: Catalog) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    good = catalog.plain("devices", "rtx-3090")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**good, **slip}, catalog_schema("device"))


def test_escape_codes_in_a_name_never_get_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text('id: rtx-3090\nname: "\\e[31mred"\n')
    code, out, err = answer(capsys, "list", "devices", "--catalog", str(path))
    assert (code, out) == (4, "")
    assert "holds the control character U+001B" in err
    assert "\x1b" not in err


def test_pages_say_dash_for_what_is_unknown() -> None:
    page = catalog_pages.list_page("links", [{"id": "x", "bandwidth_gb_per_s": 1, "transport": "tcp", "scope": "in-box"}])
    assert page.blocks[0].rows == (("x", "1", "–", "–", "tcp", "in-box"),)  # type: ignore[union-attr]
