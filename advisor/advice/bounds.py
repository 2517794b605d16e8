"""The most that a system can do with one work, found without laying the model on it: no estimate is ever faster than its bound.

Several devices that share every layer go at the pace of the slowest, and wait for messages; in turn they take as long as all of them
must; copies side by side serve each their own users.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from advisor.advice.datasheet import Datasheet
from advisor.advice.desk import Desk, Hopeless, Work
from advisor.advice.holds import Seat, Way, fits, holds_of, lie_in_turn, may_spill, short_bytes, stages_of
from advisor.advice.joins import NEVER, Joins
from advisor.advice.nearly import Nearly
from advisor.advice.offers import Offer
from advisor.advice.paces import Paces, Seats, Spilt, least_moved
from advisor.correction import Correction, key_of
from advisor.placement import Job
from advisor.placement.rules import problem, tensor_problem
from advisor.record import replace
from advisor.system import Box, Group, System

SPILT_SLACK = 1.05  # what may be won by where the layers come from, of unlike devices, and where the host's memory is quick
ROUNDING = 1 + 1e-9  # sums in another order: some bounds are what an estimate comes to


class Bound(NamedTuple):
    """The most tokens/s for each user (0: it cannot run), and whether the devices alone may hold the work."""

    tokens_per_s: float
    holds: bool


class _Lie(NamedTuple):
    """The work on some devices by one way, whatever computer they are in: least seconds of a step of each kind, endless where it
    cannot be.
    """

    seats: Seats
    short_bytes: float  # that the devices lack at least
    apart_s: float = NEVER  # one device, or copies side by side
    in_line_s: float = NEVER  # one after the other, without messages
    cut_s: float = NEVER  # all on every layer, without messages
    shared_s: float = NEVER  # likewise, where nobody knows the messages
    least_s: float = NEVER  # of all of them, divided at best


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
        self.users = work.workload.users or 1
        self._saved = desk.saved
        self._holds = holds_of(desk, work, bool(smaller))
        self._paces = Paces(desk, work)
        self._joins = Joins(desk, work)
        self._cut: dict[tuple[Way, int, int, bool], tuple[bool, bool]] = {}
        self._known: dict[str, Bound] = {}
        self._generous: dict[str, float] = {}
        self._rough: dict[str, float] = {}
        self._near: dict[str, float] = {}
        self._placed: dict[tuple[str, float], list[tuple[Seats, float]]] = {}
        self._lies: dict[tuple[str, float], list[_Lie]] = {}
        self._spilt: dict[tuple[Way, str, float, bool], list[Spilt]] = {}
        self.datasheet = Datasheet(desk, work, smaller)
        self._nearly = Nearly(desk, self._paces, self.datasheet.touched, self.datasheet.cached_bytes)

    def may_reach(self, offer: Offer, tokens_per_s: float, generously: bool = False) -> bool:
        """Whether an offer may give each user that much; most that cannot are told by bytes over bandwidth alone, or nearly so."""
        if tokens_per_s <= 0:
            return True
        known = offer.key in self._known
        if not known and (self.roughly(offer) < tokens_per_s or (not generously and self.nearly(offer) < tokens_per_s)):
            return False
        return (self.generously(offer) if generously else self.of(offer).tokens_per_s) >= tokens_per_s

    def may_hold(self, offer: Offer) -> bool:
        """Whether the devices alone may hold the work."""
        if self.datasheet.least_bytes > offer.memory_bytes:
            return False
        return min([short for _, short in self._seated(offer)], default=NEVER) <= 0

    def roughly(self, offer: Offer) -> float:
        """Tokens/s for each user at datasheet rates; more where more was measured, with any engine."""
        found = self._rough.get(offer.key)
        if found is None:
            lifted = max(self.desk.lifts.get((device.id, offer.count), 1.0) for device, *_ in offer.groups) if self._saved else 1.0
            found = self._rough[offer.key] = lifted * self.datasheet.tokens_per_s(offer)
        return found

    def nearly(self, offer: Offer) -> float:
        """Tokens/s for each user at the rates that engines reach, with what every step takes beside: all on the quickest of unlike
        devices, and without messages.
        """
        found = self._near.get(offer.key)
        if found is None:
            rates = (self._better(seats, offer.count) / self._nearly.step_s(seats, short, offer)
                     for seats, short in self._seated(offer))  # fmt: skip
            found = self._near[offer.key] = SPILT_SLACK * max(rates, default=0.0)
        return found

    def of(self, offer: Offer) -> Bound:
        """The bound of an offer."""
        found = self._known.get(offer.key)
        if found is None:
            most, holds = 0.0, False
            for lie in self._laid(offer):
                if lie.short_bytes <= 0:
                    most, holds = max(most, self._holding(lie, offer)), True
                most = max(most, self._spilling(lie, offer))
            found = self._known[offer.key] = Bound(most, holds)
        return found

    def generously(self, offer: Offer) -> float:
        """A more generous most tokens/s, that divides all that can be divided, and counts neither messages nor what a processor
        multiplies: for who wants to see what comes near, too.
        """
        found = self._generous.get(offer.key)
        if found is None:
            rates = [(ROUNDING * self._better(lie.seats, offer.count) / lie.least_s, self._spilling(lie, offer, idle=True))
                     for lie in self._laid(offer)]  # fmt: skip
            found = self._generous[offer.key] = max((max(each) for each in rates), default=0.0)
        return found

    def _laid(self, offer: Offer) -> list[_Lie]:
        """The work on the devices of an offer, in whatever computer, by each way."""
        key = offer.words, offer.memory_bytes
        found = self._lies.get(key)
        if found is None:
            seated = self._seated(offer)
            found = self._lies[key] = [_Lie(seats, short) if short > 0 else self._steps(seats, short, offer) for seats, short in seated]
        return found

    def sustained(self, offer: Offer) -> float:
        """The most tokens/s that an offer sustains for all users together, each of whom has a prompt read before every answer."""
        most, load = self.of(offer).tokens_per_s, self.work.workload
        if not most or not load.prompt_tokens or self.users == 1:
            return self.users * most
        reading_s = min(self._paces.unhidden_s(seats, offer.count) for seats, _ in self._seated(offer))
        factors = [self._better(seats, offer.count) for seats, _ in self._seated(offer)] if self._saved else [1.0]
        before = most / min(factors)  # no estimate was more before it was corrected, reading and all
        return max(factors) * self.users * load.generate_tokens / (self.users * reading_s + load.generate_tokens / before)

    def may_start(self, offer: Offer, within_s: float | None) -> bool:
        """Whether the last user of an offer may have a first token within that time."""
        if within_s is None or not self.work.workload.prompt_tokens:
            return True
        least = (self._paces.first_s(seats, offer.count) / self._sooner(seats, offer.count) for seats, _ in self._seated(offer))
        return min(least, default=NEVER) <= ROUNDING * within_s

    def hopeless(self, offer: Offer, tokens_per_s: float) -> Hopeless:
        """The engines and strategies that give each user less than so much on the devices of an offer."""
        if offer.boxes > 1 and not offer.groups[0][0].is_box:
            return frozenset()  # cards of several computers: each may be split inside
        found = []
        for lie in self._laid(offer):
            engine = lie.seats[0][0].way.engine.id
            found += [(engine, strategy) for strategy, most in self._by_strategy(lie, offer) if most < tokens_per_s]
        return frozenset(found)

    def _by_strategy(self, lie: _Lie, offer: Offer) -> Iterator[tuple[str, float]]:
        """The most tokens/s of one way by each strategy."""
        better = ROUNDING * self._better(lie.seats, offer.count)
        cut_s, in_line_s = self._cut_s(lie, offer), self._in_line_s(lie, offer)
        if lie.short_bytes > 0:  # else what engines cannot share out so well may still lie partly outside
            yield "offload", self._spilling(lie, offer)
        yield "layers", better / in_line_s
        yield "tensor", better / cut_s
        yield "experts", better / min(cut_s, lie.shared_s)
        for alone in ("whole", "replicas"):
            yield alone, better / lie.apart_s

    def _seated(self, offer: Offer) -> list[tuple[Seats, float]]:
        """The devices of an offer as each way uses them, and what they lack at least."""
        key = offer.words, offer.memory_bytes
        found = self._placed.get(key)
        if found is None:
            holds, found = self._holds, list[tuple[Seats, float]]()
            placed = [(device, size, count * device.gpus_on_board) for device, size, count in offer.groups]
            for way in holds.ways_of([device for device, *_ in offer.groups]):
                seats = holds.seats(way, placed)
                found.append((seats, short_bytes(seats)))
            self._placed[key] = found
        return found

    def _steps(self, seats: Seats, short: float, offer: Offer) -> _Lie:
        """Least seconds of a step with all of the work on the devices, by how they share it."""
        paces, count = self._paces, offer.count
        if count == 1:
            alone_s = paces.alone(seats[0][0], self.users).total_s
            return _Lie(seats, short, apart_s=alone_s, least_s=alone_s)
        joined = offer.boxes > 1 and not seats[0][0].device.is_box  # cards of several computers: cut inside them, perhaps
        apart = in_line = cut = shared = best = NEVER
        if joined or fits("replicas", seats):
            least_users = max(1, self.users // count) if len(seats) == 1 else 1
            best = min(paces.alone(seat, least_users).total_s for seat, _ in seats)
            apart = best if joined else 1 / paces.apart_tokens_per_s(seats)
        if not joined and lie_in_turn(stages_of(seats)):
            in_line = paces.in_line_s(seats, count)
        tensor, mixture = self._cuts(seats[0][0].way, offer) if fits("tensor", seats) else (False, False)
        if tensor or mixture:
            divided = paces.shared_s(seats)
            best = min(best, divided)
            cut = paces.cut_s(seats) if not joined and (tensor or offer.boxes == 1) else NEVER
            shared = divided if joined or (mixture and offer.boxes > 1) else NEVER
        return _Lie(seats, short, apart, in_line, cut, shared, min(best, in_line))

    def _holding(self, lie: _Lie, offer: Offer) -> float:
        """The most tokens/s with all of the work on the devices, which may hold it."""
        step_s = min(lie.apart_s, lie.shared_s)
        if lie.in_line_s < step_s:
            step_s = min(step_s, self._in_line_s(lie, offer))
        if lie.cut_s < step_s:
            step_s = min(step_s, self._cut_s(lie, offer))
        return ROUNDING * self._better(lie.seats, offer.count) / step_s

    def _in_line_s(self, lie: _Lie, offer: Offer) -> float:
        """Least seconds of a step one after the other, with messages."""
        way = lie.seats[0][0].way
        return lie.in_line_s + self._joins.hops_s(way, offer, self._paces.together(way, offer.count)) if lie.in_line_s < NEVER else NEVER

    def _cut_s(self, lie: _Lie, offer: Offer) -> float:
        """Least seconds of a step with all on every layer, with messages."""
        return lie.cut_s + self._joins.reduces_s(lie.seats[0][0].way, offer) if lie.cut_s < NEVER else NEVER

    def _better(self, seats: Sequence[tuple[Seat, int]], count: int) -> float:
        """How much more, or less, than estimated the owner's own measurements make of it."""
        known = self._saved and self._measured(seats, count)
        return known.decode_factor or 1.0 if known else 1.0

    def _sooner(self, seats: Sequence[tuple[Seat, int]], count: int) -> float:
        """By how much at the most they bring the first token forward: reading and the first step have each a factor of its own."""
        known = self._saved and self._measured(seats, count)
        return max(known.prefill_factor or 1.0, known.decode_factor or 1.0) if known else 1.0

    def _measured(self, seats: Sequence[tuple[Seat, int]], count: int) -> Correction | None:
        """What is saved of so many of a device with the engine of a way; nothing of unlike ones."""
        (first, _), *others = seats
        alike = all(seat.device.id == first.device.id for seat, _ in others)
        return self._saved.get(key_of(first.device.id, first.way.engine.id, count)) if alike else None

    def _cuts(self, way: Way, offer: Offer) -> tuple[bool, bool]:
        """Whether this engine may cut layers over that many devices, and whether it may share experts."""
        key = way, offer.count, offer.boxes, len(offer.groups) > 1
        if key not in self._cut:
            groups = tuple(Group(device, count, size) for device, size, count in offer.groups)
            boxes = (Box(groups),) if offer.boxes == 1 else (Box((replace(groups[0], count=1),)),) * offer.boxes
            job = Job(self.desk.model, way.weights, way.cache, System(boxes), way.engine, way.backend, self.work.workload)
            tensor = problem("tensor", job) or tensor_problem(job, offer.count)
            mixture = self.desk.model.is_moe and not problem("experts", job)
            self._cut[key] = tensor is None, mixture
        return self._cut[key]

    def _spilling(self, lie: _Lie, offer: Offer, idle: bool = False) -> float:
        """The most tokens/s with a part in host memory; 0 if it may not. Generously, the processor is `idle`: it only reads."""
        seats, way = lie.seats, lie.seats[0][0].way
        if not may_spill(seats, offer.ram_bytes):
            return 0.0
        quick = offer.ram_bytes_per_s > self._paces.slowest_bytes_per_s(seats)
        flops = None if idle else self._paces.host_flops(offer.host)
        step_s = NEVER
        for spilt in self._spilts(lie, offer, quick):
            each_s = spilt.step_s(offer.ram_bytes, offer.ram_bytes_per_s, flops)
            step_s = step_s if each_s is None else min(step_s, each_s)
        if offer.count > 1 and step_s < NEVER:
            step_s += self._joins.hops_s(way, offer, self._paces.together(way, offer.count))
        unsure = quick or "(" in offer.words  # of several computers, in which order the devices work
        return (SPILT_SLACK if unsure else ROUNDING) * self._better(seats, offer.count) / step_s

    def _spilts(self, lie: _Lie, offer: Offer, quick: bool) -> list[Spilt]:
        """Steps with what each device lacks in host memory, whatever computer's; or with more, where its memory is `quick`.

        Whole layers move, so that more lies there than need be: quicker only where the host's memory is, and then with all of a kind.
        """
        key = lie.seats[0][0].way, offer.words, offer.memory_bytes, quick
        found = self._spilt.get(key)
        if found is None:
            found = self._spilt[key] = []
            stages = stages_of(lie.seats)
            least = [moved for stage in stages if (moved := least_moved(stage)) is not None]
            if len(least) == len(stages):
                shares = [least] if any(map(any, least)) else []
                if quick:
                    shares.append([(1.0, 1.0)] * len(stages))
                    if stages[0].seat.way.weights.expert_bytes and not any(whole for _, whole in least):
                        shares.append([(1.0, 0.0)] * len(stages))
                found += [self._paces.spilt(stages, moved) for moved in shares]
        return found
