"""Experts: each device holds whole experts; attention is cut inside a box and copied between boxes.

Inside a box every rank computes its own experts and the results are all-reduced, as for tensor. Between boxes each token's
hidden state goes to the boxes of its experts and back (two all-to-alls a mixture layer); node-limited routing caps how many
boxes that are [DeepSeek-V3 2024, §2.1.2: at most 4 of 8 groups].
"""

from advisor.placement.rules import tensor_problem
from advisor.placement.seats import Seat, message, no_path, seats
from advisor.placement.shares import Job, Message, Part, Placement
from advisor.placement.tensor import REDUCES_PER_LAYER, copies, cut
from advisor.reason import Reason
from advisor.record import replace

EXCHANGES_PER_LAYER = 2  # to the experts and back


def lay(job: Job) -> Placement | Reason:
    """Experts over all devices, attention cut over the devices of each box."""
    ranks, boxes = job.system.count, len(job.system.boxes)
    weights, inner = job.weights, job.system.boxes[0].count
    if problem := _mixture_problem(job) or tensor_problem(job, inner):
        return problem
    messages = _messages(job, inner, boxes)
    if isinstance(messages, Reason):
        return messages
    parts = tuple(_part(job, seat, inner, ranks, boxes) for seat in seats(job.system))
    spread = Reason("experts.spread", {"experts": weights.experts, "experts_per_token": weights.experts_per_token, "devices": ranks})
    reasons = (spread, *copies(job, inner), *_routing(job, boxes))
    engine, backend = job.engine.id, job.backend.id
    return Placement("experts", parts, messages, engine=engine, backend=backend, expert_ranks=ranks, reasons=reasons)


def _mixture_problem(job: Job) -> Reason | None:
    counts = {box.count for box in job.system.boxes}
    if not job.weights.experts:
        return Reason("placement.no-experts", {"model": job.model.id})
    if job.system.count == 1:
        return Reason("placement.one-device", {"strategy": "experts"})
    if len(counts) > 1:
        return Reason("placement.unlike-boxes", {"fewest_devices": min(counts), "most_devices": max(counts)})
    return None


def _part(job: Job, seat: Seat, inner: int, ranks: int, boxes: int) -> Part:
    """Attention as for tensor inside the box, whole experts over all ranks; each box has its own users."""
    return replace(cut(job, seat, inner), expert_share=1 / ranks, user_share=1 / boxes)


def _messages(job: Job, inner: int, boxes: int) -> tuple[Message, ...] | Reason:
    found: list[Message] = []
    link, outer = job.system.boxes[0].link, job.system.link
    if inner > 1:
        if problem := no_path(job, link):
            return problem
        assert link is not None
        found.append(message(job, "all-reduce", link, inner, REDUCES_PER_LAYER * job.model.layers))
    if boxes > 1:
        if problem := no_path(job, outer):
            return problem
        assert outer is not None
        exchange = message(job, "all-to-all", outer, boxes, EXCHANGES_PER_LAYER * job.weights.expert_layers, boxes)
        found.append(replace(exchange, bytes_per_token=exchange.bytes_per_token * (boxes_visited(job, boxes) - 1)))
    return tuple(found)


def boxes_visited(job: Job, boxes: int) -> float:
    """Boxes that hold a chosen expert of one token, its own counted: at most k, at most the groups it may choose from."""
    most = min(boxes, job.weights.experts_per_token, routed_groups(job) or boxes)
    return max(1.0, boxes * (1 - (1 - 1 / boxes) ** job.weights.experts_per_token)) if most == boxes else float(most)


def routed_groups(job: Job) -> int | None:
    """Groups of experts that one token may use under node-limited routing; None where the model has none."""
    mixture = job.model.moe
    return mixture.groups_per_token if mixture is not None and mixture.expert_groups > 1 else None


def _routing(job: Job, boxes: int) -> tuple[Reason, ...]:
    groups = routed_groups(job)
    if boxes == 1 or groups is None:
        return ()
    return (Reason("experts.node-limited", {"groups_per_token": groups, "boxes": boxes}),)
