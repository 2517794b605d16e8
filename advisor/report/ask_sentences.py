"""The sentences of `ask`: how a question was read, and what it asks beside what to buy. Templates over facts, as in `sentences`."""

_SIDES = {
    "owned": ", yours: {each}{first}.",
    "bare": ": {each}{first}, {spend_usd} to buy.",
    "bare-parts": ": {each}{first}, {spend_usd} to buy with {parts}.",
    "host": ": {each}{first}, {spend_usd} to buy with a computer ({computer_usd}).",
    "host-parts": ": {each}{first}, {spend_usd} to buy with a computer ({computer_usd}) and {parts}.",
    "unpriced": ": {each}{first}; no price is known, so it is never chosen.",
}
_HELD = {  # an offer against what the thing goes for
    "below": "{price_share} below what it goes for, {usual_usd} {condition} ({date}).",
    "above": "{price_share} above what it goes for, {usual_usd} {condition} ({date}).",
    "usual": "about what it goes for, {usual_usd} {condition} ({date}).",
    "unknown": "no other price is known to hold it against.",
}
_FIRST = {"": "", "-first": ", first token after {first_token_s}"}


def _sides() -> dict[str, str]:
    """One side of an "A or B?": its speed, its time to the first token where prompts were spoken of, its price."""
    each = "{per_user_tokens_per_s} for each user on {model}"
    return {
        f"asked.side-{kind}{end}": "{label}" + text.replace("{each}", each).replace("{first}", first)
        for kind, text in _SIDES.items()
        for end, first in _FIRST.items()
    }


ASKED: dict[str, str] = {
    # how a question was read
    "ask.cannot": "{why}",
    "ask.context-raised": "A context of {stated_tokens} is shorter than prompt and answer: {used_tokens} are used.",
    "ask.converted": "{amount} {currency} are {converted_usd} at {rate} ({date}).",
    "ask.no-rate": "There is no rate for {currency} in the catalog: no budget is used.",
    "ask.apart": "{taken} and {others} are separate machines: {taken} is taken as what you have.",
    "ask.asked-cannot": "{name} does not do it, so everything on sale was weighed.",
    "ask.asked-unpriced": "No price of {name} is known, so it is never advised; everything on sale was weighed instead.",
    "ask.crowd": "“{name}” is taken as {users} at the same time.",
    "ask.usual-model": "No model named: weighed with {model}, the largest typical one that {system} holds.",
    "ask.within-budget": "“{name}” is taken as {taken}: of its kind the most memory, and the fastest, that {budget_usd} buys.",
    "ask.card-alone": "A card alone is asked for, so a computer for it is taken as there ({host}, {ram_bytes} of memory): --have names "
    "yours, and `recommend` without it counts one in.",
    "ask.left-out": "Left out as you wish: {kinds}.",
    "ask.length": "“{name}” is taken as {context_tokens}.",
    "ask.length-read": "“{name}” is taken as a context of {context_tokens}, {prompt_tokens} of it read before an answer (after the first "
    "the engine's cache spares most of the reading); --context and --prompt state yours.",
    "ask.pace": "“{name}” is taken as {floor_tokens_per_s}.",
    "ask.range": "Of the range the upper end is taken, {budget_usd}.",
    "ask.spelling": "“{written}” is read as {read}.",
    "ask.took-model": "“{name}” is taken as {taken} (others: {others}).",
    "ask.took-usual": "“{name}” is taken as {taken}.",
    "ask.usual-card": "“{name}” could be many: taken as {taken}; name yours to be sure.",
    "ask.near-name": "“{name}” is not in the catalog: read as {taken}.",
    "ask.network": "Nothing tells how the machines of {system} are joined: by the network that they have.",
    "ask.part-price": "The bridge's own price, “{name}”, is not counted as what you want to spend.",
    "ask.size-alone": "“{name}” is not in the catalog: taken as a typical model of {size}.",
    "ask.any-maker": "“{name}”: one maker's cards alone cannot be asked for, so all are weighed; --among names those that you mean.",
    "ask.any-mac": "“{name}” names no machine: everything on sale was weighed, Macs too; name one, as in “Mac Studio M4 Max "
    "128GB”, to set it against the rest.",
    "ask.largest-model": "Of the models that you name {taken}, the largest, is weighed (the others: {others}).",
    "ask.no-laptop": "“{name}” in a laptop is not in the catalog: read as the desktop card, which is faster.",
    "ask.processor": "The processor, “{name}”, is not weighed: the usual one of such a computer is assumed.",
    "ask.detected": "You name no card: this machine's is taken, {system}.",
    "ask.faster": "{speed_factor} of the {now_tokens_per_s} of today is wanted: {floor_tokens_per_s}.",
    "ask.took-mixture": "“{size}” is taken as {taken}, a mixture of experts.",
    "ask.took-quant": "{bits} bits are taken as {quant}.",
    # what was asked beside what to buy, side by side
    "asked.variant": "{label}: {per_user_tokens_per_s} for each user, prompts at {prefill_tokens_per_s} ({engine}, {strategy}).",
    "asked.variant-alone": "{label}: {per_user_tokens_per_s} for each user on {model}, prompts at {prefill_tokens_per_s} ({engine}, "
    "{strategy}).",
    "asked.variant-users": "{label}: {per_user_tokens_per_s} for each of {users} users, {sustained_tokens_per_s} in all with the "
    "prompts' reading counted ({engine}, {strategy}).",
    "asked.variant-short": "{label}: {model} ({quant}) does not fit.",
    "asked.variant-short-users": "{label}: {model} ({quant}) does not fit for {users} users of {context_tokens} each.",
    "asked.variant-cannot": "{label}: {why}.",
    "asked.bridge": "NVLink on {system}: {with_tokens_per_s} instead of {without_tokens_per_s} ({decode_factor}), prompts "
    "{prefill_factor}; it works only with a split that cuts every layer, here {strategy} of {engine}.",
    "asked.bridge-idle": "NVLink on {system}: next to no gain, {with_tokens_per_s} instead of {without_tokens_per_s} "
    "({decode_factor}), prompts {prefill_factor} ({engine}, {strategy}).",
    "asked.users": "{system} serves {users} users of {model} ({quant}) at the same time with {context_tokens} each, "
    "{per_user_tokens_per_s} for each; {floor_users} of them get {floor_tokens_per_s}.",
    "asked.risk": "Mind: {text}.",
    "asked.best": "{label} is the faster: {speed_factor} as fast as {other}.",
    "asked.even": "{label} and {other} are about as fast.",
    "ask.took-least": "“{name}” is several devices; {taken} is taken (others: {others}).",
    "asked.even-prompts": "{label} and {other} are about as fast in generating; {reader} reads prompts {prefill_factor} as fast.",
    "asked.bridge-cannot": "The bridge cannot be had here: {why}.",
    # what no verdict answers
    "asked.outside": "This is about something else: {text}.",
    "asked.outside-too": "Beside that: {text}.",
    "asked.memory": "{model} ({quant}) takes {needed_bytes}: weights {weights_bytes}, cache {cache_bytes} for {context_tokens}, working "
    "memory {other_bytes}.",
    "asked.memory-users": "{model} ({quant}) takes {needed_bytes}: weights {weights_bytes}, cache {cache_bytes} for {users} users of "
    "{context_tokens} each, working memory {other_bytes}.",
    "asked.training": "{way} of {model}: {state_bytes}, activations on top.",
    "asked.ram-holds": "With {ram_bytes} of memory in its computer {system} runs {model} ({quant}) at {per_user_tokens_per_s}; with "
    "{own_bytes} it does not fit.",
    "asked.ram-faster": "With {ram_bytes} of memory in its computer {system} runs {model} ({quant}) at {per_user_tokens_per_s} instead of "
    "{now_tokens_per_s} with {own_bytes}.",
    "asked.ram-same": "More memory in the computer changes nothing here: {system} runs {model} ({quant}) at {now_tokens_per_s} with "
    "{own_bytes}, and no faster with {ram_bytes}.",
    "asked.ram-short": "Even with {ram_bytes} of memory in its computer {system} does not hold {model} ({quant}).",
    "asked.ram-costs": "{ram_bytes} of memory cost about {spend_usd}, as a new kit.",
    "asked.ram-beyond": "{ram_bytes} of memory cost about {spend_usd}, but the computer assumed ({host}) takes {most_bytes} at full speed.",
    "asked.ram-soldered": "No memory can be added to {system}: it is built in.",
    "asked.context": "{system} has room for {max_context_tokens} of {model} ({quant}).",
    "asked.first-token": "{system} takes about {first_token_s} ({least_first_token_s} to {most_first_token_s}) from a prompt of "
    "{prompt_tokens} to the first token of {model} ({quant}).",
    "asked.power": "{name} takes up to {power_w}; {system} with its computer takes {need_w} at work.",
    "asked.power-box": "{name} takes up to {power_w} at work.",
    "asked.running": "{system} with its computer takes {need_w} at work: {day_usd} for {hours} hours of it, at {price_usd} per kWh.",
    "asked.running-unknown": "What {system} takes of electricity is not known.",
    "asked.resale": "{name} used: about {resale_usd}, the lower end of what is asked for it.",
    "asked.resale-unknown": "{name}: no price for a used one is known.",
    "asked.costs": "{name} goes for about {usual_usd} {condition} ({date}).",
    "asked.costs-unknown": "{name}: no price is known.",
    **{f"asked.{what}-{kind}": f"{{name}} for {{asked_usd}}: {held}" for what in ("price", "offer") for kind, held in _HELD.items()},
    "asked.supply-tight": "Enough, but tight: {system} takes {need_w} with its computer, {used_share} of the {have_w} that the supply "
    "gives. About {wanted_w} would leave the reserve that makers of cards ask for; a power limit on the cards does too.",
    "asked.supply-enough": "Enough: {system} takes {need_w} with its computer, and the supply gives {have_w}.",
    "asked.supply-limited": "Not at full power: {system} takes {need_w} with its computer, and the supply gives {have_w}; with the cards "
    "held to a power limit {limited_w} do.",
    "asked.supply-short": "Not enough: {system} takes {need_w} with its computer, and the supply gives {have_w}.",
    "asked.supply-needs": "{system} takes {need_w} with its computer.",
    "asked.rent": "Renting {name} costs {rental_usd_per_hour}: buying for {spend_usd} pays from {even_hours} hours a day over three years.",
    "asked.rent-cheaper": "Renting is cheaper at {hours} hours a day: {name} costs {rental_usd_per_hour}, and buying for {spend_usd} "
    "pays from {even_hours} hours a day over three years.",
    "asked.rent-dearer": "Buying is cheaper at {hours} hours a day: renting {name} costs {rental_usd_per_hour}, and buying for {spend_usd} "
    "pays from {even_hours} hours a day over three years.",
    "asked.rent-never": "Renting {name} costs {rental_usd_per_hour}: buying for {spend_usd} does not pay within three years.",
    "asked.rent-owned": "Renting the same costs {rental_usd_per_hour}; what you have costs {running_usd_per_hour} of electricity.",
    "asked.rent-unknown": "No rental price is known of any of this.",
    "asked.known": "In general: {text}.",
    "asked.rule": "In general: {text}.",
    "asked.unnamed-need": "That depends on the model and on what you have: name them; the table has the cheapest way to each typical size.",
    "asked.own": "What you have runs {model} ({quant}) at {per_user_tokens_per_s}, and {floor_tokens_per_s} are wanted.",
    "asked.own-short": "What you have does not hold {model} ({quant}).",
    "asked.second": "A {ordinal} one makes {model} {speed_factor} as fast: {two_per_user_tokens_per_s} instead of "
    "{one_per_user_tokens_per_s}, for {spend_usd}.",
    "asked.second-idle": "A {ordinal} one makes {model} no faster: {two_per_user_tokens_per_s} instead of {one_per_user_tokens_per_s}, for "
    "{spend_usd}.",
    "asked.second-no-size": "No, not for a larger model: a {ordinal} one brings no further typical size within reach.",
    "asked.unnamed-card": "That depends on your card, which you do not name and this machine does not show: name it, as in "
    "“a second 3090”.",
    **_sides(),
}
