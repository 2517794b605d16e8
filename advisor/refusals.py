"""What an engine or hardware cannot do, said in one line each: for errors, and for reports of what was passed over."""

from collections.abc import Iterable

from advisor.reason import Reason

# code -> str.format template over the facts
REFUSALS: dict[str, str] = {
    "engine.not-on-hardware": "{engine} does not run on {device}",
    "engine.architecture": "{engine} does not run models of the {architecture} architecture",
    "kv.engine-cannot-keep": "{engine} cannot keep its cache as {kv_quant}: it takes {kv_types}",
    "kv.not-on-hardware": "{engine} cannot keep its cache as {kv_quant} on {device}: there it takes {kv_types}",
    "kv.too-old": "{engine} keeps its cache as {kv_quant} from compute capability {needed} on, and {device} has {has}: there it takes "
    "{kv_types}",
    "quant.engine-cannot-read": "{engine} cannot read {quant}: it reads {formats}",
    "quant.not-on-hardware": "{engine} does not run {quant} on {device}",
    "placement.architecture": "{engine} cannot cut models of the {architecture} architecture ({strategy})",
    "placement.engine-cannot-split": "{engine} on {backend} has no {strategy} split",
    "placement.heads": "{engine} needs the {heads} attention heads to divide by the number of devices, {devices}",
    "placement.hidden": "{engine} needs the hidden size {hidden_size} to divide by the number of devices, {devices}",
    "placement.kv-heads": "{engine} can neither divide nor copy {kv_heads} KV heads over {devices} devices",
    "placement.makers": "{engine} cannot split one model over devices of several makers ({makers}) by {strategy}",
    "placement.most-devices": "{engine} cuts over at most {most_devices} devices, not {devices}",
    "placement.no-experts": "{model} has no experts to share out",
    "placement.no-link": "nothing joins these {devices} devices: name a link with 'via'",
    "placement.no-path": "{engine} on {backend} cannot use {link} between devices",
    "placement.not-between-boxes": "{engine} cannot split by {strategy} over {boxes} boxes",
    "placement.one-device": "one device leaves nothing to split by {strategy}",
    "placement.power-of-two": "{engine} cuts over 2, 4, 8 … devices, not {devices}",
    "placement.inside": "boxes split as {inside} inside cannot be split as {strategy} together (inside it may be {may})",
    "placement.unlike-boxes": "the boxes hold unlike numbers of devices ({fewest_devices} and {most_devices})",
    "placement.unlike-devices": "{engine} cannot split by {strategy} over unlike devices",
    "placement.vocabulary": "{engine} needs the padded vocabulary {vocabulary} to divide by the number of devices, {devices}",
    "placement.whole-is-one": "'whole' means one device, and these are {devices}: use replicas, layers or tensor",
    "offload.cache-alone-is-too-much": "even with all weights in host memory the cache and buffers do not fit the device",
    "offload.not-needed": "everything fits the devices: nothing is left to move to host memory",
    "offload.unified-memory": "{device} shares one memory with its processor: there is no other to move weights to",
}


def said(reasons: Iterable[Reason]) -> str:
    """The refusals as one line, each once."""
    lines = dict.fromkeys(REFUSALS[reason.code].format_map(dict(reason.facts)) for reason in reasons)
    return "; ".join(lines)
