"""Does it fit: bytes on each device against what that device can use; the longest context, the most users."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from math import floor, inf

from advisor.cache import Cache
from advisor.engine import Engine
from advisor.model import Model
from advisor.need import Workload
from advisor.placement import Placement
from advisor.platforms import Platform
from advisor.reason import Fact, Reason
from advisor.record import dataclass, field
from advisor.rooms import Load, Rooms, rooms_of
from advisor.weights import Weights

UNBOUNDED_CONTEXT_TOKENS = 2**24  # asked for no more where a model states no longest context


@dataclass(frozen=True)
class DeviceFit:
    """One device's bytes (each of `count` equal ones)."""

    device: str
    count: int
    usable_bytes: float
    weights_bytes: float
    cache_bytes: float
    overhead_bytes: float

    @property
    def needed_bytes(self) -> float:
        """All that lies on it."""
        return self.weights_bytes + self.cache_bytes + self.overhead_bytes

    @property
    def headroom_bytes(self) -> float:
        """What is left; negative when short."""
        return self.usable_bytes - self.weights_bytes - self.cache_bytes - self.overhead_bytes


def all_needed_bytes(devices: Iterable[DeviceFit]) -> float:
    """What lies on all of some devices together."""
    return sum(each.count * each.needed_bytes for each in devices)


def all_usable_bytes(devices: Iterable[DeviceFit]) -> float:
    """What all of them together can use."""
    return sum(each.count * each.usable_bytes for each in devices)


@dataclass(frozen=True)
class Fit:
    """Bytes on every device, host memory, and the limits solved for. `max_*` 0 where not even one token or user fits."""

    fits: bool
    users: int  # used: what was asked, or the most that fit
    at_a_time: int  # of them: those that the engine takes at once; the others wait for their turn
    devices: tuple[DeviceFit, ...]
    host_needed_bytes: float
    host_usable_bytes: float | None
    raise_limit: bool  # fits only above the platform's default limit
    disk_bytes: float  # weights that neither memory holds: read from disk for every token, which is no fit
    # worked out when asked for: of some hundred placements few are shown
    most: Callable[[], int] = field(compare=False, repr=False)
    longest: Callable[[], int] = field(compare=False, repr=False)
    said: Callable[[], tuple[Reason, ...]] = field(compare=False, repr=False)

    @cached_property
    def max_users(self) -> int:
        """The most users of this context."""
        return self.most()

    @cached_property
    def max_context_tokens(self) -> int:
        """The longest context of each of these users."""
        return self.longest()

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it fits or not."""
        return self.said()


def fit(
    placement: Placement,
    model: Model,
    weights: Weights,
    cache: Cache,
    workload: Workload,
    engine: Engine,
    platforms: Mapping[str, Platform],
    host_room_bytes: float | None = None,
) -> Fit:
    """Bytes on each device of the placement, and the longest context and most users that would still fit."""
    return fitted(rooms_of(placement, model, weights, cache, engine, platforms, host_room_bytes), model, workload)


def fitted(rooms: Rooms, model: Model, workload: Workload) -> Fit:
    """The same, of places that are known."""
    loads, host_room, disk_bytes = rooms.loads, rooms.host_room_bytes, rooms.disk_bytes
    held = rooms.cache.held_bytes(workload.context_tokens)

    def most() -> int:
        return 0 if disk_bytes else most_users(rooms, workload.context_tokens, held)

    users = workload.users if workload.users is not None else max(1, most())
    at_a_time = min(users, rooms.max_sequences)
    devices = tuple(_device_fit(load, workload.context_tokens, held, at_a_time) for load in loads)
    host_needed = rooms.host_weights_bytes + rooms.host_cache_share * held * at_a_time
    host_short = host_room is not None and host_needed > host_room
    fits = all(each.headroom_bytes >= 0 for each in devices) and not host_short and not disk_bytes
    raised = fits and any(each.needed_bytes > load.room.default_bytes * load.taken_share for each, load in zip(devices, loads, strict=True))
    return Fit(
        fits=fits,
        users=users,
        at_a_time=at_a_time,
        devices=devices,
        host_needed_bytes=host_needed,
        host_usable_bytes=host_room,
        raise_limit=raised,
        disk_bytes=disk_bytes,
        most=most,
        longest=lambda: 0 if disk_bytes else longest_context(rooms.places, at_a_time, model),
        said=lambda: _reasons(loads, devices, raised, host_needed, host_room, disk_bytes),
    )


def longest_context(loads: tuple[Load, ...], users: int, model: Model) -> int:
    """The most tokens for each of `users` that fit, at most the model's own: exact in whole tokens.

    Solved on the straight line that bytes follow once every window is full, and proved on both sides; else by bisection.
    """

    def fits(tokens: int) -> bool:
        return all(load.spare_bytes(tokens, users) >= 0 for load in loads)

    most = model.max_context_tokens or UNBOUNDED_CONTEXT_TOKENS
    solved = min(most, *(_on_the_line(load, users) for load in loads))
    if fits(solved):
        if solved == most or not fits(solved + 1):
            return solved
        low, high = solved, most
    else:
        low, high = 0, solved
    return largest_between(low, high, fits)


def largest_between(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `high` that holds, by bisection: `low` is known to, and no number holds above one that does not."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _on_the_line(load: Load, users: int) -> int:
    """The longest context here if every window is full: growing layers block by block, the mask token by token."""
    here = load.users_here(users)
    cache, share = load.cache, load.part.cache_share * here
    full = sum(each * most for each, _, most in cache.windows if most < inf)
    growing = (cache.growing_bytes_per_token + sum(each for each, _, most in cache.windows if most == inf)) * share
    room = load.usable_bytes - load.weights_bytes - (full + cache.state_bytes) * share
    return min(
        _most_tokens(room - state.bytes(0, here), growing, state.each_token_bytes(here), cache.block_tokens) for state in load.buffers
    )


def _most_tokens(room: float, growing: float, mask: float, block: int) -> int:
    """Tokens that fit in `room`: `growing` bytes each in whole blocks, `mask` bytes each."""
    if room <= 0:
        return 0
    if growing + mask <= 0:
        return UNBOUNDED_CONTEXT_TOKENS
    whole = floor((room + mask * (block - 1)) / ((growing + mask) * block)) * block
    return max(0, min(whole, floor((room - growing * whole) / mask)) if mask > 0 else whole)


def most_users(rooms: Rooms, context_tokens: int, held_bytes: float) -> int:
    """The most users of `context_tokens`, `held_bytes` of cache each, that fit: exact, from the room beside the weights."""
    most = rooms.max_sequences
    for load in rooms.places:
        for state in load.buffers:
            spare = load.usable_bytes - load.weights_bytes - state.bytes(context_tokens, 0)
            if spare < 0:
                return 0
            each = load.part.cache_share * held_bytes + state.each_users_bytes + state.each_users_bytes_per_token * context_tokens
            if each > 0 and load.part.user_share > 0:
                most = min(most, floor(floor(spare / each + 1e-12) / load.part.user_share + 1e-9))
    return most


def _device_fit(load: Load, context_tokens: int, held_bytes: float, users: int) -> DeviceFit:
    return DeviceFit(
        device=load.part.device.id,
        count=load.part.count,
        usable_bytes=load.usable_bytes,
        weights_bytes=load.weights_bytes,
        cache_bytes=load.part.cache_share * held_bytes * load.users_here(users),
        overhead_bytes=load.overhead(context_tokens, load.users_here(users)),
    )


def _reasons(
    loads: tuple[Load, ...],
    devices: tuple[DeviceFit, ...],
    raised: bool,
    host_needed: float,
    host_room: float | None,
    disk_bytes: float,
) -> tuple[Reason, ...]:
    if disk_bytes:
        return (Reason("memory.disk", {"disk_bytes": disk_bytes, "usable_bytes": host_room}),)
    if host_room is not None and host_needed > host_room and all(each.headroom_bytes >= 0 for each in devices):
        return (Reason("memory.host-short", {"needed_bytes": host_needed, "usable_bytes": host_room}),)
    tightest = min(devices, key=lambda each: each.headroom_bytes)
    facts: dict[str, Fact] = {
        "device": tightest.device,
        "needed_bytes": tightest.needed_bytes,
        "usable_bytes": tightest.usable_bytes,
        "weights_bytes": tightest.weights_bytes,
        "cache_bytes": tightest.cache_bytes,
        "overhead_bytes": tightest.overhead_bytes,
    }
    if tightest.headroom_bytes < 0:
        found = [Reason("memory.short", {**facts, "short_bytes": -tightest.headroom_bytes})]
    else:
        found = [Reason("memory.fits", facts)]
    if raised:
        found += [_raise_reason(load) for load in loads if load.room.command is not None][:1]
    if host_room is not None and host_needed > host_room:
        found.append(Reason("memory.host-short", {"needed_bytes": host_needed, "usable_bytes": host_room}))
    return tuple(found)


def _raise_reason(load: Load) -> Reason:
    room = load.room
    return Reason(
        "memory.raise-limit",
        {
            "device": load.part.device.id,
            "default_bytes": room.default_bytes,
            "limit_bytes": room.raised_bytes,
            "command": room.command,
        },
    )
