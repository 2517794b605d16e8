"""How well an estimate is founded: the published rows nearest to it, and whether one of them is the very same run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor.measurement import Measurement

if TYPE_CHECKING:
    from advisor.speed import Estimate

SHOWN = 3  # rows that an answer lists
LEAST_LIKENESS = 8.0  # the same device, or the same model with the same engine and quantization
NEAR = 1.5  # two counts of users or of tokens are alike within this factor


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
class Asked:
    """What a row must share with a question to be evidence for it."""

    devices: Mapping[str, int]  # id -> count
    engine: str
    backend: str | None
    strategy: str
    link: str | None
    model: str
    quant: str
    users: int
    filled_tokens: float


def asked_of(estimate: "Estimate") -> Asked:
    """The question that an estimate answers."""
    counts: dict[str, int] = {}
    for group in estimate.system.groups:
        counts[group.device.id] = counts.get(group.device.id, 0) + group.count
    link = estimate.system.link or (estimate.system.boxes[0].link if estimate.system.boxes else None)
    work = estimate.workload
    return Asked(
        devices=counts,
        engine=estimate.placement.engine,
        backend=estimate.placement.backend,
        strategy=estimate.placement.strategy,
        link=link.id if link else None,
        model=estimate.model.id,
        quant=estimate.quant.id,
        users=work.users or 1,
        filled_tokens=work.prompt_tokens,
    )


def _alike(one: float, other: float, floor: float) -> bool:
    return max(one, floor) / NEAR <= max(other, floor) <= max(one, floor) * NEAR


def likeness(row: Measurement, asked: Asked) -> float:
    """How much a row has in common with the question; devices and model weigh most."""
    names = {ran.device for ran in row.devices}
    score = 8.0 * (names == set(asked.devices))
    score += 2.0 * (row.device_count == sum(asked.devices.values()))
    score += 5.0 * (row.model == asked.model)
    score += 2.0 * (row.engine == asked.engine) + 1.0 * (row.backend == asked.backend)
    score += 2.0 * (row.quant == asked.quant) + 1.0 * (row.strategy == asked.strategy)
    score += 1.0 * (row.users == asked.users) + 0.5 * _alike(row.filled_tokens, asked.filled_tokens, 1024.0)
    return score


def is_same(row: Measurement, asked: Asked) -> bool:
    """Whether a row ran exactly what is asked: hardware, software, model, quantization, users, and about the same depth."""
    counts: dict[str | None, int] = {}
    for ran in row.devices:
        counts[ran.device] = counts.get(ran.device, 0) + ran.count
    several = len(counts) > 1 or row.device_count > 1
    return (
        counts == asked.devices
        and (row.engine, row.model, row.quant) == (asked.engine, asked.model, asked.quant)
        and row.backend in (None, asked.backend)
        and row.one_user == (asked.users == 1)
        and (row.users == asked.users or row.as_many_users_as_fit)
        and (not several or (row.strategy == asked.strategy and row.link == asked.link))
        and _alike(row.filled_tokens, asked.filled_tokens, 2048.0)
    )


def nearest(rows: Iterable[Measurement], asked: Asked) -> tuple[Nearest, ...]:
    """The usable rows closest to the question, the same ones first, then the most alike, then the newest."""
    usable = (row for row in rows if not row.unusable and row.decode_tokens_per_s is not None)
    scored = [(is_same(row, asked), likeness(row, asked), row.date or "", row) for row in usable]
    close = sorted((each for each in scored if each[1] >= LEAST_LIKENESS), key=lambda each: each[:3], reverse=True)
    return tuple(Nearest(row.id, row.decode_tokens_per_s, row.printed_source, same) for same, _, _, row in close[:SHOWN])


def with_rows(estimate: "Estimate", rows: Mapping[str, Measurement]) -> "Estimate":
    """The estimate with its nearest rows; `measured` where one is the same run. No figure changes."""
    found = nearest(rows.values(), asked_of(estimate))
    basis = "measured" if any(row.same for row in found) else estimate.evidence.basis
    return replace(estimate, evidence=Evidence(basis, found))
