"""How a model lies on a system: each device's shares, and the messages a step sends. Strategies are data from here on."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import cast

from advisor.placement import rules
from advisor.placement.shares import Job, Message, Part, Placement
from advisor.reason import Reason

__all__ = ["STRATEGIES", "Job", "Message", "Part", "Placement", "lay"]

STRATEGIES = ("whole", "replicas", "layers", "tensor", "experts", "offload")  # each a module of this package


@cache
def _laying(strategy: str) -> Callable[[Job], Placement | Reason]:
    """The function that lays by a strategy, imported when it is first asked for: few questions need all."""
    return cast(Callable[[Job], Placement | Reason], import_module(f"advisor.placement.{strategy}").lay)


def lay(strategy: str, job: Job) -> Placement | Reason:
    """The model laid on the system by one strategy, or why that cannot be."""
    return rules.problem(strategy, job) or _laying(strategy)(job)
