"""The command line: a group whose commands are fetched when they are asked for, so that `--help` loads none of them."""

import atexit
import gc
import os
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Never

import click

from advisor.cli.parts import Group, Option

# name -> (module, attribute, what it answers); the help of the group is written from here, without an import.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "recommend": ("recommend", "recommend", "What should I buy, or should I keep what I have?"),
    "ask": ("ask", "ask", "The same from a question in plain English."),
    "estimate": ("estimate", "estimate", "Does it fit, and how fast is it?"),
    "compare": ("compare", "compare", "Several systems side by side on the same work."),
    "scale": ("scale", "scale", "Speed and cost at 1, 2, … N devices: where adding one stops paying."),
    "accuracy": ("accuracy_command", "accuracy_command", "Predicted speed against the published measurements."),
    "detect": ("detect_command", "detect_command", "What hardware is this? This machine, or pasted tool output."),
    "calibrate": ("calibrate_command", "calibrate_command", "Your own benchmark results against the estimate."),
    "list": ("catalog_commands", "list_command", "The catalog's devices, links, models, engines, …"),
    "show": ("catalog_commands", "show_command", "Everything the catalog says of one thing, with sources."),
    "check": ("catalog_commands", "check_command", "Is the catalog valid? Every problem with its file and line."),
    "add": ("catalog_commands", "add_command", "A new record for the catalog, from a template."),
    "batch": ("batch", "batch", "JSON Lines in, JSON Lines out: one request a line."),
    "schema": ("schema", "schema", "The JSON Schema of a command's --json answer."),
}


class _LateGroup(Group):
    """A group that knows its commands' names, and imports a command only to run it or to show its own help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if any("\0" in each for each in args):  # no shell can pass one, a batch request can; no path or name holds it
            raise click.UsageError("A NUL character is in the command line; leave it out.", ctx)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"advisor.cli.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=text) for name, (_, _, text) in COMMANDS.items() if name.startswith(incomplete)]
        return names or click.Command.shell_complete(self, ctx, incomplete)


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from advisor import __version__

        click.echo(f"advisor {__version__}")
        ctx.exit()


@click.group(
    cls=_LateGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 80,
        "color": False if os.environ.get("NO_COLOR") else None,
    },
    epilog="Start with:  advisor recommend --have rtx-3090 --model llama-3.3-70b",
)
@click.option(
    "--version", cls=Option, is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version and exit."
)
def group() -> None:
    """Should I buy a second GPU? Whether a language model fits on a machine, how fast it runs there, and what to buy."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line; its exit code. Every failure becomes plain lines, and with --json an object."""
    try:
        return _answered(arguments)
    except (BrokenPipeError, SystemExit):  # the second is how click takes the first
        _close_quietly()
        return 0


def _answered(arguments: Sequence[str]) -> int:
    """The same, while somebody reads."""
    try:
        code = group.main(args=list(arguments), prog_name="advisor", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (KeyboardInterrupt, click.Abort):
        return 130
    except Exception as error:
        from advisor.cli.failure import report_failure

        return report_failure(error, arguments)
    return code if isinstance(code, int) else 0


def _close_quietly() -> None:
    """The reader is gone (`| head -1`) or the disk full: send what is still buffered nowhere, so that Python's exit says nothing."""
    for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def main() -> Never:
    """One command line within a Python program: it ends with SystemExit, as Python's own do, and nothing of the caller's is lost."""
    sys.exit(_whole())


def whole_process() -> None:
    """The `advisor` entry point, of a process that does nothing else."""
    _leave(_whole())


def _whole() -> int:
    """Run the command line of this process; its exit code. A stream that the caller closed (`<&-`, `>&-`) is None in Python: nothing
    is read, or shown.

    One answer leaves no garbage worth collecting: looking for it takes a tenth of the time. `batch` has it looked for.
    """
    gc.disable()
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    code = run(sys.argv[1:])
    _close_quietly()
    return code


def _leave(code: int) -> Never:
    """End the process, everything being written: to free every object one by one, as Python does, takes 4 % of an answer's time.

    Where somebody waits for Python's own end it comes: what is to be called then, another thread, a profiler, `python -i`.
    """
    awaited = atexit._ncallbacks() or threading.active_count() > 1 or sys.flags.inspect or sys.getprofile() or sys.gettrace()
    monitors = getattr(sys, "monitoring", None)  # profilers and coverage from Python 3.12 on
    if awaited or (monitors and any(monitors.get_tool(each) for each in range(6))):
        sys.exit(code)
    os._exit(code)
