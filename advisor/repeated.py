"""How far apart published measurements of one and the same question are: no estimate can be nearer than that."""

from collections.abc import Iterable, Iterator
from statistics import median

from advisor.measurement import Figure, Measurement
from advisor.record import dataclass


@dataclass(frozen=True)
class Repeated:
    """The scatter of one kind of figure: of `rows` that were measured more than once, half lie so near to the others."""

    kind: str
    rows: int
    median_abs_error: float


def question(figure: Figure) -> tuple[object, ...]:
    """What is asked: hardware, software, model, weights, users and lengths, but not who measured it, nor with which build."""
    row: Measurement = figure.row
    devices = tuple((ran.device, ran.count, ran.memory_bytes) for ran in row.devices)
    ran = (row.strategy, row.link, row.engine, row.backend, row.model, row.quant)
    return (figure.kind, devices, *ran, figure.users, figure.prompt_tokens, figure.generate_tokens, figure.estimated_by)


def repeated(figures: Iterable[Figure]) -> Iterator[Repeated]:
    """Each kind that has repeated figures: every figure against the median of the others of its question."""
    asked: dict[tuple[object, ...], list[float]] = {}
    for figure in figures:
        asked.setdefault(question(figure), []).append(figure.tokens_per_s)
    off: dict[str, list[float]] = {}
    for (kind, *_), speeds in asked.items():
        for index, speed in enumerate(speeds if len(speeds) > 1 else ()):
            others = median(speeds[:index] + speeds[index + 1 :])
            off.setdefault(str(kind), []).append(abs(others / speed - 1))
    for kind, errors in off.items():
        yield Repeated(kind, len(errors), median(errors))
