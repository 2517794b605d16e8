"""May this engine split this model so, on this hardware? Each "no" is a Reason with the fact that decides it."""

from advisor.placement.seats import unlike
from advisor.placement.shares import Job
from advisor.reason import Fact, Reason

# what a box may do inside under each strategy of the whole; a box that states nothing does as the whole
INSIDE = {
    "whole": ("whole",), "tensor": ("tensor",), "layers": ("layers", "tensor"), "experts": ("experts", "tensor"),
    "offload": ("offload", "layers"), "replicas": ("replicas", "tensor", "layers", "whole"),
}  # fmt: skip


def problem(strategy: str, job: Job) -> Reason | None:
    """The first thing that forbids the strategy whatever the model; None when it may be tried."""
    return _devices(strategy, job) or _inside(strategy, job) or _engine(strategy, job) or _mixture(strategy, job)


def _inside(strategy: str, job: Job) -> Reason | None:
    """A box that is stated to split in a way that the whole cannot hold."""
    for box in job.system.boxes:
        if box.strategy and box.count > 1 and box.strategy not in INSIDE[strategy]:
            return Reason("placement.inside", {"strategy": strategy, "inside": box.strategy, "may": ", ".join(INSIDE[strategy])})
    return None


def _devices(strategy: str, job: Job) -> Reason | None:
    count = job.system.count
    if strategy == "whole" and count > 1:
        return Reason("placement.whole-is-one", {"devices": count})
    return None


def _engine(strategy: str, job: Job) -> Reason | None:
    facts: dict[str, Fact] = {"engine": job.engine.id, "backend": job.backend.id, "strategy": strategy}
    if strategy not in job.backend.splits:
        return Reason("placement.engine-cannot-split", facts)
    boxes = len(job.system.boxes)
    if boxes > 1 and strategy != "replicas" and strategy not in job.engine.multi_node:
        return Reason("placement.not-between-boxes", {**facts, "boxes": boxes})
    if job.model.architecture in job.engine.excluded_architectures:
        return Reason("placement.architecture", {**facts, "architecture": job.model.architecture})
    return None


def _mixture(strategy: str, job: Job) -> Reason | None:
    """Unlike devices in one group."""
    if strategy in ("whole", "replicas") or job.system.count == 1 or not unlike(job.system):
        return None
    facts: dict[str, Fact] = {"engine": job.engine.id, "strategy": strategy}
    makers = {group.device.maker for group in job.system.groups}
    if len(makers) > 1 and strategy not in job.engine.mixed_makers:
        return Reason("placement.makers", {**facts, "makers": ", ".join(sorted(makers))})
    if strategy not in job.engine.mixed_devices and strategy not in job.engine.mixed_makers:
        return Reason("placement.unlike-devices", facts)
    return None


def tensor_problem(job: Job, ranks: int) -> Reason | None:
    """What of the model or the count forbids cutting every layer in `ranks`; None when it may be cut. One rank is no cut."""
    rule = job.engine.tensor
    if ranks == 1:
        return None
    facts: dict[str, Fact] = {"engine": job.engine.id, "devices": ranks}
    if rule is None:
        return Reason("placement.engine-cannot-split", {**facts, "backend": job.backend.id, "strategy": "tensor"})
    if job.model.architecture in rule.excluded_architectures:
        return Reason("placement.architecture", {**facts, "architecture": job.model.architecture, "strategy": "tensor"})
    if rule.most_devices is not None and ranks > rule.most_devices:
        return Reason("placement.most-devices", {**facts, "most_devices": rule.most_devices})
    if rule.degrees == "power-of-two" and ranks & (ranks - 1):
        return Reason("placement.power-of-two", facts)
    return _heads(job, ranks) or _sizes(job, ranks)


def _heads(job: Job, ranks: int) -> Reason | None:
    rule, model, kv_heads = job.engine.tensor, job.model, job.cache.kv_heads
    assert rule is not None
    facts: dict[str, Fact] = {"engine": job.engine.id, "devices": ranks}
    if rule.heads_divide and model.heads % ranks:
        return Reason("placement.heads", {**facts, "heads": model.heads})
    if job.cache.latent:  # the latent is copied, there are no KV heads to cut
        return None
    uneven = kv_heads % ranks != 0
    if (rule.kv_heads_divide and uneven) or (rule.kv_heads_divide_or_copy and uneven and ranks % kv_heads):
        return Reason("placement.kv-heads", {**facts, "kv_heads": kv_heads})
    return None


def _sizes(job: Job, ranks: int) -> Reason | None:
    rule, model = job.engine.tensor, job.model
    assert rule is not None
    facts: dict[str, Fact] = {"engine": job.engine.id, "devices": ranks}
    padded = -(-model.vocab_size // rule.vocabulary_pad) * rule.vocabulary_pad
    if rule.vocabulary_divides and padded % ranks:
        return Reason("placement.vocabulary", {**facts, "vocabulary": padded})
    if rule.hidden_divides and model.hidden_size % ranks:
        return Reason("placement.hidden", {**facts, "hidden_size": model.hidden_size})
    return None
