"""80 % intervals from residuals of fits that had not seen the figure: the second half of `fit.py`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from fit_problem import Problem

from advisor.calibration import FOUNDED, own_share

LARGEST_RESIDUAL = 1.0  # in the spread of a family: one broken run does not make all its kin uncertain
SPREAD_ROWS = 15.0
FEW_ROWS = 2.0  # of a device itself decide half of its interval: two may share one machine and its faults, ten rarely do
OUTSIDE = 0.095  # beyond either bound
SEVERAL_WIDER = 1.15  # where no device's share can be told apart: what the link adds widens the interval of one device


def family_spreads(residuals: np.ndarray, families_of: Sequence[str]) -> dict[str, float]:
    """How far each family scatters, over the usual scatter; pulled towards 1 by SPREAD_ROWS rows' worth."""
    usual = float(np.mean(np.minimum(np.abs(residuals), LARGEST_RESIDUAL)))
    labels = np.array(families_of)
    found = {}
    for label in sorted(set(families_of)):
        own = np.minimum(np.abs(residuals[labels == label]), LARGEST_RESIDUAL)
        found[label] = float((own.sum() + SPREAD_ROWS * usual) / (len(own) + SPREAD_ROWS) / usual)
    return found


def device_rows(problem: Problem, kind: str) -> dict[str, int]:
    """Figures of this kind by engine, backend and device."""
    return dict(sorted(Counter(f"{c.stack}/{c.device}" for c in problem.cases if c.figure.kind == kind).items()))


def interval(problem: Problem, kind: str, estimates: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The bounds of one kind of figure, by how well it is founded [split conformal: Vovk et al. 2005; Lei et al. 2018].

    Of a device without rows of its own: the 10th and 90th percentile of what fits miss by that have not seen the device,
    where its architecture is new the architecture, where even engine and backend are new those; each at least as wide as the
    one before. Of a device with rows: what the fit misses its rows by, half of them seen and half kept out of it, mixed with
    the former as far as the device's rows are few (`own_share`): chosen so that OUTSIDE of these lie beyond either bound.
    """
    mine = problem.kinds == kind
    cases = [case for case, taken in zip(problem.cases, mine, strict=True) if taken]
    residuals = {name: (problem.log_measured - each)[mine] for name, each in estimates.items()}
    spread = family_spreads(residuals["rows"], [case.families["backend"] for case in cases])
    scale = np.array([spread[case.families["backend"]] for case in cases])
    counts = device_rows(problem, kind)
    own = np.array([own_share(counts[f"{case.stack}/{case.device}"], FEW_ROWS) for case in cases])
    low, high = {}, {}
    for basis, name in zip(FOUNDED, ("devices", "architectures", "stacks"), strict=True):
        below, above = np.quantile(residuals[name] / scale, [OUTSIDE, 1 - OUTSIDE])
        low[basis] = min(float(below), *low.values(), 0.0)
        high[basis] = max(float(above), *high.values(), 0.0)
    first = FOUNDED[0]
    near = np.concatenate([residuals["seen"], residuals["rows"]]) / np.tile(scale, 2)
    own = np.tile(own, 2)
    low["device"] = min(float(np.quantile((near - (1 - own) * low[first]) / own, OUTSIDE)), 0.0)
    high["device"] = max(float(np.quantile((near - (1 - own) * high[first]) / own, 1 - OUTSIDE)), 0.0)
    return {
        "low": low,
        "high": high,
        "spread": spread,
        "device_rows": counts,
        "few_rows": FEW_ROWS,
    }


def several_devices(one: Mapping[str, Any]) -> dict[str, Any]:
    """The interval of the same figure on several devices."""
    wider = {side: {basis: SEVERAL_WIDER * value for basis, value in one[side].items()} for side in ("low", "high")}
    return {**wider, "spread": one["spread"], "device_rows": one["device_rows"], "few_rows": one["few_rows"]}


def coverage(problem: Problem, kind: str, found: Mapping[str, Any], estimate: np.ndarray) -> float:
    """Share of the measured figures of a kind inside these intervals around an estimate."""
    inside = []
    for case, measured, said, is_kind in zip(problem.cases, problem.log_measured, estimate, problem.kinds == kind, strict=True):
        if is_kind:
            own = own_share(found["device_rows"][f"{case.stack}/{case.device}"], found["few_rows"])
            spread = found["spread"][case.families["backend"]]
            low, high = (own * found[side]["device"] + (1 - own) * found[side][FOUNDED[0]] for side in ("low", "high"))
            inside.append(low * spread <= measured - said <= high * spread)
    return float(np.mean(inside))
