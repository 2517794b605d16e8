"""Tokens/s if all memories gave their datasheet rates and nothing else took time: the first bound, and the cheapest."""

from collections.abc import Sequence
from functools import partial

from advisor.advice.desk import Desk, Work
from advisor.advice.offers import Offer
from advisor.record import replace
from advisor.ways import tables_of

OTHER_ENGINES_SHARE = 0.9  # engines' bytes for the same weights and cache differ by less


class Datasheet:
    """The bytes of one work that must lie somewhere and that a step reads, each at least, with the least of some caches."""

    def __init__(self, desk: Desk, work: Work, smaller: Sequence[str] = ()) -> None:
        weights, load = desk.bytes(work)[0], work.workload
        caches = [desk.bytes(replace(work, kv_quant=name))[1] for name in smaller or (work.kv_quant,)]
        self._users = load.users or 1
        self.touched = partial(weights.experts_touched_share, routing_exponent=tables_of(desk.catalog).calibration.routing_exponent)
        dense = weights.dense_bytes + weights.head_bytes
        held = self._users * min(cache.held_bytes(load.context_tokens) for cache in caches)
        cached = self._users * min(cache.read_bytes(load.prompt_tokens) for cache in caches)
        self.least_bytes = OTHER_ENGINES_SHARE * (dense + weights.expert_bytes + held)
        self.cached_bytes = OTHER_ENGINES_SHARE * cached  # read of all users' caches
        self.expert_bytes = OTHER_ENGINES_SHARE * weights.expert_bytes
        self.dense_bytes = OTHER_ENGINES_SHARE * (dense + cached)  # read, with the caches
        self.dense_read_share = weights.dense_bytes / (weights.dense_bytes + held)  # at least, of layers that move with their cache

    def tokens_per_s(self, offer: Offer) -> float:
        """For each user; 0 where the work does not go in."""
        read = self.dense_bytes + self.expert_bytes * self.touched(max(1.0, self._users / offer.count))
        short = self.least_bytes - offer.memory_bytes
        if short <= 0:
            return offer.bandwidth_bytes_per_s / read
        if not offer.ram_bytes:
            return 0.0
        experts = min(short, self.expert_bytes)
        spilt = experts * self.touched(self._users / offer.count) + (short - experts) * self.dense_read_share
        if short - (short - experts) * (1 - self.dense_read_share) > offer.ram_bytes:
            return 0.0  # some of the weights would lie on disk
        return 1 / (spilt / offer.ram_bytes_per_s + max(0.0, read - spilt) / offer.bandwidth_bytes_per_s)
