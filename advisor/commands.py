"""Command lines: how an engine is told a placement, its blanks filled from the layers that each part keeps and gives away.

llama.cpp deals out its slots – the layers on devices and, last, the output layer – by the cumulative shares of `-ts`; the first
layers stay in host memory when `-ngl` counts fewer (src/llama-model.cpp, load_tensors). `--n-cpu-moe N` keeps the experts of the
first N layers there, which on several devices is all on the first of them: there `-ot` names the layers of each.
"""

from itertools import groupby
from math import ceil

from advisor.engine import DEALT, Engine
from advisor.model import Model
from advisor.need import Workload
from advisor.placement import Placement
from advisor.placement.layers import shares_words
from advisor.quant import Quant
from advisor.system import System
from advisor.units import GIB
from advisor.weights import Weights

ALL = 99  # of the layers, as people write it


def setting_of(placement: Placement) -> str:
    """The word for a placement in engines' flags and in hints: `tensor`, `offload-experts`, `offload-layers-several`."""
    if placement.strategy != "offload":
        return DEALT if any(part.layers for part in placement.parts) else placement.strategy
    kind = "offload-experts" if any(part.host_expert_share for part in placement.parts) else "offload-layers"
    return kind + ("-several" if len(placement.parts) > 1 else "")


def blanks(placement: Placement, model: Model, weights: Weights, host_bytes: float) -> dict[str, object]:
    """What an offload's command lines are filled with: layers on devices, and the layers whose experts are not."""
    if placement.strategy != "offload" or not any(part.layers for part in placement.parts):
        return {"ngl": ALL, "device_layers": ALL, **shares_words(list({part.stage: part.layers for part in placement.parts}.values()))}
    outside = placement.host_layers
    kept = [part.layers - part.host_layers for part in placement.parts]
    shares = shares_words(kept)
    experts = _expert_layers(placement, model.layers, weights.expert_layers) if weights.expert_layers else ()
    return {
        "ngl": sum(kept) + 1 if outside else ALL,
        "device_layers": sum(kept) if outside else ALL,
        "expert_layers": experts[-1] + 1 if experts else 0,
        **shares,
        "pattern": rf"blk\.({pattern(experts)})\.ffn_(up|down|gate)_exps",
        "host_gib": ceil(host_bytes / GIB / len(placement.parts)),
    }


def _expert_layers(placement: Placement, layers: int, mixtures: int) -> tuple[int, ...]:
    """Numbers of the layers on devices whose experts lie in host memory.

    Layers without experts come first in every such model, so a part may hold more mixtures than its share: the more go out.
    """
    found: list[int] = []
    start = placement.host_layers
    for part in placement.parts:
        end = start + part.layers - part.host_layers
        here = range(max(start, layers - mixtures), end)
        kept = 0 if part.host_layers else round(part.layer_share * mixtures) - part.host_expert_layers
        found += here[: max(0, len(here) - kept)]
        start = end
    return tuple(found)


def pattern(numbers: tuple[int, ...]) -> str:
    """Layer numbers as alternatives of a regular expression, shortened by tens: `[0-8]|1[89]|2[0-7]`."""
    tens = [(ten, [number % 10 for number in group]) for ten, group in groupby(numbers, key=lambda number: number // 10)]
    return "|".join((str(ten) if ten else "") + _digits(digits) for ten, digits in tens)


def _digits(digits: list[int]) -> str:
    if len(digits) == 1:
        return str(digits[0])
    run = digits[-1] - digits[0] == len(digits) - 1 and len(digits) > 2
    return f"[{digits[0]}-{digits[-1]}]" if run else f"[{''.join(map(str, digits))}]"


def weights_name(model: Model, quant: Quant) -> str:
    """Where the weights are: the maker's repository only where that is what it holds, else a folder as one would call it."""
    made_so = quant.format == "plain" or quant.id == model.native_quant
    return model.hf_repo if model.hf_repo and made_so else f"{model.id}-{quant.id}"


def verify(
    engine: Engine, model: Model, quant: Quant, kv_quant: str, placement: Placement, system: System, work: Workload,
    weights: Weights, host_bytes: float,
) -> str:  # fmt: skip
    """The command of that engine that measures what was estimated."""
    users = work.users or 1
    serving = users > 1 and engine.verify_users
    words = {
        "model": weights_name(model, quant),
        "file": f"{model.id}-{quant.id}.gguf",
        "prompt": work.prompt_tokens,
        "generate": work.generate_tokens,
        "depth": work.prompt_tokens,
        "users": users,
        "requests": 4 * users,
        "context": work.context_tokens,
        "context_total": work.context_tokens * users,
        **blanks(placement, model, weights, host_bytes),
    }
    words["kv"] = engine.kv_flags.format(kv_quant=kv_quant) if kv_quant != "f16" else ""
    words["split"] = _split(engine, placement, system.count, bench=not serving).format(**words)
    launch = engine.launch_boxes if engine.launch_boxes and len(system.boxes) > 1 else ""
    return " ".join((launch + " " + (serving or engine.verify).format(**words)).split())


def _split(engine: Engine, placement: Placement, devices: int, bench: bool) -> str:
    """The words for a split; for stages that are cut inside, those of both."""
    setting = setting_of(placement)
    if setting not in ("layers", DEALT):
        return engine.flags(setting, devices, bench)
    ranks = sum(part.count for part in placement.parts if part.stage == 0)
    inside = engine.flags("tensor", ranks, bench) if ranks > 1 else ""
    return f"{engine.flags(setting, placement.stages, bench)} {inside}"
