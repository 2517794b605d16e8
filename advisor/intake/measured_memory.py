"""Memory that a load log or `ollama ps` shows, beside the estimated one."""

from collections.abc import Iterable, Sequence

from advisor import choose
from advisor.catalog import Catalog
from advisor.errors import AdvisorError
from advisor.intake import loads, ollama_bench
from advisor.intake.bound_run import Binder, Bound, Stated
from advisor.intake.page import Page
from advisor.intake.run import Run
from advisor.memory import Fit
from advisor.need import Workload
from advisor.record import dataclass

HOST = ("CPU", "Host", "BLAS")


@dataclass(frozen=True)
class Memory:
    """Bytes of one load on the devices; `estimated` = the same of the estimate, where system and model are known."""

    source: str
    bound: Bound | None
    model: str | None
    context_tokens: int | None
    weights_bytes: float | None
    cache_bytes: float | None
    overhead_bytes: float | None
    total_bytes: float | None
    gpu_share: float | None
    devices: tuple[str, ...]
    estimated: Fit | None


def read(pages: Sequence[Page], catalog: Catalog, stated: Stated) -> tuple[Memory, ...]:
    """The loads of all pages."""
    found: list[Memory] = []
    for page in pages:
        load = loads.read(page)
        if load is not None and load.buffers:
            found.append(_loaded(page, load, catalog, stated))
        found += [
            Memory("ollama ps", None, each.model, each.context_tokens, None, None, None, each.size_bytes, each.gpu_share, (), None)
            for each in ollama_bench.loaded(page)
        ]
    return tuple(found)


def _loaded(page: Page, load: loads.Load, catalog: Catalog, stated: Stated) -> Memory:
    """One load log."""
    on_devices = [buffer for buffer in load.buffers if not _is_host(buffer.device)]
    run = Run(
        tool="load log",
        test="load",
        kind="decode",
        tokens_per_s=None,
        engine="llama.cpp",
        model=load.model,
        file=load.file,
        quant=load.quant,
        params=load.params,
        kv_quant=load.kv_quant,
        offload=load.all_layers is False,
    )
    bound = Binder(page, catalog, stated).bind(run)
    weights, cache = _sum(on_devices, "weights"), _sum(on_devices, "cache")
    overhead = _sum(on_devices, "compute", "output")
    total = sum(size for size in (weights, cache, overhead) if size) or None
    names = tuple(dict.fromkeys(buffer.device for buffer in on_devices))
    return Memory(
        "load log",
        bound,
        load.model or load.file,
        load.context_tokens,
        weights,
        cache,
        overhead,
        total,
        None,
        names,
        _fit(bound, load, catalog),
    )


def _is_host(device: str) -> bool:
    """Whether a buffer lies in the computer's memory."""
    return any(word in device for word in HOST)


def _sum(buffers: Iterable[loads.Buffer], *what: str) -> float | None:
    """Bytes of these purposes; None where none is printed."""
    sizes = [buffer.size_bytes for buffer in buffers if buffer.what in what]
    return sum(sizes) if sizes else None


def _fit(bound: Bound, load: loads.Load, catalog: Catalog) -> Fit | None:
    """The estimated memory of the same load."""
    if bound.system is None or bound.model is None or bound.quant is None or not load.context_tokens:
        return None
    context = load.context_tokens
    work = Workload(users=1, context_tokens=context, prompt_tokens=max(0, context - 1), generate_tokens=1)
    try:
        return choose.best(bound.system, bound.model, bound.quant, load.kv_quant or "f16", work, catalog).fit
    except AdvisorError:
        return None
