"""What would change the answer: the nearest value of each wish and price at which the verdict becomes another, found by search.

Every flip is verified: the rule gives today's verdict at `before`, and another one at `value`.
"""

import math
from collections.abc import Iterator

from advisor.advice import Flip
from advisor.advice.decide import Decision, decide, decide_harder
from advisor.advice.desk import Desk
from advisor.advice.judge import Case, Option, case_of, counted_usd, fast_enough, per_user
from advisor.advice.prober import Prober, flip_of, then
from advisor.advice.search import search
from advisor.advice.workflips import of_context, of_users
from advisor.billed import CostLine
from advisor.catalog import Catalog
from advisor.errors import AdvisorError
from advisor.reason import Reason
from advisor.record import replace

SPEED_STEP = 0.1  # tokens/s
RELAXED_QUANTS = ("4bit", "q3_k_m")  # smaller weights that are tried where nothing meets the need
RELAXED_CACHES = ("q8_0",)
ALIKE_SHARE = 0.1  # models whose parameters differ by less are one size
NOBODY_PAYS_USD = 1e9
MOST_STEPS = 3  # systems of the same kind that a floor is raised past


def flips(prober: Prober, whole: Case) -> tuple[Flip, ...]:
    """The flips that there are, the ones a buyer asks about first; `whole` is the case with every offer."""
    found = [*of_users(prober), *of_context(prober), *_floor(prober), *_budget(prober), *_prices(prober)]
    found += [*_formats(prober), *_filters(prober, whole), *_models(prober)]
    among = whole.offers is not prober.case.offers
    return tuple(replace(_true(flip, prober, among), kind_before=prober.today.kind) for flip in found)


def _true(flip: Flip, prober: Prober, among: bool) -> Flip:
    """The flip in words that hold: of whom nothing is said, and whether it is the same system up to there or only the same kind."""
    need, chosen = prober.case.need, prober.today.chosen
    if flip.then.code == "flip.nothing" and (among or need.consider):
        flip = replace(flip, then=Reason("flip.nothing-among" if among else "flip.nothing-considered", {}))
    now = {
        "users": need.workload.users,
        "context_tokens": need.workload.context_tokens,
        "min_tokens_per_s": need.min_tokens_per_s,
    }
    if flip.wish not in now or flip.before == now[flip.wish]:
        return flip
    reached = per_user(chosen.estimate) if chosen and need.prefer == "cheapest" else 0.0
    if flip.wish == "min_tokens_per_s" and need.min_tokens_per_s < float(flip.before or 0) <= reached:
        return flip  # today's system does it still, and what is cheaper did not do less
    return replace(flip, when=Reason(f"{flip.when.code}-still-{prober.today.kind}", flip.when.facts))


def _step(value: float) -> float:
    """A tenth of a token/s; from a hundred on as much as three figures show."""
    return SPEED_STEP if value < 100 else 10.0 ** (math.floor(math.log10(value)) - 2)


def _rounded(value: float, up: bool) -> float:
    """The next step above (or the step below) a speed."""
    step = _step(value)
    return round((math.floor(value / step) + (1 if up else 0)) * step, 1)


def _floor(prober: Prober) -> Iterator[Flip]:
    """A higher wanted speed, past what the chosen system reaches, up to an answer that is worth one; and a lower one."""
    need, chosen = prober.case.need, prober.today.chosen
    before: float | None = None  # the last with today's verdict
    for _ in range(MOST_STEPS):
        if chosen is None:
            break
        value = _rounded(per_user(chosen.estimate), up=True)
        other = prober.at(replace(need, min_tokens_per_s=value), harder=True)
        if other.kind != prober.today.kind:
            before = round(value - _step(per_user(chosen.estimate)), 1) if before is None else before
            if prober.matters(other):
                if not prober.differs(replace(need, min_tokens_per_s=before), harder=True):
                    yield flip_of("min_tokens_per_s", before, value, other, {"floor_tokens_per_s": value})
                break
        chosen = other.chosen
    yield from _lower_floor(prober)


def _lower_floor(prober: Prober) -> Iterator[Flip]:
    """The wanted speed at which something cheaper does it."""
    need = prober.case.need
    value = _slower(prober)
    for _ in range(MOST_STEPS):
        if value is None:
            return
        before, other = round(value + _step(value), 1), prober.at(replace(need, min_tokens_per_s=value))
        if other.kind == prober.today.kind or not prober.matters(other):
            return
        nearer = prober.at(replace(need, min_tokens_per_s=before))
        if nearer.kind == prober.today.kind:
            yield flip_of("min_tokens_per_s", before, value, other, {"floor_tokens_per_s": value})
            return
        value = _rounded(per_user(nearer.chosen.estimate), up=False) if nearer.chosen else None  # with a smaller cache it does more


def _slower(prober: Prober) -> float | None:
    """The fastest of what is notably cheaper and misses only the wanted speed, in whole tenths."""
    need, today = prober.case.need, prober.today
    spent = counted_usd(today.chosen.cost, need) if today.chosen else None
    if need.prefer == "fastest" or not need.min_tokens_per_s or spent == 0:
        return None
    owned = [option for option in (today.keep, *today.changes) if isinstance(option, Option) and option.estimate.fit.fits]
    most = need.budget_usd if spent is None else spent / prober.case.desk.choice("worth-factor")
    cheap = replace(need, min_tokens_per_s=0.0, prefer="fastest", budget_usd=most)
    bought = search(case_of(prober.case.desk, cheap, prober.case, lean=True))[:1]
    speeds = [per_user(option.estimate) for option in (*owned, *bought)]
    lower = _rounded(max((speed for speed in speeds if speed < need.min_tokens_per_s), default=0.0), up=False)
    return lower if lower > 0 else None


def _budget(prober: Prober) -> Iterator[Flip]:
    """Less money than the answer costs; more money where nothing meets the need."""
    need, chosen = prober.case.need, prober.today.chosen
    if chosen is None:
        yield from _more_money(prober) if need.budget_usd is not None else ()
        return
    spent = counted_usd(chosen.cost, need)
    for _ in range(MOST_STEPS):
        if not spent or need.prefer == "fastest":
            return
        before, value = float(math.ceil(spent)), float(math.ceil(spent) - 1)
        other = prober.at(replace(need, budget_usd=value), harder=True)
        if other.kind != prober.today.kind:
            if other.chosen is not None and prober.matters(other) and not prober.differs(replace(need, budget_usd=before), harder=True):
                yield flip_of("budget_usd", before, value, other, {"budget_usd": value})
            return
        spent = counted_usd(other.chosen.cost, need) if other.chosen else None


def _more_money(prober: Prober) -> Iterator[Flip]:
    """The least budget that meets the need."""
    need = prober.case.need
    free = prober.at(replace(need, budget_usd=None))
    enough = counted_usd(free.chosen.cost, need) if free.chosen else None
    if enough is None:
        return
    value = float(math.ceil(enough))
    other = prober.at(replace(need, budget_usd=value))
    if other.chosen is not None and not prober.differs(replace(need, budget_usd=value - 1)):
        yield flip_of("budget_usd", value - 1, value, other, {"budget_usd": value})


def _prices(prober: Prober) -> Iterator[Flip]:
    """The price of what is bought, up to where something else is cheaper; and of the runner-up, down to where it wins."""
    need, chosen = prober.case.need, prober.today.chosen
    if chosen is None or need.prefer == "fastest" or not counted_usd(chosen.cost, need):
        return
    line = _dearest(prober, chosen)
    rival = _rival(prober, line.what) if line else None
    if line is None or rival is None:
        return
    prober.rivals.append(rival)
    gap = (counted_usd(rival.cost, need) or 0.0) - (counted_usd(chosen.cost, need) or 0.0)
    yield from _price(prober, line, gap, 1)
    other = _dearest(prober, rival)
    yield from _price(prober, other, gap, -1) if other else ()


def _dearest(prober: Prober, option: Option) -> CostLine | None:
    """The device, or else the computer, that most of an option's money goes to."""
    catalog = prober.case.desk.catalog
    for known in (catalog.devices, catalog.hosts):
        bought = [line for line in option.cost.lines if not line.owned and line.usd and line.what in known]
        if bought:
            return max(bought, key=lambda line: (line.usd or 0.0) * line.count)
    return None


def _rival(prober: Prober, device: str) -> Option | None:
    """The best option of another kind that does not need the device: the search without both."""
    kind, case = prober.today.kind, prober.case
    if device in case.desk.catalog.hosts:  # cards are weighed in it unasked: out of reach it is at a price that nobody pays
        found = _priced(prober, device, 0.0, NOBODY_PAYS_USD).chosen
        return found if found and found.kind != kind and found.cost.spend_usd else None
    offers = (offer for offer in case.offers.every if offer.kind != kind and all(name != device for name, _ in offer.bought))
    found = decide_harder(replace(case.among(offers), lean=True), prober.today).chosen
    return found if found and fast_enough(found.estimate, case.need) and found.cost.spend_usd else None


def _price(prober: Prober, line: CostLine, gap: float, sign: int) -> Iterator[Flip]:
    """The price of one device at which the order turns, verified on both sides."""
    turn = (line.usd or 0.0) + sign * gap / line.count
    for back in (0, 1):  # at the very price of the other the faster one wins: then it turns one dollar earlier
        before = float(math.floor(turn) if sign > 0 else math.ceil(turn)) - sign * back
        value = before + sign
        if min(before, value) <= 0:
            return
        same, other = (_priced(prober, line.what, line.usd or 0.0, usd) for usd in (before, value))
        if same.kind == prober.today.kind != other.kind:
            flip = flip_of("price_usd", before, value, other, {"name": line.name, "price_usd": value, "now_usd": line.usd})
            yield replace(flip, device=line.what)
            return
        if same.kind == prober.today.kind:
            return


def _priced(prober: Prober, device: str, now_usd: float, usd: float) -> Decision:
    """The decision with one device at another price."""
    case = prober.case
    prices = tuple(item for item in case.need.prices_usd if item[0] != device) + ((device, usd),)
    desk, need = case.desk.repriced(prices), replace(case.need, prices_usd=prices)
    if device in desk.catalog.hosts:  # it is in the prices of many offers: they are made anew
        return decide_harder(case_of(desk, need, replace(case, offers=case.offers.rehosted(desk)), lean=True), prober.today)
    priced = case_of(desk, need, case, harder=True, lean=True)
    return decide_harder(replace(priced, offers=case.offers.dearer(device, usd - now_usd)), prober.today)


def _formats(prober: Prober) -> Iterator[Flip]:
    """Where nothing meets the need: smaller weights, or a smaller cache, with which something does."""
    case, need = prober.case, prober.case.need
    if prober.today.chosen is not None:
        return
    now_bytes = case.desk.bytes(case.work)[0].total_bytes
    quants = (quant for quant in RELAXED_QUANTS if case.desk.bytes(replace(case.work, quant=quant))[0].total_bytes < now_bytes)
    caches = RELAXED_CACHES if need.kv_quant == "f16" else ()  # left open, it was tried
    for wish, now, values in (("quant", need.quant, quants), ("kv_quant", case.work.kv_quant, caches)):
        for value in values:
            other = prober.at(replace(need, quant=value) if wish == "quant" else replace(need, kv_quant=value))
            if other.chosen is not None:
                yield Flip(wish, now, value, Reason(f"flip.{wish.replace('_', '-')}", {wish: value}), then(other), other.kind)
                break


def _filters(prober: Prober, whole: Case) -> Iterator[Flip]:
    """Where nothing meets the need: what does when other kinds are considered, or other systems than those named."""
    need = prober.case.need
    if prober.today.chosen is not None:
        return
    if need.consider:
        other = prober.at(replace(need, consider=()))
        if other.chosen is not None:
            yield Flip("consider", ", ".join(need.consider), None, Reason("flip.consider", {}), then(other), other.kind)
    if whole.offers is not prober.case.offers:
        other = decide(replace(whole, lean=True))
        if other.chosen is not None:
            yield Flip("among", None, None, Reason("flip.among", {}), then(other), other.kind)


def _models(prober: Prober) -> Iterator[Flip]:
    """The next larger and the next smaller typical model with another verdict."""
    desk, need = prober.case.desk, prober.case.need
    if need.quant is not None and need.quant not in ("4bit", "8bit", "16bit"):
        return  # a format that the other model may not be published in
    sizes = list(_typical(desk.catalog))
    here = desk.model.params
    larger = [model for model in sizes if model[0] > (1 + ALIKE_SHARE) * here]
    smaller = [model for model in reversed(sizes) if model[0] < (1 - ALIKE_SHARE) * here]
    for models, direction in ((larger, "larger"), (smaller, "smaller")):
        if not models or _sure_to_stay(prober, direction):
            continue
        params, name = models[0]
        other_desk = Desk(need, desk.have, desk.catalog, desk.catalog.model(name), desk.terms.today)
        other = decide(case_of(other_desk, replace(need, model=name), prober.case, lean=True))
        other_desk.clear()
        if other.kind != prober.today.kind:
            when = Reason(f"flip.model-{direction}", {"model": name, "params": params})
            yield Flip("model", desk.model.id, name, when, then(other), other.kind)


def _sure_to_stay(prober: Prober, direction: str) -> bool:
    """What runs a model where it is runs a smaller one too; where nothing runs it, nothing runs a larger one."""
    return prober.today.kind == ("keep" if direction == "smaller" else "nothing-fits")


def _typical(catalog: Catalog) -> Iterator[tuple[float, str]]:
    found = []
    for each in catalog.hints.ladder:
        try:
            found.append((catalog.model(each.model).params, each.model))
        except AdvisorError:
            continue
    yield from sorted(found)
