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
    seen = tuple(search(case))
    bought = [option for option in seen if meets(option, need) and allowed(option.kind, need)]
    return Decision(min([*free, *bought], key=lambda option: rank(option, need), default=None), owned, changes, seen)
