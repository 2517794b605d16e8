"""Which engines and backends run a quantization of a model on hardware; each "no" is a Reason."""

from collections.abc import Iterable
from functools import lru_cache

from advisor.device import Device
from advisor.engine import Backend, Engine
from advisor.quant import Quant
from advisor.reason import Reason
from advisor.system import System

SIXTEEN_BITS = 16
EIGHT_BITS = 8


@lru_cache(maxsize=256)
def capability(text: str) -> tuple[int, ...]:
    """A compute capability as numbers that compare: 12.1 is above 8.9."""
    return tuple(int(part) for part in text.split("."))


def at_least(device: Device, least: str | None) -> bool:
    """Whether an NVIDIA chip is new enough; other makers have no such number."""
    if least is None or device.maker != "nvidia" or device.compute_capability is None:
        return True
    return capability(device.compute_capability) >= capability(least)


def drives(backend: Backend, device: Device) -> bool:
    """Whether the backend runs on this device."""
    return (
        device.maker in backend.makers
        and at_least(device, backend.least_compute_capability)
        and (not backend.architectures or device.maker == "nvidia" or device.architecture in backend.architectures)
        and device.architecture not in backend.not_architectures
    )


def devices(system: System) -> tuple[Device, ...]:
    """Each kind of device once."""
    return tuple({group.device.id: group.device for group in system.groups}.values())


@lru_cache(maxsize=4096)
def backend_for(engine: Engine, kinds: tuple[Device, ...]) -> Backend | None:
    """The engine's preferred backend that drives all these devices; of several makers, where it can mix them, of the first."""
    for backend in sorted(engine.backends, key=lambda each: -each.preference):
        if all(drives(backend, device) for device in kinds):
            return backend
    if engine.mixed_makers and len(kinds) > 1 and all(backend_for(engine, (device,)) for device in kinds):
        return backend_for(engine, kinds[:1])
    return None


def unreadable(engine: Engine, quant: Quant, kinds: Iterable[Device]) -> Reason | None:
    """Why the engine cannot run weights of this quantization there."""
    if quant.format not in engine.formats:
        return Reason("quant.engine-cannot-read", {"engine": engine.id, "quant": quant.id, "formats": ", ".join(engine.formats)})
    for rule in engine.format_rules:
        for device in kinds if rule.format == quant.format else ():
            if not at_least(device, rule.least_compute_capability) or (rule.makers and device.maker not in rule.makers):
                return Reason("quant.not-on-hardware", {"engine": engine.id, "quant": quant.id, "device": device.id})
    return None


def unkept(engine: Engine, kv_quant: str) -> Reason | None:
    """Why the engine cannot keep its cache so."""
    if kv_quant in engine.kv_types:
        return None
    return Reason("kv.engine-cannot-keep", {"engine": engine.id, "kv_quant": kv_quant, "kv_types": ", ".join(engine.kv_types)})


@lru_cache(maxsize=256)
def eight_bit_cache(engine: Engine) -> str | None:
    """The engine's cache type of eight bits a number, its scales beside them; None where it has none."""
    return next((name for name, bits in engine.kv_types.items() if EIGHT_BITS <= bits < EIGHT_BITS + 1), None)


def wanted_quants(engine: Engine, asked: str | None, native: Quant | None) -> tuple[str, ...]:
    """Ids to try in turn when no single quantization is asked: the model's own where it is a narrow one, else the engine's usual."""
    widths = {"4bit": engine.usual_4bit, "8bit": engine.usual_8bit, "16bit": engine.usual_16bit}
    if asked is not None:
        return (widths[asked],)
    own = (native.id,) if native is not None and native.nominal_bits < SIXTEEN_BITS and native.format in engine.formats else ()
    return (*own, engine.usual_quant, engine.usual_4bit, engine.usual_8bit, engine.usual_16bit)
