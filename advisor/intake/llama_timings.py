"""llama.cpp's timing lines of every version, its server's JSON timings, llama-cli's last line, and the tables of llama-batched-bench."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor.intake.page import Page
from advisor.intake.readings import number, whole
from advisor.intake.run import Run
from advisor.record import replace
from advisor.units import MS

TOOL = "llama.cpp timings"

_LINE = re.compile(
    r"(?P<what>prompt eval|generation eval|eval) time\s*=\s*(?P<ms>[\d.]+|nan|inf)\s*ms\s*/\s*(?P<tokens>\d+)\s*(?:tokens|runs)?"
    r"(?:\s*\(\s*(?P<per>[\d.]+|nan|inf)\s*ms per (?:token|run)(?:,\s*(?P<speed>[\d.]+|nan|inf)\s*tokens per second)?)?",
)
_CLI = re.compile(r"\[\s*Prompt:\s*([\d.]+)\s*t/s\s*\|\s*Generation:\s*([\d.]+)\s*t/s\s*\]")
_DRAFT = re.compile(r"draft acceptance|n_drafted|n_accept|--model-draft|spec(?:ulative)? decod", re.IGNORECASE)


def recognise(page: Page) -> bool:
    """Whether one of these is in the text."""
    text = page.text
    return bool(
        "eval time" in text or "S_TG t/s" in text or _CLI.search(text) or any(_timings(one) for one in page.objects) or '"speed_tg"' in text
    )


def read(page: Page) -> tuple[Run, ...]:
    """Every speed printed; sampling speed is not the model's and is left out."""
    speculative = bool(_DRAFT.search(page.text))
    runs = [*_lines(page.lines), *_cli(page.text), *_json(page.objects), *_batched(page.lines)]
    return tuple(replace(run, speculative=speculative or run.speculative) for run in runs)


def _lines(lines: Iterable[str]) -> Iterator[Run]:
    """`prompt eval time = … ms / N tokens ( … tokens per second)` and the line of the generated ones."""
    prompt: int | None = None
    for line in lines:
        found = _LINE.search(line) if "eval time" in line else None
        if not found:
            continue
        tokens, speed = int(found.group("tokens")), _speed(found)
        if found.group("what") == "prompt eval":
            prompt = tokens
            yield prompt_read(tokens, speed)
        else:
            yield generated(tokens, speed, prompt)


def _speed(found: re.Match[str]) -> float | None:
    """Tokens per second as printed, else tokens over time."""
    printed = number(found.group("speed")) if found.group("speed") else None
    if printed is not None or not found.group("ms"):
        return printed
    ms = number(found.group("ms"))
    return int(found.group("tokens")) / (ms * MS) if ms else None


def prompt_read(tokens: int | None, speed: float | None) -> Run:
    """The reading of one prompt."""
    return Run(
        tool=TOOL,
        test=f"prompt of {tokens} tokens" if tokens else "prompt",
        kind="prefill",
        tokens_per_s=speed,
        engine="llama.cpp",
        prompt_tokens=tokens,
    )


def generated(tokens: int | None, speed: float | None, prompt: int | None) -> Run:
    """The generation after it."""
    test = f"{tokens} tokens generated" if tokens else "generation"
    return Run(
        tool=TOOL,
        test=test,
        kind="decode",
        tokens_per_s=speed,
        engine="llama.cpp",
        prompt_tokens=0,
        filled_tokens=prompt or 0,
        generate_tokens=tokens,
    )


def _cli(text: str) -> Iterator[Run]:
    """`[ Prompt: 123.4 t/s | Generation: 56.7 t/s ]`."""
    for found in list(_CLI.finditer(text))[:1000]:
        yield prompt_read(None, number(found.group(1)))
        yield generated(None, number(found.group(2)), None)


def _timings(one: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The server's timings in an answer."""
    inner = one.get("timings", one)
    return inner if isinstance(inner, dict) and ("predicted_per_second" in inner or "prompt_per_second" in inner) else None


def _json(objects: Iterable[Mapping[str, Any]]) -> Iterator[Run]:
    """Answers of llama-server, and llama-batched-bench's JSON lines."""
    for one in objects:
        timings = _timings(one)
        if timings:
            prompt = whole(timings.get("prompt_n"))
            drafted = bool(number(timings.get("draft_n")))
            if number(timings.get("prompt_per_second")) is not None:
                yield prompt_read(prompt, number(timings.get("prompt_per_second")))
            yield replace(
                generated(whole(timings.get("predicted_n")), number(timings.get("predicted_per_second")), prompt), speculative=drafted
            )
        elif "speed_tg" in one and "speed_pp" in one:
            yield from _batch(
                {
                    "PP": one.get("pp"),
                    "TG": one.get("tg"),
                    "B": one.get("pl"),
                    "S_PP t/s": one["speed_pp"],
                    "S_TG t/s": one["speed_tg"],
                    "S t/s": one.get("speed"),
                }
            )


def _batched(lines: Iterable[str]) -> Iterator[Run]:
    """Rows of the table PP, TG, B, N_KV, T_PP s, S_PP t/s, T_TG s, S_TG t/s, T s, S t/s; sweeps leave some out."""
    head: list[str] | None = None
    for line in lines:
        if "|" not in line:
            continue
        cells = [cell.strip() for cell in line.strip(" >").strip("|").split("|")]
        if "S_TG t/s" in cells:
            head = cells
        elif head and len(cells) == len(head) and re.match(r"^\d", cells[0]):
            yield from _batch(dict(zip(head, cells, strict=True)))


def _batch(row: Mapping[str, Any]) -> Iterator[Run]:
    """The three speeds of a row; those of several sequences are sums."""
    users, prompt, generate = max(1, whole(row.get("B")) or 1), whole(row.get("PP")), whole(row.get("TG"))
    filled = 0 if "B" in row else whole(row.get("N_KV")) or 0  # a sweep at growing depth, one sequence
    name = f"pp{prompt} tg{generate} b{users}" + (f" @ d{filled}" if filled else "")
    base = Run(
        tool="llama-batched-bench",
        test=name,
        kind="decode",
        tokens_per_s=None,
        engine="llama.cpp",
        users=users,
        prompt_tokens=prompt,
        generate_tokens=generate,
    )
    if number(row.get("S_PP t/s")) is not None:
        yield replace(
            base,
            kind="prefill",
            tokens_per_s=number(row.get("S_PP t/s")),
            filled_tokens=filled,
            test=name + " reading",
            generate_tokens=None,
        )
    depth = filled + (0 if "B" not in row else prompt or 0)
    yield replace(base, tokens_per_s=number(row.get("S_TG t/s")), prompt_tokens=0, filled_tokens=depth, test=name + " generating")
    if number(row.get("S t/s")) is not None:
        yield replace(base, kind="mixed", tokens_per_s=number(row.get("S t/s")), filled_tokens=filled, test=name + " together")
