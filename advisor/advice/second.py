"""Should I buy a second one? One answer with its numbers."""

from advisor.advice import SecondGpu
from advisor.advice.judge import Case, Option, affordable, evaluate, fast_enough, meets, per_user, rank, score, shortfalls
from advisor.advice.offers import Offer, Shelf, bridge_of, card_kind, goes_in_slot, machines, owned_cards, times
from advisor.reason import Fact, Reason
from advisor.record import dataclass

WORTH_FACTOR = 1.15  # a second one that makes it less faster than this is not bought for speed


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
    facts = _facts(best_owned, fastest)
    if best_owned is not None and fast_enough(best_owned.estimate, case.need):
        return _already_met(case, best_owned, fastest, facts)
    enough = next((option for option in more.options if meets(option, case.need)), None)
    if enough is None:
        return _not_enough(case, fastest, facts)
    answer = f"yes-for-{_purpose(keep, case)}"
    facts = _facts(best_owned, enough)
    return SecondGpu(answer, Reason(f"second.{answer}", facts), (*_missing(keep, case), *_setting(enough)))


def _facts(owned: Option | None, more: Option) -> dict[str, Fact]:
    """The two speeds, their ratio and the price."""
    before = score(owned.estimate) if owned else 0.0
    after = score(more.estimate)
    facts: dict[str, Fact] = {
        "one_tokens_per_s": before,
        "two_tokens_per_s": after,
        "one_per_user_tokens_per_s": per_user(owned.estimate) if owned else 0.0,
        "two_per_user_tokens_per_s": per_user(more.estimate),
        "speed_factor": after / before if before else None,
        "spend_usd": more.cost.spend_usd,
        "users": more.estimate.workload.users,
        "strategy": more.estimate.placement.strategy,
        "engine": more.estimate.placement.engine,
    }
    facts["usable_bytes"] = sum(each.count * each.usable_bytes for each in more.estimate.fit.devices)
    facts["needed_bytes"] = sum(
        each.count * (each.weights_bytes + each.cache_bytes + each.overhead_bytes) for each in more.estimate.fit.devices
    )
    return facts


def _already_met(case: Case, owned: Option, fastest: Option, facts: dict[str, Fact]) -> SecondGpu:
    """One is enough; a buyer who wants the fastest may still gain."""
    before, after = score(owned.estimate), score(fastest.estimate)
    if case.need.prefer == "fastest" and affordable(fastest.cost, case.need) and after >= WORTH_FACTOR * before:
        return SecondGpu("yes-for-speed", Reason("second.yes-for-speed", facts), _setting(fastest))
    code = "second.no-slower" if after < before else "second.no-gain" if after < WORTH_FACTOR * before else "second.no-need"
    return SecondGpu("no", Reason(code, facts | {"floor_tokens_per_s": case.need.min_tokens_per_s}), owned.changes)


def _not_enough(case: Case, fastest: Option, facts: dict[str, Fact]) -> SecondGpu:
    """Even with one more the need is not met, or it costs too much."""
    spills = fastest.estimate.placement.strategy == "offload"
    facts["host_bytes"] = fastest.estimate.fit.host_needed_bytes
    return SecondGpu("no", Reason("second.no-spills" if spills else "second.no-not-enough", facts), shortfalls(fastest, case.need))


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
    return (Reason("second.setting", facts), *option.cost.upgrades)
