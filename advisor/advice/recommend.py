"""The recommendation: what is owned, what could be bought, the verdict by the rule, and what would change it."""

from collections.abc import Iterable, Iterator
from datetime import date

from advisor import correction
from advisor.advice import Condition, Recommendation, Road, SecondGpu
from advisor.advice.conditions import conditions
from advisor.advice.decide import Decision, decide
from advisor.advice.desk import Desk
from advisor.advice.flips import flips
from advisor.advice.judge import TIE_ORDER, Case, Option, case_of, fast_enough, faster, meets, per_user, score
from advisor.advice.ladder import Step, label_facts, rungs, turning, turning_between
from advisor.advice.offers import Offer, Owned, Shelf, card_kind, goes_in_slot, network_kind
from advisor.advice.owned import clearly_faster
from advisor.advice.prober import Prober
from advisor.advice.remarks import better, remarks
from advisor.advice.roads import MARKET_KINDS, OTHER_KINDS, best_of_road, no_slot, road, seen_of_kind, shown_roads
from advisor.advice.second import OneMore, one_more, second_gpu
from advisor.advice.settings import settings
from advisor.advice.verdict import assumptions, full_context, ladder_answer, verdict_of, warnings
from advisor.catalog import Catalog
from advisor.market import price_dates
from advisor.model import Model
from advisor.need import Need
from advisor.reason import Fact, Reason
from advisor.record import replace
from advisor.system import System, spec


@correction.read_once()
def recommend(
    need: Need,
    have: System | None,
    catalog: Catalog,
    *,
    have_words: str | None = None,
    model: Model | None = None,
    today: date | None = None,
    among: tuple[System, ...] = (),
) -> Recommendation:
    """The answer for one need; over a ladder of typical models where none is named; only between `among` where given."""
    if model is None:
        steps = tuple(rungs(need, have, catalog, today, lambda case: _between(case, among)))
        turn = turning_between(steps) if among else turning(steps)
        answer = _over_ladder(_answer(turn.case, have_words, among), label_facts(steps, turn), steps, bool(among))
        desks = [step.case.desk for step in steps]
    else:
        desks = [Desk(need, have, catalog, model, today)]
        answer = _answer(case_of(desks[0], need), have_words, among)
    for desk in desks:
        desk.clear()
    return answer


def _answer(case: Case, have_words: str | None, among: tuple[System, ...]) -> Recommendation:
    """The answer for one model."""
    desk, catalog, have = case.desk, case.desk.catalog, case.desk.have
    asked = _between(case, among)
    decision = decide(asked, thorough=True)
    more = one_more(case) if have else OneMore(())
    options = _options(case, decision, more)
    named = _named(asked) if among else []
    options |= {option.kind: option for option in reversed(named) if option is not decision.chosen and option.kind != decision.kind}
    prober = Prober(asked, decision)
    verdict = verdict_of(asked, decision, options, named, _with_more_money(prober), _unasked(prober, case))
    roads = shown_roads(case, options, decision.chosen)
    full = full_context(case, decision.chosen)
    turns = flips(prober, case)
    seen = [*(option for option in options.values() if isinstance(option, Option)), *more.options, *prober.alike()]
    next_best = better(asked, decision.chosen, seen)
    quicker = _faster(case, decision)
    beside = _beside(named, [*more.options[:1], *([next_best] if next_best else [])], roads)
    return Recommendation(
        need=case.need,
        have=have,
        have_words=have_words,
        verdict=verdict,
        second_gpu=_second(case, decision, more) if have else None,
        roads=roads,
        conditions=_conditions(case, decision, more, options),
        flips=turns,
        settings=settings(desk, decision.chosen, decision.keep if isinstance(decision.keep, Option) else None, quicker),
        ladder=None,
        assumptions=assumptions(case, decision, full),
        warnings=warnings(verdict, full),
        catalog_version=catalog.version,
        overlays=catalog.overlays,
        prices_as_of=_price_dates(roads, decision) or catalog.prices_as_of,
        passed_over=tuple(road(case, option.kind, option, decision.chosen) for option in beside),
        remarks=remarks(asked, verdict, decision.chosen, next_best, seen, quicker),
    )


def _beside(named: list[Option], others: list[Option], roads: tuple[Road, ...]) -> list[Option]:
    """The systems that the buyer named, and the others that no road shows."""
    shown = {id(each.estimate) for each in roads}
    return [*named, *{id(each.estimate): each for each in others if id(each.estimate) not in shown}.values()]


def _with_more_money(prober: Prober) -> Option | None:
    """What would meet the need if only the budget were larger."""
    need = prober.case.need
    return prober.at(replace(need, budget_usd=None)).chosen if prober.today.chosen is None and need.budget_usd is not None else None


def _unasked(prober: Prober, whole: Case) -> Option | None:
    """What would do, of all systems, where nothing does of those that the buyer named or considers."""
    need = prober.case.need
    if prober.today.chosen is not None:
        return None
    if whole.offers is not prober.case.offers:
        return decide(replace(whole, lean=True)).chosen
    return prober.at(replace(need, consider=())).chosen if need.consider else None


def _between(case: Case, among: tuple[System, ...]) -> Case:
    """The case with only the systems that the buyer named, where some were."""
    return case.between(_offers_of(case, among)) if among else case


def _price_dates(roads: Iterable[Road], decision: Decision) -> str:
    """The dates of the prices of what is bought; of every road where nothing is."""
    chosen = decision.chosen
    if chosen is not None and chosen.cost.spend_usd:
        return price_dates(chosen.cost.bought)
    return price_dates(line for road_ in roads if road_.cost for line in road_.cost.bought)


def _over_ladder(answer: Recommendation, facts: dict[str, Fact], steps: tuple[Step, ...], between: bool) -> Recommendation:
    """No model named: the answer of the rung at which the question turns, with all rungs beside it."""
    verdict = replace(answer.verdict, answer=ladder_answer(answer.verdict, facts, between))
    assumed = (Reason("assumed.ladder", facts), *answer.assumptions)
    return replace(
        answer,
        need=replace(answer.need, model=None),
        verdict=verdict,
        flips=(),
        ladder=tuple(step.rung for step in steps),
        assumptions=assumed,
    )


def _offers_of(case: Case, among: Iterable[System]) -> Iterator[Offer]:
    """The systems that the buyer named, as offers."""
    shelf, have = Shelf(case.desk), case.desk.have
    for system in among:
        if have is not None and _is_owned(system, have):
            continue  # that is what `keep` and its settings stand for
        groups = _owned_of(system)
        device, memory_bytes, _ = groups[0]
        if goes_in_slot(device) and len(system.boxes) == 1:
            bridged = system.link_stated and system.shown_link is not None and system.shown_link.kind == "nvlink"
            words = spec(system if system.link_stated else replace(system, boxes=(replace(system.boxes[0], link=None),)))
            offer = shelf.card_offer(card_kind(system.count, bridged), words, groups, _to_buy(groups, have))
        else:
            kind = network_kind(system.link) if system.link else "unified-memory-machine"
            owned = sum(group.count for group in have.groups if group.device.id == device.id) if have else 0
            offer = shelf.box_offer(kind, spec(system), device, memory_bytes, system.count, min(owned, system.count))
        if offer:
            yield offer


def _is_owned(system: System, have: System) -> bool:
    """Whether nothing of it is to buy: what is owned, or some of its cards, without a link that was named."""
    if system.link_stated or len(system.boxes) != len(have.boxes):
        return False
    return system.groups == have.groups or (len(have.boxes) == 1 and not any(count for *_, count in _to_buy(_owned_of(system), have)))


def _owned_of(system: System) -> list[Owned]:
    return [(group.device, group.memory_bytes, group.count) for group in system.groups]


def _to_buy(groups: Iterable[Owned], have: System | None) -> list[Owned]:
    """The groups less what is owned."""
    owned = {(group.device.id, group.memory_bytes): group.count for group in have.groups} if have else {}
    return [(device, memory, max(0, count - owned.get((device.id, memory), 0))) for device, memory, count in groups]


def _options(case: Case, decision: Decision, more: OneMore) -> dict[str, Option | Reason | None]:
    """Each kind with its best option; the chosen one stands for its kind."""
    options: dict[str, Option | Reason | None] = {}
    if decision.keep is not None:
        options["keep"] = decision.keep
        options["change-settings"] = decision.changes[0] if decision.changes else None
    for kind in MARKET_KINDS:
        options[kind] = _of_kind(case, kind, decision, more)
    for kind in OTHER_KINDS:
        options[kind] = seen_of_kind((*more.options, *decision.seen), kind, case.need)
    if decision.chosen is not None:
        options[decision.kind] = decision.chosen
    return options


def _of_kind(case: Case, kind: str, decision: Decision, more: OneMore) -> Option | Reason | None:
    """One more of what is owned where that is of the kind and does it, else the best of the market."""
    own = next((option for option in more.options if option.kind == kind), None)
    if own is not None and meets(own, case.need):
        return own
    slotless = no_slot(case) if kind == "second-gpu" else None
    if slotless:
        return slotless
    market = best_of_road(_improving(case, decision), kind) if decision.kind in ("keep", "change-settings") else None
    if market is None or not meets(market, case.need):
        market = best_of_road(case, kind)
    return own if own is not None and not (market and meets(market, case.need)) else market


def _improving(case: Case, decision: Decision) -> Case:
    """The case of a buyer who wants more speed than what is owned gives: what a road would bring."""
    assert decision.chosen is not None
    return faster(case, per_user(decision.chosen.estimate))


def _named(case: Case) -> list[Option]:
    """The systems that the buyer named, each at its best."""
    found = (best_of_road(case.between([offer]), offer.kind) for offer in case.offers.every)
    return [option for option in found if option]


def _faster(case: Case, decision: Decision) -> Option | None:
    """Of what is owned and does it, the setting that is clearly faster."""
    chosen, keep = decision.chosen, decision.keep
    if chosen is None or keep is None or chosen.kind not in TIE_ORDER:
        return None
    return clearly_faster(case, chosen, decision.changes)


def _second(case: Case, decision: Decision, more: OneMore) -> SecondGpu:
    owned = [option for option in (decision.keep, *decision.changes) if isinstance(option, Option)]
    best = min(owned, key=lambda option: (not fast_enough(option.estimate, case.need), -per_user(option.estimate)), default=None)
    if decision.chosen is not None and decision.kind in ("keep", "change-settings"):
        best = decision.chosen
    keep = decision.keep
    assert keep is not None
    return second_gpu(case, keep, best, more)


def _conditions(case: Case, decision: Decision, more: OneMore, options: dict[str, Option | Reason | None]) -> dict[str, Condition]:
    """Judged for what is chosen where it has several devices, else for one more of what is owned, else for the first road that has."""
    boxes = case.desk.have is not None and case.desk.have.groups[0].device.is_box
    beside = sorted(more.options, key=lambda option: -score(option.estimate)) if boxes else more.options  # whatever joins them best
    candidates = [decision.chosen, *beside, *(options.get(kind) for kind in ("second-gpu", "nvlink-pair", "rdma-cluster"))]
    several = [option for option in candidates if isinstance(option, Option) and option.estimate.system.count > 1]
    if not several:
        return {}
    first = several[0].estimate
    return conditions(case.desk, replace(case.work, kv_quant=first.kv_quant), first.system)
