"""Benchmarks of servers: vLLM and SGLang (serve, throughput, latency, one batch, offline), TensorRT-LLM; console of every era, and JSON."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from advisor.intake.page import Page
from advisor.intake.readings import number, whole
from advisor.intake.run import Run

TOOL = "server benchmark"

_FACT = re.compile(r"^[\s>#|*]*([A-Za-z][A-Za-z0-9 ,./()\[\]%-]{3,60}?)\s*:\s*(-?[\d,]+\.?\d*(?:e[+-]?\d+)?|nan|inf|sglang\S*|vllm\S*)\s*$", re.IGNORECASE)
_BANNER = re.compile(r"=+\s*(?:Serving|Offline Throughput|.{0,20}Throughput)?\s*Benchmark Result\s*=+", re.IGNORECASE)
_THROUGHPUT = re.compile(r"Throughput:\s*([\d.]+)\s*requests/s,\s*([\d.]+)\s*(?:total\s+)?tokens/s(?:,\s*([\d.]+)\s*output tokens/s)?")
_PHASE = re.compile(r"\b(Prefill|Decode|Total)\.\s+(?:median )?latency:\s*([\d.]+)\s*s,\s*(?:median )?throughput:\s*([\d.]+)\s*token/s")
_LATENCY = re.compile(r"Avg latency:\s*([\d.]+)\s*seconds")
_NAMED = re.compile(r"\b(model|batch_size|input_len|output_len|max_concurrency|tensor_parallel_size|quantization|backend|random_input_len|random_output_len|tp_size|model_path|kv_cache_dtype)=('[^']*'|\"[^\"]*\"|[\w.:/-]+)")
_FLAG = re.compile(r"--(model|model-path|max-concurrency|tensor-parallel-size|tp|tp-size|random-input(?:-len)?|random-output(?:-len)?|input-len|output-len|batch-size|quantization|kv-cache-dtype|dtype)[ =]+([\w.:/-]+)")
_TRT = re.compile(r"^[\s>|]*(?:\[TensorRT-LLM\]\S*\s*)?(Total Output Throughput|Total Token Throughput|Per User Output Throughput \[w/ ctx\]|Per GPU Output Throughput|Token Throughput|Per User Output Speed \[1/TPOT\])\s*\((?:tokens/sec|tps/user|tps/gpu)\):\s*([\d.]+)")
_SCHEDULER = re.compile(r"Avg prompt throughput: ([\d.]+) tokens/s, Avg generation throughput: ([\d.]+) tokens/s, Running: (\d+) reqs")
_BATCH_LINE = re.compile(r"Decode batch[.,].*?#running-req: (\d+).*?gen throughput \(token/s\): ([\d.]+)")

# Label of a figure -> its kind. Old builds write "Total Token throughput"; comparison is without case.
_LABELS = {
    "output token throughput (tok/s)": "served", "output throughput (tok/s)": "served", "last generation throughput (tok/s)": "decode",
    "total token throughput (tok/s)": "total", "input token throughput (tok/s)": "input", "peak output token throughput (tok/s)": "peak",
    "output token throughput per user (tok/s)": "peak",
}  # fmt: skip
_JSON = {"output_throughput": "served", "total_token_throughput": "total", "input_throughput": "input", "total_throughput": "total", "max_output_tokens_per_s": "peak"}


@dataclass(frozen=True)
class _Setting:
    """What the command line or the Namespace printed before the result says."""

    model: str | None = None
    devices: int | None = None
    users: int | None = None
    prompt: int | None = None
    generate: int | None = None
    batch: int | None = None
    quant: str | None = None
    kv_quant: str | None = None
    engine: str | None = None


def recognise(page: Page) -> bool:
    """Whether one of these results is there."""
    text = page.text
    words = ("Benchmark Result", "throughput (tok/s)", "Throughput:", "Avg latency:", "throughput: ", "Throughput (tokens/sec)", "Avg generation throughput", "gen throughput")
    return any(word.lower() in text[:4_000_000].lower() for word in words) or any(_is_result(one) for one in page.objects)


def read(page: Page) -> tuple[Run, ...]:
    """Every speed printed."""
    setting = _setting(page.text)
    runs = (*_console(page.lines, setting), *_short_lines(page.lines, setting), *(run for one in page.objects for run in _of_json(one, setting)))
    return tuple(runs)


def _setting(text: str) -> _Setting:
    """Model, lengths and concurrency, from `Namespace(…)`, `ServerArgs(…)` or the command."""
    head = text[:200_000]
    said: dict[str, str] = {}
    for name, value in (*_NAMED.findall(head), *_FLAG.findall(head)):
        value = value.strip("'\"")
        if value not in ("None", "auto", ""):
            said.setdefault(name.replace("-", "_"), value)
    prompt = said.get("random_input_len") or said.get("random_input") or said.get("input_len")
    generate = said.get("random_output_len") or said.get("random_output") or said.get("output_len")
    model = said.get("model") or said.get("model_path")
    random = "dataset_name='random'" in head or "dataset-name random" in head or "input_len" in said
    return _Setting(
        model=model.rstrip("/") if model else None, devices=whole(said.get("tensor_parallel_size") or said.get("tp_size") or said.get("tp")),
        users=whole(said.get("max_concurrency")), prompt=whole(prompt) if random else None, generate=whole(generate) if random else None,
        batch=whole(said.get("batch_size")), quant=said.get("quantization"), kv_quant=said.get("kv_cache_dtype"),
        engine="sglang" if re.search(r"sglang|sgl_", head, re.IGNORECASE) else ("tensorrt-llm" if "trtllm" in head or "TensorRT-LLM" in head else ("vllm" if "vllm" in head.lower() else None)),
    )  # fmt: skip


def _console(lines: Iterable[str], setting: _Setting) -> Iterator[Run]:
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


def _block(facts: Mapping[str, str], setting: _Setting) -> Iterator[Run]:
    """The runs of one block."""
    done, failed = whole(facts.get("successful requests")), whole(facts.get("failed requests")) or 0
    base = _served(
        setting, done, number(facts.get("total input tokens")), number(facts.get("total generated tokens")),
        whole(facts.get("maximum request concurrency")), number(facts.get("concurrency")), number(facts.get("mean tpot (ms)")),
    )  # fmt: skip
    if str(facts.get("backend", "")).startswith(("sglang", "vllm")):
        base = replace(base, engine=facts["backend"].split("-")[0])
    for label, kind in _LABELS.items():
        if label in facts:
            yield replace(base, kind=kind, test=label.removesuffix(" (tok/s)"), tokens_per_s=number(facts[label]), aborted=_why(done, failed))


def _why(done: int | None, failed: int) -> str | None:
    """Why a result is not one: nothing was answered, or much was not."""
    if done == 0:
        return "no request succeeded"
    return f"{failed} of {failed + done} requests failed" if done and failed > 0.05 * (failed + done) else None


def _served(setting: _Setting, done: int | None, read_in: float | None, written: float | None, most: int | None, mean: float | None, tpot_ms: float | None) -> Run:
    """A closed loop of users: the concurrency asked for; else the measured one; else all requests at once."""
    users = most or setting.users or mean or done or 1
    per = (lambda total: int(total / done) if total and done else None)  # noqa: E731
    return Run(
        tool=TOOL, test="", kind="served", tokens_per_s=None, engine=setting.engine, model=setting.model, count=setting.devices, users=float(users),
        quant=setting.quant, kv_quant=setting.kv_quant, prompt_tokens=per(read_in) or setting.prompt, generate_tokens=per(written) or setting.generate,
    )  # fmt: skip


def _short_lines(lines: Iterable[str], setting: _Setting) -> Iterator[Run]:
    """Results in one line: throughput, latency, one batch, TensorRT-LLM, the schedulers' logs."""
    base = Run(
        tool=TOOL, test="", kind="total", tokens_per_s=None, engine=setting.engine, model=setting.model, count=setting.devices, quant=setting.quant,
        prompt_tokens=setting.prompt, generate_tokens=setting.generate, users=float(setting.batch or setting.users or 1),
    )  # fmt: skip
    for line in lines:
        for reader in (_throughput, _phase, _latency, _trt, _scheduler):
            if line and len(line) < 2000:
                yield from reader(line, base)


def _throughput(line: str, base: Run) -> Iterator[Run]:
    """`Throughput: 2.44 requests/s, 1795.59 total tokens/s, 901.2 output tokens/s`."""
    found = _THROUGHPUT.search(line) if "Throughput:" in line else None
    if found:
        yield replace(base, test="total token throughput", tokens_per_s=number(found.group(2)))
        if found.group(3):
            yield replace(base, kind="served", test="output token throughput", tokens_per_s=number(found.group(3)), users=max(base.users, 256.0))


def _phase(line: str, base: Run) -> Iterator[Run]:
    """`Prefill. latency: 0.06 s, throughput: 12345.6 token/s`, `Decode. median latency: …`."""
    found = _PHASE.search(line) if "throughput:" in line else None
    if found:
        kind = {"Prefill": "prefill", "Decode": "decode", "Total": "mixed"}[found.group(1)]
        filled = base.prompt_tokens or 0 if kind == "decode" else 0
        yield replace(base, kind=kind, test=f"one batch, {found.group(1).lower()}", tokens_per_s=number(found.group(3)), engine="sglang", filled_tokens=filled,
                      prompt_tokens=0 if kind == "decode" else base.prompt_tokens)  # fmt: skip


def _latency(line: str, base: Run) -> Iterator[Run]:
    """`Avg latency: 1.23 seconds` of a batch whose lengths are known."""
    found = _LATENCY.search(line)
    seconds = number(found.group(1)) if found else None
    if seconds and base.generate_tokens:
        yield replace(base, kind="served", test="batch latency", tokens_per_s=base.users * base.generate_tokens / seconds)


def _trt(line: str, base: Run) -> Iterator[Run]:
    """trtllm-bench's lines."""
    found = _TRT.match(line) if "Throughput" in line or "Speed" in line else None
    if found:
        label = found.group(1)
        kind = "served" if label.startswith("Total Output") else ("total" if "Token Throughput" in label else "peak")
        yield replace(base, kind=kind, test=label.lower(), tokens_per_s=number(found.group(2)), engine="tensorrt-llm")


def _scheduler(line: str, base: Run) -> Iterator[Run]:
    """The log lines of vLLM's and SGLang's schedulers: speed over the last seconds."""
    found = _SCHEDULER.search(line) if "Avg generation" in line else None
    if found and number(found.group(2)):
        yield replace(base, kind="peak", test="scheduler log", tokens_per_s=number(found.group(2)), users=float(found.group(3)), engine="vllm")
    batch = _BATCH_LINE.search(line) if "gen throughput" in line else None
    if batch and number(batch.group(2)):
        yield replace(base, kind="peak", test="scheduler log", tokens_per_s=number(batch.group(2)), users=float(batch.group(1)), engine="sglang")


def _is_result(one: Mapping[str, Any]) -> bool:
    """Whether an object is a saved result."""
    return bool(set(_JSON) & set(one)) or ("tokens_per_second" in one and "num_requests" in one) or ("avg_latency" in one and "latencies" in one) or set(one) == {"error"}


def _of_json(one: Mapping[str, Any], setting: _Setting) -> Iterator[Run]:
    """The runs of a saved result."""
    if not _is_result(one):
        return
    if "error" in one and len(one) == 1:
        yield Run(tool=TOOL, test="", kind="served", tokens_per_s=None, aborted=f"the run ended with an error: {str(one['error'])[:80]}")
        return
    done = whole(one.get("completed"))
    most = whole(one.get("max_concurrency"))
    base = _served(setting, done, number(one.get("total_input_tokens")), number(one.get("total_output_tokens")), most, number(one.get("concurrency")), number(one.get("mean_tpot_ms")))
    model = next((one[key] for key in ("model_id", "model", "tokenizer_id") if isinstance(one.get(key), str)), base.model)
    backend = str(one.get("backend") or one.get("endpoint_type") or "")
    base = replace(base, model=model, engine="sglang" if "sglang" in backend else (base.engine or ("vllm" if "vllm" in backend else None)))
    for key, kind in _JSON.items():
        if number(one.get(key)) is not None:
            yield replace(base, kind=kind, test=key.replace("_", " "), tokens_per_s=number(one.get(key)), aborted=_why(done, 0))
    if "tokens_per_second" in one and number(one["tokens_per_second"]) is not None:
        yield replace(base, kind="total", test="total token throughput", tokens_per_s=number(one["tokens_per_second"]), engine=base.engine or "vllm")
