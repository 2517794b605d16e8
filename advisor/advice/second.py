"""Should I buy a second one? One answer with its numbers."""

from advisor.advice import SecondGpu
from advisor.advice.evaluate import evaluate
from advisor.advice.judge import Case, Option, affordable, fast_enough, meets, per_user, rank, score, shortfalls, unpriced
from advisor.advice.naming import articled
from advisor.advice.offers import Offer, Shelf, beside_machine, bridge_of, card_kind, goes_in_slot, machines, owned_cards, times
from advisor.memory import all_needed_bytes, all_usable_bytes
from advisor.reason import Fact, Reason
from advisor.record import dataclass

COUNTED = {2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth"}


@dataclass(frozen=True, eq=False)
class OneMore:
    """What one more of the same makes of it: every option, best first."""

    options: tuple[Option, ...]
    none: Reason | None = None


def one_more(case: Case) -> OneMore:
    """What is owned with one more of the same, over PCIe, bridged, joined by its network, or side by side."""
    owned = owned_cards(case.desk.have)
    device, memory_bytes, count = owned[0]
    shelf = Shelf(case.desk)
    offers: list[Offer | None] = []
    if all(goes_in_slot(card) for card, *_ in owned):
        groups = [(device, memory_bytes, count + 1), *owned[1:]]
        words, bought = " + ".join(times(number, card.id) for card, _, number in groups), [(device, memory_bytes, 1)]
        kind = card_kind(sum(number for *_, number in groups), False)
        offers.append(shelf.card_offer(kind, words, groups, bought))
        bridge = bridge_of(device, case.desk)
        if bridge and kind == "second-gpu" and len(groups) == 1:
            offers.append(shelf.card_offer("nvlink-pair", f"{words} via {bridge.id}", groups, bought))
    elif device.is_box and len(owned) == 1:
        offers += [offer for offer in machines(shelf, device, memory_bytes, count) if offer.count == count + 1]
        offers += [offer for size in device.memory_options_bytes for offer in beside_machine(shelf, device, size)]
    else:
        return OneMore((), Reason("impossible.no-slot", {"name": device.name}))
    options = [option for offer in offers if offer for option in evaluate(case, offer)]
    options.sort(key=lambda option: (not fast_enough(option.estimate, case.need), *rank(option, case.need)))
    return OneMore(tuple(options), None if options else Reason("second.cannot", {"name": device.name}))


def second_gpu(case: Case, keep: Option | Reason, best_owned: Option | None, more: OneMore) -> SecondGpu:
    """The answer: yes for speed, capacity or users where the need is met with one more and not without; else no."""
    if not more.options:
        return SecondGpu("no", more.none or Reason("second.cannot", {"name": ""}), ())
    fastest = max(more.options, key=lambda option: score(option.estimate))
    facts = _facts(case, best_owned, fastest)
    if best_owned is not None and fast_enough(best_owned.estimate, case.need):
        return _already_met(case, best_owned, fastest, facts)
    enough = next((option for option in more.options if meets(option, case.need)), None)
    if enough is None:
        return _not_enough(case, fastest, facts)
    answer = f"yes-for-{_purpose(keep, case)}"
    facts = _facts(case, best_owned, enough)
    return SecondGpu(answer, _said(answer, facts), (*_missing(keep, case), *_setting(enough)))


def _facts(case: Case, owned: Option | None, more: Option) -> dict[str, Fact]:
    """The two speeds, their ratio, how many there would be, and the price with what it is made of."""
    before = score(owned.estimate) if owned else 0.0
    after = score(more.estimate)
    devices = more.estimate.fit.devices
    count = sum(number for *_, number in owned_cards(case.desk.have)) + 1
    device, ordinal = more.estimate.system.groups[0].device, COUNTED.get(count, f"{count}th")
    priced = more.cost.spend_usd is not None  # no part of a sum that nobody knows
    beside = [line for line in more.cost.lines if priced and not line.owned and line.what not in case.desk.catalog.devices]
    sized = next((line.name for line in more.cost.lines if not line.owned and line.what == device.id), device.name)
    return {
        "one_tokens_per_s": before,
        "two_tokens_per_s": after,
        "one_per_user_tokens_per_s": per_user(owned.estimate) if owned else 0.0,
        "two_per_user_tokens_per_s": per_user(more.estimate),
        "speed_factor": after / before if before else None,
        "spend_usd": more.cost.spend_usd,
        "beside": ", ".join(line.name for line in beside),
        "parts": " and ".join(articled(line.name, line.count) for line in beside),
        "beside_usd": sum((line.usd or 0.0) * line.count for line in beside),
        "count": count,
        "ordinal": ordinal,
        "one_more": f"{ordinal} {sized}",
        "users": more.estimate.workload.users,
        "strategy": more.estimate.placement.strategy,
        "engine": more.estimate.placement.engine,
        "usable_bytes": all_usable_bytes(devices),
        "needed_bytes": all_needed_bytes(devices),
    }


def _said(code: str, facts: dict[str, Fact]) -> Reason:
    """The sentence; another where more than the device itself is in the price."""
    return Reason(f"second.{code}{'-beside' if facts['beside'] else ''}", facts)


def _already_met(case: Case, owned: Option, fastest: Option, facts: dict[str, Fact]) -> SecondGpu:
    """What is there is enough; a buyer who wants the fastest may still gain."""
    before, after = score(owned.estimate), score(fastest.estimate)
    worth = case.desk.choice("worth-factor")  # what makes it less faster than this is not bought for speed
    facts |= {"floor_tokens_per_s": case.need.min_tokens_per_s}
    if case.need.prefer == "fastest" and affordable(fastest.cost, case.need) and after >= worth * before:
        return SecondGpu("yes-for-speed", _said("yes-for-speed", facts), _setting(fastest))
    code = "no-slower" if after < before else "no-gain" if after < worth * before else "no-need"
    return SecondGpu("no", _said(code, facts), (*owned.changes, *fastest.cost.upgrades))


def _not_enough(case: Case, fastest: Option, facts: dict[str, Fact]) -> SecondGpu:
    """Even with one more the need is not met, or it costs too much: said by the first thing that is missing."""
    estimate, need = fastest.estimate, case.need
    facts |= {"host_bytes": estimate.fit.host_needed_bytes, "floor_tokens_per_s": need.min_tokens_per_s, "budget_usd": need.budget_usd}
    if not estimate.fit.fits:
        held = estimate.fit.disk_bytes or estimate.placement.strategy == "offload"
        code = "not-held" if held else "not-enough"
    elif per_user(estimate) < need.min_tokens_per_s:
        code = "spills" if estimate.placement.strategy == "offload" else "too-slow"
    elif not fast_enough(estimate, need):
        code = "too-late"
    elif fastest.cost.spend_usd is None:
        facts |= {"unpriced": unpriced(fastest.cost), "beside": ""}
        code = "not-new" if need.new_only else "unpriced"
    else:
        code = "too-dear"
    return SecondGpu("no", _said(f"no-{code}", facts), (*shortfalls(fastest, need), *fastest.changes, *fastest.cost.upgrades))


def _purpose(keep: Option | Reason, case: Case) -> str:
    """What the second one is for: memory that one lacks, users that one cannot serve, or speed."""
    users = case.work.workload.users or 1
    if isinstance(keep, Reason):
        return "capacity"
    if keep.estimate.fit.fits:
        return "users" if users > 1 else "speed"
    return "users" if users > 1 and keep.estimate.fit.max_users >= 1 else "capacity"


def _missing(keep: Option | Reason, case: Case) -> tuple[Reason, ...]:
    return shortfalls(keep, case.need) if isinstance(keep, Option) else (keep,)


def _setting(option: Option) -> tuple[Reason, ...]:
    """The software setting that the second one needs."""
    placement = option.estimate.placement
    facts: dict[str, Fact] = {"strategy": placement.strategy, "engine": placement.engine, "devices": option.estimate.system.count}
    return (Reason("second.setting", facts), *option.changes, *option.cost.upgrades)
