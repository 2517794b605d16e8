"""The most that a system can do with one work, found without laying the model on it: no estimate is ever faster than its bound.

Several devices that share every layer can at best divide what can be divided; in turn they take as long as all of them must;
copies side by side are no faster than the best of them alone.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from advisor import correction
from advisor.advice.desk import Desk, Work
from advisor.advice.holds import Seat, Way, fits, holds_of, short_bytes
from advisor.advice.offers import Offer
from advisor.advice.paces import Paces, Seats, Spilt, least_moved
from advisor.placement import Job
from advisor.placement.rules import problem, tensor_problem
from advisor.record import replace
from advisor.system import Box, Group, System
from advisor.ways import tables_of

SPILT_SLACK = 1.05  # what may be won by where the layers come from, of unlike devices, and where the host's memory is quick
OTHER_ENGINES_SHARE = 0.9  # engines' bytes for the same weights and cache differ by less


class Bound(NamedTuple):
    """The most tokens/s for each user (0: it cannot run), and whether the devices alone may hold the work."""

    tokens_per_s: float
    holds: bool


class _Lie(NamedTuple):
    """The work on some devices by one way, whatever computer they are in."""

    seats: Seats
    short_bytes: float  # that the devices lack at least
    tokens_per_s: float  # with all of it on them; 0 where they lack some


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
        self._holds = holds_of(desk, work, bool(smaller))
        self._paces = Paces(desk, work)
        self._cut: dict[tuple[Way, int, int, bool], bool] = {}
        self._known: dict[str, Bound] = {}
        self._rough: dict[str, float] = {}
        self._lies: dict[tuple[str, float], list[_Lie]] = {}
        self._spilt: dict[tuple[Way, str, float, tuple[float, float]], Spilt] = {}
        weights = desk.bytes(work)[0]
        caches = [desk.bytes(replace(work, kv_quant=name))[1] for name in smaller or (work.kv_quant,)]
        load = work.workload
        self._touched = partial(weights.experts_touched_share, routing_exponent=tables_of(desk.catalog).calibration.routing_exponent)
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
                ways = self._holds.ways_of(device for device, *_ in offer.groups)
                lies = self._lies[key] = [self._lie(way, offer) for way in ways]
            rates = [max(lie.tokens_per_s, self._spilling(lie, offer)) for lie in lies]
            found = Bound(max(rates, default=0.0), any(lie.short_bytes <= 0 for lie in lies))
            self._known[offer.key] = found
        return found

    def _lie(self, way: Way, offer: Offer) -> _Lie:
        """The work on the devices of an offer by one way."""
        seats = self._holds.seats(way, [(device, size, count * device.gpus_on_board) for device, size, count in offer.groups])
        short = short_bytes(seats)
        rate = 0.0 if short > 0 else self._better(seats, offer.count) / self._step_s(seats, offer)
        return _Lie(seats, short, rate)

    def _step_s(self, seats: Seats, offer: Offer) -> float:
        """Least seconds of a step with all of the work on the devices."""
        paces, count = self._paces, offer.count
        if count == 1:
            return paces.alone(seats[0][0], self.users).total_s
        joined = offer.boxes > 1 and not seats[0][0].device.is_box  # cards of several computers: cut inside them, perhaps
        steps = [] if joined else [paces.in_line_s(seats, count)]
        if joined or fits("replicas", seats):
            least_users = max(1, self.users // count) if len(seats) == 1 else 1
            steps.append(min(paces.alone(seat, least_users).total_s for seat, _ in seats))
        if fits("tensor", seats) and self._cuts(seats[0][0].way, offer):
            steps.append(paces.cut_s(seats))
        return min(steps)

    def _better(self, seats: Sequence[tuple[Seat, int]], count: int) -> float:
        """How much more than estimated the owner's own measurements allow."""
        if not self.desk.corrected or len(seats) > 1:
            return 1.0
        known = correction.local(seats[0][0].device.id, seats[0][0].way.engine.id, devices=count)
        return max(1.0, known.decode_factor or 1.0) if known else 1.0

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

    def _spilling(self, lie: _Lie, offer: Offer) -> float:
        """The most tokens/s with a part in host memory: what the devices lack, or more where the host's memory is quicker; 0 if it
        may not.

        Whole layers move, so that more lies there than need be: quicker only where the host's memory is, and then with all of a kind.
        """
        seats, way = lie.seats, lie.seats[0][0].way
        if "offload" not in way.backend.splits or not offer.ram_bytes or any(seat.device.unified_memory for seat, _ in seats):
            return 0.0
        least = least_moved(way, offer.count, max(0.0, lie.short_bytes))
        if least is None:
            return 0.0
        quick = offer.ram_bytes_per_s > self._paces.slowest_bytes_per_s(seats)
        shares = [least] if any(least) else []
        if quick:
            shares += [(1.0, 1.0), *([(1.0, 0.0)] if way.weights.expert_bytes and not least[1] else [])]
        steps_s = [self._spilt_s(seats, share, offer) for share in shares]
        step_s = min((each for each in steps_s if each), default=0.0)
        slack = SPILT_SLACK if quick or len(seats) > 1 else 1.0
        return slack * self._better(seats, offer.count) / step_s if step_s else 0.0

    def _spilt_s(self, seats: Seats, shares: tuple[float, float], offer: Offer) -> float | None:
        """Least seconds of a step with these shares in the memory of the offer's computer; None if they may not be."""
        key = seats[0][0].way, offer.words, offer.memory_bytes, shares
        if key not in self._spilt:
            self._spilt[key] = self._paces.spilt(seats, offer.count, *shares)
        return self._spilt[key].step_s(offer.ram_bytes, offer.ram_bytes_per_s)
