"""How sure an answer is: by the intervals of its figures, by what was published of its hardware, by what its owner measured."""

from advisor.advice.judge import per_user
from advisor.need import Need
from advisor.speed import Estimate, Speed


def straddles(speed: Speed | None, floor: float) -> bool:
    """Whether the interval of a figure has the wanted value inside."""
    return speed is not None and speed.low < floor < speed.high


def sure(estimate: Estimate, need: Need) -> bool:
    """Whether no floor lies within the interval of its figure."""
    late = need.max_first_token_s is not None and straddles(estimate.first_token_s, need.max_first_token_s)
    return not late and not straddles(estimate.decode_per_user, need.min_tokens_per_s)


def _thin(estimate: Estimate, enough_rows: float) -> bool:
    """Whether nobody measured this device and hardly anybody its kin."""
    found = estimate.evidence
    return found.basis != "measured" and not found.own_rows and found.family_rows < enough_rows


def confidence(estimate: Estimate, need: Need, enough_rows: float) -> str:
    """How sure the answer is: lower where an interval straddles a floor, nobody measured this very hardware, or the owner measured less
    than estimated beside it; low where also its family has less than `enough_rows`, or where it would not do if it fell as short.
    """
    if _thin(estimate, enough_rows):
        return "low"
    doubts = not sure(estimate, need)
    far = estimate.evidence.basis in ("extrapolated", "physics-only")
    doubt = estimate.doubt
    if (doubts and far) or (doubt and doubt.decode_factor * per_user(estimate) < need.min_tokens_per_s):
        return "low"
    return "medium" if doubts or doubt or not estimate.evidence.known else "high"
