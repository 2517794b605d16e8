"""What SYSTEM leaves open – engine, backend, strategy, quantization – tried in turn; the best that fits is taken.

Best: what sustains the most tokens for the users asked; an engine with a better rank keeps its place unless another is faster by
MARGIN. Where nothing fits, what lacks least.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from advisor import offload_short
from advisor.bind import bind, box_of, with_engine
from advisor.cache import cache_of
from advisor.catalog import Catalog
from advisor.engine import Backend, Engine
from advisor.errors import BadValue, UnknownName, Unsupported
from advisor.joined import usual_in_box
from advisor.model import Model
from advisor.need import Workload
from advisor.placement import STRATEGIES, Job, lay
from advisor.quant import Quant
from advisor.reason import Fact, Reason
from advisor.record import dataclass, replace
from advisor.refusals import said
from advisor.runs import backend_for, devices, drives, unkept, unreadable, wanted_quants
from advisor.speed import Alone, Estimate, Tables, estimate
from advisor.system import Group, System
from advisor.weights import weights_of

__all__ = ["all_ways", "best", "bind", "tables_of", "tried", "usual_way"]

# So much faster must an engine of a lower rank be: one estimate in ten is further off than 30 % (docs/how-it-works.md).
MARGIN = 1.3
UNRANKED = 9


@dataclass(frozen=True, eq=False)
class Way:
    """One engine on one system with one quantization: everything but the strategy."""

    system: System
    engine: Engine
    backend: Backend
    quant: Quant
    remarks: tuple[Reason, ...] = ()
    asked: System | None = None  # as stated, before an engine was chosen
    asked_quant: Quant | str | None = None


def tables_of(catalog: Catalog) -> Tables:
    """The estimator's tables of this catalog, put together once."""
    kept: dict[str, Tables] = catalog.kept("tables")
    if "all" not in kept:
        storages = catalog.records("storage")
        kept["all"] = Tables(catalog.calibration, catalog.link_calibration, catalog.platforms, storages)
    return kept["all"]


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
    for way in _ways(system, model, quant, kv_quant, catalog, refused):
        usual = system.strategy or ("whole" if system.count == 1 else way.engine.usual_split)
        for strategy in (usual, "layers"):
            result = _estimated(way, strategy, model, kv_quant, workload, catalog)
            if isinstance(result, Estimate):
                found.append(result)
                break
            refused.append(result)
    if not found:
        raise Unsupported(f"{model.id} cannot run so: {said(refused)}")
    return ranked(found, catalog)[0]


def tried(
    system: System, model: Model, quant: Quant | str | None, kv_quant: str, workload: Workload, catalog: Catalog
) -> tuple[list[Estimate], list[Reason]]:
    """(every way that can be laid, the best first; why the others cannot)."""
    found: list[Estimate] = []
    refused: list[Reason] = []
    for way in _ways(system, model, quant, kv_quant, catalog, refused):
        for strategy in _strategies(way, workload, model):
            result = _estimated(way, strategy, model, kv_quant, workload, catalog)
            (found if isinstance(result, Estimate) else refused).append(result)  # type: ignore[arg-type]
        if system.strategy is None and not any(each.fit.fits for each in found):
            result = _estimated(way, "offload", model, kv_quant, workload, catalog)
            found.extend([result] if isinstance(result, Estimate) else [])
    return ranked(found, catalog), refused


def ranked(found: Iterable[Estimate], catalog: Catalog) -> list[Estimate]:
    """The best first: what fits before what does not, then by sustained speed with the engines' ranks as a head start."""
    return sorted(found, key=lambda each: _order(each, catalog))


def _order(each: Estimate, catalog: Catalog) -> tuple[float, ...]:
    if each.sustained is None:
        lacking = sum(min(0.0, part.headroom_bytes) * part.count for part in each.fit.devices)
        return 1.0, -lacking
    rank = catalog.engines[each.placement.engine].choice_rank or UNRANKED
    return 0.0, -each.sustained.value / MARGIN ** (rank - 1)


def _strategies(way: Way, workload: Workload, model: Model) -> Iterator[str]:
    if way.system.strategy:
        yield way.system.strategy
    elif way.system.count == 1:
        yield "whole"
    else:
        yield "tensor"
        yield "layers"
        if workload.users != 1:
            yield "replicas"
            if model.is_moe and way.system.count > 2:
                yield "experts"


def _ways(system: System, model: Model, quant: Quant | str | None, kv_quant: str, catalog: Catalog, refused: list[Reason]) -> Iterator[Way]:
    """Engines that may run it, each with its backend and quantization."""
    ranked_engines = sorted(
        (engine for engine in catalog.engines.values() if engine.choice_rank is not None), key=lambda each: each.choice_rank or 0
    )
    engines = (system.engine,) if system.engine else tuple(ranked_engines)
    any_found = False
    for engine in engines:
        way = way_of(system, engine, model, quant, kv_quant, catalog)
        if isinstance(way, Way):
            any_found = True
            yield way
        else:
            refused.append(way)
    if not any_found and system.engine is None:  # a format that only a special engine reads
        for engine in catalog.engines.values():
            special = way_of(system, engine, model, quant, kv_quant, catalog) if engine not in engines else None
            if isinstance(special, Way):
                yield special


def way_of(system: System, engine: Engine, model: Model, quant: Quant | str | None, kv_quant: str, catalog: Catalog) -> Way | Reason:
    """The engine with its backend and quantization on this system, or what forbids it."""
    kinds = devices(system)
    backend = system.backend if system.engine is engine and system.backend else backend_for(engine, kinds)
    if backend is None or (system.backend is backend and not all(drives(backend, device) for device in kinds)):
        where = next((device.id for device in kinds if backend_for(engine, (device,)) is None), kinds[0].id)
        name = engine.id if backend is None else f"{engine.id}/{backend.id}"
        return Reason("engine.not-on-hardware", {"engine": name, "device": where})
    if problem := unkept(engine, kv_quant):
        return problem
    chosen = quant_of(engine, model, quant, kinds, catalog)
    if isinstance(chosen, Reason):
        return chosen
    if system.engine is None and chosen.format in engine.experimental_formats:
        return Reason("quant.engine-cannot-read", {"engine": engine.id, "quant": chosen.id, "formats": ", ".join(engine.formats)})
    remarks = (Reason("quant.usual", {"quant": chosen.id, "engine": engine.id}),) if quant is None else ()
    return Way(with_engine(system, engine, backend, catalog), engine, backend, chosen, remarks, system, quant)


def quant_of(engine: Engine, model: Model, quant: Quant | str | None, kinds: tuple, catalog: Catalog) -> Quant | Reason:  # type: ignore[type-arg]
    """The quantization asked, or the first of the usual ones that the engine runs there."""
    if isinstance(quant, Quant):
        return unreadable(engine, quant, kinds) or quant
    if isinstance(quant, str) and quant not in ("4bit", "8bit", "16bit"):
        return quant_of(engine, model, catalog.quant(quant), kinds, catalog)
    native = _native(model, catalog)
    problem: Reason | None = None
    for name in wanted_quants(engine, model, quant, native):
        each = catalog.quant(name)
        refused = unreadable(engine, each, kinds)
        if refused is None:
            return each
        problem = problem or refused
    assert problem is not None
    return problem


def _native(model: Model, catalog: Catalog) -> Quant | None:
    try:
        return catalog.quant(model.native_quant)
    except UnknownName:
        return None


def _estimated(way: Way, strategy: str, model: Model, kv_quant: str, workload: Workload, catalog: Catalog) -> Estimate | Reason:
    """The estimate of one way by one strategy, or why it cannot be laid."""
    if strategy not in STRATEGIES:
        raise BadValue(f"strategy {strategy!r}: there are {', '.join(STRATEGIES)}")
    tables = tables_of(catalog)
    job = Job(
        model=model,
        weights=weights_of(model, way.quant, way.engine.id),
        cache=cache_of(model, kv_quant, way.engine),
        system=way.system,
        engine=way.engine,
        backend=way.backend,
        workload=workload,
    )
    if strategy == "offload":
        job = offload_short.with_shortage(job, tables)
    placement = lay(strategy, job)
    if isinstance(placement, Reason):
        return placement
    system = way.system if way.system.strategy == strategy else replace(way.system, strategy=strategy)
    alone = partial(_alone, way, model, kv_quant, workload, catalog) if system.count > 1 else None
    return estimate(system, model, way.quant, kv_quant, workload, placement, way.engine, tables, way.remarks, alone)


def _alone(way: Way, model: Model, kv_quant: str, workload: Workload, catalog: Catalog) -> Alone:
    """The best that one device of the system can do, with what was left open left open; of unlike ones the fastest."""
    singles = [single_of(way.asked or way.system, kind, catalog) for kind in _kinds(way.system)]
    results = [_single_best(single, model, way.asked_quant, kv_quant, workload, catalog) for single in singles]
    able = [each for each in results if isinstance(each, Estimate)]
    if able:
        return Alone(max(able, key=_decode_tokens_per_s))
    return Alone(None, next(each for each in results if isinstance(each, Reason)))


def _decode_tokens_per_s(given: Estimate) -> float:
    return given.decode.value if given.decode else 0.0


def _kinds(system: System) -> list[Group]:
    """One group of each kind of device."""
    return list({(group.device.id, group.memory_bytes): group for group in system.groups}.values())


def single_of(system: System, group: Group, catalog: Catalog) -> System:
    """One device of the group: in the stated computer, or in the usual one of a single card."""
    old = next(box for box in system.boxes if group in box.groups)
    box = box_of((replace(group, count=1),), catalog, None if old.host_assumed else old.host)
    return replace(system, boxes=(replace(box, link=usual_in_box(box, catalog)),), link=None, strategy=None)


def _single_best(
    single: System, model: Model, quant: Quant | str | None, kv_quant: str, workload: Workload, catalog: Catalog
) -> Estimate | Reason:
    """The best of one device for all the users, else for as many as it holds; or why it cannot run the model."""
    device = single.groups[0].device.id
    found, refused = tried(single, model, quant, kv_quant, workload, catalog)
    fewer = max((each.fit.max_users for each in found), default=0)
    if not any(each.decode for each in found) and 0 < fewer < (workload.users or 1):
        found = tried(single, model, quant, kv_quant, replace(workload, users=fewer), catalog)[0]
    fast = [each for each in found if each.decode]
    if not fast:
        return _unable(device, found, refused)
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
