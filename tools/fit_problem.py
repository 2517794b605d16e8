"""The rows of `catalog/measurements/` as arrays, the unknown constants, and what those predict: the arithmetic of `fit.py`."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from fit_engines import chunk_term, engine_facts
from fit_engines import chunk_tokens as chunk_tokens_of
from several import laid_out

from advisor import calibration as cal
from advisor import step
from advisor.calibration import Rates, families
from advisor.catalog import Catalog
from advisor.collective import all_spent
from advisor.measurement import Figure, figures_of

# log residual up to which the loss is quadratic: about the scatter of one run repeated by others (`advisor accuracy`); from a wider
# one figures kept out come out worse (0.08: 92 % of decodes of unseen rows within 30 %, 0.05: 94 %)
TOLERANCE = 0.05
TODAY = 2026.9
HALVED_AFTER_YEARS = 3.0  # a row of that age weighs half
NO_FLASH_WEIGHT, LONG_PROMPT_TOKENS = 0.5, 2048  # of a longer prompt read without flash attention, which our commands switch on
SEVERAL_WEIGHT = 0.5  # of a row of several devices, whose links have constants of their own (tools/fit_links.py)
UNDATED = "2025-06"  # taken for a row without a date
KINDS = ("decode", "prefill", "served", "decode-multi", "served-multi")

# term: where its base starts, and the groupings that have factors. A grouping stands here only if figures kept out of the fit
# (rows, devices, sources) come out worse without it.
TERMS: dict[str, tuple[float, tuple[str, ...]]] = {
    "weights_share": (0.75, ("backend", "architecture", "class")),
    "expert_share": (0.7, ("backend", "class")),
    "cache_share": (0.5, ("backend", "engine")),
    "state_share": (0.5, ()),
    "attention_share": (0.5, ("backend", "engine")),
    "unpack_operations": (3.0, ("backend", "architecture", "class", "engine")),
    "unpack_exponent": (0.5, ("backend", "engine")),
    "batch_share": (0.8, ("engine",)),
    "layer_s": (40e-6, ("backend", "engine")),
    "expert_layer_s": (40e-6, ("backend", "class")),
    "recurrent_layer_s": (40e-6, ("backend",)),
    "scan_layer_s": (40e-6, ("backend",)),
    "step_s": (200e-6, ()),
    "user_s": (5e-6, ("engine",)),
    "prompt_rate_share": (0.4, ("backend", "architecture", "class", "units", "engine")),
    "prompt_size_exponent": (0.3, ()),
    "prompt_width_exponent": (0.1, ()),
    "prompt_expert_factor": (2.0, ("backend", "architecture", "class")),
    "prompt_attention_share": (0.5, ("backend",)),
    "prompt_recurrent_factor": (1000.0, ()),
    "prompt_weights_share": (0.75, ()),
    "prompt_half_tokens": (60.0, ()),
    "prompt_layer_s": (40e-6, ()),
    "prompt_unhidden_share": (1.0, ()),
}
BASE_SPREAD = 0.7  # of a base's logarithm around its start: hardly a pull
# where the spread of a term's factors starts before any are known: all kin reach about the same share of their bandwidth, and
# differ most in their fixed costs (from wider starts the weights' share takes over what other terms explain, and figures kept
# out come out worse) and in how they attend to a prompt: by matrix units or without them
FIRST_SPREADS = {"weights_share": 0.1, "seconds": 0.5, "prompt_attention_share": 0.8, "others": 0.3}
USUAL_SPREAD, USUAL_COUNT = 0.15, 2.0  # what a spread is pulled towards, and by how many factors' worth
SPREAD_ROUNDS = 3
# of the spreads that empirical Bayes finds, used in the end: fewer constants tell, and what no row decides (experts of MLX files,
# very long prompts on Macs) stays nearer to its kin, where figures published of it lie (tests/test_known_points.py)
PULL_SHARE = 0.65
LITTLE_DAMPING = 1e-3  # of the curvature: a step with less is nearly a whole one
Spreads = Mapping[str, Mapping[str, float]]  # term -> grouping -> spread of the factors' logarithms


@dataclasses.dataclass(frozen=True)
class Case:
    """One measured figure and everything that the formulas need for it."""

    figure: Figure
    measured: float
    families: Mapping[str, str]
    rates: Rates
    decode: step.DecodeWork
    prompt: step.PromptWork
    link_s: float
    users: float
    generate_tokens: float
    weight: float
    device: str
    source: str
    model: str

    @property
    def stack(self) -> str:
        """Engine, maker and backend."""
        return f"{self.families['engine']}/{self.families['backend']}"


def case_of(catalog: Catalog, calibration: cal.Calibration, chunk: dict[str, Any], shape: float, figure: Figure) -> Case | None:
    """A figure with its features, through the same functions that an estimate goes through; None where the tool refuses it."""
    found = laid_out(catalog, figure)
    if found is None:
        return None
    row, device, speed_class = figure.row, found.part.device, found.weights.speed_class
    engine = calibration.same_as.get(found.engine.id, found.engine.id)
    chunk_tokens = chunk_tokens_of(chunk, engine)
    depth = figure.prompt_tokens + figure.generate_tokens / 2
    together = found.users if figure.kind.startswith("served") else 1.0
    year, month = (row.date or UNDATED).split("-")[:2]
    age = max(0.0, TODAY - int(year) - int(month) / 12)
    model, weights, cache = found.model, found.weights, found.cache
    return Case(
        figure=figure,
        measured=figure.tokens_per_s / found.copies,
        families=families(engine, found.backend.id, device, speed_class),
        rates=calibration.rates(engine, device, speed_class),
        decode=step.decode_work(found.part, weights, cache, model, found.users, depth, shape),
        prompt=step.prompt_work(found.part, weights, cache, model, max(1, figure.prompt_tokens), 0, chunk_tokens, shape, together),
        link_s=all_spent(found.team.messages, found.users, catalog.link_calibration).total_s if found.team.messages else 0.0,
        users=found.users,
        generate_tokens=figure.generate_tokens,
        weight=0.5 ** (age / HALVED_AFTER_YEARS) * _weight(figure),
        device=device.id,
        source=row.source,
        model=model.id,
    )


def _weight(figure: Figure) -> float:
    """What a figure counts beside its age."""
    several = SEVERAL_WEIGHT if figure.kind.endswith("-multi") else 1.0
    plain = figure.kind == "prefill" and figure.row.flash_attention is False and figure.prompt_tokens > LONG_PROMPT_TOKENS
    return several * (NO_FLASH_WEIGHT if plain else 1.0)


def cases_of(catalog: Catalog, routing_exponent: float) -> list[Case]:
    """Every usable figure; of several devices those of which each does the same."""
    empty = cal.Calibration(
        date="", rows={}, **engine_facts(catalog), terms={}, evidence={}, intervals={}, kept_out={}, unknowns={}, spreads={}
    )
    chunk = chunk_term(catalog)
    figures = (figure for row in catalog.measurements.values() for figure in figures_of(row))
    cases = (
        case_of(catalog, empty, chunk, routing_exponent, figure)
        for figure in figures
        if figure.kind in KINDS and figure.row.strategy != "offload"
    )
    return [case for case in cases if case is not None]


def stacked(records: Sequence[Any]) -> Any:
    """Records of numbers as one record of arrays: the formulas of `step` take either."""
    kind = type(records[0])
    return kind(**{f.name: np.array([getattr(r, f.name) for r in records], float) for f in dataclasses.fields(kind)})


def _first_spread(term: str) -> float:
    return FIRST_SPREADS.get(term, FIRST_SPREADS["seconds" if term.endswith("_s") else "others"])


class Problem:
    """The rows as arrays, the unknowns, and what they predict."""

    def __init__(self, cases: Sequence[Case], shapes: Mapping[str, float], spreads: Spreads | None = None) -> None:
        self.cases, self.shapes = cases, shapes
        self.decode, self.prompt = stacked([c.decode for c in cases]), stacked([c.prompt for c in cases])
        self.rates = stacked([c.rates for c in cases])
        self.link_s = np.array([c.link_s for c in cases])
        self.users = np.array([c.users for c in cases])
        self.generate_tokens = np.array([c.generate_tokens for c in cases], float)
        self.reads_prompt = np.array([float(c.figure.prompt_tokens > 0) for c in cases])
        self.by = np.array([c.figure.estimated_by for c in cases])
        self.kinds = np.array([c.figure.kind for c in cases])
        self.log_measured = np.log([c.measured for c in cases])
        self.weights = np.array([c.weight for c in cases])
        self.unknowns: list[tuple[str, str, str]] = []
        self.columns: dict[str, tuple[int, np.ndarray]] = {}
        for term, (_, groupings) in TERMS.items():
            start, columns = len(self.unknowns), [np.ones(len(cases))]
            self.unknowns.append((term, "", ""))
            for grouping in groupings:
                levels = np.array([c.families[grouping] for c in cases])
                for level in sorted(set(levels)):
                    self.unknowns.append((term, grouping, str(level)))
                    columns.append((levels == level).astype(float))
            self.columns[term] = (start, np.array(columns).T)
        self.spread = self.spread_of(spreads or {}, PULL_SHARE)

    def spread_of(self, spreads: Spreads, share: float) -> np.ndarray:
        """The spread of each unknown, factors by `share` of theirs."""
        return np.array([share * spreads.get(t, {}).get(g, _first_spread(t)) if g else BASE_SPREAD for t, g, _ in self.unknowns])

    def logs(self, unknowns: np.ndarray) -> dict[str, np.ndarray]:
        """The logarithm of each term for each row."""
        return {
            term: np.log(TERMS[term][0]) + columns @ unknowns[start : start + columns.shape[1]]
            for term, (start, columns) in self.columns.items()
        }

    def log_estimated(self, logs: Mapping[str, np.ndarray]) -> np.ndarray:
        """The logarithm of each figure as `step` and `served` have it."""
        values: dict[str, Any] = {term: np.exp(log) for term, log in logs.items()}
        values |= self.shapes
        values["prompt_chunk_tokens"] = values["routing_exponent"] = 1.0  # both are in the work already
        constants = cal.reached(values, self.rates)
        step_s = step.decode_s(self.decode, constants).total_s + self.link_s
        prompt_s = step.prompt_s(self.prompt, constants).total_s
        reading_s = self.users * prompt_s * constants.prompt_share * self.reads_prompt
        sustained = self.users * self.generate_tokens / (reading_s + self.generate_tokens * step_s)
        prefill = self.prompt.tokens / prompt_s
        speeds = np.where(self.by == "prefill", prefill, np.where(self.by == "sustained", sustained, self.users / step_s))
        return np.log(speeds)

    def estimated(self, unknowns: np.ndarray) -> np.ndarray:
        """The logarithm of each figure for these unknowns."""
        return self.log_estimated(self.logs(unknowns))

    def loss(self, unknowns: np.ndarray, kept: np.ndarray) -> float:
        """Robust misfit of the kept rows (pseudo-Huber) plus the pull towards the kin (ridge)."""
        misfit = (self.estimated(unknowns) - self.log_measured) / TOLERANCE
        return float(np.sum(kept * self.weights * 2 * (np.sqrt(1 + misfit**2) - 1)) + np.sum((unknowns / self.spread) ** 2))

    def slopes(self, logs: dict[str, np.ndarray], now: np.ndarray) -> np.ndarray:
        """How each figure moves with each unknown: one difference per term, spread over its families."""
        found = np.zeros((len(now), len(self.unknowns)))
        for term, (start, columns) in self.columns.items():
            moved = dict(logs)
            moved[term] = logs[term] + 1e-5
            slope = (self.log_estimated(moved) - now) / 1e-5
            found[:, start : start + columns.shape[1]] = slope[:, None] * columns
        return found

    def bend(self, unknowns: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(curvature of the rows' misfit, downhill direction of the loss), on reweighted rows."""
        logs = self.logs(unknowns)
        now = self.log_estimated(logs)
        misfit = (now - self.log_measured) / TOLERANCE
        slopes = self.slopes(logs, now) / TOLERANCE
        weights = kept * self.weights / np.sqrt(1 + misfit**2)
        return slopes.T @ (slopes * weights[:, None]), -(slopes.T @ (weights * misfit) + unknowns / self.spread**2)

    def fit(self, kept: np.ndarray | None = None, start: np.ndarray | None = None, until: float = 1e-4) -> np.ndarray:
        """The unknowns of least loss over the kept rows: damped Gauss-Newton, until a step gains less than `until` of the loss.

        A step that gains little because it was damped ends nothing: a fit without a group would stay near its start, the fit
        with that group, and look better than it is.
        """
        kept = np.ones(len(self.cases)) if kept is None else kept.astype(float)
        unknowns = np.zeros(len(self.unknowns)) if start is None else start.copy()
        damping, loss = 1e-3, self.loss(unknowns, kept)
        for _ in range(200):
            rows, downhill = self.bend(unknowns, kept)
            curvature = rows + np.diag(1 / self.spread**2)
            unknowns, new_loss, damping = self._stepped(unknowns, kept, curvature, downhill, damping, loss)
            if loss - new_loss < until * max(1.0, loss) and damping <= LITTLE_DAMPING:
                break
            loss = new_loss
        return unknowns

    def _stepped(
        self, unknowns: np.ndarray, kept: np.ndarray, curvature: np.ndarray, downhill: np.ndarray, damping: float, loss: float
    ) -> tuple[np.ndarray, float, float]:
        for _ in range(10):
            move = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), downhill)
            moved = unknowns + move / max(1.0, float(np.max(np.abs(move))))
            new_loss = self.loss(moved, kept)
            if new_loss < loss:
                return moved, new_loss, max(damping / 5, 1e-7)
            damping = max(damping * 5, 1e-6)
        return unknowns, loss, damping

    def uncertainty(self, unknowns: np.ndarray) -> tuple[np.ndarray, float]:
        """(posterior variance of each unknown, how many of them the rows decide: the trace of the hat matrix)."""
        rows, _ = self.bend(unknowns, np.ones(len(self.cases)))
        variance = np.linalg.inv(rows + np.diag(1 / self.spread**2))
        return np.diag(variance), float(np.sum(variance * rows))

    def spreads(self, unknowns: np.ndarray) -> dict[str, dict[str, float]]:
        """How far the factors of each grouping scatter: the root of their mean square with its uncertainty (empirical Bayes
        [Efron & Morris 1973; MacKay 1992]); a grouping of few levels keeps near USUAL_SPREAD.
        """
        variance, _ = self.uncertainty(unknowns)
        squares: dict[tuple[str, str], list[float]] = {}
        for (term, grouping, _), value, own in zip(self.unknowns, unknowns, variance, strict=True):
            if grouping:
                squares.setdefault((term, grouping), []).append(value**2 + own)
        found: dict[str, dict[str, float]] = {}
        for (term, grouping), each in squares.items():
            square = (sum(each) + USUAL_COUNT * USUAL_SPREAD**2) / (len(each) + USUAL_COUNT)
            found.setdefault(term, {})[grouping] = float(f"{np.sqrt(square):.3g}")
        return found

    def settle(self) -> tuple[np.ndarray, dict[str, dict[str, float]]]:
        """The unknowns and their spreads, each fitted to the other in turn."""
        self.spread = self.spread_of({}, 1.0)
        unknowns, spreads = self.fit(), {}
        for _ in range(SPREAD_ROUNDS):
            spreads = self.spreads(unknowns)
            self.spread = self.spread_of(spreads, 1.0)
            unknowns = self.fit(start=unknowns, until=1e-5)
        self.spread = self.spread_of(spreads, PULL_SHARE)
        return self.fit(start=unknowns, until=1e-5), spreads

    def kept_out(self, groups: Sequence[str], start: np.ndarray) -> np.ndarray:
        """Each row's estimate by a fit that has not seen its group: a device, a source, a tenth of the rows."""
        labels = np.array(groups)
        found = np.zeros(len(labels))
        for label in sorted(set(labels)):
            out = labels == label
            found[out] = self.estimated(self.fit(~out, start, until=3e-4))[out]
        return found
