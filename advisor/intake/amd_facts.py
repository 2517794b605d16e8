"""AMD devices from named facts: rocm-smi's JSON, CSV and `GPU[0] : key: value` lines use the same keys, in every era."""

import re
from collections.abc import Mapping

from advisor.intake.readings import bus_of, known, number, pcie_generation, size_bytes, unknown
from advisor.intake.seen import Seen
from advisor.units import MIB

_HEX = re.compile(r"^\s*(?:0x)?([0-9a-f]{4})\s*$", re.IGNORECASE)
_NAMES = ("card series", "device name", "market name", "card model", "card vendor name", "product name")
_DEVICE_IDS = ("gpu id", "device id", "card model", "card id")
_LINK = re.compile(r"([\d.]+)\s*GT/s\s*x?(\d+)")


def plain_keys(facts: Mapping[str, object]) -> dict[str, object]:
    """Keys in one form: lower case, single blanks, no colon at the end."""
    return {" ".join(str(key)[:120].lower().split()).rstrip(":"): value for key, value in list(facts.items())[:400]}


def device(index: int | None, facts: Mapping[str, object]) -> Seen:
    """A device from rocm-smi's keys (already in `plain_keys` form)."""
    vram = _bytes(facts, "vram total memory (b)", "gpu memory available", "vram total memory (mib)")
    used = _bytes(facts, "vram total used memory (b)", "gpu memory use")
    gfx = known(facts.get("gfx version"))
    link = _LINK.search(str(facts.get("pcie clock level", "")))
    return Seen(
        name=_name(facts),
        index=index,
        maker="amd",
        bus=bus_of(facts.get("pci bus")),
        pci_id=_pci_id(facts),
        chip=gfx if gfx and gfx.startswith("gfx") else None,
        memory_bytes=vram,
        free_bytes=max(0.0, vram - used) if vram and used is not None else None,
        shared_bytes=_bytes(facts, "gtt total memory (b)"),
        power_limit_w=_power(facts),
        pcie_generation=pcie_generation(link.group(1)) if link else None,
        pcie_lanes=int(link.group(2)) if link else None,
    )


def _name(facts: Mapping[str, object]) -> str | None:
    """The first key that holds a name, better of one device than of a chip's; old tools print an id where the name should be."""
    found = [
        name
        for key in _NAMES
        if (name := known(facts.get(key))) and not _HEX.match(name) and not re.fullmatch(r"0x[0-9a-f]{1,8}", name, re.IGNORECASE)
    ]
    single = (name for name in found if "/" not in name and any(sign.isdigit() for sign in name))
    return next(single, found[0]) if found and "/" in found[0] else found[0] if found else None


def _pci_id(facts: Mapping[str, object]) -> str | None:
    """The device id; `Card Model` holds it in new versions (with a name beside it), the board's in old ones."""
    for key in _DEVICE_IDS:
        found = _HEX.match(str(facts.get(key, "")))
        newer = "card series" in facts or "device name" in facts
        if found and (key != "card model" or (newer and "gfx version" in facts)):
            return f"1002:{found.group(1)}".lower()
    return None


def _bytes(facts: Mapping[str, object], *keys: str) -> float | None:
    """Bytes under the first of the keys that is known."""
    for key in keys:
        if not unknown(facts.get(key)):
            found = size_bytes(facts.get(key), MIB if key.endswith("(mib)") else 1.0)
            return found if found is not None else (0.0 if number(facts.get(key)) == 0 and "use" in key else None)
    return None


def _power(facts: Mapping[str, object]) -> float | None:
    """The power cap."""
    for key, value in facts.items():
        if "max" in key and "power" in key and "(w)" in key and not unknown(value):
            return number(value)
    return None
