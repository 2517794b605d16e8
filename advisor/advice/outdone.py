"""What is bought instead of the cheapest that does it: at about the same price much faster, or surely fast enough.

Prices of one thing scatter by more than the few dollars between two systems; so what costs no more than that scatter beyond the
cheapest is taken as its equal in price, and then more speed, or being sure, decides. The cheapest is always named beside it.
"""

from collections.abc import Iterable

from advisor.advice.judge import SURENESS, Case, Option, confidence, counted_usd, per_user, rank, score, straddles
from advisor.advice.naming import named
from advisor.need import Need
from advisor.reason import Fact


def sure(option: Option, need: Need) -> bool:
    """Whether no floor lies within the intervals of its figures."""
    late = need.max_first_token_s
    if straddles(option.estimate.decode_per_user, need.min_tokens_per_s):
        return False
    return late is None or not straddles(option.estimate.first_token_s, late)


def beside(chosen: Option, cheapest: Option, case: Case) -> dict[str, Fact]:
    """The cheapest that does it as well, held against what is bought instead."""
    need = case.need
    less, more = (counted_usd(each.cost, need) or 0.0 for each in (cheapest, chosen))
    facts: dict[str, Fact] = {"name": named(cheapest.estimate.system), "cheapest_usd": less, "more_usd": more - less}
    facts |= {"cheapest_tokens_per_s": per_user(cheapest.estimate), "per_user_tokens_per_s": per_user(chosen.estimate)}
    return facts | {"speed_factor": per_user(chosen.estimate) / per_user(cheapest.estimate)}


def how(chosen: Option, cheapest: Option, case: Case) -> str:
    """By what the chosen one outdoes the cheapest, as the end of a reason's code: its speed, or that it is sure."""
    much = case.desk.choice("much-faster-factor")
    return "" if per_user(chosen.estimate) >= much * per_user(cheapest.estimate) else "-likely"


def least_speed(chosen: Option, case: Case) -> float:
    """The least speed for each user of what outdoes the chosen one."""
    factor = case.desk.choice("much-faster-factor") if sure(chosen, case.need) else 1.0
    return factor * per_user(chosen.estimate)


def _outdoes(option: Option, chosen: Option, case: Case) -> bool:
    """Whether one that does it too is the better buy than the chosen one at about the same price: and known no worse."""
    need, desk = case.need, case.desk
    gain = min(measure(option.estimate) / measure(chosen.estimate) for measure in (per_user, score))
    if gain < desk.choice("much-faster-factor") and (gain < 1 or sure(chosen, need) or not sure(option, need)):
        return False
    known = [SURENESS.index(confidence(each.estimate, need, desk.choice("enough-family-rows"))) for each in (option, chosen)]
    return known[0] >= known[1]


def outdone(cheapest: Option, able: Iterable[Option], case: Case) -> Option:
    """What is bought: from the cheapest on, the next at about its price that outdoes the one before; the cheapest where none does, and
    where the fastest is wanted.
    """
    need, chosen = case.need, cheapest
    least = counted_usd(cheapest.cost, need)
    if need.prefer == "fastest" or not least:
        return cheapest
    most = case.desk.choice("worth-factor") * least
    for option in sorted(able, key=lambda option: rank(option, need)):
        usd = counted_usd(option.cost, need)
        if usd is not None and least <= usd <= most and _outdoes(option, chosen, case):
            chosen = option
    return chosen
