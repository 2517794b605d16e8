"""Whether published measurements can be true: against the bandwidth and the rates of the hardware that they name."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from advisor.hostrate import HostRow
from advisor.measurement import Measurement
from advisor.measurement import problems as impossible
from advisor.price import first_day
from advisor.weights import weights_of

WIDTHS = ("4bit", "8bit", "16bit")  # the engine's usual format of that width, where a source says no more


def problems(records: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """What in the measurements names nothing of the catalog, or is faster than the hardware allows: (kind, id, `key: message`)."""
    yield from _dates(records, date.today())
    for row in records.get("host_measurements", {}).values():
        for said in _spilt(row, records):
            yield "host_measurements", row.id, said
    for row in records["measurements"].values():
        if not row.unusable:
            unknown = list(_unknown(row, records))
            for said in unknown or _too_fast(row, records):
                yield "measurements", row.id, said


def _dates(records: Mapping[str, Mapping[str, Any]], day: date) -> Iterator[tuple[str, str, str]]:
    for kind in ("measurements", "host_measurements"):
        for row in records.get(kind, {}).values():
            for said in () if row.date is None else _date(row.date, day):
                yield kind, row.id, said


def _date(written: str, day: date) -> Iterator[str]:
    try:
        if first_day(written) > day:
            yield f"date: {written} lies in the future"
    except ValueError:
        yield f"date: {written} is no date; write 2026, 2026-09 or 2026-09-11"


def _spilt(row: HostRow, records: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A run with a part in host memory: no more layers there than the model has, and no faster than both memories together."""
    device, model, quant = records["devices"].get(row.device), records["models"].get(row.model), records["quants"].get(row.quant)
    if device is None or model is None or quant is None:
        return  # told where names are looked up
    if max(row.host_layers, row.host_expert_layers) > model.layers:
        yield f"host_layers: {max(row.host_layers, row.host_expert_layers)} of {model.layers} layers"
    weights = weights_of(model, quant, row.engine)
    read = weights.dense_bytes + weights.head_bytes + weights.chosen_share * weights.expert_bytes
    most = (device.bandwidth_bytes_per_s * device.gpus_on_board + row.memory_bandwidth_bytes_per_s) / read
    if row.decode_tokens_per_s > most:
        yield f"decode_tokens_per_s: {row.decode_tokens_per_s:g}; the memories of card and computer allow {most:.0f}"


def _unknown(row: Measurement, records: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    named = {"model": ("models", row.model), "quant": ("quants", row.quant), "engine": ("engines", row.engine), "link": ("links", row.link)}
    for key, (kind, record_id) in named.items():
        if record_id is not None and record_id not in records[kind] and record_id not in WIDTHS:
            yield f"{key}: the catalog has no {record_id}"
    for ran in row.devices:
        if ran.device is not None and ran.device not in records["devices"]:
            yield f"devices: the catalog has no {ran.device}"


def _too_fast(row: Measurement, records: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The row against its hardware, where all of it is known; replicas and mixtures in batches read less, so one user only."""
    model, quant = records["models"].get(row.model or ""), records["quants"].get(row.quant or "")
    devices = [(records["devices"][ran.device], ran.count) for ran in row.devices if ran.device is not None]
    if model is None or quant is None or len(devices) < len(row.devices):
        return ()
    fastest = [max((rate for rate in vars(device.compute).values() if rate), default=float("inf")) for device, _ in devices]
    weights = weights_of(model, quant, row.engine or "llama.cpp")
    read = weights.dense_bytes + weights.head_bytes + weights.chosen_share * weights.expert_bytes
    return impossible(
        row,
        read_bytes=read,
        bandwidth_bytes_per_s=sum(device.bandwidth_bytes_per_s * device.gpus_on_board * count for device, count in devices),
        active_params=model.active_params,
        flops=sum(rate * device.gpus_on_board * count for rate, (device, count) in zip(fastest, devices, strict=True)),
    )
