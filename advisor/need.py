"""Work: how much is asked of a model at once. Need: what the buyer wants of it."""

from advisor.record import dataclass

USUAL_PROMPT_TOKENS, USUAL_GENERATE_TOKENS = 1024, 256  # of a request, where nobody said
USUAL_TOKENS_PER_S = 10.0  # that a buyer wants, where nobody said
USUAL_HOURS_PER_DAY = 8.0  # of use, likewise


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Requests at the same time, and their lengths in tokens. `users` None = as many as fit (`--users max`)."""

    users: int | None = 1
    context_tokens: int = 8192
    prompt_tokens: int = USUAL_PROMPT_TOKENS
    generate_tokens: int = USUAL_GENERATE_TOKENS


@dataclass(frozen=True, kw_only=True)
class Need:
    """The buyer's wishes beside the work: floors, money, taste. Speeds in tokens/s for each user."""

    workload: Workload
    model: str | None
    quant: str | None = None
    kv_quant: str | None = None
    min_tokens_per_s: float = USUAL_TOKENS_PER_S
    max_first_token_s: float | None = None
    budget_usd: float | None = None
    prefer: str = "cheapest"
    consider: tuple[str, ...] = ()
    new_only: bool = False
    sell_old: bool = False
    electricity_usd_per_kwh: float | None = None
    hours_per_day: float = USUAL_HOURS_PER_DAY
    prices_usd: tuple[tuple[str, float], ...] = ()
    host: str | None = None  # id of the computer around cards, where stated
    host_owned: bool = False  # that computer is there already, without cards
    ram_bytes: float | None = None
    psu_w: float | None = None
    storage: str | None = None
    floor_stated: bool = True  # False where the wanted speed is the tool's own
    context_stated: bool = True  # False where the tool took its usual context, which it may then shorten
