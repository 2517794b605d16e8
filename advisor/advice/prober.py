"""The verdict at other needs, and how it is told: what searches for flips ask."""

from advisor.advice import Flip
from advisor.advice.decide import Decision, decide
from advisor.advice.judge import Case, case_of, per_user
from advisor.advice.naming import main_change, named
from advisor.need import Need, Workload
from advisor.reason import Fact, Reason
from advisor.record import replace
from advisor.system import spec


class Prober:
    """The verdict at other needs, each worked out once."""

    def __init__(self, case: Case, decision: Decision) -> None:
        self.case = case
        self.today = decision
        self._known: dict[Need, Decision] = {case.need: decision}

    def at(self, need: Need) -> Decision:
        """The decision for another need on the same work table."""
        if need not in self._known:
            self._known[need] = decide(case_of(self.case.desk, need, self.case))
        return self._known[need]

    def differs(self, need: Need) -> bool:
        """Whether the verdict there is of another kind."""
        return self.at(need).kind != self.today.kind

    def at_users(self, users: int) -> Need:
        """The need for other users."""
        return self._working(replace(self.case.need.workload, users=users))

    def at_context(self, tokens: int) -> Need:
        """The need with another context."""
        return self._working(replace(self.case.need.workload, context_tokens=tokens))

    def _working(self, workload: Workload) -> Need:
        return replace(self.case.need, workload=workload)


def then(decision: Decision) -> Reason:
    """What the verdict becomes."""
    option = decision.chosen
    if option is None:
        return Reason("flip.nothing", {})
    facts: dict[str, Fact] = {"system": spec(option.estimate.system), "name": named(option.estimate.system)}
    facts["spend_usd"] = option.cost.spend_usd
    facts["per_user_tokens_per_s"] = per_user(option.estimate)
    if option.kind == "change-settings":
        facts |= {name: fact for change in option.changes for name, fact in change.facts.items()}
        return Reason(f"flip.change-{main_change(option.changes)}", facts)
    return Reason(f"flip.{option.kind}", facts)


def flip_of(wish: str, before: float, value: float, decision: Decision, facts: dict[str, Fact] | None = None) -> Flip:
    direction = "up" if value > before else "down"
    when = Reason(f"flip.{wish.replace('_', '-')}-{direction}", {"before": before, "value": value, **(facts or {})})
    return Flip(wish, before, value, when, then(decision), decision.kind)
