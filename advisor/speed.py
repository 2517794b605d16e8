"""The only estimator: tokens per second of a placement, with its interval, its limit and its evidence."""

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from math import ceil
from typing import Any

from advisor import correction, memory, served, why
from advisor.against import Held, held
from advisor.around import Tables, host_bytes_of, load_s, runner_of, storage_of
from advisor.cache import cache_of
from advisor.commands import verify
from advisor.correction import Correction
from advisor.device import Device
from advisor.engine import Engine
from advisor.evidence import Evidence, Nearest, founded
from advisor.memory import Fit
from advisor.model import Model
from advisor.need import Workload
from advisor.pace import Runner, Team, bottleneck, prompt_s, step_terms, teams, times
from advisor.pace import served as shared_out
from advisor.placement import Placement
from advisor.quant import Quant
from advisor.reason import Fact, Reason
from advisor.record import dataclass, field, replace
from advisor.step import Constants, Terms
from advisor.system import System
from advisor.weights import Weights, weights_of

__all__ = ["Alone", "Estimate", "Evidence", "Nearest", "Speed", "Tables", "estimate"]

SPLITTING = ("layers", "tensor", "replicas")  # shown as asked, though one device leaves nothing to split
BASES = ("measured", "calibrated", "extrapolated", "physics-only")  # from the best founded


@dataclass(frozen=True)
class Speed:
    """A figure with its 80 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """Everything known of one model on one system by one engine. Speeds are None where it does not fit."""

    system: System  # with engine, backend and strategy as used
    model: Model
    quant: Quant
    kv_quant: str
    workload: Workload  # users resolved
    weights: Weights
    cache_bytes_per_token: float
    placement: Placement
    fit: Fit
    decode: Speed | None  # all users together while all generate
    decode_per_user: Speed | None
    prefill: Speed | None
    first_token_s: Speed | None
    sustained: Speed | None
    terms: Terms | None  # of one generated token of one user, at the mean depth
    bottleneck: str | None
    load_s: float | None
    interruptions_per_year: float | None
    evidence: Evidence
    more_reasons: tuple[Reason, ...] = ()  # of who asked for the estimate
    warnings: tuple[Reason, ...] = ()
    # worked out when asked for: of some hundred estimates few are shown
    said: Callable[[], tuple[Reason, ...]] | None = field(default=None, compare=False, repr=False)
    measured_by: Callable[[], str] = field(default=str, compare=False, repr=False)
    held_by_one: Callable[[], Held] | None = field(default=None, compare=False, repr=False)
    alone: "Callable[[], Alone] | None" = field(default=None, compare=False, repr=False)

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it is so, in full: the choices, the memory, the longest terms."""
        return (*(self.said() if self.said else ()), *self.more_reasons)

    @cached_property
    def verify(self) -> str:
        """The engine's command that measures what is estimated."""
        return self.measured_by()

    @cached_property
    def held(self) -> Held | None:
        """Against one device as if its memory held everything; None for one device, and where there is no speed."""
        return self.held_by_one() if self.held_by_one else None

    @cached_property
    def one(self) -> "Alone | None":
        """The best that one of the devices can really do; None where this is one device."""
        return self.alone() if self.alone and self.decode else None

    @property
    def speedup_over_one_device(self) -> float | None:
        """Over the best of one device, with what it holds in host memory; None where one cannot run it."""
        best = self.one.estimate if self.one else None
        return self.decode.value / best.decode.value if best and best.decode and self.decode else None

    @property
    def amdahl_ceiling(self) -> float | None:
        """The most that any number of devices reaches, one included, over the same one; over one that held everything where none
        can run it.
        """
        if self.held is None:
            return None
        best = self.one.estimate if self.one else None
        return max(1.0, self.held.limit_tokens_per_s / best.decode.value) if best and best.decode else self.held.ceiling

    @property
    def amdahl_serial_fraction(self) -> float | None:
        """Share of that one device's step that does not shrink with more devices."""
        return 1 / self.amdahl_ceiling if self.amdahl_ceiling else None


@dataclass(frozen=True, eq=False)
class Alone:
    """The best that one device can do of the same work, for as many of the users as it can; or why it cannot run it."""

    estimate: Estimate | None
    reason: Reason | None = None


@dataclass(frozen=True, eq=False)
class _Rates:
    """Everything timed of one placement."""

    decode: float
    prefill: float | None
    first_token_s: float | None
    sustained: float
    terms: Terms
    team: Team
    team_users: int


def estimate(
    system: System,
    model: Model,
    quant: Quant,
    kv_quant: str,
    workload: Workload,
    placement: Placement,
    engine: Engine,
    tables: Tables,
    remarks: tuple[Reason, ...] = (),
    alone: "Callable[[], Alone] | None" = None,
) -> Estimate:
    """One model on one system by one placement: does it fit, and how fast is it. `remarks` stand first among its reasons.

    `alone` finds the best of one device when somebody asks how much faster several are.
    """
    weights, cache = weights_of(model, quant, engine.id), cache_of(model, kv_quant, engine)
    fit = memory.fit(placement, model, weights, cache, workload, engine, tables.platforms, host_bytes_of(system))
    done = workload if workload.users == fit.users else replace(workload, users=fit.users)
    runner = runner_of(system, model, weights, cache, placement, tables)
    loading_s = load_s(system, weights, placement, tables.storages)
    known = correction_of(system, engine.id) if fit.fits else None
    rates = _corrected(_rates(runner, placement, done, fit.at_a_time), known) if fit.fits and fit.users else None
    speeds = _speeds(rates, runner, placement, done) if rates else {}
    return Estimate(
        system=system,
        model=model,
        quant=quant,
        kv_quant=kv_quant,
        workload=done,
        weights=weights,
        cache_bytes_per_token=cache.growing_bytes_per_token + sum(each for each, _, _ in cache.windows),
        placement=placement,
        fit=fit,
        **{**_UNKNOWN, **speeds},
        load_s=loading_s,
        interruptions_per_year=tables.links.interruptions.per_device_year * system.count,
        evidence=founded([runner.constants(part) for part in placement.parts], done.users or 1),
        warnings=(*system.remarks, *_cautions(placement, fit, done, engine), *_corners(placement, model, quant, engine)),
        measured_by=lambda: verify(engine, model, quant, kv_quant, placement, system, done, weights, fit.host_needed_bytes),
        said=lambda: (
            *remarks,
            *fit.reasons,
            *placement.reasons,
            *_said(rates, runner, placement, system, known),
            *why.waiting(loading_s, storage_of(system)),
        ),
        held_by_one=_held_by_one(rates, runner, placement, done, fit.at_a_time),
        alone=alone,
    )


def _cautions(placement: Placement, fit: Fit, work: Workload, engine: Engine) -> tuple[Reason, ...]:
    """What whoever runs this must know: users that wait for their turn, weights read from disk, a split over one device."""
    found = [reason for reason in placement.reasons if reason.code == "offload.disk"]
    if fit.at_a_time < fit.users:
        facts: dict[str, Fact] = {"engine": engine.id, "users": fit.users, "at_a_time": fit.at_a_time, "waiting": fit.users - fit.at_a_time}
        found.append(Reason("users.queue", facts))
    if placement.strategy in SPLITTING and sum(part.count for part in placement.parts) == 1:
        found.append(Reason("split.one-device", {"strategy": placement.strategy, "device": placement.parts[0].device.id}))
    return tuple(found)


def _corners(placement: Placement, model: Model, quant: Quant, engine: Engine) -> tuple[Reason, ...]:
    """Kernels known to be slow that this run goes through, each once."""
    if not engine.corners:
        return ()
    devices = tuple({part.device.architecture: part.device for part in placement.parts}.values())
    return _corners_of(engine, placement.backend, devices, quant.speed_class, bool(model.is_moe))


@lru_cache(maxsize=4096)
def _corners_of(engine: Engine, backend: str, kinds: tuple[Device, ...], speed_class: str, is_mixture: bool) -> tuple[Reason, ...]:
    return tuple(
        Reason("kernel.slow", {"engine": engine.id, "backend": backend, "device": device.id, "work": corner.work,
                               "slower_factor": corner.slower_factor, "beside": corner.beside}, (corner.source,))
        for corner in engine.corners
        for device in kinds
        if corner.holds(backend, device.architecture, speed_class, is_mixture)
    )  # fmt: skip


def _held_by_one(rates: _Rates | None, runner: Runner, placement: Placement, work: Workload, users: int) -> Callable[[], Held] | None:
    if rates is None or sum(part.count for part in placement.parts) == 1:
        return None
    return partial(held, runner, placement, rates.decode, users or 1, work.prompt_tokens + work.generate_tokens / 2)


def _said(rates: _Rates | None, runner: Runner, placement: Placement, system: System, known: Correction | None) -> tuple[Reason, ...]:
    """Why the step takes so long, and what was learned on the owner's hardware; nothing without speeds."""
    if rates is None:
        return ()
    facts = {"device": system.groups[0].device.id, "engine": placement.engine, "decode_factor": known.decode_factor, "rows": known.rows,
             "date": known.date} if known else {}  # fmt: skip
    learned = (Reason("calibration.local", facts),) if known else ()
    stops = why.stops(runner, placement, system.count, len(system.boxes))
    return (*why.reasons(rates.terms, runner, placement, rates.team_users), *stops, *learned)


def correction_of(system: System, engine_id: str) -> Correction | None:
    """What `calibrate --save` measured of this many of this device with this engine, if it did."""
    ids = {group.device.id for group in system.groups}
    return correction.local(ids.pop(), engine_id, devices=system.count) if len(ids) == 1 else None


def _corrected(rates: _Rates, known: Correction | None) -> _Rates:
    """All times of generating and of reading divided by what the owner's hardware does better than estimated."""
    if known is None:
        return rates
    decode, prefill = known.decode_factor or 1.0, known.prefill_factor or 1.0
    step_s = rates.terms.total_s
    first_s = rates.first_token_s
    return replace(
        rates,
        decode=rates.decode * decode,
        sustained=rates.sustained * decode,
        prefill=rates.prefill * prefill if rates.prefill else None,
        first_token_s=(first_s - step_s) / prefill + step_s / decode if first_s else None,
        terms=times(rates.terms, 1 / decode),
    )


_UNKNOWN: dict[str, Any] = dict.fromkeys(("decode", "decode_per_user", "prefill", "first_token_s", "sustained", "terms", "bottleneck"))


def _rates(runner: Runner, placement: Placement, work: Workload, at_a_time: int) -> _Rates:
    """Each replica group at the users that it works on at a time. The terms are those of the mean token, so that their sum is the
    users at a time over the speed; what limits is read off the group with the slowest step.
    """
    sustained = prefill = first_s = 0.0
    groups: list[tuple[Terms, float, Team, int]] = []
    for team, copies, each in shared_out(teams(placement), at_a_time):
        terms = step_terms(runner, team, each, work.prompt_tokens + work.generate_tokens / 2)
        groups.append((terms, copies * each / terms.total_s, team, each))
        reading_s = one_s = 0.0
        if work.prompt_tokens:
            one_s = prompt_s(runner, team, work.prompt_tokens)
            reading_s = prompt_s(runner, team, work.prompt_tokens, each) if each > 1 else one_s
            prefill += copies * work.prompt_tokens / one_s
            turns = ceil((work.users or 1) / at_a_time) - 1  # before the last of those who wait gets theirs
            turn_s = each * reading_s + work.generate_tokens * terms.total_s
            first_s = max(first_s, one_s + (each - 1) * reading_s + terms.total_s + turns * turn_s)
        sustained += copies * served.sustained_tokens_per_s(
            each, work.prompt_tokens, work.generate_tokens, reading_s, terms.total_s, runner.constants(team.stages[0][0])
        )
    decode = sum(rate for _, rate, _, _ in groups)
    terms, _, team, each = max(groups, key=lambda group: group[0].total_s)
    if len(groups) > 1:
        terms = sum((times(group_terms, rate / decode) for group_terms, rate, _, _ in groups), Terms())
    return _Rates(decode, prefill or None, first_s or None, sustained, terms, team, each)


def _worst(runner: Runner, placement: Placement) -> Constants:
    """Constants of the part that is founded worst: its interval holds."""
    return max((runner.constants(part) for part in placement.parts), key=lambda found: BASES.index(found.basis))


def _speeds(rates: _Rates, runner: Runner, placement: Placement, work: Workload) -> dict[str, Any]:
    users = work.users or 1
    many = "-multi" if sum(part.count for part in placement.parts) > 1 else ""
    constants, calibration = _worst(runner, placement), runner.calibration
    decode = calibration.interval(("decode" if users == 1 else "served") + many, constants, users)
    prefill = calibration.interval("prefill" + many, constants, users)
    sustained = calibration.interval(("decode" if users == 1 else "served") + many, constants, users)
    return {
        "decode": _speed(rates.decode, decode),
        "decode_per_user": _speed(rates.decode / users, decode),
        "prefill": _speed(rates.prefill, prefill) if rates.prefill else None,
        "first_token_s": _speed(rates.first_token_s, (1 / prefill[1], 1 / prefill[0])) if rates.first_token_s else None,
        "sustained": _speed(rates.sustained, sustained),
        "terms": rates.terms,
        "bottleneck": bottleneck(rates.terms, placement, runner, rates.team_users),
    }


def _speed(value: float, factors: tuple[float, float]) -> Speed:
    return Speed(value, value * factors[0], value * factors[1])
