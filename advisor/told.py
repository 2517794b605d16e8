"""What a question asks that no verdict answers: training's memory, the power supply, renting, each side of an "A or B?", what is known."""

import re
from typing import TYPE_CHECKING

from advisor.advice.naming import articled, bought_beside
from advisor.asked import GAIN_SEEN, speed_of
from advisor.asked_ram import ram_lines
from advisor.market import power_w, rental_usd_per_hour
from advisor.reason import Fact, Reason
from advisor.request import Request
from advisor.system import spec
from advisor.told_facts import facts_told, first_token, memory
from advisor.wishes import model_of, system_of, terms_of

if TYPE_CHECKING:
    from advisor.advice import Recommendation, Road
    from advisor.catalog import Catalog
    from advisor.intake.question import Understood
    from advisor.market import Cost, Terms
    from advisor.system import System

MOST_SIDES = 4
HOURS_OF_A_DAY = 24
SAME_PRICE = 0.05  # of the usual price: so near is the same
ONE_MORE = ("second-gpu", "nvlink-pair", "replicas")
OWNED = ("keep", "change-settings")


def told(understood: "Understood", request: Request, given: "Recommendation", catalog: "Catalog") -> tuple[Reason, ...]:
    """All of it, the first thing that was asked first."""
    named = request.get("have") or request.get("among")
    one_more = understood.names_one_more and not request.get("among")
    return (
        *_outside(understood, request, catalog),
        *_offers(understood, request, catalog),
        *facts_told(understood, request, catalog),
        *(_context(given) if "context" in understood.facts else ()),
        *(first_token(given) if "first-token" in understood.facts and len(request.get("among", ())) < 2 else ()),
        *ram_lines(understood, request, given, catalog),
        *(_supply(understood, request, catalog) if understood.asks_supply else ()),
        *(_rent(given, request, catalog) if understood.asks_rent else ()),
        *(memory(given) if understood.asks_memory else ()),
        *(_own(given) if understood.about_owned and not (understood.variants or understood.ram.asked) else ()),
        *(_one_more(given) if one_more and understood.asks_speed and not understood.variants else ()),
        *(_no_further(given) if one_more else ()),
        *_in_general(understood, bool(named), bool(request.get("model")), request.get("budget") is not None),
        *_sides(understood, request, given, catalog),
        *(speed_of(words, request, given, catalog) for words in (() if understood.ram.asked else understood.told_too)),
    )


def _outside(understood: "Understood", request: Request, catalog: "Catalog") -> tuple[Reason, ...]:
    """That the topic is not estimated; of training what it takes in memory, which follows from the weights alone."""
    topics = [topic for topic in understood.topics if topic.outside]
    if not topics:
        return ()
    code = "asked.outside-too" if understood.about_text else "asked.outside"
    first = Reason(code, {"text": topics[0].text}, (topics[0].source,))
    if topics[0].name != "training" or request.get("model") is None:
        return (first,)
    model = request.get("model")
    params = model_of(model, catalog).params
    facts = ((way, {"way": way.name, "model": model, "state_bytes": way.bytes_per_param * params}) for way in catalog.wording.training)
    return (first, *(Reason("asked.training", each, (way.source,)) for way, each in facts))


def _offers(understood: "Understood", request: Request, catalog: "Catalog") -> tuple[Reason, ...]:
    """What things are offered for, held against what they go for; the first thing told where that is the question."""
    what = "price" if "deal" in understood.facts and len(request.get("price", ())) == 1 else "offer"
    terms = terms_of(Request("ask", {key: value for key, value in request.values.items() if key != "price"}), catalog)
    lines = []
    for name, asked in request.get("price", ()):
        device = catalog.devices.get(name)
        if device is None:
            continue
        usual = terms.price(device, device.memory_options_bytes[0])
        facts: dict[str, Fact] = {"name": device.name, "asked_usd": asked, "usual_usd": usual.usd, "condition": usual.condition}
        if usual.usd is None:
            lines.append(Reason(f"asked.{what}-unknown", facts))
            continue
        share = asked / usual.usd - 1
        kind = "usual" if abs(share) < SAME_PRICE else "below" if share < 0 else "above"
        lines.append(Reason(f"asked.{what}-{kind}", {**facts, "price_share": abs(share), "date": usual.as_of}))
    return tuple(lines[:MOST_SIDES])


def _supply(understood: "Understood", request: Request, catalog: "Catalog") -> tuple[Reason, ...]:
    """Whether the power supply carries it, and with its cards held to a power limit that was measured."""
    words = (*request.get("among", ()), understood.compared_on or request.get("have"))[0]
    if words is None or words in catalog.hosts:  # a computer without cards
        return ()
    system = system_of(words, request, catalog)
    needed, given = power_w(system), request.get("psu_w")
    if needed is None:
        return ()
    if understood.limit_w:  # the cards are held to that
        needed -= sum(group.count * max(0.0, (group.device.power_w or 0.0) - understood.limit_w) for group in system.groups)
    caps = {cap.device: cap.full_w - cap.limit_w for cap in catalog.hints.power_caps}
    limited = needed - sum(group.count * caps.get(group.device.id, 0.0) for group in system.groups)
    facts: dict[str, Fact] = {"system": words, "need_w": needed, "have_w": given, "limited_w": limited}
    if given is None:
        return (Reason("asked.supply-needs", facts),)
    share = catalog.money.choice("supply-share")
    facts |= {"used_share": needed / given, "wanted_w": needed / share}
    kind = "enough" if needed <= share * given else "tight" if needed <= given else "limited" if limited <= given else "short"
    return (Reason(f"asked.supply-{kind}", facts),)


def _rent(given: "Recommendation", request: Request, catalog: "Catalog") -> tuple[Reason, ...]:
    """What renting the advised costs an hour, and from how many hours a day buying pays; else of the first road that can be rented."""
    verdict = given.verdict
    if verdict.kind in OWNED and verdict.system is not None:
        return _rent_of_owned(verdict.system, terms_of(request, catalog))
    costs: list[Cost | None] = [verdict.cost, *(road.cost for road in given.roads if road.status != "impossible")]
    cost = next((each for each in costs if each and each.rental_even_hours_per_day is not None), None)
    if cost is None or cost.rental_even_hours_per_day is None:
        return (Reason("asked.rent-unknown"),)
    name = _rented(cost, catalog)
    facts: dict[str, Fact] = {"name": name, "rental_usd_per_hour": cost.rental_usd_per_hour, "spend_usd": cost.spend_usd}
    facts["even_hours"] = even = cost.rental_even_hours_per_day
    facts["hours"] = hours = request.get("hours_per_day")
    if even > HOURS_OF_A_DAY:
        return (Reason("asked.rent-never", facts),)
    compared = "" if hours is None else "-cheaper" if hours < even else "-dearer"
    return (Reason(f"asked.rent{compared}", facts),)


def _rented(cost: "Cost", catalog: "Catalog") -> str:
    """All devices that the rent is for, each with its number: those that are owned, too."""
    counts: dict[str, int] = {}
    for line in cost.lines:
        if line.what in catalog.devices:
            counts[line.name] = counts.get(line.name, 0) + line.count
    return " + ".join(f"{count} × {name}" if count > 1 else name for name, count in counts.items())


def _rent_of_owned(system: "System", terms: "Terms") -> tuple[Reason, ...]:
    """What renting the same costs an hour, beside the electricity of what is owned."""
    rental, watts = rental_usd_per_hour(system, terms.money), power_w(system)
    if rental is None or watts is None:
        return (Reason("asked.rent-unknown"),)
    facts: dict[str, Fact] = {"rental_usd_per_hour": rental, "running_usd_per_hour": terms.running_usd(watts)}
    return (Reason("asked.rent-owned", facts),)


def _own(given: "Recommendation") -> tuple[Reason, ...]:
    """How what is owned does, where the advice is to buy: that was the question."""
    if given.verdict.kind in OWNED or given.need.model is None:
        return ()
    ways = [road.estimate for road in given.roads if road.kind in OWNED and road.estimate]
    best = max(ways, key=lambda way: (way.fit.fits, way.decode_per_user.value if way.decode_per_user else 0.0), default=None)
    if best is None:
        return ()
    facts: dict[str, Fact] = {"model": best.model.id, "quant": best.quant.id, "floor_tokens_per_s": given.need.min_tokens_per_s}
    if not best.fit.fits or best.decode_per_user is None:
        return (Reason("asked.own-short", facts),)
    return (Reason("asked.own", {**facts, "per_user_tokens_per_s": best.decode_per_user.value}),)


def _one_more(given: "Recommendation") -> tuple[Reason, ...]:
    """How much faster one more of what is owned makes it."""
    facts = given.second_gpu.text.facts if given.second_gpu else {}
    one, two = facts.get("one_per_user_tokens_per_s"), facts.get("two_per_user_tokens_per_s")
    if not isinstance(one, float) or not isinstance(two, float) or one <= 0 or given.need.model is None:
        return ()
    factor = two / one
    code = "asked.second" if factor >= GAIN_SEEN else "asked.second-idle"
    return (Reason(code, {**facts, "model": given.need.model, "speed_factor": factor}),)


def _no_further(given: "Recommendation") -> tuple[Reason, ...]:
    """That one more brings no further size, where no model is named and something else is advised for the next one."""
    second, verdict = given.second_gpu, given.verdict
    owned = verdict.cost is not None and any(line.owned and line.what == _first_owned(given) for line in verdict.cost.lines)
    missed = given.need.model is None and verdict.kind not in OWNED and not (owned and verdict.kind in ONE_MORE)
    if second is None or not missed or second.answer != "no" or "ordinal" not in second.text.facts:
        return ()
    return (Reason("asked.second-no-size", {"ordinal": second.text.facts["ordinal"]}),)


def _first_owned(given: "Recommendation") -> str | None:
    return given.have.groups[0].device.id if given.have and given.have.groups else None


def _context(given: "Recommendation") -> tuple[Reason, ...]:
    """How long a context what is owned or advised has room for, by what is left of its memory."""
    ways = [road.estimate for road in given.roads if road.kind in OWNED and road.estimate and road.estimate.fit.fits]
    found = ways[0] if ways else given.verdict.estimate
    if found is None or not found.fit.fits:
        return ()
    facts: dict[str, Fact] = {"system": spec(found.system), "model": found.model.id, "quant": found.quant.id}
    return (Reason("asked.context", {**facts, "max_context_tokens": found.fit.max_context_tokens}),)


def _in_general(understood: "Understood", named: bool, model: bool, budget: bool) -> tuple[Reason, ...]:
    """What is known without an estimate; where no hardware is named all of it, and what to name."""
    topics = [topic for topic in understood.topics if topic.always or not (named or topic.outside)]
    topics = [topic for topic in topics if not (topic.without_model and "model" in understood.words)]
    known = (
        Reason("asked.rule" if topic.always or not model else "asked.known", {"text": topic.text}, (topic.source,)) for topic in topics
    )
    missing = "asked.unnamed-card" if understood.unnamed_card else "asked.unnamed-need" if not model and not budget else None
    return (*((Reason(missing),) if missing and not named else ()), *known)


def _sides(understood: "Understood", request: Request, given: "Recommendation", catalog: "Catalog") -> tuple[Reason, ...]:
    """Each of several systems that were asked between, with its speed and price, the model being the answer's."""
    among = request.get("among", ())
    if len({_bare(words) for words in among}) + bool(given.have) < 2 or understood.variants:
        return ()
    asked = {_bare(_label(system_of(words, request, catalog))) for words in among}
    owned = [road for road in given.roads if road.kind == "keep"]
    shown: dict[str, Road] = {}
    for road in (*owned, *given.passed_over):
        if road.system is None or road.estimate is None:
            continue
        name = _bare(_label(road.system))
        if road.kind == "keep" or (name in asked and not (name in shown and _holds(shown[name]))):
            shown[name] = road
    if given.have and given.verdict.kind == "change-settings":
        own = next((road for road in given.roads if road.kind == "change-settings"), None)
        shown = {name: own if own and road.kind == "keep" else road for name, road in shown.items()}
    roads = sorted(shown.values(), key=lambda road: not _holds(road))[:MOST_SIDES]
    unseen = [words for words in among if _bare(_label(system_of(words, request, catalog))) not in shown]
    if len(roads) + len(unseen) < 2:
        return ()
    timed = request.get("prompt") is not None
    others = (speed_of(words, request, given, catalog) for words in unseen[: MOST_SIDES - len(roads)])
    return (*(_side(road, timed, catalog) for road in roads), *others, *(_faster(roads) if understood.asks_speed else ()))


def _holds(road: "Road") -> bool:
    return road.estimate is not None and road.estimate.fit.fits


def _label(system: "System") -> str:
    """The devices of a system, without link, strategy and engine."""
    return re.split(r" (?:via|as|on) ", spec(system))[0]


def _bare(words: str) -> str:
    """SYSTEM words without the memory size, since sizes of one machine are one side."""
    return re.sub(r" \d+gb", "", re.split(r" (?:via|as|on) ", words)[0])


def _side(road: "Road", timed: bool, catalog: "Catalog") -> Reason:
    """One side; `timed`: with its time to the first token, since the text tells how long its prompts are."""
    found = road.estimate
    assert found is not None
    assert road.system is not None
    work, yours = found.workload, ", yours" if road.kind in OWNED and not _holds(road) else ""
    facts: dict[str, Fact] = {
        "label": f"{_label(road.system)}{yours}",
        "model": found.model.id,
        "quant": found.quant.id,
        "spend_usd": road.spend_usd,
    }
    facts |= {"users": work.users, "context_tokens": work.context_tokens}
    if not found.fit.fits or found.decode_per_user is None:
        return Reason("asked.variant-short-users" if (work.users or 1) > 1 else "asked.variant-short", facts)
    facts["per_user_tokens_per_s"] = found.decode_per_user.value
    first = found.first_token_s if timed else None
    facts["first_token_s"] = first.value if first else None
    computer = next((line.usd for line in road.cost.bought if line.what in catalog.hosts), None) if road.cost else None
    facts["computer_usd"] = computer
    parts = bought_beside(road.system, road.cost).parts if road.cost and road.kind not in OWNED else ()
    facts["parts"] = " and ".join(articled(name, count) for name, count in parts)
    end = "owned" if road.kind in OWNED else "unpriced" if road.spend_usd is None else "host" if computer else "bare"
    end += "-parts" if parts and end in ("host", "bare") else ""
    return Reason(f"asked.side-{end}{'-first' if first else ''}", facts)


def _faster(roads: "list[Road]") -> tuple[Reason, ...]:
    """Which side is the fastest, against the next."""
    known = ((road.system, road.estimate.decode_per_user) for road in roads if road.system and road.estimate and _holds(road))
    speeds = {_label(system): speed.value for system, speed in known if speed}
    ranked = sorted(speeds, key=lambda label: -speeds[label])
    if len(ranked) < 2:
        return ()
    factor = speeds[ranked[0]] / speeds[ranked[1]]
    facts: dict[str, Fact] = {"label": ranked[0], "other": ranked[1], "speed_factor": factor}
    return (Reason("asked.best" if factor >= GAIN_SEEN else "asked.even", facts),)
