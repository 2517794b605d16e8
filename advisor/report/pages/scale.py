"""The page of `advisor scale`."""

from advisor.answers import Scaled, usd_per_tokens_per_s
from advisor.market import Cost
from advisor.reason import Reason
from advisor.report.page import REST, Bar, Bars, Block, Chart, Dot, Listing, Page, Table, bare, dollars, sentences
from advisor.report.pages.common import STRATEGIES, memory_words, share_bars, system_name, time_bars
from advisor.report.sentences import text
from advisor.scale import Point, Scale
from advisor.units import figure

HEADERS = ("n", "Runs as", "GiB", "tok/s", "prefill", "speedup", "link", "USD", "a tok/s")
MOST_ROWS = 16
KEPT = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}  # of more counts than that


def _row(point: Point, cost: Cost | None) -> tuple[str, ...]:
    given, price_usd = point.estimate, cost.price_usd if cost else None
    if given is None or given.decode is None:
        why = text(point.reason) if point.reason else "does not fit"
        return str(point.devices), why, memory_words(given.fit if given else None), "–", "–", "–", "–", dollars(price_usd), "–"
    share = f"{figure(100 * point.link_share)} %" if point.link_share is not None else "–"
    return (
        str(point.devices),
        STRATEGIES[given.placement.strategy],
        memory_words(given.fit),
        bare(given.decode.value),
        bare(given.prefill.value if given.prefill else None),
        f"{figure(point.speedup)}×" if point.speedup is not None else "–",
        share,
        dollars(price_usd),
        dollars(usd_per_tokens_per_s(point, cost)),
    )


def _headline(answer: Scaled) -> tuple[str, str]:
    found = answer.scale
    best = next((point for point in found.points if point.devices == found.best_devices), None)
    if best is None or best.estimate is None or best.estimate.decode is None:
        return "Does not fit at any of these counts.", "Does not fit"
    name = system_name(best.estimate.system)
    slower = f"; from {found.slower_from_devices} devices on it gets slower" if found.slower_from_devices else ""
    return f"Best: {name} with {figure(best.estimate.decode.value)} tokens/s{slower}.{_cheapest(answer)}", "Best"


def _cheapest(answer: Scaled) -> str:
    """The count at which a token/s costs least, where that is another than the fastest."""
    pairs = zip(answer.scale.points, answer.costs, strict=True)
    least, cost = next((pair for pair in pairs if pair[0].devices == answer.cheapest_devices), (None, None))
    if least is None or cost is None or least.decode_tokens_per_s is None or least.devices == answer.scale.best_devices:
        return ""
    speed, usd = figure(least.decode_tokens_per_s), dollars(cost.price_usd)
    return f" Cheapest a token/s: {least.devices}, with {speed} tokens/s for {usd} ({dollars(usd_per_tokens_per_s(least, cost))} each)."


def _drawn(answer: Scaled) -> list[Block]:
    """The speeds as bars, and as a curve under Amdahl's ceiling."""
    fast = [(point, point.estimate.decode) for point in answer.scale.points if point.estimate and point.estimate.decode]
    if not fast:
        return []
    dots = tuple(Dot(str(point.devices), point.devices, speed.value, speed.low, speed.high) for point, speed in fast)
    curve = Chart("Scaling", dots, "devices", "tokens/s", joined=True, bound=_bound(answer), bound_name="Amdahl's bound")
    return [_rates("Tokens/s by devices", answer.scale), curve, *_no_faster(answer.scale)]


def _no_faster(found: Scale, least: int = 1) -> list[Block]:
    """Why some counts gain nothing over fewer: the first of those that share the reason, and which they are."""
    alike: dict[str, list[Reason]] = {}
    for point in _kept(found):
        if (why := point.no_faster) is not None:
            alike.setdefault(why.code, []).append(why)
    lines = []
    for first, *others in alike.values():
        more = ", ".join(str(each.facts["devices"]) for each in others)
        lines.append(f"{text(first)}{f' The same with {more}.' if more else ''}")
    return [Listing("Why more are no faster", tuple(lines), least=least)] if lines else []


def _rates(title: str, found: Scale) -> Bars:
    """The speeds of the counts that have a row, as bars."""
    fast = [(point.devices, speed) for point in _kept(found) if (speed := point.decode_tokens_per_s) is not None]
    bars = tuple(Bar(f"{devices:>3}", (("tokens/s", speed),), f"{figure(speed)} tokens/s") for devices, speed in fast)
    return Bars(title, bars, max(speed for _, speed in fast), "tokens/s")


def _parts(found: Scale) -> list[Block]:
    """The memory of each device, and where a token's time goes, count by count."""
    given = [(f"{point.devices}: ", point.estimate) for point in _kept(found) if point.estimate]
    times = [(name.rstrip(": "), estimate.terms) for name, estimate in given if estimate.terms]
    fits = [(name, estimate.fit) for name, estimate in given]
    pictures: list[Block] = [share_bars(fits, "Memory of the fullest device, by devices")] if given else []
    return [*pictures, time_bars(times)] if times else pictures


def _bound(answer: Scaled) -> tuple[tuple[float, float], ...]:
    """What n devices could reach if the link cost nothing: 1/(s + (1−s)/n) of one device's speed [Amdahl 1967]."""
    found = answer.scale
    first = found.points[0].estimate
    if found.serial_fraction is None or first is None or first.decode is None:
        return ()
    alone, serial = first.decode.value, found.serial_fraction
    bound = tuple((point.devices, alone / (serial + (1 - serial) / point.devices)) for point in found.points)
    passed = any((point.decode_tokens_per_s or 0) > most for point, (_, most) in zip(found.points, bound, strict=True))
    return () if passed else bound  # more memory than one unit has gains more than Amdahl's law knows of


def _steps(answer: Scaled) -> list[tuple[Point, Cost | None]]:
    """The points worth a row, each with its bill."""
    costs = {point.devices: cost for point, cost in zip(answer.scale.points, answer.costs, strict=True)}
    return [(point, costs[point.devices]) for point in _kept(answer.scale)]


def _kept(found: Scale) -> list[Point]:
    """All of few points, else those of a ladder that doubles, and the best."""
    if len(found.points) <= MOST_ROWS:
        return list(found.points)
    turning = {found.best_devices, found.slower_from_devices, found.points[-1].devices}
    return [point for point in found.points if point.devices in turning | KEPT]


def _one_user(found: Scale) -> list[Block]:
    """The same counts for a single user, where more were asked: whom a split speeds up, and from where it slows."""
    alone = found.one_user
    if alone is None or not any(point.decode_tokens_per_s for point in alone.points):
        return []
    slower = f"; from {alone.slower_from_devices} on it gets slower" if alone.slower_from_devices else ""
    title = f"For one user alone, tokens/s by devices (best with {alone.best_devices}{slower})"
    return [_rates(title, alone), *_no_faster(alone, least=0)]


def _ceiling(found: Scale) -> list[Block]:
    """Amdahl's law in a sentence; of a model that one device holds only in part it does not speak."""
    one = found.points[0].estimate
    if one is not None and one.placement.strategy == "offload":
        line = "One keeps a part of the model in host memory, so more devices also add fast memory: Amdahl's law sets no ceiling here."
        return [Listing("Ceiling", (line,))]
    if found.ceiling is None or found.serial_fraction is None:
        return []
    whose = "one's step" if found.points[0].decode_tokens_per_s else "the step of one that held it all"
    most = f"no more than {figure(found.ceiling)} times its speed with any number (Amdahl)"
    return [Listing("Ceiling", (f"{figure(100 * found.serial_fraction)} % of {whose} does not shrink: {most}.",))]


def page(answer: Scaled, why: bool, full: bool) -> Page:
    """Speed and cost at each count, where it stops paying, and the ceiling."""
    first, verdict = _headline(answer)
    rows = tuple(_row(point, cost) for point, cost in _steps(answer))
    blocks: list[Block] = [Table("", HEADERS, rows, (None, REST, None, None, None, None, None, None, None), (0, 2, 3, 4, 5, 6, 7, 8))]
    blocks += _drawn(answer)
    found = answer.scale
    blocks += _ceiling(found)
    blocks += [*_one_user(found), *_parts(found)]
    claims = tuple(claim for point in found.points if point.estimate for claim in point.estimate.reasons) if why else ()
    if claims:
        blocks.append(Listing("Why", sentences(claims)))
    if found.warnings:
        blocks.append(Listing("Mind", sentences(found.warnings), aside=True))
    return Page(first, verdict, tuple(blocks))
