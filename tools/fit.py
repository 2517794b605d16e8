#!/usr/bin/env python3
"""Fit `catalog/calibration.yaml` to the published rows of `catalog/measurements/`, through the formulas of `advisor.step`.

    python tools/fit.py            write the file, print in-sample and kept-out errors
    python tools/fit.py --dry-run  print only

Every constant is a base times factors by family (engine, maker and backend, architecture, kind of weights). The logarithms of
the factors are pulled towards 0 with the spreads of SPREADS (ridge): a family with few rows keeps close to its kin, one
without rows equals them. There is no factor for a device, a model or a row. Residuals are logarithms of estimated over
measured, weighed by a robust loss (pseudo-Huber), and by the age of the row: builds get faster.
"""

import argparse
import dataclasses
import datetime
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from several import laid_out

from advisor import calibration as cal
from advisor import step
from advisor.calibration import Rates, families
from advisor.catalog import Catalog
from advisor.collective import all_spent
from advisor.measurement import Figure, figures_of

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "catalog" / "calibration.yaml"
TOLERANCE = 0.08  # log residual up to which the loss is quadratic
TODAY = 2026.9
HALVED_AFTER_YEARS = 3.0  # a row of that age weighs half

# term: start, spread of the base's logarithm around it, {grouping: spread of the factors' logarithms}
SPREADS: dict[str, tuple[float, float, dict[str, float]]] = {
    "weights_share": (0.75, 1.0, {"backend": 0.15, "architecture": 0.1, "class": 0.1, "backend-class": 0.1, "engine": 0.1}),
    "expert_share": (0.7, 0.5, {"backend": 0.3, "architecture": 0.15, "class": 0.2, "backend-class": 0.2}),
    "cache_share": (0.5, 0.7, {"backend": 0.4, "architecture": 0.2, "engine": 0.3}),
    "state_share": (0.5, 0.3, {}),
    "attention_share": (0.5, 0.7, {"backend": 0.6, "architecture": 0.3, "engine": 0.3}),
    "unpack_operations": (3.0, 0.7, {"backend": 0.4, "architecture": 0.2, "class": 0.4, "backend-class": 0.4, "engine": 0.3}),
    "unpack_exponent": (0.5, 0.5, {"backend": 0.3, "engine": 0.3}),
    "matrix_share": (0.4, 0.5, {"backend": 0.3, "engine": 0.3}),
    "layer_s": (40e-6, 1.0, {"backend": 0.5, "architecture": 0.3, "engine": 0.4}),
    "expert_layer_s": (40e-6, 1.0, {"backend": 0.5, "architecture": 0.3, "engine": 0.4}),
    "recurrent_layer_s": (40e-6, 1.0, {"backend": 0.5, "architecture": 0.3}),
    "step_s": (200e-6, 1.0, {"backend": 0.5, "engine": 0.5}),
    "user_s": (5e-6, 1.0, {"engine": 0.7}),
    "prompt_rate_share": (0.4, 1.0, {"backend": 0.3, "architecture": 0.25, "class": 0.2, "backend-class": 0.2, "units": 0.3, "engine": 0.4}),
    "prompt_size_exponent": (0.3, 0.5, {}),
    "prompt_width_exponent": (0.1, 1.0, {}),
    "prompt_expert_factor": (2.0, 0.7, {"backend": 0.5, "architecture": 0.2, "class": 0.2, "engine": 0.3}),
    "prompt_attention_share": (0.5, 0.7, {"backend": 0.4, "architecture": 0.2, "engine": 0.3}),
    "prompt_recurrent_factor": (1000.0, 0.7, {"backend": 0.4}),
    "prompt_weights_share": (0.75, 0.5, {"backend": 0.3}),
    "prompt_half_tokens": (60.0, 0.7, {"backend": 0.4, "engine": 0.3}),
    "prompt_layer_s": (40e-6, 0.7, {"backend": 0.4, "engine": 0.3}),
    "prompt_unhidden_share": (1.0, 0.3, {"engine": 0.3}),
}
FIXED: dict[str, dict[str, Any]] = {  # what an engine is started with, not fitted
    "prompt_chunk_tokens": {"base": 2048.0, "factors": {"engine": {"llama.cpp": 0.25}}},
}
SAME_AS = {"exo": "mlx", "ollama": "llama.cpp", "ik_llama.cpp": "llama.cpp"}
ACCUMULATES_FP16 = ["llama.cpp"]
COMPUTES_LOW_PRECISION = ["vllm", "sglang", "tensorrt-llm"]
KINDS = ("decode", "prefill", "served", "decode-multi", "served-multi")
UNDATED = "2025-06"  # taken for a row without a date
SEVERAL_WEIGHT = 0.5  # of a row of several devices, whose links have constants of their own (tools/fit_links.py)
NEGLIGIBLE = 0.01  # a factor's logarithm below which the file leaves it out
LARGEST_RESIDUAL = 1.0  # in the spread of a family: one broken run does not make all its kin uncertain
SPREAD_ROWS = 15.0
UNSEEN_WIDER = 1.3
SEVERAL_WIDER = 1.3


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


def case_of(catalog: Catalog, calibration: cal.Calibration, figure: Figure) -> Case | None:
    """A figure with its features, through the same functions that an estimate goes through; None where the tool refuses it."""
    found = laid_out(catalog, figure)
    if found is None:
        return None
    row, device, speed_class = figure.row, found.part.device, found.weights.speed_class
    engine = SAME_AS.get(found.engine.id, found.engine.id)
    chunk = FIXED["prompt_chunk_tokens"]
    chunk_tokens = chunk["base"] * chunk["factors"]["engine"].get(engine, 1.0)
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
        decode=step.decode_work(found.part, weights, cache, model, found.users, depth),
        prompt=step.prompt_work(found.part, weights, cache, model, max(1, figure.prompt_tokens), 0, chunk_tokens, together),
        link_s=all_spent(found.team.messages, found.users, catalog.link_calibration).total_s if found.team.messages else 0.0,
        users=found.users,
        generate_tokens=figure.generate_tokens,
        weight=0.5 ** (age / HALVED_AFTER_YEARS) * (SEVERAL_WEIGHT if figure.kind.endswith("-multi") else 1.0),
        device=device.id,
        source=row.source,
        model=model.id,
    )


def cases_of(catalog: Catalog) -> list[Case]:
    """Every usable figure; of several devices those of which each does the same."""
    empty = cal.Calibration(
        date="", rows={}, same_as=SAME_AS, accumulates_fp16=tuple(ACCUMULATES_FP16),
        computes_low_precision=tuple(COMPUTES_LOW_PRECISION), terms={}, evidence={}, intervals={}, kept_out={},
    )  # fmt: skip
    figures = (figure for row in catalog.measurements.values() for figure in figures_of(row))
    cases = (case_of(catalog, empty, figure) for figure in figures if figure.kind in KINDS)
    return [case for case in cases if case is not None]


def stacked(records: Sequence[Any]) -> Any:
    """Records of numbers as one record of arrays: the formulas of `step` take either."""
    kind = type(records[0])
    return kind(**{f.name: np.array([getattr(r, f.name) for r in records], float) for f in dataclasses.fields(kind)})


class Problem:
    """The rows as arrays, the unknowns, and what they predict."""

    def __init__(self, cases: Sequence[Case], spreads: Mapping[str, Any] = SPREADS) -> None:
        self.cases = cases
        self.spreads_of = spreads
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
        spread: list[float] = []
        for term, (_, base_spread, groupings) in spreads.items():
            start, columns = len(spread), [np.ones(len(cases))]
            self.unknowns.append((term, "", ""))
            spread.append(base_spread)
            for grouping, factor_spread in groupings.items():
                levels = np.array([c.families[grouping] for c in cases])
                for level in sorted(set(levels)):
                    self.unknowns.append((term, grouping, level))
                    spread.append(factor_spread)
                    columns.append((levels == level).astype(float))
            self.columns[term] = (start, np.array(columns).T)
        self.spread = np.array(spread)

    def logs(self, unknowns: np.ndarray) -> dict[str, np.ndarray]:
        """The logarithm of each term for each row."""
        return {
            term: np.log(self.spreads_of[term][0]) + columns @ unknowns[start : start + columns.shape[1]]
            for term, (start, columns) in self.columns.items()
        }

    def log_estimated(self, logs: Mapping[str, np.ndarray]) -> np.ndarray:
        """The logarithm of each figure as `step` and `served` have it."""
        values: dict[str, Any] = {term: np.exp(log) for term, log in logs.items()}
        values["prompt_chunk_tokens"] = 1.0  # the work is cut into chunks already
        constants = cal.reached(values, self.rates, "", 0, ())
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
        """Robust misfit of the kept rows plus the pull towards the kin."""
        misfit = (self.estimated(unknowns) - self.log_measured) / TOLERANCE
        return float(np.sum(kept * self.weights * 2 * (np.sqrt(1 + misfit**2) - 1)) + np.sum((unknowns / self.spread) ** 2))

    def slopes(self, logs: dict[str, np.ndarray], now: np.ndarray) -> np.ndarray:
        """How each figure moves with each unknown: one difference per term, spread over its families."""
        found = np.zeros((len(now), len(self.spread)))
        for term, (start, columns) in self.columns.items():
            moved = dict(logs)
            moved[term] = logs[term] + 1e-5
            slope = (self.log_estimated(moved) - now) / 1e-5
            found[:, start : start + columns.shape[1]] = slope[:, None] * columns
        return found

    def fit(self, kept: np.ndarray | None = None, start: np.ndarray | None = None) -> np.ndarray:
        """The unknowns of least loss over the kept rows (Gauss-Newton on reweighted rows, damped)."""
        kept = np.ones(len(self.cases)) if kept is None else kept.astype(float)
        unknowns = np.zeros(len(self.spread)) if start is None else start.copy()
        damping, loss = 1e-3, self.loss(unknowns, kept)
        for _ in range(80):
            logs = self.logs(unknowns)
            now = self.log_estimated(logs)
            misfit = (now - self.log_measured) / TOLERANCE
            slopes = self.slopes(logs, now) / TOLERANCE
            weights = kept * self.weights / np.sqrt(1 + misfit**2)
            curvature = slopes.T @ (slopes * weights[:, None]) + np.diag(1 / self.spread**2)
            downhill = -(slopes.T @ (weights * misfit) + unknowns / self.spread**2)
            unknowns, new_loss, damping = self._stepped(unknowns, kept, curvature, downhill, damping, loss)
            if loss - new_loss < 1e-4 * max(1.0, loss):
                break
            loss = new_loss
        return unknowns

    def _stepped(
        self, unknowns: np.ndarray, kept: np.ndarray, curvature: np.ndarray, downhill: np.ndarray, damping: float, loss: float
    ) -> tuple[np.ndarray, float, float]:
        for _ in range(10):
            move = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), downhill)
            moved = unknowns + np.clip(move, -1, 1)
            new_loss = self.loss(moved, kept)
            if new_loss < loss:
                return moved, new_loss, max(damping / 5, 1e-7)
            damping = max(damping * 5, 1e-6)
        return unknowns, loss, damping

    def kept_out(self, groups: Sequence[str], start: np.ndarray) -> np.ndarray:
        """Each row's estimate by a fit that has not seen its group: a device, a source, a tenth of the rows."""
        labels = np.array(groups)
        found = np.zeros(len(labels))
        for label in sorted(set(labels)):
            out = labels == label
            found[out] = self.estimated(self.fit(~out, start))[out]
        return found


def errors(estimated: np.ndarray, measured: np.ndarray) -> str:
    """Median, 90th percentile and the share within 30 %, as one line."""
    off = np.sort(np.abs(np.exp(estimated - measured) - 1))
    return f"median {np.median(off):.1%}, p90 {off[int(0.9 * len(off))]:.0%}, within 30 % {np.mean(off <= 0.3):.0%}"


def tenths(cases: Sequence[Case]) -> list[str]:
    """A label for each row, out of ten, that does not change when rows are added."""
    return [str(zlib.crc32(case.figure.row.id.encode()) % 10) for case in cases]


def family_spreads(residuals: np.ndarray, families_of: Sequence[str]) -> dict[str, float]:
    """How far each family scatters, over the usual scatter; pulled towards 1 by SPREAD_ROWS rows' worth."""
    usual = float(np.mean(np.minimum(np.abs(residuals), LARGEST_RESIDUAL)))
    labels = np.array(families_of)
    found = {}
    for label in sorted(set(families_of)):
        own = np.minimum(np.abs(residuals[labels == label]), LARGEST_RESIDUAL)
        found[label] = float((own.sum() + SPREAD_ROWS * usual) / (len(own) + SPREAD_ROWS) / usual)
    return found


def interval(problem: Problem, kind: str, by_row: np.ndarray, by_device: np.ndarray) -> dict[str, Any]:
    """80 % intervals from kept-out residuals [split conformal: Vovk et al. 2005; Lei et al. 2018].

    Where the family has rows: from fits that missed the row. Where it has none: from fits that missed the device. Where even
    maker and backend are new: those, widened.
    """
    mine = problem.kinds == kind
    backends = [case.families["backend"] for case, taken in zip(problem.cases, mine, strict=True) if taken]
    near, far = ((problem.log_measured - each)[mine] for each in (by_row, by_device))
    spread = family_spreads(near, backends)
    scale = np.array([spread[backend] for backend in backends])
    low_near, high_near = np.quantile(near / scale, [0.1, 0.9])
    low_far, high_far = np.quantile(far / scale, [0.1, 0.9])
    return {
        "low": {"calibrated": low_near, "extrapolated": low_far, "physics-only": UNSEEN_WIDER * low_far},
        "high": {"calibrated": high_near, "extrapolated": high_far, "physics-only": UNSEEN_WIDER * high_far},
        "spread": spread,
    }


def several_devices(one: Mapping[str, Any]) -> dict[str, Any]:
    """The interval of the same figure on several devices: what the link adds widens it."""
    wider = {side: {basis: SEVERAL_WIDER * value for basis, value in one[side].items()} for side in ("low", "high")}
    return {**wider, "spread": one["spread"]}


def evidence_counts(cases: Sequence[Case]) -> dict[str, int]:
    """Rows by engine, backend and architecture, and by engine and backend."""
    counts: dict[str, int] = {}
    for case in cases:
        kin = f"{case.families['engine']}/{case.families['backend']}"
        for key in (kin, f"{kin}/{case.families['architecture']}"):
            counts[key] = counts.get(key, 0) + 1
    return dict(sorted(counts.items()))


def terms_of(problem: Problem, unknowns: np.ndarray) -> dict[str, Any]:
    """The fitted terms as the file holds them; factors within NEGLIGIBLE of 1 are left out."""
    terms: dict[str, Any] = {}
    for (term, grouping, level), value in zip(problem.unknowns, unknowns, strict=True):
        if not grouping:
            terms[term] = {"base": problem.spreads_of[term][0] * np.exp(value), "factors": {}}
        elif abs(value) > NEGLIGIBLE:
            terms[term]["factors"].setdefault(grouping, {})[level] = np.exp(value)
    return {**terms, **FIXED}


def plain(value: Any) -> Any:
    """Numbers to four figures and plain Python, through all levels."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.4g}")
    return value


class Dumper(yaml.SafeDumper):
    """Floats in the one form that every YAML 1.1 reader takes for a number: 7.3e-05 has a point and a signed exponent."""


def _float(dumper: yaml.SafeDumper, value: float) -> yaml.Node:
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    if exponent:
        text = f"{mantissa if '.' in mantissa else mantissa + '.0'}e{int(exponent):+03d}"
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


Dumper.add_representer(float, _float)

HEADER = """\
# Written by tools/fit.py from catalog/measurements; change nothing here by hand. A term is its base times the factors of the
# families a case belongs to; what is not listed has factor 1. `_share`: of the datasheet rate. Intervals: log factors.
"""


def errors_of(problem: Problem, kind: str, estimate: np.ndarray) -> dict[str, float]:
    """What the file says of figures that the fit has not seen."""
    mine = problem.kinds == kind
    off = np.abs(np.exp(estimate - problem.log_measured)[mine] - 1)
    return {"median_share": float(np.median(off)), "within_30_percent_share": float(np.mean(off <= 0.3))}


def calibration_of(problem: Problem, unknowns: np.ndarray, kept_out: Mapping[str, np.ndarray], date: str) -> dict[str, Any]:
    """Everything that the file holds."""
    intervals = {kind: interval(problem, kind, kept_out["rows"], kept_out["devices"]) for kind in KINDS}
    intervals["prefill-multi"] = several_devices(intervals["prefill"])  # no device's share can be told apart there
    found = {
        "date": date,
        "rows": {kind: int(np.sum(problem.kinds == kind)) for kind in KINDS},
        "same_as": SAME_AS,
        "accumulates_fp16": ACCUMULATES_FP16,
        "computes_low_precision": COMPUTES_LOW_PRECISION,
        "terms": terms_of(problem, unknowns),
        "evidence": evidence_counts(problem.cases),
        "intervals": intervals,
        "kept_out": {kind: {name: errors_of(problem, kind, each) for name, each in kept_out.items()} for kind in KINDS},
    }
    plained: dict[str, Any] = plain(found)
    return plained


def report(problem: Problem, estimates: Mapping[str, np.ndarray], say: Callable[[str], None] = print) -> None:
    """Errors by kind of figure, in-sample and kept out."""
    for kind in KINDS:
        mine = problem.kinds == kind
        say(f"{kind}: {int(mine.sum())} figures")
        for name, estimate in estimates.items():
            say(f"  {name:<24} {errors(estimate[mine], problem.log_measured[mine])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="print the errors, write nothing")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="date that the file bears")
    given = parser.parse_args()
    problem = Problem(cases_of(Catalog.load(user_folder=False)))
    unknowns = problem.fit()
    kept_out = {
        "rows": problem.kept_out(tenths(problem.cases), unknowns),
        "devices": problem.kept_out([case.device for case in problem.cases], unknowns),
        "sources": problem.kept_out([case.source for case in problem.cases], unknowns),
    }
    report(problem, {"in-sample": problem.estimated(unknowns), **{f"{name} kept out": each for name, each in kept_out.items()}})
    if not given.dry_run:
        found = calibration_of(problem, unknowns, kept_out, given.date)
        FILE.write_text(HEADER + yaml.dump(found, Dumper=Dumper, sort_keys=False), encoding="utf-8")


if __name__ == "__main__":
    main()
