"""One kind of device at 1, 2, … N: speed, speedup, efficiency, Amdahl's ceiling, the count that pays and the one that hurts."""

from collections.abc import Iterable, Iterator, Sequence

from advisor import why
from advisor.bind import between, box_of, stated_link
from advisor.catalog import Catalog
from advisor.choose import tried
from advisor.errors import BadValue, Unsupported
from advisor.model import Model
from advisor.need import Workload
from advisor.quant import Quant
from advisor.reason import Fact, Reason
from advisor.record import dataclass, replace
from advisor.refusals import said
from advisor.speed import Estimate
from advisor.system import MOST_DEVICES, Box, Group, System

MOST_POINTS_ONE_BY_ONE = 32  # beyond, only doublings are worked out
SAME = 1.001  # a gain below this is none


@dataclass(frozen=True)
class Point:
    """The system with so many units: its estimate, or why there is none. Speedup is over what one unit really does."""

    devices: int
    estimate: Estimate | None
    speedup: float | None = None
    efficiency: float | None = None
    link_share: float | None = None
    reason: Reason | None = None
    refused: tuple[Reason, ...] = ()  # why other splits cannot be
    no_faster: Reason | None = None  # why it gains nothing over fewer, where it does not

    @property
    def decode_tokens_per_s(self) -> float | None:
        """All users together; None where it does not fit or cannot be laid."""
        return self.estimate.decode.value if self.estimate and self.estimate.decode else None


@dataclass(frozen=True, eq=False)
class Question:
    """What is run at every count, and the catalog that knows the hardware. `system`: as asked, engine open unless stated."""

    system: System
    model: Model
    quant: Quant | str | None
    kv_quant: str
    workload: Workload
    catalog: Catalog

    def tried(self, system: System, quant: Quant | str | None) -> tuple[list[Estimate], list[Reason]]:
        """Every way of that system, the best first; and why the others cannot be."""
        return tried(system, self.model, quant, self.kv_quant, self.workload, self.catalog)


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
    """`system` larger from one unit to `most_devices`: the device that it is made of, or the box where it is of boxes of several."""
    if not 1 <= most_devices <= MOST_DEVICES:
        raise BadValue(f"--max {most_devices}: between 1 and {MOST_DEVICES}")
    asked = Question(system, model, quant, kv_quant, workload, catalog)
    fixed, usual = _fixed(asked, most_devices)
    found = _scaled(asked, fixed, usual, most_devices)
    if workload.users == 1:
        return found
    alone = replace(asked, workload=replace(workload, users=1))
    return replace(found, one_user=_scaled(alone, fixed, usual, most_devices))


def counts(most_devices: int) -> Iterator[int]:
    """Every count up to a limit, then doublings, and the last."""
    yield from range(1, min(most_devices, MOST_POINTS_ONE_BY_ONE) + 1)
    count = 2 * MOST_POINTS_ONE_BY_ONE
    while count < most_devices:
        yield count
        count *= 2
    if most_devices > MOST_POINTS_ONE_BY_ONE:
        yield most_devices


def _fixed(asked: Question, most_devices: int) -> tuple[System, Quant | str | None]:
    """The system with the engine and quantization that are best at the highest count that runs: one curve, one engine."""
    for count in sorted(counts(most_devices), reverse=True):
        larger = grown(asked.system, count, asked.catalog)
        found = asked.tried(larger, asked.quant)[0] if isinstance(larger, System) else []
        if found:
            return replace(asked.system, engine=found[0].system.engine, backend=found[0].system.backend), found[0].quant
    return asked.system, asked.quant


def _scaled(asked: Question, fixed: System, quant: Quant | str | None, most_devices: int) -> Scale:
    points = _explained(_against_first([_point(asked, fixed, quant, count) for count in counts(most_devices)]))
    fast = [point for point in points if point.decode_tokens_per_s]
    best = None
    for point in fast:
        if best is None or (point.decode_tokens_per_s or 0) > SAME * (best.decode_tokens_per_s or 0):
            best = point
    slower = next((p.devices for p in fast if best and p.devices > best.devices and _below(p, best)), None)
    ceiling = _ceiling(points)
    return Scale(
        points=points,
        best_devices=best.devices if best else None,
        slower_from_devices=slower,
        serial_fraction=1 / ceiling if ceiling else None,
        ceiling=ceiling,
        warnings=(*fixed.remarks, *_unmeasured(points)),
    )


def _unmeasured(points: Iterable[Point]) -> tuple[Reason, ...]:
    """That the owner measured less than estimated on another number of the devices than that of a point: told of the first."""
    doubted = next((each.estimate for each in points if each.estimate and each.estimate.doubt), None)
    if doubted is None or doubted.doubt is None:
        return ()
    return why.unmeasured(doubted.doubt, doubted.system, doubted.placement.engine)


def _against_first(points: list[Point]) -> tuple[Point, ...]:
    """The points with their speed over that of one unit, where one unit can run it."""
    one = points[0].decode_tokens_per_s
    if not one:
        return tuple(points)
    speedups = [point.decode_tokens_per_s / one if point.decode_tokens_per_s else None for point in points]
    return tuple(
        replace(point, speedup=speedup, efficiency=speedup / point.devices) if speedup else point
        for point, speedup in zip(points, speedups, strict=True)
    )


def _explained(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points, those that gain nothing over the fastest with fewer with the reason for it."""
    best, found = points[0], list[Point]()
    for point in points:
        gains = (point.decode_tokens_per_s or 0.0) > SAME * (best.decode_tokens_per_s or 0.0)
        found.append(point if gains or point is best else replace(point, no_faster=_why_no_faster(point, best)))
        best = point if gains else best
    return tuple(found)


def _why_no_faster(point: Point, fewer: Point) -> Reason | None:
    """Another split that this many fall back to, a token's way through one device after another, or what takes longer than with fewer."""
    more, less = point.estimate, fewer.estimate
    if more is None or less is None or more.terms is None or less.terms is None:
        return None
    facts: dict[str, Fact] = {"devices": point.devices, "fewer_devices": fewer.devices}
    cut = less.placement.strategy
    barred = [reason for reason in point.refused if reason.facts.get("strategy", cut) == cut]
    if more.placement.strategy != cut and barred and cut != "whole":
        return Reason(f"scale.falls-back-{more.placement.strategy}", {**facts, "why": said(barred[:1])})
    if more.placement.strategy == "layers":
        return Reason("scale.in-turn", facts)
    grown = {name: spent - getattr(less.terms, name) for name, spent in more.terms._asdict().items()}
    term = max(grown, key=lambda name: grown[name])
    facts |= {"more_s": getattr(more.terms, term), "less_s": getattr(less.terms, term)}
    uneven = "-uneven" if more.placement.strategy == "tensor" and more.model.heads % more.system.count else ""
    return Reason(f"scale.more-{term.removesuffix('_s')}{uneven}", {**facts, "heads": more.model.heads})


def _ceiling(points: Sequence[Point]) -> float | None:
    """The most that any number reaches over one unit; over one device that held everything where one unit cannot run it."""
    held = [point.estimate.held for point in points if point.devices > 1 and point.estimate and point.estimate.held]
    if not held:
        return None
    one = points[0].decode_tokens_per_s
    if not one:
        return max(each.ceiling for each in held)
    reached = max(point.decode_tokens_per_s or 0.0 for point in points)  # one unit of several devices counts as a number too
    return max(reached, *(each.limit_tokens_per_s for each in held)) / one


def _below(point: Point, best: Point) -> bool:
    return SAME * (point.decode_tokens_per_s or 0) < (best.decode_tokens_per_s or 0)


def _point(asked: Question, fixed: System, quant: Quant | str | None, count: int) -> Point:
    """One count by the curve's engine; where that engine cannot run it but another can (with a part in host memory), by that."""
    larger = grown(fixed, count, asked.catalog)
    if isinstance(larger, Reason):
        return Point(count, None, reason=larger)
    found, refused = asked.tried(larger, quant)
    if fixed.engine is not asked.system.engine and not any(each.decode for each in found):
        opened = asked.tried(replace(larger, engine=asked.system.engine, backend=asked.system.backend), asked.quant)[0]
        found = [each for each in opened if each.decode] or found
    if not found:
        return Point(count, None, reason=refused[0] if refused else None)
    best = found[0]
    return Point(
        devices=count,
        estimate=best,
        refused=tuple(refused),
        link_share=best.terms.link_s / best.terms.total_s if best.terms else None,
        reason=next((reason for reason in best.fit.reasons if not best.fit.fits), None),
    )


def grown(system: System, count: int, catalog: Catalog) -> System | Reason:
    """The system with `count` of its units, links as stated or as that many would have; a Reason where no link joins them."""
    kinds = {(group.device.id, group.memory_bytes) for group in system.groups}
    if len(kinds) > 1:
        raise BadValue("scale grows one kind of device; this SYSTEM has several")
    box, group = system.boxes[0], system.boxes[0].groups[0]
    apart = group.device.is_box or len(system.boxes) > 1 or system.link is not None
    single = count == 1 and not (apart and box.count > 1)
    strategy = None if single or system.strategy == "whole" else system.strategy  # one device: whole, else with host memory
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
