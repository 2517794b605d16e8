"""What hardware is this: pasted output of any tool, recognised by its content, or this machine. Gives devices and SYSTEM words."""

from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType

from advisor.catalog import Catalog
from advisor.device import Device
from advisor.intake import (
    amd_smi,
    apple_lines,
    graphics_apis,
    hosts,
    identify,
    intel_lists,
    linux_lists,
    llama_devices,
    lspci,
    monitors,
    nvidia_smi_csv,
    nvidia_smi_list,
    nvidia_smi_q,
    nvidia_smi_table,
    ollama_log,
    proc,
    programs,
    reports,
    rocm_smi,
    system_profiler,
    topo,
    windows,
    wrapped,
)
from advisor.intake.detected_words import system_words
from advisor.intake.merge import Merged, is_generic, merge
from advisor.intake.page import Page
from advisor.intake.pools import SMALL_POOL_BYTES, memory_of
from advisor.intake.seen import Joint, Seen, View
from advisor.integrated import Integrated
from advisor.record import dataclass, replace

READERS: tuple[ModuleType, ...] = (
    nvidia_smi_q,
    nvidia_smi_csv,
    nvidia_smi_table,
    nvidia_smi_list,
    topo,
    amd_smi,
    rocm_smi,
    system_profiler,
    apple_lines,
    lspci,
    linux_lists,
    intel_lists,
    proc,
    ollama_log,
    llama_devices,
    graphics_apis,
    windows,
    monitors,
    programs,
    reports,
)


@dataclass(frozen=True)
class Known:
    """A device of this machine: as printed, and what it is."""

    index: int
    seen: Seen
    device: Device | None
    candidates: tuple[str, ...]
    integrated: bool
    memory_bytes: float | None
    free_bytes: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Detected:
    """The hardware of one machine. `system` = its SYSTEM words, None where a device is not known."""

    devices: tuple[Known, ...]
    links: tuple[Joint, ...]
    ram_bytes: float | None
    os: str | None
    system: str | None
    warnings: tuple[str, ...]


def recognise(page: Page) -> tuple[str, ...]:
    """The formats found in a text."""
    return tuple(dict.fromkeys(view.tool for view in views_of(page)))


@lru_cache(maxsize=16)
def views_of(page: Page) -> tuple[View, ...]:
    """What every reader that recognises something in the text, or else in a text within it, gives; a page is read once."""
    views = _views(page)
    if _count(views) and page.text.lstrip()[:1] not in ("{", "["):
        return views
    inside = tuple(view for inner in wrapped.within(page) for view in _views(inner))
    return inside if _count(inside) > _count(views) else views


def _count(views: Sequence[View]) -> int:
    """The most devices that one of the tools names."""
    return max((len(view.devices) for view in views), default=0)


def _views(page: Page) -> tuple[View, ...]:
    """What the readers find in this text itself."""
    return tuple(view for reader in READERS if reader.recognise(page) for view in reader.read(page) if _says(view))


def _says(view: View) -> bool:
    """Whether a view holds anything."""
    return bool(
        view.devices or view.links or view.warnings or view.ram_bytes or view.cpu or view.box or view.attached or view.wired_limit_bytes
    )


def detect(pages: Sequence[Page], catalog: Catalog) -> Detected:
    """The machine that all the pages describe."""
    parts = [part for page in pages for part in hosts.machines(page)]
    boxes = [known_of(views_of(part), catalog) for part in parts] if len(parts) > len(pages) else []
    boxes = [box for box in boxes if box.devices or box.warnings]
    views = [view for page in pages for view in views_of(page)]
    found = _together(boxes) if len(boxes) > 1 else known_of(views, catalog)
    return replace(found, warnings=(*(warning for page in pages for warning in page.warnings), *found.warnings))


def _together(boxes: Sequence[Detected]) -> Detected:
    """Several machines: all their devices, numbered on; equal machines give SYSTEM words of boxes, unlike ones none."""
    devices: list[Known] = []
    links: list[Joint] = []
    for box in boxes:
        first = len(devices)
        devices += [replace(known, index=first + known.index) for known in box.devices]
        links += [replace(joint, a=first + joint.a, b=first + joint.b) for joint in box.links]
    said = [box.system for box in boxes]
    words = f"{len(boxes)}x ({said[0]})" if said[0] and len(set(said)) == 1 else None
    each = ", ".join(f'"{one}"' if one else "not known" for one in said)
    note = f"{len(boxes)} machines: {each}." + ("" if words else " Say with --have which is meant.")
    warnings = dict.fromkeys((note, *(warning for box in boxes for warning in box.warnings)))
    oses = {box.os for box in boxes}
    return Detected(tuple(devices), tuple(links), boxes[0].ram_bytes, oses.pop() if len(oses) == 1 else None, words, tuple(warnings))


def known_of(views: Sequence[View], catalog: Catalog) -> Detected:
    """The machine that the views describe, with ids and SYSTEM words."""
    marks = catalog.records("integrated")["integrated"]
    found = merge(views, marks)
    seen = _with_box(found, catalog)
    boxes = [box for text in (found.box, found.cpu) if (box := _box(text, catalog))]
    identities = [_told(identity, boxes) for identity in _identities(seen, catalog, found.ram_bytes)]
    inside = [_integrated(each, identity, marks) for each, identity in zip(seen, identities, strict=True)]
    card = any(
        not flag and not (identity.device and identity.device.unified_memory) for flag, identity in zip(inside, identities, strict=True)
    )
    shown = [
        flag or (card and bool(identity.device and identity.device.unified_memory))
        for flag, identity in zip(inside, identities, strict=True)
    ]
    devices = tuple(_known(place, *each, found) for place, each in enumerate(zip(seen, identities, shown, strict=True)))
    words, remarks = system_words(devices, found.links, found.ram_bytes, catalog)
    return Detected(
        devices,
        found.links,
        found.ram_bytes,
        found.os,
        words,
        tuple(dict.fromkeys((*found.warnings, *_missing(found, devices), *_sliced(devices), *remarks))),
    )


def _identities(seen: Sequence[Seen], catalog: Catalog, ram_bytes: float | None) -> list[identify.Identity]:
    """What each device is; equal ones are looked up once."""
    alike = [replace(each, index=None, bus=None, uuid=None, driver=None) for each in seen]
    known = {each: identify.identify(each, catalog, ram_bytes) for each in dict.fromkeys(alike)}
    return [known[each] for each in alike]


def _told(identity: identify.Identity, boxes: Sequence[Device]) -> identify.Identity:
    """Of several devices of one chip the one that the processor or the board names."""
    named = [box for box in boxes if box.id in identity.candidates]
    return identify.Identity(named[0]) if identity.device is None and named else identity


def _with_box(found: Merged, catalog: Catalog) -> list[Seen]:
    """The devices, those of a box named by its processor or board with that name; a box alone is a device too."""
    seen = list(found.devices)
    for text, maker in ((found.box, "nvidia"), (found.cpu, None)):
        box = _box(text, catalog)
        if box is None:
            continue
        places = [place for place, each in enumerate(seen) if each.maker == box.maker and (is_generic(each.name) or each.name == text)]
        if not any(each.maker == box.maker for each in seen):
            seen.append(Seen(name=text, maker=maker or box.maker))
        elif len(places) == 1 and not any(identify.identify(each, catalog, found.ram_bytes).device == box for each in seen):
            place = places[0]
            seen[place] = _named(seen[place], box)
    return [_alone(each, found.ram_bytes) for each in seen]


def _named(seen: Seen, box: Device) -> Seen:
    """A device that only says "AMD Radeon Graphics", with the chip that the processor's name gives away."""
    return replace(seen, chip=seen.chip or box.chip, integrated=None)


def _alone(seen: Seen, ram_bytes: float | None) -> Seen:
    """A Mac's chip with the machine's memory where its own line lacks it."""
    return replace(seen, memory_bytes=ram_bytes) if seen.maker == "apple" and seen.memory_bytes is None and ram_bytes else seen


def _box(text: str | None, catalog: Catalog) -> Device | None:
    """The box of the catalog whose processor or board is called so, where its GPU shares the memory."""
    if not text or text.startswith("Apple"):
        return None
    found = identify.identify(Seen(name=text), catalog, None)
    devices = [catalog.devices[each] for each in found.candidates] if found.device is None else [found.device]
    return devices[0] if devices and all(each.unified_memory for each in devices) else None


def _integrated(seen: Seen, identity: identify.Identity, marks: Integrated) -> bool:
    """Whether it sits in the processor of an ordinary computer: not so a Mac, a Spark, a Strix Halo box."""
    devices = identity.device
    if devices is not None:
        return devices.kind == "integrated-gpu"
    if seen.maker in ("apple", "nvidia"):
        return False
    said = marks.says(name=seen.name, maker=seen.maker, pci_id=seen.pci_id, chip=seen.chip)
    inside = bool(said if said is not None else seen.integrated)
    pool = max(seen.memory_bytes or 0.0, seen.shared_bytes or 0.0)
    box = seen.maker == "amd" and is_generic(seen.name) and pool >= 4 * SMALL_POOL_BYTES
    unified = bool(identity.candidates) and inside
    return inside and not box and not unified


def _known(place: int, seen: Seen, identity: identify.Identity, integrated: bool, found: Merged) -> Known:
    """A device with its memory as it counts, and what there is to say of it."""
    memory, notes = memory_of(seen, identity, integrated, found)
    free = seen.free_bytes
    device = identity.device
    if free is not None and device is not None and not device.unified_memory and free > device.largest_memory_bytes * identify.MOST_SHOWN:
        free, notes = None, (*notes, "the free memory printed is more than this card has: left out")
    if device is not None and device.unified_memory and device.maker == "nvidia" and found.available_bytes:
        free = max(free or 0.0, found.available_bytes)  # CUDA counts the system's file cache as taken, which gives way
    if seen.memory_bytes and (memory or 0.0) > seen.memory_bytes >= (free or 0.0):
        free = None  # it is of the part set apart, not of the pool
    return Known(
        place, seen, device, () if device else identity.candidates, integrated, memory, free, (*seen.notes, *identity.notes, *notes)
    )


def _sliced(devices: Sequence[Known]) -> tuple[str, ...]:
    """Cards that MIG has cut: the SYSTEM words stand for the whole card."""
    cut = [known for known in devices if known.seen.mig_bytes or any(note.startswith("MIG is on") for note in known.seen.notes)]
    return tuple(
        f"Device {known.index} is cut into MIG slices: a model must fit into one of them; the SYSTEM words mean the whole card."
        for known in cut
    )


def _missing(found: Merged, devices: Sequence[Known]) -> tuple[str, ...]:
    """Tools that count more devices than any of them describes."""
    if found.counted is None or found.counted <= len(devices):
        return ()
    if not devices:
        return (f"A link matrix of {found.counted} GPUs names none of them: give `nvidia-smi -L` or its table too.",)
    return (f"A tool counts {found.counted} GPUs, {len(devices)} are described.",)


def this_machine(catalog: Catalog) -> Detected:
    """The hardware of the machine that this runs on."""
    from advisor.intake import machine

    found = detect(machine.pages(), catalog)
    return replace(found, os=found.os or _this_os())


def _this_os() -> str | None:
    """The name of this system."""
    import platform

    return {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}.get(platform.system())
