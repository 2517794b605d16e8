"""Linux's own files and lists: /proc/meminfo, sysfs memory of amdgpu, lscpu, device-tree, tegrastats, os-release, free."""

import re

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, size_bytes
from advisor.intake.seen import Seen, View
from advisor.units import KIB, MIB

TOOL = "/proc and sysfs"

_TOTAL = re.compile(r"^\s*MemTotal:\s*(\d+)\s*kB", re.MULTILINE)
_CARD = re.compile(r"(?:/sys/class/drm/(card\d+)/device/|/sys/bus/pci/devices/([0-9a-fA-F:.]+)/)?mem_info_(vram|gtt)_total\s*[:=]?\s*\n?\s*(\d{6,15})\b")
_CPU = re.compile(r"(?:^|\n)\s*(?:model name|Model name|Modellname|Nom de modèle|Nombre del modelo|Nome do modelo|型号名称|モデル名|Имя модели|cpu_name|CPU)\s*[:：]\s*\"?([^\n\"]{3,80})")
_JETSON = re.compile(r"NVIDIA Jetson [\w ()+-]{3,60}|NVIDIA DGX Spark|NVIDIA_DGX_Spark")
_TEGRA = re.compile(r"\bRAM (\d+)/(\d+)MB \(lfb")
_FREE = re.compile(r"^\s*(?:Mem|Speicher|Mem\.|Mémoire|内存|Память)\s*:\s+([\d.,]+)([KMGT]i?)?B?\s+[\d.,]+[KMGT]?i?B?\s+[\d.,]+", re.MULTILINE)
_HEAD_OF_FREE = re.compile(r"^\s+\S+\s+\S+\s+\S+.*(?:buff/cache|shared|available)", re.MULTILINE)


def recognise(page: Page) -> bool:
    """Whether one of these files is in the text."""
    text = page.text
    return bool(_TOTAL.search(text) or _CARD.search(text) or _CPU.search(text) or _JETSON.search(text) or _TEGRA.search(text) or _free(text))


def read(page: Page) -> tuple[View, ...]:
    """Memory, the processor's name, memory of the amdgpu devices, and the board's name."""
    text = page.text
    cpu, box = _CPU.search(text), _JETSON.search(text)
    devices = _cards(text) + (_jetson(box.group(), text) if box else ())
    linux = bool(_TOTAL.search(text) or devices)
    name = " ".join(cpu.group(1).split()) if cpu else None
    return (View(tool=TOOL, devices=devices, ram_bytes=_ram(text), os="linux" if linux else None, cpu=name, box=box.group().strip() if box else None),)


def _ram(text: str) -> float | None:
    """Memory that the kernel manages."""
    total, tegra = _TOTAL.search(text), _TEGRA.search(text)
    if total:
        return float(total.group(1)) * KIB
    return float(tegra.group(2)) * MIB if tegra else _free(text)


def _free(text: str) -> float | None:
    """Total of `free`, in kibibytes unless it prints a unit."""
    found = _FREE.search(text)
    if not found or not _HEAD_OF_FREE.search(text):
        return None
    return size_bytes(f"{found.group(1)} {found.group(2) or 'K'}")


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


def _jetson(name: str, text: str) -> tuple[Seen, ...]:
    """A board whose GPU shares its memory."""
    return (Seen(name=" ".join(name.replace("_", " ").split()), maker="nvidia", index=0, memory_bytes=_ram(text)),)
