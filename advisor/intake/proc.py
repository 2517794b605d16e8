"""Linux's own files and lists: /proc/meminfo, sysfs memory of amdgpu, lscpu, device-tree, tegrastats, os-release, free."""

import re
from collections.abc import Iterable

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, size_bytes
from advisor.intake.seen import Seen, View
from advisor.units import KIB, MIB

TOOL = "/proc and sysfs"

_TOTAL = re.compile(r"\bMemTotal:[ \t]*(\d+) kB")
_AVAILABLE = re.compile(r"\bMemAvailable:[ \t]*(\d+) kB")
_CARD = re.compile(
    r"(?:/sys/class/drm/(card\d+)/device/|/sys/bus/pci/devices/([0-9a-fA-F:.]+)/)?mem_info_(vram|gtt)_total[ \t"
    r"]*[:=]?[ \t]*\n?[ \t]*(\d{6,15})\b"
)
_CPU = re.compile(
    r"^\s*(?:model name|Model name|Modellname|Nom de modèle|Nombre del modelo|Nome do modelo|型号名称|モデル名|Имя моде"
    r"ли|cpu_name|CPU)\s*[:：]\s*\"?([^\"]{3,80})"
)
_CPU_WORDS = (
    "odel name",
    "Modellname",
    "Nom de mod",
    "Nombre del modelo",
    "Nome do modelo",
    "型号名称",
    "モデル名",
    "Имя модели",
    "cpu_name",
    "CPU",
)
_JETSON = re.compile(r"NVIDIA Jetson [\w ()+-]{3,60}|NVIDIA DGX Spark|NVIDIA_DGX_Spark")
_TEGRA = re.compile(r"\bRAM (\d+)/(\d+)MB \(lfb")
_FREE = re.compile(r"^\s*(?:Mem|Speicher|Mem\.|Mémoire|内存|Память)\s*:\s+([\d.,]+)([KMGT]i?)?B?\s+[\d.,]+[KMGT]?i?B?\s+[\d.,]+")
_HEAD_OF_FREE = re.compile(r"^\s+\S+\s+\S+\s+\S+.*(?:buff/cache|shared|available)")


def recognise(page: Page) -> bool:
    """Whether one of these files is in the text."""
    words = ("MemTotal", "mem_info_", "NVIDIA Jetson", "NVIDIA DGX", "NVIDIA_DGX", "MB (lfb", "buff/cache", "shared", *_CPU_WORDS)
    return page.has(*words)


def read(page: Page) -> tuple[View, ...]:
    """Memory, the processor's name, memory of the amdgpu devices, and the board's name."""
    ram, box, available = _ram(page), _JETSON.search(page.text), _AVAILABLE.search(page.text)
    name = re.sub(r"\s+(?:- |\().*$|\s+Developer Kit.*$", "", box.group()) if box else ""
    devices = _cards(page.text) + (_jetson(name, ram) if box else ())
    linux = bool(_TOTAL.search(page.text) or devices)
    return (
        View(
            tool=TOOL,
            devices=devices,
            ram_bytes=ram,
            available_bytes=float(available.group(1)) * KIB if available else None,
            os="linux" if linux else None,
            cpu=_cpu(page.lines),
            box=name.strip() if box else None,
        ),
    )


def _cpu(lines: Iterable[str]) -> str | None:
    """The processor's name of /proc/cpuinfo or lscpu, in any language."""
    for line in lines:
        found = _CPU.match(line) if (":" in line or "：" in line) and any(word in line for word in _CPU_WORDS) else None
        if found:
            return " ".join(found.group(1).split())
    return None


def _ram(page: Page) -> float | None:
    """Memory that the kernel manages."""
    total, tegra = _TOTAL.search(page.text), _TEGRA.search(page.text)
    if total:
        return float(total.group(1)) * KIB
    return float(tegra.group(2)) * MIB if tegra else _free(page.lines)


def _free(lines: Iterable[str]) -> float | None:
    """Total of `free`, in kibibytes unless it prints a unit."""
    head = False
    for line in lines:
        head = head or bool(_HEAD_OF_FREE.match(line))
        found = _FREE.match(line) if head else None
        if found:
            return size_bytes(f"{found.group(1)} {found.group(2) or 'K'}")
    return None


def _cards(text: str) -> tuple[Seen, ...]:
    """amdgpu's cards by their sysfs folder: carved-out memory and what they may borrow."""
    found: dict[str, dict[str, float]] = {}
    for card in list(_CARD.finditer(text))[:256]:
        key = card.group(1) or card.group(2) or "card"
        found.setdefault(key, {})[card.group(3)] = float(card.group(4))
    return tuple(
        Seen(index=place, maker="amd", bus=bus_of(key), memory_bytes=sizes.get("vram"), shared_bytes=sizes.get("gtt"))
        for place, (key, sizes) in enumerate(found.items())
    )


def _jetson(name: str, ram_bytes: float | None) -> tuple[Seen, ...]:
    """A board whose GPU shares its memory."""
    return (Seen(name=" ".join(name.replace("_", " ").split()), maker="nvidia", index=0, memory_bytes=ram_bytes),)
