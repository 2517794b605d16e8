"""Measured against estimated, run by run: what is believed, what cannot be true and why, and the correction that follows."""

from collections.abc import Sequence

from advisor import choose, correction
from advisor.catalog import Catalog
from advisor.errors import AdvisorError
from advisor.intake import bench
from advisor.intake.bound_run import Binder, Bound, Stated
from advisor.intake.page import Page
from advisor.intake.run import MOST_RUNS, Run
from advisor.measurement import LEAST_PROMPT_TOKENS, TOO_FAST
from advisor.need import Workload
from advisor.reason import Reason
from advisor.record import dataclass, replace
from advisor.speed import Estimate

COMPARED = ("decode", "prefill", "mixed", "served")
LEAST_DECODE_TOKENS = 8  # fewer say nothing of a speed


@dataclass(frozen=True)
class Judged:
    """One run beside the estimate. `usable`: it may correct later estimates."""

    bound: Bound
    estimated_tokens_per_s: float | None
    accepted: bool
    usable: bool
    why: Reason | None
    engine: str | None = None

    @property
    def ratio(self) -> float | None:
        """Measured over estimated."""
        measured = self.bound.run.tokens_per_s
        return measured / self.estimated_tokens_per_s if measured and self.estimated_tokens_per_s else None


def compare(pages: Sequence[Page], catalog: Catalog, stated: Stated) -> tuple[Judged, ...]:
    """Every run of the pages."""
    rows: list[Judged] = []
    with correction.off():
        for page in pages:
            binder = Binder(page, catalog, stated)
            known: dict[object, Estimate | Reason] = {}
            rows += [_compared(binder.bind(run), catalog, known) for run in bench.read(page)]
    return tuple(rows)


def warnings(pages: Sequence[Page]) -> tuple[str, ...]:
    """What of large texts was left out."""
    many = (page for page in pages if len(bench.read(page)) == MOST_RUNS)
    full = tuple(f"{page.source} holds more speeds than are compared at once: the first {MOST_RUNS:,} are." for page in many)
    return (*(warning for page in pages for warning in page.warnings), *full)


def _compared(bound: Bound, catalog: Catalog, known: dict[object, Estimate | Reason]) -> Judged:
    """One run: refused, or with its estimate, or without one and why."""
    refused = _refused(bound.run)
    if refused:
        return Judged(bound, None, False, False, refused)
    if bound.run.kind not in COMPARED:
        return Judged(bound, None, True, False, Reason("calibrate.not-compared", {"kind": bound.run.kind}))
    if bound.why is not None:
        return Judged(bound, None, True, False, bound.why)
    found = _estimate(bound, catalog, known)
    if isinstance(found, Reason):
        return Judged(bound, None, True, False, found)
    return _judged(bound, found)


def _refused(run: Run) -> Reason | None:
    """What no hardware can make true or useful: an aborted run, zero, a negative or an endless speed."""
    if run.aborted:
        return Reason("calibrate.aborted", {"said": run.aborted})
    speed = run.tokens_per_s
    if speed is None or speed != speed or speed <= 0:
        return Reason("calibrate.no-speed")
    return Reason("calibrate.endless", {"measured_tokens_per_s": speed}) if speed > 1e7 else None


def _workload(run: Run, most_tokens: int | None) -> Workload:
    """The work of a run: what was in the cache, read and written, for so many users."""
    prompt = (run.prompt_tokens or 512) if run.kind == "prefill" else (run.filled_tokens + (run.prompt_tokens or 0))
    generate = max(1, run.generate_tokens or (1 if run.kind == "prefill" else 128))
    context = prompt + generate
    users = max(1, round(run.users))
    return Workload(
        users=users, context_tokens=min(context, most_tokens) if most_tokens else context, prompt_tokens=prompt, generate_tokens=generate
    )


def _estimate(bound: Bound, catalog: Catalog, known: dict[object, Estimate | Reason]) -> Estimate | Reason:
    """The estimate of the same work, once for equal work; as many users as fit where all do not."""
    run, system, model, quant = bound.run, bound.system, bound.model, bound.quant
    if system is None or model is None or quant is None:
        return Reason("calibrate.system")
    if run.kind == "prefill" and run.filled_tokens:
        return Reason("calibrate.prefill-at-depth", {"filled_tokens": run.filled_tokens})
    work = _workload(run, model.max_context_tokens)
    kv_quant = run.kv_quant if run.kv_quant not in (None, "auto", "bf16") else "f16"
    key = (bound.words, model.id, quant.id, kv_quant, work)
    if key not in known:
        try:
            found = choose.best(system, model, quant, kv_quant or "f16", work, catalog)
            if not found.fit.fits and (work.users or 1) > 1:
                found = choose.best(system, model, quant, kv_quant or "f16", replace(work, users=None), catalog)
            known[key] = found
        except AdvisorError as error:
            known[key] = Reason("calibrate.unsupported", {"error": error.message})
    found_or_not = known[key]
    if isinstance(found_or_not, Estimate) and not found_or_not.fit.fits:
        return Reason("calibrate.does-not-fit", {"system": bound.words})
    return found_or_not


def figure_of(run: Run, estimate: Estimate) -> float | None:
    """The estimated speed of the same kind as the run's."""
    if run.kind == "decode":
        return estimate.decode.value if estimate.decode else None
    if run.kind == "prefill":
        return estimate.prefill.value if estimate.prefill else None
    if estimate.sustained is None:
        return None
    work = estimate.workload
    both = (work.prompt_tokens + work.generate_tokens) / work.generate_tokens if run.kind == "mixed" else 1.0
    return estimate.sustained.value * both


def _judged(bound: Bound, estimate: Estimate) -> Judged:
    """Refused where the hardware forbids it; usable for a correction where it is one plain test."""
    run, value = bound.run, figure_of(bound.run, estimate)
    engine = estimate.placement.engine
    impossible = _impossible(run, estimate)
    if impossible:
        return Judged(bound, value, False, False, impossible, engine)
    factor = run.tokens_per_s / value if run.tokens_per_s and value else None
    if factor is None:
        return Judged(bound, None, True, False, Reason("calibrate.unsupported", {"error": "no such figure"}), engine)
    if not correction.LEAST_FACTOR <= factor <= correction.MOST_FACTOR:
        return Judged(bound, value, True, False, Reason("calibrate.far", {"factor": factor}), engine)
    hindered = _hindered(bound)
    return Judged(bound, value, True, hindered is None, hindered, engine)


def _hindered(bound: Bound) -> Reason | None:
    """Why a believable run says nothing of other work."""
    run = bound.run
    if run.engine is None and (bound.system is None or bound.system.engine is None):
        return Reason("calibrate.engine")
    if run.speculative:
        return Reason("calibrate.speculative")
    if run.kind not in ("decode", "prefill") or run.users > 1:
        return Reason("calibrate.shown-only", {"kind": run.kind})
    if run.kind == "prefill" and (run.prompt_tokens or 0) < LEAST_PROMPT_TOKENS:
        return Reason("calibrate.short-prompt", {"prompt_tokens": run.prompt_tokens, "least_tokens": LEAST_PROMPT_TOKENS})
    if run.kind == "decode" and run.generate_tokens is not None and run.generate_tokens < LEAST_DECODE_TOKENS:
        return Reason("calibrate.short-answer", {"generate_tokens": run.generate_tokens})
    return None


def _impossible(run: Run, estimate: Estimate) -> Reason | None:
    """Faster than the memory can be read, or than the chip computes. Layers and whole read one device after the other."""
    measured = run.tokens_per_s or 0.0
    weights, parts = estimate.weights, estimate.placement.parts
    side_by_side = estimate.placement.strategy in ("tensor", "experts", "replicas")
    rates = [part.device.bandwidth_bytes_per_s * part.count for part in parts]
    bandwidth = sum(rates) if side_by_side else max(part.device.bandwidth_bytes_per_s for part in parts)
    if run.kind == "decode" and run.users <= 1 and not run.speculative:
        read = weights.dense_bytes + weights.head_bytes + weights.chosen_share * weights.expert_bytes
        if measured * read > TOO_FAST * bandwidth:
            return Reason(
                "calibrate.too-fast", {"needed_bytes_per_s": measured * read, "bandwidth_bytes_per_s": bandwidth, "read_bytes": read}
            )
    if run.kind == "prefill":
        rate = sum(max((rate for rate in vars(part.device.compute).values() if rate), default=float("inf")) * part.count for part in parts)
        needed = 2 * estimate.model.active_params * measured
        if needed > TOO_FAST * rate:
            return Reason("calibrate.computes-too-fast", {"needed_flops": needed, "rate_flops": rate})
    return None
