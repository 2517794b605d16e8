"""The verdict in one sentence with its numbers, what it takes on trust, and what the buyer must mind."""

from collections.abc import Collection, Iterator, Mapping

from advisor.advice import Verdict
from advisor.advice.decide import Decision
from advisor.advice.desk import Desk, Work
from advisor.advice.judge import TIE_ORDER, Case, Option, allowed, meets, per_user, shortfalls
from advisor.advice.naming import articled, main_change, named, set_up
from advisor.advice.roads import nearest
from advisor.advice.sureness import confidence, straddles
from advisor.billed import CostLine
from advisor.market import Cost
from advisor.need import Need
from advisor.reason import Fact, Reason
from advisor.record import replace
from advisor.system import spec


def verdict_of(
    case: Case,
    decision: Decision,
    options: dict[str, Option | Reason | None],
    named: Collection[Option],
    dearer: Option | None,
    unasked: Option | None,
) -> Verdict:
    """The verdict on what was chosen; where nothing was, on what comes nearest of `named`, or of everything that is considered.

    `dearer` is what would do for more money than the budget, `unasked` what would of systems that were not asked about.
    """
    chosen, need = decision.chosen, case.need
    if chosen is None:
        every = [option for option in (*options.values(), *decision.changes) if isinstance(option, Option)]
        owned = [option for option in every if option.kind in TIE_ORDER]
        asked = [*owned, *named, *decision.seen] if named else [o for o in (*every, *decision.seen) if allowed(o.kind, need)]
        asked += [dearer] if dearer is not None else []
        others = [unasked] if unasked else [option for option in every if meets(option, need)]
        return _nothing(case, asked, others, bool(named))
    sure = confidence(chosen.estimate, need, case.desk.choice("enough-family-rows"))
    cost, estimate = chosen.cost, chosen.estimate
    answer = _answer(chosen, case)
    return Verdict(chosen.kind, estimate.system, estimate, cost, answer, True, sure, cost.spend_usd, cost.resale_usd)


def _nothing(case: Case, asked: list[Option], others: list[Option], among: bool) -> Verdict:
    """Nothing meets the need: the nearest miss of what was asked, and what would do if one asked for more than that."""
    need = case.need
    near, other = nearest(asked, need), nearest(others, need)
    scope = "among" if among else "considered" if need.consider else "all"
    facts: dict[str, Fact] = {"model": case.desk.model.id}
    if other is not None:
        facts |= {"other_name": named(other.estimate.system), "other_usd": other.cost.spend_usd, "other_kind": other.kind}
        facts["other_setup"] = set_up(other.estimate, other.cost)
        facts["other_tokens_per_s"] = per_user(other.estimate)
    but = "-but" if other is not None else ""
    if near is None:
        answer = Reason(f"verdict.nothing-{scope}{but}", facts)
        return Verdict("nothing-fits", None, None, None, answer, False, "high", None, None)
    estimate, cost = near.estimate, near.cost
    facts |= _facts(near, case) | {"first_token_s": estimate.first_token_s.value if estimate.first_token_s else None}
    facts |= {"most_first_token_s": need.max_first_token_s, "setup": set_up(estimate, cost)}
    missing = _missing(near, need)
    usual = "-default" if missing == "slow" and not need.floor_stated else ""
    answer = Reason(f"verdict.nothing-{scope}-{missing}{usual}{but}", facts)
    sure = confidence(estimate, need, case.desk.choice("enough-family-rows"))
    return Verdict("nothing-fits", estimate.system, estimate, cost, answer, False, sure, cost.spend_usd, cost.resale_usd)


UNMEASURED = ("calibration.unmeasured-engine", "calibration.unmeasured-devices")
FAR_LONGER_FACTOR = 4  # a context this many times what is timed: its full depth is another speed
MISSES = {
    "need.memory-short": "fits", "need.memory-short-each": "fits", "need.host-short": "fits", "need.from-disk": "fits",
    "need.too-slow": "slow", "need.first-token": "late", "price.unknown": "unpriced", "price.not-new": "unpriced",
}  # fmt: skip


def _missing(option: Option, need: Need) -> str:
    """The first thing that an option misses."""
    return next((MISSES.get(reason.code, "dear") for reason in shortfalls(option, need)), "dear")


def _facts(option: Option, case: Case) -> dict[str, Fact]:
    """The numbers of the first line."""
    estimate = option.estimate
    return {
        "system": spec(replace(estimate.system, engine=None, backend=None)),
        "name": named(estimate.system),
        "shopping": shopping(option.cost),
        "model": estimate.model.id,
        "quant": estimate.quant.id,
        "engine": estimate.placement.engine,
        "strategy": estimate.placement.strategy,
        "users": estimate.workload.users,
        "per_user_tokens_per_s": per_user(estimate),
        "all_users_tokens_per_s": estimate.decode.value if estimate.decode else None,
        "spend_usd": option.cost.spend_usd,
        "budget_usd": case.need.budget_usd,
        "floor_tokens_per_s": case.need.min_tokens_per_s,
    }


def shopping(cost: Cost) -> str:
    """What is bought, as a list: a second card, a bridge and a computer."""
    owned = {line.what: line.count for line in cost.lines if line.owned}
    items = [_item(line, owned.get(line.what, 0)) for line in cost.lines if not line.owned]
    return " and ".join((", ".join(items[:-1]), *items[-1:])) if items[1:] else "".join(items)


def _item(line: CostLine, owned: int) -> str:
    """One line of it as one says it."""
    used = f" ({line.condition})" if line.condition not in (None, "new") else ""
    more = owned and line.count == 1
    return f"{'a second' if owned == 1 else 'another'} {line.name}{used}" if more else f"{articled(line.name, line.count)}{used}"


def _answer(option: Option, case: Case) -> Reason:
    """The one sentence: what to do, what it costs, how fast it is; likely, where an interval straddles a floor."""
    kind = "keep" if option.kind == "keep" else "buy"
    facts = _facts(option, case)
    if option.kind == "change-settings":
        kind = f"change-{main_change(option.changes)}"
        facts |= {name: fact for reason in option.changes for name, fact in reason.facts.items()}
    if kind == "buy" and case.need.sell_old and option.cost.resale_usd:
        kind = "buy-sold"
        facts["resale_usd"] = option.cost.resale_usd
    if option.kind == "new-host":
        kind = "buy-host"
        owned = [line for line in option.cost.lines if line.owned]
        facts["moved"] = " and ".join(f"{line.count} × {line.name}" if line.count > 1 else line.name for line in owned)
    users = "-users" if (option.estimate.workload.users or 1) > 1 else ""
    likely = _likely(option, case.need)
    facts |= {"most_first_token_s": case.need.max_first_token_s} if likely == "-late" else {}
    return Reason(f"verdict.{kind}{users}{likely}", facts)


def _likely(option: Option, need: Need) -> str:
    """Which wish is met by the middle of its interval only: the speed, or else the first token."""
    if straddles(option.estimate.decode_per_user, need.min_tokens_per_s):
        return "-likely"
    late = need.max_first_token_s is not None and straddles(option.estimate.first_token_s, need.max_first_token_s)
    return "-late" if late else ""


def assumptions(case: Case, decision: Decision, full: Reason | None) -> tuple[Reason, ...]:
    """What was taken on trust."""
    need, desk = case.need, case.desk
    found: list[Reason] = []
    host = desk.own_host
    if host and (need.host_owned or (desk.have and desk.have.boxes[0].host_assumed)):
        facts: dict[str, Fact] = {"host": host.name, "supply_w": need.psu_w or host.power_supply_w}
        facts["ram_bytes"] = need.ram_bytes or host.memory_bytes
        kind = "laptop" if host.mount == "laptop" else "own-host" if need.host_owned else "host"
        found.append(Reason(f"assumed.{kind}", facts))
    found += desk.have.remarks if desk.have else ()
    option = decision.chosen
    found += _bought_host(option, desk) if option and not need.host else ()
    if option and need.quant is None:
        found.append(Reason("assumed.quant", {"quant": option.estimate.quant.id, "engine": option.estimate.placement.engine}))
    if option and need.kv_quant is None and option.estimate.kv_quant != case.work.kv_quant:
        found.append(Reason("assumed.kv-quant", {"kv_quant": option.estimate.kv_quant}))
    work = case.work.workload
    found.append(Reason("assumed.work", {"prompt_tokens": work.prompt_tokens, "generate_tokens": work.generate_tokens}))
    if not need.floor_stated:
        found.append(Reason("assumed.floor", {"floor_tokens_per_s": need.min_tokens_per_s}))
    if not need.context_stated:
        found.append(Reason("assumed.context", {"context_tokens": case.work.workload.context_tokens}))
    electricity: dict[str, Fact] = {"electricity_usd_per_kwh": desk.terms.usd_per_kwh, "hours_per_day": need.hours_per_day}
    found.append(Reason("assumed.running", electricity))
    found += [full] if full is not None and full.code == "assumed.full-context" else []
    return tuple(found)


def _bought_host(option: Option, desk: Desk) -> Iterator[Reason]:
    """That the computer on the bill is another one than estimates assume."""
    usual = next((host for host in desk.catalog.hosts.values() if host.owned_default), None)
    bought = next((line.what for line in option.cost.bought if line.what in desk.catalog.hosts), None)
    if usual is not None and bought not in (None, usual.id):
        yield Reason("assumed.bought-host", {"host_id": bought, "usual_id": usual.id, "usual_usd": desk.terms.price(usual).usd})


def full_context(case: Case, option: Option | None) -> Reason | None:
    """The speed of what is advised with the context full, where far more of it is asked for than the work that is timed fills."""
    work, need = case.work.workload, case.need
    long = work.context_tokens >= FAR_LONGER_FACTOR * (work.prompt_tokens + work.generate_tokens)
    if option is None or not need.context_stated or not long:
        return None
    estimate = option.estimate
    filled = replace(estimate.workload, prompt_tokens=estimate.workload.context_tokens - work.generate_tokens)
    ways = case.desk.ways(estimate.system, Work(filled, estimate.quant.id, estimate.kv_quant))
    if not ways or ways[0].decode_per_user is None:
        return None
    speed = per_user(ways[0])
    facts: dict[str, Fact] = {
        "context_tokens": filled.context_tokens,
        "full_tokens_per_s": speed,
        "floor_tokens_per_s": need.min_tokens_per_s,
    }
    return Reason("full.too-slow" if speed < need.min_tokens_per_s else "assumed.full-context", facts)


def warnings(verdict: Verdict, full: Reason | None) -> tuple[Reason, ...]:
    """What the buyer must mind: prices, the estimator's own warnings, renting."""
    found = list(verdict.cost.warnings) if verdict.cost and verdict.spend_usd else []
    told = verdict.meets_need  # what the owner did not measure is then told beside the verdict
    found += [each for each in verdict.estimate.warnings if not (told and each.code in UNMEASURED)] if verdict.estimate else []
    if verdict.cost and verdict.spend_usd and verdict.cost.rental_even_hours_per_day is not None:
        facts: dict[str, Fact] = {
            "rental_usd_per_hour": verdict.cost.rental_usd_per_hour,
            "even_hours": verdict.cost.rental_even_hours_per_day,
        }
        found.append(Reason("rent.even", facts))
    found += [full] if full is not None and full.code == "full.too-slow" else []
    unique = {(reason.code, str(sorted(reason.facts.items()))): reason for reason in found}
    return tuple(unique.values())


def ladder_answer(verdict: Verdict, facts: Mapping[str, Fact], between: bool = False) -> Reason:
    """The first line over the ladder: what runs already and what the next size costs; between systems, how far each goes."""
    codes = {"keep": "keep", "change-settings": "keep", "nothing-fits": "nothing"}
    if between:
        code = {"keep": "between-keep", "change-settings": "between-keep", "nothing-fits": "between-none"}.get(verdict.kind)
        if code == "between-none" and verdict.system is not None:
            return verdict.answer  # what comes nearest tells why
        code = code or ("buy" if facts.get("owned") else "between")
        return Reason(f"verdict.ladder-{code}", {**verdict.answer.facts, **facts})
    first = "first" if facts.get("budget_usd") is None else "within"
    code = codes.get(verdict.kind) or ("buy" if facts.get("owned") else first)
    if code == "nothing" and not facts.get("owned"):
        code = "none"
    return Reason(f"verdict.ladder-{code}", {**verdict.answer.facts, **facts})
