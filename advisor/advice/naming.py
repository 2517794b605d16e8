"""Systems called by their makers' names, for facts that sentences show."""

from collections.abc import Iterable

from advisor.market import thing_name
from advisor.reason import Reason
from advisor.system import Box, System


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
    return f"{words} over {link.name}" if link and system.count > 1 else words


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
