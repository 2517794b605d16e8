"""The page of `advisor estimate`."""

from advisor.answers import Estimated
from advisor.market import Cost, price_dates
from advisor.report.page import Block, Facts, Listing, Page, sentences, shown
from advisor.report.pages.common import (
    assumed_lines,
    basis_words,
    bill_words,
    memory_bars,
    nearest_words,
    rate,
    seconds,
    setting,
    short_of,
    system_name,
    time_sentence,
    used_words,
)
from advisor.report.sentences import text
from advisor.report.sources import source_lines
from advisor.speed import Alone, Estimate
from advisor.units import figure, show


def headline(given: Estimate, cost: Cost) -> tuple[str, str]:
    """The verdict as a sentence, and the words of it that carry the verdict."""
    model = f"{given.model.name} ({given.quant.id})"
    if given.fit.disk_bytes:
        lost = f"would be read from disk for every token; {short_of(given.fit)}"
        return f"Unusable: {model} on {system_name(given.system)} {lost}.", "Unusable"
    if not given.fit.fits or given.decode is None:
        return f"Does not fit: {model} on {system_name(given.system)}; {short_of(given.fit)}.", "Does not fit"
    computer = " with a computer" if len(cost.lines) > 1 and not given.system.groups[0].device.is_box else ""
    price = f", {show('x_usd', cost.price_usd)}{computer}" if cost.price_usd is not None else ""
    return f"Fits: {model} on {system_name(given.system)}, about {figure(given.decode.value)} tokens/s{price}.", "Fits"


TELLING_CEILING = 1.05  # chosen: a lower one says only that more devices do not help


def _speed_lines(given: Estimate) -> list[tuple[str, str]]:
    work = given.workload
    users = work.users or 1
    lines = [("Speed", rate(given.decode) + (f" for all {users} users, {rate(given.decode_per_user)} each" if users > 1 else ""))]
    if given.first_token_s is not None:
        lines.append(("First token", f"{seconds(given.first_token_s)} for {work.prompt_tokens:,} tokens read at {rate(given.prefill)}"))
    if users > 1 and given.sustained is not None:
        lines.append(("Sustained", f"{rate(given.sustained)} with reading the prompts counted"))
    lines.append(("Time", time_sentence(given)))
    if given.one is not None:
        lines.append(("Against one", _against_one(given, given.one)))
    return lines


def _against_one(given: Estimate, one: Alone) -> str:
    """How many times the best of one device, or why that has none; and the ceiling of any number."""
    telling = given.amdahl_ceiling is not None and given.amdahl_ceiling >= TELLING_CEILING
    most = f"{figure(given.amdahl_ceiling or 0.0)} times with any number (Amdahl)" if telling else ""
    if one.estimate is None or one.estimate.decode is None:
        return (text(one.reason) if one.reason else "") + (f" One that held it: no more than {most}" if most else "")
    best = one.estimate
    users = "" if best.workload.users == given.workload.users else f" for the {best.workload.users} users that it holds"
    how = f"one device ({setting(best)}, {figure(best.decode.value if best.decode else 0.0)} tokens/s{users})"
    return f"{figure(given.speedup_over_one_device or 0.0)} times the speed of {how}" + (f"; no more than {most}" if most else "")


def _memory_line(given: Estimate) -> tuple[str, str]:
    fit, work = given.fit, given.workload
    users = f"{fit.max_users:,} user{'' if fit.max_users == 1 else 's'}"
    room = f"room for {fit.max_context_tokens:,} tokens of context, or {users} at {work.context_tokens:,}"
    host = f", and {show('x_bytes', fit.host_needed_bytes)} of host memory" if fit.host_needed_bytes else ""
    return "Memory", f"{used_words(fit)}{host}; {room}"


def _cost_line(cost: Cost, given: Estimate) -> tuple[str, str]:
    beside = "; ".join(words for words in (bill_words(cost), f"prices of {price_dates(cost.lines)}" if cost.price_as_of else "") if words)
    parts = [
        f"{shown('x_usd', cost.price_usd, 'price unknown')}" + (f" ({beside})" if beside else ""),
        shown("x_w", cost.power_w, "power unknown"),
    ]
    if cost.usd_per_million_tokens is not None:
        parts.append(f"{show('x_usd_per_million_tokens', cost.usd_per_million_tokens)} over three years")
    if given.load_s is not None and given.fit.fits:
        parts.append(f"loads in {show('x_s', given.load_s)}")
    return "Cost", ", ".join(parts)


def _evidence_line(given: Estimate) -> tuple[str, str]:
    near = next((row for row in given.evidence.nearest if row.decode_tokens_per_s is not None), None)
    nearest = f"; nearest published: {nearest_words(near)}" if near else ""
    return "How sure", basis_words(given.evidence) + nearest


def _conditions(answer: Estimated) -> list[Block]:
    """For several devices: the three conditions for more of them to mean more speed, and what would change an unmet one."""
    if not answer.conditions:
        return []
    claims = [claim for each in answer.conditions.values() for claim in (each.text, each.change) if claim]
    return [Listing("For more devices to mean more speed", sentences(tuple(claims)))]


def page(answer: Estimated, why: bool, full: bool) -> Page:
    """Does it fit, how fast, what limits it, how sure."""
    given, cost = answer.estimate, answer.cost
    first, verdict = headline(given, cost)
    facts = [("Runs as", setting(given))]
    if given.decode is not None:
        facts += _speed_lines(given)
    facts += [_memory_line(given), _cost_line(cost, given), *assumed_lines([given]), _evidence_line(given)]
    blocks: list[Block] = [Facts(tuple(facts)), memory_bars(given.fit)]
    warnings = sentences((*given.warnings, *cost.warnings))
    if warnings:
        blocks.append(Listing("Mind", warnings, aside=True))
    claims = given.reasons
    if why:
        blocks.append(Listing("Why", sentences(claims)))
        blocks += _conditions(answer)
        blocks += source_lines(given, claims)
    blocks.append(Listing("Measure it yourself", (given.verify,), commands=True))
    return Page(first, verdict, tuple(blocks))
