"""Cards without a fan: made for a server whose own fans blow through them, they need a fan and a shroud anywhere else."""

from collections.abc import Mapping

from advisor.device import Device
from advisor.reason import Fact, Reason
from advisor.system import System


def fanless(system: System, bought: Mapping[str, int] | None = None) -> tuple[Reason, ...]:
    """That nothing blows through passive cards where they are to sit, one claim for each kind: of all of them, or of those bought.

    `bought` counts what is bought by its id. A computer that nobody named is no server, unless its record says so.
    """
    found: dict[str, tuple[Device, int, str]] = {}
    for box in system.boxes:
        if box.host is None or box.host.airflow:
            continue
        for group in box.groups:
            device = group.device
            if device.cooling == "passive" and device.mount == "slot":
                before = found[device.id][1] if device.id in found else 0
                found[device.id] = device, before + group.count, box.host.id
    counted = ((device, count if bought is None else min(count, bought.get(device.id, 0)), host) for device, count, host in found.values())
    return tuple(_claim(device, count, host) for device, count, host in counted if count)


def _claim(device: Device, count: int, host_id: str) -> Reason:
    plug = "-eps" if device.power_plug == "eps-8-pin" else ""
    screen = "-blind" if device.display_ports == 0 else ""
    facts: dict[str, Fact] = {"device": device.name, "device_id": device.id, "cards": count, "each_w": device.power_w, "host_id": host_id}
    facts |= {"power_plug": device.power_plug, "display_ports": device.display_ports}
    told = tuple(source.url or source.title for source in device.sources if "cooling" in source.fields)
    return Reason(f"remark.passive-cooling{plug}{screen}", facts, told)
