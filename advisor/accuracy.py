"""Predicted against measured: every usable published row as a question to the estimator, and how far off the answers are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log
from statistics import median
from typing import TYPE_CHECKING

from advisor import choose, correction
from advisor.bind import bind
from advisor.calibration import KeptOut
from advisor.errors import AdvisorError, BadValue
from advisor.measurement import Figure, Measurement, figures_of
from advisor.need import Workload
from advisor.record import dataclass
from advisor.repeated import Repeated, repeated
from advisor.units import GIB

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.quant import Quant
    from advisor.speed import Estimate, Speed

WITHIN = 0.3
WORST_SHOWN = 12
LEAST_ROWS = 3  # a group of fewer says nothing
KIND_ORDER = ("decode", "prefill", "served", "decode-multi", "prefill-multi", "served-multi")


@dataclass(frozen=True)
class Checked:
    """One published figure and its estimate. `labels` are what `--where` can ask for."""

    figure: Figure
    system: str
    speed: "Speed"
    labels: Mapping[str, str]

    @property
    def ratio(self) -> float:
        """Estimated over measured."""
        return self.speed.value / self.figure.tokens_per_s

    @property
    def inside(self) -> bool:
        """Whether the measured value lies in the estimate's interval."""
        return self.speed.low <= self.figure.tokens_per_s <= self.speed.high


@dataclass(frozen=True)
class Refused:
    """A figure without an estimate, and why."""

    figure: Figure
    why: str


@dataclass(frozen=True)
class Group:
    """Errors of a group of figures; the last three are shares of 1."""

    name: str
    rows: int
    median_abs_error: float
    within_30_percent: float
    inside_interval: float


@dataclass(frozen=True)
class Accuracy:
    """All groups, the figures that are furthest off, and those that got no answer."""

    groups: tuple[Group, ...]
    worst: tuple[Checked, ...]
    refused: tuple[Refused, ...]
    compared: int
    kept_out: Mapping[str, Mapping[str, KeptOut]]  # by kind and by what the fit had not seen
    repeated: tuple[Repeated, ...]


def system_words(row: Measurement) -> str:
    """The SYSTEM words of a row."""
    groups = " + ".join(f"{ran.count}x {ran.device}{_size(ran.memory_bytes)}" for ran in row.devices)
    link = f" via {row.link}" if row.link and row.strategy != "replicas" else ""
    split = f" as {row.strategy}" if row.device_count > 1 else ""
    backend = f"/{row.backend}" if row.backend else ""
    return f"{groups}{link}{split} on {row.engine}{backend}".removeprefix("1x ")


def _size(memory_bytes: float | None) -> str:
    return f" {memory_bytes / GIB:g}gb" if memory_bytes else ""


def estimate_of(figure: Figure, catalog: "Catalog") -> "Estimate":
    """The estimator's answer to the question that a published figure is; AdvisorError where it has none."""
    row = figure.row
    model = catalog.model(row.model or "")
    work = Workload(
        users=figure.users,
        context_tokens=figure.context_tokens,
        prompt_tokens=figure.prompt_tokens,
        generate_tokens=figure.generate_tokens,
    )
    return choose.best(bind(system_words(row), catalog), model, _quant(row, catalog), "f16", work, catalog)


def _quant(row: Measurement, catalog: "Catalog") -> "Quant | str":
    """The catalog's record; `4bit` stays what the engine takes for it."""
    return row.quant if row.quant in ("4bit", "8bit", "16bit") else catalog.quant(row.quant or "")


def compared(figure: Figure, catalog: "Catalog") -> Checked | Refused:
    """A published figure beside its estimate."""
    try:
        estimate = estimate_of(figure, catalog)
    except AdvisorError as error:
        return Refused(figure, str(error))
    speed: Speed | None = getattr(estimate, figure.estimated_by)
    if speed is None:
        return Refused(figure, "does not fit")
    return Checked(figure, system_words(figure.row), speed, _labels(figure, estimate))


def _labels(figure: Figure, estimate: "Estimate") -> dict[str, str]:
    device = estimate.placement.parts[0].device
    mixture = "mixture" if estimate.model.is_moe else "dense"
    recurrent = any(not mixer.is_attention and mixer.kind != "none" for mixer in estimate.model.mixers)
    return {
        "kind": figure.kind,
        "maker": device.maker,
        "engine": estimate.placement.engine,
        "backend": estimate.placement.backend,
        "strategy": estimate.placement.strategy,
        "model_kind": f"hybrid {mixture}" if recurrent else mixture,
        "device": device.id,
        "architecture": device.architecture,
        "model": estimate.model.id,
        "quant": estimate.quant.id,
        "source": figure.row.source,
        "year": (figure.row.date or "unknown")[:4],
        "basis": estimate.evidence.basis,
    }


LABELS = (
    "kind", "maker", "engine", "backend", "strategy", "model_kind", "device", "architecture", "model", "quant", "source", "year", "basis",
)  # fmt: skip
GROUPED_BY = ("maker", "engine", "strategy", "model_kind")


def wanted(where: Sequence[str]) -> Callable[[Checked], bool]:
    """The filter that `--where KEY=VALUE …` asks for; BadValue where a key is unknown."""
    pairs = []
    for text in where:
        key, equals, value = text.partition("=")
        if not equals or key.strip() not in LABELS:
            raise BadValue(f"--where: {text!r} is not KEY=VALUE with a KEY of: {', '.join(LABELS)}", nearest=LABELS[:3])
        pairs.append((key.strip(), value.strip().lower()))
    return lambda each: all(each.labels[key].lower() == value for key, value in pairs)


def measure(catalog: "Catalog", where: Sequence[str] = ()) -> Accuracy:
    """Every published figure that can be compared, against its estimate, without what `calibrate` learned on this machine."""
    kept = wanted(where)
    with correction.off():
        outcomes = [compared(figure, catalog) for row in catalog.measurements.values() for figure in figures_of(row)]
    found = [each for each in outcomes if isinstance(each, Checked) and kept(each)]
    refused = () if where else tuple(each for each in outcomes if isinstance(each, Refused))
    worst = sorted(found, key=lambda each: abs(log(each.ratio)), reverse=True)[:WORST_SHOWN]
    scatter = tuple(repeated(each.figure for each in found))
    return Accuracy(tuple(_groups(found)), tuple(worst), refused, len(found), {} if where else catalog.calibration.kept_out, scatter)


def _groups(found: Sequence[Checked]) -> Iterator[Group]:
    """The kinds; then each kind by maker, engine, strategy and model kind."""
    for kind in KIND_ORDER:
        mine = [each for each in found if each.figure.kind == kind]
        if mine:
            yield _group(kind, mine)
        for label in GROUPED_BY:
            values = sorted({each.labels[label] for each in mine})
            for value in values if len(values) > 1 else ():
                part = [each for each in mine if each.labels[label] == value]
                if len(part) >= LEAST_ROWS:
                    yield _group(f"{kind} {value}", part)


def _group(name: str, figures: Sequence[Checked]) -> Group:
    errors = [abs(each.ratio - 1) for each in figures]
    return Group(
        name=name,
        rows=len(figures),
        median_abs_error=median(errors),
        within_30_percent=sum(error <= WITHIN for error in errors) / len(errors),
        inside_interval=sum(each.inside for each in figures) / len(figures),
    )
