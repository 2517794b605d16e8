"""Who sits where: the devices of a system by box, the software that carries a link, messages of one group of ranks."""

from collections.abc import Iterator

from advisor.device import Device
from advisor.engine import Backend
from advisor.link import Link
from advisor.placement.shares import Job, Message
from advisor.reason import Reason
from advisor.record import dataclass
from advisor.system import Box, System


@dataclass(frozen=True)
class Seat:
    """`count` equal devices of one box."""

    device: Device
    memory_bytes: float
    count: int
    box: int


def seats_of(box: Box, index: int) -> tuple[Seat, ...]:
    """The seats of one box, in the order written."""
    return tuple(Seat(group.device, group.memory_bytes, group.gpus, index) for group in box.groups)


def seats(system: System) -> tuple[Seat, ...]:
    """All seats, box by box."""
    return tuple(seat for index, box in enumerate(system.boxes) for seat in seats_of(box, index))


def single_seats(system: System) -> tuple[Seat, ...]:
    """One seat for each device, box by box: equal devices repeat."""
    return tuple(Seat(s.device, s.memory_bytes, 1, s.box) for s in seats(system) for _ in range(s.count))


def unlike(system: System) -> bool:
    """Whether not all devices are of one kind and memory size."""
    return len({(group.device.id, group.memory_bytes) for group in system.groups}) > 1


def software(backend: Backend, link: Link) -> str | None:
    """The latency-table key of what the backend sends messages with over this link; None where it cannot use it.

    RDMA hardware also carries TCP, which engines without RDMA use.
    """
    return {
        "peer": backend.peer_software,
        "host-staged": backend.staged_software,
        "rdma": backend.rdma_software or backend.tcp_software,
        "tcp": backend.tcp_software,
    }[link.transport]


def no_path(job: Job, link: Link | None) -> Reason | None:
    """Why messages cannot pass: no link at all, or none that the engine can use."""
    if link is None:
        return Reason("placement.no-link", {"devices": job.system.count})
    if software(job.backend, link) is None:
        return Reason("placement.no-path", {"engine": job.engine.id, "backend": job.backend.id, "link": link.id})
    return None


def reduces(job: Job, per_step: float) -> Iterator[Message] | Reason:
    """All-reduces of the hidden state over every device: inside each box, then between the boxes."""
    system = job.system
    inner = {box.count for box in system.boxes}
    if len(inner) > 1:
        return Reason("placement.unlike-boxes", {"fewest_devices": min(inner), "most_devices": max(inner)})
    levels: list[tuple[Link | None, int, int]] = []
    if system.boxes[0].count > 1:
        slowest = min((box.link for box in system.boxes if box.link), key=lambda link: link.bandwidth_bytes_per_s, default=None)
        levels.append((slowest if all(box.link for box in system.boxes) else None, system.boxes[0].count, 1))
    if len(system.boxes) > 1:
        levels.append((system.link, len(system.boxes), len(system.boxes)))
    for link, _, _ in levels:
        if problem := no_path(job, link):
            return problem
    return (message(job, "all-reduce", link, ranks, per_step, boxes) for link, ranks, boxes in levels if link is not None)


def message(job: Job, kind: str, link: Link, ranks: int, per_step: float, boxes: int = 1) -> Message:
    """A message of the hidden state of each token over a link that the engine can use."""
    return Message(kind, link, ranks, per_step, job.model.hidden_bytes, software(job.backend, link) or "", boxes)
