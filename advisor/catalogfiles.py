"""The catalog's YAML files into checked items: read, told apart by kind, laid over one another. Knows no physics."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from advisor.catalogfolder import CatalogFile
from advisor.tables import FOLDERS, TABLES
from advisor.yamlcheck import did_you_mean, problems_of
from advisor.yamlfile import build, plans
from advisor.yamltext import Lined, Problem, read

_OF_WINDOWS = r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)"  # devices there, not files, whatever follows the dot
MOST_TELLING = 2  # keys that tell a kind
ID = re.compile(rf"(?!{_OF_WINDOWS})[a-z0-9](?:[a-z0-9._-]{{0,78}}[a-z0-9])?")
ROW_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,199}")  # of a measurement: no file is named after it
ID_RULE = "an id is lower-case letters, digits, dots, dashes and underscores, and no word that Windows keeps (con, nul, com1 …)"


class Item(NamedTuple):
    """One record as written: possibly only the fields that an overlay changes."""

    kind: str
    id: str
    tree: Mapping[str, Any]
    file: str
    line: int


def stray_folders(root: Path) -> list[Problem]:
    """Folders and files in a catalog folder that nobody would read: a slip of the name."""
    if not root.is_dir():
        return []
    problems = []
    for path in sorted(root.rglob("*")):
        label = CatalogFile(str(path), None, 0, 0).label
        inside = path.parent == root or (path.parent.parent == root and path.parent.name in FOLDERS)
        if path.is_dir() and path.parent == root and path.name not in FOLDERS and not path.name.startswith("."):
            problems.append(Problem(label, 1, "", f"no kind of record has this folder{did_you_mean(path.name, FOLDERS)}"))
        elif inside and path.suffix in (".yml", ".YAML", ".YML"):
            problems.append(Problem(label, 1, "", "not read: name it .yaml"))
    return problems


def items_of(file: CatalogFile, kind_of: Callable[[Mapping[str, Any]], str | None]) -> tuple[list[Item], list[Problem]]:
    """The records of one file as written, with problems of form. `kind_of` tells the kind of a record from its keys."""
    tree, problems = read(file.path, file.label)
    if problems:
        return [], problems
    if not isinstance(tree, Lined):
        what = "empty" if tree is None else "expected keys and values"
        return [], [Problem(file.label, 1, "", what)]
    kind = file.kind or (None if _is_bundle(tree) else kind_of(tree))
    if kind is None and not _is_bundle(tree):
        return [], [
            Problem(file.label, 1, "", f"cannot tell what this is: {_telling()}; or put it in a folder named {', '.join(FOLDERS[:5])}")
        ]
    form = TABLES[kind].form if kind else "bundle"
    items, problems = READERS[form](kind or "", tree, file.label)
    return items, problems + (_id_problems(items, file) if form != "single" else [])


def _telling() -> str:
    """By which keys the kind of a record is known: those that it must have and no other kind knows."""
    known = {kind: plans(table.record_class) for kind, table in TABLES.items() if table.form == "folder"}
    told = []
    for kind, own in known.items():
        others = {key for other, keys in known.items() if other != kind for key in keys}
        first = [key for key, plan in own.items() if plan.required and key not in others][:MOST_TELLING]
        one = TABLES[kind].one
        told.append(f"{'an' if one[0] in 'aeiou' else 'a'} {one} has {' and '.join(first)}")
    return ", ".join(told)


def _is_bundle(tree: Mapping[str, Any]) -> bool:
    """Whether a file holds lists of records under the names of their kinds."""
    return bool(tree) and all(key in TABLES and isinstance(value, list) for key, value in tree.items())


def _one(kind: str, tree: Lined, label: str) -> tuple[list[Item], list[Problem]]:
    return [Item(kind, str(tree.get("id", "")), tree, label, tree.line)], []


def _single(kind: str, tree: Lined, label: str) -> tuple[list[Item], list[Problem]]:
    return [Item(kind, kind, tree, label, tree.line)], []


def _rows(kind: str, tree: Lined, label: str) -> tuple[list[Item], list[Problem]]:
    """Each row stands for the header's keys and its own."""
    rows = tree.get("rows")
    if not isinstance(rows, list):
        return [], [Problem(label, tree.lines.get("rows", tree.line), "rows", "expected a list of rows")]
    header = {key: value for key, value in tree.items() if key != "rows"}
    items, problems = [], []
    for index, row in enumerate(rows):
        if not isinstance(row, Lined):
            problems.append(Problem(label, tree.lines["rows"], f"rows[{index}]", "expected keys and values"))
            continue
        whole = Lined(row.line)
        whole.update(header)
        whole.update(row)
        whole.lines = tree.lines | row.lines
        items.append(Item(kind, str(row.get("id", "")), whole, label, row.line))
    return items, problems


def _bundle(_: str, tree: Lined, label: str) -> tuple[list[Item], list[Problem]]:
    items, problems = [], []
    for kind, records in tree.items():
        if kind not in TABLES or not isinstance(records, list):
            problems.append(Problem(label, tree.lines[kind], kind, f"unknown key{did_you_mean(kind, tuple(TABLES))}"))
            continue
        for index, record in enumerate(records):
            if isinstance(record, Lined):
                items.append(Item(kind, str(record.get("id", "")), record, label, record.line))
            else:
                problems.append(Problem(label, tree.lines[kind], f"{kind}[{index}]", "expected keys and values"))
    return items, problems


READERS = {"folder": _one, "single": _single, "rows": _rows, "list": _bundle, "bundle": _bundle}


def _id_problems(items: list[Item], file: CatalogFile) -> list[Problem]:
    problems = []
    for item in items:
        line = item.tree.lines.get("id", item.line) if isinstance(item.tree, Lined) else item.line
        if "id" not in item.tree:
            problems.append(Problem(item.file, line, "id", "missing"))
        elif not (ROW_ID if TABLES[item.kind].form == "rows" else ID).fullmatch(item.id):
            problems.append(Problem(item.file, line, "id", f"{item.id!r}: {ID_RULE}"))
        elif TABLES[item.kind].form == "folder" and file.kind and item.id != file.path.stem:
            problems.append(Problem(item.file, line, "id", f"{item.id} in a file named {file.path.name}: they must agree"))
    return problems


def guess_kind(tree: Mapping[str, Any]) -> str | None:
    """The kind whose keys the record has: the most keys known to it, none unknown; None where several answer alike."""
    kinds = [kind for kind, table in TABLES.items() if table.form == "folder"]
    known = {kind: sum(key in plans(TABLES[kind].record_class) for key in tree) for kind in kinds}
    best = max(known.values())
    likely = [kind for kind, count in known.items() if count == best]
    return likely[0] if len(likely) == 1 and best > 1 else None


def laid_over(below: Mapping[str, Any], patch: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with the fields that the patch names: mappings are merged, chosen numbers told apart by their ids, all else replaced."""
    whole = Lined(patch.line if isinstance(patch, Lined) else 1)
    whole.lines = patch.lines if isinstance(patch, Lined) else {}
    whole.update(below)
    for key, value in patch.items():
        old = below.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            value = laid_over(old, value)
        elif key == "choices" and isinstance(value, list) and isinstance(old, list):
            value = _chosen_over(old, value)
        whole[key] = value
    return whole


def _chosen_over(below: Sequence[Any], patch: Sequence[Any]) -> list[Any]:
    """The chosen numbers with those that the patch changes: whoever changes one keeps the others."""
    changed = {row.get("id") for row in patch if isinstance(row, Mapping)}
    return [*(row for row in below if not (isinstance(row, Mapping) and row.get("id") in changed)), *patch]


def record_problems(item: Item, ids: Mapping[str, Mapping[str, Any]]) -> list[Problem]:
    """What is wrong with a whole record: its fields, and the ids it refers to, of those in `ids` by kind."""
    table = TABLES[item.kind]
    problems = problems_of(table.record_class, item.tree, item.file, item.line)
    for key, kind in table.refers.items():
        named = item.tree.get(key) or ()
        for each in named if isinstance(named, list | tuple) else [named]:
            if isinstance(each, str) and each not in ids.get(kind, {}):
                line = item.tree.lines.get(key, item.line) if isinstance(item.tree, Lined) else item.line
                message = f"no {TABLES[kind].one} is called {each!r}{did_you_mean(each, tuple(ids.get(kind, {})))}"
                problems.append(Problem(item.file, line, key, message))
    return problems or _impossible(item)


def _impossible(item: Item) -> list[Problem]:
    """What is well written of a model, and nothing could be estimated with."""
    if item.kind != "models":
        return []
    line = item.tree.lines.get("mixers", item.line) if isinstance(item.tree, Lined) else item.line
    said = (each.partition(": ") for each in build(TABLES[item.kind].record_class, item.tree).impossible())
    return [Problem(item.file, line, key, message) for key, _, message in said]
