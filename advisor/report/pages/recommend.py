"""The page of `advisor recommend` and `ask`: verdict, the numbers that matter, why, what would change it, what it assumes."""

from advisor.advice import Recommendation, Road, Verdict
from advisor.answers import Recommended
from advisor.market import Cost
from advisor.report.page import Block, Chart, Dot, Facts, Listing, Page, Table, bare, dollars, sentences, shown
from advisor.report.pages.common import BASES, memory_bars, rate, seconds, setting, system_name, time_sentence, usable_bytes, used_bytes
from advisor.report.sentences import text
from advisor.report.sources import source_lines
from advisor.units import show

MARKS = {"chosen": "*", "passed-over": "", "impossible": "x"}
KIND_NAMES = {
    "keep": "keep",
    "change-settings": "change settings",
    "replicas": "replicas",
    "second-gpu": "second GPU",
    "nvlink-pair": "NVLink pair",
    "one-bigger-gpu": "one bigger GPU",
    "unified-memory-machine": "unified memory",
    "rdma-cluster": "RDMA cluster",
    "network-cluster": "network cluster",
    "multi-gpu-server": "multi-GPU server",
    "nothing-fits": "nothing fits",
}
MET = {True: "yes", False: "no", None: "–"}


def _numbers(verdict: Verdict) -> list[tuple[str, str]]:
    """Memory, speed and money of what is advised."""
    given, cost = verdict.estimate, verdict.cost
    if given is None:
        return []
    work, fit = given.workload, given.fit
    users = work.users or 1
    each = f" for each of {users} users" if users > 1 else ""
    first = f", first token after {seconds(given.first_token_s)}" if given.first_token_s else ""
    lines = [
        ("It fits" if fit.fits else "It does not fit", f"{show('x_bytes', used_bytes(fit))} of {show('x_bytes', usable_bytes(fit))} used"),
        ("It runs at", f"{rate(given.decode_per_user)}{each}{first}"),
        ("Time goes to", time_sentence(given)),
    ]
    if cost is not None:
        lines.append(("It costs", _costs(verdict, cost)))
    return [*lines, ("Runs as", setting(given))]


def _costs(verdict: Verdict, cost: Cost) -> str:
    running = cost.usd_per_million_tokens
    over_time = f"; {show('x_usd_per_million_tokens', running)}" if running is not None else ""
    return f"{shown('x_usd', verdict.spend_usd, 'an unknown price')} to buy, {shown('x_w', cost.power_w)} at work{over_time}"


def _road_row(road: Road) -> tuple[str, ...]:
    given = road.estimate
    speed = given.decode_per_user.value if given and given.decode_per_user else None
    because = sentences(road.because)
    return (
        MARKS[road.status],
        KIND_NAMES[road.kind],
        system_name(road.system) if road.system else "–",
        dollars(road.spend_usd),
        bare(speed),
        because[0] if because else "",
    )


def _roads(roads: tuple[Road, ...], title: str) -> Table:
    headers = ("", "Road", "System", "USD", "tok/s", "because")
    return Table(title, headers, tuple(_road_row(road) for road in roads), (None, 15, 16, None, None, 28), (3, 4))


def _chart(given: Recommendation) -> Chart:
    """Every road that has a speed and a price, with the budget and the wanted speed."""
    dots = tuple(
        Dot(KIND_NAMES[road.kind], road.spend_usd, speed.value, speed.low, speed.high, road.status == "chosen")
        for road in given.roads
        if road.estimate and (speed := road.estimate.decode_per_user) and road.spend_usd is not None
    )
    need = given.need
    budget = (need.budget_usd, "budget") if need.budget_usd is not None else None
    return Chart("Tokens/s against what is spent", dots, "spent, USD", "tokens/s", budget, (need.min_tokens_per_s, "wanted speed"))


def _conditions(given: Recommendation) -> Facts:
    """The three conditions for more devices to mean more speed."""
    lines = [(name.capitalize(), f"{MET[each.met]}: {text(each.text)}") for name, each in given.conditions.items()]
    return Facts(tuple(lines))


def _ladder(given: Recommendation) -> Table | None:
    if given.ladder is None:
        return None
    rows = []
    for rung in given.ladder:
        for road in rung.roads:
            _, kind, name, spend, speed, because = _road_row(road)
            rows.append((rung.label, kind, name, spend, speed, because))
    headers = ("Model", "Road", "System", "USD", "tok/s", "because")
    return Table("By size of model", headers, tuple(rows), (14, 15, 14, None, None, 18), (3, 4))


def _changes(given: Recommendation) -> list[Block]:
    """What would change the answer, and what to set."""
    blocks: list[Block] = []
    if given.flips:
        lines = tuple(f"{text(flip.when)}: {text(flip.then)}" for flip in given.flips)
        blocks.append(Listing("What would change this", lines))
    if given.settings:
        lines = tuple(text(each.text) + (f" {text(each.gain)}" if each.gain else "") for each in given.settings)
        blocks.append(Listing("Settings worth trying", lines))
        commands = tuple(dict.fromkeys(each.command for each in given.settings if each.command))
        if commands:
            blocks.append(Listing("Commands", commands, commands=True))
    return blocks


def _why(given: Recommendation) -> list[Block]:
    estimate = given.verdict.estimate
    if estimate is None:
        return []
    claims = (*estimate.fit.reasons, *estimate.placement.reasons, *estimate.reasons)
    blocks: list[Block] = [memory_bars(estimate.fit), Listing("Why this speed", sentences(claims)), *source_lines(estimate, claims)]
    return [*blocks, Listing("Measure it yourself", (estimate.verify,), commands=True)]


def _foot(given: Recommendation) -> tuple[tuple[str, str], ...]:
    estimate = given.verdict.estimate
    basis = f"; {BASES[estimate.evidence.basis]}" if estimate else ""
    assumed = " ".join(sentences(given.assumptions))
    return tuple(
        (label, line)
        for label, line in (
            ("How sure", f"{given.verdict.confidence}{basis}"),
            ("Assumed", assumed),
            ("Prices", f"as of {given.prices_as_of}" if given.prices_as_of else ""),
        )
        if line
    )


def page(answer: Recommended, why: bool) -> Page:
    """The answer as a knowledgeable friend gives it."""
    given = answer.recommendation
    first = text(given.verdict.answer)
    facts = _numbers(given.verdict)
    facts += [("Because", line) for line in _chosen_because(given)]
    if given.second_gpu:
        facts.append(("Second GPU?", f"{given.second_gpu.answer}: {text(given.second_gpu.text)}"))
    blocks: list[Block] = [Facts(tuple(facts))] if facts else []
    if answer.understood_as:
        blocks.insert(0, Facts((("Understood as", answer.understood_as), *(("Not understood", word) for word in answer.not_understood))))
    blocks.append(_roads(given.roads, "Roads (* chosen, x impossible)"))
    ladder = _ladder(given)
    blocks += [ladder] if ladder else []
    blocks.append(_chart(given))
    if given.conditions:
        blocks.append(_conditions(given))
    blocks += _changes(given)
    blocks += _why(given) if why else []
    blocks.append(Facts(_foot(given)))
    if given.warnings:
        blocks.append(Listing("Mind", sentences(given.warnings), aside=True))
    return Page(first, first.split(" ")[0].rstrip(":,"), tuple(blocks))


def _chosen_because(given: Recommendation) -> tuple[str, ...]:
    chosen = next((road for road in given.roads if road.status == "chosen"), None)
    return sentences(chosen.because)[:2] if chosen else ()
