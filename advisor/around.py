"""What surrounds the devices: the host's memory, the disk; and how long loading takes."""

from collections.abc import Mapping
from typing import NamedTuple

from advisor.cache import Cache
from advisor.calibration import Calibration
from advisor.choices import Choices
from advisor.collective import LinkCalibration
from advisor.host import Host, Storage
from advisor.hostrate import HostCalibration
from advisor.link import Link
from advisor.model import Model
from advisor.pace import Runner
from advisor.placement import Part, Placement
from advisor.platforms import Platform
from advisor.record import dataclass
from advisor.system import Box, System
from advisor.units import GIB
from advisor.weights import Weights


@dataclass(frozen=True, eq=False)
class Tables:
    """What the estimator knows beside the records of the question."""

    calibration: Calibration
    links: LinkCalibration
    hosts: HostCalibration
    platforms: Mapping[str, Platform]
    storages: Mapping[str, Storage]
    choices: Choices


def host_bytes_of(system: System) -> float | None:
    """Memory of the computer that carries the devices: as stated, else its record's; None where nobody says."""
    host = system.boxes[0].host
    return system.ram_bytes or (host.memory_bytes if host else None)


class HostKeeps(NamedTuple):
    """What the operating system and other programs keep of a computer's memory: a share of it, and so much at least."""

    share: float
    least_bytes: float

    def room_bytes(self, host_bytes: float) -> float:
        """What weights and caches may take there."""
        return max(0.0, host_bytes - max(self.least_bytes, self.share * host_bytes))


def host_keeps(choices: Choices) -> HostKeeps:
    """What is kept, as the catalog chose."""
    return HostKeeps(choices.choice("host-keeps-share"), choices.choice("host-reserve-gib") * GIB)


def host_room_bytes_of(system: System, choices: Choices) -> float | None:
    """What of that memory weights and caches may take at the most."""
    host_bytes = host_bytes_of(system)
    return None if host_bytes is None else host_keeps(choices).room_bytes(host_bytes)


def host_bytes_per_s(host: Host, rates: HostCalibration) -> float:
    """What engines reach of a computer's memory: as its record says, else the usual share of the nominal rate."""
    return host.reached_bytes_per_s(rates.reached_share)


def slot_of(box: Box) -> Link | None:
    """What the host's memory reaches the cards over: the PCIe link between them, or their slots where they talk over another."""
    return box.link if box.link and box.link.kind == "pcie" else box.slot or box.link


def runner_of(system: System, model: Model, weights: Weights, cache: Cache, placement: Placement, tables: Tables) -> Runner:
    """What runs, with the rates of the host's memory and of its disk."""
    host, link = system.boxes[0].host, slot_of(system.boxes[0])
    reached = host_bytes_per_s(host, tables.hosts) if host else None
    carried = min(reached, tables.hosts.carried_share * link.bandwidth_bytes_per_s) if reached and link else reached
    flops = host.cpu_compute_flops if host else None
    processor = tables.choices.choice("processor-reached-share") * flops if flops is not None else None
    storage = tables.storages.get(storage_of(system, tables.choices))
    return Runner(
        model=model,
        weights=weights,
        cache=cache,
        calibration=tables.calibration,
        links=tables.links,
        engine_id=placement.engine,
        backend_id=placement.backend,
        host_bytes_per_s=reached,
        host_prompt_bytes_per_s=carried,
        host_layer_s=tables.hosts.layer_s,
        host_flops=processor,
        disk_bytes_per_s=storage.read_bytes_per_s if storage else None,
    )


def storage_of(system: System, choices: Choices) -> str:
    """Id of what the weights are loaded from."""
    host = system.boxes[0].host
    return system.storage or (host and host.storage) or choices.usual_storage


def load_s(system: System, weights: Weights, placement: Placement, tables: Tables) -> float | None:
    """Seconds until the weights are in: each box reads its own share, all at the same time."""
    storage = tables.storages.get(storage_of(system, tables.choices))
    if storage is None:
        return None
    boxes: dict[int, float] = {}
    for part in placement.parts:
        boxes[part.box] = boxes.get(part.box, 0.0) + _stored_bytes(part, weights) * (1 if placement.groups > 1 else part.count)
    return min(max(boxes.values()), weights.total_bytes) / storage.read_bytes_per_s


def _stored_bytes(part: Part, weights: Weights) -> float:
    return (
        (part.dense_share + part.host_dense_share) * weights.dense_bytes
        + (part.expert_share + part.host_expert_share) * weights.expert_bytes
        + part.head_share * weights.head_bytes
        + part.embedding_share * weights.embedding_bytes
    )
