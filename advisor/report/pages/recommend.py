"""The page of `advisor recommend` and `ask`: verdict, the numbers that matter, why, what would change it, what it assumes."""

from advisor.advice import Recommendation, Setting, Verdict
from advisor.answers import Recommended
from advisor.market import Cost
from advisor.reason import Reason
from advisor.report.again import Said, again, said_of
from advisor.report.page import PLAIN, Block, Facts, Listing, Page, sentences, shown
from advisor.report.pages.common import (
    STRATEGIES,
    basis_words,
    bill_words,
    lacking_words,
    memory_bars,
    rate,
    seconds,
    setting,
    time_sentence,
    used_words,
)
from advisor.report.pages.roads import ladder_table, pictures, roads_chart, roads_table, several_quants
from advisor.report.sentences import text
from advisor.units import show

SECOND = {
    "yes-for-speed": "Yes, for speed.",
    "yes-for-capacity": "Yes, for capacity.",
    "yes-for-users": "Yes, for more users.",
    "no": "No.",
}
MOST_FLIPS = 4
MOST_FLIPS_BESIDE, MOST_SETTINGS_BESIDE = 2, 1  # … where a question asked something beside
MOST_SETTINGS = 3
MET = {True: "yes", False: "no", None: "–"}


def _numbers(verdict: Verdict, sell_old: bool) -> list[tuple[str, str]]:
    """Memory, speed and money of what is advised."""
    given, cost = verdict.estimate, verdict.cost
    if given is None:
        return []
    work, fit = given.workload, given.fit
    users = work.users or 1
    each = f" for each of {users} users" if users > 1 else ""
    first = f", first token after {seconds(given.first_token_s)}" if given.first_token_s else ""
    lines = [("It fits", f"{used_words(fit)} used")] if fit.fits else [("Too small", lacking_words(fit))]
    if given.decode_per_user:
        lines += [("It runs at", f"{rate(given.decode_per_user)}{each}{first}"), ("Time goes to", time_sentence(given))]
    if cost is not None:
        lines.append(("It costs", _costs(verdict, cost, sell_old)))
    return [*lines, ("Runs as", setting(given))]


def _costs(verdict: Verdict, cost: Cost, sell_old: bool) -> str:
    running = cost.usd_per_million_tokens
    over_time = f"; {show('x_usd_per_million_tokens', running)}" if running is not None else ""
    bill = bill_words(cost) if verdict.spend_usd else ""
    parts = f" ({bill})" if bill else ""
    sold = f", less {show('x_usd', verdict.resale_usd)} for the old parts" if sell_old and verdict.resale_usd and verdict.spend_usd else ""
    price = shown("x_usd", verdict.spend_usd, "an unknown price")
    return f"{price} to buy{parts}{sold}, {shown('x_w', cost.power_w, 'power unknown')} at work{over_time}"


def _own_computer(given: Recommendation) -> tuple[Reason, ...]:
    """How to tell of a computer that is there, where nothing is said to be owned and one is on the bill; few have a server."""
    verdict = given.verdict
    if given.have_words or verdict.estimate is None or verdict.cost is None or verdict.kind == "multi-gpu-server":
        return ()
    hosts = {box.host.id for box in verdict.estimate.system.boxes if box.host}
    return (Reason("bill.computer"),) if any(line.what in hosts for line in verdict.cost.bought) else ()


def _conditions(given: Recommendation) -> Facts:
    """The three conditions for more devices to mean more speed."""
    lines = [
        (title.capitalize(), f"{MET[each.met]}: {text(each.text)}{f' {text(each.change)}' if each.change else ''}")
        for title, each in given.conditions.items()
    ]
    name = next(str(each.text.facts["name"]) for each in given.conditions.values())
    chosen = given.verdict.estimate
    other = chosen.placement.strategy if chosen and chosen.system.count > 1 else "tensor"
    beside = f" (the answer above has {STRATEGIES[other]})" if other != "tensor" else ""
    first = ("More than one", f"does it pay? Judged for {name} with every layer cut over all of them{beside}:")
    met = ", ".join(f"{title} {'unknown' if each.met is None else MET[each.met]}" for title, each in given.conditions.items())
    return Facts((first, *lines), shorter=(("More than one", f"does it pay? {met}; `--why` tells why."),))


def _several(given: Recommendation) -> bool:
    """Whether several devices are in question: advised, owned, or one more that could go beside what is owned – not beside one device
    with a part in host memory that does it.
    """
    chosen = given.verdict.estimate
    systems = [system for system in (chosen.system if chosen else None, given.have) if system is not None]
    if any(system.count > 1 for system in systems):
        return True
    second = given.second_gpu
    spilt = chosen is not None and chosen.placement.strategy == "offload" and given.verdict.meets_need
    return bool(second and second.text.facts.get("count")) and not (spilt and second and second.answer == "no")


def _changes(given: Recommendation, full: bool, brief: bool) -> list[Block]:
    """What would change the answer, and what to set; `brief`: the page already tells what a question asked beside that."""
    more = len(given.remarks) + several_quants(given)  # each takes the place of one
    flips = max(MOST_FLIPS_BESIDE, MOST_FLIPS - more)
    most = (MOST_FLIPS_BESIDE, 0 if given.ladder else MOST_SETTINGS_BESIDE) if brief else (flips, MOST_SETTINGS)
    blocks: list[Block] = []
    if given.flips:
        lines = tuple(f"{text(flip.when)}: {text(flip.then)}" for flip in given.flips)
        blocks.append(Listing("What would change this", lines if full else lines[: most[0]], least=None if full else 1))
    if given.settings and (full or most[1]):
        lines = tuple(_setting(each) for each in given.settings)
        blocks.append(Listing("Settings worth trying", lines if full else lines[: most[1]], least=None if full else 0))
    return blocks


def _setting(given: Setting) -> str:
    gain = f" {text(given.gain)}" if given.gain else ""
    return " ".join(map(text, (given.text, *given.also))) + gain + (f"  [{given.command}]" if given.command else "")


def _why(given: Recommendation) -> list[Block]:
    estimate = given.verdict.estimate
    if estimate is None:
        return []
    from advisor.report.sources import source_lines  # late: --why only

    claims = estimate.reasons
    blocks: list[Block] = [
        memory_bars(estimate.fit, PLAIN),
        Listing("Why this speed", sentences(claims)),
        *source_lines(estimate, claims),
    ]
    return [*blocks, Listing("Measure it yourself", (estimate.verify,), commands=True)]


def _foot(given: Recommendation, stated: Said, unsaid: tuple[str, ...] = ()) -> tuple[tuple[str, str], ...]:
    """How sure, what was assumed (but what stays `unsaid` where a page has no room), prices, and the command for more."""
    estimate = given.verdict.estimate
    basis = f"; {basis_words(estimate.evidence)}" if estimate else ""
    assumed = " ".join(sentences(claim for claim in given.assumptions if claim.code not in (*TAKEN, *unsaid)))
    return tuple(
        (label, line)
        for label, line in (
            ("How sure", f"{given.verdict.confidence}{basis}"),
            ("Assumed", assumed),
            ("Prices", f"as of {given.prices_as_of}" if given.prices_as_of else ""),
            ("Again with", again(estimate, stated) if estimate else ""),
        )
        if line
    )


ELSEWHERE = ("asked.outside",)  # the answer is about something else than was asked
RATHER = ("asked.rent-cheaper", "asked.rent-never")  # the purchase below is the dearer way
HEADLINES = (  # what was asked beside a purchase comes first
    *ELSEWHERE,
    "asked.first-token",
    "asked.unnamed-card",
    "asked.unnamed-need",
    "ask.asked-unpriced",
    *(f"asked.supply-{kind}" for kind in ("enough", "tight", "limited", "short", "needs")),
    *(f"asked.{kind}" for kind in ("context", "power", "power-box", "running", "resale", "resale-unknown", "costs", "costs-unknown")),
    *(f"asked.price-{kind}" for kind in ("below", "above", "usual")),
    *(f"asked.ram-{kind}" for kind in ("holds", "faster", "same", "short", "soldered")),
    *(
        "asked.rent",
        *RATHER,
        "asked.rent-dearer",
        "asked.rent-owned",
        "asked.rule",
        "asked.users",
        "asked.own",
        "asked.own-short",
        "asked.second",
        "asked.second-idle",
        "asked.second-no-size",
        "asked.memory",
        "asked.memory-users",
    ),
    *("asked.bridge", "asked.bridge-idle", "asked.bridge-cannot", "asked.best", "asked.even", "asked.even-prompts"),
)
UNSAID = ("assumed.running", "assumed.bought-host")  # where a page has no room; JSON and the longer forms have them
# said beside how the question was read
TAKEN = tuple(
    f"ask.{each}"
    for each in (
        "took-model",
        "took-usual",
        "usual-card",
        "took-least",
        "within-budget",
        "card-alone",
        "length",
        "length-read",
        "near-name",
        "detected",
        "took-mixture",
        "no-laptop",
        "network",
        "size-alone",
        "any-mac",
        "any-maker",
        "part-price",
        "largest-model",
    )
)


def page(answer: Recommended, why: bool, full: bool) -> Page:
    """The answer as a knowledgeable friend gives it."""
    given = answer.recommendation
    verdict = text(given.verdict.answer)
    aside = _headline(answer)
    first = text(aside) if aside else verdict
    label = _label(aside)
    numbers = [] if aside and aside.code.startswith("asked.unnamed") else _numbers(given.verdict, given.need.sell_old)
    facts = [*(((label, verdict),) if aside else ()), *(("But", line) for line in sentences(given.remarks)), *numbers]
    facts += [("Or", line) for line in sentences(_own_computer(given))]
    if given.second_gpu:
        facts.append(("Second GPU?", f"{_second(given)} {text(given.second_gpu.text)}"))
    blocks: list[Block] = [Facts(tuple(facts), shorter=() if full else _shorter(facts))] if facts else []
    if answer.understood_as:
        blocks.insert(0, Facts(_understood(answer)))
    ladder = ladder_table(given, full)
    blocks += [ladder] if ladder else []
    blocks += [roads_table(given, full), roads_chart(given), *pictures(given)]
    if given.conditions and (full or _several(given)):
        blocks.append(_conditions(given))
    blocks += _changes(given, full, bool(answer.asked or (given.ladder and answer.understood_as)))
    blocks += _why(given) if why else []
    foot, said = _foot(given, said_of(answer), UNSAID), _foot(given, said_of(answer))
    blocks.append(Facts(said, shorter=() if full else foot))
    if given.warnings:
        blocks.append(Listing("Mind", sentences(given.warnings), aside=True))
    return Page(first, first.split(" ")[0].rstrip(":,"), tuple(blocks))


def _second(given: Recommendation) -> str:
    """The answer in a word; where another card is advised beside what is owned, that the same again is not."""
    answer = given.second_gpu.answer if given.second_gpu else "no"
    other = given.verdict.meets_need and given.verdict.kind == "second-gpu" and answer == "no" and _beside_owned(given)
    return "Yes, the one above; not the same again." if other else SECOND[answer]


def _beside_owned(given: Recommendation) -> bool:
    """Whether what is advised goes beside a device that is owned, not in its place."""
    own, advised = ({group.device.id for group in system.groups} if system else set() for system in (given.have, given.verdict.system))
    return bool(own & advised)


def _label(aside: Reason | None) -> str:
    """How the verdict follows from what was asked beside it."""
    code = aside.code if aside else ""
    return "Estimated" if code in ELSEWHERE else "If bought" if code in RATHER else "So"


def _shorter(facts: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Without where the time goes, which `--why` tells too."""
    return tuple(each for each in facts if each[0] != "Time goes to")


def _headline(answer: Recommended) -> Reason | None:
    """What was asked beside a purchase and comes first."""
    return next((reason for reason in answer.asked if reason.code in HEADLINES), None)


def _understood(answer: Recommended) -> tuple[tuple[str, str], ...]:
    """How the question was read, what was not, and what it asked beside what to buy."""
    lost = ", ".join(answer.not_understood)
    taken = " ".join(sentences(claim for claim in answer.recommendation.assumptions if claim.code in TAKEN))
    read = (("Understood as", answer.understood_as or ""), ("Taken", taken), ("Not understood", lost))
    told = [claim for claim in answer.asked if claim is not _headline(answer)]
    beside = tuple(("" if number else "You asked", line) for number, line in enumerate(sentences(told)))
    return (*((label, line) for label, line in read if line), *beside)
