"""Own benchmarks: every printed speed is found, bound to records, compared, refused where it cannot be true, saved, exported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from advisor import cli, correction
from advisor.catalog import Catalog
from advisor.catalogstack import user_catalog
from advisor.errors import BadInput
from advisor.intake import bench, calibrate, corrections, measured_memory, quant_words
from advisor.intake.bound_run import Stated
from advisor.intake.page import page_from, page_of
from advisor.measurement import Measurement
from advisor.report.sentences import SENTENCES, text
from advisor.units import MIB
from advisor.yamlfile import build

INPUTS = Path(__file__).parent / "inputs"


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Corrections of this test only."""
    for name in ("XDG_CONFIG_HOME", "APPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    return correction.folder()


def local(device_id: str, engine_id: str, devices: int = 1) -> correction.Correction | None:
    """What is saved now of so many of a device with an engine."""
    return correction.saved().get(correction.key_of(device_id, engine_id, devices))


def compared(catalog: Catalog, name: str, **stated: str) -> tuple[calibrate.Judged, ...]:
    """The rows of a fixture."""
    model = catalog.model(stated["model"]) if "model" in stated else None
    return calibrate.compare([page_from(str(INPUTS / name))], catalog, Stated(stated.get("system"), model, stated.get("quant")))


# fixture -> every speed printed in it that is a speed of the model
RATES = {
    "bench_7b_q4.md": [4401.22, 131.40, 104.90, 480.10, 900.0],
    "bench_8b.csv": [11500.25, 148.125],
    "bench_8b.sql": [79.3],
    "bench_8b.json": [2210.75, 88.5],
    "batched.md": [4266.67, 127.74, 570.41, 4179.59, 499.51, 1689.77],
    "perf_lines.log": [800.0, 50.0, 4000.0, 50.5],  # not the 5000 of sampling
    "server_answer.json": [3000.5, 100.25],
    "ollama_verbose.txt": [3000.0, 100.0],
    "vllm_serve.txt": [409.6, 2048.0],
    "vllm_result.json": [512.5, 4608.0],
    "sglang_one_batch.txt": [8888.89, 99.01, 901.41],
    "vllm_throughput.txt": [4864.25, 2432.1],
    "mlx_generate.txt": [512.25, 61.125, 530.1, 60.2, 531.0, 60.4],
    "community.json": [41.25],
    "sweep.csv": [410.5, 23.5, 389.0, 23.0],
    "wrapped_console.json": [333.3, 999.9],
}  # fmt: skip


@pytest.mark.parametrize("name", RATES)
def test_every_rate_is_found(name: str) -> None:
    found = [run.tokens_per_s for run in bench.read(page_from(str(INPUTS / name)))]
    assert all(any(speed is not None and abs(speed / wanted - 1) < 1e-6 for speed in found) for wanted in RATES[name]), found
    assert 5000.0 not in found


@pytest.mark.parametrize("printed", yaml.safe_load((INPUTS.parent / "benchmarks.yaml").read_text()), ids=lambda printed: printed["name"])
def test_kinds_and_speeds_of_many_tools(printed: dict) -> None:
    found = [[run.kind, run.tokens_per_s] for run in bench.read(page_of(printed["text"]))]
    assert [kind for kind, _ in found] == [kind for kind, _ in printed["rates"]]
    assert [speed for _, speed in found] == pytest.approx([speed for _, speed in printed["rates"]])


def test_columns_with_an_underscore_are_read() -> None:
    head = "| model | size | params | backend | n_cpu_moe | type_k | fa | test | t/s |\n|---|---|---|---|---|---|---|---|---|\n"
    run = bench.read(page_of(head + "| qwen3moe 30B.A3B Q4_K - Medium | 17 GiB | 30.53 B | CUDA | 12 | q8_0 | 1 | tg128 | 50.0 ± 0.1 |\n"))[
        0
    ]
    assert run.kv_quant == "q8_0" and run.offload and run.flash_attention


def test_lengths_and_users() -> None:
    by_test = {run.test: run for run in bench.read(page_from(str(INPUTS / "bench_7b_q4.md")))}
    deep = by_test["tg128 @ d8192"]
    assert (deep.kind, deep.filled_tokens, deep.generate_tokens) == ("decode", 8192, 128)
    served = bench.read(page_from(str(INPUTS / "vllm_serve.txt")))[0]
    # 163,840 tokens of 160 requests: 1024 each
    assert (served.kind, served.users, served.prompt_tokens, served.generate_tokens, served.count) == ("served", 16, 1024, 256, 2)


def test_records_of_a_run(catalog: Catalog) -> None:
    row = compared(catalog, "bench_8b.sql")[0]
    assert row.bound.model and row.bound.model.id == "llama-3.1-8b" and row.bound.quant and row.bound.quant.id == "q8_0"
    assert row.bound.words is not None and row.bound.words.startswith("2x rtx-3090") and "as layers on llama.cpp/cuda" in row.bound.words
    assert row.ratio == pytest.approx(79.3 / (row.estimated_tokens_per_s or 0))


def test_options_say_what_the_file_does_not(catalog: Catalog) -> None:
    bare = compared(catalog, "perf_lines.log")
    assert all(row.estimated_tokens_per_s is None and row.why and row.why.code == "calibrate.system" for row in bare)
    told = compared(catalog, "perf_lines.log", system="rtx-3090 on llama.cpp", model="llama-3.1-8b", quant="q8_0")
    assert all(row.estimated_tokens_per_s for row in told)


def test_what_cannot_be_true_is_refused(catalog: Catalog) -> None:
    rows = {row.bound.run.test: row for row in compared(catalog, "bench_7b_q4.md")}
    # 8B at Q4_K_M reads 4.2e9 bytes a token: 900 tokens/s would need 3.8 TB/s of a card that has 0.94
    assert not rows["tg256"].accepted and rows["tg256"].why and rows["tg256"].why.code == "calibrate.too-fast"
    assert not rows["tg512"].accepted and rows["tg512"].why and rows["tg512"].why.code == "calibrate.no-speed"
    assert rows["tg128"].accepted and rows["tg128"].usable
    assert rows["pp1024+tg256"].accepted and not rows["pp1024+tg256"].usable  # neither reading nor writing alone


def test_layers_read_one_card_after_the_other(catalog: Catalog) -> None:
    """Two cards by layers give no more bandwidth than one: 8B at Q8_0 is 8.5e9 bytes, so 150 tokens/s need 1.3 TB/s."""
    log = (INPUTS / "bench_8b.sql").read_text().replace("79.300000", "150.0")
    row = calibrate.compare([page_of(log)], catalog, Stated())[0]
    assert not row.accepted and row.why and row.why.code == "calibrate.too-fast"


def test_aborted_runs_are_refused(catalog: Catalog) -> None:
    failed = compared(catalog, "vllm_serve.txt")[-1]
    assert not failed.accepted and failed.why and "no request" in text(failed.why)
    head = "| model | size | params | backend | test | t/s |\n| --- | ---: | ---: | --- | ---: | ---: |\n/build/ggml.c:89: error\n"
    broken = calibrate.compare([page_of(head)], catalog, Stated())
    assert len(broken) == 1 and not broken[0].accepted
    assert not calibrate.compare([page_of('{"error": "Failed"}')], catalog, Stated())[0].accepted


def test_rpc_runs_name_no_system(catalog: Catalog) -> None:
    log = (INPUTS / "bench_7b_q4.md").read_text().replace("| CUDA       |", "| CUDA,RPC   |")
    assert {row.why.code for row in calibrate.compare([page_of(log)], catalog, Stated()) if row.why} >= {"calibrate.elsewhere"}


def test_speculative_runs_correct_nothing(catalog: Catalog) -> None:
    log = (INPUTS / "perf_lines.log").read_text() + "draft acceptance rate = 0.57 ( 114 accepted / 200 generated)\n"
    rows = calibrate.compare([page_of(log)], catalog, Stated("rtx-3090 on llama.cpp", catalog.model("llama-3.1-8b"), "q8_0"))
    assert rows and not any(row.usable for row in rows)


def test_every_reason_has_its_sentence() -> None:
    source = "".join(path.read_text() for path in (Path(calibrate.__file__).parent).glob("*.py"))
    codes = {part.split('"')[0] for part in source.split('Reason("')[1:] if part.startswith("calibrate.")}
    assert codes and codes <= set(SENTENCES) and "calibration.local" in SENTENCES


def test_load_log_memory(catalog: Catalog) -> None:
    load = measured_memory.read([page_from(str(INPUTS / "load_2gpu.log"))], catalog, Stated())[0]
    assert load.weights_bytes == pytest.approx((2113.28 + 2290.21) * MIB) and load.cache_bytes == pytest.approx(1024 * MIB)
    assert load.devices == ("CUDA0", "CUDA1") and load.estimated is not None
    estimated = sum(device.weights_bytes * device.count for device in load.estimated.devices)
    assert estimated == pytest.approx(load.weights_bytes, rel=0.03)
    shown = measured_memory.read([page_from(str(INPUTS / "ollama_verbose.txt"))], catalog, Stated())[0]
    assert shown.gpu_share == 0.77 and shown.total_bytes == pytest.approx(6.7e9)


@pytest.mark.parametrize(
    ("name", "quant", "model"),
    [
        ("Qwen3.6-35B-A3B-UD-Q8_K_XL-00001-of-00005.gguf", "ud-q8_k_xl", "Qwen3.6-35B-A3B"),
        ("/models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "q4_k_m", "Meta-Llama-3.1-8B-Instruct"),
        ("mlx-community/Qwen3-8B-4bit", "4bit", "Qwen3-8B"),
        ("cyankiwi/Qwen3.8-27B-AWQ-INT4", "awq-4bit", "Qwen3.8-27B"),
        ("gpt-oss-120b-mxfp4-00001-of-00003.gguf", "mxfp4", "gpt-oss-120b"),
        ("Llama-3.3-70B-IQ2_XXS.gguf", "iq2_xxs", "Llama-3.3-70B"),
        ("C:\\models\\phi-4-F16.gguf", "f16", "phi-4"),
    ],
)  # fmt: skip
def test_names_of_files(name: str, quant: str, model: str) -> None:
    assert (quant_words.of_file(name), quant_words.model_of(name)) == (quant, model)


@pytest.mark.parametrize(
    ("words", "quant"),
    [("llama 8B Q4_K - Medium", "q4_k_m"), ("x 7B Q3_K - Large", "q3_k_l"), ("IQ2_XXS - 2.0625 bpw", "iq2_xxs"), ("gpt-oss 20B MXFP4 MoE", "mxfp4"),
     ("qwen3 8B Q8_0", "q8_0"), ("llama 70B F16", "f16"), ("all F32", "f32"), ("gemma3 27B BF16", "bf16")],
)  # fmt: skip
def test_llama_cpp_type_words(words: str, quant: str) -> None:
    assert quant_words.of_type(words) == quant


def test_saved_corrections_hold_for_their_device_count_and_engine(catalog: Catalog) -> None:
    from datetime import date

    rows = compared(catalog, "bench_7b_q4.md")
    held = corrections.save(corrections.rows_of(rows, date(2026, 3, 3)))
    factors = sorted(row.ratio for row in rows if row.usable and row.ratio and row.bound.run.kind == "decode")
    assert held["1x rtx-3090 on llama.cpp"].decode_factor == pytest.approx(sum(factors) / 2)  # the median of two
    saved = local("rtx-3090", "llama.cpp")
    assert saved is not None and saved.rows == 3 and saved.date == "2026-03-03"
    assert local("rtx-3090", "llama.cpp", 2) is None and local("rtx-3090", "vllm") is None
    with correction.off():
        assert local("rtx-3090", "llama.cpp") is None
    corrections.save(corrections.rows_of(rows, date(2026, 3, 4)))  # the same rows again are the same rows
    again = local("rtx-3090", "llama.cpp")
    assert again is not None and again.rows == 3
    assert corrections.reset() and local("rtx-3090", "llama.cpp") is None and not corrections.reset()


ROWS = '{"corrections": {"1x rtx-3090 on llama.cpp": [%s]}}'
ASKED = ["estimate", "rtx-3090", "--model", "llama-3.1-8b"]
BROKEN = ("", "{", "[]", '{"corrections": []}', ROWS % '{"kind": "decode", "factor": 0.5}' + "x", "[" * 100_000, "\xff",
          ROWS % ('{"kind": "decode", "factor": 1' + 5000 * "0" + "}"))  # fmt: skip
IMPOSSIBLE = ('"0.5"', "0", "-1", "1e9", "NaN", "Infinity", "true", "null", "[0.5]", "1" + 400 * "0", "0.099", "3.1")


@pytest.mark.parametrize("held", BROKEN)
def test_a_broken_file_corrects_nothing_is_told_and_not_overwritten(
    held: str, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_folder.mkdir(parents=True)
    correction.file().write_bytes(held.encode("latin-1"))
    assert local("rtx-3090", "llama.cpp") is None
    assert cli.run(ASKED) == 0
    assert "corrections.json cannot be read" in " ".join(capsys.readouterr().err.split())
    with pytest.raises(BadInput, match="nothing was saved"):
        corrections.save({"1x d on e": [{"kind": "decode", "factor": 1.0}]})
    assert correction.file().read_bytes() == held.encode("latin-1")
    assert corrections.reset()
    corrections.save({"1x d on e": [{"kind": "decode", "factor": 1.0}]})
    assert local("d", "e")
    assert cli.run(ASKED) == 0
    assert "cannot be read" not in capsys.readouterr().err


def test_a_folder_in_the_place_of_the_file_is_told(own_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    correction.file().mkdir(parents=True)
    assert cli.run(ASKED) == 0
    assert "corrections.json cannot be read" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("row", [f'{{"kind": "decode", "factor": {factor}}}' for factor in IMPOSSIBLE]
                         + ["7", "null", '{"kind": ["decode"], "factor": 0.5}', '{"factor": 0.5}'])  # fmt: skip
def test_rows_that_cannot_be_correct_nothing(row: str, own_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own_folder.mkdir(parents=True)
    correction.file().write_text(ROWS % row)
    assert local("rtx-3090", "llama.cpp") is None
    assert cli.run([*ASKED, "--json"]) == 0
    assert "calibration.local" not in capsys.readouterr().out


def test_what_the_rows_say_of_their_day_is_a_day_or_nothing(own_folder: Path) -> None:
    own_folder.mkdir(parents=True)
    good, odd = '{"kind": "decode", "factor": 0.5, "date": "2026-03-03"}', '{"kind": "decode", "factor": 0.5, "date": %s}'
    for dates in ((), ('"9' + 9999 * "9" + '"',), ('"\\u001b[31m"', "[1]", "7")):
        correction.file().write_text(ROWS % ", ".join([good, *(odd % date for date in dates)]))
        found = local("rtx-3090", "llama.cpp")
        assert found and (found.date, found.rows) == ("2026-03-03", 1 + len(dates))
    correction.file().write_text(ROWS % (odd % "null"))
    found = local("rtx-3090", "llama.cpp")
    assert found and found.date == "on a day unknown"


@pytest.mark.parametrize(
    ("rows", "code", "words"),
    [
        ({"decode": 0.5}, "calibration.local", "0.5× of the estimated generation speed."),
        ({"prefill": 0.7}, "calibration.local-prompts", "0.7× of the estimated speed of reading a prompt."),
        ({"decode": 0.5, "prefill": 0.7}, "calibration.local-both", "0.5× of the estimated generation speed, 0.7× of that of reading"),
    ],
)
def test_what_is_corrected_is_said(rows: dict[str, float], code: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    key = correction.key_of("rtx-3090", "llama.cpp")
    corrections.save({key: [{"kind": kind, "factor": factor, "date": "2026-03-03", "print": kind} for kind, factor in rows.items()]})
    assert cli.run(["estimate", "rtx-3090 on llama.cpp", "--model", "llama-3.1-8b", "--json"]) == 0
    said = [each for each in json.loads(capsys.readouterr().out)["reasons"] if each["code"].startswith("calibration.")]
    assert [each["code"] for each in said] == [code]
    assert words in said[0]["text"] and "unknown" not in said[0]["text"]


def test_a_file_that_was_replaced_within_one_tick_of_the_clock_is_read_anew() -> None:
    corrections.save({"1x d on e": [{"kind": "decode", "factor": 0.5, "print": "a"}]})
    first, stamp = local("d", "e"), correction.file().stat()
    corrections.save({"1x d on e": [{"kind": "decode", "factor": 0.75, "print": "a"}]})
    os.utime(correction.file(), ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    second = local("d", "e")
    assert first and second and (first.decode_factor, second.decode_factor) == (0.5, 0.75)


def test_two_savers_at_once_lose_nothing(own_folder: Path) -> None:
    code = (
        "import sys; from advisor.intake import corrections;"
        "[corrections.save({'1x d on e': [{'kind': 'decode', 'factor': 1.0, 'date': '2026-01-01', 'print': sys.argv[1] + str(n)}]}) for n in range(5)]"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(number)]) for number in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    held = local("d", "e")
    assert held is not None and held.rows == 15


def test_export_is_a_file_of_measurements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "own.yaml"
    arguments = ["calibrate", str(INPUTS / "bench_7b_q4.md"), "--export", str(target)]
    assert cli.run(arguments) == 0
    held = yaml.safe_load(target.read_text())
    rows = [build(Measurement, {"source": held["source"], **row}) for row in held["rows"]]
    assert [row.decode_tokens_per_s or row.prefill_tokens_per_s for row in rows] == [4401.22, 131.4, 104.9]  # nothing that was refused
    assert rows[0].devices[0].device == "rtx-3090" and rows[0].model == "llama-3.1-8b" and len({row.id for row in rows}) == 3
    assert cli.run(arguments) == 2 and "--force" in capsys.readouterr().err
    assert cli.run([*arguments, "--force"]) == 0


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["calibrate", str(INPUTS / "bench_7b_q4.md"), "--save", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["correction"][0]["device"] == "rtx-3090" and answer["correction"][0]["saved"]
    refused = [row for row in answer["rows"] if not row["accepted"]]
    assert len(refused) == 2 and all(row["why"].startswith("Refused") for row in refused)
    assert cli.run(["calibrate", "--reset"]) == 0 and "dropped" in capsys.readouterr().err
    assert cli.run(["calibrate", str(INPUTS / "load_2gpu.log")]) == 0 and "cache 1.00 GiB" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["no-such-file"], [str(INPUTS.parent / "conftest.py")], [str(INPUTS / "sweep.csv"), "--model", "nope"],
                                       [str(INPUTS / "sweep.csv"), "--system", "rtx-9999"], [str(INPUTS / "sweep.csv"), "--quant", "q99"]])  # fmt: skip
def test_command_errors_are_plain(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["calibrate", *arguments]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_saved_correction_moves_later_estimates(catalog: Catalog, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["estimate", "rtx-3090 on llama.cpp", "--model", "llama-3.1-8b", "--quant", "q4_k_m", "--json"]
    assert cli.run(arguments) == 0
    plain = json.loads(capsys.readouterr().out)
    corrections.save({"1x rtx-3090 on llama.cpp": [{"kind": "decode", "factor": 0.8, "date": "2026-03-03", "print": "a"}]})
    assert cli.run(arguments) == 0
    moved = json.loads(capsys.readouterr().out)
    assert moved["speed"]["decode_tokens_per_s"]["value"] == pytest.approx(0.8 * plain["speed"]["decode_tokens_per_s"]["value"], rel=1e-6)
    assert any(reason["code"] == "calibration.local" for reason in moved["reasons"])


def test_text_fits_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    for path in sorted(INPUTS.glob("*")):
        if cli.run(["calibrate", str(path)]) in (0, 3):
            assert all(len(line) <= 80 for line in capsys.readouterr().out.splitlines()), path


@pytest.mark.parametrize(
    ("platform", "environment", "parts"),
    [
        ("linux", {"XDG_CONFIG_HOME": "/x/config"}, ("x", "config", "advisor")),
        ("linux", {"HOME": "/home/me"}, ("home", "me", ".config", "advisor")),
        ("linux", {"HOME": "/home/me", "XDG_CONFIG_HOME": ""}, ("home", "me", ".config", "advisor")),
        ("linux", {"HOME": "/home/me", "XDG_CONFIG_HOME": "here"}, ("home", "me", ".config", "advisor")),  # relative: not to count
        ("darwin", {"HOME": "/Users/me"}, ("Users", "me", "Library", "Application Support", "advisor")),
        ("win32", {"APPDATA": "/AppData/Roaming"}, ("AppData", "Roaming", "advisor")),
        ("win32", {"HOME": "/Users/me"}, ("Users", "me", "advisor")),  # a service account without the variable
    ],
)
def test_corrections_and_own_devices_lie_where_the_system_keeps_settings(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], parts: tuple[str, ...]
) -> None:
    for name in ("XDG_CONFIG_HOME", "APPDATA", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert correction.folder().parts[1:] == parts
    assert user_catalog().parts[1:] == (*parts, "catalog")


def test_an_answer_reads_what_is_saved_once(catalog: Catalog) -> None:
    def saved_factor() -> float | None:
        found = local("rtx-3090", "llama.cpp")
        return found.decode_factor if found else None

    def write(factor: float) -> None:
        held = [{"kind": "decode", "factor": factor, "date": "2026-11-30"}]
        correction.folder().mkdir(parents=True, exist_ok=True)
        correction.file().write_text(json.dumps({"corrections": {correction.key_of("rtx-3090", "llama.cpp"): held}}))

    write(0.8)
    with correction.read_once():
        assert saved_factor() == 0.8
        write(0.95)
        assert saved_factor() == 0.8
        with correction.off():
            assert saved_factor() is None
    assert saved_factor() == 0.95
    first, second = correction.read_once(), correction.read_once()  # answers of two threads end in any order
    with first:
        second.__enter__()
    write(0.9)
    assert saved_factor() == 0.95
    second.__exit__(None, None, None)
    assert saved_factor() == 0.9
    correction.file().unlink()
