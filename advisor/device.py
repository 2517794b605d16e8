"""A device: one purchasable thing that computes – a card, a Mac, a box."""

from collections.abc import Iterable

from advisor.price import Price, Source
from advisor.record import dataclass
from advisor.units import GB, GIB, TERA
from advisor.yamlfile import given

KINDS = ("gpu", "laptop-gpu", "integrated-gpu", "mac", "apu-box", "module")
MAKERS = ("nvidia", "amd", "intel", "apple")
AVAILABILITY = ("on-sale", "used-only", "announced", "discontinued")  # discontinued: new only as leftovers; used-only: none
MOUNTS = ("slot", "module", "fixed")
COOLING = ("passive", "active", "liquid")  # passive: a heat sink alone, which a server's fans blow through
PLUGS = ("none", "pcie-8-pin", "eps-8-pin", "16-pin")  # eps-8-pin: a processor's, wired otherwise than the 8-pin of graphics cards
LOOSE = ("gpu", "module")  # kinds that are bought apart from a computer; the others are soldered into what one buys
SOLDERED = ("laptop-gpu", "integrated-gpu")  # parts of a computer, without a price of their own
SHARING = ("integrated-gpu", "mac", "apu-box")  # kinds whose GPU works in the computer's memory


@dataclass(frozen=True, kw_only=True)
class Compute:
    """Dense rates, operations per second; None where the chip has no such unit or nobody says.

    `fp16_flops` accumulates in FP32; `fp16_fast_flops` accumulates in FP16 (twice that on GeForce cards, equal elsewhere).
    """

    fp32_flops: float | None = given("fp32_tflops", TERA, default=None, above=0, about="FP32 rate of the shaders, dense")
    fp16_flops: float | None = given(
        "fp16_tflops", TERA, default=None, above=0, about="FP16 matrix rate with FP32 accumulation, dense, never the figure with sparsity"
    )
    fp16_fast_flops: float | None = given(
        "fp16_accumulate_fp16_tflops",
        TERA,
        default=None,
        above=0,
        about="FP16 matrix rate with FP16 accumulation, dense: twice the other on GeForce, the same elsewhere",
    )
    fp8_flops: float | None = given(
        "fp8_tflops", TERA, default=None, above=0, about="FP8 matrix rate, dense; leave out where the chip has none"
    )
    fp4_flops: float | None = given("fp4_tflops", TERA, default=None, above=0, about="FP4 matrix rate, dense")
    int8_ops: float | None = given("int8_tops", TERA, default=None, above=0, about="INT8 rate, dense")


@dataclass(frozen=True, kw_only=True)
class Device:
    """One thing you can buy that computes. Memory, bandwidth, rates, power, how it is joined to others, prices.

    On a board with several GPUs (`gpus_on_board`) memory, bandwidth, bus, rates and PCIe lanes are of one GPU; power, slots and
    prices are of the board. An alias that several records carry is ambiguous by intent: tools print it for all of them.
    """

    id: str = given()
    name: str = given(about="the maker's name, with the memory size where several are sold")
    maker: str = given(one_of=MAKERS)
    kind: str = given(one_of=KINDS)
    architecture: str = given(about="a word shared by chips of one design: ampere ada blackwell rdna3 rdna3.5 cdna3 battlemage m3")
    chip: str | None = given(default=None, about="the chip as tools print it: AD102, gfx1151, M3 Ultra")
    compute_capability: str | None = given(default=None)
    gpu_cores: int | None = given(default=None, above=0, about="GPU cores as system_profiler prints them")
    aliases: tuple[str, ...] = given(default=(), about="other names, as nvidia-smi, rocm-smi, lspci or system_profiler print them")
    pci_ids: tuple[str, ...] = given(default=(), about="vendor:device, as lspci -nn prints it")
    variant_of: str | None = given(default=None)  # the commoner device that the plain name means; tell them apart by memory
    rebuilt: bool = given(default=False, about="whether others than the maker changed it: compared by name, never suggested")
    memory_options_bytes: tuple[float, ...] = given("memory_gib", GIB, above=0, about="every size sold, ascending")
    reported_bytes: float | None = given("reported_gib", GIB, default=None, above=0)  # the driver's total where below the box's
    memory_type: str = given(about="GDDR6X, HBM3, LPDDR5X and the like; see bounds.yaml")
    memory_bus_bits: int | None = given(
        default=None, above=0, about="width of the memory bus; bandwidth follows from it and the memory type"
    )
    unified_memory: bool = given(default=False)
    usable_bytes: float | None = given("usable_gib", GIB, default=None, above=0, about="what a model may take, where measured")
    gpus_on_board: int = given(default=1, least=1)
    bandwidth_bytes_per_s: float = given("bandwidth_gb_per_s", GB, above=0, about="memory bandwidth from the data sheet")
    compute: Compute = given("compute")
    power_w: float | None = given(
        default=None, above=0, about="the limit of the card, or the most that a whole machine draws from the wall"
    )
    idle_power_w: float | None = given(default=None, least=0)
    pcie_generation: int | None = given(default=None, least=1, most=7)
    pcie_lanes: int | None = given(default=None, least=1, most=16)
    needs_lanes: int | None = given(
        default=None, least=2, most=16, about="lanes of the slot that a board without a switch splits among its GPUs"
    )
    mount: str = given(default="slot", one_of=MOUNTS)  # slot: a card; module: SXM, OAM; fixed: soldered into what one buys
    slots: float | None = given(default=None, above=0, about="expansion slots that it covers; leave out for whole machines")
    cooling: str | None = given(default=None, one_of=COOLING, about="as a source says, never guessed from the name; leave out if unknown")
    power_plug: str | None = given(default=None, one_of=PLUGS, about="what brings its power beside the slot")
    display_ports: int | None = given(default=None, least=0, about="connectors for screens; 0 where it drives none")
    links: tuple[str, ...] = given(default=(), about="ids of bridges, switches or fabrics between two of them; PCIe needs none")
    network: tuple[str, ...] = given(default=(), about="ids of the networks built into it")
    thunderbolt_version: int | None = given(default=None)
    thunderbolt_ports: int | None = given(default=None, least=0)
    peer_access: bool = given(default=False, about="whether the stock driver lets two of them exchange bytes over PCIe directly")
    noise: str | None = given(default=None, about="as a test words it, with board and distance; none here: boards of a chip differ")
    launched: str | None = given(default=None, about="year and month")
    availability: str = given(one_of=AVAILABILITY)
    prices: tuple[Price, ...] = given(default=())
    sources: tuple[Source, ...] = given()
    unverified: tuple[str, ...] = given(default=())
    notes: str | None = given(default=None)

    def __hash__(self) -> int:
        return hash(self.id)  # asked often; equality still compares every field

    @property
    def largest_memory_bytes(self) -> float:
        """The largest size sold, bytes."""
        return self.memory_options_bytes[-1]

    @property
    def is_box(self) -> bool:
        """Whether it is a whole computer, so that two of them are two boxes."""
        return self.kind in ("mac", "apu-box", "module")


def lanes_needed(boards: Iterable[tuple[Device, int]]) -> tuple[int, ...]:
    """The lanes that the slots of some boards must have, widest first: one number for each board that splits its slot."""
    return tuple(sorted((device.needs_lanes for device, count in boards if device.needs_lanes for _ in range(count)), reverse=True))
