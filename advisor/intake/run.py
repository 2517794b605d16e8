"""One printed speed of a benchmark, with all that was printed around it."""

from advisor.record import dataclass

KINDS = ("decode", "prefill", "mixed", "served", "total", "input", "peak")
MOST_RUNS = 2_000  # speeds of one text


@dataclass(frozen=True, kw_only=True)
class Run:
    """Tokens per second of one test. None = not printed.

    `kind`: decode and prefill are of one phase; mixed reads and writes within the time; served = generated tokens of all
    users with the reading counted; total, input and peak are other counts of a server, shown but not compared.
    """

    tool: str
    test: str
    kind: str
    tokens_per_s: float | None
    model: str | None = None
    file: str | None = None  # name of the weights' file
    quant: str | None = None
    params: float | None = None
    file_bytes: float | None = None
    engine: str | None = None
    backend: str | None = None
    version: str | None = None
    devices: tuple[str, ...] = ()  # names as printed
    memory_bytes: float | None = None  # of each of them, where printed
    count: int | None = None  # devices that shared the work, where the file says so
    elsewhere: bool = False  # part of it ran on machines that the file does not name (RPC)
    strategy: str | None = None
    offload: bool = False  # some layers or experts stayed in the host's memory
    speculative: bool = False
    users: float = 1.0
    prompt_tokens: int | None = None
    generate_tokens: int | None = None
    filled_tokens: int = 0
    kv_quant: str | None = None
    flash_attention: bool | None = None
    date: str | None = None
    aborted: str | None = None  # why there is no figure to believe
