"""Lines of a bill, and those of a link: the bridge, cables, NICs and switch that one buys for it."""

from collections.abc import Mapping, Sequence

from advisor.link import Link, LinkPart
from advisor.reason import Reason
from advisor.record import dataclass
from advisor.system import Box


@dataclass(frozen=True, eq=False)
class CostLine:
    """One line of the bill: `count` of a thing at `usd` each; `owned` ones are not paid."""

    what: str
    name: str
    count: int
    usd: float | None
    owned: bool = False
    as_of: str | None = None
    condition: str | None = None


def parts_needed(part: LinkPart, link: Link, ends: int, devices: int, lacking: int | None = None) -> int:
    """How many of a link's part `ends` joined ends need, with `devices` in all; `lacking` of the ends have no port of their own."""
    if ends < part.needed_from:
        return 0
    if part.per == "pair":
        return ends * (ends - 1) // 2 if link.shape == "mesh" else max(1, ends // 2) if link.shape == "pair" else ends - 1
    return {"system": 1, "box": ends if lacking is None else lacking, "device": devices}[part.per]


def link_lines(
    link: Link | None, ends: int, devices: int, owned: bool, overrides: Mapping[str, float], boxes: Sequence[Box] = ()
) -> list[CostLine]:
    """The bridge, cables, NICs and switch of one link; no NIC for a box whose own port does, no price where a card has no slot."""
    if link is None or ends < 2:
        return []
    if link.id in overrides:
        return [CostLine(link.id, link.name, 1, overrides[link.id], owned)]
    without = [box for box in boxes if not box.has_port(link)]
    slotless = any(box.groups[0].device.is_box for box in without)
    needed = [(part, parts_needed(part, link, ends, devices, len(without) if boxes else None)) for part in link.parts]
    return [
        CostLine(link.id, f"adapter for {link.name}", count, None, owned)
        if slotless and part.per == "box"
        else CostLine(link.id, part.name, count, part.usd, owned, part.date)
        for part, count in needed
        if count and (part.usd is not None or slotless)
    ]


def unpriced_parts(link: Link | None, ends: int, devices: int, overrides: Mapping[str, float]) -> list[Reason]:
    """What one buys for a link at a price that nobody says: it is not on the bill."""
    if link is None or ends < 2 or link.id in overrides:
        return []
    unknown = [part.name for part in link.parts if part.usd is None and parts_needed(part, link, ends, devices)]
    return [Reason("price.part-unknown", {"name": link.name, "part": name}) for name in unknown]
