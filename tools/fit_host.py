#!/usr/bin/env python3
"""Fit `catalog/host_calibration.yaml`: what engines reach of a computer's memory where part of a model stays there.

    python tools/fit_host.py            write the file, print what was fitted and the errors
    python tools/fit_host.py --dry-run  print only

Of each published run (`catalog/host_measurements/`) the card's part is taken from the estimator. The rest of its time is explained
by the bytes read in host memory at a share of the nominal rate, and by a fixed time for each layer there; every source counts as
much, however many rows it has. The spreads are those of rows whose source the fit had not seen. After a refit of the cards'
constants (`tools/fit.py`) this comes second.
"""

import argparse
import datetime
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from scipy.optimize import least_squares

from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.hostrate import HostRow
from advisor.need import Workload
from advisor.pace import prompt_s, step_terms
from advisor.placement.offload import left_in_host
from advisor.plan import Plan
from advisor.record import replace
from advisor.units import GB, US
from advisor.ways import Way, choice_of, ways_of

FILE = Path(__file__).resolve().parent.parent / "catalog" / "host_calibration.yaml"
GENERATED_TOKENS = 128  # where the sources do not say: what llama-bench generates
PROMPT_TOKENS = 2048  # of the prompts whose speed is given
STARTS = (0.6, 1e-4)  # share of the nominal rate, seconds a layer


@dataclass(frozen=True)
class Prompt:
    """A prompt's measured seconds, and a plan that estimates them."""

    plan: Plan
    row: HostRow
    measured_s: float

    def estimated_s(self, carried_share: float, reached_share: float) -> float:
        """As the estimator does it: what lies in host memory is carried to the card for each piece of the prompt."""
        runner, team = self.plan.runner, self.plan.teams[0]
        part, slot = team.stages[0][0], self.plan.system.boxes[0].slot
        rates = (reached_share * self.row.memory_bandwidth_bytes_per_s, carried_share * slot.bandwidth_bytes_per_s if slot else math.inf)
        constants = replace(runner.constants(part), prompt_chunk_tokens=self.row.micro_batch_tokens)
        runner = replace(runner, host_prompt_bytes_per_s=min(rates), _known={id(part.device): constants})
        return prompt_s(runner, team, self.tokens)

    @property
    def tokens(self) -> int:
        """Whole pieces, as benchmarks read them."""
        return max(PROMPT_TOKENS, self.row.micro_batch_tokens)


@dataclass(frozen=True)
class Run:
    """A row beside our estimate of its card: seconds of a token on the card, bytes and layers in host memory, seconds measured."""

    row: HostRow
    card_s: float
    host_bytes: float
    layers: int
    prompt: "Prompt | None"

    @property
    def measured_s(self) -> float:
        return 1 / self.row.decode_tokens_per_s

    def estimated_s(self, found: Sequence[float]) -> float:
        """A token's seconds with this share and this time for a layer."""
        share, layer_s = found
        return self.card_s + self.host_bytes / (share * self.row.memory_bandwidth_bytes_per_s) + self.layers * layer_s


def runs_of(catalog: Catalog) -> Iterator[Run]:
    """Every row, laid out as its source says."""
    for row in catalog.records("host_measurements").values():
        plan = _plan(catalog, row)
        free = replace(plan.runner, host_bytes_per_s=GB, host_flops=None, host_layer_s=0.0)  # one second for each GB read there
        terms = step_terms(free, plan.teams[0], 1, row.filled_tokens + GENERATED_TOKENS / 2)
        layers = row.host_layers + row.host_expert_layers
        yield Run(row, terms.total_s - terms.host_memory_s, terms.host_memory_s * GB, layers, prompt_of(plan, row))


def _plan(catalog: Catalog, row: HostRow) -> Plan:
    work = Workload(users=1, context_tokens=row.filled_tokens + GENERATED_TOKENS, prompt_tokens=row.filled_tokens)
    choice = choice_of(bind(f"{row.device} on {row.engine}", catalog), catalog.model(row.model), row.quant, "f16", catalog)
    way = next(each for each in ways_of(choice) if isinstance(each, Way))
    plan = way.plan("whole", work)
    assert isinstance(plan, Plan), row.id
    part = left_in_host(plan.placement.parts[0], plan.weights, row.host_expert_layers, row.host_layers)
    return replace(plan, placement=replace(plan.placement, strategy="offload", parts=(part,)))


def prompt_of(plan: Plan, row: HostRow) -> Prompt | None:
    """The row's prompt; None where its speed is not given."""
    if row.prefill_tokens_per_s is None:
        return None
    return Prompt(plan, row, max(PROMPT_TOKENS, row.micro_batch_tokens) / row.prefill_tokens_per_s)


def fit(runs: Sequence[Run]) -> np.ndarray:
    """(share, seconds a layer), least squares of the logarithms, each source of equal weight."""
    rows_of_source = Counter(run.row.source for run in runs)

    def misfits(found: np.ndarray) -> np.ndarray:
        logs = [math.log(run.estimated_s(found) / run.measured_s) for run in runs]
        return np.array([each / math.sqrt(rows_of_source[run.row.source]) for each, run in zip(logs, runs, strict=True)])

    return least_squares(misfits, STARTS, bounds=((0.05, 0.0), (1.0, 1e-2)), x_scale=(0.1, 1e-4)).x


def kept_out(runs: Sequence[Run]) -> list[float]:
    """Logarithm of estimated over measured of each run by a fit without its source."""
    sources = {run.row.source for run in runs}
    fits = {source: fit([run for run in runs if run.row.source != source]) for source in sources}
    return [math.log(run.estimated_s(fits[run.row.source]) / run.measured_s) for run in runs]


def carried(prompts: Sequence[Prompt], reached_share: float) -> float:
    """Share of the slot's rate at which host memory is carried to the card: least squares of the prompts' logarithms."""

    def misfits(share: np.ndarray) -> list[float]:
        return [math.log(each.estimated_s(share[0], reached_share) / each.measured_s) for each in prompts]

    return float(least_squares(misfits, [0.5], bounds=(0.02, 1.0)).x[0])


def prompts_kept_out(prompts: Sequence[Prompt], reached_share: float) -> list[float]:
    """As `kept_out`, of prompts."""
    found = []
    for each in prompts:
        share = carried([other for other in prompts if other.row.source != each.row.source], reached_share)
        found.append(math.log(each.estimated_s(share, reached_share) / each.measured_s))
    return found


def spread(logs: Sequence[float]) -> float:
    """Root mean square: no mean is taken off, for an estimate has none to take off."""
    return math.sqrt(sum(each**2 for each in logs) / len(logs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    runs = list(runs_of(Catalog.load(user_folder=False)))
    found, unseen = fit(runs), kept_out(runs)
    prompts = [run.prompt for run in runs if run.prompt]
    share, prompt_logs = carried(prompts, found[0]), prompts_kept_out(prompts, found[0])
    for run, log in zip(runs, unseen, strict=True):
        print(f"{run.row.id:36s} {run.row.decode_tokens_per_s:6.1f} tokens/s, kept out {1 / run.measured_s / math.exp(log):6.1f}")
    print(f"share {found[0]:.3f}, {found[1] / US:.0f} µs a layer; spread {spread(unseen):.2f}")
    print(f"prompts: {share:.2f} of the slot's rate; spread {spread(prompt_logs):.2f} of {len(prompts)}")
    if not options.dry_run:
        FILE.write_text(_written((*found, share), unseen, prompt_logs, runs), encoding="utf-8")


def _written(found: Sequence[float], unseen: Sequence[float], prompts: Sequence[float], runs: Sequence[Run]) -> str:
    record = {
        "reached_share": float(f"{found[0]:.3g}"),
        "layer_us": float(f"{found[1] / US:.3g}"),
        "carried_share": float(f"{found[2]:.3g}"),
        "decode_log_error": float(f"{spread(unseen):.3g}"),
        "prefill_log_error": float(f"{spread(prompts):.3g}"),
        "rows": len(runs),
        "date": datetime.date.today().isoformat(),
        "sources": [{"fields": ["reached_share", "layer_us", "carried_share"], "title": "tools/fit_host.py on catalog/host_measurements"}],
    }
    head = "# What engines reach of a computer's memory where part of a model stays there, written by tools/fit_host.py.\n"
    return head + yaml.safe_dump(record, sort_keys=False, width=120)


if __name__ == "__main__":
    main()
