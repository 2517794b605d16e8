"""Pastes of many tools (tests/pastes.yaml): the cards in them, with their memory, and SYSTEM words that can be used."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor import choose
from advisor.catalog import Catalog
from advisor.intake import detect
from advisor.intake.page import page_from, page_of
from advisor.units import GIB

HERE = Path(__file__).parent
PASTES = yaml.safe_load((HERE / "pastes.yaml").read_text())
INPUTS = sorted((HERE / "inputs").glob("*"))
CATALOG = Catalog.load(user_folder=False)


def cards(found: detect.Detected) -> list[detect.Known]:
    """Devices that are not part of a processor."""
    return [known for known in found.devices if not known.integrated]


@pytest.mark.parametrize("paste", PASTES, ids=lambda paste: paste["name"])
def test_cards_memory_and_words(paste: dict) -> None:
    found = detect.detect([page_of(paste["text"])], CATALOG)
    assert [known.seen.name for known in cards(found)] == [card["name"] for card in paste["cards"]]
    for known, card in zip(cards(found), paste["cards"], strict=True):
        assert (known.memory_bytes or 0) / GIB == pytest.approx(card["gib"] or 0, rel=0.01)
    assert found.system == paste["system"]


@pytest.mark.parametrize("paste", PASTES, ids=lambda paste: paste["name"])
def test_line_ends_colours_and_quoting_change_nothing(paste: dict) -> None:
    text = paste["text"]
    coloured = "\n".join(f"\x1b[32m{line}\x1b[0m" for line in text.split("\n"))
    quoted = "\n".join(f"> {line}" for line in text.split("\n"))
    fenced = f"```console\n{text}\n```\n"
    for form in (text.replace("\n", "\r\n"), text.encode("utf-16"), coloured, quoted, fenced):
        assert detect.detect([page_of(form)], CATALOG).system == paste["system"]


@pytest.mark.parametrize("text", [*(paste["text"] for paste in PASTES), *INPUTS], ids=range(len(PASTES) + len(INPUTS)))
def test_words_always_parse_and_bind(text: str | Path) -> None:
    """What `recommend --have auto` and `--have "$(advisor detect --system)"` are given."""
    found = detect.detect([page_from(str(text)) if isinstance(text, Path) else page_of(text)], CATALOG)
    if found.system is not None:
        bound = choose.bind(found.system, CATALOG)
        assert bound.count >= 1 and {group.device.id for group in bound.groups} <= {
            known.device.id for known in found.devices if known.device
        }


MARKS = (
    "vllm-1  | ",  # docker compose
    "Mar 01 10:00:01 gpubox run.sh[1234]: ",  # journalctl
    "2026-03-01T10:00:01+0100 gpubox bash[77]: ",  # journalctl -o short-iso
    "[   12.345678] ",  # dmesg
    "[pod/gpu-test-5d8/cuda] ",  # kubectl logs --prefix
)
MARKED = ("smi cuda13", "csv units", "lspci plain multi", "rocm csv", "clinfo l", "fastfetch json", "amd static csv", "dxdiag en")


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("name", MARKED)
def test_what_a_log_puts_before_each_line_changes_nothing(name: str, mark: str) -> None:
    paste = next(each for each in PASTES if each["name"] == name)
    text = "\n".join(mark + line for line in paste["text"].splitlines())
    assert detect.detect([page_of(text)], CATALOG).system == paste["system"]


@pytest.mark.parametrize("name", ["smi cuda13", "lspci plain multi"])
def test_line_numbers_common_words_and_json_around_a_paste_change_nothing(name: str) -> None:
    paste = next(each for each in PASTES if each["name"] == name)
    lines = paste["text"].splitlines()
    numbered = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1))
    common = "\n".join(f"INFO worker 3: {line}" for line in lines)
    for form in (numbered, common, json.dumps({"msg": paste["text"]}), json.dumps({"stdout_lines": lines}, indent=4)):
        assert detect.detect([page_of(form)], CATALOG).system == paste["system"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([paste["text"] for paste in PASTES]), min_size=2, max_size=3))
def test_pastes_one_after_the_other_still_bind(texts: list[str]) -> None:
    found = detect.detect([page_of("\n\n".join(texts))], CATALOG)
    if found.system is not None:
        choose.bind(found.system, CATALOG)


def test_a_prompt_of_root_or_of_a_container_is_no_second_machine() -> None:
    listing = "GPU 0: NVIDIA RTX A6000 (UUID: GPU-11111111-1111-1111-1111-111111111111)\n"
    text = f"me@box:~$ nvidia-smi -L\n{listing}root@box:~# nvidia-smi -L\n{listing}root@7aab3474ddb9:/# nvidia-smi -L\n{listing}"
    assert detect.detect([page_of(text)], CATALOG).system == "rtx-a6000"


def test_two_machines_are_told_apart_and_counted() -> None:
    listing = "nvidia-smi -L\nGPU 0: NVIDIA RTX A6000 (UUID: GPU-{}1111111-1111-1111-1111-111111111111)\n"
    found = detect.detect([page_of("me@one:~$ " + listing.format(1) + "me@two:~$ " + listing.format(2))], CATALOG)
    assert found.system == "2x (rtx-a6000)" and [known.index for known in found.devices] == [0, 1]
    assert found.warnings[0].startswith("2 machines")
