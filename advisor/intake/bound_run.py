"""A printed run bound to the catalog's records: the system, the model and the quantization that were measured, as far as they are known."""

import re
from functools import cached_property

from advisor import choose, system
from advisor.catalog import Catalog
from advisor.errors import AdvisorError
from advisor.intake import detect, loads, quant_words
from advisor.intake.page import Page
from advisor.intake.readings import maker_of
from advisor.intake.run import Run
from advisor.intake.seen import Seen, View
from advisor.model import Model
from advisor.quant import Quant
from advisor.reason import Reason
from advisor.record import dataclass, field
from advisor.system import System

SERVERS = ("vllm", "sglang", "tensorrt-llm")
ROUNDED = 1e-4  # twins differ by less
SAME_NAME = 0.25  # … where the name is the same: counts differ in towers and copied embeddings
SAME_PARAMS = 0.015  # a file's count of parameters and the catalog's differ by less


@dataclass(frozen=True)
class Stated:
    """What the user says where the file does not."""

    system: str | None = None
    model: Model | None = None
    quant: str | None = None


@dataclass(frozen=True)
class Bound:
    """The records of a run; `why` names the first thing that is missing."""

    run: Run
    system: System | None = None
    words: str | None = None
    model: Model | None = None
    quant: Quant | None = None
    why: Reason | None = None


@dataclass
class Binder:
    """Binds the runs of one page; equal questions are looked up once."""

    page: Page
    catalog: Catalog
    stated: Stated
    _systems: dict[object, tuple[System | None, str | None, Reason | None]] = field(default_factory=dict)
    _models: dict[object, Model | None] = field(default_factory=dict)

    @cached_property
    def _load(self) -> loads.Load | None:
        """What a load log on the page says."""
        return loads.read(self.page)

    def bind(self, run: Run) -> Bound:
        """The records of one run."""
        words, model = self._system(run), self._model(run)
        quant = self._quant(run, model)
        missing = words[2] or (Reason("calibrate.model", {"printed": _printed(run)}) if model is None else None)
        missing = missing or (Reason("calibrate.quant", {"printed": run.quant or "none"}) if quant is None else None)
        return Bound(run, words[0], words[1], model, quant, missing)

    def _system(self, run: Run) -> tuple[System | None, str | None, Reason | None]:
        key = (run.devices, run.memory_bytes, run.count, run.elsewhere, run.engine, run.backend, run.strategy, run.offload)
        if key not in self._systems:
            self._systems[key] = self._found_system(run)
        return self._systems[key]

    def _found_system(self, run: Run) -> tuple[System | None, str | None, Reason | None]:
        """The System of a run, its words, and why there is none."""
        words = self.stated.system
        if words is None:
            if run.elsewhere:
                return None, None, Reason("calibrate.elsewhere")
            words = self._detected(run)
        if words is None:
            return None, None, Reason("calibrate.system")
        try:
            bound = choose.bind(_with_software(words, run), self.catalog)
        except AdvisorError as error:
            if self.stated.system is not None:
                raise
            return None, words, Reason("calibrate.unbound", {"words": words, "error": error.message})
        return bound, system.spec(bound), None

    def _detected(self, run: Run) -> str | None:
        """SYSTEM words of the devices printed with the run or elsewhere on the page."""
        views = list(detect.views_of(self.page))
        if run.devices:
            devices = tuple(
                Seen(name=name, index=place, maker=maker_of(name), memory_bytes=run.memory_bytes) for place, name in enumerate(run.devices)
            )
            views = [View(tool="benchmark", devices=devices), *(view for view in views if not view.devices)]
            views += [
                View(tool=view.tool, cpu=view.cpu, ram_bytes=view.ram_bytes)
                for view in detect.views_of(self.page)
                if view.cpu or view.ram_bytes
            ]
        words = detect.known_of(views, self.catalog).system
        if words is None or run.count is None:
            return words
        bare = re.sub(r"^\d+x ", "", words)
        alone = " + " not in words and " via " not in words
        return f"{run.count}x {bare}" if alone and run.count > 1 else (bare if alone else words)

    def _model(self, run: Run) -> Model | None:
        if self.stated.model is not None:
            return self.stated.model
        key = (run.file, run.model, run.params)
        if key not in self._models:
            self._models[key] = _model_of(run, self.catalog) or self._loaded_model()
        return self._models[key]

    def _loaded_model(self) -> Model | None:
        """The model that a load log on the page names."""
        load = self._load
        named = (
            Run(tool="", test="", kind="decode", tokens_per_s=None, model=load.model, file=load.file, params=load.params) if load else None
        )
        return _model_of(named, self.catalog) if named else None

    def _quant(self, run: Run, model: Model | None) -> Quant | None:
        """As stated, as printed, as the file or repository is named, as the log says; a server's model without any is as published."""
        word = self.stated.quant or run.quant or quant_words.of_file(run.file) or quant_words.of_file(run.model)
        if word is None and model is not None and run.engine in SERVERS:
            word = model.native_quant
        if word is None:
            word = self._load.quant if self._load else None
        for text in (word, f"mlx-{word}" if word and run.engine == "mlx" else None):
            found = self.catalog.bearing("quants", text) if text else ()
            if len(found) == 1:
                return self.catalog.quants[found[0]]
        return None


def _printed(run: Run) -> str:
    """The model as printed."""
    return run.file or run.model or "none"


def _with_software(words: str, run: Run) -> str:
    """SYSTEM words with the strategy and the engine that were printed, where they say none."""
    said = system.parse(words)
    several = any(getattr(member, "count", 1) > 1 for member in said.members) or len(said.members) > 1
    if said.strategy is None and run.offload:
        words += " as offload"
    elif said.strategy is None and several and run.engine and run.strategy not in (None, "whole"):
        words += f" as {run.strategy}"
    elif said.strategy is None and several and run.engine:
        words += " as layers" if run.engine in ("llama.cpp", "exo") else (" as tensor" if run.engine != "mlx" else "")
    if said.engine is None and run.engine:
        words += f" on {run.engine}" + (f"/{run.backend}" if run.backend else "")
    return words


def _model_of(run: Run, catalog: Catalog) -> Model | None:
    """The model by its file's or repository's name, else by llama.cpp's type word and the count of parameters."""
    for text in (run.file, run.model, quant_words.model_of(run.file), quant_words.model_of(run.model)):
        for each in _shorter(text):
            for found in catalog.bearing("models", each)[:1]:
                if run.params is None or _apart(catalog.models[found], run.params) < SAME_NAME:
                    return catalog.models[found]
    return _by_shape(run, catalog)


def _shorter(text: str | None) -> list[str]:
    """A name, without its publisher's underscore, and without words behind the size: `Qwen3.5-27B-Anko` is a 27B's shape."""
    if not text:
        return []
    plain = re.split(r"[/\\]", text)[-1]
    rest = plain.split("_", 1)[1] if "_" in plain else plain
    sized = [
        found.group(0)
        for found in (re.match(r"^.*?\d+(?:\.\d+)?[Bb](?:-A\d+(?:\.\d+)?[Bb])?(?![a-zA-Z0-9])", name) for name in (plain, rest))
        if found
    ]
    return list(dict.fromkeys([text, plain, rest, *sized]))


def _apart(model: Model, params: float) -> float:
    """How far a printed count of parameters is from this model's, as a share: with or without towers and draft layers."""
    counts = (model.decoder_params, model.params, model.decoder_params + model.mtp_params)
    return min((abs(own / params - 1) for own in counts if own), default=1.0)


def _by_shape(run: Run, catalog: Catalog) -> Model | None:
    """The model of that architecture and size; several of one shape are one for every estimate."""
    if run.params is None or not run.model:
        return None
    word = run.model.split()[0].lower()
    kin = [(_apart(model, run.params), model) for model in catalog.models.values() if model.architecture.lower() == word]
    nearest = min((apart for apart, _ in kin), default=1.0)
    fitting = [model for apart, model in kin if apart < SAME_PARAMS and apart <= nearest + ROUNDED]
    shapes = {_shape(model) for model in fitting}
    # of twins the one that bears the word, and the longest context: it takes every depth that was measured
    twins = sorted(fitting, key=lambda model: (not model.id.startswith(word), -(model.max_context_tokens or 0), len(model.id), model.id))
    return twins[0] if len(shapes) == 1 else None


def _shape(model: Model) -> tuple[object, ...]:
    """What makes two models equal for every estimate of speed."""
    attention = tuple((mixer.kind, mixer.layers, mixer.heads, mixer.kv_heads, mixer.head_dim) for mixer in model.mixers)
    return model.layers, model.hidden_size, attention, tuple((each.kind, each.layers, each.width, each.experts) for each in model.ffns)
