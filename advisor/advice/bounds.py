"""Cheap bounds on what a system can do with one work: how many tokens/s at most, and whether its devices hold it."""

from typing import NamedTuple

from advisor.advice.desk import Desk, Work
from advisor.advice.offers import Offer

REACHED_SHARE = 0.97  # of bandwidth and of memory: more than this nobody reaches


class Bound(NamedTuple):
    """The most tokens/s for each user that the memory's speed allows (0: it cannot run); do the devices alone hold it."""

    tokens_per_s: float
    holds: bool


class Bounds:
    """The bounds of one work: what must be held and read is worked out once."""

    def __init__(self, desk: Desk, work: Work) -> None:
        weights, cache = desk.bytes(work)
        self.users = work.workload.users or 1
        self.needed_bytes = weights.total_bytes - weights.vision_bytes - weights.embedding_bytes
        self.needed_bytes += self.users * cache.held_bytes(work.workload.context_tokens)
        self._always_bytes = weights.dense_bytes + weights.head_bytes + self.users * cache.read_bytes(work.workload.prompt_tokens)
        self._expert_bytes = weights.expert_bytes
        self._touched = weights.experts_touched_share
        self._reads: dict[int, float] = {}

    def read_bytes(self, sharers: int) -> float:
        """Least bytes that a step reads in all, when `sharers` devices may serve their own users."""
        if sharers not in self._reads:
            self._reads[sharers] = self._always_bytes + self._expert_bytes * self._touched(max(1.0, self.users / sharers))
        return self._reads[sharers]

    def of(self, offer: Offer) -> Bound:
        """The bound of an offer."""
        bandwidth = offer.bandwidth_bytes_per_s * REACHED_SHARE
        short = self.needed_bytes - offer.memory_bytes * REACHED_SHARE
        read = self.read_bytes(offer.count)
        if short <= 0:
            return Bound(bandwidth / read, True)
        if short > offer.ram_bytes:
            return Bound(0.0, False)
        spilt = self._touched(self.users) * min(short, self._expert_bytes) + max(0.0, short - self._expert_bytes)
        return Bound(1 / (spilt / offer.ram_bytes_per_s + max(0.0, read - spilt) / bandwidth), False)
