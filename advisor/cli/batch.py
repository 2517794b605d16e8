"""`advisor batch`: JSON Lines in, JSON Lines out – in order, as it goes, in constant memory, restartable and divisible."""

import gc
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from time import monotonic
from typing import IO, Any

import click

from advisor.cli.failure import as_object
from advisor.cli.options import option, work_options
from advisor.cli.parts import Command
from advisor.errors import BadInput, BadValue

LONGEST_LINE_BYTES = 2**24
PROGRESS_EVERY_S = 1.0
MADE_MOST = 200_000  # objects that answers may leave before they are looked through
_HALF = re.compile("[\ud800-\udfff]")
NOT_ASKED = ("batch", "add")  # a record is added with its questions, one at a time
FORMS = ("json", "format", "form")
ERROR_MARK = '{"error":'


def _request(line: str | bytes) -> dict[str, Any]:
    """The request on a line: an object with a command."""
    if len(line) > LONGEST_LINE_BYTES:
        raise BadInput(f"The line is longer than {LONGEST_LINE_BYTES // 2**20} MiB.")
    try:
        asked = json.loads(line)
    except (ValueError, RecursionError) as error:
        from advisor.jsontext import why

        raise BadInput(f"The line is not JSON: {why(line, error)}.") from None
    if not isinstance(asked, dict) or not isinstance(asked.get("command"), str):
        raise BadInput('The line is not an object with a "command", such as {"command": "estimate", "system": "rtx-3090", "model": "70b"}.')
    marked = b"\\ud" in line.lower() if isinstance(line, bytes) else "\\ud" in line.lower()
    if marked and _HALF.search(json.dumps(asked, ensure_ascii=False)):
        raise BadInput("The line holds half a character (a \\ud… escape without its other half): write the whole character.")
    return asked


def _answer(asked: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON answer of one request; the batch's own work options stand in where the request says nothing."""
    from advisor import answers, request

    command = asked["command"]
    if command not in request.KEYS:
        return _other(command, asked)
    stated = {key: value for key, value in defaults.items() if key in request.KEYS[command]}
    stated.update((key, value) for key, value in asked.items() if key != "command")
    given = answers.answer(request.read(command, stated))
    from advisor.report.as_json import OBJECTS

    return OBJECTS[command](given)


def _other(command: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """A request for one of the other commands, run as its command line would be."""
    from advisor.cli import COMMANDS, group

    if command not in COMMANDS or command in NOT_ASKED:
        from difflib import get_close_matches

        known = [name for name in COMMANDS if name not in NOT_ASKED]
        raise BadValue(f"There is no command {command[:60]!r}; there are {', '.join(known)}.", tuple(get_close_matches(command, known, 3)))
    written = io.StringIO()
    with redirect_stdout(written), redirect_stderr(io.StringIO()):
        group.main(args=[command, *_arguments(command, asked)], prog_name="advisor", standalone_mode=False)
    answer: dict[str, Any] = json.loads(written.getvalue())
    return answer


def _key(parameter: click.Parameter) -> str:
    """What a request calls an option, its long name, or an argument, its name."""
    long = next((option for option in parameter.opts if option.startswith("--")), parameter.name or "")
    return long.removeprefix("--").replace("-", "_")


def _arguments(command: str, asked: Mapping[str, Any]) -> list[str]:
    """The command line of a request: options by their long names, arguments by theirs."""
    from advisor.cli import group

    found = group.get_command(click.Context(group), command)
    parameters = {_key(parameter): parameter for parameter in found.params} if found else {}
    options, arguments = ["--json"], list[str]()
    for key, value in asked.items():
        if key in ("command", *FORMS):
            continue
        if key not in parameters:
            known = ", ".join(name for name in parameters if name not in FORMS)
            raise BadValue(f"{key[:60]!r} is not a key of {command}; it has {known}.")
        if value == "-" or (isinstance(value, list) and "-" in value):
            raise BadValue(f"{key}: standard input may hold the requests themselves: name a file instead of -.")
        values = [each for each in (value if isinstance(value, list) else [value]) if each is not None and each is not False]
        if isinstance(parameters[key], click.Argument):
            arguments += map(str, values)
        else:
            option = f"--{key.replace('_', '-')}"
            options += [option if each is True else f"{option}={each}" for each in values]
    return [*options, "--", *arguments]


def answer_line(line: str | bytes, defaults: Mapping[str, Any] | None = None) -> str:
    """One line of a batch answered: the command's JSON, or `{"error": {…}}`. Never raises."""
    try:
        return json.dumps(_answer(_request(line), defaults or {}), allow_nan=False)
    except Exception as error:
        return json.dumps({"error": as_object(error)})


def _shard(value: str | None) -> tuple[int, int]:
    """`K/N`: take the K-th of every N requests."""
    if value is None:
        return 1, 1
    part, _, of = value.partition("/")
    if not (part.isascii() and part.isdigit() and of.isascii() and of.isdigit() and len(value) < 20 and 1 <= int(part) <= int(of)):
        raise BadValue(f"--shard: {value!r} is not K/N with K from 1 to N, such as 1/4.")
    return int(part), int(of)


def _wanted(lines: Iterable[bytes], shard: tuple[int, int], done: int) -> Iterator[bytes]:
    """The requests of this shard that have no answer yet; blank lines are no requests."""
    part, of = shard
    mine = 0
    for number, line in enumerate(line for line in lines if line.strip()):
        if number % of != part - 1:
            continue
        mine += 1
        if mine > done:
            yield line


def _resumed(path: str) -> tuple[IO[str], int, bool]:
    """The file to go on with, the answers it holds, and whether one of them is an error; half a last line is cut off."""
    done, whole, failed = 0, 0, False
    try:
        with open(path, "rb") as old:
            for line in old:
                if not line.endswith(b"\n"):
                    break
                done += 1
                whole += len(line)
                failed = failed or line.startswith(ERROR_MARK.encode())
    except FileNotFoundError:
        pass
    out = open(path, "a", encoding="utf-8")  # noqa: SIM115 - closed by the caller
    out.truncate(whole)
    return out, done, failed


class _Progress:
    """Says how far it is, once a second, on a terminal that does not show the answers themselves; nothing elsewhere."""

    def __init__(self, out: IO[str]) -> None:
        self.shown = sys.stderr.isatty() and not out.isatty()
        self.next_s = 0.0

    def say(self, done: int) -> None:
        """So many are answered."""
        if self.shown and monotonic() >= self.next_s:
            self.next_s = monotonic() + PROGRESS_EVERY_S
            click.echo(f"\r{done:,} answered", nl=False, err=True)

    def end(self, done: int) -> None:
        """The last number, and the line with it."""
        if self.shown:
            click.echo(f"\r{done:,} answered", err=True)


def _collect(first: bool) -> None:
    """Look for garbage between answers, and rarely: what an answer made leaves the memory with it, but for what holds itself in a
    circle, and looking through all that is kept takes a fifth of an answer's time. Modules, and the catalog as the first answer
    leaves it, stay.
    """
    if first:
        gc.freeze()
    elif gc.get_count()[0] > MADE_MOST:
        gc.collect()


@click.command("batch", cls=Command, epilog="Example:  advisor batch requests.jsonl > answers.jsonl")
@click.argument("file", type=click.File("rb", lazy=False), default="-")
@option("--resume", metavar="OUT", help="Append to this file, and leave out what it has answers for.")
@option("--shard", metavar="K/N", help="Answer only the K-th of every N requests.")
@work_options
def batch(file: IO[bytes], resume: str | None, shard: str | None, **defaults: Any) -> int:
    """JSON Lines in, JSON Lines out: one request a line, one answer a line, in the same order.

    A request is {"command": "estimate", "system": "rtx-3090", "model": "70b", "users": 4}: the keys are the long option names with
    _ for -. A line that cannot be answered gives {"error": {...}}, the rest goes on, and the exit code is 2. Options given here
    stand in where a request says nothing.
    """
    stated = {key: value for key, value in defaults.items() if value is not None and value != ()}
    part = _shard(shard)
    out, done, failed = _resumed(resume) if resume else (sys.stdout, 0, False)
    progress = _Progress(out)
    try:
        for at, line in enumerate(_wanted(file, part, done)):
            answer = answer_line(line, stated)
            failed = failed or answer.startswith(ERROR_MARK)
            out.write(answer + "\n")
            out.flush()
            _collect(first=at == 0)
            done += 1
            progress.say(done)
    finally:
        progress.end(done)
        if resume:
            out.close()
    return 2 if failed else 0
