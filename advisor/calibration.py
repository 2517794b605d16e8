"""What engines reach on hardware: the constants of `step`, fitted by `tools/fit.py` to published rows, and how sure they are.

Each term has a base and factors by family. A device, engine or quantization that no row has seen gets factor 1 there: it falls
back to its maker and backend, then to the base, and its interval widens.
"""

from collections.abc import Mapping
from functools import cached_property
from math import exp
from typing import Any

from advisor.device import Device
from advisor.model import Model
from advisor.record import dataclass
from advisor.units import MOST_LOG_FACTOR
from advisor.yamlfile import given

FOUNDED = ("calibrated", "extrapolated", "physics-only")  # an estimate without rows of the very device, from the best founded
PROMPT_RATE_UNIT = 1e14  # 100 TFLOPS: where the size term is 1
WIDTH_UNIT = 4096.0  # hidden size at which the width term is 1
MOST_SPREAD = 5.0  # of an interval over the usual one: log factors are multiplied by it


@dataclass(frozen=True)
class Constants:
    """What one engine reaches on one device with one kind of weights. Rates per second, fixed costs in seconds."""

    weights_bytes_per_s: float  # dense weights and the head
    expert_bytes_per_s: float  # routed experts: gathered, so slower
    cache_bytes_per_s: float
    state_bytes_per_s: float  # recurrent state, read and written
    attention_flops: float  # arithmetic of attention on the cache while generating
    unpack_flops: float  # weights unpacked a second by the kernels that multiply one vector
    unpack_exponent: float  # how that work grows with the users of a step: 0 once for all, 1 again for each
    batch_share: float  # of the rate of a prompt's matrix work, reached by that of many users at once
    layer_s: float
    expert_layer_s: float  # what a mixture layer costs more
    recurrent_layer_s: float  # what a layer of linear attention costs more
    scan_layer_s: float  # what a layer with a selective scan costs more
    step_s: float
    user_s: float  # each further user of a step: sampling, scheduling
    prompt_flops: float  # matrix work of a long prompt, at hidden size WIDTH_UNIT
    prompt_width_exponent: float
    prompt_expert_factor: float  # expert weights count as so many dense ones
    prompt_attention_share: float  # of prompt_flops
    prompt_recurrent_factor: float
    prompt_weights_bytes_per_s: float
    prompt_half_tokens: float  # a chunk of so many tokens reaches half the rate
    prompt_layer_s: float  # of each chunk
    prompt_chunk_tokens: float
    prompt_share: float  # of the prompts' time that is not hidden behind generating, when both share the device
    knee_exponent: float  # how sharply a step turns from one limit to the other, see `step.larger`
    routing_exponent: float  # how unevenly experts are chosen, see `Weights.experts_touched_share`
    basis: str = "calibrated"  # calibrated | extrapolated | physics-only
    rows: int = 0  # published rows with the same engine, backend and architecture
    own_rows: tuple[int, int] = (0, 0)  # those of this very device that time generating: for one user, for several
    families: tuple[tuple[str, str], ...] = ()
    device: str = ""


@dataclass(frozen=True, kw_only=True)
class Term:
    """One constant: its base, and factors by grouping and level (`architecture: {ampere: 1.03}`)."""

    base: float = given(above=0)
    factors: Mapping[str, Mapping[str, float]] = given(above=0)

    def value(self, families: Mapping[str, str]) -> float:
        """Base times the factors of these families."""
        product = self.base
        for grouping, levels in self.factors.items():
            product *= levels.get(families[grouping], 1.0)
        return product


@dataclass(frozen=True, kw_only=True)
class Interval:
    """The 80 % interval of one kind of figure: log factors for a family of usual spread, by how well it is founded.

    `device` holds for a device that has many rows of that kind with that engine and backend: as far off as fits were on rows
    that they had not seen. A device without rows is estimated from its kin, and its interval is as wide as fits were off that
    had not seen the device or its source: where rows of its architecture were left (`calibrated`), of its engine and backend
    (`extrapolated`), or none of those (`physics-only`). So a known device has the narrower interval, and both hold 80 %.
    """

    low: Mapping[str, float] = given(least=-MOST_LOG_FACTOR, most=0)  # device or basis -> log factor, negative
    high: Mapping[str, float] = given(least=0, most=MOST_LOG_FACTOR)
    spread: Mapping[str, float] = given(above=0, most=MOST_SPREAD)  # family ("amd/vulkan") -> its spread over the usual one
    device_rows: Mapping[str, int] = given()  # engine/backend/device -> its rows of this kind
    few_rows: float = given(above=0)  # so many rows of its own count half
    class_rows: Mapping[str, int] = given()  # engine/backend/kind of weights -> its rows of this kind
    new_class_factor: float = given(least=1, most=MOST_SPREAD)  # so many times as wide where there are none


def own_share(rows: int, few_rows: float) -> float:
    """How far the rows of a device itself decide its interval: half at `few_rows` of them."""
    return rows / (rows + few_rows)


@dataclass(frozen=True, kw_only=True)
class KeptOut:
    """How far off a fit is on figures that it has not seen: half of them at most `median_share`."""

    median_share: float = given(least=0)
    within_30_percent_share: float = given(least=0, most=1)
    inside_interval_share: float = given(least=0, most=1)  # of intervals that know no more than the fit


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The datasheet rates that apply: bytes and operations a second."""

    bandwidth_bytes_per_s: float
    vector_flops: float
    matrix_flops: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Calibration:
    """The file `catalog/calibration.yaml`."""

    date: str = given()
    rows: Mapping[str, int] = given()  # published rows used, by kind
    same_as: Mapping[str, str] = given()  # engines that run another's kernels
    accumulates_fp16: tuple[str, ...] = given(default=())  # engines whose kernels reach the FP16-accumulate rate
    computes_low_precision: tuple[str, ...] = given(default=())  # engines that use FP8 and FP4 units
    terms: Mapping[str, Term] = given()
    evidence: Mapping[str, int] = given()  # rows by engine/backend/architecture
    intervals: Mapping[str, Interval] = given()
    unknowns: Mapping[str, float] = given()  # how many constants were fitted, and how many of them the rows decide
    spreads: Mapping[str, Mapping[str, float]] = given()  # term -> grouping -> spread of its factors' logarithms
    kept_out: Mapping[str, Mapping[str, KeptOut]] = given()  # kind -> what was kept out (rows, devices, sources) -> error

    @cached_property
    def routing_exponent(self) -> float:
        """How unevenly experts are chosen, on any hardware (`Weights.experts_touched_share`)."""
        return self.terms["routing_exponent"].base

    @cached_property
    def _known(self) -> dict[tuple[object, ...], Constants]:
        return {}

    def constants(self, engine_id: str, backend_id: str, device: Device, speed_class: str, model: Model) -> Constants:
        """What `engine_id` reaches there with weights of `speed_class`."""
        key = (engine_id, backend_id, device, speed_class, bool(model.is_moe))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._constants(engine_id, backend_id, device, speed_class)
        return found

    def _constants(self, engine_id: str, backend_id: str, device: Device, speed_class: str) -> Constants:
        engine = self.same_as.get(engine_id, engine_id)
        found = families(engine, backend_id, device, speed_class)
        values = {name: term.value(found) for name, term in self.terms.items()}
        basis, rows = self.basis(found)
        rates = self.rates(engine, device, speed_class)
        own = self.own_rows(f"{found['engine']}/{found['backend']}/{device.id}")
        return reached(values, rates, basis=basis, rows=rows, own_rows=own, families=tuple(found.items()), device=device.id)

    def rates(self, engine_id: str, device: Device, speed_class: str) -> Rates:
        """Dense rates at the precision that this engine computes in with such weights; FP16 where FP8 or FP4 is missing."""
        compute = device.compute
        fast = compute.fp16_fast_flops if engine_id in self.accumulates_fp16 else None
        matrix = max(fast or 0.0, compute.fp16_flops or 0.0, compute.fp32_flops or 0.0)
        if engine_id in self.computes_low_precision:
            low = {"fp8": compute.fp8_flops, "nvfp4": compute.fp4_flops, "int8": compute.int8_ops}.get(speed_class)
            matrix = max(matrix, low or 0.0)
        vector = compute.fp32_flops or matrix / 2
        return Rates(bandwidth_bytes_per_s=device.bandwidth_bytes_per_s, vector_flops=vector, matrix_flops=matrix)

    def basis(self, found: Mapping[str, str]) -> tuple[str, int]:
        """How well these families are founded, and by how many rows of the same engine, backend and architecture."""
        rows = self.evidence.get(f"{found['engine']}/{found['backend']}/{found['architecture']}", 0)
        if rows:
            return "calibrated", rows
        kin = self.evidence.get(f"{found['engine']}/{found['backend']}", 0)
        return ("extrapolated" if kin else "physics-only"), 0

    def own_rows(self, key: str) -> tuple[int, int]:
        """Rows of engine/backend/device that time generating, alone or as one of several: for one user, for several."""
        one, several = (
            sum(self.intervals[kind].device_rows.get(key, 0) for kind in (kind, f"{kind}-multi") if kind in self.intervals)
            for kind in ("decode", "served")
        )
        return one, several

    def interval(self, kind: str, constants: Constants) -> tuple[float, float]:
        """Factors on a figure of `kind` (decode, prefill, served, … -multi) that bound 80 % of measurements."""
        found = self.intervals[kind]
        family = dict(constants.families)
        spread = found.spread.get(family["backend"], 1.0)
        if f"{family['engine']}/{family['backend']}/{family['class']}" not in found.class_rows:
            spread *= found.new_class_factor
        rows = found.device_rows.get(f"{family['engine']}/{family['backend']}/{constants.device}", 0)
        own = own_share(rows, found.few_rows)
        low, high = (own * side.get("device", 0.0) + (1 - own) * side[constants.basis] for side in (found.low, found.high))
        return exp(low * spread), exp(high * spread)


def families(engine_id: str, backend_id: str, device: Device, speed_class: str) -> dict[str, str]:
    """Grouping -> level of every family that this combination belongs to; no grouping is finer than an architecture."""
    compute = device.compute
    # packed FP16 alone is twice as fast as FP32; what is faster than that, beyond rounding, has matrix units
    matrix_units = (compute.fp16_flops or 0.0) > 2.2 * (compute.fp32_flops or float("inf"))
    return {
        "engine": engine_id,
        "backend": f"{device.maker}/{backend_id}",
        "architecture": device.architecture,
        "class": speed_class,
        "backend-class": f"{backend_id}/{speed_class}",
        "units": f"{device.maker}/{'matrix' if matrix_units else 'vector'}",
    }


def at_most_whole(share: float, sharpness: float) -> float:
    """A share that stays below 1, whatever its factors multiply to: nothing is read faster than the datasheet's bandwidth.

    With a sharpness of 8 a share of 0.7 stays 0.695 and one of 1 becomes 0.917.
    """
    capped: float = (1 + share**-sharpness) ** (-1 / sharpness)
    return capped


def reached(values: Mapping[str, float], rates: Rates, **founded: Any) -> Constants:
    """The terms of the file, times the datasheet rates; `founded` says how well."""
    bandwidth, vector, matrix = rates.bandwidth_bytes_per_s, rates.vector_flops, rates.matrix_flops
    sharpness = values["cap_exponent"]
    weights = at_most_whole(values["weights_share"], sharpness) * bandwidth
    # a bigger chip is harder to fill: the share of its rate that is reached falls as a power of the rate
    filled = values["prompt_rate_share"] * matrix * (matrix / PROMPT_RATE_UNIT) ** -values["prompt_size_exponent"]
    return Constants(
        weights_bytes_per_s=weights,
        expert_bytes_per_s=at_most_whole(values["weights_share"] * values["expert_share"], sharpness) * bandwidth,
        cache_bytes_per_s=values["cache_share"] * bandwidth,
        state_bytes_per_s=values["state_share"] * bandwidth,
        attention_flops=values["attention_share"] * vector,
        unpack_flops=vector / values["unpack_operations"],
        unpack_exponent=at_most_whole(values["unpack_exponent"], sharpness),  # above 1 more users would give fewer tokens
        batch_share=values["batch_share"],
        layer_s=values["layer_s"],
        expert_layer_s=values["expert_layer_s"],
        recurrent_layer_s=values["recurrent_layer_s"],
        scan_layer_s=values["scan_layer_s"],
        step_s=values["step_s"],
        user_s=values["user_s"],
        prompt_flops=filled,
        prompt_width_exponent=values["prompt_width_exponent"],
        prompt_expert_factor=values["prompt_expert_factor"],
        prompt_attention_share=values["prompt_attention_share"],
        prompt_recurrent_factor=values["prompt_recurrent_factor"],
        prompt_weights_bytes_per_s=values["prompt_weights_share"] * bandwidth,
        prompt_half_tokens=values["prompt_half_tokens"],
        prompt_layer_s=values["prompt_layer_s"],
        prompt_chunk_tokens=values["prompt_chunk_tokens"],
        prompt_share=values["prompt_unhidden_share"],
        knee_exponent=values["knee_exponent"],
        routing_exponent=values["routing_exponent"],
        **founded,
    )
