"""What the user must hear beside the answer: overlays in use and warnings, on stderr."""

from advisor import correction
from advisor.answers import Answer, Compared, Estimated, Recommended, Scaled
from advisor.reason import Reason
from advisor.report.sentences import text


def _claims(answer: Estimated | Recommended | Scaled) -> tuple[Reason, ...]:
    if isinstance(answer, Estimated):
        return (*answer.estimate.warnings, *answer.cost.warnings)
    if isinstance(answer, Recommended):
        return answer.recommendation.warnings
    return answer.scale.warnings


def warned(answer: Compared) -> tuple[str, ...]:
    """The warnings of each system, with its number in the table."""
    estimated = ((number, item.estimate) for number, item in enumerate(answer.items, 1) if isinstance(item, Estimated))
    return tuple(dict.fromkeys(f"{number}: {text(claim)}" for number, estimate in estimated for claim in estimate.warnings))


def notes_of(answer: Answer) -> tuple[str, ...]:
    """The warnings as sentences, each once, the overlays that were laid over the shipped catalog, and corrections that cannot be read."""
    overlays = tuple(f"The catalog is overlaid by {path}." for path in answer.overlays)
    lost = correction.unreadable()
    if lost:
        overlays += (f"{lost} cannot be read: nothing is corrected by it. Mend it, or drop it with `advisor calibrate --reset`.",)
    said = warned(answer) if isinstance(answer, Compared) else tuple(dict.fromkeys(text(claim) for claim in _claims(answer)))
    return (*overlays, *said)
