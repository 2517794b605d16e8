"""Catalog files made into a compiled copy, or refused with every problem of every file."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from advisor.catalogcache import Compiled, compiled
from advisor.catalogfiles import Item, guess_kind, items_of, laid_over, record_problems
from advisor.catalogfolder import CatalogFile
from advisor.errors import CatalogError
from advisor.lookup import names_of
from advisor.tables import TABLES
from advisor.yamlcheck import did_you_mean
from advisor.yamltext import Problem

Whole = dict[str, dict[str, Item]]
Plain = dict[str, dict[str, Mapping[str, Any]]]


def compile_files(files: Sequence[CatalogFile], below: Compiled | None, key: str) -> Compiled:
    """The copy of these files, laid over `below` in their order; CatalogError with all problems."""
    whole, problems = gather(files, below)
    if problems:
        raise CatalogError(tuple(str(problem) for problem in sorted(set(problems))))
    records = trees(whole)
    facts = {"key": key, "digest": _digest(files), "prices_as_of": _newest_price(records)}
    return compiled(records, facts, {"rows naming": _rows_naming(records), "variants": _variants(records), **_named(records)})


def trees(whole: Whole) -> Plain:
    """The records alone, without where they were written."""
    return {kind: {each: item.tree for each, item in items.items()} for kind, items in whole.items()}


def gather(files: Sequence[CatalogFile], below: Compiled | None) -> tuple[Whole, list[Problem]]:
    """The whole records that the files make, by kind and id, and everything wrong with them."""
    whole: Whole = {kind: {} for kind in TABLES}
    problems: list[Problem] = []
    for file in files:
        items, found = items_of(file, lambda tree: _kind_of(tree, below))
        problems += found
        for item in items if not found else []:
            problems += _lay(item, whole, below)
    ids = {kind: {**(below.index(kind) if below else {}), **whole[kind]} for kind in TABLES}
    for item in (item for items_of_kind in whole.values() for item in items_of_kind.values()):
        found = record_problems(item, ids)
        problems += [_hinted(item, found[0], ids[item.kind]), *found[1:]] if found else []
    return whole, problems


def _lay(item: Item, whole: Whole, below: Compiled | None) -> list[Problem]:
    """Put an item among the whole records: upon the one of its id, if there is one."""
    first = whole[item.kind].get(item.id)
    if first and (below is None or first.file == item.file):
        return [Problem(item.file, item.line, "id", f"{item.id} is also in {first.file}, line {first.line}")]
    under = first.tree if first else below.plain(item.kind, item.id) if below else None
    tree = laid_over(under, item.tree) if under else item.tree
    whole[item.kind][item.id] = item._replace(tree=tree)
    return []


def _kind_of(tree: Mapping[str, Any], below: Compiled | None) -> str | None:
    """The kind of a record named alone: the kind of the record it changes, else the one whose keys it has."""
    known = [kind for kind in TABLES if below and TABLES[kind].form == "folder" and tree.get("id") in below.index(kind)]
    return known[0] if len(known) == 1 else guess_kind(tree)


def _hinted(item: Item, problem: Problem, ids: Mapping[str, Any]) -> Problem:
    """A record with keys missing may be a change of one whose id was misspelled."""
    if problem.message != "missing":
        return problem
    near = did_you_mean(item.id, tuple(each for each in ids if each != item.id))
    return problem._replace(message=f"missing in the new {TABLES[item.kind].one} {item.id}{near}") if near else problem


def _named(records: Plain) -> dict[str, dict[str, list[str]]]:
    """For each kind, the ids that bear a name, and those whose family bears it."""
    tables: dict[str, dict[str, list[str]]] = {}
    for kind in (kind for kind, table in TABLES.items() if table.form in ("folder", "list")):
        for record_id in sorted(records[kind]):
            for which, names in zip(("names", "families"), names_of(kind, records[kind][record_id]), strict=True):
                for name in sorted(names):
                    tables.setdefault(f"{which} {kind}", {}).setdefault(name, []).append(record_id)
    return tables


def _variants(records: Plain) -> dict[str, list[str]]:
    """For each device that a plain name stands for, its rarer variants, which must be named in full."""
    found: dict[str, list[str]] = {}
    for record_id in sorted(records["devices"]):
        common = records["devices"][record_id].get("variant_of")
        if common:
            found.setdefault(common, []).append(record_id)
    return found


def _rows_naming(records: Plain) -> dict[str, list[int]]:
    """For each device and model, the places (in the order of their ids) of the measurements that name it."""
    places: dict[str, list[int]] = {}
    for place, row_id in enumerate(sorted(records["measurements"])):
        row = records["measurements"][row_id]
        named = {str(ran.get("device")) for ran in row["devices"]} | {str(row.get("model"))}
        for name in sorted(named):
            places.setdefault(name, []).append(place)
    return places


def _newest_price(records: Plain) -> str:
    dates = (str(price.get("date") or "") for plain in records["devices"].values() for price in plain.get("prices") or ())
    return max(dates, default="")


def _digest(files: Sequence[CatalogFile]) -> str:
    """Of the content of all files, so that the same data bears the same version wherever it lies."""
    total = sha256()
    for file in files:
        total.update(f"{file.kind}/{file.path.name}\0".encode())
        total.update(file.path.read_bytes())
    return total.hexdigest()
