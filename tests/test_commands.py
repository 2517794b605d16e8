"""Command lines against layers counted by hand."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import Catalog, estimate
from advisor.answers import recommend
from advisor.commands import pattern
from advisor.placement import Part
from advisor.report.again import again
from advisor.speed import Estimate

FROZEN = Catalog.load(root=Path(__file__).parent / "catalog", user_folder=False)
SHIPPED = Catalog.load(user_folder=False)


def words_of(found: Estimate) -> list[str]:
    return shlex.split(found.verify)


def after(words: list[str], flag: str) -> str:
    return words[words.index(flag) + 1]


def llama_cpp_layers(words: list[str], layers: int, devices: int) -> list[list[int]]:
    """Which layers lie whole on which device, as llama.cpp's load_tensors deals them out; the output layer is number `layers`."""
    ngl = int(after(words, "-ngl"))
    first, slots = max(layers + 1 - ngl, 0), min(ngl, layers + 1)
    shares = [float(each) for each in re.split(r"[/,]", after(words, "-ts"))] if "-ts" in words else [1.0]
    ends = [sum(shares[: n + 1]) / sum(shares) for n in range(devices)]
    return [
        [il for il in range(first, layers + 1) if next(d for d, end in enumerate(ends) if (il - first) / slots < end) == n]
        for n in range(devices)
    ]


def experts_outside(words: list[str], layers: int) -> set[int]:
    """Layers whose experts the command keeps in host memory."""
    if "--n-cpu-moe" in words:
        return set(range(min(layers, int(after(words, "--n-cpu-moe")))))
    if "-ot" not in words:
        return set()
    name, _, place = after(words, "-ot").rpartition("=")
    assert place == "CPU"
    return {layer for layer in range(layers) if re.search(name, f"blk.{layer}.ffn_up_exps.weight")}


CASES = [
    ("rtx-3090 as offload on llama.cpp", "llama-3.3-70b", "q4_k_m"),
    ("rtx-5080 as offload on llama.cpp", "gpt-oss-120b", None),
    ("2x rx-6800 as offload on llama.cpp", "gpt-oss-120b", None),
    ("3x rtx-3060-ti as offload on llama.cpp", "qwen3-235b-a22b", "q4_k_m"),
    ("rx-7900-xtx + rx-7900-xt as offload on llama.cpp", "llama-3.3-70b", "q4_k_m"),
    ("rtx-3060-12gb as offload on llama.cpp", "deepseek-r1", "q4_k_m"),
    ("2x rtx-3060-12gb as offload on llama.cpp", "deepseek-r1", "q4_k_m"),
    ("4x rtx-3090 as offload on llama.cpp", "deepseek-r1", "q4_k_m"),
]


@pytest.mark.parametrize(("system", "model", "quant"), CASES)
def test_the_command_does_what_the_placement_says(system: str, model: str, quant: str | None) -> None:
    found = estimate(system, model=model, quant=quant, ram_gib=768, catalog=SHIPPED)
    words, layers, parts = words_of(found), found.model.layers, found.placement.parts
    on_devices = llama_cpp_layers(words, layers, len(parts))
    assert [len(each) for each in on_devices[:-1]] == [part.layers - part.host_layers for part in parts[:-1]]
    assert len(on_devices[-1]) == parts[-1].layers - parts[-1].host_layers + 1  # and the output layer
    outside = experts_outside(words, layers)
    for part, run in zip(parts, on_devices, strict=True):
        experts = [il for il in run if il < layers and il >= layers - found.weights.expert_layers]
        kept = 0 if part.host_layers else round(part.layer_share * found.weights.expert_layers) - part.host_expert_layers
        assert len(set(experts) - outside) == min(kept, len(experts)), part


def one(part: Part) -> tuple[int, int, int]:
    return part.layers, part.host_layers, part.host_expert_layers


def test_by_hand() -> None:
    """Parts as read off, the flags counted by hand: 36 layers on two cards, 9 and 10 experts out: layers 0–8 and 18–27 of 36."""
    found = estimate("2x rx-6800 as offload on llama.cpp", model="gpt-oss-120b", catalog=SHIPPED)
    first, second = (one(part) for part in found.placement.parts)
    assert (first[0], second[0]) == (18, 18)
    words = words_of(found)
    assert after(words, "-ts") == "18/19"  # the output layer goes with the last card
    assert experts_outside(words, 36) == {*range(first[2]), *range(18, 18 + second[2])}
    assert after(words, "-ngl") == "99"


def test_dense_offload_names_no_experts() -> None:
    found = estimate("rtx-3090 as offload on llama.cpp", model="llama-3.3-70b", quant="q4_k_m", catalog=SHIPPED)
    (part,) = found.placement.parts
    assert "--n-cpu-moe" not in found.verify
    assert f"-ngl {80 - part.host_layers + 1} " in found.verify + " "


def test_without_offload_all_layers_are_on_devices() -> None:
    assert "-ngl 99 " in estimate("rtx-3090 on llama.cpp", model="qwen3-8b", catalog=SHIPPED).verify


def test_the_cache_type_and_the_users_are_measured() -> None:
    cache = estimate("rtx-3090 on llama.cpp", model="qwen3-8b", kv_quant="q8_0", catalog=SHIPPED)
    assert "-ctk q8_0 -ctv q8_0" in cache.verify
    several = estimate("2x rtx-3090 as layers on llama.cpp", model="qwen3-8b", users=4, context="8k", catalog=SHIPPED)
    assert several.verify.startswith("llama-batched-bench ")
    assert "-npl 4" in several.verify
    assert "-c 32768" in several.verify


def test_the_setting_says_how_many_layers() -> None:
    given_ = recommend(have="rtx-5080", model="qwen3.6-35b-a3b", quant="q4_k_m", catalog=SHIPPED)
    setting = next(each for each in given_.settings if each.text.code == "setting.offload-experts")
    assert setting.command is not None
    estimate_ = given_.verdict.estimate
    assert estimate_ is not None
    assert setting.command.endswith(f"--n-cpu-moe {estimate_.placement.host_expert_layers}")
    assert setting.text.facts["host_expert_layers"] == estimate_.placement.host_expert_layers


NEEDS: list[dict[str, Any]] = [
    {"have": "rtx-3090", "model": "llama-3.3-70b"},
    {"model": "gpt-oss-120b", "budget": 3000},
    {"have": "2x rtx-3090", "model": "qwen3-235b-a22b", "context": "16k"},
    {"have": "mac-m4-pro-20c 48gb", "model": "llama-3.3-70b"},
    {"model": "deepseek-r1", "kv_quant": "q8_0"},
    {"have": "rtx-4090", "model": "qwen3-32b", "users": 8, "ram_gib": 128},
]


@pytest.mark.parametrize("need", NEEDS, ids=str)
def test_every_road_can_be_typed_again(need: dict[str, Any]) -> None:
    for road in recommend(catalog=SHIPPED, **need).roads:
        if road.estimate is None or road.estimate.decode is None:
            continue
        words = shlex.split(again(road.estimate))
        options = {key[2:].replace("-", "_"): value for key, value in zip(words[3::2], words[4::2], strict=True)}
        typed = estimate(words[2], catalog=SHIPPED, **options)
        assert typed.decode is not None, words
        assert typed.decode.value == pytest.approx(road.estimate.decode.value), words
        assert road.because, road.kind


def test_peer_access_is_named_only_for_cards_on_which_somebody_ran_it() -> None:
    with_patch = recommend(have="2x rtx-3090 as tensor on vllm", model="qwen3-32b", catalog=SHIPPED)
    assert any(setting.text.code == "setting.peer-access" for setting in with_patch.settings)
    without = recommend(have="2x rtx-3060-12gb as tensor on vllm", model="qwen3-14b", catalog=SHIPPED)
    assert not any(setting.text.code == "setting.peer-access" for setting in without.settings)


@given(st.sets(st.integers(min_value=0, max_value=130), min_size=1))
def test_a_pattern_matches_its_layers_only(numbers: set[int]) -> None:
    found = re.compile(rf"blk\.({pattern(tuple(sorted(numbers)))})\.ffn")
    assert {n for n in range(140) if found.search(f"blk.{n}.ffn_up_exps")} == numbers
