"""A step at the rates that engines reach on devices, by a few multiplications: the least of what a closer look at them would find."""

from collections.abc import Callable

from advisor.advice.desk import Desk
from advisor.advice.holds import fits, may_spill
from advisor.advice.joins import NEVER
from advisor.advice.offers import Offer
from advisor.advice.paces import Paces, Seats, beside_bytes, host_flop
from advisor.advice.reaches import Reach, Reaches


class Nearly:
    """Least seconds of a step of one work: of unlike devices all on the quickest, and without messages."""

    def __init__(self, desk: Desk, paces: Paces, touched: Callable[[float], float], cached_bytes: float) -> None:
        self._reaches = Reaches(desk)
        self._paces = paces
        self._users = paces.users
        self._touched = touched  # share of the experts that so many users touch
        self._cached_bytes = cached_bytes  # of all users, at least

    def step_s(self, seats: Seats, short_bytes: float, offer: Offer) -> float:
        """On the devices of an offer by one way, which lack so much together."""
        quickest = self._reaches.quickest(seats[0][0].way, [seat.device for seat, _ in seats])
        outside_s = (self._spilt_s(seats, quickest, shares, offer) for shares in self._spills(seats, short_bytes, offer))
        inside_s = self._held_s(seats, quickest, offer) if short_bytes <= 0 else NEVER
        return min(inside_s, *outside_s, NEVER) + quickest.overhead_s

    def _held_s(self, seats: Seats, quickest: Reach, offer: Offer) -> float:
        """With all of the work on the devices: in turn, as copies, or each on every layer."""
        way, count = seats[0][0].way, offer.count
        step_s = self._reached_s(quickest, self._paces.together(way, count))
        if count > 1 and (offer.boxes > 1 or fits("replicas", seats)):
            step_s = min(step_s, self._reached_s(quickest, 1 if len(seats) > 1 else max(1, self._users // count)))
        if count > 1 and quickest.cuts and fits("tensor", seats):
            each = ((self._reaches.of(way, seat.device), number) for seat, number in seats)
            step_s = min(step_s, 1 / sum(number / self._reached_s(reach, self._users) for reach, number in each))
        return step_s

    def _spills(self, seats: Seats, short_bytes: float, offer: Offer) -> list[tuple[float, float]]:
        """The shares of the experts, and of whole layers with their cache, that may lie in host memory: what the devices lack at least,
        or all of a kind where the host's memory is quicker.
        """
        way, weights = seats[0][0].way, seats[0][0].way.weights
        if not may_spill(seats, offer.ram_bytes):
            return []
        lacking = max(0.0, short_bytes)
        experts = min(1.0, lacking / weights.expert_bytes) if weights.expert_bytes else 0.0
        whole = (lacking - experts * weights.expert_bytes) / (weights.dense_bytes + beside_bytes(way))
        if whole > 1:
            return []
        shares = [(experts, whole)] if lacking else []
        quick = offer.ram_bytes_per_s > self._paces.slowest_bytes_per_s(seats)
        return [*shares, (1.0, 1.0), (1.0, 0.0)] if quick else shares

    def _spilt_s(self, seats: Seats, quickest: Reach, shares: tuple[float, float], offer: Offer) -> float:
        """With such shares of the experts, and of whole layers, in host memory."""
        (experts, whole), way = shares, seats[0][0].way
        weights, users = way.weights, self._paces.together(way, offer.count)
        read = experts * weights.expert_bytes * self._touched(users) + whole * weights.dense_bytes
        layers = max(whole * weights.layers, experts * weights.expert_layers)
        flops = self._paces.host_flops(offer.host)
        computing_s = host_flop(way, users, *shares) / flops if flops else 0.0
        outside_s = max(read / offer.ram_bytes_per_s, computing_s) + self._paces.way_s(layers)
        return outside_s + self._reached_s(quickest, users, 1 - whole, 1 - experts)

    def _reached_s(self, reach: Reach, users: float, dense_share: float = 1.0, expert_share: float = 1.0) -> float:
        """With such shares of layers and experts on one kind of device."""
        cached_s = self._cached_bytes * users / self._users / reach.cache_bytes_per_s
        return reach.layers_s(users, dense_share, expert_share * self._touched(users)) + dense_share * cached_s
