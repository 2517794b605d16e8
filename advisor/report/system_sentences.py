"""Sentences about systems, splits, links and the terms of a step."""

from advisor.refusals import REFUSALS

_TERMS = {  # of a token's time, what takes longer with more devices
    "weights": "reading the weights takes",
    "cache": "reading the cache takes",
    "compute": "computing takes",
    "host_memory": "the host's memory takes",
    "link": "the link takes",
    "overhead": "fixed costs take",
}
_FALLS_BACK = {
    "layers": "so whole layers go to each, and a token passes one after the other",
    "replicas": "so each runs a copy of its own",
    "experts": "so the experts are shared out",
    "offload": "so a part stays in host memory",
    "whole": "so one of them does it alone",
    "tensor": "so every layer is cut",
}
_UNEVEN = {"": "", "-uneven": " ({heads} attention heads are cut unevenly over {devices})"}


def _no_faster() -> dict[str, str]:
    """Why more devices gain nothing over fewer."""
    start = "{devices} gain nothing over {fewer_devices}: "
    back = {f"scale.falls-back-{split}": f"{start}{{why}}; {then}." for split, then in _FALLS_BACK.items()}
    longer = {
        f"scale.more-{term}{uneven}": f"{start}{takes} {{more_s}} a token instead of {{less_s}}{heads}, and what else is saved does not "
        "make up for it."
        for term, takes in _TERMS.items()
        for uneven, heads in _UNEVEN.items()
    }
    return back | longer


SYSTEM: dict[str, str] = {
    "cache.heads-copied": "The model has {kv_heads} KV heads for {devices} devices: each head's cache is kept more than once.",
    "cache.latent-copied": "The model's latent cache cannot be cut: each of the {devices} devices keeps all of it.",
    "decode.cache": "Reading the cache of {users} users takes {term_s} of {total_s} a token on {device} ({bandwidth_bytes_per_s}).",
    "decode.compute": "Unpacking and computing for {users} users takes {term_s} of {total_s} a token on {device}.",
    "decode.host-memory": "What lies outside the device takes {term_s} of {total_s} a token at {host_bytes_per_s} from host memory.",
    "decode.link-bandwidth": "Carrying {messages} × {message_bytes} over {link} takes {term_s} of {total_s} ({kind}, {devices} ranks).",
    "decode.link-latency": "{messages} messages a token over {link} wait {term_s} of {total_s} ({kind} of {devices} ranks, {software}).",
    "decode.overhead": "Starting the work of {layers} layers takes {term_s} of {total_s} a token on {device}.",
    "decode.weights": "Each token reads {read_bytes} on {device} ({bandwidth_bytes_per_s}): {term_s} of {total_s}.",
    "experts.node-limited": "A token's experts lie in at most {groups_per_token} groups, so it visits few of the {boxes} boxes.",
    "experts.spread": "A token uses {experts_per_token} of {experts} experts on {devices} devices: the busiest one sets the pace.",
    "link.card-wired": "{device} is wired for {wired}: it stays so in a wider slot ({link}).",
    "link.host-cannot": "{host} gives its cards {slots}, not {link}.",
    "link.needs-adapter": "{device} has no port for {link}: it needs an adapter on {port} in each ({has} are built in).",
    "link.peer-needs-patch": "{link} needs a patched driver on {device}: the stock one goes through host memory.",
    "load.wait": "Loading from {storage} takes {load_s}; swapped {swaps_per_day} times a day, the devices wait {waiting_share} of it.",
    "layers.by-speed": "Layers go by speed, not by memory: {counts} to the devices in their order ({engine} is told by {told}).",
    "layers.cut-everywhere": "{engine} cuts every stage alike: every box cuts its layers over {devices} devices, stated or not.",
    "offload.disk": "{disk_bytes} of the weights fit neither memory and would be read from disk for every token: unusable.",
    "offload.host-memory": "{host_weights_bytes} of the weights lie in host memory.",
    "one.from-disk": "One {device} alone would read part of the weights from disk for every token: no speed to compare with.",
    "one.refused": "One {device} alone cannot run it: {why}.",
    "one.short": "One {device} alone cannot run it on {engine}: it is short of {short_bytes}.",
    "quant.usual": "No quantization was asked: {quant} is the usual one on {engine}.",
    "scale.in-turn": "{devices} gain nothing over {fewer_devices}: a token passes one after the other, so more of them bring memory, not "
    "speed.",
    "scale.no-link": "{devices} of them cannot be joined so: {why}",
    "split.one-device": "One {device} leaves nothing to split: {strategy} is the same as whole there.",
    "stops.alone": "Large runs report {stops_per_device_year} unexpected stops a device and year; here each stops only its own users.",
    "stops.group": "Large runs report {stops_per_device_year} unexpected stops a device and year: {stops_per_year} for these {devices},\
 and each stops the {devices_each} of its copy, not the other copies.",
    "stops.together": "Large runs report {stops_per_device_year} unexpected stops a device and year: {stops_per_year} for these {devices},\
 and any one stops all.",
    "system.memory-assumed": "{device} is sold with several memory sizes: taken with {memory_bytes}.",
    "kernel.slow": "{engine} is known to be slow at {work} here, on {device} by {backend}: it takes {slower_factor} the time of {beside}.",
    "users.queue": "{engine} works on {at_a_time} requests at a time: of {users} users {waiting} wait for their turn.",
}
SYSTEM |= {code: text[0].upper() + text[1:] + "." for code, text in REFUSALS.items() if not text.startswith("'")}
SYSTEM |= {code: text + "." for code, text in REFUSALS.items() if text.startswith("'")}
SYSTEM |= _no_faster()
