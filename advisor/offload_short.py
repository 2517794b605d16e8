"""How many bytes each device lacks for the plain layout: what an offload must move out."""

from advisor import memory
from advisor.around import Tables, host_room_bytes_of
from advisor.placement import Job, Placement
from advisor.placement.offload import plain
from advisor.reason import Reason
from advisor.record import dataclass, replace
from advisor.rooms import Rooms, rooms_of

SPARE_SHARE = 0.01  # of what is moved, so that rounding does not leave a device short


@dataclass(frozen=True, eq=False)
class Plain:
    """The layout before anything moves out, whatever the work, and the places that must hold it; none where it cannot be laid."""

    placement: Placement | Reason
    rooms: Rooms | None


def plain_of(job: Job, tables: Tables) -> Plain:
    """The plain layout of a job."""
    base = plain(job)
    if isinstance(base, Reason):
        return Plain(base, None)
    room = host_room_bytes_of(job.system, tables.choices)
    return Plain(base, rooms_of(base, job.model, job.weights, job.cache, job.engine, tables.platforms, room))


def with_shortage(job: Job, base: Plain, tables: Tables) -> Job:
    """The job with its plain layout, what each part of it lacks, and what the host's memory can take."""
    rooms = base.rooms
    if rooms is None:
        return replace(job, plain=base.placement)
    fit = memory.fitted(rooms, job.model, job.workload if job.workload.users else replace(job.workload, users=1))
    short = tuple(max(0.0, -device.headroom_bytes) * (1 + SPARE_SHARE) for device in fit.devices)
    return replace(job, plain=base.placement, short_bytes=short, host_room_bytes=host_room_bytes_of(job.system, tables.choices))
