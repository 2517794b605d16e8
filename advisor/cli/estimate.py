"""`advisor estimate`: does it fit, and how fast is it?"""

from typing import Any

import click

from advisor.cli.options import answer, form_options, joined, system_argument, work_options
from advisor.cli.parts import Command


@click.command(
    "estimate", cls=Command, epilog='Example:  advisor estimate "2x rtx-3090 via nvlink as tensor on vllm" --model llama-3.3-70b'
)
@system_argument
@work_options
@form_options("text", "json", "markdown")
def estimate(system: tuple[str, ...], form: str, **raw: Any) -> int:
    """Does MODEL fit on SYSTEM, and how fast is it there?

    SYSTEM is written as: [COUNT x] DEVICE [MEMORY] [+ …] [via LINK] [as STRATEGY] [on ENGINE[/BACKEND]].
    """
    return answer("estimate", form, {"system": joined(system), **raw})
