"""How many users, and how long a context, change the answer.

Upwards the search follows the chosen system to the last value at which it still does (its memory's limits are solved for), and asks
the judge there; downwards it looks for something cheaper that then does.
"""

from collections.abc import Callable, Iterator

from advisor.advice import Flip
from advisor.advice.desk import CONTEXT_STEP_TOKENS, Work, work_of
from advisor.advice.holds import able_ways
from advisor.advice.joins import NEVER
from advisor.advice.judge import Option, counted_usd, fast_enough, per_user
from advisor.advice.prober import Prober, flip_of
from advisor.errors import AdvisorError
from advisor.memory import Fit
from advisor.need import Need
from advisor.speed import Estimate

MOST_USERS_FACTOR = 32  # users are raised to this many times those asked
MOST_STEPS = 4  # systems of the same kind, and their smaller caches, that are followed in turn
HALVINGS = 3

NeedAt = Callable[[int], Need]


def of_users(prober: Prober) -> Iterator[Flip]:
    """More users, and fewer where there are several."""
    now = prober.case.need.workload.users
    if now is None:
        return
    fewer = None if prober.today.kind == "keep" else _falling(prober, now, 1, 1, prober.at_users)  # less work: kept all the more
    more = _rising(prober, now, MOST_USERS_FACTOR * now, 1, prober.at_users, lambda fit: fit.max_users)
    for change in (more, fewer):
        if change:
            before, value = change
            yield flip_of("users", before, value, prober.at(prober.at_users(value)), {"users": value})


def of_context(prober: Prober) -> Iterator[Flip]:
    """A longer context, and a shorter one."""
    work = prober.case.need.workload
    now, least = work.context_tokens, work.prompt_tokens + work.generate_tokens
    most = prober.case.desk.model.max_context_tokens or now
    found = (
        _rising(prober, now, most, CONTEXT_STEP_TOKENS, prober.at_context, lambda fit: fit.max_context_tokens),
        _shorter(prober, now, least) or (_falling(prober, now, least, CONTEXT_STEP_TOKENS, prober.at_context) if _lost(prober) else None),
    )
    for change in found:
        if change:
            before, value = change
            yield flip_of("context_tokens", before, value, prober.at(prober.at_context(value)), {"context_tokens": value})


def _lost(prober: Prober) -> bool:
    return prober.today.chosen is None


def _rising(prober: Prober, now: int, most: int, step: int, need_at: NeedAt, limit: Callable[[Fit], int]) -> tuple[int, int] | None:
    """(last value with today's verdict, first with another) above `now`; `limit` is what the memory of a system allows."""
    option, last = prober.today.chosen, now
    for _ in range(MOST_STEPS):
        if option is None:
            return None
        last = _last_met(prober, option, (last, most, step), need_at, limit(option.estimate.fit))
        if last + step > most:
            return None
        other = prober.at(need_at(last + step), harder=True)
        if other.kind != prober.today.kind:
            if prober.case.need.prefer == "fastest" and prober.differs(need_at(last), harder=True):
                return _turn(prober, now, last, step, need_at)  # it still does it there, but another one is faster
            return last, last + step  # at `last` the followed system does it, and what is cheaper did not at less work
        option, last = other.chosen, last + step
    return None


def _last_met(prober: Prober, option: Option, span: tuple[int, int, int], need_at: NeedAt, limit: int) -> int:
    """The largest value of (low, most, step) at which this system still does it; its memory's `limit` is asked first.

    In the way it does today's, one estimate a value; where that one ends, in any other.
    """
    low, most, step = span
    end, full = (most - low) // step + 1, (limit - low) // step

    def as_today(number: int) -> float:
        return _as_today(prober, option, need_at(low + number * step), number <= full)

    def otherwise(number: int) -> float:
        return _otherwise(prober, option, need_at(low + number * step))

    good = _largest(as_today, (0, end), full, _taken(option.estimate, need_at(low)))
    if good + 1 < end and (taken := otherwise(good + 1)) <= 1:
        good = _largest(otherwise, (good + 1, end), full, taken)
    return low + good * step


def _largest(taken: Callable[[int], float], span: tuple[int, int], full: int, now: float) -> int:
    """The largest number of a span (its end not in it) at which no more is `taken` of a token's time than there is; `now` is taken at
    the first. `full` is asked at once; between two that are known, where as much would be taken as may be if it grew evenly.
    """
    good, bad = span
    end, known = bad, {good: now}
    for each in (full, full + 1):
        if good < each < bad:
            known[each] = taken(each)
            good, bad = (each, bad) if known[each] <= 1 else (good, each)
    reach = 1
    while good < bad - 1:
        middle = min(good + reach, bad - 1) if bad == end else _between(known, good, bad)
        known[middle] = taken(middle)
        if known[middle] <= 1:
            good, reach = middle, 2 * reach
        else:
            bad = middle
    return good


def _between(known: dict[int, float], good: int, bad: int) -> int:
    """Where all is taken that may be, if it grows evenly; halfway where it is endless."""
    share = (1 - known[good]) / (known[bad] - known[good]) if known[bad] < NEVER else 0.5
    return min(bad - 1, max(good + 1, good + int(share * (bad - good))))


def _as_today(prober: Prober, option: Option, need: Need, within: bool) -> float:
    """What a system takes of a token's time when it does other work in the way it does today's; beyond its memory's limit it does not,
    unless more may lie in the host's.
    """
    desk, work, estimate = prober.case.desk, work_of(need), option.estimate
    if option.kind == "keep":
        usual = desk.usual(desk.have, work) if desk.have else None
        return NEVER if usual is None or isinstance(usual, AdvisorError) or usual.fit.raise_limit else _taken(usual, need)
    if not within and estimate.placement.strategy != "offload":
        return NEVER
    as_today = desk.ways(estimate.system, Work(work.workload, estimate.quant.id, estimate.kv_quant))  # one estimate
    return min((_taken(way, need) for way in as_today), default=NEVER)


def _otherwise(prober: Prober, option: Option, need: Need) -> float:
    """What it takes in the quickest of all ways; what is kept must do it as it is."""
    if option.kind == "keep":
        return NEVER
    same = Work(need.workload, option.estimate.quant.id, option.estimate.kv_quant)
    return min((_taken(way, need) for way in able_ways(prober.case.desk, option.open_system, same)), default=NEVER)


def _taken(way: Estimate, need: Need) -> float:
    """The share that a way takes of the time that each token may take: more than 1 where it is too slow, endless where it does not fit
    or misses another wish.
    """
    share = need.min_tokens_per_s / per_user(way) if per_user(way) else 0.0
    return share if fast_enough(way, need) or share > 1 else NEVER


def _falling(prober: Prober, now: int, least: int, step: int, need_at: NeedAt) -> tuple[int, int] | None:
    """(least value with today's verdict, most with another) below `now`, by halving and bisection."""
    same, other = now, 0
    for power in range(1, HALVINGS + 1):
        value = now // 2**power // step * step
        if value < least:
            break
        if prober.differs(need_at(value)):
            other = value
            break
        same = value
    return _turn(prober, same, other, step, need_at) if other else None


def _turn(prober: Prober, same: int, other: int, step: int, need_at: NeedAt) -> tuple[int, int]:
    """(last value with today's verdict, first with another) between two such values, by bisection."""
    back = step if same > other else -step
    while abs(same - other) > step:
        middle = other + max(1, abs(same - other) // step // 2) * back
        if prober.differs(need_at(middle), harder=back < 0):
            other = middle
        else:
            same = middle
    return same, other


def _shorter(prober: Prober, now: int, least: int) -> tuple[int, int] | None:
    """The longest context that something cheaper holds: its memory's limit is solved for."""
    need, today = prober.case.need, prober.today
    spent = counted_usd(today.chosen.cost, need) if today.chosen else None
    owned = [option for option in (today.keep, *today.changes) if isinstance(option, Option)]
    limits = [
        option.longest_context_tokens // CONTEXT_STEP_TOKENS * CONTEXT_STEP_TOKENS
        for option in (*owned, *today.seen)
        if _cheaper(option, spent, need)
    ]
    for value in sorted({limit for limit in limits if least <= limit < now}, reverse=True)[:MOST_STEPS]:
        if prober.differs(prober.at_context(value)):
            before = min(value + CONTEXT_STEP_TOKENS, now)
            return None if prober.differs(prober.at_context(before)) else (before, value)
    return None


def _cheaper(option: Option, spent: float | None, need: Need) -> bool:
    usd = counted_usd(option.cost, need)
    return usd is not None and (spent is None or usd < spent)
