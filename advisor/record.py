"""Records: the names of `dataclasses`, without what they cost at start. Type checkers see the real ones."""

from dataclasses import field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    from advisor.latemethods import dataclass, replace

__all__ = ["dataclass", "field", "replace"]
