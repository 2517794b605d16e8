"""Should I buy a second GPU? Memory fit, tokens per second and a reasoned purchase, from a catalog with sources.

from advisor import Catalog, estimate, recommend
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from advisor.answers import estimate as estimate
    from advisor.answers import recommend as recommend
    from advisor.catalog import Catalog as Catalog

__version__ = "0.1.0"
__all__ = ["Catalog", "__version__", "estimate", "recommend"]

_ROOMS = {"Catalog": "advisor.catalog", "estimate": "advisor.answers", "recommend": "advisor.answers"}


def __getattr__(name: str) -> Any:
    """Fetch a public name from its room at its first use: importing the package reads and computes nothing."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'advisor' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ROOMS[name]), name)
