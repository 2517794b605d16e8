"""SYSTEM words of detected devices: equal ones counted, the link where all are joined alike; None and why where one is not known."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.catalog import Catalog
from advisor.device import Device
from advisor.errors import AdvisorError
from advisor.intake.seen import Joint
from advisor.units import GIB

if TYPE_CHECKING:
    from advisor.intake.detect import Known


def system_words(
    devices: Sequence["Known"], links: Sequence[Joint], ram_bytes: float | None, catalog: Catalog
) -> tuple[str | None, tuple[str, ...]]:
    """The words, and remarks for the user."""
    cards = [known for known in devices if not known.integrated] or [known for known in devices if known.device is not None][:1]
    if not cards:
        return None, ()
    open_ones = [known for known in cards if known.device is None]
    groups = _groups([known for known in cards if known.device is not None], ram_bytes)
    words = " + ".join(groups)
    if open_ones:
        return None, tuple(_open(known) for known in open_ones) + ((f'Without it: --have "{words}".',) if words else ())
    via, remarks = _via(cards, links, catalog)
    makers = {known.device.maker for known in cards if known.device}
    if len(makers) > 1:
        remarks = (
            *remarks,
            "Cards of several makers: one process of an engine normally drives one maker's (llama.cpp's Vulkan drives both).",
        )
    return words + via, remarks


def _open(known: "Known") -> str:
    """Why there are no SYSTEM words."""
    name = known.seen.name or "a device without a name"
    if known.candidates:
        return f"{name}: could be {', '.join(known.candidates)}. Say which with --have."
    return f"{name}: not in the catalog. Add it with `advisor add device`, or say with --have what it comes near to."


def _groups(cards: Sequence["Known"], ram_bytes: float | None) -> list[str]:
    """`2x rtx-3090` for each kind of device; chips on one board make one card."""
    counts: dict[tuple[str, str], int] = {}
    boards: dict[tuple[str, str], int] = {}
    for known in cards:
        if known.device is None:
            continue
        key = (known.device.id, _size(known, known.device, ram_bytes))
        counts[key] = counts.get(key, 0) + 1
        boards[key] = known.device.gpus_on_board
    return [_group(name + size, -(-count // boards[name, size])) for (name, size), count in counts.items()]


def _group(words: str, count: int) -> str:
    """Count, if more than one, and device."""
    return words if count == 1 else f"{count}x {words}"


def _size(known: "Known", device: Device, ram_bytes: float | None) -> str:
    """The memory in words where the device is sold with several sizes."""
    if len(device.memory_options_bytes) == 1:
        return ""
    have = ram_bytes
    if device.kind != "integrated-gpu":  # of which a driver prints the part set apart, no size of the computer's
        have = have or known.seen.memory_bytes or known.seen.limit_bytes
    if device.maker == "amd" and device.unified_memory and ram_bytes:
        have = ram_bytes + (known.seen.memory_bytes or 0.0)
    if not have:
        return ""
    size = next((size for size in device.memory_options_bytes if size >= 0.97 * have), device.largest_memory_bytes)
    return f" {size / GIB:g}gb"


def _via(cards: Sequence["Known"], links: Sequence[Joint], catalog: Catalog) -> tuple[str, tuple[str, ...]]:
    """` via nvlink` where every pair is joined by it; peer access over PCIe where every pair has it; else what the slots give."""
    if len(cards) < 2:
        return "", ()
    places = sorted(known.index for known in cards)
    pairs = {(a, b) for at, a in enumerate(places) for b in places[at + 1 :]}
    kinds = {
        (joint.a, joint.b) if joint.a < joint.b else (joint.b, joint.a): joint.kind for joint in links if not joint.kind.startswith("p2p-")
    }
    peer = {(min(joint.a, joint.b), max(joint.a, joint.b)) for joint in links if joint.kind == "p2p-OK"}
    bridged = {pair for pair, kind in kinds.items() if kind.startswith("NV")} & pairs
    if bridged == pairs:
        return _nvlink(cards, catalog)
    if bridged:
        names = ", ".join(f"{a}-{b}" for a, b in sorted(bridged))
        return "", (f"NVLink joins only the devices {names}: the system is taken without it.",)
    return _peer(cards, catalog) if pairs and peer >= pairs else ("", ())


def _nvlink(cards: Sequence["Known"], catalog: Catalog) -> tuple[str, tuple[str, ...]]:
    """The word `nvlink`, if the catalog has one for these devices."""
    devices = [known.device for known in cards if known.device]
    has = all(any(catalog.links[each].kind == "nvlink" for each in device.links if each in catalog.links) for device in devices)
    if has and len({device.id for device in devices}) == 1:
        return " via nvlink", ()
    return "", ("NVLink is up between these devices, but the catalog has no such link for them.",)


def _peer(cards: Sequence["Known"], catalog: Catalog) -> tuple[str, tuple[str, ...]]:
    """The PCIe link with peer access of the slowest card's width."""
    seen = [known.seen for known in cards]
    if any(each.pcie_generation is None or each.pcie_lanes is None for each in seen):
        return "", ()
    generation, lanes = min(each.pcie_generation or 0 for each in seen), min(each.pcie_lanes or 0 for each in seen)
    try:
        return f" via {catalog.link(f'pcie-{generation}-x{lanes}-p2p').id}", ()
    except AdvisorError:
        return "", ()
