"""What a friend would add to the verdict: that a card comes without a fan, a long wait for the first token, that a little more money
buys much more, or that the need asks for an extraordinary machine.
"""

from collections.abc import Iterable

from advisor.advice import Verdict
from advisor.advice.bounds import bounds_of
from advisor.advice.desk import BOUND_ENGINE
from advisor.advice.judge import TIE_ORDER, Case, Option, allowed, counted_usd, meets, per_user, score, shortfalls
from advisor.advice.naming import named, run_as, set_up
from advisor.advice.offers import Offer
from advisor.advice.roads import nearest
from advisor.advice.sureness import sure
from advisor.advice.verdict import shopping
from advisor.airflow import fanless
from advisor.around import host_keeps
from advisor.reason import Fact, Reason
from advisor.record import replace
from advisor.ways import tables_of

LEAST_USD = 0.5  # less is shown as $0


def better(case: Case, chosen: Option | None, others: Iterable[Option]) -> Option | None:
    """Of what was weighed, what gives clearly more speed for little more money: no less for a dollar than the cheapest; or is surely
    fast enough for little more, and no slower, where the cheapest is only likely to be.
    """
    need, desk = case.need, case.desk
    least = counted_usd(chosen.cost, need) if chosen else None
    if chosen is None or not least or least <= 0 or need.prefer == "fastest":
        return None
    clearly, most = desk.choice("clearly-faster-factor"), desk.choice("little-more-factor")
    certain, found = sure(chosen.estimate, need), dict[Option, tuple[bool, float]]()
    for option in others:
        usd = counted_usd(option.cost, need)
        if option is chosen or option.kind in TIE_ORDER or usd is None or not least <= usd <= most * least:
            continue
        gains = [measure(option.estimate) / measure(chosen.estimate) for measure in (per_user, score)]
        surer = not certain and min(gains) >= 1 and sure(option.estimate, need)
        if (surer or min(gains) >= max(clearly, usd / least)) and meets(option, need) and allowed(option.kind, need):
            found[option] = surer, per_user(option.estimate) / usd
    return max(found, key=lambda option: found[option], default=None)


def remarks(
    case: Case, verdict: Verdict, chosen: Option | None, better_one: Option | None, seen: Iterable[Option], quicker: Option | None = None
) -> tuple[Reason, ...]:
    """The remarks on what is chosen, or named as the nearest; `quicker` is a clearly faster setting of what is owned."""
    beyond = _extraordinary(case, verdict, seen)
    more = _little_more(case, chosen, better_one) if beyond is None and chosen and better_one else None
    mind, too = _fanless(chosen), _fanless(better_one if more else None, chosen)
    found = (
        _quicker(case, chosen, quicker),
        _unmeasured(case, chosen),
        *mind,
        more,
        *too,
        _wait(case, verdict),
        beyond,
        _processor(case, chosen),
    )
    return tuple(reason for reason in found if reason is not None)


def _quicker(case: Case, chosen: Option | None, other: Option | None) -> Reason | None:
    """That what is owned is clearly faster for nothing, set otherwise; what costs accuracy or context is only among the settings."""
    if chosen is None or other is None or other.estimate.kv_quant in case.desk.catalog.hints.last_caches:
        return None
    if any(change.code.startswith(("change.quant", "change.context")) for change in other.changes):
        return None
    facts: dict[str, Fact] = {"how": run_as(other.estimate, chosen.estimate), "per_user_tokens_per_s": per_user(other.estimate)}
    facts["speed_factor"] = per_user(other.estimate) / per_user(chosen.estimate)
    return Reason("remark.quicker", facts)


def _unmeasured(case: Case, chosen: Option | None) -> Reason | None:
    """That the owner measured less than estimated beside what is advised, and what it would give if it fell as short."""
    doubt = chosen.estimate.doubt if chosen else None
    if chosen is None or doubt is None:
        return None
    left, floor = doubt.decode_factor * per_user(chosen.estimate), case.need.min_tokens_per_s
    facts: dict[str, Fact] = {"engine": chosen.estimate.placement.engine, "devices": chosen.estimate.system.count, **doubt.facts}
    facts |= {"per_user_tokens_per_s": per_user(chosen.estimate), "left_tokens_per_s": left, "floor_tokens_per_s": floor}
    return Reason(f"remark.unmeasured-{doubt.what}{'-slow' if left < floor else ''}", facts)


def _fanless(option: Option | None, told: Option | None = None) -> tuple[Reason, ...]:
    """That cards which are bought need fans where they are to sit; not again of those that it was `told` of."""
    if option is None:
        return ()
    claims = fanless(option.estimate.system, {line.what: line.count for line in option.cost.lines if not line.owned})
    before = {claim.facts["device_id"] for claim in _fanless(told)} if claims else set()
    return tuple(claim for claim in claims if claim.facts["device_id"] not in before)


def _wait(case: Case, verdict: Verdict) -> Reason | None:
    """That the first token takes long, where nobody stated how long it may."""
    estimate = verdict.estimate
    first = estimate.first_token_s if estimate else None
    if estimate is None or first is None or case.need.max_first_token_s is not None or first.value <= case.desk.choice("long-wait-s"):
        return None
    return Reason("remark.wait", {"first_token_s": first.value, "prompt_tokens": estimate.workload.prompt_tokens})


def _little_more(case: Case, chosen: Option, other: Option) -> Reason:
    before, after = (counted_usd(option.cost, case.need) or 0.0 for option in (chosen, other))
    facts: dict[str, Fact] = {"name": named(other.estimate.system), "more_usd": after - before, "spend_usd": other.cost.spend_usd}
    facts["shopping"] = shopping(other.cost)
    facts |= {"per_user_tokens_per_s": per_user(other.estimate), "kind": other.kind}
    facts["speed_factor"] = per_user(other.estimate) / per_user(chosen.estimate)
    facts["floor_tokens_per_s"] = case.need.min_tokens_per_s
    surer = sure(other.estimate, case.need) and not sure(chosen.estimate, case.need)
    code = "little-more"
    if abs(after - before) < LEAST_USD:
        same = case.desk.key(other.open_system) == case.desk.key(chosen.open_system)
        code = "other-run" if same else "as-dear"
        facts |= {"how": run_as(other.estimate, chosen.estimate)} if same else {}
    return Reason(f"remark.{code}-sure" if surer else f"remark.{code}", facts)


def _processor(case: Case, chosen: Option | None) -> Reason | None:
    """That a run on the processor of an owned computer without cards is not estimated; and the most that its memory would allow."""
    need, desk, host = case.need, case.desk, case.desk.own_host
    if not need.host_owned or host is None or (chosen is not None and chosen.kind in TIE_ORDER):
        return None
    room = host_keeps(tables_of(desk.catalog).choices).room_bytes(need.ram_bytes or host.memory_bytes)
    alone = Offer("processor", host.id, host, 0.0, (), (), 1, room, host.memory_bandwidth_bytes_per_s)
    most = bounds_of(desk, case.work, eight_bit=need.kv_quant is None).datasheet.tokens_per_s(alone)
    flag = desk.catalog.hints.flag("processor-alone", BOUND_ENGINE)
    if not most or flag is None:
        return None
    work = case.work.workload
    facts: dict[str, Fact] = {"host": host.name, "most_tokens_per_s": most, "floor_tokens_per_s": need.min_tokens_per_s}
    facts["command"] = flag.command.format(prompt_tokens=work.prompt_tokens, generate_tokens=work.generate_tokens)
    return Reason("remark.processor" if most >= need.min_tokens_per_s else "remark.processor-slow", facts, (flag.source,))


def _extraordinary(case: Case, verdict: Verdict, seen: Iterable[Option]) -> Reason | None:
    """That no ordinary machine does it, and what comes nearest at an ordinary price; where a budget is stated the buyer knows."""
    most, need = case.desk.choice("ordinary-usd"), case.need
    usd = counted_usd(verdict.cost, need) if verdict.cost else None
    if usd is None or usd <= most or need.budget_usd is not None:
        return None
    ordinary = replace(need, budget_usd=most)
    able = [option for option in seen if (counted_usd(option.cost, need) or most + 1) <= most and option.estimate.fit.fits]
    near = nearest(able, ordinary)
    facts: dict[str, Fact] = {"spend_usd": usd, "ordinary_usd": most}
    if near is None:
        return Reason("remark.extraordinary", facts)
    facts |= {"name": named(near.estimate.system), "near_usd": near.cost.spend_usd, "per_user_tokens_per_s": per_user(near.estimate)}
    facts["setup"] = set_up(near.estimate, near.cost)
    missed = next((reason for reason in shortfalls(near, need)), None)
    if missed is not None and missed.code == "need.first-token":
        return Reason("remark.extraordinary-late", {**facts, **missed.facts})
    return Reason("remark.extraordinary-near", facts)
