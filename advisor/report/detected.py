"""The answer of `detect`: JSON, and a small table."""

from typing import Any

from advisor.intake.detect import Detected, Known
from advisor.report.head import head
from advisor.units import GIB

WIDTH = 80
WITHOUT_CARDS = "A computer without cards is told as --have desktop, or as what it is: `advisor list hosts`."


def as_object(found: Detected) -> dict[str, Any]:
    """The JSON of `detect`. See docs/json.md."""
    return {
        **head("detect"),
        "devices": [_device(known) for known in found.devices],
        "links": [{"a": joint.a, "b": joint.b, "kind": joint.kind} for joint in found.links],
        "host": {"ram_gib": _gib(found.ram_bytes), "os": found.os},
        "system": found.system,
        "warnings": list(found.warnings),
    }


def _device(known: Known) -> dict[str, Any]:
    """One device."""
    seen = known.seen
    return {
        "index": known.index,
        "name": seen.name,
        "id": known.device.id if known.device else None,
        "candidates": list(known.candidates),
        "integrated": known.integrated,
        "memory_gib": _gib(known.memory_bytes),
        "memory_free_gib": _gib(known.free_bytes),
        "driver": seen.driver,
        "pcie": {"gen": seen.pcie_generation, "lanes": seen.pcie_lanes},
        "power_limit_w": seen.power_limit_w,
        "mig": [{"memory_gib": _gib(size)} for size in seen.mig_bytes],
        "notes": list(known.notes),
    }


def _gib(size_bytes: float | None) -> float | None:
    """Bytes as GiB."""
    return None if size_bytes is None else size_bytes / GIB


def as_text(found: Detected) -> str:
    """A table of the devices, links, memory, and the SYSTEM words."""
    from tabulate import tabulate

    rows = [_row(known) for known in found.devices]
    parts = [tabulate(rows, headers=["", "device", "memory", "catalog id"], tablefmt="simple")] if rows else ["No GPU found."]
    notes = [_wrapped(f"{known.index}: {note}", "  ") for known in found.devices for note in known.notes]
    parts += ["\n".join(notes)] if notes else []
    joints = [f"{joint.a}-{joint.b} {joint.kind}" for joint in found.links]
    parts += [_wrapped(f"Links   {', '.join(joints[:12])}{' …' if len(joints) > 12 else ''}")] if joints else []
    parts += [f"Memory of the computer   {found.ram_bytes / GIB:.1f} GiB"] if found.ram_bytes else []
    parts.append(f'System   {found.system}\n         use it with  --have "{found.system}"' if found.system else "System   not known")
    parts += [] if found.devices else [_wrapped(WITHOUT_CARDS)]
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str, indent: str = "") -> str:
    """The text in lines of the screen's width."""
    import textwrap

    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "   ")


def _row(known: Known) -> list[str]:
    """A device in the table."""
    name = (known.seen.name or "(no name)")[: 24 if known.integrated else 36]
    memory = f"{known.memory_bytes / GIB:.1f} GiB" if known.memory_bytes else "unknown"
    some = known.candidates[0] + (", …" if len(known.candidates) > 1 else "") if known.candidates else ""
    what = known.device.id if known.device else f"? {some}".strip()
    return [str(known.index), name + (" (integrated)" if known.integrated else ""), memory, what]
