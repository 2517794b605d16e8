"""A platform: how much of a device's memory a model may take, and how the owner can raise that."""

from collections.abc import Iterable, Mapping

from advisor.device import Device
from advisor.price import Source
from advisor.record import dataclass
from advisor.units import GIB, KIB, MIB
from advisor.yamlfile import given

PAGE_BYTES = 4 * KIB


@dataclass(frozen=True, kw_only=True)
class Tier:
    """Devices of at most this memory: the share that is usable by default, and what the system keeps at least."""

    up_to_bytes: float | None = given("up_to_gib", GIB, default=None, above=0)
    default_share: float = given(above=0, most=1)
    reserve_bytes: float | None = given("reserve_gib", GIB, default=None, least=0)  # left when raised; None = cannot be raised


@dataclass(frozen=True, kw_only=True)
class Platform:
    """Devices of these makers and kinds, with their rules. Of the platforms that fit a device the most closely described is its own."""

    id: str = given()
    name: str = given()
    makers: tuple[str, ...] = given(default=())  # empty = any
    kinds: tuple[str, ...] = given(default=())
    architectures: tuple[str, ...] = given(default=())
    tiers: tuple[Tier, ...] = given()
    context_bytes: float = given("context_gib", GIB, least=0)  # driver context of one process on one device
    raise_command: str | None = given(default=None)  # {limit_mib}, {limit_pages}
    rdma_kinds: tuple[str, ...] = given(default=(), about="the only kinds of link between boxes that carry RDMA; empty = any")
    sources: tuple[Source, ...] = given(default=())
    unverified: tuple[str, ...] = given(default=())
    notes: str | None = given(default=None)

    def fits(self, device: Device) -> bool:
        """Whether the rules are this device's."""
        return (
            (not self.makers or device.maker in self.makers)
            and (not self.kinds or device.kind in self.kinds)
            and (not self.architectures or device.architecture in self.architectures)
        )

    @property
    def closeness(self) -> int:
        """How many properties of a device it asks for."""
        return sum(map(bool, (self.makers, self.kinds, self.architectures)))


@dataclass(frozen=True)
class Usable:
    """Bytes of one device's memory that a model may take: by default, and with the limit raised."""

    default_bytes: float
    raised_bytes: float
    context_bytes: float
    command: str | None


_KNOWN: list[tuple[Mapping[str, Platform], dict[tuple[Device, float], Usable]]] = []  # by catalog, the last one first
MOST_KNOWN = 4


def usable(device: Device, memory_bytes: float, platforms: Mapping[str, Platform]) -> Usable:
    """What of `memory_bytes` on this device a model may take. Without a platform for it: all of it. Asked by every estimate."""
    if not _KNOWN or _KNOWN[0][0] is not platforms:
        known = next((found for held, found in _KNOWN if held is platforms), {})
        _KNOWN[:] = [(platforms, known), *(each for each in _KNOWN if each[0] is not platforms)][:MOST_KNOWN]
    rooms, key = _KNOWN[0][1], (device, memory_bytes)
    if key not in rooms:
        rooms[key] = _usable(device, memory_bytes, platforms.values())
    return rooms[key]


def _usable(device: Device, memory_bytes: float, platforms: Iterable[Platform]) -> Usable:
    if device.reported_bytes is not None and memory_bytes >= device.largest_memory_bytes:
        memory_bytes = device.reported_bytes  # the driver's total: what error correction and firmware leave of the box's figure
    platform = max((each for each in platforms if each.fits(device)), key=lambda each: each.closeness, default=None)
    if platform is None:
        stated = device.usable_bytes or memory_bytes
        return Usable(stated, stated, 0.0, None)
    tier = next(each for each in platform.tiers if each.up_to_bytes is None or memory_bytes <= each.up_to_bytes)
    default = memory_bytes * tier.default_share
    if device.usable_bytes is not None and memory_bytes >= (device.reported_bytes or device.largest_memory_bytes):
        default = device.usable_bytes
    raised = default if tier.reserve_bytes is None else max(default, memory_bytes - tier.reserve_bytes)
    command = platform.raise_command
    if command is not None:
        command = command.format(limit_mib=round(raised / MIB), limit_pages=round(raised / PAGE_BYTES))
    return Usable(default, raised, platform.context_bytes, command if raised > default else None)
