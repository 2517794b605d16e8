"""Buffers beside weights and cache, how long loading takes, and what several devices are held against: by hand."""

from types import SimpleNamespace
from typing import Any

import pytest
from test_pace import CARD, DENSE, SLOW, part, runner

from advisor.against import held_terms
from advisor.around import _stored_bytes, load_s
from advisor.buffers import buffers_of, input_copies, widest
from advisor.feedforward import FeedForward
from advisor.mixer import Mixer
from advisor.placement import Placement
from advisor.record import replace
from advisor.units import MS


def model(*layers: FeedForward | Mixer) -> Any:
    """Eight numbers wide, of 100 words."""
    ffns = tuple(each for each in layers if isinstance(each, FeedForward))
    mixers = tuple(each for each in layers if isinstance(each, Mixer))

    class Hashed(SimpleNamespace):
        __hash__ = object.__hash__  # type: ignore[assignment]

    return Hashed(hidden_size=8, vocab_size=100, ffns=ffns, mixers=mixers)


@pytest.mark.parametrize(
    ("layer", "numbers"),
    [
        (FeedForward(kind="dense", layers=1, width=30), 60),  # gate and up
        (
            FeedForward(kind="moe", layers=1, width=30, shared_width=5, experts=4, experts_per_token=2, expert_width=6),
            2 * 35 + 2 * (12 + 8),
        ),
        (FeedForward(kind="moe", layers=1, experts=4, experts_per_token=2, expert_width=6, latent_size=3), 2 * (12 + 3)),
        (Mixer(kind="full", layers=1, heads=4, head_dim=16, v_head_dim=8), 4 * 24),
        (Mixer(kind="mamba1", layers=1, inner_size=70), 70),
    ],
)
def test_the_widest_layer(layer: Any, numbers: int) -> None:
    assert widest(model(layer)) == numbers
    assert widest(model(layer, FeedForward(kind="dense", layers=1, width=1000))) == 2000


def engine(**more: Any) -> Any:
    given = {"batched_prefill_tokens": 10, "f32_buffers": False, "sampler_logit_bytes": None, "max_sequences": 4, "pipeline_copies": 3}
    return SimpleNamespace(**{**given, **more})


WIDE = model(FeedForward(kind="dense", layers=1, width=30))  # 4 × 8 + 60 numbers a token


def test_states_in_32_bits_and_the_mask() -> None:
    # a batch of 10: 4 bytes × 10 × 92, a mask of 2 × 10 bytes a token for each of 3 copies; at the head 4 × 10 × (100 + 16)
    layer, head = buffers_of(part(1.0), WIDE, engine(f32_buffers=True), 1000.0, 3, 7.0)
    assert (layer.fixed_bytes, layer.bytes_per_token, layer.each_users_bytes_per_token) == (1000 + 3680, 60, 7)
    assert head.fixed_bytes == 1000 + 4640
    assert buffers_of(part(1.0, head_share=0.5), WIDE, engine(f32_buffers=True), 1000.0, 3)[1].fixed_bytes == 1000 + 2320
    assert layer.bytes(100, 2) == 4680 + 6000 + 1400


@pytest.mark.parametrize(("most", "logits"), [(4, 4), (None, 10), (50, 10)])
def test_states_in_16_bits_and_logits_of_sequences(most: int | None, logits: int) -> None:
    (only,) = buffers_of(part(1.0), WIDE, engine(max_sequences=most), 1000.0, 1)
    assert (only.fixed_bytes, only.bytes_per_token) == (1000 + 2 * 920 + 4 * logits * 100, 0)


def test_logits_of_every_user_where_the_sampler_keeps_them() -> None:
    work, sampler = buffers_of(part(1.0), WIDE, engine(sampler_logit_bytes=20.0), 1000.0, 1)
    assert (work.fixed_bytes, sampler.fixed_bytes, sampler.each_users_bytes) == (2840, 1000, 2000)
    assert buffers_of(part(1.0, head_share=0.0), WIDE, engine(sampler_logit_bytes=20.0), 1000.0, 1)[1].each_users_bytes == 0


def test_copies_of_inputs_where_batches_follow_each_other() -> None:
    two = Placement("layers", (part(), part(stage=1)), stages=2)
    assert [input_copies(each, engine()) for each in (two, replace(two, stages=1))] == [3, 1]
    outside = replace(two, parts=(part(host_layers=1), part(stage=1)))
    assert input_copies(outside, engine()) == 1
    assert input_copies(replace(two, parts=(part(host_expert_layers=1),)), engine()) == 1


WEIGHTS = replace(DENSE, dense_bytes=80.0, expert_bytes=160.0, head_bytes=8.0, embedding_bytes=16.0)  # 264 bytes
TABLES: Any = SimpleNamespace(storages={"an-ssd": SimpleNamespace(read_bytes_per_s=10.0)}, choices=SimpleNamespace(usual_storage="an-ssd"))


def test_bytes_that_a_part_loads() -> None:
    outside = part(0.5, host_dense_share=0.25, host_expert_share=0.25, embedding_share=0.5)
    assert _stored_bytes(outside, WEIGHTS) == 0.75 * 80 + 0.75 * 160 + 0.5 * 8 + 0.5 * 16


@pytest.mark.parametrize(
    ("parts", "groups", "seconds"),
    [
        ((part(1.0),), 1, 26.4),
        ((part(0.5, embedding_share=0.5, count=2),), 1, 26.4),  # both halves through one box
        ((part(0.5, embedding_share=0.5), part(0.5, embedding_share=0.5, box=1)), 1, 13.2),  # at the same time
        ((part(1.0, count=2),), 2, 26.4),  # copies read the same file once
        ((part(1.0), part(0.5)), 1, 26.4),  # never more than all of it
    ],
)
def test_seconds_until_the_weights_are_in(parts: Any, groups: int, seconds: float) -> None:
    system: Any = SimpleNamespace(boxes=[SimpleNamespace(host=None)], storage=None)
    assert load_s(system, WEIGHTS, Placement("whole", parts, groups=groups), TABLES) == pytest.approx(seconds)
    unknown: Any = SimpleNamespace(boxes=[SimpleNamespace(host=None)], storage="a tape")
    assert load_s(unknown, WEIGHTS, Placement("whole", parts, groups=groups), TABLES) is None


def test_several_are_held_against_the_faster_one_alone() -> None:
    # 8 GB at 1 TB/s, 0.2 ms of cache, 0.42 ms fixed; the slow card takes 16 ms for its weights
    both = Placement("layers", (part(device=SLOW), part(device=CARD, stage=1)), stages=2)
    assert held_terms(runner(), both, 1, 1000).total_s == pytest.approx(8.62 * MS)
