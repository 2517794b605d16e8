"""How long the messages between the devices of an offer take at least: over the link that its words name, or over its host's slots."""

from advisor.advice.desk import Desk, Work
from advisor.advice.holds import Way
from advisor.advice.offers import Offer, goes_in_slot
from advisor.collective import spent
from advisor.errors import UnknownName
from advisor.joined import usual_slot
from advisor.link import Link
from advisor.placement import Message
from advisor.placement.seats import software
from advisor.placement.tensor import REDUCES_PER_LAYER
from advisor.system import Group
from advisor.ways import tables_of

VIA = " via "
NEVER = float("inf")


class Joins:
    """The messages of one work; each link is asked once for each software and number of devices, found once for a work table."""

    def __init__(self, desk: Desk, work: Work) -> None:
        self._desk = desk
        self._model = desk.model
        self._users = work.workload.users or 1
        self._known: dict[tuple[str, str, int, str, int, float], float] = {}

    def link(self, offer: Offer) -> Link | None:
        """What joins the devices, or None where that depends on more than the offer says."""
        key = offer.words, offer.host.id if offer.host else None
        links = self._desk.links
        if key not in links:
            links[key] = self._link(offer)
        return links[key]

    def _link(self, offer: Offer) -> Link | None:
        catalog, named = self._desk.catalog, offer.words.rpartition(VIA)
        if "(" in offer.words:
            return None
        if named[1]:
            return catalog.link(named[2]) if named[2] in catalog.links else None
        if offer.boxes > 1 or offer.host is None or not all(goes_in_slot(device) for device, *_ in offer.groups):
            return None
        try:
            return usual_slot([Group(device, count, size) for device, size, count in offer.groups], offer.host, catalog)
        except UnknownName:  # a width that the catalog has no link of
            return None

    def reduces_s(self, way: Way, offer: Offer) -> float:
        """Least seconds of a step's messages where all devices work on every layer."""
        ranks = offer.count if offer.boxes == 1 else offer.boxes
        return self._spent_s("all-reduce", way, offer, ranks, REDUCES_PER_LAYER * self._model.layers, self._users)

    def hops_s(self, way: Way, offer: Offer, users: float) -> float:
        """Least seconds of a step's messages of so many users where the devices work in turn."""
        layers, memory = self._model.layers, offer.memory_bytes
        working = sum(count * device.gpus_on_board for device, size, count in offer.groups if layers * size >= memory)
        return self._spent_s("send", way, offer, 2, max(0, working - 1), users)

    def _spent_s(self, kind: str, way: Way, offer: Offer, ranks: int, number: int, users: float) -> float:
        link = self.link(offer)
        if link is None:
            return 0.0
        carrier = software(way.backend, link)
        if carrier is None:
            return NEVER
        key = carrier, link.id, ranks, kind, number, users
        if key not in self._known:
            message = Message(kind, link, ranks, number, self._model.hidden_bytes, carrier)
            self._known[key] = spent(message, users, tables_of(self._desk.catalog).links).total_s
        return self._known[key]
