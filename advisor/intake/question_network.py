"""Computers of a question that a network joins: which sit apart, and what joins them."""

import re
from typing import TYPE_CHECKING

from advisor.intake.question_sides import Sides
from advisor.intake.question_words import Text
from advisor.reason import Reason
from advisor.record import replace

if TYPE_CHECKING:
    from advisor.catalog import Catalog

_HELPS = r"\b(?:help|join|combine|pair|connect|cluster|pool|together|link)\b(?![^.?!]*\b(?:or|vs|versus|instead|than)\b)"
_SECOND_BOX = r"\b(?:second|2nd|another|other)\s(?:identical\s|such\s)?(?:box|machine|server|rig|pc|node|computer|workstation)\b"
MOST_APART = 2  # cards that may each sit in a computer of its own where a network is named: more are in one
_A_PLACE = r"(?:pc|rig|server|machine|box|workstation|desktop|laptop|computer|tower)"
_SEVERAL_PLACES = (  # `a desktop with a 3090 and a laptop with a 4060`
    rf"\b{_A_PLACE}\s(?:with|has|having)\b[^.?!]*(?:,|\band)\s(?:an?|another|the other|my|the|one)\s(?:\w+\s){{0,2}}?"
    rf"{_A_PLACE}\s(?:with|has|having)\b|"
    rf"\b(?:two|2|both|three|3)\s(?:separate\s|different\s)?{_A_PLACE}s\b[^.?!]*\bone\s(?:with|has|having)\b"
)


def networked(question: Text, sides: Sides, network: str | None, usual: str, notes: list[Reason]) -> tuple[Sides, str | None]:
    """The sides over the network that the text names in place of the `usual` one; and what joins the computers of what is owned."""
    if network:
        over, named = f" via {usual}", f" via {network}"
        among = tuple(each.replace(over, named) for each in sides.among)
        sides = replace(sides, have=sides.have and sides.have.replace(over, named), among=among)
        if sides.have and len(among) == 1 and sides.have not in among[0] and re.search(_HELPS, question.original):
            sides = replace(sides, have=f"{sides.have} + {among[0]}", owned=sides.owned + 1, among=())  # one helps the other over it
    sides, network = _one_box(question, sides, network)
    if sides.owned > 1 and not network and re.search(_SEVERAL_PLACES, question.original):
        notes.append(Reason("ask.network", {"system": sides.have}))
        network = "ethernet"
    return sides, network


def _one_box(question: Text, sides: Sides, network: str | None) -> tuple[Sides, str | None]:
    """Several cards sit in one computer, which a network can only join to a second such one: then that is asked about."""
    if not (network and sides.have) or sides.owned <= MOST_APART or re.search(r"[(+]", sides.have) or not sides.in_slots:
        return sides, network
    if not re.search(_SECOND_BOX, question.original):
        return sides, None
    return replace(sides, among=(f"2x ({sides.have}) via {network}",)), None


def over_network(words: str, network: str | None, catalog: "Catalog") -> str:
    """Several machines of their own with the network between them that the text names; cards as they are."""
    from advisor.advice.offers import goes_in_slot
    from advisor.system import GroupWords, parse

    members = [each for each in parse(words).members if isinstance(each, GroupWords)]
    machines = [each for each in members if not goes_in_slot(catalog.device(each.name))]
    several = sum(each.count for each in members) > 1 and len(machines) == len(members) > 0
    return f"{words} via {network}" if network and several and " via " not in words else words
