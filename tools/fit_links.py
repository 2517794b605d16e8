#!/usr/bin/env python3
"""Fit `catalog/link_calibration.yaml`: what messages take, by software and link.

    python tools/fit_links.py            write the file, print what was fitted and the errors
    python tools/fit_links.py --dry-run  print only

Two kinds of published figures. Microbenchmarks (`catalog/link_measurements/`) time a message by itself. Whole decodes on several
devices (`catalog/measurements/`) time it within a step, where ranks also wait for one another: more, but with the error of
everything else in the step. So each latency starts from its microbenchmarks, and the decodes may move it only as far as
SPREADS let them; a link and software with one machine behind it stays near what was measured of it alone.
"""

import argparse
import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.optimize import least_squares
from several import Several, several

from advisor.catalog import Catalog
from advisor.collective import LinkCalibration, all_spent
from advisor.measurement import Figure, figures_of
from advisor.pace import times
from advisor.step import Terms, decode_terms

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "catalog" / "link_calibration.yaml"
ROW_SPREAD = 0.20  # of a whole decode's logarithm: the error of one-device constants
ANCHORED_SPREAD = 0.10  # where the same source gives one device's speed, and only the ratio counts
MOVES = ("all_reduce_us", "doubling_us", "one_shot_us", "send_us")


@dataclasses.dataclass(frozen=True)
class Start:
    """An entry of the table before the fit: from microbenchmarks or kin, and how far whole decodes may move it (log)."""

    entry: dict[str, Any]
    spread: float

    @property
    def key(self) -> str:
        """Names the entry."""
        which = ("shapes", "least_nvlink_generation", "most_ranks")
        return "/".join((self.entry["software"], *self.entry.get("kinds", ["any"]), *(str(self.entry.get(name, "")) for name in which)))


def starts() -> list[Start]:
    """The table's entries, the particular before the general."""
    text = (Path(__file__).parent / "link_starts.yaml").read_text()
    return [Start({k: v for k, v in each.items() if k != "spread"}, each["spread"]) for each in yaml.safe_load(text)["entries"]]


def calibration_of(entries: Sequence[Start], moved: Mapping[str, float], plain: Mapping[str, Any]) -> LinkCalibration:
    """The table with every entry's times multiplied by its factor."""
    from advisor.yamlfile import build

    rows = []
    for start in entries:
        factor = math.exp(moved.get(start.key, 0.0))
        rows.append({**start.entry, **{name: start.entry[name] * factor for name in MOVES if name in start.entry}})
    return build(LinkCalibration, {**plain, "latencies": rows})


@dataclasses.dataclass(frozen=True)
class Row:
    """A whole decode: what its devices take by our constants, its messages, and the measured step."""

    figure: Figure
    work: Several
    device: Terms
    measured_s: float
    spread: float


def rows_of(catalog: Catalog) -> Iterator[Row]:
    """Every usable generating speed of several equal devices that send messages."""
    for row in catalog.measurements.values():
        for figure in figures_of(row):
            if figure.kind in ("decode-multi", "served-multi") and figure.estimated_by == "decode" or figure.kind == "decode-multi":
                work = several(catalog, figure)
                if work is not None and work.team.messages:
                    yield _row(catalog, figure, work)


def _row(catalog: Catalog, figure: Figure, work: Several) -> Row:
    constants = catalog.calibration.constants(work.engine.id, work.backend.id, work.part.device, work.weights.speed_class, work.model)
    depth = figure.prompt_tokens + figure.generate_tokens / 2
    terms = decode_terms(work.part, work.weights, work.cache, work.model, work.users, depth, constants)
    measured = work.users * work.copies / figure.tokens_per_s
    scale, spread = _anchor(catalog, figure, work, depth, constants)
    scaled = times(terms, scale)
    return Row(figure, work, scaled, measured, spread)


def _anchor(catalog: Catalog, figure: Figure, work: Several, depth: float, constants: Any) -> tuple[float, float]:
    """How far the same source's one-device speed is from ours; 1 and a wide spread where it gives none."""
    alone = dataclasses.replace(work.part, dense_share=1.0, expert_share=1.0, head_share=1.0, compute_share=1.0, cache_share=1.0)
    for row in catalog.measurements.values():
        if (
            row.source == figure.row.source and row.device_count == 1 and row.devices[0].device == work.part.device.id
            and (row.model, row.quant, row.engine, row.users) == (figure.row.model, figure.row.quant, figure.row.engine, figure.users)
            and row.decode_tokens_per_s and not row.unusable
        ):  # fmt: skip
            ours = decode_terms(alone, work.weights, work.cache, work.model, row.users, depth, constants).total_s
            return row.users / row.decode_tokens_per_s / ours, ANCHORED_SPREAD
        if figure.row.strategy == "tensor" and _same_by_layers(row, figure.row) and row.decode_tokens_per_s:
            ours = decode_terms(alone, work.weights, work.cache, work.model, row.users, depth, constants).total_s
            return row.users / row.decode_tokens_per_s / ours, ANCHORED_SPREAD
    return 1.0, ROW_SPREAD


def _same_by_layers(row: Any, other: Any) -> bool:
    """Whether a row is the same run split by layers: for one user as fast as one device, but for a few hops."""
    same = ("source", "url", "model", "quant", "engine", "backend", "users", "filled_tokens")
    devices = [(ran.device, ran.count) for ran in row.devices]
    return (
        row.strategy == "layers" and not row.unusable and devices == [(ran.device, ran.count) for ran in other.devices]
        and all(getattr(row, name) == getattr(other, name) for name in same)
    )  # fmt: skip


def residuals(logs: np.ndarray, entries: Sequence[Start], rows: Sequence[Row], plain: Mapping[str, Any]) -> np.ndarray:
    """Misfits of the rows and pulls of the entries, each in its spread."""
    table = calibration_of(entries, dict(zip((e.key for e in entries), logs, strict=True)), plain)
    misfits = [math.log(estimated_s(row, table) / row.measured_s) / row.spread for row in rows]
    robust = [math.copysign(math.sqrt(2 * (math.sqrt(1 + each**2) - 1)), each) for each in misfits]
    return np.array([*robust, *(log / start.spread for log, start in zip(logs, entries, strict=True))])


def estimated_s(row: Row, table: LinkCalibration) -> float:
    """The step with this table's messages."""
    return row.device.total_s + all_spent(row.work.team.messages, row.work.users, table).total_s


def fit(entries: Sequence[Start], rows: Sequence[Row], plain: Mapping[str, Any]) -> np.ndarray:
    """Log factors of the entries."""
    found = least_squares(residuals, np.zeros(len(entries)), args=(entries, rows, plain), diff_step=1e-4, max_nfev=60)
    return found.x


def median_error(rows: Sequence[Row], tables: Sequence[LinkCalibration]) -> str:
    """Median absolute error of the rows, each by its table."""
    errors = [abs(row.measured_s / estimated_s(row, table) - 1) for row, table in zip(rows, tables, strict=True)]
    within = float(np.mean(np.array(errors) <= 0.3))
    return f"median {100 * float(np.median(errors)):.1f} %, within 30 % {100 * within:.0f} % of {len(errors)}"


def kept_out(entries: Sequence[Start], rows: Sequence[Row], plain: Mapping[str, Any]) -> str:
    """Errors when each source is left out of the fit."""
    tables: dict[str, LinkCalibration] = {}
    for source in {row.figure.row.source for row in rows}:
        logs = fit(entries, [row for row in rows if row.figure.row.source != source], plain)
        tables[source] = calibration_of(entries, dict(zip((e.key for e in entries), logs, strict=True)), plain)
    return median_error(rows, [tables[row.figure.row.source] for row in rows])


def used(entries: Sequence[Start], rows: Sequence[Row], table: LinkCalibration) -> dict[str, int]:
    """Rows by entry."""
    counts: dict[str, int] = {}
    for row in rows:
        for message in row.work.team.messages:
            index = table.latencies.index(table.latency(message.software, message.link, message.ranks))
            counts[entries[index].key] = counts.get(entries[index].key, 0) + 1
    return counts


def written(entries: Sequence[Start], moved: Mapping[str, float], counts: Mapping[str, int], plain: Mapping[str, Any]) -> str:
    """The file's text."""
    lines = ["# Latencies of messages by software and link, written by tools/fit_links.py. The first entry that fits counts.", "latencies:"]
    for start in entries:
        entry = dict(start.entry)
        for name in MOVES:
            if name in entry:
                entry[name] = float(f"{entry[name] * math.exp(moved[start.key]):.4g}")
        entry["rows"] = counts.get(start.key, 0)
        lines.append("  - " + yaml.safe_dump(entry, default_flow_style=True, width=10_000, sort_keys=False).strip())
    rest = yaml.safe_dump({k: v for k, v in plain.items() if k != "latencies"}, sort_keys=False, width=120, allow_unicode=True)
    return "\n".join(lines) + "\n" + rest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--keep-out", action="store_true", help="also leave each source out")
    options = parser.parse_args()
    catalog = Catalog.load(user_folder=False)
    plain = yaml.safe_load((Path(__file__).parent / "link_starts.yaml").read_text())
    plain = {k: v for k, v in plain.items() if k != "entries"}
    entries, rows = starts(), list(rows_of(catalog))
    logs = fit(entries, rows, plain)
    moved = dict(zip((e.key for e in entries), logs, strict=True))
    table = calibration_of(entries, moved, plain)
    counts = used(entries, rows, table)
    for start in entries:
        times = " ".join(f"{name} {start.entry[name] * math.exp(moved[start.key]):.1f}" for name in MOVES if name in start.entry)
        print(f"{start.key:32s} ×{math.exp(moved[start.key]):.2f} {times} rows {counts.get(start.key, 0)}")
    print("fitted:", median_error(rows, [table] * len(rows)))
    if options.keep_out:
        print("each source left out:", kept_out(entries, rows, plain))
    if not options.dry_run:
        FILE.write_text(written(entries, moved, counts, plain))


if __name__ == "__main__":
    main()
