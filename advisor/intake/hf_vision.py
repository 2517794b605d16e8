"""The vision tower of a config.json: how many parameters it and its projector have."""

from typing import Any

from advisor.intake.hf_families import Habits, Numbers
from advisor.intake.hf_keys import Keys

VISION_PARTS = ("vision_config", "vision_tower_config", "vit_config", "visual", "vision_encoder_config")
PICTURE_CHANNELS = 3
JOINING = ("downsample_ratio", "downsample_factor", "scale_factor", "spatial_merge_size", "alignment_intermediate_size")
CONFORMER_SQUARES = 24  # square matrices of a Conformer layer: two feed-forwards of four widths, attention, convolution


def tower_params(keys: Keys, hidden: int, habits: Habits) -> int | None:
    """Parameters of the towers for pictures and sound and what joins them on; 0 without any; None where it cannot be known."""
    seen, heard = _vision_params(keys, hidden, habits), _audio_params(keys, hidden, habits)
    return None if seen is None or heard is None else seen + heard


def _vision_params(keys: Keys, hidden: int, habits: Habits) -> int | None:
    vision = keys.part(*VISION_PARTS)
    if vision is None:
        return _undescribed(keys, hidden, habits)
    wrapper = keys.text("model_type") or ""
    kind = vision.text("model_type") or wrapper
    if (vision.text("model_name") or "").startswith("deeplip"):
        kind = "deepseek_ocr_vision"
    usual = habits.tower(kind) or habits.towers["any other"]
    if "params" in usual:
        return usual["params"]
    vision = Keys({**usual, **_joining(keys), **vision.own}, {}, vision.where)
    width, layers, inner, patch = _sizes(vision)
    if not width or not layers:
        return None
    kind = wrapper if "siglip" in kind else kind
    params = next((params for word, params in _TOWERS if word in kind), _plain)
    return params(vision, width, layers, inner, patch, hidden)


def _undescribed(keys: Keys, hidden: int, habits: Habits) -> int:
    """A tower that its wrapper names without its sizes, or describes elsewhere; 0 where there is none."""
    tokenizer, kind = keys.part("visual_tokenizer_config"), keys.text("model_type")
    if tokenizer is not None:
        return _aimv2(tokenizer, hidden)
    if kind == "phi4mm":
        return _phi4(keys, hidden, habits.towers["phi4mm"])
    named = keys.value("img_processor", "vision_tower", "mm_vision_tower") is not None
    return _clip_params(hidden, habits.towers["clip_336"]) if named or kind == "molmo" else 0


def _joining(keys: Keys) -> dict[str, Any]:
    """What a wrapper says beside its tower about how pictures enter the language model."""
    found = {name: keys.value(name) for name in JOINING if keys.value(name) is not None}
    resampler = keys.part("perceiver_config")
    if resampler is not None:
        found |= {**resampler.own, "resampler_kv_heads": resampler.value("num_key_value_heads")}
        found = {name: each for name, each in found.items() if name.startswith("resampler")}
    return found


def _phi4(keys: Keys, hidden: int, siglip: Numbers) -> int:
    """Phi-4-multimodal as its makers write it: SigLIP that the file does not describe, and adapters for pictures and sound."""
    width, layers, inner, patch = _sizes(Keys(siglip))
    tower = (layers + 1) * _layer(width, inner, gated=False, bias=True, norm_vectors=4)
    tower += PICTURE_CHANNELS * patch * patch * width + siglip["num_position_embeddings"] * width + width * hidden + hidden * hidden
    heads = keys.whole("num_attention_heads") or 1
    rows = hidden + 2 * (keys.whole("num_key_value_heads") or heads) * (hidden // heads)
    feeding = keys.whole("intermediate_size") or 4 * hidden
    each = (hidden + rows) + 2 * hidden + (hidden + 2 * feeding) + (feeding + hidden)
    ranks = sum((part.whole("r") or 0) for name in ("vision_lora", "speech_lora") if (part := keys.part(name)) is not None)
    return tower + ranks * each * (keys.whole("num_hidden_layers") or 0)


def _audio_params(keys: Keys, hidden: int, habits: Habits) -> int | None:
    """An encoder of sound: Conformer layers (Gemma, Phi-4) or those of Whisper, and a matrix into the language model."""
    audio = keys.part("audio_config", "audio_encoder_config") or _within(keys.part("audio_processor"), "config")
    if audio is None:
        return 0
    if audio.whole("num_blocks"):
        return _phi_audio(audio, hidden, habits.towers["phi4_audio"])
    kind = audio.text("model_type") or ""
    usual = habits.towers["gemma4_audio" if "gemma4" in kind else "gemma3n_audio"] if "gemma" in kind else {}
    audio = Keys({**usual, **audio.own}, {}, audio.where)
    width = audio.whole("d_model", "hidden_size") or 0
    layers = audio.whole("encoder_layers", "num_hidden_layers", "conf_num_hidden_layers") or 0
    if "gemma" in kind:
        return layers * CONFORMER_SQUARES * width * width + 2 * width * width + width * hidden + hidden * hidden
    if not width or not layers:
        return None
    inner = audio.whole("encoder_ffn_dim", "intermediate_size") or 4 * width
    return layers * _layer(width, inner, gated=False, bias=True, norm_vectors=4) + 4 * width * width + width * hidden


def _within(part: Keys | None, name: str) -> Keys | None:
    return part.part(name) if part is not None else None


def _phi_audio(audio: Keys, hidden: int, usual: Numbers) -> int:
    """Phi-4-multimodal: Conformer layers of two gated networks, attention, a convolution; two projectors [modeling_phi4_multimodal]."""
    width = audio.whole("hidden_size", "attention_dim") or usual["hidden_size"]
    inner = audio.whole("intermediate_size", "linear_units") or usual["intermediate_size"]
    layers = (audio.whole("num_blocks") or usual["num_blocks"]) * (8 * width * width + 6 * width * inner)
    return layers + 12 * width * width + 2 * (width * hidden + hidden * hidden)


def _sizes(vision: Keys) -> tuple[int, int, int, int]:
    """Width, layers, inner width of the feed-forward, patch edge."""
    width = vision.whole("embed_dim", "hidden_size", "vt_hidden_size", "width") or 0
    layers = vision.whole("depth", "num_hidden_layers", "vt_num_hidden_layers", "layers") or 0
    inner = vision.whole("intermediate_size", "vt_intermediate_size") or round(vision.number("mlp_ratio", 4.0) * width)
    return width, layers, inner, vision.whole("patch_size") or 1


def _layer(width: int, inner: int, *, gated: bool, bias: bool, norm_vectors: int) -> int:
    """One layer: four square matrices, two or three of the feed-forward, biases, norms."""
    matrices = 4 * width * width + (3 if gated else 2) * width * inner
    biases = (4 * width + (2 if gated else 1) * inner + width) if bias else 0
    return matrices + biases + norm_vectors * width


def _grid(vision: Keys, patch: int) -> int:
    """Positions of the picture: patches of an edge, squared."""
    stated = vision.whole("num_position_embeddings", "num_patches")
    size = vision.whole("image_size") or 0
    return stated or (size // patch) ** 2


def _plain(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """A ViT with LayerNorms and biases, learned positions, and two linear layers into the language model."""
    tower = layers * _layer(width, inner, gated=False, bias=True, norm_vectors=4)
    entrance = PICTURE_CHANNELS * patch * patch * width + width + (_grid(v, patch) + 1) * width
    merged, between = width * _merged_patches(v), v.whole("alignment_intermediate_size")
    joined = merged * between + between // 2 * hidden if between else merged * hidden + hidden * hidden
    return tower + entrance + 2 * width + joined


def _merged_patches(v: Keys) -> int:
    """Patches that one token of the language model stands for."""
    ratio = v.number("downsample_ratio", 1.0)
    return (v.whole("spatial_merge_size", "scale_factor", "downsample_factor") or 1) ** 2 if ratio >= 1 else round(1 / ratio**2)


def _aimv2(tokenizer: Keys, hidden: int) -> int:
    """Ovis: AIMv2 (gated, no biases), a head onto a vocabulary of pictures, and a table of what each of its words means."""
    tower, words = tokenizer.part("backbone_config") or tokenizer, tokenizer.whole("vocab_size") or 0
    width, layers, inner, patch = _sizes(tower)
    body = layers * _layer(width, inner, gated=True, bias=False, norm_vectors=2) + PICTURE_CHANNELS * patch * patch * width
    return body + words * (width * (tokenizer.whole("hidden_stride") or 1) ** 2 + hidden)


def _paddle(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """SigLIP, and two linear layers of which the first is as wide as the patches that are merged [PaddleOCR-VL]."""
    merged = width * _merged_patches(v)
    return _plain(v, width, layers, inner, patch, hidden) + merged * merged - hidden * hidden


def _perceiver(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """Idefics2: a gated projection, then a resampler: learnt queries attend to the picture, with gated networks four widths wide."""
    between, depth = 3 * hidden + hidden // 2, v.whole("resampler_depth") or 0
    heads, kv_heads, head_dim = (v.whole(f"resampler_{name}") or 0 for name in ("n_heads", "kv_heads", "head_dim"))
    each = 2 * hidden * (heads + kv_heads) * head_dim + 12 * hidden * hidden
    tower = layers * _layer(width, inner, gated=False, bias=True, norm_vectors=4)
    entrance = PICTURE_CHANNELS * patch * patch * width + _grid(v, patch) * width
    return tower + entrance + (2 * width + hidden) * between + depth * each


def _glm_ocr(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """GLM-OCR: as GLM-4.1V with biases, layers as wide inside as stated, and a merger three times as wide as what leaves."""
    out = v.whole("out_hidden_size") or hidden
    tower = layers * _layer(width, inner, gated=True, bias=True, norm_vectors=2)
    entrance = PICTURE_CHANNELS * (v.whole("temporal_patch_size") or 2) * patch * patch * width + width
    merged = (v.whole("spatial_merge_size") or 2) ** 2 * width * out + out
    return tower + entrance + merged + out * out + 2 * out + PICTURE_CHANNELS * 3 * out * out


def _siglip_gemma(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """SigLIP and one matrix [Gemma 3]."""
    tower = layers * _layer(width, inner, gated=False, bias=True, norm_vectors=4)
    entrance = PICTURE_CHANNELS * patch * patch * width + width + (_grid(v, patch) or v.whole("usual_positions") or 0) * width
    return tower + entrance + 2 * width + width * hidden + width


def _pixtral(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """Pixtral: gated, no biases, two by two patches merged [Mistral Small 3.1]."""
    tower = layers * _layer(width, inner, gated=True, bias=False, norm_vectors=2)
    entrance = PICTURE_CHANNELS * patch * patch * width + width
    projector = width + 4 * width * width + width * hidden + hidden * hidden
    return tower + entrance + projector


def _qwen(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """Qwen2-VL to Qwen3.5: patches in time, no class token, merger into the language model's width."""
    gated = "2_5" in (v.text("model_type") or "") or v.text("hidden_act") == "silu"
    tower = layers * _layer(width, inner, gated=gated, bias=True, norm_vectors=2 if gated else 4)
    times = v.whole("temporal_patch_size") or 2
    entrance = PICTURE_CHANNELS * times * patch * patch * width + width
    positions = (v.whole("num_position_embeddings") or 0) * width
    out = v.whole("out_hidden_size") or (v.whole("hidden_size") if v.value("embed_dim") is not None else None) or hidden
    merged = width * (v.whole("spatial_merge_size") or 2) ** 2
    merger = merged * merged + merged + merged * out + out
    deep = len(v.many("deepstack_visual_indexes") or ())
    return tower + entrance + positions + merger + 2 * width + deep * (merger + 2 * merged)


def _llama4(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """Llama 4: pixel shuffle, a two-layer adapter, one matrix."""
    tower = layers * _layer(width, inner, gated=False, bias=True, norm_vectors=4)
    positions = _grid(v, patch)
    entrance = PICTURE_CHANNELS * patch * patch * width + (positions + 1) * width
    shuffled, out = v.whole("projector_input_dim") or 0, v.whole("projector_output_dim") or 0
    adapter = inner * shuffled + shuffled * out
    return tower + entrance + 5 * width + adapter + (v.whole("vision_output_dim") or out) * hidden


def _gemma4(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """Gemma 4: gated, norms before and after, norms of queries and keys, positions in both directions."""
    per_head = 2 * (v.whole("head_dim") or 0)
    tower = layers * (_layer(width, inner, gated=True, bias=False, norm_vectors=4) + per_head)
    entrance = PICTURE_CHANNELS * patch * patch * width
    positions = 2 * (v.whole("position_embedding_size") or 0) * width
    return tower + entrance + positions + width * hidden


def _moonvit(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """MoonViT [Kimi-VL, 2025]: positions of a 64 × 64 grid, two by two patches merged by two layers."""
    tower = layers * _layer(width, inner, gated=False, bias=True, norm_vectors=4)
    grid = (v.whole("init_pos_emb_height") or 0) * (v.whole("init_pos_emb_width") or 0)
    entrance = PICTURE_CHANNELS * patch * patch * width + width + grid * width
    merged = 4 * width
    return tower + entrance + 4 * width + merged * merged + merged + merged * hidden + hidden


def _glm4v(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """GLM-4.1V: gated layers as wide inside as they leave, a merger with a gated network [transformers, modeling_glm4v.py]."""
    out = v.whole("out_hidden_size") or hidden
    tower = layers * _layer(width, out, gated=True, bias=False, norm_vectors=2)
    entrance = PICTURE_CHANNELS * (v.whole("temporal_patch_size") or 2) * patch * patch * width + width + _grid(v, patch) * width
    merged = (v.whole("spatial_merge_size") or 2) ** 2 * width * out + out
    return tower + entrance + merged + 2 * width + out * out + 2 * out + 3 * out * inner


def _ernie(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """ERNIE 4.5 VL: a plain ViT, then two networks that join patches in space and pictures in time, and one matrix."""
    tower = layers * _layer(width, inner, gated=False, bias=True, norm_vectors=4)
    entrance = PICTURE_CHANNELS * patch * patch * width
    joined, times = width * (v.whole("spatial_merge_size") or 2) ** 2, v.whole("temporal_merge_size") or 2
    resampler = (3 + times) * joined * joined + 8 * joined + joined * hidden + 2 * hidden
    return tower + entrance + 2 * width + resampler


def _mllama(v: Keys, width: int, layers: int, inner: int, patch: int, hidden: int) -> int:
    """Llama 3.2 Vision: gated layers on top, positions for each tile of each aspect ratio, several layers' outputs joined."""
    depth = layers + (v.whole("num_global_layers") or 0)
    tower = depth * _layer(width, inner, gated=False, bias=True, norm_vectors=4)
    positions = ((v.whole("image_size") or 0) // patch) ** 2 + 1
    stated = v.many("supported_aspect_ratios")
    tiles, ratios = v.whole("max_num_tiles") or 0, (len(stated) if stated else v.whole("usual_aspect_ratios") or 0) + 1
    entrance = PICTURE_CHANNELS * patch * patch * width + positions * width * (1 + tiles * ratios) + 2 * ratios * tiles * width
    return tower + entrance + 5 * width + ((v.whole("vision_output_dim") or 6 * width) + 1) * hidden


def _clip_params(hidden: int, clip: Numbers) -> int:
    """CLIP ViT-L/14 at 336 with a projector of four patches [Phi-3-vision, LLaVA]."""
    width, layers, inner, patch = _sizes(Keys(clip))
    tower = layers * _layer(width, inner, gated=False, bias=True, norm_vectors=4)
    entrance = PICTURE_CHANNELS * patch * patch * width + ((clip["image_size"] // patch) ** 2 + 1) * width
    return tower + entrance + 4 * width + 4 * width * hidden + hidden * hidden


_TOWERS = (
    ("gemma4", _gemma4),
    ("gemma", _siglip_gemma),
    ("pixtral", _pixtral),
    ("qwen", _qwen),
    ("llama4", _llama4),
    ("mllama", _mllama),
    ("kimi", _moonvit),
    ("moonvit", _moonvit),
    ("glm4v", _glm4v),
    ("glm_ocr", _glm_ocr),
    ("paddleocr", _paddle),
    ("idefics2", _perceiver),
    ("ernie", _ernie),
)
