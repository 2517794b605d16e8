"""mlx_lm (generate, benchmark), exo, and exllama's lines."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from advisor.intake import quant_words
from advisor.intake.page import Page
from advisor.intake.readings import number, whole
from advisor.intake.run import Run
from advisor.record import replace

TOOL = "mlx_lm"

_PROMPT = re.compile(r"^[\s>]*Prompt:\s*(?:(\d+) tokens,\s*)?([\d.]+)\s*(?:tokens-per-sec|tokens per second|tok/s)")
_GENERATION = re.compile(r"^[\s>]*Generation:\s*(?:(\d+) tokens,\s*)?([\d.]+)\s*(?:tokens-per-sec|tokens per second|tok/s)")
_TIMING = re.compile(r"Timing with prompt_tokens=(\d+)(?: and|,) generation_tokens=(\d+)(?:.*batch_size=(\d+))?")
_TRIAL = re.compile(r"(?:Trial \d+|Averages?):\s+prompt_tps=([\d.]+),\s*generation_tps=([\d.]+)")
_MODEL = re.compile(r"mlx_lm\S*\s.*?--model\s+(\S+)")
_EXL = re.compile(r"(\d+) tokens,?\s+(?:generated )?in [\d.]+ s\w*[,:]?\s+\(?([\d.]+) (?:tokens/second|tokens/s|t/s)")
_EXL_TURN = re.compile(
    r"(Prompt processed|Response generated|Output generated) in [\d.]+ seconds[, ]+"
    r"(?:(\d+) tokens, ([\d.]+) tokens/s|\(([\d.]+) tokens/s, (\d+) tokens, context (\d+))"
)
_EXL_SWEEP = re.compile(r"\b(Length|Position)\s+(\d+)(?: \+ (\d+))? tokens:\s+([\d.]+) t/s")
_TABBY = re.compile(
    r"Metrics.{0,60}?:\s*(\d+) tokens generated in [\d.]+ seconds \(.*?and (\d+) new tokens at ([\d.]+) T/s, Gener"
    r"ate: ([\d.]+) T/s, Context: (\d+) tokens"
)
_KOBOLD = re.compile(
    r"(Process|Processing|Generate|Generation):\s*[\d.]+s \((?:[^()=]{0,60}= )?([\d.]+)T/s\)|(Processing|Generation)Speed:\s*([\d.]+)T/s"
)
_EXO_KEYS = ("generation_tps", "generation_tokens_per_second", "gen_tps")


def recognise(page: Page) -> bool:
    """Whether one of these is there."""
    words = (
        "tokens-per-sec",
        "generation_tps",
        "tokens/second",
        "utput generated in ",
        "T/s, Generate:",
        "T/s)",
        "Speed: ",
        "generation_tokens_per_second",
        " t/s",
    )
    return any(word in page.text for word in words)


def read(page: Page) -> tuple[Run, ...]:
    """Every speed printed."""
    return (*_mlx(page), *_exl(page.lines), *(run for one in page.objects for run in _exo(one, None, 0)))


def _mlx(page: Page) -> Iterator[Run]:
    """Lines of generate, and trials and averages of benchmark."""
    prompt = generate = None
    users = 1
    model: str | None = None
    for line in page.lines:
        named = _MODEL.search(line)
        model = named.group(1) if named else model
        timing, trial = _TIMING.search(line), _TRIAL.search(line)
        reading, writing = _PROMPT.match(line), _GENERATION.match(line)
        if timing:
            prompt, generate, users = int(timing.group(1)), int(timing.group(2)), int(timing.group(3) or 1)
        elif trial:
            what = line.split(":")[0].strip().lower()
            yield from _pair(number(trial.group(1)), number(trial.group(2)), prompt, generate, users, model, what)
        elif reading:
            prompt = whole(reading.group(1))
            yield from _pair(number(reading.group(2)), None, prompt, None, 1, model, "")
        elif writing:
            yield from _pair(None, number(writing.group(2)), prompt, whole(writing.group(1)), 1, model, "")


def _pair(
    reading: float | None, writing: float | None, prompt: int | None, generate: int | None, users: int, model: str | None, what: str
) -> Iterator[Run]:
    """The speeds of reading and writing, each where it is known."""
    quant = quant_words.of_file(model)
    common: dict[str, Any] = {
        "tool": TOOL,
        "engine": "mlx",
        "model": model,
        "quant": f"mlx-{quant.replace('bit', '')}bit" if quant and quant.endswith("bit") else quant,
        "users": float(users),
    }
    tail = f", {what}" if what else ""
    if reading is not None:
        yield Run(
            test=f"prompt of {prompt} tokens{tail}" if prompt else f"prompt{tail}",
            kind="prefill",
            tokens_per_s=reading,
            prompt_tokens=prompt,
            **common,
        )
    if writing is not None:
        yield Run(
            test=f"{generate} tokens generated{tail}" if generate else f"generation{tail}",
            kind="decode",
            tokens_per_s=writing,
            prompt_tokens=0,
            filled_tokens=prompt or 0,
            generate_tokens=generate,
            **common,
        )


def _exl(lines: Iterable[str]) -> Iterator[Run]:
    """exllama's `200 tokens in 3.2 seconds, 62.4 tokens/second`, and TabbyAPI's metrics."""
    for line in lines:
        if "T/s" in line:
            yield from _kobold(line)
        if len(line) > 2000 or ("okens" not in line):
            continue
        tabby, short, turn, sweep = _TABBY.search(line), _EXL.search(line), _EXL_TURN.search(line), _EXL_SWEEP.search(line)
        if turn:
            yield _turn(turn)
        elif sweep:
            yield _sweep(sweep)
        elif tabby:
            yield from _tabby(tabby)
        elif short:
            kind = "prefill" if re.search(r"prompt|process|prefill", line, re.IGNORECASE) else "decode"
            tokens = int(short.group(1))
            yield Run(
                tool="exllama",
                test=f"{tokens} tokens",
                kind=kind,
                tokens_per_s=number(short.group(2)),
                engine="exllamav3",
                prompt_tokens=tokens if kind == "prefill" else 0,
                generate_tokens=tokens if kind == "decode" else None,
            )


def _tabby(found: re.Match[str]) -> Iterator[Run]:
    """TabbyAPI's two speeds of an answer."""
    read_in, written = int(found.group(2)), int(found.group(1))
    reading = Run(
        tool="exllama", test=f"prompt of {read_in} tokens", kind="prefill", tokens_per_s=number(found.group(3)), engine="exllamav3"
    )
    yield replace(reading, prompt_tokens=read_in)
    yield replace(
        reading,
        test=f"{written} tokens generated",
        kind="decode",
        tokens_per_s=number(found.group(4)),
        prompt_tokens=0,
        filled_tokens=int(found.group(5)),
        generate_tokens=written,
    )


def _sweep(found: re.Match[str]) -> Run:
    """`Length  512 tokens: 1500.0 t/s` and `Position 512 + 127 tokens: 65.1 t/s` of exllamav2's speed test."""
    reading, at = found.group(1) == "Length", int(found.group(2))
    return Run(
        tool="exllama",
        test=f"{found.group(1).lower()} {at}",
        kind="prefill" if reading else "decode",
        tokens_per_s=number(found.group(4)),
        engine="exllamav3",
        prompt_tokens=at if reading else 0,
        filled_tokens=0 if reading else at,
        generate_tokens=int(found.group(3)) if found.group(3) else None,
    )


def _turn(found: re.Match[str]) -> Run:
    """`Prompt processed in 0.5 seconds, 1024 tokens, 2048.00 tokens/second` of exllamav2; text-generation-webui's."""
    tokens, reading = int(found.group(2) or found.group(5)), found.group(1).startswith("Prompt")
    webui = found.group(1).startswith("Output")
    return Run(
        tool="text-generation-webui" if webui else "exllama",
        test=f"{'prompt of ' if reading else ''}{tokens} tokens{'' if reading else ' generated'}",
        kind="prefill" if reading else "decode",
        tokens_per_s=number(found.group(3) or found.group(4)),
        engine=None if webui else "exllamav3",
        prompt_tokens=tokens if reading else 0,
        generate_tokens=None if reading else tokens,
        filled_tokens=int(found.group(6) or 0),
    )


def _kobold(line: str) -> Iterator[Run]:
    """koboldcpp's `Process:1.20s (2.3ms/T = 434.78T/s), Generate:4.00s (…)`."""
    for one, first, other, second in _KOBOLD.findall(line[:2000]):
        what, speed = one or other, first or second
        kind = "prefill" if what.startswith("Process") else "decode"
        yield Run(tool="koboldcpp", test=what.lower(), kind=kind, tokens_per_s=number(speed), engine="llama.cpp", prompt_tokens=None)


def _exo(one: dict[str, Any], model: str | None, depth: int) -> Iterator[Run]:
    """exo's and MLX servers' JSON: `prompt_tps` and `generation_tps`, with counts beside them."""
    name = next((one[key] for key in ("model", "model_id", "model_short_id") if isinstance(one.get(key), str)), model)
    writing = next((number(one[key]) for key in _EXO_KEYS if number(one.get(key)) is not None), None)
    if writing is not None:
        reading = number(one.get("prompt_tps") or one.get("prompt_tokens_per_second"))
        yield from _pair(reading, writing, whole(one.get("prompt_tokens")), whole(one.get("generation_tokens")), 1, name, "")
    elif depth < 6:
        for value in list(one.values())[:500]:
            for inner in (value if isinstance(value, list) else [value])[:2000]:
                if isinstance(inner, dict):
                    yield from _exo(inner, name, depth + 1)
