"""What `list`, `show` and `check` say: tables of records, one record with its sources; as pages and as JSON objects."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from advisor.browse import Card, Figure, Row
from advisor.device import SOLDERED
from advisor.report.head import head
from advisor.report.page import Block, Facts, Listing, Page, Table, dollars
from advisor.report.sentences import text
from advisor.tables import TABLES
from advisor.units import GIGA, KIB, figure

NO_PARTS = "nothing is bought for it: it costs $0 beside what it joins"
NO_PRICE = "none of its own: it is part of a computer, and is used as owned"
Cell = Callable[[Row], str]


def _plain(key: str) -> Cell:
    return lambda row: _said(row.get(key))


def _numbers(key: str) -> Cell:
    return lambda row: _sizes(row.get(key))


def _billions(key: str) -> Cell:
    return lambda row: "–" if row.get(key) is None else figure(row[key] / GIGA)


def _tokens(key: str) -> Cell:
    """A length as `--context` takes it: 131,072 tokens as 128k."""
    return lambda row: f"{int(row[key] // KIB):,}k" if row.get(key) and row[key] % KIB == 0 else _sizes(row.get(key))


COLUMNS: dict[str, tuple[tuple[str, Cell, int | None, bool], ...]] = {  # header, cell, most characters, to the right
    "devices": (
        ("device", _plain("id"), 30, False),
        ("GiB", _numbers("memory_gib"), 10, True),
        ("GB/s", _numbers("bandwidth_gb_per_s"), None, True),
        ("W", _numbers("power_w"), None, True),
        ("USD", lambda row: dollars(row["price_usd"]).removeprefix("$"), None, True),
        ("", _plain("availability"), None, False),
    ),
    "links": (
        ("link", _plain("id"), 28, False),
        ("GB/s", _numbers("bandwidth_gb_per_s"), None, True),
        ("reached", _numbers("effective_gb_per_s"), None, True),
        ("µs", _numbers("latency_us"), None, True),
        ("transport", _plain("transport"), None, False),
        ("scope", _plain("scope"), None, False),
    ),
    "models": (
        ("model", _plain("id"), 32, False),
        ("billion", _billions("params"), None, True),
        ("active", _billions("active_params"), None, True),
        ("layers", _numbers("layers"), None, True),
        ("context", _tokens("max_context_tokens"), None, True),
        ("published as", _plain("native_quant"), None, False),
    ),
    "engines": (
        ("engine", _plain("id"), 16, False),
        ("backends", lambda row: " ".join(each["id"] for each in row["backends"]), 24, False),
        ("formats", _plain("formats"), 30, False),
    ),
    "hosts": (
        ("host", _plain("id"), 30, False),
        ("cards", _numbers("max_cards"), None, True),
        ("W", _numbers("power_supply_w"), None, True),
        ("GiB", _numbers("memory_gib"), None, True),
        ("GB/s", _numbers("memory_bandwidth_gb_per_s"), None, True),
        ("USD", lambda row: dollars(row["price_usd"]), None, True),
    ),
    "quants": (
        ("quantization", _plain("id"), 22, False),
        ("bits", _numbers("nominal_bits"), None, True),
        ("format", _plain("format"), None, False),
        ("also called", _plain("aliases"), 32, False),
    ),
    "measurements": (
        ("system", lambda row: " + ".join(_ran(each) for each in row["devices"]), 20, False),
        ("model", lambda row: row.get("model") or _said(row.get("model_printed")), 16, False),
        ("quant", lambda row: row.get("quant") or _said(row.get("quant_printed")), 8, False),
        ("users", _numbers("users"), None, True),
        ("prefill", _numbers("prefill_tokens_per_s"), None, True),
        ("decode", _numbers("decode_tokens_per_s"), None, True),
    ),
}


def _ran(row: Row) -> str:
    name = row.get("device") or row["name"]
    return f"{row['count']}x {name}" if row.get("count", 1) > 1 else str(name)


def _said(value: Any) -> str:
    if value is None or value == []:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(_said, value)) if isinstance(value, list) else str(value)


def _sizes(value: Any) -> str:
    """A number, or the several that a thing is sold with."""
    if isinstance(value, list):
        return "/".join(map(_sizes, value))
    return figure(value) if isinstance(value, int | float) else "–"


def list_page(kind: str, rows: Sequence[Row]) -> Page:
    """The table of a kind's records."""
    columns = COLUMNS[kind]
    table = Table(
        "",
        tuple(header for header, *_ in columns),
        tuple(tuple(cell(row) for _, cell, _, _ in columns) for row in rows),
        tuple(width for _, _, width, _ in columns),
        tuple(index for index, (_, _, _, right) in enumerate(columns) if right),
    )
    return Page(f"{len(rows)} {kind if len(rows) != 1 else TABLES[kind].one}.", "", (table,) if rows else ())


def card_page(card: Card) -> Page:
    """A record: each figure with its unit, source and age; prices; who else has it."""
    sources = list(dict.fromkeys(origin for each in card.figures if (origin := _origin(each))))
    blocks: list[Block] = [Facts((("Note", text(card.note)),))] if card.note else []
    blocks.append(_figure_table(card.figures, sources))
    blocks += [_price_table(card.record["prices"])] if card.record.get("prices") else []
    blocks += [_part_table(card.record["parts"])] if card.record.get("parts") else []
    blocks += [Listing("Sources", tuple(f"[{place}] {origin}" for place, origin in enumerate(sources, 1)))] if sources else []
    said = [
        ("Price", NO_PRICE if card.record.get("kind") in SOLDERED else ""),
        ("Parts", NO_PARTS if card.record.get("parts") == [] else ""),
        ("Unverified", ", ".join(card.record.get("unverified") or ())),
        ("Who else", f"{', '.join(card.others)}: the same memory, bandwidth within a tenth" if card.others else ""),
        ("Also called", ", ".join(card.record.get("aliases") or ())),
        ("Notes", card.record.get("notes") or ""),
    ]
    told = tuple((label, words) for label, words in said if words)
    blocks += [Facts(told)] if told else []
    availability = card.record.get("availability")
    headline = f"{card.name} ({card.id}): {TABLES[card.kind].one}{f', {availability}' if availability else ''}."
    return Page(headline, "", tuple(blocks))


def _origin(figure_: Figure) -> str:
    """Who vouches for a figure, where and since when; nothing where nobody does."""
    if figure_.title is None:
        return ""
    where = f": {figure_.url}" if figure_.url else ""
    age = f" ({figure_.age_days} days ago)" if figure_.age_days is not None and figure_.age_days > 0 else ""
    return f"{figure_.title}{where}{f', seen {figure_.seen}{age}' if figure_.seen else ''}"


def _figure_table(figures: Sequence[Figure], sources: Sequence[str]) -> Table:
    leaves = [each.key.rsplit(".", 1)[-1] for each in figures]
    rows = tuple(
        (
            leaf if leaves.count(leaf) == 1 else each.key,
            _value(each),
            "unverified" if each.unverified else "",
            f"[{sources.index(_origin(each)) + 1}]" if each.title else "",
        )
        for each, leaf in zip(figures, leaves, strict=True)
    )
    return Table("", ("figure", "value", "", "source"), rows, (28, 26, None, None))


def _value(figure_: Figure) -> str:
    value = figure_.value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    said = f"{value:,.0f}" if number and abs(value) >= 10_000 else f"{value:.10g}" if number else _said(value)
    return f"{said} {figure_.unit.split(',')[0]}" if figure_.unit else said


def _price_table(prices: Sequence[Mapping[str, Any]]) -> Table:
    rows = tuple(
        (
            f"{each['condition']}, {each['kind']}",
            _range(each) + (" ?" if each.get("unverified") else ""),
            _sizes(each.get("memory_gib")),
            str(each["source"]),
            str(each["date"]),
        )
        for each in sorted(prices, key=lambda each: str(each["date"]), reverse=True)
    )
    return Table("Prices", ("condition", _currencies(prices), "GiB", "source", "date"), rows, (18, 14, None, 30, None), (1, 2))


def _part_table(parts: Sequence[Mapping[str, Any]]) -> Table:
    """What one buys for a link: how many are needed, and what one costs."""
    rows = tuple(
        (
            str(each["name"]),
            f"{each['per']}, from {each['needed_from']} on" if each.get("needed_from", 2) > 2 else str(each["per"]),
            (dollars(each["usd"]) if each.get("usd") else "unknown") + (" ?" if each.get("unverified") else ""),
            str(each.get("source") or "–"),
            str(each.get("date") or "–"),
        )
        for each in parts
    )
    return Table("Parts to buy", ("part", "for each", "USD", "source", "date"), rows, (24, 14, None, 22, None), (2,))


def _currencies(prices: Sequence[Mapping[str, Any]]) -> str:
    """The currencies of a price list."""
    return "/".join(dict.fromkeys(str(each.get("currency", "USD")) for each in prices))


def _range(price: Mapping[str, Any]) -> str:
    low, high = price["low"], price["high"]
    return f"{low:,.0f}" if low == high else f"{low:,.0f}–{high:,.0f}"


def list_object(kind: str, rows: Sequence[Row]) -> dict[str, Any]:
    """The records as JSON has them; a number's unit is the suffix of its key, as in the file."""
    return {**head("list"), "kind": kind, "records": list(rows)}


def card_object(card: Card) -> dict[str, Any]:
    """The record, and each figure with where it comes from."""
    return {
        **head("show"),
        "kind": card.kind,
        "id": card.id,
        "record": card.record,
        "figures": [
            {
                "key": each.key,
                "value": each.value,
                "unit": each.unit or None,
                "source": each.title,
                "url": each.url,
                "seen": each.seen,
                "age_days": each.age_days,
                "unverified": each.unverified,
            }
            for each in card.figures
        ],
        "same_memory_and_bandwidth": list(card.others),
        "note": text(card.note) if card.note else None,
    }
