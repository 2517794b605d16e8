"""`advisor scale`: speed and cost at 1, 2, … N devices."""

from typing import Any

import click

from advisor.cli.options import answer, form_options, joined, system_argument, work_options
from advisor.cli.parts import Command


@click.command(
    "scale", cls=Command, epilog='Example:  advisor scale "mac-m3-ultra-80c 512gb via thunderbolt-5-rdma" --max 4 --model qwen3-235b-a22b'
)
@system_argument
@click.option("--max", metavar="N", help="The most devices to try.  [required]")
@work_options
@form_options("text", "json", "markdown", "html")
def scale(system: tuple[str, ...], form: str, **raw: Any) -> int:
    """Speed and cost of SYSTEM at 1, 2, … N devices.

    Where adding one stops paying, where it makes things slower, and Amdahl's ceiling.
    """
    return answer("scale", form, {"system": joined(system), **raw})
