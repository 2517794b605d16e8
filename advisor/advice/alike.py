"""Offers that cannot win: another one is of the same chips with the same memory, quicker, and no dearer.

Within a class, everything that an estimate and a bill take from a device is equal but its bandwidth and its price; no speed
falls as bandwidth rises.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from advisor.device import Device
from advisor.record import fields

if TYPE_CHECKING:
    from advisor.advice.offers import Offer, Owned

# what tells a device from others of its class, or enters neither an estimate nor a bill
UNASKED = frozenset(
    (
        *("id", "name", "chip", "aliases", "pci_ids", "variant_of", "rebuilt", "gpu_cores", "noise", "launched", "availability", "notes"),
        *("memory_type", "memory_bus_bits", "bandwidth_bytes_per_s", "idle_power_w", "prices", "sources", "unverified"),
        *("cooling", "power_plug", "display_ports"),
    )
)


class Classes:
    """Names the classes of offers; each device is looked at once."""

    def __init__(self, measured: Collection[str] = ()) -> None:
        self._chips: dict[str, str] = {}
        self._measured = measured  # by the owner: devices that their like tell nothing of

    def of(self, kind: str, groups: Sequence["Owned"], bought: Sequence["Owned"]) -> str:
        """The class of equal devices that are all bought, alone or beside what is owned; "" where an offer is in a class of its own."""
        if len(bought) != 1 or groups[-1] != bought[0] or bought[0][0].id in self._measured:
            return ""
        device, memory_bytes, count = bought[0]
        if device.id not in self._chips:
            self._chips[device.id] = _chip(device)
        beside = "".join(f"{number} {each.id} {size:.0f} + " for each, size, number in groups[:-1])
        return f"{kind} {beside}{count} {memory_bytes:.0f} {self._chips[device.id]}"


def _chip(device: Device) -> str:
    return repr([getattr(device, each.name) for each in fields(type(device)) if each.name not in UNASKED])


def contested(offers: Iterable["Offer"]) -> frozenset[str]:
    """The classes of several offers: hardly any."""
    counts = Counter([offer.alike for offer in offers])
    return frozenset([alike for alike, count in counts.items() if alike and count > 1])


def undominated(priced: Sequence["Offer"], among: Container[str]) -> list["Offer"]:
    """Of offers in the order of their prices, those than which none of their class is quicker at no higher price. `among` are the
    classes of several: a thousand offers are gone through for each price of a device.
    """
    quickest: dict[str, float] = {}
    beaten: set[Offer] = set()
    for _, level in groupby([offer for offer in priced if offer.alike in among], key=attrgetter("least_usd")):
        offers = tuple(level)  # of one price, of which each counts against the others
        for offer in offers:
            quickest[offer.alike] = max(offer.bandwidth_bytes_per_s, quickest.get(offer.alike, 0.0))
        beaten.update(offer for offer in offers if offer.bandwidth_bytes_per_s < quickest[offer.alike])
    return [offer for offer in priced if offer not in beaten]
