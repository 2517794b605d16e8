"""Records of a stack of catalogs: each from the uppermost layer that has it, decoded when it is first asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from advisor.catalogstack import Layer
from advisor.tables import TABLES
from advisor.yamlfile import build

T = TypeVar("T")


class Records(Mapping[str, T], Generic[T]):
    """All records of a kind by id, each decoded when first asked for."""

    def __init__(self, ids: Sequence[str], get: Callable[[str], T]) -> None:
        self._ids = dict.fromkeys(ids)
        self._get = get
        self._made: dict[str, T] = {}

    def __getitem__(self, record_id: str) -> T:
        if record_id not in self._made:
            if record_id not in self._ids:
                raise KeyError(record_id)
            self._made[record_id] = self._get(record_id)
        return self._made[record_id]

    def __contains__(self, record_id: object) -> bool:
        return record_id in self._ids  # that one looks for it does not decode it

    def __eq__(self, other: object) -> bool:
        return self is other  # so that caches may hold it

    def __hash__(self) -> int:
        return id(self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def plain(layers: Iterable[Layer], kind: str, record_id: str) -> dict[str, Any]:
    """A record of the uppermost layer that has it, as YAML gives it."""
    for layer in layers:
        found = layer.copy.plain(kind, record_id)
        if found is not None:
            return found
    raise KeyError(record_id)


def made(layers: Iterable[Layer], kind: str, record_id: str) -> Any:
    """The same, decoded."""
    return build(TABLES[kind].record_class, plain(layers, kind, record_id))
