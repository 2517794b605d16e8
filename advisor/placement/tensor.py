"""Tensor: every layer cut over all devices; two all-reduces of the hidden state a layer [Pope et al. 2022, §3]."""

from math import ceil

from advisor.placement.rules import tensor_problem
from advisor.placement.seats import Seat, reduces, seats
from advisor.placement.shares import Job, Part, Placement
from advisor.reason import Reason

REDUCES_PER_LAYER = 2  # after attention and after the feed-forward


def lay(job: Job) -> Placement | Reason:
    """Equal shares: the smallest device sets the room, the slowest the pace."""
    ranks = job.system.count
    if problem := tensor_problem(job, ranks):
        return problem
    messages = reduces(job, REDUCES_PER_LAYER * job.model.layers) if ranks > 1 else iter(())
    if isinstance(messages, Reason):
        return messages
    parts = tuple(cut(job, seat, ranks) for seat in seats(job.system))
    return Placement("tensor", parts, tuple(messages), engine=job.engine.id, backend=job.backend.id, reasons=copies(job, ranks))


def cut(job: Job, seat: Seat, ranks: int, share: float = 1.0) -> Part:
    """A seat's part of `share` of the layers, cut over `ranks`: 1/ranks of the weights, the cache by KV heads."""
    return Part(
        seat.device,
        seat.memory_bytes,
        count=seat.count,
        box=seat.box,
        layer_share=share,
        dense_share=share / ranks,
        expert_share=share / ranks,
        head_share=1 / ranks,
        embedding_share=1 / ranks,
        cache_share=share * cache_share(job, ranks),
        compute_share=share / ranks,
    )


def cache_share(job: Job, ranks: int) -> float:
    """Largest share of a sequence's cache on a rank: a latent is copied to all, KV heads stay whole."""
    if job.cache.latent:
        return 1.0
    heads = job.cache.kv_heads
    return ceil(heads / min(ranks, heads)) / heads


def copies(job: Job, ranks: int) -> tuple[Reason, ...]:
    """Says it where ranks keep copies of the cache."""
    if ranks > 1 and job.cache.latent:
        return (Reason("cache.latent-copied", {"devices": ranks}),)
    if ranks > job.cache.kv_heads:
        return (Reason("cache.heads-copied", {"devices": ranks, "kv_heads": job.cache.kv_heads}),)
    return ()
