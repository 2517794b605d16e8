"""The roads of a recommendation: their table, their chart, where a token's time goes on each, and the rungs of the ladder."""

from collections.abc import Iterable, Sequence

from advisor.advice import ALWAYS_SHOWN, CHOSEN, IMPOSSIBLE, PASSED_OVER, SHOWN_WHEN_OWNED, Recommendation, Road
from advisor.advice.naming import bought_beside, computer_gb
from advisor.reason import Fact
from advisor.report.page import PICTURE, REST, Block, Chart, Dot, Table, bare, dollars, sentences
from advisor.report.pages.common import memory_bars, short_name, time_bars
from advisor.report.sentences import brief
from advisor.system import System

MARKS = {CHOSEN: "* ", PASSED_OVER: "", IMPOSSIBLE: "x "}
RULE = {"cheapest": "does it cheapest", "fastest": "fastest in budget"}
KIND_NAMES = {
    "keep": "keep",
    "change-settings": "other settings",
    "replicas": "replicas",
    "second-gpu": "second GPU",
    "nvlink-pair": "NVLink pair",
    "one-bigger-gpu": "one bigger GPU",
    "unified-memory-machine": "unified memory",
    "rdma-cluster": "RDMA cluster",
    "network-cluster": "TCP cluster",
    "multi-gpu-server": "GPU server",
    "new-host": "new computer",
    "more-memory": "more memory",
    "nothing-fits": "nothing fits",
}
ONE_GPU = "one GPU"
RAM = "RAM"


def road_name(road: Road, have: System | None) -> str:
    """The kind in words; a pair of which nothing is owned yet is no second one, and one card is no bigger one where there is none."""
    owned = {line.what for line in road.cost.lines if line.owned} if road.cost else set()
    if road.kind == "second-gpu" and road.system and not any(group.device.id in owned for group in road.system.groups):
        return "two cards"
    return ONE_GPU if road.kind == "one-bigger-gpu" and have is None else KIND_NAMES[road.kind]


def bought_name(road: Road) -> str:
    """The system with what its price buys beside devices and links, and with the RAM that holds a part of the model."""
    if road.system is None or road.cost is None:
        return short_name(road.system) if road.system else "–"
    bought, size = bought_beside(road.system, road.cost), computer_gb(road.system)
    ram = f" {size}gb {RAM}".replace("  ", " ") if _spilt(road) else ""
    computers = [f"{_counted(each)}{ram}" for each in bought.computers]
    own = [RAM] if ram and not computers else []
    return " + ".join((short_name(road.system), *computers, *map(_counted, bought.parts), *own))


def _counted(thing: tuple[str, int]) -> str:
    name, count = thing
    return f"{count}x {name}" if count > 1 else name


def _spilt(road: Road) -> bool:
    return road.estimate is not None and road.estimate.placement.strategy == "offload"


def _legend(roads: Iterable[Road], before: str) -> str:
    """What `RAM` beside a system means, where it stands there; behind what parts it from the title."""
    return f"{before}{RAM}: holds a part" if any(map(_spilt, roads)) else ""


def _short_quant(road: Road) -> Fact:
    """The quantization whose memory a road is short of, if it is."""
    reason = road.because[0] if road.because else None
    return reason.facts.get("quant") if reason and reason.code.startswith("need.memory-short") else None


def several_quants(given: Recommendation) -> bool:
    """Whether the roads' shortfalls are not of the same weights."""
    return len({quant for road in given.roads if (quant := _short_quant(road))}) > 1


def _road_row(road: Road, given: Recommendation, full: bool, mixed: bool = False) -> tuple[str, ...]:
    speed = road.estimate.decode_per_user.value if road.estimate and road.estimate.decode_per_user else None
    lost = sentences(road.because) if full else tuple(map(brief, road.because[:1]))
    because = (RULE[given.need.prefer],) if road.status == CHOSEN else lost
    quant = _short_quant(road) if mixed and not full else None
    return (
        f"{MARKS[road.status]}{road_name(road, given.have)}",
        bought_name(road),
        dollars(road.spend_usd),
        bare(speed),
        (because[0] if because else "") + (f" as {quant}" if quant else ""),
    )


def roads_table(given: Recommendation, full: bool) -> Table:
    """The roads; on one screen those that are always weighed, the chosen one, and a machine with unified memory."""
    always = (*ALWAYS_SHOWN, *SHOWN_WHEN_OWNED, "unified-memory-machine")
    shown = [road for road in given.roads if full or road.kind in always or road.status == CHOSEN]
    mixed = several_quants(given)
    roads = (*shown, *(given.passed_over if full else ()))
    rows = tuple(_road_row(road, given, full, mixed) for road in roads)
    return Table(
        f"Roads (* chosen, x impossible, × as fast as the chosen one{_legend(roads, '; ')})",
        ("Road", "System", "USD", "tok/s", "because"),
        rows,
        (None, 24, None, None, REST),
        (2, 3),
        _chosen(roads),
    )


def _chosen(roads: Sequence[Road]) -> tuple[int, ...]:
    return tuple(index for index, road in enumerate(roads) if road.status == CHOSEN)


def _named(given: Recommendation) -> list[tuple[str, Road]]:
    """Every road under a name of its own: its kind, and the system of a further one of that kind."""
    named = [(road_name(road, given.have), road) for road in given.roads]
    return named + [(short_name(road.system) if road.system else road_name(road, given.have), road) for road in given.passed_over]


def roads_chart(given: Recommendation) -> Chart:
    """Every road that has a speed and a price, with the budget and the wanted speed."""
    dots = tuple(
        Dot(name, road.spend_usd, speed.value, speed.low, speed.high, road.status == CHOSEN)
        for name, road in _named(given)
        if road.estimate and (speed := road.estimate.decode_per_user) and road.spend_usd is not None
    )
    need = given.need
    budget = (need.budget_usd, "budget") if need.budget_usd is not None else None
    return Chart("Tokens/s against what is spent", dots, "spent, USD", "tokens/s", budget, (need.min_tokens_per_s, "wanted speed"))


def ladder_table(given: Recommendation, full: bool) -> Table | None:
    """What each typical model needs: the chosen road of it, or all of them."""
    if given.ladder is None:
        return None
    rows, roads = [], list[Road]()
    for rung in given.ladder:
        shown = [road for road in rung.roads if full or road.status == CHOSEN] or list(rung.roads[-1:])
        roads += shown
        rows += [(rung.label, *_road_row(road, given, full)[: 5 if full else 4]) for road in shown]
    title = f"By size of model{_legend(roads, ' – ')}"
    headers = ("Model", "Road", "System", "USD", "tok/s", "because")
    if full:
        return Table(title, headers, tuple(rows), (11, None, 14, None, None, REST), (3, 4), _chosen(roads))
    return Table(title, headers[:5], tuple(rows), (None, None, REST, None, None), (3, 4))


def pictures(given: Recommendation) -> list[Block]:
    """Memory of what is advised, and where a token's time goes on each road."""
    estimate = given.verdict.estimate
    memory = [memory_bars(estimate.fit, PICTURE)] if estimate else []
    times = [(name, road.estimate.terms) for name, road in _named(given) if road.estimate and road.estimate.terms]
    return [*memory, *([time_bars(times)] if times else [])]
