"""Saving what own benchmarks say: corrections for this user's hardware, and a file that can be given to the catalog."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

from advisor import correction, safewrite
from advisor.errors import BadInput
from advisor.intake.calibrate import Judged

SCHEMA_VERSION = "1.0"
MOST_ROWS = 200  # of one key; the newest stay
LOCK_LIMIT_S = 10.0


def rows_of(compared: Sequence[Judged], day: date) -> dict[str, list[dict[str, Any]]]:
    """What each usable row says, by device, count and engine; equal devices only."""
    found: dict[str, list[dict[str, Any]]] = {}
    for each in compared:
        key = key_of(each)
        if key is not None and each.usable and each.ratio:
            found.setdefault(key, []).append(_row(each, each.ratio, day))
    return found


def key_of(each: Judged) -> str | None:
    """The key of a row's system; None where unlike devices took part."""
    system = each.bound.system
    if system is None or each.engine is None:
        return None
    devices = {group.device.id for group in system.groups}
    return correction.key_of(devices.pop(), each.engine, system.count) if len(devices) == 1 else None


def _row(each: Judged, factor: float, day: date) -> dict[str, Any]:
    """A row of the file; `print` tells the same measurement when it is saved again."""
    bound = each.bound
    what = {"model": bound.model.id if bound.model else None, "quant": bound.quant.id if bound.quant else None, "test": bound.run.test}
    mark = sha256(json.dumps([bound.words, what, bound.run.tokens_per_s]).encode()).hexdigest()[:16]
    return {
        "kind": bound.run.kind,
        "factor": factor,
        **what,
        "measured_tokens_per_s": bound.run.tokens_per_s,
        "date": day.isoformat(),
        "print": mark,
    }


def save(rows: dict[str, list[dict[str, Any]]]) -> dict[str, correction.Correction]:
    """Add the rows to the user's file, and give the corrections that now hold. Two savers at once lose nothing."""
    path = correction.file()
    with _locked(path):
        held = correction.rows_of(path)
        if held is None:
            raise BadInput(f"{path}: cannot be read, so nothing was saved: mend it, or drop it with `advisor calibrate --reset`")
        for key, new in rows.items():
            merged = {str(row.get("print", place)): row for place, row in enumerate([*held.get(key, []), *new])}
            held[key] = list(merged.values())[-MOST_ROWS:]
        body = {"schema_version": SCHEMA_VERSION, "corrections": held}
        safewrite.write(path, json.dumps(body, indent=1) + "\n", force=True)
    found = {key: correction.correction_of(held[key]) for key in rows}
    return {key: each for key, each in found.items() if each is not None}


def reset() -> bool:
    """Drop every correction; whether there was one."""
    path = correction.file()
    with _locked(path):
        was = path.exists()
        path.unlink(missing_ok=True)
    return was


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One saver at a time: a lock on a file beside it, that the system gives back when the process ends."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise BadInput(f"{path.parent}: cannot be written: {error.strerror or error}; nothing was changed") from error
    try:
        _wait_for(handle, path)
        yield
    finally:
        os.close(handle)


def _wait_for(handle: int, path: Path) -> None:
    """Take the lock, or say that another process holds it."""
    until = time.monotonic() + LOCK_LIMIT_S
    while not _taken(handle):
        if time.monotonic() > until:
            raise BadInput(f"{path}: another process has been saving for {LOCK_LIMIT_S:.0f} s; nothing was changed")
        time.sleep(0.02)


def _taken(handle: int) -> bool:
    """Whether the lock is ours now."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
