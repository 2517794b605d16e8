"""What a config.json leaves unsaid, by `model_type`: one file, `catalog/config_habits.yaml`."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from advisor.errors import BadInput
from advisor.price import Source
from advisor.record import dataclass
from advisor.yamlfile import given

if TYPE_CHECKING:
    from advisor.catalog import Catalog

Numbers = Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Family:
    """Habits of a `model_type`, and values of keys that its configuration class fills in."""

    architecture: str = given(default="llama")  # llama.cpp's word
    moe_architecture: str | None = given(default=None)  # … with experts
    tied: bool = given(default=False)
    qkv_bias: bool = given(default=False)
    o_bias: bool | None = given(default=None)  # null = as the bias key says
    mlp_bias: bool = given(default=False)
    head_bias: bool = given(default=False)
    gated: bool = given(default=True)
    qk_norm: str = given(default="none", one_of=("none", "head", "full", "per-head"))
    norms_per_mixer: int = given(default=1, least=0)
    norms_per_ffn: int = given(default=1, least=0)
    norm_bias: bool = given(default=False)
    norm_weights: bool = given(default=True)
    fused_qkv: bool = given(default=False)
    fused_gate: bool = given(default=False)
    positions_extra: int | None = given(default=None)  # learned positions: so many more than the longest context; null = none
    embedding_norms: int = given(default=0, least=0)  # norm vectors (weight and bias each one) on the embedding
    window: str = given(default="none", one_of=("none", "all", "from-max-window-layers", "alternate", "pattern"))
    window_every: int = given(default=0, least=0)  # pattern: each n-th layer attends in full
    output_gate: str = given(default="none", one_of=("none", "channel", "head"))
    shared_gate: bool = given(default=False)
    router_bias: bool = given(default=False)
    expert_bias: bool = given(default=False)
    sinks: bool = given(default=False)
    inner_norms: bool = given(default=True)  # Mamba: norms within
    values: Numbers | None = given(default=None)  # 1 = true


@dataclass(frozen=True, kw_only=True, eq=False)
class Habits:
    """How the `model_type` of a config.json is read, and what its configuration classes fill in."""

    families: Mapping[str, Family] = given()
    spellings: Mapping[str, str] = given()  # other model_types, and the family each is read as
    text_parts: Mapping[str, Numbers] = given()  # of a part inside of a wrapper, which `save_pretrained` leaves out where usual
    towers: Mapping[str, Numbers] = given()  # by a word in the model_type of the tower
    gguf: Mapping[str, str] = given()  # llama.cpp's word for an architecture, and the model_type it is read as; others are alike
    refused: Mapping[str, str] = given()  # model_types that cannot be estimated, and why
    refused_words: Mapping[str, str] = given()  # in model_types that no family reads
    refused_architectures: Mapping[str, str] = given()  # ends of the names of classes that no family reads
    usual: Numbers = given()  # of layers, where neither the file nor its class says it
    quant_methods: Mapping[str, str] = given()  # words of quantization_config that mean one quant of the catalog
    sources: tuple[Source, ...] = given()

    def family(self, model_type: str | None) -> Family | None:
        """The habits of this `model_type`; None where nobody told them."""
        if model_type is None:
            return None
        bare = re.sub(r"_text(?:_model)?$", "", model_type)
        return self.families.get(self.spellings.get(model_type, model_type)) or self.families.get(self.spellings.get(bare, bare))

    def named(self, word: str) -> str | None:
        """The model_type that a class is named after: `Qwen3MoeForCausalLM` is of qwen3_moe."""
        return next((each for each in (*self.families, *self.spellings) if _letters(each) == _letters(word)), None)

    def text_part(self, model_type: str | None) -> Numbers:
        """Values that a nested part leaves to its class."""
        word = model_type or "llama"
        return self.text_parts.get(word) or self.text_parts.get(self.spellings.get(word, word)) or {}

    def tower(self, kind: str) -> Numbers | None:
        """What the class of this tower fills in."""
        return next((each for word, each in self.towers.items() if word in kind), None)

    def must_read(self, model_type: str | None, architectures: Sequence[Any], where: str) -> None:
        """Refuses what is known to be no model that can be estimated: by its model_type, or by what its class is for."""
        why = self.refused.get(model_type or "")
        if why is None and self.family(model_type) is None:
            parts = [(model_type or "").lower(), *re.split(r"[\W_]+", (model_type or "").lower())]
            bears = (
                each for word, each in self.refused_words.items() if any(part.startswith(word) or part.endswith(word) for part in parts)
            )
            why = next(bears, None)
        if why is not None:
            raise BadInput(f"{where}: model_type {model_type!r} {why}; advisor estimates decoder-only language models")
        for name in map(str, architectures if self.family(model_type) is None else ()):
            why = next((each for end, each in self.refused_architectures.items() if name.endswith(end)), None)
            if why is not None:
                raise BadInput(f"{where}: {name[:100]} {why}; advisor estimates decoder-only language models")


def _letters(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())


def habits_of(catalog: "Catalog | None") -> Habits:
    """The habits that a catalog tells; without one the shipped catalog's."""
    return _shipped() if catalog is None else catalog.config_habits


@lru_cache(maxsize=1)
def _shipped() -> Habits:
    from advisor.catalog import Catalog

    return Catalog.load(user_folder=False).config_habits
