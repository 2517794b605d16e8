"""The only estimator: tokens per second of a placement, with its interval, its limit and its evidence."""

from dataclasses import dataclass

from advisor.memory import Fit
from advisor.model import Model
from advisor.need import Workload
from advisor.placement import Placement
from advisor.quant import Quant
from advisor.reason import Reason
from advisor.step import Terms
from advisor.system import System
from advisor.weights import Weights


@dataclass(frozen=True)
class Speed:
    """A figure with its 80 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Nearest:
    """A published row close to the question; `same` when everything that matters is equal."""

    id: str
    decode_tokens_per_s: float | None
    source: str
    same: bool = False


@dataclass(frozen=True)
class Evidence:
    """How well the figure is founded."""

    basis: str  # measured | calibrated | extrapolated | physics-only
    nearest: tuple[Nearest, ...] = ()


@dataclass(frozen=True)
class Estimate:
    """Everything known of one model on one system by one engine. Speeds are None where it does not fit."""

    system: System
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
