"""A failure as plain lines on stderr, as an object on stdout when JSON was asked for, and as an exit code."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from advisor.cli.streams import say, wrapped
from advisor.errors import AdvisorError, CatalogError

BUG = 1


def as_object(error: Exception) -> dict[str, Any]:
    """The error as scripts read it: {code, message, exit_code, nearest}."""
    if isinstance(error, AdvisorError):
        return {"code": error.code, "message": error.message, "exit_code": error.exit_code, "nearest": list(error.nearest)}
    if isinstance(error, click.ClickException):
        return {"code": "usage", "message": error.format_message(), "exit_code": 2, "nearest": []}
    if isinstance(error, RecursionError | MemoryError):
        return {"code": "bad-input", "message": "The input is nested too deeply or too large.", "exit_code": 2, "nearest": []}
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return {"code": "bad-input", "message": f"{where}{error.strerror or error}", "exit_code": 2, "nearest": []}
    return {"code": "bug", "message": _bug_line(error), "exit_code": BUG, "nearest": []}


def _bug_line(error: Exception) -> str:
    return (
        f"This is a bug in advisor ({type(error).__name__}: {error}). "
        "Run it again with ADVISOR_DEBUG=1 and send the traceback with the command line."
    )


def _lines(error: Exception, shown: dict[str, Any]) -> str:
    """The message; the nearest names where it does not hold them yet; click's own hint for wrong usage."""
    message: str = shown["message"]
    if isinstance(error, CatalogError | click.exceptions.NoArgsIsHelpError):
        return message
    lines = [f"Error: {message}"]
    if shown["nearest"] and not any(name in message for name in shown["nearest"]):
        lines.append(f"Did you mean: {', '.join(shown['nearest'][:8])}?")
    if isinstance(error, click.UsageError) and error.ctx:
        lines.append(f"Try '{error.ctx.command_path} -h' for help.")
    return "\n".join(wrapped(line) for each in lines for line in each.split("\n"))


def _wants_json(arguments: Sequence[str]) -> bool:
    words = list(arguments)
    return "--json" in words or "--format=json" in words or ("--format", "json") in list(zip(words, words[1:], strict=False))


def report_failure(error: Exception, arguments: Sequence[str]) -> int:
    """Say what went wrong on stderr (and as JSON on stdout if asked for); the exit code."""
    if os.environ.get("ADVISOR_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    if isinstance(error, click.ClickException) and not isinstance(error, click.UsageError):
        error = AdvisorError(error.format_message())
    shown = as_object(error)
    try:
        say(_lines(error, shown), error=True)
    except BrokenPipeError:
        raise  # whoever reads has left, and that is no failure
    except OSError:
        pass  # the disk behind stderr is full, too: the exit code tells
    if _wants_json(arguments):
        from advisor.report.head import head

        with suppress(OSError):  # the failure may be that of this very stream
            say(json.dumps({**head(_command(arguments)), "error": shown}, indent=2))
    return int(shown["exit_code"])


def _command(arguments: Sequence[str]) -> str | None:
    from advisor.cli import COMMANDS

    return next((word for word in arguments if word in COMMANDS), None)
