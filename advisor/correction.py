"""What `calibrate --save` learned on this user's own hardware: measured over estimated, by device, count and engine."""

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from advisor.reason import Fact
from advisor.record import dataclass

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "corrections.json"
SWITCH = "ADVISOR_NO_CORRECTION"
LEAST_FACTOR, MOST_FACTOR = 0.1, 3.0  # beyond this something else was measured
MOST_BYTES = 1 << 24  # a hundred thousand rows: what is larger is cut off, and so broken and not ours
_KEY = r"([1-9]\d{0,5})x ([\w.-]+) on ([\w.-]+)"
_DAY = r"\d{4}-\d{2}-\d{2}"
_off = 0
_reading = 0  # how many are within `read_once`: they may overlap, in threads
_read: "Mapping[str, Correction] | None" = None  # what counts until the last of them ends
_NONE: "dict[str, Correction]" = {}
_short: "tuple[Mapping[str, Correction], dict[str, list[tuple[int, str, Correction]]]]" = (_NONE, {})


@dataclass(frozen=True)
class Correction:
    """Factors on tokens/s (measured over estimated), the median over the saved rows."""

    decode_factor: float | None
    prefill_factor: float | None
    rows: int
    date: str


@dataclass(frozen=True)
class Doubt:
    """That less was measured than estimated on these devices, though not of this very run: with another engine, or of another number."""

    device: str
    devices: int
    engine: str
    decode_factor: float
    rows: int
    date: str
    same_devices: bool  # just these devices with another engine

    @property
    def what(self) -> str:
        """What was not measured: the engine, or so many devices."""
        return "engine" if self.same_devices else "devices"

    @property
    def facts(self) -> dict[str, Fact]:
        """What was measured, as reasons tell it."""
        facts: dict[str, Fact] = {"measured_engine": self.engine, "measured_devices": self.devices, "device": self.device}
        return facts | {"decode_factor": self.decode_factor, "rows": self.rows, "date": self.date}


def home() -> str:
    """The user's home; for one whom this machine does not know, as in a container, a place where nothing can lie."""
    found = os.path.expanduser("~")
    return os.devnull if found == "~" else found


def stated_or_home(variable: str, *below: str) -> str:
    """The folder that a variable of the environment states; empty or relative it does not count [XDG base directories]."""
    stated = os.environ.get(variable, "")
    return stated if os.path.isabs(stated) else os.path.join(home(), *below)


def folder_name() -> str:
    """The user's own folder by the rules of the system; text, for every answer asks, and pathlib takes 3 ms to import."""
    if sys.platform == "win32":
        return os.path.join(stated_or_home("APPDATA"), "advisor")
    if sys.platform == "darwin":
        return os.path.join(home(), "Library", "Application Support", "advisor")
    return os.path.join(stated_or_home("XDG_CONFIG_HOME", ".config"), "advisor")


def folder() -> "Path":
    """The same as a path."""
    from pathlib import Path

    return Path(folder_name())


def file() -> "Path":
    """The file of the corrections."""
    return folder() / FILE_NAME


@lru_cache(maxsize=8)
def _known_file(find: Callable[[], str], *_environment: str | None) -> str:
    """The file, found once for an environment: asked for by every estimate."""
    return os.path.join(find(), FILE_NAME)


def key_of(device_id: str, engine_id: str, devices: int = 1) -> str:
    """What a correction holds for: two cards tell nothing of one."""
    return f"{devices}x {device_id} on {engine_id}"


def saved() -> Mapping[str, Correction]:
    """Every correction that is saved now; none while switched off."""
    if _off:
        return _NONE
    if _read is not None:
        return _read
    if os.environ.get(SWITCH):
        return _NONE
    path = _known_file(folder_name, *(os.environ.get(name) for name in ("XDG_CONFIG_HOME", "APPDATA", "HOME")))
    try:
        found = os.stat(path)
    except OSError:
        return _NONE
    return _rows_at(path, found.st_mtime_ns, found.st_ino, found.st_size)


def parts_of(key: str) -> tuple[int, str, str] | None:
    """How many of which device, with which engine, a key speaks of; None for what is no key."""
    parts = re.fullmatch(_KEY, key)
    return (int(parts[1]), parts[2], parts[3]) if parts else None


def doubt_of(held: Mapping[str, Correction], devices: Collection[str], count: int, engine_id: str) -> Doubt | None:
    """What of the saved speaks against an estimate on so many of these devices that was not measured itself.

    Another engine on the same devices tells most: whether that engine is slow there or the machine, nobody knows. Then the same engine
    on another number of them; of equals the slowest.
    """
    found = [
        Doubt(device, number, engine, each.decode_factor or 1.0, each.rows, each.date, len(devices) == 1 and number == count)
        for device in devices
        for number, engine, each in _fallen_short(held).get(device, ())
    ]
    return min(found, key=lambda each: (not each.same_devices, each.engine != engine_id, each.decode_factor), default=None)


def _fallen_short(held: Mapping[str, Correction]) -> dict[str, list[tuple[int, str, Correction]]]:
    """Of each device the numbers and engines that were measured to be slower than estimated; found once for what is saved."""
    global _short
    of, found = _short
    if of is not held:
        found = {}
        for key, each in held.items():
            if (parts := parts_of(key)) and each.decode_factor is not None and each.decode_factor < 1:
                found.setdefault(parts[1], []).append((parts[0], parts[2], each))
        _short = held, found
    return found


@contextmanager
def read_once() -> Iterator[None]:
    """Within, what was saved at the start holds: one recommendation asks for it hundreds of times, and should not change its mind."""
    global _read, _reading
    _read, _reading = saved(), _reading + 1
    try:
        yield
    finally:
        _reading -= 1
        if not _reading:
            _read = None


@contextmanager
def off() -> Iterator[None]:
    """No correction within: what is compared with measurements is the model's own estimate."""
    global _off
    _off += 1
    try:
        yield
    finally:
        _off -= 1


@lru_cache(maxsize=4)
def _rows_at(path: str, *_stamp: int) -> dict[str, Correction]:
    """Every correction of the file as it was at that time."""
    return {key: found for key, rows in (rows_of(path) or {}).items() if (found := correction_of(rows)) is not None}


def rows_of(path: "str | Path") -> dict[str, list[dict[str, Any]]] | None:
    """The saved rows by key; None of a file that is not ours, or broken."""
    if not os.path.isfile(path):
        return None if os.path.exists(path) else {}
    import json  # late: most users have no corrections

    try:
        with open(path, "rb") as stream:
            held = json.loads(stream.read(MOST_BYTES))
        kept = held["corrections"]
        return {str(key): [row for row in rows if _is_row(row)] for key, rows in kept.items() if isinstance(rows, list)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def unreadable() -> str | None:
    """The file of the corrections where it is there and cannot be read: then nothing is corrected."""
    path = os.path.join(folder_name(), FILE_NAME)
    return path if rows_of(path) is None else None


def _is_row(row: object) -> bool:
    """A row with a kind and a believable factor."""
    if not isinstance(row, dict) or row.get("kind") not in ("decode", "prefill"):
        return False
    factor = row.get("factor")
    return isinstance(factor, int | float) and not isinstance(factor, bool) and LEAST_FACTOR <= factor <= MOST_FACTOR


def correction_of(rows: list[dict[str, Any]]) -> Correction | None:
    """The medians of the rows; None without any."""
    if not rows:
        return None
    days = [str(row.get("date")) for row in rows]
    newest = max((day for day in days if re.fullmatch(_DAY, day)), default="on a day unknown")
    return Correction(_middle(rows, "decode"), _middle(rows, "prefill"), len(rows), newest)


def _middle(rows: list[Mapping[str, Any]] | list[dict[str, Any]], kind: str) -> float | None:
    """The median factor of one kind."""
    factors = [float(row["factor"]) for row in rows if row["kind"] == kind]
    from statistics import median  # late: it loads decimal, fractions and random, and most runs have no corrections

    return median(factors) if factors else None
