"""What figures are held against: the file `catalog/bounds.yaml`."""

from advisor.price import Source
from advisor.record import dataclass
from advisor.units import GB, GBIT, US
from advisor.yamlfile import given

RATES = ("fp16_flops", "fp8_flops", "fp4_flops", "int8_ops")  # of a device's compute, without FP32


def written(key: str) -> str:
    """The key of the YAML file for a rate."""
    return key.replace("_flops", "_tflops").replace("_ops", "_tops")


@dataclass(frozen=True, kw_only=True)
class MemoryType:
    """How fast one pin of a kind of memory is, bits per second."""

    type: str = given()
    least_bytes_per_s: float = given("least_gbit_per_pin", GBIT, above=0)
    most_bytes_per_s: float = given("most_gbit_per_pin", GBIT, above=0)


@dataclass(frozen=True, kw_only=True)
class Lane:
    """What one PCIe lane of a generation carries one way."""

    generation: int = given(least=1)
    bytes_per_s: float = given("gb_per_s", GB, above=0)


@dataclass(frozen=True, kw_only=True)
class Rate:
    """How many times the fast FP16 rate dense units of another kind reach at most."""

    rate: str = given(one_of=tuple(map(written, RATES)))
    most_fp16_factor: float = given(above=0)


@dataclass(frozen=True, kw_only=True)
class Fastest:
    """What the fastest link of a kind carries one way."""

    kind: str = given()
    bytes_per_s: float = given("gb_per_s", GB, above=0)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The file `catalog/bounds.yaml`: what figures are held against."""

    memory_types: tuple[MemoryType, ...] = given()
    pcie_lanes: tuple[Lane, ...] = given()
    rates: tuple[Rate, ...] = given()
    most_peer_factor: float = given(above=1, about="of a rate over FP32 against its peers: sparse rates are twice the dense")
    least_usd_per_gib: float = given(above=0)
    most_usd_per_gib: float = given(above=0)
    most_street_over_list: float = given(above=0)
    links: tuple[Fastest, ...] = given(default=())
    most_latency_s: float = given("most_latency_us", US, above=0)
    least_ops_factor: float = given(above=0, about="FP32 operations a second for each byte a second of bandwidth")
    most_ops_factor: float = given(above=0)
    least_power_w: float = given(above=0)
    most_power_w: float = given(above=0)
    most_memory_gib: float = given(above=0)
    sources: tuple[Source, ...] = given()
