"""`advisor add`: a commented file that the catalog takes; nothing that a user wrote is overwritten, whatever happens."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as some

from advisor import drafts, safewrite
from advisor.billed import link_lines, unpriced_parts
from advisor.catalog import Catalog
from advisor.cli import run
from advisor.errors import BadInput, BadValue
from advisor.tables import TABLES
from advisor.yamlcheck import decode

FROZEN = Path(__file__).parent / "catalog"
CARD = (
    "device", "--name", "GeForce RTX 9090", "--id", "rtx-9090", "--maker", "nvidia", "--kind", "gpu", "--architecture", "blackwell",
    "--memory-gib", "48", "--memory-type", "GDDR7", "--bandwidth-gb-per-s", "2000", "--fp16-tflops", "300", "--availability", "on-sale",
    "--source", "the maker's page", "--source-url", "https://example.com/9090",
)  # fmt: skip
LINK = (
    "link", "--name", "Fast cable", "--kind", "ethernet", "--scope", "between-boxes", "--transport", "rdma", "--bandwidth-gb-per-s", "12.5",
    "--shape", "switch", "--source", "x",
)  # fmt: skip
MODEL = (
    "model", "--name", "Foo 8B", "--architecture", "llama", "--layers", "32", "--hidden-size", "4096", "--vocab-size", "128256",
    "--heads", "32", "--kv-heads", "8", "--head-dim", "128", "--ffn-width", "14336", "--source", "its config.json",
)  # fmt: skip
HOST = (
    "host", "--name", "My tower", "--slot-generation", "4", "--slot-lanes", "8,8", "--max-cards", "2", "--power-supply-w", "1000",
    "--base-power-w", "100", "--memory-gib", "64", "--memory-channels", "2", "--memory-type", "DDR5-5600",
    "--memory-bandwidth-gb-per-s", "89.6", "--source", "its manual",
)  # fmt: skip


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own catalog folder, still absent; the shipped catalog is the frozen one."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for module in ("catalog", "catalogcheck", "catalogstack"):
        monkeypatch.setattr(f"advisor.{module}.shipped", lambda: FROZEN)
    return tmp_path / "advisor" / "catalog"


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(("add", *words))
    printed = capsys.readouterr()
    return code, printed.out, " ".join(printed.err.split())


@pytest.mark.parametrize(
    ("words", "kind", "record_id"),
    [(CARD, "devices", "rtx-9090"), (LINK, "links", "fast-cable"), (MODEL, "models", "foo-8b"), (HOST, "hosts", "my-tower")],
    ids=["device", "link", "model", "host"],
)
def test_a_new_record_is_written_and_known(words: tuple[str, ...], kind: str, record_id: str, own: Path, capsys: Any) -> None:
    code, out, err = answer(capsys, *words)
    assert code == 0
    assert " ".join(err.split()) == UNSAID[kind]
    path = own / kind / f"{record_id}.yaml"
    assert out.startswith(f"Wrote {path}\n")
    assert f"({record_id})" in out
    written = path.read_text()
    assert written.startswith("# yaml-language-server: $schema=../../schemas/")
    assert (path.parent / f"../../schemas/{kind}.json").resolve().is_file()
    assert json.loads((path.parent / f"../../schemas/{kind}.json").read_text())["properties"]["id"]
    assert decode(TABLES[kind].record_class, path) == Catalog.load().records(kind)[record_id]
    assert [each.suffix for each in path.parent.iterdir()] == [".yaml"]


def test_the_file_has_units_and_the_keys_still_to_fill(own: Path, capsys: Any) -> None:
    answer(capsys, *CARD, "--power-w", "600", "--price-usd", "3000", "--price-condition", "used", "--links", "nvlink3-bridge-3090")
    written = (own / "devices" / "rtx-9090.yaml").read_text()
    for line in ("memory_gib: [48]  # GiB", "bandwidth_gb_per_s: 2000  # GB/s", "# idle_power_w:  # W", "links: [nvlink3-bridge-3090]"):
        assert any(each.startswith(line) for each in written.splitlines()), line
    device = Catalog.load().device("rtx 9090")
    assert (device.power_w, device.prices[0].low, device.prices[0].condition) == (600, 3000, "used")
    assert device.sources[0].fields == ("memory_gib", "bandwidth_gb_per_s", "fp16_tflops", "power_w")


def test_an_estimate_can_be_asked_at_once(own: Path, capsys: Any) -> None:
    answer(capsys, *CARD, "--power-w", "600", "--pcie-generation", "5", "--pcie-lanes", "16")
    answer(capsys, *MODEL)
    assert run(("estimate", "rtx-9090", "--model", "foo-8b", "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fits"] is True
    assert found["speed"]["decode_tokens_per_s"]["value"] > 0
    assert found["speed"]["prefill_tokens_per_s"]["value"] > 0


def test_a_models_shape_may_come_from_its_config_json(own: Path, tmp_path: Path, capsys: Any) -> None:
    """The shape of Qwen3 30B-A3B: 30.5 billion parameters, 3.0 of them active beside the embedding (config.json of Qwen/Qwen3-30B-A3B)."""
    shape = {
        "architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "hidden_size": 2048, "moe_intermediate_size": 768,
        "num_experts": 128, "num_experts_per_tok": 8, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
        "num_hidden_layers": 48, "vocab_size": 151936, "tie_word_embeddings": False, "max_position_embeddings": 40960,
        "intermediate_size": 6144, "torch_dtype": "bfloat16",
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(shape))
    words = ("model", "--from-config", str(tmp_path / "config.json"), "--name", "My MoE", "--source", "its config.json")
    code, _, err = answer(capsys, *words)
    assert (code, err) == (0, "")
    model = Catalog.load().model("my moe")
    assert (model.id, model.name, model.is_moe) == ("my-moe", "My MoE", True)
    assert model.params == pytest.approx(30.53e9, rel=1e-3)
    assert model.active_params == pytest.approx(3.04e9, rel=1e-2)
    assert {"mixers", "ffns", "vocab_size"} <= set(model.sources[0].fields)


def test_json_has_the_path_and_the_record(own: Path, capsys: Any) -> None:
    found = json.loads(answer(capsys, *CARD, "--json")[1])
    assert (found["command"], found["id"], found["path"]) == ("add", "rtx-9090", str(own / "devices" / "rtx-9090.yaml"))


def test_another_folder_can_be_named(own: Path, tmp_path: Path, capsys: Any) -> None:
    code, out, _ = answer(capsys, *CARD, "--into", str(tmp_path / "mine"))
    assert code == 0
    assert (tmp_path / "mine" / "devices" / "rtx-9090.yaml").is_file()
    assert f"--catalog {tmp_path / 'mine'}" in out
    assert not own.exists()


LACKING = "Note: not given: power_w, pcie_generation, pcie_lanes; fill them in for estimates of power and of several cards."
NO_PRICE = "Note: no price is given, so it is never chosen by `recommend`: `--price-usd 1999`, or `--price ID=USD` for one answer."
NO_PART = (
    "Note: no part to buy is named, so it costs $0 in every estimate: `--part 'Bridge:pair:120'` for each bridge, cable, NIC or "
    "switch, `--part none` where there is none."
)
NO_SLOT = "Note: no lanes are given, so no slot is known to take it, and it is never chosen by `recommend`: `--pcie-lanes 16`."
UNSAID = {"devices": f"{LACKING} {NO_SLOT} {NO_PRICE}", "links": NO_PART, "models": "", "hosts": NO_PRICE}
MAC = (
    "device", "--name", "Mac Studio M9 Max (48-core GPU)", "--id", "mac-m9-max-48c", "--maker", "apple", "--kind", "mac", "--architecture",
    "m4", "--chip", "M9 Max", "--gpu-cores", "48", "--memory-gib", "64,128", "--memory-type", "LPDDR5X", "--bandwidth-gb-per-s", "800",
    "--fp16-tflops", "100", "--availability", "on-sale", "--source", "Apple's page",
)  # fmt: skip


def test_a_mac_is_soldered_shares_its_memory_and_has_a_price_for_each_size(own: Path, capsys: Any) -> None:
    code, _, err = answer(capsys, *MAC, "--price-usd", "3299,4999")
    assert (code, err) == (0, "")  # nothing that `advisor check` would mind
    mac = Catalog.load().device("mac-m9-max-48c")
    assert (mac.mount, mac.unified_memory) == ("fixed", True)
    assert [(price.low, price.memory_bytes / 2**30) for price in mac.prices if price.memory_bytes] == [(3299, 64), (4999, 128)]


def test_prices_that_fit_no_memory_sizes_are_refused(own: Path, capsys: Any) -> None:
    code, _, err = answer(capsys, *MAC, "--price-usd", "1,2,3")
    assert code == 2
    assert "--price-usd: 3 prices; give one for each memory size, 64, 128 GiB" in err
    assert "--price-usd: 1 price; give one for each memory size" in answer(capsys, *MAC, "--price-usd", "3299")[2]
    assert not own.exists()


def test_what_the_check_would_say_is_said_at_once(own: Path, capsys: Any) -> None:
    """GDDR7 moves 17.5 to 36 Gbit/s a pin: 2,000 GB/s over 128 pins would be 125. And no size of the Mac has a price."""
    code, out, err = answer(capsys, *CARD, "--memory-bus-bits", "128")
    assert (code, out.startswith("Wrote ")) == (0, True)
    assert "`advisor check` says:" in err
    assert "bandwidth_gb_per_s: 125.00 Gbit/s for each of 128 pins; GDDR7 has 17.5 to 36" in err
    found = json.loads(answer(capsys, *MAC, "--json")[1])
    assert [each["message"] for each in found["problems"]] == ["none for 128 GiB", "none for 64 GiB"]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("blackwell", ""),
        ("blackwel", "the architecture blackwel (did you mean blackwell?): it is estimated by what its maker's devices have in common."),
        ("ADA", "the architecture ADA (did you mean ada?)"),
        ("rubin", "the architecture rubin (those of nvidia are ada, ampere, blackwell, gb10, hopper, pascal): it is"),
    ],
)
def test_an_architecture_that_no_device_has_is_said_and_written(word: str, said: str, own: Path, capsys: Any) -> None:
    """A new one must be possible; a slip of the keys must not stay unseen."""
    words = [word if each == "blackwell" else each for each in CARD]
    code, out, err = answer(capsys, *words)
    assert (code, out.startswith("Wrote ")) == (0, True)
    assert said in err if said else "no other device has" not in err
    again = answer(capsys, *words, "--force")[2]
    assert ("no other device has" in again) is bool(said)  # its own file does not count


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
@pytest.mark.parametrize("call", ["os.fsync", "tempfile.mkstemp", "pathlib.Path.mkdir"])
def test_a_disk_that_takes_nothing_is_told_and_nothing_is_left(
    number: int, call: str, own: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    Catalog.load()  # its compiled copy is written where caches are, before the disk fails
    with monkeypatch.context() as patched:
        patched.setattr(call, fail)
        code, out, err = answer(capsys, *CARD)
    assert (code, out) == (2, "")
    assert f"rtx-9090.yaml: cannot be written: {os.strerror(number)}; nothing was changed" in err
    assert [each for each in own.rglob("*") if each.is_file()] == []


def test_without_a_terminal_what_is_missing_is_named_with_its_unit(own: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115
    code, out, err = answer(capsys, "device", "--name", "X")
    assert (code, out) == (2, "")
    for part in ("--memory-gib (GiB", "--bandwidth-gb-per-s (GB/s", "--source (where the figures come from"):
        assert part in err
    assert "--power-w" not in err
    assert not own.exists()


def test_on_a_terminal_what_is_missing_is_asked(own: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["lots", "900", "a page", "1999"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: next(answers))
    without = [*CARD[: CARD.index("--bandwidth-gb-per-s")], *CARD[CARD.index("--fp16-tflops") : CARD.index("--source")]]
    code, _, err = answer(capsys, *without)
    assert code == 0
    assert "'lots' is not a number" in err  # and it was asked again
    assert Catalog.load().device("rtx-9090").bandwidth_bytes_per_s == 900e9


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (("--id", "../../etc/passwd"), "an id is lower-case letters, digits, dots, dashes and underscores"),
        (("--id", "/tmp/x"), "an id is"),
        (("--id", "con\x1b[31m"), "an id is"),
        (("--id", "ｒｔｘ"), "an id is"),
        (("--id", "a" * 90), "an id is"),
        (("--id", ".."), "an id is"),
        (("--id", "nul"), "no word that Windows keeps"),
        (("--id", "com1.x"), "an id is"),  # on Windows the same device, whatever follows the dot
        (("--id", r"..\..\x"), "an id is"),
        (("--id", "c:x"), "an id is"),
        (("--id", ""), "an id is"),
        (("--bandwidth-gb-per-s", "-3"), "--bandwidth-gb-per-s: expected more than 0, got -3"),
        (("--bandwidth-gb-per-s", "fast"), "--bandwidth-gb-per-s: 'fast' is not a number, in GB/s"),
        (("--bandwidth-gb-per-s", "1e400"), "--bandwidth-gb-per-s:"),
        (("--bandwidth-gb-per-s", "nan"), "--bandwidth-gb-per-s:"),
        (("--memory-gib", ""), "--memory-gib: expected at least one"),
        (("--maker", "nvida"), "--maker: 'nvida' is none of nvidia, amd, intel, apple (did you mean nvidia?)"),
        (("--links", "nvlink9"), "--links: no link is called 'nvlink9'"),
        (("--peer-access", "maybe"), "--peer-access: yes or no, not 'maybe'"),
        (("--name", "evil\x1b[31m"), "control character"),
        (("--gpu-cores", "2.5"), "--gpu-cores: expected a whole number"),
    ],
)
def test_what_makes_no_record_is_refused_and_nothing_is_written(changes: tuple[str, str], said: str, own: Path, capsys: Any) -> None:
    words = list(CARD)
    if changes[0] in words:
        words[words.index(changes[0]) + 1] = changes[1]
    else:
        words += changes
    code, out, err = answer(capsys, *words)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert not own.exists()


def test_a_file_that_is_there_is_never_replaced_without_force(own: Path, capsys: Any) -> None:
    path = own / "devices" / "rtx-9090.yaml"
    answer(capsys, *CARD)
    path.write_text(mine := path.read_text() + "noise: mine\n")
    code, out, err = answer(capsys, *CARD)
    assert (code, out) == (2, "")
    assert "rtx-9090 is in the catalog already" in err
    assert path.read_text() == mine
    assert answer(capsys, *CARD, "--force")[0] == 0
    assert "noise: mine" not in path.read_text()


def test_a_record_of_the_shipped_catalog_is_not_shadowed_by_mistake(own: Path, capsys: Any) -> None:
    words = ["rtx-3090" if word == "rtx-9090" else word for word in CARD]
    code, _, err = answer(capsys, *words)
    assert code == 2
    assert "to change fields of it, write a file with its id and those fields" in err
    assert not own.exists()


def test_a_broken_file_of_ones_own_is_told_before_anything_is_written(own: Path, capsys: Any) -> None:
    (own / "devices").mkdir(parents=True)
    (own / "devices" / "bad.yaml").write_text("id: bad\n")
    code, _, err = answer(capsys, *CARD)
    assert code == 4
    assert "bad.yaml:1: maker: missing" in err
    assert [each.name for each in (own / "devices").iterdir()] == ["bad.yaml"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_told(own: Path, capsys: Any) -> None:
    own.mkdir(parents=True)
    own.chmod(0o500)
    code, _, err = answer(capsys, *CARD)
    own.chmod(0o700)
    assert code == 2
    assert "cannot be written: Permission denied" in err


def test_a_file_where_the_folder_should_be_is_told(own: Path, capsys: Any) -> None:
    own.parent.mkdir(parents=True)
    own.write_text("not a folder")
    code, _, err = answer(capsys, *CARD)
    assert code == 2
    assert "cannot be written" in err
    assert own.read_text() == "not a folder"


@pytest.mark.parametrize("call", ["write", "fsync", "link"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_full_disk_leaves_nothing_behind(call: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    if call == "write":
        monkeypatch.setattr("os.fdopen", lambda handle, *_, **__: os.close(handle) or fail())
    else:
        monkeypatch.setattr(f"os.{call}", fail)
    with pytest.raises(BadInput, match=f"x.yaml: cannot be written: {os.strerror(number)}; nothing was changed"):
        safewrite.write(tmp_path / "x.yaml", "text")
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_hard_links_is_written_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.link", no_links)
    safewrite.write(tmp_path / "x.yaml", "one")
    with pytest.raises(BadValue, match="is there already"):
        safewrite.write(tmp_path / "x.yaml", "two")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("x.yaml", "one")]


def test_force_replaces_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    safewrite.write(path, "one")
    before = path.stat().st_ino
    safewrite.write(path, "two", force=True)
    assert (path.read_text(), path.stat().st_ino != before, len(list(tmp_path.iterdir()))) == ("two", True, 1)


def test_of_many_at_once_exactly_one_is_written(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from advisor.safewrite import write\n"
        "try: write(Path(sys.argv[1]), sys.argv[2] * 1000)\nexcept Exception as error: sys.exit(str(error))"
    )
    path = tmp_path / "x.yaml"
    running = [subprocess.Popen([sys.executable, "-c", program, str(path), word], stderr=subprocess.DEVNULL) for word in "abcdef"]
    codes = [each.wait() for each in running]
    assert sorted(codes) == [0, 1, 1, 1, 1, 1]
    assert path.read_text() == "abcdef"[codes.index(0)] * 1000
    assert len(list(tmp_path.iterdir())) == 1


@for_all(some.text(max_size=90))
@settings(max_examples=200, deadline=None)
def test_an_id_made_of_a_name_is_no_path(name: str) -> None:
    made = drafts.id_of(name)
    assert "/" not in made
    assert "\\" not in made
    assert not made.startswith(".")
    assert len(made) <= 80


@pytest.mark.parametrize("kind", drafts.ADDED.values())
def test_every_required_field_of_a_kind_is_asked(kind: str) -> None:
    asked = [ask.option for ask in drafts.asks(kind)]
    assert len(asked) == len(set(asked))
    assert "source" in asked
    assert {"id", "name"} <= {ask.option for ask in drafts.asks(kind) if ask.required}


def test_help_names_every_field(capsys: Any) -> None:
    for kind in drafts.ADDED:
        assert run(("add", kind, "--help")) == 0
        out = capsys.readouterr().out
        assert all(drafts.option(ask.option) in out for ask in drafts.asks(drafts.ADDED[kind]))


PARTS = ("NVLink bridge:pair:250", "Switch:system:1295:3", "NIC:box")


def test_a_links_parts_are_priced_counted_and_shown(own: Path, capsys: Any) -> None:
    """Three ends of a switch: two pairs of the bridge and one switch, 2 x 250 + 1295 dollars; what nobody prices is said, not free."""
    code, out, err = answer(capsys, *LINK, *(word for part in PARTS for word in ("--part", part)))
    assert (code, err) == (0, "")
    link = Catalog.load().link("fast-cable")
    assert [(part.name, part.per, part.usd, part.needed_from) for part in link.parts] == [
        ("NVLink bridge", "pair", 250, 2), ("Switch", "system", 1295, 3), ("NIC", "box", None, 2),
    ]  # fmt: skip
    assert (link.parts[0].source, link.parts[2].source) == ("x", None)
    lines = link_lines(link, 3, 3, False, {})
    assert [(line.name, line.count, line.usd) for line in lines] == [("NVLink bridge", 2, 250), ("Switch", 1, 1295)]
    assert [reason.facts["part"] for reason in unpriced_parts(link, 3, 3, {})] == ["NIC"]
    assert "Parts to buy" in out and "$1,295" in out and "unknown" in out
    assert 'advisor estimate "2x dgx-spark via fast-cable"' in out


def test_a_link_that_needs_nothing_says_so(own: Path, capsys: Any) -> None:
    code, out, err = answer(capsys, *LINK, "--part", "none")
    assert (code, err) == (0, "")
    assert "nothing is bought for it" in " ".join(out.split())


@pytest.mark.parametrize(
    ("part", "said"),
    [("a:foo:3", "--part: 'a:foo:3' is no NAME:PER:USD; PER is one of pair, box"), ("Cable", "is no NAME:PER:USD"), (":pair:3", "is no NAME"),
     ("a:box:cheap", "--part: 'cheap' is not a number, in USD"), ("a:box:-3", "--part: expected more than 0, got -3"),
     ("a:box:5:1", "--part: expected at least 2, got 1")],
)  # fmt: skip
def test_a_part_that_is_none_is_refused(part: str, said: str, own: Path, capsys: Any) -> None:
    code, _, err = answer(capsys, *LINK, "--part", part)
    assert code == 2 and said in err
    assert not own.exists()


def test_on_a_terminal_a_links_parts_are_asked(own: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["12.5", "Cable:pair:60"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: next(answers))
    without = [*LINK[: LINK.index("--bandwidth-gb-per-s")], *LINK[LINK.index("--shape") :]]
    assert answer(capsys, *without)[0] == 0
    assert [(part.name, part.usd) for part in Catalog.load().link("fast-cable").parts] == [("Cable", 60)]
