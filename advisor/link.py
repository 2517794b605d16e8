"""A link: a way two devices exchange bytes."""

from advisor.price import Source
from advisor.record import dataclass
from advisor.units import GB, US
from advisor.yamlfile import given

SHAPES = ("pair", "switch", "ring", "mesh")
JOINS = ("devices", "host")  # host: between a device and its processor's memory, no way between two devices


@dataclass(frozen=True, kw_only=True)
class LinkPart:
    """Something one buys for a link: a bridge, a cable, a NIC, a switch; `per` says how many are needed (pair: each pair joined)."""

    name: str = given()
    per: str = given(one_of=("pair", "box", "system", "device"))
    usd: float | None = given(default=None, above=0, about="what one costs; left out where nobody says")
    needed_from: int = given(default=2, least=2)  # ends joined from which it is needed: two boxes need no switch
    date: str | None = given(default=None)
    source: str | None = given(default=None)
    unverified: bool = given(default=False)


@dataclass(frozen=True, kw_only=True)
class Link:
    """Bandwidth each way, latency, shape, reach. Latency by software and ranks is fitted: see calibration, key `links`."""

    id: str = given()
    name: str = given()
    kind: str = given(one_of=("pcie", "nvlink", "fabric", "thunderbolt", "usb4", "ethernet", "infiniband"))
    scope: str = given(one_of=("in-box", "between-boxes"))
    transport: str = given(one_of=("peer", "host-staged", "tcp", "rdma"), about="peer and host-staged in a computer, tcp and rdma between")
    joins: str = given(default="devices", one_of=JOINS)
    aliases: tuple[str, ...] = given(default=())
    bandwidth_bytes_per_s: float = given("bandwidth_gb_per_s", GB, above=0, about="nominal, one way")
    effective_bytes_per_s: float | None = given("effective_gb_per_s", GB, default=None, above=0, about="reached, one way")
    latency_s: float | None = given("latency_us", US, default=None, above=0, about="one way for a small message")
    latency_software: str | None = given(default=None)
    shape: str = given(one_of=SHAPES)
    max_devices: int | None = given(default=None, least=2)
    pcie_generation: int | None = given(default=None)
    pcie_lanes: int | None = given(default=None)
    nvlink_generation: int | None = given(default=None)
    devices: tuple[str, ...] = given(default=(), about="ids of the devices that have it; leave out where any with the slot or port does")
    parts: tuple[LinkPart, ...] = given(default=())
    since: str | None = given(default=None)
    sources: tuple[Source, ...] = given()
    unverified: tuple[str, ...] = given(default=())
    notes: str | None = given(default=None)
