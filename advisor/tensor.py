"""A group of equal weight tensors: what they do, how wide, how many."""

from advisor.record import dataclass

PARTS = ("embedding", "head", "mixer", "dense-ffn", "expert", "shared", "router", "norm")


@dataclass(frozen=True)
class Tensor:
    """`copies` equal matrices of `rows` × `columns` (`columns` = the row width that quantization blocks divide).

    role: what quantization rules name (`attn_v`, `ffn_down_exps`, `token_embd`, `vector`…); part: one of PARTS.
    """

    role: str
    part: str
    columns: int
    rows: int
    copies: float

    @property
    def params(self) -> float:
        """Weights in all copies."""
        return self.columns * self.rows * self.copies


def vector(part: str, length: float, copies: float) -> Tensor:
    """Norm weights, biases and other vectors: `length` numbers, `copies` times."""
    return Tensor("vector", part, round(length), 1, copies)
