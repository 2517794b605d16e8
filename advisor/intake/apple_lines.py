"""Other words of a Mac: sysctl, ioreg, applegpuinfo, macmon, MLX's and Metal's own, and the wired limit."""

import re

from advisor.intake.page import Page
from advisor.intake.readings import number, size_bytes, whole
from advisor.intake.seen import Seen, View
from advisor.units import GIB, MB, MIB

TOOL = "sysctl"

_BRAND = re.compile(
    r"(?:machdep\.cpu\.brand_string\s*[:=]\s*|GPU name:\s*|found device:\s*|picking default device:\s*|(?:^|\n)"
    r"Chip:?\s*|Chipset Model:\s*|Chip Name:?\s*|[\"'](?:chip_name|device_name)[\"']: ?[\"']|\"model\"\s*=\s*<?\"|Puce\s*|"
    r"チップ\s*|芯片\s*)(Apple M\d{1,2}(?: (?:Pro|Max|Ultra))?)(?![\w])"
)
_CORES = re.compile(
    r"(?:\"gpu-core-count\"\s*=\s*|GPU core count:\s*|Total Number of Cores:\s*|\"gpu_cores\": ?)(\d{1,3})(?=[\s,}]|$)(?!\s*\()"
)
_RAM = re.compile(r"(?:hw\.memsize(?:_usable)?\s*[:=]|'memory_size':)\s*(\d{6,18})")
_RAM_GIB = re.compile(r"\"memory_gb\": ?(\d{1,4})\b")
_ABOUT = re.compile(r"^(?:Memory|Speicher|Mémoire|Memoria|メモリ|内存)[:\s]\s*(\d{1,3} ?G[Bo])\s*$", re.MULTILINE)
_GPU_MEMORY = re.compile(r"GPU memory:\s*([\d.]+\s*[GM]B)")
_WIRED = re.compile(r"iogpu\.wired_limit_mb\s*[:=]\s*(\d{1,9})")
_WORKING_SET = re.compile(r"recommendedMaxWorkingSetSize\s*=\s*([\d.]+)\s*MB")


def recognise(page: Page) -> bool:
    """Whether macOS's own keys are in the text."""
    words = (
        "hw.memsize",
        "machdep.cpu",
        "iogpu.",
        '"gpu-core-count"',
        "GPU core count:",
        "recommendedMaxWorkingSetSize",
        "found device: Apple",
    )
    return page.has(*words) or (
        "Apple M" in page.text and page.has("GPU name:", "Chip", "chip_name", "device_name", "Puce", "チップ", "芯片")
    )


def read(page: Page) -> tuple[View, ...]:
    """The chip as one device with the machine's memory."""
    text = page.text
    brand, cores, ram = _BRAND.search(text), _CORES.search(text), _RAM.search(text)
    said = _GPU_MEMORY.search(text) or (_ABOUT.search(text) if brand else None)
    told = _RAM_GIB.search(text)
    memory = float(ram.group(1)) if ram else float(told.group(1)) * GIB if told else (size_bytes(said.group(1)) if said else None)
    limit, wired = _WORKING_SET.search(text), _wired(text)
    devices: tuple[Seen, ...] = ()
    if brand:
        devices = (
            Seen(
                name=brand.group(1),
                index=0,
                maker="apple",
                gpu_cores=whole(cores.group(1)) if cores else None,
                memory_bytes=memory,
                limit_bytes=(number(limit.group(1)) or 0.0) * MB or None if limit else None,
            ),
        )
    return (View(tool=TOOL, devices=devices, ram_bytes=memory, os="macos", cpu=brand.group(1) if brand else None, wired_limit_bytes=wired),)


def _wired(text: str) -> float | None:
    """The limit that the owner set; 0 is macOS's own default."""
    found = _WIRED.search(text)
    return (float(found.group(1)) * MIB or None) if found else None
