"""The keys of a config.json, read with care: several spellings, whole numbers only, sane sizes, nested parts."""

from collections.abc import Mapping, Sequence
from typing import Any

from advisor.errors import BadInput
from advisor.record import dataclass, field, replace

LARGEST = 10**9  # no width, count or vocabulary is larger; a length may be
LONGEST = 10**10
TEXT_PARTS = ("text_config", "language_config", "llm_config", "thinker_config", "llm", "language_model", "text_model_config")


@dataclass(frozen=True)
class Keys:
    """A mapping of a config with the mapping around it, which answers what it does not hold itself."""

    own: Mapping[str, Any]
    around: Mapping[str, Any] = field(default_factory=dict)
    where: str = "config.json"

    def value(self, *names: str) -> Any:
        """The first of these that is there and not null: in itself, then around it."""
        for place in (self.own, self.around):
            for name in names:
                found = place.get(name)
                if found is not None:
                    return found
        return None

    def whole(self, *names: str, most: int = LARGEST) -> int | None:
        """A whole number of at least 0; one number for all layers where a list of equal ones is given."""
        found = self.value(*names)
        if isinstance(found, list) and found and all(each == found[0] for each in found):
            found = found[0]
        if found is None or isinstance(found, (list, str, Mapping)):
            return None
        if isinstance(found, bool):
            return int(found)
        if not isinstance(found, (int, float)) or found != found or found in (float("inf"), float("-inf")) or found != int(found):
            raise BadInput(f"{self.where}: {self._named(*names)}: {found!r} is not a whole number")
        if not 0 <= found <= most:
            raise BadInput(f"{self.where}: {self._named(*names)}: {found!r} is out of range (0 to {most})")
        return int(found)

    def each(self, index: int, *names: str) -> int | None:
        """A whole number of one layer: of a list with one for each layer that layer's, else the one of all."""
        found = self.value(*names)
        if isinstance(found, list) and found:
            return Keys({names[0]: found[index % len(found)]}, {}, self.where).whole(names[0])
        return self.whole(*names)

    def number(self, name: str, default: float) -> float:
        """A factor: a number above 0 that may have a fraction; anything else is the default."""
        found = self.value(name)
        usable = isinstance(found, (int, float)) and not isinstance(found, bool) and 0 < found < LARGEST
        return float(found) if usable else default

    def flag(self, *names: str, default: bool = False) -> bool:
        """Whether something is switched on."""
        found = self.value(*names)
        return default if found is None else bool(found)

    def text(self, *names: str) -> str | None:
        """A word."""
        found = self.value(*names)
        return found if isinstance(found, str) else None

    def many(self, *names: str) -> Sequence[Any] | None:
        """A list with something in it."""
        found = self.value(*names)
        return found if isinstance(found, list) and found else None

    def layer(self, index: int) -> "Keys":
        """The keys of one layer: `per_layer_config` of transformers 5 names what differs there, by the layer's number."""
        differing = self.value("per_layer_config")
        if not isinstance(differing, Mapping):
            return self
        found = next((differing[name] for name in (str(index), f"{index:02d}", f"{index:03d}") if name in differing), None)
        return replace(self, own={**self.own, **found}) if isinstance(found, Mapping) else self

    def part(self, *names: str) -> "Keys | None":
        """A mapping within, which does not look around."""
        found = self.value(*names)
        return Keys(found, {}, f"{self.where}: {self._named(*names)}") if isinstance(found, Mapping) and found else None

    def _named(self, *names: str) -> str:
        return next((name for name in names if name in self.own or name in self.around), names[0])


def text_part(config: Mapping[str, Any], where: str) -> Keys:
    """The language model's own keys: of a wrapper around several models the part that speaks."""
    keys = Keys(config, {}, where)
    for _ in TEXT_PARTS:
        inner = next((keys.own[name] for name in TEXT_PARTS if isinstance(keys.own.get(name), Mapping) and keys.own[name]), None)
        if inner is None:
            return keys
        keys = Keys(inner, {**keys.around, **keys.own}, where)
    return keys
