"""A module of the standard library that is imported only when something of it is used."""

import sys
from importlib import import_module
from types import ModuleType


class _StandIn(ModuleType):
    """Stands where the module is expected, and fetches it when it is asked for the first of its names."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # what the import system looks for in any module
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def stand_in(name: str) -> None:
    """Let a module be imported late by whoever imports it, if nobody has yet. For a process of our own only."""
    sys.modules.setdefault(name, _StandIn(name))
