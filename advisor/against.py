"""Several devices against one: how much faster, and the most that any number could be [Amdahl 1967]."""

from advisor.pace import Runner, Team, step_terms, teams
from advisor.placement import Part, Placement
from advisor.record import dataclass, replace
from advisor.step import Terms


@dataclass(frozen=True)
class Held:
    """A speed over that of one device whose memory held everything, and the speed that no number of devices passes."""

    speedup: float
    ceiling: float
    limit_tokens_per_s: float  # all users together


def held(runner: Runner, placement: Placement, decode_tokens_per_s: float, users: int, filled_tokens: float) -> Held:
    """The fastest device of the placement alone, all weights in it whether they fit or not, is what counts as one."""
    one_tokens_per_s = users / held_terms(runner, placement, users, filled_tokens).total_s
    limit = max(decode_tokens_per_s, users / _least_s(runner, placement, users, filled_tokens))
    return Held(decode_tokens_per_s / one_tokens_per_s, limit / one_tokens_per_s, limit)


def held_terms(runner: Runner, placement: Placement, users: int, filled_tokens: float) -> Terms:
    """The step of that one device."""
    devices = {id(part.device): part for part in placement.parts}
    alone = [Team(((Part(part.device, part.memory_bytes),),), (), 1, 1.0, 0.0, 0.0, 1) for part in devices.values()]
    return min((step_terms(runner, team, users, filled_tokens) for team in alone), key=lambda terms: terms.total_s)


def _least_s(runner: Runner, placement: Placement, users: int, filled_tokens: float) -> float:
    """Seconds of a step with any number of such devices and links that cost nothing: what does not shrink.

    The fixed costs, where each device works on every layer; of a pipeline one pass, for one user where users fill it; of
    replicas the group that one user sees.
    """
    if any(part.host_dense_share + part.host_expert_share for part in placement.parts):
        return held_terms(runner, placement, users, filled_tokens).total_s  # enough of them hold everything
    if placement.groups > 1:
        return min(step_terms(runner, team, 1, filled_tokens).total_s for team in teams(placement))
    (team,) = teams(placement)
    if placement.stages > 1:
        return step_terms(runner, replace(team, messages=()), 1 if placement.pipeline_fill else users, filled_tokens).total_s
    return held_terms(runner, placement, users, filled_tokens).overhead_s
