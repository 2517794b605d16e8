"""What a question asks beside what to buy – a bridge, an engine, a split, a quantization, a model – estimated side by side."""

from typing import TYPE_CHECKING, Any

from advisor import choose
from advisor.errors import AdvisorError
from advisor.intake.detect import this_machine
from advisor.intake.question_asks import BRIDGED, PEER, Variant
from advisor.memory import largest_between
from advisor.need import USUAL_TOKENS_PER_S
from advisor.reason import Fact, Reason
from advisor.record import dataclass, replace
from advisor.request import Request, read
from advisor.wishes import kv_quant_of, model_of, quant_of, system_of, workload_of

if TYPE_CHECKING:
    from advisor.advice import Recommendation
    from advisor.catalog import Catalog
    from advisor.intake.question import Understood
    from advisor.speed import Estimate

UNPRICED = ("price.unknown", "price.not-new")
CARD_ALONE = "ask.card-alone"
GAIN_SEEN = 1.05  # less than this is as fast


@dataclass(frozen=True, eq=False)
class Tried:
    """One variant with its estimate, or why it has none."""

    label: str
    system: str
    estimate: "Estimate | None"
    problem: str = ""

    @property
    def speed(self) -> float:
        """Tokens/s for each user; 0 where it does not run."""
        found = self.estimate
        return found.decode_per_user.value if found and found.fit.fits and found.decode_per_user else 0.0

    @property
    def score(self) -> float:
        """What tells two of them apart: one user's decode, several users' sustained tokens/s."""
        found = self.estimate.sustained if self.estimate and (self.estimate.workload.users or 1) > 1 else None
        return found.value if found and self.speed else self.speed

    @property
    def prefill(self) -> float | None:
        """Prompt tokens/s."""
        return self.estimate.prefill.value if self.speed and self.estimate and self.estimate.prefill else None


@dataclass(frozen=True, eq=False)
class Filled:
    """A question's options with what was missing filled in, and what was taken for it."""

    words: dict[str, Any]
    request: Request
    notes: tuple[Reason, ...]


def filled(understood: "Understood", stated: dict[str, Any], catalog: "Catalog") -> Filled:
    """What the text leaves open: the card that is in this machine, the usual model, the speed that "faster" means."""
    words, notes = dict(understood.words), understood.assumptions

    def request() -> Request:
        return Request("ask", {**read("recommend", words).values, **stated})

    def missing(*keys: str) -> bool:
        return all(request().get(key) in (None, ()) for key in keys)

    here = _owned_here(catalog) if understood.unnamed_card and missing("have", "among") else None
    if here:
        words["have"] = here
        notes += (Reason("ask.detected", {"system": here}),)
    if understood.asks_card and missing("have", "among", "host") and not (missing("model") and missing("budget")):
        words["have"] = catalog.wording.usual_host
        host = catalog.host(words["have"])
        notes += (Reason(CARD_ALONE, {"host": host.name, "ram_bytes": host.memory_bytes}),)
    wants_model = understood.about_owned or bool(understood.variants) or ("have" in words and (understood.faster or understood.asks_speed))
    if wants_model and missing("model") and (model := usual_model(understood, request(), catalog)):
        words["model"] = model
        notes += (Reason("ask.usual-model", {"model": model, "system": understood.compared_on}),)
    if understood.faster is not None and not missing("have") and missing("min_tokens_per_s"):
        now = try_out(Variant(""), str(request().get("have")), request(), words.get("model"), catalog).speed
        floor = float(f"{understood.faster * now:.3g}")
        if floor > (USUAL_TOKENS_PER_S if understood.just_faster else 0):  # of less the usual wish is more
            words["min_tokens_per_s"] = floor
            facts: dict[str, Fact] = {"speed_factor": understood.faster, "now_tokens_per_s": now, "floor_tokens_per_s": floor}
            notes += (Reason("ask.faster", facts),)
    return Filled(words, request(), notes)


def _owned_here(catalog: "Catalog") -> str | None:
    """What this machine has, where somebody speaks of a card and does not name it."""
    try:
        return this_machine(catalog).system
    except AdvisorError:
        return None


def side_by_side(understood: "Understood", request: Request, given: "Recommendation", catalog: "Catalog") -> tuple[Reason, ...]:
    """Each variant with its speed on the same work, and which is the faster."""
    system = understood.compared_on
    if system is None:
        return ()
    usual = given.verdict.estimate.model.id if given.verdict.estimate else given.need.model
    counted = _users(system, request, usual, given, catalog) if understood.counts_users else ()
    tried = _all_tried(understood, system, request, usual, catalog) if understood.variants else []
    if any(variant.suffix == PEER for variant in understood.variants):
        return (*(line(each) for each in tried), *_best(tried), *_risks(catalog))
    if any(variant.suffix == BRIDGED for variant in understood.variants):
        return _bridge(tried)
    return (*counted, *(line(each) for each in tried), *_best(tried))


def _all_tried(understood: "Understood", system: str, request: Request, usual: str | None, catalog: "Catalog") -> list[Tried]:
    variants, engine = understood.variants or (Variant(""),), understood.engine
    tried: list[Tried] = []
    for variant in variants:
        words = variant.system or system + _suffix(variant, tried)
        on = f" on {engine}" if engine and " on " not in words else ""
        tried.append(try_out(variant, words + on, request, usual, catalog))
    return tried


def usual_model(understood: "Understood", request: Request, catalog: "Catalog") -> str | None:
    """The largest typical model that the system holds wholly in its devices, in every way that is set side by side."""
    system = understood.compared_on
    ways = replace(understood, variants=tuple(each for each in understood.variants if not each.model))
    for rung in reversed(catalog.hints.ladder) if system else ():
        tried = _all_tried(ways, str(system), request, rung.model, catalog)
        floor = request.get("min_tokens_per_s", USUAL_TOKENS_PER_S)
        if any(each.speed >= floor for each in tried) and all(each.estimate is None or _held(each) for each in tried):
            return rung.model
    return None


def _held(tried: Tried) -> bool:
    return bool(tried.speed) and tried.estimate is not None and tried.estimate.placement.strategy != "offload"


def _users(system: str, request: Request, usual: str | None, given: "Recommendation", catalog: "Catalog") -> tuple[Reason, ...]:
    """How many users are served: as many as fit, and as many of them as get the wanted speed."""
    most = _at_users(None, system, request, usual, catalog)
    if not most.speed or most.estimate is None:
        return (line(most),)
    floor, users = given.need.min_tokens_per_s, most.estimate.workload.users or 1
    served = largest_between(0, users, lambda count: _at_users(count, system, request, usual, catalog).speed >= floor)
    facts: dict[str, Fact] = {"system": system, "users": users, "per_user_tokens_per_s": most.speed, "floor_tokens_per_s": floor}
    facts |= {"floor_users": served, "context_tokens": most.estimate.workload.context_tokens}
    facts |= {"model": most.estimate.model.id, "quant": most.estimate.quant.id}
    return (Reason("asked.users", facts),)


def cannot(given: "Recommendation", asked: Request) -> tuple[Reason, ...]:
    """Why the one system that was asked about does not do it; empty where it does, or where several were asked between."""
    one = len({words.partition(" ")[0] for words in asked.get("among", ())}) == 1 and " + " not in asked.get("among")[0]
    if not one or given.verdict.meets_need:
        return ()
    road = next((road for road in given.passed_over if road.because), None)
    unpriced = road is not None and any(reason.code in UNPRICED for reason in road.because)
    refused = Reason("ask.asked-unpriced" if unpriced else "ask.asked-cannot", {"name": asked.get("among")[0]})
    return (refused, road.because[0]) if road else (refused,)


def speed_of(system: str, request: Request, given: "Recommendation", catalog: "Catalog") -> Reason:
    """What one system does, whatever it costs."""
    usual = given.verdict.estimate.model.id if given.verdict.estimate else given.need.model
    found = line(try_out(Variant(system), system, request, usual, catalog))
    return replace(found, code="asked.variant-alone") if found.code == "asked.variant" else found


def _at_users(users: int | None, system: str, request: Request, usual: str | None, catalog: "Catalog") -> Tried:
    return try_out(Variant(""), system, Request("estimate", {**request.values, "users": users}), usual, catalog)


def _suffix(variant: Variant, tried: list[Tried]) -> str:
    """The variant's SYSTEM words; the link is that of the first one."""
    first = tried[0].estimate.system.shown_link if tried and tried[0].estimate else None
    return variant.suffix.format(link=first.id.removesuffix("-p2p") if first else "pcie")


def _risks(catalog: "Catalog") -> tuple[Reason, ...]:
    risks = [risk for risk in catalog.hints.risks if risk.setting == "peer-access"]
    return tuple(Reason("asked.risk", {"text": risk.text}, (risk.source,)) for risk in risks)


def try_out(variant: Variant, words: str, request: Request, usual: str | None, catalog: "Catalog") -> Tried:
    own_values = {"quant": variant.quant, "host": variant.host, "ram_gib": variant.ram_bytes}
    own = Request("estimate", {**request.values, **{key: value for key, value in own_values.items() if value}})
    try:
        model = model_of(variant.model or request.get("model") or usual or "", catalog)
        work = workload_of(own, model.max_context_tokens)
        found = choose.best(system_of(words, own, catalog), model, quant_of(own, catalog), kv_quant_of(own), work, catalog)
    except AdvisorError as error:
        return Tried(variant.label, words, None, error.message.rstrip("."))
    return Tried(variant.label, words, found)


def line(tried: Tried) -> Reason:
    if tried.estimate is None:
        return Reason("asked.variant-cannot", {"label": tried.label, "system": tried.system, "why": tried.problem})
    facts: dict[str, Fact] = {
        "label": tried.label,
        "system": tried.system,
        "model": tried.estimate.model.id,
        "quant": tried.estimate.quant.id,
    }
    facts |= {"strategy": tried.estimate.placement.strategy, "engine": tried.estimate.placement.engine}
    if not tried.speed:
        work = tried.estimate.workload
        facts |= {"users": work.users, "context_tokens": work.context_tokens}
        return Reason("asked.variant-short-users" if (work.users or 1) > 1 else "asked.variant-short", facts)
    facts |= {"per_user_tokens_per_s": tried.speed, "prefill_tokens_per_s": tried.prefill}
    users = tried.estimate.workload.users or 1
    if users > 1:
        return Reason("asked.variant-users", {**facts, "users": users, "sustained_tokens_per_s": tried.score})
    return Reason("asked.variant", facts)


def _best(tried: list[Tried]) -> tuple[Reason, ...]:
    """Which is the fastest, against the next."""
    ranked = sorted((each for each in tried if each.speed), key=lambda each: -each.score)
    if len(ranked) < 2:
        return ()
    first, second = ranked[:2]
    factor = first.score / second.score
    facts: dict[str, Fact] = {"label": first.label, "other": second.label, "speed_factor": factor}
    prompts = first.prefill / second.prefill if first.prefill and second.prefill else 1.0
    if factor < GAIN_SEEN <= max(prompts, 1 / prompts):
        reader = first if prompts > 1 else second
        return (Reason("asked.even-prompts", {**facts, "reader": reader.label, "prefill_factor": max(prompts, 1 / prompts)}),)
    return (Reason("asked.best" if factor >= GAIN_SEEN else "asked.even", facts),)


def _bridge(tried: list[Tried]) -> tuple[Reason, ...]:
    """What the bridge brings: decode and prompts with it over without it."""
    without, bridged = tried
    if bridged.estimate is None:
        return (Reason("asked.bridge-cannot", {"why": bridged.problem}), line(without))
    if not (bridged.speed and without.speed):
        return tuple(line(each) for each in tried)
    factor = bridged.speed / without.speed
    prompts = bridged.prefill / without.prefill if bridged.prefill and without.prefill else 1.0
    facts: dict[str, Fact] = {
        "system": bridged.system, "with_tokens_per_s": bridged.speed, "without_tokens_per_s": without.speed, "decode_factor": factor,
        "prefill_factor": prompts, "strategy": bridged.estimate.placement.strategy, "engine": bridged.estimate.placement.engine,
        "model": bridged.estimate.model.id,
    }  # fmt: skip
    return (Reason("asked.bridge" if max(factor, prompts) >= GAIN_SEEN else "asked.bridge-idle", facts),)
