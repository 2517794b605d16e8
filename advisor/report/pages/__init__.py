"""What each command's answer shows; one module a command."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from advisor.report.page import Page

_MODULES = {"estimate": "estimate", "compare": "compare", "scale": "scale", "recommend": "recommend", "ask": "recommend"}


def page(command: str, answer: Any, why: bool, full: bool) -> Page:
    """The page of a command's answer: `why` shows the arithmetic, `full` all that one screen has no room for."""
    build: Callable[[Any, bool, bool], Page] = import_module(f"advisor.report.pages.{_MODULES[command]}").page
    return build(answer, why, full)
