"""Numbers of the estimator that somebody had to choose: the file `catalog/choices.yaml`."""

from advisor.money import Choice, Chosen
from advisor.record import dataclass
from advisor.yamlfile import given


@dataclass(frozen=True, kw_only=True)
class Choices(Chosen):
    """The whole file."""

    choices: tuple[Choice, ...] = given()
    usual_storage: str = given(about="what weights are loaded from where nothing is said")
