"""Pasted tool output to devices, ids and SYSTEM words. Fixtures in tests/inputs are our own, in the tools' forms."""

import json
from pathlib import Path

import pytest

from advisor import cli
from advisor.catalog import Catalog
from advisor.intake import detect, machine
from advisor.intake.page import page_from, page_of
from advisor.units import GIB

INPUTS = Path(__file__).parent / "inputs"


def found(catalog: Catalog, *names: str) -> detect.Detected:
    """What the fixtures describe together."""
    return detect.detect([page_from(str(INPUTS / name)) for name in names], catalog)


def pasted(catalog: Catalog, text: str | bytes) -> detect.Detected:
    """What a pasted text describes."""
    return detect.detect([page_of(text)], catalog)


# fixture -> SYSTEM words, or None where a device is not known for sure
WORDS = {
    "smi_2x3090_bridge.txt": "2x rtx-3090 via nvlink",
    "smi_gb10.txt": "dgx-spark",
    "smi_laptop_cut.txt": "rtx-4090-laptop",  # 16 GB and a limit of 150 W: not the desktop card
    "smi_mig_a100.txt": "a100-40gb-sxm",
    "query_3060_12_and_8.csv": "rtx-3060-12gb + rtx-3060-8gb",  # one name, two sizes
    "query_repeated_loop.csv": "2x rtx-a6000",
    "query_bare_two_cards.csv": "rtx-4070-super + rtx-5060-ti-16gb",
    "smi_q_two_gpus.txt": "2x l40s-48gb",
    "smi_x_titan.xml": "titan-rtx",
    "list_and_links_4x_a6000.txt": "4x rtx-a6000",
    "rocm_7900xtx_and_igpu.txt": "rx-7900-xtx",
    "amd_static_2x_w7900.txt": "2x pro-w7900-48gb",
    "lspci_vv_mixed.txt": "rtx-4090",
    "lspci_vmm.txt": None,  # three cards share the chip
    "profiler_m3ultra.json": "mac-m3-ultra-80c 512gb",
    "profiler_german.txt": "mac-m4-max-40c 64gb",
    "sysctl_wired.txt": "mac-m1-max-32c 32gb",
    "ollama_three.log": "rtx-3090 + tesla-p40",
    "devices_cuda_and_vulkan.log": "rtx-4090 + rtx-3090",  # CUDA and Vulkan list the same two
    "clinfo_arc.txt": "arc-a770-16gb",
    "rocminfo_mi210.txt": "mi210-64gb",
    "dxdiag_hybrid.txt": "rtx-4070-laptop",
    "wmic_r9700.txt": "ai-pro-r9700-32gb",
    "community.json": "2x rtx-4090",
}  # fmt: skip


@pytest.mark.parametrize("name", WORDS)
def test_system_words(catalog: Catalog, name: str) -> None:
    assert found(catalog, name).system == WORDS[name]


def test_windows_line_ends_utf16_and_colours_change_nothing(catalog: Catalog) -> None:
    text = (INPUTS / "smi_2x3090_bridge.txt").read_text()
    coloured = text.replace("NVIDIA GeForce", "\x1b[1;32mNVIDIA\x1b[0m GeForce")
    quoted = "\n".join("> " + line for line in text.splitlines())
    for form in (
        text.replace("\n", "\r\n"),
        text.encode("utf-16"),
        text.encode("utf-16-le"),
        b"\xef\xbb\xbf" + text.encode(),
        coloured,
        quoted,
    ):
        assert pasted(catalog, form).system == "2x rtx-3090 via nvlink"


def test_the_same_table_twice_counts_each_card_once(catalog: Catalog) -> None:
    text = (INPUTS / "smi_2x3090_bridge.txt").read_text()
    assert len(pasted(catalog, text + "\n" + text).devices) == 2


def test_two_tools_see_one_machine(catalog: Catalog) -> None:
    both = found(catalog, "lspci_vv_mixed.txt", "smi_2x3090_bridge.txt")
    assert [known.seen.name for known in both.devices if not known.integrated] == [
        "NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3090", "AD102 [GeForce RTX 4090]",
    ]  # fmt: skip
    smi = "NVIDIA GeForce RTX 4090, 00000000:01:00.0, 24564 MiB"
    one = pasted(catalog, (INPUTS / "lspci_vv_mixed.txt").read_text() + "\n" + smi)
    cards = [known for known in one.devices if not known.integrated]
    assert len(cards) == 1 and cards[0].memory_bytes == 24564 * 2**20 and cards[0].seen.pcie_lanes == 8


def test_free_memory_power_and_slot(catalog: Catalog) -> None:
    second = found(catalog, "smi_2x3090_bridge.txt").devices[1]
    assert second.memory_bytes == 24576 * 2**20 and second.free_bytes == (24576 - 4106) * 2**20 and second.seen.power_limit_w == 350
    assert second.seen.driver == "580.65.06"
    idle = found(catalog, "smi_q_two_gpus.txt").devices[0].seen
    assert (idle.pcie_generation, idle.pcie_lanes) == (4, 8)  # an idle card runs at gen 1: the greatest counts; lanes are the slot's


def test_mig_slices_are_no_devices(catalog: Catalog) -> None:
    card = found(catalog, "smi_mig_a100.txt")
    assert len(card.devices) == 1 and card.devices[0].memory_bytes == 40960 * 2**20
    assert card.devices[0].seen.mig_bytes == (19968 * 2**20, 9856 * 2**20)
    assert any("MIG" in warning for warning in card.warnings)


def test_two_chips_on_one_board(catalog: Catalog) -> None:
    seen = found(catalog, "smi_k80_old.txt")
    assert [known.seen.name for known in seen.devices] == ["Tesla K80", "Tesla K80", None]  # ERR! is a card, without a name
    assert seen.system is None and any('"tesla-k80"' in warning for warning in seen.warnings)  # one board carries two


def test_unified_memory_is_not_half_a_gigabyte(catalog: Catalog) -> None:
    box = found(catalog, "rocm_strix_512mb.json").devices[0]
    assert not box.integrated and box.memory_bytes == 120 * GIB  # what the GPU may borrow, not what is carved out
    spark = found(catalog, "smi_gb10.txt").devices[0]
    assert spark.memory_bytes == pytest.approx(125512704 * 1024)


def test_memory_carved_out_of_a_strix_halo(catalog: Catalog) -> None:
    text = "model name : AMD RYZEN AI MAX+ 395 w/ Radeon 8060S\nMemTotal: 32486000 kB\n/sys/class/drm/card0/device/mem_info_vram_total: 103079215104\n"
    box = pasted(catalog, text)
    assert box.system == "ryzen-ai-max-395-128gb" and box.devices[0].memory_bytes == 96 * GIB  # 31 + 96 GiB are the 128


def test_an_integrated_gpu_beside_a_card_is_never_vram(catalog: Catalog) -> None:
    for name in ("rocm_7900xtx_and_igpu.txt", "devices_cuda_and_vulkan.log", "dxdiag_hybrid.txt", "lspci_vv_mixed.txt", "wmic_r9700.txt"):
        devices = found(catalog, name).devices
        assert sum(known.integrated for known in devices) == 1 and all(
            "Graphics" in (k.seen.name or "") for k in devices if k.integrated
        ), name


def test_desktop_and_laptop_are_told_apart(catalog: Catalog) -> None:
    for printed, wanted in (
        ("NVIDIA GeForce RTX 4070 Laptop GPU, 8188 MiB", "rtx-4070-laptop"),
        ("NVIDIA GeForce RTX 4070, 12282 MiB", "rtx-4070"),
    ):
        assert pasted(catalog, printed).system == wanted


def test_name_without_its_memory_is_a_different_card_by_memory(catalog: Catalog) -> None:
    """A 22 GB RTX 2080 Ti, or any size that nobody sells, is not the 11 GB card."""
    odd = pasted(catalog, "NVIDIA GeForce RTX 3090, 49140 MiB").devices[0]
    assert odd.device is None and odd.candidates == ("rtx-3090",)


def test_an_unknown_or_ambiguous_card_keeps_its_name(catalog: Catalog) -> None:
    unknown = pasted(catalog, "NVIDIA GeForce GTX 745, 4096 MiB")
    assert unknown.devices[0].seen.name == "NVIDIA GeForce GTX 745" and unknown.devices[0].device is None and unknown.system is None
    chip = found(catalog, "lspci_vmm.txt").devices[0]
    assert chip.device is None and {"rx-7900-xt", "rx-7900-xtx"} <= set(chip.candidates)
    mac = pasted(catalog, "machdep.cpu.brand_string: Apple M3 Ultra\nhw.memsize: 103079215104\n").devices[0]
    assert mac.device is None and set(mac.candidates) == {"mac-m3-ultra-60c", "mac-m3-ultra-80c"}  # the core count is missing


def test_any_bracketed_word_is_unknown(catalog: Catalog) -> None:
    for word in ("[N/A]", "[Unknown Error]", "[Not Supported]", "[Insufficient Permissions]", "[GPU is lost]", "N/A", "ERR!"):
        card = pasted(catalog, f"name, memory.total [MiB], power.limit [W]\nNVIDIA GeForce RTX 4090, {word}, {word}\n").devices[0]
        assert card.memory_bytes is None and card.seen.power_limit_w is None and card.device is not None


def test_nvlink_between_some_cards_only(catalog: Catalog) -> None:
    seen = found(catalog, "list_and_links_4x_a6000.txt")
    assert [(joint.a, joint.b, joint.kind) for joint in seen.links] == [(0, 1, "NV4")]
    assert any("0-1" in warning for warning in seen.warnings)


def test_peer_access_over_pcie(catalog: Catalog) -> None:
    rows = "\n".join(f"{at}, NVIDIA RTX 6000 Ada Generation, 49140 MiB, 4, 16" for at in range(3))
    header = "index, name, memory.total [MiB], pcie.link.gen.max, pcie.link.width.current\n"
    assert pasted(catalog, header + rows + "\n" + (INPUTS / "topo_p2p_ok.txt").read_text()).system == "3x rtx-6000-ada via pcie-4-x16-p2p"


def test_wsl_and_driver_failures_are_said(catalog: Catalog) -> None:
    wsl = pasted(catalog, "882a:00:00.0 3D controller: Microsoft Corporation Device 008e\n")
    assert not wsl.devices and wsl.os == "wsl" and "nvidia-smi" in wsl.warnings[0]
    failed = pasted(catalog, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n")
    assert not failed.devices and "driver" in failed.warnings[0]


def test_free_memory_beyond_the_card_is_left_out(catalog: Catalog) -> None:
    line = "using device Vulkan0 (NVIDIA GeForce RTX 3090) (0000:19:00.0) - 39491 MiB free\n"
    assert pasted(catalog, "llama_model_load: " + line).devices[0].free_bytes is None


def test_xml_entities_are_not_expanded(catalog: Catalog) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>' + (INPUTS / "smi_x_titan.xml").read_text().replace(
        "NVIDIA TITAN RTX", "&b;"
    )
    assert pasted(catalog, bomb).devices[0].seen.name == "&b;"


def test_a_tool_that_hangs_or_fails_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, catalog: Catalog) -> None:
    for name, body in (("nvidia-smi", "sleep 30"), ("rocm-smi", "exit 3"), ("amd-smi", "kill -9 $$"), ("lspci", "echo broken $(")):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(machine, "TOOL_LIMIT_S", 0.1)
    assert detect.this_machine(catalog).os in ("linux", "wsl", "macos", "windows")


def test_this_machine_through_a_fake_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, catalog: Catalog) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text(f'#!/bin/sh\ncase "$1" in -L) exit 1;; topo) exit 1;; *) cat {INPUTS / "query_3060_12_and_8.csv"};; esac\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert detect.this_machine(catalog).system == "rtx-3060-12gb + rtx-3060-8gb"


def test_command_json_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["detect", "--from", str(INPUTS / "smi_2x3090_bridge.txt"), "--json"]) == 0
    out, _ = capsys.readouterr()
    answer = json.loads(out)
    assert answer["schema_version"] and answer["system"] == "2x rtx-3090 via nvlink" and answer["host"] == {"ram_gib": None, "os": None}
    assert set(answer["devices"][0]) == {
        "index", "name", "id", "candidates", "integrated", "memory_gib", "memory_free_gib", "driver", "pcie", "power_limit_w", "mig", "notes",
    }  # fmt: skip
    assert cli.run(["detect", "--from", str(INPUTS / "smi_2x3090_bridge.txt"), "--system"]) == 0
    assert capsys.readouterr().out == "2x rtx-3090 via nvlink\n"


@pytest.mark.parametrize(
    "arguments",
    [["--from", "no-such-file"], ["--from", str(INPUTS.parent / "conftest.py")], ["--from", str(INPUTS / "lspci_vmm.txt"), "--system"]],
)
def test_command_errors_are_plain(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["detect", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out and "Traceback" not in err and "Error" in err


def test_a_computer_without_cards_is_told_how_to_be_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(detect, "this_machine", lambda _: detect.Detected((), (), None, "linux", None, ()))
    assert cli.run(["detect"]) == 3
    assert "--have desktop" in capsys.readouterr().out
    assert cli.run(["detect", "--system"]) == 2
    assert "--have desktop" in " ".join(capsys.readouterr().err.split())


def test_command_text_fits_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    for path in sorted(INPUTS.glob("*")):
        if cli.run(["detect", "--from", str(path)]) in (0, 3):
            assert all(len(line) <= 80 for line in capsys.readouterr().out.splitlines()), path


# The kinds of fault that users of such tools reported, each with an input of that kind.


def test_a_second_vendor_is_not_missed(catalog: Catalog) -> None:
    both = pasted(catalog, "GPU id = 0 (NVIDIA GeForce RTX 5060 Ti)\nGPU id = 1 (AMD Radeon RX 7900 XTX (RADV NAVI31))\n")
    assert [known.seen.maker for known in both.devices] == ["nvidia", "amd"]
    nvidia = pasted(
        catalog,
        "NVIDIA GeForce RTX 4070, 12282 MiB\n\nGPU[0]\t\t: Card Series: \t\tRadeon RX 7900 XTX\nGPU[0]\t\t: VRAM Total Memory (B): 25753026560\n",
    )
    assert nvidia.system == "rtx-4070 + rx-7900-xtx" and any("several makers" in warning for warning in nvidia.warnings)


def test_memory_is_of_each_card_not_of_all(catalog: Catalog) -> None:
    assert [known.memory_bytes for known in found(catalog, "community.json").devices] == [24 * GIB, 24 * GIB]  # printed: 48 for two


def test_one_number_a_line_is_one_card_a_line(catalog: Catalog) -> None:
    assert len(pasted(catalog, "24576 MiB\n24576 MiB\n").devices) == 2
    assert pasted(catalog, "NVIDIA GeForce RTX 3090\nNVIDIA GeForce RTX 3090\n").system == "2x rtx-3090"


def test_a_bare_pci_id_is_looked_up(catalog: Catalog) -> None:
    assert pasted(catalog, "02:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:1b38] (rev a1)\n").system == "tesla-p40"
    open_one = pasted(catalog, "01:00.0 VGA compatible controller: NVIDIA Corporation Device 2d04 (rev a1)\n").devices[0]
    assert open_one.device is None and open_one.candidates == ("rtx-5060-ti-16gb", "rtx-5060-ti-8gb")


def test_the_wired_limit_is_read(catalog: Catalog) -> None:
    mac = found(catalog, "sysctl_wired.txt").devices[0]
    assert mac.memory_bytes == 32 * GIB and any("26.4 GiB" in note for note in mac.notes)  # 27000 MiB


def test_a_metal_limit_is_not_the_memory(catalog: Catalog) -> None:
    mac = pasted(catalog, "ggml_metal_device_init: GPU name:   Apple M4 Max\nrecommendedMaxWorkingSetSize  = 115448.73 MB\n")
    assert mac.system == "mac-m4-max-40c 128gb"  # 107.5 GiB of a 128 GB machine; the 32-core one has 36


def test_256_mb_is_not_256_gb(catalog: Catalog) -> None:
    assert pasted(catalog, "name, memory.total [MiB]\nNVIDIA GeForce 8400 GS, 256 MiB\n").devices[0].memory_bytes == GIB / 4


def test_no_network_is_touched(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("network")

    monkeypatch.setattr(socket, "socket", refuse)
    assert cli.run(["detect", "--from", str(INPUTS / "smi_x_titan.xml"), "--json"]) == 0
    assert cli.run(["calibrate", str(INPUTS / "bench_8b.json"), "--json"]) == 0


def test_answers_keep_their_schema(capsys: pytest.CaptureFixture[str]) -> None:
    import jsonschema

    from advisor.report.schemas import schema

    for command, option in (("detect", ["--from"]), ("calibrate", [])):
        for path in sorted(INPUTS.glob("*")):
            if cli.run([command, *option, str(path), "--json"]) in (0, 3):
                jsonschema.validate(json.loads(capsys.readouterr().out), schema(command))
            else:
                capsys.readouterr()
