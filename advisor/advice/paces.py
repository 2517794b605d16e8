"""How long devices take for a step of one work at least, with all of it on one of them, in turn, or with a part in host memory."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from advisor.advice.desk import Desk, Work
from advisor.advice.holds import Seat, Way
from advisor.around import HostKeeps, host_keeps
from advisor.offload_short import SPARE_SHARE
from advisor.placement import Part
from advisor.step import Constants, Terms, decode_terms
from advisor.ways import tables_of

Seats = Sequence[tuple[Seat, int]]  # each device as one way uses it, and how many there are


class Spilt(NamedTuple):
    """A step with a part of the work in host memory, whatever the computer."""

    outside_bytes: float  # weights there
    devices_s: float
    host_read_bytes: float  # in each step
    host_way_s: float  # a token's way there and back
    keeps: HostKeeps  # what a computer keeps of its memory

    def step_s(self, ram_bytes: float, ram_bytes_per_s: float) -> float | None:
        """Seconds of the step in one computer; None where some of the weights would lie on disk."""
        if self.outside_bytes > self.keeps.room_bytes(ram_bytes):
            return None
        return self.devices_s + self.host_read_bytes / ram_bytes_per_s + self.host_way_s


class Paces:
    """The devices of one work at work, each asked once."""

    def __init__(self, desk: Desk, work: Work) -> None:
        self._model = desk.model
        tables = tables_of(desk.catalog)
        self._calibration, self._host_layer_s = tables.calibration, tables.hosts.layer_s
        self._keeps = host_keeps(tables.choices)
        self.users = work.workload.users or 1
        self._constants: dict[Seat, Constants] = {}
        self._alone: dict[tuple[Seat, float], Terms] = {}

    def constants(self, seat: Seat) -> Constants:
        """What the device reaches with that engine and those weights."""
        found = self._constants.get(seat)
        if found is None:
            way = seat.way
            found = self._calibration.constants(way.engine.id, way.backend.id, seat.device, way.weights.speed_class, self._model)
            self._constants[seat] = found
        return found

    def slowest_bytes_per_s(self, seats: Seats) -> float:
        """How fast the slowest of the devices reads weights."""
        every = [self.constants(seat) for seat, _ in seats]
        return min(min(each.expert_bytes_per_s, each.weights_bytes_per_s) for each in every)

    def alone(self, seat: Seat, users: float) -> Terms:
        """A step of so many users with everything on this device."""
        found = self._alone.get((seat, users))
        if found is None:
            found = self._alone[seat, users] = self._terms(seat, Part(seat.device, 0.0), users)
        return found

    def _terms(self, seat: Seat, part: Part, users: float) -> Terms:
        way = seat.way
        return decode_terms(part, way.weights, way.cache, self._model, users, way.filled_tokens, self.constants(seat))

    def together(self, way: Way, count: int) -> float:
        """Users of one pass: all of them, or one batch of as many as there are devices where the engine keeps them all busy."""
        return max(1.0, self.users / count) if way.engine.pipeline_fills else float(self.users)

    def in_line_s(self, seats: Seats, count: int) -> float:
        """Least seconds of a step with the layers shared out over the devices."""
        users = self.together(seats[0][0].way, count)
        return self.alone(seats[0][0], users).total_s if len(seats) == 1 else self._in_turn_s(seats, 1.0, 1.0, 1.0, users)

    def cut_s(self, seats: Seats) -> float:
        """Least seconds of a step that all devices share."""
        users = self.users
        steps = [(self.alone(seat, users), number) for seat, number in seats]
        shared = 1 / sum(number / (step.weights_s + step.cache_s + step.compute_s) for step, number in steps)
        return shared + min(self.alone(seat, 1).overhead_s for seat, _ in seats)

    def spilt(self, seats: Seats, count: int, moved: float, whole: float) -> Spilt:
        """A step with these shares of the experts, and of whole layers with their cache, in host memory."""
        way = seats[0][0].way
        weights, beside = way.weights, beside_bytes(way)
        users = self.together(way, count)
        experts = moved * weights.expert_bytes
        read = experts * weights.experts_touched_share(users, self._calibration.routing_exponent) + whole * weights.dense_bytes
        read += whole * users * way.cache.read_bytes(way.filled_tokens) if beside else 0.0
        devices_s = self._in_turn_s(seats, 1 - whole, 1 - moved, 1 - whole if beside else 1.0, users)
        layers = max(whole * weights.layers, moved * weights.expert_layers)
        return Spilt(experts + whole * weights.dense_bytes, devices_s, read, layers * self._host_layer_s, self._keeps)

    def _in_turn_s(self, seats: Seats, dense: float, experts: float, cache: float, users: float) -> float:
        """Least seconds of the devices in turn, with these shares of the model left on them.

        Of unlike ones the quickest takes all layers that its memory could hold, and of the experts the most.
        """
        way = seats[0][0].way

        def step_s(seat: Seat, left: float) -> float:
            return self._terms(seat, Part(seat.device, 0.0, dense_share=dense, expert_share=left, cache_share=cache), users).total_s

        whole = [step_s(seat, experts) for seat, _ in seats]
        if len(seats) == 1:
            return whole[0]
        bare = [step_s(seat, 0.0) for seat, _ in seats] if experts else whole
        held = dense * way.weights.dense_bytes + experts * way.weights.expert_bytes
        left, shared = 1.0, 0.0
        for each, (seat, count) in sorted(zip(bare, seats, strict=True), key=lambda pair: pair[0]):
            taken = min(left, seat.memory_bytes * count / held) if held else left
            left, shared = left - taken, shared + taken * each
        return shared + left * max(bare) + min(full - each for full, each in zip(whole, bare, strict=True))


def least_moved(way: Way, count: int, short_bytes: float) -> tuple[float, float] | None:
    """The least shares of the experts, and of whole layers with their cache, that must move out; None where all are too little.

    As engines move them: the experts of whole layers first, then whole layers; of each device on its own, so all together no fewer.
    """
    weights, lacking = way.weights, (1 + SPARE_SHARE) * short_bytes
    moved = 0.0
    if weights.expert_bytes:
        moved = min(1.0, lacking / weights.expert_bytes)
        if count == 1 or weights.expert_layers == weights.layers:  # else a device's mixtures are a rounded share of all
            moved = _in_layers(moved, weights.expert_layers)
        lacking -= moved * weights.expert_bytes
    whole = _in_layers(max(0.0, lacking) / (weights.dense_bytes + beside_bytes(way)), weights.layers)
    return (moved, whole) if whole <= 1 else None


def _in_layers(share: float, layers: int) -> float:
    return ceil(share * layers - 1e-9) / layers


def beside_bytes(way: Way) -> float:
    """The cache that moves out with the layers."""
    return 0.0 if way.engine.offload_keeps == "streams" else way.cache_bytes
