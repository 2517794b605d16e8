"""What a question asks beside what to buy – a bridge, an engine, a split, a quantization, a model – estimated side by side."""

from typing import TYPE_CHECKING

from advisor import choose
from advisor.errors import AdvisorError
from advisor.intake.question_asks import PEER
from advisor.reason import Fact, Reason
from advisor.record import dataclass
from advisor.request import Request
from advisor.wishes import kv_quant_of, model_of, quant_of, system_of, workload_of

if TYPE_CHECKING:
    from advisor.advice import Recommendation
    from advisor.catalog import Catalog
    from advisor.intake.question import Understood
    from advisor.intake.question_asks import Variant
    from advisor.speed import Estimate

GAIN_SEEN = 1.05  # less than this is as fast


@dataclass(frozen=True, eq=False)
class _Tried:
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
    def prefill(self) -> float | None:
        """Prompt tokens/s."""
        return self.estimate.prefill.value if self.speed and self.estimate and self.estimate.prefill else None


def side_by_side(understood: "Understood", request: Request, given: "Recommendation", catalog: "Catalog") -> tuple[Reason, ...]:
    """Each variant with its speed on the same work, and which is the faster."""
    system = understood.compared_on
    if not understood.variants or system is None:
        return _risks(catalog) if any(variant.suffix == PEER for variant in understood.variants) else ()
    usual = given.verdict.estimate.model.id if given.verdict.estimate else given.need.model
    tried: list[_Tried] = []
    for variant in understood.variants:
        tried.append(_tried(variant, system + _suffix(variant, tried), request, usual, catalog))
    if any(variant.suffix == PEER for variant in understood.variants):
        return (*(_line(each) for each in tried), *_best(tried), *_risks(catalog))
    if any(variant.suffix.startswith(" via ") for variant in understood.variants):
        return _bridge(tried)
    return (*(_line(each) for each in tried), *_best(tried))


def _suffix(variant: "Variant", tried: list[_Tried]) -> str:
    """The variant's SYSTEM words; the link is that of the first one."""
    first = tried[0].estimate.system.shown_link if tried and tried[0].estimate else None
    return variant.suffix.format(link=first.id.removesuffix("-p2p") if first else "pcie")


def _risks(catalog: "Catalog") -> tuple[Reason, ...]:
    risks = [risk for risk in catalog.hints.risks if risk.setting == "peer-access"]
    return tuple(Reason("asked.risk", {"text": risk.text}, (risk.source,)) for risk in risks)


def _tried(variant: "Variant", words: str, request: Request, usual: str | None, catalog: "Catalog") -> _Tried:
    own = Request("estimate", {**request.values, **({"quant": variant.quant} if variant.quant else {})})
    try:
        model = model_of(variant.model or request.get("model") or usual, catalog)
        work = workload_of(own, model.max_context_tokens)
        found = choose.best(system_of(words, own, catalog), model, quant_of(own, catalog), kv_quant_of(own), work, catalog)
    except AdvisorError as error:
        return _Tried(variant.label, words, None, error.message.rstrip("."))
    return _Tried(variant.label, words, found)


def _line(tried: _Tried) -> Reason:
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
        return Reason("asked.variant-short", facts)
    return Reason("asked.variant", {**facts, "per_user_tokens_per_s": tried.speed, "prefill_tokens_per_s": tried.prefill})


def _best(tried: list[_Tried]) -> tuple[Reason, ...]:
    """Which is the fastest, against the next."""
    ranked = sorted((each for each in tried if each.speed), key=lambda each: -each.speed)
    if len(ranked) < 2:
        return ()
    first, second = ranked[:2]
    factor = first.speed / second.speed
    facts: dict[str, Fact] = {"label": first.label, "other": second.label, "speed_factor": factor}
    return (Reason("asked.best" if factor >= GAIN_SEEN else "asked.even", facts),)


def _bridge(tried: list[_Tried]) -> tuple[Reason, ...]:
    """What the bridge brings: decode and prompts with it over without it."""
    without, bridged = tried
    if not (bridged.estimate and bridged.speed and without.speed):
        return tuple(_line(each) for each in tried)
    factor = bridged.speed / without.speed
    prompts = bridged.prefill / without.prefill if bridged.prefill and without.prefill else 1.0
    facts: dict[str, Fact] = {
        "system": bridged.system, "with_tokens_per_s": bridged.speed, "without_tokens_per_s": without.speed, "decode_factor": factor,
        "prefill_factor": prompts, "strategy": bridged.estimate.placement.strategy, "engine": bridged.estimate.placement.engine,
        "model": bridged.estimate.model.id,
    }  # fmt: skip
    return (Reason("asked.bridge" if max(factor, prompts) >= GAIN_SEEN else "asked.bridge-idle", facts),)
