"""Offload: what does not fit on the devices stays in host memory, and on disk where even that is short.

A mixture's experts go first: a token reads few of them. Of a dense model whole layers go.
"""

from math import ceil

from advisor.placement import layers, whole
from advisor.placement.shares import Job, Part, Placement
from advisor.reason import Reason
from advisor.record import replace
from advisor.weights import Weights


def plain(job: Job) -> Placement | Reason:
    """The layout before anything moves out: whole on one device, layers on several."""
    return whole.lay(job) if job.system.count == 1 else layers.lay(job)


def lay(job: Job) -> Placement | Reason:
    """Moves `job.short_bytes` of each part out to host memory, then to disk."""
    if any(group.device.unified_memory for group in job.system.groups):
        return Reason("offload.unified-memory", {"device": job.system.groups[0].device.id})
    base = job.plain or plain(job)
    if isinstance(base, Reason):
        return base
    if not any(short > 0 for short in job.short_bytes):
        return Reason("offload.not-needed", {})
    moved = tuple(_moved(job, part, short) for part, short in zip(base.parts, job.short_bytes, strict=True))
    if None in moved:
        return Reason("offload.cache-alone-is-too-much", {})
    parts = _to_disk(job, tuple(part for part in moved if part is not None))
    disk = sum(part.disk_share for part in parts)
    host_bytes = sum(out_bytes(job, part) for part in parts)
    reasons = [Reason("offload.host-memory", {"host_weights_bytes": host_bytes, "experts": bool(job.weights.experts)})]
    if disk:
        reasons.append(Reason("offload.disk", {"disk_bytes": disk * _movable_bytes(job)}))
    return replace(base, strategy="offload", parts=parts, reasons=(*base.reasons, *reasons))


def out_bytes(job: Job, part: Part) -> float:
    """Bytes of the weights that a part keeps outside its device."""
    return part.host_dense_share * job.weights.dense_bytes + part.host_expert_share * job.weights.expert_bytes


def _movable_bytes(job: Job) -> float:
    return job.weights.dense_bytes + job.weights.expert_bytes


def _moved(job: Job, part: Part, short_bytes: float) -> Part | None:
    """The part with at least `short_bytes` in host memory; None when all weights outside are still too little.

    Whole layers move, as engines move them: first the experts of as many layers as need be, then layers with their cache.
    """
    weights = job.weights
    layers, mixtures = round(part.layer_share * weights.layers), round(part.layer_share * weights.expert_layers)
    if short_bytes <= 0:
        return replace(part, layers=layers)
    expert_bytes = part.expert_share * weights.expert_bytes
    expert_layers = min(mixtures, _count(short_bytes, expert_bytes / mixtures)) if mixtures else 0
    experts = expert_layers / mixtures if mixtures else 0.0
    rest_bytes = short_bytes - experts * expert_bytes
    cache_bytes = part.cache_share * cache_beside_bytes(job)
    whole = _count(rest_bytes, (part.dense_share * weights.dense_bytes + cache_bytes) / layers) if rest_bytes > 0 else 0
    if whole > layers:
        return None
    beside = max(0, expert_layers - whole)
    return _split(part, (experts, whole / layers, whole / layers if cache_bytes else 0.0), (layers, whole, beside))


def left_in_host(part: Part, weights: Weights, expert_layers: int, whole_layers: int) -> Part:
    """A part that holds everything, with the experts of so many layers, and so many whole layers and their cache, in host memory."""
    experts = expert_layers / weights.expert_layers if expert_layers else 0.0
    whole = whole_layers / weights.layers
    return _split(part, (experts, whole, whole), (weights.layers, whole_layers, expert_layers))


def _count(bytes_: float, each_bytes: float) -> int:
    """How many of `each_bytes` make up at least `bytes_`."""
    return ceil(bytes_ / each_bytes - 1e-9)


def cache_beside_bytes(job: Job) -> float:
    """The users' cache, where the engine keeps a layer's cache beside its weights; 0 where it only streams weights."""
    if job.engine.offload_keeps == "streams":
        return 0.0
    return (job.workload.users or 1) * job.cache.held_bytes(job.workload.context_tokens)


def _split(part: Part, shares: tuple[float, float, float], layers: tuple[int, int, int]) -> Part:
    """The part with these shares of its own experts, layers and cache in host memory; its layers, those of them that are there, and
    those whose experts alone are.
    """
    experts, dense, cache = shares
    held, outside, experts_outside = layers
    return replace(
        part,
        layers=held,
        host_layers=outside,
        host_expert_layers=experts_outside,
        expert_share=part.expert_share * (1 - experts),
        dense_share=part.dense_share * (1 - dense),
        cache_share=part.cache_share * (1 - cache),
        host_expert_share=part.expert_share * experts,
        host_dense_share=part.dense_share * dense,
        host_cache_share=part.cache_share * cache,
    )


def _to_disk(job: Job, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """`disk_share` of each part: what the host's memory cannot hold, in proportion."""
    outside = sum(out_bytes(job, part) for part in parts)
    if job.host_room_bytes is None:
        return parts
    room = max(0.0, job.host_room_bytes - sum(part.host_cache_share for part in parts) * cache_beside_bytes(job))
    if outside <= room:
        return parts
    lost = (outside - room) / outside
    return tuple(replace(part, disk_share=lost * out_bytes(job, part) / _movable_bytes(job)) for part in parts)
