"""Offload: what does not fit on the devices stays in host memory, and on disk where even that is short.

A mixture's experts go first: a token reads few of them. Of a dense model whole layers go.
"""

from dataclasses import replace

from advisor.placement import layers, whole
from advisor.placement.shares import Job, Part, Placement
from advisor.reason import Reason


def plain(job: Job) -> Placement | Reason:
    """The layout before anything moves out: whole on one device, layers on several."""
    return whole.lay(job) if job.system.count == 1 else layers.lay(job)


def lay(job: Job) -> Placement | Reason:
    """Moves `job.short_bytes` of each part out to host memory, then to disk."""
    if any(group.device.unified_memory for group in job.system.groups):
        return Reason("offload.unified-memory", {"device": job.system.groups[0].device.id})
    base = plain(job)
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
    """The part with `short_bytes` in host memory: experts first; None when all weights outside are still too little."""
    if short_bytes <= 0:
        return part
    experts = min(part.expert_share, short_bytes / job.weights.expert_bytes) if job.weights.expert_bytes else 0.0
    rest = short_bytes - experts * job.weights.expert_bytes
    dense = rest / job.weights.dense_bytes
    if dense > part.dense_share * (1 + 1e-9):
        return None
    dense = min(dense, part.dense_share)
    return replace(
        part,
        expert_share=part.expert_share - experts,
        dense_share=part.dense_share - dense,
        host_expert_share=experts,
        host_dense_share=dense,
    )


def _to_disk(job: Job, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """`disk_share` of each part: what the host's memory cannot hold, in proportion."""
    outside = sum(out_bytes(job, part) for part in parts)
    room = job.host_room_bytes
    if room is None or outside <= room:
        return parts
    lost = (outside - room) / outside
    return tuple(replace(part, disk_share=lost * out_bytes(job, part) / _movable_bytes(job)) for part in parts)
