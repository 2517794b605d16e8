"""Branch and bound: the best option of a road, with few of its offers estimated."""

from collections.abc import Iterable, Iterator

from advisor.advice.bounds import Bound
from advisor.advice.judge import Case, Option, allowed, counted_usd, evaluate, meets, per_user, rank
from advisor.advice.offers import Offer
from advisor.speed import Estimate

MOST_TRIED = 6  # offers of one kind that may fail before the search leaves that kind
MOST_SPILT = 2  # the same for offers that would keep a part of the weights in host memory
LEARNT_ROWS = 2  # estimates of a kind from which the share of the bound that it can reach is learnt
LEARNT_SHARE = 1.4  # how far a further one may exceed the best share seen
MOST_SHOWN = 3  # the most that may fail where a road is only shown, not decided on
PATIENCE = 2  # how many times as many may fail before it is said that nothing meets the need
SAME_SHARE = 1.1  # how far the same system may exceed its own share at less work


def candidates(case: Case, kind: str | None = None) -> Iterator[Offer]:
    """The offers that may meet the need by their bounds, in the order of the rule."""
    need = case.need
    if kind == "replicas" and case.work.workload.users == 1:
        return  # one user gains nothing from copies
    order: Iterable[Offer] = case.offers.priced_of_kind(kind)
    if need.prefer == "fastest":
        order = sorted(order, key=lambda offer: -case.bound(offer).tokens_per_s)
    cash = float("inf") if need.budget_usd is None or need.sell_old else need.budget_usd
    for offer in order:
        if (offer.least_usd or 0.0) <= cash and case.bound(offer).tokens_per_s >= need.min_tokens_per_s and allowed(offer.kind, need):
            yield offer


def _cannot_win(offer: Offer, best: Option, case: Case) -> bool:
    need = case.need
    if need.prefer == "fastest":
        return case.bound(offer).tokens_per_s <= per_user(best.estimate)
    usd = counted_usd(best.cost, need)
    return usd is not None and (offer.least_usd or 0.0) > usd + (best.cost.resale_usd or 0.0 if need.sell_old else 0.0)


def _holds(estimate: Estimate) -> bool:
    """Whether the devices hold it without host memory."""
    return estimate.fit.fits and estimate.placement.strategy != "offload"


def _alike(offer: Offer) -> tuple[str, int, bool]:
    """What offers share of which one, holding less, tells that another does not hold it either."""
    return offer.kind, offer.count, offer.mixed


Key = tuple[str, bool, bool]


class Tries:
    """What one search has learnt: how often a kind failed, and which share of its bound the best of it reached."""

    def __init__(self, case: Case, most: int, most_spilt: int) -> None:
        self.case = case
        self.most = most
        self.most_spilt = most_spilt
        self.failed: dict[Key, int] = {}
        self.reached: dict[Key, list[float]] = {}
        self.short: dict[tuple[str, int, bool], float] = {}  # the most memory with which as many devices did not hold the work

    def _key(self, offer: Offer, bound: Bound) -> Key:
        """The kind, whether the devices may hold the work (not with as little memory as was short before), are they unlike."""
        return offer.kind, bound.holds and offer.memory_bytes > self.short.get(_alike(offer), 0.0), offer.mixed

    def hopeless(self, offer: Offer) -> bool:
        """Whether the kind has failed too often, or this one would have to reach more of its bound than it or its kind can."""
        bound, floor = self.case.bound(offer), self.case.need.min_tokens_per_s
        key = self._key(offer, bound)
        if self.failed.get(key, 0) >= (self.most if key[1] else self.most_spilt) and not offer.same_again:
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
            self.short[_alike(offer)] = max(offer.memory_bytes, self.short.get(_alike(offer), 0.0))
        if not bound.tokens_per_s:  # it cannot run; tried only where no speed is asked for
            return
        share, key = speed / bound.tokens_per_s, self._key(offer, bound)
        self.case.desk.learn(offer.words, self.case.work.workload, share)
        if not any(meets(option, self.case.need) for option in options):
            self._failed(key, share)
        elif share:
            self.reached.setdefault(key, []).append(share)


def search(case: Case, kind: str | None = None, most: int = MOST_TRIED) -> list[Option]:
    """The options estimated on the way to the best one of a road (of all roads without `kind`), the best first.

    Where the verdict hangs on it and nothing was found, the search is repeated with more patience.
    """
    found = _searched(case, kind, Tries(case, most, MOST_SPILT))
    if kind is None and not any(meets(option, case.need) for option in found):
        found = _searched(case, kind, Tries(case, PATIENCE * most, PATIENCE * MOST_SPILT))
    return sorted(found, key=lambda option: (not meets(option, case.need), *rank(option, case.need)))


def _searched(case: Case, kind: str | None, tries: Tries) -> list[Option]:
    """Branch and bound: offers come in the order of the rule; the search ends where no later one can win."""
    found: list[Option] = []
    best: Option | None = None
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
    return found
