"""80 % intervals from residuals of fits that had not seen the figure: the second half of `fit.py`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from fit_problem import Problem

from advisor.calibration import FOUNDED, own_share

LARGEST_RESIDUAL = 1.0  # in the spread of a family: one broken run does not make all its kin uncertain
SPREAD_ROWS = 15.0
FEW_ROWS = 2.0  # of a device itself decide half of its interval: two may share one machine and its faults, ten rarely do
OUTSIDE = 0.095  # beyond either bound
SEVERAL_WIDER = 1.15  # where no device's share can be told apart: what the link adds widens the interval of one device
SAME_SOURCE = 1 / 3  # of N figures of one source each weighs N to the minus this: one source's repeats do not set everyone's interval
NEAR = ("seen", "rows")  # figures of a device that has rows
NEW_KIN = ("devices", "sources", "architectures", "stacks")  # kept out: leaves figures without rows of their own device


@dataclass(frozen=True)
class Left:
    """What is left as evidence for each figure when its group is kept out: an estimate of a question with no more evidence than
    that is as far off as the fit without the group.
    """

    own: np.ndarray  # rows of its kind by its engine and backend on its device
    basis: np.ndarray  # index in FOUNDED
    of_class: np.ndarray  # rows of its kind by its engine and backend with its kind of weights


def left(problem: Problem, groups: Sequence[str] | None) -> Left:
    """The evidence left; all of it without groups."""
    cases, kinds = problem.cases, problem.kinds
    stacks = np.array([case.stack for case in cases])
    kin = {
        "own": np.array([f"{case.stack}/{case.device}" for case in cases]),
        "class": np.array([f"{case.stack}/{case.families['class']}" for case in cases]),
        "architecture": np.array([f"{case.stack}/{case.families['architecture']}" for case in cases]),
    }
    labels = np.array(groups if groups is not None else [""] * len(cases))
    own, basis, of_class = np.zeros(len(cases)), np.zeros(len(cases), int), np.zeros(len(cases))
    for index, label in enumerate(labels):
        kept = np.ones(len(cases), bool) if groups is None else labels != label
        same = {name: kept & (names == names[index]) for name, names in kin.items()}
        own[index] = np.sum(same["own"] & (kinds == kinds[index]))
        of_class[index] = np.sum(same["class"] & (kinds == kinds[index]))
        basis[index] = 0 if same["architecture"].any() else 1 if (kept & (stacks == stacks[index])).any() else 2
    return Left(own, basis, of_class)


def evidence_left(problem: Problem, groups: Mapping[str, Sequence[str]]) -> dict[str, Left]:
    """For each way of keeping figures out what is left of their evidence; `seen`: all."""
    return {"seen": left(problem, None), **{name: left(problem, labels) for name, labels in groups.items()}}


def by_source(problem: Problem, kind: str) -> np.ndarray:
    """The weight of each figure of a kind."""
    sources = [case.source for case in problem.cases if case.figure.kind == kind]
    counts = Counter(sources)
    return np.array([counts[source] ** -SAME_SOURCE for source in sources])


def quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """The value that `share` of the weight lies below."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, share * total[-1])])


def family_spreads(residuals: np.ndarray, weights: np.ndarray, families_of: Sequence[str]) -> dict[str, float]:
    """How far each family scatters, over the usual scatter; pulled towards 1 by SPREAD_ROWS rows' worth."""
    capped = np.minimum(np.abs(residuals), LARGEST_RESIDUAL)
    usual = float(np.average(capped, weights=weights))
    labels = np.array(families_of)
    found = {}
    for label in sorted(set(families_of)):
        mine = labels == label
        count, own = int(mine.sum()), float(np.average(capped[mine], weights=weights[mine]))
        found[label] = (count * own + SPREAD_ROWS * usual) / (count + SPREAD_ROWS) / usual
    return found


def counts_of(problem: Problem, kind: str) -> tuple[dict[str, int], dict[str, int]]:
    """Figures of this kind by engine, backend and device, and by engine, backend and kind of weights."""
    mine = [case for case in problem.cases if case.figure.kind == kind]
    devices = Counter(f"{case.stack}/{case.device}" for case in mine)
    classes = Counter(f"{case.stack}/{case.families['class']}" for case in mine)
    return dict(sorted(devices.items())), dict(sorted(classes.items()))


def interval(problem: Problem, kind: str, estimates: Mapping[str, np.ndarray], evidence: Mapping[str, Left]) -> dict[str, Any]:
    """The bounds of one kind of figure, by how well it is founded [split conformal: Vovk et al. 2005; Lei et al. 2018].

    Of a device without rows of its own: what fits miss by that have not seen the device, its source, its architecture, or its
    engine and backend, by what these have left; each basis at least as wide as the one before. Of a device with rows: what fits
    miss its rows by, half of them seen and half kept out, mixed with the former as far as the device's rows are few
    (`own_share`): chosen so that OUTSIDE of these lie beyond either bound. Where no row has such weights, `new_class_factor`
    times as wide.
    """
    mine = problem.kinds == kind
    cases = [case for case, taken in zip(problem.cases, mine, strict=True) if taken]
    weights = by_source(problem, kind)
    residuals = {name: (problem.log_measured - each)[mine] for name, each in estimates.items()}
    spread = family_spreads(residuals["rows"], weights, [case.families["backend"] for case in cases])
    capped = {name: np.minimum(np.abs(residuals[name]), LARGEST_RESIDUAL).mean() for name in ("classes", "rows")}
    new_class = max(1.0, float(capped["classes"] / capped["rows"]))
    scale = np.array([spread[case.families["backend"]] for case in cases])
    scaled = {name: residuals[name] / scale / np.where(evidence[name].of_class[mine] == 0, new_class, 1.0) for name in (*NEAR, *NEW_KIN)}
    left_here = {name: Left(found.own[mine], found.basis[mine], found.of_class[mine]) for name, found in evidence.items()}
    low, high = _without_rows(scaled, left_here, weights)
    for side, share in ((low, OUTSIDE), (high, 1 - OUTSIDE)):
        _add_known(side, scaled, left_here, weights, share)
    devices, classes = counts_of(problem, kind)
    return {
        "low": low, "high": high, "spread": spread, "device_rows": devices, "few_rows": FEW_ROWS,
        "class_rows": classes, "new_class_factor": new_class,
    }  # fmt: skip


def _add_known(
    side: dict[str, float], scaled: Mapping[str, np.ndarray], evidence: Mapping[str, Left], weights: np.ndarray, share: float
) -> None:
    """The bound of a device with many rows that, mixed with that of the figures' basis, leaves `share` of them below.

    Where it came out beyond that of a device without rows, both are the one bound that leaves so many below unmixed.
    """
    narrower = max if share < 0.5 else min
    mixed, plain, weight = [], [], []
    for name in NEAR:
        known = evidence[name].own > 0
        own = own_share(evidence[name].own[known], FEW_ROWS)
        far = np.array([side[basis] for basis in FOUNDED])[evidence[name].basis[known]]
        mixed.append((scaled[name][known] - (1 - own) * far) / own)
        plain.append(scaled[name][known])
        weight.append(weights[known])
    all_weights = np.concatenate(weight)
    bound = quantile(np.concatenate(mixed), all_weights, share)
    if narrower(bound, side[FOUNDED[0]]) != bound:
        bound = quantile(np.concatenate(plain), all_weights, share)
        wider = min if share < 0.5 else max
        side.update({basis: wider(side[basis], bound) for basis in FOUNDED})
        bound = narrower(bound, side[FOUNDED[0]])
    side["device"] = min(bound, 0.0) if share < 0.5 else max(bound, 0.0)


def _without_rows(
    scaled: Mapping[str, np.ndarray], evidence: Mapping[str, Left], weights: np.ndarray
) -> tuple[dict[str, float], dict[str, float]]:
    """Bounds by basis of figures whose device has no rows left."""
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    for place, basis in enumerate(FOUNDED):
        taken = [(evidence[name].own == 0) & (evidence[name].basis == place) for name in NEW_KIN]
        values = np.concatenate([scaled[name][each] for name, each in zip(NEW_KIN, taken, strict=True)])
        weight = np.concatenate([weights[each] for each in taken])
        low[basis] = min(quantile(values, weight, OUTSIDE), *low.values(), 0.0) if len(values) else min(low.values())
        high[basis] = max(quantile(values, weight, 1 - OUTSIDE), *high.values(), 0.0) if len(values) else max(high.values())
    return low, high


def several_devices(one: Mapping[str, Any]) -> dict[str, Any]:
    """The interval of the same figure on several devices."""
    return {**one, **{side: {basis: SEVERAL_WIDER * value for basis, value in one[side].items()} for side in ("low", "high")}}


def coverage(problem: Problem, kind: str, found: Mapping[str, Any], estimate: np.ndarray, evidence: Left) -> float:
    """Share of the measured figures of a kind inside the intervals that an estimate with no more evidence than this has."""
    inside = []
    for place in np.flatnonzero(problem.kinds == kind):
        own = own_share(evidence.own[place], found["few_rows"])
        wider = found["spread"][problem.cases[place].families["backend"]]
        wider *= found["new_class_factor"] if evidence.of_class[place] == 0 else 1.0
        basis = FOUNDED[evidence.basis[place]]
        low, high = (own * found[side]["device"] + (1 - own) * found[side][basis] for side in ("low", "high"))
        inside.append(low * wider <= problem.log_measured[place] - estimate[place] <= high * wider)
    return float(np.mean(inside))
