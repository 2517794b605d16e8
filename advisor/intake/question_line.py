"""The `advisor recommend` line that asks the same as a question."""

import shlex
from collections.abc import Mapping
from typing import Any

OPTIONS = (
    ("have", "--have"), ("model", "--model"), ("quant", "--quant"), ("users", "--users"), ("context", "--context"), ("prompt", "--prompt"),
    ("generate", "--generate"), ("min_tokens_per_s", "--min-tokens-per-s"), ("max_first_token_s", "--max-first-token-s"),
    ("budget", "--budget"), ("prefer", "--prefer"), ("host", "--host"),
    ("ram_gib", "--ram-gib"), ("psu_w", "--psu-w"), ("electricity", "--electricity"),
    ("hours_per_day", "--hours-per-day"), ("new_only", "--new-only"), ("sell_old", "--sell-old"),
)  # fmt: skip


def command_line(words: Mapping[str, Any]) -> str:
    """The `advisor recommend` line that asks the same."""
    parts = ["advisor", "recommend"]
    for key, option in OPTIONS:
        value = words.get(key)
        if value is True:
            parts.append(option)
        elif value is not None and value is not False:
            parts += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    for name, usd in words.get("price", {}).items():
        parts += ["--price", f"{name}={usd:g}"]
    for option, key in (("--consider", "consider"), ("--among", "among")):
        for each in words.get(key, ()):
            parts += [option, each]
    return shlex.join(parts)
