"""What a question asks of more memory in the computer: does the model run then, how fast, for how much, and beside what else."""

from typing import TYPE_CHECKING, NamedTuple

from advisor.asked import GAIN_SEEN, line, try_out
from advisor.intake.question_asks import Variant
from advisor.memorykit import kit
from advisor.reason import Fact, Reason
from advisor.units import GIB
from advisor.wishes import system_of

if TYPE_CHECKING:
    from advisor.advice import Recommendation
    from advisor.asked import Tried
    from advisor.catalog import Catalog
    from advisor.host import Host
    from advisor.intake.question import Understood
    from advisor.request import Request

DOUBLED = 2  # where nobody says how much is to be bought


class _Ram(NamedTuple):
    """A computer's memory, bytes: what is there, and what is thought of."""

    own_bytes: float
    wanted_bytes: float


def ram_lines(understood: "Understood", request: "Request", given: "Recommendation", catalog: "Catalog") -> tuple[Reason, ...]:
    """Today's memory and the wanted one side by side, its price, and what else the text names."""
    have = request.get("have")
    if not understood.ram.asked or have is None or have in catalog.hosts:
        return ()
    host = system_of(have, request, catalog, owned=True).boxes[0].host
    if host is None:
        return (Reason("asked.ram-soldered", {"system": have}),)
    ram = _sizes(understood, request, host)
    usual = given.verdict.estimate.model.id if given.verdict.estimate else given.need.model
    priced = _price(host, ram, catalog)
    if request.get("model") is None or ram.wanted_bytes <= ram.own_bytes:
        return priced
    then = _held(have, ram.wanted_bytes, request, usual, catalog)
    now = try_out(Variant("", quant=_quant(then), ram_bytes=ram.own_bytes), have, request, usual, catalog)
    rivals = (line(try_out(Variant(words), words, request, usual, catalog)) for words in understood.told_too)
    return (_gain(have, ram, now, then), *priced, *rivals)


def _sizes(understood: "Understood", request: "Request", host: "Host") -> _Ram:
    own = request.get("ram_gib") or host.memory_bytes
    asked = understood.ram
    wanted = asked.wanted_gib * GIB if asked.wanted_gib else own + asked.more_gib * GIB if asked.more_gib else DOUBLED * own
    return _Ram(own, wanted)


def _held(have: str, ram_bytes: float, request: "Request", usual: str | None, catalog: "Catalog") -> "Tried":
    """The model with so much memory, in the first format that fits; in the usual one where none does."""
    smaller = [each.quant for each in catalog.hints.lower_quants] if request.get("quant") is None else []
    formats = (None, *smaller)
    found = [try_out(Variant("", quant=each, ram_bytes=ram_bytes), have, request, usual, catalog) for each in formats]
    return next((each for each in found if each.speed), found[0])


def _quant(tried: "Tried") -> str | None:
    return tried.estimate.quant.id if tried.estimate and tried.speed else None


def _gain(have: str, ram: _Ram, now: "Tried", then: "Tried") -> Reason:
    """What the memory changes: it holds the model then, runs it faster, or neither."""
    if then.estimate is None:
        return line(then)
    facts: dict[str, Fact] = {"system": have, "ram_bytes": ram.wanted_bytes, "own_bytes": ram.own_bytes, "model": then.estimate.model.id}
    facts |= {"quant": then.estimate.quant.id, "per_user_tokens_per_s": then.speed, "now_tokens_per_s": now.speed}
    if not then.speed:
        return Reason("asked.ram-short", facts)
    if not now.speed:
        return Reason("asked.ram-holds", facts)
    factor = then.speed / now.speed
    return Reason("asked.ram-faster" if factor >= GAIN_SEEN else "asked.ram-same", {**facts, "speed_factor": factor})


def _price(host: "Host", ram: _Ram, catalog: "Catalog") -> tuple[Reason, ...]:
    """What so much memory costs as a new kit; and where the board takes no more."""
    bought = kit(host, ram.wanted_bytes, catalog.money)
    if bought is None or bought.usd is None:
        return ()
    facts: dict[str, Fact] = {"ram_bytes": ram.wanted_bytes, "name": bought.name, "spend_usd": bought.usd * bought.count, "host": host.name}
    facts["most_bytes"] = host.memory_most_bytes
    beyond = host.memory_most_bytes is not None and ram.wanted_bytes > host.memory_most_bytes
    return (Reason("asked.ram-beyond" if beyond else "asked.ram-costs", facts),)
