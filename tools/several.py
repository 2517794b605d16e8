"""Rows of several devices as work of one device: for `fit.py`, which fits one device's constants, and for `fit_links.py`.

Of equal devices in one group every device does the same, so that a tensor split is one device with its shares and a pipeline
for one user is one device with everything; what they wait for on links comes on top.
"""

from dataclasses import dataclass, replace
from typing import Any

from advisor import memory, ways
from advisor.bind import bind
from advisor.cache import cache_of
from advisor.catalog import Catalog
from advisor.errors import AdvisorError
from advisor.measurement import Figure
from advisor.need import Workload
from advisor.pace import Team, imbalance, teams
from advisor.placement import Job, Part, lay
from advisor.reason import Reason
from advisor.units import GIB
from advisor.weights import weights_of


@dataclass(frozen=True)
class Several:
    """What one device of a group does in a step, for how many users, how many such groups, and its messages."""

    system: Any
    engine: Any
    backend: Any
    quant: Any
    weights: Any
    cache: Any
    model: Any
    team: Team
    part: Part
    copies: int
    users: float  # of each group


def words_of(figure: Figure) -> str:
    """The row's SYSTEM words."""
    row = figure.row
    memory = (f" {ran.memory_bytes / GIB:g}gb" if ran.memory_bytes else "" for ran in row.devices)
    groups = " + ".join(f"{ran.count}x {ran.device}{size}" for ran, size in zip(row.devices, memory, strict=True))
    link = f" via {row.link}" if row.link and row.strategy != "replicas" else ""
    backend = f"/{row.backend}" if row.backend and row.engine == "llama.cpp" else ""
    return f"{groups}{link} as {row.strategy} on {row.engine}{backend}"


def several(catalog: Catalog, figure: Figure) -> Several | None:
    """The row's work; None where its devices are unlike, the users are not stated, or the tool cannot lay it out so."""
    return laid_out(catalog, figure) if figure.users is not None else None


def laid_out(catalog: Catalog, figure: Figure) -> Several | None:
    """The row's work, with as many users as fit where it does not say; None where the tool cannot lay it out so."""
    row = figure.row
    if len(row.devices) != 1:
        return None
    try:
        system = bind(words_of(figure), catalog)
        model = catalog.model(row.model)
        way = ways.way_of(system, catalog.engine(row.engine), model, row.quant, "f16", catalog)
    except AdvisorError:
        return None
    if isinstance(way, Reason):
        return None
    weights, cache = weights_of(model, way.quant, way.engine.id), cache_of(model, "f16", way.engine)
    work = Workload(users=figure.users, context_tokens=figure.context_tokens, prompt_tokens=figure.prompt_tokens, generate_tokens=1)
    placement = lay(row.strategy, Job(model, weights, cache, way.system, way.engine, way.backend, work))
    if isinstance(placement, Reason):
        return None
    fits = figure.users or memory.fit(placement, model, weights, cache, work, way.engine, catalog.platforms, None).users
    if not fits:
        return None
    team = teams(placement)[0]
    users = max(1.0, fits / team.copies)
    return Several(
        way.system, way.engine, way.backend, way.quant, weights, cache, model, team, _part(team, weights, users, catalog.calibration.routing_exponent),
        min(team.copies, fits), users,
    )  # fmt: skip


def _part(team: Team, weights: Any, users: float, routing_exponent: float) -> Part:
    """One device that does what one user waits for: a stage's share, or the stages after one another."""
    first = team.stages[0][0]
    if len(team.stages) == 1:
        return replace(first, expert_share=first.expert_share * imbalance(weights, team.expert_ranks, users, routing_exponent))
    ranks = sum(part.count for part in team.stages[0])
    whole = 1 / ranks
    return replace(
        first, layer_share=1.0, dense_share=whole, expert_share=whole, head_share=whole, embedding_share=whole, compute_share=whole,
        cache_share=sum(stage[0].cache_share for stage in team.stages),
    )  # fmt: skip
