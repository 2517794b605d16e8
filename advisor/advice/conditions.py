"""The three conditions for more devices to mean more speed: the software splits, the link is quick, the model divides."""

from collections.abc import Callable

from advisor.advice import Condition
from advisor.advice.desk import Desk, Work
from advisor.advice.naming import named
from advisor.advice.owned import open_system
from advisor.catalog import Catalog
from advisor.hints import Hints
from advisor.model import Model
from advisor.reason import Fact, Reason
from advisor.record import replace
from advisor.refusals import said
from advisor.speed import Estimate
from advisor.system import System, spec

MODEL_CODES = ("placement.heads", "placement.kv-heads", "placement.vocabulary", "placement.hidden", "placement.architecture")
Tried = Callable[[System], tuple[tuple[Estimate, ...], tuple[Reason, ...]]]  # ways to run the work on a system, why not others
LINK_CODES = ("placement.no-link", "placement.no-path")


def conditions(desk: Desk, work: Work, system: System) -> dict[str, Condition]:
    """The conditions of a system that is advised, with engine and split left open."""
    return judged(open_system(system), desk.model, lambda each: (desk.ways(each, work), desk.refused(each, work)), desk.catalog)


def judged(system: System, model: Model, tried: Tried, catalog: Catalog) -> dict[str, Condition]:
    """Each condition with the fact that decides it, for the split of every layer over the devices of a system; of one that is
    not met also what would change it.
    """
    found_ways, refused = tried(system)
    cut = [way for way in found_ways if way.placement.strategy == "tensor"]
    whys = [reason for reason in refused if reason.facts.get("strategy", "tensor") == "tensor"]
    best = max(cut, key=lambda way: way.held.speedup if way.held else 0.0, default=None)
    hints = catalog.hints
    found = {
        "software": _software(best, whys, system),
        "link": _link(hints, best, whys, system),
        "model": _model(hints, model, best, whys, system),
    }
    shown: dict[str, Fact] = {"system": spec(system), "name": named(system)}  # of which system they speak
    return {
        key: replace(
            each,
            text=replace(each.text, facts={**each.text.facts, **shown}),
            change=_change(key, system, model, best, tried, catalog) if each.met is False else None,
        )
        for key, each in found.items()
    }


def _change(condition: str, system: System, model: Model, best: Estimate | None, tried: Tried, catalog: Catalog) -> Reason | None:
    """What would change a condition that is not met."""
    from advisor.advice.remedies import better_link, other_count, other_engine  # late: most are met

    def ways(each: System) -> tuple[Estimate, ...]:
        return tried(each)[0]

    if condition == "software":
        return other_engine(system, best, ways)
    if condition == "link":
        return better_link(system, best, ways, catalog)
    return other_count(system, model.heads, ways, catalog) if best is None else None


def _no(refused: list[Reason], codes: tuple[str, ...], name: str, others: bool = False) -> Condition | None:
    """Not met, with what forbids it; `others` = any reason but these codes."""
    found = [reason for reason in refused if (reason.code in codes) != others]
    return Condition(False, Reason(f"condition.{name}-no", {"why": said(found[:2])})) if found else None


def _software(best: Estimate | None, refused: list[Reason], system: System) -> Condition:
    facts: dict[str, Fact] = {"devices": system.count}
    if best is not None:
        return Condition(True, Reason("condition.software", {**facts, "engine": best.placement.engine, "backend": best.placement.backend}))
    return _no(refused, MODEL_CODES + LINK_CODES, "software", others=True) or Condition(None, Reason("condition.software-unknown", facts))


def _link(hints: Hints, best: Estimate | None, refused: list[Reason], system: System) -> Condition:
    link = system.shown_link
    facts: dict[str, Fact] = {"link": link.name if link else "no link", "devices": system.count}
    if best is None:
        return _no(refused, LINK_CODES, "link") or Condition(None, Reason("condition.link-unasked", facts))
    if best.terms is None:
        return Condition(None, Reason("condition.link-unknown", facts))
    speedup = best.held.speedup if best.held else None
    facts |= {"link_s": best.terms.link_s, "total_s": best.terms.total_s, "speedup_factor": speedup}
    facts["link_share"] = best.terms.link_s / best.terms.total_s if best.terms.total_s else None
    met = speedup is not None and speedup >= hints.choice("worth-factor")
    return Condition(met, Reason("condition.link" if met else "condition.link-slow", facts))


def _model(hints: Hints, model: Model, best: Estimate | None, refused: list[Reason], system: System) -> Condition:
    facts: dict[str, Fact] = {"model": model.id, "heads": model.heads, "kv_heads": model.kv_heads, "devices": system.count}
    if best is None:
        return _no(refused, MODEL_CODES, "model") or Condition(None, Reason("condition.model-unasked", facts))
    uneven = "-uneven" if model.heads % system.count else ""
    if best.held is None:
        return Condition(True, Reason(f"condition.model{uneven}", facts))
    ceiling = best.held.ceiling
    facts |= {"ceiling_factor": ceiling, "serial_share": 1 / ceiling}
    met = ceiling >= hints.choice("least-ceiling-factor")
    return Condition(met, Reason(f"condition.model-ceiling{uneven}" if met else "condition.model-fixed", facts))
