"""A model from a Hugging Face `config.json`: the file, or its folder with the index of the weights.

Nothing is executed and nothing is fetched. What the file does not say is taken as its `model_type`'s class would, and
what even that leaves open is named in `assumed`.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.errors import BadInput
from advisor.feedforward import FeedForward
from advisor.intake.hf_families import Family, Habits, habits_of
from advisor.intake.hf_ffns import feed_forwards, picture_experts
from advisor.intake.hf_keys import LONGEST, Keys, text_part
from advisor.intake.hf_layers import mixer_kinds
from advisor.intake.hf_mixers import mixers
from advisor.intake.hf_quant import native_quant
from advisor.intake.hf_vision import tower_params
from advisor.intake.page import encoding_of
from advisor.jsontext import why
from advisor.mixer import Mixer
from advisor.model import Model
from advisor.price import Source
from advisor.record import replace
from advisor.units import MIB

if TYPE_CHECKING:
    from advisor.catalog import Catalog

LARGEST_CONFIG_BYTES = 16 * MIB
LARGEST_INDEX_BYTES = 128 * MIB
CONFIGS = ("config.json", "adapter_config.json", "params.json")
INDEX = "model.safetensors.index.json"
HIDDEN = ("hidden_size", "n_embd", "d_model", "dim", "model_dim")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_transformer_layers", "num_hidden_blocks")
TIED = ("tie_word_embeddings", "tie_embeddings", "weight_tying", "share_input_output_layers")
VOCABULARY = ("vocab_size", "padded_vocab_size", "n_vocab")
WRAPPER_TIES_FROM = 5
UNGATED_EVERYWHERE = ("relu2", "xielu")
LENGTH = (
    "max_position_embeddings",
    "max_position_embedding",
    "max_sequence_length",
    "n_positions",
    "seq_length",
    "max_seq_len",
    "model_max_length",
    "n_ctx",
    "max_seq_length",
)


def read(path: Path | str, catalog: "Catalog | None" = None) -> Model:
    """The model that a config.json describes. `path`: the file or its folder; `catalog` tells the habits of its kind."""
    place = Path(path)
    file = _config_in(place) if place.is_dir() else place
    config = _mapping(file, LARGEST_CONFIG_BYTES)
    if "peft_type" in config:
        base = config.get("base_model_name_or_path")
        raise BadInput(
            f"{file}: is an adapter (LoRA) for {base or 'another model'}, no model by itself; name that model's config.json or id"
        )
    beside = _mapping(file.parent / "hf_quant_config.json", LARGEST_CONFIG_BYTES, needed=False)
    model = model_of(config, str(file), _name(file, config), beside, habits_of(catalog))
    total = _total_bytes(file.parent / INDEX) if file.name == "config.json" else None
    return model if total is None else replace(model, weights_bytes=total)


def _config_in(folder: Path) -> Path:
    """The file of a folder that describes its model: of Hugging Face, an adapter's, or the makers' own."""
    return next((folder / name for name in CONFIGS if (folder / name).is_file()), folder / CONFIGS[0])


def model_of(
    config: Mapping[str, Any], where: str, name: str, beside: Mapping[str, Any] | None = None, habits: Habits | None = None
) -> Model:
    """The model that the keys of a config describe."""
    habits = habits or habits_of(None)
    keys = text_part(config, where)
    if keys.flag("is_encoder_decoder"):
        raise BadInput(f"{where}: an encoder with a decoder (such as T5) is not a model that advisor estimates; give a decoder-only one")
    own = keys.own.get("model_type")
    model_type = own if isinstance(own, str) else keys.text("model_type")
    whole = Keys(config)
    for word, made in ((whole.text("model_type"), whole), (model_type, keys)):
        habits.must_read(word, (*(made.many("architectures") or ()), made.text("_class_name") or ""), where)
    beside_text = Keys({**config, **keys.around}, {}, where)
    family = habits.family(model_type) or habits.family(Keys(config).text("model_type"))
    assumed: tuple[str, ...] = ()
    if family is None:
        model_type, family, note = _unknown(model_type, Keys({**config, **keys.own}, {}, where), habits)
        assumed = (note,)
    own_keys = {**keys.own, **({"model_type": model_type} if model_type else {}), **_tied_by_wrapper(config, keys)}
    inside = habits.text_part(model_type) if keys.around else {}
    keys = Keys(own_keys, {**habits.usual, **inside, **(family.values or {}), **keys.around}, where)
    quant, open_quant = native_quant(keys, name, beside, habits.quant_methods)
    model = _shape(keys, family, name)
    vision = tower_params(beside_text, model.hidden_size, habits)
    if vision is None:
        assumed += ("the size of the tower for pictures or sound is not stated; not counted",)
    if beside_text.part("talker_config"):
        assumed += ("the part that speaks aloud (talker_config) is not counted",)
    if open_quant:
        assumed += (open_quant,)
    repo = Keys(config).text("_name_or_path")
    return replace(
        model,
        native_quant=quant,
        vision_params=(vision or 0) + picture_experts(keys, model.ffns),
        hf_repo=repo if repo and re.fullmatch(r"[\w.-]+/[\w.-]+", repo) else None,
        assumed=model.assumed + assumed,
        sources=(Source(fields=("mixers", "ffns"), title=f"config.json: {where}"),),
    )


def _unknown(model_type: str | None, keys: Keys, habits: Habits) -> tuple[str | None, Family, str]:
    """What a model_type that nobody told is read as: what its `architectures` name, else a llama; and that this was assumed."""
    for name in keys.many("architectures") or ():
        alike = habits.named(re.sub(r"(For[A-Z]\w*|LMHeadModel|Model)$", "", str(name)[:100]))
        if alike is not None:
            family = habits.family(alike) or Family()
            return alike, family, f"model_type {model_type!r} is not known; read like {alike}, which its architectures name"
    ungated = keys.text("hidden_act") in UNGATED_EVERYWHERE
    return model_type, Family(gated=not ungated), f"model_type {model_type!r} is not known; read like a llama"


def _tied_by_wrapper(config: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    """From transformers 5 on the wrapper decides whether the head is the embedding; before, the part that speaks did."""
    stated = keys.around.get("tie_word_embeddings")
    newer = re.match(r"(\d+)\.", str(config.get("transformers_version")))
    return {"tie_word_embeddings": stated} if stated is not None and newer and int(newer[1]) >= WRAPPER_TIES_FROM else {}


def _shape(keys: Keys, family: Family, name: str) -> Model:
    hidden, vocabulary = _needed(keys, HIDDEN), _needed(keys, VOCABULARY)
    doubled = 2 if keys.text("model_type") == "longcat_flash" else 1  # two attentions and two dense networks in a layer
    layers = _layers(keys)
    kinds = mixer_kinds(keys, family, layers)
    attention = mixers(keys, family, kinds * doubled, hidden)
    feeding = feed_forwards(keys, family, kinds, hidden)
    if doubled == 2:
        feeding += (FeedForward(kind="dense", layers=layers * doubled, width=keys.whole("ffn_hidden_size") or 0),)
    moe = any(f.kind == "moe" for f in feeding)
    parallel = _parallel(keys, family)
    tables, extra, guesses = _extras(keys, family, hidden, layers)
    weights = family.norm_weights
    model = Model(
        id=name,
        name=name,
        architecture=(family.moe_architecture or family.architecture) if moe else family.architecture,
        layers=layers,
        hidden_size=hidden,
        vocab_size=vocabulary,
        tied_embeddings=keys.flag(*TIED, default=family.tied),
        max_context_tokens=keys.whole(*LENGTH, most=LONGEST) or None,
        mixers=attention,
        ffns=feeding,
        norms_per_mixer=family.norms_per_mixer if weights else 0,
        norms_per_ffn=(0 if parallel else _ffn_norms(family, feeding)) if weights else 0,
        norm_bias=family.norm_bias,
        final_norm=weights,
        embedding_size=_embedding_size(keys, hidden),
        head_bias=family.head_bias,
        lookup_params=tables,
        extra_params=extra,
        assumed=guesses,
    )
    return _with_draft_layers(model, keys)


def _embedding_size(keys: Keys, hidden: int) -> int | None:
    """Width of an embedding that is narrower than the layers; Molmo's word of that name is a vocabulary."""
    found = keys.whole("word_embed_proj_dim", "embedding_size", "embedding_dim")
    return found if found and found <= hidden else None


def _needed(keys: Keys, names: tuple[str, ...]) -> int:
    stated = keys.value(*names)
    if isinstance(stated, bool | str):
        raise BadInput(f"{keys.where}: {names[0]}: {str(stated)[:40]!r} is not a whole number")
    found = keys.whole(*names)
    if not found:
        raise BadInput(f"{keys.where}: {names[0]}: missing, or not above 0; is it the config.json of a language model?")
    return found


def _layers(keys: Keys) -> int:
    pattern = keys.text("hybrid_override_pattern")
    if pattern:
        return len([letter for letter in pattern if letter not in "| \n"])
    stated = keys.whole(*LAYERS)
    listed = keys.many("layers_block_type", "layer_types", "block_configs")
    return len(listed) if not stated and listed else _needed(keys, LAYERS)


def _parallel(keys: Keys, family: Family) -> bool:
    """Whether attention and feed-forward share one norm."""
    if family.architecture == "falcon":
        if keys.flag("new_decoder_architecture"):
            return keys.whole("num_ln_in_parallel_attn") == 1
        return keys.flag("parallel_attn")
    if family.architecture == "stablelm":
        return keys.flag("use_parallel_residual")
    return family.norms_per_ffn == 0


def _ffn_norms(family: Family, feeding: tuple[FeedForward, ...]) -> int:
    """Gemma 4 puts three more norms around a mixture beside a dense network."""
    beside = any(f.kind == "moe" and f.width for f in feeding)
    return family.norms_per_ffn + (3 if beside else 0)


def _extras(keys: Keys, family: Family, hidden: int, layers: int) -> tuple[int, int, tuple[str, ...]]:
    """Tables that are looked up, dense weights of no other kind, and what was guessed."""
    tables = extra = 0
    if family.positions_extra is not None or (family.architecture == "mpt" and _learns_positions(keys)):
        tables = ((keys.whole(*LENGTH, most=LONGEST) or 0) + (family.positions_extra or 0)) * hidden
    extra += family.embedding_norms * hidden
    each = keys.whole("hidden_size_per_layer_input")
    if each:
        tables += (keys.whole("vocab_size_per_layer_input") or 0) * each * layers
        extra += layers * (2 * hidden * each + hidden) + hidden * layers * each + each
        if keys.whole("laurel_rank"):
            extra += _altup(keys, hidden, layers)
    return tables, extra, ()


def _learns_positions(keys: Keys) -> bool:
    inner = keys.part("attn_config")
    return not (inner is not None and (inner.flag("alibi") or inner.flag("rope"))) and keys.flag("learned_pos_emb", default=True)


def _altup(keys: Keys, hidden: int, layers: int) -> int:
    """Gemma 3n: alternating updates and a learned residual of low rank in each layer, projections around them all."""
    n, rank = keys.whole("altup_num_inputs") or 0, keys.whole("laurel_rank") or 0
    layer = n * n + hidden + hidden * n + n * n * n + hidden + 2 * hidden * rank + hidden
    return layers * layer + 2 * (n - 1) * hidden * hidden


def _with_draft_layers(model: Model, keys: Keys) -> Model:
    """Multi-token prediction: layers like the last one, with a matrix that joins two states and three norms."""
    count = keys.whole("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "mtp_num_layers") or 0
    if not count or count > model.layers or not model.ffns:
        return model
    mixer: Mixer = model.attention or model.mixers[-1]
    one = (*replace(mixer, layers=1, indexer_layers=min(1, mixer.indexer_layers), kv_shared_layers=0).tensors(model.hidden_size),)
    last = replace(model.ffns[-1], layers=1).tensors(model.hidden_size)
    each = sum(t.params for t in (*one, *last)) + 2 * model.hidden_size**2 + 5 * model.hidden_size
    return replace(model, mtp_layers=count, mtp_params=round(each * count))


def _mapping(file: Path, largest_bytes: float, *, needed: bool = True) -> dict[str, Any]:
    """The JSON object in a file, if it is one of a sane size."""
    try:
        if not needed and not file.is_file():
            return {}
        if file.exists() and not file.is_file():
            raise BadInput(f"{file}: is no ordinary file")
        if file.stat().st_size > largest_bytes:
            raise BadInput(f"{file}: {file.stat().st_size} bytes are too many for a {file.name}")
        raw = file.read_bytes()
        name, width = encoding_of(raw)
        text = raw.decode("utf-8-sig") if width == 1 else raw.decode(name).removeprefix("\ufeff")
    except OSError as error:
        raise BadInput(f"{file}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise BadInput(f"{file}: is no JSON: {str(error)[:200]}") from error
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file}: is no JSON: {why(text, error)}") from None
    if not isinstance(found, dict):
        raise BadInput(f"{file}: should hold one JSON object, as a Hugging Face config.json does")
    return found


def _total_bytes(index: Path) -> float | None:
    """Bytes of all weight files, from their index."""
    metadata = _mapping(index, LARGEST_INDEX_BYTES, needed=False).get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    return float(total) if isinstance(total, (int, float)) and not isinstance(total, bool) and total > 0 else None


def _name(file: Path, config: Mapping[str, Any]) -> str:
    """What to call it: its repository, its folder, or its file."""
    repo = config.get("_name_or_path")
    if isinstance(repo, str) and re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
        return repo.split("/")[1].lower()
    stem = file.name.removesuffix(".json").removesuffix("config").rstrip("._-")
    return (stem or file.absolute().parent.name or "config").lower()
