"""What SYSTEM leaves open: engines by hardware and format, quantizations said aloud, strategies, offload, refusals."""

from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from advisor import choose, ways
from advisor.bind import bind
from advisor.catalog import Catalog
from advisor.choose import _strategies, _unable, ranked
from advisor.errors import BadValue, Unsupported
from advisor.need import Workload
from advisor.reason import Reason
from advisor.record import replace
from advisor.runs import capability
from advisor.speed import Estimate
from advisor.units import GIB


@cache
def catalog() -> Catalog:
    return Catalog.load(user_folder=False)


def best(words: str, model: str, quant: str | None = None, kv_quant: str = "f16", ram_bytes: float | None = None, **work: int) -> Estimate:
    system = bind(words, catalog(), ram_bytes=ram_bytes)
    return choose.best(system, catalog().model(model), quant, kv_quant, Workload(**work), catalog())


@pytest.mark.parametrize(
    ("words", "model", "quant", "engine"),
    [
        ("rtx-3090", "llama-3-8b", "q4_k_m", "llama.cpp"),
        ("rtx-3090", "llama-3-8b", "awq-4bit", "vllm"),
        ("mac-m4-pro-20c", "llama-3-8b", "mlx-4bit", "mlx"),
        ("rx-7900-xtx", "llama-3-8b", "q4_k_m", "llama.cpp"),
        ("arc-b580-12gb", "llama-3-8b", "q4_k_m", "llama.cpp"),
        ("rtx-3090", "llama-3-8b", "exl3-4bit", "exllamav3"),
    ],
)
def test_the_engine_follows_hardware_and_format(words: str, model: str, quant: str, engine: str) -> None:
    assert best(words, model, quant).placement.engine == engine


def test_backends_follow_the_maker_and_may_be_stated() -> None:
    assert best("rx-7900-xtx on llama.cpp", "llama-3-8b", "q4_k_m").placement.backend == "rocm"
    assert best("rx-7900-xtx on llama.cpp/vulkan", "llama-3-8b", "q4_k_m").placement.backend == "vulkan"
    assert best("rtx-4090 + rx-7900-xtx as layers on llama.cpp", "llama-3-8b", "q4_k_m").placement.backend == "vulkan"


def test_a_quantization_left_out_is_the_usual_one_and_said() -> None:
    found = best("rtx-3090 on llama.cpp", "llama-3-8b")
    assert found.quant.id == "q4_k_m"
    assert found.reasons[0].code == "quant.usual"
    assert best("dgx-spark on vllm", "gpt-oss-120b").quant.id == "mxfp4"  # the format it was published in
    stated = best("rtx-3090 on llama.cpp", "llama-3-8b", "q8_0")
    assert stated.quant.id == "q8_0"
    assert "quant.usual" not in [reason.code for reason in stated.reasons]


def test_widths_are_the_engines_usual_formats() -> None:
    assert best("rtx-3090 on llama.cpp", "llama-3-8b", "8bit").quant.id == "q8_0"
    assert best("mac-m4-pro-20c on mlx", "llama-3-8b", "8bit").quant.id == "mlx-8bit"
    assert best("h100-sxm on vllm", "llama-3-8b", "8bit").quant.id == "fp8"


@pytest.mark.parametrize(
    ("words", "model", "quant", "kv_quant", "says"),
    [
        ("3x rtx-3090 as tensor on vllm", "llama-3-8b", "awq-4bit", "f16", "32 attention heads"),
        ("3x rtx-3090 as tensor on vllm", "qwen3.6-27b", "awq-4bit", "f16", "4 KV heads"),
        ("rtx-3090 on mlx", "llama-3-8b", "mlx-4bit", "f16", "mlx does not run on rtx-3090"),
        ("rtx-3090 on llama.cpp/rocm", "llama-3-8b", "q4_k_m", "f16", "llama.cpp/rocm does not run on rtx-3090"),
        ("rtx-3090 on vllm", "llama-3-8b", "mlx-4bit", "f16", "vllm cannot read mlx-4bit"),
        ("a100-80gb-sxm on tensorrt-llm", "llama-3-8b", "fp8", "f16", "does not run fp8 on a100-80gb-sxm"),
        ("rtx-3090 on llama.cpp", "llama-3-8b", "q4_k_m", "fp8", "cannot keep its cache as fp8"),
        ("quadro-rtx-8000 on vllm", "llama-3-8b", "awq-4bit", "fp8", "as fp8 from compute capability 8.0 on, and quadro-rtx-8000 has 7.5"),
        ("quadro-rtx-8000", "llama-3-8b", None, "fp8", "there it takes f16"),  # nor is an engine taken that is never chosen
        ("rtx-a6000 + quadro-rtx-8000 on vllm", "llama-3-8b", "awq-4bit", "fp8", "quadro-rtx-8000 has 7.5"),
        ("tesla-t4 on vllm", "llama-3-8b", "awq-4bit", "bf16", "as bf16 from compute capability 8.0 on"),
        ("h100-sxm on tensorrt-llm", "llama-3-8b", "fp8", "nvfp4", "as nvfp4 from compute capability 10.0 on"),
        (
            "mi300x on vllm",
            "llama-3-8b",
            "awq-4bit",
            "nvfp4",
            "vllm cannot keep its cache as nvfp4 on mi300x-192gb: there it takes f16, bf16, fp8",
        ),
        ("tesla-p40 on vllm", "llama-3-8b", "awq-4bit", "f16", "vllm does not run on tesla-p40"),
        ("2x rtx-3090 as whole", "llama-3-8b", "q4_k_m", "f16", "'whole' means one device"),
        ("ryzen-ai-max-395-128gb as offload on llama.cpp", "llama-3-8b", "q4_k_m", "f16", "shares one memory"),
    ],
)
def test_what_cannot_run_says_why(words: str, model: str, quant: str | None, kv_quant: str, says: str) -> None:
    with pytest.raises(Unsupported) as caught:
        best(words, model, quant, kv_quant)
    assert says in caught.value.message
    assert (caught.value.code, caught.value.exit_code) == ("unsupported", 2)


def test_the_best_way_is_the_fastest_that_fits() -> None:
    system, model = bind("2x rtx-3090 via nvlink on vllm", catalog()), catalog().model("llama-3-8b")
    ways = choose.all_ways(system, model, "awq-4bit", "f16", Workload(users=16), catalog())
    speeds = [way.sustained.value for way in ways if way.sustained]
    assert {way.placement.strategy for way in ways} >= {"tensor", "layers", "replicas"}
    assert speeds == sorted(speeds, reverse=True)


def test_usual_ways_of_what_is_owned() -> None:
    def usual(words: str, quant: str) -> str:
        system, model = bind(words, catalog()), catalog().model("llama-3-8b")
        return choose.usual_way(system, model, quant, "f16", Workload(), catalog()).placement.strategy

    assert usual("rtx-3090", "q4_k_m") == "whole"
    assert usual("2x rtx-3090", "q4_k_m") == "layers"
    assert usual("2x rtx-3090", "awq-4bit") == "tensor"
    assert usual("2x mac-m3-ultra-80c", "mlx-4bit") == "tensor"


def test_what_does_not_fit_goes_partly_to_host_memory() -> None:
    found = best("rtx-5080", "qwen3.6-35b-a3b", "q4_k_m")
    assert (found.placement.strategy, found.fit.fits) == ("offload", True)
    part = found.placement.parts[0]
    assert part.host_expert_share > 0
    assert part.host_dense_share == 0  # a mixture's experts go first
    assert found.terms
    assert found.terms.host_memory_s > 0
    dense = best("rtx-3090", "llama-3-70b", "q4_k_m")
    assert dense.decode
    assert found.decode
    assert dense.decode.value < found.decode.value / 5


def test_short_host_memory_means_disk_said_to_be_unusable() -> None:
    found = best("rtx-3090 as offload on llama.cpp", "deepseek-r1", "q4_k_m", ram_bytes=32 * GIB)
    roomy = best("rtx-3090 as offload on llama.cpp", "deepseek-r1", "q4_k_m", ram_bytes=768 * GIB)
    assert "offload.disk" in [reason.code for reason in found.reasons]
    assert found.placement.parts[0].disk_share > 0.8
    assert not found.fit.fits
    assert found.decode is None
    assert (found.fit.max_users, found.fit.max_context_tokens) == (0, 0)
    # the file of 671 B weights at some 4.8 bits is about 377 GiB; 24 on the card and 0.85 x 32 in the host's memory leave the rest
    assert found.fit.disk_bytes == pytest.approx((found.weights.total_bytes - (22 + 27) * GIB), rel=0.02)
    assert [reason.code for reason in found.fit.reasons] == ["memory.disk"]
    assert roomy.fit.fits
    assert roomy.decode
    assert roomy.decode.value > 1


def test_a_network_left_out_is_one_that_the_engine_can_use() -> None:
    assert best("2x mac-m3-ultra-80c 512gb on mlx", "llama-3.3-70b", "mlx-8bit").system.link.transport == "rdma"
    assert (
        best("2x mac-m3-ultra-80c 512gb as layers on llama.cpp", "llama-3.3-70b", "q8_0")
        .placement.messages[0]
        .software.startswith("ggml-rpc")
    )


def test_the_estimate_repeats_from_its_own_words() -> None:
    from advisor.system import spec

    found = best("2x rtx-3090", "llama-3-70b", "q4_k_m")
    again = best(spec(found.system), "llama-3-70b", "q4_k_m")
    assert (again.decode, again.prefill, again.placement.strategy) == (found.decode, found.prefill, found.placement.strategy)


def test_loading_stops_and_the_command_to_measure() -> None:
    found = best("2x dgx-spark as tensor on vllm", "gpt-oss-120b", "mxfp4")
    one = best("dgx-spark on vllm", "gpt-oss-120b", "mxfp4")
    assert one.load_s
    assert found.load_s == pytest.approx(one.load_s / 2, rel=0.01)
    # Llama 3, §3.3.4: 419 stops / (16,384 GPUs × 54 days) = 0.17 a device and year
    assert found.interruptions_per_year == pytest.approx(2 * 419 / (16384 * 54 / 365.25), rel=0.03)
    assert "vllm bench serve" in found.verify
    assert "llama-bench" in best("2x rtx-3090 as layers on llama.cpp", "llama-3-8b", "q4_k_m").verify
    assert "-sm layer" in best("2x rtx-3090 as layers on llama.cpp", "llama-3-8b", "q4_k_m").verify


def test_compute_capabilities_compare_as_numbers() -> None:
    assert capability("12.1") > capability("8.9") > capability("7.5")


def test_the_processor_multiplies_what_it_keeps_for_each_user() -> None:
    """70B at 4.8 bits on 24 GB: 19 GB stay in host memory, read at 60 GB/s; from a few users on multiplying takes longer."""
    system = bind("rtx-4090 on llama.cpp", catalog(), host=catalog().host("desktop-x8x8"))
    model = catalog().model("llama-3.3-70b")
    one, many = (choose.best(system, model, "q4_k_m", "f16", Workload(users=u, context_tokens=512), catalog()) for u in (1, 12))
    assert one.terms
    assert many.terms
    part = many.placement.parts[0]
    params = part.host_dense_share * many.weights.dense_params
    # 2 operations a weight and user at half of the 1,150 GFLOPS of the host's processor
    computing_s = 2 * params * 12 / (0.5 * 1150e9)
    assert computing_s > 2 * one.terms.host_memory_s
    assert many.terms.host_memory_s == pytest.approx(computing_s, rel=0.1)


def test_weights_on_disk_are_said_to_be_unusable(capsys: pytest.CaptureFixture[str]) -> None:
    from advisor.cli import run

    assert run(("estimate", "rx-6800", "--model", "deepseek-v3", "--ram-gib", "32")) == 3
    said = capsys.readouterr()
    assert said.out.startswith("Unusable:")
    assert "read from disk for every token" in " ".join(said.out.split())


@pytest.mark.parametrize(("model", "budget"), [("gpt-oss-120b", "1500"), ("qwen3-235b-a22b", "2500"), ("llama-3.3-70b", "900")])
def test_what_reads_weights_from_disk_is_never_bought(model: str, budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    from advisor.cli import run

    run(("recommend", "--model", model, "--budget", budget, "--min-tokens-per-s", "1", "--json"))
    given = json.loads(capsys.readouterr().out)
    for road in given["roads"]:
        fits = road["estimate"]["fits"] if road["estimate"] else False
        on_disk = bool(road["estimate"]) and any(reason["code"] == "offload.disk" for reason in road["estimate"]["reasons"])
        assert not (on_disk and fits), road["kind"]
        assert not (on_disk and road["status"] != "impossible"), road["kind"]


def test_an_offload_has_room_for_no_longer_context_than_the_model_was_made_for() -> None:
    """Qwen3-235B-A22B was made for 40,960 tokens: 200,000 do not fit beside its weights, its own do."""
    system = bind("2x rtx-3090 as offload on llama.cpp", catalog(), ram_bytes=128 * GIB)
    model = catalog().model("qwen3-235b-a22b")
    fit = choose.best(system, model, "q4_k_m", "f16", Workload(context_tokens=200_000), catalog()).fit
    assert not fit.fits
    assert fit.max_context_tokens == model.max_context_tokens == 40_960


def test_the_limits_of_an_offload_are_the_same_whatever_was_asked_before() -> None:
    def limits(*contexts: int) -> set[int]:
        fresh = Catalog.load(user_folder=False)
        system, model = bind("rtx-3090 as offload on llama.cpp", fresh), fresh.model("gpt-oss-120b")
        works = (Workload(users=3, context_tokens=each) for each in contexts)
        return {choose.best(system, model, None, "f16", work, fresh).fit.max_context_tokens for work in works}

    assert limits(4096, 16384) == limits(16384, 4096)
    assert len(limits(4096, 16384)) == 1


def test_a_split_that_there_is_not_and_weights_that_no_record_names() -> None:
    model = replace(catalog().model("qwen3-8b"), native_quant="a-format-of-its-own")
    way = ways.way_of(bind("rtx-3090", catalog()), catalog().engine("llama.cpp"), model, None, "f16", catalog())
    assert isinstance(way, ways.Way)
    assert way.quant.id == catalog().engine("llama.cpp").usual_quant
    with pytest.raises(BadValue, match="sideways"):
        way.plan("sideways", Workload())


def weighed(engine: str, rate: float | None, *spare: tuple[float, int], disk: float = 0.0, host: tuple[float, float] | None = None) -> Any:
    """An estimate of so many tokens/s, or of none, on devices with so many bytes to spare."""
    devices = tuple(SimpleNamespace(headroom_bytes=each, count=count) for each, count in spare)
    needed, usable = host or (0.0, None)
    fit = SimpleNamespace(devices=devices, disk_bytes=disk, host_needed_bytes=needed, host_usable_bytes=usable)
    sustained = None if rate is None else SimpleNamespace(value=rate)
    return SimpleNamespace(sustained=sustained, fit=fit, placement=SimpleNamespace(engine=engine), doubt=None, measured_here=False)


def test_what_fits_comes_first_then_the_faster_but_for_the_engines_margin() -> None:
    """An engine of the second rank must be faster by the margin; of what does not fit the least short comes first."""
    margin = catalog().choices.choice("engine-margin-factor")
    first, second = (next(engine.id for engine in catalog().engines.values() if engine.choice_rank == rank) for rank in (1, 2))
    usual, hardly, clearly = weighed(first, 100), weighed(second, 99 * margin), weighed(second, 101 * margin)
    short, shorter, roomy = weighed(first, None, (-5, 2), (50, 1)), weighed(first, None, (-4, 3)), weighed(first, None, (-9, 1))
    assert ranked([shorter, hardly, short, usual, roomy, clearly], catalog()) == [clearly, usual, hardly, roomy, short, shorter]
    measured, unmeasured = weighed(second, 60), weighed(first, 99 * margin)  # 0.6 of 99 margins, less a margin: 59.4
    measured.measured_here, unmeasured.doubt = True, SimpleNamespace(same_devices=True, decode_factor=0.6, engine=second)
    assert ranked([unmeasured, measured], catalog()) == [measured, unmeasured]
    unmeasured.doubt.decode_factor = 0.61  # 60.4
    assert ranked([measured, unmeasured], catalog()) == [unmeasured, measured]
    unmeasured.doubt.engine, measured.measured_here = "an engine that is never chosen", False  # says nothing of their order
    measured.doubt, measured.sustained.value = unmeasured.doubt, 98 * margin * margin
    assert ranked([measured, unmeasured], catalog()) == [unmeasured, measured]
    measured.doubt, measured.measured_here = None, True
    unmeasured.doubt.same_devices = False  # of another number of them: no order follows from that
    measured.sustained.value = 99 * margin - 1
    assert ranked([measured, unmeasured], catalog()) == [unmeasured, measured]


@pytest.mark.parametrize(
    ("asked", "words", "users", "model", "strategies"),
    [
        (None, "rtx-3090", 1, "qwen3-8b", ["whole"]),
        ("layers", "rtx-3090", 1, "qwen3-8b", ["layers"]),
        (None, "2x rtx-3090", 1, "qwen3-8b", ["tensor", "layers"]),
        (None, "2x rtx-3090", 2, "qwen3-8b", ["tensor", "layers", "replicas"]),
        (None, "2x rtx-3090", None, "qwen3-8b", ["tensor", "layers", "replicas"]),
        (None, "3x rtx-3090", 2, "qwen3-8b", ["tensor", "layers", "replicas"]),
        (None, "2x rtx-3090", 2, "qwen3-30b-a3b", ["tensor", "layers", "replicas"]),  # experts on three devices or more
        (None, "3x rtx-3090", 2, "qwen3-30b-a3b", ["tensor", "layers", "replicas", "experts"]),
        (None, "3x rtx-3090", 1, "qwen3-30b-a3b", ["tensor", "layers"]),
        (None, "2x (2x rtx-3090 as replicas) via eth-10g-tcp", 4, "qwen3-8b", ["replicas"]),
    ],
)
def test_the_splits_that_are_tried(asked: str | None, words: str, users: int | None, model: str, strategies: list[str]) -> None:
    way: Any = SimpleNamespace(system=bind(words, catalog()), choice=SimpleNamespace(model=catalog().model(model)))
    assert list(_strategies(way, asked, Workload(users=users))) == strategies


def test_why_one_device_alone_cannot_run_it() -> None:
    short = _unable("a card", [weighed("vllm", None, (-30, 1), (20, 1))], [])
    assert (short.code, short.facts) == ("one.short", {"device": "a card", "engine": "vllm", "short_bytes": 30})
    host = _unable("a card", [weighed("vllm", None, (20, 1), host=(90.0, 64.0))], [])
    assert (host.code, host.facts["short_bytes"]) == ("one.short", 26)
    assert _unable("a card", [weighed("vllm", None, (0, 1), host=(90.0, 64.0))], []).facts["short_bytes"] == 26
    assert _unable("a card", [weighed("vllm", None, (-1, 1), host=(90.0, 64.0))], []).facts["short_bytes"] == 1
    assert _unable("a card", [weighed("vllm", None, (-30, 1), disk=5.0)], []).code == "one.from-disk"
    assert _unable("a card", [], [Reason("placement.no-experts", {"model": "qwen3-8b"})]).code == "one.refused"


@pytest.mark.parametrize(
    ("users", "most", "asked"),
    [
        (8, 3, [8, 3]),  # as many as it holds
        (8, 0, [8]),
        (8, 8, [8]),  # it is not memory that is short
        (None, 3, [None]),
        (3, 3, [3]),
    ],
)
def test_one_device_alone_is_asked_for_as_many_users_as_it_holds(
    users: int | None, most: int, asked: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int | None] = []

    def tries(single: Any, model: Any, quant: Any, kv: Any, work: Workload, *_: Any) -> Any:
        seen.append(work.users)
        one = weighed("vllm", None, (-5, 1))
        one.fit.max_users, one.decode = most, SimpleNamespace(value=9.0) if work.users == most != users else None
        other = weighed("llama.cpp", None, (-5, 1))  # the engine that holds more of them counts
        other.fit.max_users, other.decode = min(most, 1), None
        return [one, other], []

    monkeypatch.setattr(choose, "tried", tries)
    single: Any = SimpleNamespace(groups=[SimpleNamespace(device=SimpleNamespace(id="a card"))])
    choice: Any = SimpleNamespace(model=None, quant=None, kv_quant="f16", catalog=None)
    found = choose._single_best(single, choice, Workload(users=users))
    assert seen == asked
    assert isinstance(found, Reason) is (len(asked) == 1)


@pytest.mark.parametrize(("code", "holds"), [("offload.not-needed", True), ("offload.unified-memory", False)])
def test_an_offload_that_is_not_needed_holds(code: str, holds: bool) -> None:
    way: Any = SimpleNamespace(plan=lambda *_: Reason(code, {}))
    assert ways.Way.holds(way, Workload()) is holds
