"""Layers dealt out by speed instead of by memory: how many each of several unlike devices should work on."""

from advisor.need import Workload
from advisor.placement import Part
from advisor.plan import Plan
from advisor.record import dataclass, replace
from advisor.rooms import Load
from advisor.step import decode_terms

LEAST_LAYERS = 1  # of a device that takes part


@dataclass(frozen=True)
class Stage:
    """What one stage takes for a layer, and the most layers that it holds."""

    layer_s: float
    most: int


def by_speed(plan: Plan, work: Workload) -> tuple[int, ...] | None:
    """Layers of each stage, dealt for the shortest step of the work; None where they are dealt so already, or do not fit.

    Where one stage works at a time, every layer counts at its device's pace: the fastest device takes all that it holds. Where
    users keep all stages busy, the slowest stage sets the pace: layers go where their stage stays the shortest.
    """
    counts = [round(part.layer_share * plan.model.layers) for part in _firsts(plan)]
    users, busy = work.users or 1, plan.placement.pipeline_fill > 0 and (work.users or 1) > 1
    loads = {load.part.stage: load for load in reversed(plan.rooms.loads)}
    stages = [
        _stage(plan, part, loads[part.stage], count, users / len(counts) if busy else users, work)
        for part, count in zip(_firsts(plan), counts, strict=True)
    ]
    dealt = _dealt(stages, sum(counts), busy)
    return None if dealt is None or dealt == tuple(counts) else dealt


def _firsts(plan: Plan) -> list[Part]:
    """One part of each stage: the others of a stage hold the same layers."""
    return list({part.stage: part for part in reversed(plan.placement.parts)}.values())[::-1]


def _stage(plan: Plan, part: Part, load: Load, count: int, users: float, work: Workload) -> Stage:
    weights, cache = plan.weights, plan.cache
    constants = plan.runner.constants(part)
    depth = work.prompt_tokens + work.generate_tokens / 2
    terms = decode_terms(replace(part, head_share=0.0), weights, cache, plan.model, users, depth, constants)
    here = load.users_here(work.users or 1)
    held = part.dense_share * weights.dense_bytes + part.expert_share * weights.expert_bytes
    held += part.cache_share * cache.held_bytes(work.context_tokens) * here
    spare = load.spare_bytes(work.context_tokens, work.users or 1)
    return Stage(terms.total_s / count, count + int(spare // (held / count)))


def _dealt(stages: list[Stage], layers: int, busy: bool) -> tuple[int, ...] | None:
    """One layer after the other to the stage that then takes the least time."""
    if sum(stage.most for stage in stages) < layers or any(stage.most < LEAST_LAYERS for stage in stages):
        return None
    counts = [LEAST_LAYERS] * len(stages)
    for _ in range(layers - sum(counts)):
        open_ = [index for index, stage in enumerate(stages) if counts[index] < stage.most]
        index = min(open_, key=lambda i: stages[i].layer_s * (counts[i] + 1 if busy else 1))
        counts[index] += 1
    return tuple(counts)
