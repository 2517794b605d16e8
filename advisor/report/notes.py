"""What the user must hear beside the answer: overlays in use and warnings, on stderr."""

from advisor.answers import Answer, Compared, Estimated, Recommended
from advisor.reason import Reason
from advisor.report.sentences import text


def _claims(answer: Answer) -> tuple[Reason, ...]:
    if isinstance(answer, Estimated):
        return (*answer.estimate.warnings, *answer.cost.warnings)
    if isinstance(answer, Compared):
        return tuple(claim for item in answer.items if isinstance(item, Estimated) for claim in item.estimate.warnings)
    if isinstance(answer, Recommended):
        return answer.recommendation.warnings
    return answer.scale.warnings


def notes_of(answer: Answer) -> tuple[str, ...]:
    """The warnings as sentences, each once, and the overlays that were laid over the shipped catalog."""
    overlays = tuple(f"The catalog is overlaid by {path}." for path in answer.overlays)
    return (*overlays, *dict.fromkeys(text(claim) for claim in _claims(answer)))
