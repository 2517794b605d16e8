"""What one tool says of one machine: devices as printed, links, memory. Names become catalog ids later."""

from advisor.record import dataclass


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One device as printed. None = the tool does not say."""

    name: str | None = None
    index: int | None = None
    bus: str | None = None  # domain:bus:device.function, lower case, four-digit domain
    uuid: str | None = None
    maker: str | None = None  # nvidia amd intel apple
    pci_id: str | None = None  # 10de:2204
    chip: str | None = None  # gfx1151
    gpu_cores: int | None = None
    memory_bytes: float | None = None
    limit_bytes: float | None = None  # what the platform lets it use, where the tool prints only that
    shared_bytes: float | None = None  # host memory it may borrow (GTT)
    free_bytes: float | None = None
    integrated: bool | None = None
    driver: str | None = None
    pcie_generation: int | None = None
    pcie_lanes: int | None = None
    power_limit_w: float | None = None
    mig_bytes: tuple[float | None, ...] = ()
    board: str | None = None  # two chips with one board id share a card
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Joint:
    """How two devices of one tool's numbering are joined, in the tool's word: NV4 PIX PHB SYS XGMI, or p2p-OK p2p-GNS."""

    a: int
    b: int
    kind: str


@dataclass(frozen=True, kw_only=True)
class View:
    """Everything one format gave."""

    tool: str
    devices: tuple[Seen, ...] = ()
    links: tuple[Joint, ...] = ()
    ram_bytes: float | None = None
    available_bytes: float | None = None  # of the RAM: free, or given back when asked for
    os: str | None = None
    cpu: str | None = None
    box: str | None = None  # the maker's name of the whole computer
    wired_limit_bytes: float | None = None
    attached: int | None = None  # devices that the tool says there are, where it shows fewer
    warnings: tuple[str, ...] = ()
