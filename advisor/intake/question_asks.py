"""What a question asks beside what to buy: is a bridge worth it, which engine, which split, which quantization or model."""

import re
from typing import TYPE_CHECKING

from advisor.intake.question_words import COUNT, Text, sentence_end, sentence_start, whole
from advisor.record import dataclass

if TYPE_CHECKING:
    from advisor.intake.question_names import Mention
    from advisor.intake.wording import Wording

BRIDGE = r"\bnv-?link(?:ed|s|ing)?(?: bridges?)?\b|\bbridges?\b|\bnv-bridge\b"
_ASKING = (
    r"(?:need|worth|help|matter|useful?|benefit|missing|necessary|buy|get|add|gain|faster|difference|make sense|required?|important|"
    r"should|bother|justif|"
    r"doing|improve|speed|pay|must|any good|point|do anything|want|consider|or\b|\?)"
)
_OWNED_BRIDGE = (
    r"\b(?:with|over|via|through|by|using|joined by|connected (?:by|with|via)|have|has|and)\s(?:an?\s|"
    r"the\s)?(?:\d-slot\s)?(?:nv-?link(?:ed)?(?: bridges?)?|bridge)\b(?!\s(?:help|worth|matter))|"
    r"\bnv-?linked\b|\bmy (?:nv-?link )?bridge\b"
)
OPPOSITES = {"layers": ("layers", "tensor"), "tensor": ("layers", "tensor"), "replicas": ("tensor", "replicas")}
BRIDGED = " via nvlink"
PEER = " via {link}-p2p"  # the link that the cards have, with peer access
SPLITS = (
    (
        r"\btensor[- ]?(?:parallel(?:ism)?|split(?:ting)?)\b|\brow[- ]split\b|\bsplit[- ]mode (?:row|tensor)\b|\btp ?= ?\d\b|\btp\d?\b|"
        r"\brow\b(?= or| vs)", "tensor"),
    (
        r"\bpipeline(?:[- ]parallel(?:ism)?)?\b|\blayer[- ]?(?:split(?:ting)?|wise|parallel)\b|\bsplit[- ]mode layer\b|\bpp ?= ?\d\b|"
        r"\bpp\d?\b", "layers"),
    (r"\breplicas?\b|\bdata[- ]parallel(?:ism)?\b|\bone (?:instance|copy|server) (?:per|on each) (?:gpu|card)\b", "replicas"),
    (r"\bexpert[- ]parallel(?:ism)?\b", "experts"),
    (r"\b(?:cpu[- ]?)?off-?load(?:ing|ed)?\b|\bn-cpu-moe\b|\bexperts (?:on|to|in) (?:the )?(?:cpu|ram|host memory)\b", "offload"),
)  # fmt: skip
_SLOT = r"\b(?:x ?[148]|pcie|slots?|lanes?|risers?|oculink|e-?gpus?|thunderbolt)\b"
_LANES = (
    r"\b(?:pcie|pci-e|gen)\s?(?P<generation>[345])(?:\.0)?\b(?:\s?x\s?(?P<wide>16|8|4|2|1)\b(?:\s?[/+]\s?x?(?P<other>16|8|4|1)\b)?)?|"
    r"\b(?:vs\.?|or|versus|to|than|instead of)\s(?P<later>[345])\.0\b(?:\s?x\s?(?P<later_wide>16|8|4|2|1)\b)?|"
    r"(?<![\w.])x\s?(?P<alone>16|8|4|2|1)\b(?:\s?[/+]\s?x?(?P<beside>16|8|4|1)\b)?"
)
_HALVED = r"\bhalv\w+\b[^.?!]{0,20}\b(?:pcie|lanes?|width|bandwidth)\b|\bhalf (?:the )?(?:pcie|lanes?|width)\b"
_DOUBT = (
    r"\b(?:ok(?:ay)?|enough|hurt\w*|slow\w*|matter\w*|bottleneck\w*|fine|problem\w*|pointless|choke\w*|penalt\w+|limit\w*|impact\w*|"
    r"lose|loss|benefit|gain|difference|kill\w*|cripple\w*|bad|worth|useless|suck\w*|work)\b"
)
_IN_DOUBT = rf"{_DOUBT}|\?"
_SUPPLY = r"\b(?:psu|power supply|\d{3,4}\s?w(?:atts?)?)\b[^.?!]{0,60}\b(?:enough|suffic\w+|ok(?:ay)?|handle|fine|cope|work)\b"
_SUPPLY_NEEDED = (
    r"\b(?:upgrade|replace|change|swap|need|new|bigger|stronger)\b[^.?!]{0,20}\b(?:psu|power supply)\b|"
    r"\b(?:enough|big|strong|what|which|how (?:big|many watts))\b[^.?!]{0,30}\b(?:psu|power supply)\b"
)
_RENT = r"\b(?:rent(?:ing|al|ed)?|runpod|vast\.?ai|lambda labs|cloud gpus?|(?:vs\.?|versus|or|than) (?:the |a )?cloud|in the cloud)\b"
_PARTS = (
    rf"(?:(?P<copies>(?!an?\s){COUNT})\s?x?\s(?:instances?\s|copies\s|replicas\s)?(?:of\s|with\s|at\s)?)?"
    r"(?<![\w.])(?:tp|tensor[- ]parallel(?:ism)?)[\s=:-]*(?P<size>\d{1,2})\b"
    r"(?:[\s,x+/-]*(?:and\s|with\s)?(?:pp|pipeline[- ]parallel(?:ism)?)[\s=:-]*(?P<stages>\d{1,2}))?"
)
LINKS = (
    (r"\brdma\b", "rdma"),
    (r"\binfiniband\b", "ib-hdr"),
    (r"\b2[.,]5 ?g(?:be|bit|igabit|bps)?\b(?:\s(?:ethernet|lan|network))?", "eth-2p5g-tcp"),
    (r"\b5 ?g(?:be|igabit)\b(?:\s(?:ethernet|lan|network))?", "eth-5g-tcp"),
    (r"\b10 ?g(?:be|bit|igabit|bps)?\b(?:\s(?:ethernet|lan|network))?", "eth-10g-tcp"),
    (r"\b(25|40|100|200|400) ?g(?:be|bit|igabit|bps)?\b(?:\s(?:ethernet|lan|network))?", "eth-{0}g-tcp"),
    (r"\b(?:1 ?g(?:be|bit|bps)|gigabit)\b(?:\s(?:ethernet|lan|network))?", "eth-1g-tcp"),
    (r"\busb4\b", "usb4-ip"),
    (r"\b(?:ethernet|rpc(?:-server|s)?|(?:over|via|on) (?:(?:a|the|my|our|local|home) )*(?:lan|network))\b", "ethernet"),
)


@dataclass(frozen=True)
class Variant:
    """One way of doing the same, to be set beside another: what differs, and the option words that differ."""

    label: str
    suffix: str = ""  # SYSTEM words behind the system: `via nvlink`, `as tensor`, `on vllm`
    quant: str | None = None
    model: str | None = None
    on_several: bool = False  # whether it means two devices at least
    system: str | None = None  # SYSTEM words in place of what is owned
    host: str | None = None  # the computer around it
    ram_bytes: float | None = None  # that computer's memory


@dataclass(frozen=True)
class Bridge:
    """What the text says of NVLink: that it is there, or that it asks whether it pays."""

    owned: bool = False
    asked: bool = False


_OWN_COMPUTER = (
    r"\b(?:(?:i|we)(?:'ve)?\s(?:(?:already|currently|have|own|got)\s)+(?:an?\s|the\s|this\s)?|(?<!replace )(?<!sell )(?:my|our)\s)"
    r"(?:(?:old|existing|current|own|home|gaming|normal|regular|decent|good|office|work|windows|linux|dell|hp|lenovo|intel|ryzen)\s){0,3}"
    r"(?P<kind>desktop|pc|computer|tower|laptop|notebook)\b(?!(?:'s)?\s?(?:gpu|card|graphics))"
)


NO_CARDS = r"\b(?:no|without(?: an?| any)?|lacks? an?)\s(?:dedicated\s|discrete\s)?(?:gpus?|graphics(?: cards?)?|video cards?)\b"
_TO_BUY = (
    r"\b(?:buy(?:ing)?|get(?:ting)?|build(?:ing)?|purchas\w+|order(?:ing)?|should|worth|need|new|or|vs\.?|versus|instead of|than|which|"
    r"what|replace|sell|looking)\b[^,;.?!]*$"
)


def is_there(question: Text, place: int, name: str, wording: "Wording") -> bool:
    """Whether a computer named there without cards is one that stands already: nobody thinks of buying it, and it is no slot's name."""
    before, after = question.original[sentence_start(question.original, place) : place], question.original[place + len(name) :]
    wanted = re.search(_TO_BUY, before) or re.match(r"\s(?:\w+\s)?(?:or|vs\.?|versus)\b", after)
    return not wanted and not any(re.search(rf"\b(?:{topic.words})", name) for topic in wording.topics)


def own_computer(question: Text, wording: "Wording") -> str | None:
    """The computer without a named card that is there already: its id, or the usual one's."""
    found = question.take(_OWN_COMPUTER)
    return None if found is None else "laptop" if found["kind"] in ("laptop", "notebook") else wording.usual_host


def bridge(text: Text) -> Bridge:
    """How the text speaks of NVLink; its words are crossed out."""
    found = re.search(BRIDGE, text.left)
    if not found:
        return Bridge()
    owned = re.search(_OWNED_BRIDGE, text.left)
    asked = re.search(_ASKING, text.left.replace("\0", " ")[max(0, found.start() - 60) : found.end() + 60])
    wanted = re.search(
        r"\b(?:buy|get|add|need|worth|an?|the|is|will|does|do i|should|without)\s(?:(?:an?|the|using)\s)?(?:nv-?link|bridge)", text.left
    )
    while text.take(BRIDGE):
        pass
    is_owned = bool(owned) and not (asked and wanted)
    return Bridge(owned=is_owned, asked=bool(asked) and not (is_owned and not _doubted(text, found.start())))


def bridged_sides(text: Text, devices: "list[Mention]", among: tuple[str, ...]) -> tuple[str, ...]:
    """The sides of an "A or B?", those with the bridge that stands behind their name: `2x 3090 nvlink vs a 6000 Ada`."""
    behind = re.compile(r"\s?(?:with\s|\+\s)?(?:an?\s|the\s)?(?:\+\s)?nv-?link(?:ed)?(?: bridge)?\b(?!\s(?:help|worth|matter|need))")
    bridged = {each.words for each in devices if each.count > 1 and behind.match(text.original, each.end)}
    return tuple(words + BRIDGED if words in bridged else words for words in among)


def _doubted(text: Text, place: int) -> bool:
    """Whether a bridge that is there is asked about: `is my bridge doing anything?`"""
    return bool(re.search(r"\b(?:is|does|do) (?:my|the|our)\b", text.original[max(0, place - 20) : place + 1]))


def link(text: Text) -> str | None:
    """A network that joins what is owned."""
    named = None
    for pattern, name in LINKS:
        while found := text.take(pattern):
            named = named or name.format(*found.groups())
    return named


def peer_access(text: Text) -> bool:
    """Whether the text asks about peer access between cards."""
    found = False
    while text.take(
        r"\b(?:patched\s)?(?:peer[- ]to[- ]peer|peer access|p2p)(?:\s(?:access|driver|patch|kernel|support))*\b|\bpatched driver\b"
    ):
        found = True
    return found


def splits(text: Text) -> tuple[str, ...]:
    """The splits that the text names, in their order."""
    found = []
    for pattern, name in SPLITS:
        while match := text.take(pattern):
            found.append((match.start(), name))
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


def parts(text: Text, device: str | None, count: int) -> tuple[Variant, ...]:
    """`one TP=8 or two TP=4`: the same devices cut as one, or in groups that each hold the whole model; empty unless two are named."""
    found = list(re.finditer(_PARTS, text.left))
    if device is None or len({each.groups() for each in found}) < 2:
        return ()
    for each in found:
        text.cross_out(*each.span())
    return tuple(_part(each, device, count) for each in found)


def _part(found: re.Match[str], device: str, count: int) -> Variant:
    size, stages = max(1, int(found["size"])), max(1, int(found["stages"] or 1))
    copies = whole(found["copies"]) if found["copies"] else max(1, count // (size * stages))
    group = f"{size}x {device} as tensor" if size > 1 else device
    if stages > 1:
        return Variant(f"TP={size} PP={stages}", system=f"{stages}x ({group}) as layers" if size > 1 else f"{stages}x {device} as layers")
    if copies == 1:
        return Variant(f"one TP={size}", system=group)
    return Variant(f"{copies} × TP={size}", system=f"{copies}x ({group}) as replicas" if size > 1 else f"{copies}x {device} as replicas")


def lanes(text: Text, generation: int, system: str | None, wording: "Wording") -> tuple[Variant, ...]:
    """`PCIe 3.0 vs 4.0`, `x8/x8 or x16+x4`, `halving the lanes`: the same cards over each; one in doubt is held against the usual one.

    `system`: the cards with the one more that is asked about.
    """
    usual = wording.usual_lanes
    found: list[tuple[int, int]] = []
    for each in re.finditer(_LANES, text.left):
        wide = [int(each[name]) for name in ("wide", "other", "alone", "beside", "later_wide") if each[name]]
        found.append((int(each["generation"] or each["later"] or generation), min(wide, default=usual)))
    if re.search(_HALVED, text.original):
        found = [(generation, usual), (generation, usual // 2)]
    ways = dict.fromkeys(each for each in found if each[0] in (3, 4, 5) and each[1] in (1, 2, 4, 8, 16))
    if len(ways) == 1 and system and _doubts_lanes(text):
        return _against_usual(text, next(iter(ways)), system, wording)
    if len(ways) < 2:
        return ()  # one alone is how they are joined
    while text.take(_LANES):
        pass
    return tuple(Variant(f"PCIe {gen}.0 x{wide}", f" via pcie-{gen}-x{wide}", on_several=True) for gen, wide in ways)


def _against_usual(text: Text, named: tuple[int, int], system: str, wording: "Wording") -> tuple[Variant, ...]:
    """One way to be joined that is in doubt, held against the usual one; of a generation alone against the next."""
    generation, wide = named
    shared, usual = wording.usual_lanes // 2, wording.usual_generation  # two cards share a slot's lanes
    one = generation, min(wide, shared)
    other = (usual if wide <= shared or generation != usual else usual - 1), shared
    if one == other:
        return ()
    while text.take(_LANES):
        pass
    return tuple(_over_lanes(gen, lanes, f"{system} via pcie-{gen}-x{lanes}") for gen, lanes in (one, other))


def _over_lanes(generation: int, wide: int, system: str) -> Variant:
    return Variant(f"PCIe {generation}.0 x{wide}", system=system)


def _doubts_lanes(text: Text) -> bool:
    """Whether the sentence that names a slot's lanes asks if they are enough."""
    found = re.search(_LANES, text.left)
    if found is None:
        return False
    sentence = text.original[sentence_start(text.original, found.start()) : sentence_end(text.original, found.end()) + 1]
    return "?" in sentence and bool(re.search(_DOUBT, sentence))


def lane_link(text: Text) -> str | None:
    """`4x 3090 with PCIe 3.0 x8 each`: the link between the cards, where generation and lanes are told."""
    found = re.search(r"\b(?:pcie|pci-e|gen)\s?([345])(?:\.0)?\s?x\s?(16|8|4|2|1)\b(?!\s?[/+])", text.left)
    if found:
        text.cross_out(*found.span())
    return f"pcie-{found[1]}-x{found[2]}" if found else None


def slots(text: Text, host: str | None, cards: int, wording: "Wording") -> tuple[Variant, ...]:
    """`is an x4 slot enough?`: in the slots that the text names, and in the usual ones."""
    found = re.search(_SLOT, text.original)
    usual = wording.usual_host if cards <= 2 else wording.usual_server
    if host in (None, usual) or found is None:
        return ()
    sentence = text.original[sentence_start(text.original, found.start()) : sentence_end(text.original, found.end()) + 1]
    if not re.search(_IN_DOUBT, sentence):
        return ()
    return tuple(Variant(each, host=each, on_several=True) for each in (host, usual) if each)


def supply(text: Text) -> bool:
    """Whether the text asks if a power supply is strong enough."""
    return bool(re.search(_SUPPLY, text.original) or re.search(_SUPPLY_NEEDED, text.original))


def rent(text: Text) -> bool:
    """Whether the text thinks of renting."""
    found = bool(re.search(_RENT, text.left))
    while text.take(_RENT):
        pass
    return found


def variants(asked: Bridge, peers: bool, engines: tuple[str, ...], ways: tuple[str, ...], quants: tuple[str, ...], models: tuple[str, ...],
             several: bool, among: tuple[str, ...] = ()) -> tuple[Variant, ...]:  # fmt: skip
    """What is to be set side by side: the first of these of which the text names two or asks."""
    if asked.asked and several:
        return (Variant("without the bridge", on_several=True), Variant("with the bridge", BRIDGED, on_several=True))
    if peers:
        return (Variant("without peer access", on_several=True), Variant("with peer access", PEER, on_several=True))
    if len(engines) > 1:
        return tuple(Variant(engine, f" on {engine}") for engine in engines)
    if len(ways) == 1 and len(among) > 1:
        return tuple(Variant(each, system=f"{each} as {ways[0]}" if not each[0].isalpha() else each) for each in among)
    if ways and several:
        both = ways if len(ways) > 1 else OPPOSITES.get(ways[0], ways)
        return tuple(Variant(way, f" as {way}", on_several=True) for way in both) if len(both) > 1 else ()
    if len(models) > 1:
        return tuple(Variant(model, model=model) for model in models)
    return tuple(Variant(quant, quant=quant) for quant in quants) if len(quants) > 1 else ()
