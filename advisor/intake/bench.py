"""Own benchmarks: every speed printed in a text, by whichever reader knows its form."""

from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any

from advisor.intake import llama_bench, llama_timings, mac_bench, ollama_bench, other_bench, server_bench
from advisor.intake.page import Page, page_of
from advisor.intake.run import MOST_RUNS, Run

READERS: tuple[ModuleType, ...] = (llama_bench, llama_timings, ollama_bench, server_bench, mac_bench)
MOST_INNER_TEXTS, MOST_INNER_CHARS = 200, 500_000  # of all texts within one wrapper


@lru_cache(maxsize=16)
def read(page: Page) -> tuple[Run, ...]:
    """The runs of a text, also those in a text that a JSON wrapper holds; forms without a reader only where nothing else is found."""
    runs = [*_known(page), *(run for inner in _inner(page) for run in _known(inner))]
    if not any(run.tokens_per_s is not None for run in runs) and other_bench.recognise(page):
        runs = [*other_bench.read(page), *runs]
    return tuple(runs[:MOST_RUNS])


def _known(page: Page) -> list[Run]:
    """What the readers of known forms find."""
    return [run for reader in READERS if reader.recognise(page) for run in reader.read(page)]


def _inner(page: Page) -> Iterator[Page]:
    """Console output kept as a string inside JSON."""
    found = chars = 0
    for one in page.objects[:2000]:
        for text in _texts(one, 0):
            found, chars = found + 1, chars + len(text)
            if found > MOST_INNER_TEXTS or chars > MOST_INNER_CHARS:
                return
            yield page_of(text, page.source)


def _texts(one: Any, depth: int) -> Iterator[str]:
    """Strings of several lines within an object."""
    if isinstance(one, str) and one.count("\n") >= 2:
        yield one
    elif depth < 5 and isinstance(one, dict | list):
        for value in list(one.values() if isinstance(one, dict) else one)[:500]:
            yield from _texts(value, depth + 1)
