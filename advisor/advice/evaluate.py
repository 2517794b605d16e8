"""What an offer turns out to be: the ways to run the work on it, with the full cache and with a smaller one, made into options."""

from collections.abc import Iterable

from advisor.advice.desk import Hopeless, Work
from advisor.advice.judge import Case, Option, best_way, enough, fast_enough, gains, lies
from advisor.advice.offers import Offer
from advisor.errors import AdvisorError
from advisor.need import Need
from advisor.reason import Reason
from advisor.speed import Estimate
from advisor.system import System


def best_of_caches(full: Estimate | None, smaller: Iterable[Estimate], need: Need) -> Estimate | None:
    """The best way with the full cache, unless a smaller one meets the need, or lies in the devices' memory, where that one does not."""
    return best_way((way for way in smaller if full is None or gains(way, full, need)), need) or full


def smaller_cache(way: Estimate, work: Work) -> tuple[Reason, ...]:
    """The setting that a way with a smaller cache than the work's own needs."""
    return (Reason("change.kv-quant", {"kv_quant": way.kv_quant}),) if way.kv_quant != work.kv_quant else ()


def _with_smaller_cache(case: Case, offer: Offer, system: System, full: tuple[Estimate, ...], hopeless: Hopeless) -> tuple[Estimate, ...]:
    """The ways with a cache of eight bits, where the buyer left it open, the full one falls short and the bounds give hope."""
    need = case.need
    if need.kv_quant is not None:
        return ()
    if any(enough(way, need) for way in full):
        return ()
    bound = case.bound(offer)
    fast = any(fast_enough(way, need) for way in full)
    if fast and not bound.holds:
        return ()
    within = any(lies(way) for way in full) or (hopeless and fast and any(lies(way) for way in case.ways(system)))
    if within and (fast or bound.tokens_per_s < need.min_tokens_per_s):
        return ()
    return _of_eight_bits(case, system, hopeless)


def _of_eight_bits(case: Case, system: System, hopeless: Hopeless) -> tuple[Estimate, ...]:
    return tuple(way for name in case.desk.eight_bit_caches for way in case.ways(system, name, hopeless))


def _judged(case: Case, offer: Offer, system: System) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...]]:
    """The ways to run an offer with the full cache, and with a smaller one.

    Where part of the work lies in host memory anyway and only the verdict counts, the smaller one is asked first: a full one that
    moves and reads more is no faster. Without a wanted speed the full one does wherever it fits.
    """
    hopeless = case.hopeless(offer)
    if case.lean and case.need.kv_quant is None and case.need.min_tokens_per_s and not case.bound(offer).holds:
        smaller = _of_eight_bits(case, system, hopeless)
        if smaller and not any(fast_enough(way, case.need) for way in smaller):
            return (), smaller
    full = case.ways(system, None, hopeless)
    return full, _with_smaller_cache(case, offer, system, full, hopeless)


def evaluate(case: Case, offer: Offer) -> list[Option]:
    """The options that an offer turns out to be: the best shared way, and copies side by side where that is another answer."""
    system = case.desk.system(offer.words, offer.host, offer.more_ram_bytes)
    if isinstance(system, AdvisorError):
        return []
    ways, smaller = _judged(case, offer, system)
    every = (*ways, *smaller)

    def best(of_copies: bool) -> Estimate | None:
        full, less = ([way for way in each if (way.placement.strategy == "replicas") is of_copies] for each in (ways, smaller))
        return best_of_caches(best_way(full, case.need), less, case.need)

    def option(kind: str, way: Estimate) -> Option:
        return Option(kind, way, case.desk.cost(system, way), smaller_cache(way, case.work), every)

    shared, copied = best(False), best(True)
    options = [option(offer.kind, shared)] if shared else []
    if copied and (case.work.workload.users or 2) > 1:
        options.append(option("replicas" if system.count <= 2 and offer.kind not in ("new-host", "more-memory") else offer.kind, copied))
    return options
