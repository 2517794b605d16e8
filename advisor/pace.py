"""The pace of a placement: seconds of one generated token for everybody, and of one prompt, over its parts and messages.

Parts of a stage work side by side: the slowest sets the stage's time. Stages follow one another. Replica groups do not meet.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import ceil, log, sqrt
from typing import Protocol, TypeVar

from advisor.cache import Cache
from advisor.calibration import Calibration
from advisor.collective import LinkCalibration, all_spent
from advisor.model import Model
from advisor.placement import Message, Part, Placement
from advisor.record import dataclass, field, replace
from advisor.step import Constants, Terms, decode_terms, larger, prefill_terms
from advisor.weights import Weights


@dataclass(frozen=True, eq=False)
class Runner:
    """What runs: the model's bytes and work, what engines reach, what messages take, what the host's memory gives."""

    model: Model
    weights: Weights
    cache: Cache
    calibration: Calibration
    links: LinkCalibration
    engine_id: str
    backend_id: str
    host_bytes_per_s: float | None = None  # decoding: read by the processor, or by the card over PCIe
    host_prompt_bytes_per_s: float | None = None  # prompts: carried to the card
    host_layer_s: float = 0.0  # a token's way out of the card and back, for each layer that lies outside
    host_flops: float | None = None  # reached by the processor, which multiplies the weights that it keeps while decoding
    disk_bytes_per_s: float | None = None
    _known: dict[int, Constants] = field(default_factory=dict)  # by device: asked several times an estimate

    def constants(self, part: Part) -> Constants:
        """What the engine reaches on this part's device."""
        found = self._known.get(id(part.device))
        if found is None:
            device, weights = part.device, self.weights
            found = self.calibration.constants(self.engine_id, self.backend_id, device, weights.speed_class, self.model)
            self._known[id(device)] = found
        return found


@dataclass(frozen=True)
class Team:
    """Devices that serve the same users: one replica group, `copies` of them alike."""

    stages: tuple[tuple[Part, ...], ...]
    messages: tuple[Message, ...]
    copies: int
    user_share: float  # of all users, each copy
    fill: float
    overlap: float
    expert_ranks: int

    @cached_property
    def unlike(self) -> tuple[tuple[Part, ...], tuple[tuple[int, ...], ...]]:
        """Parts that are not alike in what they do; and of each stage which of them work there."""
        kinds: dict[object, tuple[int, Part]] = {}
        stages = tuple(tuple(kinds.setdefault(_key(part), (len(kinds), part))[0] for part in stage) for stage in self.stages)
        return tuple(part for _, part in kinds.values()), stages


def teams(placement: Placement) -> tuple[Team, ...]:
    """The replica groups of a placement; all of it where there are none."""
    return tuple(_team(placement, group, copies) for group, copies in enumerate(placement.copies))


def _team(placement: Placement, group: int, copies: int) -> Team:
    parts = [part for part in placement.parts if part.group == group]
    alone = placement.groups == 1
    share = 1.0 if alone else parts[0].user_share
    # without replicas a user_share below 1 means that attention works on its own users: their cache is read there alone
    shared = alone and any(part.user_share < 1 for part in parts)
    seen = [replace(part, cache_share=part.cache_share * part.user_share) for part in parts] if shared else parts
    stages = tuple(tuple(part for part in seen if part.stage == stage) for stage in sorted({part.stage for part in parts}))
    messages = tuple(message for message in placement.messages if message.group == group)
    return Team(stages, messages, copies, share, placement.pipeline_fill, placement.overlap, placement.expert_ranks)


class Serving(Protocol):
    """Whoever serves a share of the users, alone or as one of several copies."""

    @property
    def copies(self) -> int:
        """How many are alike."""

    @property
    def user_share(self) -> float:
        """Of all users, each copy's."""


Served = TypeVar("Served", bound=Serving)


def served(teams_: Sequence[Served], users: int) -> Iterator[tuple[Served, int, int]]:
    """(team, how many such teams, users of each): everybody served by one, as close to the teams' shares as whole users allow."""
    quotas = [users * team.user_share for team in teams_]
    counts = [int(quota + 1e-9) for quota in quotas]
    left = users - sum(team.copies * count for team, count in zip(teams_, counts, strict=True))
    by_remainder = sorted(range(len(teams_)), key=lambda i: (counts[i] - quotas[i], -quotas[i]))
    more = [0] * len(teams_)
    for index in by_remainder:
        more[index] = min(teams_[index].copies, left)
        left -= more[index]
    for team, count, extra in zip(teams_, counts, more, strict=True):
        if extra:
            yield team, extra, count + 1
        if count and team.copies > extra:
            yield team, team.copies - extra, count


def times(terms: Terms, factor: float) -> Terms:
    """Every term multiplied."""
    return Terms(
        terms.weights_s * factor,
        terms.cache_s * factor,
        terms.compute_s * factor,
        terms.host_memory_s * factor,
        terms.link_s * factor,
        terms.overhead_s * factor,
    )


def step_terms(runner: Runner, team: Team, users: int, filled_tokens: float) -> Terms:
    """One token for each of the team's `users`.

    Without filling, all users pass the stages together. Filled, they pass in as many batches as there are stages: a round
    then takes the slowest stage once a batch, or one pass where that is longer [Narayanan et al. 2021, §2.2].
    """
    together = _pass(runner, team, users, filled_tokens)
    batches = min(users, len(team.stages))
    if not team.fill or batches == 1:
        return sum(together, _link(runner, team, users))
    stages = _pass(runner, team, users / batches, filled_tokens)
    link = _link(runner, team, users / batches)
    one_pass = sum(stages, link)
    slowest = max(stages, key=lambda terms: terms.total_s) + times(link, 1 / len(stages))
    round_ = max(one_pass, times(slowest, batches), key=lambda terms: terms.total_s)
    return times(round_, team.fill) + times(sum(together, _link(runner, team, users)), 1 - team.fill)


def _link(runner: Runner, team: Team, tokens: float) -> Terms:
    return Terms(link_s=all_spent(team.messages, tokens, runner.links).total_s) if team.messages else Terms()


def _pass(runner: Runner, team: Team, users: float, filled_tokens: float) -> list[Terms]:
    """The slowest part of each stage; equal parts are worked out once."""
    parts, stages = team.unlike
    found = [_decode(runner, team, part, users, filled_tokens) for part in parts]
    return [max((found[index] for index in stage), key=lambda terms: terms.total_s) for stage in stages]


def _key(part: Part) -> object:
    shares = (part.layer_share, part.dense_share, part.expert_share, part.head_share, part.cache_share, part.compute_share)
    return id(part.device), shares, part.host_dense_share, part.host_expert_share, part.disk_share


def _decode(runner: Runner, team: Team, part: Part, users: float, filled_tokens: float) -> Terms:
    constants = runner.constants(part)
    uneven = imbalance(runner.weights, team.expert_ranks, users, runner.calibration.routing_exponent)
    work = replace(part, expert_share=part.expert_share * uneven) if uneven > 1 else part
    host = runner.host_bytes_per_s if uses_host(part) else None
    found = decode_terms(work, runner.weights, runner.cache, runner.model, users, filled_tokens, constants, host)
    found = found._replace(host_memory_s=_in_host_s(runner, part, users, found.host_memory_s)) if host else found
    return found + _disk(runner, part, users) if part.disk_share else found


def _in_host_s(runner: Runner, part: Part, users: float, reading_s: float) -> float:
    """The processor's part of a step: it reads its weights once for all users and multiplies them for each; and the way there."""
    way_s = runner.host_layer_s * (part.host_layers + part.host_expert_layers)
    if runner.host_flops is None:
        return reading_s + way_s
    weights = runner.weights
    params = part.host_dense_share * weights.dense_params + part.host_expert_share * weights.chosen_share * weights.expert_params
    return way_s + larger(reading_s, 2 * params * users / runner.host_flops, runner.constants(part).knee_exponent)


def uses_host(part: Part) -> bool:
    """Whether some of the part's weights or cache lie in host memory."""
    return part.host_dense_share + part.host_expert_share + part.host_cache_share > 0


def _disk(runner: Runner, part: Part, tokens: float) -> Terms:
    """Reading from disk what neither memory holds."""
    if not part.disk_share or not runner.disk_bytes_per_s:
        return Terms()
    weights = runner.weights
    read = weights.dense_bytes + weights.expert_bytes * weights.experts_touched_share(tokens, runner.calibration.routing_exponent)
    return Terms(host_memory_s=part.disk_share * read / runner.disk_bytes_per_s)


def imbalance(weights: Weights, ranks: int, tokens: float, routing_exponent: float) -> float:
    """Experts read by the busiest of `ranks` devices that hold whole experts, over the mean.

    Of E experts T are touched; a device holding E/n of them expects m = T/n, and the busiest of n about
    m + √(2 m (1−T/E) ln n), at least one and at most all it holds [maximum of n binomials, Gumbel 1958].
    """
    if ranks == 1 or not weights.experts:
        return 1.0
    share = weights.experts_touched_share(tokens, routing_exponent)
    mean = share * weights.experts / ranks
    busiest = max(1.0, mean + sqrt(2 * mean * (1 - share) * log(ranks)))
    return min(busiest, weights.experts / ranks) / mean


def prompt_s(runner: Runner, team: Team, prompt_tokens: float, together: float = 1.0) -> float:
    """Seconds of reading one prompt; of `together` prompts that follow one another, seconds for each.

    Chunks of a prompt overlap in the stages as far as the engine lets them: at best the slowest stage works all the time.
    """
    parts, found = team.unlike
    seconds = [_prompt(runner, part, prompt_tokens, together) for part in parts]
    stages = [max(seconds[index] for index in stage) for stage in found]
    chunk_tokens = min(prompt_tokens * together, runner.constants(team.stages[0][0]).prompt_chunk_tokens)
    chunks = prompt_tokens / chunk_tokens
    whole_chunks = max(1.0, ceil(chunks * together - 1e-9))
    slowest, total = max(stages), sum(stages)
    overlapped = slowest + (total - slowest) / whole_chunks
    link = all_spent(team.messages, chunk_tokens, runner.links)
    hidden = runner.links.prefill_hidden_share
    return total - team.overlap * (total - overlapped) + chunks * (link.latency_s + (1 - hidden) * link.bandwidth_s)


def _prompt(runner: Runner, part: Part, prompt_tokens: float, together: float) -> float:
    host = runner.host_prompt_bytes_per_s if uses_host(part) else None
    constants = runner.constants(part)
    found = prefill_terms(part, runner.weights, runner.cache, runner.model, prompt_tokens, 0.0, constants, host, together)
    return (found + _disk(runner, part, prompt_tokens) if part.disk_share else found).total_s


def bottleneck(terms: Terms, placement: Placement, runner: Runner, users: float) -> str:
    """The word for the longest term: memory-bandwidth compute link-latency link-bandwidth host-memory overhead."""
    link = all_spent(placement.messages, users, runner.links)
    spent: Mapping[str, float] = {
        "memory-bandwidth": terms.weights_s + terms.cache_s,
        "compute": terms.compute_s,
        "link-latency": terms.link_s * link.latency_s / link.total_s if link.total_s else 0.0,
        "link-bandwidth": terms.link_s * link.bandwidth_s / link.total_s if link.total_s else 0.0,
        "host-memory": terms.host_memory_s,
        "overhead": terms.overhead_s,
    }
    return max(spent, key=lambda word: spent[word])
