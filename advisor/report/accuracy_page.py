"""What `accuracy` says: errors by group, the figures that are furthest off; as a page and as a JSON object."""

from dataclasses import asdict
from typing import Any

from advisor.accuracy import KIND_ORDER, Accuracy, Checked, Group
from advisor.report.head import head
from advisor.report.page import REST, Block, Listing, Page, Table
from advisor.units import figure

KIND_NAMES = {
    "decode": "one device, one user",
    "prefill": "one device, reading a prompt",
    "served": "one device, many users",
    "decode-multi": "several devices, one user",
    "prefill-multi": "several devices, reading a prompt",
    "served-multi": "several devices, many users",
}
UNSEEN = ("rows", "devices", "sources")
HEADERS = ("figures", "count", "median error", "within 30 %", "inside")  # the interval


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def _row(name: str, group: Group) -> tuple[str, ...]:
    return name, str(group.rows), _percent(group.median_abs_error), _percent(group.within_30_percent), _percent(group.inside_interval)


def summary(found: Accuracy) -> Table:
    """One row a kind of figure: the table of the README."""
    kinds = {group.name: group for group in found.groups if group.name in KIND_ORDER}
    rows = tuple(_row(KIND_NAMES[kind], kinds[kind]) for kind in KIND_ORDER if kind in kinds)
    return Table("", HEADERS, rows, (36, None, None, None, None), (1, 2, 3, 4))


def _unseen(found: Accuracy) -> Table:
    """Median errors of fits that had not seen the row, the device or the source; and of repeated measurements, the floor."""
    floor = {each.kind: _percent(each.median_abs_error) for each in found.repeated}
    rows = tuple(
        (KIND_NAMES[kind], *(_percent(apart[way].median_share) for way in UNSEEN), floor.get(kind, "–"))
        for kind, apart in found.kept_out.items()
        if kind in KIND_NAMES
    )
    title = "Fits that had not seen the row, device or source; the same run by others"
    return Table(title, ("median error", *UNSEEN, "run again"), rows, (36, None, None, None, None), (1, 2, 3, 4))


def _families(found: Accuracy) -> Table:
    rows = tuple(_row(group.name, group) for group in found.groups if group.name not in KIND_ORDER)
    return Table("By maker, engine, split and kind of model", HEADERS, rows, (36, None, None, None, None), (1, 2, 3, 4))


def _worst(found: Accuracy) -> Table:
    rows = tuple(
        (f"{each.ratio:.2f}×", each.figure.kind, f"{each.system}, {each.labels['model']} {each.labels['quant']}", _measured(each))
        for each in found.worst
    )
    headers = ("ratio", "kind", "what", "tokens/s: said, measured")
    return Table("Furthest off (estimated over measured)", headers, rows, (None, None, REST, None), (0,))


def _measured(each: Checked) -> str:
    return f"{figure(each.speed.value)}, {figure(each.figure.tokens_per_s)}"


def accuracy_page(found: Accuracy) -> Page:
    """The summary first, then the families, then what is furthest off."""
    blocks: list[Block] = [summary(found), _unseen(found), _families(found), _worst(found)] if found.compared else []
    if found.refused:
        lines = tuple(dict.fromkeys(f"{each.figure.row.id}: {each.why}" for each in found.refused))
        blocks.append(Listing("Without an estimate", lines))
    many = found.compared != 1
    return Page(f"{found.compared} published figure{'s' if many else ''} against the estimate.", "", tuple(blocks))


def accuracy_object(found: Accuracy) -> dict[str, Any]:
    """The answer as JSON; shares are of 1."""
    return {
        **head("accuracy"),
        "groups": [asdict(group) for group in found.groups],
        "kept_out": {kind: {way: asdict(error) for way, error in apart.items()} for kind, apart in found.kept_out.items()},
        "repeated": [asdict(each) for each in found.repeated],
        "worst": [_worst_object(each) for each in found.worst],
        "compared": found.compared,
        "refused": [{"id": each.figure.row.id, "kind": each.figure.kind, "why": each.why} for each in found.refused],
    }


def _worst_object(each: Checked) -> dict[str, Any]:
    work = each.figure
    return {
        "id": work.row.id,
        "kind": work.kind,
        "system": each.system,
        "model": each.labels["model"],
        "quant": each.labels["quant"],
        "users": work.users,
        "prompt_tokens": work.prompt_tokens,
        "measured_tokens_per_s": work.tokens_per_s,
        "estimated_tokens_per_s": each.speed.value,
        "low_tokens_per_s": each.speed.low,
        "high_tokens_per_s": each.speed.high,
        "ratio": each.ratio,
        "source": work.row.printed_source,
    }
