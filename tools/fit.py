#!/usr/bin/env python3
"""Fit `catalog/calibration.yaml` to the published rows of `catalog/measurements/`, through the formulas of `advisor.step`.

    python tools/fit.py            write the file, print in-sample and kept-out errors
    python tools/fit.py --dry-run  print only
    python tools/fit.py --check    fail where figures of devices kept out are further off than tools/fit_bars.yaml allows

Every constant is a base times factors by family (engine, maker and backend, architecture, kind of weights). The logarithms of
the factors are pulled towards 0 (ridge): a family with few rows keeps close to its kin, one without rows equals them. How
strongly is chosen for each grouping of each term by empirical Bayes, not by hand. There is no factor for a device, a model or
a row. Residuals are logarithms of estimated over measured, weighed by a robust loss (pseudo-Huber), and by the age of the
row: builds get faster. Figures kept out are estimated by a fit of the constants without them; the spreads stay.
"""

import argparse
import datetime
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: several threads only wait for each other on such small matrices

import numpy as np
import yaml
from fit_engines import chunk_term, engine_facts, shapes
from fit_intervals import Left, coverage, evidence_left, interval, several_devices
from fit_problem import KINDS, TERMS, Case, Problem, cases_of

from advisor.calibration import Calibration
from advisor.catalog import Catalog

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "catalog" / "calibration.yaml"
BARS = Path(__file__).parent / "fit_bars.yaml"
NEGLIGIBLE = 0.01  # a factor's logarithm below which the file leaves it out
TELLING = 0.02  # a factor's logarithm above which it is counted as one that says something
ROUTING_SHAPES = (0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.4, 2.0)
TOLD = ("rows", "devices", "sources")  # what is kept out in the errors that the file tells


def errors(estimated: np.ndarray, measured: np.ndarray) -> dict[str, float]:
    """What the file says of figures that a fit has not seen."""
    off = np.abs(np.exp(estimated - measured) - 1)
    return {"median_share": float(np.median(off)), "within_30_percent_share": float(np.mean(off <= 0.3))}


def tenths(cases: Sequence[Case]) -> list[str]:
    """A label for each row, out of ten, that does not change when rows are added."""
    return [str(zlib.crc32(case.figure.row.id.encode()) % 10) for case in cases]


def groups_of(cases: Sequence[Case]) -> dict[str, list[str]]:
    """What each figure is kept out with: its tenth of the rows, its device, source, architecture, engine and backend, and its
    kind of weights on those.
    """
    return {
        "rows": tenths(cases),
        "devices": [case.device for case in cases],
        "sources": [case.source for case in cases],
        "architectures": [case.families["architecture"] for case in cases],
        "stacks": [case.stack for case in cases],
        "classes": [f"{case.stack}/{case.families['class']}" for case in cases],
    }


def evidence_counts(cases: Sequence[Case]) -> dict[str, int]:
    """Rows by engine, backend and architecture, and by engine and backend."""
    counts: dict[str, int] = {}
    for case in cases:
        for key in (case.stack, f"{case.stack}/{case.families['architecture']}"):
            counts[key] = counts.get(key, 0) + 1
    return dict(sorted(counts.items()))


def terms_of(problem: Problem, unknowns: np.ndarray, catalog: Catalog, shape: float) -> dict[str, Any]:
    """The terms as the file holds them; factors within NEGLIGIBLE of 1 are left out."""
    terms: dict[str, Any] = {}
    for (term, grouping, level), value in zip(problem.unknowns, unknowns, strict=True):
        if not grouping:
            terms[term] = {"base": TERMS[term][0] * np.exp(value), "factors": {}}
        elif abs(value) > NEGLIGIBLE:
            terms[term]["factors"].setdefault(grouping, {})[level] = np.exp(value)
    alike = {**problem.shapes, "routing_exponent": shape}  # everywhere
    return {**terms, "prompt_chunk_tokens": chunk_term(catalog), **{name: {"base": value, "factors": {}} for name, value in alike.items()}}


def unknowns_of(problem: Problem, calibration: Calibration) -> np.ndarray:
    """The unknowns that a file says: the reverse of `terms_of`."""
    found = []
    for term, grouping, level in problem.unknowns:
        said = calibration.terms[term]
        found.append(said.factors.get(grouping, {}).get(level, 1.0) if grouping else said.base / TERMS[term][0])
    return np.log(found)


def routing_exponent(catalog: Catalog) -> float:
    """How unevenly experts are chosen: of ROUTING_SHAPES the one whose fit has the least loss. It is part of the rows' work, which
    is why it is tried and not fitted with the others.
    """
    known, losses = catalog.calibration, {}
    for shape in ROUTING_SHAPES:
        problem = Problem(cases_of(catalog, shape), shapes(catalog), known.spreads)
        unknowns = problem.fit(start=unknowns_of(problem, known))
        losses[shape] = problem.loss(unknowns, np.ones(len(problem.cases)))
    return min(losses, key=lambda shape: losses[shape])


def counted(problem: Problem, unknowns: np.ndarray) -> dict[str, float]:
    """How many constants there are, how many differ from their kin, and how many the rows decide (trace of the hat matrix)."""
    telling = sum(abs(value) > TELLING for (_, grouping, _), value in zip(problem.unknowns, unknowns, strict=True) if grouping)
    return {"fitted": len(unknowns), "bases": len(TERMS), "telling_factors": int(telling), "effective": problem.uncertainty(unknowns)[1]}


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
# `unknowns.effective`: of the fitted constants, so many the rows decide; the pull towards the kin decides the others.
"""


def calibration_of(
    catalog: Catalog, shape: float, problem: Problem, unknowns: np.ndarray, spreads: Any, estimates: Mapping[str, np.ndarray], date: str
) -> dict[str, Any]:
    """Everything that the file holds."""
    evidence = evidence_left(problem, groups_of(problem.cases))
    intervals = {kind: interval(problem, kind, estimates, evidence) for kind in KINDS}
    intervals["prefill-multi"] = several_devices(intervals["prefill"])
    found = {
        "date": date,
        "rows": {kind: int(np.sum(problem.kinds == kind)) for kind in KINDS},
        "unknowns": counted(problem, unknowns),
        **engine_facts(catalog),
        "terms": terms_of(problem, unknowns, catalog, shape),
        "spreads": spreads,
        "evidence": evidence_counts(problem.cases),
        "intervals": intervals,
        "kept_out": {
            kind: {name: _told(problem, kind, intervals[kind], estimates[name], evidence[name]) for name in TOLD} for kind in KINDS
        },
    }
    plained: dict[str, Any] = plain(found)
    return plained


def _errors(problem: Problem, kind: str, estimate: np.ndarray) -> dict[str, float]:
    mine = problem.kinds == kind
    return errors(estimate[mine], problem.log_measured[mine])


def _told(problem: Problem, kind: str, found: Mapping[str, Any], estimate: np.ndarray, evidence: Left) -> dict[str, float]:
    return {**_errors(problem, kind, estimate), "inside_interval_share": coverage(problem, kind, found, estimate, evidence)}


def report(problem: Problem, found: Mapping[str, Any], estimates: Mapping[str, np.ndarray], say: Callable[[str], None] = print) -> None:
    """How many constants; errors by kind of figure, in-sample and kept out, and how many lie inside the intervals."""
    evidence = evidence_left(problem, groups_of(problem.cases))
    say(", ".join(f"{name} {count:.0f}" for name, count in found["unknowns"].items()))
    for kind in KINDS:
        say(f"{kind}: {int(np.sum(problem.kinds == kind))} figures")
        for name, estimate in estimates.items():
            error, inside = _errors(problem, kind, estimate), coverage(problem, kind, found["intervals"][kind], estimate, evidence[name])
            say(f"  {name:<14} median {error['median_share']:.1%}, within 30 % {error['within_30_percent_share']:.0%}, inside {inside:.0%}")


def check(problem: Problem, catalog: Catalog, say: Callable[[str], None] = print) -> bool:
    """Whether devices kept out are estimated at least as well as the bars ask, by constants fitted anew."""
    unknowns = problem.fit(start=unknowns_of(problem, catalog.calibration))
    estimate = problem.kept_out([case.device for case in problem.cases], unknowns)
    bars, good = yaml.safe_load(BARS.read_text(encoding="utf-8")), True
    for kind, bar in bars.items():
        error = _errors(problem, kind, estimate)
        holds = error["median_share"] <= bar["median_share"] and error["within_30_percent_share"] >= bar["within_30_percent_share"]
        good = good and holds
        say(
            f"{'holds' if holds else 'WORSE'}: {kind}, devices kept out: median {error['median_share']:.1%} (bar {bar['median_share']:.1%}), "
            f"within 30 % {error['within_30_percent_share']:.0%} (bar {bar['within_30_percent_share']:.0%})"
        )
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="print the errors, write nothing")
    parser.add_argument("--check", action="store_true", help="compare devices kept out with the bars, write nothing")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="date that the file bears")
    given = parser.parse_args()
    catalog = Catalog.load(user_folder=False)
    if given.check:
        cases = cases_of(catalog, catalog.calibration.routing_exponent)
        raise SystemExit(0 if check(Problem(cases, shapes(catalog), catalog.calibration.spreads), catalog) else 1)
    shape = routing_exponent(catalog)
    problem = Problem(cases_of(catalog, shape), shapes(catalog))
    unknowns, spreads = problem.settle()
    estimates = {"seen": problem.estimated(unknowns)}
    estimates.update({name: problem.kept_out(labels, unknowns) for name, labels in groups_of(problem.cases).items()})
    found = calibration_of(catalog, shape, problem, unknowns, spreads, estimates, given.date)
    report(problem, found, estimates)
    if not given.dry_run:
        FILE.write_text(HEADER + yaml.dump(found, Dumper=Dumper, sort_keys=False), encoding="utf-8")


if __name__ == "__main__":
    main()
