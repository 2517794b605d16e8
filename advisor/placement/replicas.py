"""Replicas: every device (or box) holds the whole model and serves its own users; no messages."""

from collections.abc import Callable

from advisor.placement import layers, tensor, whole
from advisor.placement.shares import Job, Part, Placement
from advisor.reason import Reason
from advisor.record import replace
from advisor.system import Box, Group, System

INSIDE: dict[str, Callable[[Job], Placement | Reason]] = {"tensor": tensor.lay, "layers": layers.lay}


def lay(job: Job) -> Placement | Reason:
    """Groups side by side; equal groups serve equal shares of the users, unlike ones by their memory bandwidth."""
    placed = []
    for group, copies in _groups(job.system):
        found = _inside(job, group)
        if isinstance(found, Reason):
            return found
        placed.append((found, copies))
    return _equal(*placed[0]) if len(placed) == 1 else _unlike(placed)


def _groups(system: System) -> list[tuple[System, int]]:
    """The systems that each hold a whole model – devices, or boxes that have a strategy of their own – and how many are alike."""
    found: dict[object, tuple[System, int]] = {}
    for box in system.boxes:
        inside = box.strategy in INSIDE and box.count > 1
        for groups, copies in [(box.groups, 1)] if inside else [((replace(group, count=1),), group.gpus) for group in box.groups]:
            key = box.strategy if inside else None, box.link.id if inside and box.link else None, _kinds(groups), id(box.host)
            known = found.get(key)
            found[key] = (known[0], known[1] + copies) if known else (_alone(system, box, groups, inside), copies)
    return list(found.values())


def _kinds(groups: tuple[Group, ...]) -> tuple[tuple[str, float, int], ...]:
    return tuple((group.device.id, group.memory_bytes, group.count) for group in groups)


def _alone(system: System, box: Box, groups: tuple[Group, ...], inside: bool) -> System:
    """The system of one such group."""
    if inside:
        return replace(system, boxes=(box,), strategy=box.strategy, link=None)
    return replace(system, boxes=(Box(groups, host=box.host, host_assumed=box.host_assumed),), link=None)


def _inside(job: Job, group: System) -> Placement | Reason:
    part_job = replace(job, system=group)
    return INSIDE[group.strategy](part_job) if group.count > 1 and group.strategy in INSIDE else whole.lay(part_job)


def _equal(placement: Placement, groups: int) -> Placement:
    """`groups` copies of one placement, counted instead of listed."""
    parts = tuple(replace(part, count=part.count * groups, user_share=1 / groups) for part in placement.parts)
    return replace(placement, strategy="replicas", parts=parts, groups=groups, copies=(groups,))


def _unlike(placed: list[tuple[Placement, int]]) -> Placement:
    """Groups of several kinds, each kind counted."""
    rates = [_rate(each.parts) for each, _ in placed]
    whole_rate = sum(rate * copies for rate, (_, copies) in zip(rates, placed, strict=True))
    parts = tuple(
        replace(part, group=index, count=part.count * copies, user_share=rates[index] / whole_rate)
        for index, (each, copies) in enumerate(placed)
        for part in each.parts
    )
    messages = tuple(replace(message, group=index) for index, (each, _) in enumerate(placed) for message in each.messages)
    counts = tuple(copies for _, copies in placed)
    return replace(placed[0][0], strategy="replicas", parts=parts, messages=messages, groups=sum(counts), copies=counts)


def _rate(parts: tuple[Part, ...]) -> float:
    """How fast a group reads the model once: the share of users it can take."""
    return 1 / sum(part.dense_share / part.device.bandwidth_bytes_per_s for part in parts)
