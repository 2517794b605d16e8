"""`advisor ask`: the same as recommend, from a question in plain English."""

from typing import Any

import click

from advisor.cli.options import answer, form_options, joined, purchase_options, work_options
from advisor.cli.parts import Command


@click.command("ask", cls=Command, epilog='Example:  advisor ask "should I buy a second 3090 for a 70B model with 4 users?"')
@click.argument("question", nargs=-1, metavar="QUESTION")
@purchase_options
@work_options
@form_options("text", "json", "markdown", "html")
def ask(question: tuple[str, ...], form: str, **raw: Any) -> int:
    """A question in plain English, answered as recommend does.

    The answer says how the question was understood. Options given beside it win over the text.
    """
    return answer("ask", form, {"question": joined(question), **raw})
