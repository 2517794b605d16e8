"""A reason: one claim as data, with the numbers and sources that carry it. Text is made in `report`."""

from collections.abc import Mapping

from advisor.record import dataclass, field

Fact = float | int | str | bool | None


@dataclass(frozen=True)
class Reason:
    """A claim: what (`code`), with which numbers (`facts`, unit suffix in each key), from where (`sources`).

    `code` is `room.claim` (`memory.short`, `decode.bandwidth`, `link.latency`). The sentence for each code stands in
    `report/sentences.py`, as a template over the facts; a code without a sentence fails a test.
    """

    code: str
    facts: Mapping[str, Fact] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
