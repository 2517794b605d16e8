"""Compute buffers: the bytes that an engine needs on a device beside weights and cache while it works."""

from functools import lru_cache

from advisor.engine import Engine
from advisor.feedforward import FeedForward
from advisor.model import Model
from advisor.placement import Part, Placement
from advisor.record import dataclass

F32_BYTES, F16_BYTES = 4.0, 2.0


def input_copies(placement: Placement, engine: Engine) -> int:
    """Copies of a batch's inputs: several where the engine lets batches follow each other through devices, none in host memory."""
    return engine.pipeline_copies if placement.stages > 1 and not placement.host_layers and not placement.host_expert_layers else 1


@dataclass(frozen=True)
class State:
    """What lies in the buffers at one point of the work: always, and for each token of the context, each user, and each of his tokens."""

    fixed_bytes: float
    bytes_per_token: float = 0.0
    each_users_bytes_per_token: float = 0.0
    each_users_bytes: float = 0.0

    def bytes(self, context_tokens: float, users: int) -> float:
        """All of it."""
        each_token_bytes = self.bytes_per_token + self.each_users_bytes_per_token * users  # written out: asked of every device
        return self.fixed_bytes + self.each_users_bytes * users + each_token_bytes * context_tokens

    def each_token_bytes(self, users: int) -> float:
        """What one more token of context adds."""
        return self.bytes_per_token + self.each_users_bytes_per_token * users


def buffers_of(
    part: Part, model: Model, engine: Engine, runtime_bytes: float, copies: int, unpacked_bytes_per_token: float = 0.0
) -> tuple[State, ...]:
    """Runtime and compute buffers: what one batch of prompt tokens needs.

    llama.cpp gives the same bytes to one state after another, so the larger counts: in a layer, 4 B × ubatch × the widest states, a
    mask of 2 B for each token of the batch and of the context (flash attention; `copies` of it where batches follow each other
    through several devices), and for each cached token the `unpacked_bytes_per_token` of what its kernels read in 16 bits; at the
    head, 4 B × ubatch × (vocabulary + two hidden states), as it prints. Others compute in 16 bits and keep logits for their sequences
    only; vLLM sets apart what its sampler makes of them (`sampler_logit_bytes`: copies in 32 bits, sorted, counted).
    """
    batch = engine.batched_prefill_tokens
    states = batch * (4 * model.hidden_size + widest(model))
    if engine.f32_buffers:
        head = F32_BYTES * batch * (model.vocab_size + 2 * model.hidden_size) * part.head_share
        return State(runtime_bytes + F32_BYTES * states, F16_BYTES * batch * copies, unpacked_bytes_per_token), State(runtime_bytes + head)
    if engine.sampler_logit_bytes is not None:
        sampler = engine.sampler_logit_bytes * model.vocab_size if part.head_share else 0.0  # every rank holds all logits
        return State(runtime_bytes + F16_BYTES * states), State(runtime_bytes, each_users_bytes=sampler)
    logits = F32_BYTES * min(batch, engine.max_sequences or batch) * model.vocab_size * part.head_share
    return (State(runtime_bytes + logits + F16_BYTES * states),)


@lru_cache(maxsize=1024)
def widest(model: Model) -> int:
    """Numbers a token takes in the widest layer: gate and up of the feed-forward (of each of its experts, and what that one
    gives), or the states of attention."""
    feeding = max((2 * (f.width + f.shared_width) + f.experts_per_token * _expert(f, model.hidden_size) for f in model.ffns), default=0)
    mixing = max((m.heads * (m.head_dim + m.value_dim) + m.inner_size for m in model.mixers), default=0)
    return max(feeding, mixing)


def _expert(ffn: FeedForward, hidden_size: int) -> int:
    return 2 * ffn.expert_width + (ffn.latent_size or hidden_size)
