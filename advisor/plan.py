"""A plan: a model laid on a system. What every estimate of it shares, whatever the work, is found once."""

from functools import cached_property

from advisor.around import Tables, host_room_bytes_of, load_s, runner_of
from advisor.cache import Cache
from advisor.calibration import FOUNDED
from advisor.engine import Engine
from advisor.evidence import Setup, setup_of
from advisor.model import Model
from advisor.pace import Runner, Team, teams, uses_host
from advisor.placement import Placement
from advisor.quant import Quant
from advisor.reason import Reason
from advisor.record import dataclass, field
from advisor.rooms import Rooms, rooms_of
from advisor.step import Constants
from advisor.system import System
from advisor.weights import Weights


@dataclass(frozen=True, eq=False)
class Plan:
    """One model in one quantization, laid on one system by one engine."""

    system: System  # with engine, backend and strategy as used
    model: Model
    quant: Quant
    kv_quant: str
    engine: Engine
    weights: Weights
    cache: Cache
    placement: Placement
    tables: Tables
    remarks: tuple[Reason, ...] = ()  # first among the reasons of its estimates
    _intervals: dict[str, tuple[float, float]] = field(default_factory=dict)

    @cached_property
    def rooms(self) -> Rooms:
        """The places that must hold it."""
        room, platforms = host_room_bytes_of(self.system, self.tables.choices), self.tables.platforms
        return rooms_of(self.placement, self.model, self.weights, self.cache, self.engine, platforms, room)

    @cached_property
    def runner(self) -> Runner:
        """What runs."""
        return runner_of(self.system, self.model, self.weights, self.cache, self.placement, self.tables)

    @cached_property
    def teams(self) -> tuple[Team, ...]:
        """The devices that serve the same users."""
        return teams(self.placement)

    @cached_property
    def devices(self) -> int:
        """How many devices take part."""
        return sum(part.count for part in self.placement.parts)

    @cached_property
    def loading_s(self) -> float | None:
        """Seconds until the weights are in."""
        return load_s(self.system, self.weights, self.placement, self.tables)

    @cached_property
    def slow_kernels(self) -> tuple[Reason, ...]:
        """Kernels known to be slow that this run goes through, each once."""
        devices = {part.device.architecture: part.device for part in self.placement.parts}.values()
        backend, speed_class, is_mixture = self.placement.backend, self.quant.speed_class, bool(self.model.is_moe)
        return tuple(
            Reason("kernel.slow", {"engine": self.engine.id, "backend": backend, "device": device.id, "work": corner.work,
                                   "slower_factor": corner.slower_factor, "beside": corner.beside}, (corner.source,))
            for corner in self.engine.corners
            for device in devices
            if corner.holds(backend, device.architecture, speed_class, is_mixture)
        )  # fmt: skip

    @cached_property
    def setup(self) -> Setup:
        """What runs, as published rows name it."""
        return setup_of(self.system, self.placement, self.model, self.quant)

    @cached_property
    def constants(self) -> tuple[Constants, ...]:
        """What the engine reaches on each part."""
        return tuple(self.runner.constants(part) for part in self.placement.parts)

    @cached_property
    def leaves_device(self) -> bool:
        """Whether a part of the model lies in host memory."""
        return any(uses_host(part) for part in self.placement.parts)

    def interval(self, kind: str) -> tuple[float, float]:
        """Factors that bound 80 % of measurements of a kind of figure, as well founded as the worst part: its interval holds."""
        found = self._intervals.get(kind)
        if found is None:
            worst = max(self.constants, key=lambda each: FOUNDED.index(each.basis))
            found = self._intervals[kind] = self.tables.calibration.interval(kind + ("-multi" if self.devices > 1 else ""), worst)
        return found
