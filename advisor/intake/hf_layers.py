"""Which layer does what: the kind of mixer and of feed-forward of every layer, from the many ways in which configs say it."""

from collections.abc import Callable, Sequence

from advisor.errors import BadInput
from advisor.intake.hf_families import Family
from advisor.intake.hf_keys import Keys

RWKV = ("rwkv", "rwkv5", "rwkv6", "rwkv7")
MOST_LAYERS = 2000
WORDS = {
    "full_attention": "full",
    "attention": "full",
    "global_attention": "full",
    "global": "full",
    "full": "full",
    "sliding_attention": "sliding",
    "sliding": "sliding",
    "local": "sliding",
    "local_attention": "sliding",
    "chunked_attention": "chunked",
    "linear_attention": "linear",
    "lightning_attention": "linear",
    "linear": "linear",
    "mamba": "mamba",
    "mamba2": "mamba",
    "conv": "conv",
    "short_conv": "conv",
    "deepseek_sparse_attention": "full",
    "sparse_attention": "full",
    "compressed_sparse_attention": "compressed",
    "heavily_compressed_attention": "compressed",
    "hybrid": "full",
    "recurrent": "lru",
    "none": "none",
    "mlp": "mlp",
    "moe": "moe",
}
# … and words that nobody has listed, by what they hold.
WORD_PARTS = {"sliding": "sliding", "window": "sliding", "local": "sliding", "mamba": "mamba", "linear": "linear", "conv": "conv"}
PATTERN_LETTERS = {"M": "mamba", "*": "full", "-": "mlp", "E": "moe"}


def mixer_kinds(keys: Keys, family: Family, layers: int) -> list[str]:
    """The mixer of each layer: full sliding chunked linear mamba conv compressed none; `mlp` and `moe` are blocks without."""
    if layers > MOST_LAYERS:
        raise BadInput(f"{keys.where}: {layers} layers are more than any model has (at most {MOST_LAYERS})")
    for said in _WAYS:
        kinds = said(keys, layers)
        if kinds is not None:
            return _fill(kinds, layers)
    if _window(keys) is None:
        return ["full"] * layers
    return _windowed(keys, family, layers)


def _fill(kinds: Sequence[str], layers: int) -> list[str]:
    """As many kinds as layers: a shorter list is repeated, a longer one cut."""
    return [kinds[i % len(kinds)] for i in range(layers)]


def _pattern(keys: Keys, _layers: int) -> list[str] | None:
    text = keys.text("hybrid_override_pattern")
    return None if not text else [PATTERN_LETTERS.get(letter, "full") for letter in text if letter not in "| \n"]


def _kind_of(word: str) -> str:
    return WORDS.get(word) or next((kind for part, kind in WORD_PARTS.items() if part in word), "full")


def _listed(keys: Keys, _layers: int) -> list[str] | None:
    words = keys.many("layers_block_type", "layer_types", "layer_type_list", "block_types", "_block_types")
    if not words or not all(isinstance(word, str) for word in words):
        return None
    kinds = [_kind_of(word.lower()) for word in words]
    if keys.whole("mamba_d_state", "ssm_state_size") and not keys.whole("linear_num_value_heads"):
        kinds = ["mamba" if kind == "linear" else kind for kind in kinds]  # transformers 5 calls every recurrence linear attention
    if "lru" in kinds:
        kinds = ["sliding" if kind == "full" else kind for kind in kinds]  # RecurrentGemma attends within a window only
    elif "sliding" in kinds and _window(keys) is None:
        kinds = ["full" if kind == "sliding" else kind for kind in kinds]
    return kinds


def _numbered(names: tuple[str, ...], one: str, other: str) -> Callable[[Keys, int], list[str] | None]:
    """A list of 0 and 1, one for each layer."""

    def kinds(keys: Keys, _layers: int) -> list[str] | None:
        marks = keys.many(*names)
        return None if not marks or not all(mark in (0, 1) for mark in marks) else [one if mark else other for mark in marks]

    return kinds


def _indexed(names: tuple[str, ...], there: str, elsewhere: str) -> Callable[[Keys, int], list[str] | None]:
    """A list of layer numbers, from 0."""

    def kinds(keys: Keys, layers: int) -> list[str] | None:
        indices = keys.many(*names)
        return None if not indices else [there if i in indices else elsewhere for i in range(layers)]

    return kinds


def _kimi(keys: Keys, layers: int) -> list[str] | None:
    """Kimi Linear numbers its layers from 1."""
    linear = keys.part("linear_attn_config")
    full = linear.many("full_attn_layers") if linear else None
    return None if full is None else ["full" if i + 1 in full else "linear" for i in range(layers)]


def _blocks(keys: Keys, _layers: int) -> list[str] | None:
    """Nemotron-NAS: a mapping for each layer, with an attention that may be left out."""
    blocks = keys.many("block_configs")
    if not blocks or not all(isinstance(block, dict) for block in blocks):
        return None
    kinds = []
    for block in blocks:
        attention = block.get("attention") if isinstance(block.get("attention"), dict) else {}
        kinds.append("none" if attention.get("no_op") else "replaced" if attention.get("replace_with_linear") else "full")
    return kinds


def _every(keys: Keys, layers: int) -> list[str] | None:
    """Each n-th layer attends in full, the others are linear."""
    every = keys.whole("full_attention_interval", "layer_group_size")
    return None if not every else ["full" if (i + 1) % every == 0 else "linear" for i in range(layers)]


def _period(keys: Keys, layers: int) -> list[str] | None:
    """Jamba: attention at an offset of each period, Mamba elsewhere."""
    period, offset = keys.whole("attn_layer_period"), keys.whole("attn_layer_offset") or 0
    return None if not period else ["full" if i % period == offset else "mamba" for i in range(layers)]


def _ratios(keys: Keys, _layers: int) -> list[str] | None:
    return ["compressed"] if keys.many("compress_ratios") else None


def _chunks(keys: Keys, layers: int) -> list[str] | None:
    """Llama 4: layers with rotary positions attend within a chunk, the others to everything."""
    if not keys.whole("attention_chunk_size") or keys.text("model_type") not in ("llama4", "llama4_text"):
        return None
    marks = keys.many("no_rope_layers")
    if marks and len(marks) >= layers:
        return ["chunked" if mark else "full" for mark in marks]
    every = keys.whole("no_rope_layer_interval") or 4
    return ["full" if (i + 1) % every == 0 else "chunked" for i in range(layers)]


def _pure_mamba(keys: Keys, _layers: int) -> list[str] | None:
    kind = keys.text("model_type")
    if kind in RWKV:
        return ["rwkv"]
    bare = kind == "bamba" and not keys.many("attn_layer_indices", "layer_types", "layers_block_type")
    return ["mamba"] if bare or kind in ("mamba", "mamba2", "falcon_mamba") else None


_WAYS: tuple[Callable[[Keys, int], list[str] | None], ...] = (
    _pure_mamba,
    _pattern,
    _blocks,
    _kimi,
    _ratios,
    _chunks,
    _listed,
    _numbered(("attn_type_list",), "full", "linear"),
    _numbered(("hybrid_layer_pattern", "sliding_window_layout", "sliding_window_layers"), "sliding", "full"),
    _indexed(("full_attn_idxs",), "full", "conv"),
    _indexed(("attn_layer_indices",), "full", "mamba"),
    _every,
    _period,
)


def _window(keys: Keys) -> int | None:
    """The window in tokens where there is one and it is used."""
    if keys.value("use_sliding_window") is False:
        return None
    return keys.whole("sliding_window", "sliding_window_size", "interleaved_sliding_window", "attention_window") or None


def _windowed(keys: Keys, family: Family, layers: int) -> list[str]:
    """Layers of a family that slides without naming each layer."""
    pattern = keys.value("sliding_window_pattern", "_sliding_window_pattern")
    if isinstance(pattern, str) and pattern:
        return _fill(["full" if letter in "Gg" else "sliding" for letter in pattern], layers)
    every = pattern if isinstance(pattern, int) and pattern > 0 else keys.whole("global_attn_every_n_layers") or family.window_every
    if family.window == "all":
        return ["sliding"] * layers
    if family.window == "alternate":
        return ["full" if i % 2 else "sliding" for i in range(layers)]
    if family.window == "from-max-window-layers":
        first = keys.whole("max_window_layers")
        first = layers if first is None else first
        slides = keys.flag("use_sliding_window")
        return ["sliding" if slides and i >= first else "full" for i in range(layers)]
    if every and (family.window == "pattern" or pattern is not None):
        return ["full" if (i + 1) % every == 0 else "sliding" for i in range(layers)]
    return ["full"] * layers


def is_mixture(keys: Keys, layers: int) -> list[bool]:
    """Whether each layer routes its tokens to experts."""
    for said in _MIXTURE_WAYS:
        marks = said(keys, layers)
        if marks is not None:
            return marks
    return [True] * layers


def _mixture_words(keys: Keys, layers: int) -> list[bool] | None:
    words = keys.many("mlp_layer_types")
    return None if not words else ["sparse" in word or "moe" in word for word in _fill([str(w) for w in words], layers)]


def _mixture_numbers(keys: Keys, layers: int) -> list[bool] | None:
    """Layer numbers in a list or in a text: `"4,5,6"`."""
    listed = keys.many("moe_layers")
    text = keys.text("moe_layers_enum")
    if text:
        listed = [int(part) for part in text.split(",") if part.strip().isdigit()]
    if listed:
        return [i in listed for i in range(layers)]
    step = keys.whole("interleave_moe_layer_step")
    return None if not step else [(i + 1) % step == 0 for i in range(layers)]


def _mixture_period(keys: Keys, layers: int) -> list[bool] | None:
    period, offset = keys.whole("expert_layer_period"), keys.whole("expert_layer_offset") or 0
    return None if not period else [i % period == offset for i in range(layers)]


def _mixture_start(keys: Keys, layers: int) -> list[bool] | None:
    """Ernie: from one layer to another, each n-th; -1 is the last."""
    start = keys.value("moe_layer_start_index")
    start = min(start) if isinstance(start, list) and start else start
    if not isinstance(start, int):
        return None
    end = keys.value("moe_layer_end_index")
    end = max(end) if isinstance(end, list) and end else end
    last = layers - 1 if not isinstance(end, int) or end < 0 else end
    every = keys.whole("moe_layer_interval") or 1
    return [start <= i <= last and (i + 1) % every == 0 for i in range(layers)]


def _mixture_sparse_step(keys: Keys, layers: int) -> list[bool] | None:
    step, dense = keys.whole("decoder_sparse_step"), keys.many("mlp_only_layers") or ()
    return None if step is None else [step > 0 and (i + 1) % step == 0 and i not in dense for i in range(layers)]


def _mixture_first_dense(keys: Keys, layers: int) -> list[bool] | None:
    marks = keys.many("moe_layer_freq")
    if marks:
        return [bool(marks[i % len(marks)]) for i in range(layers)]
    first = keys.whole("first_k_dense_replace", "num_dense_layers", "first_dense_layers", "n_dense_layers")
    every = keys.whole("moe_layer_freq") or 1
    return None if first is None else [i >= first and i % every == 0 for i in range(layers)]


_MIXTURE_WAYS: tuple[Callable[[Keys, int], list[bool] | None], ...] = (
    _mixture_words,
    _mixture_numbers,
    _mixture_period,
    _mixture_start,
    _mixture_sparse_step,
    _mixture_first_dense,
)
