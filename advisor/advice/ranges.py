"""Offers in the order of their prices, as a whole and by kind; the same at other prices, and in computers that have more to give."""

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from advisor.advice.alike import contested, undominated
from advisor.advice.desk import Desk
from advisor.advice.hosts import Hosts, load_of
from advisor.record import replace

if TYPE_CHECKING:
    from advisor.advice.offers import Offer

MOST_MOVED = 2  # cards to buy that are also weighed in computers that give them more; three need such a one anyway
OFFERED_AS = {
    "replicas": ("second-gpu", "network-cluster", "replicas"),
    "new-host": ("keep",),
    "more-memory": ("keep",),
}  # as what a kind is offered


class Range:
    """Offers in the order of their least prices, as a whole and by kind; those of unknown price are only in `every`.

    Every offer of cards also stands for the same cards in a computer that has more to give; what cannot win is not priced. What the
    buyer `named` is never left out, and a computer for it that has more to give is no dearer than the usual one.
    """

    def __init__(self, offers: Iterable["Offer"], hosts: Hosts, like: "Range | None" = None, *, named: bool = False) -> None:
        self.every = tuple(offers)
        self.hosts = hosts
        self.named = named
        self._contested: frozenset[str] = like._contested if like else contested(self.every)
        priced = sorted([offer for offer in self.every if offer.least_usd is not None], key=attrgetter("least_usd"))
        self.priced = tuple(priced if named else undominated(priced, self._contested))
        self._of_kind: dict[str, tuple[Offer, ...]] = {}
        self._roomier: dict[Offer, tuple[Offer, ...]] = like._roomier if like else {}
        self._buying: dict[str, list[int]] = {}  # at which places of `every`

    def of_kind(self, kind: str) -> tuple["Offer", ...]:
        """The offers that may turn out to be of this kind: copies side by side need no link of their own."""
        if kind not in self._of_kind:
            kinds = OFFERED_AS.get(kind, (kind,))
            self._of_kind[kind] = tuple(offer for offer in self.every if offer.kind in kinds)
        return self._of_kind[kind]

    def priced_of_kind(self, kind: str | None) -> Sequence["Offer"]:
        """Those of them whose price is known, the cheapest first; of all kinds for None."""
        if kind is None:
            return self.priced
        key = f"priced {kind}"
        if key not in self._of_kind:
            kinds = OFFERED_AS.get(kind, (kind,))
            self._of_kind[key] = tuple(offer for offer in self.priced if offer.kind in kinds)
        return self._of_kind[key]

    def dearer(self, device: str, more_usd: float) -> "Range":
        """The same offers when each of one device costs more (or less)."""
        if not self._buying:
            for at, offer in enumerate(self.every):
                for name, _ in offer.bought:
                    self._buying.setdefault(name, []).append(at)
        every = list(self.every)
        for at in self._buying.get(device, ()):
            every[at] = dearer(every[at], device, more_usd)
        return Range(every, self.hosts, self, named=self.named)

    def rehosted(self, desk: Desk) -> "Range":
        """The same offers where computers cost otherwise: cards go into the one that is then the cheapest."""
        old, new = self.hosts, Hosts(desk)
        return Range((_rehosted(offer, old, new) for offer in self.every), new, named=self.named)

    def roomier(self, offer: "Offer") -> tuple["Offer", ...]:
        """The same cards in each computer that gives them more, cheapest first."""
        if offer not in self._roomier:
            self._roomier[offer] = tuple(self._moved(offer))
        return self._roomier[offer]

    def _moved(self, offer: "Offer") -> Iterator["Offer"]:
        hosts = self.hosts
        load = load_of(offer.groups)
        if offer.host is None or offer.least_usd is None or load[0] > MOST_MOVED and offer.kind != "keep" and not self.named:
            return
        before, _ = hosts.for_cards(*load)
        most_usd = hosts.usual_usd(load[1]) if self.named else float("inf")
        for usd, host, ram in hosts.roomier(offer.host, *load):
            if usd > most_usd:
                break  # a server just to make a card do it is no answer to "this card or that one?"
            total, more = offer.least_usd - (before or 0.0) + usd, ram if host is offer.host else None
            kind = offer.kind if offer.kind != "keep" else "more-memory" if more else "new-host"
            rate = hosts.bytes_per_s(host)
            moved = replace(offer, kind=kind, host=host, least_usd=total, ram_bytes=ram, ram_bytes_per_s=rate, more_ram_bytes=more)
            yield replace(moved, key=f"{offer.key} in {host.id} {ram:.0f}")


def dearer(offer: "Offer", device: str, more_usd: float) -> "Offer":
    """The same offer when each of one device costs more (or less)."""
    count = next((number for name, number in offer.bought if name == device), 0)
    return replace(offer, least_usd=offer.least_usd + count * more_usd) if count and offer.least_usd is not None else offer


def _rehosted(offer: "Offer", old: Hosts, new: Hosts) -> "Offer":
    """An offer of cards in what is now the cheapest computer that takes them."""
    if offer.host is None:
        return offer
    load = load_of(offer.groups)
    before, now = old.for_cards(*load), new.for_cards(*load)
    (was_usd, was), (usd, host) = before, now
    if before == now or host is None or was is None:
        return offer
    total = None if offer.least_usd is None or usd is None or was_usd is None else offer.least_usd - was_usd + usd
    key = f"{offer.key.removesuffix(was.id)}{host.id}"
    return replace(offer, host=host, least_usd=total, ram_bytes=new.ram_bytes(host), ram_bytes_per_s=new.bytes_per_s(host), key=key)
