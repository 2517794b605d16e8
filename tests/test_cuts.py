"""Into how many parts engines cut a model: what divides, what is copied, what is padded – by hand."""

from types import SimpleNamespace
from typing import Any

import pytest

from advisor.placement.rules import tensor_problem
from advisor.placement.tensor import cache_share, copies

ANY: dict[str, Any] = {
    "excluded_architectures": (), "most_devices": None, "degrees": "any", "heads_divide": False, "kv_heads_divide": False,
    "kv_heads_divide_or_copy": False, "vocabulary_pad": 1, "vocabulary_divides": False, "hidden_divides": False,
}  # fmt: skip


def problem(ranks: int, kv_heads: int = 8, latent: bool = False, **rule: Any) -> str | None:
    """Of 32 heads, 1,000 words and 96 numbers."""
    job: Any = SimpleNamespace(
        engine=SimpleNamespace(id="an engine", tensor=SimpleNamespace(**{**ANY, **rule})), backend=SimpleNamespace(id="cuda"),
        model=SimpleNamespace(architecture="llama", heads=32, vocab_size=1000, hidden_size=96),
        cache=SimpleNamespace(kv_heads=kv_heads, latent=latent),
    )  # fmt: skip
    found = tensor_problem(job, ranks)
    return found and found.code.removeprefix("placement.")


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ({}, [1, 2, 3, 4, 5, 6, 7, 8]),
        ({"most_devices": 4}, [1, 2, 3, 4]),
        ({"degrees": "power-of-two"}, [1, 2, 4, 8]),
        ({"heads_divide": True}, [1, 2, 4, 8]),
        ({"kv_heads_divide": True, "kv_heads": 6}, [1, 2, 3, 6]),
        ({"kv_heads_divide_or_copy": True, "kv_heads": 2}, [1, 2, 4, 6, 8]),  # or each is copied as often
        ({"kv_heads_divide": True, "kv_heads": 1, "latent": True}, [1, 2, 3, 4, 5, 6, 7, 8]),  # a latent has none to cut
        ({"vocabulary_divides": True}, [1, 2, 4, 5, 8]),
        ({"vocabulary_divides": True, "vocabulary_pad": 64}, [1, 2, 4, 8]),  # 1,024
        ({"hidden_divides": True}, [1, 2, 3, 4, 6, 8]),
        ({"excluded_architectures": ("llama",)}, [1]),
    ],
)
def test_numbers_of_parts(rule: dict[str, Any], allowed: list[int]) -> None:
    assert [ranks for ranks in range(1, 9) if problem(ranks, **rule) is None] == allowed


def test_what_is_said() -> None:
    assert problem(3, heads_divide=True) == "heads"
    assert problem(3, kv_heads_divide=True) == "kv-heads"
    assert problem(3, vocabulary_divides=True) == "vocabulary"
    assert problem(5, hidden_divides=True) == "hidden"
    assert problem(8, most_devices=4) == "most-devices"
    assert problem(6, degrees="power-of-two") == "power-of-two"


@pytest.mark.parametrize(
    ("heads", "ranks", "latent", "share", "said"),
    [
        (8, 1, False, 1.0, []),
        (8, 4, False, 0.25, []),
        (8, 3, False, 3 / 8, []),  # one of three holds three of eight
        (8, 8, False, 1 / 8, []),
        (2, 4, False, 0.5, ["cache.heads-copied"]),
        (1, 4, True, 1.0, ["cache.latent-copied"]),
        (1, 2, True, 1.0, ["cache.latent-copied"]),
        (1, 1, True, 1.0, []),
    ],
)
def test_the_cache_of_a_rank(heads: int, ranks: int, latent: bool, share: float, said: list[str]) -> None:
    job: Any = SimpleNamespace(cache=SimpleNamespace(kv_heads=heads, latent=latent))
    assert cache_share(job, ranks) == share
    assert [each.code for each in copies(job, ranks)] == said
