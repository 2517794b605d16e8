"""A YAML file into a frozen record, every problem with its file, line and key. Knows no hardware."""

from dataclasses import MISSING, field
from typing import Any

DATASHEET_UNIT = "datasheet_unit"
YAML_KEY = "yaml_key"
CHECK = "check"


def given(
    key: str | None = None,
    unit: float = 1.0,
    *,
    default: Any = MISSING,
    one_of: tuple[str, ...] = (),
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
) -> Any:
    """A record's field as the YAML gives it: under `key` (the field's own name if None), times `unit` into SI.

    `one_of`, `above` (exclusive), `least` and `most` bound the value as written in the file, before the unit.
    """
    spec = {YAML_KEY: key, DATASHEET_UNIT: unit, CHECK: (one_of, above, least, most)}
    if default is MISSING:
        return field(metadata=spec)
    return field(default=default, metadata=spec)
