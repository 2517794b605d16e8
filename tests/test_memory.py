"""Memory: caches as engines log them, usable memory by platform, and limits that are exact on both sides."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor import memory
from advisor.buffers import buffers_of, input_copies
from advisor.cache import cache_of, kv_bits
from advisor.catalog import Catalog
from advisor.errors import BadValue
from advisor.memory import Fit
from advisor.need import Workload
from advisor.placement import Part, Placement
from advisor.platforms import usable
from advisor.rooms import rooms_of
from advisor.weights import weights_of

GIB, MIB = 1024.0**3, 1024.0**2
CATALOG = Catalog.load(user_folder=False)


def fitted(
    device: str = "rtx-3090",
    model: str = "qwen3-8b",
    quant: str = "q4_k_m",
    engine: str = "llama.cpp",
    *,
    users: int | None = 1,
    context: int = 8192,
    kv: str = "f16",
    parts: int = 1,
    host_room_bytes: float | None = None,
    **share: float,
) -> Fit:
    """One model on `parts` devices with equal shares."""
    record, asked = CATALOG.device(device), CATALOG.model(model)
    shares = {"dense_share": 1 / parts, "expert_share": 1 / parts, "head_share": 1 / parts, "cache_share": 1 / parts, **share}
    part = Part(device=record, memory_bytes=record.largest_memory_bytes, count=parts, **shares)  # type: ignore[arg-type]
    return memory.fit(
        Placement("tensor", (part,), engine=engine),
        asked,
        weights_of(asked, CATALOG.quant(quant), engine),
        cache_of(asked, kv, CATALOG.engine(engine)),
        Workload(users=users, context_tokens=context, prompt_tokens=0, generate_tokens=1),
        CATALOG.engine(engine),
        CATALOG.platforms,
        host_room_bytes,
    )


@pytest.mark.parametrize(
    ("model", "kv", "context", "mib"),
    [  # "KV self size" and "KV buffer size" in llama.cpp logs
        ("llama-2-7b", "f16", 512, 256.0),
        ("llama-3-8b", "f16", 8192, 1024.0),
        ("llama-2-13b", "f16", 512, 400.0),
        ("qwen3-235b-a22b", "q8_0", 32768, 3196.0),
        ("deepseek-v3", "f16", 32768, 2196.0),  # the latent: 61 layers of 512 + 64 numbers
        ("deepseek-v3", "q8_0", 2048, 72.91),
        ("kimi-k2", "q8_0", 2048, 72.91),
        ("gemma-3-270m", "f16", 1024, 18.0),  # 3 full and 15 window layers of 512 + 512 cells
    ],
)
def test_cache_as_llama_cpp_logs_it(model: str, kv: str, context: int, mib: float) -> None:
    assert cache_of(CATALOG.model(model), kv, CATALOG.engine("llama.cpp")).held_bytes(context) / MIB == pytest.approx(mib, rel=1e-4)


def test_recurrent_state_as_llama_cpp_logs_it() -> None:
    # three sequences of Qwen3.6-27B: R (f32) 16.88 MiB, S (f32) 432 MiB [ggml-org/llama.cpp#23792]
    assert 3 * cache_of(CATALOG.model("qwen3.6-27b"), "f16", CATALOG.engine("llama.cpp")).state_bytes / MIB == pytest.approx(
        448.88, rel=1e-4
    )


@pytest.mark.parametrize(
    ("model", "ranks", "length", "pool_gib", "concurrency"),
    [  # vLLM: "Maximum concurrency for N tokens per request: X", KV cache memory of one rank
        ("llama-3.1-8b", 1, 65536, 15.33, 1.92),
        ("qwen3-14b", 2, 32000, 22.49, 9.21),
        ("qwen3-30b-a3b", 1, 24576, 14.08, 6.26),
        ("gemma-3-12b", 1, 9900, 16.25, 10.51),  # window 1024 + 2048 batched tokens
        ("gemma-3-27b", 2, 28900, 14.58, 8.04),  # 52 window layers fill six groups of ten
        ("qwen3-next-80b-a3b", 2, 16384, 7.09, 33.47),  # state and attention in pages of one size
    ],
)
def test_cache_as_vllm_pages_it(model: str, ranks: int, length: int, pool_gib: float, concurrency: float) -> None:
    held = cache_of(CATALOG.model(model), "f16", CATALOG.engine("vllm")).held_bytes(length) / ranks
    assert pool_gib * GIB / held == pytest.approx(concurrency, rel=0.015)


def test_shared_layers_hold_nothing() -> None:
    # Gemma 3n E4B: 35 layers of which the last 15 (12 sliding, 3 full) read earlier caches
    cache = cache_of(CATALOG.model("gemma-3n-e4b"), "f16", CATALOG.engine("llama.cpp"))
    assert cache.growing_bytes_per_token == 4 * 2 * 2 * 256 * 2


def test_llama_cpp_ignores_the_window_of_mistral() -> None:
    model = CATALOG.model("mistral-7b-v0.1")
    assert cache_of(model, "f16", CATALOG.engine("llama.cpp")).windows == ()
    assert len(cache_of(model, "f16", CATALOG.engine("vllm")).windows) == 1


def test_quantized_cache_quantizes_windows_too_in_llama_cpp() -> None:
    # ggml-org/llama.cpp#21277 kept them in F16 for one day, #21332 took it back
    full, narrow = (cache_of(CATALOG.model("gemma-3-27b"), kv, CATALOG.engine("llama.cpp")) for kv in ("f16", "q8_0"))
    assert narrow.windows[0][0] / full.windows[0][0] == pytest.approx(8.5 / 16)
    assert narrow.growing_bytes_per_token / full.growing_bytes_per_token == pytest.approx(8.5 / 16)


@pytest.mark.parametrize(
    ("model", "context", "mib"),
    [  # window layers hold the whole context: ik_llama.cpp#2171, "the default behavior here has always been --swa-full"
        ("gemma-3-27b", 32768, 15872.0),  # github-data/discussions/334
        ("gemma-3-27b", 131072, 63488.0),  # github-data/issues/539
        ("gpt-oss-20b", 131072, 6144.0),  # ikawrakow/ik_llama.cpp#822, closed as "wontfix"
    ],
)
def test_ik_llama_cpp_gives_windows_the_whole_context(model: str, context: int, mib: float) -> None:
    assert cache_of(CATALOG.model(model), "f16", CATALOG.engine("ik_llama.cpp")).held_bytes(context) / MIB == pytest.approx(mib, rel=1e-4)


def test_unknown_cache_type() -> None:
    with pytest.raises(BadValue, match="no cache type"):
        kv_bits("q9", CATALOG.engine("llama.cpp"))


@pytest.mark.parametrize(
    ("device", "memory_gib", "default_gib", "raised_gib"),
    [
        ("mac-m1-8c", 16, 10.7, 12),  # recommendedMaxWorkingSetSize of a 16 GB Mac: 10.67 GiB
        ("mac-m3-ultra-80c", 512, 384, 496),
        ("dgx-spark", 128, 119.5, 119.5),
        ("ryzen-ai-max-395-128gb", 128, 96, 120),
        ("rtx-3090", 24, 23.5, 23.5),
        ("rtx-4090-laptop", 16, 15.04, 15.04),  # 0.94: the laptop's platform, not the one of any card
        ("radeon-780m", 32, 16, 24),  # half of the computer's memory
        ("jetson-agx-orin-64gb", 64, 59.52, 59.52),
    ],
)
def test_usable_memory(device: str, memory_gib: float, default_gib: float, raised_gib: float) -> None:
    found = usable(CATALOG.device(device), memory_gib * GIB, CATALOG.platforms)
    assert found.default_bytes / GIB == pytest.approx(default_gib, rel=0.01)
    assert found.raised_bytes / GIB == pytest.approx(raised_gib, rel=0.01)
    assert (found.raised_bytes > found.default_bytes) == (found.command is not None)


def test_raised_limit_is_said_with_its_command() -> None:
    fit = fitted("mac-m3-ultra-80c", "deepseek-r1", "mlx-4bit", "mlx", context=131072, users=16)
    assert fit.fits
    assert fit.raise_limit
    reason = next(each for each in fit.reasons if each.code == "memory.raise-limit")
    assert "iogpu.wired_limit_mb" in str(reason.facts["command"])


@pytest.mark.parametrize(
    ("model", "mib"),
    [  # "CUDA0 compute buffer size" of logs, ubatch 512, flash attention [ikawrakow/ik_llama.cpp github-data, mt111 f.]
        ("qwen3-235b-a22b", 312.75),
        ("gemma-3-27b", 522.62),
        ("qwen3-32b", 306.75),
        ("llama-3.1-8b", 258.5),
    ],
)
def test_llama_cpp_compute_buffer(model: str, mib: float) -> None:
    quiet = CATALOG.engine("llama.cpp")
    fit = fitted("h100-sxm", model, "iq1_s")
    assert (fit.devices[0].overhead_bytes - quiet.overhead_bytes) / MIB == pytest.approx(mib, rel=0.035)


def test_batches_that_follow_each_other_keep_four_masks() -> None:
    # 2 B × 512 tokens of the batch × 131072 of the context = 128 MiB, once on one device, four times on each of two
    placement = Placement("layers", (), stages=2)
    model, engine = CATALOG.model("qwen3-8b"), CATALOG.engine("llama.cpp")
    assert (input_copies(placement, engine), input_copies(Placement("whole", ()), engine)) == (4, 1)
    one = Part(CATALOG.device("rtx-3090"), 24 * GIB, 1, head_share=0.0)
    layer, _ = buffers_of(one, model, engine, 0.0, 4)
    assert layer.bytes_per_token * 131072 / MIB == 4 * 128


@pytest.mark.parametrize(
    ("model", "numbers"),
    [
        ("qwen3.6-27b", 4 * 2 * 256),  # GenerelSchwerz/llama.cpp#4 removes the copy: 972 MiB at 245,760 tokens
        ("gemma-4-26b-a4b", 2 * 2 * 512),  # full layers; those with a window hold fewer tokens
        ("deepseek-v3", 512 + 64),
    ],
)
def test_a_cache_of_fewer_bits_is_read_through_a_copy_of_a_layer_on_cuda(model: str, numbers: int) -> None:
    """Prompts only: 2 B for each number of the widest layer, of all that is reserved [ggml-org/llama.cpp#23907]."""
    placed, record, engine = Placement("whole", ()), CATALOG.model(model), CATALOG.engine("llama.cpp")
    card = Part(CATALOG.device("h100-sxm"), 80 * GIB)
    weights = weights_of(record, CATALOG.quant("q4_k_m"), "llama.cpp")

    def copied(kv: str, backend: str) -> float:
        laid = replace(placed, parts=(card,), backend=backend)
        (load,) = rooms_of(laid, record, weights, cache_of(record, kv, engine), engine, CATALOG.platforms).loads
        return load.buffers[0].each_users_bytes_per_token

    assert copied("q8_0", "cuda") == 2 * numbers
    assert copied("q8_0", "vulkan") == copied("f16", "cuda") == 0


def test_embedding_stays_in_host_memory_beside_a_card() -> None:
    weights = weights_of(CATALOG.model("llama-3-8b"), CATALOG.quant("q4_k_m"), "llama.cpp")
    on_card = fitted("rtx-3090", "llama-3-8b").devices[0].weights_bytes
    # llama.cpp logs: CPU buffer 281.81 MiB, CUDA0 buffer 4403.49 MiB
    assert on_card / MIB == pytest.approx(4403.49, rel=2e-4)
    assert (weights.total_bytes - on_card) / MIB == pytest.approx(281.81, rel=1e-3)


def test_short_memory_has_its_arithmetic() -> None:
    fit = fitted("rtx-3090", "llama-3.3-70b")
    assert not fit.fits
    facts = fit.reasons[0].facts
    assert fit.reasons[0].code == "memory.short"
    total = sum(float(facts[key] or 0) for key in ("weights_bytes", "cache_bytes", "overhead_bytes"))
    assert facts["needed_bytes"] == pytest.approx(total)
    assert facts["short_bytes"] == pytest.approx(total - float(facts["usable_bytes"] or 0))


@pytest.mark.parametrize(
    ("usable", "code", "tightest", "short"),
    [
        ((100, 60), "memory.fits", "b", None),
        ((60, 100), "memory.fits", "a", None),
        ((100, 40), "memory.short", "b", 5),
        ((30, 40), "memory.short", "a", 15),
    ],
)
def test_the_device_with_the_least_room_is_told_of(usable: tuple[int, int], code: str, tightest: str, short: int | None) -> None:
    """Each holds 30 of weights, 10 of cache and 5 of the rest: 45."""
    devices = tuple(memory.DeviceFit(name, 1, room, 30, 10, 5) for name, room in zip("ab", usable, strict=True))
    (said,) = memory._reasons((), devices, False, 0, None, 0)
    assert (said.code, said.facts["device"], said.facts["needed_bytes"], said.facts.get("short_bytes")) == (code, tightest, 45, short)


def test_host_memory_must_hold_what_is_moved_out() -> None:
    moved = {"dense_share": 0.2, "host_dense_share": 0.8}
    assert fitted(model="llama-3.3-70b", host_room_bytes=60 * GIB, **moved).fits
    short = fitted(model="llama-3.3-70b", host_room_bytes=28 * GIB, **moved)
    assert not short.fits
    assert [each.code for each in short.reasons] == ["memory.host-short"]  # the device itself has room: it says which memory is short
    assert min(each.headroom_bytes for each in short.devices) > 0


def test_published_users_on_one_a100() -> None:
    # 13B in FP16 at 4,096 tokens: 24.2 GiB of weights, 3.1 GiB a user
    assert 11 <= fitted("a100-80gb-sxm", "llama-2-13b", "f16", "vllm", users=None, context=4096).users <= 18


sizes = {
    "model": st.sampled_from(["qwen3-8b", "gemma-3-27b", "qwen3.6-27b", "deepseek-v2-lite", "gpt-oss-20b", "granite-4.0-h-tiny"]),
    "engine": st.sampled_from(["llama.cpp", "vllm", "mlx"]),
    "context": st.integers(1, 200_000),
    "users": st.integers(1, 64),
    "narrow": st.booleans(),
}


def kept(engine: str, narrow: bool) -> str:
    """A cache type that the engine takes."""
    return "q8_0" if narrow and "q8_0" in CATALOG.engine(engine).kv_types else "f16"


@settings(max_examples=60, deadline=None)
@given(**sizes)
def test_longer_and_more_never_need_less(model: str, engine: str, context: int, users: int, narrow: bool) -> None:
    kv = kept(engine, narrow)

    def needed(tokens: int, people: int) -> float:
        return fitted("h100-sxm", model, "q8_0", engine, context=tokens, users=people, kv=kv).devices[0].needed_bytes

    here = needed(context, users)
    assert needed(context + 1, users) >= here
    assert needed(context, users + 1) >= here


@settings(max_examples=60, deadline=None)
@given(**sizes)
def test_longest_context_is_exact_on_both_sides(model: str, engine: str, context: int, users: int, narrow: bool) -> None:
    kv = kept(engine, narrow)
    fit = fitted("rtx-3090", model, "q4_k_m", engine, context=context, users=users, kv=kv)
    longest, most = fit.max_context_tokens, CATALOG.model(model).max_context_tokens
    assert fit.fits == (context <= longest) or (most is not None and context > most)
    if longest:
        assert fitted("rtx-3090", model, "q4_k_m", engine, context=longest, users=users, kv=kv).fits
    if longest < (most or 0):
        assert not fitted("rtx-3090", model, "q4_k_m", engine, context=longest + 1, users=users, kv=kv).fits


@settings(max_examples=60, deadline=None)
@given(**sizes)
def test_most_users_are_exact_on_both_sides(model: str, engine: str, context: int, users: int, narrow: bool) -> None:
    kv = kept(engine, narrow)
    fit = fitted("rtx-3090", model, "q4_k_m", engine, context=context, users=users, kv=kv)
    cap = CATALOG.engine(engine).max_sequences or 10**6
    assert fit.fits == (users <= fit.max_users) or users > cap
    if fit.max_users:
        assert fitted("rtx-3090", model, "q4_k_m", engine, context=context, users=fit.max_users, kv=kv).fits
    if fit.max_users < cap:
        assert not fitted("rtx-3090", model, "q4_k_m", engine, context=context, users=fit.max_users + 1, kv=kv).fits


def test_as_many_as_fit_uses_the_limit() -> None:
    assert fitted(users=None).users == fitted(users=1).max_users


def test_replicas_serve_their_share_each() -> None:
    both = fitted(users=7, parts=2, dense_share=1.0, head_share=1.0, cache_share=1.0, user_share=0.5)
    one = fitted(users=4)
    assert both.devices[0].cache_bytes == one.devices[0].cache_bytes
    placed = replace(both.devices[0])
    assert placed.count == 2


@pytest.mark.parametrize(
    ("device", "model", "quant", "share", "pool_gib"),
    [  # "Available KV cache memory" of vLLM 0.12 at this gpu_memory_utilization
        ("rtx-3090", "llama-3.1-8b", "bf16", 0.95, 6.95),
        ("rtx-4090", "qwen3-14b", "fp8", 0.86, 4.43),
        ("rtx-5090", "qwen3-30b-a3b", "gptq-4bit", 0.9, 12.06),
        ("a100-40gb-pcie", "qwen3-30b-a3b", "gptq-4bit", 0.9, 19.33),
    ],
)
def test_what_vllm_leaves_for_the_cache(device: str, model: str, quant: str, share: float, pool_gib: float) -> None:
    found = fitted(device, model, quant, "vllm", context=1).devices[0]
    asked = CATALOG.engine("vllm").memory_share or 1.0
    pool = found.usable_bytes * share / asked - found.weights_bytes - found.overhead_bytes
    assert pool / GIB == pytest.approx(pool_gib, abs=0.35)


@pytest.mark.parametrize(
    ("model", "context", "gib"),
    [  # what others overstate up to eight times: windows, hybrid layers, a latent
        ("gemma-3-27b", 131072, 10.41),
        ("qwen3.5-27b", 262144, 16.0),
        ("deepseek-v3.1", 163840, 10.72),
        ("gemma-4-12b", 131072, 2.4),
    ],
)
def test_cache_of_models_that_save_it(model: str, context: int, gib: float) -> None:
    cache = cache_of(CATALOG.model(model), "f16", CATALOG.engine("llama.cpp"))
    assert (cache.held_bytes(context) - cache.state_bytes) / GIB == pytest.approx(gib, rel=0.05)


def test_a_smaller_model_never_needs_more_of_the_same_family() -> None:
    small, large = (fitted("h100-sxm", name, "q4_k_m", context=131072).devices[0].needed_bytes for name in ("gemma-4-12b", "gemma-4-31b"))
    assert small < large


def test_all_experts_are_held_not_only_the_active_ones() -> None:
    # a 122B-A10B in 4 bits is 70 to 75 GB: it does not fit into 48
    fit = fitted("h100-sxm", "qwen3.5-122b-a10b", "q4_k_m")
    assert 68 < fit.devices[0].weights_bytes / 1e9 < 76


def test_each_device_is_judged_by_itself() -> None:
    # a 20 GB and an 8 GB card hold 28 GB together, but half a 32B in Q4 (9.2 GiB) does not go into 8
    whole = weights_of(CATALOG.model("qwen3-32b"), CATALOG.quant("q4_k_m"), "llama.cpp")
    big, small = CATALOG.device("rx-7900-xt"), CATALOG.device("rtx-2080")
    parts = tuple(
        Part(device=d, memory_bytes=d.largest_memory_bytes, dense_share=0.5, head_share=0.5, cache_share=0.5) for d in (big, small)
    )
    fit = memory.fit(
        Placement("layers", parts),
        CATALOG.model("qwen3-32b"),
        whole,
        cache_of(CATALOG.model("qwen3-32b"), "f16", CATALOG.engine("llama.cpp")),
        Workload(context_tokens=2048, prompt_tokens=0, generate_tokens=1),
        CATALOG.engine("llama.cpp"),
        CATALOG.platforms,
    )
    assert sum(each.usable_bytes for each in fit.devices) > whole.total_bytes
    assert [each.headroom_bytes >= 0 for each in fit.devices] == [True, False]
    assert not fit.fits


@pytest.mark.parametrize(("device", "engine", "quant"), [("h100-sxm", "vllm", "fp8"), ("mac-m3-ultra-80c", "mlx", "mlx-8bit")])
def test_buffers_of_16_bit_engines_do_not_grow_with_the_context(device: str, engine: str, quant: str) -> None:
    """Only llama.cpp keeps a mask of the whole context: everything else that grows is cache."""
    short, long = (fitted(device, "qwen3-8b", quant, engine, context=tokens).devices[0] for tokens in (1, 40960))
    assert long.overhead_bytes == short.overhead_bytes
    model = CATALOG.model("qwen3-8b")
    growth = cache_of(model, "f16", CATALOG.engine(engine))
    assert long.cache_bytes - short.cache_bytes == growth.held_bytes(40960) - growth.held_bytes(1)


def test_experts_touched_by_no_token_and_by_one() -> None:
    mixture, dense = (weights_of(CATALOG.model(name), CATALOG.quant("q4_k_m"), "llama.cpp") for name in ("qwen3-30b-a3b", "qwen3-8b"))
    assert mixture.experts_touched_share(0, 0.7) == 0
    assert mixture.experts_touched_share(1, 0.7) == pytest.approx(8 / 128)  # 8 of 128
    assert 8 / 128 < mixture.experts_touched_share(2, 0.7) < 2 * 8 / 128  # some are the same
    assert mixture.experts_touched_share(1e9, 0.7) == pytest.approx(1, abs=1e-4)
    assert dense.experts_touched_share(1, 0.7) == 0  # it has none


def test_a_limit_is_raised_in_the_words_of_the_platform() -> None:
    """512 GiB of which 16 stay: 496 GiB are 507,904 MiB, or 130,023,424 pages of 4 KiB."""
    device = CATALOG.device("mac-m3-ultra-80c")
    mac = max((each for each in CATALOG.platforms.values() if each.fits(device)), key=lambda each: each.closeness)
    said = usable(device, 512 * GIB, {"mac": replace(mac, raise_command="{limit_mib} or {limit_pages}")})
    assert (said.raised_bytes, said.command) == (496 * GIB, "507904 or 130023424")
    kept = replace(mac, tiers=(replace(mac.tiers[0], up_to_bytes=None, reserve_bytes=None),))
    assert usable(device, 512 * GIB, {"mac": kept}).command is None  # nothing to raise
    assert usable(device, 512 * GIB, {}).raised_bytes == 512 * GIB  # no platform: all of it
