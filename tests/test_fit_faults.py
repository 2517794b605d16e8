"""Kinds of fault that users reported of other estimators of fit and speed, each with a case whose answer is known.

Every case names a public report of its kind (repository and number) and where the expected value comes from.
"""

from functools import cache
from typing import Any

import pytest

from advisor import choose
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.intake import machine
from advisor.need import Workload
from advisor.speed import Estimate
from advisor.units import GB, GIB

CATALOG = Catalog.load(user_folder=False)


@cache
def estimate(words: str, model: str, quant: str, kv: str = "f16", **work: int) -> Estimate:
    """The estimate of the best way, or of the one that the words state."""
    load = Workload(**{"context_tokens": 8192, "prompt_tokens": 1024, "generate_tokens": 256, **work})
    return choose.best(bind(words, CATALOG), CATALOG.model(model), quant, kv, load, CATALOG)


def taken_gib(found: Estimate) -> float:
    """What the devices hold together: weights, cache and working memory."""
    return sum(each.needed_bytes * each.count for each in found.fit.devices) / GIB


def decode(found: Estimate) -> float:
    assert found.decode, found.fit
    return found.decode.value


@pytest.mark.parametrize(
    ("words", "model", "quant", "work", "least_gib", "most_gib"),
    [
        # ollama/ollama 10911, over_estimate: 32.76e9 × 8.5 bits = 32.4 GiB, cache 64 layers × 2 × 1024 × 2 B × 32768 = 8 GiB
        ("2x rtx-3090", "qwen3-32b", "q8_0", {"context_tokens": 32768}, 40, 43),
        # ollama/ollama 11073, over_estimate: 235.1e9 × 5.7 bits = 156 GiB in cards of 192 GB
        ("8x mi300x-192gb", "qwen3-235b-a22b", "q5_k_m", {}, 155, 170),
        # ollama/ollama 10177, over_estimate: a file of 14.3 GB (13.3 GiB), 1.25 GiB of cache at 8192 tokens; 20 GB seen with its vision part
        ("rtx-4090", "mistral-small-3.1-24b", "q4_k_m", {}, 13.3, 18.6),
        # ollama/ollama 1906, over_estimate: 33B in Q5 is 23 GB; here Qwen3 32B Q4_K_M, file 19.8 GB (18.4 GiB), 2 GiB of cache
        ("rtx-4090", "qwen3-32b", "q4_k_m", {}, 20, 21.5),
        # ollama/ollama 10615, per_gpu_overhead: 13.0 GiB of weights, 40 layers × 2 × 1024 × 2 B × 131072 = 20 GiB of cache
        ("2x rtx-3090", "mistral-small-3.1-24b", "q4_k_m", {"context_tokens": 131072}, 33, 37),
        # exo-explore/exo 1672, over_reserve: 0.6e9 × 8.5 bits = 0.6 GiB and 28 layers × 2 × 1024 × 2 B × 8192 = 0.88 GiB
        ("mac-m4-pro-20c 48gb", "qwen3-0.6b", "mlx-8bit", {}, 1.4, 2.5),
        # gpustack/gpustack 2101, kv_swa_gqa_ignored: 54.9 GB of weights in BF16 (51 GiB), 10.4 GiB of cache at 128K; others said 139 GB
        ("h100-sxm", "gemma-3-27b", "bf16", {"context_tokens": 131072}, 60, 64),
        # AlexsJones/llmfit 271, quant_packed_param_count: 122.6e9 × 4.5 bits = 64 GiB and what stays at 8 or 16 bits
        ("rtx-pro-6000-blackwell", "qwen3.5-122b-a10b", "nvfp4", {}, 64, 78),
    ],
)
def test_what_fits_is_said_to_fit_with_what_it_takes(
    words: str, model: str, quant: str, work: dict[str, Any], least_gib: float, most_gib: float
) -> None:
    found = estimate(words, model, quant, **work)
    assert found.fit.fits
    assert found.fit.host_needed_bytes == 0
    assert least_gib <= taken_gib(found) <= most_gib
    assert all(each.overhead_bytes > 0.1 * GIB for each in found.fit.devices)  # working memory on every one of them


def test_packed_weights_do_not_halve_the_parameters() -> None:
    """AlexsJones/llmfit 271: 122B in NVFP4 was counted as 64B."""
    assert CATALOG.model("qwen3.5-122b-a10b").params == pytest.approx(122e9, rel=0.02)


def test_a_70b_in_4_bits_does_not_fit_into_two_cards_of_12_gb() -> None:
    """ollama/ollama 618, fit_over_optimistic: the file has 42.5 GB [llama.cpp], the two cards 24 GiB: 17 GiB and more go elsewhere."""
    whole = estimate("2x rtx-3060-12gb as layers on llama.cpp", "llama-3.3-70b", "q4_k_m")
    assert not whole.fit.fits
    assert any(reason.code == "memory.short" for reason in whole.reasons)
    partly = estimate("2x rtx-3060-12gb", "llama-3.3-70b", "q4_k_m")
    assert partly.fit.fits
    assert partly.fit.host_needed_bytes / GIB > 42.5e9 / GIB - 24


@pytest.mark.parametrize(
    ("words", "model", "quant"),
    [
        ("8x rtx-3090", "deepseek-r1", "iq2_xxs"),  # gpustack/gpustack 1126
        ("2x rtx-3060-12gb + rtx-3090 as layers on llama.cpp", "qwen3-32b", "q6_k"),  # ollama/ollama 10113
        ("rtx-3090 + rtx-3060-12gb as layers on llama.cpp", "qwen3-32b", "q4_k_m"),  # ollama/ollama 10670
        ("2x rtx-3060-12gb", "llama-3.3-70b", "q4_k_m"),
    ],
)
def test_no_device_of_a_plan_is_given_more_than_it_holds(words: str, model: str, quant: str) -> None:
    """fit_over_optimistic, mixed_gpus_assumed_equal: working memory counts on each card, and the cache follows a card's layers."""
    found = estimate(words, model, quant)
    assert found.fit.fits
    assert all(each.headroom_bytes >= 0 and each.overhead_bytes > 0.3 * GIB for each in found.fit.devices)
    per_layer = [each.cache_bytes / part.layer_share for each, part in zip(found.fit.devices, found.placement.parts, strict=True)]
    assert max(per_layer) < 1.5 * min(per_layer)


def test_one_card_is_judged_by_its_own_memory_and_two_by_both() -> None:
    """AlexsJones/llmfit 46, multi_gpu_one_counted: dense models above 24 GB on two RTX 3090."""
    one, two = (estimate(f"{words} on llama.cpp", "qwen3-32b", "q8_0") for words in ("rtx-3090 as whole", "2x rtx-3090 as layers"))
    assert (one.fit.fits, two.fit.fits) == (False, True)
    assert sum(each.usable_bytes * each.count for each in two.fit.devices) == pytest.approx(2 * one.fit.devices[0].usable_bytes)


def test_a_nodes_memory_is_that_of_a_gpu_times_their_number() -> None:
    """kaito-project/kaito 1838, per_gpu_vs_total; exo-explore/exo 122, multi_gpu_one_counted: two boxes of four cards of 80 GB."""
    found = estimate("2x (4x h100-sxm) via ib-ndr as tensor on vllm", "llama-3.1-405b", "fp8")
    assert sum(each.count for each in found.fit.devices) == 8
    assert sum(each.usable_bytes * each.count for each in found.fit.devices) / GIB == pytest.approx(8 * 80 * 0.9, rel=0.05)


def test_unlike_machines_share_layers_by_what_each_can_use() -> None:
    """exo-explore/exo 314, mixed_assumed_equal_cluster: 256 and 64 GB, 94 layers in the proportion 240 : 56 of the raised limits."""
    found = estimate("mac-m3-ultra-80c 256gb + mac-m4-max-40c 64gb via thunderbolt-5-rdma as layers on mlx", "qwen3-235b-a22b", "mlx-4bit")
    first, second = found.fit.devices
    assert found.fit.fits
    assert first.weights_bytes / second.weights_bytes == pytest.approx(240 / 56, rel=0.15)


def test_offloaded_weights_are_still_weights() -> None:
    """gpustack/gpustack 3747, under_estimate: 228.7e9 weights at 4.8 bits are 129 GiB, whatever part lies in host memory."""
    found = estimate("4x rtx-a5000", "minimax-m2", "q4_k_m")
    assert taken_gib(found) + found.fit.host_needed_bytes / GIB > 125


def test_memory_of_the_computer_is_not_memory_of_the_card() -> None:
    """janhq/jan 2339, lemonade-sdk/lemonade 1342, ram_used_instead_of_vram: 14.8e9 at 4.9 bits are 8.4 GiB, an RTX 4060 has 8."""
    assert not estimate("rtx-4060 as whole on llama.cpp", "qwen3-14b", "q4_k_m").fit.fits
    # lmstudio-ai/lmstudio-bug-tracker 1471, unified_memory_wrong: a box that shares its memory holds an 18.6 GB file with ease
    assert estimate("ryzen-ai-max-395-128gb as whole on llama.cpp", "qwen3-30b-a3b", "q4_k_m").fit.fits


@pytest.mark.parametrize("model", ["qwen2.5-0.5b", "qwen3-32b"])
def test_the_cache_is_that_of_the_context_asked(model: str) -> None:
    """gpustack/gpustack 1859, context_default: an engine told 65536 tokens takes them, though the model was made for 32768."""
    short, long = (estimate("8x rtx-3090 as layers on llama.cpp", model, "q4_k_m", context_tokens=tokens) for tokens in (32768, 65536))
    caches = [sum(each.cache_bytes for each in found.fit.devices) for found in (short, long)]
    assert caches[1] == pytest.approx(2 * caches[0], rel=0.01)


def test_a_cache_of_8_bits_takes_little_more_than_half() -> None:
    """ollama/ollama 10128, kv_quant_ignored: q8_0 has 34 bytes for 32 numbers, f16 64."""
    wide, narrow = (estimate("rtx-4090 as whole on llama.cpp", "qwen3-8b", "q4_k_m", kv, context_tokens=32768) for kv in ("f16", "q8_0"))
    assert narrow.fit.devices[0].cache_bytes / wide.fit.devices[0].cache_bytes == pytest.approx(34 / 64)


def test_a_mixture_is_as_fast_as_what_it_reads_and_no_faster() -> None:
    """AlexsJones/llmfit 474, moe_total_params_for_speed: 77.6 tokens/s measured on an RX 6900 XT, 34.7 said.
    AlexsJones/llmfit 449, moe_speed_over: 150 to 180 measured for Qwen3-30B-A3B, 472 said."""
    assert decode(estimate("rx-6900-xt on llama.cpp", "qwen3.6-35b-a3b", "ud-q2_k_xl")) == pytest.approx(77.6, rel=0.25)
    assert 130 < decode(estimate("rtx-4090 on llama.cpp", "qwen3-30b-a3b", "q4_k_m")) < 230


def test_speed_follows_the_bandwidth_of_the_card() -> None:
    """AlexsJones/llmfit 88, speed_constant_not_bandwidth: about 40 tokens/s of a 27B in 4 bits on an RTX 4090, 9 said."""
    cards = {name: decode(estimate(f"{name} as whole on llama.cpp", "qwen3-8b", "q4_k_m")) for name in ("rtx-4090", "rtx-3060-12gb")}
    assert decode(estimate("rtx-4090 on llama.cpp", "gemma-3-27b", "q4_k_m")) == pytest.approx(40, rel=0.2)
    assert cards["rtx-4090"] / cards["rtx-3060-12gb"] == pytest.approx(1008 / 360, rel=0.25)


def test_a_served_rate_is_for_all_users_and_each_ones_is_its_share() -> None:
    """redhat-performance/configiq 8, metric_definition; ai-dynamo/aiconfigurator 1396, server_throughput_over: no card reads its
    weights faster than its memory: 16.1 GB in BF16 at 3.35 TB/s are 208 steps a second at most, each with one token for a user."""
    found = estimate("h100-sxm as whole on vllm", "llama-3.1-8b", "bf16", users=32)
    assert found.sustained
    assert found.sustained.value < decode(found) <= 32 * 3350 * GB / 16.06e9


def test_engines_leave_different_memory_for_the_cache() -> None:
    """vllm-project/vllm 21348, engine_ignored: the engine is an input of the estimate."""
    users = {name: estimate(f"rtx-4090 as whole on {name}", "llama-3.1-8b", "fp8").fit.max_users for name in ("vllm", "sglang")}
    assert all(users.values())
    speeds = {
        name: decode(estimate(f"rtx-4090 as whole on {name}", "qwen3-8b", quant))
        for name, quant in (("vllm", "awq-4bit"), ("llama.cpp", "q4_k_m"))
    }
    assert speeds["vllm"] != speeds["llama.cpp"]


def test_tools_are_looked_for_where_wsl_keeps_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """AlexsJones/llmfit 52, wsl_detection: `nvidia-smi` is not on PATH."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA GeForce RTX 5080, 16303 MiB'\n", encoding="utf-8")
    tool.chmod(0o755)
    assert "/usr/lib/wsl/lib" in machine._FOLDERS
    monkeypatch.setattr(machine, "_FOLDERS", (str(tmp_path),))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert any("RTX 5080" in page.text for page in machine.pages(tmp_path))
