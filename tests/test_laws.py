"""Laws that hold for every estimate, tried on devices, models and engines of the real catalog."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from advisor import choose
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.errors import AdvisorError
from advisor.need import Workload
from advisor.pace import served as shared_out
from advisor.pace import teams
from advisor.speed import Estimate
from advisor.system import Box, Group, System
from advisor.units import GIB

REAL = Catalog.load(user_folder=False)
LEAST_BYTES = 7 * GIB  # below, next to nothing fits
SOLD = [each for each in REAL.devices.values() if each.availability != "announced" and each.largest_memory_bytes > LEAST_BYTES]
CARDS = tuple(each.id for each in SOLD if not each.is_box)
BOXES = tuple(each.id for each in SOLD if each.is_box)
MODELS = tuple(REAL.models)
PAIRED = ("rtx-3090", "rtx-4090", "rtx-5090", "rtx-5060-ti-16gb")
FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
TINY = 1 + 1e-9


def catalog() -> Catalog:
    return REAL


def estimated(system: System, model: str, quant: str | None, workload: Workload) -> Estimate:
    try:
        return choose.best(system, catalog().model(model), quant, "f16", workload, catalog())
    except AdvisorError:
        assume(False)
        raise


def estimate_of(words: str, model: str, workload: Workload, quant: str | None = None) -> Estimate:
    return estimated(bind(words, catalog()), model, quant, workload)


def speed(found: Estimate) -> float:
    assume(found.decode is not None)
    assert found.decode
    return found.decode.value


works = st.builds(
    Workload,
    users=st.sampled_from((1, 2, 3, 8, 32)),
    context_tokens=st.just(4096),
    prompt_tokens=st.sampled_from((0, 512, 3000)),
    generate_tokens=st.sampled_from((1, 128, 512)),
)
models = st.sampled_from(MODELS)
engines = st.sampled_from(("llama.cpp", "vllm"))
strategies = st.sampled_from(("layers", "tensor", "replicas"))
ways = st.sampled_from(("", " as layers", " as tensor", " as replicas", " as offload"))


@given(st.sampled_from(CARDS + BOXES), models, st.sampled_from(("llama.cpp", "vllm", "mlx")), works)
@FEW
def test_tensor_on_one_device_equals_whole(device: str, model: str, engine: str, work: Workload) -> None:
    whole = estimate_of(f"{device} as whole on {engine}", model, work)
    tensor = estimate_of(f"{device} as tensor on {engine}", model, work)
    assert (tensor.decode, tensor.prefill, tensor.sustained, tensor.terms) == (whole.decode, whole.prefill, whole.sustained, whole.terms)
    assert tensor.fit.devices == whole.fit.devices


def changed(system: System, **changes: object) -> System:
    """Every device with other figures."""

    def box(old: Box) -> Box:
        return replace(old, groups=tuple(replace(g, device=replace(g.device, **changes)) for g in old.groups))

    return replace(system, boxes=tuple(box(old) for old in system.boxes))


def with_link(system: System, **changes: float) -> System:
    """Every link with other figures."""
    boxes = tuple(replace(box, link=replace(box.link, **changes)) if box.link else box for box in system.boxes)
    return replace(system, boxes=boxes, link=replace(system.link, **changes) if system.link else None)


@given(st.sampled_from(CARDS), st.sampled_from((1, 2, 4)), strategies, engines, models, works, st.floats(1, 4))
@FEW
def test_more_memory_bandwidth_is_never_slower(
    device: str, count: int, strategy: str, engine: str, model: str, work: Workload, factor: float
) -> None:
    system = bind(f"{count}x {device} as {'whole' if count == 1 else strategy} on {engine}", catalog())
    before = estimated(system, model, None, work)
    rate = system.groups[0].device.bandwidth_bytes_per_s
    after = estimated(changed(system, bandwidth_bytes_per_s=rate * factor), model, None, work)
    assert speed(after) >= speed(before) / TINY
    assert (after.sustained.value if after.sustained else 0) >= (before.sustained.value if before.sustained else 0) / TINY


@given(st.sampled_from(CARDS + BOXES), st.sampled_from((2, 4)), strategies, engines, models, works, st.floats(1, 100))
@FEW
def test_quicker_and_wider_links_are_never_slower(
    device: str, count: int, strategy: str, engine: str, model: str, work: Workload, factor: float
) -> None:
    system = bind(f"{count}x {device} as {strategy} on {engine}", catalog())
    link = system.shown_link
    assume(link is not None)  # more of some boxes than any link joins
    assert link
    before = estimated(system, model, None, work)
    quick = with_link(system, latency_s=(link.latency_s or 1e-5) / factor) if link.latency_s else system
    rate = link.effective_bytes_per_s or link.bandwidth_bytes_per_s
    wide = with_link(system, effective_bytes_per_s=rate * factor)
    for better in (quick, wide):
        after = estimated(replace(better, link_stated=True), model, None, work)
        assert speed(after) >= speed(before) / TINY
        assert (after.prefill.value if after.prefill else 0) >= (before.prefill.value if before.prefill else 0) / TINY


@given(st.sampled_from(CARDS), st.sampled_from((1, 2, 4)), strategies, engines, models, works, st.floats(1, 4))
@FEW
def test_more_memory_never_fits_less_nor_runs_slower(
    device: str, count: int, strategy: str, engine: str, model: str, work: Workload, factor: float
) -> None:
    system = bind(f"{count}x {device} as {'whole' if count == 1 else strategy} on {engine}", catalog())
    larger = replace(
        system,
        boxes=tuple(
            replace(box, groups=tuple(replace(g, memory_bytes=g.memory_bytes * factor) for g in box.groups)) for box in system.boxes
        ),
    )
    before, after = estimated(system, model, None, work), estimated(larger, model, None, work)
    assert after.fit.fits or not before.fit.fits
    assert (after.fit.max_users, after.fit.max_context_tokens) >= (before.fit.max_users, before.fit.max_context_tokens)
    if before.decode and after.decode and before.quant == after.quant:
        assert after.decode.value >= before.decode.value / TINY


@given(st.sampled_from(CARDS + BOXES), st.integers(1, 6), st.integers(1, 8), engines, models)
@FEW
def test_replicas_for_n_times_the_users_are_n_times_as_fast(device: str, count: int, users: int, engine: str, model: str) -> None:
    one = estimate_of(f"{device} as whole on {engine}", model, Workload(users=users))
    many = estimate_of(f"{count}x {device} as replicas on {engine}", model, Workload(users=users * count))
    assert speed(many) == pytest.approx(count * speed(one))
    assert many.sustained
    assert one.sustained
    assert many.sustained.value == pytest.approx(count * one.sustained.value)
    assert many.terms == one.terms


@given(st.lists(st.tuples(st.sampled_from(CARDS), st.integers(1, 5)), min_size=2, max_size=4), st.integers(1, 40), models)
@FEW
def test_unlike_replicas_add_up(groups: list[tuple[str, int]], users: int, model: str) -> None:
    """Every user is served by one of them; the time of the mean token is the users over the speed, its parts sum to it."""
    found = estimate_of(" + ".join(f"{count}x {card}" for card, count in groups) + " as replicas on vllm", model, Workload(users=users))
    assume(found.terms is not None)
    assert found.terms
    assert users / found.terms.total_s == pytest.approx(speed(found))
    shares = [(team.copies, count, each) for team, count, each in shared_out(teams(found.placement), users)]
    assert sum(count * each for _, count, each in shares) == users
    assert all(count <= copies for copies, count, _ in shares)


def test_thousands_of_unlike_replicas_are_counted_not_listed() -> None:
    """Equal devices are worked out once: 10,000 of two kinds take as many parts as two."""
    words = " + ".join(f"500x {card}" for card in ("rtx-3090", "rtx-4090") * 10) + " as replicas on llama.cpp"
    found = estimate_of(words, "llama-3-8b", Workload(users=10_000, context_tokens=1024))
    assert [(part.device.id, part.count) for part in found.placement.parts] == [("rtx-3090", 5000), ("rtx-4090", 5000)]
    assert found.placement.groups == 10_000


@given(st.sampled_from(CARDS + BOXES), st.sampled_from((1, 2, 4)), strategies, engines, models, works)
@FEW
def test_parts_sum(device: str, count: int, strategy: str, engine: str, model: str, work: Workload) -> None:
    found = estimate_of(f"{count}x {device} as {'whole' if count == 1 else strategy} on {engine}", model, work)
    if found.terms:
        terms = found.terms
        parts = (terms.weights_s, terms.cache_s, terms.compute_s, terms.host_memory_s, terms.link_s, terms.overhead_s)
        assert sum(parts) == pytest.approx(terms.total_s)
        assert min(parts) >= 0
        assert found.decode_per_user
        assert found.decode
        assert found.workload.users
        assert found.decode_per_user.value * found.workload.users == pytest.approx(found.decode.value)
        assert found.fit.at_a_time / terms.total_s == pytest.approx(found.decode.value)
    for device_fit in found.fit.devices:
        used = device_fit.weights_bytes + device_fit.cache_bytes + device_fit.overhead_bytes
        assert used + device_fit.headroom_bytes == pytest.approx(device_fit.usable_bytes)
    if strategy != "tensor" or count == 1:
        copies = found.placement.groups
        weights = sum(each.weights_bytes * each.count for each in found.fit.devices)
        assert weights == pytest.approx(copies * (found.weights.total_bytes - off_device(found)), rel=0.05)


def off_device(found: Estimate) -> float:
    """Weights that no device holds: towers loaded apart, an embedding kept in host memory."""
    per_copy = sum(each.weights_bytes * each.count for each in found.fit.devices) / found.placement.groups
    left = found.weights.total_bytes - per_copy
    allowed = found.weights.embedding_bytes + found.weights.vision_bytes
    assert left <= allowed * TINY
    return left


@given(st.permutations(("rtx-3090", "rtx-4090", "rtx-3090", "rtx-4090")), st.sampled_from(("tensor", "replicas")), models, works)
@FEW
def test_the_order_of_devices_changes_nothing(order: list[str], strategy: str, model: str, work: Workload) -> None:
    written = estimate_of(f"{' + '.join(order)} as {strategy} on vllm", model, work)
    sorted_ = estimate_of(f"2x rtx-3090 + 2x rtx-4090 as {strategy} on vllm", model, work)
    assert (written.decode is None) == (sorted_.decode is None)
    if written.decode and sorted_.decode:
        assert written.decode.value == pytest.approx(sorted_.decode.value)


@given(st.sampled_from(PAIRED), st.sampled_from(PAIRED), st.sampled_from(("layers", "tensor", "replicas")), models, works)
@FEW
def test_a_mixed_pair_is_never_faster_than_two_of_its_better_card(one: str, other: str, strategy: str, model: str, work: Workload) -> None:
    words = "{} via pcie-4-x8 as {} on llama.cpp"
    mixed = estimate_of(words.format(f"{one} + {other}", strategy), model, work)
    pairs = [estimate_of(words.format(f"2x {card}", strategy), model, work) for card in (one, other)]
    fast = [pair.decode.value for pair in pairs if pair.decode]
    assume(len(fast) == 2)
    assert speed(mixed) <= max(fast) * 1.001


@given(st.sampled_from(CARDS), st.sampled_from((2, 3, 4, 8)), models, engines)
@FEW
def test_layers_for_one_user_are_no_faster_than_one_device(device: str, count: int, model: str, engine: str) -> None:
    found = estimate_of(f"{count}x {device} as layers on {engine}", model, Workload(users=1))
    assume(found.held is not None)
    assert found.held
    assert found.held.speedup <= TINY


@given(st.sampled_from(CARDS + BOXES), models, works)
@FEW
def test_more_users_give_at_least_as_many_tokens(device: str, model: str, work: Workload) -> None:
    few = estimate_of(f"{device} on vllm", model, work)
    many = estimate_of(f"{device} on vllm", model, replace(work, users=2 * (work.users or 1)))
    assume(few.decode is not None and many.decode is not None)
    assert speed(many) >= speed(few) / TINY
    assert many.fit.max_context_tokens <= few.fit.max_context_tokens


@given(st.sampled_from(CARDS + BOXES), st.sampled_from((2, 3, 8)), ways, st.sampled_from(("", " on llama.cpp", " on vllm")), models, works)
@example("a16-64gb", 2, "", "", "apertus-8b", Workload(users=1, context_tokens=4096, prompt_tokens=0, generate_tokens=1))
@FEW
def test_no_speedup_above_amdahls_ceiling(device: str, count: int, way: str, engine: str, model: str, work: Workload) -> None:
    """Whatever the split, part in host memory too: the ceiling stands over the same one device as the speed-up."""
    found = estimate_of(f"{count}x {device}{way}{engine}", model, work)
    assume(found.decode is not None)
    assert found.held
    assert found.amdahl_ceiling
    assert found.amdahl_serial_fraction == pytest.approx(1 / found.amdahl_ceiling)
    assert found.held.speedup <= found.held.ceiling * TINY
    assert found.speedup_over_one_device is None or found.speedup_over_one_device <= found.amdahl_ceiling * TINY
    if found.placement.strategy == "tensor":
        gpus = sum(part.count for part in found.placement.parts)  # a board may carry four: the one it is held against is one of them
        assert found.held.speedup <= gpus * 1.001


@given(st.sampled_from(CARDS + BOXES), st.sampled_from((2, 4)), ways, models, works)
@FEW
def test_one_is_the_best_that_one_device_can_really_do(device: str, count: int, way: str, model: str, work: Workload) -> None:
    """The speed-up is over the fastest that one device can be in the same computer, its memory included, on any engine; without one
    there is a reason.
    """
    found = estimate_of(f"{count}x {device}{way}", model, work)
    assume(found.decode is not None)
    assert found.one
    try:
        host = found.system.boxes[0].host
        ways = choose.all_ways(bind(device, catalog(), host=host), catalog().model(model), None, "f16", work, catalog())
    except AdvisorError:
        ways = []
    speeds = [each.decode.value for each in ways if each.decode]
    if found.one.estimate is None:
        assert found.one.reason
        assert not speeds
    elif speeds and found.decode:
        assert found.speedup_over_one_device == pytest.approx(found.decode.value / max(speeds))


@given(st.sampled_from(CARDS + BOXES), st.sampled_from((1, 2, 4)), ways, st.sampled_from(("", " on llama.cpp", " on vllm")), models,
       st.integers(1, 2000), st.sampled_from((512, 4096, 32768)))  # fmt: skip
@FEW
def test_it_fits_just_where_users_and_context_are_within_their_limits(
    device: str, count: int, way: str, engine: str, model: str, users: int, context: int
) -> None:
    """Beyond what the engine takes at a time users wait, and it says so; beyond memory it does not fit."""
    system = bind(f"{count}x {device}{'' if count == 1 else way}{engine}", catalog())
    found = estimated(system, model, None, Workload(users=users, context_tokens=context, prompt_tokens=256, generate_tokens=64))
    fit, queue = found.fit, [reason for reason in found.warnings if reason.code == "users.queue"]
    assert fit.fits == (fit.at_a_time <= fit.max_users)
    assert bool(queue) == (fit.at_a_time < users)
    assume(found.model.max_context_tokens is None or context <= found.model.max_context_tokens)
    assert fit.fits == (context <= fit.max_context_tokens)
    assert fit.fits or any(reason.code in ("memory.short", "memory.host-short", "memory.disk") for reason in fit.reasons)


def test_users_beyond_the_engine_wait_for_their_turn() -> None:
    """vLLM takes 256 at a time: 1,024 get the tokens/s of 256, a quarter each; the last waits three turns for a first token."""
    at_once, queued = (
        estimate_of("h100-sxm on vllm", "llama-3-8b", Workload(users=users, context_tokens=1024, prompt_tokens=512, generate_tokens=128))
        for users in (256, 1024)
    )
    assert at_once.decode
    assert queued.decode
    assert queued.decode.value == pytest.approx(at_once.decode.value)
    assert at_once.decode_per_user
    assert queued.decode_per_user
    assert queued.decode_per_user.value == pytest.approx(at_once.decode_per_user.value / 4)
    assert queued.first_token_s
    assert at_once.first_token_s
    assert at_once.terms
    turn_s = at_once.first_token_s.value + 127 * at_once.terms.total_s  # reads 256 prompts, writes 128 tokens
    assert queued.first_token_s.value == pytest.approx(at_once.first_token_s.value + 3 * turn_s, rel=0.01)


def test_groups_are_hashable_and_equal_by_value() -> None:
    device = catalog().device("rtx-3090")
    assert Group(device, 2, 24.0) == Group(device, 2, 24.0)
