"""Own benchmarks: every speed printed in a text, by whichever reader knows its form."""

from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType

from advisor.intake import llama_bench, llama_timings, mac_bench, ollama_bench, other_bench, server_bench, wrapped
from advisor.intake.page import Page
from advisor.intake.run import MOST_RUNS, Run

READERS: tuple[ModuleType, ...] = (llama_bench, llama_timings, ollama_bench, server_bench, mac_bench)


@lru_cache(maxsize=16)
def read(page: Page) -> tuple[Run, ...]:
    """The runs of a text, also those in a text that a JSON wrapper holds; forms without a reader only where nothing else is found."""
    runs = [*_known(page), *(run for inner in wrapped.inner_texts(page) for run in _known(inner))]
    if not _has_speed(runs):
        runs = [run for inner in wrapped.unmarked(page) for run in _known(inner)] or runs
    for form in (page, *wrapped.within(page)):
        if not _has_speed(runs) and other_bench.recognise(form):
            runs = [*other_bench.read(form), *runs]
    return tuple(runs[:MOST_RUNS])


def _has_speed(runs: Sequence[Run]) -> bool:
    """Whether one of them says how fast it was."""
    return any(run.tokens_per_s is not None for run in runs)


def _known(page: Page) -> list[Run]:
    """What the readers of known forms find."""
    return [run for reader in READERS if reader.recognise(page) for run in reader.read(page)]
