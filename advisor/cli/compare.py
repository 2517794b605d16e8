"""`advisor compare`: several systems side by side on the same work."""

from typing import Any

import click

from advisor.cli.complete import system_words
from advisor.cli.options import answer, form_options, work_options
from advisor.cli.parts import Command


@click.command("compare", cls=Command, epilog='Example:  advisor compare rtx-5090 "2x rtx-3090 via nvlink" --model qwen3-32b')
@click.argument("systems", nargs=-1, metavar="SYSTEM SYSTEM ...", shell_complete=system_words("devices"))
@work_options
@form_options("text", "json", "markdown", "html")
def compare(systems: tuple[str, ...], form: str, **raw: Any) -> int:
    """Several systems side by side on the same work. Put each SYSTEM in quotes."""
    return answer("compare", form, {"systems": systems, **raw})
