"""Systems called by their makers' names, for facts that sentences show."""

import re
from collections.abc import Iterable

from advisor.around import host_bytes_of
from advisor.link import Link
from advisor.market import Cost, thing_name
from advisor.reason import Reason
from advisor.record import dataclass
from advisor.speed import Estimate
from advisor.system import Box, System
from advisor.units import GIB, figure

VOWEL_SOUND = re.compile(r"[aeio]|u(?!s)|[AEIO](?![A-Z])|8|1[18]|[AEFHILMNORSX][A-Z0-9]")  # spoken with a vowel: an RTX, an 850 W supply
MASS = re.compile(r"\d+ GB of |(?:Two|Three) ")  # named without an article: 64 GB of DDR5 memory


def articled(name: str, count: int = 1) -> str:
    """The name behind its number or its article."""
    if count > 1:
        return f"{count} × {name}"
    if MASS.match(name):
        return name[0].lower() + name[1:]  # two 1200 W PSUs
    return f"{'an' if VOWEL_SOUND.match(name) else 'a'} {name}"


def _box(box: Box) -> str:
    groups = ((group.count, thing_name(group.device, group.memory_bytes)) for group in box.groups)
    return " + ".join(f"{count} × {name}" if count > 1 else name for count, name in groups)


def named(system: System) -> str:
    """The system as one says it: 2 × GeForce RTX 3090 24GB over PCIe 4.0 x8."""
    boxes: dict[str, int] = {}
    for box in system.boxes:
        boxes[_box(box)] = boxes.get(_box(box), 0) + 1
    words = " + ".join(f"{count} × {name}" if count > 1 else name for name, count in boxes.items())
    link = system.shown_link
    return f"{words} over {_link_name(link)}" if link and system.count > 1 else words


def _link_name(link: Link) -> str:
    """The link as one says it; of NVLink not also which cards it is made for, which the system names."""
    return re.split(r",| \(", link.name)[0] if link.kind == "nvlink" else link.name


@dataclass(frozen=True)
class Beside:
    """What the money buys beside devices and their link, in short words: the computer, and its parts; each with its number."""

    computers: tuple[tuple[str, int], ...]
    parts: tuple[tuple[str, int], ...]


def bought_beside(system: System, cost: Cost) -> Beside:
    """What a price is for that the system's words do not name."""
    hosts = {box.host.id: box.host.short or box.host.name for box in system.boxes if box.host}
    named = {group.device.id for group in system.groups} | {link.id for link in (system.link, *(box.link for box in system.boxes)) if link}
    lines = [line for line in cost.lines if not line.owned and line.what not in named]
    computers = tuple((hosts[line.what], line.count) for line in lines if line.what in hosts)
    return Beside(computers, tuple((line.name.partition(" (")[0], line.count) for line in lines if line.what not in hosts))


def computer_gb(system: System) -> str:
    """How much memory its computer has, as it is sold: `256`; `` where nobody says."""
    ram_bytes = host_bytes_of(system)
    return figure(ram_bytes / GIB) if ram_bytes else ""


def set_up(estimate: Estimate, cost: Cost) -> str:
    """The system with all that its price buys, and how much of the computer it leans on: GeForce RTX 4090 24GB in a server with 256 GB,
    part of the model in its memory.
    """
    system, spilt = estimate.system, estimate.placement.strategy == "offload"
    words, bought = named(system), bought_beside(system, cost)
    if bought.computers:
        computers = " and ".join(articled(name, count) for name, count in bought.computers)
        sized = f" with {size} GB" if spilt and (size := computer_gb(system)) else ""
        words += f" in another computer ({computers}{sized})" if any(line.owned for line in cost.lines) else f" in {computers}{sized}"
    words = ", ".join((words, *(articled(name, count) for name, count in bought.parts)))
    whose = "its" if bought.computers else "the computer's"
    return f"{words}, part of the model in {whose} memory" if spilt else words


_SPLITS = {
    "offload": "with a part in host memory",
    "tensor": "with every layer cut over all of it",
    "layers": "with the layers shared out",
    "replicas": "with a copy on each",
    "experts": "with the experts shared out",
}


def run_as(estimate: Estimate, than: Estimate) -> str:
    """How the one is run otherwise than the other: on vllm as awq-4bit with its cache as fp8."""
    placement, before = estimate.placement, than.placement
    split = _SPLITS.get(placement.strategy) if placement.strategy != before.strategy else None
    if placement.strategy == before.strategy == "layers" and placement.parts != before.parts:
        split = "with more of the layers on the faster device"
    if estimate.system.count < than.system.count:
        split = f"on one {named(estimate.system)} alone" if estimate.system.count == 1 else f"on {named(estimate.system)}"
    words = (
        split,
        f"on {placement.engine}" if placement.engine != before.engine else None,
        f"as {estimate.quant.id}" if estimate.quant.id != than.quant.id else None,
        f"with its cache as {estimate.kv_quant}" if estimate.kv_quant != than.kv_quant else None,
    )
    return " ".join(filter(None, words)) or "in another way"


# of several changes the one that the sentence is about: what is given up first, then how it is split, then the rest
QUANT = "quant"
MAIN_CHANGES = (
    QUANT, "kv-quant", "context-tokens", "offload", "tensor", "layers", "layers-dealt", "replicas", "experts", "whole", "raise-limit",
)  # fmt: skip
GIVEN_UP = (QUANT, "kv-quant", "context-tokens")  # a sentence about these also says that a part lies in host memory


def _change(reason: Reason) -> str:
    return QUANT if reason.code.startswith("change.quant") else reason.code.removeprefix("change.")


def in_order(changes: Iterable[Reason]) -> list[Reason]:
    """Changes, the one that a sentence names first."""
    order = (*MAIN_CHANGES, "engine")
    return sorted(changes, key=lambda reason: order.index(_change(reason)))


def main_change(changes: Iterable[Reason]) -> str:
    """The change that a sentence about changed settings names."""
    codes = [_change(reason) for reason in changes]
    main = next((code for code in MAIN_CHANGES if code in codes), "engine")
    spilt = "-offload" if main in GIVEN_UP and "offload" in codes else ""
    return main.removesuffix("-tokens") + spilt
