"""Printed devices to catalog ids: by PCI id, chip and name, then by memory and power. In doubt: no id, and the candidates."""

import re
from collections.abc import Iterable

from advisor.catalog import Catalog
from advisor.device import Device
from advisor.errors import AdvisorError
from advisor.intake.merge import LAPTOP_FORMS, alternatives, is_generic, names_agree
from advisor.intake.readings import maker_of
from advisor.intake.seen import Seen
from advisor.lookup import device_words, normal
from advisor.record import dataclass
from advisor.units import GIB

LEAST_SHOWN = 0.92  # share of a card's memory that its driver shows at the least (ECC takes 6.25 %)
LEAST_SHOWN_UNIFIED = 0.84  # share of a computer's memory that its system shows at the least
MOST_SHOWN = 1.03
LEAST_BOX_BYTES = 32 * GIB  # no laptop's integrated GPU is given so much
LEAST_POWER = 0.6  # share of a desktop card's power limit below which a cut name may be a laptop's

_CUT = re.compile(r"\.{2,3}\s*$|…\s*$")
_TRIMMINGS = re.compile(r"\s+(?:VF|OAM|\(nvgpu\)|Graphics Card|Rev\.? ?[A-Z]?\d?)\s*$|\s+Lite Hash Rate\b|\(TM\)|\(R\)|™|®", re.IGNORECASE)
_NUMBER = re.compile(r"^(?:.*\bDevice )?[0-9a-fA-F]{4}(?::[0-9a-fA-F]{4})?$")  # a PCI id where the name should be
_GEFORCE = re.compile(r"geforce|\b[rg]tx\b|quadro|titan", re.IGNORECASE)
_LAPTOP = re.compile(r"laptop|mobile|notebook|max-?q", re.IGNORECASE)


@dataclass(frozen=True)
class Identity:
    """What a printed device is: one device, or those that it may be."""

    device: Device | None
    candidates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def identify(seen: Seen, catalog: Catalog, ram_bytes: float | None) -> Identity:
    """The device of the catalog that this is."""
    candidates = _candidates(seen, catalog)
    fitting = [device for device in candidates if _fits(device, seen, ram_bytes)]
    chosen = _commoner(_by_name(seen, [device for device in fitting if _is_meant(device, seen)]), seen)
    ids = tuple(device.id for device in fitting or candidates)
    if len(chosen) == 1 and _sure(chosen[0], seen, catalog):
        others = ", ".join(each for each in ids if each != chosen[0].id)
        return Identity(
            chosen[0], (), (f"taken as {chosen[0].id}, since its memory is not printed; it could also be {others}",) if others else ()
        )
    if candidates and not fitting:
        return Identity(None, ids, ("its memory is not that of the device of this name in the catalog",))
    if seen.maker == "apple" and ids:
        return Identity(
            None, ids, ("the number of GPU cores tells which it is: give `system_profiler SPDisplaysDataType SPHardwareDataType`",)
        )
    return Identity(None, ids)


def _candidates(seen: Seen, catalog: Catalog) -> list[Device]:
    """Devices that the printed marks may mean, before memory is looked at."""
    found: dict[str, Device] = {}
    for texts in _spellings(seen):
        for text in texts:
            found.update({device.id: device for device in _looked_up(text, catalog)})
        if found:
            break
    if not found and seen.name and _CUT.search(seen.name):
        found = {device.id: device for device in _cut(seen.name, catalog)}
    devices = list(_with_variants(found, catalog).values()) or _boxes(seen, catalog)
    by_core = [device for device in devices if device.gpu_cores == seen.gpu_cores]
    return by_core if seen.gpu_cores and by_core else devices


def _with_variants(found: dict[str, Device], catalog: Catalog) -> dict[str, Device]:
    """Also the devices that are sold under the same name with other memory: a plain name means the commoner one only."""
    if not found:
        return found
    bases = {device.variant_of or device.id for device in found.values()}
    kin = {each.id: each for each in catalog.devices.values() if each.variant_of in bases or each.id in bases}
    return {**found, **kin}


def _spellings(seen: Seen) -> Iterable[tuple[str, ...]]:
    """The marks in the order of their worth, those of equal worth together; a generic name is none."""
    name = _TRIMMINGS.sub("", seen.name or "").strip()
    if name and not is_generic(name) and not _CUT.search(name):
        if seen.gpu_cores:
            yield (f"{name} {seen.gpu_cores}-core GPU",)
        yield (name,)
        yield tuple(other for other in alternatives(name) if other != name)
    if seen.pci_id:
        yield (seen.pci_id,)
    if seen.chip and (not name or is_generic(name)):
        yield (seen.chip,)


def _boxes(seen: Seen, catalog: Catalog) -> list[Device]:
    """What an AMD GPU that only says "Radeon Graphics" may be when it has more memory than a laptop's: a box that shares it."""
    pool = max(seen.memory_bytes or 0.0, seen.shared_bytes or 0.0)
    if seen.maker != "amd" or not is_generic(seen.name) or seen.name is None or pool < LEAST_BOX_BYTES:
        return []
    return [device for device in catalog.devices.values() if device.maker == "amd" and device.kind == "apu-box"]


def _looked_up(text: str, catalog: Catalog) -> list[Device]:
    """The catalog's answer; of an ambiguous name all that bear it. A laptop's name means no desktop card."""
    laptop, maker = bool(_LAPTOP.search(text)), maker_of(text)
    try:
        ids: tuple[str, ...] = (catalog.find("devices", text).id,)
    except AdvisorError as error:
        ids = error.nearest if error.code == "ambiguous-name" else ()
    devices = [catalog.devices[each] for each in ids if each in catalog.devices and maker in (None, catalog.devices[each].maker)]
    return [device for device in devices if not laptop or device.kind == "laptop-gpu" or _LAPTOP.search(device.name)]


def _cut(name: str, catalog: Catalog) -> list[Device]:
    """Devices whose printed names begin with a cut one."""
    start = _plain(_CUT.sub("", name))
    sized = not _GEFORCE.search(name)  # a server card's printed name ends with its memory
    maker = maker_of(name)
    found = []
    for each in catalog.ids("devices"):
        device = catalog.devices[each]
        if device.maker != maker or device.kind not in ("gpu", "laptop-gpu"):
            continue
        forms = [_plain(called) for called in (device.name, *device.aliases)]
        geforce = "geforce" not in name.lower() or "geforce" in device.name.lower()
        if geforce and any(_begins(form, start, sized) for form in forms):
            found.append(device)
    return found


def _plain(name: str) -> str:
    """A name's words run together."""
    return normal(" ".join(device_words(name)))


def _begins(form: str, start: str, sized: bool) -> bool:
    """Whether a name goes on after the cut; a memory size behind a whole number belongs to the printed names of server cards only."""
    return form.startswith(start) and form != start and (sized or form[len(start)] != ".")


def _fits(device: Device, seen: Seen, ram_bytes: float | None) -> bool:
    """Whether the printed memory can be this device's."""
    if device.unified_memory:
        return _fits_unified(device, seen, ram_bytes)
    if seen.memory_bytes is None:
        return (
            seen.free_bytes is None or seen.free_bytes <= device.largest_memory_bytes * MOST_SHOWN or len(device.memory_options_bytes) == 1
        )
    sizes = (*device.memory_options_bytes, *((device.reported_bytes,) if device.reported_bytes else ()))
    return any(LEAST_SHOWN <= seen.memory_bytes / size <= MOST_SHOWN for size in sizes)


def _fits_unified(device: Device, seen: Seen, ram_bytes: float | None) -> bool:
    """Whether the computer's memory can be this box's: what is carved out for the GPU belongs to it."""
    total = whole_memory(device, seen, ram_bytes)
    if total is not None:
        return any(LEAST_SHOWN_UNIFIED <= total / size <= MOST_SHOWN for size in device.memory_options_bytes)
    part = max(seen.memory_bytes or 0.0, seen.shared_bytes or 0.0, seen.limit_bytes or 0.0)
    return part <= device.largest_memory_bytes * MOST_SHOWN


def whole_memory(device: Device, seen: Seen, ram_bytes: float | None) -> float | None:
    """All memory of a box whose GPU shares it, where that can be told."""
    if device.kind == "integrated-gpu" and device.maker != "amd":
        return ram_bytes  # what its driver prints is the small part set apart, counted in the RAM
    if device.maker == "amd" and device.kind in ("apu-box", "integrated-gpu"):
        hidden = seen.memory_bytes is None and any("AdapterRAM" in note for note in seen.notes)  # what is carved out is not in the RAM
        return ram_bytes + (seen.memory_bytes or 0.0) if ram_bytes and not hidden else None
    return ram_bytes or seen.memory_bytes


def _is_meant(device: Device, seen: Seen) -> bool:
    """Whether the printed name can be the device's own: an RTX 2080 is no RTX 2080 SUPER, however near."""
    if seen.name is None or _CUT.search(seen.name) or device.unified_memory or is_generic(seen.name) or _NUMBER.match(seen.name):
        return True
    name = _TRIMMINGS.sub("", seen.name)
    return any(names_agree(name, called) for called in (device.name, *device.aliases))


def _commoner(chosen: list[Device], seen: Seen) -> list[Device]:
    """Of devices sold under one name the one that the plain name means, where no memory is printed to tell them apart."""
    if len(chosen) < 2 or seen.memory_bytes is not None or chosen[0].unified_memory or _has_several(seen):
        return chosen
    bases = [device for device in chosen if device.variant_of is None]
    return bases if len(bases) == 1 and all(device.variant_of in (None, bases[0].id) for device in chosen) else chosen


def _has_several(seen: Seen) -> bool:
    """Whether the printed name lists several devices of one chip."""
    inside = re.search(r"\[([^\]]*)\]", seen.name or "")
    _, *others = (inside.group(1) if inside else seen.name or "").split("/")
    return any(each.strip().lower() not in LAPTOP_FORMS for each in others)


def _by_name(seen: Seen, fitting: list[Device]) -> list[Device]:
    """Of the fitting devices those that the name means exactly, where it means one."""
    if len(fitting) < 2 or not seen.name:
        return fitting
    start = normal(" ".join(device_words(_TRIMMINGS.sub("", seen.name))))
    exact = [device for device in fitting if start in {normal(" ".join(device_words(name))) for name in (device.name, *device.aliases)}]
    return exact if len(exact) == 1 and not _has_several(seen) and seen.maker != "apple" else fitting


def _sure(device: Device, seen: Seen, catalog: Catalog) -> bool:
    """Whether the one candidate left may be taken: a cut name could be a laptop's, a Mac's chip has several GPUs."""
    if seen.name and _CUT.search(seen.name):
        if device.kind == "gpu" and not _GEFORCE.search(seen.name):
            return seen.memory_bytes is not None
        return bool(seen.power_limit_w and device.power_w and seen.power_limit_w >= LEAST_POWER * device.power_w and seen.memory_bytes)
    if _has_several(seen):
        return seen.memory_bytes is not None
    if device.maker == "apple" and device.gpu_cores != seen.gpu_cores:
        siblings = [other for other in catalog.devices.values() if other.chip and other.chip == device.chip]
        return seen.gpu_cores is None and len(siblings) > 1
    return True
