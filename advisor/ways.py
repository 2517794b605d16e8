"""What may run a model on a system, and how each lays it: found once for each system, whatever the work."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from advisor import offload_short
from advisor.around import Tables
from advisor.bind import box_of, with_engine
from advisor.cache import Cache, cache_of
from advisor.catalog import Catalog, let_go
from advisor.correction import Correction
from advisor.device import Device
from advisor.engine import Backend, Engine
from advisor.errors import BadValue, UnknownName
from advisor.joined import usual_in_box
from advisor.memory import fitted
from advisor.model import Model
from advisor.need import Workload
from advisor.placement import STRATEGIES, Job, lay
from advisor.plan import Plan
from advisor.quant import Quant
from advisor.reason import Reason
from advisor.record import dataclass, field, replace
from advisor.runs import CACHE_NOT_THERE, CACHE_TOO_OLD, backend_for, devices, drives, unkept, unreadable, wanted_quants
from advisor.speed import Estimate
from advisor.system import Group, System
from advisor.weights import Weights, weights_of

MOST_KNOWN = 512  # choices that are kept, some 10 KB each: a sweep asks of the same systems and models again
MOST_LAST = 64  # estimates that are kept, some 20 KB each: the same is asked again soon or not at all


@dataclass(frozen=True, eq=False)
class Choice:
    """What one system leaves open for one model, but for the split: engine, backend, quantization."""

    system: System  # with its split left open
    model: Model
    quant: Quant | str | None
    kv_quant: str
    catalog: Catalog

    @cached_property
    def singles(self) -> tuple[System, ...]:
        """One device of each kind that the system has, by itself."""
        kinds = {(group.device.id, group.memory_bytes): group for group in self.system.groups}
        return tuple(single_of(self.system, group, self.catalog) for group in kinds.values())


@dataclass(frozen=True, eq=False)
class Way:
    """One engine on one system with one quantization: everything but the split."""

    system: System
    engine: Engine
    backend: Backend
    quant: Quant
    weights: Weights
    cache: Cache
    choice: Choice
    limits: dict[tuple[str, int], int] = field(default_factory=dict)  # of an offload: for so many users or tokens the most of the other
    _plans: dict[str, Plan | Reason] = field(default_factory=dict)

    def plan(self, strategy: str, workload: Workload) -> Plan | Reason:
        """The model laid by this strategy, or why it cannot be. Only what an offload moves out depends on the work."""
        if strategy not in STRATEGIES:
            raise BadValue(f"strategy {strategy!r}: there are {', '.join(STRATEGIES)}")
        if strategy == "offload":
            return self._laid(strategy, offload_short.with_shortage(self._job(workload), self._plain, tables_of(self.choice.catalog)))
        found = self._plans.get(strategy)
        if found is None:
            found = self._plans[strategy] = self._laid(strategy, self._job(workload))
        return found

    def holds(self, workload: Workload) -> bool:
        """Whether an offload laid for this work fits."""
        plan = self.plan("offload", workload)
        if isinstance(plan, Reason):
            return plan.code == "offload.not-needed"
        return fitted(plan.rooms, self.choice.model, workload).fits

    def told(self, counts: tuple[int, ...], workload: Workload) -> Plan | Reason:
        """The layers laid with so many to each stage."""
        return self._laid("layers", replace(self._job(workload), layer_counts=counts))

    @cached_property
    def _plain(self) -> offload_short.Plain:
        known = self._plans.get("whole" if self.system.count == 1 else "layers")
        if isinstance(known, Plan):
            return offload_short.Plain(known.placement, known.rooms)
        return offload_short.plain_of(self._job(Workload()), tables_of(self.choice.catalog))

    def _job(self, workload: Workload) -> Job:
        return Job(self.choice.model, self.weights, self.cache, self.system, self.engine, self.backend, workload)

    def _laid(self, strategy: str, job: Job) -> Plan | Reason:
        placement = lay(strategy, job)
        if isinstance(placement, Reason):
            return placement
        asked, system = self.choice, replace(self.system, strategy=strategy)
        usual = (Reason("quant.usual", {"quant": self.quant.id, "engine": self.engine.id}),) if asked.quant is None else ()
        tables = tables_of(asked.catalog)
        return Plan(system, asked.model, self.quant, asked.kv_quant, self.engine, self.weights, self.cache, placement, tables, usual)


@dataclass(frozen=True, eq=False)
class Last:
    """What was last asked of a way by one strategy, and the answer: the same is often asked again."""

    workload: Workload
    saved: Mapping[str, Correction]
    estimate: Estimate


class Known:
    """What was found of the choices of one catalog, for the next question. A way holds its choice and an estimate its way, and neither
    is held by them: what holds itself in a circle would stay in memory until garbage is looked for.
    """

    def __init__(self) -> None:
        self.choices: dict[tuple[object, ...], Choice] = {}
        self.ways: dict[Choice, tuple[Way | Reason, ...]] = {}
        self.last: dict[tuple[Way, str], Last] = {}  # by strategy

    def forget_oldest(self) -> None:
        """Forget the choice that was made first, with its ways."""
        oldest = self.choices.pop(next(iter(tuple(self.choices)), ()), None)  # none where another thread was quicker
        if oldest is not None:
            self.ways.pop(oldest, None)

    def keep(self, way: Way, strategy: str, last: Last) -> None:
        """Keep an estimate for the next question, in the place of the one that was kept first."""
        let_go(self.last, MOST_LAST)
        self.last[way, strategy] = last


def known_of(catalog: Catalog) -> Known:
    """What was found of this catalog's choices."""
    kept: dict[str, Known] = catalog.kept("choices")
    if "all" not in kept:
        kept["all"] = Known()
    return kept["all"]


def tables_of(catalog: Catalog) -> Tables:
    """The estimator's tables of this catalog, put together once."""
    kept: dict[str, Tables] = catalog.kept("tables")
    if "all" not in kept:
        storages = catalog.records("storage")
        kept["all"] = Tables(
            catalog.calibration, catalog.link_calibration, catalog.host_calibration, catalog.platforms, storages, catalog.choices
        )
    return kept["all"]


def choice_of(system: System, model: Model, quant: Quant | str | None, kv_quant: str, catalog: Catalog) -> Choice:
    """The choice of a system, whatever its own split: one for each System object, for equal ones may differ in what they assumed."""
    known = known_of(catalog)
    key = id(system.unsplit), model, quant, kv_quant
    found = known.choices.get(key)
    if found is None:
        if len(known.choices) >= MOST_KNOWN:
            known.forget_oldest()
        found = known.choices[key] = Choice(system.unsplit, model, quant, kv_quant, catalog)
    return found


def ways_of(choice: Choice) -> tuple[Way | Reason, ...]:
    """Engines that may run it, each with its backend and quantization; of the others why not."""
    known = known_of(choice.catalog).ways
    found = known.get(choice)
    if found is None:
        found = known[choice] = tuple(_ways(choice))
    return found


def single_of(system: System, group: Group, catalog: Catalog) -> System:
    """One device of the group, in the same computer."""
    old = next(box for box in system.boxes if group in box.groups)
    box = box_of((replace(group, count=1),), catalog, old.host)
    return replace(system, boxes=(replace(box, link=usual_in_box(box, catalog)),), link=None, strategy=None)


def _ways(choice: Choice) -> Iterator[Way | Reason]:
    """The engine that is named, else those that are chosen from; where none of these can, one that is taken only when named: but not
    for a cache that they know, and do not keep on these devices.
    """
    system, catalog = choice.system, choice.catalog
    ranked = sorted((each for each in catalog.engines.values() if each.choice_rank is not None), key=lambda each: each.choice_rank or 0)
    engines = (system.engine,) if system.engine else tuple(ranked)
    settled = False
    for engine in engines:
        way = _way(choice, engine)
        settled = settled or isinstance(way, Way) or way.code in (CACHE_TOO_OLD, CACHE_NOT_THERE)
        yield way
    if not settled and system.engine is None:  # a format that only a special engine reads
        special = (_way(choice, engine) for engine in catalog.engines.values() if engine not in engines)
        yield from (way for way in special if isinstance(way, Way))


def way_of(system: System, engine: Engine, model: Model, quant: Quant | str | None, kv_quant: str, catalog: Catalog) -> Way | Reason:
    """The engine with its backend and quantization on this system, or what forbids it."""
    return _way(choice_of(system, model, quant, kv_quant, catalog), engine)


def _way(choice: Choice, engine: Engine) -> Way | Reason:
    system, model, quant, kv_quant, catalog = choice.system, choice.model, choice.quant, choice.kv_quant, choice.catalog
    kinds = devices(system)
    backend = system.backend if system.engine is engine and system.backend else backend_for(engine, kinds)
    if backend is None or (system.backend is backend and not all(drives(backend, device) for device in kinds)):
        where = next((device.id for device in kinds if backend_for(engine, (device,)) is None), kinds[0].id)
        name = engine.id if backend is None else f"{engine.id}/{backend.id}"
        return Reason("engine.not-on-hardware", {"engine": name, "device": where})
    if problem := unkept(engine, kv_quant, kinds):
        return problem
    chosen = quant_of(engine, model, quant, kinds, catalog)
    if isinstance(chosen, Reason):
        return chosen
    if system.engine is None and chosen.format in engine.experimental_formats:
        return Reason("quant.engine-cannot-read", {"engine": engine.id, "quant": chosen.id, "formats": ", ".join(engine.formats)})
    run_by = with_engine(system, engine, backend)
    return Way(run_by, engine, backend, chosen, weights_of(model, chosen, engine.id), cache_of(model, kv_quant, engine), choice)


def quant_of(engine: Engine, model: Model, quant: Quant | str | None, kinds: tuple[Device, ...], catalog: Catalog) -> Quant | Reason:
    """The quantization asked, or the first of the usual ones that the engine runs there."""
    if isinstance(quant, Quant):
        return unreadable(engine, quant, kinds) or quant
    if isinstance(quant, str) and quant not in ("4bit", "8bit", "16bit"):
        return quant_of(engine, model, catalog.quant(quant), kinds, catalog)
    native = _native(model, catalog)
    problem: Reason | None = None
    for name in wanted_quants(engine, quant, native):
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
