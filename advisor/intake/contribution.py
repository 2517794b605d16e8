"""Own benchmarks as a file of the catalog's measurements, to be looked over and given to the project."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from advisor.intake.calibrate import Judged
from advisor.units import GIB
from advisor.yamlwrite import text


def written(compared: Sequence[Judged], day: date) -> str:
    """The file's text: one row for each accepted decode, prefill or served run whose system and model are known."""
    unique: dict[str, dict[str, Any]] = {}
    for row in (row for each in compared if (row := _row(each, day)) is not None):
        place = 1
        while (name := row["id"] if place == 1 else f"{row['id']}-{place}") in unique:
            place += 1
        unique[name] = {**row, "id": name}
    head = ["# Own benchmarks, written by `advisor calibrate --export`. Look it over, name yourself as the source, and send it in.",
            f"source: {text('own measurement')}"]  # fmt: skip
    return "\n".join([*head, "rows:" if unique else "rows: []", *(line for row in unique.values() for line in _lines(row))]) + "\n"


def _row(each: Judged, day: date) -> dict[str, Any] | None:
    """The keys of a measurement; None for what the catalog could not use."""
    bound, run = each.bound, each.bound.run
    if (
        not each.accepted
        or bound.system is None
        or bound.model is None
        or run.kind not in ("decode", "prefill", "served")
        or run.speculative
    ):
        return None
    groups = [
        {"device": group.device.id, "name": group.device.name, "count": group.gpus, "memory_gib": group.memory_bytes / GIB}
        for group in bound.system.groups
    ]
    link = bound.system.shown_link
    row: dict[str, Any] = {
        "date": (run.date or day.isoformat())[:7],
        "devices": groups,
        "boxes": len(bound.system.boxes) if len(bound.system.boxes) > 1 else None,
        "link": link.id if link else None,
        "strategy": bound.system.strategy,
        "engine": each.engine if run.engine or bound.system.engine else None,
        "engine_printed": run.engine,
        "engine_version": run.version,
        "backend": run.backend,
        "model": bound.model.id,
        "model_printed": re.split(r"[/\\\\]", run.file)[-1] if run.file else (run.model or bound.model.id),
        "quant": bound.quant.id if bound.quant else None,
        "quant_printed": run.quant,
        "file_gib": run.file_bytes / GIB if run.file_bytes else None,
        "test": run.test,
        "flash_attention": run.flash_attention,
        "users": round(run.users) if run.users > 1 else None,
        "prompt_tokens": run.prompt_tokens or None,
        "filled_tokens": run.filled_tokens or None,
        "generate_tokens": run.generate_tokens,
        "prefill_tokens_per_s" if run.kind == "prefill" else "decode_tokens_per_s": run.tokens_per_s,
        "sustained": True if run.kind == "served" else None,
    }
    return {"id": _id_of(row), **{key: value for key, value in row.items() if value is not None}}


def _id_of(row: Mapping[str, Any]) -> str:
    """An id that says what ran on what."""
    devices = (f"{group['count']}x-{group['device']}" for group in row["devices"])
    parts = ["own", *devices, str(row["engine"]), row["model"], str(row["quant"]), row["test"]]
    return re.sub(r"[^a-z0-9._-]+", "-", "-".join(parts).lower()).strip("-")[:180]


def _lines(row: Mapping[str, Any]) -> list[str]:
    """One row in the catalog's form."""
    found = []
    for place, (key, value) in enumerate(row.items()):
        lead = "  - " if place == 0 else "    "
        if key == "devices":
            found.append(f"{lead}devices:")
            found += [f"      - {{{', '.join(f'{name}: {_plain(inner)}' for name, inner in group.items())}}}" for group in value]
        else:
            found.append(f"{lead}{key}: {_plain(value)}")
    return found


def _plain(value: object) -> str:
    """A value as YAML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    return text(str(value))
