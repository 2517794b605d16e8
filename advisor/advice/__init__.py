"""What to buy, and why: the answer as data. Sentences are made in `report`."""

from advisor.market import Cost
from advisor.need import Need
from advisor.reason import Reason
from advisor.record import dataclass, field
from advisor.speed import Estimate
from advisor.system import System

KINDS = (
    "keep",
    "change-settings",
    "replicas",
    "second-gpu",
    "nvlink-pair",
    "one-bigger-gpu",
    "unified-memory-machine",
    "rdma-cluster",
    "network-cluster",
    "multi-gpu-server",
    "new-host",  # the cards that are owned in another computer
    "more-memory",  # what is owned with more memory in its computer
    "nothing-fits",
)
ROAD_KINDS = KINDS[:-1]  # what can be taken: all but that nothing does it
ALWAYS_SHOWN = ("one-bigger-gpu", "nvlink-pair", "rdma-cluster")
SHOWN_WHEN_OWNED = ("keep", "change-settings", "second-gpu")
CHOSEN, PASSED_OVER, IMPOSSIBLE = "chosen", "passed-over", "impossible"


@dataclass(frozen=True, eq=False)
class Road:
    """One kind of answer with its best candidate, or the reason why there is none (`system` None)."""

    kind: str
    status: str  # chosen | passed-over | impossible
    system: System | None
    estimate: Estimate | None
    cost: Cost | None
    spend_usd: float | None  # cash for the parts bought; 0 for what is owned
    resale_usd: float | None
    because: tuple[Reason, ...]


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answer: what to do, whether it meets the need, how sure, what it costs."""

    kind: str
    system: System | None
    estimate: Estimate | None
    cost: Cost | None
    answer: Reason
    meets_need: bool
    confidence: str  # high | medium | low
    spend_usd: float | None
    resale_usd: float | None


@dataclass(frozen=True, eq=False)
class SecondGpu:
    """Whether a second one of what is owned is worth buying: yes-for-speed, -capacity, -users, or no."""

    answer: str
    text: Reason
    because: tuple[Reason, ...]


@dataclass(frozen=True, eq=False)
class Condition:
    """One of the three conditions for more devices to mean more speed; `met` None where it does not apply."""

    met: bool | None
    text: Reason
    change: Reason | None = None  # not met: what another link, engine or number of devices would bring


@dataclass(frozen=True, eq=False)
class Flip:
    """The nearest change of one thing that changes the verdict: `wish` at `value` (and not at `before`) gives `kind`."""

    wish: str  # users context_tokens min_tokens_per_s budget_usd price_usd quant kv_quant model
    before: float | str | None
    value: float | str | None
    when: Reason
    then: Reason
    kind: str
    device: str | None = None  # the device whose price it is
    kind_before: str = ""  # the verdict at `before`: today's


@dataclass(frozen=True, eq=False)
class Setting:
    """A setting worth changing, the engine's command for it, and what it brings."""

    text: Reason
    command: str | None
    gain: Reason | None
    also: tuple[Reason, ...] = ()  # what is set differently beside it


@dataclass(frozen=True, eq=False)
class Rung:
    """One typical model of the ladder: what is owned does with it, and the cheapest road to it."""

    label: str
    model: str
    roads: tuple[Road, ...]


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The need, the verdict, every road weighed, and what would change the answer."""

    need: Need
    have: System | None
    have_words: str | None
    verdict: Verdict
    second_gpu: SecondGpu | None
    roads: tuple[Road, ...]
    conditions: dict[str, Condition]  # software, link, model
    flips: tuple[Flip, ...]
    settings: tuple[Setting, ...]
    ladder: tuple[Rung, ...] | None
    assumptions: tuple[Reason, ...]
    warnings: tuple[Reason, ...]
    catalog_version: str = ""
    overlays: tuple[str, ...] = ()
    prices_as_of: str = ""
    passed_over: tuple[Road, ...] = field(default=())  # of a road's kind: those named, one more, the next best
    remarks: tuple[Reason, ...] = field(default=())  # what a friend would add to the verdict
