"""Does it fit: bytes on each device against what that device can use; the longest context, the most users."""

from dataclasses import dataclass

from advisor.reason import Reason


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
    def headroom_bytes(self) -> float:
        """What is left; negative when short."""
        return self.usable_bytes - self.weights_bytes - self.cache_bytes - self.overhead_bytes


@dataclass(frozen=True)
class Fit:
    """Bytes on every device, host memory, and the limits solved for. `max_*` 0 where not even one token or user fits."""

    fits: bool
    users: int  # used: what was asked, or the most that fit
    devices: tuple[DeviceFit, ...]
    host_needed_bytes: float
    host_usable_bytes: float | None
    max_context_tokens: int
    max_users: int
    raise_limit: bool  # fits only above the platform's default limit
    reasons: tuple[Reason, ...] = ()
