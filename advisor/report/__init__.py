"""Answers as text, JSON, Markdown and HTML. Formats; decides nothing."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.answers import Answer


def render(form: str, command: str, answer: "Answer", *, why: bool = False) -> tuple[str, str | None]:
    """The answer of a command in one of the forms, and the words at its start that carry the verdict (text only)."""
    if form == "json":
        import json

        from advisor.report.as_json import OBJECTS

        return json.dumps(OBJECTS[command](answer), indent=2, allow_nan=False), None
    from advisor.report.pages import page

    shown = page(command, answer, why, full=why or form != "text")
    written: str = import_module(f"advisor.report.as_{form}").written(shown)
    return written, shown.verdict if form == "text" else None
