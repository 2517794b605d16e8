"""The sentences of advice: verdicts, why a road won or lost, what would change it. Templates over facts, as in `sentences`."""

from advisor.report.remark_sentences import REMARKS

_EACH = {"": "{per_user_tokens_per_s}", "-users": "{per_user_tokens_per_s} for each of {users} users"}
# likely: the interval of the speed, or only that of the first token, straddles the wanted one
_ABOUT = {
    "": ("about ", "."),
    "-likely": ("about ", ", likely enough."),
    "-late": ("about ", ", the first token likely within {most_first_token_s}."),
}
_VERDICTS = {
    "keep": "Keep what you have: {model} ({quant}) runs on your {name} at {about}{each}.",
    "buy": "Buy {shopping} for {spend_usd}: {model} ({quant}) then runs at {about}{each}.",
    "buy-sold": "Buy {shopping} for {spend_usd}, less {resale_usd} for the old parts: {model} ({quant}) then runs at {about}{each}.",
    "buy-host": "Buy {shopping} for {spend_usd} and move your {moved} into it: {model} ({quant}) then runs at {about}{each}.",
    "change-offload": "Buy nothing, change a setting: with a part of {model} ({quant}) in host memory it runs on your "
    "{name} at {about}{each}.",
    "change-tensor": "Buy nothing, change a setting: with every layer of {model} ({quant}) cut over your {name} you get {about}{each}.",
    "change-layers-dealt": "Buy nothing, change a setting: with more of the layers of {model} ({quant}) on the faster device it runs "
    "on your {name} at {about}{each}.",
    "change-layers": "Buy nothing, change a setting: with the layers of {model} ({quant}) shared out over your {name} you get "
    "{about}{each}.",
    "change-whole": "Buy nothing, change a setting: on your {name} alone {model} ({quant}) runs at {about}{each}.",
    "change-replicas": "Buy nothing, change a setting: a copy of {model} ({quant}) on each of {name} gives {about}{each}.",
    "change-experts": "Buy nothing, change a setting: with the experts of {model} ({quant}) shared out over your {name} you get "
    "{about}{each}.",
    "change-quant": "Buy nothing, take smaller weights: as {quant} {model} runs on your {name} at {about}{each}.",
    "change-quant-offload": "Buy nothing, take smaller weights and keep a part in host memory: as {quant} {model} runs on your "
    "{name} at {about}{each}.",
    "change-kv-quant": "Buy nothing, take a smaller cache: with its cache as {kv_quant} {model} ({quant}) runs on your {name} at "
    "{about}{each}.",
    "change-kv-quant-offload": "Buy nothing, take a smaller cache and keep a part in host memory: with its cache as {kv_quant} "
    "{model} ({quant}) runs on your {name} at "
    "{about}{each}.",
    "change-context": "Buy nothing, take a shorter context: with {context_tokens} {model} ({quant}) runs on your {name} at {about}{each}.",
    "change-context-offload": "Buy nothing, take a shorter context and keep a part in host memory: with {context_tokens} {model} "
    "({quant}) runs on your {name} at {about}{each}.",
    "change-engine": "Buy nothing, change the engine: with {engine} {model} ({quant}) runs on your {name} at {about}{each}.",
    "change-raise-limit": "Buy nothing, raise the memory limit of your {name}: {model} ({quant}) then runs at {about}{each}.",
}


def _verdicts() -> dict[str, str]:
    """Every verdict for one and for several users, sure and likely."""
    return {
        f"verdict.{kind}{many}{sure}": text.removesuffix(".").replace("{each}", each).replace("{about}", about) + end
        for kind, text in _VERDICTS.items()
        for many, each in _EACH.items()
        for sure, (about, end) in _ABOUT.items()
    }


_SCOPES = {
    "all": "Nothing meets this need",
    "among": "None of the systems that you named meets this need",
    "considered": "Nothing of the kinds that you consider meets this need",
}
_MISSES = {
    "": "",
    "-fits": ": the nearest, {name}, does not hold {model} ({quant})",
    "-slow": ": the nearest, {name}, gives {per_user_tokens_per_s} for each user where {floor_tokens_per_s} are wanted",
    "-slow-default": ": the nearest, {name}, gives {per_user_tokens_per_s} for each user where {floor_tokens_per_s} (the default) "
    "are wanted",
    "-late": ": the nearest, {name}, takes {first_token_s} to the first token where {most_first_token_s} are allowed",
    "-dear": ": the nearest, {setup}, costs {spend_usd} where {budget_usd} is the budget, and would give {per_user_tokens_per_s}",
    "-unpriced": ": the nearest, {name}, has no known price",
}
_OTHERS = {"": ".", "-but": ". Otherwise {other_setup} would do it, for {other_usd}, at {other_tokens_per_s} for each user."}


def _nothings() -> dict[str, str]:
    """That nothing does: of what was asked, what comes nearest, and what would do if more than that were considered."""
    return {
        f"verdict.nothing-{scope}{miss}{other}": who + why + but
        for scope, who in _SCOPES.items()
        for miss, why in _MISSES.items()
        for other, but in _OTHERS.items()
    }


_SECOND = {
    "yes-for-speed": "A {one_more} makes it {speed_factor} as fast, {two_per_user_tokens_per_s} instead of "
    "{one_per_user_tokens_per_s}, for {spend_usd}{parts}.",
    "yes-for-capacity": "What you have does not hold it; with a {one_more} there are {usable_bytes}, and it runs at "
    "{two_per_user_tokens_per_s}, for {spend_usd}{parts}.",
    "yes-for-users": "What you have does not serve {users} users; with a {one_more} each gets {two_per_user_tokens_per_s}, "
    "for {spend_usd}{parts}.",
    "no-slower": "What you have does it at {one_per_user_tokens_per_s}; with a {one_more} it would even be slower: "
    "{two_per_user_tokens_per_s}.",
    "no-gain": "What you have does it at {one_per_user_tokens_per_s}; a {one_more} brings next to nothing: "
    "{two_per_user_tokens_per_s} for {spend_usd}{parts}.",
    "no-need": "What you have does it at {one_per_user_tokens_per_s}, and {floor_tokens_per_s} are wanted; a {one_more} would give "
    "{two_per_user_tokens_per_s} for {spend_usd}{parts}.",
    "no-not-enough": "Even a {one_more} is not enough: {needed_bytes} needed, {usable_bytes} there.",
    "no-not-held": "Even a {one_more} is not enough: what its memory does not hold finds no room in the computer's.",
    "no-too-slow": "Even with a {one_more} each user gets only {two_per_user_tokens_per_s} where {floor_tokens_per_s} are wanted.",
    "no-too-dear": "A {one_more} would do, at {two_per_user_tokens_per_s}, but costs {spend_usd}{parts}, and {budget_usd} is the budget.",
    "no-unpriced": "A {one_more} would do, at {two_per_user_tokens_per_s}, but no price of {unpriced} is known.",
    "no-not-new": "A {one_more} would do, at {two_per_user_tokens_per_s}, but nobody is known to sell {unpriced} new.",
    "no-too-late": "Even with a {one_more} the first token comes too late.",
    "no-spills": "Even a {one_more} leaves {host_bytes} in host memory, and each user gets {two_per_user_tokens_per_s}.",
}


def _seconds() -> dict[str, str]:
    """What is said of one more, without and with other parts in its price."""
    beside = {"": "", "-beside": " ({beside_usd} of it for {parts})"}
    return {f"second.{kind}{end}": text.replace("{parts}", parts) for kind, text in _SECOND.items() for end, parts in beside.items()}


ADVICE: dict[str, str] = {
    **_verdicts(),
    **_nothings(),
    "verdict.ladder-keep": "Keep what you have: it runs every typical size up to {next}.",
    "verdict.ladder-buy": "What you have runs: {runs}. For the next size, {next}, buy {shopping} for {spend_usd}: {per_user_tokens_per_s}.",
    "verdict.ladder-first": "From {next} for {spend_usd} ({shopping}: {per_user_tokens_per_s}) up to {largest} for {largest_usd}: "
    "the table has the cheapest way to each size.",
    "verdict.ladder-within": "For {budget_usd} you can run up to {next}: buy {shopping} for {spend_usd}, {per_user_tokens_per_s}.",
    "verdict.ladder-none": "Not even the smallest typical size, {next}, can be had so.",
    "verdict.ladder-nothing": "What you have runs: {runs}. For the next size, {next}, nothing meets the need.",
    "verdict.ladder-between": "Of these buy {shopping} for {spend_usd}: the largest typical size that one of them does, {next}, runs at "
    "{per_user_tokens_per_s}.",
    "verdict.ladder-between-keep": "Keep what you have: of these nothing does a larger typical size than yours does, {next}.",
    "verdict.ladder-between-none": "None of these does even the smallest typical size, {next}, as asked.",
    "bill.computer": "If you have a computer already, --have desktop (or what it is: `advisor list hosts`) takes it off the bill.",
    # why a road won
    "won.fits": "It fits: {needed_bytes} of {usable_bytes} (weights {weights_bytes}, cache {cache_bytes} for {context_tokens} each, "
    "working memory {other_bytes}).",
    "won.speed": "Fast enough: {per_user_tokens_per_s} for each user where {floor_tokens_per_s} are wanted.",
    "won.speed-likely": "Likely fast enough: {low_tokens_per_s} to {high_tokens_per_s} where {floor_tokens_per_s} are wanted.",
    "won.keep": "It is yours already and does what is asked.",
    "won.change": "It costs nothing.",
    "won.cheapest": "The cheapest of {systems} systems weighed that meets the need: {spend_usd}.",
    "won.fastest": "The fastest of {systems} systems weighed within the budget: {spend_usd}.",
    # why a road lost
    "need.memory-short": "Short of memory by {short_bytes} as {quant}: it needs {needed_bytes} and has {usable_bytes}.",
    "need.memory-short-each": "Short of memory by {short_bytes} on the fullest, {device}, as {quant}: it needs {needed_bytes} and has "
    "{usable_bytes}.",
    "need.host-short": "Short of host memory by {short_bytes}: it needs {needed_bytes} and has {usable_bytes}.",
    "need.from-disk": "Unusable: {disk_bytes} of the weights would be read from disk for every token.",
    "need.too-slow": "Too slow: {per_user_tokens_per_s} where {floor_tokens_per_s} are wanted.",
    "need.first-token": "The first token takes {first_token_s} where {floor_s} are allowed.",
    "need.over-budget": "Over the budget by {over_usd}.",
    "lost.to-keep": "Not needed: what you have does it; this would be {speed_factor} as fast for {more_usd}.",
    "lost.to-change-settings": "Not needed: a setting does it; this would be {speed_factor} as fast for {more_usd}.",
    "lost.dearer": "Meets the need for {more_usd} more, {speed_factor} as fast.",
    "lost.not-asked": "Would do for {less_usd} less, but you asked between others.",
    "lost.not-named": "Would do, at {per_user_tokens_per_s} for {spend_usd}, but you asked between others.",
    "lost.tie": "The same price, {speed_factor} as fast.",
    "lost.slower": "Slower: {per_user_tokens_per_s} against {chosen_tokens_per_s}.",
    "lost.setting-idle": "Runs too, {speed_factor} as fast as it is used now.",
    "lost.not-considered": "Not among the kinds you consider.",
    "impossible.no-slot": "{name} has no slot for another card.",
    "impossible.no-nvlink": "{name} has no NVLink connector.",
    "impossible.no-rdma": "{name} has no network with RDMA.",
    "impossible.no-setting": "There is no other setting that runs it.",
    "impossible.none-fits": "Nothing of this kind on sale holds it.",
    "keep.raise-limit": "It fits only with its memory limit raised.",
    "keep.unsupported": "It does not run: {why}.",
    **REMARKS,  # what a friend would add
    # host parts
    "host.assumed": "{host} with {ram_bytes} of memory, as nobody named a computer; --host names one (`recommend` without --have counts "
    "the cheapest that does it).",
    "host.power": "The power supply is short: {need_w} needed, {have_w} there; {part} for {price_usd} (or a power limit).",
    "host.power-tight": "The power supply has little to spare: {need_w} of {have_w} ({used_share}). Limit the cards' power, or take one of "
    "about {wanted_w}.",
    "host.power-beyond": "No single power supply on sale gives the {need_w} that it needs: several are counted.",
    "host.new": "It needs another computer: {host} takes {cards} cards and costs {price_usd}; yours takes {most_cards}.",
    "host.lanes": "It needs another computer: the GPUs of such a board share a slot of {lanes} lanes, which {own} has not for it; "
    "{host} costs {price_usd}.",
    "host.memory": "Its computer gets {ram_bytes} of memory instead of {owned_bytes}, for {price_usd}.",
    "host.roomier": "It moves to another computer: {host} has {ram_bytes} at {reached_bytes_per_s} and costs {price_usd}; yours has "
    "{owned_bytes} at {owned_bytes_per_s}.",
    # what was changed
    "change.offload": "A part of the weights in host memory.",
    "change.tensor": "Every layer cut over the {devices} devices.",
    "change.layers-dealt": "More of the layers on the faster device: {counts}.",
    "change.layers": "The layers shared out over the {devices} devices.",
    "change.whole": "One device alone.",
    "change.replicas": "A copy on each of the {devices} devices.",
    "change.experts": "The experts shared out over the {devices} devices.",
    "change.engine": "{engine} instead of {from}.",
    "change.raise-limit": "The memory limit of the machine raised.",
    "change.quant": "Weights as {quant}.",
    "change.quant-from": "Weights as {quant}, {bits} bits each instead of {usual_bits} ({usual}); what that loses is not in the catalog.",
    "change.quant-loss": "Weights as {quant}, {bits} bits each instead of {usual_bits}: it predicts text {perplexity_rise_share} worse "
    "than sixteen-bit weights do, {usual} {usual_rise_share} (Llama 3 of eight billion weights).",
    "change.kv-quant": "With its cache as {kv_quant}.",
    "change.context-tokens": "A context of {context_tokens}.",
    # second one
    **_seconds(),
    "second.cannot": "One more {name} cannot be put to work here.",
    "second.setting": "It needs the {strategy} split of {engine}.",
    # the three conditions
    "condition.by-count": "Over {devices} devices it divides: {cut_tokens_per_s}.",
    "condition.by-engine": "{engine} cuts it here: {cut_tokens_per_s}.",
    "condition.by-link": "Over {link} ({price_usd}) it would be {cut_tokens_per_s}, {speed_factor} as fast.",
    "condition.by-link-patched": "Over {link}, with a patched driver, it would be {cut_tokens_per_s}, {speed_factor} as fast.",
    "condition.by-link-slot": "In slots of {link} it would be {cut_tokens_per_s}, {speed_factor} as fast.",
    "condition.software": "{engine} ({backend}) cuts every layer over {devices} devices.",
    "condition.software-no": "{why}.",
    "condition.software-unknown": "No engine was asked to cut layers over {devices} devices.",
    "condition.link": "{link}: of {total_s} a token the link takes {link_s} ({link_share}); {devices} devices are {speedup_factor} "
    "as fast as one.",
    "condition.link-slow": "{link}: of {total_s} a token the link takes {link_s} ({link_share}); {devices} devices are only "
    "{speedup_factor} as fast as one.",
    "condition.link-no": "{why}.",
    "condition.link-unasked": "{link}: without a split of layers the link hardly matters.",
    "condition.link-unknown": "{link}: cut over {devices} devices it does not fit, so no speed is known.",
    "condition.model": "{heads} attention heads and {kv_heads} KV heads divide by {devices}.",
    "condition.model-ceiling": "{heads} heads and {kv_heads} KV heads divide by {devices}; {serial_share} of a token's time cannot be "
    "shared, so the ceiling is {ceiling_factor}.",
    "condition.model-uneven": "{heads} attention heads and {kv_heads} KV heads are cut unevenly over {devices}.",
    "condition.model-ceiling-uneven": "{heads} heads and {kv_heads} KV heads are cut unevenly over {devices}; {serial_share} of a token's "
    "time cannot be shared, so the ceiling is {ceiling_factor}.",
    "condition.model-fixed": "{serial_share} of a token's time is fixed costs that no second device takes over: the ceiling is "
    "{ceiling_factor}.",
    "condition.model-no": "{why}.",
    "condition.model-unasked": "{heads} attention heads, {kv_heads} KV heads: not cut here.",
    # settings and what they bring
    "setting.tensor": "Cut every layer over the {devices} devices ({engine}).",
    "setting.layers-dealt": "Deal the layers out over the {devices} devices as stated ({engine}).",
    "setting.layers": "Share the layers out over the {devices} devices ({engine}).",
    "setting.experts": "Share the experts out over the {devices} devices ({engine}).",
    "setting.whole": "Use one device alone ({engine}).",
    "setting.offload-experts": "Keep the experts of {host_expert_layers} of {layers} layers in host memory ({engine}).",
    "setting.offload-layers": "Keep {host_layers} of {layers} layers in host memory ({engine}).",
    "setting.kv-quant": "As counted above, the cache as {kv_quant}.",
    "setting.raise-limit": "Raise the memory limit so that {usable_bytes} can be used.",
    "setting.peer-access": "Peer access over PCIe with a patched driver; mind: {risk}.",
    "setting.power-limit": "Limit {name} to {limit_w} of {full_w}.",
    "setting.drafting": "Speculative decoding with {draft_tokens} draft tokens (published for {model} on {system}; not counted above).",
    "gain.fits": "It then runs, at {per_user_tokens_per_s}.",
    "gain.speed": "{to_tokens_per_s} instead of {from_tokens_per_s}, {speed_factor}.",
    "gain.power": "Saves {saved_w} for {lost_share} of the speed.",
    "gain.published": "Measured: {to_tokens_per_s} instead of {from_tokens_per_s}, {speed_factor}.",
    # prices
    "price.list-only": "{name}: no street price known, the list price {price_usd} of {date} is used.",
    "price.old": "{name}: the price is {age_days} days old ({date}).",
    "price.unverified": "{name}: nobody has checked the price {price_usd}.",
    "price.spike": "{name}: {price_usd} is {above_share} above its own earlier price, {earlier_usd}.",
    "price.conflict": "{name}: sources disagree: {price_usd} ({date}) is used, another says {other_usd} ({other_date}).",
    "price.unknown": "{name}: no price known, so it is never chosen.",
    "price.outdated": "{name}: only a list price of {date} is known, {price_usd}, and nobody has checked it, so it is never chosen; "
    "--price {device}=USD states what you pay.",
    "price.part-unknown": "{name}: nobody says what one part costs ({part}); it is not in the price.",
    "price.not-new": "{name}: nobody is known to sell it new, and only new parts are wanted.",
    "price.not-yet-sold": "{name} is announced but not yet sold.",
    "rent.even": "Renting the same costs {rental_usd_per_hour}: buying pays from {even_hours} hours a day over three years.",
    # what is taken on trust
    "assumed.host": "Your cards sit in: {host}, {supply_w} supply, {ram_bytes} of memory.",
    "assumed.bought-host": "The computer is the cheapest that does it ({host_id}); `estimate` and `compare` assume {usual_id}, "
    "{usual_usd}: --host names one for both.",
    "assumed.own-host": "Your own computer: {host}, {supply_w} supply, {ram_bytes} of memory.",
    "assumed.laptop": "Your {host} has {ram_bytes} of memory, and takes a card only in a box on its port.",
    "assumed.floor": "{floor_tokens_per_s} wanted, as nobody said.",
    "assumed.context": "Context {context_tokens} for each user.",
    "assumed.work": "Speeds are those of {generate_tokens} generated after a prompt of {prompt_tokens}.",
    "assumed.full-context": "With the context of {context_tokens} full it is {full_tokens_per_s} for each user.",
    "full.too-slow": "With the context of {context_tokens} full each user gets only {full_tokens_per_s} where {floor_tokens_per_s} "
    "are wanted.",
    "assumed.quant": "Weights as {quant}, what {engine} users usually take.",
    "assumed.kv-quant": "KV cache as {kv_quant} instead of sixteen bits.",
    "assumed.running": "Electricity {electricity_usd_per_kwh}, {hours_per_day} hours a day.",
    "assumed.ladder": "No model named: typical sizes were tried.",
}
