"""A question in option words – from the command line, a batch line or Python – into records, and to the room that answers it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor import words
from advisor.errors import AdvisorError, BadValue, UnknownName
from advisor.need import Need, Workload

if TYPE_CHECKING:
    from advisor.advice import Recommendation
    from advisor.catalog import Catalog
    from advisor.market import Cost
    from advisor.model import Model
    from advisor.quant import Quant
    from advisor.scale import Scale
    from advisor.speed import Estimate
    from advisor.system import System

USUAL_CONTEXT_TOKENS = 8192
PREFERENCES = ("cheapest", "fastest")
WIDTHS = ("4bit", "8bit", "16bit")
LEAST_TOKENS_PER_S = 10.0

def _kinds() -> tuple[str, ...]:
    from advisor.advice import KINDS

    return KINDS


# How each option's words become a value; one table for flags and batch keys alike.
READERS: dict[str, Callable[[Any, str], Any]] = {
    "system": words.text,
    "systems": words.texts,
    "question": words.text,
    "max": words.count,
    "model": words.text,
    "quant": words.text,
    "kv_quant": words.text,
    "users": words.users,
    "context": words.tokens,
    "prompt": words.tokens_or_none,
    "generate": words.tokens,
    "min_tokens_per_s": words.zero_or_more,
    "max_first_token_s": words.above_zero,
    "catalog": words.texts,
    "price": words.prices,
    "host": words.text,
    "ram_gib": words.memory,
    "psu_w": words.above_zero,
    "storage": words.text,
    "electricity": words.zero_or_more,
    "hours_per_day": words.hours,
    "why": words.flag,
    "have": words.text,
    "budget": words.money,
    "prefer": lambda value, name: words.one_of(value, name, PREFERENCES),
    "consider": lambda value, name: tuple(words.one_of(kind, name, _kinds()) for kind in words.texts(value, name)),
    "new_only": words.flag,
    "sell_old": words.flag,
}
_WORK = tuple(READERS)[4:22]
_PURCHASE = ("have", "budget", "prefer", "consider", "new_only", "sell_old")
KEYS = {
    "estimate": ("system", *_WORK),
    "compare": ("systems", *_WORK),
    "scale": ("system", "max", *_WORK),
    "recommend": (*_WORK, *_PURCHASE),
    "ask": ("question", *_WORK, *_PURCHASE),
}
REQUIRED = {
    "estimate": ("system", "model"),
    "compare": ("systems", "model"),
    "scale": ("system", "max", "model"),
    "recommend": (),
    "ask": ("question",),
}
_ARGUMENTS = {"system": "SYSTEM", "systems": "SYSTEM", "question": "QUESTION"}


def option_name(key: str) -> str:
    """How a person writes the key: `--min-tokens-per-s`, or SYSTEM for an argument."""
    return _ARGUMENTS.get(key) or "--" + key.replace("_", "-")


@dataclass(frozen=True)
class Request:
    """One question: its command and its values, read but not yet looked up in the catalog. Absent = not stated."""

    command: str
    values: Mapping[str, Any]

    def get(self, key: str, default: Any = None) -> Any:
        """The stated value, or the default."""
        return self.values.get(key, default)


def read(command: str, raw: Mapping[str, Any]) -> Request:
    """Option words of one command into values; `None` and empty lists count as not stated."""
    keys = KEYS[command]
    values = {}
    for key, value in raw.items():
        if key not in keys:
            raise _unknown_key(key, command, keys)
        if value is not None and value != () and value != []:
            values[key] = READERS[key](value, option_name(key))
    for key in REQUIRED[command]:
        if key not in values:
            raise BadValue(f"{option_name(key)} is missing: `advisor {command}` needs it.")
    return Request(command, values)


def _unknown_key(key: str, command: str, keys: tuple[str, ...]) -> BadValue:
    from difflib import get_close_matches

    nearest = tuple(get_close_matches(str(key), keys, 3))
    hint = f"; did you mean {nearest[0]}?" if nearest else f"; it has {', '.join(keys)}."
    return BadValue(f"{words.shortened(key)} is not a key of {command}{hint}", nearest)


@lru_cache(maxsize=8)
def catalog_with(overlays: tuple[str, ...]) -> "Catalog":
    """The shipped catalog under these overlay files and folders, read once a process."""
    from advisor.catalog import Catalog

    return Catalog.load(tuple(Path(path) for path in overlays))


def catalog_of(request: Request) -> "Catalog":
    """The catalog that the request names."""
    return catalog_with(request.get("catalog", ()))


@lru_cache(maxsize=256)
def model_of(text: str, catalog: "Catalog") -> "Model":
    """The model that `text` names: a file, a catalog id or alias, or a size such as `70b`, `8x7b`, `30b-a3b`."""
    if text.lower().endswith(".gguf"):
        from advisor.intake import gguf_header

        return gguf_header.read(Path(text))
    if text.lower().endswith(".json") or os.path.isdir(text):
        from advisor.intake import hf_config

        return hf_config.read(Path(text))
    try:
        return catalog.model(text)
    except UnknownName:
        from advisor.intake import size_words

        found = size_words.model(text)
        if found is None:
            raise
        return found


@lru_cache(maxsize=256)
def _bound(text: str, host: str | None, ram_bytes: float | None, storage: str | None, catalog: "Catalog") -> "System":
    from advisor import choose

    return choose.bind(text, catalog, host=catalog.host(host) if host else None, ram_bytes=ram_bytes, storage=storage)


def system_of(text: str, request: Request, catalog: "Catalog") -> "System":
    """The SYSTEM words bound to the catalog's records, in the host that the options state."""
    return _bound(text, request.get("host"), request.get("ram_gib"), request.get("storage"), catalog)


def quant_of(request: Request, catalog: "Catalog") -> "Quant | str | None":
    """The stated quantization; a width (`4bit`) stays a word, since only an engine knows its usual format of that width."""
    word = request.get("quant")
    if word is None or word.lower() in WIDTHS:
        return word.lower() if word else None
    return catalog.quant(word)


def kv_quant_of(request: Request) -> str:
    """The stated type of the KV cache, or 16 bits."""
    word: str = request.get("kv_quant", "f16")
    return {"fp16": "f16"}.get(word.lower(), word.lower())


def workload_of(request: Request, most_context_tokens: int | None) -> Workload:
    """How much is asked at once. A context that was not stated is 8k, or what prompt and answer take, within the model's."""
    prompt, generate = request.get("prompt", 1024), request.get("generate", 256)
    least, stated = prompt + generate, request.get("context")
    if stated is not None and stated < least:
        raise BadValue(f"--context: {stated} tokens are fewer than prompt and answer take ({prompt} + {generate} = {least}).")
    usual = max(USUAL_CONTEXT_TOKENS, least)
    if most_context_tokens is not None:
        usual = min(usual, max(most_context_tokens, least))
    return Workload(
        users=request.get("users", 1),
        context_tokens=stated if stated is not None else usual,
        prompt_tokens=prompt,
        generate_tokens=generate,
    )


@dataclass(frozen=True)
class Estimated:
    """An estimate with what its system costs."""

    estimate: "Estimate"
    cost: "Cost"
    overlays: tuple[str, ...] = ()

    @property
    def positive(self) -> bool:
        """Whether the answer is yes: it fits."""
        return self.estimate.fit.fits


@dataclass(frozen=True)
class Refused:
    """A system of a comparison that cannot be estimated, and why."""

    system: str
    error: AdvisorError


@dataclass(frozen=True)
class Compared:
    """Several systems on the same work, in the order asked."""

    items: tuple[Estimated | Refused, ...]
    overlays: tuple[str, ...] = ()

    @property
    def positive(self) -> bool:
        """Whether one of them fits."""
        return any(isinstance(item, Estimated) and item.positive for item in self.items)


@dataclass(frozen=True)
class Scaled:
    """A system at 1, 2, … devices, with the cost of each."""

    scale: "Scale"
    costs: tuple["Cost | None", ...]
    overlays: tuple[str, ...] = ()

    @property
    def positive(self) -> bool:
        """Whether it fits at some count."""
        return any(point.estimate is not None and point.estimate.fit.fits for point in self.scale.points)


@dataclass(frozen=True)
class Recommended:
    """A recommendation; for `ask`, how the question was understood."""

    recommendation: "Recommendation"
    understood_as: str | None = None
    not_understood: tuple[str, ...] = ()
    other_systems: tuple[str, ...] = ()

    @property
    def overlays(self) -> tuple[str, ...]:
        """Files laid over the shipped catalog."""
        return self.recommendation.overlays

    @property
    def positive(self) -> bool:
        """Whether something meets the need."""
        return self.recommendation.verdict.meets_need


Answer = Estimated | Compared | Scaled | Recommended


def _estimated(text: str, request: Request, catalog: "Catalog") -> Estimated:
    from advisor import choose

    model = model_of(request.get("model"), catalog)
    system = system_of(text, request, catalog)
    workload = workload_of(request, model.max_context_tokens)
    best = choose.best(system, model, quant_of(request, catalog), kv_quant_of(request), workload, catalog)
    return Estimated(best, cost_of(best, request, catalog), catalog.overlays)


def cost_of(estimate: "Estimate", request: Request, catalog: "Catalog") -> "Cost":
    """What the estimated system costs on the request's terms."""
    from advisor import market

    speed = estimate.sustained or estimate.decode
    return market.cost(estimate.system, terms_of(request, catalog), tokens_per_s=speed.value if speed else None)


def terms_of(request: Request, catalog: "Catalog") -> Any:
    """The prices, conditions and running cost that the request states."""
    from advisor import market

    return market.Terms(
        catalog.money,
        new_only=request.get("new_only", False),
        overrides=_priced(request, catalog),
        electricity_usd_per_kwh=request.get("electricity"),
        hours_per_day=request.get("hours_per_day", 8.0),
    )


def _priced(request: Request, catalog: "Catalog") -> tuple[tuple[str, float], ...]:
    """The stated prices under the catalog's ids; a name that nothing has is an error."""
    return tuple((_priced_id(name, catalog), usd) for name, usd in request.get("price", ()))


def _priced_id(name: str, catalog: "Catalog") -> str:
    errors = []
    for find in (catalog.device, catalog.host, catalog.link):
        try:
            return find(name).id
        except AdvisorError as error:
            errors.append(error)
    raise errors[0]


def _compared(request: Request, catalog: "Catalog") -> Compared:
    items: list[Estimated | Refused] = []
    for text in request.get("systems"):
        try:
            items.append(_estimated(text, request, catalog))
        except AdvisorError as error:
            if error.code != "unsupported":
                raise
            items.append(Refused(text, error))
    return Compared(tuple(items), catalog.overlays)


def _scaled(request: Request, catalog: "Catalog") -> Scaled:
    from advisor import scale

    model = model_of(request.get("model"), catalog)
    system = system_of(request.get("system"), request, catalog)
    workload = workload_of(request, model.max_context_tokens)
    found = scale.scale(system, request.get("max"), model, quant_of(request, catalog), kv_quant_of(request), workload, catalog)
    costs = tuple(cost_of(point.estimate, request, catalog) if point.estimate else None for point in found.points)
    return Scaled(found, costs, catalog.overlays)


def need_of(request: Request, catalog: "Catalog", model: "Model | None") -> Need:
    """The buyer's wishes."""
    quant = quant_of(request, catalog)
    return Need(
        workload=workload_of(request, model.max_context_tokens if model else None),
        model=model.id if model else None,
        quant=quant if quant is None or isinstance(quant, str) else quant.id,
        kv_quant=kv_quant_of(request) if request.get("kv_quant") else None,
        min_tokens_per_s=request.get("min_tokens_per_s", LEAST_TOKENS_PER_S),
        max_first_token_s=request.get("max_first_token_s"),
        budget_usd=request.get("budget"),
        prefer=request.get("prefer", PREFERENCES[0]),
        consider=request.get("consider", ()),
        new_only=request.get("new_only", False),
        sell_old=request.get("sell_old", False),
        electricity_usd_per_kwh=request.get("electricity"),
        hours_per_day=request.get("hours_per_day", 8.0),
        prices_usd=_priced(request, catalog),
        host=request.get("host"),
        ram_bytes=request.get("ram_gib"),
        psu_w=request.get("psu_w"),
        storage=request.get("storage"),
        context_stated=request.get("context") is not None,
    )


def _have_words(request: Request, catalog: "Catalog") -> str | None:
    """The SYSTEM words of what is owned; `auto` looks at this machine."""
    have: str | None = request.get("have")
    if have is None or have.lower() != "auto":
        return have
    from advisor.intake import detect

    return detect.system_words(catalog)


def _recommended(request: Request, catalog: "Catalog", others: tuple[str, ...] = ()) -> "Recommendation":
    from advisor.advice.recommend import recommend as advise

    have_words = _have_words(request, catalog)
    if have_words is None and request.get("model") is None:
        raise BadValue("--model is missing: name a model, or say with --have what you own to see what it can run.")
    model = model_of(request.get("model"), catalog) if request.get("model") else None
    return advise(
        need_of(request, catalog, model),
        system_of(have_words, request, catalog) if have_words else None,
        catalog,
        have_words=have_words,
        model=model,
        others=tuple(system_of(text, request, catalog) for text in others),
    )


def _asked(request: Request, catalog: "Catalog") -> Recommended:
    """Options stated beside the question win over its text."""
    from dataclasses import replace

    from advisor.intake.question import understand

    understood = understand(request.get("question"), catalog)
    stated = {key: value for key, value in request.values.items() if key != "question"}
    meant = read("recommend", understood.words)
    given = _recommended(Request("recommend", {**meant.values, **stated}), catalog, understood.systems)
    with_notes = replace(given, assumptions=(*understood.assumptions, *given.assumptions))
    return Recommended(with_notes, understood.command_line, understood.not_understood, understood.systems)


def answer(request: Request) -> Answer:
    """The answer to a request; errors of what the user gave are raised."""
    catalog = catalog_of(request)
    if request.command == "estimate":
        return _estimated(request.get("system"), request, catalog)
    if request.command == "compare":
        return _compared(request, catalog)
    if request.command == "scale":
        return _scaled(request, catalog)
    return _asked(request, catalog) if request.command == "ask" else Recommended(_recommended(request, catalog))


def _with_catalog(request: Request, catalog: "Catalog | None") -> "Catalog":
    return catalog if catalog is not None else catalog_of(request)


def estimate(system: str, *, catalog: "Catalog | None" = None, **options: Any) -> "Estimate":
    """Does it fit, and how fast is it? Options are those of `advisor estimate` with `_`: `model="70b", users=4`."""
    request = read("estimate", {"system": system, **options})
    return _estimated(system, request, _with_catalog(request, catalog)).estimate


def recommend(*, catalog: "Catalog | None" = None, **options: Any) -> "Recommendation":
    """What to buy, or whether to keep what is owned: `recommend(have="rtx-3090", model="llama-3.3-70b", budget=3000)`."""
    request = read("recommend", options)
    return _recommended(request, _with_catalog(request, catalog))
