"""Powers of ten and of two, and how a number is shown; the only module that knows them.

Records hold SI: seconds, bytes, bytes per second, operations per second, watts, dollars. Datasheet units appear in YAML
keys and are multiplied in once, when a record is read.
"""

from collections.abc import Callable
from functools import lru_cache

KIB = 1024.0
MIB = 1024.0**2
GIB = 1024.0**3
TIB = 1024.0**4
KB = 1e3
MB = 1e6
GB = 1e9
TB = 1e12
GBIT = 1e9 / 8
TERA = 1e12
GIGA = 1e9
MEGA = 1e6
KILO = 1e3
MS = 1e-3
US = 1e-6
NS = 1e-9
BITS_PER_BYTE = 8.0
HOUR_S = 3600.0
DAY_S = 86400.0
YEAR_S = 365.25 * DAY_S
MOST_LOG_FACTOR = 5.0  # 148 times: no estimate is further off, and e to a much higher power overflows


def figure(number: float) -> str:
    """Three figures of a number, as a person writes them: 0.42, 3.4, 16.8, 112, 1,400."""
    size = abs(number)
    if size >= 999.5:
        return f"{number:,.0f}"
    decimals = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals == 2 else text.removesuffix(".0")


def _seconds(seconds: float) -> str:
    size = abs(seconds)
    if size >= 2 * HOUR_S:
        return f"{figure(seconds / HOUR_S)} h"
    if size >= 2 * 60:
        return f"{figure(seconds / 60)} min"
    for unit, name in ((1.0, "s"), (MS, "ms")):
        if size >= unit or not size:
            return f"{figure(seconds / unit)} {name}"
    return f"{figure(seconds / US)} µs"


def _scaled(number: float, steps: tuple[tuple[float, str], ...]) -> str:
    for unit, name in steps:
        if abs(number) >= unit:
            return f"{figure(number / unit)} {name}"
    unit, name = steps[-1]
    return f"{figure(number / unit)} {name}"


def _bytes(size_bytes: float) -> str:
    if abs(size_bytes) >= GIB / 10:
        return f"{figure(size_bytes / GIB)} GiB"
    return _scaled(size_bytes, ((MIB, "MiB"), (KIB, "KiB"), (1.0, "bytes")))


_SHOWN = (
    ("_usd_per_million_tokens", lambda n: f"${n:,.2f} per million tokens"),
    ("_usd_per_kwh", lambda n: f"${n:.2f} per kWh"),
    ("_usd_per_hour", lambda n: f"${n:.2f} an hour"),
    ("_usd", lambda n: f"${n:,.0f}" if abs(n) >= 10 or not n else f"${n:,.2f}"),
    ("_bytes_per_s", lambda n: _scaled(n, ((TB, "TB/s"), (GB, "GB/s"), (MB, "MB/s"), (KB, "KB/s")))),
    ("_tokens_per_s", lambda n: f"{figure(n)} tokens/s"),
    ("_tokens", lambda n: f"{n:,.0f} tokens"),
    ("_bytes", _bytes),
    ("_gib", lambda n: f"{figure(n)} GiB"),
    ("_gb_per_s", lambda n: f"{figure(n)} GB/s"),
    ("_flops", lambda n: _scaled(n, ((TERA, "TFLOP/s"), (GIGA, "GFLOP/s")))),
    ("_share", lambda n: f"{figure(100 * n)} %"),
    ("_percent", lambda n: f"{figure(n)} %"),
    ("_factor", lambda n: f"{figure(n)}×"),
    ("_ms", lambda n: f"{figure(n)} ms"),
    ("_us", lambda n: f"{figure(n)} µs"),
    ("_kwh", lambda n: f"{figure(n)} kWh"),
    ("_w", lambda n: f"{n:,.0f} W"),
    ("_s", _seconds),
)
SUFFIXES = tuple(suffix for suffix, _ in _SHOWN)


def show(name: str, value: object) -> str:
    """A value as text, with the unit that the suffix of its name states; words stay as they are."""
    if isinstance(value, str):
        return value
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value)
    shown = _shown(name)
    return shown(value) if shown else f"{value:,}" if isinstance(value, int) else figure(value)


@lru_cache(maxsize=1024)
def _shown(name: str) -> Callable[[float], str] | None:
    """How figures of that name are written; None without a unit."""
    return next((shown for suffix, shown in _SHOWN if name.endswith(suffix)), None)
