"""The sentence of each reason: a template over its facts, shown with the unit of their names' suffixes."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from advisor.reason import Reason
from advisor.report.advice_sentences import ADVICE
from advisor.report.ask_sentences import ASKED
from advisor.report.calibrate_sentences import CALIBRATE
from advisor.report.flip_sentences import FLIPS
from advisor.report.short_sentences import SHORT
from advisor.report.system_sentences import SYSTEM
from advisor.units import show

# code -> str.format template; `{needed_bytes}` becomes "40.1 GiB" through `units.show`. One line a code, sorted by room.
SENTENCES: dict[str, str] = {
    "context.beyond-model": "{model} was made for {max_context_tokens} of context; {context_tokens} are asked.",
    "name.variant": "“{name}” is read as {id}; {others} must be named in full.",
    "name.desktop": "“{name}” is read as {id}, the desktop card.",
    "model.assumed": "{what}.",
    "memory.fits": "On {device} {needed_bytes} of {usable_bytes} are taken: weights {weights_bytes}, cache {cache_bytes}, "
    "working memory {overhead_bytes}.",
    "memory.disk": "{disk_bytes} of the weights find room neither on the devices nor in the host's memory.",
    "memory.host-short": "The host's memory is short: {needed_bytes} of weights and cache lie there, and {usable_bytes} are free.",
    "memory.raise-limit": "It fits only with the memory limit of {device} raised from {default_bytes} to {limit_bytes}: {command}",
    "memory.short": "{device} is short of memory by {short_bytes}: it needs {needed_bytes} (weights {weights_bytes}, "
    "cache {cache_bytes}, working memory {overhead_bytes}) and can use {usable_bytes}.",
}
SENTENCES |= SYSTEM
SENTENCES |= ADVICE
SENTENCES |= FLIPS
SENTENCES |= ASKED
SENTENCES |= CALIBRATE

ONE_USER = re.compile(r"(?<![\d.,])1 users\b")


_FACT = re.compile(r"\{(\w+)\}")


@cache
def _cut(template: str) -> tuple[str, ...]:
    """A template's words and the names of its facts, in turns."""
    return tuple(_FACT.split(template))


def text(reason: Reason) -> str:
    """The reason as a sentence; a fact that is not there reads "unknown" instead of ending the report."""
    template = SENTENCES.get(reason.code)
    return plain(reason.code, reason.facts) if template is None else _filled(template, reason.facts)


def brief(reason: Reason) -> str:
    """The reason for a column of a table: short where there is a short form."""
    template = SHORT.get(reason.code)
    return text(reason) if template is None else _filled(template, reason.facts)


def _filled(template: str, facts: Mapping[str, Any]) -> str:
    """A template with its facts as sentences say them."""
    pieces = list(_cut(template))
    for index in range(1, len(pieces), 2):
        name = pieces[index]
        pieces[index] = _said(name, facts[name]) if name in facts else "unknown"
    sentence = "".join(pieces)
    return ONE_USER.sub("1 user", sentence) if "1 users" in sentence else sentence


def _said(name: str, value: Any) -> str:
    """A fact as a sentence says it."""
    return "an unknown price" if value is None and name.endswith("_usd") else show(name, value)


def plain(code: str, facts: Mapping[str, Any]) -> str:
    """What can be said of a reason that has no sentence: its code and its facts."""
    said = ", ".join(f"{name} {show(name, value)}" for name, value in facts.items())
    return f"{code}: {said}" if said else code
