"""Everything timed of a plan for one work: its speeds, and the terms of one generated token."""

from math import ceil

from advisor import served
from advisor.correction import Correction
from advisor.need import Workload
from advisor.pace import Team, prompt_s, step_terms, times
from advisor.pace import served as shared_out
from advisor.plan import Plan
from advisor.record import dataclass, replace
from advisor.step import Terms


@dataclass(frozen=True, eq=False)
class Timed:
    """Tokens per second and seconds; None for what the work does not have."""

    decode_tokens_per_s: float  # all users together while all generate
    prefill_tokens_per_s: float | None
    first_token_s: float | None
    sustained_tokens_per_s: float
    terms: Terms  # of one generated token of one user, at the mean depth
    team_users: int  # of the group with the slowest step


def timed(plan: Plan, work: Workload, at_a_time: int) -> Timed:
    """Each replica group at the users that it works on at a time. The terms are those of the mean token, so that their sum is the
    users at a time over the speed; what limits is read off the group with the slowest step.
    """
    runner = plan.runner
    sustained = prefill = first_s = 0.0
    groups: list[tuple[Terms, float, int]] = []
    for team, copies, each in shared_out(plan.teams, at_a_time):
        terms = step_terms(runner, team, each, work.prompt_tokens + work.generate_tokens / 2)
        step_s = terms.total_s
        groups.append((terms, copies * each / step_s, each))
        one_s, reading_s = _reading_s(plan, team, work, each)
        if work.prompt_tokens:
            prefill += copies * work.prompt_tokens / one_s
            turns = ceil((work.users or 1) / at_a_time) - 1  # before the last of those who wait gets theirs
            turn_s = each * reading_s + work.generate_tokens * step_s
            first_s = max(first_s, one_s + (each - 1) * reading_s + step_s + turns * turn_s)
        constants = runner.constants(team.stages[0][0])
        sustained += copies * served.sustained_tokens_per_s(each, work.prompt_tokens, work.generate_tokens, reading_s, step_s, constants)
    decode = sum(rate for _, rate, _ in groups)
    terms, _, each = max(groups, key=lambda group: group[0].total_s)
    if len(groups) > 1:
        terms = sum((times(group_terms, rate / decode) for group_terms, rate, _ in groups), Terms())
    return Timed(decode, prefill or None, first_s or None, sustained, terms, each)


def _reading_s(plan: Plan, team: Team, work: Workload, users: int) -> tuple[float, float]:
    """Seconds of reading a prompt alone, and one of as many as the team has users."""
    if not work.prompt_tokens:
        return 0.0, 0.0
    one_s = prompt_s(plan.runner, team, work.prompt_tokens)
    return one_s, prompt_s(plan.runner, team, work.prompt_tokens, users) if users > 1 else one_s


def corrected(given: Timed, known: Correction | None) -> Timed:
    """All times of generating and of reading divided by what the owner's hardware does better than estimated."""
    if known is None:
        return given
    decode, prefill = known.decode_factor or 1.0, known.prefill_factor or 1.0
    step_s, first_s = given.terms.total_s, given.first_token_s
    return replace(
        given,
        decode_tokens_per_s=given.decode_tokens_per_s * decode,
        sustained_tokens_per_s=given.sustained_tokens_per_s * decode,
        prefill_tokens_per_s=given.prefill_tokens_per_s * prefill if given.prefill_tokens_per_s else None,
        first_token_s=(first_s - step_s) / prefill + step_s / decode if first_s else None,
        terms=times(given.terms, 1 / decode),
    )
