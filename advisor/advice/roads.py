"""The roads: each kind of answer with its best candidate, and why it was chosen, passed over, or is impossible."""

from collections.abc import Collection, Iterable

from advisor.advice import ALWAYS_SHOWN, CHOSEN, IMPOSSIBLE, PASSED_OVER, SHOWN_WHEN_OWNED, Road
from advisor.advice.evaluate import evaluate
from advisor.advice.judge import (
    Case,
    Option,
    allowed,
    counted_usd,
    fast_enough,
    meets,
    per_user,
    rank,
    shortfalls,
    without_budget,
)
from advisor.advice.offers import Offer, bridge_of, goes_in_slot, owned_cards
from advisor.advice.search import search
from advisor.memory import all_needed_bytes, all_usable_bytes
from advisor.need import Need
from advisor.reason import Fact, Reason
from advisor.record import replace
from advisor.speed import Estimate

MARKET_KINDS = ("one-bigger-gpu", "second-gpu", "nvlink-pair", "unified-memory-machine", "rdma-cluster")  # always looked for
OTHER_KINDS = ("replicas", "network-cluster", "multi-gpu-server")  # shown where the search for the verdict came across them
MOST_TRIED = 6  # offers that are estimated to show the nearest miss of a road


def best_of_road(case: Case, kind: str) -> Option | None:
    """The road's best candidate: the best that meets the need, else the best without the budget, else the nearest miss."""
    case = replace(case, lean=True, counts_tokens_per_s=0.0)
    found = search(case, kind)
    if found and meets(found[0], case.need):
        return found[0]
    if case.need.budget_usd is not None:
        free = search(without_budget(case), kind)
        if free and fast_enough(free[0].estimate, case.need):
            return free[0]
        found += free
    return nearest(found + nearest_misses(case, kind), case.need)


def nearest_misses(case: Case, kind: str) -> list[Option]:
    """The offers of a road that come nearest, estimated in the order of what their bounds promise while one may come nearer still."""
    if kind == "replicas" and case.work.workload.users == 1:
        return []  # one user gains nothing from copies
    of_kind = [offer for offer in case.offers.of_kind(kind) if offer.least_usd is not None or case.bound(offer).holds]
    promised = sorted(((_promise(offer, case), index) for index, offer in enumerate(of_kind)))[:MOST_TRIED]
    found: list[Option] = []
    for promise, index in promised:
        if found and promise > min(miss(option, case.need) for option in found):
            break
        found += [option for option in evaluate(case, of_kind[index]) if option.kind == kind]
    if found or not case.lean:
        return found
    return nearest_misses(replace(case, lean=False), kind)  # none fits: what is short of memory by the least


def _promise(offer: Offer, case: Case) -> tuple[float, ...]:
    """How near an offer may come at best; what the old parts bring is not known yet. Of those that cannot fit the largest first."""
    need, most, usd = case.need, case.bound(offer).tokens_per_s, offer.least_usd
    reached = min(1.0, most / need.min_tokens_per_s) if most and need.min_tokens_per_s else 1.0
    near = _missed(most > 0, reached, 0.0 if need.sell_old and usd else usd, need)
    return near if most else (*near[:3], -offer.memory_bytes)


def miss(option: Option, need: Need) -> tuple[float, ...]:
    """How far an option is from the need: fit, price known, memory or speed and first token missed, and money."""
    estimate = option.estimate
    first = estimate.first_token_s
    reached = min(1.0, per_user(estimate) / need.min_tokens_per_s) if need.min_tokens_per_s else 1.0
    late = min(1.0, need.max_first_token_s / first.value) if first and need.max_first_token_s is not None else 1.0
    fits = estimate.fit.fits
    return _missed(fits, reached * late if fits else _held_share(estimate), counted_usd(option.cost, need), need)


def _held_share(estimate: Estimate) -> float:
    """How much of what must lie in memory does, on the fullest device or in the host."""
    fit = estimate.fit
    places = [(each.usable_bytes, each.needed_bytes) for each in fit.devices]
    places += [(fit.host_usable_bytes, fit.host_needed_bytes)] if fit.host_usable_bytes is not None else []
    places.append((estimate.weights.total_bytes - fit.disk_bytes, estimate.weights.total_bytes))
    return min(usable / needed for usable, needed in places if needed)


def _missed(fits: bool, reached: float, usd: float | None, need: Need) -> tuple[float, ...]:
    dear = 1.0 if usd is None or need.budget_usd is None or usd <= need.budget_usd else need.budget_usd / usd
    return (not fits, usd is None, -reached * dear, usd or 0.0)


def nearest(options: Collection[Option], need: Need) -> Option | None:
    """The best option that meets the need, else the one that misses it least."""
    able = [option for option in options if meets(option, need)]
    if able:
        return min(able, key=lambda option: rank(option, need))
    return min(options, key=lambda option: miss(option, need), default=None)


def seen_of_kind(seen: Iterable[Option], kind: str, need: Need) -> Option | None:
    """The best of a kind among what was estimated on the way to the verdict."""
    return nearest([option for option in seen if option.kind == kind], need)


def road(case: Case, kind: str, option: Option | Reason | None, chosen: Option | None) -> Road:
    """The road as it is shown."""
    if not isinstance(option, Option):
        because = (option,) if option else impossible(case, kind)
        return Road(kind, IMPOSSIBLE, None, None, None, None, None, because)
    status = CHOSEN if option is chosen else PASSED_OVER
    if status == PASSED_OVER and not option.estimate.fit.fits:
        status = IMPOSSIBLE
    because = why_chosen(option, case) if option is chosen else why_not(option, chosen, case)
    cost = option.cost
    return Road(kind, status, option.estimate.system, option.estimate, cost, cost.spend_usd, cost.resale_usd, because)


def why_chosen(option: Option, case: Case) -> tuple[Reason, ...]:
    """Why an option won: it fits, it is fast enough, it is the cheapest."""
    estimate, need = option.estimate, case.need
    devices = estimate.fit.devices
    needed, usable = all_needed_bytes(devices), all_usable_bytes(devices)
    weights = sum(each.count * each.weights_bytes for each in devices)
    cache = sum(each.count * each.cache_bytes for each in devices)
    facts: dict[str, Fact] = {"needed_bytes": needed, "usable_bytes": usable, "weights_bytes": weights, "cache_bytes": cache}
    facts |= {"other_bytes": needed - weights - cache, "context_tokens": estimate.workload.context_tokens}
    found = [Reason("won.fits", facts), _won_speed(option, need), *limits(option)]
    if option.kind == "keep":
        found.append(Reason("won.keep", {}))
    elif option.kind == "change-settings":
        found += [*option.changes, Reason("won.change", {})]
    else:
        rule = "won.fastest" if need.prefer == "fastest" else "won.cheapest"
        found += [*option.changes, Reason(rule, {"spend_usd": option.cost.spend_usd, "systems": len(case.offers.every)})]
    return (*found, *option.cost.upgrades)


def _won_speed(option: Option, need: Need) -> Reason:
    speed = option.estimate.decode_per_user
    facts: dict[str, Fact] = {"per_user_tokens_per_s": per_user(option.estimate), "floor_tokens_per_s": need.min_tokens_per_s}
    if speed:
        facts |= {"low_tokens_per_s": speed.low, "high_tokens_per_s": speed.high}
    doubtful = speed is not None and speed.low < need.min_tokens_per_s < speed.high
    return Reason("won.speed-likely" if doubtful else "won.speed", facts)


def limits(option: Option) -> tuple[Reason, ...]:
    """What the estimator says limits the speed."""
    return tuple(reason for reason in option.estimate.reasons if reason.code.startswith(("decode.", "link.", "bottleneck.")))


def why_not(option: Option, chosen: Option | None, case: Case) -> tuple[Reason, ...]:
    """Why an option was passed over: how it misses the need, else what the chosen one does better."""
    need = case.need
    missed = shortfalls(option, need)
    if option.kind == "keep" and option.estimate.fit.raise_limit and not missed:
        return (Reason("keep.raise-limit", {}),)
    if missed:
        return (*missed, *(() if option.kind == "change-settings" else option.changes), *option.cost.upgrades)
    found: list[Reason] = []
    if not allowed(option.kind, need):
        found.append(Reason("lost.not-considered", {}))
    if chosen is not None:
        found.append(_lost_to(option, chosen, need))
    elif not found:
        found.append(Reason("lost.not-named", {"per_user_tokens_per_s": per_user(option.estimate), "spend_usd": option.cost.spend_usd}))
    return (*found, *option.changes, *option.cost.upgrades)


def _lost_to(option: Option, chosen: Option, need: Need) -> Reason:
    """The one sentence that compares an option that would do with the chosen one."""
    mine, theirs = per_user(option.estimate), per_user(chosen.estimate)
    spend, least = counted_usd(option.cost, need), counted_usd(chosen.cost, need)
    facts: dict[str, Fact] = {"per_user_tokens_per_s": mine, "chosen_tokens_per_s": theirs}
    facts["speed_factor"] = mine / theirs if theirs else None
    if spend is not None and least is not None:
        facts |= {"spend_usd": spend, "more_usd": spend - least}
    if need.prefer == "fastest":
        return Reason("lost.slower", facts)
    if option.kind == "change-settings":
        return Reason("lost.setting-idle", facts)
    if chosen.kind in ("keep", "change-settings"):
        return Reason(f"lost.to-{chosen.kind}", facts)
    more = (spend or 0.0) - (least or 0.0)
    if more < 0:
        return Reason("lost.not-asked", {**facts, "less_usd": -more})
    return Reason("lost.dearer" if more > 0 else "lost.tie", facts)


def no_slot(case: Case) -> Reason | None:
    """Why a second card cannot go beside what is owned, where it has no slot for one."""
    devices = [device for device, *_ in owned_cards(case.desk.have)]
    without = next((device for device in devices if not goes_in_slot(device)), None)
    return Reason("impossible.no-slot", {"name": without.name}) if without else None


def impossible(case: Case, kind: str) -> tuple[Reason, ...]:
    """Why a road has no candidate at all."""
    desk = case.desk
    cards = [device for device, *_ in owned_cards(desk.have)]
    if kind == "nvlink-pair" and cards and not any(bridge_of(device, desk) for device in cards):
        return (Reason("impossible.no-nvlink", {"name": cards[0].name}), Reason("impossible.none-fits", {"kind": kind}))
    networks = [desk.catalog.link(link) for device in cards for link in device.network]
    if kind == "rdma-cluster" and cards and not any(link.transport == "rdma" for link in networks):
        return (Reason("impossible.no-rdma", {"name": cards[0].name}), Reason("impossible.none-fits", {"kind": kind}))
    if kind == "change-settings":
        return (Reason("impossible.no-setting", {}),)
    return (Reason("impossible.none-fits", {"kind": kind}),)


def shown_roads(case: Case, options: dict[str, Option | Reason | None], chosen: Option | None) -> tuple[Road, ...]:
    """The roads in their order: what is owned first, then the three that are always weighed, then what else was found."""
    always = (*SHOWN_WHEN_OWNED, *ALWAYS_SHOWN) if case.desk.have else ALWAYS_SHOWN
    found = [road(case, kind, options.get(kind), chosen) for kind in always]
    others = [road(case, kind, options[kind], chosen) for kind in options if kind not in always and isinstance(options[kind], Option)]
    return (*found, *others)
