"""Layers: each device holds a run of layers and works after the one before it (a pipeline)."""

from collections.abc import Sequence
from itertools import pairwise

from advisor.engine import DEALT
from advisor.link import Link
from advisor.placement.rules import tensor_problem
from advisor.placement.seats import Seat, message, no_path, seats_of, single_seats
from advisor.placement.shares import Job, Message, Part, Placement
from advisor.placement.tensor import REDUCES_PER_LAYER, copies, cut
from advisor.reason import Fact, Reason
from advisor.record import dataclass, replace


@dataclass(frozen=True)
class Stage:
    """Seats that work on the same layers; several cut them among themselves over `link`."""

    seats: tuple[Seat, ...]
    link: Link | None = None

    @property
    def ranks(self) -> int:
        """Devices in the stage."""
        return sum(seat.count for seat in self.seats)

    @property
    def room_bytes(self) -> float:
        """Memory that counts: equal shares, so the smallest device's, times the ranks."""
        return self.ranks * min(seat.memory_bytes for seat in self.seats)


def lay(job: Job) -> Placement | Reason:
    """Layers shared out by memory; one hop of the hidden state between neighbours."""
    stages = _stages(job)
    if len({stage.ranks for stage in stages}) > 1:  # engines cut every stage over as many devices
        return Reason("placement.unlike-boxes", _fewest_and_most(stages))
    counts = _counts(job, stages)
    stages, counts = [s for s, n in zip(stages, counts, strict=True) if n], [n for n in counts if n]
    told = bool(job.layer_counts) or (job.engine.deals_evenly and max(counts) - min(counts) > 1)
    hops = _hops(job, stages)
    cuts = _cuts(job, stages, counts)
    if isinstance(hops, Reason) or isinstance(cuts, Reason):
        return hops if isinstance(hops, Reason) else cuts  # type: ignore[return-value]
    parts = [replace(part, layers=count if told else 0) for index, (stage, count) in enumerate(zip(stages, counts, strict=True))
             for part in _parts(job, stage, index, count / job.model.layers, index == len(stages) - 1)]  # fmt: skip
    most_ranks = max(stage.ranks for stage in stages)
    return Placement(
        "layers",
        tuple(parts),
        tuple(hops) + tuple(cuts),
        stages=len(stages),
        pipeline_fill=1.0 if job.engine.pipeline_fills else 0.0,
        engine=job.engine.id,
        backend=job.backend.id,
        overlap=_overlap(job),
        reasons=(*_dealt(job, counts), *(_cut_everywhere(job, most_ranks) + copies(job, most_ranks) if most_ranks > 1 else ())),
    )


def _counts(job: Job, stages: Sequence[Stage]) -> list[int]:
    """Layers of each stage: as told, else by memory; evenly where the engine does so and cannot be told otherwise."""
    if job.layer_counts:
        return list(job.layer_counts)
    evenly = job.engine.deals_evenly and not job.engine.flags(DEALT, len(stages))
    return shared_out(job.model.layers, [1.0 if evenly else stage.room_bytes for stage in stages])


def _dealt(job: Job, counts: Sequence[int]) -> tuple[Reason, ...]:
    """Says it where layers are dealt by speed."""
    if not job.layer_counts:
        return ()
    told = f"{job.engine.environment(DEALT)} {job.engine.flags(DEALT, len(counts))}".format(**shares_words(counts)).strip()
    return (Reason("layers.by-speed", {"engine": job.engine.id, "counts": ", ".join(map(str, counts)), "told": told}),)


def shares_words(counts: Sequence[int]) -> dict[str, object]:
    """Layers of each device, for command lines; llama.cpp counts the output layer, which lies with the last ones, as one more."""
    slots = [str(count) for count in (*counts[:-1], counts[-1] + 1)]
    return {"layer_counts": ",".join(slots), "layer_slots": "/".join(slots), "layers_each": ",".join(map(str, counts))}


def _fewest_and_most(stages: Sequence[Stage]) -> dict[str, Fact]:
    ranks = [stage.ranks for stage in stages]
    return {"fewest_devices": min(ranks), "most_devices": max(ranks)}


def _cut_everywhere(job: Job, ranks: int) -> tuple[Reason, ...]:
    """Says it where boxes that state nothing cut their layers because another does."""
    silent = sum(box.strategy != "tensor" for box in job.system.boxes)
    return (Reason("layers.cut-everywhere", {"engine": job.engine.id, "devices": ranks, "boxes": silent}),) if silent else ()


def _overlap(job: Job) -> float:
    """How far chunks of a prompt keep all stages busy."""
    engine = job.engine
    if len(job.system.boxes) > 1:
        return engine.prefill_overlap_between_boxes
    mixtures = engine.prefill_overlap_of_mixtures
    return mixtures if job.weights.experts and mixtures is not None else engine.prefill_overlap


def _stages(job: Job) -> list[Stage]:
    """A stage for each device; for each box where its devices cut the layers among themselves."""
    system = job.system
    if not any(box.strategy == "tensor" for box in system.boxes):
        return [Stage((seat,)) for seat in single_seats(system)]
    return [Stage(seats_of(box, index), box.link) for index, box in enumerate(system.boxes)]


def shared_out(layers: int, rooms: Sequence[float]) -> list[int]:
    """Whole layers by room, the remainders to the largest fractions (equal rooms: the first ones)."""
    exact = [layers * room / sum(rooms) for room in rooms]
    counts = [int(each) for each in exact]
    by_fraction = sorted(range(len(rooms)), key=lambda i: (counts[i] - exact[i], i))
    for index in by_fraction[: layers - sum(counts)]:
        counts[index] += 1
    return counts


def _hops(job: Job, stages: Sequence[Stage]) -> list[Message] | Reason:
    """One send between neighbouring stages, grouped by link."""
    hops: dict[str, Message] = {}
    for before, after in pairwise(stages):
        same_box = before.seats[0].box == after.seats[0].box
        link = job.system.boxes[before.seats[0].box].link if same_box else job.system.link
        if link is None or (problem := no_path(job, link)):
            return Reason("placement.no-link", {"devices": job.system.count}) if link is None else problem  # type: ignore[return-value]
        known = hops.get(link.id)
        hops[link.id] = replace(known, per_step=known.per_step + 1) if known else message(job, "send", link, 2, 1, 1 if same_box else 2)
    return list(hops.values())


def _cuts(job: Job, stages: Sequence[Stage], counts: Sequence[int]) -> list[Message] | Reason:
    """The all-reduces inside stages of several devices."""
    found = []
    for stage, count in zip(stages, counts, strict=True):
        if stage.ranks == 1:
            continue
        if problem := tensor_problem(job, stage.ranks) or no_path(job, stage.link):
            return problem
        assert stage.link is not None
        found.append(message(job, "all-reduce", stage.link, stage.ranks, REDUCES_PER_LAYER * count))
    return found


def _parts(job: Job, stage: Stage, index: int, share: float, last: bool) -> list[Part]:
    ranks = stage.ranks
    return [
        replace(
            cut(job, seat, ranks, share),
            stage=index,
            head_share=1 / ranks if last else 0.0,
            embedding_share=1 / ranks if index == 0 else 0.0,
        )
        for seat in stage.seats
    ]
