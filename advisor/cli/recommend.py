"""`advisor recommend`: what to buy, or whether to keep what is owned."""

from typing import Any

import click

from advisor.cli.options import answer, form_options, purchase_options, work_options
from advisor.cli.parts import Command


@click.command("recommend", cls=Command, epilog="Example:  advisor recommend --have rtx-3090 --model llama-3.3-70b --users 4 --budget 3000")
@purchase_options
@work_options
@form_options("text", "json", "markdown", "html")
def recommend(form: str, **raw: Any) -> int:
    """What should I buy, or should I keep what I have?

    The rule: the cheapest system that meets the need within the budget; with --prefer fastest, the fastest.
    With --have it also answers "should I buy a second one?". Without --model it goes over typical sizes.
    """
    return answer("recommend", form, raw)
