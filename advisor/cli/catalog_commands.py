"""`advisor list`, `show`, `check` and `add`: the catalog looked at, checked and extended."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from advisor.cli.complete import catalog_ids, words_of
from advisor.cli.options import form_options
from advisor.cli.streams import say, wrapped

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.drafts import Ask
    from advisor.report.page import Page

KINDS = ("devices", "links", "models", "engines", "hosts", "quants", "measurements")
INVALID = 4
catalog_option = click.option(
    "--catalog", metavar="PATH", multiple=True, help="Overlay file or folder on the catalog (repeatable).  [env: ADVISOR_CATALOG]"
)


def loaded(paths: tuple[str, ...], *, aloud: bool = True) -> "Catalog":
    """The catalog in use; says which overlays lie on it."""
    from advisor.catalog import Catalog

    catalog = Catalog.load(tuple(map(Path, paths)))
    for overlay in catalog.overlays if aloud else ():
        say(f"Note: The catalog is overlaid by {overlay}.", error=True)
    return catalog


def print_in(form: str, page: Callable[[], "Page"], found: Callable[[], dict[str, Any]]) -> None:
    """The answer in its form."""
    if form == "json":
        say(json.dumps(found(), indent=2, allow_nan=False))
    elif form == "markdown":
        from advisor.report.as_markdown import written

        say(written(page()))
    else:
        from advisor.report.as_text import written as as_text

        say(as_text(page()))


@click.command("list", epilog="Example:  advisor list devices --where 'memory>=48gb' --where maker=nvidia --sort price")
@click.argument("kind", metavar="KIND", shell_complete=words_of("advisor.tables", "LISTED"))
@click.option("--where", metavar="EXPR", multiple=True, help="KEY>=NUMBER[UNIT], KEY=WORD, KEY~PART (repeatable).")
@click.option("--sort", metavar="KEY", help="Order by this key; -KEY puts the largest first.")
@catalog_option
@form_options("text", "json", "markdown")
def list_command(kind: str, where: tuple[str, ...], sort: str | None, catalog: tuple[str, ...], form: str) -> int:
    """The catalog's records of one KIND: devices, links, models, engines, hosts, quants, measurements."""
    from advisor import browse
    from advisor.report import catalog_pages as pages

    rows = browse.listing(loaded(catalog), kind, where, sort)
    print_in(form, lambda: pages.list_page(kind, rows), lambda: pages.list_object(kind, rows))
    return 0


@click.command("show", epilog="Example:  advisor show rtx-3090")
@click.argument(
    "name", nargs=-1, required=True, metavar="ID", shell_complete=catalog_ids("devices", "models", "links", "hosts", "engines", "quants")
)
@catalog_option
@form_options("text", "json", "markdown")
def show_command(name: tuple[str, ...], catalog: tuple[str, ...], form: str) -> int:
    """Everything the catalog says of one thing: each figure with its unit, source and date; prices; who else has its memory."""
    from advisor import browse
    from advisor.report import catalog_pages as pages

    card = browse.card(loaded(catalog), " ".join(name))
    print_in(form, lambda: pages.card_page(card), lambda: pages.card_object(card))
    return 0


@click.command("check", epilog="Example:  advisor check my-gpu.yaml")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@form_options("text", "json")
def check_command(paths: tuple[str, ...], form: str) -> int:
    """Every problem of catalog files, as file:line: key: message; without PATH, of the whole catalog with your overlays."""
    from advisor.catalogcheck import check
    from advisor.report.head import head

    checked = check(tuple(map(Path, paths)))
    if form == "json":
        said = [each._asdict() for each in checked.problems]
        counts = {"files": checked.files, "records": dict(checked.records)}
        say(json.dumps({**head("check"), "valid": not said, "problems": said, **counts}, indent=2))
    elif checked.problems:
        say("\n".join(map(str, checked.problems)), error=True)
    else:
        counted = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in checked.records.items() if count > 1)
        say(wrapped(f"Valid: {checked.files} file{'s' if checked.files != 1 else ''}{f' with {counted}' if counted else ''}."))
    return INVALID if checked.problems else 0


class _AddGroup(click.Group):
    """One command a kind, whose options are the fields of that kind's record."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from advisor.drafts import ADDED

        return list(ADDED)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from advisor.drafts import ADDED, asks

        if cmd_name not in ADDED:
            return None
        options: list[click.Parameter] = [_option(each) for each in asks(ADDED[cmd_name])]
        if cmd_name == "model":
            options.append(click.Option(["--from-config"], metavar="PATH", help="Take the shape from a config.json."))
        options += [
            click.Option(["--into"], metavar="FOLDER", help="Catalog folder to write to.  [default: your own]"),
            click.Option(["--force"], is_flag=True, help="Replace a file that is there."),
            click.Option(["--json"], is_flag=True, help="Answer in JSON."),
        ]
        text = f"Write a {cmd_name} as a commented YAML file, check it and show it. What is required and not given is asked."
        return click.Command(cmd_name, params=options, callback=lambda **given: _add(ADDED[cmd_name], given), help=text)


def _option(ask: "Ask") -> click.Option:
    words = "; ".join(each for each in (ask.about, ", ".join(ask.one_of), "required" if ask.required and ask.key != "id" else "") if each)
    metavar = {"whole": "N", "decimal": "X", "truth": "yes|no"}.get(ask.kind, "TEXT")
    metavar = "NAME:PER:USD" if ask.kind == "part" else f"{metavar},..." if ask.several else metavar
    return click.Option([f"--{ask.option.replace('_', '-')}", ask.option], metavar=metavar, help=words, multiple=ask.kind == "part")


@click.group("add", cls=_AddGroup, epilog="Example:  advisor add device --name 'GeForce RTX 9090' --maker nvidia --memory-gib 48 …")
def add_command() -> None:
    """A new record for the catalog, written to your own folder as a commented YAML file."""


def _add(kind: str, given: dict[str, Any]) -> int:
    from advisor import drafts, safewrite
    from advisor.catalogschema import catalog_schema
    from advisor.catalogstack import user_catalog
    from advisor.draftnotes import notes
    from advisor.errors import BadInput, BadValue

    into, force, as_json = given.pop("into"), given.pop("force"), given.pop("json")
    config = given.pop("from_config", None)
    folder = Path(into) if into else user_catalog()
    catalog = loaded((), aloud=False)
    said = _answers(kind, {key: _joined(words) for key, words in given.items() if words not in (None, ())}, config)
    record = drafts.plain(kind, said, _shape_of(config))
    record_id = str(record["id"])
    if record_id in catalog.ids(kind) and not force:
        raise BadValue(f"{record_id} is in the catalog already: to change fields of it, write a file with its id and those fields")
    schema = folder.parent / "schemas" / f"{kind}.json"
    written = drafts.text(kind, record, f"../../schemas/{schema.name}")
    drafts.check(kind, written, catalog)
    path = drafts.path_of(folder, kind, record_id)
    safewrite.write(path, written, force=force)
    try:
        safewrite.write(schema, json.dumps(catalog_schema(kind), indent=2) + "\n", force=True)
    except BadInput as error:  # the record is there; only the editor's help is not
        say(f"Note: {error}", error=True)
    for note in notes(kind, said, record, catalog):
        say(wrapped(f"Note: {note}"), error=True)
    return _added(kind, record_id, path, folder if into else None, as_json)


def _joined(words: str | tuple[str, ...]) -> str:
    """An option that was given several times as one that was given once."""
    return words if isinstance(words, str) else ",".join(words)


def _shape_of(config: str | None) -> dict[str, Any]:
    """The shape of a model as its config.json gives it."""
    if config is None:
        return {}
    from advisor.intake.hf_config import read
    from advisor.yamlwrite import encode

    return encode(read(Path(config)))


def _answers(kind: str, given: dict[str, str], config: str | None) -> dict[str, Any]:
    """What was said of each field; what is required and missing is asked, or named in an error where nobody can answer."""
    from advisor import drafts
    from advisor.errors import BadValue

    said: dict[str, Any] = {}
    missing, offered = [], []
    for ask in drafts.asks(kind):
        if ask.option in given:
            said[ask.option] = drafts.value(ask, given[ask.option])
        elif ask.option == "id" and "name" in given:
            said["id"] = drafts.id_of(given["name"])
        elif ask.required and not (config and ask.option not in ("id", "name")):
            missing.append(ask)
        elif ask.offered:
            offered.append(ask)
    if not missing:
        return said
    if not sys.stdin.isatty():
        needed = ", ".join(drafts.option(ask.option) + _meaning(ask) for ask in missing if ask.option != "id")
        raise BadValue(f"missing: {needed}")
    return said | _asked([*missing, *offered])


def _joined_by(link: dict[str, Any]) -> str:
    """A device that a link may join, for an example; nothing for other records."""
    usual = "rtx-3090" if link.get("scope") == "in-box" else "mac-m4-max-40c" if link.get("kind") == "thunderbolt" else "dgx-spark"
    return next(iter(link.get("devices") or ()), usual)


def _meaning(ask: "Ask") -> str:
    """What an answer means and which there are, in brackets."""
    words = "; ".join(each for each in (ask.about, ", ".join(ask.one_of)) if each)
    return f" ({words})" if words else ""


def _asked(missing: list["Ask"]) -> dict[str, Any]:
    """The answers that a person types."""
    from advisor import drafts

    def parsed(ask: "Ask") -> Callable[[str], Any]:
        def parse(words: str) -> Any:
            try:
                return drafts.value(ask, words)
            except Exception as error:
                raise click.BadParameter(str(error)) from None

        return parse

    said: dict[str, Any] = {}
    for ask in sorted(missing, key=lambda each: each.option == "id"):  # the id after the name, from which it follows
        default = drafts.id_of(str(said["name"])) if ask.option == "id" and "name" in said else drafts.NOTHING if ask.offered else None
        question = (ask.key or ask.option) + _meaning(ask)
        said[ask.option] = click.prompt(question, default=default, value_proc=parsed(ask), err=True)
    return said


def _added(kind: str, record_id: str, path: Path, overlay: Path | None, as_json: bool) -> int:
    """Say where the record is, what it makes, and what the check of contributions would say of it."""
    from advisor import browse
    from advisor.catalogcheck import check
    from advisor.report import catalog_pages as pages

    catalog = loaded((str(overlay),) if overlay else (), aloud=False)
    card = browse.card(catalog, record_id)
    problems = check((path,)).problems
    if as_json:
        said = {**pages.card_object(card), "command": "add", "path": str(path), "problems": [each._asdict() for each in problems]}
        say(json.dumps(said, indent=2, allow_nan=False))
        return 0
    example = {
        "devices": f"advisor estimate {record_id} --model llama-3.1-8b",
        "models": f"advisor estimate rtx-3090 --model {record_id}",
        "links": f'advisor estimate "2x {_joined_by(card.record)} via {record_id}" --model llama-3.1-8b',
        "hosts": f"advisor recommend --have rtx-3090 --host {record_id} --model llama-3.3-70b",
    }[kind]
    say(f"Wrote {path}")
    print_in("text", lambda: pages.card_page(card), dict)
    for problem in problems:
        say(f"Note: `advisor check` says: {problem}", error=True)
    say(f"Next: {example}{f' --catalog {overlay}' if overlay else ''}")
    return 0
