"""Results of server benchmarks in one line: throughput, latency, one batch, TensorRT-LLM, the schedulers' logs."""

import re
from collections.abc import Iterable, Iterator

from advisor.intake.readings import number
from advisor.intake.run import Run
from advisor.intake.server_setting import Setting
from advisor.record import replace

TOOL = "server benchmark"

_THROUGHPUT = re.compile(r"Throughput:\s*([\d.]+)\s*requests/s,\s*([\d.]+)\s*(?:total\s+)?tokens/s(?:,\s*([\d.]+)\s*output tokens/s)?")
_PHASE = re.compile(r"\b(Prefill|Decode|Total)\.\s+(?:median )?latency:\s*([\d.]+)\s*s,\s*(?:median )?throughput:\s*([\d.]+)\s*token/s")
_LATENCY = re.compile(r"Avg latency:\s*([\d.]+)\s*seconds")
_TRT = re.compile(
    r"^[\s>|]*(?:\[TensorRT-LLM\]\S*\s*)?(Total Output Throughput|Total Token Throughput|Per User Output Throug"
    r"hput(?: \[w/ ctx\])?|Per GPU Output Throughput|Token Throughput|Per User Output Speed \[1/TPOT\])\s*\((?:token"
    r"s/sec|tps/user|tps/gpu|tokens/sec/user|tokens/sec/gpu)\):\s*([\d.]+)"
)
_PERF = re.compile(
    r"^[\s|]*Output [Tt]oken [Tt]hroughput \((?:per sec|tokens/sec|tokens/s|tokens per second)\)\s*[|,:]\s*\"?([\d.,]{1,20})"
)
_OLD_TRT = re.compile(r"\b(generation_tokens_per_second|tokens_per_sec) ([\d.]+)")
_SCHEDULER = re.compile(r"Avg prompt throughput: ([\d.]+) tokens/s, Avg generation throughput: ([\d.]+) tokens/s, Running: (\d+) reqs")
_BATCH_LINE = re.compile(r"Decode batch[.,].*?#running-req: (\d+).*?gen throughput \(token/s\): ([\d.]+)")


def short_lines(lines: Iterable[str], setting: Setting) -> Iterator[Run]:
    """Results in one line: throughput, latency, one batch, TensorRT-LLM, the schedulers' logs."""
    base = Run(
        tool=TOOL,
        test="",
        kind="total",
        tokens_per_s=None,
        engine=setting.engine,
        model=setting.model,
        count=setting.devices,
        quant=setting.quant,
        prompt_tokens=setting.prompt,
        generate_tokens=setting.generate,
        users=float(setting.batch or setting.users or 1),
    )
    for line in lines:
        perf = _PERF.match(line) if "utput" in line else None
        if perf:  # genai-perf and aiperf, as a table or as CSV
            kind = "served" if setting.users else "peak"  # of how many users is not printed
            yield replace(base, kind=kind, test="output token throughput", tokens_per_s=number(perf.group(1).rstrip(",").replace(",", "")))
        for reader in (_throughput, _phase, _latency, _trt, _scheduler):
            if line and len(line) < 2000:
                yield from reader(line, base)


def _throughput(line: str, base: Run) -> Iterator[Run]:
    """`Throughput: 2.44 requests/s, 1795.59 total tokens/s, 901.2 output tokens/s`."""
    found = _THROUGHPUT.search(line) if "Throughput:" in line else None
    if found:
        yield replace(base, test="total token throughput", tokens_per_s=number(found.group(2)))
        if found.group(3):
            yield replace(
                base, kind="served", test="output token throughput", tokens_per_s=number(found.group(3)), users=max(base.users, 256.0)
            )


def _phase(line: str, base: Run) -> Iterator[Run]:
    """`Prefill. latency: 0.06 s, throughput: 12345.6 token/s`, `Decode. median latency: …`."""
    found = _PHASE.search(line) if "throughput:" in line else None
    if found:
        kind = {"Prefill": "prefill", "Decode": "decode", "Total": "mixed"}[found.group(1)]
        filled = base.prompt_tokens or 0 if kind == "decode" else 0
        yield replace(
            base,
            kind=kind,
            test=f"one batch, {found.group(1).lower()}",
            tokens_per_s=number(found.group(3)),
            engine="sglang",
            filled_tokens=filled,
            prompt_tokens=0 if kind == "decode" else base.prompt_tokens,
        )


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
    if "[BENCHMARK]" in line:
        for label, speed in _OLD_TRT.findall(line):
            kind = "decode" if label.startswith("generation") else "served"
            yield replace(base, kind=kind, test=label, tokens_per_s=number(speed), engine="tensorrt-llm")


def _scheduler(line: str, base: Run) -> Iterator[Run]:
    """The log lines of vLLM's and SGLang's schedulers: speed over the last seconds."""
    found = _SCHEDULER.search(line) if "Avg generation" in line else None
    if found and number(found.group(2)):
        yield replace(
            base, kind="peak", test="scheduler log", tokens_per_s=number(found.group(2)), users=float(found.group(3)), engine="vllm"
        )
    batch = _BATCH_LINE.search(line) if "gen throughput" in line else None
    if batch and number(batch.group(2)):
        yield replace(
            base, kind="peak", test="scheduler log", tokens_per_s=number(batch.group(2)), users=float(batch.group(1)), engine="sglang"
        )
