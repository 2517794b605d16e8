"""How well an estimate is founded: the published rows nearest to it, and whether one of them is the very same run."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from advisor.calibration import FOUNDED, Constants
from advisor.model import Model
from advisor.placement import Placement
from advisor.quant import Quant
from advisor.record import dataclass, replace
from advisor.system import System

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.measurement import Measurement
    from advisor.speed import Estimate

SHOWN = 3  # rows that an answer lists
MOST_WEIGHED = 1024  # setups whose rows are kept with a catalog
LEAST_LIKENESS = 7.0  # about the same device, or the same model with the same engine or quantization
NEAR = 1.5  # two counts of users or of tokens are alike within this factor
ALIKE_IN_SIZE = 2.0  # a row of another model says something when that reads at most this many times more or less for a token


@dataclass(frozen=True)
class Nearest:
    """A published row close to the question, and what it ran; `same` when everything that matters is equal."""

    id: str
    decode_tokens_per_s: float | None
    source: str
    same: bool
    devices: tuple[tuple[str, int], ...]  # id, count
    engine: str | None
    model: str
    quant: str | None
    users: int | None  # None = as many as fit
    sustained: bool  # the prompts' reading is within the time


@dataclass(frozen=True)
class Evidence:
    """How well the figure is founded."""

    basis: str  # measured | calibrated | extrapolated | physics-only
    nearest: tuple[Nearest, ...] = ()
    own_rows: int = 0  # published rows of this very device with that engine and backend, for one user or for several as asked
    architecture: str = ""
    family_rows: int = 0  # the same of every device of the architecture, of all kinds
    host_rows: int | None = None  # published runs that the time in host memory rests on, of other computers; None where nothing lies there

    @property
    def known(self) -> bool:
        """Whether this very hardware was measured, not only its kin: of a computer's memory only the kind ever was."""
        return self.basis == "measured" or (self.own_rows > 0 and self.host_rows is None)

    def beside(self, rows: tuple[Nearest, ...]) -> "Evidence":
        """The same with its nearest rows; `measured` where one of them is the same run."""
        if not rows:
            return self
        return replace(self, basis="measured" if any(row.same for row in rows) else self.basis, nearest=rows)


@dataclass(frozen=True)
class Setup:
    """What ran, whatever the work: hardware, software, model."""

    devices: tuple[tuple[str, int], ...]  # id, count
    engine: str
    backend: str | None
    strategy: str
    link: str | None
    model: str
    quant: str

    @cached_property
    def device_ids(self) -> frozenset[str]:
        """The kinds of devices."""
        return frozenset(device for device, _ in self.devices)

    @cached_property
    def device_count(self) -> int:
        """All of them."""
        return sum(count for _, count in self.devices)


class Weighed(NamedTuple):
    """A row beside a setup."""

    row: "Measurement"
    likeness: float
    same: bool  # whether the row ran exactly this, with as many users


def founded(parts: Sequence[Constants], users: int) -> Evidence:
    """How well an estimate on these parts is founded: as well as its worst part."""
    worst = parts[0]
    if any(each is not worst for each in parts):
        worst = max(parts, key=lambda each: (FOUNDED.index(each.basis), -each.own_rows[users > 1]))
    return Evidence(worst.basis, (), worst.own_rows[users > 1], dict(worst.families).get("architecture", ""), worst.rows)


def setup_of(system: System, placement: Placement, model: Model, quant: Quant) -> Setup:
    """What runs where a model is laid so."""
    counts: dict[str, int] = {}
    for group in system.groups:
        counts[group.device.id] = counts.get(group.device.id, 0) + group.count
    link = system.link or (system.boxes[0].link if system.boxes else None)
    devices = tuple(sorted(counts.items()))
    ran = placement.engine, placement.backend, placement.strategy
    return Setup(devices, *ran, link.id if link else None, model.id, quant.id)


def _alike(one: float, other: float, floor: float) -> bool:
    return max(one, floor) / NEAR <= max(other, floor) <= max(one, floor) * NEAR


def likeness(row: "Measurement", setup: Setup, users: int) -> float:
    """How much what a row ran has in common with the setup; devices and model weigh most."""
    score = 8.0 * (row.device_ids == setup.device_ids) + 2.0 * (row.device_count == setup.device_count)
    score += 5.0 * (row.model == setup.model)
    score += 2.0 * (row.engine == setup.engine) + 1.0 * (row.backend == setup.backend)
    score += 2.0 * (row.quant == setup.quant) + 1.0 * (row.strategy == setup.strategy)
    return score + 1.0 * (row.users == users)


def is_same(row: "Measurement", setup: Setup) -> bool:
    """Whether a row ran exactly this hardware, software, model and quantization."""
    if (row.engine, row.model, row.quant) != (setup.engine, setup.model, setup.quant) or row.backend not in (None, setup.backend):
        return False
    counts: dict[str, int] = {}
    for ran in row.devices:
        counts[ran.device or ""] = counts.get(ran.device or "", 0) + ran.count
    same_split = row.device_count == 1 or (row.strategy == setup.strategy and row.link == setup.link)
    return same_split and tuple(sorted(counts.items())) == setup.devices


def _as_many_users(row: "Measurement", users: int) -> bool:
    """Whether a row's speed can stand beside that of so many users: one user's says nothing about many users', and the reverse."""
    return row.one_user if users == 1 else row.as_many_users_as_fit or row.users == users


def nearest(weighed: Iterable[Weighed], filled_tokens: float) -> tuple[Nearest, ...]:
    """The rows closest to this work, those of the same run first, then the most alike, then the newest."""
    scored = []
    for row, likeness_, same in weighed:
        score = likeness_ + 0.5 * _alike(row.filled_tokens, filled_tokens, 1024.0)
        if score >= LEAST_LIKENESS:
            scored.append((same and _alike(row.filled_tokens, filled_tokens, 2048.0), score, row.date or "", row.id, row))
    scored.sort(key=lambda each: each[:4], reverse=True)
    return tuple(_shown(row, same) for same, _, _, _, row in scored[:SHOWN])


def _shown(row: "Measurement", same: bool) -> Nearest:
    return Nearest(
        id=row.id,
        decode_tokens_per_s=row.decode_tokens_per_s,
        source=row.printed_source,
        same=same,
        devices=tuple((ran.device or ran.name, ran.count) for ran in row.devices),
        engine=row.engine,
        model=row.model or row.model_printed or "",
        quant=row.quant or row.quant_printed,
        users=None if row.as_many_users_as_fit else row.users,
        sustained=row.sustained,
    )


def _weighed(catalog: "Catalog", setup: Setup, active_params: float, users: int) -> tuple[Weighed, ...]:
    """Usable rows of as many users of this model, or of one of these devices with a model about as large."""

    def found() -> "Iterator[Measurement]":
        for row in catalog.measurements_of(setup.device_ids, setup.model).values():
            if row.unusable or row.decode_tokens_per_s is None or row.model is None or not _as_many_users(row, users):
                continue
            size = catalog.model(row.model).active_params / active_params
            if row.model == setup.model or 1 / ALIKE_IN_SIZE <= size <= ALIKE_IN_SIZE:
                yield row

    return tuple(Weighed(row, likeness(row, setup, users), is_same(row, setup)) for row in found())


def rows_near(estimate: "Estimate", catalog: "Catalog") -> tuple[Nearest, ...]:
    """The published rows nearest to an estimate."""
    work = estimate.workload
    asked = estimate.behind.plan.setup, estimate.model.active_params, work.users or 1
    weighed = catalog.once("weighed rows", MOST_WEIGHED, asked, lambda: _weighed(catalog, *asked))
    return nearest(weighed, work.prompt_tokens)
