"""A measurement: a published speed of one model on named hardware, as its source prints it."""

from functools import cached_property

from advisor.record import dataclass
from advisor.units import GIB, MS
from advisor.yamlfile import given

USUAL_GENERATE_TOKENS = 128  # what llama-bench generates, where a source does not say
CONTEXT_BLOCK_TOKENS = 256  # contexts are reserved in such steps
LEAST_PROMPT_TOKENS = 256  # a shorter prompt does not fill the chip, and timing it says little
TOO_FAST = 1.1  # datasheets round, and caches help a little: only what exceeds the bandwidth by more is refused


@dataclass(frozen=True, kw_only=True)
class Ran:
    """Equal devices that took part; `device` is null where the source does not say which one exactly."""

    device: str | None = given(about="catalog id of the device")
    name: str = given(about="the device as the source prints it")
    count: int = given(default=1, least=1)
    memory_bytes: float | None = given("memory_gib", GIB, default=None, above=0)


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One run. Speeds are of all users together."""

    id: str = given()
    source: str = given(about="who published it")
    url: str | None = given(default=None)
    where: str | None = given(default=None, about="file, issue or table within the source")
    date: str | None = given(default=None, about="YYYY-MM of the run")
    devices: tuple[Ran, ...] = given()
    boxes: int = given(default=1, least=1)
    link: str | None = given(default=None)
    strategy: str = given(default="whole")
    engine: str | None = given(default=None)
    engine_printed: str | None = given(default=None)
    engine_version: str | None = given(default=None)
    backend: str | None = given(default=None)
    model: str | None = given(default=None)
    model_printed: str | None = given(default=None)
    quant: str | None = given(default=None)
    quant_printed: str | None = given(default=None)
    file_bytes: float | None = given("file_gib", GIB, default=None, above=0)
    test: str | None = given(default=None, about="the test in the source's words")
    flash_attention: bool | None = given(default=None)
    users: int = given(default=1, least=1)
    as_many_users_as_fit: bool = given(default=False, about="all requests were sent at once; the engine took what it could")
    prompt_tokens: int | None = given(default=None, least=0, about="tokens read in the prefill test or before each answer")
    filled_tokens: int = given(default=0, least=0, about="tokens in the cache when generation starts")
    generate_tokens: int | None = given(default=None, least=1)
    prefill_tokens_per_s: float | None = given(default=None, above=0)
    decode_tokens_per_s: float | None = given(default=None, above=0, about="generated tokens of all users")
    sustained: bool = given(default=False, about="the prompts' reading is within the time of decode_tokens_per_s")
    prefill_comparable: bool = given(default=True, about="prefill_tokens_per_s is of one whole prompt, from the first token on")
    first_token_s: float | None = given("first_token_ms", MS, default=None, above=0)
    power_w: float | None = given(default=None, above=0)
    flags: tuple[str, ...] = given(default=())
    note: str | None = given(default=None)
    unusable: str | None = given(default=None, about="why it is not fitted and not compared")

    @property
    def printed_source(self) -> str:
        """Who and where, in one line."""
        return f"{self.source}:{self.where}" if self.where else self.source

    @cached_property
    def device_ids(self) -> frozenset[str | None]:
        """The kinds of devices that took part."""
        return frozenset(ran.device for ran in self.devices)

    @cached_property
    def device_count(self) -> int:
        """Devices that took part."""
        return sum(ran.count for ran in self.devices)

    @property
    def plain_prefill(self) -> bool:
        """Whether the prefill speed is that of one whole prompt, long enough to mean something."""
        long_enough = (self.prompt_tokens or 0) >= LEAST_PROMPT_TOKENS
        return self.one_user and self.prefill_tokens_per_s is not None and long_enough and self.prefill_comparable

    @cached_property
    def one_user(self) -> bool:
        """Whether one request ran at a time."""
        return self.users == 1 and not self.as_many_users_as_fit


@dataclass(frozen=True)
class Figure:
    """One speed of a row as a question: the work that it measured, and where its estimate stands."""

    row: Measurement
    kind: str  # decode | prefill | served, with -multi on several devices
    estimated_by: str  # decode | sustained | prefill
    tokens_per_s: float
    users: int | None  # None = as many as fit
    context_tokens: int
    prompt_tokens: int
    generate_tokens: int


def figures_of(row: Measurement) -> tuple[Figure, ...]:
    """What a usable row can be compared in: its generating speed, its prompt speed, both or nothing."""
    if row.unusable:
        return ()
    many = "-multi" if row.device_count > 1 else ""
    found = []
    if row.decode_tokens_per_s:
        generated = row.generate_tokens or USUAL_GENERATE_TOKENS
        context = -(-(row.filled_tokens + generated) // CONTEXT_BLOCK_TOKENS) * CONTEXT_BLOCK_TOKENS
        kind = ("decode" if row.one_user else "served") + many
        users = None if row.as_many_users_as_fit else row.users
        by = "sustained" if row.sustained else "decode"
        found.append(Figure(row, kind, by, row.decode_tokens_per_s, users, context, row.filled_tokens, generated))
    if row.plain_prefill and row.prefill_tokens_per_s and row.prompt_tokens:
        context = row.prompt_tokens + CONTEXT_BLOCK_TOKENS
        found.append(Figure(row, "prefill" + many, "prefill", row.prefill_tokens_per_s, 1, context, row.prompt_tokens, 1))
    return tuple(found)


def problems(row: Measurement, *, read_bytes: float, bandwidth_bytes_per_s: float, active_params: float, flops: float) -> tuple[str, ...]:
    """Why a row cannot be true: one token reads `read_bytes` and takes two operations for each of `active_params`.

    `bandwidth_bytes_per_s` and `flops` are those of all devices that took part. A row that says itself that it is unusable
    has no problem.
    """
    if row.unusable:
        return ()
    found = []
    if row.decode_tokens_per_s and row.one_user:
        needed = row.decode_tokens_per_s * read_bytes
        if needed > TOO_FAST * bandwidth_bytes_per_s:
            found.append(f"decode_tokens_per_s: faster than memory allows ({needed / bandwidth_bytes_per_s:.1f} times the bandwidth)")
    if row.prefill_tokens_per_s:
        needed = 2 * active_params * row.prefill_tokens_per_s
        if needed > TOO_FAST * flops:
            found.append(f"prefill_tokens_per_s: faster than the chip computes ({needed / flops:.1f} times its rate)")
    if row.decode_tokens_per_s is None and row.prefill_tokens_per_s is None:
        found.append("no speed: an aborted run")
    return tuple(found)
