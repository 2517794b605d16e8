"""Without a model named: what each of the typical models asks for, and the cheapest road to it."""

from collections.abc import Callable, Iterator
from datetime import date

from advisor.advice import Road, Rung
from advisor.advice.decide import Decision, decide
from advisor.advice.desk import Desk
from advisor.advice.judge import Case, case_of, without_budget
from advisor.advice.roads import best_of_road, road
from advisor.advice.second import OneMore, one_more
from advisor.catalog import Catalog
from advisor.errors import AdvisorError
from advisor.need import Need
from advisor.reason import Fact
from advisor.record import dataclass, replace
from advisor.system import System


@dataclass(frozen=True, eq=False)
class Step:
    """One rung with the case and the decision behind it."""

    rung: Rung
    case: Case
    decision: Decision


def rungs(
    need: Need, have: System | None, catalog: Catalog, today: date | None, narrow: Callable[[Case], Case] = lambda case: case
) -> Iterator[Step]:
    """Each typical model with its roads, smallest first; `narrow` leaves only the offers that were asked between."""
    case: Case | None = None
    for each in catalog.hints.ladder:
        try:
            model = catalog.model(each.model)
        except AdvisorError:
            continue  # an overlay may have taken the model away
        own = replace(need, model=model.id)
        case = case_of(Desk(own, have, catalog, model, today), own, case)
        asked = narrow(case)
        decision = decide(replace(asked, lean=True))
        yield Step(Rung(each.label, model.id, tuple(_roads(asked, decision))), case, decision)


def _roads(case: Case, decision: Decision) -> Iterator[Road]:
    """What is owned, one more of it, and the cheapest road there is."""
    chosen = decision.chosen
    shown = [chosen]
    if decision.keep is not None:
        yield road(case, "keep", decision.keep, chosen)
        if decision.changes and decision.changes[0] is chosen:
            yield road(case, "change-settings", chosen, chosen)
        more = one_more(case) if not (chosen and chosen.kind == "keep") else OneMore(())
        if more.options and (chosen is None or more.options[0].estimate.system != chosen.estimate.system):
            shown.append(more.options[0])
            yield road(case, more.options[0].kind, more.options[0], chosen)
    if chosen is not None and chosen.kind not in ("keep", "change-settings"):
        yield road(case, chosen.kind, chosen, chosen)
    if chosen is None:  # what it would take with all the money in the world, else the nearest
        free = decide(replace(without_budget(case), lean=True)).chosen if case.need.budget_usd is not None else None
        yield road(case, free.kind if free else "one-bigger-gpu", free or best_of_road(case, "one-bigger-gpu"), None)


OWNED = ("keep", "change-settings")


def turning(steps: tuple[Step, ...]) -> Step:
    """The rung at which the question turns.

    Of what is owned: the smallest that it does not do, else the largest of all. With nothing owned: the largest within the
    budget; without a budget the smallest.
    """
    if steps[0].case.desk.have is None:
        able = [step for step in steps if step.decision.chosen is not None]
        limited = steps[0].case.need.budget_usd is not None
        return (able[-1] if limited else able[0]) if able else steps[0]
    return next((step for step in steps if step.decision.kind not in OWNED), steps[-1])


def turning_between(steps: tuple[Step, ...]) -> Step:
    """Between named systems: beside what is owned the smallest size that it does not do and one of them does; else the largest one."""
    if steps[0].case.desk.have is not None:
        more = next((step for step in steps if step.decision.kind not in OWNED and step.decision.chosen is not None), None)
        if more is not None:
            return more
    return largest(steps)


def largest(steps: tuple[Step, ...]) -> Step:
    """The largest typical model that can be had; where none can, the smallest."""
    return next((step for step in reversed(steps) if step.decision.chosen is not None), steps[0])


def label_facts(steps: tuple[Step, ...], step: Step) -> dict[str, Fact]:
    """What runs already, the size of which the answer speaks, and the largest that can be had at all."""
    runs = [each.rung.label for each in steps if each.decision.kind in OWNED]
    facts: dict[str, Fact] = {"model": step.rung.model, "runs": ", ".join(runs) or "none of them", "next": step.rung.label}
    facts |= {"owned": step.case.desk.have is not None, "budget_usd": step.case.need.budget_usd}
    last = largest(steps)
    if last.decision.chosen is not None:
        facts |= {"largest": last.rung.label, "largest_usd": last.decision.chosen.cost.spend_usd}
    return facts
