"""Commands and options as click has them, but for their help: it stands as it is written, which needs no tidying with `inspect`.

What click tidies it with is an import of 3 % of an answer's time; `__main__` puts it off, and here nothing asks for it.
"""

from typing import Any

import click


class Option(click.Option):
    """An option whose help is one line."""

    def __init__(self, *given: Any, help: str | None = None, **named: Any) -> None:
        super().__init__(*given, **named)
        self.help = help


class _Helped(click.Command):
    """Has the usual --help, made of such an option."""

    _own_help: click.Option | None = None

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        names = self.get_help_option_names(ctx)
        if not names or not self.add_help_option:
            return None
        if self._own_help is None:
            about = "Show this message and exit."
            self._own_help = Option(names, is_flag=True, expose_value=False, is_eager=True, callback=_show_help, help=about)
        return self._own_help


class Command(_Helped):
    """A command."""


class Group(_Helped, click.Group):
    """A group of commands."""


def _show_help(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
