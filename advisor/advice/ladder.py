"""Without a model named: what each of the typical models asks for, and the cheapest road to it."""

from collections.abc import Callable, Iterator
from datetime import date

from advisor.advice import Road, Rung
from advisor.advice.decide import Decision, decide
from advisor.advice.desk import Desk
from advisor.advice.judge import Case, case_of
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
        decision = decide(asked)
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
    if chosen is None:
        nearest = best_of_road(case, "one-bigger-gpu")
        yield road(case, "one-bigger-gpu", nearest, None)


def turning(steps: tuple[Step, ...]) -> Step:
    """The rung at which the question turns: the smallest that what is owned does not do, else the largest of all."""
    return next((step for step in steps if step.decision.kind not in ("keep", "change-settings")), steps[-1])


def turning_between(steps: tuple[Step, ...]) -> Step:
    """Between named systems: the largest typical model that one of them does; where none does any, the smallest."""
    return next((step for step in reversed(steps) if step.decision.chosen is not None), steps[0])


def label_facts(steps: tuple[Step, ...], step: Step) -> dict[str, Fact]:
    """What runs already, and the size of which the answer speaks."""
    runs = [step.rung.label for step in steps if step.decision.kind in ("keep", "change-settings")]
    owned = step.case.desk.have is not None
    return {"model": step.rung.model, "runs": ", ".join(runs) or "none of them", "next": step.rung.label, "owned": owned}
