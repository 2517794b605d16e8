"""The best option of a road: offers come in the order of the rule, and only those whose bounds allow it are estimated.

Bounds are never passed by an estimate, so nothing that would have won is left out.
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import count

from advisor.advice.evaluate import evaluate
from advisor.advice.judge import Case, Option, allowed, counted_usd, fast_enough, meets, rank, trusted
from advisor.advice.offers import Offer
from advisor.advice.ranges import OFFERED_AS
from advisor.need import Need
from advisor.record import replace


def candidates(case: Case, kind: str | None = None) -> Iterator[Offer]:
    """The offers that may meet the need, in the order of the rule; cards also in computers that give them more."""
    need = case.need
    if kind == "replicas" and case.work.workload.users == 1:
        return  # one user gains nothing from copies
    cash = float("inf") if need.budget_usd is None or need.sell_old else need.budget_usd
    order = _by_price(case, kind, cash)
    if need.prefer == "fastest":
        order = _by_speed(case, order)
    for offer in order:
        if offer.kind != "keep" and case.may_do(offer) and _considered(offer.kind, need):
            yield offer


def _considered(kind: str, need: Need) -> bool:
    """Whether an offer of that kind may turn out to be of one that the buyer considers: two of a kind may serve as copies, too."""
    copies = (need.workload.users or 1) > 1 and "replicas" in need.consider
    return allowed(kind, need) or (copies and kind in OFFERED_AS["replicas"])


def _by_speed(case: Case, offers: Iterator[Offer]) -> Iterator[Offer]:
    """The offers in the order of their bounds, the quickest first; closer ones are worked out at their turn by a rough one."""
    if case.offers.named:  # an engine that is named may be above the rough bound
        yield from sorted(offers, key=lambda offer: -case.most(offer))
        return
    closer = (case.bounds.roughly, *((case.bounds.nearly,) if case.lean else ()), case.most)
    waiting = [(-closer[0](offer), at, 1, offer) for at, offer in enumerate(offers)]
    heapify(waiting)
    while waiting:
        _, at, looks, offer = heappop(waiting)
        if looks == len(closer):
            yield offer
        else:
            heappush(waiting, (-closer[looks](offer), at, looks + 1, offer))


def _by_price(case: Case, kind: str | None, cash: float) -> Iterator[Offer]:
    """Offers within the cash, the cheapest first; cards bring on the same in computers that give them more, where that may help."""
    waiting: list[tuple[float, int, Offer]] = []
    turns = count()  # of the same price the one that came first
    for offer in case.offers.priced_of_kind(kind):
        usd = offer.least_usd or 0.0
        if usd > cash:
            break
        while waiting and waiting[0][0] < usd:
            yield heappop(waiting)[2]
        yield offer
        if _gains(case, offer):
            for moved in case.offers.roomier(offer):
                if (moved.least_usd or 0.0) <= cash:
                    heappush(waiting, (moved.least_usd or 0.0, next(turns), moved))
    while waiting:
        yield heappop(waiting)[2]


def _gains(case: Case, offer: Offer) -> bool:
    """Whether another computer may help: memory where the devices do not hold the work, wider slots between several cards."""
    if offer.host is None:
        return False
    if offer.kind == "keep" or not case.may_hold(offer):
        return True
    return offer.boxes == 1 and offer.count > 1 and case.may_reach(offer)


def _cannot_win(offer: Offer, best: Option, case: Case) -> bool:
    need = case.need
    if need.prefer == "fastest":
        return case.most(offer) * (case.work.workload.users or 1) < trusted(best.estimate)
    usd = counted_usd(best.cost, need)
    return usd is not None and (offer.least_usd or 0.0) > usd + (case.desk.most_resale_usd if need.sell_old else 0.0)


def _idle(offer: Offer, best: Option, case: Case) -> bool:
    """Whether it cannot win where nobody asks what else there is: some of many users wait for prompts, or it costs as much and is no
    faster.
    """
    if not case.lean or case.offers.named:
        return False
    if case.need.prefer == "fastest":
        return not case.counts_tokens_per_s and case.bounds.sustained(offer) < trusted(best.estimate)
    return not case.need.sell_old and offer.least_usd == best.cost.spend_usd and case.bounds.sustained(offer) < trusted(best.estimate)


def _tried(case: Case, offer: Offer, best: Option | None) -> list[Option]:
    """What an offer turns out to be. Where every way counts, for what comes near is shown, first by those alone that may be fast
    enough, or as fast as the best: the others are looked for only where these are not.
    """
    if not case.lean or case.offers.named or case.counts_tokens_per_s:
        return evaluate(case, offer)
    if case.need.prefer == "fastest":
        least = trusted(best.estimate) / (case.work.workload.users or 1) if best else 0.0
        return evaluate(replace(case, counts_tokens_per_s=least), offer)
    every = evaluate(replace(case, counts_tokens_per_s=case.need.min_tokens_per_s), offer)
    return every if every and all(fast_enough(option.estimate, case.need) for option in every) else evaluate(case, offer)


def search(case: Case, kind: str | None = None) -> list[Option]:
    """The options estimated on the way to the best one of a road (of all roads without `kind`), the best first."""
    found: list[Option] = []
    best: Option | None = None
    for offer in candidates(case, kind):
        if best is not None and _cannot_win(offer, best, case):
            break
        if best is not None and _idle(offer, best, case):
            continue
        every = _tried(case, offer, best)
        if (every or best is None) and not any(fast_enough(option.estimate, case.need) for option in every):
            case.failed.add(offer)
        options = [option for option in every if kind is None or option.kind == kind]
        found += options
        better = [option for option in options if meets(option, case.need) and allowed(option.kind, case.need)]
        best = min([*better, *([best] if best else [])], key=lambda option: rank(option, case.need), default=None)
    return sorted(found, key=lambda option: (not meets(option, case.need), *rank(option, case.need)))
