"""Sizes in words: as many parameters as asked, said to be a typical shape."""

import pytest

from advisor.catalog import Catalog
from advisor.intake.size_words import model as size_model

SIZES = Catalog.load(user_folder=False).typical_sizes


def model(words: str):
    return size_model(words, SIZES)


@pytest.mark.parametrize("words", ["135m", "0.6b", "1.5B", "7b", "8b", "13b", "27b", "32b", "70b", "110b", "405b", "1000b"])
def test_dense_size(words: str) -> None:
    found = model(words)
    assert found is not None
    billions = float(words[:-1]) / (1000 if words.endswith("m") else 1)
    assert found.params / 1e9 == pytest.approx(billions, rel=0.02)
    assert found.moe is None
    assert "typical" in found.assumed[0]


@pytest.mark.parametrize(
    ("words", "total", "active"),
    [("30b-a3b", 30, 3), ("671b-a37b", 671, 37), ("235B-A22B", 235, 22), ("106b a12b", 106, 12), ("35b-a3b", 35, 3), ("1t-a32b", 1000, 32)],
)
def test_mixture_size(words: str, total: float, active: float) -> None:
    found = model(words)
    assert found is not None
    assert found.params / 1e9 == pytest.approx(total, rel=0.03)
    assert found.active_params / 1e9 == pytest.approx(active, rel=0.03)


def test_experts_times_a_size() -> None:
    found = model("8x7b")  # Mixtral 8x7B: 46.7 B in all, 12.9 B a token
    assert found is not None
    assert found.params / 1e9 == pytest.approx(46.7, rel=0.06)
    assert found.active_params / 1e9 == pytest.approx(12.9, rel=0.06)
    assert found.moe is not None
    assert (found.moe.experts, found.moe.experts_per_token) == (8, 2)


def test_a_70b_is_shaped_like_the_70b_models() -> None:
    found = model("70b")
    assert found is not None
    assert (found.layers, found.hidden_size, found.kv_heads) == (80, 8192, 8)


@pytest.mark.parametrize("words", ["", "b", "llama-70b", "70", "0b", "1b-a3b", "9999999b", "70b-a70b", "1x7b", "70bb", "١b"])
def test_no_size(words: str) -> None:
    assert model(words) is None
