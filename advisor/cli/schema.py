"""`advisor schema`: the JSON Schema of a command's answer, or of a kind of catalog file."""

import click

from advisor.cli.complete import words_of
from advisor.errors import BadValue


@click.command("schema", epilog="Example:  advisor schema recommend > recommend.schema.json")
@click.argument("command", metavar="COMMAND", shell_complete=words_of("advisor.report.schemas", "BUILDERS", "catalog"))
@click.argument("kind", metavar="[KIND]", required=False)
@click.option("--json", is_flag=True, expose_value=False, help="Accepted for symmetry: a schema is always JSON.")
def schema(command: str, kind: str | None) -> int:
    """The JSON Schema of COMMAND's --json answer; with catalog KIND, of a catalog file of that kind."""
    import json

    from advisor.cli.streams import say
    from advisor.report.schemas import BUILDERS
    from advisor.report.schemas import schema as schema_of

    if command == "catalog":
        from advisor.catalogschema import catalog_schema

        if kind is None:
            raise BadValue("KIND is missing: write `advisor schema catalog devices`.")
        say(json.dumps(catalog_schema(kind), indent=2))
        return 0
    if command not in BUILDERS:
        raise BadValue(f"There is no schema of {command[:60]!r}; there are {', '.join(BUILDERS)} and catalog.", tuple(BUILDERS))
    say(json.dumps(schema_of(command), indent=2))
    return 0
