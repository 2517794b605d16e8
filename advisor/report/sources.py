"""Who says so: the sources behind an answer, for `--why`."""

from advisor.reason import Reason
from advisor.report.page import Block, Listing
from advisor.report.pages.common import nearest_words
from advisor.speed import Estimate


def source_lines(given: Estimate, claims: tuple[Reason, ...]) -> list[Block]:
    """The sources that the claims name, of the devices, the model and the link, each once; and the nearest measurements."""
    named = [source for claim in claims for source in claim.sources]
    link = given.system.shown_link
    written = [source for group in given.system.groups for source in group.device.sources]
    written += [*given.model.sources, *(link.sources if link else ())]
    named += [f"{source.title}{f', {source.url}' if source.url else ''}" for source in written]
    blocks: list[Block] = [Listing("Sources", tuple(dict.fromkeys(named)))] if named else []
    rows = tuple(f"{row.id}: {nearest_words(row)}, {row.source}" for row in given.evidence.nearest)
    return [*blocks, Listing("Nearest measurements", rows)] if rows else blocks
