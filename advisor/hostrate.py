"""What engines reach of a computer's memory where part of a model stays there: published runs, and what was fitted to them."""

from advisor.price import Source
from advisor.record import dataclass
from advisor.units import GB, MOST_LOG_FACTOR, US
from advisor.yamlfile import given


@dataclass(frozen=True, kw_only=True)
class HostRow:
    """A published run of one user with layers, or the experts of layers, in host memory."""

    id: str = given()
    source: str = given(about="who published it")
    url: str | None = given(default=None)
    date: str | None = given(default=None, about="YYYY-MM of the run")
    host: str = given(about="the computer as the source prints it")
    memory_bandwidth_bytes_per_s: float = given("memory_bandwidth_gb_per_s", GB, above=0, about="nominal: channels times data rate")
    memory_from: str = given(about="where the nominal rate comes from")
    device: str = given(about="catalog id of the card")
    engine: str = given()
    model: str = given()
    quant: str = given()
    host_layers: int = given(default=0, least=0, about="layers that lie in host memory whole")
    host_expert_layers: int = given(default=0, least=0, about="layers of which only the experts lie there")
    filled_tokens: int = given(default=0, least=0, about="tokens in the cache when generation starts")
    decode_tokens_per_s: float = given(above=0)
    prefill_tokens_per_s: float | None = given(default=None, above=0)
    micro_batch_tokens: int = given(default=512, least=1, about="tokens of a prompt that are read at once")
    note: str | None = given(default=None)


@dataclass(frozen=True, kw_only=True)
class HostCalibration:
    """Fitted by `tools/fit_host.py`: seconds in host memory = bytes / (`reached_share` × nominal rate) + layers there × `layer_s`.

    For a prompt the bytes are carried to the card, once for each piece of it, at `carried_share` of the slot's rate or at what is
    reached of the memory, whichever is less.
    The errors are root mean squares of the logarithm of a whole step's, or a whole prompt's, time beside the estimate, of rows
    whose source the fit had not seen.
    """

    reached_share: float = given(above=0, most=1, about="of the nominal rate of the host's memory")
    layer_s: float = given("layer_us", US, least=0, about="a token's way out of the card and back, for each layer in host memory")
    carried_share: float = given(above=0, most=1, about="of the rate of the card's slot: engines copy from memory that is not pinned")
    decode_log_error: float = given(least=0, most=MOST_LOG_FACTOR)
    prefill_log_error: float = given(least=0, most=MOST_LOG_FACTOR)
    rows: int = given(least=0)
    date: str = given(about="YYYY-MM-DD of the fit")
    sources: tuple[Source, ...] = given()
