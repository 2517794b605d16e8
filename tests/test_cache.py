"""The cache of one sequence by hand: layers of each kind, windows, latents, states, and what each engine makes of them."""

from math import inf
from typing import Any

import pytest

from advisor.cache import Cache, cache_of, state_layer_bytes
from advisor.catalog import Catalog
from advisor.engine import Keeping
from advisor.mixer import Mixer
from advisor.record import replace

CATALOG = Catalog.load(user_folder=False)
FULL: dict[str, Any] = {"kind": "full", "layers": 4, "heads": 8, "kv_heads": 2, "head_dim": 64, "v_head_dim": 32}
SLIDING = {**FULL, "kind": "sliding", "window_tokens": 100}
MLA: dict[str, Any] = {"kind": "mla", "layers": 3, "heads": 8, "head_dim": 96, "v_head_dim": 32, "kv_lora_rank": 512, "rope_dim": 64}
PICKING = {"indexer_heads": 4, "indexer_head_dim": 128, "indexer_tokens": 2048, "indexer_layers": 3}
DELTA: dict[str, Any] = {"kind": "gated-deltanet", "layers": 6, "heads": 4, "key_heads": 2, "head_dim": 64, "conv_kernel": 4}


def cache(*mixers: dict[str, Any], kv: str = "f16", **keeps: Any) -> Cache:
    """What an engine of these habits keeps of these layers: numbers of 16 bits, or 8.5 and 8 as q8_0 and fp8."""
    engine = replace(CATALOG.engine("llama.cpp"), keeps=Keeping(**keeps), kv_types={"f16": 16.0, "q8_0": 8.5, "fp8": 8.0})
    model = replace(CATALOG.model("qwen3-8b"), mixers=tuple(Mixer(**each) for each in mixers))
    return cache_of(model, kv, engine)


def test_layers_that_see_everything() -> None:
    # 4 layers × 2 heads × (64 + 32) numbers of two bytes; of 8 query heads two operations a number
    found = cache(FULL)
    assert (found.growing_bytes_per_token, found.windows, found.block_tokens) == (1536, (), 1)
    assert (found.attention_flops_per_token_pair, found.window_attention) == (4 * 2 * 8 * 96, ())
    assert cache(FULL, kv="q8_0").growing_bytes_per_token == 1536 * 8.5 / 16
    assert cache({**FULL, "kv_shared_layers": 1}).growing_bytes_per_token == 1152  # one reads an earlier layer's
    assert cache({**FULL, "indexer_layers": 4, "indexer_head_dim": 16}).growing_bytes_per_token == 1536 + 4 * 16 * 2


def test_layers_with_a_window() -> None:
    found = cache(SLIDING, block_tokens=16, window_extra_tokens=30)
    assert (found.growing_bytes_per_token, found.windows) == (0, ((1536, 100, 144),))  # 130 tokens in nine blocks
    assert cache(SLIDING, block_tokens=16, window_extra_tokens=28).windows == ((1536, 100, 128),)
    assert (found.attention_flops_per_token_pair, found.window_attention) == (0, ((4 * 2 * 8 * 96, 100),))
    assert cache(SLIDING, kv="q8_0").windows == ((816, 100, 100),)
    assert cache(SLIDING, kv="q8_0", window_quantized=False).windows == ((1536, 100, 100),)


@pytest.mark.parametrize("keeps", [{"windows": False}, {"full_architectures": ("qwen3",)}])
def test_engines_that_heed_no_window(keeps: dict[str, Any]) -> None:
    found = cache(SLIDING, **keeps)
    assert (found.growing_bytes_per_token, found.windows, found.window_attention) == (1536, (), ())
    assert found.attention_flops_per_token_pair == 4 * 2 * 8 * 96


@pytest.mark.parametrize(
    ("windowed", "full", "counted"),
    [(5, 2, 6), (4, 2, 4), (2, 2, 2), (1, 2, 1), (5, 0, 5)],  # whole groups of two
)
def test_window_layers_fill_whole_groups(windowed: int, full: int, counted: int) -> None:
    mixers = [{**SLIDING, "layers": windowed}] + [{**FULL, "layers": full}] * bool(full)
    assert cache(*mixers, grouped_layers=True).windows == ((384 * counted, 100, 100),)
    assert cache(*mixers).windows == ((384 * windowed, 100, 100),)


def test_one_latent_for_all_heads() -> None:
    # 3 layers × (512 + 64) numbers of two bytes; absorbed: 2 × 8 heads × (512 + 64 + 512), else on heads of 96 and 32
    found = cache(MLA)
    assert (found.growing_bytes_per_token, found.windows, found.latent) == (3456, (), True)
    assert found.attention_flops_per_token_pair == 3 * 2 * 8 * (2 * 512 + 64)
    assert cache(MLA, absorbed=False).attention_flops_per_token_pair == 3 * 2 * 8 * (96 + 32)
    assert not cache(FULL).latent


def test_a_latent_of_which_an_index_picks() -> None:
    picking = {**MLA, **PICKING}
    # the index keeps 128 numbers a layer, of two bytes; or of one and a scale, and then only what is picked is read
    assert cache(picking).growing_bytes_per_token == 3456 + 3 * 128 * 2
    bytes_ = {"sparse_latent_bytes": 656, "sparse_index_bytes": 132}  # with scales
    sparse = cache(picking, sparse=True, **bytes_)
    assert (sparse.growing_bytes_per_token, sparse.windows) == (3 * 132, ((3456, 2048, inf),))
    assert cache(picking, kv="fp8", sparse=True, **bytes_).windows == ((3 * 656, 2048, inf),)
    assert cache(picking, kv="fp8").growing_bytes_per_token == 3456 / 2 + 3 * 128 * 2
    assert cache(MLA, kv="fp8", sparse=True).growing_bytes_per_token == 3456 / 2  # nothing picks


def test_one_entry_for_several_tokens() -> None:
    """A window of plain entries of 512 numbers, one for each four tokens, and as many index keys of 128 numbers; 3 layers."""
    packed = {"kind": "compressed", "layers": 3, "heads": 8, "head_dim": 512, "window_tokens": 128}
    assert cache(packed).windows == ((3072, 128, 128),)
    assert cache(packed, block_tokens=16, window_extra_tokens=3).windows == ((3072, 128, 144),)
    # a query on the window: four operations a number of 8 heads; a quarter of that on each earlier token, or on what is picked
    assert (cache(packed).attention_flops_per_token_pair, cache(packed).window_attention) == (0, ((3 * 4 * 8 * 512, 128),))
    packed = {**packed, "compress_ratio": 4}
    assert (cache(packed).windows, cache(packed).growing_bytes_per_token) == (((3072, 128, 128),), 768)
    assert cache(packed).attention_flops_per_token_pair == 3 * 8 * 512
    packed |= {"indexer_heads": 4, "indexer_head_dim": 128, "indexer_tokens": 512}
    assert cache(packed).growing_bytes_per_token == 768 + 192
    sparse = cache(packed, sparse=True)  # 512 picked entries stand for 2,048 tokens
    assert (sparse.windows, sparse.growing_bytes_per_token) == (((3072, 128, 128), (768, 2048, inf)), 192)
    assert (sparse.attention_flops_per_token_pair, sparse.window_attention) == (0, ((3 * 4 * 8 * 512, 128), (3 * 8 * 512, 2048)))


def test_bytes_held_and_read() -> None:
    """Ten bytes a token in blocks of 16, three in a window of 20 that holds 32, five bytes of state."""
    found = Cache("f16", 10.0, ((3.0, 20.0, 32.0),), 5.0, 8, False, 0, (), block_tokens=16)
    assert [found.held_bytes(tokens) for tokens in (0, 1, 16, 17, 33)] == [5, 160 + 48 + 5, 213, 320 + 96 + 5, 480 + 96 + 5]
    assert [found.read_bytes(tokens) for tokens in (0, 10, 20, 30)] == [0, 130, 260, 360]


@pytest.mark.parametrize(
    ("layer", "numbers", "convolved"),
    [  # numbers of state, and numbers that a convolution over four tokens keeps three times
        ({**DELTA, "key_head_dim": 32}, 4 * 32 * 64, 2 * 2 * 32 + 4 * 64),
        (DELTA, 4 * 64 * 64, 2 * 2 * 64 + 4 * 64),
        ({"kind": "kda", "heads": 4, "head_dim": 8}, 4 * 8 * 8, 3 * 4 * 8),
        ({"kind": "lightning", "heads": 4, "head_dim": 8}, 4 * 8 * 8, 0),
        ({"kind": "mamba2", "heads": 4, "head_dim": 8, "state_size": 16, "groups": 2}, 4 * 8 * 16, 4 * 8 + 2 * 2 * 16),
        ({"kind": "mamba1", "inner_size": 64, "state_size": 16}, 64 * 16, 64),
        ({"kind": "shortconv"}, 0, 4096),
        ({"kind": "rg-lru", "inner_size": 64}, 64, 64),
        ({"kind": "rwkv", "state_size": 500}, 500, 0),
        (FULL, 0, 0),
    ],
)
def test_the_state_of_a_layer(layer: dict[str, Any], numbers: int, convolved: int) -> None:
    mixer = Mixer(**{"layers": 1, **layer, "conv_kernel": 4})
    assert state_layer_bytes(mixer, 4096) == 4 * numbers + 4 * 3 * convolved
    assert state_layer_bytes(mixer, 4096, 2.0, 1.0) == 2 * numbers + 3 * convolved
    assert state_layer_bytes(replace(mixer, conv_kernel=0), 4096) == 4 * numbers  # nothing is convolved


def test_states_in_pages_as_large_as_the_caches() -> None:
    # a layer's state: 4 × 64 × 64 numbers of 4 bytes and 3 × 512 of 2: 68,608 bytes; attention: 2 × 96 numbers of 2 bytes a token,
    # 6,144 bytes in 16 tokens: 12 times that are a page, of 192 tokens and 73,728 bytes
    apart, paged = cache(FULL, DELTA, block_tokens=16), cache(FULL, DELTA, block_tokens=16, state_as_model=True, state_paged=True)
    assert (apart.block_tokens, apart.state_bytes) == (16, 6 * (4 * 16384 + 4 * 3 * 512))
    assert (paged.block_tokens, paged.state_bytes) == (192, 6 * 73728)
    halved = cache(FULL, {**DELTA, "state_bits": 16}, block_tokens=16, state_as_model=True, state_paged=True)
    assert (halved.block_tokens, halved.state_bytes) == (96, 6 * 36864)  # 35,840 bytes: 6 times 6,144
    small = cache(FULL, {**DELTA, "head_dim": 4}, block_tokens=16, state_as_model=True, state_paged=True)
    assert (small.block_tokens, small.state_bytes) == (16, 6 * 6144)  # a page is never smaller than a block
    # two layers of 128 wide: 4 × 128 × 128 numbers of 4 bytes and 3 × 1,024 of 2 are 268,288: 44 times 6,144; all eight get such pages
    wider = cache(FULL, DELTA, {**DELTA, "head_dim": 128, "layers": 2}, block_tokens=16, state_as_model=True, state_paged=True)
    assert (wider.block_tokens, wider.state_bytes) == (44 * 16, 8 * 44 * 6144)


def test_states_beside_no_cache_or_a_latent_are_not_paged() -> None:
    bare = 6 * 68608
    assert (
        cache(DELTA, block_tokens=16, state_as_model=True, state_paged=True).state_bytes,
        cache(DELTA, block_tokens=16).block_tokens,
    ) == (bare, 16)
    latent = cache(MLA, DELTA, block_tokens=16, state_as_model=True, state_paged=True)
    assert (latent.block_tokens, latent.state_bytes) == (16, bare)
    unpaged = cache(FULL, DELTA, block_tokens=16, state_as_model=True)
    assert (unpaged.block_tokens, unpaged.state_bytes) == (16, bare)
    assert cache(FULL, block_tokens=16, state_as_model=True, state_paged=True).state_bytes == 0
