"""Records: the names of `dataclasses`, without what they cost at start. Type checkers see the real ones."""

from dataclasses import field
from typing import TYPE_CHECKING

from advisor.latemethods import fields, is_record

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    from advisor.latemethods import dataclass, replace

__all__ = ["dataclass", "field", "fields", "is_record", "replace"]
