"""A new record from what its owner knows of it: which fields are asked, and the commented YAML file they make."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from advisor.catalog import Catalog
from advisor.catalogfiles import ID, ID_RULE, Item, record_problems
from advisor.device import LOOSE, SHARING
from advisor.errors import BadValue
from advisor.record import dataclass
from advisor.tables import TABLES
from advisor.yamlfile import Shape, build, plans
from advisor.yamltext import parse
from advisor.yamlwrite import lines, unit_of

PER = ("pair", "box", "system", "device")  # of what a link's part is needed once
ADDED = {"device": "devices", "link": "links", "model": "models", "host": "hosts"}

NEEDED = ("fp16_tflops",)  # may be unknown in the catalog, but then nothing says how fast a prompt is read


@dataclass(frozen=True)
class Ask:
    """One thing that is asked: an option, and the key of the file that it fills (dotted inside a nested record)."""

    option: str  # as in --memory-gib, with underscores
    key: str
    kind: str  # text | whole | decimal | truth | part
    several: bool
    required: bool
    about: str
    one_of: tuple[str, ...] = ()
    offered: bool = False  # asked of a person though it may be left out: without it something counts as free or unknown


NOTHING = "none"  # answers what is offered: there is no such thing
SIMPLER: dict[str, tuple[Ask, ...]] = {
    "sources": (
        Ask("source", "", "text", False, True, "where the figures come from: a maker's page, a data sheet"),
        Ask("source_url", "", "text", False, False, "its address"),
    ),
    "prices": (
        Ask("price_usd", "", "decimal", True, False, "what one costs today, USD; one for each memory size, as in 1999,2799", offered=True),
        Ask("price_condition", "", "text", False, False, "condition of that price", ("new", "used", "refurbished")),
    ),
    "parts": (
        Ask(
            "part",
            "",
            "part",
            True,
            False,
            "what one buys for it, NAME:PER:USD, as in 'Bridge:pair:120'; PER is "
            "pair, box, device or system; ':3' behind it where only three ends and more need it; none: nothing",
            offered=True,
        ),
    ),
    "slots": (
        Ask("slot_generation", "", "whole", False, True, "PCIe generation of the slots"),
        Ask("slot_lanes", "", "whole", True, True, "lanes of each slot with all of them filled, as in 8,8"),
    ),
    "mixers": (
        Ask("heads", "", "whole", False, True, "query heads: num_attention_heads of config.json"),
        Ask("kv_heads", "", "whole", False, True, "key-value heads: num_key_value_heads"),
        Ask("head_dim", "", "whole", False, True, "width of a head: head_dim, else hidden_size / heads"),
        Ask("window_tokens", "", "whole", False, False, "sliding window, if every layer has one"),
    ),
    "ffns": (
        Ask("ffn_width", "", "whole", False, True, "feed-forward width: intermediate_size (of one expert in a mixture)"),
        Ask("experts", "", "whole", False, False, "routed experts of a mixture"),
        Ask("experts_per_token", "", "whole", False, False, "experts that a token takes"),
    ),
}


def asks(kind: str) -> Iterator[Ask]:
    """What can be said of a new record of a kind, the required first as the file has them."""
    for key, plan in plans(TABLES[kind].record_class).items():
        if _is_rows(plan.shape):
            yield from SIMPLER.get(key, ())
        elif plan.shape.kind == "record":
            yield from _inner(key, plan.shape)
        elif plan.shape.kind != "mapping":
            shape = plan.shape.inner[0] if plan.shape.kind == "list" else plan.shape
            yield Ask(key, key, shape.kind, plan.shape.kind == "list", plan.required, _about(key, plan.about), plan.one_of)


def _is_rows(shape: Shape) -> bool:
    """Whether a field is a list of records, which is made from simpler words."""
    return shape.kind == "list" and shape.inner[0].kind == "record"


def _inner(key: str, shape: Shape) -> Iterator[Ask]:
    for name, plan in plans(shape.record).items():
        yield Ask(name, f"{key}.{name}", plan.shape.kind, False, name in NEEDED, _about(name, plan.about), plan.one_of)


def _about(key: str, about: str) -> str:
    return "; ".join(word for word in (unit_of(key), about) if word)


def value(ask: Ask, words: str) -> Any:
    """What the words of one answer mean; BadValue with what was wanted."""
    if ask.offered and words.strip().lower() in ("", NOTHING):
        return []
    if ask.several:
        return [_one(ask, word.strip()) for word in words.split(",") if word.strip()]
    return _one(ask, words.strip())


def _one(ask: Ask, word: str) -> Any:
    if ask.kind in ("whole", "decimal"):
        try:
            number = float(word.replace("_", ""))
            return int(number) if number.is_integer() else number
        except (ValueError, OverflowError):
            raise BadValue(f"{option(ask.option)}: {word!r} is not a number{', in ' + ask.about if ask.about else ''}") from None
    if ask.kind == "truth":
        known = {"yes": True, "true": True, "no": False, "false": False}
        if word.lower() not in known:
            raise BadValue(f"{option(ask.option)}: yes or no, not {word!r}")
        return known[word.lower()]
    return _part(ask, word) if ask.kind == "part" else word


def _part(ask: Ask, words: str) -> dict[str, Any]:
    """`NVLink bridge:pair:120` as the part of a link; without a price it is one that nobody says."""
    name, *rest = (each.strip() for each in words.split(":"))
    if not name or not rest or len(rest) > 3 or rest[0] not in PER:
        raise BadValue(f"{option(ask.option)}: {words!r} is no NAME:PER:USD; PER is one of {', '.join(PER)}", PER)
    numbers = dict(zip(("usd", "needed_from"), rest[1:], strict=False))
    dollars = Ask(ask.option, "", "decimal", False, False, "USD")
    return {"name": name, "per": rest[0], **{key: _one(dollars, each) for key, each in numbers.items() if each}}


def option(name: str) -> str:
    """How the option is typed."""
    return f"--{name.replace('_', '-')}"


def plain(kind: str, said: Mapping[str, Any], shape: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The record as a file has it: what was said by option, upon a shape that was read elsewhere."""
    day = date.today().isoformat()
    found: dict[str, Any] = dict(shape or {})
    for ask in asks(kind):
        if ask.key and ask.option in said:
            outer, _, inner = ask.key.partition(".")
            if inner:
                found.setdefault(outer, {})[inner] = said[ask.option]
            else:
                found[outer] = said[ask.option]
    if kind == "devices":
        found = _of_its_kind(found)
    known = plans(TABLES[kind].record_class)
    for key, make in MADE.items():
        if key in known and _is_rows(known[key].shape):
            made = make(said, found, day)
            found |= {key: made} if made else {}
    return found


def _of_its_kind(found: dict[str, Any]) -> dict[str, Any]:
    """What a Mac, a box or a laptop's chip is always, where it was not said."""
    fixed = {} if found.get("kind") in LOOSE else {"mount": "fixed"}
    shared = {"unified_memory": True} if found.get("kind") in SHARING else {}
    return {**fixed, **shared, **found}


def _sources(said: Mapping[str, Any], found: Mapping[str, Any], day: str) -> list[dict[str, Any]]:
    if "source" not in said:
        return []
    source = {"fields": list(_figures(found)), "title": said["source"]}
    return [source | ({"url": said["source_url"]} if "source_url" in said else {}) | {"seen": day}]


def _figures(found: Mapping[str, Any]) -> Iterator[str]:
    """The keys of all numbers, as a source names them."""
    for key, value in found.items():
        if isinstance(value, Mapping):
            yield from _figures(value)
        elif key in ("mixers", "ffns", "slots") or any(_is_number(each) for each in (value if isinstance(value, list) else [value])):
            yield key


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _prices(said: Mapping[str, Any], _: Mapping[str, Any], day: str) -> list[dict[str, Any]]:
    if not said.get("price_usd"):
        return []
    figures, sizes = said["price_usd"], said.get("memory_gib")
    of_size = [{"memory_gib": size} for size in sizes] if isinstance(sizes, list) and len(sizes) > 1 else [{}]
    if len(figures) != len(of_size):
        wanted = f"one for each memory size, {', '.join(map(str, sizes or ()))} GiB" if len(of_size) > 1 else "one"
        raise BadValue(f"--price-usd: {len(figures)} price{'s' if len(figures) != 1 else ''}; give {wanted}")
    head = {"kind": "street", "condition": said.get("price_condition", "new")}
    tail = {"date": day, "source": said.get("source_url") or said.get("source") or "the owner"}
    return [{**head, "low": usd, "high": usd, **size, **tail} for usd, size in zip(figures, of_size, strict=True)]


def _slots(said: Mapping[str, Any], _: Mapping[str, Any], __: str) -> list[dict[str, Any]]:
    return [{"generation": said.get("slot_generation"), "lanes": lanes} for lanes in said.get("slot_lanes") or ()]


def _parts(said: Mapping[str, Any], _: Mapping[str, Any], day: str) -> list[dict[str, Any]]:
    tail = {"date": day, "source": said.get("source_url") or said.get("source") or "the owner"}
    return [{**part, **(tail if "usd" in part else {})} for part in said.get("part") or ()]


def _mixers(said: Mapping[str, Any], found: Mapping[str, Any], _: str) -> list[dict[str, Any]]:
    shape = {key: said[key] for key in ("heads", "kv_heads", "head_dim", "window_tokens") if key in said}
    return [{"kind": "sliding" if "window_tokens" in said else "full", "layers": found.get("layers"), **shape}] if shape else []


def _ffns(said: Mapping[str, Any], found: Mapping[str, Any], _: str) -> list[dict[str, Any]]:
    if "ffn_width" not in said:
        return []
    if "experts" not in said:
        return [{"kind": "dense", "layers": found.get("layers"), "width": said["ffn_width"]}]
    routed = {key: said[key] for key in ("experts", "experts_per_token") if key in said}
    return [{"kind": "moe", "layers": found.get("layers"), **routed, "expert_width": said["ffn_width"]}]


MADE: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any], str], list[dict[str, Any]]]] = {
    "slots": _slots,
    "mixers": _mixers,
    "ffns": _ffns,
    "prices": _prices,
    "parts": _parts,
    "sources": _sources,  # the last: it names the figures of all others
}


def id_of(name: str) -> str:
    """An id made of a name: `GeForce RTX 9090 Ti` becomes `geforce-rtx-9090-ti`."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")[:80]


def text(kind: str, record: Mapping[str, Any], schema: str) -> str:
    """The file: a line for editors, a word to the reader, each key with its unit, what is not known as comments."""
    head = (
        f"# yaml-language-server: $schema={schema}",
        f"# A {TABLES[kind].one} for `advisor`. Every number needs a source that names its key in `fields`;",
        "# keys of what nobody could verify stand in `unverified`.",
        "# Lines that begin with # are keys to fill in. Then: advisor check THIS-FILE",
    )
    return "\n".join((*head, *lines(TABLES[kind].record_class, record))) + "\n"


def check(kind: str, written: str, catalog: Catalog) -> None:
    """Refuse what the catalog would refuse, in the words of the options."""
    tree, problems = parse(written.encode(), "")
    record_id = str(tree.get("id", "")) if isinstance(tree, Mapping) else ""
    if not ID.fullmatch(record_id):
        raise BadValue(f"--id {record_id!r}: {ID_RULE}")
    if not problems:
        ids = {each: dict.fromkeys(catalog.ids(each)) for each in TABLES}
        problems = record_problems(Item(kind, record_id, tree, "", 1), ids)
    said = [f"{_option_of(problem.key) if problem.key else 'the file'}: {problem.message}" for problem in problems]
    if not said and kind == "models":
        said = list(build(TABLES[kind].record_class, tree).problems())
    if said:
        raise BadValue("; ".join(dict.fromkeys(said)))


def _option_of(key: str) -> str:
    """The option that fills a key of the file: `parts[0].usd` is said with --part."""
    outer, leaf = key.split("[", 1)[0].split(".", 1)[0], key.rsplit(".", 1)[-1]
    simpler = SIMPLER.get(outer, ()) if "[" in key else ()
    return option(leaf if not simpler or leaf in {ask.option for ask in simpler} else simpler[0].option)


def path_of(folder: Path, kind: str, record_id: str) -> Path:
    """The file of a new record: its stem is its id."""
    return folder / kind / f"{record_id}.yaml"
