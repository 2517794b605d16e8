"""Deciding: what is owned if it does, else another setting, else the cheapest (or fastest) thing to buy."""

from advisor.advice.judge import Case, Option, allowed, meets, rank
from advisor.advice.owned import change, keep, keep_meets
from advisor.advice.search import search
from advisor.reason import Reason
from advisor.record import dataclass


@dataclass(frozen=True, eq=False)
class Decision:
    """The chosen option (None: nothing meets the need), and what was seen of what is owned."""

    chosen: Option | None
    keep: Option | Reason | None
    changes: tuple[Option, ...]
    seen: tuple[Option, ...]  # everything of the market that was estimated on the way

    @property
    def kind(self) -> str:
        """The verdict kind."""
        return self.chosen.kind if self.chosen else "nothing-fits"


def decide_harder(case: Case, today: Decision) -> Decision:
    """The verdict on a need that is no easier than today's: what is owned and did not do then does not do now."""
    if case.need.prefer != "cheapest" or today.kind in ("keep", "change-settings"):
        return decide(case)
    return _bought(case, [], today.keep, today.changes)


def _bought(case: Case, free: list[Option], owned: Option | Reason | None, changes: tuple[Option, ...]) -> Decision:
    """What to buy, unless something that is free is better."""
    need, seen = case.need, tuple(search(case))
    able = [option for option in seen if meets(option, need) and allowed(option.kind, need)]
    return Decision(min([*free, *able], key=lambda option: rank(option, need), default=None), owned, changes, seen)


def decide(case: Case, thorough: bool = False) -> Decision:
    """The verdict by the rule. `thorough` looks at other settings even where none is needed, to show them."""
    need = case.need
    owned = keep(case) if case.desk.have else None
    kept = owned is not None and keep_meets(owned, need)
    cheap = need.prefer == "cheapest"
    changes: tuple[Option, ...] = ()
    if owned is not None and (thorough or not cheap or not kept):
        changes = change(case, owned, need_only=kept)
    free = [owned] if kept and isinstance(owned, Option) else []
    if cheap and free:
        return Decision(free[0], owned, changes, ())
    free += [option for option in changes if meets(option, need)]
    if cheap and free:
        return Decision(min(free, key=lambda option: rank(option, need)), owned, changes, ())
    return _bought(case, free, owned, changes)
