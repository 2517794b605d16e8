"""Judging: does it meet the need, why not, and which is the cheapest (or the fastest) of all that do."""

from collections.abc import Iterable
from functools import cached_property
from itertools import repeat
from operator import contains

from advisor.advice.bounds import Bound, Bounds, bounds_of
from advisor.advice.desk import NONE_HOPELESS, Desk, Hopeless, Work, work_of
from advisor.advice.holds import able_ways, holds_of, left_open
from advisor.advice.offers import Offer, all_offers
from advisor.advice.ranges import Range
from advisor.market import Cost
from advisor.need import Need
from advisor.reason import Fact, Reason
from advisor.record import dataclass, field, replace
from advisor.speed import Estimate
from advisor.system import System

TIE_ORDER = {"keep": 0, "change-settings": 1}
UNBOUND = Bound(float("inf"), True)  # of what the buyer named, with whatever engine: it is estimated in any case


@dataclass(frozen=True, eq=False)
class Option:
    """A system with the way to run it and the bill: judged, not yet a road."""

    kind: str
    estimate: Estimate
    cost: Cost
    changes: tuple[Reason, ...] = ()  # what is set differently from the usual
    ways: tuple[Estimate, ...] = ()  # all that were found of that system

    @cached_property
    def open_system(self) -> System:
        """The system with engine and split left to the tool."""
        return replace(self.estimate.system, strategy=None, engine=None, backend=None)

    @cached_property
    def longest_context_tokens(self) -> int:
        """The longest context that one of the ways holds in its devices' memory."""
        return max((way.fit.max_context_tokens for way in self.ways if way.placement.strategy != "offload"), default=0)


@dataclass(frozen=True, eq=False)
class Case:
    """One need on one work table, with the offers that its search may take; bounds are worked out when asked for."""

    desk: Desk
    need: Need
    work: Work
    offers: Range
    easier: "Case | None" = None  # asks for no more than this one: what it rules out is ruled out here
    failed: set[Offer] = field(default_factory=set, repr=False)  # by its bound or its estimate, neither fast enough nor large enough
    spilt: set[Offer] = field(default_factory=set, repr=False)  # whose devices do not hold the work
    lean: bool = False  # what does not fit is not looked at: enough for a verdict, not for the roads that are shown
    counts_tokens_per_s: float = 0.0  # where it is lean: slower ways count for nothing

    def ways(self, system: System, kv_quant: str | None = None, hopeless: Hopeless = NONE_HOPELESS) -> tuple[Estimate, ...]:
        """The ways to run the work, or the same with another cache, on a system; where the case is lean those that fit, and of the
        `hopeless` perhaps none.
        """
        if kv_quant is None:
            return able_ways(self.desk, system, self.work, hopeless=hopeless) if self.lean else self.desk.ways(system, self.work)
        work, holds = replace(self.work, kv_quant=kv_quant), holds_of(self.desk, self.work, eight_bit=True)
        found = able_ways(self.desk, system, work, holds, hopeless) if self.lean else self.desk.ways(system, work)
        return left_open(found, system, holds)

    def hopeless(self, offer: Offer) -> Hopeless:
        """The ways to run an offer that are known to be too slow to count."""
        asked = self.lean and self.counts_tokens_per_s > 0 and not self.offers.named
        return self.bounds.hopeless(offer, self.counts_tokens_per_s) if asked else NONE_HOPELESS

    @cached_property
    def bounds(self) -> Bounds:
        """The bounds of this work, with the smallest cache that a system may take."""
        return bounds_of(self.desk, self.work, eight_bit=self.need.kv_quant is None)

    def bound(self, offer: Offer) -> Bound:
        """The bound of one offer; what is named may name an engine that is never chosen, of which no bound knows."""
        return UNBOUND if self.offers.named else self.bounds.of(offer)

    def most(self, offer: Offer) -> float:
        """The most tokens/s of each user; generously where what comes near is shown too."""
        return self.bound(offer).tokens_per_s if self.lean or self.offers.named else self.bounds.generously(offer)

    def may_do(self, offer: Offer) -> bool:
        """Whether an offer may reach the wanted speed, by what is known of easier work too."""
        if self._ruled_out(offer):
            return False
        able = self.may_reach(offer)
        if able and not self.offers.named and self.lean and self.counts_tokens_per_s > 0:  # roads show what comes near, too
            able = self.bounds.may_start(offer, self.need.max_first_token_s)
        if not able:
            self.failed.add(offer)
        return able

    def may_reach(self, offer: Offer) -> bool:
        """Whether an offer may give each user the wanted speed."""
        return self.offers.named or self.bounds.may_reach(offer, self.need.min_tokens_per_s, generously=not self.lean)

    def _ruled_out(self, offer: Offer) -> bool:
        """Whether it failed at this work, or at an easier one; asked of every offer, for which a generator is too slow."""
        return any(map(contains, self._failed, repeat(offer)))

    @cached_property
    def _failed(self) -> tuple[set[Offer], ...]:
        """What failed at this work, and at each easier one."""
        return (self.failed, *(self.easier._failed if self.easier else ()))

    def may_hold(self, offer: Offer) -> bool:
        """Whether the devices of an offer alone may hold the work, by what is known of easier work too."""
        if self._spills(offer):
            return False
        able = self.bounds.may_hold(offer)
        if not able:
            self.spilt.add(offer)
        return able

    def _spills(self, offer: Offer) -> bool:
        return any(map(contains, self._spilt, repeat(offer)))

    @cached_property
    def _spilt(self) -> tuple[set[Offer], ...]:
        return (self.spilt, *(self.easier._spilt if self.easier else ()))

    def among(self, offers: Iterable[Offer]) -> "Case":
        """The same case with only some of the offers, or with others."""
        return replace(self, offers=Range(offers, self.offers.hosts, self.offers, named=self.offers.named))

    def between(self, offers: Iterable[Offer]) -> "Case":
        """The same case with the offers that the buyer named: none is left out."""
        return replace(self, offers=Range(offers, self.offers.hosts, named=True), easier=None, failed=set(), spilt=set())


def case_of(desk: Desk, need: Need, like: Case | None = None, *, harder: bool = False, lean: bool = False) -> Case:
    """The case of a need: with the offers of the whole catalog, or those of a `like` case, of which it may be a `harder` one."""
    offers = like.offers if like else all_offers(desk)
    return Case(desk, need, work_of(need), offers, like if harder else None, lean=lean, counts_tokens_per_s=need.min_tokens_per_s)


def per_user(estimate: Estimate) -> float:
    """Tokens/s for each user; 0 where it does not fit."""
    return estimate.decode_per_user.value if estimate.fit.fits and estimate.decode_per_user else 0.0


def score(estimate: Estimate) -> float:
    """What tells two that meet the need apart: one user's decode, several users' sustained tokens/s."""
    speed = estimate.sustained if (estimate.workload.users or 1) > 1 else estimate.decode
    return speed.value if estimate.fit.fits and speed else 0.0


def assured(estimate: Estimate) -> float:
    """Tokens/s for each user if an engine that the owner did not measure is as far off as the one that was, on the same devices."""
    doubt = estimate.doubt
    return per_user(estimate) * (doubt.decode_factor if doubt and doubt.same_devices else 1.0)


def trusted(estimate: Estimate) -> float:
    """The score that ranks: of an engine that was not measured where another fell short, what is left if it does too, less a margin."""
    doubt = estimate.doubt
    if doubt is None or not doubt.same_devices:
        return score(estimate)
    return doubt.decode_factor * score(estimate) / estimate.behind.plan.tables.choices.choice("engine-margin-factor")


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
        found.append(Reason("price.not-new" if need.new_only else "price.unknown", {"name": unpriced(option.cost)}))
    elif need.budget_usd is not None and usd > need.budget_usd:
        found.append(Reason("need.over-budget", {"spend_usd": usd, "budget_usd": need.budget_usd, "over_usd": usd - need.budget_usd}))
    return tuple(found)


def unpriced(cost: Cost) -> str:
    """The first part to buy of which no price is known."""
    return next((line.name for line in cost.lines if line.usd is None and not line.owned), "a part")


def short_of_memory(estimate: Estimate) -> Reason:
    """By how much the fullest device is short, with its own bytes; the host's memory where the devices have room."""
    fit = estimate.fit
    worst = min(fit.devices, key=lambda device: device.headroom_bytes)
    if fit.disk_bytes:
        return Reason("need.from-disk", {"disk_bytes": fit.disk_bytes})
    if worst.headroom_bytes >= 0 and fit.host_usable_bytes is not None:
        host = {"needed_bytes": fit.host_needed_bytes, "usable_bytes": fit.host_usable_bytes}
        return Reason("need.host-short", {"short_bytes": fit.host_needed_bytes - fit.host_usable_bytes, **host})
    each = "-each" if sum(device.count for device in fit.devices) > 1 else ""
    facts: dict[str, Fact] = {"short_bytes": -worst.headroom_bytes, "needed_bytes": worst.needed_bytes, "usable_bytes": worst.usable_bytes}
    return Reason(f"need.memory-short{each}", {**facts, "device": worst.device, "quant": estimate.quant.id})


def best_way(ways: Iterable[Estimate], need: Need) -> Estimate | None:
    """Of the ways to run one system, the fastest that meets the floors, else the nearest to it."""
    return max(ways, key=lambda way: (fast_enough(way, need), way.fit.fits, trusted(way)), default=None)


def lies(way: Estimate) -> bool:
    """Whether it lies wholly in its devices' memory."""
    return way.fit.fits and way.placement.strategy != "offload"


def enough(way: Estimate, need: Need) -> bool:
    """Whether nothing speaks for a smaller cache: in the devices' memory, and fast enough."""
    return lies(way) and fast_enough(way, need)


def gains(smaller: Estimate, full: Estimate, need: Need) -> bool:
    """Whether a smaller cache is worth what little it loses: nothing does where the full one lies in the devices' memory and is no
    further from the need.
    """
    fast = fast_enough(full, need)
    if fast_enough(smaller, need) is not fast:
        return not fast
    return not lies(full) and (lies(smaller) or not fast) and trusted(smaller) > trusted(full)


def rank(option: Option, need: Need) -> tuple[float, ...]:
    """The order of the rule: cheapest first (or fastest first), then keep, then change, then the faster one."""
    usd = counted_usd(option.cost, need)
    price = float("inf") if usd is None else usd
    tie = TIE_ORDER.get(option.kind, 2)
    if need.prefer == "fastest":
        return (-trusted(option.estimate), price, tie)
    return (price, tie, -trusted(option.estimate))


def allowed(kind: str, need: Need) -> bool:
    """Whether the buyer considers this kind at all; what is owned always counts."""
    return not need.consider or kind in need.consider or kind in TIE_ORDER


def without_budget(case: Case) -> Case:
    """The same case for a buyer with all the money in the world."""
    return replace(case, need=replace(case.need, budget_usd=None))


def faster(case: Case, tokens_per_s: float) -> Case:
    """The same case for a buyer who wants at least so much speed."""
    if tokens_per_s <= case.need.min_tokens_per_s:
        return case
    return case_of(case.desk, replace(case.need, min_tokens_per_s=tokens_per_s), case, harder=True)
