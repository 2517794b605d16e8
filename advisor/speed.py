"""The only estimator: tokens per second of a placement, with its interval, its limit and its evidence."""

from dataclasses import dataclass, replace
from typing import Any

from advisor import correction, memory, served, why
from advisor.around import Tables, host_bytes_of, load_s, runner_of, storage_of, verify
from advisor.cache import cache_of
from advisor.correction import Correction
from advisor.engine import Engine
from advisor.evidence import Evidence, Nearest
from advisor.memory import Fit
from advisor.model import Model
from advisor.need import Workload
from advisor.pace import Runner, Team, bottleneck, prompt_s, step_terms, teams, times
from advisor.pace import served as shared_out
from advisor.placement import Part, Placement
from advisor.quant import Quant
from advisor.reason import Reason
from advisor.step import Constants, Terms
from advisor.system import System
from advisor.weights import Weights, weights_of

__all__ = ["Estimate", "Evidence", "Nearest", "Speed", "Tables", "estimate"]

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
    speedup_over_one_device: float | None
    amdahl_serial_fraction: float | None
    amdahl_ceiling: float | None
    load_s: float | None
    interruptions_per_year: float | None
    evidence: Evidence
    verify: str
    reasons: tuple[Reason, ...] = ()
    warnings: tuple[Reason, ...] = ()


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
) -> Estimate:
    """One model on one system by one placement: does it fit, and how fast is it. `remarks` stand first among its reasons."""
    weights, cache = weights_of(model, quant, engine.id), cache_of(model, kv_quant, engine.id)
    fit = memory.fit(placement, model, weights, cache, workload, engine, tables.platforms, host_bytes_of(system))
    done = workload if workload.users == fit.users else replace(workload, users=fit.users)
    runner = runner_of(system, model, weights, cache, placement, tables)
    loading_s = load_s(system, weights, placement, tables.storages)
    rates = _rates(runner, placement, done) if fit.fits and fit.users else None
    known = correction_of(system, engine.id)
    rates = _corrected(rates, known) if rates and known else rates
    speeds = _speeds(rates, runner, placement, done) if rates else {}
    scaling = _scaling(rates, runner, placement, fit, done) if rates else {}
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
        **{**_UNKNOWN, **speeds, **scaling},
        load_s=loading_s,
        interruptions_per_year=tables.links.interruptions.per_device_year * system.count,
        evidence=Evidence(_basis(runner, placement)),
        verify=verify(engine, model, quant, placement, system, done),
        reasons=(
            *remarks,
            *fit.reasons,
            *placement.reasons,
            *_said(rates, runner, placement, system, known),
            *why.waiting(loading_s, storage_of(system)),
        ),
        warnings=system.remarks,
    )


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


def _corrected(rates: _Rates, known: Correction) -> _Rates:
    """All times of generating and of reading divided by what the owner's hardware does better than estimated."""
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


_UNKNOWN: dict[str, Any] = dict.fromkeys(
    ("decode", "decode_per_user", "prefill", "first_token_s", "sustained", "terms", "bottleneck",
     "speedup_over_one_device", "amdahl_serial_fraction", "amdahl_ceiling")
)  # fmt: skip


def _rates(runner: Runner, placement: Placement, work: Workload) -> _Rates:
    """Each replica group at its users; the group with the slowest step gives the terms."""
    users = work.users or 1
    decode = sustained = prefill = first_s = 0.0
    slowest: tuple[Terms, Team, int] | None = None
    for team, copies, each in shared_out(teams(placement), users):
        terms = step_terms(runner, team, each, work.prompt_tokens + work.generate_tokens / 2)
        decode += copies * each / terms.total_s
        if slowest is None or terms.total_s > slowest[0].total_s:
            slowest = (terms, team, each)
        reading_s = one_s = 0.0
        if work.prompt_tokens:
            one_s = prompt_s(runner, team, work.prompt_tokens)
            reading_s = prompt_s(runner, team, work.prompt_tokens, each) if each > 1 else one_s
            prefill += copies * work.prompt_tokens / one_s
            first_s = max(first_s, one_s + (each - 1) * reading_s + terms.total_s)
        sustained += copies * served.sustained_tokens_per_s(
            each, work.prompt_tokens, work.generate_tokens, reading_s, terms.total_s, runner.constants(team.stages[0][0])
        )
    assert slowest is not None
    return _Rates(decode, prefill or None, first_s or None, sustained, *slowest)


def _basis(runner: Runner, placement: Placement) -> str:
    return max((runner.constants(part).basis for part in placement.parts), key=BASES.index)


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


def _scaling(rates: _Rates, runner: Runner, placement: Placement, fit: Fit, work: Workload) -> dict[str, Any]:
    """Speed over one device, as if the model fitted it, and Amdahl's ceiling [Amdahl 1967]; nothing for one device.

    The serial share is what does not shrink with more devices: fixed costs where each works on every layer; all of a
    pipeline's pass for one user; of replicas the one group that a user sees.
    """
    if sum(part.count for part in placement.parts) == 1:
        return {}
    users = work.users or 1
    one = one_device(runner, placement, users, work.prompt_tokens + work.generate_tokens / 2)
    if placement.groups > 1:
        serial = 1 / users
    elif placement.stages > 1:
        serial = 1.0 if not placement.pipeline_fill else 1 / users
    else:
        serial = one.overhead_s / one.total_s
    return {
        "speedup_over_one_device": rates.decode * one.total_s / users,
        "amdahl_serial_fraction": serial,
        "amdahl_ceiling": 1 / serial if serial else None,
    }


def one_device(runner: Runner, placement: Placement, users: int, filled_tokens: float) -> Terms:
    """The step of the fastest device of the placement alone, all weights in it whether they fit or not."""
    devices = {id(part.device): part for part in placement.parts}
    alone = [Team(((Part(part.device, part.memory_bytes),),), (), 1, 1.0, 0.0, 0.0, 1) for part in devices.values()]
    return min((step_terms(runner, team, users, filled_tokens) for team in alone), key=lambda terms: terms.total_s)
