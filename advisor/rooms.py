"""What lies where: the bytes on each part's devices that no work changes, and what each user's cache adds to them."""

from collections.abc import Mapping
from math import ceil

from advisor.buffers import State, buffers_of, input_copies
from advisor.cache import Cache
from advisor.engine import Engine
from advisor.model import Model
from advisor.placement import Part, Placement
from advisor.platforms import Platform, Usable, usable
from advisor.record import dataclass, replace
from advisor.weights import Weights

UNBOUNDED_USERS = 2**20  # where an engine states no most


@dataclass(frozen=True, eq=False)
class Load:
    """What lies on one part's devices: fixed bytes, and a cache for each user; both in exact functions of the context."""

    part: Part
    room: Usable
    taken_share: float  # of the usable memory that the engine takes
    weights_bytes: float
    cache: Cache
    buffers: tuple[State, ...]  # of which the largest counts

    @property
    def usable_bytes(self) -> float:
        """What the engine may take with the limit raised."""
        return self.room.raised_bytes * self.taken_share

    def overhead(self, context_tokens: float, users: int = 0) -> float:
        """Runtime and compute buffers, with what `users` whose cache lies here add to them."""
        return max([state.bytes(context_tokens, users) for state in self.buffers])

    def users_here(self, users: int) -> int:
        """Users whose cache lies here: of `users`, those that this group serves."""
        return ceil(users * self.part.user_share - 1e-9)

    def spare_bytes(self, context_tokens: float, users: int) -> float:
        """What is left; negative when short."""
        here = self.users_here(users)
        cache = self.part.cache_share * self.cache.held_bytes(context_tokens) * here
        return self.usable_bytes - self.weights_bytes - self.overhead(context_tokens, here) - cache


@dataclass(frozen=True, eq=False)
class Rooms:
    """The places that hold a model as it is laid: the devices of each part, and the host's memory where something is kept there."""

    loads: tuple[Load, ...]
    cache: Cache
    places: tuple[Load, ...]  # the loads, and the host's memory as one more place that a longer cache must fit
    host_room_bytes: float | None  # of the host's memory, for weights and cache
    host_weights_bytes: float
    host_cache_share: float  # of each user's cache, of all parts
    disk_bytes: float  # weights that neither memory holds
    max_sequences: int  # requests that the engine works on at once, in all groups


def rooms_of(
    placement: Placement,
    model: Model,
    weights: Weights,
    cache: Cache,
    engine: Engine,
    platforms: Mapping[str, Platform],
    host_room_bytes: float | None = None,
) -> Rooms:
    """The places of a placement; `host_room_bytes` may be taken of the memory of the computer around its devices."""
    copies = input_copies(placement, engine)
    unpacked_bytes_per_token = cache.unpacked_bytes_per_token if placement.backend in engine.keeps.unpacked_by else 0.0
    loads = tuple(load_of(part, model, weights, cache, engine, platforms, copies, unpacked_bytes_per_token) for part in placement.parts)
    held = sum(_host_bytes(part, weights) * part.count for part in placement.parts)
    share = sum(part.host_cache_share * part.count for part in placement.parts)
    return Rooms(
        loads=loads,
        cache=cache,
        places=(*loads, *_host_load(placement.parts[0], cache, host_room_bytes, held, share)),
        host_room_bytes=host_room_bytes,
        host_weights_bytes=held,
        host_cache_share=share,
        disk_bytes=sum(part.disk_share for part in placement.parts) * (weights.dense_bytes + weights.expert_bytes),
        max_sequences=engine.max_sequences * max(1, placement.groups) if engine.max_sequences is not None else UNBOUNDED_USERS,
    )


def load_of(
    part: Part,
    model: Model,
    weights: Weights,
    cache: Cache,
    engine: Engine,
    platforms: Mapping[str, Platform],
    copies: int = 1,
    unpacked_bytes_per_token: float = 0.0,
) -> Load:
    """What lies on the devices of one part; `unpacked_bytes_per_token`: of the one layer that is copied in 16 bits, all heads."""
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
    heads_share = min(1.0, part.cache_share / part.layer_share) if part.layer_share else 0.0  # of a layer, that lie on one device
    buffers = buffers_of(part, model, engine, runtime, copies, unpacked_bytes_per_token * heads_share)
    return Load(part, room, engine.memory_share or 1.0, stored, cache, buffers)


def _host_load(first: Part, cache: Cache, room_bytes: float | None, held: float, share: float) -> tuple[Load, ...]:
    """The host's memory as a place, where `held` bytes of weights or a share of the cache are kept there."""
    if room_bytes is None or not (held or share):
        return ()
    part = replace(first, cache_share=share, user_share=1.0)
    return (Load(part, Usable(room_bytes, room_bytes, 0.0, None), 1.0, held, cache, (State(0.0),)),)


def _host_bytes(part: Part, weights: Weights) -> float:
    outside = part.host_dense_share * weights.dense_bytes + part.host_expert_share * weights.expert_bytes
    return max(0.0, outside - part.disk_share * (weights.dense_bytes + weights.expert_bytes))
