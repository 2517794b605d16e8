"""Which engines and backends run a quantization of a model on hardware; each "no" is a Reason."""

from collections.abc import Iterable
from functools import lru_cache

from advisor.device import Device
from advisor.engine import Backend, CacheRule, Engine, FormatRule
from advisor.quant import Quant
from advisor.reason import Fact, Reason
from advisor.system import System

SIXTEEN_BITS = 16
EIGHT_BITS = 8
CACHE_TOO_OLD, CACHE_NOT_THERE = "kv.too-old", "kv.not-on-hardware"  # what an engine keeps, but not on these devices


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


def allows(rule: FormatRule | CacheRule, device: Device) -> bool:
    """Whether a format of weights, or a cache type, runs on this device."""
    return at_least(device, rule.least_compute_capability) and (not rule.makers or device.maker in rule.makers)


def unreadable(engine: Engine, quant: Quant, kinds: Iterable[Device]) -> Reason | None:
    """Why the engine cannot run weights of this quantization there."""
    if quant.format not in engine.formats:
        return Reason("quant.engine-cannot-read", {"engine": engine.id, "quant": quant.id, "formats": ", ".join(engine.formats)})
    for rule in engine.format_rules:
        for device in kinds if rule.format == quant.format else ():
            if not allows(rule, device):
                return Reason("quant.not-on-hardware", {"engine": engine.id, "quant": quant.id, "device": device.id})
    return None


def unkept(engine: Engine, kv_quant: str, kinds: Iterable[Device]) -> Reason | None:
    """Why the engine cannot keep its cache so on these devices."""
    if kv_quant not in engine.kv_types:
        return Reason("kv.engine-cannot-keep", {"engine": engine.id, "kv_quant": kv_quant, "kv_types": ", ".join(engine.kv_types)})
    if not engine.cache_rules:
        return None
    refused = next(((rule, device) for device in kinds if (rule := _cache_rule(engine, kv_quant, device))), None)
    return _not_there(engine, *refused) if refused else None


def _cache_rule(engine: Engine, kv_quant: str, device: Device) -> CacheRule | None:
    """The rule by which the engine keeps no such cache on the device."""
    return next((rule for rule in engine.cache_rules if rule.kv_quant == kv_quant and not allows(rule, device)), None)


def _not_there(engine: Engine, rule: CacheRule, device: Device) -> Reason:
    kept = ", ".join(name for name in engine.kv_types if not _cache_rule(engine, name, device))
    facts: dict[str, Fact] = {"engine": engine.id, "kv_quant": rule.kv_quant, "device": device.id, "kv_types": kept}
    if at_least(device, rule.least_compute_capability):
        return Reason(CACHE_NOT_THERE, facts)
    return Reason(CACHE_TOO_OLD, {**facts, "needed": rule.least_compute_capability, "has": device.compute_capability})


def eight_bit_cache(engine: Engine, kinds: tuple[Device, ...] = ()) -> str | None:
    """The engine's cache type of eight bits a number, its scales beside them, on these devices; None where it has none there."""
    eight = (name for name, bits in engine.kv_types.items() if EIGHT_BITS <= bits < EIGHT_BITS + 1)
    return next((name for name in eight if not unkept(engine, name, kinds)), None)


def wanted_quants(engine: Engine, asked: str | None, native: Quant | None) -> tuple[str, ...]:
    """Ids to try in turn when no single quantization is asked: the model's own where it is a narrow one, else the engine's usual."""
    widths = {"4bit": engine.usual_4bit, "8bit": engine.usual_8bit, "16bit": engine.usual_16bit}
    if asked is not None:
        return (widths[asked],)
    own = (native.id,) if native is not None and native.nominal_bits < SIXTEEN_BITS and native.format in engine.formats else ()
    return (*own, engine.usual_quant, engine.usual_4bit, engine.usual_8bit, engine.usual_16bit)
