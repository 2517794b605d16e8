"""The bytes of a model's weights by hand: each part at its own bits, vision towers, published sizes."""

from types import SimpleNamespace
from typing import Any

import pytest

from advisor.feedforward import FeedForward
from advisor.tensor import Tensor
from advisor.weights import Weights, weights_of

# 800 + 400 + 1,600 + 80 + 320 + 6,400 + 200 + 24 weights
TENSORS = (
    Tensor("token_embd", "embedding", 8, 100, 1), Tensor("output", "head", 8, 50, 1), Tensor("attn_q", "mixer", 8, 100, 2),
    Tensor("router", "router", 8, 5, 2), Tensor("ffn_up", "dense-ffn", 8, 40, 1), Tensor("ffn_up_exps", "expert", 8, 400, 2),
    Tensor("ffn_up_shexp", "shared", 8, 25, 1), Tensor("vector", "norm", 8, 1, 3),
)  # fmt: skip
BITS = {"embedding": 8, "head": 6, "mixer": 5, "router": 32, "dense-ffn": 4, "expert": 3, "shared": 4, "norm": 32}
BYTES = 800 + 300 + 1000 + 320 + 160 + 2400 + 100 + 96  # 5,176


def weights(engine: str = "vllm", files: Any = (), *, dense: bool = False, total: float | None = None, **quant: Any) -> Weights:
    tensors = tuple(each for each in TENSORS if each.part not in ("expert", "router")) if dense else TENSORS
    model: Any = SimpleNamespace(
        tensors=tensors, vision_params=1000.0, mtp_params=7.0, layers=2, files=files, weights_bytes=total, native_quant="q",
        moe=None if dense else SimpleNamespace(experts=64, experts_per_token=8),
        ffns=(SimpleNamespace(kind="moe", layers=2), SimpleNamespace(kind="dense", layers=1)),
    )  # fmt: skip
    kind: Any = SimpleNamespace(
        id="q",
        speed_class="kquant",
        tower_bits=16.0,
        tower_apart=("llama.cpp", "ik_llama.cpp"),
        tensor_bits=lambda tensor, *_: BITS[tensor.part],
    )
    vars(kind).update(quant)
    return weights_of.__wrapped__(model, kind, engine)


def test_each_part_at_its_bits() -> None:
    found = weights()
    assert (found.embedding_bytes, found.head_bytes, found.expert_bytes) == (800, 300, 2400)
    assert (found.dense_bytes, found.mixer_bytes) == (1000 + 320 + 160 + 100 + 96, 1000)  # mixers, routers, shared and dense, norms
    assert (found.embedding_params, found.head_params, found.expert_params) == (800, 400, 6400)
    assert (found.dense_params, found.mixer_params, found.mtp_params) == (1600 + 80 + 320 + 200 + 24, 1600, 7)
    assert found.bits_per_weight == 8 * BYTES / 9824
    assert (found.experts, found.experts_per_token, found.expert_layers, found.layers) == (64, 8, 2, 2)
    assert found.total_bytes == BYTES + 2000  # with the tower
    assert not found.measured
    plain = weights(dense=True)
    assert (plain.experts, plain.experts_per_token, plain.expert_bytes) == (0, 0, 0)


@pytest.mark.parametrize(
    ("engine", "tower_bits", "vision"),
    [("vllm", 16.0, 2000), ("vllm", 4.0, 500), ("vllm", None, 0), ("llama.cpp", 16.0, 0), ("ik_llama.cpp", 16.0, 0)],
)
def test_the_tower_lies_with_the_weights_or_in_a_file_apart(engine: str, tower_bits: float | None, vision: float) -> None:
    found = weights(engine, tower_bits=tower_bits)
    assert (found.vision_bytes, found.vision_params) == (vision, 1000)


@pytest.mark.parametrize(
    ("factor", "taken"),
    [(1.1, 1.1), (0.5, 0.5), (2.0, 2.0), (0.49, 1.0), (2.01, 1.0)],  # half or twice as large belongs to something else
)
def test_a_published_size_sets_the_total(factor: float, taken: float) -> None:
    file = SimpleNamespace(quant="q", size_bytes=factor * BYTES)
    found = weights(files=(SimpleNamespace(quant="other", size_bytes=1.0), file))
    assert found.total_bytes - found.vision_bytes == pytest.approx(taken * BYTES)
    assert (found.expert_bytes, found.mixer_bytes) == pytest.approx((taken * 2400, taken * 1000))
    assert found.bits_per_weight == pytest.approx(taken * 8 * BYTES / 9824)
    assert found.measured is (taken != 1.0)
    assert found.vision_bytes == 2000  # in a file of its own


def test_the_size_of_a_repository_counts_its_tower() -> None:
    assert weights(total=1.2 * BYTES + 2000).total_bytes == pytest.approx(1.2 * BYTES + 2000)
    assert not weights(total=1.2 * BYTES + 2000, id="another").measured  # of other weights than the published ones


def params(**given: Any) -> dict[str, float]:
    """Weights by what they do, of two layers on 8 numbers."""
    found: dict[str, float] = {}
    for tensor in FeedForward(**{"kind": "dense", "layers": 2, **given}).tensors(8):
        found[tensor.part] = found.get(tensor.part, 0) + tensor.params
    return {part: count for part, count in found.items() if count}


@pytest.mark.parametrize(
    ("given", "counted"),
    [
        ({"width": 30}, {"dense-ffn": 3 * 8 * 30 * 2}),  # up, gate, down
        ({"width": 30, "gated": False}, {"dense-ffn": 2 * 8 * 30 * 2}),
        ({"width": 30, "fused_gate": True}, {"dense-ffn": 3 * 8 * 30 * 2}),
        ({"width": 30, "bias": True}, {"dense-ffn": 3 * 8 * 30 * 2 + (30 + 30 + 8) * 2}),
        ({"width": 30, "bias": True, "gated": False}, {"dense-ffn": 2 * 8 * 30 * 2 + (30 + 8) * 2}),
        ({"width": 30, "extra_layer_params": 7}, {"dense-ffn": 3 * 8 * 30 * 2, "norm": 14}),
    ],
)
def test_weights_of_a_dense_feed_forward(given: dict[str, Any], counted: dict[str, float]) -> None:
    assert params(**given) == counted


MIXTURE: dict[str, Any] = {"kind": "moe", "experts": 4, "experts_per_token": 2, "expert_width": 5}


@pytest.mark.parametrize(
    ("given", "counted"),
    [
        ({}, {"router": 8 * 4 * 2, "expert": 4 * 3 * 8 * 5 * 2}),
        ({"router_bias": True}, {"router": 8 * 4 * 2 + 4 * 2, "expert": 960}),
        ({"expert_bias": True}, {"router": 64, "expert": 960 + 4 * (5 + 5 + 8) * 2}),
        ({"expert_bias": True, "gated": False}, {"router": 64, "expert": 640 + 4 * (5 + 8) * 2}),
        ({"shared_width": 6}, {"router": 64, "expert": 960, "shared": 3 * 8 * 6 * 2}),
        ({"shared_width": 6, "shared_gate": True}, {"router": 64, "expert": 960, "shared": 288 + 8 * 2}),
        ({"latent_size": 3}, {"router": 64, "expert": 4 * 3 * 3 * 5 * 2, "shared": 2 * 8 * 3 * 2}),  # experts work on 3 numbers
    ],
)
def test_weights_of_a_mixture(given: dict[str, Any], counted: dict[str, float]) -> None:
    assert params(**MIXTURE, **given) == counted


def test_a_fused_gate_is_one_tensor() -> None:
    shapes = [(each.role, each.columns, each.rows) for each in FeedForward(kind="dense", layers=1, width=30, fused_gate=True).tensors(8)]
    assert shapes[:2] == [("ffn_up", 8, 60), ("ffn_down", 30, 8)]
