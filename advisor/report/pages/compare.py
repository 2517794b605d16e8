"""The page of `advisor compare`."""

from advisor.answers import Compared, Estimated, Refused
from advisor.report.notes import warned
from advisor.report.page import PLAIN, REST, Block, Chart, Dot, Facts, Listing, Page, Table, bare, dollars, sentences
from advisor.report.pages.common import (
    assumed_lines,
    bill_words,
    memory_bars,
    memory_words,
    setting,
    share_bars,
    short_name,
    system_name,
    time_bars,
)
from advisor.report.sources import source_lines
from advisor.units import figure, show

HEADERS = ("", "System", "Runs as", "fits, GiB", "tok/s", "first", "USD", "W")


def _row(number: int, item: Estimated | Refused) -> tuple[str, ...]:
    if isinstance(item, Refused):
        return str(number), item.system, item.error.message, "–", "–", "–", "–", "–"
    given, cost = item.estimate, item.cost
    return (
        str(number),
        short_name(given.system),
        setting(given),
        ("" if given.fit.fits else "no, ") + memory_words(given.fit),
        bare(given.decode.value if given.decode else None),
        show("x_s", given.first_token_s.value) if given.first_token_s else "–",
        dollars(cost.price_usd),
        bare(cost.power_w),
    )


def _headline(answer: Compared) -> tuple[str, str]:
    fitting = [item for item in answer.items if isinstance(item, Estimated) and item.estimate.decode is not None]
    if not fitting:
        return "None fits.", "None fits"
    best = max(fitting, key=lambda item: item.estimate.decode.value if item.estimate.decode else 0.0)
    given, cost = best.estimate, best.cost
    price = f" for {dollars(cost.price_usd)}" if cost.price_usd is not None else ""
    speed = figure(given.decode.value) if given.decode else "–"
    return f"Fastest: {system_name(given.system)} with {speed} tokens/s{price}, {given.model.name} ({given.quant.id}).", "Fastest"


def _dots(answer: Compared) -> tuple[Dot, ...]:
    return tuple(
        Dot(_label(number, item), item.cost.price_usd, speed.value, speed.low, speed.high)
        for number, item in _estimated(answer)
        if (speed := item.estimate.decode) and item.cost.price_usd is not None
    )


def _estimated(answer: Compared) -> list[tuple[int, Estimated]]:
    """Those that have numbers, with their place in the table."""
    return [(number, item) for number, item in enumerate(answer.items, 1) if isinstance(item, Estimated)]


def _label(number: int, item: Estimated) -> str:
    return f"{number}: {short_name(item.estimate.system)}"


def _pictures(answer: Compared) -> list[Block]:
    """Speed against price, the memory of each, where a token's time goes on each."""
    given = _estimated(answer)
    unpriced = [_label(number, item) for number, item in given if item.estimate.decode and item.cost.price_usd is None]
    note = f"Not drawn, as the price is unknown: {', '.join(unpriced)}." if unpriced else ""
    pictures: list[Block] = [Chart("Tokens/s against price", _dots(answer), "price, USD", "tokens/s", note=note)]
    if given:
        fits = ((f"{number}: ", item.estimate.fit) for number, item in given)
        pictures.append(share_bars(fits, "Memory of each system's fullest device"))
    times = [(_label(number, item), item.estimate.terms) for number, item in given if item.estimate.terms]
    return [*pictures, time_bars(times)] if times else pictures


def page(answer: Compared, why: bool, full: bool) -> Page:
    """The systems in the order asked, side by side."""
    first, verdict = _headline(answer)
    estimated = [item for item in answer.items if isinstance(item, Estimated)]
    rows = tuple(_row(number, item) for number, item in enumerate(answer.items, 1))
    blocks: list[Block] = [Table("", HEADERS, rows, (None, 20, REST, None, None, None, None, None), (0, 3, 4, 5, 6, 7))]
    bills = [(f"Price of {number}", bill_words(item.cost)) for number, item in enumerate(answer.items, 1) if isinstance(item, Estimated)]
    lines = [*((label, words) for label, words in bills if words), *assumed_lines(item.estimate for item in estimated)]
    if lines:
        blocks.append(Facts(tuple(lines)))
    blocks += _pictures(answer)
    blocks += [memory_bars(item.estimate.fit, PLAIN) for item in estimated if not item.estimate.fit.fits]
    warnings = warned(answer)
    if warnings:
        blocks.append(Listing("Mind", warnings, aside=True))
    for item in estimated if why else ():
        claims = item.estimate.reasons
        blocks.append(Listing(f"Why: {system_name(item.estimate.system)}", sentences(claims)))
        blocks += source_lines(item.estimate, claims)
    return Page(first, verdict, tuple(blocks))
