"""A manual page for the program and for each of its commands, from click's own help.

    python tools/manpages.py FOLDER      writes advisor.1, advisor-recommend.1, …

The build hook calls it, so that a wheel brings them to share/man/man1.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).parent.parent


def escaped(text: str) -> str:
    """Text that roff shows as it stands: no escapes, no hyphens for minus signs, no control lines."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    plain = re.sub(r"[^\x00-\x7f]", lambda found: f"\\[u{ord(found[0]):04X}]", plain)
    return re.sub(r"(?m)^\.", r"\\&.", plain)


def prose(text: str) -> Iterator[str]:
    """Paragraphs; `\\b` before one keeps its lines, as in click."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        lines = [line.strip() for line in paragraph.splitlines()]
        if number:
            yield ".PP"
        if lines[0] == "\b":
            yield from (".nf", *map(escaped, lines[1:]), ".fi")
        else:
            yield escaped(" ".join(lines))


def definitions(rows: list[tuple[str, str]]) -> Iterator[str]:
    """Options or commands, each with what it does."""
    for name, words in rows:
        yield from (".TP", rf"\fB{escaped(name)}\fR", escaped(words))


def page(name: str, command: click.Command, context: click.Context, version: str) -> str:
    """The manual page of one command."""
    title = name.replace(" ", "-")
    usage = " ".join(command.collect_usage_pieces(context))
    options = [found for parameter in command.get_params(context) if (found := parameter.get_help_record(context))]
    lines = [
        f'.TH "{title.upper()}" "1" "" "advisor {version}" "advisor"',
        ".SH NAME",
        f"{escaped(title)} \\- {escaped(command.get_short_help_str(200))}",
        ".SH SYNOPSIS",
        rf"\fB{escaped(name)}\fR {escaped(usage)}",
        ".SH DESCRIPTION",
        *prose(command.help or ""),
    ]
    if isinstance(command, click.Group):
        from advisor.cli import COMMANDS

        lines += [".SH COMMANDS", *definitions([(each, words) for each, (_, _, words) in COMMANDS.items()])]
    lines += [".SH OPTIONS", *definitions(options)]
    if command.epilog:
        lines += [".SH EXAMPLE", *prose(command.epilog.partition(":  ")[2] or command.epilog)]
    lines += [".SH EXIT STATUS", *definitions(list(EXIT))]
    return "\n".join(lines) + "\n"


EXIT = (
    ("0", "Done; there is an answer that meets the need."),
    ("1", "A bug of the program."),
    ("2", "Wrong usage."),
    ("3", "Nothing satisfies the need."),
    ("4", "The catalog is not valid."),
)


def pages() -> dict[str, str]:
    """Every page by its file name."""
    sys.path.insert(0, str(ROOT))
    from advisor import __version__
    from advisor.cli import COMMANDS, group

    # Like a run's own: click keeps the help option that the first context asks for, and would lose -h to a plain one.
    top = click.Context(group, info_name="advisor", **group.context_settings)
    found = {"advisor.1": page("advisor", group, top, __version__)}
    for name in COMMANDS:
        command = group.get_command(top, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=top)
        found[f"advisor-{name}.1"] = page(f"advisor {name}", command, context, __version__)
    return found


def write(folder: Path) -> list[Path]:
    """The pages as files of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
    return sorted(folder.iterdir())


if __name__ == "__main__":
    print(*write(Path(sys.argv[1])), sep="\n")
