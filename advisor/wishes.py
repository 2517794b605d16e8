"""A request's values bound to the catalog's records: model, system, work, need, terms."""

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from advisor.errors import AdvisorError, AmbiguousName, BadInput, BadValue, UnknownName
from advisor.need import USUAL_GENERATE_TOKENS, USUAL_HOURS_PER_DAY, USUAL_PROMPT_TOKENS, USUAL_TOKENS_PER_S, Need, Workload
from advisor.reason import Fact, Reason
from advisor.request import PREFERENCES, Request

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.catalog import Catalog
    from advisor.catalogfolder import Where
    from advisor.host import Host
    from advisor.market import Terms
    from advisor.model import Model
    from advisor.quant import Quant
    from advisor.system import System

USUAL_CONTEXT_TOKENS = 8192
WIDTHS = ("4bit", "8bit", "16bit")
MOST_MODELS, MOST_SYSTEMS, MOST_TERMS = 256, 4096, 16  # bound for one catalog, that are kept with it


def catalog_with(overlays: tuple[str, ...]) -> "Catalog":
    """The shipped catalog under these overlay files and folders, read once a process."""
    from advisor import catalog

    return _laid(overlays, catalog.shipped())


@lru_cache(maxsize=8)
def _laid(overlays: tuple[str, ...], shipped: "Where") -> "Catalog":
    from advisor.catalog import Catalog

    return Catalog.load(overlays, root=shipped)


def catalog_of(request: Request) -> "Catalog":
    """The catalog that the request names."""
    return catalog_with(request.get("catalog", ()))


def _model_in(path: "Path", catalog: "Catalog") -> "Model":
    """The model that a file or folder describes."""
    from advisor.intake import gguf_header, hf_config

    gguf = path if path.suffix.lower() == ".gguf" else gguf_header.in_folder(path) if path.is_dir() else None
    return gguf_header.read(gguf, catalog) if gguf else hf_config.read(path, catalog)


def model_of(text: str, catalog: "Catalog") -> "Model":
    """The model that `text` names: a file, a catalog id or alias, or a size such as `70b`, `8x7b`, `30b-a3b`."""
    return catalog.once("models by name", MOST_MODELS, text, lambda: _named(text, catalog))


def _named(text: str, catalog: "Catalog") -> "Model":
    if text.lower().endswith((".gguf", ".json")) or os.path.isdir(text):
        from pathlib import Path

        return _model_in(Path(text), catalog)
    try:
        return catalog.model(text)
    except (UnknownName, AmbiguousName):
        from advisor.intake import size_words

        found = size_words.model(text, catalog.typical_sizes)
        if found is None:
            raise
        return found


def system_of(text: str, request: Request, catalog: "Catalog", *, owned: bool = False, grows: bool = False) -> "System":
    """The SYSTEM words bound to the catalog's records, in the host that the options state."""
    host, ram_bytes, storage = request.get("host"), request.get("ram_gib"), request.get("storage")

    def bound() -> "System":
        from advisor.bind import bind

        return bind(
            text,
            catalog,
            host=catalog.host(host) if host else None,
            ram_bytes=ram_bytes,
            storage=catalog.storage(storage).id if storage else None,
            smallest_memory=owned,
            grows=grows,
        )

    return catalog.once("systems by name", MOST_SYSTEMS, (text, host, ram_bytes, storage, owned, grows), bound)


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
    prompt, generate = request.get("prompt", USUAL_PROMPT_TOKENS), request.get("generate", USUAL_GENERATE_TOKENS)
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


def terms_of(request: Request, catalog: "Catalog") -> "Terms":
    """The prices, conditions and running cost that the request states."""
    stated: dict[str, Any] = {
        "new_only": request.get("new_only", False),
        "overrides": _priced(request, catalog),
        "electricity_usd_per_kwh": request.get("electricity"),
        "hours_per_day": request.get("hours_per_day", USUAL_HOURS_PER_DAY),
        "supply_w": request.get("psu_w"),
    }

    def terms() -> "Terms":
        from advisor.market import Terms

        return Terms(catalog.money, **stated)

    return catalog.once("terms", MOST_TERMS, tuple(stated.values()), terms)


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


def need_of(request: Request, catalog: "Catalog", model: "Model | None") -> Need:
    """The buyer's wishes."""
    quant = quant_of(request, catalog)
    return Need(
        workload=workload_of(request, model.max_context_tokens if model else None),
        model=model.id if model else None,
        quant=quant if quant is None or isinstance(quant, str) else quant.id,
        kv_quant=kv_quant_of(request) if request.get("kv_quant") else None,
        min_tokens_per_s=request.get("min_tokens_per_s", USUAL_TOKENS_PER_S),
        floor_stated=request.get("min_tokens_per_s") is not None,
        max_first_token_s=request.get("max_first_token_s"),
        budget_usd=converted[0] if (converted := budget_of(request, catalog)) else request.get("budget"),
        prefer=request.get("prefer", PREFERENCES[0]),
        consider=request.get("consider", ()),
        new_only=request.get("new_only", False),
        sell_old=request.get("sell_old", False),
        electricity_usd_per_kwh=request.get("electricity"),
        hours_per_day=request.get("hours_per_day", USUAL_HOURS_PER_DAY),
        prices_usd=_priced(request, catalog),
        host=own.id if (own := own_computer(request, catalog)) else request.get("host"),
        host_owned=own is not None,
        ram_bytes=request.get("ram_gib"),
        psu_w=request.get("psu_w"),
        storage=request.get("storage"),
        context_stated=request.get("context") is not None,
    )


def budget_of(request: Request, catalog: "Catalog") -> tuple[float, Reason] | None:
    """A budget of another currency in dollars, with what is said of that; None where dollars or nothing is stated."""
    stated = request.get("budget")
    if stated is None or isinstance(stated, float):
        return None
    found = catalog.money.in_usd(stated)
    if found is None:
        raise BadValue(f"--budget: there is no rate for {stated.currency} in the catalog: say it in US dollars.")
    return found


def beyond_model(request: Request, model: "Model") -> tuple[Reason, ...]:
    """The warning that a context, stated or what prompt and answer take, is longer than the model was made for."""
    needed = workload_of(request, model.max_context_tokens).context_tokens
    if model.max_context_tokens is None or needed <= model.max_context_tokens:
        return ()
    facts: dict[str, Fact] = {"context_tokens": needed, "max_context_tokens": model.max_context_tokens, "model": model.name}
    return (Reason("context.beyond-model", facts),)


def assumed_of(model: "Model") -> tuple[Reason, ...]:
    """What was taken as usual where a file or a size left the model open."""
    return tuple(Reason("model.assumed", {"what": each}) for each in model.assumed)


def own_computer(request: Request, catalog: "Catalog") -> "Host | None":
    """The computer that `--have` names, where it names one without cards: its price is not on the bill."""
    named = catalog.bearing("hosts", request.get("have") or "")
    if len(named) != 1:
        return None
    host = catalog.host(named[0])
    stated = request.get("host")
    if stated is not None and catalog.host(stated) is not host:
        raise BadValue(f"--have: the computer {host.id} is another than that of --host, {stated}: name one of them.")
    return host


def have_words_of(request: Request, catalog: "Catalog") -> str | None:
    """The SYSTEM words of what is owned; `auto` looks at this machine."""
    have: str | None = request.get("have")
    if have is None or have.lower() != "auto":
        return have
    from advisor.intake.detect import this_machine

    found = this_machine(catalog)
    if found.system is None:
        said = found.warnings[0] if found.warnings else "no device that computes was found."
        raise BadInput(f"--have auto: {said} Name what you own in SYSTEM words instead, such as --have rtx-3090.")
    return found.system
