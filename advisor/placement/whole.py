"""Whole: everything on one device, no messages."""

from advisor.placement.seats import seats
from advisor.placement.shares import Job, Part, Placement


def lay(job: Job) -> Placement:
    """One part with every share."""
    seat = seats(job.system)[0]
    return Placement("whole", (Part(seat.device, seat.memory_bytes),), engine=job.engine.id, backend=job.backend.id)
