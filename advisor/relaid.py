"""The limits of a layout that depends on the work: how many users, how long a context, if it were laid anew for them."""

from collections.abc import Callable

from advisor.memory import UNBOUNDED_CONTEXT_TOKENS, Fit
from advisor.need import Workload
from advisor.record import replace
from advisor.ways import Way


def relaid(way: Way, fit: Fit, work: Workload) -> Fit:
    """The fit of an offload with the limits of the system: more users or tokens move more of the weights out."""
    most_users = way.engine.max_sequences or fit.users
    longest = way.choice.model.max_context_tokens or UNBOUNDED_CONTEXT_TOKENS

    def users() -> int:
        return _largest(fit.at_a_time, fit.fits, most_users, lambda count: way.holds(replace(work, users=count)))

    def tokens() -> int:
        asked = replace(work, users=fit.at_a_time)
        return _largest(work.context_tokens, fit.fits, longest, lambda count: way.holds(replace(asked, context_tokens=count)))

    return replace(fit, most=users, longest=tokens)


def laid_either_way(fit: Fit, other: Fit) -> Fit:
    """The fit with the limits of the roomier of two layouts of one system."""
    return replace(
        fit, most=lambda: max(fit.max_users, other.max_users), longest=lambda: max(fit.max_context_tokens, other.max_context_tokens)
    )


def most_users_of(way: Way, work: Workload) -> int:
    """The most users that an offload of the system holds, by what the engine takes at a time."""
    return _largest(
        1, way.holds(replace(work, users=1)), way.engine.max_sequences or 1, lambda count: way.holds(replace(work, users=count))
    )


def _largest(asked: int, fits: bool, most: int, holds: Callable[[int], bool]) -> int:
    """The largest number that holds, by bisection from the one asked, of which it is known."""
    low, high = (asked, max(asked, most)) if fits else (0, asked - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
