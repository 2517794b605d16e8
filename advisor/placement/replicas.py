"""Replicas: every device (or box) holds the whole model and serves its own users; no messages."""

from collections.abc import Callable

from advisor.placement import layers, tensor, whole
from advisor.placement.shares import Job, Part, Placement
from advisor.reason import Reason
from advisor.record import replace
from advisor.system import Box, System

INSIDE: dict[str, Callable[[Job], Placement | Reason]] = {"tensor": tensor.lay, "layers": layers.lay}


def lay(job: Job) -> Placement | Reason:
    """Groups side by side; equal groups serve equal shares of the users, unlike ones by their memory bandwidth."""
    groups = _groups(job.system)
    first = _inside(job, groups[0])
    if isinstance(first, Reason):
        return first
    if all(group == groups[0] for group in groups):
        return _equal(first, len(groups))
    placed = [_inside(job, group) for group in groups]
    for each in placed:
        if isinstance(each, Reason):
            return each
    return _unlike([each for each in placed if isinstance(each, Placement)])


def _groups(system: System) -> list[System]:
    """The systems that each hold a whole model: devices, or boxes that have a strategy of their own."""
    found = []
    for box in system.boxes:
        if box.strategy in INSIDE and box.count > 1:
            found.append(replace(system, boxes=(box,), strategy=box.strategy, link=None))
            continue
        for group in box.groups:
            alone = Box((replace(group, count=1),), host=box.host, host_assumed=box.host_assumed)
            found.extend([replace(system, boxes=(alone,), link=None)] * group.gpus)
    return found


def _inside(job: Job, group: System) -> Placement | Reason:
    part_job = replace(job, system=group)
    return INSIDE[group.strategy](part_job) if group.count > 1 and group.strategy in INSIDE else whole.lay(part_job)


def _equal(placement: Placement, groups: int) -> Placement:
    """`groups` copies of one placement, counted instead of listed."""
    parts = tuple(replace(part, count=part.count * groups, user_share=1 / groups) for part in placement.parts)
    return replace(placement, strategy="replicas", parts=parts, groups=groups)


def _unlike(placed: list[Placement]) -> Placement:
    rates = [_rate(each.parts) for each in placed]
    parts = tuple(
        replace(part, group=index, user_share=rates[index] / sum(rates)) for index, each in enumerate(placed) for part in each.parts
    )
    messages = tuple(replace(message, group=index) for index, each in enumerate(placed) for message in each.messages)
    return replace(placed[0], strategy="replicas", parts=parts, messages=messages, groups=len(placed))


def _rate(parts: tuple[Part, ...]) -> float:
    """How fast a group reads the model once: the share of users it can take."""
    return 1 / sum(part.dense_share / part.device.bandwidth_bytes_per_s for part in parts)
