"""What devices need for a token at least, whatever the work: from it follow bounds that cost a few multiplications."""

from collections.abc import Sequence
from typing import NamedTuple

from advisor.advice.desk import Desk
from advisor.advice.holds import CUT_STRATEGIES, Way
from advisor.device import Device
from advisor.placement import Part
from advisor.step import decode_terms, matrix_flops
from advisor.ways import tables_of


class Reach(NamedTuple):
    """One engine on one kind of device: what a step takes, and what it may do with several."""

    dense_s: float  # reading what every token reads
    expert_s: float  # reading all experts
    unpack_s: float  # of one user
    unpack_exponent: float  # how that grows with the users
    compute_s: float  # matrix work of each user, which hides behind the reading until it exceeds it
    overhead_s: float  # that no number of devices shares
    cache_bytes_per_s: float
    cuts: bool  # whether several may share a layer

    def layers_s(self, users: float, dense_share: float, expert_share: float) -> float:
        """Reading such shares of the weights, and working on all of them, for so many users."""
        reading: float = dense_share * self.dense_s + expert_share * self.expert_s + self.unpack_s * users**self.unpack_exponent
        return max(reading, self.compute_s * users)


class Reaches:
    """What each engine reaches on each kind of device; kept with the model for the next question."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._calibration = tables_of(desk.catalog).calibration

    def of(self, way: Way, device: Device) -> Reach:
        """What one way reaches on a device of this kind."""
        known, key = self._desk.reaches, (way.engine.id, way.weights.quant, device.id)
        found = known.get(key)
        if found is None:
            found = known[key] = self._reach(way, device)
        return found

    def quickest(self, way: Way, devices: Sequence[Device]) -> Reach:
        """The least that unlike devices need, whichever of them works."""
        if len(devices) == 1:
            return self.of(way, devices[0])
        known, key = self._desk.reaches, (way.engine.id, way.weights.quant, *(device.id for device in devices))
        found = known.get(key)
        if found is None:
            every = [self.of(way, device) for device in devices]
            least = Reach(*(min(each) for each in zip(*every, strict=True)))
            found = known[key] = least._replace(cache_bytes_per_s=max(reach.cache_bytes_per_s for reach in every))
        return found

    def _reach(self, way: Way, device: Device) -> Reach:
        model, weights = self._desk.model, way.weights
        given = self._calibration.constants(way.engine.id, way.backend.id, device, weights.speed_class, model)
        step = decode_terms(Part(device, 0.0, expert_share=0.0), weights, way.cache, model, 1, 0.0, given)
        params = weights.dense_params + weights.head_params
        return Reach(
            dense_s=step.weights_s,
            expert_s=weights.expert_bytes / given.expert_bytes_per_s,
            unpack_s=weights.active_params / given.unpack_flops,
            unpack_exponent=given.unpack_exponent,
            compute_s=2 * params / (matrix_flops(model.hidden_size, given) * given.batch_share),
            overhead_s=step.overhead_s,
            cache_bytes_per_s=given.cache_bytes_per_s,
            cuts=any(split in way.backend.splits for split in CUT_STRATEGIES),
        )
