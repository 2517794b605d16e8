"""What graphics and compute interfaces list: vulkaninfo, clinfo, rocminfo, rocm-bandwidth-test, glxinfo."""

import re
from collections.abc import Iterable, Iterator

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, known, maker_of, number, size_bytes, whole
from advisor.intake.seen import Seen, View
from advisor.units import KIB

TOOL = "graphics interface"

_VULKAN_FACT = re.compile(r"^\s*(deviceName|deviceType|size)\s*=\s*(.+)$")
_VULKAN_START = re.compile(r"^\s*GPU\d+:\s*$|^\s*VkPhysicalDeviceProperties:\s*$")
_VULKAN_LISTED = re.compile(r"^\s*GPU id = \d+ \((.+)\)\s*$")
_CL_NAME = re.compile(r"^\s*(?:Board name|Device Board Name(?: \(AMD\))?)\s*:?\s{1,}(.+)$")
_CL_FACT = re.compile(
    r"^\s*(Device Name|Device Type|Global memory size|Host unified memory|Unified memory for Host and Device|De"
    r"vice Topology \(AMD\)|Device PCI Bus Info.*?|Name|Device Vendor)\s*:?\s{2,}(.+)$"
)
_CL_LISTED = re.compile(r"^[\s`|+-]*(Platform|Device) #\d+:\s*(.{3,120})$")
_AGENT = re.compile(r"^\s*(Marketing Name|Name|Device Type|BDFID|Size|Segment|Compute Unit|Chip ID|Vendor Name)\s*:\s*(.*)$")
_RBT = re.compile(r"^\s*Device:\s*(\d+),\s+(.+?)(?:,\s*(GPU-\S+),\s*([0-9a-fA-F]+:[0-9a-fA-F]+\.[0-7]))?\s*$")
_GL_DEVICE = re.compile(
    r"^[ \t]*Device: ([^(\n]{3,80}?)[ \t]*\([^\n]{0,120}\n(?:[^\n]{0,120}\n){0,3}?"
    r"[ \t]*Video memory:[ \t]*(\d+)MB\n[ \t]*Unified memory:[ \t]*(yes|no)",
    re.MULTILINE,
)
_SUFFIX = re.compile(r"\s+\((?:RADV|NVK|ANV|LLVM|radeonsi|radv)[^)]*\)\s*$", re.IGNORECASE)
_SOFT = re.compile(r"llvmpipe|lavapipe|SwiftShader|pthread|Microsoft Basic|\bCPU\b|Processor|\bEPYC|\bXeon|Intel\(R\) Core", re.IGNORECASE)


def recognise(page: Page) -> bool:
    """Whether one of these lists is in the text."""
    return page.has(
        "deviceName",
        "GPU id = ",
        "CL_DEVICE",
        "Number of platforms",
        "Device Type  ",
        "Marketing Name:",
        "RocmBandwidthTest",
        "Device Topology",
        "Platform #",
        "Video memory:",
    )


def read(page: Page) -> tuple[View, ...]:
    """A view for each interface: they list the same cards."""
    views = []
    for tool, devices in (
        ("vulkaninfo", _vulkan(page.lines)),
        ("clinfo", _opencl(page.lines)),
        ("clinfo -l", _opencl_listed(page.lines)),
        ("rocminfo", _rocminfo(page.lines)),
        ("glxinfo", _opengl(page.text)),
        ("rocm-bandwidth-test", _bandwidth_test(page.lines)),
    ):
        found = tuple(devices)
        if found:
            views.append(View(tool=tool, devices=found, cpu=_cpu(page.lines) if tool.startswith("roc") else None))
    return tuple(views)


def _vulkan(lines: Iterable[str]) -> Iterator[Seen]:
    """Physical devices, each begun by `GPU0:` or by its properties; software renderers are left out."""
    row: dict[str, str] = {}
    heap = ""
    for line in lines:
        fact, listed = _VULKAN_FACT.match(line), _VULKAN_LISTED.match(line)
        if listed:
            yield from _vulkan_device({"deviceName": listed.group(1)})
            continue
        if _VULKAN_START.match(line) and row:
            yield from _vulkan_device(row)
            row = {}
        elif fact and fact.group(1) == "size":
            heap = fact.group(2)
        elif fact:
            if fact.group(1) in row:
                yield from _vulkan_device(row)
                row = {}
            row[fact.group(1)] = fact.group(2)
        elif heap and "MEMORY_HEAP_DEVICE_LOCAL_BIT" in line:
            row["heap"] = max(heap, row.get("heap", ""), key=lambda text: number(text) or 0.0)
            heap = ""
    yield from _vulkan_device(row)


def _vulkan_device(row: dict[str, str]) -> Iterator[Seen]:
    """A device of a block; the heap of a chip that shares memory is borrowed memory."""
    name = known(_SUFFIX.sub("", row.get("deviceName", "")))
    kind = row.get("deviceType", "")
    if name is None or "CPU" in kind or _SOFT.search(name):
        return
    inside = "INTEGRATED" in kind and maker_of(name) != "apple"
    size = number(row.get("heap"))
    yield Seen(
        name=name,
        maker=maker_of(name),
        integrated=True if inside else None,
        memory_bytes=None if inside else size,
        shared_bytes=size if inside else None,
    )


def _opencl(lines: Iterable[str]) -> Iterator[Seen]:
    """Devices of `clinfo` of type GPU, each platform's; repeats of one card have one PCI address."""
    rows: list[dict[str, str]] = []
    for line in _without_agents(lines):
        board, fact = _CL_NAME.match(line), _CL_FACT.match(line)
        if (
            fact
            and fact.group(1) in ("Device Name",)
            or (fact and fact.group(1) == "Device Type" and (not rows or "Device Type" in rows[-1]))
        ):
            rows.append({})
        if rows and board:
            rows[-1]["board"] = board.group(1)
        elif rows and fact:
            rows[-1].setdefault(fact.group(1).split(" (")[0], fact.group(2))
    for row in rows[:256]:
        if "GPU" not in row.get("Device Type", ""):
            continue
        name = row.get("board") or row.get("Device Name") or row.get("Name")
        unified = row.get("Host unified memory") or row.get("Unified memory for Host and Device")
        yield Seen(
            name=known(name),
            maker=maker_of(name) or maker_of(row.get("Device Vendor")),
            memory_bytes=_cl_memory(row.get("Global memory size")),
            bus=bus_of(row.get("Device Topology") or row.get("Device PCI Bus Info")),
            integrated=True if unified in ("Yes", "true") and maker_of(name) != "apple" else None,
        )


def _without_agents(lines: Iterable[str]) -> Iterator[str]:
    """The lines but those of rocminfo's agents, whose words are alike."""
    agents = False
    for line in lines:
        agents = (agents or line.startswith("Agent ")) and "Number of platforms" not in line
        if not agents:
            yield line


def _opencl_listed(lines: Iterable[str]) -> Iterator[Seen]:
    """Rows `-- Device #0: name` of `clinfo -l`; a card listed by two platforms counts once."""
    found: dict[str, list[str]] = {}
    platform = ""
    for line in lines:
        row = _CL_LISTED.match(line)
        if row and row.group(1) == "Platform":
            platform = row.group(2)
        elif row and maker_of(row.group(2)) and not _SOFT.search(row.group(2)):
            found.setdefault(platform, []).append(row.group(2))
    names = [
        name
        for place, inner in enumerate(found.values())
        for name in inner
        if not any(name in other for other in list(found.values())[:place])
    ]
    for name in names[:256]:
        yield Seen(name=known(name), maker=maker_of(name))


def _opengl(text: str) -> Iterator[Seen]:
    """The renderer of `glxinfo -B`: its device with the memory and whether that is shared."""
    found = _GL_DEVICE.search(text)
    if found and maker_of(found.group(1)) and not _SOFT.search(found.group(1)):
        size, shared = size_bytes(f"{found.group(2)} MiB"), found.group(3) == "yes"
        yield Seen(
            name=known(found.group(1)),
            maker=maker_of(found.group(1)),
            memory_bytes=None if shared else size,
            shared_bytes=size if shared else None,
            integrated=True if shared else None,
        )


def _cl_memory(text: str | None) -> float | None:
    """`25438126080 (23.69GiB)`: bytes first."""
    value = number(text)
    return value if value and value > 1e6 else size_bytes(text)


def _rocminfo(lines: Iterable[str]) -> Iterator[Seen]:
    """GPU agents; their global segment is the memory, in KB."""
    rows: list[dict[str, str]] = []
    for line in lines:
        fact = _AGENT.match(line)
        if re.match(r"^\s*Agent \d+\s*$", line):
            rows.append({})
        elif fact and rows:
            rows[-1].setdefault(fact.group(1), fact.group(2).strip())
            if fact.group(1) == "Size" and "GLOBAL" in rows[-1].get("Segment", ""):
                rows[-1].setdefault("memory", fact.group(2))
    for row in rows[:256]:
        if row.get("Device Type") != "GPU":
            continue
        chip = row.get("Name", "")
        chip_id = re.search(r"0x([0-9a-f]{4})\)", row.get("Chip ID", ""))
        kilobytes = number(row.get("memory"))
        yield Seen(
            name=known(row.get("Marketing Name")),
            maker="amd",
            chip=chip if chip.startswith("gfx") else None,
            bus=_bdf(row.get("BDFID")),
            memory_bytes=kilobytes * KIB if kilobytes else None,
            pci_id=f"1002:{chip_id.group(1)}" if chip_id else None,
        )


def _bdf(text: str | None) -> str | None:
    """A bus address from rocminfo's single number: bus, device, function."""
    value = whole(text)
    return f"0000:{value >> 8 & 255:02x}:{value >> 3 & 31:02x}.{value & 7}" if value else None


def _bandwidth_test(lines: Iterable[str]) -> Iterator[Seen]:
    """Devices with a UUID are GPUs; the first ones are processors."""
    for line in lines:
        row = _RBT.match(line)
        if row and row.group(3):
            bus, device = row.group(4).split(":")
            yield Seen(
                name=known(row.group(2)),
                maker="amd",
                bus=bus_of(f"{int(bus, 16):02x}:{int(device.split('.')[0], 16):02x}.{device.split('.')[1]}"),
            )


def _cpu(lines: Iterable[str]) -> str | None:
    """The processor: the first device without a UUID, or the first CPU agent."""
    for line in lines:
        row = _RBT.match(line) or re.match(r"^\s*(Marketing Name):\s+(.*(?:AMD|Intel).*)$", line)
        if row and not (row.re is _RBT and row.group(3)):
            return known(row.group(2))
    return None
