"""The work of a step by hand: bytes, operations and layers of a part's shares, for decoding and for prompts in chunks."""

from math import exp, lgamma
from pathlib import Path
from typing import Any

import pytest
from test_pace import CARD, DENSE
from test_step import DEVICE, PROMPT

from advisor.cache import Cache
from advisor.catalog import Catalog
from advisor.mixer import Mixer
from advisor.placement import Part
from advisor.record import replace
from advisor.step import (
    _window_pairs,
    decode_terms,
    decode_work,
    host_s,
    prefill_terms,
    prompt_s,
    prompt_work,
)
from advisor.units import MS

CATALOG = Catalog.load(root=Path(__file__).parent / "catalog", user_folder=False)
# 64 experts of which a token takes 8: of 16e9 weights 2e9
WEIGHTS = replace(DENSE, head_bytes=1e9, head_params=1e9, dense_params=4e9, expert_bytes=16e9, expert_params=16e9, experts=64,
                  experts_per_token=8, expert_layers=30)  # fmt: skip
# 100 bytes a token, 10 in a window of 50, 7 of state; 3 operations for each earlier token, 5 in a window of 50
CACHE = Cache("f16", 100.0, ((10.0, 50.0, 60.0),), 7.0, 8, False, 3.0, ((5.0, 50.0),))
MODEL = replace(
    CATALOG.model("qwen3-8b"), mixers=(Mixer(kind="full", layers=26), Mixer(kind="kda", layers=4), Mixer(kind="rwkv", layers=2))
)
PART = Part(CARD, 24e9, dense_share=0.5, expert_share=0.25, head_share=0.4, layer_share=0.6, cache_share=0.3, compute_share=0.2,
            host_dense_share=0.1, host_expert_share=0.2, host_cache_share=0.3)  # fmt: skip
# with an exponent of 0.7 the b of the Beta distribution is 0.7 × (64 / 8 - 1) = 4.9: two tokens leave b (b + 1) of (a + b) (a + b + 1)
TWO_TOUCH = 1 - 4.9 * 5.9 / (5.6 * 6.6)


def touched(tokens: float) -> float:
    """1 - Γ(b + B) Γ(a + b) / (Γ(b) Γ(a + b + B))."""
    return 1 - exp(lgamma(4.9 + tokens) - lgamma(4.9) + lgamma(5.6) - lgamma(5.6 + tokens))


def test_experts_that_tokens_touch() -> None:
    share = WEIGHTS.experts_touched_share
    assert [share(tokens, 0.7) for tokens in (0, 1, 2)] == pytest.approx([0, 8 / 64, TWO_TOUCH])
    assert touched(2) == pytest.approx(TWO_TOUCH)
    assert share(512, 0.7) == pytest.approx(touched(512))
    assert replace(WEIGHTS, experts_per_token=64).experts_touched_share(1, 0.7) == 1  # all of them
    assert DENSE.experts_touched_share(5, 0.7) == 0


def test_weights_that_a_token_multiplies_with() -> None:
    full = replace(WEIGHTS, embedding_params=3e9, vision_params=5e9, mtp_params=7e9, embedding_bytes=3.0, vision_bytes=5.0)
    assert (full.chosen_share, full.active_params) == (0.125, 1e9 + 4e9 + 2e9)  # an embedding is looked up, a picture seldom there
    assert full.params == 3e9 + 1e9 + 4e9 + 16e9 + 5e9  # draft layers apart
    assert full.total_bytes == 3 + 1e9 + 8e9 + 16e9 + 5
    assert DENSE.chosen_share == 0


def test_layers_that_keep_a_state() -> None:
    assert (MODEL.recurrent_layers, MODEL.scan_layers) == (6, 2)  # RWKV's two among them


def test_the_work_of_decoding() -> None:
    """Two users, 80 tokens deep: each 100 × 80 + 10 × 50 bytes of cache, and 3 × 80 + 5 × 50 operations."""
    work = decode_work(PART, WEIGHTS, CACHE, MODEL, 2, 80, 0.7)
    assert (work.weights_bytes, work.expert_bytes) == pytest.approx((0.5 * 8e9 + 0.4 * 1e9, 0.25 * 16e9 * TWO_TOUCH))
    assert (work.active_params, work.expert_params) == pytest.approx((0.2 * 7e9, 0.2 * 2e9))
    assert (work.layers, work.expert_layers, work.fixed_share) == pytest.approx((19.2, 18, 0.6))
    assert (work.recurrent_layers, work.scan_layers) == pytest.approx((0.6 * 4, 0.6 * 2))
    assert (work.users, work.hidden_size) == (2, 4096)
    assert work.cache_bytes == pytest.approx(0.3 * 2 * 8500)
    assert work.attention_flops == pytest.approx(0.3 * 2 * 490)
    assert work.state_bytes == pytest.approx(0.3 * 2 * 2 * 7)  # read and written


@pytest.mark.parametrize(
    ("tokens", "filled", "window", "pairs"),
    [
        (10, 0, 100, 10 * 5),  # each sees those before it: half of them in the mean
        (10, 20, 100, 10 * (20 + 5)),
        (10, 95, 100, 5 * (95 + 2.5) + 5 * 100),
        (10, 100, 100, 10 * 100),
        (10, 200, 100, 10 * 100),
        (1000, 0, 50, 50 * 25 + 950 * 50),
    ],
)
def test_pairs_within_a_window(tokens: float, filled: float, window: float, pairs: float) -> None:
    assert _window_pairs(tokens, filled, window) == pairs


def test_the_work_of_a_prompt() -> None:
    """1,000 tokens after 200, in two chunks of at most 512."""
    work = prompt_work(PART, WEIGHTS, CACHE, MODEL, 1000, 200, 512, 0.7)
    assert (work.tokens, work.chunks, work.chunk_tokens) == (1000, 2, 512)
    assert work.weights_bytes == pytest.approx(2 * (0.5 * 8e9 + 0.25 * 16e9 * touched(512)))
    assert (work.dense_params, work.expert_params) == pytest.approx((0.2 * 4e9, 0.2 * 2e9))
    assert work.attention_flops == pytest.approx(0.2 * (3 * 1000 * (200 + 500) + 5 * 1000 * 50))
    assert (work.layers, work.recurrent_layers, work.hidden_size) == pytest.approx((0.6 * (32 + 30 + 6), 0.2 * 6, 4096))


def test_prompts_that_share_chunks() -> None:
    """Three prompts of 100 tokens are one chunk of 300; of 300 tokens each has 300 / 512 of a chunk."""
    three = prompt_work(PART, WEIGHTS, CACHE, MODEL, 100, 0, 512, 0.7, together=3)
    assert (three.chunks, three.chunk_tokens) == pytest.approx((1 / 3, 300))
    assert three.weights_bytes == pytest.approx((0.5 * 8e9 + 0.25 * 16e9 * touched(300)) / 3)
    more = prompt_work(PART, WEIGHTS, CACHE, MODEL, 300, 0, 512, 0.7, together=3)
    assert (more.chunks, more.chunk_tokens) == pytest.approx((300 / 512, 512))
    assert prompt_work(PART, WEIGHTS, CACHE, MODEL, 512, 0, 512, 0.7).chunks == 1


def test_attention_and_recurrences_of_a_prompt() -> None:
    # 1e12 operations of attention at half of 100 TFLOPS: 20 ms; 512 tokens × 6 layers × 4,096 numbers × 1,000 at 100 TFLOPS
    plain = prompt_s(PROMPT, DEVICE).compute_s
    assert prompt_s(replace(PROMPT, attention_flops=1e12), DEVICE).compute_s - plain == pytest.approx(20 * MS)
    slow = replace(DEVICE, prompt_recurrent_factor=1000.0)
    assert prompt_s(replace(PROMPT, recurrent_layers=6), slow).compute_s - plain == pytest.approx(512 * 6 * 4096 * 1000 / 1e14)


def held_s(users: float, filled: float) -> float:
    return (0.1 * 8e9 + 0.2 * 16e9 * touched(users) + 0.3 * users * (100 * filled + 10 * min(filled, 50))) / 50e9


def test_what_lies_in_host_memory_is_read_in_each_step() -> None:
    assert host_s(PART, WEIGHTS, CACHE, 2, 80, 0.7, 50e9) == pytest.approx(held_s(2, 80))
    reached: Any = DEVICE
    inside = decode_terms(PART, WEIGHTS, CACHE, MODEL, 2, 80, reached)
    outside = decode_terms(PART, WEIGHTS, CACHE, MODEL, 2, 80, reached, 50e9)
    assert outside.host_memory_s == pytest.approx(held_s(2, 80))
    assert outside._replace(host_memory_s=0.0) == inside


def test_each_chunk_of_a_prompt_carries_it_to_the_card() -> None:
    inside = prefill_terms(PART, WEIGHTS, CACHE, MODEL, 1000, 0, DEVICE)
    outside = prefill_terms(PART, WEIGHTS, CACHE, MODEL, 1000, 0, DEVICE, 50e9)
    assert outside.host_memory_s == pytest.approx(2 * held_s(512, 0))  # two chunks of 512
    assert outside._replace(host_memory_s=0.0) == inside
