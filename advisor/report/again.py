"""The `advisor estimate` command that gives an estimate's numbers again: everything it assumed is said in it."""

from collections.abc import Sequence
from shlex import join

from advisor.need import Need
from advisor.speed import Estimate
from advisor.system import System, spec
from advisor.units import GIB


def again(given: Estimate, model: str | None = None, terms: Sequence[str] = ()) -> str:
    """The command; `model` are the words that named the model, where its id is none of the catalog's (a file).

    `terms` are those of `terms_words`.
    """
    work = given.workload
    words = ["advisor", "estimate", spec(given.system), "--model", model or given.model.id, "--quant", given.quant.id]
    words += ["--kv-quant", given.kv_quant] if given.kv_quant != "f16" else []
    words += ["--users", str(work.users)] if work.users != 1 else []
    words += ["--context", str(work.context_tokens), "--prompt", str(work.prompt_tokens), "--generate", str(work.generate_tokens)]
    return join([*words, *_surroundings(given.system), *terms])


def _surroundings(system: System) -> list[str]:
    """The computer around cards, its memory and its disk."""
    hosts = {box.host.id for box in system.boxes if box.host is not None}
    words = ["--host", *hosts] if len(hosts) == 1 else []
    words += ["--ram-gib", f"{system.ram_bytes / GIB:g}"] if system.ram_bytes is not None else []
    return [*words, "--storage", system.storage] if system.storage is not None else words


def terms_words(need: Need, overlays: Sequence[str] = ()) -> list[str]:
    """The prices, the running cost and the catalogs that a need was weighed with."""
    words = [word for thing, usd in need.prices_usd for word in ("--price", f"{thing}={usd:g}")]
    words += ["--electricity", f"{need.electricity_usd_per_kwh:g}"] if need.electricity_usd_per_kwh is not None else []
    words += ["--hours-per-day", f"{need.hours_per_day:g}"] if need.hours_per_day != Need.hours_per_day else []
    return words + [word for path in overlays for word in ("--catalog", path)]
