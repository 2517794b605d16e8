"""What SYSTEM leaves open – engine, backend, strategy, quantization – tried in turn; the best that fits is taken.

Best: what sustains the most tokens for the users asked; an engine with a better rank keeps its place unless another is faster by
the choice `engine-margin-factor`. What the owner measured comes first: an engine that was not must be faster by that, even if it
falls as short as the one that was. Where nothing fits, what lacks least.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial

from advisor import correction
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.correction import Correction
from advisor.dealing import by_speed
from advisor.engine import DEALT, Engine
from advisor.errors import Unsupported
from advisor.memory import fitted
from advisor.model import Model
from advisor.need import Workload
from advisor.placement.seats import unlike
from advisor.plan import Plan
from advisor.quant import Quant
from advisor.reason import Fact, Reason
from advisor.record import replace
from advisor.refusals import said
from advisor.relaid import laid_either_way, most_users_of, relaid
from advisor.speed import Alone, Estimate, estimate
from advisor.system import System
from advisor.ways import Choice, Last, Way, choice_of, known_of, ways_of

__all__ = ["all_ways", "best", "bind", "refusals", "tried", "usual_way"]

UNRANKED = 9


def best(system: System, model: Model, quant: Quant | str | None, kv_quant: str, workload: Workload, catalog: Catalog) -> Estimate:
    """The best way of those left open; Unsupported with every reason when there is none."""
    found, refused = tried(system, model, quant, kv_quant, workload, catalog)
    if not found:
        raise Unsupported(f"{model.id} cannot run so: {said(refused)}")
    return found[0]


def all_ways(
    system: System, model: Model, quant: Quant | str | None, kv_quant: str, workload: Workload, catalog: Catalog
) -> list[Estimate]:
    """Every way left open, the best first."""
    return tried(system, model, quant, kv_quant, workload, catalog)[0]


def usual_way(system: System, model: Model, quant: Quant | str | None, kv_quant: str, workload: Workload, catalog: Catalog) -> Estimate:
    """What is owned, used as its engine usually does: whole on one device, else layers or tensor; the stated strategy if any."""
    found: list[Estimate] = []
    refused: list[Reason] = []
    saved = correction.saved()
    for way in ways_of(choice_of(system, model, quant, kv_quant, catalog)):
        if isinstance(way, Reason):
            refused.append(way)
            continue
        usual = system.strategy or ("whole" if system.count == 1 else way.engine.usual_split)
        for strategy in (usual, "layers"):
            result = _estimated(way, strategy, workload, saved)
            if isinstance(result, Estimate):
                found.append(result)
                break
            refused.append(result)
    if not found:
        raise Unsupported(f"{model.id} cannot run so: {said(refused)}")
    return ranked(found, catalog)[0]


def tried(
    system: System,
    model: Model,
    quant: Quant | str | None,
    kv_quant: str,
    workload: Workload,
    catalog: Catalog,
    strategy: str | None = None,
    may_fit: Callable[[Engine, str], bool] | None = None,
    hopeless: Collection[tuple[str, str]] = (),
) -> tuple[list[Estimate], list[Reason]]:
    """(every way that can be laid, the best first; why the others cannot). A `strategy` counts before the system's own.

    What `may_fit` says no to is left out: an engine and a strategy that are known not to fit. So are the `hopeless`, which nobody
    asks about; but where one of them fits, nothing is put into the host's memory instead.
    """
    found: list[Estimate] = []
    refused: list[Reason] = []
    asked = strategy or system.strategy
    saved = correction.saved()
    left_out: list[tuple[Way, str]] = []
    for way in ways_of(choice_of(system, model, quant, kv_quant, catalog)):
        if isinstance(way, Reason):
            refused.append(way)
            continue
        for each in _fitting(way, _strategies(way, asked, workload), may_fit):
            if (way.engine.id, each) in hopeless:
                left_out.append((way, each))
                continue
            result = _estimated(way, each, workload, saved)
            if each == "layers" and isinstance(result, Estimate):
                result = _dealt(way, result, workload, saved)
            (found if isinstance(result, Estimate) else refused).append(result)  # type: ignore[arg-type]
        if asked is None and not any(one.fit.fits for one in found) and not any(_fits(*each, workload) for each in left_out):
            if (way.engine.id, "offload") in hopeless:
                left_out.append((way, "offload"))
                continue
            result = _estimated(way, "offload", workload, saved)
            found.extend([result] if isinstance(result, Estimate) else [])
    return ranked(found, catalog), refused


def _fitting(way: Way, strategies: Iterable[str], may_fit: Callable[[Engine, str], bool] | None) -> Iterable[str]:
    """Those of the strategies that are not known not to fit."""
    return strategies if may_fit is None else (each for each in strategies if may_fit(way.engine, each))


def _fits(way: Way, strategy: str, workload: Workload) -> bool:
    """Whether it fits so, however fast."""
    plan = way.plan(strategy, workload)
    return not isinstance(plan, Reason) and fitted(plan.rooms, plan.model, workload).fits


def refusals(system: System, model: Model, quant: Quant | str | None, kv_quant: str, workload: Workload, catalog: Catalog) -> list[Reason]:
    """Why the ways of `tried` that cannot be laid cannot; the others are not estimated."""
    refused: list[Reason] = []
    for way in ways_of(choice_of(system, model, quant, kv_quant, catalog)):
        laid = [way] if isinstance(way, Reason) else [way.plan(each, workload) for each in _strategies(way, system.strategy, workload)]
        refused += [each for each in laid if isinstance(each, Reason)]
    return refused


def ranked(found: Iterable[Estimate], catalog: Catalog) -> list[Estimate]:
    """The best first: what fits before what does not, then by sustained speed with the engines' ranks as a head start."""
    return sorted(found, key=lambda each: _order(each, catalog))


def _order(each: Estimate, catalog: Catalog) -> tuple[float, ...]:
    if each.sustained is None:
        lacking = sum(min(0.0, part.headroom_bytes) * part.count for part in each.fit.devices)
        return 1.0, -lacking
    rank, doubt = catalog.engines[each.placement.engine].choice_rank or UNRANKED, each.doubt
    speed = each.sustained.value
    if each.measured_here:
        rank = 1
    elif doubt is not None and doubt.same_devices:
        speed *= doubt.decode_factor
        if doubt.engine in catalog.engines and catalog.engines[doubt.engine].choice_rank:
            rank = max(rank, 2)  # the other is one to choose
    return 0.0, -speed / catalog.choices.choice("engine-margin-factor") ** (rank - 1)


def _strategies(way: Way, asked: str | None, workload: Workload) -> Iterator[str]:
    if asked:
        yield asked
    elif way.system.count == 1:
        yield "whole"
    elif apart := [box.strategy for box in way.system.boxes if box.strategy in ("replicas", "experts", "offload")]:
        yield apart[0]  # no other split holds boxes that are split so inside
    else:
        yield "tensor"
        yield "layers"
        if workload.users != 1:
            yield "replicas"
            if way.choice.model.is_moe and way.system.count > 2:
                yield "experts"


def _estimated(way: Way, strategy: str, workload: Workload, saved: Mapping[str, Correction]) -> Estimate | Reason:
    """The estimate of one way by one strategy, or why it cannot be laid."""
    known = known_of(way.choice.catalog)
    last = known.last.get((way, strategy))
    if last is not None and last.workload == workload and last.saved is saved:
        return last.estimate
    laid_for = replace(workload, users=max(1, most_users_of(way, workload))) if strategy == "offload" and not workload.users else workload
    plan = way.plan(strategy, laid_for)
    if isinstance(plan, Reason):
        return plan
    found = estimate(plan, laid_for, saved, partial(_alone, way, workload) if way.system.count > 1 else None)
    if strategy == "offload":
        found = replace(found, fit=relaid(way, found.fit, laid_for))
    known.keep(way, strategy, Last(workload, saved, found))
    return found


def _dealt(way: Way, by_memory: Estimate, workload: Workload, saved: Mapping[str, Correction]) -> Estimate:
    """The layers of unlike devices by speed, where the engine can be told so and that sustains more; else by memory."""
    plan = way.plan("layers", workload)
    if isinstance(plan, Reason) or not unlike(way.system) or not way.engine.flags(DEALT, way.system.count) or by_memory.sustained is None:
        return by_memory
    counts = by_speed(plan, by_memory.workload)
    told = way.told(counts, workload) if counts else None
    if not isinstance(told, Plan):
        return by_memory
    found = estimate(told, workload, saved, partial(_alone, way, workload))
    if found.sustained is None or found.sustained.value <= by_memory.sustained.value:
        return by_memory
    return replace(found, fit=laid_either_way(found.fit, by_memory.fit))


def _alone(way: Way, workload: Workload) -> Alone:
    """The best that one device of the system can do, with what was left open left open; of unlike ones the fastest."""
    results = [_single_best(single, way.choice, workload) for single in way.choice.singles]
    able = [each for each in results if isinstance(each, Estimate)]
    if able:
        return Alone(max(able, key=_decode_tokens_per_s))
    return Alone(None, next(each for each in results if isinstance(each, Reason)))


def _decode_tokens_per_s(given: Estimate) -> float:
    return given.decode.value if given.decode else 0.0


def _single_best(single: System, choice: Choice, workload: Workload) -> Estimate | Reason:
    """The best of one device for all the users, else for as many as it holds; or why it cannot run the model."""
    asked = choice.model, choice.quant, choice.kv_quant
    found, refused = tried(single, *asked, workload, choice.catalog)
    fewer = max((each.fit.max_users for each in found), default=0)
    if not any(each.decode for each in found) and 0 < fewer < (workload.users or 1):
        found = tried(single, *asked, replace(workload, users=fewer), choice.catalog)[0]
    fast = [each for each in found if each.decode]
    if not fast:
        return _unable(single.groups[0].device.id, found, refused)
    return max(fast, key=_decode_tokens_per_s)  # what it can do, whatever the engines' ranks


def _unable(device: str, found: list[Estimate], refused: list[Reason]) -> Reason:
    """Why one device cannot run it: what it lacks, or what no engine can do there."""
    if not found:
        return Reason("one.refused", {"device": device, "why": said(refused[:1])})
    if found[0].fit.disk_bytes:
        return Reason("one.from-disk", {"device": device})
    lacking = max(-each.headroom_bytes for each in found[0].fit.devices)
    facts: dict[str, Fact] = {"device": device, "engine": found[0].placement.engine}
    if lacking <= 0:  # the host's memory is what is short
        lacking = found[0].fit.host_needed_bytes - (found[0].fit.host_usable_bytes or 0.0)
    return Reason("one.short", {**facts, "short_bytes": lacking})
