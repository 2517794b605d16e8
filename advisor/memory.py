"""Does it fit: bytes on each device against what that device can use; the longest context, the most users."""

from collections.abc import Callable, Mapping
from functools import cached_property
from math import ceil, floor, inf

from advisor.buffers import buffers_of, input_copies
from advisor.cache import Cache
from advisor.engine import Engine
from advisor.model import Model
from advisor.need import Workload
from advisor.placement import Part, Placement
from advisor.platforms import Platform, Usable, usable
from advisor.reason import Fact, Reason
from advisor.record import dataclass, field, replace
from advisor.units import GIB
from advisor.weights import Weights

HOST_RESERVE_BYTES = 4 * GIB  # what the operating system and the programs beside keep
UNBOUNDED_CONTEXT_TOKENS = 2**24  # asked for no more where a model states no longest context
UNBOUNDED_USERS = 2**20  # where an engine states no most


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


@dataclass(frozen=True)
class Fit:
    """Bytes on every device, host memory, and the limits solved for. `max_*` 0 where not even one token or user fits."""

    fits: bool
    users: int  # used: what was asked, or the most that fit
    at_a_time: int  # of them: those that the engine takes at once; the others wait for their turn
    devices: tuple[DeviceFit, ...]
    host_needed_bytes: float
    host_usable_bytes: float | None
    max_users: int
    raise_limit: bool  # fits only above the platform's default limit
    disk_bytes: float  # weights that neither memory holds: read from disk for every token, which is no fit
    # worked out when asked for: of some hundred placements few are shown
    longest: Callable[[], int] = field(compare=False, repr=False)
    said: Callable[[], tuple[Reason, ...]] = field(compare=False, repr=False)

    @cached_property
    def max_context_tokens(self) -> int:
        """The longest context of each of these users."""
        return self.longest()

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it fits or not."""
        return self.said()


@dataclass(frozen=True, eq=False)
class _Load:
    """What lies on one part's devices: fixed bytes, and a cache for each user; both in exact functions of the context."""

    part: Part
    room: Usable
    share: float  # of the usable memory that the engine takes
    weights_bytes: float
    cache: Cache
    buffers: tuple[tuple[float, float], ...]  # (bytes, bytes for each token of context) of states of which the largest counts

    @property
    def usable_bytes(self) -> float:
        """What the engine may take with the limit raised."""
        return self.room.raised_bytes * self.share

    def overhead(self, context_tokens: float) -> float:
        """Runtime and compute buffers."""
        return max(fixed + each * context_tokens for fixed, each in self.buffers)

    def users_here(self, users: int) -> int:
        """Users whose cache lies here: of `users`, those that this group serves."""
        return ceil(users * self.part.user_share - 1e-9)

    def user_bytes(self, context_tokens: float) -> float:
        """Cache of one user here."""
        return self.part.cache_share * self.cache.held_bytes(context_tokens)

    def spare_bytes(self, context_tokens: float, users: int) -> float:
        """What is left; negative when short."""
        cache = self.user_bytes(context_tokens) * self.users_here(users)
        return self.usable_bytes - self.weights_bytes - self.overhead(context_tokens) - cache


def fit(
    placement: Placement,
    model: Model,
    weights: Weights,
    cache: Cache,
    workload: Workload,
    engine: Engine,
    platforms: Mapping[str, Platform],
    host_bytes: float | None = None,
) -> Fit:
    """Bytes on each device of the placement, and the longest context and most users that would still fit."""
    copies = input_copies(placement)
    loads = tuple(_load(part, model, weights, cache, engine, platforms, copies) for part in placement.parts)
    host_room = None if host_bytes is None else max(0.0, host_bytes - HOST_RESERVE_BYTES)
    rooms = (*loads, *_host_load(loads, weights, cache, host_room))
    disk_bytes = sum(part.disk_share for part in placement.parts) * (weights.dense_bytes + weights.expert_bytes)
    most = 0 if disk_bytes else most_users(rooms, workload.context_tokens, engine, placement.groups)
    users = workload.users if workload.users is not None else max(1, most)
    at_a_time = min(users, _sequences(engine, placement.groups))
    devices = tuple(_device_fit(load, workload.context_tokens, at_a_time) for load in loads)
    host_needed = sum(_host_bytes(load.part, weights) * load.part.count for load in loads)
    host_needed += _host_cache_share(loads) * cache.held_bytes(workload.context_tokens) * at_a_time
    host_short = host_room is not None and host_needed > host_room
    fits = all(each.headroom_bytes >= 0 for each in devices) and not host_short and not disk_bytes
    raised = fits and any(each.needed_bytes > load.room.default_bytes * load.share for each, load in zip(devices, loads, strict=True))
    return Fit(
        fits=fits,
        users=users,
        at_a_time=at_a_time,
        devices=devices,
        host_needed_bytes=host_needed,
        host_usable_bytes=host_room,
        max_users=most,
        raise_limit=raised,
        disk_bytes=disk_bytes,
        longest=lambda: 0 if disk_bytes else longest_context(rooms, at_a_time, model),
        said=lambda: _reasons(loads, devices, raised, host_needed, host_room, disk_bytes),
    )


def on_device(
    part: Part, model: Model, weights: Weights, cache: Cache, workload: Workload, engine: Engine, platforms: Mapping[str, Platform]
) -> DeviceFit:
    """What lies on each device of one part, whatever lies on the others."""
    return _device_fit(_load(part, model, weights, cache, engine, platforms), workload.context_tokens, workload.users or 1)


def longest_context(loads: tuple[_Load, ...], users: int, model: Model) -> int:
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
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _on_the_line(load: _Load, users: int) -> int:
    """The longest context here if every window is full: growing layers block by block, the mask token by token."""
    cache, share = load.cache, load.part.cache_share * load.users_here(users)
    full = sum(each * most for each, _, most in cache.windows if most < inf)
    growing = (cache.growing_bytes_per_token + sum(each for each, _, most in cache.windows if most == inf)) * share
    room = load.usable_bytes - load.weights_bytes - (full + cache.state_bytes) * share
    return min(_most_tokens(room - fixed, growing, mask, cache.block_tokens) for fixed, mask in load.buffers)


def _most_tokens(room: float, growing: float, mask: float, block: int) -> int:
    """Tokens that fit in `room`: `growing` bytes each in whole blocks, `mask` bytes each."""
    if room <= 0:
        return 0
    if growing + mask <= 0:
        return UNBOUNDED_CONTEXT_TOKENS
    whole = floor((room + mask * (block - 1)) / ((growing + mask) * block)) * block
    return max(0, min(whole, floor((room - growing * whole) / mask)) if mask > 0 else whole)


def most_users(loads: tuple[_Load, ...], context_tokens: int, engine: Engine, groups: int) -> int:
    """The most users of `context_tokens` each that fit: exact, from the room that is left beside the weights."""
    most = _sequences(engine, groups)
    for load in loads:
        spare = load.spare_bytes(context_tokens, 0)
        if spare < 0:
            return 0
        each = load.user_bytes(context_tokens)
        if each > 0 and load.part.user_share > 0:
            most = min(most, floor(floor(spare / each + 1e-12) / load.part.user_share + 1e-9))
    return most


def _sequences(engine: Engine, groups: int) -> int:
    """Requests that the engine works on at once, in all groups."""
    return engine.max_sequences * max(1, groups) if engine.max_sequences is not None else UNBOUNDED_USERS


def _load(
    part: Part, model: Model, weights: Weights, cache: Cache, engine: Engine, platforms: Mapping[str, Platform], copies: int = 1
) -> _Load:
    room = usable(part.device, part.memory_bytes, platforms)
    in_host = engine.embedding_in_host and not part.device.unified_memory
    stored = (
        part.dense_share * weights.dense_bytes
        + part.expert_share * weights.expert_bytes
        + part.head_share * weights.head_bytes
        + part.embedding_share * weights.vision_bytes
        + (0.0 if in_host else part.embedding_share * weights.embedding_bytes)
    )
    runtime = engine.overhead_bytes or room.context_bytes  # the engine's own figure counts the driver's context
    return _Load(part, room, engine.memory_share or 1.0, stored, cache, buffers_of(part, model, engine, runtime, copies))


def _host_cache_share(loads: tuple[_Load, ...]) -> float:
    """Share of each user's cache that lies in host memory, of all parts."""
    return sum(load.part.host_cache_share * load.part.count for load in loads)


def _host_load(loads: tuple[_Load, ...], weights: Weights, cache: Cache, room_bytes: float | None) -> tuple[_Load, ...]:
    """The host's memory as one more place that weights and a longer cache must fit, where some of them are kept there."""
    held = sum(_host_bytes(load.part, weights) * load.part.count for load in loads)
    share = _host_cache_share(loads)
    if room_bytes is None or not (held or share):
        return ()
    part = replace(loads[0].part, cache_share=share, user_share=1.0)
    return (_Load(part, Usable(room_bytes, room_bytes, 0.0, None), 1.0, held, cache, ((0.0, 0.0),)),)


def _host_bytes(part: Part, weights: Weights) -> float:
    outside = part.host_dense_share * weights.dense_bytes + part.host_expert_share * weights.expert_bytes
    return max(0.0, outside - part.disk_share * (weights.dense_bytes + weights.expert_bytes))


def _device_fit(load: _Load, context_tokens: int, users: int) -> DeviceFit:
    return DeviceFit(
        device=load.part.device.id,
        count=load.part.count,
        usable_bytes=load.usable_bytes,
        weights_bytes=load.weights_bytes,
        cache_bytes=load.user_bytes(context_tokens) * load.users_here(users),
        overhead_bytes=load.overhead(context_tokens),
    )


def _reasons(
    loads: tuple[_Load, ...],
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


def _raise_reason(load: _Load) -> Reason:
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
