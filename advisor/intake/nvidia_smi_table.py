"""The boxed table of `nvidia-smi`, from the 2011 drivers to today: cut names, MIG, WDDM, N/A, ERR!, Not Supported."""

import re
from collections.abc import Iterable

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, known, number, size_bytes
from advisor.intake.seen import Seen, View
from advisor.record import replace
from advisor.units import MIB

TOOL = "nvidia-smi table"
MOST_ROWS = 4096

_ROW = re.compile(
    r"^[\s>│|]*[│|]\s*(\d{1,3})\.?\s+(\S[^|│]*?)\s*[|│]\s*((?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\b\s*([^|│]*)"
)
# on Tegra the GPU is no PCI device
_TEGRA_ROW = re.compile(r"^[\s>│|]*[│|]\s*(\d{1,3})\s+((?:NVIDIA )?(?:Orin|Thor|Xavier|Tegra)\b[^|│]*?)\s*[|│]\s*(N/A)\b\s*([^|│]*)")
_MODE = re.compile(r"\s+(On|Off|WDDM|TCC|MCDM|WDM|N/A|Enabled|Disabled|ERR!)$")
_MEMORY = re.compile(r"(\d+)\s*Mi?B\s*/\s*(\d+)\s*Mi?B")
_GIB_MEMORY = re.compile(r"([\d.]+)\s*[MG]iB\s*/\s*([\d.]+)\s*GiB")  # nvitop
_POWER = re.compile(r"/\s*(\d+(?:\.\d+)?)\s*W\b")
_MIG_ROW = re.compile(r"^[\s>│|]*[│|]\s*(\d{1,3})\s+(\d+)\s+(\d+)\s+(\d+)\s*[|│]\s*(?:(\d+)\s*MiB\s*/\s*(\d+)\s*MiB|(\S[^|│]*))")
_DRIVER = re.compile(r"(?:Driver|KMD) Version:\s*([\d.]+)")
_SMI = re.compile(r"NVIDIA-SMI\s+(?:version\s*:?\s*)?([\d.]+)")
_FAILED = re.compile(
    r"NVIDIA-SMI has failed|couldn't communicate with the NVIDIA driver|Driver Not Loaded|No devices were found"
    r"|Failed to initialize NVML|NVML library not found",
    re.IGNORECASE,
)


def recognise(page: Page) -> bool:
    """Whether there may be a row of the table, its head or one of its failures."""
    return page.has(
        "NVIDIA-SMI",
        "NVIDIA driver",
        "Driver Not Loaded",
        "No devices were found",
        "NVML",
        ":00.0 ",
        "| GPU  Name",
        "Tegra",
        "Orin",
        "Thor",
    )


def read(page: Page) -> tuple[View, ...]:
    """The table's devices, with MIG slices beside the device they are cut from."""
    driver = _DRIVER.search(page.text)
    devices = _devices(page.lines, driver.group(1) if driver else None)
    slices = _slices(page.lines)
    shown = tuple(replace(device, mig_bytes=slices.get(device.index, ())) for device in devices)
    return (View(tool=TOOL, devices=shown, os=_os(page.text), warnings=_warnings(page.text, shown)),)


def _devices(lines: Iterable[str], driver: str | None) -> list[Seen]:
    """One device a row; a table pasted twice (before and after) gives each device once, as last printed."""
    found: dict[tuple[int, str | None], Seen] = {}
    at: tuple[int, str | None] | None = None
    rows = 0
    for line in lines:
        row = (_ROW.match(line) or _TEGRA_ROW.match(line)) if "|" in line else None
        if row:
            rows += 1
            if rows > MOST_ROWS:
                break
            at = (int(row.group(1)), bus_of(row.group(3)))
            found[at] = _first_line(row, at, driver)
        elif at is not None and (
            "MiB" in line or "GiB" in line or "MB" in line or " W" in line or "W /" in line or "MIG" in line or "abled" in line
        ):
            if "Processes" in line or "MIG devices" in line:
                at = None
            else:
                found[at] = _second_line(found[at], line)
        elif at is not None and ("Processes" in line or "PID" in line):
            at = None
    return list(found.values())


def _first_line(row: re.Match[str], at: tuple[int, str | None], driver: str | None) -> Seen:
    """Index, name and bus address; `ERR!` for a name means a card that fell off the bus."""
    name = _MODE.sub("", row.group(2)).strip()
    lost = name.startswith("ERR!")
    notes = ("nvidia-smi prints ERR! for this card: it has fallen off the bus",) if lost else ()
    return Seen(name=None if lost else known(name), index=at[0], bus=at[1], maker="nvidia", driver=driver, notes=notes)


def _second_line(device: Seen, line: str) -> Seen:
    """Memory and power limit of the row under the name; MIG mode of the one under that."""
    memory = _MEMORY.search(line)
    if memory and device.memory_bytes is None:
        total = size_bytes(f"{memory.group(2)} MiB")
        free = (number(memory.group(2)) or 0) - (number(memory.group(1)) or 0)
        device = replace(device, memory_bytes=total, free_bytes=free * MIB if total and free >= 0 else None)
    large = _GIB_MEMORY.search(line) if memory is None else None
    if large and device.memory_bytes is None:
        device = replace(device, memory_bytes=size_bytes(f"{large.group(2)} GiB"))
    power = _POWER.search(line)
    if power and device.power_limit_w is None:
        device = replace(device, power_limit_w=number(power.group(1)))
    if "Not Supported" in line and device.memory_bytes is None:
        device = replace(device, notes=(*device.notes, "memory is not reported: it shares the computer's memory"))
    if re.search(r"[|│]\s*Enabled\s*[|│]", line):
        device = replace(device, notes=(*device.notes, "MIG is on: the card is cut into slices"))
    return device


def _slices(lines: Iterable[str]) -> dict[int | None, tuple[float | None, ...]]:
    """Memory of each MIG slice by the index of its GPU; compute instances of one GPU instance share its memory."""
    found: dict[int, dict[str, float | None]] = {}
    inside = False
    for line in lines:
        inside = inside or "MIG devices" in line
        row = _MIG_ROW.match(line) if inside else None
        if "Processes" in line:
            inside = False
        elif row:
            memory = size_bytes(f"{row.group(6)} MiB") if row.group(6) else None
            found.setdefault(int(row.group(1)), {})[row.group(2)] = memory
    return {index: tuple(slices.values()) for index, slices in found.items()}


def _os(text: str) -> str | None:
    """Windows and WSL show themselves: the driver model, paths, or a driver newer than the tool."""
    if re.search(r"TCC/WDDM|Driver-Model|\bWDDM\b|[A-Z]:\\", text):
        return "windows"
    smi, driver = _SMI.search(text), _DRIVER.search(text)
    if smi and driver and smi.group(1) != driver.group(1):
        return "wsl"
    return None


def _warnings(text: str, devices: tuple[Seen, ...]) -> tuple[str, ...]:
    """Why the tool showed nothing: not the same as having no GPU."""
    failed = _FAILED.search(text)
    if failed and not devices:
        if "No devices" in failed.group():
            return ("nvidia-smi found no NVIDIA device.",)
        return (
            "nvidia-smi could not talk to the driver: a card may be there that it does not show. "
            "Load the driver and paste again, or give `lspci -nn`.",
        )
    return ()
