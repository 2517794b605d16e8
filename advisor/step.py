"""Seconds of one step on one part: the additive terms of reading weights and cache, computing, and fixed costs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Terms:
    """Seconds of one step, by what they are spent on. Parts add; `compute_s` is what computing adds beyond the reading."""

    weights_s: float = 0.0
    cache_s: float = 0.0
    compute_s: float = 0.0
    host_memory_s: float = 0.0
    link_s: float = 0.0
    overhead_s: float = 0.0

    @property
    def total_s(self) -> float:
        """All of it."""
        return self.weights_s + self.cache_s + self.compute_s + self.host_memory_s + self.link_s + self.overhead_s

    def __add__(self, other: "Terms") -> "Terms":
        return Terms(
            self.weights_s + other.weights_s,
            self.cache_s + other.cache_s,
            self.compute_s + other.compute_s,
            self.host_memory_s + other.host_memory_s,
            self.link_s + other.link_s,
            self.overhead_s + other.overhead_s,
        )
