"""Judging: does it meet the need, why not, and which is the cheapest (or the fastest) of all that do."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from advisor.advice.bounds import Bound, Bounds
from advisor.advice.desk import Desk, Work, work_of
from advisor.advice.offers import Offer, all_offers
from advisor.errors import AdvisorError
from advisor.market import Cost
from advisor.need import Need
from advisor.reason import Reason
from advisor.speed import Estimate, Speed

MOST_TRIED = 4  # offers of one kind that may fail before the search leaves that kind
MOST_SPILT = 3  # the same for offers that would keep a part of the weights in host memory
LEARNT_ROWS = 2  # estimates of a kind from which the share of the bound that it can reach is learnt
LEARNT_SHARE = 1.4  # how far a further one may exceed the best share seen
SAME_SHARE = 1.1  # how far the same system may exceed its own share at less work
TIE_ORDER = {"keep": 0, "change-settings": 1}


@dataclass(frozen=True, eq=False)
class Option:
    """A system with the way to run it and the bill: judged, not yet a road."""

    kind: str
    estimate: Estimate
    cost: Cost
    changes: tuple[Reason, ...] = ()  # what is set differently on what is owned


@dataclass(frozen=True, eq=False)
class Case:
    """One need on one work table, with the offers that its search may take; bounds are worked out when asked for."""

    desk: Desk
    need: Need
    work: Work
    offers: tuple[Offer, ...]
    known: dict[Offer, Bound] = field(default_factory=dict, repr=False)

    @cached_property
    def bounds(self) -> Bounds:
        """What bounds of this work are made of."""
        return Bounds(self.desk, self.work)

    def bound(self, offer: Offer) -> Bound:
        """The bound of one offer."""
        found = self.known.get(offer)
        if found is None:
            found = self.known[offer] = self.bounds.of(offer)
        return found

    def among(self, offers: Iterable[Offer]) -> "Case":
        """The same case with only some of the offers, or with others."""
        return replace(self, offers=tuple(offers))


def case_of(desk: Desk, need: Need, like: Case | None = None) -> Case:
    """The case of a need: with the offers of the whole catalog, or those of a `like` case; bounds are kept for the same work."""
    work = work_of(need)
    if like is not None and like.work == work and like.desk.model is desk.model:
        return replace(like, desk=desk, need=need)
    return Case(desk, need, work, like.offers if like else all_offers(desk))


def per_user(estimate: Estimate) -> float:
    """Tokens/s for each user; 0 where it does not fit."""
    return estimate.decode_per_user.value if estimate.fit.fits and estimate.decode_per_user else 0.0


def score(estimate: Estimate) -> float:
    """What tells two that meet the need apart: one user's decode, several users' sustained tokens/s."""
    speed = estimate.sustained if (estimate.workload.users or 1) > 1 else estimate.decode
    return speed.value if estimate.fit.fits and speed else 0.0


def fast_enough(estimate: Estimate, need: Need) -> bool:
    """Whether it fits and reaches both floors."""
    first = estimate.first_token_s
    in_time = need.max_first_token_s is None or first is None or first.value <= need.max_first_token_s  # None: no prompt to read
    return estimate.fit.fits and per_user(estimate) >= need.min_tokens_per_s and in_time


def counted_usd(cost: Cost, need: Need) -> float | None:
    """What counts against the budget: the cash, less what the old parts bring where they are sold."""
    if cost.spend_usd is None:
        return None
    return cost.spend_usd - (cost.resale_usd or 0.0 if need.sell_old else 0.0)


def affordable(cost: Cost, need: Need) -> bool:
    """Whether the price is known and within the budget."""
    usd = counted_usd(cost, need)
    return usd is not None and (need.budget_usd is None or usd <= need.budget_usd)


def meets(option: Option, need: Need) -> bool:
    """Whether an option meets the need within the budget."""
    return fast_enough(option.estimate, need) and affordable(option.cost, need)


def _straddles(speed: Speed | None, floor: float) -> bool:
    return speed is not None and speed.low < floor < speed.high


def confidence(estimate: Estimate, need: Need) -> str:
    """How sure the answer is: lower where an interval straddles a floor or the figures are extrapolated."""
    doubts = _straddles(estimate.decode_per_user, need.min_tokens_per_s)
    if need.max_first_token_s is not None:
        doubts = doubts or _straddles(estimate.first_token_s, need.max_first_token_s)
    far = estimate.evidence.basis in ("extrapolated", "physics-only")
    return "low" if doubts and far else "medium" if doubts or far else "high"


def shortfalls(option: Option, need: Need) -> tuple[Reason, ...]:
    """Every way in which an option misses the need."""
    estimate = option.estimate
    if not estimate.fit.fits:
        return (short_of_memory(estimate),)
    found = []
    if per_user(estimate) < need.min_tokens_per_s:
        facts = {"per_user_tokens_per_s": per_user(estimate), "floor_tokens_per_s": need.min_tokens_per_s}
        found.append(Reason("need.too-slow", facts))
    first = estimate.first_token_s
    if need.max_first_token_s is not None and first is not None and first.value > need.max_first_token_s:
        found.append(Reason("need.first-token", {"first_token_s": first.value, "floor_s": need.max_first_token_s}))
    usd = counted_usd(option.cost, need)
    if usd is None:
        found.append(Reason("price.unknown", {"name": _unpriced(option.cost)}))
    elif need.budget_usd is not None and usd > need.budget_usd:
        found.append(Reason("need.over-budget", {"spend_usd": usd, "budget_usd": need.budget_usd, "over_usd": usd - need.budget_usd}))
    return tuple(found)


def _unpriced(cost: Cost) -> str:
    return next((line.name for line in cost.lines if line.usd is None and not line.owned), "a part")


def short_of_memory(estimate: Estimate) -> Reason:
    """By how much the fullest device is short."""
    devices = estimate.fit.devices
    worst = min(devices, key=lambda device: device.headroom_bytes)
    needed = sum(each.count * (each.weights_bytes + each.cache_bytes + each.overhead_bytes) for each in devices)
    usable = sum(each.count * each.usable_bytes for each in devices)
    facts = {"short_bytes": -worst.headroom_bytes, "needed_bytes": needed, "usable_bytes": usable, "device": worst.device}
    return Reason("need.memory-short", facts)


def best_way(ways: Iterable[Estimate], need: Need) -> Estimate | None:
    """Of the ways to run one system, the fastest that meets the floors, else the nearest to it."""
    return max(ways, key=lambda way: (fast_enough(way, need), way.fit.fits, score(way)), default=None)


def evaluate(case: Case, offer: Offer) -> list[Option]:
    """The options that an offer turns out to be: the best shared way, and copies side by side where that is another answer."""
    system = case.desk.system(offer.words, offer.host)
    if isinstance(system, AdvisorError):
        return []
    ways = case.desk.ways(system, case.work)
    shared = best_way((way for way in ways if way.placement.strategy != "replicas"), case.need)
    copied = best_way((way for way in ways if way.placement.strategy == "replicas"), case.need)
    options = []
    if shared:
        options.append(Option(offer.kind, shared, case.desk.cost(shared.system, shared)))
    if copied and (case.work.workload.users or 2) > 1:
        kind = "replicas" if system.count <= 2 else offer.kind
        options.append(Option(kind, copied, case.desk.cost(copied.system, copied)))
    return options


def rank(option: Option, need: Need) -> tuple[float, ...]:
    """The order of the rule: cheapest first (or fastest first), then keep, then change, then the faster one."""
    usd = counted_usd(option.cost, need)
    price = float("inf") if usd is None else usd
    tie = TIE_ORDER.get(option.kind, 2)
    if need.prefer == "fastest":
        return (-score(option.estimate), price, tie)
    return (price, tie, -score(option.estimate))


def allowed(kind: str, need: Need) -> bool:
    """Whether the buyer considers this kind at all; what is owned always counts."""
    return not need.consider or kind in need.consider or kind in TIE_ORDER


def may_become(offer: Offer, kind: str) -> bool:
    """Whether an offer may turn out to be of this kind: copies side by side need no link of their own."""
    return offer.kind == kind or (kind == "replicas" and offer.kind in ("second-gpu", "network-cluster"))


def candidates(case: Case, kind: str | None = None) -> list[Offer]:
    """The offers that may meet the need by their bounds, in the order of the rule."""
    need = case.need
    if kind == "replicas" and case.work.workload.users == 1:
        return []
    found = [
        offer
        for offer in case.offers
        if offer.least_usd is not None
        and (kind is None or may_become(offer, kind))
        and allowed(offer.kind, need)
        and case.bound(offer).tokens_per_s >= need.min_tokens_per_s
        and (need.budget_usd is None or need.sell_old or offer.least_usd <= need.budget_usd)
    ]
    if need.prefer == "fastest":
        return sorted(found, key=lambda offer: -case.bound(offer).tokens_per_s)
    return sorted(found, key=lambda offer: offer.least_usd or 0.0)


def _cannot_win(offer: Offer, best: Option, case: Case) -> bool:
    need = case.need
    if need.prefer == "fastest":
        return case.bound(offer).tokens_per_s <= per_user(best.estimate)
    usd = counted_usd(best.cost, need)
    return usd is not None and (offer.least_usd or 0.0) > usd + (best.cost.resale_usd or 0.0 if need.sell_old else 0.0)


def _holds(estimate: Estimate) -> bool:
    """Whether the devices hold it without host memory."""
    return estimate.fit.fits and estimate.placement.strategy != "offload"


Key = tuple[str, bool, bool]


class Tries:
    """What one search has learnt: how often a kind failed, and which share of its bound the best of it reached."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.failed: dict[Key, int] = {}
        self.reached: dict[Key, list[float]] = {}
        self.short: dict[str, float] = {}  # the most memory with which one of the kind did not hold the work

    def _key(self, offer: Offer, bound: Bound) -> Key:
        """The kind, whether the devices may hold the work (not with as little memory as was short before), are they unlike."""
        return offer.kind, bound.holds and offer.memory_bytes > self.short.get(offer.kind, 0.0), offer.mixed

    def hopeless(self, offer: Offer) -> bool:
        """Whether the kind has failed too often, or this one would have to reach more of its bound than it or its kind can."""
        bound, floor = self.case.bound(offer), self.case.need.min_tokens_per_s
        key = self._key(offer, bound)
        if self.failed.get(key, 0) >= (MOST_TRIED if key[1] else MOST_SPILT) and not offer.same_again:
            return True
        seen = self.reached.get(key, ())
        share = min(1.0, LEARNT_SHARE * max(seen)) if len(seen) >= LEARNT_ROWS else 1.0
        if bound.tokens_per_s * share < floor:
            return True
        before = self.case.desk.reached_before(offer.words, self.case.work.workload)
        if before is None or bound.tokens_per_s * before * SAME_SHARE >= floor:
            return False
        self._failed(key, before)  # as if it had been estimated again
        return True

    def _failed(self, key: Key, share: float) -> None:
        self.failed[key] = self.failed.get(key, 0) + 1
        if share:
            self.reached.setdefault(key, []).append(share)

    def note(self, offer: Offer, options: list[Option]) -> None:
        """Learn from one offer that was estimated."""
        if not options:
            return
        bound = self.case.bound(offer)
        speed = max(per_user(option.estimate) for option in options)
        if bound.holds and not any(_holds(option.estimate) for option in options):
            self.short[offer.kind] = max(offer.memory_bytes, self.short.get(offer.kind, 0.0))
        share, key = speed / bound.tokens_per_s, self._key(offer, bound)
        self.case.desk.learn(offer.words, self.case.work.workload, share)
        if not any(meets(option, self.case.need) for option in options):
            self._failed(key, share)
        elif share:
            self.reached.setdefault(key, []).append(share)


def search(case: Case, kind: str | None = None) -> list[Option]:
    """The options estimated on the way to the best one of a road (of all roads without `kind`), the best first.

    Branch and bound: offers come in the order of the rule; the search ends where no later one can win.
    """
    found: list[Option] = []
    best: Option | None = None
    tries = Tries(case)
    for offer in candidates(case, kind):
        if best is not None and _cannot_win(offer, best, case):
            break
        if tries.hopeless(offer):
            continue
        options = [option for option in evaluate(case, offer) if kind is None or option.kind == kind]
        tries.note(offer, options)
        found += options
        better = [option for option in options if meets(option, case.need) and allowed(option.kind, case.need)]
        best = min([*better, *([best] if best else [])], key=lambda option: rank(option, case.need), default=None)
    return sorted(found, key=lambda option: (not meets(option, case.need), *rank(option, case.need)))


def without_budget(case: Case) -> Case:
    """The same case for a buyer with all the money in the world."""
    return replace(case, need=replace(case.need, budget_usd=None))

