"""The KV cache and recurrent state of one sequence, as one engine keeps it."""

from functools import lru_cache
from math import inf

from advisor.engine import Engine, Keeping
from advisor.errors import BadValue
from advisor.mixer import Mixer
from advisor.model import Model
from advisor.record import dataclass
from advisor.units import BITS_PER_BYTE

FP8_BITS = 8.0
F16_BITS = 16.0
F32_BYTES = 4.0
F16_BYTES = 2.0


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
    unpacked_bytes_per_token: float = 0.0  # a copy in 16 bits of the widest full-attention layer, where it is kept in fewer

    def held_bytes(self, context_tokens: float) -> float:
        """Bytes reserved for a sequence of `context_tokens`."""
        whole = -(-context_tokens // self.block_tokens) * self.block_tokens
        windows = sum(each * min(whole, most) for each, _, most in self.windows) if self.windows else 0.0
        return self.growing_bytes_per_token * whole + windows + self.state_bytes

    def read_bytes(self, filled_tokens: float) -> float:
        """Bytes of cache that one new token reads when `filled_tokens` are there (without the state)."""
        windows = sum(each * min(filled_tokens, window) for each, window, _ in self.windows) if self.windows else 0.0
        return self.growing_bytes_per_token * filled_tokens + windows


def kv_bits(kv_quant: str, engine: Engine) -> float:
    """Bits of one cached number of this type."""
    try:
        return engine.kv_types[kv_quant]
    except KeyError:
        known = tuple(engine.kv_types)
        raise BadValue(f"--kv-quant: {kv_quant!r} is no cache type of {engine.id} ({', '.join(known)})", nearest=known[:3]) from None


@lru_cache(maxsize=4096)
def cache_of(model: Model, kv_quant: str, engine: Engine) -> Cache:
    """The cache of `model` as `engine` keeps it in numbers of type `kv_quant`."""
    keeping, bits = engine.keeps, kv_bits(kv_quant, engine)
    growing, windows, pair_flops, window_flops = 0.0, [], 0.0, []
    for mixer in model.mixers:
        for each, window, held in _held(mixer, bits, keeping, model):
            if window == inf and held == inf:
                growing += each
            else:
                windows.append((each, window, held))
        for flops, window in _attended(mixer, keeping, model):
            if window == inf:
                pair_flops += flops * mixer.layers
            else:
                window_flops.append((flops * mixer.layers, window))
    block, state = _state(model, keeping)
    return Cache(
        kv_quant=kv_quant,
        growing_bytes_per_token=growing,
        windows=tuple(windows),
        state_bytes=state,
        kv_heads=model.kv_heads,
        latent=any(m.latent for m in model.mixers),
        attention_flops_per_token_pair=pair_flops,
        window_attention=tuple(window_flops),
        block_tokens=block,
        unpacked_bytes_per_token=_widest_numbers(model) * F16_BYTES if bits < F16_BITS else 0.0,
    )


def _widest_numbers(model: Model) -> int:
    """Numbers that a token adds to the widest layer that sees everything."""
    return max((_numbers(m) for m in model.mixers if m.kind in ("full", "mla") and (m.latent or m.caching_layers)), default=0)


def _numbers(mixer: Mixer) -> int:
    """Numbers that a token adds to one layer: the latent, or keys and values."""
    if mixer.kind == "mla":
        return (mixer.kv_lora_rank or 0) + (mixer.rope_dim or 0)
    return mixer.kv_heads * (mixer.head_dim + mixer.value_dim)


def _windowed(mixer: Mixer, keeping: Keeping, model: Model) -> bool:
    known = not keeping.window_architectures or model.architecture in keeping.window_architectures
    return keeping.windows and known and model.architecture not in keeping.full_architectures and mixer.window_tokens is not None


def _held(mixer: Mixer, bits: float, keeping: Keeping, model: Model) -> list[tuple[float, float, float]]:
    """(bytes a token, tokens read at most, tokens held at most) of these layers; infinite where they see everything."""
    if mixer.kind == "mla":
        return _held_latent(mixer, bits, keeping)
    if mixer.kind == "compressed":
        return _held_compressed(mixer, bits, keeping)
    if not mixer.is_attention or not mixer.caching_layers:
        return []
    numbers = _numbers(mixer)
    if mixer.kind == "full" or not _windowed(mixer, keeping, model):
        index = mixer.indexer_layers * mixer.indexer_head_dim * F16_BYTES
        return [(numbers * mixer.caching_layers * bits / BITS_PER_BYTE + index, inf, inf)]
    layers = _group(mixer, model) if keeping.grouped_layers else mixer.caching_layers
    each = numbers * layers * (bits if keeping.window_quantized else F16_BITS) / BITS_PER_BYTE
    window, share = float(mixer.window_tokens or 0), keeping.window_context_share
    if share is not None:  # all of the window is read, wherever it lies
        whole = (share * each, window, inf)
        return [whole] if share == 1 else [whole, ((1 - share) * each, window, 0.0)]
    held = window + keeping.window_extra_tokens
    return [(each, window, -(-held // keeping.block_tokens) * keeping.block_tokens)]


def _group(mixer: Mixer, model: Model) -> int:
    """Window layers counted in whole groups of as many layers as attend in full [vLLM hybrid KV cache manager]."""
    full = sum(m.caching_layers for m in model.mixers if m.kind == "full")
    layers = mixer.caching_layers
    return -(-layers // full) * full if 0 < full < layers else layers


def _held_latent(mixer: Mixer, bits: float, keeping: Keeping) -> list[tuple[float, float, float]]:
    numbers = _numbers(mixer)
    sparse = keeping.sparse and mixer.indexer_tokens is not None
    fp8_bytes = keeping.sparse_latent_bytes if sparse and bits == FP8_BITS else None
    each = numbers * bits / BITS_PER_BYTE if fp8_bytes is None else fp8_bytes
    index = mixer.indexer_head_dim * F16_BYTES if keeping.sparse_index_bytes is None else keeping.sparse_index_bytes
    found = [(each * mixer.layers, float(mixer.indexer_tokens or 0) if sparse else inf, inf)]
    if mixer.indexer_layers:
        found.append((index * mixer.indexer_layers, inf, inf))
    return found


def _held_compressed(mixer: Mixer, bits: float, keeping: Keeping) -> list[tuple[float, float, float]]:
    """DeepSeek-V4: a window of plain entries, one entry for each `compress_ratio` tokens, and as many index keys."""
    each = mixer.head_dim * bits / BITS_PER_BYTE * mixer.layers
    window = float(mixer.window_tokens or 0)
    held = window + keeping.window_extra_tokens
    found = [(each, window, -(-held // keeping.block_tokens) * keeping.block_tokens)]
    if mixer.compress_ratio:
        found.append((each / mixer.compress_ratio, _picked(mixer, keeping), inf))
        if mixer.indexer_heads:
            index = mixer.indexer_head_dim * bits / BITS_PER_BYTE * mixer.layers
            found.append((index / mixer.compress_ratio, inf, inf))
    return found


def _picked(mixer: Mixer, keeping: Keeping) -> float:
    """Tokens that the compressed entries stand for which one token reads: those that the index picks, or all."""
    return float(mixer.indexer_tokens * mixer.compress_ratio) if keeping.sparse and mixer.indexer_tokens else inf


def _attended(mixer: Mixer, keeping: Keeping, model: Model) -> list[tuple[float, float]]:
    """(FLOP of one layer for one query on one token: the score and the weighted sum, over all heads; such tokens at most)."""
    if mixer.kind == "compressed":
        plain = 4.0 * mixer.heads * mixer.head_dim
        found = [(plain, float(mixer.window_tokens or 0))]
        return [*found, (plain / mixer.compress_ratio, _picked(mixer, keeping))] if mixer.compress_ratio else found
    if mixer.kind == "mla" and keeping.absorbed:
        return [(2.0 * mixer.heads * (2 * (mixer.kv_lora_rank or 0) + (mixer.rope_dim or 0)), inf)]
    if not mixer.is_attention:
        return []
    window = float(mixer.window_tokens) if mixer.window_tokens and _windowed(mixer, keeping, model) else inf
    return [(2.0 * mixer.heads * (mixer.head_dim + mixer.value_dim), window)]


def _state(model: Model, keeping: Keeping) -> tuple[int, float]:
    """Tokens in a block, and bytes of state of one sequence.

    Where both are paged alike [vLLM], an attention block is made as large as one layer's state, and the state fills a whole page.
    """
    recurrent = [m for m in model.mixers if not m.is_attention and m.kind != "none"]
    if not keeping.state_as_model or not recurrent:
        return keeping.block_tokens, sum(m.layers * state_layer_bytes(m, model.hidden_size) for m in recurrent)
    sizes = [(m.layers, state_layer_bytes(m, model.hidden_size, m.state_bits / BITS_PER_BYTE, F16_BYTES)) for m in recurrent]
    main = model.attention
    per_token = 0.0 if main is None else main.kv_heads * (main.head_dim + main.value_dim) * F16_BYTES
    if not keeping.state_paged or main is None or main.latent or not per_token:
        return keeping.block_tokens, sum(layers * each for layers, each in sizes)
    page = max(each for _, each in sizes)
    unit = keeping.block_tokens * per_token
    block = keeping.block_tokens * max(1, -(-page // unit))
    return int(block), sum(layers for layers, _ in sizes) * block * per_token


def state_layer_bytes(m: Mixer, hidden_size: int, state_number_bytes: float = F32_BYTES, conv_number_bytes: float = F32_BYTES) -> float:
    """Bytes of the recurrent and convolution state of one layer and sequence."""
    key_dim = m.key_head_dim or m.head_dim
    state, conv = {
        "gated-deltanet": (m.heads * key_dim * m.head_dim, 2 * m.key_heads * key_dim + m.heads * m.head_dim),
        "kda": (m.heads * m.head_dim**2, 3 * m.heads * m.head_dim),
        "lightning": (m.heads * m.head_dim**2, 0),
        "mamba2": (m.heads * m.head_dim * m.state_size, m.heads * m.head_dim + 2 * m.groups * m.state_size),
        "mamba1": (m.inner_size * m.state_size, m.inner_size),
        "shortconv": (0, hidden_size),
        "rg-lru": (m.inner_size, m.inner_size),
        "rwkv": (m.state_size, 0),
    }.get(m.kind, (0, 0))
    return state * state_number_bytes + conv * max(0, m.conv_kernel - 1) * conv_number_bytes
