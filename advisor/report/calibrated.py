"""The answer of `calibrate`: JSON, and a table of measured against estimated."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from advisor.correction import Correction
from advisor.intake.calibrate import Judged
from advisor.intake.measured_memory import Memory
from advisor.memory import Fit
from advisor.report.head import head
from advisor.report.sentences import text
from advisor.units import GIB

WIDTH = 80
MOST_TEXT_ROWS = 60


def as_object(
    rows: Sequence[Judged], memory: Sequence[Memory], corrections: Mapping[str, Correction], saved: bool, warnings: Sequence[str] = ()
) -> dict[str, Any]:
    """The JSON of `calibrate`: runs, and the memory that load logs state. See docs/json.md."""
    return {
        **head("calibrate"),
        "rows": [_row(each) for each in rows],
        "memory": [_memory(each) for each in memory],
        "correction": [_correction(key, each, saved) for key, each in corrections.items()] or None,
        "warnings": list(warnings),
    }


def _row(each: Judged) -> dict[str, Any]:
    """One run."""
    bound, run = each.bound, each.bound.run
    return {
        "system": bound.words,
        "model": bound.model.id if bound.model else None,
        "quant": bound.quant.id if bound.quant else None,
        "test": run.test,
        "measured_tokens_per_s": run.tokens_per_s,
        "estimated_tokens_per_s": each.estimated_tokens_per_s,
        "ratio": each.ratio,
        "accepted": each.accepted,
        "why": text(each.why) if each.why else None,
        "kind": run.kind,
        "tool": run.tool,
        "users": run.users,
        "printed": run.file or run.model,
    }


def _memory(each: Memory) -> dict[str, Any]:
    """One load."""
    bound = each.bound
    return {
        "source": each.source,
        "system": bound.words if bound else None,
        "model": bound.model.id if bound and bound.model else each.model,
        "context_tokens": each.context_tokens,
        "devices": list(each.devices),
        "gpu_share": each.gpu_share,
        "measured": _parts(each.weights_bytes, each.cache_bytes, each.overhead_bytes, each.total_bytes),
        "estimated": _of_fit(each.estimated) if each.estimated else None,
    }


def _parts(weights: float | None, cache: float | None, overhead: float | None, total: float | None) -> dict[str, float | None]:
    """Bytes by purpose, in GiB."""
    sizes = {"weights_gib": weights, "kv_cache_gib": cache, "overhead_gib": overhead, "total_gib": total}
    return {key: None if size is None else size / GIB for key, size in sizes.items()}


def _of_fit(fit: Fit) -> dict[str, float | None]:
    """The same of an estimate, over all devices."""
    sums = [
        sum(getattr(device, name) * device.count for device in fit.devices) for name in ("weights_bytes", "cache_bytes", "overhead_bytes")
    ]
    return _parts(sums[0], sums[1], sums[2], sum(sums))


def _correction(key: str, each: Correction, saved: bool) -> dict[str, Any]:
    """One correction: for which devices and engine, by how much."""
    devices, engine = key.split(" on ")
    count, device = devices.split("x ", 1)
    return {
        "device": device,
        "devices": int(count),
        "engine": engine,
        "decode_factor": each.decode_factor,
        "prefill_factor": each.prefill_factor,
        "rows": each.rows,
        "date": each.date,
        "saved": saved,
    }


def as_text(rows: Sequence[Judged], memory: Sequence[Memory], corrections: Mapping[str, Correction], saved: bool) -> str:
    """A table of the runs by system and model, remarks below, then memory and the correction."""
    from tabulate import tabulate

    parts: list[str] = []
    groups: dict[str, list[Judged]] = {}
    for each in rows[:MOST_TEXT_ROWS]:
        groups.setdefault(_title(each), []).append(each)
    for title, members in groups.items():
        table = tabulate(
            [_line(each) for each in members], headers=["test", "measured", "estimated", "ratio"], tablefmt="simple", disable_numparse=True
        )
        parts.append("\n".join([title, "", table, *_remarks(members)]))
    if len(rows) > MOST_TEXT_ROWS:
        parts.append(f"… and {len(rows) - MOST_TEXT_ROWS} more rows: see --json.")
    lines = [_memory_line(each) for each in memory] + [_correction_line(key, each, saved) for key, each in corrections.items()]
    parts += [textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in lines]
    return "\n\n".join(parts) + "\n"


def _title(each: Judged) -> str:
    """What was measured on what."""
    bound, run = each.bound, each.bound.run
    model = bound.model.id if bound.model else (run.file or run.model or "unknown model")
    quant = bound.quant.id if bound.quant else (run.quant or "unknown quantization")
    return textwrap.fill(f"{model} {quant} on {bound.words or 'unknown system'}"[:200], WIDTH, break_on_hyphens=False)


def _line(each: Judged) -> list[str]:
    """One run in the table."""
    run = each.bound.run
    measured = "–" if run.tokens_per_s is None else f"{run.tokens_per_s:,.1f}"
    estimated = "–" if each.estimated_tokens_per_s is None else f"{each.estimated_tokens_per_s:,.1f}"
    ratio = "refused" if not each.accepted else ("–" if each.ratio is None else f"{each.ratio:.2f}")
    return [(run.test or run.tool)[:36], measured, estimated, ratio]


def _remarks(members: Sequence[Judged]) -> list[str]:
    """Why rows were refused, not estimated or not used: each reason once."""
    said = dict.fromkeys(text(each.why) for each in members if each.why)
    return [textwrap.fill(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ") for sentence in said]


def _memory_line(each: Memory) -> str:
    """Measured memory beside the estimated."""
    if each.source == "ollama ps":
        size = f"{each.total_bytes / GIB:.1f} GiB" if each.total_bytes else "unknown size"
        return f"{each.model}: ollama takes it for {size}, {100 * (each.gpu_share or 0):.0f} % on the GPU"
    measured = _parts(each.weights_bytes, each.cache_bytes, each.overhead_bytes, each.total_bytes)
    estimated = _of_fit(each.estimated) if each.estimated else {}
    cells = [f"{name} {_gib(measured[key])} (estimated {_gib(estimated.get(key))})" for name, key in _PURPOSES]
    return f"Memory of {each.model or 'the model'}: " + ", ".join(cells)


_PURPOSES = (("weights", "weights_gib"), ("cache", "kv_cache_gib"), ("working memory", "overhead_gib"))


def _gib(size: float | None) -> str:
    """A size in GiB."""
    return "–" if size is None else f"{size:.2f} GiB"


def _correction_line(key: str, each: Correction, saved: bool) -> str:
    """What later estimates will be multiplied by."""
    factors = [
        f"{name} × {factor:.2f}" for name, factor in (("generation", each.decode_factor), ("prompts", each.prefill_factor)) if factor
    ]
    what = "saved; later estimates use it" if saved else "not saved; --save keeps it"
    return f"Correction for {key}: {', '.join(factors)} from {each.rows} rows ({what})."
