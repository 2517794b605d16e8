"""Settings: what to set on the system of the verdict, with the engine's own words and what it brings."""

from advisor.advice import Setting
from advisor.advice.desk import Desk, Work
from advisor.advice.judge import Option, per_user
from advisor.advice.naming import in_order
from advisor.commands import blanks, setting_of
from advisor.errors import AdvisorError
from advisor.hints import Drafting, Hints
from advisor.link import Link
from advisor.reason import Fact, Reason
from advisor.speed import Estimate
from advisor.system import spec

PEER_SUFFIX = "-p2p"
SEEN_FACTOR = 1.01  # less gain is not seen in three figures


def settings(desk: Desk, chosen: Option | None, keep: Option | None, faster: Option | None) -> tuple[Setting, ...]:
    """The settings worth a look: how the model is split, and what makes it `faster` for nothing, first."""
    option = chosen or keep
    if option is None:
        return ()
    hints = desk.catalog.hints
    quicker = _free(option, faster, hints) if faster else None
    found = [_split(option, keep, hints), quicker, _kv(option, hints), _limit(option)]
    found += [_peer(desk, option, hints), _power(option, hints), _drafting(option, hints)]
    return tuple(setting for setting in found if setting is not None)


def _values(estimate: Estimate) -> dict[str, object]:
    """What the commands' blanks are filled with."""
    return {
        "devices": estimate.system.count,
        "context_tokens": estimate.workload.context_tokens,
        "kv_quant": estimate.kv_quant,
        **blanks(estimate.placement, estimate.model, estimate.weights, estimate.fit.host_needed_bytes),
    }


def _command(hints: Hints, setting: str, engine: str, values: dict[str, object]) -> tuple[str | None, tuple[str, ...]]:
    flag = hints.flag(setting, engine)
    return (flag.command.format(**values), (flag.source,)) if flag else (None, ())


def _split(option: Option, keep: Option | None, hints: Hints) -> Setting | None:
    """How the model is split, where there is anything to split."""
    estimate = option.estimate
    strategy = estimate.placement.strategy
    name = setting_of(estimate.placement)
    if strategy != "offload" and (estimate.system.count < 2 or strategy == "replicas"):
        return None
    command, sources = _command(hints, name, estimate.placement.engine, _values(estimate))
    placement = estimate.placement
    facts: dict[str, Fact] = {"engine": placement.engine, "strategy": strategy, "devices": estimate.system.count}
    if strategy == "offload":
        facts |= {"layers": estimate.model.layers, "host_layers": placement.host_layers}
        facts |= {"host_expert_layers": min(estimate.weights.expert_layers, placement.host_layers + placement.host_expert_layers)}
    name = name.removesuffix("-several")
    return Setting(Reason(f"setting.{name}", facts, sources), command, _gain(keep, option))


def _free(now: Option, faster: Option, hints: Hints) -> Setting:
    """What is owned set otherwise than advised, clearly faster for something given up."""
    main, *others = in_order(faster.changes)
    estimate = faster.estimate
    engine, names = estimate.placement.engine, []
    if estimate.system.count > 1 or estimate.placement.strategy == "offload":
        names.append(setting_of(estimate.placement))
    names += [name for name in ("kv-quant", "context") if any(each.code.startswith(f"change.{name}") for each in faster.changes)]
    commands = (_command(hints, name, engine, _values(estimate))[0] for name in names)
    return Setting(main, " ".join(filter(None, commands)) or None, _gain(now, faster), tuple(others))


def _gain(before: Option | None, after: Option) -> Reason | None:
    """What the setting brings over the usual one of the same hardware."""
    if before is None or before is after or before.estimate.system.count != after.estimate.system.count:
        return None
    slow, fast = per_user(before.estimate), per_user(after.estimate)
    if not slow:
        return Reason("gain.fits", {"per_user_tokens_per_s": fast})
    if fast < SEEN_FACTOR * slow:
        return None
    return Reason("gain.speed", {"from_tokens_per_s": slow, "to_tokens_per_s": fast, "speed_factor": fast / slow})


def _kv(option: Option, hints: Hints) -> Setting | None:
    """A smaller KV cache where the choice was for one."""
    estimate = option.estimate
    if not any(reason.code == "change.kv-quant" for reason in option.changes):
        return None
    command, sources = _command(hints, "kv-quant", estimate.placement.engine, _values(estimate))
    return Setting(Reason("setting.kv-quant", {"kv_quant": estimate.kv_quant}, sources), command, None)


def _limit(option: Option) -> Setting | None:
    """The memory limit of a Mac or an APU box, where it must be raised."""
    reason = next((reason for reason in option.estimate.fit.reasons if reason.code == "memory.raise-limit"), None)
    if reason is None:
        return None
    command = reason.facts.get("command")
    facts: dict[str, Fact] = {"usable_bytes": reason.facts.get("limit_bytes")}
    return Setting(Reason("setting.raise-limit", facts, reason.sources), None if command is None else str(command), None)


def _peer(desk: Desk, option: Option, hints: Hints) -> Setting | None:
    """Peer access over PCIe where the stock driver has none: what it would bring, and what went wrong for others."""
    link = option.estimate.system.shown_link
    if link is None or link.kind != "pcie" or link.transport != "host-staged" or option.estimate.placement.strategy != "tensor":
        return None
    patch = hints.peer_patch
    if patch is None or any(group.device.id not in patch.devices for group in option.estimate.system.groups):
        return None  # nobody has run the patch on such cards
    with_peer = _with_link(desk, option, link)
    risks = [risk for risk in hints.risks if risk.setting == "peer-access"]
    if with_peer is None or per_user(with_peer) <= per_user(option.estimate):
        return None
    flag = hints.flag("peer-access", "system")
    facts: dict[str, Fact] = {"risk": "; ".join(risk.text for risk in risks)}
    before, after = per_user(option.estimate), per_user(with_peer)
    gain = Reason("gain.speed", {"from_tokens_per_s": before, "to_tokens_per_s": after, "speed_factor": after / before})
    return Setting(Reason("setting.peer-access", facts, tuple(risk.source for risk in risks)), flag.command if flag else None, gain)


def _with_link(desk: Desk, option: Option, link: Link) -> Estimate | None:
    """The same system in the same way over the link with peer access."""
    if link.id + PEER_SUFFIX not in desk.catalog.links:
        return None
    estimate = option.estimate
    words = spec(estimate.system).replace(f"via {link.id}", f"via {link.id}{PEER_SUFFIX}")
    system = desk.system(words, estimate.system.boxes[0].host, estimate.system.ram_bytes)
    if isinstance(system, AdvisorError):
        return None
    ways = desk.ways(system, Work(estimate.workload, estimate.quant.id, estimate.kv_quant))
    return max(ways, key=per_user, default=None)


def _power(option: Option, hints: Hints) -> Setting | None:
    """A power limit, where somebody measured how little it costs."""
    device = option.estimate.system.groups[0].device
    cap = next((cap for cap in hints.power_caps if cap.device == device.id), None)
    if cap is None:
        return None
    facts: dict[str, Fact] = {"limit_w": cap.limit_w, "full_w": cap.full_w, "name": device.name}
    gain = Reason("gain.power", {"saved_w": cap.full_w - cap.limit_w, "lost_share": 1 - cap.decode_kept_share})
    flag = hints.flag("power-limit", "system") if device.maker == "nvidia" else None
    command = flag.command.format(limit_w=int(cap.limit_w)) if flag else None
    return Setting(Reason("setting.power-limit", facts, (cap.source,)), command, gain)


def _drafting(option: Option, hints: Hints) -> Setting | None:
    """Speculative decoding: its published gain, never counted in a speed."""
    estimate = option.estimate
    rows = [row for row in hints.drafting if row.model == estimate.model.id]
    if not rows:
        return None
    engine = estimate.placement.engine
    row: Drafting = max(rows, key=lambda each: (each.engine == engine, -each.gain))
    facts: dict[str, Fact] = {"draft_tokens": row.draft_tokens, "model": row.model, "system": row.system}
    gain = {"from_tokens_per_s": row.plain_tokens_per_s, "to_tokens_per_s": row.drafted_tokens_per_s, "speed_factor": row.gain}
    flag = hints.flag("drafting", row.engine)
    command = flag.command.format(draft_tokens=row.draft_tokens) if flag else None
    return Setting(Reason("setting.drafting", facts, (row.source,)), command, Reason("gain.published", gain, (row.source,)))
