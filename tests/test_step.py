"""Seconds of a step by hand: bytes over bandwidth, operations over rates, and laws."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.served import sustained_tokens_per_s
from advisor.step import Constants, DecodeWork, PromptWork, decode_s, larger, matrix_flops, prompt_s

# a device of round numbers: 1 TB/s for weights, half of it for experts and cache, 100 TFLOPS of matrix work
DEVICE = Constants(
    weights_bytes_per_s=1e12, expert_bytes_per_s=0.5e12, cache_bytes_per_s=0.5e12, state_bytes_per_s=0.5e12, attention_flops=1e13,
    unpack_flops=1e13, unpack_exponent=0.5, batch_share=0.5, layer_s=1e-5, expert_layer_s=1e-5, recurrent_layer_s=1e-5,
    scan_layer_s=3e-5, step_s=1e-4, user_s=1e-6, prompt_flops=1e14, prompt_width_exponent=0.0, prompt_expert_factor=2.0, prompt_attention_share=0.5,
    prompt_recurrent_factor=0.0, prompt_weights_bytes_per_s=1e12, prompt_half_tokens=0.0, prompt_layer_s=1e-5, prompt_chunk_tokens=512.0,
    prompt_share=1.0, knee_exponent=3.0, routing_exponent=0.7,
)  # fmt: skip
DENSE = DecodeWork(
    weights_bytes=8e9, expert_bytes=0.0, active_params=8e9, expert_params=0.0, hidden_size=4096, layers=32, expert_layers=0,
    recurrent_layers=0, scan_layers=0, fixed_share=1.0, users=1.0, cache_bytes=0.0, attention_flops=0.0, state_bytes=0.0,
)  # fmt: skip
PROMPT = PromptWork(
    tokens=512, chunks=1, chunk_tokens=512, dense_params=8e9, expert_params=0.0, weights_bytes=8e9, attention_flops=0.0, layers=32,
    recurrent_layers=0.0, hidden_size=4096,
)  # fmt: skip


def test_one_token_of_a_dense_model() -> None:
    # 8 GB / 1 TB/s = 8 ms; 8e9 / 1e13 = 0.8 ms of unpacking; 32 layers of 10 µs and 100 µs: 0.42 ms
    terms = decode_s(DENSE, DEVICE)
    assert terms.weights_s == pytest.approx(8e-3)
    assert terms.overhead_s == pytest.approx(0.42e-3)
    assert terms.total_s == pytest.approx(9.22e-3, rel=1e-3)  # computing 2 × 8e9 / 5e13 = 0.3 ms hides


def test_one_token_of_a_mixture() -> None:
    # 2 GB / 1 TB/s + 3 GB of experts / 0.5 TB/s = 8 ms; 10 µs more a mixture layer
    work = replace(DENSE, weights_bytes=2e9, expert_bytes=3e9, expert_params=4e9, expert_layers=32)
    terms = decode_s(work, DEVICE)
    assert terms.weights_s == pytest.approx(8e-3)
    assert terms.overhead_s == pytest.approx(0.74e-3)


def test_layers_without_attention_cost_by_what_they_do() -> None:
    # 0.42 ms as above; 24 layers of linear attention take 10 µs more each, 8 layers with a scan 30 µs more each
    terms = decode_s(replace(DENSE, recurrent_layers=24, scan_layers=8), DEVICE)
    assert terms.overhead_s == pytest.approx(0.42e-3 + 24 * 10e-6 + 8 * 30e-6)


def test_the_cache_and_the_state_of_a_user() -> None:
    # 1 GB / 0.5 TB/s = 2 ms, 0.5 GB of state: 1 ms
    terms = decode_s(replace(DENSE, cache_bytes=1e9, state_bytes=0.5e9), DEVICE)
    assert terms.cache_s == pytest.approx(3e-3)


def test_many_users_are_bound_by_matrix_work() -> None:
    # 256 users: 2 × 8e9 × 256 / (100 TFLOPS × 0.5) = 81.9 ms, against 8 + 0.8 × 16 = 20.8 ms of reading and unpacking
    work = replace(DENSE, users=256.0)
    terms = decode_s(work, DEVICE)
    assert terms.weights_s + terms.compute_s == pytest.approx(larger(20.8e-3, 81.9e-3, 3.0), rel=1e-3)
    assert terms.overhead_s == pytest.approx(0.42e-3 + 255e-6)


def test_a_prompt() -> None:
    # 2 × 512 × 8e9 / 1e14 = 81.9 ms, the weights once 8 ms, 32 launches 0.32 ms
    terms = prompt_s(PROMPT, DEVICE)
    assert terms.compute_s == pytest.approx(81.92e-3)
    assert terms.weights_s == pytest.approx(8e-3)
    assert terms.overhead_s == pytest.approx(0.32e-3)


def test_a_short_chunk_does_not_fill_the_chip_and_a_wide_model_does_better() -> None:
    half = replace(DEVICE, prompt_half_tokens=512.0)
    assert prompt_s(PROMPT, half).compute_s == pytest.approx(2 * 81.92e-3)
    assert matrix_flops(8192, replace(DEVICE, prompt_width_exponent=1.0)) == pytest.approx(2e14)


def test_served_by_hand() -> None:
    # 10 users of 100 tokens: prompts 10 × 0.1 s, steps 100 × 0.02 s: 1000 tokens in 3 s; without prompts in 2 s
    assert sustained_tokens_per_s(10, 500, 100, 0.1, 0.02, DEVICE) == pytest.approx(1000 / 3)
    assert sustained_tokens_per_s(10, 0, 100, 0.1, 0.02, DEVICE) == pytest.approx(500)
    assert sustained_tokens_per_s(10, 500, 100, 0.1, 0.02, replace(DEVICE, prompt_share=0.5)) == pytest.approx(1000 / 2.5)


@given(st.floats(1, 512), st.floats(1, 4), st.floats(0, 1))
def test_more_users_take_longer_and_get_more_together(users: float, more: float, exponent: float) -> None:
    device = replace(DEVICE, unpack_exponent=exponent)
    few, many = (decode_s(replace(DENSE, users=count), device).total_s for count in (users, users * more))
    assert many >= few * (1 - 1e-9)
    assert users * more / many >= users / few * (1 - 1e-9)


@given(st.floats(1.01, 10), st.sampled_from(["weights_bytes_per_s", "cache_bytes_per_s", "unpack_flops", "prompt_flops"]))
def test_a_faster_device_is_never_slower(factor: float, rate: str) -> None:
    faster = replace(DEVICE, **{rate: getattr(DEVICE, rate) * factor})
    work = replace(DENSE, users=16.0, cache_bytes=1e9)
    assert decode_s(work, faster).total_s <= decode_s(work, DEVICE).total_s
    assert prompt_s(PROMPT, faster).total_s <= prompt_s(PROMPT, DEVICE).total_s


@given(st.floats(1e-6, 1), st.floats(1e-6, 1), st.floats(1, 10))
def test_the_larger_of_two_is_between_the_longer_and_their_sum(one: float, other: float, knee: float) -> None:
    assert max(one, other) <= larger(one, other, knee) * (1 + 1e-9)
    assert larger(one, other, knee) <= (one + other) * (1 + 1e-9)
