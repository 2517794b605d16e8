"""How well an estimate is founded: the published rows nearest to it, and whether one of them is the very same run."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from advisor.calibration import FOUNDED, Constants
from advisor.measurement import Measurement
from advisor.record import dataclass, replace

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.speed import Estimate

SHOWN = 3  # rows that an answer lists
LEAST_LIKENESS = 11.0  # the same device, or the same model with the same engine and quantization, and as few or many users
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

    @property
    def known(self) -> bool:
        """Whether this very hardware was measured, not only its kin."""
        return self.basis == "measured" or self.own_rows > 0

    def beside(self, rows: tuple[Nearest, ...]) -> "Evidence":
        """The same with its nearest rows; `measured` where one of them is the same run."""
        if not rows:
            return self
        return replace(self, basis="measured" if any(row.same for row in rows) else self.basis, nearest=rows)


@dataclass(frozen=True)
class Asked:
    """What a row must share with a question to be evidence for it."""

    devices: tuple[tuple[str, int], ...]  # id, count
    engine: str
    backend: str | None
    strategy: str
    link: str | None
    model: str
    quant: str
    users: int
    filled_tokens: float

    @cached_property
    def device_ids(self) -> frozenset[str]:
        """The kinds of devices."""
        return frozenset(device for device, _ in self.devices)

    @cached_property
    def device_count(self) -> int:
        """All of them."""
        return sum(count for _, count in self.devices)


def founded(parts: Sequence[Constants], users: int) -> Evidence:
    """How well an estimate on these parts is founded: as well as its worst part."""
    worst = parts[0]
    if any(each is not worst for each in parts):
        worst = max(parts, key=lambda each: (FOUNDED.index(each.basis), -each.own_rows[users > 1]))
    return Evidence(worst.basis, (), worst.own_rows[users > 1], dict(worst.families).get("architecture", ""), worst.rows)


def asked_of(estimate: "Estimate") -> Asked:
    """The question that an estimate answers."""
    counts: dict[str, int] = {}
    for group in estimate.system.groups:
        counts[group.device.id] = counts.get(group.device.id, 0) + group.count
    link = estimate.system.link or (estimate.system.boxes[0].link if estimate.system.boxes else None)
    work = estimate.workload
    return Asked(
        devices=tuple(sorted(counts.items())),
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
    score = 8.0 * (row.device_ids == asked.device_ids) + 2.0 * (row.device_count == asked.device_count)
    score += 5.0 * (row.model == asked.model)
    score += 2.0 * (row.engine == asked.engine) + 1.0 * (row.backend == asked.backend)
    score += 2.0 * (row.quant == asked.quant) + 1.0 * (row.strategy == asked.strategy)
    score += 4.0 * (row.one_user == (asked.users == 1))  # one user's speed says little about many users', and the reverse
    score += 1.0 * (row.users == asked.users) + 0.5 * _alike(row.filled_tokens, asked.filled_tokens, 1024.0)
    return score


def is_same(row: Measurement, asked: Asked) -> bool:
    """Whether a row ran exactly what is asked: hardware, software, model, quantization, users, and about the same depth."""
    if (row.engine, row.model, row.quant) != (asked.engine, asked.model, asked.quant) or row.backend not in (None, asked.backend):
        return False
    counts: dict[str, int] = {}
    for ran in row.devices:
        counts[ran.device or ""] = counts.get(ran.device or "", 0) + ran.count
    return (
        tuple(sorted(counts.items())) == asked.devices
        and row.one_user == (asked.users == 1)
        and (row.users == asked.users or row.as_many_users_as_fit)
        and (row.device_count == 1 or (row.strategy == asked.strategy and row.link == asked.link))
        and _alike(row.filled_tokens, asked.filled_tokens, 2048.0)
    )


def _as_many_users(row: Measurement, users: int) -> bool:
    """Whether a row's speed can stand beside that of so many users."""
    return row.one_user if users == 1 else row.as_many_users_as_fit or row.users == users


def nearest(rows: Iterable[Measurement], asked: Asked) -> tuple[Nearest, ...]:
    """The usable rows closest to the question, the same ones first, then the most alike, then the newest."""
    usable = (row for row in rows if not row.unusable and row.decode_tokens_per_s is not None and _as_many_users(row, asked.users))
    scored = [(is_same(row, asked), likeness(row, asked), row.date or "", row.id, row) for row in usable]
    close = sorted((each for each in scored if each[1] >= LEAST_LIKENESS), key=lambda each: each[:4], reverse=True)
    return tuple(_shown(row, same) for same, _, _, _, row in close[:SHOWN])


def _shown(row: Measurement, same: bool) -> Nearest:
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


@lru_cache(maxsize=1024)
def _worth_weighing(catalog: "Catalog", devices: frozenset[str], model_id: str, active_params: float) -> tuple[Measurement, ...]:
    """Usable rows of this model, or of one of these devices with a model about as large."""

    def found() -> Iterator[Measurement]:
        for row in catalog.measurements_of(devices, model_id).values():
            if row.unusable or row.decode_tokens_per_s is None or row.model is None:
                continue
            size = catalog.model(row.model).active_params / active_params
            if row.model == model_id or 1 / ALIKE_IN_SIZE <= size <= ALIKE_IN_SIZE:
                yield row

    return tuple(found())


def rows_near(estimate: "Estimate", catalog: "Catalog") -> tuple[Nearest, ...]:
    """The published rows nearest to an estimate."""
    asked = asked_of(estimate)
    return nearest(_worth_weighing(catalog, asked.device_ids, estimate.model.id, estimate.model.active_params), asked)
