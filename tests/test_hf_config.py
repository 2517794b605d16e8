"""config.json of every family: the published total follows, the quantization is named, and no input breaks the reader."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.cache import cache_of
from advisor.catalog import Catalog
from advisor.errors import AdvisorError
from advisor.intake.hf_config import model_of, read

CATALOG = Catalog.load(user_folder=False)
LLAMA_CPP, VLLM = CATALOG.engine("llama.cpp"), CATALOG.engine("vllm")
CASES = yaml.safe_load((Path(__file__).parent / "hf_configs.yaml").read_text())
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
}


def made(config: dict[str, Any], name: str = "model") -> Any:
    return model_of(config, "config.json", name)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_published_total(case: dict[str, Any]) -> None:
    assert made(case["config"]).params == pytest.approx(case["params"], rel=0.004)


def test_head_dim_is_the_share_of_the_width_unless_stated() -> None:
    assert made(LLAMA).attention.head_dim == 128
    assert made({**LLAMA, "head_dim": 96}).attention.head_dim == 96


def test_latent_attention_caches_no_heads() -> None:
    case = next(each for each in CASES if each["name"] == "deepseek-v2")
    model = made(case["config"])
    assert (model.attention.kind, model.kv_heads, model.attention.kv_lora_rank, model.attention.rope_dim) == ("mla", 1, 512, 64)
    assert (model.moe.expert_groups, model.moe.groups_per_token) == (8, 3)


@pytest.mark.parametrize(
    ("added", "kinds"),
    [
        ({"layer_types": ["sliding_attention", "full_attention"] * 16, "sliding_window": 512}, {"sliding": 16, "full": 16}),
        ({"layer_types": ["sliding_attention", "full_attention"] * 16, "sliding_window": None}, {"full": 32}),
        ({"sliding_window": 4096}, {"full": 32}),  # Llama ignores it
        ({"model_type": "mistral", "sliding_window": 4096}, {"sliding": 32}),
        ({"model_type": "mistral", "sliding_window": None}, {"full": 32}),
        ({"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": False}, {"full": 32}),
        ({"model_type": "cohere2", "sliding_window": 4096, "sliding_window_pattern": 4}, {"sliding": 24, "full": 8}),
        ({"model_type": "exaone4", "sliding_window": 4096, "sliding_window_pattern": "LLLG"}, {"sliding": 24, "full": 8}),
        ({"model_type": "gpt_oss", "sliding_window": 128}, {"sliding": 16, "full": 16}),
    ],
)
def test_which_layers_slide(added: dict[str, Any], kinds: dict[str, int]) -> None:
    assert {mixer.kind: mixer.layers for mixer in made({**LLAMA, **added}).mixers} == kinds


@pytest.mark.parametrize(
    ("stored", "quant"),
    [
        ({"torch_dtype": "float16"}, "f16"),
        ({"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}}, "awq-4bit"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32}}, "gptq-4bit-32g"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 8, "group_size": 128}}, "gptq-8bit"),
        ({"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}, "fp8-block"),
        ({"quantization_config": {"quant_method": "fp8"}}, "fp8"),
        ({"quantization_config": {"quant_method": "mxfp4"}}, "mxfp4"),
        ({"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}, "nvfp4"),
        ({"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}, "bnb-nf4"),
        ({"quantization": {"group_size": 64, "bits": 4}}, "mlx-4bit"),
        ({"quantization_config": {"quant_method": "exl3", "bits": 4.07}}, "exl3-4bit"),
        (
            {
                "quantization_config": {
                    "quant_method": "compressed-tensors",
                    "config_groups": {
                        "group_0": {"targets": ["re:.*attn.*"], "weights": {"num_bits": 8, "type": "float", "strategy": "block"}},
                        "group_1": {
                            "targets": ["re:.*ffn.*(gate|up|down)_proj$"],
                            "format": "nvfp4-pack-quantized",
                            "weights": {"num_bits": 4, "type": "float"},
                        },
                    },
                }
            },
            "nvfp4",
        ),
        (
            {
                "quantization_config": {
                    "quant_method": "compressed-tensors",
                    "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "block"}}},
                }
            },
            "fp8-block",
        ),
        ({"quantization_config": {"quant_method": "exl3", "bits": 2.25}}, "exl3-2bit"),
        ({"quantization_config": {"quant_method": "intel/auto-round", "bits": 4}}, "autoround-int4"),
        ({"quantization_config": {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4"}}}}, "mxfp4"),
        ({"quantization_config": {"quant_method": "quark", "global_quant_config": {"weight": [{"dtype": "fp8_e4m3"}]}}}, "fp8"),
        ({"quantization": {"group_size": 32, "bits": 8}}, "mlx-8bit-g32"),
        (
            {
                "quantization_config": {
                    "quant_method": "compressed-tensors",
                    "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}},
                }
            },
            "fp8",
        ),
        (
            {
                "quantization_config": {
                    "quant_method": "compressed-tensors",
                    "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int"}}},
                }
            },
            "w4a16",
        ),
        (
            {
                "quantization_config": {
                    "quant_method": "compressed-tensors",
                    "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "int"}, "input_activations": {"num_bits": 8}}},
                }
            },
            "int8",
        ),
        ({"quantization_config": {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"}}, "nvfp4"),
        (
            {"quantization_config": {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 3, "group_size": 64}}}},
            "gptq-3bit",
        ),
        ({"quantization_config": {"quant_method": "torchao", "quant_type": "int4_weight_only"}}, "w4a16"),
        (
            {
                "quantization_config": {
                    "quant_method": "torchao",
                    "quant_type": {"default": {"_type": "Int8DynamicActivationInt4WeightConfig"}},
                }
            },
            "w4a16",
        ),
        ({"quantization_config": {"quant_method": "torchao", "quant_type": {"default": {"_type": "Float8WeightOnlyConfig"}}}}, "fp8"),
        ({"quantization_config": {"quant_method": "quanto", "weights": "int8"}}, "gptq-8bit"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 3}}, "gptq-3bit"),
        ({"quantization_config": {"quant_method": "auto-round", "bits": 2}}, "gptq-2bit"),
        ({"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True}}, "bnb-nf4-dq"),
        ({"quantization_config": {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}}}, "nvfp4"),
        ({"quantization_config": {"quant_method": "modelopt", "quant_algo": "MXFP8"}}, "mxfp8"),
        ({"expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8", "moe_quant_algo": "NVFP4"}}, "nvfp4"),
        ({"quantization_config": {"quant_method": "w8a8_int8"}}, "int8"),
        # mixed_3_6 of mlx-lm: each layer's down_proj and v_proj in 6 bits: 3 + 3 × (4 + 1) / (3 × 4 + 4) = 3.9
        (
            {
                "quantization": {
                    "bits": 3,
                    "group_size": 64,
                    **{f"model.layers.{i}.{name}": {"bits": 6} for i in range(32) for name in ("mlp.down_proj", "self_attn.v_proj")},
                }
            },
            "mlx-4bit",
        ),
        ({"quantization": {"bits": 4, "group_size": 64, "model.layers.0.mlp.gate": {"bits": 8, "group_size": 64}}}, "mlx-4bit"),
    ],
)
def test_quantization(stored: dict[str, Any], quant: str) -> None:
    assert made({**LLAMA, **stored}).native_quant == quant


def test_a_kind_taken_by_its_width_says_so() -> None:
    assert "'hqq' is taken as w4a16" in made({**LLAMA, "quantization_config": {"quant_method": "hqq", "bits": 4}}).assumed[0]


def test_quantization_of_a_name_is_an_assumption() -> None:
    model = made(LLAMA, "llama-3.1-8b-instruct-nvfp4")
    assert model.native_quant == "nvfp4"
    assert "taken from the name" in model.assumed[0]


def test_unknown_model_type_is_read_like_a_llama_and_says_so() -> None:
    model = made({**LLAMA, "model_type": "mystery"})
    assert model.params == made(LLAMA).params
    assert "mystery" in model.assumed[0]


@pytest.mark.parametrize(
    ("architecture", "alike"), [("Qwen3MoeForCausalLM", "qwen3_moe"), ("Grok1ForCausalLM", "grok-1"), ("GPT2LMHeadModel", "gpt2")]
)
def test_an_unknown_model_type_is_read_like_what_its_architectures_name(architecture: str, alike: str) -> None:
    model = made({**LLAMA, "model_type": "mystery", "architectures": [architecture], "tie_word_embeddings": False})
    assert model.params == made({**LLAMA, "model_type": alike, "tie_word_embeddings": False}).params
    assert f"read like {alike}" in model.assumed[0]


def test_an_unknown_model_that_squares_has_no_gate() -> None:
    assert not made({**LLAMA, "model_type": "mystery", "hidden_act": "relu2"}).ffns[0].gated


def test_every_spelling_names_a_family_and_none_is_refused_too() -> None:
    habits = CATALOG.config_habits
    assert set(habits.spellings.values()) <= set(habits.families)
    assert not set(habits.refused) & {*habits.families, *habits.spellings}
    assert not set(habits.spellings) & set(habits.families)


def test_an_overlay_adds_a_family(tmp_path: Path) -> None:
    (tmp_path / "config_habits.yaml").write_text("families:\n  mystery: {gated: false}\n")
    file = tmp_path / "m" / "config.json"
    file.parent.mkdir()
    file.write_text(json.dumps({**LLAMA, "model_type": "mystery"}))
    model = read(file, Catalog.load((tmp_path / "config_habits.yaml",), user_folder=False))
    assert (model.assumed, model.ffns[0].gated) == ((), False)


def test_wrapper_with_parts_left_to_their_class() -> None:
    # llava-1.5-7b leaves the widths of its Llama to the class; 7,063,427,072 parameters on Hugging Face
    text = {"model_type": "llama", "vocab_size": 32064, "max_position_embeddings": 4096}
    vision = {"model_type": "clip_vision_model", "hidden_size": 1024, "image_size": 336, "num_hidden_layers": 24, "patch_size": 14}
    model = made({"model_type": "llava", "text_config": text, "vision_config": {**vision, "intermediate_size": 4096}})
    assert model.params == pytest.approx(7063427072, rel=1e-4)


def test_folder_with_index_gives_exact_bytes(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "x": float("inf")}))  # a bare Infinity, as Nemotron-H writes
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 16060522496}, "weight_map": {}}))
    model = read(tmp_path)
    assert model.weights_bytes == 16060522496
    assert model.id == tmp_path.name.lower()


def test_some_attention_left_out() -> None:
    # Nemotron-NAS: 2 of 4 layers attend; widths are multiples of two thirds of the hidden width: 2·5.25·8192/3 = 28672
    blocks = [{"attention": {"no_op": i > 1, "n_heads_in_group": 8}, "ffn": {"ffn_mult": 5.25}} for i in range(4)]
    model = made(
        {
            **LLAMA,
            "model_type": "nemotron-nas",
            "hidden_size": 8192,
            "num_attention_heads": 64,
            "num_hidden_layers": 4,
            "block_configs": blocks,
        }
    )
    assert [(mixer.kind, mixer.layers, mixer.kv_heads) for mixer in model.mixers] == [("full", 2, 8), ("none", 2, 0)]
    assert [ffn.width for ffn in model.ffns] == [28672]


@pytest.mark.parametrize(
    ("version", "inner", "outer", "tied"),
    [("5.0.0", True, False, False), ("5.24.0", False, True, True), ("4.46.0", True, False, True), ("4.46.0", None, True, True)],
)
def test_who_ties_the_head_of_a_wrapper(version: str, inner: bool | None, outer: bool, tied: bool) -> None:
    # LLaVA-OneVision 0.5B (4.46) is tied by its Qwen2 though the wrapper says no; from transformers 5 on the wrapper decides
    text = {**LLAMA, "model_type": "qwen2", "tie_word_embeddings": inner}
    config = {"model_type": "llava_onevision", "transformers_version": version, "text_config": text, "tie_word_embeddings": outer}
    assert made(config).tied_embeddings is tied


def test_linear_attention_of_a_mamba_model_is_mamba() -> None:
    # transformers 5 calls every recurrence linear attention: Granite 4.0 H
    words = ["linear_attention"] * 31 + ["full_attention"]
    config = {
        **LLAMA,
        "model_type": "granitemoehybrid",
        "layer_types": words,
        "mamba_n_heads": 128,
        "mamba_d_state": 128,
        "mamba_d_head": 64,
    }
    assert {mixer.kind: mixer.layers for mixer in made(config).mixers} == {"mamba2": 31, "full": 1}


def test_layers_that_read_an_earlier_ones_cache_keep_none() -> None:
    # Hunyuan-Large: cross-layer attention, every second of 64 layers keeps 8 heads of 80 (6400 / 80) keys and values, 2 B each
    config = {**LLAMA, "hidden_size": 6400, "num_hidden_layers": 64, "num_attention_heads": 80, "use_cla": True, "cla_share_factor": 2}
    assert cache_of(made(config), "f16", LLAMA_CPP).growing_bytes_per_token == 32 * 2 * 8 * 80 * 2


def test_heads_that_differ_from_layer_to_layer() -> None:
    # Laguna S 2.1: layers that see everything have 48 heads of 128, those with a window 72; a gate for each head
    config = {**LLAMA, "model_type": "laguna", "num_hidden_layers": 4, "head_dim": 128, "gating": "per-head", "sliding_window": 512}
    words = ["full_attention"] + ["sliding_attention"] * 3
    mixers = made({**config, "num_attention_heads_per_layer": [48, 72, 72, 72], "layer_types": words}).mixers
    assert [(mixer.kind, mixer.layers, mixer.heads, mixer.output_gate) for mixer in mixers] == [
        ("full", 1, 48, "head"),
        ("sliding", 3, 72, "head"),
    ]


def test_a_dense_network_beside_the_experts() -> None:
    # Grok 2: 269.5e9 weights = 64 · (3 · 8192 · 32768 dense + 8 · 3 · 8192 · 16384 experts + attention) + two tables
    config = {
        "model_type": "grok-2", "hidden_size": 8192, "intermediate_size": 32768, "moe_intermediate_size": 16384, "num_hidden_layers": 64,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 131072, "num_local_experts": 8,
        "num_experts_per_tok": 2, "residual_moe": True,
    }  # fmt: skip
    assert made(config).params == pytest.approx(269.5e9, rel=0.01)


def test_what_speaks_aloud_is_said_to_be_left_out() -> None:
    config = {
        "model_type": "qwen3_omni_moe",
        "thinker_config": {"text_config": LLAMA},
        "talker_config": {"text_config": {"hidden_size": 1}},
    }
    assert "talker_config" in made(config).assumed[-1]


def test_a_recurrence_with_a_window_keeps_one_state_and_one_window() -> None:
    # RecurrentGemma 2B: 18 layers with a state of 2560 and 3 · 2560 convolved, at 4 B; 8 layers with a window of 2048
    case = next(case for case in CASES if case["name"] == "recurrentgemma-2b")
    cache = cache_of(made(case["config"]), "f16", LLAMA_CPP)
    assert (cache.state_bytes, cache.growing_bytes_per_token) == (18 * 4 * 2560 * 4, 0)
    assert [window for _, window, _ in cache.windows] == [2048]


@pytest.mark.parametrize(
    ("model_type", "says"),
    [
        ("bert", "writes no text"),
        ("whisper", "with a decoder"),
        ("zamba2", "does not count"),
        ("xlstm", "none of the engines"),
        ("my-new-colbert", "writes no text"),
        ("clip_text_model", "writes no text"),
        ("wav2vec2-conformer", "no language model"),
        ("fancy_tts", "speaks"),
        ("talker_v2", "speaks"),
    ],
)
def test_what_cannot_be_estimated_is_refused_by_its_kind(model_type: str, says: str) -> None:
    with pytest.raises(AdvisorError, match=says):
        made({**LLAMA, "model_type": model_type})


@pytest.mark.parametrize("name", ["FooForMaskedLM", "FooForCTC", "FooForSequenceClassification"])
def test_a_model_of_an_unknown_kind_is_refused_by_what_its_class_is_for(name: str) -> None:
    with pytest.raises(AdvisorError, match=name):
        made({**LLAMA, "model_type": "foo", "architectures": [name]})
    assert made({**LLAMA, "architectures": ["LlamaForSequenceClassification"]}).params  # its decoder is known


def test_a_part_of_a_diffusion_pipeline_is_refused() -> None:
    with pytest.raises(AdvisorError, match="makes pictures"):
        made({"_class_name": "FluxTransformer2DModel", "num_layers": 19})


def test_layers_that_attend_to_pictures_keep_no_words() -> None:
    """Llama 3.2 Vision 11B: 8 of its 40 layers are such [config.json: cross_attention_layers]."""
    model = made(
        {**LLAMA, "model_type": "mllama_text_model", "num_hidden_layers": 40, "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38]}
    )
    assert sum(mixer.caching_layers for mixer in model.mixers) == 32


def test_encoder_with_decoder_is_refused() -> None:
    with pytest.raises(AdvisorError, match="decoder-only"):
        made({"model_type": "t5", "is_encoder_decoder": True, "d_model": 512, "num_layers": 6, "num_heads": 8, "vocab_size": 32128})


def test_name_from_repository(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**LLAMA, "_name_or_path": "meta-llama/Llama-3.1-8B"}))
    model = read(file)
    assert (model.id, model.hf_repo) == ("llama-3.1-8b", "meta-llama/Llama-3.1-8B")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is no JSON"),
        ("[]", "one JSON object"),
        ("{}", "hidden_size: missing"),
        ("[" * 100_000, "is no JSON"),
        ('{"hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": -1}', "out of range"),
        ('{"hidden_size": 1e99, "num_hidden_layers": 32, "vocab_size": 10}', "out of range"),
        ('{"hidden_size": 40.5, "num_hidden_layers": 32, "vocab_size": 10}', "not a whole number"),
        ('{"hidden_size": 64, "num_hidden_layers": 999999, "vocab_size": 10, "num_attention_heads": 2}', "more than any model"),
        ('{"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 10}', "num_attention_heads"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "config.json"
    file.write_text(text)
    with pytest.raises(AdvisorError, match=says):
        read(file)


def test_where_the_nesting_or_a_number_is_too_much_is_said(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"a":\n' + "[" * 100_000)
    with pytest.raises(AdvisorError, match=r"nested deeper than 500 levels \(line 2 column 500\)"):
        read(path)
    path.write_text('{"hidden_size": ' + "9" * 5000 + "}")
    with pytest.raises(AdvisorError, match=r"a number of 5000 digits \(line 1 column 17\)"):
        read(path)


@pytest.mark.parametrize("value", ["true", '"4096"'])
def test_a_width_that_is_no_number_is_said(tmp_path: Path, value: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA).replace("4096", value))
    with pytest.raises(AdvisorError, match="hidden_size: '(True|4096)' is not a whole number"):
        read(path)


def test_a_file_that_powershell_wrote_is_read(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(json.dumps(LLAMA).encode("utf-16"))
    assert read(path).params == made(LLAMA).params


def test_missing_file_and_wrong_encoding(tmp_path: Path) -> None:
    with pytest.raises(AdvisorError, match="cannot be read"):
        read(tmp_path / "config.json")
    (tmp_path / "config.json").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(AdvisorError, match="no JSON"):
        read(tmp_path)


values = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**12), st.floats(), st.text(max_size=8), st.lists(st.integers(-1, 9), max_size=4),
    st.dictionaries(st.sampled_from(["bits", "model_type", "hidden_size", "x"]), st.integers(-1, 4096), max_size=3),
)  # fmt: skip


@settings(max_examples=200, deadline=2000, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_no_mutation_breaks_the_reader(data: st.DataObject) -> None:
    config = dict(data.draw(st.sampled_from(CASES))["config"])
    for _ in range(data.draw(st.integers(1, 3))):
        config[data.draw(st.sampled_from(sorted(config)))] = data.draw(values)
    try:
        model = made(config)
    except AdvisorError:
        return
    assert model.params >= 0
    assert cache_of(model, "f16", VLLM).held_bytes(1000) >= 0


def test_an_adapter_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "base_model_name_or_path": "Qwen/Qwen3-8B", "r": 16}))
    with pytest.raises(AdvisorError, match="adapter .LoRA. for Qwen/Qwen3-8B"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("stated", "params"),
    [  # Llama 3.1 8B as Meta writes it: 14336 = 1.3 · 8/3 · 4096 rounded up to 1024; Mixtral 8x22B as Mistral does
        (
            {
                "dim": 4096,
                "ffn_dim_multiplier": 1.3,
                "multiple_of": 1024,
                "n_heads": 32,
                "n_kv_heads": 8,
                "n_layers": 32,
                "vocab_size": 128256,
            },
            8030261248,
        ),
        (
            {"dim": 6144, "hidden_dim": 16384, "head_dim": 128, "n_heads": 48, "n_kv_heads": 8, "n_layers": 56, "vocab_size": 32768}
            | {"moe": {"num_experts": 8, "num_experts_per_tok": 2}},
            140630071296,
        ),
    ],
)
def test_the_makers_own_params_json(tmp_path: Path, stated: dict[str, Any], params: int) -> None:
    (tmp_path / "params.json").write_text(json.dumps(stated))
    assert read(tmp_path).params == pytest.approx(params, rel=1e-4)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(AdvisorError, match="no ordinary file"):
        read(tmp_path)


@pytest.mark.parametrize("blocks", [[[]], [None], ["a", 1], [{}], [{"attention": 3, "ffn": "x"}]])
def test_layer_blocks_of_the_wrong_kind_or_number_are_passed_over(blocks: list[Any]) -> None:
    assert made(LLAMA | {"block_configs": blocks}).params == made(LLAMA).params


def test_a_second_set_of_experts_for_pictures_counts_with_the_tower_and_not_for_words() -> None:
    case = next(case for case in CASES if case["name"] == "ernie-4.5-vl-28b-a3b")
    model = made(case["config"])
    assert model.vision_params > 27 * 64 * 3 * 2560 * 512  # layers × experts × matrices × width × inner width
    assert 2.9e9 < model.active_params < 3.5e9
