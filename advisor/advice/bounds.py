"""The most that a system can do with one work, found without laying the model on it: no estimate is ever faster than its bound.

One device is asked what a step takes with the whole model in it (`step.decode_terms`). Several that share every layer can at best
divide what can be divided; in turn, or as copies side by side, they are no faster than the best of them alone.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from advisor import correction, memory
from advisor.advice.desk import Desk, Run, Work
from advisor.advice.offers import Offer, Owned
from advisor.cache import Cache, cache_of
from advisor.calibration import Constants
from advisor.device import Device
from advisor.engine import Backend, Engine
from advisor.offload_short import HOST_KEEPS_SHARE
from advisor.placement import Job, Part
from advisor.placement.rules import problem, tensor_problem
from advisor.quant import Quant
from advisor.record import dataclass, replace
from advisor.runs import backend_for, eight_bit_cache, unkept
from advisor.step import Terms, decode_terms
from advisor.system import Box, Group, System
from advisor.ways import quant_of, tables_of
from advisor.weights import Weights, weights_of


class Bound(NamedTuple):
    """The most tokens/s for each user (0: it cannot run), and whether the devices alone may hold the work."""

    tokens_per_s: float
    holds: bool


SPILT_SLACK = 1.05  # what whole layers, moved where only a part of one need be, may win where the host's memory is quick
OTHER_ENGINES_SHARE = 0.9  # engines' bytes for the same weights and cache differ by less


@dataclass(frozen=True, eq=False)
class Way:
    """One engine with the weights that it would take: what lies on the devices in all, what a token reads."""

    engine: Engine
    backend: Backend
    weights: Weights
    cache: Cache
    filled_tokens: float
    cache_bytes: float  # of all users

    def terms(self, part: Part, constants: Constants, desk: Desk, users: float) -> Terms:
        """One step of `users` on one device."""
        return decode_terms(part, self.weights, self.cache, desk.model, users, self.filled_tokens, constants)


@dataclass(frozen=True, eq=False)
class Seat:
    """One device as one way uses it."""

    way: Way
    device: Device
    memory_bytes: float
    constants: Constants
    room_bytes: float  # left of what the engine may take beside what it needs itself
    held_bytes: float  # weights and cache, were they all here
    shared_s: float  # of a step of all users: what more devices can divide
    fixed_s: float  # the rest of a step of one user


Spilt = tuple[list[tuple[Seat, int]], float]


def bounds_of(desk: Desk, work: Work, eight_bit: bool = False) -> "Bounds":
    """The bounds of one work, made once for a work table; `eight_bit` where each engine may take its cache of eight bits."""
    found = desk.bounds.get((work, eight_bit))
    if found is None:
        found = desk.bounds[work, eight_bit] = Bounds(desk, work, desk.eight_bit_caches if eight_bit else ())
    assert isinstance(found, Bounds)
    return found


class Bounds:
    """The bounds of one work on one work table; each device is asked once for each engine, with the least cache that it may take."""

    def __init__(self, desk: Desk, work: Work, smaller: Sequence[str] = ()) -> None:
        self.desk = desk
        self.work = work
        self.smaller = bool(smaller)
        self.users = work.workload.users or 1
        self.tables = tables_of(desk.catalog)
        self._ways: dict[tuple[str, ...], tuple[Way, ...]] = {}
        self._by_quant: dict[tuple[str, str, str], Way] = {}
        self._seats: dict[tuple[Way, str, float], Seat] = {}
        self._alone: dict[tuple[Seat, int], float] = {}
        self._cut: dict[tuple[Way, int, int, bool], bool] = {}
        self._known: dict[str, Bound] = {}
        self._rough: dict[str, float] = {}
        self._lies: dict[tuple[str, float], list[Bound | Spilt]] = {}
        self._corrected = correction.file().exists()
        weights = desk.bytes(work)[0]
        caches = [desk.bytes(replace(work, kv_quant=name))[1] for name in smaller or (work.kv_quant,)]
        load = work.workload
        self._touched = partial(weights.experts_touched_share, routing_exponent=self.tables.calibration.routing_exponent)
        self._expert_bytes = OTHER_ENGINES_SHARE * weights.expert_bytes
        dense, cached = weights.dense_bytes + weights.head_bytes, self.users * min(cache.read_bytes(load.prompt_tokens) for cache in caches)
        self._dense_bytes = OTHER_ENGINES_SHARE * (dense + cached)
        held = self.users * min(cache.held_bytes(load.context_tokens) for cache in caches)
        self._least_bytes = OTHER_ENGINES_SHARE * (dense + weights.expert_bytes + held)
        self._dense_read = weights.dense_bytes / (weights.dense_bytes + held)  # at least, of layers that move with their cache

    def may_reach(self, offer: Offer, tokens_per_s: float) -> bool:
        """Whether an offer may give each user that much; most that cannot are told by bytes over bandwidth alone."""
        if tokens_per_s <= 0:
            return True
        found = self._known.get(offer.key)
        if found is None and self._roughly(offer) < tokens_per_s:
            return False
        return (found or self.of(offer)).tokens_per_s >= tokens_per_s

    def may_hold(self, offer: Offer) -> bool:
        """Whether the devices alone may hold the work."""
        return self._least_bytes <= offer.memory_bytes and self.of(offer).holds

    def _roughly(self, offer: Offer) -> float:
        """Tokens/s if all memories gave their datasheet rates and nothing else took time."""
        found = self._rough.get(offer.key)
        if found is None:
            found = self._rough[offer.key] = self._at_datasheet_rates(offer)
        return found

    def _at_datasheet_rates(self, offer: Offer) -> float:
        read = self._dense_bytes + self._expert_bytes * self._touched(max(1.0, self.users / offer.count))
        short = self._least_bytes - offer.memory_bytes
        if short <= 0:
            return offer.bandwidth_bytes_per_s / read
        if not offer.ram_bytes:
            return 0.0
        experts = min(short, self._expert_bytes)
        spilt = experts * self._touched(self.users / offer.count) + (short - experts) * self._dense_read
        if short - (short - experts) * (1 - self._dense_read) > offer.ram_bytes:
            return 0.0  # some of the weights would lie on disk
        return 1 / (spilt / offer.ram_bytes_per_s + max(0.0, read - spilt) / offer.bandwidth_bytes_per_s)

    def of(self, offer: Offer) -> Bound:
        """The bound of an offer."""
        found = self._known.get(offer.key)
        if found is None:
            key = offer.words, offer.memory_bytes  # the same devices, in whatever computer
            lies = self._lies.get(key)
            if lies is None:
                lies = self._lies[key] = [self._by(way, offer) for way in self._ways_of(offer.groups)]
            bounds = [each if isinstance(each, Bound) else Bound(self._spilling(*each, offer), False) for each in lies]
            found = Bound(max((b.tokens_per_s for b in bounds), default=0.0), any(b.holds for b in bounds))
            self._known[offer.key] = found
        return found

    def _ways_of(self, groups: Sequence[Owned]) -> tuple[Way, ...]:
        """The engines that run the work on these devices: those that are left open, else those that must be named."""
        key = tuple(device.id for device, *_ in groups)
        if key not in self._ways:
            known, asked = self.desk.runs, (key, self.work.quant, self.work.kv_quant, self.smaller)
            if asked not in known:
                kinds = tuple({device.id: device for device, *_ in groups}.values())
                engines = self.desk.catalog.engines.values()
                usual = [run for engine in engines if engine.choice_rank is not None and (run := self._run(engine, kinds))]
                known[asked] = tuple(usual or [run for engine in engines if (run := self._run(engine, kinds))])
            self._ways[key] = tuple(self._way(*run) for run in known[asked])
        return self._ways[key]

    def _run(self, engine: Engine, kinds: tuple[Device, ...]) -> Run | None:
        """With what this engine runs the model on these devices, whatever the workload."""
        desk, work = self.desk, self.work
        backend = backend_for(engine, kinds)
        if backend is None or unkept(engine, self._kept_as(engine)) or desk.model.architecture in engine.excluded_architectures:
            return None
        quant = quant_of(engine, desk.model, desk.quant(work.quant), kinds, desk.catalog)
        return (engine, backend, quant) if isinstance(quant, Quant) else None

    def _kept_as(self, engine: Engine) -> str:
        """The least cache that a system may take with this engine."""
        return (eight_bit_cache(engine) if self.smaller else None) or self.work.kv_quant

    def _way(self, engine: Engine, backend: Backend, quant: Quant) -> Way:
        desk, work = self.desk, self.work
        key = engine.id, backend.id, quant.id
        if key not in self._by_quant:
            weights, cache = weights_of(desk.model, quant, engine.id), cache_of(desk.model, self._kept_as(engine), engine)
            filled = work.workload.prompt_tokens + work.workload.generate_tokens / 2
            held = self.users * cache.held_bytes(work.workload.context_tokens)
            self._by_quant[key] = Way(engine, backend, weights, cache, filled, held)
        return self._by_quant[key]

    def _seat(self, way: Way, device: Device, memory_bytes: float) -> Seat:
        key = way, device.id, memory_bytes
        if key not in self._seats:
            constants = self.tables.calibration.constants(way.engine.id, way.backend.id, device, way.weights.speed_class, self.desk.model)
            part = Part(device, memory_bytes, head_share=0.0)  # the head's logits lie on one device only
            lies = memory.on_device(part, self.desk.model, way.weights, way.cache, self.work.workload, way.engine, self.tables.platforms)
            whole = Part(device, memory_bytes)
            step = way.terms(whole, constants, self.desk, self.users)
            one = step if self.users == 1 else way.terms(whole, constants, self.desk, 1)
            self._seats[key] = Seat(
                way,
                device,
                memory_bytes,
                constants,
                room_bytes=lies.usable_bytes - lies.overhead_bytes,
                held_bytes=lies.weights_bytes + way.weights.head_bytes + lies.cache_bytes,
                shared_s=step.weights_s + step.cache_s + step.compute_s,
                fixed_s=one.overhead_s,
            )
        return self._seats[key]

    def _by(self, way: Way, offer: Offer) -> "Bound | Spilt":
        """The bound with one engine; where the devices do not hold the work, what they lack: the computer then decides."""
        seats = [(self._seat(way, device, size), count * device.gpus_on_board) for device, size, count in offer.groups]
        short = min(seat.held_bytes for seat, _ in seats) - sum(seat.room_bytes * count for seat, count in seats)
        if short > 0:
            return seats, short
        count = offer.count
        if count == 1:
            return Bound(self._better(seats, 1) / self._alone_s(seats[0][0], self.users), True)
        least_users = max(1, self.users // count) if len(seats) == 1 else 1
        step_s = min(self._alone_s(seat, least_users) for seat, _ in seats)
        if self._cuts(way, offer):
            shared = 1 / sum(number / seat.shared_s for seat, number in seats)
            step_s = min(step_s, shared + min(seat.fixed_s for seat, _ in seats))
        return Bound(self._better(seats, count) / step_s, True)

    def _better(self, seats: Sequence[tuple[Seat, int]], count: int) -> float:
        """How much more than estimated the owner's own measurements allow."""
        if not self._corrected or len(seats) > 1:
            return 1.0
        known = correction.local(seats[0][0].device.id, seats[0][0].way.engine.id, devices=count)
        return max(1.0, known.decode_factor or 1.0) if known else 1.0

    def _alone_s(self, seat: Seat, users: int) -> float:
        """Seconds of a step of so many users with everything on this device."""
        key = seat, users
        if key not in self._alone:
            self._alone[key] = seat.way.terms(Part(seat.device, 0.0), seat.constants, self.desk, users).total_s
        return self._alone[key]

    def _cuts(self, way: Way, offer: Offer) -> bool:
        """Whether this engine may cut layers, or share experts, over that many devices."""
        key = way, offer.count, offer.boxes, len(offer.groups) > 1
        if key not in self._cut:
            groups = tuple(Group(device, count, size) for device, size, count in offer.groups)
            boxes = (Box(groups),) if offer.boxes == 1 else (Box((replace(groups[0], count=1),)),) * offer.boxes
            job = Job(self.desk.model, way.weights, way.cache, System(boxes), way.engine, way.backend, self.work.workload)
            tensor = problem("tensor", job) or tensor_problem(job, offer.count)
            mixture = self.desk.model.is_moe and not problem("experts", job)
            self._cut[key] = tensor is None or mixture
        return self._cut[key]

    def _spilling(self, seats: Sequence[tuple[Seat, int]], short: float, offer: Offer) -> float:
        """The most tokens/s when at least `short` bytes lie in host memory; 0 if it may not.

        Whole layers move, so that more lies there than need be: quicker only where the host's memory is, and then with all of a kind.
        """
        way = seats[0][0].way
        if "offload" not in way.backend.splits or not offer.ram_bytes or any(seat.device.unified_memory for seat, _ in seats):
            return 0.0
        weights, amounts = way.weights, [short]
        if any(offer.ram_bytes_per_s > min(s.constants.expert_bytes_per_s, s.constants.weights_bytes_per_s) for s, _ in seats):
            amounts += [weights.expert_bytes, weights.dense_bytes + weights.expert_bytes + self._beside_bytes(way)]
        steps_s = [self._spilt_s(seats, amount, offer) for amount in amounts if amount >= short]
        step_s = min((each for each in steps_s if each), default=0.0)
        return SPILT_SLACK * self._better(seats, offer.count) / step_s if step_s else 0.0

    def _beside_bytes(self, way: Way) -> float:
        """The cache that moves out with the layers."""
        return 0.0 if way.engine.offload_keeps == "streams" else way.cache_bytes

    def _spilt_s(self, seats: Sequence[tuple[Seat, int]], short: float, offer: Offer) -> float:
        """Least seconds of a step with `short` bytes in host memory, experts first; 0 where all are too little, or some lie on disk."""
        way = seats[0][0].way
        weights = way.weights
        experts = min(short, weights.expert_bytes)
        beside = self._beside_bytes(way)
        whole = (short - experts) / (weights.dense_bytes + beside)  # share of the layers that move with their cache
        outside = experts + whole * weights.dense_bytes
        if whole > 1 + 1e-9 or outside > offer.ram_bytes * (1 - HOST_KEEPS_SHARE):
            return 0.0
        users = self._together(way, offer)
        read = experts * weights.experts_touched_share(users, self.tables.calibration.routing_exponent) + whole * weights.dense_bytes
        read += whole * users * way.cache.read_bytes(way.filled_tokens) if beside else 0.0
        moved = experts / weights.expert_bytes if weights.expert_bytes else 0.0
        devices_s = self._in_turn_s(seats, 1 - whole, 1 - moved, 1 - whole if beside else 1.0, users)
        return devices_s + read / offer.ram_bytes_per_s

    def _in_turn_s(self, seats: Sequence[tuple[Seat, int]], dense: float, experts: float, cache: float, users: float) -> float:
        """Least seconds of the devices in turn, with these shares of the model left on them.

        Of unlike ones the quickest takes all layers that its memory could hold, and of the experts the most.
        """
        way, desk = seats[0][0].way, self.desk

        def step_s(seat: Seat, left: float) -> float:
            part = Part(seat.device, 0.0, dense_share=dense, expert_share=left, cache_share=cache)
            return way.terms(part, seat.constants, desk, users).total_s

        whole = [step_s(seat, experts) for seat, _ in seats]
        if len(seats) == 1:
            return whole[0]
        bare = [step_s(seat, 0.0) for seat, _ in seats]
        held = dense * way.weights.dense_bytes + experts * way.weights.expert_bytes
        left, shared = 1.0, 0.0
        for each, (seat, count) in sorted(zip(bare, seats, strict=True), key=lambda pair: pair[0]):
            taken = min(left, seat.memory_bytes * count / held) if held else left
            left, shared = left - taken, shared + taken * each
        return shared + left * max(bare) + min(full - each for full, each in zip(whole, bare, strict=True))

    def _together(self, way: Way, offer: Offer) -> float:
        """Users of one pass: all of them, or one batch of as many as there are devices where the engine keeps them all busy."""
        return self.users / offer.count if way.engine.pipeline_fills else self.users
