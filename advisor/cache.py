"""The KV cache and recurrent state of one sequence, as one engine keeps it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cache:
    """Per sequence. `held_bytes(context)` is reserved, `read_bytes(filled)` is read for each generated token.

    growing: bytes a token adds in full-attention layers; windowed: bytes a token adds in layers that hold at most
    `window_tokens` (+ what the engine adds: `window_extra_tokens`); state: fixed bytes a sequence.
    """

    kv_quant: str
    growing_bytes_per_token: float
    windows: tuple[tuple[float, float, float], ...]  # (bytes a token, window tokens read, tokens held at most)
    state_bytes: float  # recurrent and convolution state: read and written each step
    kv_heads: int  # least count of KV heads among the layers; 1 with a latent (MLA)
    latent: bool  # MLA: the same on every tensor rank
    attention_flops_per_token_pair: float  # FLOP for one query token on one cached token, all full-attention layers
    window_attention: tuple[tuple[float, float], ...]  # (FLOP per pair, window tokens)
    block_tokens: int = 1  # the engine reserves whole blocks

    def held_bytes(self, context_tokens: float) -> float:
        """Bytes reserved for a sequence of `context_tokens`."""
        whole = -(-context_tokens // self.block_tokens) * self.block_tokens
        windows = sum(each * min(whole, most) for each, _, most in self.windows)
        return self.growing_bytes_per_token * whole + windows + self.state_bytes

    def read_bytes(self, filled_tokens: float) -> float:
        """Bytes of cache that one new token reads when `filled_tokens` are there (without the state)."""
        windows = sum(each * min(filled_tokens, window) for each, window, _ in self.windows)
        return self.growing_bytes_per_token * filled_tokens + windows
