"""Benchmarks of servers: vLLM and SGLang (serve, throughput, latency, one batch, offline), TensorRT-LLM; console of every era, and JSON."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor.intake.page import Page
from advisor.intake.readings import number, whole
from advisor.intake.run import Run
from advisor.intake.server_lines import short_lines
from advisor.intake.server_setting import Setting, setting_of
from advisor.record import replace

TOOL = "server benchmark"

_FACT = re.compile(
    r"^[\s>#|*]*([A-Za-z][A-Za-z0-9 ,./()\[\]%-]{3,60}?)\s*:\s*(-?[\d,]+\.?\d*(?:e[+-]?\d+)?|nan|inf|sglang\S*|vllm\S*)\s*$", re.IGNORECASE
)
_BANNER = re.compile(r"=+\s*(?:Serving|Offline Throughput|.{0,20}Throughput)?\s*Benchmark Result\s*=+", re.IGNORECASE)
# Label of a figure -> its kind. Old builds write "Total Token throughput"; comparison is without case.
_LABELS = {
    "output token throughput (tok/s)": "served",
    "output throughput (tok/s)": "served",
    "last generation throughput (tok/s)": "decode",
    "total token throughput (tok/s)": "total",
    "input token throughput (tok/s)": "input",
    "peak output token throughput (tok/s)": "peak",
    "output token throughput per user (tok/s)": "peak",
}
_JSON = {
    "output_throughput": "served",
    "total_token_throughput": "total",
    "input_throughput": "input",
    "total_throughput": "total",
    "max_output_tokens_per_s": "peak",
}


def recognise(page: Page) -> bool:
    """Whether one of these results is there."""
    text = page.text
    words = (
        "Benchmark Result",
        "throughput (tok/s)",
        "Throughput:",
        "Avg latency:",
        "throughput: ",
        "Throughput (tokens/sec)",
        "Avg generation throughput",
        "gen throughput",
        "[BENCHMARK]",
        "Output token throughput",
    )
    low = text[:4_000_000].lower()
    return any(word.lower() in low for word in words) or any(_is_result(one) for one in page.objects)


def read(page: Page) -> tuple[Run, ...]:
    """Every speed printed."""
    setting = setting_of(page.text)
    runs = (
        *_console(page.lines, setting),
        *short_lines(page.lines, setting),
        *(run for one in page.objects for run in _of_json(one, setting)),
    )
    return tuple(runs)


def _console(lines: Iterable[str], setting: Setting) -> Iterator[Run]:
    """Blocks of `Label: figure` under the banner; a new block begins where a label comes again."""
    facts: dict[str, str] = {}
    for line in lines:
        if _BANNER.search(line) and facts:
            yield from _block(facts, setting)
            facts = {}
        fact = _FACT.match(line) if ":" in line and len(line) < 300 else None
        if fact:
            label = " ".join(fact.group(1).lower().split())
            if label in facts and label.startswith(("successful requests", "output token throughput")):
                yield from _block(facts, setting)
                facts = {}
            facts.setdefault(label, fact.group(2).replace(",", ""))
    yield from _block(facts, setting)


def _block(facts: Mapping[str, str], setting: Setting) -> Iterator[Run]:
    """The runs of one block."""
    done, failed = whole(facts.get("successful requests")), whole(facts.get("failed requests")) or 0
    base = _served(
        setting,
        done,
        number(facts.get("total input tokens")),
        number(facts.get("total generated tokens")),
        whole(facts.get("maximum request concurrency")),
        number(facts.get("concurrency")),
    )
    if str(facts.get("backend", "")).startswith(("sglang", "vllm")):
        base = replace(base, engine=facts["backend"].split("-")[0])
    for label, kind in _LABELS.items():
        if label in facts:
            yield replace(
                base, kind=kind, test=label.removesuffix(" (tok/s)"), tokens_per_s=number(facts[label]), aborted=_why(done, failed)
            )


def _why(done: int | None, failed: int) -> str | None:
    """Why a result is not one: nothing was answered, or much was not."""
    if done == 0:
        return "no request succeeded"
    return f"{failed} of {failed + done} requests failed" if done and failed > 0.05 * (failed + done) else None


def _served(
    setting: Setting,
    done: int | None,
    read_in: float | None,
    written: float | None,
    most: int | None,
    mean: float | None,
) -> Run:
    """A closed loop of users: the concurrency asked for; else the measured one; else all requests at once."""
    users = most or setting.users or mean or done or 1
    return Run(
        tool=TOOL,
        test="",
        kind="served",
        tokens_per_s=None,
        engine=setting.engine,
        model=setting.model,
        count=setting.devices,
        users=float(users),
        quant=setting.quant,
        kv_quant=setting.kv_quant,
        prompt_tokens=_each(read_in, done) or setting.prompt,
        generate_tokens=_each(written, done) or setting.generate,
    )


def _each(total: float | None, done: int | None) -> int | None:
    """Tokens of one request."""
    return int(total / done) if total and done else None


def _is_result(one: Mapping[str, Any]) -> bool:
    """Whether an object is a saved result."""
    return (
        bool(set(_JSON) & set(one))
        or ("tokens_per_second" in one and "num_requests" in one)
        or ("avg_latency" in one and "latencies" in one)
        or set(one) == {"error"}
    )


def _of_json(one: Mapping[str, Any], setting: Setting) -> Iterator[Run]:
    """The runs of a saved result."""
    if not _is_result(one):
        return
    if "error" in one and len(one) == 1:
        yield Run(tool=TOOL, test="", kind="served", tokens_per_s=None, aborted=f"the run ended with an error: {str(one['error'])[:80]}")
        return
    done = whole(one.get("completed"))
    most = whole(one.get("max_concurrency"))
    base = _served(
        setting,
        done,
        number(one.get("total_input_tokens")),
        number(one.get("total_output_tokens")),
        most,
        number(one.get("concurrency")),
    )
    model = next((one[key] for key in ("model_id", "model", "tokenizer_id") if isinstance(one.get(key), str)), base.model)
    backend = str(one.get("backend") or one.get("endpoint_type") or "")
    base = replace(base, model=model, engine="sglang" if "sglang" in backend else (base.engine or ("vllm" if "vllm" in backend else None)))
    for key, kind in _JSON.items():
        if number(one.get(key)) is not None:
            yield replace(base, kind=kind, test=key.replace("_", " "), tokens_per_s=number(one.get(key)), aborted=_why(done, 0))
    if "tokens_per_second" in one and number(one["tokens_per_second"]) is not None:
        yield replace(
            base, kind="total", test="total token throughput", tokens_per_s=number(one["tokens_per_second"]), engine=base.engine or "vllm"
        )
