"""How long devices take for a step of one work at least, with all of it on one of them, in turn, or with a part in host memory."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from advisor.advice.desk import Desk, Work
from advisor.advice.holds import Seat, Stage, Way
from advisor.around import HostKeeps, host_keeps
from advisor.host import Host
from advisor.offload_short import SPARE_SHARE
from advisor.pace import served
from advisor.placement import Part
from advisor.step import Constants, Terms, decode_terms, larger, prefill_terms
from advisor.ways import tables_of

Moved = tuple[float, float]  # shares of a stage's experts, and of its whole layers, that lie in host memory
Seats = Sequence[tuple[Seat, int]]  # each device as one way uses it, and how many there are


class _Copies(NamedTuple):
    """Copies on equal devices."""

    copies: int
    user_share: float
    seat: Seat


class Spilt(NamedTuple):
    """A step with a part of the work in host memory, whatever the computer."""

    outside_bytes: float  # weights there
    devices_s: float
    host_read_bytes: float  # in each step
    host_way_s: float  # a token's way there and back
    keeps: HostKeeps  # what a computer keeps of its memory
    host_flop: float = 0.0  # of a step, what the processor multiplies of the weights that lie there
    knee_exponent: float = 1.0  # with which that hides behind the reading

    def step_s(self, ram_bytes: float, ram_bytes_per_s: float, flops: float | None = None) -> float | None:
        """Seconds of the step in one computer, whose processor reaches so many `flops`; None where weights would lie on disk."""
        if self.outside_bytes > self.keeps.room_bytes(ram_bytes):
            return None
        host_s = self.host_read_bytes / ram_bytes_per_s
        if flops is not None:
            host_s = larger(host_s, self.host_flop / flops, self.knee_exponent)
        return self.devices_s + host_s + self.host_way_s


class Paces:
    """The devices of one work at work, each asked once."""

    def __init__(self, desk: Desk, work: Work) -> None:
        self._model = desk.model
        tables = tables_of(desk.catalog)
        self._calibration, self._host_layer_s = tables.calibration, tables.hosts.layer_s
        self._keeps = host_keeps(tables.choices)
        self._processor_share = tables.choices.choice("processor-reached-share")
        self.load = work.workload
        self.users = work.workload.users or 1
        self._constants: dict[Seat, Constants] = {}
        self._alone: dict[tuple[Seat, float], Terms] = {}
        self._reading: dict[Seat, float] = {}
        self._reading_s: dict[tuple[Seat, float], float] = {}

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
        for seat, _ in seats:
            if seat not in self._reading:
                each = self.constants(seat)
                self._reading[seat] = min(each.expert_bytes_per_s, each.weights_bytes_per_s)
        return min([self._reading[seat] for seat, _ in seats])

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
        """Least seconds of a step with the layers shared out over the devices; without messages."""
        way, users = seats[0][0].way, self.together(seats[0][0].way, count)
        if len(seats) == 1:
            return self.alone(seats[0][0], users).total_s
        one_pass = self._in_turn_s(seats, users)
        if not way.engine.pipeline_fills:
            return one_pass
        each = [(self._terms(seat, Part(seat.device, 0.0, head_share=0.0), users).total_s, number) for seat, number in seats]
        return max(one_pass, min(self.users, count) / sum(number / step_s for step_s, number in each))  # the slowest sets the pace

    def reading_s(self, seat: Seat, prompts: float) -> float:
        """Least seconds of computing that one of so many prompts, read one after the other, takes on this device."""
        key = seat, prompts
        if key not in self._reading_s:
            way, part, constants = seat.way, Part(seat.device, 0.0), self.constants(seat)
            asked = self.load.prompt_tokens, 0.0, constants, None, prompts
            self._reading_s[key] = prefill_terms(part, way.weights, way.cache, self._model, *asked).compute_s
        return self._reading_s[key]

    def unhidden_s(self, seats: Seats, count: int) -> float:
        """Least seconds that reading one of all users' prompts keeps from generating: computing alone, divided at best."""
        return min(self.reading_s(seat, self.users) * self.constants(seat).prompt_share for seat, _ in seats) / count

    def first_s(self, seats: Seats, count: int) -> float:
        """Least seconds until the last of all users has a first token: computing alone, divided at best."""
        before = ceil(self.users / count) - 1  # of those that one device reads, or all together of theirs
        return min(self.reading_s(seat, 1) / count + before * self.reading_s(seat, self.users) for seat, _ in seats)

    def apart_tokens_per_s(self, seats: Seats) -> float:
        """Tokens/s for each user of copies side by side, the users shared out as placements share them: by the memories' speed."""
        if len(seats) == 1:
            seat, count = seats[0]
            return 1 / self.alone(seat, max(1, self.users // count)).total_s
        rate = sum(seat.device.bandwidth_bytes_per_s * count for seat, count in seats)
        copies = [_Copies(count, seat.device.bandwidth_bytes_per_s / rate, seat) for seat, count in seats]
        shared_out = served(copies, self.users)
        return sum(count * each / self.alone(copy.seat, each).total_s for copy, count, each in shared_out) / self.users

    def cut_s(self, seats: Seats) -> float:
        """Least seconds of a step that all devices work on in equal shares, at the pace of the slowest; without messages."""
        count = sum(number for _, number in seats)
        steps = [self.alone(seat, self.users) for seat, _ in seats]
        return max((step.weights_s + step.cache_s + step.compute_s) / count + step.overhead_s for step in steps)

    def shared_s(self, seats: Seats) -> float:
        """Least seconds of a step whose work is divided at best, each device with its own users' attention."""
        steps = [(self.alone(seat, self.users), number) for seat, number in seats]
        shared = 1 / sum(number / (step.weights_s + step.cache_s + step.compute_s) for step, number in steps)
        return shared + min(self.alone(seat, 1).overhead_s for seat, _ in seats)

    def spilt(self, stages: Sequence[Stage], moved: Sequence[Moved]) -> Spilt:
        """A step with these shares of each stage's experts, and of its whole layers with their cache, in host memory."""
        way = stages[0].seat.way
        weights, beside = way.weights, beside_bytes(way)
        users = self.together(way, sum(stage.number for stage in stages))
        devices_s = experts = whole = layers = 0.0
        for stage, (out, gone) in zip(stages, moved, strict=True):
            share = stage.share
            devices_s += stage.number * self._stage_s(stage, share * (1 - out), share * (1 - gone), bool(beside), users)
            experts, whole = experts + stage.number * share * out, whole + stage.number * share * gone
            layers += stage.number * max(gone * stage.layers, out * round(share * weights.expert_layers))
        read = experts * weights.expert_bytes * weights.experts_touched_share(users, self._calibration.routing_exponent)
        read += whole * (weights.dense_bytes + (users * way.cache.read_bytes(way.filled_tokens) if beside else 0.0))
        outside = experts * weights.expert_bytes + whole * weights.dense_bytes
        flop = host_flop(way, users, experts, whole)
        knee = max(self.constants(stage.seat).knee_exponent for stage in stages)  # the most hides: of several devices the parts add up
        return Spilt(outside, devices_s, read, self.way_s(layers), self._keeps, flop, knee)

    def _stage_s(self, stage: Stage, experts: float, dense: float, cache_moves: bool, users: float) -> float:
        """Seconds of one device of a stage with what is left there of the whole model's experts and layers."""
        share = stage.share
        part = Part(
            stage.seat.device,
            0.0,
            layer_share=share,
            dense_share=dense,
            expert_share=experts,
            head_share=float(stage.last),
            cache_share=dense if cache_moves else share,
            compute_share=share,
        )
        return self._terms(stage.seat, part, users).total_s

    def way_s(self, layers: float) -> float:
        """Seconds of a token's way to the host's memory and back, for so many layers with something there."""
        return self._host_layer_s * layers

    def host_flops(self, host: Host | None) -> float | None:
        """What the processor of a computer reaches; None where nobody knows."""
        return self._processor_share * host.cpu_compute_flops if host and host.cpu_compute_flops is not None else None

    def _in_turn_s(self, seats: Seats, users: float) -> float:
        """Least seconds of unlike devices in turn.

        The quickest takes all layers that its memory could hold but one of each other, and the most of the experts; what makes words
        of the last layer lies on the last device.
        """
        way = seats[0][0].way
        least = 1 / way.weights.layers

        def step_s(seat: Seat, experts: float = 1.0, head: float = 0.0) -> float:
            return self._terms(seat, Part(seat.device, 0.0, expert_share=experts, head_share=head), users).total_s

        whole = [step_s(seat) for seat, _ in seats]
        bare = [step_s(seat, 0.0) for seat, _ in seats]
        held = way.weights.dense_bytes + way.weights.expert_bytes
        left, shared = 1.0 - least * sum(count for _, count in seats), least * sum(e * n for e, (_, n) in zip(bare, seats, strict=True))
        for each, (seat, count) in sorted(zip(bare, seats, strict=True), key=lambda pair: pair[0]):
            taken = min(left, max(0.0, seat.memory_bytes / held - least) * count)
            left, shared = left - taken, shared + taken * each
        head = step_s(seats[-1][0], head=1.0) - whole[-1]
        return shared + left * max(bare) + min(full - each for full, each in zip(whole, bare, strict=True)) + head


def least_moved(stage: Stage) -> Moved | None:
    """The least shares of a stage's experts, and of its whole layers with their cache, that must move out; None where all are too
    little. As engines move them: the experts of whole layers first, then whole layers.
    """
    way, weights, share = stage.seat.way, stage.seat.way.weights, stage.share
    lacking = (1 + SPARE_SHARE) * max(0.0, stage.short_bytes)
    mixtures, experts = round(share * weights.expert_layers), 0.0
    if mixtures:
        expert_bytes = share * weights.expert_bytes
        experts = min(mixtures, ceil(lacking * mixtures / expert_bytes - 1e-9)) / mixtures
        lacking -= experts * expert_bytes
    layer_bytes = share * (weights.dense_bytes + beside_bytes(way)) / stage.layers
    whole = max(0, ceil(lacking / layer_bytes - 1e-9)) / stage.layers
    return (experts, whole) if whole <= 1 else None


def host_flop(way: Way, users: float, experts: float, whole: float) -> float:
    """What a processor multiplies in a step of so many users, with these shares of the experts and of whole layers in its memory."""
    weights = way.weights
    return 2 * users * (whole * weights.dense_params + experts * weights.chosen_share * weights.expert_params)


def beside_bytes(way: Way) -> float:
    """The cache that moves out with the layers."""
    return 0.0 if way.engine.offload_keeps == "streams" else way.cache_bytes
