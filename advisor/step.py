"""Seconds of one step on one device: the additive terms of reading weights and cache, computing, and fixed costs.

A step has two halves. *Work* says what has to be done (bytes, operations, layers); *Constants* say how fast this engine does it
on this device. Both the estimator and `tools/fit.py` go through `decode_s` and `prompt_s`, which only add, multiply and raise
to powers, so that they take numbers as well as arrays of numbers.
"""

from typing import NamedTuple

from advisor.cache import Cache
from advisor.calibration import WIDTH_UNIT, Constants
from advisor.model import Model
from advisor.placement import Part
from advisor.record import dataclass
from advisor.weights import Weights

__all__ = [
    "Constants", "DecodeWork", "PromptWork", "Terms", "decode_s", "decode_terms", "decode_work", "prefill_terms", "prompt_s", "prompt_work",
]  # fmt: skip


class Terms(NamedTuple):
    """Seconds of one step, by what they are spent on. Parts add; `compute_s` is what computing adds beyond the reading."""

    weights_s: float = 0.0
    cache_s: float = 0.0
    compute_s: float = 0.0
    host_memory_s: float = 0.0
    link_s: float = 0.0
    overhead_s: float = 0.0

    @property
    def total_s(self) -> float:
        """All of it."""
        return self.weights_s + self.cache_s + self.compute_s + self.host_memory_s + self.link_s + self.overhead_s

    def __add__(self, other: "Terms") -> "Terms":  # type: ignore[override]
        return Terms(
            self.weights_s + other.weights_s,
            self.cache_s + other.cache_s,
            self.compute_s + other.compute_s,
            self.host_memory_s + other.host_memory_s,
            self.link_s + other.link_s,
            self.overhead_s + other.overhead_s,
        )


@dataclass(frozen=True)
class DecodeWork:
    """What one step of `users` sequences asks of one device."""

    weights_bytes: float
    expert_bytes: float
    active_params: float
    expert_params: float  # of them
    hidden_size: float
    layers: float
    expert_layers: float
    recurrent_layers: float  # linear attention: gated DeltaNet and its kin
    scan_layers: float  # selective scans and other recurrences
    fixed_share: float  # of the costs that every step has
    users: float
    cache_bytes: float
    attention_flops: float
    state_bytes: float


@dataclass(frozen=True)
class PromptWork:
    """What reading `tokens` tokens of one prompt asks of one device."""

    tokens: float
    chunks: float
    chunk_tokens: float
    dense_params: float
    expert_params: float  # active ones
    weights_bytes: float  # read in all chunks together
    attention_flops: float
    layers: float  # with what mixture and recurrent layers have more
    recurrent_layers: float
    hidden_size: float


def _active_expert_params(weights: Weights) -> float:
    """Weights of the experts that one token is sent to."""
    return weights.expert_params * weights.chosen_share


def decode_work(
    part: Part, weights: Weights, cache: Cache, model: Model, users: float, filled_tokens: float, routing_exponent: float
) -> DecodeWork:
    """One step of one device of `part`: its shares of the weights, of each user's cache, of the layers."""
    touched = weights.experts_touched_share(users, routing_exponent)
    pairs = cache.attention_flops_per_token_pair * filled_tokens
    if cache.window_attention:
        pairs += sum(flops * min(filled_tokens, window) for flops, window in cache.window_attention)
    return DecodeWork(
        weights_bytes=part.dense_share * weights.dense_bytes + part.head_share * weights.head_bytes,
        expert_bytes=part.expert_share * weights.expert_bytes * touched,
        active_params=part.compute_share * weights.active_params,
        expert_params=part.compute_share * _active_expert_params(weights),
        hidden_size=model.hidden_size,
        layers=part.layer_share * weights.layers,
        expert_layers=part.layer_share * weights.expert_layers,
        recurrent_layers=part.layer_share * (model.recurrent_layers - model.scan_layers),
        scan_layers=part.layer_share * model.scan_layers,
        fixed_share=part.layer_share,
        users=users,
        cache_bytes=part.cache_share * users * cache.read_bytes(filled_tokens),
        attention_flops=part.cache_share * users * pairs,
        state_bytes=part.cache_share * users * 2 * cache.state_bytes,
    )


def matrix_flops(hidden_size: float, constants: Constants) -> float:
    """Operations a second that matrix work on many tokens reaches: more in wider models."""
    rate: float = constants.prompt_flops * (hidden_size / WIDTH_UNIT) ** constants.prompt_width_exponent
    return rate


def larger(one_s: float, other_s: float, knee: float) -> float:
    """Two things done at the same time: the longer of them, a little more where they are alike (0 only if both are).

    A `knee` of 1 adds the two, an endless one takes the larger.
    """
    both: float = (one_s**knee + other_s**knee) ** (1 / knee)
    return both


def decode_s(work: DecodeWork, constants: Constants) -> Terms:
    """Seconds of that step.

    Reading and unpacking add; the matrix work of many users hides behind them until it exceeds them [Williams et al. 2009,
    the roofline, with a soft knee]; launches and synchronisation add to both. That matrix work is a prompt's of as many tokens
    as there are users, and goes at `batch_share` of its rate.
    """
    reading = work.weights_bytes / constants.weights_bytes_per_s + work.expert_bytes / constants.expert_bytes_per_s
    unpacking = work.active_params * work.users**constants.unpack_exponent / constants.unpack_flops
    params = work.active_params + work.expert_params * (constants.prompt_expert_factor - 1)
    computing = 2 * params * work.users / (matrix_flops(work.hidden_size, constants) * constants.batch_share)
    together = larger(reading + unpacking, computing, constants.knee_exponent)
    attending = larger(
        work.cache_bytes / constants.cache_bytes_per_s, work.attention_flops / constants.attention_flops, constants.knee_exponent
    )
    launches = work.layers * constants.layer_s + work.expert_layers * constants.expert_layer_s
    launches = launches + work.recurrent_layers * constants.recurrent_layer_s + work.scan_layers * constants.scan_layer_s
    every_step = constants.step_s + (work.users - 1) * constants.user_s
    return Terms(
        weights_s=reading,
        cache_s=attending + work.state_bytes / constants.state_bytes_per_s,
        compute_s=together - reading,
        overhead_s=launches + work.fixed_share * every_step,
    )


def host_s(
    part: Part, weights: Weights, cache: Cache, users: float, filled_tokens: float, routing_exponent: float, host_bytes_per_s: float
) -> float:
    """Seconds for what the part keeps in host memory and reads there in each step."""
    held = part.host_dense_share * weights.dense_bytes
    held += part.host_expert_share * weights.expert_bytes * weights.experts_touched_share(users, routing_exponent)
    held += part.host_cache_share * users * cache.read_bytes(filled_tokens)
    return held / host_bytes_per_s


def decode_terms(
    part: Part,
    weights: Weights,
    cache: Cache,
    model: Model,
    users: float,
    filled_tokens: float,
    constants: Constants,
    host_bytes_per_s: float | None = None,
) -> Terms:
    """One token for each of `users` sequences, each `filled_tokens` deep, on one device of `part`."""
    shape = constants.routing_exponent
    terms = decode_s(decode_work(part, weights, cache, model, users, filled_tokens, shape), constants)
    if host_bytes_per_s is None:
        return terms
    return terms + Terms(host_memory_s=host_s(part, weights, cache, users, filled_tokens, shape, host_bytes_per_s))


def _window_pairs(tokens: float, filled_tokens: float, window_tokens: float) -> float:
    """Pairs of a new and an earlier token at most `window_tokens` apart, for `tokens` new ones after `filled_tokens`."""
    growing = min(max(window_tokens - filled_tokens, 0.0), tokens)  # tokens that still see everything before them
    return growing * (filled_tokens + growing / 2) + (tokens - growing) * window_tokens


def prompt_work(
    part: Part,
    weights: Weights,
    cache: Cache,
    model: Model,
    prompt_tokens: float,
    filled_tokens: float,
    chunk_tokens: float,
    routing_exponent: float,
    together: float = 1.0,
) -> PromptWork:
    """One prompt on one device of `part`, read in chunks of at most `chunk_tokens` that `together` prompts share."""
    chunk = min(prompt_tokens * together, chunk_tokens)
    chunks = -(-prompt_tokens // chunk_tokens) if together == 1 else prompt_tokens / chunk
    touched = weights.experts_touched_share(chunk, routing_exponent)
    read = part.dense_share * weights.dense_bytes + part.expert_share * weights.expert_bytes * touched
    pairs = cache.attention_flops_per_token_pair * prompt_tokens * (filled_tokens + prompt_tokens / 2)
    pairs += sum(flops * _window_pairs(prompt_tokens, filled_tokens, window) for flops, window in cache.window_attention)
    recurrent = model.recurrent_layers
    return PromptWork(
        tokens=prompt_tokens,
        chunks=chunks,
        chunk_tokens=chunk,
        dense_params=part.compute_share * weights.dense_params,
        expert_params=part.compute_share * _active_expert_params(weights),
        weights_bytes=read * chunks,
        attention_flops=part.compute_share * pairs,
        layers=part.layer_share * (weights.layers + weights.expert_layers + recurrent),
        recurrent_layers=part.compute_share * recurrent,
        hidden_size=model.hidden_size,
    )


def prompt_s(work: PromptWork, constants: Constants) -> Terms:
    """Seconds of reading it: matrix work at the rate that chunks of this length reach, attention, weights, launches."""
    rate = matrix_flops(work.hidden_size, constants)
    filled = work.chunk_tokens / (work.chunk_tokens + constants.prompt_half_tokens)
    matrix = 2 * work.tokens * (work.dense_params + work.expert_params * constants.prompt_expert_factor) / (rate * filled)
    attention = work.attention_flops / (rate * constants.prompt_attention_share)
    recurrence = work.tokens * work.recurrent_layers * work.hidden_size * constants.prompt_recurrent_factor / rate
    return Terms(
        weights_s=work.weights_bytes / constants.prompt_weights_bytes_per_s,
        compute_s=matrix + attention + recurrence,
        overhead_s=work.chunks * work.layers * constants.prompt_layer_s,
    )


def prefill_terms(
    part: Part,
    weights: Weights,
    cache: Cache,
    model: Model,
    prompt_tokens: float,
    filled_tokens: float,
    constants: Constants,
    host_bytes_per_s: float | None = None,
    together: float = 1.0,
) -> Terms:
    """One prompt of `prompt_tokens` after `filled_tokens`, on one device of `part`; `together` prompts share chunks."""
    shape = constants.routing_exponent
    work = prompt_work(part, weights, cache, model, prompt_tokens, filled_tokens, constants.prompt_chunk_tokens, shape, together)
    terms = prompt_s(work, constants)
    if host_bytes_per_s is None:
        return terms
    return terms + Terms(host_memory_s=work.chunks * host_s(part, weights, cache, work.chunk_tokens, 0.0, shape, host_bytes_per_s))
