"""How a model lies on a system: each device's shares, and the messages a step sends. Strategies are data from here on."""

from collections.abc import Callable

from advisor.placement import experts, layers, offload, replicas, rules, tensor, whole
from advisor.placement.shares import Job, Message, Part, Placement
from advisor.reason import Reason

__all__ = ["STRATEGIES", "Job", "Message", "Part", "Placement", "lay"]

STRATEGIES: dict[str, Callable[[Job], Placement | Reason]] = {
    "whole": whole.lay,
    "replicas": replicas.lay,
    "layers": layers.lay,
    "tensor": tensor.lay,
    "experts": experts.lay,
    "offload": offload.lay,
}


def lay(strategy: str, job: Job) -> Placement | Reason:
    """The model laid on the system by one strategy, or why that cannot be."""
    return rules.problem(strategy, job) or STRATEGIES[strategy](job)
