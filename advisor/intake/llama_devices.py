"""Device lines of llama.cpp: what each backend found at start, `--list-devices`, `using device …`. One view a backend."""

import re

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, known, maker_of, size_bytes
from advisor.intake.seen import Seen, View
from advisor.record import replace
from advisor.units import MIB

TOOL = "llama.cpp devices"

_INIT = re.compile(r"^.{0,200}?\bDevice (\d{1,3}): ([^,\n]{2,120}), (?:compute capability [\d.]+|(gfx\w+))(.*)$")
_LISTED = re.compile(
    r"^.{0,120}?\b(CUDA|ROCm|Vulkan|MTL|Metal|SYCL|HIP|CANN|MUSA)(\d*)\s{0,9}: (.{2,120}?)\s{1,60}\((\d+) MiB, (\d+) MiB free\)"
)
_USING = re.compile(r"using device (CUDA|ROCm|Vulkan|MTL|Metal|SYCL|HIP|MUSA)(\d*) \((.{2,120}?)\)(?: \(([^)]{0,60})\))? - (\d+) MiB free")
_VULKAN = re.compile(r"ggml_vulkan: (\d{1,3}) = (.{2,160}?) \| uma: (\d)")
_OLD_VULKAN = re.compile(r"ggml_vulkan: Using (.{2,120}?) \| uma: (\d)|Vulkan(\d+): (.{2,120}?) \| uma: (\d)")
_SYCL = re.compile(r"^\|\s*(\d{1,2})\|\s*\[(?:level_zero|opencl):gpu:?\d*\]\s*\|\s*(.{2,80}?)\s*\|(?:[^|]*\|){4,6}\s*(\d+)M\|")
_DRIVER = re.compile(
    r"\s+\((?:RADV|AMD open-source|AMD proprietary|Intel open-source|Intel Corporation|NVIDIA|MoltenVK|Mesa|llv"
    r"mpipe|DOZEN|amdvlk)[^()]*(?:\([^()]*\))?[^()]*\)\s*$",
    re.IGNORECASE,
)
_VRAM = re.compile(r"VRAM: (\d+) MiB")
_CPU_NAMES = re.compile(r"llvmpipe|lavapipe|\bCPU\b|SwiftShader", re.IGNORECASE)

Found = dict[str, dict[int, Seen]]


def recognise(page: Page) -> bool:
    """Whether a device line of one of the backends is there."""
    return page.has("Device ", "MiB free", "ggml_vulkan: ", "level_zero:gpu", "opencl:gpu", "| uma: ")


def read(page: Page) -> tuple[View, ...]:
    """A view for each backend: the same card seen by two of them is one card."""
    return tuple(View(tool=f"{TOOL} {backend}", devices=tuple(devices.values())) for backend, devices in _all(page).items() if devices)


def _all(page: Page) -> Found:
    """Devices by backend and index."""
    found: Found = {}
    backend = "CUDA"
    for line in page.lines:
        if "found" in line and "devices" in line:
            backend = "ROCm" if "ROCm" in line else backend
        for reader in (_init, _listed, _using, _vulkan, _sycl):
            seen = reader(line, backend)
            if seen:
                where, index, device = seen
                devices = found.setdefault(where, {})
                devices[index] = _joined(devices.get(index), device)
                break
    return found


def _joined(before: Seen | None, seen: Seen) -> Seen:
    """Two lines on one device: the later fills what the first left open."""
    if before is None:
        return seen
    return replace(
        before, **{key: value for key, value in vars(seen).items() if value not in (None, ()) and getattr(before, key) in (None, ())}
    )


def _init(line: str, backend: str) -> tuple[str, int, Seen] | None:
    """`Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes`."""
    found = _INIT.match(line) if "Device " in line else None
    if not found:
        return None
    vram = _VRAM.search(found.group(4))
    where = "ROCm" if found.group(3) else backend
    seen = _seen(found.group(2), int(found.group(1)), vram.group(1) if vram else None, None)
    return where, int(found.group(1)), replace(seen, chip=found.group(3), maker=seen.maker or ("amd" if found.group(3) else "nvidia"))


def _listed(line: str, backend: str) -> tuple[str, int, Seen] | None:
    """`CUDA0: NVIDIA GeForce RTX 3090 (24125 MiB, 23854 MiB free)`."""
    found = _LISTED.match(line) if "MiB free)" in line else None
    return (
        (found.group(1), int(found.group(2) or 0), _seen(found.group(3), int(found.group(2) or 0), found.group(4), found.group(5)))
        if found
        else None
    )


def _using(line: str, backend: str) -> tuple[str, int, Seen] | None:
    """`using device CUDA0 (NVIDIA GeForce RTX 3090) (0000:01:00.0) - 23878 MiB free`."""
    found = _USING.search(line) if "using device" in line else None
    if not found:
        return None
    seen = _seen(found.group(3), int(found.group(2) or 0), None, found.group(5))
    return found.group(1), int(found.group(2) or 0), replace(seen, bus=bus_of(found.group(4)))


def _vulkan(line: str, backend: str) -> tuple[str, int, Seen] | None:
    """`ggml_vulkan: 0 = AMD Radeon … (RADV NAVI31) (radv) | uma: 0 | …`; `uma` says it shares the computer's memory."""
    if "ggml_vulkan" not in line:
        return None
    found = _VULKAN.search(line)
    index, name, uma = (int(found.group(1)), found.group(2), found.group(3)) if found else (0, None, None)
    if not found:
        old = _OLD_VULKAN.search(line)
        if not old:
            return None
        index, name, uma = int(old.group(3) or 0), old.group(1) or old.group(4), old.group(2) or old.group(5)
    seen = _seen(name or "", index, None, None)
    return (
        None
        if _CPU_NAMES.search(name or "")
        else ("Vulkan", index, replace(seen, integrated=True if uma == "1" and seen.maker != "apple" else None))
    )


def _sycl(line: str, backend: str) -> tuple[str, int, Seen] | None:
    """A row of SYCL's device table; its sizes are in millions of bytes."""
    found = _SYCL.match(line) if "gpu" in line else None
    if not found:
        return None
    seen = _seen(found.group(2), int(found.group(1)), None, None)
    return "SYCL", int(found.group(1)), replace(seen, memory_bytes=size_bytes(f"{found.group(3)} MB", decimal=True), maker="intel")


def _seen(name: str, index: int, total_mib: str | None, free_mib: str | None) -> Seen:
    """A device by its printed name without the driver's; on a Mac the printed total is the limit, not the memory."""
    plain = _DRIVER.sub("", _DRIVER.sub("", name)).strip()
    total = float(total_mib) * MIB or None if total_mib else None
    apple = maker_of(plain) == "apple"
    return Seen(
        name=known(plain),
        index=index,
        maker=maker_of(plain),
        memory_bytes=None if apple else total,
        limit_bytes=total if apple else None,
        free_bytes=float(free_mib) * MIB or None if free_mib else None,
    )
