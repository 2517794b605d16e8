"""Answers as text, JSON, Markdown and HTML. Formats; decides nothing."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.request import Answer

FORMS = ("text", "json", "markdown", "html")


def render(form: str, command: str, answer: "Answer", *, why: bool = False) -> str:
    """The answer of a command in one of the forms."""
    from importlib import import_module

    room = import_module(f"advisor.report.as_{form}")
    if form == "json":
        import json

        return json.dumps(room.FORMS[command](answer), indent=2, allow_nan=False)
    written: str = room.FORMS[command](answer, why)
    return written


def notes(answer: "Answer") -> tuple[str, ...]:
    """What the user must hear beside the answer, on stderr."""
    from advisor.report.notes import notes_of

    return notes_of(answer)
