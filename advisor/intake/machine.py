"""This machine's own words: the tools that are there, each with a time limit, and the system's files. What is missing is left out."""

import os
import platform
import shutil
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path

from advisor.intake.page import MOST_BYTES, Page, page_of

TOOL_LIMIT_S = 8.0

_NVIDIA_FIELDS = (
    "index,name,uuid,pci.bus_id,memory.total,memory.free,driver_version,power.limit,"
    "pcie.link.gen.max,pcie.link.width.current,mig.mode.current"
)
_EVERYWHERE = (
    ("nvidia-smi", f"--query-gpu={_NVIDIA_FIELDS}", "--format=csv"),
    ("nvidia-smi", "-L"),
    ("nvidia-smi", "topo", "-m"),
    ("nvidia-smi", "topo", "-p2p", "r"),
)
_LINUX = (
    ("amd-smi", "static"),
    ("rocm-smi", "--showproductname", "--showmeminfo", "vram", "gtt", "--showbus", "--json"),
    ("lspci", "-nn", "-D"),
)
_MACOS = (
    ("system_profiler", "-json", "SPDisplaysDataType", "SPHardwareDataType"),
    ("sysctl", "machdep.cpu.brand_string", "hw.memsize", "iogpu.wired_limit_mb"),
)
_WINDOWS = (
    (
        "powershell",
        "-NoProfile",
        "-Command",
        "Get-CimInstance Win32_VideoController | Format-List Name,AdapterRAM,DriverVersion,PNPDeviceID",
    ),
)
_FILES = ("/proc/meminfo", "/proc/device-tree/model", "/proc/version", "/sys/devices/virtual/dmi/id/product_name")
_SYSFS_CARDS = ("mem_info_vram_total", "mem_info_gtt_total")
# WSL and some distributions keep tools where PATH does not lead [microsoft/WSL; rocm.docs.amd.com].
_FOLDERS = ("/usr/lib/wsl/lib", "/opt/rocm/bin", "/usr/local/cuda/bin", "/usr/sbin", "/sbin", r"C:\Windows\System32")


def pages(root: Path = Path("/")) -> list[Page]:
    """Every text this machine gives. `root` takes another folder's place for / (files only)."""
    hung: set[str] = set()
    found = [page for command in _commands() for page in _output(command, hung)]
    return found + list(_files(root))


def _commands() -> tuple[tuple[str, ...], ...]:
    """The tools of this system."""
    system = platform.system()
    own = {"Darwin": _MACOS, "Windows": _WINDOWS}.get(system, _LINUX)
    return own if system == "Darwin" else _EVERYWHERE + own


def _output(command: tuple[str, ...], hung: set[str]) -> Iterable[Page]:
    """What the tool prints within its time; nothing if it is missing, refused, or hangs. One that hung is not asked again."""
    program = shutil.which(command[0]) or next((str(path) for path in _places(command[0]) if path.is_file()), None)
    if program is None or program in hung:
        return
    try:
        running = subprocess.Popen(
            [program, *command[1:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env=_plain_environment(),
            start_new_session=True,
        )
    except OSError:
        return
    try:
        printed, _ = running.communicate(timeout=TOOL_LIMIT_S)
    except subprocess.TimeoutExpired:
        hung.add(program)
        _stop(running)
        return
    if printed:
        yield page_of(printed[:MOST_BYTES], " ".join(command[:2]))


def _stop(running: "subprocess.Popen[bytes]") -> None:
    """End a tool and what it started: a child that keeps the pipe open would be waited for."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(running.pid, signal.SIGKILL)
        running.kill()
        running.communicate(timeout=1)
    except (OSError, subprocess.SubprocessError):
        return


def _places(name: str) -> Iterable[Path]:
    """Where a tool may lie outside PATH."""
    return (Path(folder) / name for folder in _FOLDERS)


def _plain_environment() -> dict[str, str]:
    """The environment with English output."""
    return {**os.environ, "LC_ALL": "C", "LANG": "C"}


def _files(root: Path) -> Iterable[Page]:
    """The system's files, each as if it had been printed with its path."""
    for name in _FILES:
        text = _read(root / name.lstrip("/"))
        if text:
            yield page_of(text, name)
    cpu = _read(root / "proc/cpuinfo")
    model = next((line for line in cpu.splitlines() if line.startswith("model name")), "")
    if model:
        yield page_of(model, "/proc/cpuinfo")
    cards = [_card(path) for path in sorted((root / "sys/class/drm").glob("card[0-9]*")) if "-" not in path.name]
    if any(cards):
        yield page_of("\n".join(card for card in cards if card), "/sys/class/drm")


def _card(path: Path) -> str:
    """amdgpu's memory files of a card, by its bus address where the link shows it."""
    values = {name: _read(path / "device" / name).strip() for name in _SYSFS_CARDS}
    if not any(values.values()):
        return ""
    try:
        address = (path / "device").resolve().name
    except OSError:
        address = ""
    folder = f"/sys/bus/pci/devices/{address}/" if address.count(":") == 2 else f"/sys/class/drm/{path.name}/device/"
    return "\n".join(f"{folder}{name}: {value}" for name, value in values.items() if value.isdigit())


def _read(path: Path) -> str:
    """A small file's text, or nothing."""
    try:
        with path.open("rb") as file:
            return file.read(1 << 20).decode("utf-8", "replace").replace("\0", "\n")
    except OSError:
        return ""
