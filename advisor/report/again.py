"""The `advisor estimate` command that gives an estimate's numbers again: everything it assumed is said in it."""

from collections.abc import Sequence

from advisor.answers import Recommended
from advisor.record import dataclass
from advisor.request import Request, option_name
from advisor.speed import Estimate
from advisor.system import System, spec
from advisor.units import GIB


@dataclass(frozen=True)
class Said:
    """What a command says beside the system and the work: the words for the model, prices, running cost and catalogs."""

    model: str | None = None  # as the user named it; None: the estimate's own id
    terms: tuple[str, ...] = ()
    supply_w: float | None = None
    supply_in: str | None = None  # the computer whose supply that is; None: whichever is around the cards


NOTHING = Said()


def again(given: Estimate, stated: Said = NOTHING) -> str:
    """The command."""
    work = given.workload
    words = ["advisor", "estimate", spec(given.system), "--model", stated.model or given.model.id, "--quant", given.quant.id]
    words += ["--kv-quant", given.kv_quant] if given.kv_quant != "f16" else []
    words += ["--users", str(work.users)] if work.users != 1 else []
    words += ["--context", str(work.context_tokens), "--prompt", str(work.prompt_tokens), "--generate", str(work.generate_tokens)]
    from shlex import join  # late: most pages show no command

    return join([*words, *_surroundings(given.system, stated), *stated.terms])


def _surroundings(system: System, stated: Said) -> list[str]:
    """The computer around cards, its power supply, its memory and its disk."""
    hosts = {box.host.id for box in system.boxes if box.host is not None}
    words = ["--host", *hosts] if len(hosts) == 1 else []
    if stated.supply_w is not None and hosts and (stated.supply_in is None or hosts == {stated.supply_in}):
        words += ["--psu-w", f"{stated.supply_w:.12g}"]
    words += ["--ram-gib", f"{system.ram_bytes / GIB:g}"] if system.ram_bytes is not None else []
    return [*words, "--storage", system.storage] if system.storage is not None else words


def said(request: Request | None, overlays: Sequence[str] = (), supply_in: str | None = None) -> Said:
    """What the request said of them, for the command that gives the numbers again; `supply_in`: the buyer's own computer."""
    stated = request or Request("recommend", {})
    words = [word for thing, usd in stated.get("price", ()) for word in ("--price", f"{thing}={usd:.12g}")]
    for key in ("electricity", "hours_per_day"):
        words += [option_name(key), f"{stated.get(key):.12g}"] if stated.get(key) is not None else []
    words += [word for path in overlays for word in ("--catalog", path)]
    return Said(stated.get("model"), tuple(words), stated.get("psu_w"), supply_in)


def said_of(answer: Recommended) -> Said:
    """The same of advice: a stated power supply is that of the buyer's own computer."""
    need, have = answer.recommendation.need, answer.recommendation.have
    own = have.boxes[0].host if have and not have.groups[0].device.is_box else None
    return said(answer.request, answer.overlays, own.id if own else need.host or "")
