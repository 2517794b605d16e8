"""Requests answered: each command's result, for the command line, for a batch line and for Python."""

from datetime import date
from typing import TYPE_CHECKING, Any

from advisor.airflow import fanless
from advisor.errors import AdvisorError
from advisor.reason import Reason
from advisor.record import dataclass, replace
from advisor.request import Request, read
from advisor.wishes import (
    assumed_of,
    beyond_model,
    budget_of,
    catalog_of,
    have_words_of,
    kv_quant_of,
    model_of,
    need_of,
    own_computer,
    quant_of,
    system_of,
    terms_of,
    workload_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.advice import Condition, Recommendation
    from advisor.catalog import Catalog
    from advisor.market import Cost, Terms
    from advisor.model import Model
    from advisor.need import Workload
    from advisor.scale import Point, Scale
    from advisor.speed import Estimate
    from advisor.system import System

MOST_BILLS = 256  # that are kept


@dataclass(frozen=True)
class Estimated:
    """An estimate with what its system costs."""

    estimate: "Estimate"
    cost: "Cost"
    overlays: tuple[str, ...] = ()
    conditions: "Mapping[str, Condition] | None" = None  # of several devices: for more of them to mean more speed
    request: Request | None = None

    @property
    def positive(self) -> bool:
        """Whether the answer is yes: it fits."""
        return self.estimate.fit.fits


@dataclass(frozen=True)
class Refused:
    """A system of a comparison that cannot be estimated, and why."""

    system: str
    error: AdvisorError


@dataclass(frozen=True)
class Compared:
    """Several systems on the same work, in the order asked."""

    items: tuple[Estimated | Refused, ...]
    overlays: tuple[str, ...] = ()

    @property
    def positive(self) -> bool:
        """Whether one of them fits."""
        return any(isinstance(item, Estimated) and item.positive for item in self.items)


@dataclass(frozen=True)
class Scaled:
    """A system at 1, 2, … devices, with the cost of each."""

    scale: "Scale"
    costs: tuple["Cost | None", ...]
    overlays: tuple[str, ...] = ()
    one_user_costs: tuple["Cost | None", ...] = ()  # of the curve for a single user, where more were asked

    @property
    def cheapest_devices(self) -> int | None:
        """The count at which a token/s costs least; beyond it more devices pay less."""
        return cheapest(self.scale, self.costs)

    @property
    def positive(self) -> bool:
        """Whether it fits at some count."""
        return any(point.estimate is not None and point.estimate.fit.fits for point in self.scale.points)


@dataclass(frozen=True)
class Recommended:
    """A recommendation; for `ask`, how the question was understood."""

    recommendation: "Recommendation"
    understood_as: str | None = None
    not_understood: tuple[str, ...] = ()
    asked: tuple[Reason, ...] = ()  # what was asked beside what to buy, with its numbers
    request: Request | None = None

    @property
    def overlays(self) -> tuple[str, ...]:
        """Files laid over the shipped catalog."""
        return self.recommendation.overlays

    @property
    def positive(self) -> bool:
        """Whether something meets the need."""
        return self.recommendation.verdict.meets_need


def usd_per_tokens_per_s(point: "Point", cost: "Cost | None") -> float | None:
    """Price for each token/s of all users together."""
    speed_now = point.decode_tokens_per_s
    return cost.price_usd / speed_now if cost and cost.price_usd is not None and speed_now else None


def cheapest(curve: "Scale", costs: "tuple[Cost | None, ...]") -> int | None:
    """The count of a curve at which a token/s costs least; None without prices."""
    each = ((usd_per_tokens_per_s(point, cost), point.devices) for point, cost in zip(curve.points, costs, strict=True))
    return min(((usd, devices) for usd, devices in each if usd is not None), default=(0.0, None))[1]


Answer = Estimated | Compared | Scaled | Recommended


def _estimated(text: str, request: Request, catalog: "Catalog") -> Estimated:
    from advisor import choose
    from advisor.evidence import rows_near

    model = model_of(request.get("model"), catalog)
    system = system_of(text, request, catalog)
    workload = workload_of(request, model.max_context_tokens)
    best = choose.best(system, model, quant_of(request, catalog), kv_quant_of(request), workload, catalog)
    alone = (best.one.reason,) if best.one and best.one.reason else ()
    warnings = (*beyond_model(request, model), *assumed_of(model), *fanless(best.system))
    reasons = (*alone, *_assumed_host(best.system))
    best = replace(best, rows=rows_near(best, catalog), more_reasons=reasons, more_warnings=warnings)
    judged = _conditions(system, model, request, workload, catalog) if system.count > 1 else None
    return Estimated(best, cost_of(best, request, catalog), catalog.overlays, judged, request)


def _assumed_host(system: "System") -> tuple[Reason, ...]:
    """That nobody named the computer around the cards; `recommend` would look for a cheaper one."""
    box = system.boxes[0]
    if box.host is None or not box.host_assumed or box.groups[0].device.mount != "slot":
        return ()
    return (Reason("host.assumed", {"host": box.host.name, "ram_bytes": system.ram_bytes or box.host.memory_bytes}),)


def _conditions(system: "System", model: "Model", request: Request, workload: "Workload", catalog: "Catalog") -> "dict[str, Condition]":
    """The three conditions of several devices, for the engine that was stated or any."""
    from advisor import choose
    from advisor.advice.conditions import judged

    def tried(given: "System") -> "tuple[tuple[Estimate, ...], tuple[Reason, ...]]":
        formats = quant_of(request, catalog), kv_quant_of(request)
        found, refused = choose.tried(given, model, *formats, workload, catalog, "tensor")
        # every reason counts where no cut can be laid
        return tuple(found), tuple(refused if found else choose.refusals(given, model, *formats, workload, catalog))

    return judged(system.free, model, tried, catalog)


def cost_of(estimate: "Estimate", request: Request, catalog: "Catalog") -> "Cost":
    """What the estimated system costs on the request's terms."""
    from advisor.market import with_tokens

    terms, speed = terms_of(request, catalog), estimate.sustained or estimate.decode
    return with_tokens(_bill(estimate.system, terms, catalog), speed.value if speed else None, terms)


def _bill(system: "System", terms: "Terms", catalog: "Catalog") -> "Cost":
    """The bill of a system without what its tokens cost; kept for the day, since prices grow old."""
    from advisor.market import bill

    known: dict[tuple[object, ...], tuple[System, Terms, Cost]] = catalog.kept("bills")
    key = id(system), id(terms), date.today()
    found = known.get(key)
    if found is None:
        if len(known) >= MOST_BILLS:
            known.clear()
        found = known[key] = system, terms, bill(system, None, terms)
    return found[-1]


def _compared(request: Request, catalog: "Catalog") -> Compared:
    items: list[Estimated | Refused] = []
    for text in request.get("systems"):
        try:
            items.append(_estimated(text, request, catalog))
        except AdvisorError as error:
            if error.code != "unsupported":
                raise
            items.append(Refused(text, error))
    return Compared(tuple(items), catalog.overlays)


def _scaled(request: Request, catalog: "Catalog") -> Scaled:
    from advisor import scale

    model = model_of(request.get("model"), catalog)
    system = system_of(request.get("system"), request, catalog, grows=True)
    workload = workload_of(request, model.max_context_tokens)
    found = scale.scale(system, request.get("max"), model, quant_of(request, catalog), kv_quant_of(request), workload, catalog)
    alone = _costs_of(found.one_user, request, catalog) if found.one_user else ()
    return Scaled(found, _costs_of(found, request, catalog), catalog.overlays, alone)


def _costs_of(curve: "Scale", request: Request, catalog: "Catalog") -> "tuple[Cost | None, ...]":
    """What each point of a curve costs; None where there is no estimate."""
    return tuple(cost_of(point.estimate, request, catalog) if point.estimate else None for point in curve.points)


def _recommended(request: Request, catalog: "Catalog") -> "Recommendation":
    from advisor.advice.recommend import recommend as advise

    have_words = have_words_of(request, catalog)
    model = model_of(request.get("model"), catalog) if request.get("model") else None
    given = advise(
        need_of(request, catalog, model),
        system_of(have_words, request, catalog, owned=True) if have_words and not own_computer(request, catalog) else None,
        catalog,
        have_words=have_words,
        model=model,
        among=tuple(system_of(text, request, catalog) for text in request.get("among", ())),
    )
    converted = budget_of(request, catalog)
    if model is None and converted is None:
        return given
    warnings = (*given.warnings, *(beyond_model(request, model) if model else ()))
    assumed = (*(assumed_of(model) if model else ()), *(converted[1:] if converted else ()))
    return replace(given, warnings=warnings, assumptions=(*given.assumptions, *assumed))


def _asked(request: Request, catalog: "Catalog") -> Recommended:
    """Options stated beside the question win over its text."""
    from advisor.asked import CARD_ALONE, UNPRICED, cannot, filled, side_by_side, speed_of, usual_model
    from advisor.intake.question import understand
    from advisor.intake.question_line import command_line
    from advisor.intake.question_topics import refuse
    from advisor.told import told

    understood = understand(request.get("question"), catalog)
    stated = {key: value for key, value in request.values.items() if key != "question"}
    refuse(understood, request.get("question"), catalog, stated=bool(stated))
    question = filled(understood, stated, catalog)
    words, asked = question.words, question.request
    given = _recommended(asked, catalog)
    refused = cannot(given, asked)
    if refused:
        words = {key: value for key, value in words.items() if key != "among"}
        given = _recommended(Request("ask", {key: value for key, value in asked.values.items() if key != "among"}), catalog)
    with_notes = replace(given, assumptions=(*question.notes, *given.assumptions))
    if any(note.code == CARD_ALONE for note in question.notes):  # what the computer does alone is no question of who has not named it
        with_notes = replace(with_notes, remarks=tuple(each for each in given.remarks if not each.code.startswith("remark.processor")))
    if any(reason.code in UNPRICED for reason in refused):
        model = asked.get("model") or usual_model(understood, asked, catalog)
        of_it = Request("ask", {**asked.values, **({"model": model} if model else {})})
        refused = (refused[0], speed_of(asked.get("among")[0], of_it, given, catalog))
    beside = (*told(understood, asked, given, catalog), *side_by_side(understood, asked, given, catalog))
    return Recommended(with_notes, command_line(words), understood.not_understood, (*refused, *beside), asked)


def answer(request: Request) -> Answer:
    """The answer to a request; errors of what the user gave are raised."""
    catalog = catalog_of(request)
    if request.command == "estimate":
        return _estimated(request.get("system"), request, catalog)
    if request.command == "compare":
        return _compared(request, catalog)
    if request.command == "scale":
        return _scaled(request, catalog)
    return _asked(request, catalog) if request.command == "ask" else Recommended(_recommended(request, catalog), request=request)


def _with_catalog(request: Request, catalog: "Catalog | None") -> "Catalog":
    return catalog if catalog is not None else catalog_of(request)


def estimate(system: str, *, catalog: "Catalog | None" = None, **options: Any) -> "Estimate":
    """Does it fit, and how fast is it? Options are those of `advisor estimate` with `_`: `model="70b", users=4`."""
    request = read("estimate", {"system": system, **options})
    return _estimated(system, request, _with_catalog(request, catalog)).estimate


def recommend(*, catalog: "Catalog | None" = None, **options: Any) -> "Recommendation":
    """What to buy, or whether to keep what is owned: `recommend(have="rtx-3090", model="llama-3.3-70b", budget=3000)`."""
    request = read("recommend", options)
    return _recommended(request, _with_catalog(request, catalog))
