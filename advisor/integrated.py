"""How an integrated GPU is told from a card: its PCI id, its chip, or the words in its name. One file, `catalog/integrated.yaml`."""

import re
from functools import cached_property

from advisor.price import Source
from advisor.record import dataclass
from advisor.yamlfile import given


@dataclass(frozen=True, kw_only=True, eq=False)
class Integrated:
    """Marks of GPUs that sit in the processor and borrow its memory."""

    pci_ids: tuple[str, ...] = given(about="vendor:device of integrated GPUs whose names say nothing")
    chips: tuple[str, ...] = given(about="LLVM names of integrated AMD GPUs")
    names: tuple[str, ...] = given(about="words in the names of integrated GPUs; ? stands for a digit")
    cards: tuple[str, ...] = given(about="words that mark a card whatever else its name says; ? stands for a digit")
    sources: tuple[Source, ...] = given()

    @cached_property
    def _names(self) -> re.Pattern[str]:
        return _any_of(self.names)

    @cached_property
    def _cards(self) -> re.Pattern[str]:
        return _any_of(self.cards)

    def says(self, *, name: str | None, maker: str | None, pci_id: str | None, chip: str | None) -> bool | None:
        """True: integrated. False: a card. None: these marks do not say."""
        plain = re.sub(r"\((?:R|TM|C)\)|[®™]", "", name or "", flags=re.IGNORECASE)
        plain = " ".join(plain.split())
        if plain and self._cards.search(plain):
            return False
        if pci_id in self.pci_ids or chip in self.chips:
            return True
        if plain and self._names.search(plain):
            return True
        return True if maker == "intel" and plain else None


def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that finds any of the words; `?` is a digit."""
    parts = sorted((re.escape(word).replace(r"\?", r"\d") for word in words), key=len, reverse=True)
    return re.compile(r"(?<![\w])(?:" + "|".join(parts) + r")(?![\w])", re.IGNORECASE)
