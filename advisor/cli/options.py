"""The options that several commands share, and how a command's answer is printed."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from advisor.cli.complete import catalog_ids, system_words, words, words_of
from advisor.cli.parts import Option

F = TypeVar("F", bound=Callable[..., Any])
NEGATIVE = 3
option = partial(click.option, cls=Option)


def _flag(name: str, help_text: str) -> Callable[[F], F]:
    """A wish that was said, or None: click 8.2.2 makes False, which would be a wish too, of what was not said."""
    return option(name, is_flag=True, default=None, callback=lambda context, option, value: value or None, help=help_text)


_MODEL = [
    option("--model", metavar="M", shell_complete=catalog_ids("models"),
                 help="Catalog id or alias, config.json, .gguf file, or a size: 70b, 8x7b, 30b-a3b."),
]  # fmt: skip
_WORK = [
    option("--quant", metavar="Q", shell_complete=catalog_ids("quants"),
                 help="Weights: q4_k_m, q8_0, fp8, awq-4bit, mlx-4bit, 4bit, …  [default: the usual one]"),
    option("--kv-quant", metavar="Q", shell_complete=words("f16", "q8_0", "q4_0", "fp8"),
                 help="KV cache: f16, q8_0, q4_0, fp8.  [default: f16]"),
    option("--users", metavar="N", help="Requests generated at the same time; max = as many as fit.  [default: 1]"),
    option("--context", metavar="N", help="Tokens reserved for each user; 8k = 8192.  [default: 8k or prompt + generate]"),
    option("--prompt", metavar="N", help="Tokens read when generation starts; 0 allowed.  [default: 1024]"),
    option("--generate", metavar="N", help="Tokens generated per request.  [default: 256]"),
    option("--min-tokens-per-s", metavar="X", help="Wanted decode speed for each user.  [default for recommend: 10]"),
    option("--max-first-token-s", metavar="X", help="Wanted time to the first token."),
    option("--catalog", metavar="PATH", multiple=True,
                 help="Overlay file or folder on the catalog (repeatable).  [env: ADVISOR_CATALOG]"),
    option("--price", metavar="ID=USD", multiple=True, help="Price to use instead of the catalog's (repeatable)."),
    option("--host", metavar="ID", shell_complete=catalog_ids("hosts"), help="The computer around the cards."),
    option("--ram-gib", metavar="N", help="Memory of that computer."),
    option("--psu-w", metavar="N", help="Its power supply."),
    option("--storage", metavar="KIND", help="Where weights are loaded from: nvme-4, sata-ssd, …"),
    option("--electricity", metavar="USD_PER_KWH", help="Price of electricity.  [default: the catalog's]"),
    option("--hours-per-day", metavar="H", help="Hours of use a day.  [default: 8]"),
    _flag("--why", "Show the arithmetic of the limiting terms, with sources."),
]  # fmt: skip
_PURCHASE = [
    option("--have", metavar="SYSTEM", shell_complete=system_words("devices", "hosts"),
                 help="What you own, in SYSTEM words; desktop = one without cards; auto = this machine."),
    option("--budget", metavar="USD", help="The most to spend: 3000, $3,000, 2k, 3000 EUR."),
    option("--prefer", metavar="cheapest|fastest", shell_complete=words("cheapest", "fastest"),
                 help="What to take among what meets the need.  [default: cheapest]"),
    option("--consider", metavar="KIND", multiple=True, shell_complete=words_of("advisor.advice", "ROAD_KINDS"),
                 help="Only these kinds of answer (repeatable): second-gpu, …"),
    option("--among", metavar="SYSTEM", multiple=True, shell_complete=system_words("devices"),
                 help="Only these systems and what is owned: A or B? (repeatable)"),
    _flag("--new-only", "No used parts."),
    _flag("--sell-old", "Count what the replaced parts would bring."),
]  # fmt: skip


def _stacked(options: list[Callable[[F], F]]) -> Callable[[F], F]:
    """The options as one decorator, shown in their order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


work_options = _stacked([*_MODEL, *_WORK])
purchase_options = _stacked([*_PURCHASE])


def form_options(*forms: str) -> Callable[[F], F]:
    """`--format` with the forms a command has, and `--json` short for one of them."""
    return _stacked(
        [
            option("--format", "form", type=click.Choice(forms), default="text", show_default=True, help="Form of the answer."),
            option("--json", "form", flag_value="json", help="Short for --format json."),
        ]
    )


system_argument = click.argument("system", nargs=-1, metavar="SYSTEM", shell_complete=system_words("devices"))


def joined(words: tuple[str, ...]) -> str | None:
    """An argument that was written without quotes."""
    return " ".join(words) or None


def answer(command: str, form: str, raw: dict[str, Any]) -> int:
    """Read the words, get the answer, print it in its form; the exit code."""
    from advisor import answers, report, request
    from advisor.cli.streams import say, wrapped
    from advisor.report.notes import notes_of

    asked = request.read(command, raw)
    given = answers.answer(asked)
    written, verdict = report.render(form, command, given, why=bool(asked.get("why")))
    say(written, verdict=verdict)
    for note in notes_of(given):
        say(wrapped(f"Note: {note}"), error=True)
    return 0 if given.positive else NEGATIVE
