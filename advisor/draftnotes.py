"""What is good to know of a new record before it counts: what was not said of it, and words that no other record has."""

from collections.abc import Iterator, Mapping
from typing import Any

from advisor.catalog import Catalog
from advisor.device import SOLDERED
from advisor.drafts import asks
from advisor.yamlcheck import did_you_mean

SLOT_KEY = "pcie_lanes"  # without it a card is not known to go into a slot
OF_CARDS = ("power_w", "pcie_generation", SLOT_KEY)  # what a card may lack, though several of them are estimated by it
UNSAID = {
    "part": "no part to buy is named, so it costs $0 in every estimate: `--part 'Bridge:pair:120'` for each bridge, cable, NIC or "
    "switch, `--part none` where there is none.",
    "price_usd": "no price is given, so it is never chosen by `recommend`: `--price-usd 1999`, or `--price ID=USD` for one answer.",
    SLOT_KEY: "no lanes are given, so no slot is known to take it, and it is never chosen by `recommend`: `--pcie-lanes 16`.",
}


def notes(kind: str, said: Mapping[str, Any], record: Mapping[str, Any], catalog: Catalog) -> Iterator[str]:
    """Each in a sentence; `catalog` is the one below the new record."""
    lacking = [key for key in OF_CARDS if _is_card(record) and key not in record]
    if lacking:
        yield f"not given: {', '.join(lacking)}; fill them in for estimates of power and of several cards."
    if SLOT_KEY in lacking:
        yield UNSAID[SLOT_KEY]
    yield from _unheard(record, catalog) if kind == "devices" else ()
    free = record.get("kind") == "pcie" or record.get("kind") in SOLDERED  # a slot needs nothing to be bought, a chip has no price
    yield from (UNSAID[ask.option] for ask in asks(kind) if ask.offered and ask.option not in said and not free)


def _is_card(record: Mapping[str, Any]) -> bool:
    return record.get("kind") == "gpu" and record.get("mount", "slot") == "slot"


def _unheard(record: Mapping[str, Any], catalog: Catalog) -> Iterator[str]:
    """That no other device has its architecture: new, or misspelled, and then it is estimated by less than is known of its kin."""
    others = [catalog.plain("devices", each) for each in catalog.ids("devices") if each != record.get("id")]
    word, maker = str(record.get("architecture")), record.get("maker")
    if any(other.get("architecture") == word for other in others):
        return
    known = tuple(sorted({other["architecture"] for other in others if other.get("maker") == maker}))
    near = did_you_mean(word, known)
    there = f" (those of {maker} are {', '.join(known)})" if known and not near else ""
    yield f"no other device has the architecture {word}{near or there}: it is estimated by what its maker's devices have in common."
