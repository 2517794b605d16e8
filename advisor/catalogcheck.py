"""`advisor check`: everything wrong with catalog files, in one pass, always from the YAML."""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from advisor.catalogcache import compiled
from advisor.catalogcompile import Whole, gather, trees
from advisor.catalogfiles import Item, stray_folders
from advisor.catalogfolder import files_of
from advisor.catalogstack import overlay_paths, shipped
from advisor.tables import TABLES
from advisor.yamlcheck import did_you_mean
from advisor.yamlfile import Shape, build, plans
from advisor.yamltext import Lined, Problem

SOURCED = ("devices", "links", "hosts", "models")
NEED_NO_SOURCE = ("prices", "parts", "files", "sources", "norms_per_mixer", "norms_per_ffn")
Records = dict[str, dict[str, Any]]


class Checked(NamedTuple):
    """What was looked at, and what is wrong with it."""

    problems: tuple[Problem, ...]
    files: int
    records: Mapping[str, int]  # kind -> how many


def check(paths: Sequence[Path] = ()) -> Checked:
    """The problems of these files and folders as they lie on the catalog in use; without any, of that whole catalog.

    What records mean together is looked at in those that can be read; what names one that cannot is passed over.
    """
    base, own = files_of(shipped()), overlay_paths(())
    below, problems = gather(base, None)
    asked = [each for path in paths for each in files_of(path)]
    named = {each.path.resolve() for each in asked}
    under = [each for path in own for each in files_of(path) if each.path.resolve() not in named]
    above, found = gather([*under, *asked], compiled(trees(below), {})) if under or asked else ({}, [])
    problems = [*found, *([] if paths else problems)]
    problems += [each for root in paths or (Path(shipped()), *own) for each in stray_folders(root)]
    whole = {kind: {**below[kind], **above.get(kind, {})} for kind in TABLES}
    judged = _of_files(above, {each.label for each in asked}) if paths else whole
    problems += _senseless(*_readable(whole, judged, problems))
    counts = {kind: len(judged.get(kind, {})) for kind in TABLES}
    return Checked(tuple(sorted(set(problems))), len(asked) if paths else len(base) + len(under), counts)


def _of_files(above: Whole, labels: set[str]) -> Whole:
    """The records that stand in these files."""
    return {kind: {each: item for each, item in items.items() if item.file in labels} for kind, items in above.items()}


def _readable(whole: Whole, judged: Whole, problems: Sequence[Problem]) -> tuple[Whole, Whole, frozenset[str]]:
    """The records that can be read, and the ids of those that cannot, or that name what there is not."""
    broken = {problem.file for problem in problems}
    lost = frozenset(each for items in whole.values() for each, item in items.items() if item.file in broken)
    lost |= {Path(file).stem for file in broken}
    return _without(whole, broken), _without(judged, broken), lost


def _without(whole: Whole, broken: set[str]) -> Whole:
    return {kind: {each: item for each, item in items.items() if item.file not in broken} for kind, items in whole.items()}


def _senseless(whole: Whole, judged: Whole, lost: frozenset[str]) -> Iterator[Problem]:
    """What is well written and still wrong: figures without a source, and what contradicts itself or other records."""
    for kind in SOURCED:
        for item in judged.get(kind, {}).values():
            yield from _unsourced(item)
    records: Records = {
        kind: {each: build(TABLES[kind].record_class, item.tree) for each, item in items.items()} for kind, items in whole.items()
    }
    for kind, record_id, said in _contradictions(records):
        if record_id in judged.get(kind, {}) and not lost.intersection(re.split(r"[\s:,]+", said)):
            written = judged[kind][record_id]
            key, _, message = said.partition(": ")
            yield Problem(written.file, _line(written, key), key if message else "", message or key)


def _contradictions(records: Records) -> Iterator[tuple[str, str, str]]:
    for model in records["models"].values():
        yield from (("models", model.id, said) for said in model.problems())
    for module in ("sanity", "plausible"):
        if find_spec(f"advisor.{module}"):
            yield from import_module(f"advisor.{module}").problems(records)


def _line(item: Item, key: str) -> int:
    """Where a key is written, or the record that it should be in."""
    lines = item.tree.lines if isinstance(item.tree, Lined) else {}
    return lines.get(key.partition("[")[0].partition(".")[0], item.line)


def _unsourced(item: Item) -> Iterator[Problem]:
    """Numbers that no source vouches for, and sources that vouch for what is not there."""
    record = TABLES[item.kind].record_class
    known = set(_all_keys(Shape("record", record=record)))
    vouched: set[str] = set()
    for index, source in enumerate(item.tree.get("sources") or ()):
        for name in source["fields"]:
            vouched |= {name, name.rsplit(".", 1)[-1]}
            if name.rsplit(".", 1)[-1] not in known:
                message = f"{name} is no key of a {TABLES[item.kind].one}{did_you_mean(name, tuple(known))}"
                yield Problem(item.file, _line(item, "sources"), f"sources[{index}].fields", message)
    for key, value in item.tree.items():
        if key not in vouched and key not in NEED_NO_SOURCE:
            for figure in _figures(key, value):
                if figure.rsplit(".", 1)[-1] not in vouched:
                    yield Problem(item.file, _line(item, key), figure, "no source names it in its fields")


def _all_keys(shape: Shape) -> Iterator[str]:
    for key, plan in plans(shape.record).items():
        yield key
        for inner in (plan.shape, *plan.shape.inner):
            if inner.kind == "record":
                yield from _all_keys(inner)


def _figures(key: str, value: Any) -> Iterator[str]:
    """The keys of all numbers at and below a value."""
    if isinstance(value, Mapping):
        for inner, each in value.items():
            yield from _figures(f"{key}.{inner}", each)
    elif isinstance(value, list):
        yield from dict.fromkeys(figure for each in value for figure in _figures(key, each))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key
