"""More memory in a computer that is owned: what a kit of so much costs, and how far its board goes."""

from collections.abc import Iterator
from math import ceil

from advisor.billed import CostLine
from advisor.host import Host
from advisor.money import Money
from advisor.reason import Fact, Reason


def kit(host: Host, ram_bytes: float, money: Money) -> CostLine | None:
    """A whole new kit of so many bytes, since modules beside the old ones run slower; None where nobody sells any."""
    generation = host.memory_type.partition("-")[0]
    fitting = [part for part in money.parts_of("memory") if part.memory_bytes and part.memory_type == generation]
    lines = [CostLine(part.id, part.name, ceil(ram_bytes / (part.memory_bytes or 1.0)), part.usd, as_of=part.date) for part in fitting]
    return min(lines, key=lambda line: (line.usd or 0.0) * line.count, default=None)


def sizes(host: Host, ram_bytes: float) -> Iterator[float]:
    """Sizes above what is there: all that the board takes, its half, its quarter …, the smallest first.

    The same ones whatever is there, so that who owns more never has to buy more.
    """
    size = host.memory_most_bytes or 0.0
    while size / 2 > ram_bytes:
        size /= 2
    while host.memory_most_bytes is not None and ram_bytes < size <= host.memory_most_bytes:
        yield size
        size *= 2


def added(host: Host, wanted_bytes: float | None, ram_bytes: float, money: Money) -> tuple[list[CostLine], list[Reason]]:
    """The kit of a computer that is owned where more than its memory is wanted, and why."""
    line = kit(host, wanted_bytes, money) if wanted_bytes is not None and wanted_bytes > ram_bytes else None
    if line is None or line.usd is None:
        return [], []
    facts: dict[str, Fact] = {"ram_bytes": wanted_bytes, "owned_bytes": ram_bytes, "price_usd": line.count * line.usd}
    return [line], [Reason("host.memory", facts)]
