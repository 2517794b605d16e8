"""What is owned: at its usual setting, and every other setting that costs nothing."""

from collections.abc import Iterable, Iterator

from advisor.advice.bounds import bounds_of
from advisor.advice.desk import CONTEXT_STEP_TOKENS, NONE_HOPELESS, Desk, Work
from advisor.advice.holds import able_ways, holds_of, left_open
from advisor.advice.judge import Case, Option, assured, best_way, enough, fast_enough, faster, gains, lies, per_user
from advisor.advice.offers import MOST_KEPT, Offer, Shelf, name_of, owned_cards, terms_key
from advisor.errors import AdvisorError
from advisor.market import Cost, with_tokens
from advisor.need import Need
from advisor.reason import Fact, Reason
from advisor.record import replace
from advisor.speed import Estimate
from advisor.system import Box, System


def keep(case: Case) -> Option | Reason:
    """What is owned at its engine's usual setting, or why that does not run."""
    desk = case.desk
    assert desk.have is not None
    usual = desk.usual(desk.have, case.work)
    if isinstance(usual, AdvisorError):
        return Reason("keep.unsupported", {"why": usual.message})
    return Option("keep", usual, _free(desk, usual))


def _free(desk: Desk, estimate: Estimate) -> Cost:
    """The bill of what is owned: nothing to buy, only electricity."""
    assert desk.have is not None
    cost = desk.cost(desk.have)
    lines = tuple(replace(line, owned=True) for line in cost.lines)
    free = replace(cost, lines=lines, spend_usd=0.0, resale_usd=0.0, upgrades=(), rental_even_hours_per_day=None)
    speed = estimate.sustained or estimate.decode
    return with_tokens(free, speed.value if speed else None, desk.terms)


def keep_meets(option: Option | Reason, need: Need) -> bool:
    """Whether what is owned does it as it is; a raised memory limit is a changed setting."""
    return isinstance(option, Option) and fast_enough(option.estimate, need) and not option.estimate.fit.raise_limit


def open_system(have: System) -> System:
    """What is owned, with engine and strategy left to the tool."""
    boxes = tuple(replace(box, strategy=None) for box in have.boxes)
    return replace(have, boxes=boxes, strategy=None, engine=None, backend=None)


def _single(have: System) -> Iterator[System]:
    """Each of several owned devices alone."""
    if have.count > 1:
        for box in have.boxes:
            for group in box.groups:
                alone: Box = replace(box, groups=(replace(group, count=1),), link=None, strategy=None)
                yield System((alone,), storage=have.storage, ram_bytes=have.ram_bytes)


def _same(one: Estimate, other: Option | Reason) -> bool:
    """Whether a way is the usual one."""
    if isinstance(other, Reason):
        return False
    usual = other.estimate
    return not usual.fit.raise_limit and _way(one) == _way(usual)


def _way(estimate: Estimate) -> tuple[object, ...]:
    placement = estimate.placement
    return placement.strategy, placement.engine, placement.backend, estimate.system.count, _dealt(estimate)


def _dealt(estimate: Estimate) -> tuple[int, ...]:
    """Layers of each device where they are dealt otherwise than the engine does by itself."""
    placement = estimate.placement
    return tuple(part.layers for part in placement.parts) if placement.strategy == "layers" else ()


def _steps(case: Case, usual_bytes: float | None) -> Iterator[tuple[Work, str | None, Fact]]:
    """Works from the one asked to ones that give something up, where that was left to the tool."""
    work, need = case.work, case.need
    yield work, None, None
    if need.kv_quant is None:
        for kv_quant in (*case.desk.eight_bit_caches, *case.desk.catalog.hints.last_caches):
            yield replace(work, kv_quant=kv_quant), "kv_quant", kv_quant
    least = work.workload.prompt_tokens + work.workload.generate_tokens
    shorter = -(-least // CONTEXT_STEP_TOKENS) * CONTEXT_STEP_TOKENS
    if not need.context_stated and shorter < work.workload.context_tokens:
        yield replace(work, workload=replace(work.workload, context_tokens=shorter)), "context_tokens", shorter
    if need.quant is None:
        for rung in case.desk.catalog.hints.lower_quants:
            lower = replace(work, quant=rung.quant)
            if usual_bytes is None or case.desk.bytes(lower)[0].total_bytes < usual_bytes:
                yield lower, "quant", rung.quant


def _changes(way: Estimate, usual: Option | Reason, what: str | None, value: Fact) -> tuple[Reason, ...]:
    """What is set differently from the usual way."""
    found = []
    before = usual.estimate if isinstance(usual, Option) else None
    if what == "quant":
        found.append(lesser_weights(way, before))
    elif what:
        found.append(Reason(f"change.{what.replace('_', '-')}", {what: value}))
    strategy, engine = way.placement.strategy, way.placement.engine
    if before is None or strategy != before.placement.strategy:
        found.append(Reason(f"change.{strategy}", {"engine": engine, "devices": way.system.count}))
    elif _dealt(way) != _dealt(before):
        found.append(Reason("change.layers-dealt", {"counts": ", ".join(map(str, _dealt(way)))}))
    if before is not None and engine != before.placement.engine:
        found.append(Reason("change.engine", {"engine": engine, "from": before.placement.engine}))
    if way.fit.raise_limit:
        found.append(Reason("change.raise-limit", {}))
    return tuple(found)


def lesser_weights(way: Estimate, before: Estimate | None) -> Reason:
    """Smaller weights (a width is told as what the engine takes for it), their bits, and what a published test says they lose."""
    quant = way.quant
    facts: dict[str, Fact] = {"quant": quant.id, "bits": way.weights.bits_per_weight}
    if before is None or before.quant is quant:
        return Reason("change.quant", facts)
    facts |= {"usual": before.quant.id, "usual_bits": before.weights.bits_per_weight}
    rise, usual_rise = quant.perplexity_rise_share, before.quant.perplexity_rise_share
    if rise is None or usual_rise is None:
        return Reason("change.quant-from", facts)
    facts |= {"perplexity_rise_share": rise, "usual_rise_share": usual_rise}
    sources = tuple(source.url for source in quant.sources if "perplexity_rise_share" in source.fields and source.url)
    return Reason("change.quant-loss", facts, sources)


def _as_offer(desk: Desk) -> Offer:
    """What is owned as an offer, for its bounds; kept with the catalog for the next question on the same terms."""
    return desk.catalog.once("owned-offers", MOST_KEPT, terms_key(desk), lambda: _offered(desk))


def _offered(desk: Desk) -> Offer:
    owned, shelf = owned_cards(desk.have), Shelf(desk)
    assert desk.have is not None
    words = open_system(desk.have).words  # they name the link
    return shelf.card_offer("keep", words, owned, ()) or shelf.box_offer("keep", words, *owned[0], owned[0][2])


def _may_do(mine: Offer, desk: Desk, work: Work, need: Need, generously: bool = True) -> bool:
    """Whether the memory's speed allows what is owned to reach the wanted speed at all; generously where what comes near is shown."""
    bounds = bounds_of(desk, work)
    return any(bounds.may_reach(each, need.min_tokens_per_s, generously) for each in (mine, *_alone(desk)))


def _each_measured(desk: Desk) -> bool:
    """Whether something is saved of several that are owned: perhaps of one of them, of which the bound of all tells nothing."""
    have = desk.have
    return have is not None and have.count > 1 and any(group.device.id in desk.measured for group in have.groups)


def _alone(desk: Desk) -> Iterator[Offer]:
    """Each of several that are owned as an offer, where its bound may be above that of all."""
    if _each_measured(desk):
        shelf = Shelf(desk)
        for device, memory_bytes, _ in owned_cards(desk.have):
            one, words = (device, memory_bytes, 1), name_of(device, memory_bytes)
            yield shelf.card_offer("keep", words, [one], ()) or shelf.box_offer("keep", words, *one, 1)


def _ways(case: Case, system: System, work: Work, mine: Offer) -> tuple[Estimate, ...]:
    """The ways to run a work on what is owned, or on one device of it; where the case is lean any of the too slow may be missing."""
    if not case.lean:
        return case.desk.ways(system, work)
    whole = len(system.boxes) == 1 and system.count == mine.count  # of several boxes each may be split inside: no bound knows
    hopeless = bounds_of(case.desk, work).hopeless(mine, case.need.min_tokens_per_s) if whole else NONE_HOPELESS
    return able_ways(case.desk, system, work, hopeless=hopeless)


def _open(case: Case, ways: tuple[Estimate, ...], system: System, what: str | None) -> tuple[Estimate, ...]:
    """The ways with what is given up there: a smaller cache brings in no other engine."""
    return left_open(ways, system, holds_of(case.desk, case.work, eight_bit=True)) if what == "kv_quant" else ways


def _bounded(case: Case) -> bool:
    """Whether the bound of what is owned holds for one device of it, too: where all are alike."""
    have = case.desk.have
    return case.lean and have is not None and (have.count == 1 or (len(have.groups) == 1 and not _each_measured(case.desk)))


def change(case: Case, usual: Option | Reason, need_only: bool = False) -> tuple[Option, ...]:
    """Other settings of what is owned, the best first: the first kind of change that meets the need ends the search."""
    desk = case.desk
    assert desk.have is not None
    systems = [open_system(desk.have), *_single(desk.have)]
    tried: list[Option] = []
    full: Estimate | None = None  # the best with nothing given up
    mine, bounded = _as_offer(desk), _bounded(case)
    for work, what, value in _steps(case, usual.estimate.weights.total_bytes if isinstance(usual, Option) else None):
        if value not in desk.eight_bit_caches and any(fast_enough(option.estimate, case.need) for option in tried):
            break
        if (what or need_only or bounded) and not _may_do(mine, desk, work, case.need, not case.lean):
            continue
        found = (_open(case, _ways(case, system, work, mine), system, what) for system in systems)
        ways = [way for each in found for way in each if what or not _same(way, usual)]
        best = best_way(ways, case.need)
        full = full if what else best
        if best is not None and not (what and full and fast_enough(full, case.need) and not _worth(best, full, case)):
            tried.append(Option("change-settings", best, _free(desk, best), _changes(best, usual, what, value), tuple(ways)))
        if need_only or (full and enough(full, case.need)):
            break
    return tuple(sorted(tried, key=lambda option: (not fast_enough(option.estimate, case.need), -per_user(option.estimate))))


def _worth(lesser: Estimate, full: Estimate, case: Case) -> bool:
    """Whether a setting that gives something up is worth it where the full one is fast enough."""
    clearly = case.desk.choice("clearly-faster-factor") * per_user(full)
    return gains(lesser, full, case.need) or (not lies(full) and per_user(lesser) >= clearly)


def _surely_enough(way: Estimate, need: Need) -> bool:
    """Whether it is fast enough, also if an engine that the owner did not measure falls as short as the one that was."""
    return fast_enough(way, need) and assured(way) >= need.min_tokens_per_s


def clearly_faster(case: Case, chosen: Option, changes: Iterable[Option]) -> Option | None:
    """What is owned at a setting that is clearly faster than the chosen one of it: of those tried for what they give up nothing, else,
    where the chosen one spills, with a shorter context or smaller weights. None where nothing is.
    """
    desk = case.desk
    wanted = faster(case, desk.choice("clearly-faster-factor") * per_user(chosen.estimate))
    found = [each for each in changes if _surely_enough(each.estimate, wanted.need)]
    if found or lies(chosen.estimate):
        return max(found, key=lambda option: per_user(option.estimate), default=None)
    mine, have = _as_offer(desk), desk.have
    assert have is not None
    last = [rung.quant for rung in desk.catalog.hints.lower_quants if rung.last]
    for work, what, value in _steps(case, chosen.estimate.weights.total_bytes):
        if what is None or value in last or not _may_do(mine, desk, work, wanted.need):
            continue
        systems = (open_system(have), *_single(have))
        ways = [way for system in systems for way in _open(case, desk.ways(system, work), system, what)]
        best = best_way(ways, wanted.need)
        if best is not None and _surely_enough(best, wanted.need):
            return Option("change-settings", best, _free(desk, best), _changes(best, chosen, what, value), tuple(ways))
    return None
