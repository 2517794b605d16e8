"""`advisor accuracy`: the estimator against the published measurements of the catalog."""

import click

from advisor.cli.catalog_commands import catalog_option, loaded, print_in
from advisor.cli.options import form_options


@click.command("accuracy", epilog="Example:  advisor accuracy --where maker=apple --where kind=decode")
@click.option("--where", metavar="KEY=VALUE", multiple=True, help="Only these figures: kind, maker, engine, model, device, … (repeatable).")
@catalog_option
@form_options("text", "json", "markdown")
def accuracy_command(where: tuple[str, ...], catalog: tuple[str, ...], form: str) -> int:
    """Predicted speed against the published measurements: error by family, coverage of the intervals, the worst rows."""
    from advisor import accuracy
    from advisor.report import accuracy_page as pages

    found = accuracy.measure(loaded(catalog), where)
    print_in(form, lambda: pages.accuracy_page(found), lambda: pages.accuracy_object(found))
    return 0
