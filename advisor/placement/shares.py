"""What a placement is: each device's shares of the model, and the messages a step sends."""

from advisor.cache import Cache
from advisor.device import Device
from advisor.engine import Backend, Engine
from advisor.link import Link
from advisor.model import Model
from advisor.need import Workload
from advisor.reason import Reason
from advisor.record import dataclass, field
from advisor.system import System
from advisor.weights import Weights


@dataclass(frozen=True)
class Part:
    """`count` equal devices with equal shares, working side by side in one stage. Shares are of the whole model.

    Stored: `dense_share`, `expert_share`, `head_share`, `embedding_share` of the weights; `cache_share` of each
    user's cache (copies counted), for the `user_share` of the users it serves. Done per step: `layer_share` of the
    layers' fixed work, `compute_share` of the matrix work. `host_*`: kept in and read from host memory instead;
    `disk_share`: of the expert and dense bytes that even host memory cannot hold.
    """

    device: Device
    memory_bytes: float
    count: int = 1
    stage: int = 0
    box: int = 0
    layer_share: float = 1.0
    dense_share: float = 1.0
    expert_share: float = 1.0
    head_share: float = 1.0
    embedding_share: float = 1.0
    cache_share: float = 1.0
    compute_share: float = 1.0
    user_share: float = 1.0
    host_dense_share: float = 0.0
    host_expert_share: float = 0.0
    host_cache_share: float = 0.0
    disk_share: float = 0.0
    group: int = 0  # replicas on unlike devices: the kind of group it belongs to
    layers: int = 0  # layers of the part's run, where the engine must be told on its command line
    host_layers: int = 0  # of them: the first so many lie in host memory whole
    host_expert_layers: int = 0  # of them: the next so many keep only their experts in host memory


@dataclass(frozen=True)
class Message:
    """What crosses a link in one step: how often, between how many ranks, how many bytes for each token in flight."""

    kind: str  # "all-reduce" | "send" | "all-to-all"
    link: Link
    ranks: int
    per_step: float  # messages a step
    bytes_per_token: float  # payload of one message for one token
    software: str  # key of the latency table: nccl, rccl, jaccl, ggml-rpc …
    boxes: int = 1  # boxes that the ranks are spread over
    group: int = 0


@dataclass(frozen=True)
class Placement:
    """Parts, messages, and how the users share them. Memory and speed read this and nothing else of a strategy."""

    strategy: str  # shown, never asked for in arithmetic
    parts: tuple[Part, ...]
    messages: tuple[Message, ...] = ()
    groups: int = 1  # replicas: groups that each serve their share of the users
    copies: tuple[int, ...] = (1,)  # of them alike, by the number that the parts' `group` gives
    stages: int = 1
    pipeline_fill: float = 0.0  # 0: one stage works at a time; 1: enough users keep all stages busy
    engine: str = "llama.cpp"
    backend: str = "cuda"
    overlap: float = 0.0  # how far prompt chunks keep all stages busy
    expert_ranks: int = 1  # devices that hold whole experts: the one with the most chosen experts sets the pace
    reasons: tuple[Reason, ...] = field(default=())

    @property
    def host_layers(self) -> int:
        """Layers that lie in host memory whole, of all parts."""
        return sum(part.host_layers for part in self.parts)

    @property
    def host_expert_layers(self) -> int:
        """Layers of which only the experts lie in host memory, of all parts."""
        return sum(part.host_expert_layers for part in self.parts)


@dataclass(frozen=True, eq=False)
class Job:
    """Everything a strategy may look at. `short_bytes`: what each part of the plain layout lacks (offload moves it out); `plain`: that
    layout, where it is known.
    """

    model: Model
    weights: Weights
    cache: Cache
    system: System
    engine: Engine
    backend: Backend
    workload: Workload
    short_bytes: tuple[float, ...] = ()
    layer_counts: tuple[int, ...] = ()  # of each stage, where they are dealt otherwise than by memory
    host_room_bytes: float | None = None
    plain: Placement | Reason | None = None
