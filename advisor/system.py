"""A system: what is on the bill – devices, link, host – and the SYSTEM words, parsed and printed."""

from dataclasses import dataclass

from advisor.device import Device
from advisor.engine import Backend, Engine
from advisor.host import Host
from advisor.link import Link


@dataclass(frozen=True)
class Group:
    """Equal devices of one box, each with `memory_bytes` of the sizes its record offers."""

    device: Device
    count: int
    memory_bytes: float


@dataclass(frozen=True)
class Box:
    """One computer: its groups of devices, the link between them (None for a single device), its own strategy if stated."""

    groups: tuple[Group, ...]
    link: Link | None = None
    strategy: str | None = None
    host: Host | None = None

    @property
    def count(self) -> int:
        """Devices in the box."""
        return sum(group.count for group in self.groups)


@dataclass(frozen=True)
class System:
    """Boxes (each listed once a box, so equal boxes repeat), the link between them, and what was stated of the software.

    `strategy`, `engine`, `backend` are None where left to the tool.
    """

    boxes: tuple[Box, ...]
    link: Link | None = None
    strategy: str | None = None
    engine: Engine | None = None
    backend: Backend | None = None
    storage: str | None = None
    ram_bytes: float | None = None  # host memory of each box where stated, else its host's

    @property
    def groups(self) -> tuple[Group, ...]:
        """Every group of every box."""
        return tuple(group for box in self.boxes for group in box.groups)

    @property
    def count(self) -> int:
        """Devices in all."""
        return sum(box.count for box in self.boxes)
