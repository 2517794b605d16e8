"""How many bytes each device lacks for the plain layout: what an offload must move out."""

from advisor import memory
from advisor.around import Tables, host_bytes_of
from advisor.placement import Job
from advisor.placement.offload import plain
from advisor.reason import Reason
from advisor.record import replace

SPARE_SHARE = 0.01  # of what is moved, so that rounding does not leave a device short
HOST_KEEPS_SHARE = 0.15  # chosen: of 32 GiB of host memory the system and the program take 5 themselves


def with_shortage(job: Job, tables: Tables) -> Job:
    """The job with what each part lacks and what the host's memory can take."""
    base = plain(job)
    if isinstance(base, Reason):
        return job
    users = job.workload.users or 1
    work = replace(job.workload, users=users)
    host_bytes = host_bytes_of(job.system)
    fit = memory.fit(base, job.model, job.weights, job.cache, work, job.engine, tables.platforms, host_bytes)
    short = tuple(max(0.0, -device.headroom_bytes) * (1 + SPARE_SHARE) for device in fit.devices)
    room = None if host_bytes is None else host_bytes * (1 - HOST_KEEPS_SHARE)
    return replace(job, short_bytes=short, host_room_bytes=room)
