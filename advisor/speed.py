"""The only estimator: tokens per second of a plan, with its interval, its limit and its evidence."""

from collections.abc import Callable, Mapping
from functools import cached_property
from math import exp, hypot, log

from advisor import against, correction, memory, why
from advisor.against import Held
from advisor.around import Tables, storage_of
from advisor.commands import verify
from advisor.correction import Correction, Doubt
from advisor.evidence import Evidence, Nearest, founded
from advisor.memory import Fit
from advisor.model import Model
from advisor.need import Workload
from advisor.pace import bottleneck
from advisor.placement import Placement
from advisor.plan import Plan
from advisor.quant import Quant
from advisor.reason import Fact, Reason
from advisor.record import dataclass, field, replace
from advisor.step import Terms
from advisor.system import System
from advisor.timed import Timed, corrected, timed
from advisor.weights import Weights

__all__ = ["Alone", "Estimate", "Evidence", "Nearest", "Speed", "Tables", "estimate"]

WITHIN_80_PERCENT = 1.2816  # standard deviations on either side that hold 80 % of a normal distribution
SPLITTING = ("layers", "tensor", "replicas")  # shown as asked, though one device leaves nothing to split


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
    placement: Placement
    fit: Fit
    decode: Speed | None  # all users together while all generate
    decode_per_user: Speed | None
    prefill: Speed | None
    first_token_s: Speed | None
    sustained: Speed | None
    terms: Terms | None  # of one generated token of one user, at the mean depth
    behind: "_Behind" = field(compare=False, repr=False)
    rows: tuple[Nearest, ...] = ()  # published ones that are near, once they were looked up
    more_reasons: tuple[Reason, ...] = ()  # of who asked for the estimate
    more_warnings: tuple[Reason, ...] = ()  # likewise

    @property
    def cache_bytes_per_token(self) -> float:
        """What one more token of context adds while no window is full."""
        cache = self.behind.plan.cache
        return cache.growing_bytes_per_token + sum(each for each, _, _ in cache.windows)

    @property
    def bottleneck(self) -> str | None:
        """The word for the longest term."""
        return self.behind.bottleneck

    @property
    def load_s(self) -> float | None:
        """Seconds until the weights are in."""
        return self.behind.plan.loading_s

    @property
    def interruptions_per_year(self) -> float | None:
        """How often something stops one of the devices."""
        return self.behind.plan.tables.links.interruptions.per_device_year * self.system.count

    @cached_property
    def evidence(self) -> Evidence:
        """How well the figures are founded; `measured` where one of the rows is the same run."""
        return self.behind.evidence.beside(self.rows)

    @property
    def doubt(self) -> Doubt | None:
        """What the owner measured that speaks against the speeds, where nothing is saved of this very run."""
        return self.behind.doubt if self.behind.saved else None

    @property
    def measured_here(self) -> bool:
        """Whether the owner's own measurements of this engine on these devices are in the speeds."""
        return self.behind.known is not None and self.behind.known.decode_factor is not None

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it is so, in full: the choices, the memory, the longest terms."""
        return (*self.behind.reasons, *self.more_reasons)

    @property
    def warnings(self) -> tuple[Reason, ...]:
        """What whoever runs this must know."""
        return (*self.behind.warnings, *self.more_warnings)

    @property
    def verify(self) -> str:
        """The engine's command that measures what is estimated."""
        return self.behind.verify

    @property
    def held(self) -> Held | None:
        """Against one device as if its memory held everything; None for one device, and where there is no speed."""
        return self.behind.held

    @property
    def one(self) -> "Alone | None":
        """The best that one of the devices can really do; None where this is one device."""
        return self.behind.one

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
class _Behind:
    """What lies behind an estimate and its copies, worked out when it is asked for: of some hundred estimates few are shown."""

    plan: Plan
    work: Workload  # users resolved
    fit: Fit
    timed: Timed | None
    known: Correction | None
    saved: Mapping[str, Correction]
    alone: Callable[[], Alone] | None

    @cached_property
    def bottleneck(self) -> str | None:
        found = self.timed
        return bottleneck(found.terms, self.plan.placement, self.plan.runner, found.team_users) if found else None

    @cached_property
    def evidence(self) -> Evidence:
        found = founded(self.plan.constants, self.work.users or 1)
        return replace(found, host_rows=self.plan.tables.hosts.rows) if self.plan.leaves_device else found

    @cached_property
    def doubt(self) -> Doubt | None:
        if self.timed is None or (self.known is not None and self.known.decode_factor is not None):
            return None
        return correction.doubt_of(self.saved, self.plan.setup.device_ids, self.plan.system.count, self.plan.engine.id)

    @cached_property
    def warnings(self) -> tuple[Reason, ...]:
        plan = self.plan
        doubtful = why.unmeasured(self.doubt, plan.system, plan.engine.id) if self.saved and self.doubt else ()
        return (*plan.system.remarks, *_cautions(plan, self.fit), *plan.slow_kernels, *doubtful)

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        plan = self.plan
        waiting = why.waiting(plan.loading_s, storage_of(plan.system, plan.tables.choices))
        return (*plan.remarks, *self.fit.reasons, *plan.placement.reasons, *_said(self.timed, plan, self.known), *waiting)

    @cached_property
    def verify(self) -> str:
        plan = self.plan
        given = (plan.engine, plan.model, plan.quant, plan.kv_quant, plan.placement, plan.system, self.work, plan.weights)
        return verify(*given, self.fit.host_needed_bytes)

    @cached_property
    def held(self) -> Held | None:
        if self.timed is None or self.plan.devices == 1:
            return None
        filled = self.work.prompt_tokens + self.work.generate_tokens / 2
        return against.held(self.plan.runner, self.plan.placement, self.timed.decode_tokens_per_s, self.fit.at_a_time or 1, filled)

    @cached_property
    def one(self) -> Alone | None:
        return self.alone() if self.alone and self.timed else None


def estimate(plan: Plan, workload: Workload, saved: Mapping[str, Correction], alone: Callable[[], Alone] | None = None) -> Estimate:
    """A plan at this work: does it fit, and how fast is it. `saved` are the corrections for the owner's hardware.

    `alone` finds the best of one device when somebody asks how much faster several are.
    """
    fit = memory.fitted(plan.rooms, plan.model, workload)
    done = workload if workload.users == fit.users else replace(workload, users=fit.users)
    known = correction_of(plan, saved) if saved and fit.fits else None
    found = corrected(timed(plan, done, fit.at_a_time), known) if fit.fits and fit.users else None
    decode, per_user, prefill, first_token_s, sustained = _speeds(found, plan, done.users or 1) if found else _UNKNOWN
    return Estimate(
        system=plan.system,
        model=plan.model,
        quant=plan.quant,
        kv_quant=plan.kv_quant,
        workload=done,
        weights=plan.weights,
        placement=plan.placement,
        fit=fit,
        decode=decode,
        decode_per_user=per_user,
        prefill=prefill,
        first_token_s=first_token_s,
        sustained=sustained,
        terms=found.terms if found else None,
        behind=_Behind(plan, done, fit, found, known, saved, alone),
    )


def _cautions(plan: Plan, fit: Fit) -> tuple[Reason, ...]:
    """What whoever runs this must know: users that wait for their turn, weights read from disk, a split over one device."""
    placement = plan.placement
    found = [reason for reason in placement.reasons if reason.code in ("offload.disk", "layers.cut-everywhere")]
    if fit.at_a_time < fit.users:
        facts: dict[str, Fact] = {"users": fit.users, "at_a_time": fit.at_a_time, "waiting": fit.users - fit.at_a_time}
        found.append(Reason("users.queue", {"engine": plan.engine.id, **facts}))
    if placement.strategy in SPLITTING and plan.devices == 1:
        found.append(Reason("split.one-device", {"strategy": placement.strategy, "device": placement.parts[0].device.id}))
    return tuple(found)


def _said(found: Timed | None, plan: Plan, known: Correction | None) -> tuple[Reason, ...]:
    """Why the step takes so long, and what was learned on the owner's hardware; nothing without speeds."""
    if found is None:
        return ()
    system, runner, placement = plan.system, plan.runner, plan.placement
    learned = why.corrected(known, system.groups[0].device.id, placement.engine) if known else ()
    stops = why.stops(runner, placement, system.count, len(system.boxes))
    return (*why.reasons(found.terms, runner, placement, found.team_users), *stops, *learned)


def correction_of(plan: Plan, saved: Mapping[str, Correction]) -> Correction | None:
    """What `calibrate --save` measured of this many of this device with this engine, if it did."""
    ids = {group.device.id for group in plan.system.groups}
    return saved.get(correction.key_of(ids.pop(), plan.engine.id, plan.system.count)) if len(ids) == 1 else None


_UNKNOWN: tuple[Speed | None, ...] = (None,) * 5


def _speeds(found: Timed, plan: Plan, users: int) -> tuple[Speed | None, ...]:
    """Of all users, of each, of prompts, until the first token, and sustained."""
    together, prefill = plan.interval("decode" if users == 1 else "served"), plan.interval("prefill")
    if plan.leaves_device:
        hosts, terms = plan.tables.hosts, found.terms
        together = wider(together, hosts.decode_log_error * terms.host_memory_s / terms.total_s)
        prefill = wider(prefill, hosts.prefill_log_error)
    return (
        _speed(found.decode_tokens_per_s, together),
        _speed(found.decode_tokens_per_s / users, together),
        _speed(found.prefill_tokens_per_s, prefill) if found.prefill_tokens_per_s else None,
        _speed(found.first_token_s, (1 / prefill[1], 1 / prefill[0])) if found.first_token_s else None,
        _speed(found.sustained_tokens_per_s, together),
    )


def wider(factors: tuple[float, float], log_spread: float) -> tuple[float, float]:
    """Factors that bound 80 % when a second, independent error of this spread (of the logarithm) joins theirs."""
    half = WITHIN_80_PERCENT * log_spread
    low, high = (hypot(log(factor), half) for factor in factors)
    return exp(-low), exp(high)


def _speed(value: float, factors: tuple[float, float]) -> Speed:
    return Speed(value, value * factors[0], value * factors[1])
