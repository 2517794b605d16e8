"""ollama: `--verbose` lines, the answers of its API, and `ollama ps` (memory; no speed)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor.intake import quant_words
from advisor.intake.llama_timings import generated, prompt_read
from advisor.intake.page import Page
from advisor.intake.readings import number, size_bytes, whole, written_number
from advisor.intake.run import Run
from advisor.record import dataclass, replace
from advisor.units import NS

TOOL = "ollama"

_FACT = re.compile(
    r"^.{0,60}?\b(total duration|load duration|prompt eval count|prompt eval duration|prompt eval rate|eval cou"
    r"nt|eval duration|eval rate):\s*(.+)$"
)
_RUN = re.compile(r"ollama run\s+(?:--verbose\s+)?(\S+)")
_PS = re.compile(r"^\s*(\S+)\s+([0-9a-f]{12})\s+([\d.]+\s*[KMGT]i?B)\s+((?:\d+%/)?\d+%)\s+(CPU/GPU|GPU|CPU)\b(?:\s+(\d{3,8}))?")


@dataclass(frozen=True)
class Loaded:
    """A model that `ollama ps` shows: what the server believes that it takes, and how much of it lies on the GPU."""

    model: str
    size_bytes: float | None
    gpu_share: float
    context_tokens: int | None


def recognise(page: Page) -> bool:
    """Whether one of these is there."""
    return "eval rate:" in page.text or "eval_duration" in page.text or bool(loaded(page))


def read(page: Page) -> tuple[Run, ...]:
    """The speeds of every answer."""
    return (*_lines(page), *_json(page.objects))


def loaded(page: Page) -> tuple[Loaded, ...]:
    """The rows of `ollama ps`, with or without its head."""
    found = []
    for line in page.lines:
        row = _PS.match(line)
        if row:
            found.append(
                Loaded(row.group(1), size_bytes(row.group(3), decimal=True), _share(row.group(4), row.group(5)), whole(row.group(6)))
            )
    return tuple(found[:100])


def _share(percent: str, where: str) -> float:
    """`100% GPU`, `100% CPU`, `4%/96% CPU/GPU`: the share on the GPU."""
    parts = [float(part.rstrip("%")) / 100.0 for part in percent.split("/")]
    return parts[-1] if where != "CPU" else 0.0


def _lines(page: Page) -> Iterator[Run]:
    """Blocks of `key: value` lines; each ends with its eval rate."""
    facts: dict[str, str] = {}
    model: str | None = None
    for line in page.lines:
        started = _RUN.search(line)
        model = started.group(1) if started else model
        fact = _FACT.match(line)
        if not fact:
            continue
        facts[fact.group(1)] = fact.group(2)
        if fact.group(1) == "eval rate":
            prompt = whole(facts.get("prompt eval count"))
            reading, writing = written_number(facts.get("prompt eval rate")), written_number(fact.group(2))
            yield from _pair(model, prompt, reading, whole(facts.get("eval count")), writing)
            facts = {}


def _pair(model: str | None, prompt: int | None, reading: float | None, tokens: int | None, writing: float | None) -> Iterator[Run]:
    """The two speeds of an answer."""
    name, quant = quant_words.model_of(model.replace(":", "-")) if model else None, quant_words.of_file((model or "").replace(":", "-"))
    if reading is not None:
        yield replace(prompt_read(prompt, reading), tool=TOOL, model=name, quant=quant)
    yield replace(generated(tokens, writing, prompt), tool=TOOL, model=name, quant=quant)


def _json(objects: Iterable[Mapping[str, Any]]) -> Iterator[Run]:
    """Answers of the API: counts and nanoseconds."""
    for one in objects:
        tokens, spent = whole(one.get("eval_count")), number(one.get("eval_duration"))
        if not tokens or not spent:
            continue
        prompt, read_in = whole(one.get("prompt_eval_count")), number(one.get("prompt_eval_duration"))
        model = one.get("model") if isinstance(one.get("model"), str) else None
        yield from _pair(model, prompt, prompt / (read_in * NS) if prompt and read_in else None, tokens, tokens / (spent * NS))
