"""lspci in all its forms: plain, -k, -v, -vv, -n, -nn, -D, -mm, -vmm."""

import re
import shlex
from collections.abc import Iterable, Iterator

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, pcie_generation, whole
from advisor.intake.seen import Seen, View
from advisor.record import replace

TOOL = "lspci"

_SLOT = r"((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])"
_TELLING = re.compile(r"VGA|3D|Display|Processing|\b(?:03|12)[0-9a-fA-F]{2}\b")
_CLASS = r"(VGA compatible controller|3D controller|Display controller|Processing accelerators)"
_LINE = re.compile(rf"^[\s>]*{_SLOT}\s+{_CLASS}(?:\s*\[([0-9a-fA-F]{{4}})\])?:\s*(.+)$")
_NUMBERS = re.compile(
    rf"^[\s>]*{_SLOT}\s+(?:Class\s+)?(?:\[?)(03[0-9a-fA-F]{{2}}|12[0-9a-fA-F]{{2}})(?:\]?):\s*([0-9a-fA-F]{{4}}):([0-9a-fA-F]{{4}})"
)
_SLOT_LINE = re.compile(r"^[0-9a-fA-F:]{2,13}\.[0-7]\s")
_QUOTED = re.compile(rf"^[\s>]*{_SLOT}\s+\"{_CLASS}[^\"]*\"\s+\"")
_FIELD = re.compile(r"^(Slot|Class|Vendor|Device|SVendor|SDevice|Rev|Driver|IOMMUGroup|NUMANode):\s*(.*)$")
_IDS = re.compile(r"\[([0-9a-fA-F]{4}):([0-9a-fA-F]{4})\]")
_BARE_ID = re.compile(r"\[([0-9a-fA-F]{4})\]\s*$")
_LINK = re.compile(r"LnkSta:\s*Speed\s*([\d.]+)GT/s[^,]*,\s*Width\s*x(\d+)")
_CAPABLE = re.compile(r"LnkCap:.*Speed\s*([\d.]+)GT/s[^,]*,\s*Width\s*x(\d+)")
_VENDORS = (
    ("nvidia", "10de", re.compile(r"NVIDIA", re.IGNORECASE)),
    ("amd", "1002", re.compile(r"Advanced Micro Devices|\bAMD\b|\bATI\b", re.IGNORECASE)),
    ("intel", "8086", re.compile(r"\bIntel\b", re.IGNORECASE)),
    ("microsoft", "1414", re.compile(r"Microsoft", re.IGNORECASE)),
)
_PREFIX = re.compile(
    r"^(?:NVIDIA Corporation|Advanced Micro Devices, Inc\.(?: \[AMD(?:/ATI)?\])?|AMD/ATI|Intel Corporation|Inte"
    r"l Corp\.|ATI Technologies Inc|nVidia Corporation)\s+"
)
_WSL = "WSL shows Microsoft's stand-in for the card, never the card itself: paste `nvidia-smi` (it lies in /usr/lib/wsl/lib) instead."


def recognise(page: Page) -> bool:
    """Whether a device of a display class may be listed."""
    return page.has(
        "VGA compatible", "3D controller", "Display controller", "Processing accelerators", " 0300:", " 0302:", " 0380:", " 1200:"
    )


def read(page: Page) -> tuple[View, ...]:
    """GPUs of the four vendors; a server's BMC display and virtual displays are left out."""
    found: dict[str | None, Seen] = {}
    for seen in _devices(page.lines):
        found.setdefault(seen.bus, seen)
    wsl = any(seen.maker == "microsoft" for seen in found.values())
    devices = tuple(_whole(seen for seen in found.values() if seen.maker != "microsoft"))
    return (View(tool=TOOL, devices=devices, os="wsl" if wsl else None, warnings=(_WSL,) if wsl else ()),)


def _whole(listed: Iterable[Seen]) -> Iterator[Seen]:
    """Each card once: further functions of one slot with the same id are its virtual ones (SR-IOV)."""
    slots: set[tuple[str, str]] = set()
    for seen in listed:
        slot = (seen.bus.rpartition(".")[0], seen.pci_id) if seen.bus and seen.pci_id else None
        if slot is None or slot not in slots:
            yield seen
        if slot is not None:
            slots.add(slot)


def _devices(lines: Iterable[str]) -> Iterator[Seen]:
    """Every device of a display class, with its link where `-vv` shows it."""
    last: Seen | None = None
    fields: dict[str, str] = {}
    for line in lines:
        field = _FIELD.match(line)
        started = None if field else _started(line)
        if field:
            if field.group(1) in fields and field.group(1) in ("Slot", "Class"):
                yield from _of_fields(fields)
                fields = {}
            fields[field.group(1)] = field.group(2)
        elif started is not None or _SLOT_LINE.match(line):
            yield from [last] if last else []
            last = started
        elif last is not None:
            last = _below(last, line)
    yield from [last] if last else []
    yield from _of_fields(fields)


def _started(line: str) -> Seen | None:
    """The device of a line that begins one."""
    if not _TELLING.search(line[:80]):
        return None
    plain = _LINE.match(line)
    if plain:
        return device_of(plain.group(1), plain.group(4))
    numbers = _NUMBERS.match(line)
    if numbers:
        return device_of(numbers.group(1), f"Device {numbers.group(4)} [{numbers.group(3)}:{numbers.group(4)}]")
    quoted = _QUOTED.match(line)
    if quoted:
        cells = _shell_words(line)
        if len(cells) >= 4:
            return device_of(quoted.group(1), f"{cells[2]} {cells[3]}", _pair(cells[2], cells[3]))
    return None


def _shell_words(line: str) -> list[str]:
    """The quoted cells of `-mm`."""
    try:
        return shlex.split(line.strip(" >")[:2000])
    except ValueError:
        return re.findall(r'"([^"]*)"|(\S+)', line) and [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', line)]


def _pair(vendor: str, device: str) -> str | None:
    """The ids that `-nn` puts behind the vendor's and the device's name."""
    one, two = _BARE_ID.search(vendor), _BARE_ID.search(device)
    return f"{one.group(1)}:{two.group(1)}".lower() if one and two else None


def _of_fields(fields: dict[str, str]) -> Iterator[Seen]:
    """The device of a `-vmm` block."""
    if re.match(_CLASS, fields.get("Class", "")) and "Slot" in fields:
        vendor, device = fields.get("Vendor", ""), fields.get("Device", "")
        seen = device_of(fields["Slot"], f"{vendor} {device}", _pair(vendor, device))
        if seen:
            yield seen


def device_of(slot: str | None, words: str, pci_id: str | None = None) -> Seen | None:
    """A device by its words: vendor, name in the printed form, ids. None for other vendors (ASPEED, Matrox, virtual ones)."""
    ids = _IDS.search(words)
    pci_id = pci_id or (f"{ids.group(1)}:{ids.group(2)}".lower() if ids else None)
    vendor = next(
        ((name, code) for name, code, pattern in _VENDORS if (pci_id or "").startswith(code) or (pci_id is None and pattern.search(words))),
        None,
    )
    if vendor is None or "Hyper-V" in words:  # the console of a virtual machine
        return None
    unnamed = re.search(r"\bDevice ([0-9a-fA-F]{4})\b", words)
    if pci_id is None and unnamed:
        pci_id = f"{vendor[1]}:{unnamed.group(1)}".lower()
    name = re.sub(r"\s*\((?:rev|prog-if)\b.*$", "", _IDS.sub("", words))
    name = " ".join(re.sub(r"\[([0-9a-fA-F]{4})\]", "", _PREFIX.sub("", name.strip())).split())
    if name == "Device" and pci_id:  # what -nn prints of an id that its list does not know
        name = f"Device {pci_id.split(':')[1]}"
    return Seen(name=name or None, maker=vendor[0], bus=bus_of(slot), pci_id=pci_id)


def linked(seen: Seen, generation: int | None, lanes: int | None) -> Seen:
    """A device with its slot's link."""
    return replace(seen, pcie_generation=generation, pcie_lanes=lanes)


def _below(seen: Seen, line: str) -> Seen:
    """What the indented lines below a device say: driver, link."""
    link, capable = _LINK.search(line), _CAPABLE.search(line)
    if capable and seen.pcie_generation is None:
        return replace(seen, pcie_generation=pcie_generation(capable.group(1)), pcie_lanes=whole(capable.group(2)))
    if link:
        return replace(seen, pcie_lanes=whole(link.group(2)) or seen.pcie_lanes)
    if "Kernel driver in use: vfio-pci" in line:
        return replace(seen, notes=(*seen.notes, "given to a virtual machine (vfio-pci): not usable here"))
    return seen
