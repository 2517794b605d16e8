"""Windows: dxdiag, wmic, Get-CimInstance lists, the registry, the Task Manager's, GPU-Z's and HWiNFO's lines."""

import re
from collections.abc import Iterable, Iterator

from advisor.intake.page import Page
from advisor.intake.readings import known, maker_of, number, size_bytes
from advisor.intake.seen import Seen, View
from advisor.record import replace
from advisor.units import GIB

TOOL = "Windows"

_REGISTRY = re.compile(r"^\s*([A-Za-z][^|\n]{2,100}?)\|(\d{1,16})\s*$")
_CARD = (
    "Card name",
    "Kartenname",
    "Nom de la carte",
    "Nombre de la tarjeta",
    "Nombre de tarjeta",
    "Nome scheda",
    "Nome da placa",
    "卡名",
    "卡名称",
)
_OWN = (
    "Dedicated Memory",
    "Dedizierter Speicher",
    "Mémoire dédiée",
    "Memoria dedicada",
    "Memoria dedicata",
    "Memória dedicada",
    "专用内存",
)
_LENT = (
    "Shared Memory",
    "Gemeinsam genutzter Speicher",
    "Gemeinsamer Speicher",
    "Mémoire partagée",
    "Memoria compartida",
    "Memoria condivisa",
)
_DXDIAG = re.compile(rf"^\s*({'|'.join((*_CARD, *_OWN, *_LENT))})\s*[:：]\s*(.+)$")
_REG = re.compile(r"^\s*(DriverDesc|HardwareInformation\.qwMemorySize)\s+REG_\w+\s+(.+?)\s*$")
_LISTED = re.compile(
    r"^\s*(Name|Caption|AdapterRAM|DriverVersion|VideoProcessor|PNPDeviceID|TotalPhysicalMemory|TotalVisibleMemorySize|DriverDesc|HardwareInformation\.qwMemorySize)\s*[:=]\s*(.*)$"
)
_HEAD = re.compile(r"\bAdapterRAM\b.*\b(?:Name|Caption)\b|\b(?:Name|Caption)\b.*\bAdapterRAM\b")
_ROW = re.compile(r"^\s*\d{6,12}\s+\S")
_PNP = re.compile(r"VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", re.IGNORECASE)
_TOTAL = re.compile(
    r"^\s*(?:Total Physical Memory|Gesamter physischer Speicher|Mémoire physique totale|Memoria física total):\s+([\d.,  ]{3,12}) M[BoБ]",
    re.MULTILINE,
)
_NAMES = re.compile(r"^\s*(?:Name|Caption)(?:\s+AdapterRAM(?:\s+\w+)*)?\s*$", re.IGNORECASE)
_NAMED = re.compile(
    r"^\s*((?:NVIDIA|AMD|Intel|Radeon|GeForce|Quadro|Microsoft)\b.{2,70}?)(?:\s+(\d{6,12}))?(?:\s{2,}\S+|\s\d[\d./]{4,30}){0,6}\s*$"
)
_DEDICATED = re.compile(
    r"^\s*(?:Dedicated GPU memory|Dedizierter GPU-Speicher)(?:\s+usage)?:?\s*(?:[\d.,]+\s*/\s*)?([\d.,]+)\s*(GB|MB)\s*$"
)
_VIRTUAL = re.compile(
    r"Microsoft|Remote Display|Virtual|Parsec|IddDriver|Basic Render|Mirror|VMware|Citrix|DisplayLink|Meta ", re.IGNORECASE
)
_CARD_TOOL = re.compile(r"^\s*(?:Graphics Card|Video Chipset):\s*(.{4,80}?)\s*$")
_CARD_SIZE = re.compile(r"^\s*(?:Memory Size|Video Memory):\s*(\d{3,7}) MB(?:ytes)?\b")
_CAPPED = 4 * GIB * 0.99  # AdapterRAM has 32 bits: a card with more shows this or less


def recognise(page: Page) -> bool:
    """Whether one of these lists is in the text."""
    words = ("AdapterRAM", "DirectX Version", "qwMemorySize", "|", "ideoController", "Dedicated GPU memory", "Physical Memory")
    return page.has(*words, *_CARD, "Dedizierter GPU", "Name", "Memory Size:", "Video Memory:")


def read(page: Page) -> tuple[View, ...]:
    """A view for each list."""
    views = []
    for tool, devices in (
        ("registry", _registry(page.lines)),
        ("dxdiag", _dxdiag(page.lines)),
        ("Win32_VideoController", _controllers(page.lines)),
        ("names", _columns(page.lines)),
        ("Task Manager", _task_manager(page.lines)),
        ("GPU-Z", _card_tools(page.lines)),
    ):
        found = tuple(devices)
        if found:
            views.append(View(tool=tool, devices=found, os="windows"))
    total = _TOTAL.search(page.text)
    if total:
        views.append(View(tool="systeminfo", ram_bytes=size_bytes(f"{re.sub(r'[.,  ]', '', total.group(1))} MiB"), os="windows"))
    return tuple(views)


def _columns(lines: Iterable[str]) -> Iterator[Seen]:
    """The rows below a head `Name` alone, or `Name … AdapterRAM`: of wmic and PowerShell tables."""
    head: re.Match[str] | None = None
    for line in lines:
        started = _NAMES.match(line)
        row = _NAMED.match(line) if head else None
        if started:
            head = started
        elif row and maker_of(row.group(1)) and not _VIRTUAL.search(row.group(1)):
            yield from _controller({"Name": row.group(1), "AdapterRAM": row.group(2) or ""})
        elif line.strip() and not set(line) <= {"-", " "}:
            head = None


def _task_manager(lines: Iterable[str]) -> Iterator[Seen]:
    """The tab of a GPU copied out of the Task Manager: the name below `GPU 0`, its own memory further down."""
    name, asked = None, False
    for line in lines:
        own = _DEDICATED.match(line)
        if re.fullmatch(r"\s*GPU \d{1,2}\s*", line):
            asked = True
        elif asked and line.strip():
            name, asked = (line.strip() if maker_of(line) else None), False
        elif own and name:
            size = size_bytes(f"{own.group(1)} {own.group(2)}")
            yield Seen(name=known(name), maker=maker_of(name), memory_bytes=size)
            name = None


def _card_tools(lines: Iterable[str]) -> Iterator[Seen]:
    """GPU-Z's `Graphics Card:` and HWiNFO's `Video Chipset:`, with the memory further down."""
    name: str | None = None
    for line in lines:
        called, size = _CARD_TOOL.match(line), _CARD_SIZE.match(line)
        if called and maker_of(called.group(1)) and not _VIRTUAL.search(called.group(1)):
            name = called.group(1)
        elif size and name:
            yield Seen(name=known(name), maker=maker_of(name), memory_bytes=size_bytes(f"{size.group(1)} MiB"))
            name = None


def _registry(lines: Iterable[str]) -> Iterator[Seen]:
    """`name|bytes` rows of HardwareInformation.qwMemorySize; zero, text or a missing name is no device."""
    for line in lines:
        row = _REGISTRY.match(line) if "|" in line else None
        if row and maker_of(row.group(1)) and float(row.group(2)) > 0:
            yield Seen(name=known(row.group(1)), maker=maker_of(row.group(1)), memory_bytes=size_bytes(row.group(2), 1.0))


def _dxdiag(lines: Iterable[str]) -> Iterator[Seen]:
    """Cards; a card with several screens is listed once for each, with one device key."""
    found: dict[str, Seen] = {}
    name = None
    for line in lines:
        fact = _DXDIAG.match(line)
        if not fact:
            continue
        key, value = fact.group(1), fact.group(2).strip()
        if key in _CARD:
            name = None if _VIRTUAL.search(value) else value
            if name:
                found.setdefault(name, Seen(name=name, maker=maker_of(name)))
        elif name and key in _OWN:
            found[name] = replace(found[name], memory_bytes=size_bytes(value))
        elif name and key in _LENT:
            found[name] = replace(found[name], shared_bytes=size_bytes(value))
    yield from found.values()


def _controllers(lines: Iterable[str]) -> Iterator[Seen]:
    """`Name : …`, `AdapterRAM=…` lists in any order, or a table with AdapterRAM first."""
    row: dict[str, str] = {}
    table = False
    for line in lines:
        fact = _LISTED.match(line) or (_REG.match(line) if "REG_" in line else None)
        if "AdapterRAM" in line and not fact and _HEAD.search(line):
            table = True
        elif table and _ROW.match(line):
            yield from _controller({"AdapterRAM": line.split(None, 1)[0], "Name": re.split(r"\s{2,}", line.strip().split(None, 1)[1])[0]})
        elif fact:
            if fact.group(1) in row:
                yield from _controller(row)
                row = {}
            row[fact.group(1)] = fact.group(2).strip()
        elif not line.strip() and len(row) > 1:
            yield from _controller(row)
            row = {}
    yield from _controller(row)


def _controller(row: dict[str, str]) -> Iterator[Seen]:
    """A display adapter of a list that says how much memory it has; the 32-bit figure is not believed at its end."""
    name = known(row.get("Name") or row.get("Caption") or row.get("VideoProcessor") or row.get("DriverDesc"))
    if (
        not name
        or _VIRTUAL.search(name)
        or not maker_of(name)
        or not ({"AdapterRAM", "HardwareInformation.qwMemorySize", "PNPDeviceID"} & set(row))
    ):
        return
    exact = row.get("HardwareInformation.qwMemorySize", "")
    size = (float(int(exact, 16)) if re.fullmatch(r"0x[0-9a-fA-F]{1,12}", exact) else number(exact)) or number(row.get("AdapterRAM"))
    capped = size is not None and "HardwareInformation.qwMemorySize" not in row and size >= _CAPPED
    pnp = _PNP.search(row.get("PNPDeviceID", ""))
    notes = ("Windows' AdapterRAM ends at 4 GiB: the memory is not known from it",) if capped else ()
    yield Seen(
        name=name,
        maker=maker_of(name),
        memory_bytes=None if capped else (size or None),
        driver=known(row.get("DriverVersion")),
        notes=notes,
        pci_id=f"{pnp.group(1)}:{pnp.group(2)}".lower() if pnp else None,
    )
