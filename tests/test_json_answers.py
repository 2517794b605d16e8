"""Every JSON answer is one object that its schema knows: of every command, in many situations, whatever the terminal's encoding."""

import contextlib
import io
import json
from pathlib import Path

import jsonschema
import pytest

from advisor.cli import run
from advisor.report.schemas import BUILDERS, schema

INPUTS = Path(__file__).parent / "inputs"
BENCH, CARDS = str(INPUTS / "bench_8b.csv"), str(INPUTS / "smi_2x3090_bridge.txt")
BAD_FILE = "id: bad-card\nname: Bad\nmemory_gib: many\npcie_lanes: 12\n"
DEVICE = ("--name", "RTX 9070 48GB", "--maker", "nvidia", "--kind", "gpu", "--architecture", "blackwell", "--memory-gib", "48",
          "--memory-type", "GDDR7", "--memory-bus-bits", "384", "--pcie-generation", "5", "--pcie-lanes", "16", "--slots", "2",
          "--price-usd", "1999", "--bandwidth-gb-per-s", "1344", "--fp16-tflops", "180", "--power-w", "400", "--availability", "on-sale",
          "--source", "“Data” sheet", "--source-url", "https://example.com/rtx-9070")  # fmt: skip
SITUATIONS = (
    (0, "estimate", "rtx-3090", "--model", "qwen3-8b", "--prompt", "0"),
    (0, "estimate", "2x (2x rtx-3090) via eth-10g-tcp as layers on llama.cpp", "--model", "llama-3.3-70b", "--why"),
    (3, "estimate", "rtx-4060 as whole", "--model", "llama-3.3-70b"),
    (2, "estimate", "rtx-3090 on mlx", "--model", "qwen3-8b"),
    (2, "estimate", "rtx-3090", "--model", "“\x1b[31mnone”"),
    (2, "estimate", "rtx-3090", "--model", "qwen3-8b", "--min-tokens-per-s", "nan"),
    (0, "compare", "rtx-3090", "3x rtx-3090 as tensor on vllm", "mac-m3-ultra-80c 512gb", "--model", "gpt-oss-120b"),
    (3, "compare", "rtx-4060 as whole", "arc-b580 as whole", "--model", "deepseek-v3"),
    (2, "compare", "rtx-3090", "nosuch", "--model", "qwen3-8b"),
    (0, "scale", "rtx-3090", "--max", "6", "--model", "llama-3.3-70b", "--users", "8"),
    (3, "scale", "rtx-4060 as whole", "--max", "2", "--model", "deepseek-v3"),
    (0, "recommend", "--have", "2x rtx-3090", "--model", "qwen3-8b", "--users", "64"),
    (3, "recommend", "--model", "deepseek-v3", "--budget", "0"),
    (2, "recommend", "--have", "4060", "--budget", "-5"),
    (0, "ask", "rent or buy an H100 for qwen3-32b?"),
    (2, "ask", "\x1b]0;title\x07"),
    (0, "accuracy"),
    (0, "accuracy", "--where", "device=rtx-3090"),
    (2, "accuracy", "--where", "foo=1"),
    (0, "detect", "--from", CARDS),
    (0, "detect", "--from", CARDS, "--system"),
    (2, "detect", "--from", "/nonexistent"),
    (0, "calibrate", BENCH),
    (0, "calibrate", str(INPUTS / "load_2gpu.log")),
    (0, "calibrate", "--reset"),
    (2, "calibrate", CARDS),
    (0, "list", "quants"),
    (0, "list", "devices", "--where", "memory>=48gb", "--sort", "price"),
    (2, "list", "devices", "--where", "bad bad"),
    (0, "show", "4060"),
    (0, "show", "llama-3.3-70b"),
    (2, "show", "nosuch"),
    (0, "check"),
    (4, "check", "BAD_FILE"),
    (4, "check", BENCH),
    (2, "check", "/nonexistent"),
    (0, "add", "device", *DEVICE),
    (2, "add", "device", *DEVICE, "--memory-gib", "many"),
)


def answered(arguments):
    """(exit code, stdout) on a stream whose encoding has no letters but ASCII."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = run([*arguments, "--json"])
    out.flush()
    return code, out.buffer.getvalue().decode("ascii")


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: " ".join(situation[1:4]).encode("ascii", "replace").decode())
def test_it_is_one_object_that_the_schema_knows(situation, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    bad = tmp_path / "bad-card.yaml"
    bad.write_text(BAD_FILE, encoding="utf-8")
    code, *arguments = [str(bad) if word == "BAD_FILE" else word for word in situation]
    given, out = answered(arguments)
    assert given == code
    assert "\x1b" not in out
    answer = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    jsonschema.Draft202012Validator(schema(arguments[0])).validate(answer)
    assert ("error" in answer) == (code == 2)


def test_a_flip_of_a_price_can_be_asked_again_by_what_the_json_holds(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    asked = ["recommend", "--have", "rtx-4090", "--model", "gpt-oss-120b", "--min-tokens-per-s", "60"]
    flips = json.loads(answered(asked)[1])["flips"]
    prices = [flip for flip in flips if flip["wish"] == "price_usd"]
    assert prices
    assert all(flip["device"] is None for flip in flips if flip not in prices)
    for flip in prices:
        for usd, kind in ((flip["before"], flip["kind_before"]), (flip["value"], flip["kind"])):
            again = json.loads(answered([*asked, "--price", f"{flip['device']}={usd}"])[1])
            assert again["verdict"]["kind"] == kind


def test_every_command_with_json_has_a_schema():
    import click

    from advisor.cli import COMMANDS, group

    found = {name: group.get_command(click.Context(group), name) for name in COMMANDS}
    with_json = {name for name, command in found.items() if any("--json" in each.opts for each in command.params)} - {"schema"}
    assert with_json <= set(BUILDERS)
    assert {"add", "batch"} <= set(BUILDERS)
