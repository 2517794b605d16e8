"""Shell completion of catalog ids: the stems of the files, no YAML is read."""

from collections.abc import Callable
from typing import Any

import click


def catalog_ids(*kinds: str) -> Callable[[click.Context, click.Parameter, str], list[Any]]:
    """A completer for the ids of those kinds; the last word of a SYSTEM being written counts."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        from advisor.wishes import catalog_with

        overlays = tuple(ctx.params.get("catalog") or ())
        start, space, last = incomplete.rpartition(" ")
        catalog = catalog_with(overlays)
        return [CompletionItem(start + space + name) for kind in kinds for name in catalog.ids(kind) if name.startswith(last)]

    return complete


def words_of(module: str, name: str) -> Callable[[click.Context, click.Parameter, str], list[Any]]:
    """A completer for the keys of a table, imported only when asked."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[Any]:
        from importlib import import_module

        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in getattr(import_module(module), name) if word.startswith(incomplete)]

    return complete
