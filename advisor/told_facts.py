"""Plain facts of what a question names – watts, prices, what running it costs –, and of what is advised: memory, the first token."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from advisor.market import power_w
from advisor.prices import resale_of
from advisor.reason import Fact, Reason
from advisor.system import spec
from advisor.wishes import system_of, terms_of

if TYPE_CHECKING:
    from advisor.advice import Recommendation
    from advisor.catalog import Catalog
    from advisor.intake.question import Understood
    from advisor.market import Terms
    from advisor.request import Request
    from advisor.system import System

MOST_THINGS = 3


def facts_told(understood: "Understood", request: "Request", catalog: "Catalog") -> tuple[Reason, ...]:
    """Each fact that is asked, of each system that is named."""
    named = dict.fromkeys(words for words in (request.get("have"), *request.get("among", ())) if words and words not in catalog.hosts)
    if not understood.facts or request.get("price"):
        return ()
    terms, systems = terms_of(request, catalog), [system_of(words, request, catalog) for words in [*named][:MOST_THINGS]]
    return tuple(
        TOLD[kind](system, words, terms) for kind in understood.facts if kind in TOLD for words, system in zip(named, systems, strict=False)
    )


def first_token(given: "Recommendation") -> tuple[Reason, ...]:
    """How long the first token of a prompt takes, on what is owned or advised."""
    found = given.verdict.estimate
    first = found.first_token_s if found else None
    if found is None or first is None or not found.fit.fits:
        return ()
    facts: dict[str, Fact] = {"system": spec(found.system), "model": found.model.id, "quant": found.quant.id}
    facts |= {"first_token_s": first.value, "least_first_token_s": first.low, "most_first_token_s": first.high}
    return (Reason("asked.first-token", {**facts, "prompt_tokens": found.workload.prompt_tokens}),)


def memory(given: "Recommendation") -> tuple[Reason, ...]:
    """What the model takes, on what is advised."""
    found = given.verdict.estimate
    if found is None or given.need.model is None:
        return ()
    devices, work = found.fit.devices, found.workload
    weights, cache, other = (
        sum(each.count * getattr(each, f"{name}_bytes") for each in devices) for name in ("weights", "cache", "overhead")
    )
    facts: dict[str, Fact] = {"model": found.model.id, "quant": found.quant.id, "users": work.users, "context_tokens": work.context_tokens}
    facts |= {"weights_bytes": weights, "cache_bytes": cache, "other_bytes": other, "needed_bytes": weights + cache + other}
    return (Reason("asked.memory-users" if (work.users or 1) > 1 else "asked.memory", facts),)


def _power(system: "System", words: str, terms: "Terms") -> Reason:
    device, needed = system.groups[0].device, power_w(system)
    facts: dict[str, Fact] = {"name": device.name, "power_w": device.power_w, "system": words, "need_w": needed}
    return Reason("asked.power-box" if device.is_box else "asked.power", facts)


def _running(system: "System", words: str, terms: "Terms") -> Reason:
    """Watts at work for the hours of a day at the price of electricity."""
    watts = power_w(system)
    usd = None if watts is None else terms.running_usd(watts, terms.hours_per_day)
    facts: dict[str, Fact] = {
        "system": words,
        "need_w": watts,
        "day_usd": usd,
        "price_usd": terms.usd_per_kwh,
        "hours": terms.hours_per_day,
    }
    return Reason("asked.running" if usd is not None else "asked.running-unknown", facts)


def _resale(system: "System", words: str, terms: "Terms") -> Reason:
    group = system.groups[0]
    usd = resale_of(group.device, group.memory_bytes)
    return Reason("asked.resale" if usd is not None else "asked.resale-unknown", {"name": group.device.name, "resale_usd": usd})


def _price(system: "System", words: str, terms: "Terms") -> Reason:
    group = system.groups[0]
    found = terms.price(group.device, group.memory_bytes)
    facts: dict[str, Fact] = {"name": group.device.name, "usual_usd": found.usd, "condition": found.condition, "date": found.as_of}
    return Reason("asked.costs" if found.usd is not None else "asked.costs-unknown", facts)


TOLD: dict[str, Callable[["System", str, "Terms"], Reason]] = {"power": _power, "running": _running, "resale": _resale, "price": _price}
