"""What a budget makes of a name that leaves the machine open: the best of its kind that the money buys."""

from typing import TYPE_CHECKING

from advisor.intake.question_cards import macs_of_any_kind
from advisor.intake.question_macs import best_for, whole_line
from advisor.intake.question_names import Mention
from advisor.intake.question_roles import OWN, roles, settled
from advisor.intake.question_words import Text
from advisor.reason import Fact, Reason
from advisor.record import replace

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.market import Terms


def bought_within(question: Text, devices: list[Mention], budget_usd: float, terms: "Terms", catalog: "Catalog") -> list[Mention]:
    """The devices, those that are to be bought and whose name leaves open which one read as the best that the money buys: said aloud."""
    from advisor.advice.offers import goes_in_slot

    named = settled(question, roles(question.original, devices), catalog, budget=True)
    found = []
    for mention, role in ((each.mention, each.role) for each in named):
        family = () if role == OWN else mention.family or (mention.device,)
        boxes = tuple(each for each in family if not goes_in_slot(catalog.devices[each]))
        words = best_for(budget_usd / mention.count, boxes, mention.family_gib, terms, catalog)
        called = question.original[mention.named_at : mention.end].strip()
        if not words or words == (mention.name,):
            found.append(replace(mention, within=bool(words) or (role != OWN and bool(whole_line(called, catalog)))))
            continue
        facts: dict[str, Fact] = {"name": called, "budget_usd": budget_usd, "taken": " or ".join(words)}
        several = words if len(words) > 1 else ()
        found.append(replace(mention, name=words[0], sizes=several, note=Reason("ask.within-budget", facts), within=True))
    return found


def any_mac_within(question: Text, budget_usd: float, terms: "Terms", catalog: "Catalog") -> list[Mention]:
    """`which Mac under $4,000`: the best that the money buys; none where it buys none."""
    macs = macs_of_any_kind(question, catalog)
    found = [each for each in bought_within(question, macs, budget_usd, terms, catalog) if each.within]
    for mention in found:
        question.cross_out(mention.start, mention.end)
    return found
