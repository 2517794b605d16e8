"""Shell completion of catalog ids and of the words that an option takes: the stems of the files, no YAML is read."""

from collections.abc import Callable, Iterable
from typing import Any

import click

Completer = Callable[[click.Context, click.Parameter, str], list[Any]]


def _items(names: Iterable[str], last: str, start: str = "") -> list[Any]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(start + name) for name in names if name.startswith(last)]


def catalog_ids(*kinds: str) -> Completer:
    """A completer for the ids of those kinds; the last word of what is being written counts."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[Any]:
        from advisor.wishes import catalog_with

        start, space, last = incomplete.rpartition(" ")
        catalog = catalog_with(tuple(ctx.params.get("catalog") or ()))
        return _items((name for kind in kinds for name in catalog.ids(kind)), last, start + space)

    return complete


def system_words(*kinds: str) -> Completer:
    """A completer for SYSTEM words: links behind `via`, strategies behind `as`, engines behind `on`, else ids of those kinds."""

    def complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
        start, space, last = incomplete.rpartition(" ")
        written = ctx.params.get(parameter.name or "") or ()  # a SYSTEM may be written without quotes, as several words
        before = start or " ".join(written if isinstance(written, tuple) else (written,))
        word = before.rpartition(" ")[2]
        if word == "as":
            from advisor.placement import STRATEGIES

            return _items(STRATEGIES, last, start + space)
        return catalog_ids(*{"via": ("links",), "on": ("engines",)}.get(word, kinds))(ctx, parameter, incomplete)

    return complete


def words_of(module: str, name: str, *further: str) -> Completer:
    """A completer for the entries of a table, imported only when asked, and further words."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[Any]:
        from importlib import import_module

        return _items((*getattr(import_module(module), name), *further), incomplete)

    return complete


def words(*known: str) -> Completer:
    """A completer for a few words."""
    return lambda ctx, parameter, incomplete: _items(known, incomplete)
