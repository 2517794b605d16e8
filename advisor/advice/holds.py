"""What runs a work on some devices, and whether its bytes may lie there: no way of laying it that fits is ever denied."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from advisor.advice.desk import NONE_HOPELESS, Desk, Hopeless, MayFit, Run, Work
from advisor.cache import Cache, cache_of
from advisor.device import Device
from advisor.engine import DEALT, Backend, Engine
from advisor.model import Model
from advisor.placement import Part
from advisor.placement.layers import shared_out
from advisor.quant import Quant
from advisor.record import dataclass
from advisor.rooms import Load, load_of
from advisor.runs import backend_for, eight_bit_cache, unkept
from advisor.speed import Estimate
from advisor.system import System
from advisor.ways import quant_of, tables_of
from advisor.weights import Weights, weights_of

CUT_STRATEGIES = ("tensor", "experts")  # whose devices hold equal shares, and all work on every layer
Placed = tuple[Device, float, int]  # devices that compute: which, the memory of each in bytes, how many


@dataclass(frozen=True, eq=False)
class Way:
    """One engine with the weights that it would take: what lies on the devices in all, what a token reads."""

    engine: Engine
    backend: Backend
    weights: Weights
    cache: Cache
    filled_tokens: float
    cache_bytes: float  # of all users
    user_cache_bytes: float  # of one


@dataclass(frozen=True, eq=False)
class Seat:
    """The memory of one device as one way uses it, with what the whole work would take there."""

    way: Way
    device: Device
    memory_bytes: float
    room_bytes: float  # left of what the engine may take beside what it needs itself
    held_bytes: float  # weights, and the cache of all users
    alone_bytes: float  # weights, and the cache of one user


class Stage(NamedTuple):
    """Equal devices that work in turn, with as many layers each; on the `last` one the head lies too."""

    seat: Seat
    number: int
    layers: int
    last: bool
    share: float  # of all layers, on each
    short_bytes: float  # what each lacks at least for its layers with their cache; 0 or less where they may lie there


class Holds:
    """The ways to run one work; each kind of device is asked once for each engine, with the least cache that it may take."""

    def __init__(self, desk: Desk, work: Work, smaller: bool) -> None:
        self.desk = desk
        self.work = work
        self.smaller = smaller
        self._model: Model = desk.model
        self._platforms = tables_of(desk.catalog).platforms
        self._ways: dict[tuple[str, ...], tuple[Way, ...]] = {}
        self._by_quant: dict[tuple[str, str, str, str], Way] = {}
        self._seats: dict[tuple[Way, str, float], Seat] = {}

    def ways_of(self, kinds: Iterable[Device]) -> tuple[Way, ...]:
        """The engines that run the work on these devices: those that are left open, else those that must be named."""
        every = {device.id: device for device in kinds}
        key = tuple(every)
        if key not in self._ways:
            self._ways[key] = tuple([self._way(*run) for run in self._runs(key, tuple(every.values()))])
        return self._ways[key]

    def _runs(self, ids: tuple[str, ...], kinds: tuple[Device, ...]) -> tuple[Run, ...]:
        known, asked = self.desk.runs, (ids, self.work.quant, self.work.kv_quant, self.smaller)
        found = known.get(asked)
        if found is None:
            engines = self.desk.catalog.engines.values()
            every = [run for engine in engines if (run := self._run(engine, kinds))]
            keeping = [run for run in every if not unkept(run[0], run[3], kinds)]
            ranked = [run for run in keeping if run[0].choice_rank is not None]
            left_open = any(quant.format not in engine.experimental_formats for engine, _, quant, _ in ranked)
            found = known[asked] = tuple(ranked if left_open else keeping)
        return found

    def _run(self, engine: Engine, kinds: tuple[Device, ...]) -> Run | None:
        """With what this engine runs the model on these devices, whatever the workload: with the least cache that they may take."""
        desk = self.desk
        backend = backend_for(engine, kinds)
        if backend is None or desk.model.architecture in engine.excluded_architectures:
            return None
        quant = quant_of(engine, desk.model, desk.quant(self.work.quant), kinds, desk.catalog)
        return (engine, backend, quant, self._kept_as(engine, kinds)) if isinstance(quant, Quant) else None

    def _kept_as(self, engine: Engine, kinds: tuple[Device, ...]) -> str:
        """The least cache that these devices may take with this engine."""
        return (eight_bit_cache(engine, kinds) if self.smaller else None) or self.work.kv_quant

    def _way(self, engine: Engine, backend: Backend, quant: Quant, kv_quant: str) -> Way:
        load = self.work.workload
        key = engine.id, backend.id, quant.id, kv_quant
        if key not in self._by_quant:
            weights, cache = weights_of(self._model, quant, engine.id), cache_of(self._model, kv_quant, engine)
            filled = load.prompt_tokens + load.generate_tokens / 2
            each = cache.held_bytes(load.context_tokens)
            self._by_quant[key] = Way(engine, backend, weights, cache, filled, self._at_a_time(engine) * each, each)
        return self._by_quant[key]

    def _at_a_time(self, engine: Engine) -> int:
        """The users whose cache lies there: the others wait."""
        users = self.work.workload.users or 1
        return min(users, engine.max_sequences) if engine.max_sequences else users

    def seat(self, way: Way, device: Device, memory_bytes: float) -> Seat:
        """One device as a way uses it."""
        key = way, device.id, memory_bytes
        if key not in self._seats:
            load = self._load(way, device, memory_bytes)
            stored = load.weights_bytes + way.weights.head_bytes
            room = load.usable_bytes - load.overhead(self.work.workload.context_tokens)
            self._seats[key] = Seat(way, device, memory_bytes, room, stored + way.cache_bytes, stored + way.user_cache_bytes)
        return self._seats[key]

    def _load(self, way: Way, device: Device, memory_bytes: float) -> Load:
        """What lies there whatever the workload."""
        known, key = self.desk.loads, (way.engine.id, way.weights.quant, way.cache.kv_quant, device.id, memory_bytes)
        if key not in known:
            part = Part(device, memory_bytes, head_share=0.0)  # the head's logits lie on one device only
            known[key] = load_of(part, self._model, way.weights, way.cache, way.engine, self._platforms)
        return known[key]

    def of(self, system: System, kv_quant: str) -> MayFit | None:
        """Whether an engine may hold the work on the devices of a system, laid by a strategy, with that cache; None: no engine may."""
        placed = [(group.device, group.memory_bytes, group.gpus) for group in system.groups]
        kinds = [device for device, *_ in placed]
        ways = self.ways_of(kinds)
        seats = {way.engine.id: self.seats(way, placed) for way in ways if way.cache.kv_quant == kv_quant}
        others = system.engine is not None or len(seats) < len([way for way in ways if not unkept(way.engine, kv_quant, kinds)])
        apart = all(box.strategy is None for box in system.boxes)

        def may_fit(engine: Engine, strategy: str) -> bool:
            if engine.id not in seats or strategy == "offload" or (strategy == "replicas" and not apart):
                return True
            return fits(strategy, seats[engine.id]) and (strategy != "layers" or not apart or lie_in_turn(stages_of(seats[engine.id])))

        able = others or any("offload" in each[0][0].way.backend.splits or short_bytes(each) <= 0 for each in seats.values())
        return may_fit if able else None

    def seats(self, way: Way, placed: Sequence[Placed]) -> list[tuple[Seat, int]]:
        """Each device of a system as a way uses it, and how many there are."""
        return [(self.seat(way, device, size), count) for device, size, count in placed]


def short_bytes(seats: Sequence[tuple[Seat, int]]) -> float:
    """What all devices together lack at least; 0 or less where the work may lie there."""
    return min([seat.held_bytes for seat, _ in seats]) - sum([seat.room_bytes * count for seat, count in seats])


def fits(strategy: str, seats: Sequence[tuple[Seat, int]]) -> bool:
    """Whether the work may lie there: copies whole on each device, cut in equal shares, else shared out as it fits."""
    if strategy == "replicas":
        return all(seat.alone_bytes <= seat.room_bytes for seat, _ in seats)
    if strategy in CUT_STRATEGIES:
        least = min(seat.room_bytes for seat, _ in seats)
        return min(seat.held_bytes for seat, _ in seats) <= least * sum(count for _, count in seats)
    return short_bytes(seats) <= 0


def may_spill(seats: Sequence[tuple[Seat, int]], ram_bytes: float) -> bool:
    """Whether a way may lay a part of the work in host memory of so many bytes: none that is the devices' own."""
    return "offload" in seats[0][0].way.backend.splits and bool(ram_bytes) and not any(seat.device.unified_memory for seat, _ in seats)


def stages_of(seats: Sequence[tuple[Seat, int]]) -> list[Stage]:
    """The devices in turn with the layers that their engine deals them: by memory, or as many to each."""
    way, weights, count = seats[0][0].way, seats[0][0].way.weights, sum([number for _, number in seats])
    evenly = count > 1 and way.engine.deals_evenly and not way.engine.flags(DEALT, count)
    held_bytes, found = weights.dense_bytes + weights.expert_bytes + way.cache_bytes, []
    for at, number, layers, last in _dealt(weights.layers, tuple([(1.0 if evenly else seat.memory_bytes, count) for seat, count in seats])):
        seat, share = seats[at][0], layers / weights.layers
        short_bytes = share * held_bytes + (weights.head_bytes if last else 0.0) - seat.room_bytes
        found.append(Stage(seat, number, layers, last, share, short_bytes))
    return found


@lru_cache(maxsize=1024)
def _dealt(layers: int, rooms: tuple[tuple[float, int], ...]) -> tuple[tuple[int, int, int, bool], ...]:
    """(which kind, how many in turn, the layers of each, whether it is the last) for kinds of so much room, so many of each."""
    every = [at for at, (_, count) in enumerate(rooms) for _ in range(count)]
    dealt = shared_out(layers, [rooms[at][0] for at in every])
    working = [(at, each) for at, each in zip(every, dealt, strict=True) if each]
    alike = groupby((*each, number == len(working)) for number, each in enumerate(working, 1))
    return tuple((at, len(list(same)), each, last) for (at, each, last), same in alike)


def lie_in_turn(stages: Iterable[Stage]) -> bool:
    """Whether all layers may lie on the devices that they are dealt to."""
    return all(stage.short_bytes <= 0 for stage in stages)


def able_ways(
    desk: Desk, system: System, work: Work, holds: Holds | None = None, hopeless: Hopeless = NONE_HOPELESS
) -> tuple[Estimate, ...]:
    """The ways to run the work on a system that fit; those that are known not to are not looked at, nor the hopeless ones."""
    return desk.able_ways(system, work, (holds or holds_of(desk, work)).of(system, work.kv_quant), hopeless)


def left_open(ways: tuple[Estimate, ...], system: System, holds: Holds) -> tuple[Estimate, ...]:
    """Those of the ways with a smaller cache whose engine runs the work with the full one, too: a cache that the tool shrinks brings in
    no engine that is taken only when named.
    """
    engines = {way.engine.id for way in holds.ways_of(group.device for group in system.groups)}
    return ways if system.engine else tuple(way for way in ways if way.placement.engine in engines)


def holds_of(desk: Desk, work: Work, eight_bit: bool = False) -> Holds:
    """What holds one work, made once for a work table; `eight_bit` where each engine may take its cache of eight bits."""
    key = work, eight_bit
    found = desk.holds.get(key)
    if found is None:
        found = desk.holds[key] = Holds(desk, work, eight_bit)
    assert isinstance(found, Holds)
    return found
