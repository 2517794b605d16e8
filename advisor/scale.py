"""One kind of device at 1, 2, … N: speed, speedup, efficiency, Amdahl's ceiling, the count that pays and the one that hurts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from advisor.bind import between, box_of, stated_link
from advisor.catalog import Catalog
from advisor.choose import tried
from advisor.errors import BadValue, Unsupported
from advisor.model import Model
from advisor.need import Workload
from advisor.quant import Quant
from advisor.reason import Reason
from advisor.speed import Estimate
from advisor.system import MOST_DEVICES, Box, Group, System

MOST_POINTS_ONE_BY_ONE = 32  # beyond, only doublings are worked out
SAME = 1.001  # a gain below this is none


@dataclass(frozen=True)
class Point:
    """The system with so many devices: its estimate, or why there is none.

    Speedup is over one device, even if the model is too big for it.
    """

    devices: int
    estimate: Estimate | None
    speedup: float | None = None
    efficiency: float | None = None
    link_share: float | None = None
    reason: Reason | None = None

    @property
    def decode_tokens_per_s(self) -> float | None:
        """All users together; None where it does not fit or cannot be laid."""
        return self.estimate.decode.value if self.estimate and self.estimate.decode else None


@dataclass(frozen=True)
class Scale:
    """All points, and what they show. `one_user`: the same for a single user, where more were asked."""

    points: tuple[Point, ...]
    best_devices: int | None
    slower_from_devices: int | None
    serial_fraction: float | None
    ceiling: float | None
    one_user: "Scale | None" = None
    warnings: tuple[Reason, ...] = ()


def scale(
    system: System, most_devices: int, model: Model, quant: Quant | str | None, kv_quant: str, workload: Workload, catalog: Catalog
) -> Scale:
    """`system` grown from one unit to `most_devices`: the device that it is made of, or the box where it is of boxes of several."""
    if not 1 <= most_devices <= MOST_DEVICES:
        raise BadValue(f"--max {most_devices}: between 1 and {MOST_DEVICES}")
    fixed, quant = _fixed(system, most_devices, model, quant, kv_quant, workload, catalog)
    found = _scaled(fixed, most_devices, model, quant, kv_quant, workload, catalog)
    if workload.users == 1:
        return found
    alone = replace(workload, users=1)
    return replace(found, one_user=_scaled(fixed, most_devices, model, quant, kv_quant, alone, catalog))


def counts(most_devices: int) -> Iterator[int]:
    """Every count up to a limit, then doublings, and the last."""
    yield from range(1, min(most_devices, MOST_POINTS_ONE_BY_ONE) + 1)
    count = 2 * MOST_POINTS_ONE_BY_ONE
    while count < most_devices:
        yield count
        count *= 2
    if most_devices > MOST_POINTS_ONE_BY_ONE:
        yield most_devices


def _fixed(
    system: System, most_devices: int, model: Model, quant: Quant | str | None, kv_quant: str, workload: Workload, catalog: Catalog
) -> tuple[System, Quant | str | None]:
    """The system with the engine and quantization that are best at the highest count that runs: one curve, one engine."""
    for count in sorted(counts(most_devices), reverse=True):
        grown = _grown(system, count, catalog)
        found = tried(grown, model, quant, kv_quant, workload, catalog)[0] if isinstance(grown, System) else []
        if found:
            return replace(system, engine=found[0].system.engine, backend=found[0].system.backend), found[0].quant
    return system, quant


def _scaled(
    system: System, most_devices: int, model: Model, quant: Quant | str | None, kv_quant: str, workload: Workload, catalog: Catalog
) -> Scale:
    points = tuple(_point(system, count, model, quant, kv_quant, workload, catalog) for count in counts(most_devices))
    fast = [point for point in points if point.decode_tokens_per_s]
    best = None
    for point in fast:
        if best is None or (point.decode_tokens_per_s or 0) > SAME * (best.decode_tokens_per_s or 0):
            best = point
    slower = next((p.devices for p in fast if best and p.devices > best.devices and _below(p, best)), None)
    last = next((p.estimate for p in reversed(fast) if p.devices > 1 and p.estimate), None)
    return Scale(
        points=points,
        best_devices=best.devices if best else None,
        slower_from_devices=slower,
        serial_fraction=last.amdahl_serial_fraction if last else None,
        ceiling=last.amdahl_ceiling if last else None,
        warnings=system.remarks,
    )


def _below(point: Point, best: Point) -> bool:
    return SAME * (point.decode_tokens_per_s or 0) < (best.decode_tokens_per_s or 0)


def _point(
    system: System, count: int, model: Model, quant: Quant | str | None, kv_quant: str, workload: Workload, catalog: Catalog
) -> Point:
    grown = _grown(system, count, catalog)
    if isinstance(grown, Reason):
        return Point(count, None, reason=grown)
    found, refused = tried(grown, model, quant, kv_quant, workload, catalog)
    if not found:
        return Point(count, None, reason=refused[0] if refused else None)
    best = found[0]
    speedup = 1.0 if grown.count == 1 else best.speedup_over_one_device
    return Point(
        devices=count,
        estimate=best,
        speedup=speedup,
        efficiency=speedup / grown.count if speedup else None,
        link_share=best.terms.link_s / best.terms.total_s if best.terms else None,
        reason=next((reason for reason in best.fit.reasons if not best.fit.fits), None),
    )


def _grown(system: System, count: int, catalog: Catalog) -> System | Reason:
    """The system with `count` of its units, links as stated or as that many would have; a Reason where no link joins them."""
    kinds = {(group.device.id, group.memory_bytes) for group in system.groups}
    if len(kinds) > 1:
        raise BadValue("scale grows one kind of device; this SYSTEM has several")
    box, group = system.boxes[0], system.boxes[0].groups[0]
    apart = group.device.is_box or len(system.boxes) > 1
    strategy = "whole" if count == 1 and not (apart and box.count > 1) else system.strategy
    strategy = None if strategy == "whole" and count > 1 else strategy
    try:
        boxes = (box,) * count if apart else (_cards(system, group, count, catalog),)
        stated = system.link.id if system.link_stated and system.link else None
        link = between(stated, system.link if stated else None, boxes, system.backend, catalog) if len(boxes) > 1 else None
    except Unsupported as error:
        return Reason("scale.no-link", {"devices": count, "why": error.message})
    return replace(system, boxes=boxes, link=link, strategy=strategy)


def _cards(system: System, group: Group, count: int, catalog: Catalog) -> Box:
    """So many cards in one box, with the link that was stated or what its slots give."""
    old = system.boxes[0]
    box = box_of((replace(group, count=count),), catalog, None if old.host_assumed else old.host)
    stated = old.link if system.link_stated else None
    return replace(box, link=stated_link(stated, box, catalog))
