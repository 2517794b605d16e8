"""The catalog as people look through it: records filtered and sorted, one record with its sources and its likes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from typing import Any

from advisor.catalog import Catalog
from advisor.errors import AmbiguousName, BadValue, UnknownName
from advisor.lookup import Found
from advisor.prices import first_day, price_of
from advisor.reason import Reason
from advisor.record import dataclass
from advisor.tables import LISTED, TABLES
from advisor.where import Condition, condition_of
from advisor.words import shortened
from advisor.yamlfile import Shape, plans
from advisor.yamlwrite import unit_of

ALIKE_SHARE = 0.10  # of bandwidth, for "who else has this"
COMPUTED = {  # keys that follow from a record
    "devices": ("price_usd", "price_as_of"),
    "hosts": ("price_usd", "price_as_of"),
    "models": ("params", "active_params"),
}
SHORT = {"price": "price_usd", "memory": "memory_gib", "bandwidth": "bandwidth_gb_per_s", "power": "power_w"}
Row = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """One figure of a record, with where it comes from."""

    key: str
    value: Any
    unit: str
    title: str | None
    url: str | None
    seen: str | None
    age_days: int | None
    unverified: bool


@dataclass(frozen=True)
class Card:
    """Everything the catalog says of one thing."""

    kind: str
    id: str
    name: str
    record: Row
    figures: tuple[Figure, ...]
    others: tuple[str, ...]  # ids of devices with the same memory and about the bandwidth
    note: Reason | None = None  # how the name was read, if that should be said


def listing(catalog: Catalog, kind: str, where: Sequence[str] = (), sort: str | None = None) -> list[Row]:
    """The records of a kind that meet every condition, in the order of their ids or of `sort` (`-key`: largest first)."""
    if kind not in LISTED:
        raise BadValue(f"{kind!r} is not a kind of record: {', '.join(LISTED)}", _near(kind, LISTED))
    tests = [_test(condition_of(expression), kind) for expression in where]
    rows = [row for row in (row_of(catalog, kind, each) for each in catalog.ids(kind)) if all(test(row) for test in tests)]
    if sort is None:
        return rows
    key = _known_key(sort.lstrip("-"), kind, f"--sort {sort}")
    unknown = [row for row in rows if _size(_get(row, key)) is None]
    known = [row for row in rows if _size(_get(row, key)) is not None]
    return sorted(known, key=lambda row: _size(_get(row, key)) or (0, 0.0, ""), reverse=sort.startswith("-")) + unknown


def row_of(catalog: Catalog, kind: str, record_id: str) -> Row:
    """A record as its file gives it, absent keys null, with the figures that follow from it."""
    plain = catalog.plain(kind, record_id)
    row: Row = {key: plain.get(key, _default(plan.default)) for key, plan in plans(TABLES[kind].record_class).items()}
    if kind in ("devices", "hosts"):
        row |= _price(catalog, kind, record_id)
    elif kind == "models":
        model = catalog.models[record_id]
        row |= {"params": model.params, "active_params": model.active_params}
    return row


def _default(value: Any) -> Any:
    """A default as JSON has it; nested records are left out."""
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, str | int | float) else None


def _price(catalog: Catalog, kind: str, record_id: str) -> Row:
    thing: Any = catalog.records(kind)[record_id]
    memory = thing.memory_options_bytes[0] if kind == "devices" else None
    price = price_of(thing, memory, money=catalog.money)
    return {"price_usd": price.usd, "price_as_of": price.as_of}


def _near(word: str, known: Iterable[str]) -> tuple[str, ...]:
    return tuple(get_close_matches(word, tuple(known), n=3, cutoff=0.5))


def keys_of(kind: str) -> tuple[str, ...]:
    """Every key that conditions may name: those of the file, of the records inside, and what follows from them."""
    return (*_keys(Shape("record", record=TABLES[kind].record_class), ""), *COMPUTED.get(kind, ()))


def _keys(shape: Shape, path: str) -> Iterable[str]:
    for key, plan in plans(shape.record).items():
        yield path + key
        for inner in (plan.shape, *plan.shape.inner):
            if inner.kind == "record":
                yield from _keys(inner, f"{path}{key}.")


def _known_key(word: str, kind: str, option: str) -> str:
    """The full key that a word names: itself, its last part, or a short word for it."""
    known = keys_of(kind)
    if word in known:
        return word
    leaves = [key for key in known if key.endswith(f".{word}")]
    if len(leaves) == 1:
        return leaves[0]
    if SHORT.get(word) in known:
        return SHORT[word]
    near = _near(word, known) or _near(word, (key.rsplit(".", 1)[-1] for key in known))
    raise BadValue(f"{option}: {kind} have no key {word!r}{'; did you mean ' + near[0] + '?' if near else ''}", near)


def _test(condition: Condition, kind: str) -> Callable[[Row], bool]:
    """Whether any value of the key that a condition names meets it."""
    key = _known_key(condition.key, kind, f"--where {condition.said!r}")
    meets = condition.test(unit_of(key))
    return lambda row: meets(_values(_get(row, key)))


def _get(row: Mapping[str, Any], path: str) -> Any:
    """The value under a dotted key; of a list of records, the values of all."""
    key, _, rest = path.partition(".")
    value = row.get(key)
    if not rest:
        return value
    if isinstance(value, list):
        return [_get(each, rest) for each in value]
    return _get(value, rest) if isinstance(value, Mapping) else None


def _values(value: Any) -> list[Any]:
    """The values of a key, however deep in lists of records they stand; of a table the names of its entries."""
    if isinstance(value, Mapping):
        return list(value)
    return [inner for each in value for inner in _values(each)] if isinstance(value, list) else [value]


def _size(value: Any) -> tuple[int, float, str] | None:
    """What a value is sorted by; of several, the largest; None where it is unknown."""
    if isinstance(value, list):
        return max((size for size in map(_size, value) if size), default=None)
    if isinstance(value, int | float):
        return (0, float(value), "")
    return None if value is None else (1, 0.0, str(value))


def find(catalog: Catalog, name: str) -> tuple[str, Found]:
    """The kind and id of a name of any kind: an id before an alias, an error with the nearest of all kinds."""
    for kind in LISTED:
        if name in catalog.ids(kind):
            return kind, Found(name)
    near: list[str] = []
    for kind in LISTED:
        try:
            return kind, catalog.find(kind, name)
        except AmbiguousName:
            raise
        except UnknownName as error:
            near += error.nearest
    hint = f": did you mean {' or '.join(near[:3])}?" if near else ": `advisor list devices` shows what there is"
    raise UnknownName(f"the catalog has nothing called {shortened(name)}{hint}", tuple(near[:5]))


def card(catalog: Catalog, name: str, today: date | None = None) -> Card:
    """Everything the catalog says of what `name` names."""
    kind, found = find(catalog, name)
    row = row_of(catalog, kind, found.id)
    others = same_memory(catalog, found.id) if kind == "devices" else ()
    written = {key: value for key, value in row.items() if key in catalog.plain(kind, found.id)}
    follows = tuple(Figure(key, row[key], unit_of(key), None, None, None, None, False) for key in COMPUTED.get(kind, ()) if row[key])
    figures = _figures(written, kind, today or date.today()) + follows
    return Card(kind, found.id, row.get("name") or found.id, row, figures, others, found.note)


def _figures(row: Row, kind: str, today: date) -> tuple[Figure, ...]:
    """Every figure of the record that is known, with the first source that vouches for it."""
    skipped = ("id", "name", "aliases", "sources", "prices", "unverified", "notes", "parts", "files")
    return tuple(
        _figure(key, value, row, today)
        for key in keys_of(kind)
        if key.split(".")[0] not in skipped and key not in COMPUTED.get(kind, ())
        for value in [_get(row, key)]
        if any(each is not None for each in _values(value)) and not _nested(value)
    )


def _nested(value: Any) -> bool:
    """Whether a value is a record of its own, whose keys stand for themselves."""
    return isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(each, Mapping | list) for each in value))


def _figure(key: str, value: Any, row: Row, today: date) -> Figure:
    names = {key, key.rsplit(".", 1)[-1], key.split(".")[0]}
    source: Mapping[str, Any] = next((each for each in row.get("sources") or () if names & set(each.get("fields") or ())), {})
    seen = source.get("seen")
    age = (today - first_day(str(seen))).days if seen else None
    doubtful = bool(names & set(row.get("unverified") or ()))
    return Figure(key, value, unit_of(key), source.get("title"), source.get("url"), seen, age, doubtful)


def same_memory(catalog: Catalog, device_id: str) -> tuple[str, ...]:
    """Devices sold with one of the memory sizes of this one, at its bandwidth give or take a tenth."""
    mine = catalog.devices[device_id]
    return tuple(
        other.id
        for other in catalog.devices.values()
        if other.id != device_id
        and set(other.memory_options_bytes) & set(mine.memory_options_bytes)
        and abs(other.bandwidth_bytes_per_s / mine.bandwidth_bytes_per_s - 1) <= ALIKE_SHARE
    )
