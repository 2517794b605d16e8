"""Messages between devices: seconds for one, by software, kind of link, ranks and size."""

from collections.abc import Iterable
from math import ceil, log2

from advisor.link import Link
from advisor.placement import Message
from advisor.price import Source
from advisor.record import dataclass
from advisor.units import GB, US
from advisor.yamlfile import given


@dataclass(frozen=True, kw_only=True)
class Latency:
    """What small messages of one software take over one kind of link, fitted by `tools/fit_links.py`.

    An all-reduce of two ranks takes `all_reduce_s`, each doubling of the ranks adds `doubling_s`; a send takes `send_s`. The
    link's own latency comes on top: once a send, once for each doubling of the ranks in an all-reduce.
    """

    software: str = given(about="key that the engines' backends name")
    kinds: tuple[str, ...] = given(default=(), about="link kinds it holds for; empty = every kind")
    transports: tuple[str, ...] = given(default=(), about="link transports it holds for; empty = every one")
    shapes: tuple[str, ...] = given(default=(), about="link shapes it holds for; empty = every one")
    least_nvlink_generation: int | None = given(default=None, about="holds for NVLink of this generation or a newer one")
    most_ranks: int | None = given(default=None, least=2, about="holds up to so many ranks")
    all_reduce_s: float = given("all_reduce_us", US, above=0)
    doubling_s: float = given("doubling_us", US, default=0.0, least=0)
    send_s: float = given("send_us", US, above=0)
    one_shot_s: float | None = given("one_shot_us", US, default=None, above=0, about="one exchange in which each rank reads all others")
    bandwidth_share: float = given(default=1.0, above=0, most=1, about="share of the link's effective bandwidth reached")
    rows: int = given(default=0, least=0, about="published rows the figure rests on")
    source: str = given(about="what it was fitted on")


@dataclass(frozen=True, kw_only=True)
class LinkRow:
    """A published microbenchmark of one message, as its source prints it; our reading of software, kind and transport."""

    id: str = given()
    source: str = given(about="who published it")
    url: str | None = given(default=None)
    link: str = given(about="the link as the source prints it")
    software: str | None = given(default=None, about="key of the latency table that it bears on; null = none of ours")
    kind: str = given(about="kind of the link, as in the links' records")
    transport: str = given(one_of=("peer", "host-staged", "tcp", "rdma"))
    op: str = given(one_of=("all-reduce", "one-shot", "send", "copy", "round-trip", "token"))
    ranks: int = given(default=2, least=2)
    message_bytes: float | None = given(default=None, above=0)
    latency_s: float | None = given("latency_us", US, default=None, above=0)
    bandwidth_bytes_per_s: float | None = given("bandwidth_gb_per_s", GB, default=None, above=0)
    note: str | None = given(default=None)


@dataclass(frozen=True, kw_only=True)
class Interruptions:
    """How often hardware or software stops a device that works all day."""

    per_device_year: float = given(above=0)
    source: str = given()


@dataclass(frozen=True, kw_only=True)
class LinkCalibration:
    """Everything fitted or published about messages: `catalog/link_calibration.yaml`."""

    latencies: tuple[Latency, ...] = given()
    interruptions: Interruptions = given()
    prefill_hidden_share: float = given(least=0, most=1, about="share of the link's bandwidth time hidden behind computing a prompt")
    sources: tuple[Source, ...] = given()

    def latency(self, software: str, link: Link, ranks: int) -> Latency:
        """The first entry that fits; files list the particular before the general, and end with one that fits all."""
        return _latency(self, software, link, ranks)


def _pick(latencies: tuple[Latency, ...], software: str, link: Link, ranks: int) -> Latency:
    return next((each for each in latencies if each.software in (software, "any") and _holds(each, link, ranks)), latencies[-1])


def _holds(entry: Latency, link: Link, ranks: int) -> bool:
    return (
        (not entry.kinds or link.kind in entry.kinds)
        and (not entry.transports or link.transport in entry.transports)
        and (not entry.shapes or link.shape in entry.shapes)
        and (link.nvlink_generation or 0) >= (entry.least_nvlink_generation or 0)
        and (entry.most_ranks is None or ranks <= entry.most_ranks)
    )


_BY_ID: dict[tuple[object, ...], tuple[LinkCalibration, Latency]] = {}


def _latency(calibration: LinkCalibration, software: str, link: Link, ranks: int) -> Latency:
    """Found once for each calibration object: hashing the whole table at every message would cost more than the arithmetic."""
    key = (id(calibration), software, link.kind, link.transport, link.shape, link.nvlink_generation, ranks)
    known = _BY_ID.get(key)
    if known is None or known[0] is not calibration:
        known = _BY_ID[key] = (calibration, _pick(calibration.latencies, software, link, ranks))
    return known[1]


@dataclass(frozen=True)
class Spent:
    """Seconds on messages, by what they wait for."""

    latency_s: float
    bandwidth_s: float

    @property
    def total_s(self) -> float:
        """Both."""
        return self.latency_s + self.bandwidth_s


def spent(message: Message, tokens: float, calibration: LinkCalibration) -> Spent:
    """All messages of this kind in one step of `tokens` tokens."""
    entry = calibration.latency(message.software, message.link, message.ranks)
    rate = reached_bytes_per_s(message.link, message.ranks) * entry.bandwidth_share
    latency, bandwidth = SHAPES[message.kind](entry, message, message.bytes_per_token * tokens, rate)
    return Spent(message.per_step * latency, message.per_step * bandwidth)


def reached_bytes_per_s(link: Link, ranks: int) -> float:
    """What one rank reaches, one way. In a fabric without a switch a rank has a wire of its own to each neighbour, and fewer
    ranks use fewer wires [8 MI300X reach 313 GB/s, 2 reach 48: stas00/ml-engineering, network].
    """
    rate = link.effective_bytes_per_s or link.bandwidth_bytes_per_s
    if link.kind == "fabric" and link.shape == "mesh" and link.max_devices:
        return rate * min(1.0, (ranks - 1) / (link.max_devices - 1))
    return rate


def all_reduce(entry: Latency, message: Message, size_bytes: float, rate: float) -> tuple[float, float]:
    """(latency, bandwidth) seconds of one all-reduce.

    A ring moves 2(n−1)/n of the bytes; a one-shot kernel reads (n−1) of them in a single exchange: the faster counts.
    """
    ranks, one_way = message.ranks, message.link.latency_s or 0.0
    doublings = log2(ranks)
    waiting = entry.all_reduce_s + entry.doubling_s * (doublings - 1) + ceil(doublings) * one_way
    ring = (waiting, 2 * (ranks - 1) / ranks * size_bytes / rate)
    if entry.one_shot_s is None:
        return ring
    return min(ring, (entry.one_shot_s + one_way, (ranks - 1) * size_bytes / rate), key=sum)


def send(entry: Latency, message: Message, size_bytes: float, rate: float) -> tuple[float, float]:
    """One hop between two devices."""
    return entry.send_s + (message.link.latency_s or 0.0), size_bytes / rate


def all_to_all(entry: Latency, message: Message, size_bytes: float, rate: float) -> tuple[float, float]:
    """Every rank sends to some others; `size_bytes` is what one rank sends in all."""
    latency = entry.all_reduce_s + entry.doubling_s * (log2(message.ranks) - 1)
    return latency + (message.link.latency_s or 0.0), size_bytes / rate


SHAPES = {"all-reduce": all_reduce, "send": send, "all-to-all": all_to_all}


def all_spent(messages: Iterable[Message], tokens: float, calibration: LinkCalibration) -> Spent:
    """All messages of one step."""
    latency = bandwidth = 0.0
    for message in messages:
        each = spent(message, tokens, calibration)
        latency, bandwidth = latency + each.latency_s, bandwidth + each.bandwidth_s
    return Spent(latency, bandwidth)
