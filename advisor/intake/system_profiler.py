"""macOS `system_profiler` as JSON, XML or text, in any language of the system."""

import re
from collections.abc import Iterable, Iterator

from advisor.intake.page import MOST_DEPTH, Page
from advisor.intake.readings import known, maker_of, size_bytes, whole
from advisor.intake.seen import Seen, View
from advisor.record import replace

TOOL = "system_profiler"

_PAIR = re.compile(r"^(\s*)([^:：]{1,60}?)\s*[:：]\s*(.*)$")
_CHIP = re.compile(r"\bApple (M\d{1,2}(?: (?:Pro|Max|Ultra))?)\b")
_MEMORY_KEYS = (
    "memory",
    "speicher",
    "arbeitsspeicher",
    "mémoire",
    "memoria",
    "memória",
    "geheugen",
    "minne",
    "hukommelse",
    "muisti",
    "paměť",
    "pamięć",
    "память",
    "bellek",
    "メモリ",
    "内存",
    "記憶體",
    "메모리",
)
_CORE_KEYS = (
    "total number of cores",
    "gesamtanzahl der kerne",
    "nombre total de cœurs",
    "nombre total de coeurs",
    "número total de núcleos",
    "numero totale di core",
    "número total de cores",
    "totaal aantal cores",
    "コアの総数",
    "核总数",
    "核心總數",
    "총 코어 개수",
)
_CHIPSET_KEYS = (
    "chipset model",
    "chipsatz-modell",
    "chipsatzmodell",
    "modèle du jeu de puces",
    "modelo de chipset",
    "modelo de conjunto de chips",
    "modello chipset",
    "chipsetmodel",
    "チップセットのモデル",
    "芯片组型号",
    "晶片組型號",
    "칩셋 모델",
)
_LABELS = (
    ("sppci_model", _CHIPSET_KEYS, re.compile(".")),
    ("sppci_cores", _CORE_KEYS, re.compile(r"^\d{1,3}$")),
    ("physical_memory", _MEMORY_KEYS, re.compile(r"^\d+\s*(?:[GT][Bo]|[ГТ]Б)\b")),
    ("sppci_bus", ("bus",), re.compile(".")),
    ("spdisplays_pcie_width", ("pcie lane width", "pcie-lane-breite"), re.compile(".")),
)
_VRAM = re.compile(r"^vram\b", re.IGNORECASE)
_PLIST = re.compile(r"<key>([^<]{1,80})</key>\s*<string>([^<]{0,200})</string>")


def recognise(page: Page) -> bool:
    """Whether it may be a report of this tool."""
    if page.has("SPDisplaysDataType", "SPHardwareDataType", "sppci_model", "Chipset", "Model Identifier"):
        return True
    return "Apple M" in page.text and any(_key(line) in (*_CHIPSET_KEYS, *_MEMORY_KEYS, "chip", "puce") for line in page.lines)


def read(page: Page) -> tuple[View, ...]:
    """The Mac's chip or cards, and its memory."""
    blocks = page.text[:2_000_000].split("<dict>") if "<key>" in page.text else []
    plist = [pair for block in blocks for pair in _walk(dict(_PLIST.findall(block)))]
    flat = [pair for one in page.objects for pair in _walk(one)] + plist
    facts = flat if flat else list(_lines(page.lines))
    devices, ram, chip = _displays(facts), _ram(facts), _chip(facts)
    if chip and not any(seen.maker == "apple" for seen in devices):
        devices = [Seen(name=chip, maker="apple", index=0), *devices]
    apple = any(seen.maker == "apple" for seen in devices)
    devices = [replace(seen, memory_bytes=ram) if seen.maker == "apple" else seen for seen in devices]
    return (View(tool=TOOL, devices=tuple(devices), ram_bytes=ram, os="macos", cpu=chip if apple else None),)


def _walk(found: object, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Keys and values of a report in their order."""
    if depth > MOST_DEPTH:
        return
    if isinstance(found, dict):
        for key, value in sorted(found.items(), key=lambda item: str(item[0]) != "sppci_model"):  # what follows belongs to the model
            if isinstance(value, dict | list):
                yield from _walk(value, depth + 1)
            else:
                yield str(key)[:80], str(value)[:200]
    elif isinstance(found, list):
        for member in found[:1000]:
            yield from _walk(member, depth + 1)


def _key(line: str) -> str:
    """The words before the colon, lower case."""
    found = _PAIR.match(line[:200])
    return found.group(2).strip().lower() if found else ""


def _lines(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of the text report under the keys that the JSON has."""
    for line in lines:
        pair = _PAIR.match(line[:300])
        if pair:
            key, value = pair.group(2).strip().lower(), pair.group(3).strip()
            named = _json_key(key, value)
            if named:
                yield named, value


def _json_key(key: str, value: str) -> str | None:
    """The JSON's key of a label in whatever language."""
    if _VRAM.match(key):
        return "spdisplays_vram_shared" if re.search(r"dyn|shared|max", key) else "spdisplays_vram"
    for named, labels, form in _LABELS:
        if key in labels and form.search(value):
            return named
    return "chip_type" if _CHIP.search(value) and key not in ("vendor",) else None


def _displays(facts: Iterable[tuple[str, str]]) -> list[Seen]:
    """A device for each model named, with what follows it."""
    found: list[Seen] = []
    for key, value in facts:
        if key == "sppci_model" and known(value):
            found.append(Seen(name=known(value), index=len(found), maker=maker_of(value)))
        elif found:
            found[-1] = _with(found[-1], key, value)
    return found


def _with(seen: Seen, key: str, value: str) -> Seen:
    """A device with one more fact."""
    if key == "sppci_cores":
        return replace(seen, gpu_cores=whole(value))
    if key in ("spdisplays_vram", "_spdisplays_vram"):
        return replace(seen, memory_bytes=seen.memory_bytes or size_bytes(value))
    if key == "spdisplays_vram_shared" and seen.maker in ("amd", "nvidia"):
        return replace(seen, memory_bytes=size_bytes(value))  # a card's own, which macOS may lend on
    if key == "spdisplays_vram_shared":
        return replace(seen, shared_bytes=size_bytes(value), integrated=seen.maker != "apple")
    if key == "spdisplays_pcie_width":
        return replace(seen, pcie_lanes=whole(value))
    if key == "sppci_bus" and re.search(r"built-?in|builtin|integriert|intégré", value, re.IGNORECASE):
        return replace(seen, integrated=seen.maker not in ("apple", "amd", "nvidia"))
    return seen


def _ram(facts: Iterable[tuple[str, str]]) -> float | None:
    """The memory of the machine."""
    return next((size_bytes(value) for key, value in facts if key == "physical_memory" and size_bytes(value)), None)


def _chip(facts: Iterable[tuple[str, str]]) -> str | None:
    """The Apple chip, where the hardware report names it."""
    for key, value in facts:
        found = _CHIP.search(value) if key in ("chip_type", "cpu_type", "machine_chip") else None
        if found:
            return found.group()
    return None
