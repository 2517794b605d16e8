"""A host: the computer around the cards – slots, lanes, power supply, memory, storage, price."""

from collections.abc import Sequence

from advisor.price import Price, Source
from advisor.record import dataclass
from advisor.units import GB, GIB
from advisor.yamlfile import given


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A slot for a card: physical size, electrical lanes when alone and when all slots of the group are used."""

    generation: int = given(least=1)
    lanes: int = given(least=1)
    lanes_shared: int | None = given(default=None)  # lanes when the neighbouring slot is filled too
    through_chipset: bool = given(default=False)


@dataclass(frozen=True, kw_only=True)
class Host:
    """The computer that carries cards."""

    id: str = given()
    name: str = given()
    short: str | None = given(default=None, about="what a table calls it, as in: a PC")
    aliases: tuple[str, ...] = given(default=())
    mount: str = given(
        default="slot", one_of=("slot", "module", "laptop")
    )  # module: for SXM and OAM devices; laptop: its GPU is soldered in
    dock: str | None = given(default=None, about="id of the part that each card needs to be joined to it")
    slots: tuple[Slot, ...] = given()
    max_cards: int = given(least=0, about="cards that fit side by side")
    airflow: bool = given(default=False, about="whether its own fans blow through cards that have none, as a rack server's do")
    power_supply_w: float = given(above=0, about="what the power supply gives")
    base_power_w: float = given(above=0, about="what it draws at work without cards")
    idle_power_w: float | None = given(default=None)
    memory_bytes: float = given("memory_gib", GIB, above=0)
    memory_most_bytes: float | None = given("memory_most_gib", GIB, default=None, above=0, about="what it takes at full speed: two modules")
    memory_channels: int = given(least=1)
    memory_type: str = given()
    memory_bandwidth_bytes_per_s: float = given("memory_bandwidth_gb_per_s", GB, above=0, about="nominal: channels times data rate")
    memory_reached_bytes_per_s: float | None = given("memory_reached_gb_per_s", GB, default=None, about="what programs reach of it")
    cpu_compute_flops: float | None = given("cpu_gflops", GB, default=None, about="FP32 rate of the processor")
    storage: str | None = given(default=None, about="what weights are loaded from; empty = the usual kind")
    network: tuple[str, ...] = given(default=())
    owned_default: bool = given(default=False)  # the desktop assumed around cards in --have
    prices: tuple[Price, ...] = given(default=())
    sources: tuple[Source, ...] = given()
    unverified: tuple[str, ...] = given(default=())
    notes: str | None = given(default=None)

    def __hash__(self) -> int:
        return hash(self.id)  # asked often; equality still compares every field

    def reached_bytes_per_s(self, share: float) -> float:
        """What programs reach of its memory: as the record says, else that share of the nominal rate."""
        return self.memory_reached_bytes_per_s or share * self.memory_bandwidth_bytes_per_s

    def widest_lanes(self, cards: int) -> list[int]:
        """The lanes of its slots when it carries so many cards, widest first."""
        return sorted(((slot.lanes_shared or slot.lanes) if cards > 1 else slot.lanes for slot in self.slots), reverse=True)

    def takes(self, cards: int, needs_lanes: Sequence[int] = ()) -> bool:
        """Whether so many cards go in, and those of them that split their slot find one as wide as they need (`device.lanes_needed`)."""
        if cards > self.max_cards:
            return False
        if not needs_lanes:
            return True
        lanes = self.widest_lanes(cards)
        return len(needs_lanes) <= len(lanes) and all(has >= need for has, need in zip(lanes, needs_lanes, strict=False))


@dataclass(frozen=True, kw_only=True)
class Storage:
    """Where weights are loaded from."""

    id: str = given()
    name: str = given()
    read_bytes_per_s: float = given("read_gb_per_s", GB, above=0)
    source: str = given()
