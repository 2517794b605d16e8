"""How many bytes each device lacks for the plain layout: what an offload must move out."""

from advisor import memory
from advisor.around import Tables, host_room_bytes_of
from advisor.placement import Job
from advisor.placement.offload import plain
from advisor.reason import Reason
from advisor.record import replace
from advisor.rooms import Rooms, rooms_of

SPARE_SHARE = 0.01  # of what is moved, so that rounding does not leave a device short


def plain_rooms(job: Job, tables: Tables) -> Rooms | None:
    """The places that must hold the plain layout; None where it cannot be laid."""
    base = plain(job)
    if isinstance(base, Reason):
        return None
    room = host_room_bytes_of(job.system, tables.choices)
    return rooms_of(base, job.model, job.weights, job.cache, job.engine, tables.platforms, room)


def with_shortage(job: Job, rooms: Rooms | None, tables: Tables) -> Job:
    """The job with what each part lacks and what the host's memory can take."""
    if rooms is None:
        return job
    fit = memory.fitted(rooms, job.model, job.workload if job.workload.users else replace(job.workload, users=1))
    short = tuple(max(0.0, -device.headroom_bytes) * (1 + SPARE_SHARE) for device in fit.devices)
    return replace(job, short_bytes=short, host_room_bytes=host_room_bytes_of(job.system, tables.choices))
