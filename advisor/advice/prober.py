"""The verdict at other needs, and how it is told: what searches for flips ask."""

from collections.abc import Iterator

from advisor.advice import Flip
from advisor.advice.decide import Decision, decide, decide_harder
from advisor.advice.desk import work_of
from advisor.advice.judge import Case, Option, case_of, counted_usd, per_user
from advisor.advice.naming import main_change, named, set_up
from advisor.need import Need, Workload
from advisor.reason import Fact, Reason
from advisor.record import replace
from advisor.system import spec

SUFFIXES = {"users": "users", "context_tokens": "tokens", "min_tokens_per_s": "tokens_per_s", "budget_usd": "usd", "price_usd": "usd"}


class Prober:
    """The verdict at other needs, each worked out once."""

    def __init__(self, case: Case, decision: Decision) -> None:
        self.case = case
        self.today = decision
        self._known: dict[Need, Decision] = {case.need: decision}
        self.rivals: list[Option] = []  # the best of other kinds, at today's prices
        self._harder = [case]  # of today's and the harder ones asked since: what failed there fails where still more is asked

    def at(self, need: Need, harder: bool = False) -> Decision:
        """The decision for another need on the same work table; a `harder` one asks for no less than today's."""
        if need not in self._known:
            like = next(case for case in reversed(self._harder) if no_easier(need, case.need)) if harder else self.case
            case = case_of(self.case.desk, need, like, harder=harder, lean=True)
            if case.work == self.case.work:  # what meets today's need is asked about later
                case = replace(case, counts_tokens_per_s=min(need.min_tokens_per_s, self.case.need.min_tokens_per_s))
            self._known[need] = decide_harder(case, self.today) if harder else decide(case)
            if harder:
                self._harder.append(case)
        return self._known[need]

    def alike(self) -> Iterator[Option]:
        """What was estimated on the way, of today's very work."""
        work = work_of(self.case.need)
        for need, decision in self._known.items():
            if work_of(need) == work:
                yield from (*decision.seen, *((decision.chosen,) if decision.chosen else ()))
        yield from self.rivals

    def differs(self, need: Need, harder: bool = False) -> bool:
        """Whether the verdict there is of another kind."""
        return self.at(need, harder).kind != self.today.kind

    def matters(self, other: Decision) -> bool:
        """Whether a buyer would care for the difference: what is free against what is bought, or much more money or speed."""
        one, new = self.today.chosen, other.chosen
        if one is None or new is None:
            return one is not new
        before, after = (counted_usd(option.cost, self.case.need) or 0.0 for option in (one, new))
        worth = self.case.desk.choice("worth-factor")
        slow, fast = sorted((per_user(one.estimate), per_user(new.estimate)))
        if before == after <= 0:
            return one.kind != new.kind and fast >= worth * slow
        if min(before, after) <= 0:
            return True
        return max(before, after) >= worth * min(before, after) or fast >= worth * slow

    def at_users(self, users: int) -> Need:
        """The need for other users."""
        return self._working(replace(self.case.need.workload, users=users))

    def at_context(self, tokens: int) -> Need:
        """The need with another context."""
        return self._working(replace(self.case.need.workload, context_tokens=tokens))

    def _working(self, workload: Workload) -> Need:
        return replace(self.case.need, workload=workload)


def no_easier(need: Need, other: Need) -> bool:
    """Whether a need asks for no less than another one of the same buyer, whose money aside only work and speed differ."""
    new, old = need.workload, other.workload
    more_work = (new.users or 1) >= (old.users or 1) and new.context_tokens >= old.context_tokens
    return more_work and need.min_tokens_per_s >= other.min_tokens_per_s and need.kv_quant == other.kv_quant


def then(decision: Decision) -> Reason:
    """What the verdict becomes."""
    option = decision.chosen
    if option is None:
        return Reason("flip.nothing", {})
    facts: dict[str, Fact] = {"system": spec(option.estimate.system), "name": named(option.estimate.system)}
    facts |= {"setup": set_up(option.estimate, option.cost), "spend_usd": option.cost.spend_usd}
    facts["per_user_tokens_per_s"] = per_user(option.estimate)
    if option.kind == "change-settings":
        facts |= {name: fact for change in option.changes for name, fact in change.facts.items()}
        return Reason(f"flip.change-{main_change(option.changes)}", facts)
    return Reason(f"flip.{option.kind}", facts)


def flip_of(wish: str, before: float, value: float, decision: Decision, facts: dict[str, Fact] | None = None) -> Flip:
    direction = "up" if value > before else "down"
    sides: dict[str, Fact] = {"before": before, "value": value, f"before_{SUFFIXES[wish]}": before}
    when = Reason(f"flip.{wish.replace('_', '-')}-{direction}", {**sides, **(facts or {})})
    return Flip(wish, before, value, when, then(decision), decision.kind)
