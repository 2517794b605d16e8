"""Plain facts of what a question names – watts, prices, what running it costs – as the catalog has them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from advisor.market import power_w
from advisor.prices import resale_of
from advisor.reason import Fact, Reason
from advisor.units import KILO
from advisor.wishes import system_of, terms_of

if TYPE_CHECKING:
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


def _power(system: "System", words: str, terms: "Terms") -> Reason:
    device, needed = system.groups[0].device, power_w(system)
    facts: dict[str, Fact] = {"name": device.name, "power_w": device.power_w, "system": words, "need_w": needed}
    return Reason("asked.power-box" if device.is_box else "asked.power", facts)


def _running(system: "System", words: str, terms: "Terms") -> Reason:
    """Watts at work for the hours of a day at the price of electricity."""
    watts = power_w(system)
    usd = None if watts is None else watts / KILO * terms.hours_per_day * terms.usd_per_kwh
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
