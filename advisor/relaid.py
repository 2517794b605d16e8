"""The limits of a layout that depends on the work: how many users, how long a context, if it were laid anew for them."""

from collections.abc import Callable

from advisor.memory import UNBOUNDED_CONTEXT_TOKENS, Fit, largest_between
from advisor.need import Workload
from advisor.record import replace
from advisor.ways import Way


def relaid(way: Way, fit: Fit, work: Workload) -> Fit:
    """The fit of an offload with the limits of the system: more users or tokens move more of the weights out."""

    def limit(asked: int, found: Callable[[Way, Workload], int], given: Workload) -> int:
        if not fit.fits and asked <= 1:
            return 0
        return max(asked, found(way, given)) if fit.fits else min(asked - 1, found(way, given))

    return replace(
        fit,
        most=lambda: limit(fit.at_a_time, most_users_of, work),
        longest=lambda: limit(work.context_tokens, longest_of, replace(work, users=fit.at_a_time)),
    )


def laid_either_way(fit: Fit, other: Fit) -> Fit:
    """The fit with the limits of the roomier of two layouts of one system."""
    return replace(
        fit, most=lambda: max(fit.max_users, other.max_users), longest=lambda: max(fit.max_context_tokens, other.max_context_tokens)
    )


def most_users_of(way: Way, work: Workload) -> int:
    """The most users that an offload of the system holds, by what the engine takes at a time."""
    key = "users", work.context_tokens
    if key not in way.limits:
        way.limits[key] = _largest(way.engine.max_sequences or 1, lambda count: way.holds(replace(work, users=count)))
    return way.limits[key]


def longest_of(way: Way, work: Workload) -> int:
    """The longest context that an offload of the system holds for each of these users."""
    key = "tokens", work.users or 1
    if key not in way.limits:
        longest = way.choice.model.max_context_tokens or UNBOUNDED_CONTEXT_TOKENS
        way.limits[key] = _largest(longest, lambda count: way.holds(replace(work, context_tokens=count)))
    return way.limits[key]


def _largest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `most` that holds, tried at both ends first; 0 where none does."""
    if holds(most):
        return most
    if not holds(1):
        return 0
    return largest_between(1, max(1, most - 1), holds)
