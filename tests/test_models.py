"""Models: parameters follow from the shape; sizes by tensor are those that llama.cpp, MLX and the publishers print."""

from dataclasses import replace
from itertools import pairwise

import pytest

from advisor.catalog import Catalog
from advisor.feedforward import FeedForward
from advisor.mixer import Mixer
from advisor.model import Model
from advisor.quant import Quant
from advisor.weights import weights_of

GIB = 1024**3


def tiny(**more: object) -> Model:
    """2 layers, 4 heads of 8 on 2 KV heads, width 64, 100 words."""
    given: dict[str, object] = {
        "id": "tiny",
        "name": "tiny",
        "architecture": "llama",
        "layers": 2,
        "hidden_size": 32,
        "vocab_size": 100,
        "mixers": (Mixer(kind="full", layers=2, heads=4, kv_heads=2, head_dim=8),),
        "ffns": (FeedForward(kind="dense", layers=2, width=64),),
    }
    return Model(**{**given, **more})  # type: ignore[arg-type]


def test_parameters_by_hand() -> None:
    # embedding and head 2·100·32 = 6400; a layer: q 32·32 + k, v 2·32·16 + o 32·32 = 3072, feed-forward 3·32·64 = 6144,
    # norms 2·32; two layers and the last norm: 2·(3072 + 6144 + 64) + 32 = 18592
    model = tiny()
    assert model.decoder_params == 6400 + 18592
    assert model.active_params == model.decoder_params - 3200  # the input embedding is looked up
    assert model.params == sum(model.part_params.values())


def test_tied_head_counts_once() -> None:
    assert tiny().decoder_params - tiny(tied_embeddings=True).decoder_params == 100 * 32


def test_mixture_by_hand() -> None:
    # 8 experts of width 16, 2 chosen, a shared one of 16: 2 layers · (router 8·32 + 8·3·32·16 + 3·32·16)
    moe = FeedForward(kind="moe", layers=2, experts=8, experts_per_token=2, expert_width=16, shared_width=16)
    model = tiny(ffns=(moe,))
    assert model.part_params["expert"] == 2 * 8 * 3 * 32 * 16
    assert model.part_params["router"] == 2 * 8 * 32
    assert model.part_params["shared"] == 2 * 3 * 32 * 16
    idle = model.part_params["expert"] * 6 / 8
    assert model.active_params == model.decoder_params - 3200 - idle


def test_every_model_agrees_with_its_published_total(catalog: Catalog) -> None:
    assert [problem for model in catalog.models.values() for problem in model.problems()] == []


@pytest.mark.parametrize(
    ("name", "params"),
    [  # totals of the Hugging Face repositories, towers included, draft layers and copies apart
        ("llama-3.1-8b", 8030261248),
        ("qwen3-30b-a3b", 30532122624),
        ("deepseek-v3", 671026419200),
        ("gemma-3-27b", 27432406640),
        ("gpt-oss-120b", 116829156672),
        ("jamba-1.5-mini", 51570323328),
        ("nemotron-nano-9b-v2", 8888227328),
        ("kimi-linear-48b-a3b", 49122681728),
        ("granite-4.0-h-small", 32207337984),
        ("command-r-plus", 103810674688),
        ("falcon-40b", 41303293952),
        ("deepseek-v4-flash", 284332241239),
    ],
)
def test_published_totals(catalog: Catalog, name: str, params: int) -> None:
    assert catalog.model(name).params == pytest.approx(params, rel=1e-6)


# Bits per weight of Llama-3.1-8B in llama.cpp's tools/quantize/README.md
README_BITS = {
    "iq1_s": 2.0042, "iq1_m": 2.1460, "iq2_xxs": 2.3824, "iq2_xs": 2.5882, "iq2_s": 2.7403, "iq2_m": 2.9294, "iq3_xxs": 3.2548,
    "iq3_xs": 3.4977, "iq3_s": 3.6606, "iq3_m": 3.7628, "q2_k_s": 2.9697, "q2_k": 3.1593, "q3_k_s": 3.6429, "q3_k_l": 4.2979,
    "q4_k_s": 4.6672, "q4_k_m": 4.8944, "q5_k_s": 5.5704, "q5_k_m": 5.7036, "q6_k": 6.5633, "q8_0": 8.5008, "f16": 16.0005,
}  # fmt: skip


@pytest.mark.parametrize("quant", sorted(README_BITS))
def test_bits_per_weight_as_llama_cpp_prints_them(catalog: Catalog, quant: str) -> None:
    weights = weights_of(catalog.model("llama-3.1-8b"), catalog.quant(quant), "llama.cpp")
    assert weights.bits_per_weight == pytest.approx(README_BITS[quant], abs=0.0002)


@pytest.mark.parametrize(
    ("model", "quant", "engine", "gib"),
    [
        ("gpt-oss-120b", "mxfp4", "llama.cpp", 59.02),  # llama-bench: gpt-oss 120B MXFP4 MoE
        ("gpt-oss-20b", "mxfp4", "llama.cpp", 11.27),
        ("gpt-oss-20b", "mxfp4", "vllm", 13.72),  # vLLM prints 13.72: rows of 2880 are filled up to 3072
        ("llama-2-7b", "q4_0", "llama.cpp", 3.56),
        ("devstral-2-123b", "q3_k_s", "llama.cpp", 50.63),
        ("glm-4.7-flash", "bf16", "llama.cpp", 55.79),
        ("llama-3.1-nemotron-70b", "mlx-4bit", "mlx", 39688355840 / GIB),
        ("llama-3.1-70b", "int8", "vllm", 67.72),  # vLLM: model weights take 67.72 GiB
        ("qwen3-14b", "fp8", "vllm", 15.33),
        ("qwen3-30b-a3b", "gptq-4bit", "vllm", 15.61),
        ("deepseek-v4-flash", "fp8-fp4", "vllm", 155095760030 / GIB),  # bytes of the repository
    ],
)
def test_file_sizes(catalog: Catalog, model: str, quant: str, engine: str, gib: float) -> None:
    weights = weights_of(catalog.model(model), catalog.quant(quant), engine)
    assert weights.total_bytes / GIB == pytest.approx(gib, rel=0.02 if engine != "vllm" else 0.06)


def test_gpt_oss_reads_less_from_gguf_than_from_the_original(catalog: Catalog) -> None:
    # PHYSICS of the published model: 3.5 GB a token in GGUF, 5.0 GB in the original checkpoint, whose attention stays BF16
    model, quant = catalog.model("gpt-oss-120b"), catalog.quant("mxfp4")
    read = {}
    for engine in ("llama.cpp", "vllm"):
        w = weights_of(model, quant, engine)
        read[engine] = (w.head_bytes + w.dense_bytes + w.expert_bytes * w.experts_per_token / w.experts) / 1e9
    assert read["llama.cpp"] == pytest.approx(3.5, rel=0.05)
    assert read["vllm"] == pytest.approx(5.0, rel=0.05)


def test_parts_sum_to_the_total_for_every_quantization(catalog: Catalog) -> None:
    for name in ("qwen3-8b", "qwen3.6-35b-a3b", "gemma-3-4b", "deepseek-r1"):
        model = catalog.model(name)
        for quant in catalog.quants.values():
            w = weights_of(model, quant, "vllm")
            parts = w.embedding_bytes + w.head_bytes + w.dense_bytes + w.expert_bytes + w.vision_bytes
            assert w.total_bytes == pytest.approx(parts)
            assert w.params == pytest.approx(model.params)
            assert 0 < w.mixer_bytes <= w.dense_bytes


@pytest.mark.parametrize(
    ("engine", "quants"),
    [
        ("llama.cpp", ("q2_k", "q3_k_s", "q3_k_m", "q4_k_s", "q4_k_m", "q5_k_m", "q6_k", "q8_0", "f16", "f32")),
        ("llama.cpp", ("iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_m", "iq3_xxs", "iq3_m", "iq4_xs", "iq4_nl")),
        ("mlx", ("mlx-2bit", "mlx-3bit", "mlx-4bit", "mlx-5bit", "mlx-6bit", "mlx-8bit", "bf16")),
        ("exllamav3", ("exl3-1.6bit", "exl3-2bit", "exl3-3bit", "exl3-4bit", "exl3-5bit", "exl3-6bit", "exl3-8bit", "f16")),
        ("vllm", ("awq-4bit", "gptq-8bit", "bf16")),
    ],
)
def test_a_smaller_quantization_is_never_bigger(catalog: Catalog, engine: str, quants: tuple[str, ...]) -> None:
    for model in catalog.models.values():
        sizes = [weights_of(replace(model, files=()), catalog.quant(quant), engine).total_bytes for quant in quants]
        # where blocks do not divide the rows, neighbours fall back to one type: gemma-3-1b has 690 MB as Q2_K and 689 as Q3_K_S
        assert all(small <= 1.01 * large for small, large in pairwise(sizes)), model.id


def test_a_type_has_the_same_bits_everywhere(catalog: Catalog) -> None:
    seen: dict[str, float] = {}
    for quant in catalog.quants.values():
        for rule in quant.rules:
            assert seen.setdefault(rule.type, rule.bits) == rule.bits, f"{quant.id}: {rule.type}"


def test_rows_that_a_block_does_not_divide_are_wider(catalog: Catalog) -> None:
    # gpt-oss is 2880 wide: not a multiple of 256, so Q4_K falls back to Q5_0 (5.5 bits)
    quant: Quant = catalog.quant("q4_k_m")
    model = catalog.model("gpt-oss-20b")
    tensor = next(t for t in model.tensors if t.role == "attn_q")
    assert tensor.columns == 2880
    assert quant.tensor_bits(tensor, model, "llama.cpp") == 5.5


def test_measured_file_sets_the_total(catalog: Catalog) -> None:
    weights = weights_of(catalog.model("llama-4-scout"), catalog.quant("ud-q4_k_xl"), "llama.cpp")
    assert weights.measured
    assert weights.total_bytes / GIB == pytest.approx(57.728)


def test_experts_that_several_tokens_touch() -> None:
    """One token touches k of E; many touch fewer than with even routing. One DGX Spark, gpt-oss-120b [kubis.ai, topology benchmark]:
    steps of 17.4, 25.5, 37.1, 52.1, 73.2, 100.4 ms for 1, 2, 4, 8, 16, 32 users; one expert in all layers is 1.9 ms at 240 GB/s,
    so beyond one user's four about 4.3, 10.5, 18.5, 29.8, 44.3 further ones are read of 128.
    """
    catalog = Catalog.load(user_folder=False)
    weights = weights_of(catalog.model("gpt-oss-120b"), catalog.quant("mxfp4"), "vllm")
    shape = catalog.calibration.routing_exponent
    assert weights.experts_touched_share(1, shape) == pytest.approx(4 / 128)
    for users, further in ((2, 4.3), (4, 10.5), (8, 18.5), (16, 29.8), (32, 44.3)):
        touched = 128 * weights.experts_touched_share(users, shape)
        assert touched - 4 == pytest.approx(further, rel=0.3)
        assert touched < 128 * (1 - (1 - 4 / 128) ** users)
    shares = [weights.experts_touched_share(users, shape) for users in (1, 2, 8, 100, 1e4, 1e6)]
    assert shares == sorted(shares)
    assert shares[-1] <= 1
