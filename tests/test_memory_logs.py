"""Memory against what engines logged (`memory_logs.yaml`): caches, states, weights, and what vLLM sets apart for its sampler."""

from math import inf
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.cache import Cache, cache_of
from advisor.catalog import Catalog
from advisor.weights import weights_of

GIB, MIB = 1024.0**3, 1024.0**2
CATALOG = Catalog.load(user_folder=False)
LOGS = yaml.safe_load((Path(__file__).parent / "memory_logs.yaml").read_text())


def rows(kind: str) -> Any:
    """One test for each row of a kind."""
    return pytest.mark.parametrize(
        "row", LOGS[kind], ids=lambda row: f"{row['model']}-{row.get('engine', '')}-{row.get('context_tokens', '')}"
    )


def cache(row: dict[str, Any]) -> Cache:
    """The cache that the row is about."""
    return cache_of(CATALOG.model(row["model"]), row.get("kv", "f16"), CATALOG.engine(row["engine"]))


def in_windows(row: dict[str, Any]) -> float:
    """Bytes of the window layers of one sequence, in as many cells as the log has where it says so."""
    windows = cache(row).windows
    if cells := row.get("window_cells"):
        return sum(each * cells for each, _, most in windows if most < inf)
    return sum(each * min(row["context_tokens"], most) for each, _, most in windows)


@rows("kv")
def test_cache_as_logged(row: dict[str, Any]) -> None:
    kept, tokens = cache(row), row["context_tokens"]
    each = kept.growing_bytes_per_token * tokens + in_windows(row) if "window_cells" in row else kept.held_bytes(tokens) - kept.state_bytes
    assert each * row.get("sequences", 1) / row.get("ranks", 1) / MIB == pytest.approx(row["kv_mib"], rel=1e-3)


@rows("windows")
def test_window_layers_as_logged(row: dict[str, Any]) -> None:
    assert in_windows(row) / row.get("ranks", 1) / MIB == pytest.approx(row["kv_mib"], rel=1e-3)


@rows("state")
def test_recurrent_state_as_logged(row: dict[str, Any]) -> None:
    assert cache(row).state_bytes * row.get("sequences", 1) / MIB == pytest.approx(row["state_mib"], rel=1e-3)


@rows("weights")
def test_weights_as_logged(row: dict[str, Any]) -> None:
    assert weights_of(CATALOG.model(row["model"]), CATALOG.quant(row["quant"]), row["engine"]).total_bytes / GIB == pytest.approx(
        row["gib"], rel=0.03
    )


@rows("activations")
def test_what_vllm_sets_apart_for_1024_sequences(row: dict[str, Any]) -> None:
    each = CATALOG.engine("vllm").sampler_logit_bytes or 0.0
    assert 1024 * CATALOG.model(row["model"]).vocab_size * each / GIB == pytest.approx(row["gib"], rel=0.07)


def test_sglang_keeps_windows_for_the_models_that_it_knows_only() -> None:
    """Gemma 3 is not among them (is_hybrid_swa_model): 62 layers of 16 heads of 2 × 128 numbers, all of the context."""
    known, unknown = (cache_of(CATALOG.model(name), "bf16", CATALOG.engine("sglang")) for name in ("gemma-4-31b", "gemma-3-27b"))
    assert (len(known.windows), unknown.windows) == (2, ())
    assert unknown.held_bytes(1000) == 1000 * 62 * 16 * 2 * 128 * 2


def test_sglang_keeps_a_state_as_it_is_and_vllm_in_pages() -> None:
    # Qwen3.6-27B: 48 layers of 48 × 128 × 128 numbers in 32 bits, 144 MiB, and 10,240 × 3 in 16, 2.8 MiB
    plain, paged = (cache_of(CATALOG.model("qwen3.6-27b"), "bf16", CATALOG.engine(name)) for name in ("sglang", "vllm"))
    assert plain.state_bytes / MIB == pytest.approx(146.8, rel=1e-3)
    assert plain.block_tokens < paged.block_tokens
    assert plain.state_bytes < paged.state_bytes
