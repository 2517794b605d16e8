"""What the words of a question mean beside the names in the catalog: one file, `catalog/wording.yaml`."""

from functools import cached_property

from advisor.record import dataclass
from advisor.units import GIB
from advisor.yamlfile import given


@dataclass(frozen=True, kw_only=True)
class Topic:
    """What a question is about beside what to buy, and what is known of it in general."""

    name: str = given()
    words: str = given()
    text: str = given()
    source: str = given()
    outside: bool = given(default=False)  # whether nothing here estimates it
    without_model: bool = given(default=False)  # whether it is told only where no model is named
    always: bool = given(default=False)  # whether it is told with hardware named too, since no estimate knows it


@dataclass(frozen=True, kw_only=True)
class Training:
    """What one way of training keeps in memory for each weight, activations apart."""

    name: str = given()
    bytes_per_param: float = given(above=0)
    source: str = given()


@dataclass(frozen=True, kw_only=True)
class UsualModel:
    """The model that a family's bare name or a size in words is taken as."""

    words: str = given()
    model: str = given()


@dataclass(frozen=True, kw_only=True)
class UsualCard:
    """The card that a memory size alone is taken as; of a maker where the text names one."""

    memory_bytes: float = given("memory_gib", GIB, above=0)
    device: str = given()
    maker: str | None = given(default=None)


@dataclass(frozen=True, kw_only=True)
class Language:
    """Another language, by words of it that are no English ones."""

    name: str = given()
    words: str = given()

    @cached_property
    def known(self) -> frozenset[str]:
        """Its words."""
        return frozenset(self.words.split())


@dataclass(frozen=True, kw_only=True)
class Wording:
    """All of them."""

    topics: tuple[Topic, ...] = given(default=())
    training: tuple[Training, ...] = given(default=())
    usual_models: tuple[UsualModel, ...] = given(default=())
    usual_cards: tuple[UsualCard, ...] = given(default=())
    languages: tuple[Language, ...] = given(default=())
    laptops: str = given(about="names of portable computers, as a pattern")
    processors: str = given(about="names of processors that no estimate weighs, as a pattern")
    usual_ddr4_host: str = given(about="host of two cards where only DDR4 is said")
    usual_host: str = given(about="host of two cards where nothing is said")
    usual_server: str = given(about="host of more cards where nothing is said")
    usual_network: str = given(about="link between computers where nothing is said")
    usual_generation: int = given(least=1, about="of PCIe where neither the text nor the card tells it")
    usual_lanes: int = given(least=1, about="of a slot where nothing is said")
