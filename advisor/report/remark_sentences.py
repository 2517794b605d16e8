"""What a friend would add to the verdict: the sentences of the "But" line. Templates over facts, as in `sentences`."""

_FANLESS = (
    "{device} has no fan of its own: it is made for the airflow of a server. In any other case every card needs a fan and a shroud for "
    "its {each_w} of heat, often loud, and not in the price."
)
_PLUGS = {"": "", "-eps": " Its power plug is a processor's (EPS 8-pin), not a graphics card's: take an EPS cable or an adapter."}
_SCREENS = {"": "", "-blind": " It drives no screen."}


def _fanless() -> dict[str, str]:
    """Of cards without a fan, with what else they lack of a graphics card."""
    ends = ((plug + screen, more + dark) for plug, more in _PLUGS.items() for screen, dark in _SCREENS.items())
    return {f"remark.passive-cooling{end}": _FANLESS + said for end, said in ends}


REMARKS: dict[str, str] = {
    "remark.quicker": "run {how}, what you have gives {per_user_tokens_per_s}, {speed_factor}, for nothing.",
    "remark.unmeasured-engine": "with {measured_engine} on {measured_devices} × {device} you measured {decode_factor} of the estimate; "
    "{engine} is only estimated. As far off it gives {left_tokens_per_s}, still enough: measure it before you rely on it.",
    "remark.unmeasured-engine-slow": "with {measured_engine} on {measured_devices} × {device} you measured {decode_factor} of the "
    "estimate; {engine} is only estimated. As far off it gives {left_tokens_per_s}, not enough: measure it before you rely on it.",
    "remark.unmeasured-devices": "on {measured_devices} × {device} with {measured_engine} you measured {decode_factor} of the estimate; "
    "what is advised here is only estimated. As far off it gives {left_tokens_per_s}, still enough.",
    "remark.unmeasured-devices-slow": "on {measured_devices} × {device} with {measured_engine} you measured {decode_factor} of the "
    "estimate; what is advised here is only estimated. As far off it gives {left_tokens_per_s}, not enough: do not rely on it.",
    **_fanless(),
    "remark.wait": "the first token of a prompt of {prompt_tokens} takes about {first_token_s}.",
    "remark.little-more": "for {more_usd} more, {spend_usd}, {shopping} would give {per_user_tokens_per_s}, {speed_factor}.",
    "remark.little-more-sure": "for {more_usd} more, {spend_usd}, {shopping} would give {per_user_tokens_per_s}, {speed_factor}, and "
    "surely what is asked, where the above only likely does.",
    "remark.other-run": "the same run {how} gives {per_user_tokens_per_s}, {speed_factor}, for nothing.",
    "remark.other-run-sure": "the same run {how} gives {per_user_tokens_per_s}, {speed_factor}, and surely what is asked, where the "
    "above only likely does: for nothing.",
    "remark.as-dear": "for the same price, {spend_usd}, {shopping} would give {per_user_tokens_per_s}, {speed_factor}.",
    "remark.as-dear-sure": "for the same price, {spend_usd}, {shopping} would give {per_user_tokens_per_s}, {speed_factor}, and surely "
    "what is asked, where the above only likely does.",
    "remark.processor": "your {host} may do it without a card: its memory allows at most {most_tokens_per_s}, and what the processor "
    "reaches of that is not estimated. Measure it first: {command}",
    "remark.processor-slow": "without a card the processor of your {host} reaches at most {most_tokens_per_s}, by the rate of its memory.",
    "remark.extraordinary": "no ordinary machine does this, and nothing under {ordinary_usd} comes near.",
    "remark.extraordinary-near": "no ordinary machine does this: the nearest under {ordinary_usd} is {setup} for {near_usd}, at "
    "{per_user_tokens_per_s} for each user.",
    "remark.extraordinary-late": "no ordinary machine does this: the nearest under {ordinary_usd} is {setup} for {near_usd}, with the "
    "first token after {first_token_s} where {floor_s} are wanted.",
}
