"""What every JSON answer begins with."""

from typing import Any

SCHEMA_VERSION = "1.0"


def head(command: str | None) -> dict[str, Any]:
    """The version of the keys, and the command that answers."""
    return {"schema_version": SCHEMA_VERSION, "command": command}
