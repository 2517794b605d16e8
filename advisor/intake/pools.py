"""The memory that a GPU can have: its own, or of a pool that it shares with the system."""

from advisor.intake import identify
from advisor.intake.merge import Merged, is_generic
from advisor.intake.seen import Seen
from advisor.units import GIB

SMALL_POOL_BYTES = 8 * GIB  # a carved-out part below this is not what a box with shared memory computes in


def memory_of(seen: Seen, identity: identify.Identity, integrated: bool, found: Merged) -> tuple[float | None, tuple[str, ...]]:
    """The memory that the GPU can have: of a box that shares it the larger pool, never the small carved-out part."""
    unified = bool(identity.device and identity.device.unified_memory) or _box_like(seen, identity)
    if integrated:
        return max(seen.memory_bytes or 0.0, seen.shared_bytes or 0.0) or seen.limit_bytes, ()
    if not unified:
        return seen.memory_bytes or seen.limit_bytes, ()
    pool = max(seen.memory_bytes or 0.0, seen.shared_bytes or 0.0)
    if seen.maker == "amd":
        if identity.device is None and seen.name is None and (seen.memory_bytes or 0.0) >= SMALL_POOL_BYTES:
            return seen.memory_bytes, ()  # nothing says that it shares the computer's memory
        if pool >= SMALL_POOL_BYTES:
            return pool, ("memory is shared with the system: the pool printed is what the GPU may take",)
        whole = found.ram_bytes + (seen.memory_bytes or 0.0) if found.ram_bytes else None
        return whole, ("memory is shared: the small part carved out is not its limit",) if seen.memory_bytes else ()
    if seen.maker == "apple":
        limit = found.wired_limit_bytes
        note = (f"iogpu.wired_limit_mb lets the GPU take {limit / GIB:.1f} GiB",) if limit else ()
        return seen.memory_bytes or seen.limit_bytes, note
    return seen.memory_bytes or found.ram_bytes, ("memory is shared with the system",)


def _box_like(seen: Seen, identity: identify.Identity) -> bool:
    """A chip that is no card although its id is open: Apple's, or an AMD one that only boxes of the catalog have."""
    return (
        seen.maker == "apple"
        or (bool(identity.candidates) and seen.chip is not None)
        or (seen.maker == "amd" and is_generic(seen.name) and seen.pci_id is None)
    )
