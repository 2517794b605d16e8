"""What the adviser knows beside hardware and models: typical models, settings and their flags, published gains and risks."""

from advisor.money import Choice, Chosen
from advisor.record import dataclass
from advisor.yamlfile import given


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A typical model of one size, asked about when the buyer names none."""

    label: str = given()
    model: str = given()


@dataclass(frozen=True, kw_only=True)
class Lower:
    """Weights of fewer bits than the usual ones, tried on what is owned."""

    quant: str = given()
    last: bool = given(default=False)  # what it loses shows: taken where nothing else does it, never for speed alone


@dataclass(frozen=True, kw_only=True)
class Flag:
    """How one engine is told one setting: `{context}`, `{count}` … are filled in."""

    setting: str = given()  # tensor layers offload-experts offload-layers kv-quant context peer-access power-limit drafting
    engine: str = given()  # engine id, or `system` for a command outside of the engine
    command: str = given()
    source: str = given()
    unverified: bool = given(default=False)


@dataclass(frozen=True, kw_only=True)
class Drafting:
    """One published gain of speculative decoding: tokens/s without and with it, on one system."""

    model: str = given()
    engine: str = given()
    system: str = given()
    draft_tokens: int = given(least=1)
    plain_tokens_per_s: float = given(above=0)
    drafted_tokens_per_s: float = given(above=0)
    source: str = given()

    @property
    def gain(self) -> float:
        """How many times as fast."""
        return self.drafted_tokens_per_s / self.plain_tokens_per_s


@dataclass(frozen=True, kw_only=True)
class Risk:
    """What went wrong for somebody with one setting."""

    setting: str = given()
    text: str = given()
    source: str = given()


@dataclass(frozen=True, kw_only=True)
class PowerCap:
    """One published measurement of what a power limit costs in decode speed."""

    device: str = given()
    limit_w: float = given(above=0)
    full_w: float = given(above=0)
    decode_kept_share: float = given(above=0, most=1.1)
    source: str = given()


@dataclass(frozen=True, kw_only=True)
class Retired:
    """Chips that the maker's current software no longer supports."""

    maker: str = given()
    architectures: tuple[str, ...] = given()
    text: str = given()
    source: str = given()


@dataclass(frozen=True, kw_only=True)
class LeastLanes:
    """The fewest PCIe lanes of a slot in a computer that one buys for several cards."""

    lanes: int = given(least=1)
    text: str = given()
    source: str = given()


@dataclass(frozen=True, kw_only=True)
class PeerPatch:
    """The cards on which somebody has run the patched driver that opens peer access over PCIe."""

    devices: tuple[str, ...] = given()
    source: str = given()


@dataclass(frozen=True, kw_only=True)
class Saying:
    """A number that people say in words: `words` are the ways of saying it, as a pattern."""

    name: str = given()
    words: str = given()
    source: str = given()
    unverified: bool = given(default=False)


@dataclass(frozen=True, kw_only=True)
class Pace(Saying):
    """A speed."""

    tokens_per_s: float = given(above=0)


@dataclass(frozen=True, kw_only=True)
class Length(Saying):
    """A context, and how much of it is read before an answer where that is known."""

    tokens: int = given(least=1)
    prompt_tokens: int | None = given(default=None, least=1)


@dataclass(frozen=True, kw_only=True)
class Crowd(Saying):
    """A number of users."""

    users: int = given(least=1)


@dataclass(frozen=True, kw_only=True)
class Hints(Chosen):
    """All of them."""

    ladder: tuple[Rung, ...] = given()
    lower_quants: tuple[Lower, ...] = given(default=())
    last_caches: tuple[str, ...] = given(default=(), about="cache types tried where nothing has to be bought: what they lose shows")
    flags: tuple[Flag, ...] = given()
    drafting: tuple[Drafting, ...] = given()
    risks: tuple[Risk, ...] = given()
    power_caps: tuple[PowerCap, ...] = given(default=())
    retired: tuple[Retired, ...] = given(default=())
    least_lanes: LeastLanes = given()
    peer_patch: PeerPatch | None = given(default=None)
    choices: tuple[Choice, ...] = given()  # numbers of the rule that nobody measures
    paces: tuple[Pace, ...] = given(default=())
    lengths: tuple[Length, ...] = given(default=())
    crowds: tuple[Crowd, ...] = given(default=())

    def flag(self, setting: str, engine_id: str) -> Flag | None:
        """How this engine is told this setting (that of several devices first), or the command outside of it."""
        if setting.endswith("-several"):
            return self.flag_of(setting, engine_id) or self.flag_of(setting.removesuffix("-several"), engine_id)
        return self.flag_of(setting, engine_id)

    def flag_of(self, setting: str, engine_id: str) -> Flag | None:
        """As above, for exactly this setting."""
        of_setting = [flag for flag in self.flags if flag.setting == setting]
        own = (flag for flag in of_setting if flag.engine == engine_id)
        return next(own, next((flag for flag in of_setting if flag.engine == "system"), None))

    def is_retired(self, maker: str, architecture: str) -> bool:
        """Whether the maker's current software leaves this chip behind."""
        return any(row.maker == maker and architecture in row.architectures for row in self.retired)
