"""What can go wrong with what the user gave: each error knows its JSON code and its exit code."""


class AdvisorError(Exception):
    """Something the user can put right. `str(error)` says what was wrong, where, and what to do."""

    code = "bad-value"
    exit_code = 2

    def __init__(self, message: str, nearest: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.nearest = nearest


class UnknownName(AdvisorError):
    """A device, link, model … that the catalog does not have; `nearest` holds the closest ids."""

    code = "unknown-name"


class AmbiguousName(AdvisorError):
    """A name that fits several records; `nearest` holds the candidates."""

    code = "ambiguous-name"


class Unsupported(AdvisorError):
    """What this engine or this hardware cannot do."""

    code = "unsupported"


class BadValue(AdvisorError):
    """An option or a request key whose value makes no sense."""

    code = "bad-value"


class BadInput(AdvisorError):
    """A file or text that cannot be read as what it should be."""

    code = "bad-input"


class CatalogError(AdvisorError):
    """The catalog is not valid; `problems` holds every `file:line: key: message`."""

    code = "bad-input"
    exit_code = 4

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
