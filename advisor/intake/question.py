"""A plain English question into the options of `recommend`, with what was taken on trust and what was not understood."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from advisor.errors import BadValue
from advisor.intake import question_asks as asks
from advisor.intake import question_words as amounts
from advisor.intake.everyday import everyday_words
from advisor.intake.question_asks import Variant
from advisor.intake.question_budget import any_mac_within, bought_within
from advisor.intake.question_cards import unnamed_cards
from advisor.intake.question_facts import facts_asked
from advisor.intake.question_line import command_line
from advisor.intake.question_models import engines_in, largest, models_in, quants_in, rivals, usual_in
from advisor.intake.question_names import Mention, mentions, spans
from advisor.intake.question_network import networked, over_network
from advisor.intake.question_ram import Ram
from advisor.intake.question_ram import wanted as ram_wanted
from advisor.intake.question_reading import Reading, read_amounts, read_length, read_prices, read_processors
from advisor.intake.question_roles import ANY_MAC
from advisor.intake.question_sides import MORE_OF_IT, Sides, sides_of
from advisor.intake.question_topics import MORE_GPUS, PURCHASE, beside_text, topics_in
from advisor.intake.question_words import Text
from advisor.intake.spelling import corrected, laptops_named
from advisor.intake.wording import Topic
from advisor.market import Terms
from advisor.reason import Reason
from advisor.record import dataclass, replace

if TYPE_CHECKING:
    from advisor.catalog import Catalog

ASKS_SPEED = (
    r"\b(?:faster|fastest|quicker|slower|speed|increase (?:my |the )?(?:tok|t/s|tps)|how much (?:more|better)|gain|as fast|twice|double|"
    r"outperform\w*|beats?)\b"
)
ASKS_MEMORY = r"\bhow (?:much|many (?:gb|gigs) of) (?:v?ram|gpu memory|video memory|memory)\b|\bv?ram (?:needed|required|requirements?)\b"
ASKS_HOW = r"\b(?:is|are|do|does|did|will|would|can|could|how|why|fine|useful|normal)\b"
ASKS_CARD = (
    r"\b(?:best|cheapest|which|what|good|an?|fastest|new|used)\s(?:\w+\s){0,5}?(?:gpu|graphics card|video card|card)\b|"
    r"(?:^|[.,;:!?]\s)(?:gpus?|(?:graphics |video )?cards?)\s(?:for|under|below|around|up to|that|to)\b"
)
ENDINGS = ("s", "es", "'s", "d", "ed", "ly", "ing", "er", "y")  # of everyday words
MAKERS = r"\b(?:(?:no|not|without) )?(?:nvidia|geforce|amd|radeon|intel)\b"
ASKS_MACHINE = r"\b(?:build|machine|box|computer|server|setup|rig|pc|workstation|desktop|laptop|mac|system)\b"
LEAST_WORDS_ASKED = 4
LISTS_MODELS = r"\b(?:what|which)\b.{0,20}\b(?:run|models?|fit|load)\b"
MOST_IN_DESKTOP = 2
MOST_CHARACTERS = 2000  # reading takes longer than linear


@dataclass(frozen=True)
class Understood:
    """How a question was read: `recommend`'s options by key, and the command line that says the same."""

    words: Mapping[str, Any]
    command_line: str
    not_understood: tuple[str, ...] = ()
    assumptions: tuple[Reason, ...] = ()
    variants: tuple[Variant, ...] = ()  # to be set side by side
    compared_on: str | None = None  # the system that they are set on
    about_owned: bool = False  # whether it asks only how what is owned does
    counts_users: bool = False  # whether it asks how many users can be served
    engine: str | None = None  # the only engine that it names
    topics: tuple[Topic, ...] = ()  # what it is about beside what to buy
    faster: float | None = None  # how many times as fast as today it shall be, where today's speed is not told
    just_faster: bool = False  # whether only that it shall be faster is told
    asks_card: bool = False  # whether it asks for a card, not for a machine
    asks_supply: bool = False  # whether the power supply is strong enough
    limit_w: float | None = None  # what each card is held to
    asks_rent: bool = False
    asks_memory: bool = False  # how much memory the model takes
    about_text: bool = False  # whether it speaks of text to be generated
    asks_speed: bool = False  # which is the faster
    names_one_more: bool = False  # whether one more of what is owned is spoken of
    facts: tuple[str, ...] = ()  # plain facts that it asks of what it names
    ram: Ram = Ram()  # more memory in the computer as the thing to buy
    told_too: tuple[str, ...] = ()  # SYSTEM words of what else is asked between
    unnamed_card: bool = False  # whether it speaks of a card of the buyer's that it does not name


@dataclass(frozen=True, eq=False)
class _Spoken:
    """What the text names, and what it asks of that."""

    topics: tuple[Topic, ...]
    rents: bool
    bridge: asks.Bridge
    peers: bool
    devices: list[Mention]
    models: tuple[str, ...]
    quants: tuple[str, ...]
    engines: tuple[str, ...]
    sides: Sides
    divided: tuple[Variant, ...]  # the same cards in other groups or over other links
    ways: tuple[str, ...]
    ram: Ram


def understand(text: str, catalog: "Catalog") -> Understood:
    """The question read from its amounts to its names; what is left over is listed."""
    if len(text) > MOST_CHARACTERS:
        raise BadValue(f"QUESTION: {len(text):,} characters are too many: at most {MOST_CHARACTERS:,}.")
    reading = Reading()
    question = Text(laptops_named(corrected(text, catalog, reading.assumptions), catalog, reading.assumptions))
    limit_w = amounts.limit_w(question)
    counts_users = bool(question.take(r"\bhow many (?:\w+ )?(?:users|people|requests|clients|streams|sessions|employees|students)\b"))
    read_processors(question, reading, catalog)
    read_amounts(question, reading, catalog)
    spoken = _spoken(question, reading, catalog)
    sides = spoken.sides
    _read_systems(question, sides, spoken.bridge, spoken.engines, reading, catalog)
    _read_host(question, sides, spoken.devices, reading, catalog)
    beside_mac = _read_any_mac(question, reading)
    spoken = _for_all_models(question, spoken, reading, catalog)
    reading.set("model", spoken.models[0] if spoken.models else None)
    read_length(reading, reading.words.get("model"), catalog)
    reading.set("quant", spoken.quants[0] if len(spoken.quants) == 1 else None)
    reading.assumptions += [*(mention.note for mention in spoken.devices if mention.note), *sides.notes]
    compared = spoken.models if rivals(question, spoken.models) else ()
    beside_ram = _beside_ram(question, spoken, reading)
    variants = _set_beside(question, spoken, compared, reading, catalog)
    asks_supply = asks.supply(question)
    return Understood(
        words=reading.words,
        command_line=command_line(reading.words),
        not_understood=(*(() if compared and variants else spoken.models[1:]), *_leftovers(question)),
        assumptions=tuple({(note.code, str(note.facts)): note for note in reading.assumptions}.values()),
        variants=variants,
        compared_on=sides.compared_on(several=asks_supply and sides.several or bool(variants and variants[0].on_several)),
        about_owned=_about_owned(question, sides, bool(variants), bool(reading.words.get("budget"))),
        counts_users=counts_users,
        engine=spoken.engines[0] if len(spoken.engines) == 1 else None,
        topics=spoken.topics,
        faster=None if "min_tokens_per_s" in reading.words else reading.speed.factor,
        just_faster=reading.speed.just_faster,
        asks_card=bool(re.search(ASKS_CARD, question.original)) and not re.search(ASKS_MACHINE, question.original),
        asks_supply=asks_supply,
        limit_w=limit_w,
        asks_rent=spoken.rents,
        asks_memory=bool(re.search(ASKS_MEMORY, question.original)),
        about_text=beside_text(text),
        asks_speed=bool(re.search(ASKS_SPEED, question.original)),
        names_one_more=bool(MORE_OF_IT.search(question.original)),
        facts=facts_asked(question.original),
        ram=spoken.ram,
        told_too=(*beside_ram, *beside_mac),
        unnamed_card=not spoken.devices and bool(re.search(MORE_GPUS, question.original)),
    )


def _spoken(question: Text, reading: Reading, catalog: "Catalog") -> _Spoken:
    """The names of the text; the order matters here too."""
    topics, rents = topics_in(question, catalog), asks.rent(question)
    bridge, peers = asks.bridge(question), asks.peer_access(question)
    devices = mentions(question, catalog) or unnamed_cards(question, catalog)
    offered = read_prices(question, devices, reading, catalog)
    if not devices and not topics and (maker := re.search(MAKERS, question.left)):
        reading.assumptions.append(Reason("ask.any-maker", {"name": maker[0]}))
    models = models_in(question, catalog, reading.assumptions) or usual_in(question, catalog, reading.assumptions)
    quants = quants_in(question, catalog, reading.assumptions)
    ram = ram_wanted(question)
    reading.set("ram_gib", ram.own_gib or amounts.ram_gib(question) or (amounts.bare_ram_gib(question) if ram.asked else None))
    engines = engines_in(question, catalog)
    if budget := reading.words.get("budget"):
        terms = Terms(catalog.money, new_only=bool(reading.words.get("new_only")))
        devices = bought_within(question, devices, budget, terms, catalog) or any_mac_within(question, budget, terms, catalog)
    sides = sides_of(question, devices, catalog, offered)
    bridged = asks.bridged_sides(question, devices, sides.among)
    if len(sides.among) > 1 and bridged != sides.among:
        sides, bridge = replace(sides, among=bridged), asks.Bridge()
    several = sides.several and sides.in_slots
    over = asks.lanes(question, _generation(sides, catalog), _grown(question, sides), catalog.wording) if several else ()
    divided = asks.parts(question, sides.device, sides.count) or over
    return _Spoken(topics, rents, bridge, peers, devices, models, quants, engines, sides, divided, asks.splits(question), ram)


def _read_any_mac(question: Text, reading: Reading) -> tuple[str, ...]:
    """`a 3090 or a mac`: of which Mac is not told, so everything on sale is weighed; what else was named."""
    found = question.take(ANY_MAC)
    if found is None:
        return ()
    reading.assumptions.append(Reason("ask.any-mac", {"name": found[0]}))
    return tuple(reading.words.pop("among", ()))


def _for_all_models(question: Text, spoken: _Spoken, reading: Reading, catalog: "Catalog") -> _Spoken:
    """Where a purchase is asked about and several models are named, the largest alone decides: said aloud."""
    if not (spoken.sides.among and rivals(question, spoken.models)):
        return spoken
    model = largest(spoken.models, catalog)
    others = ", ".join(each for each in spoken.models if each != model)
    reading.assumptions.append(Reason("ask.largest-model", {"taken": model, "others": others}))
    return replace(spoken, models=(model,))


def _beside_ram(question: Text, spoken: _Spoken, reading: Reading) -> tuple[str, ...]:
    """What is asked beside more memory, which no verdict weighs alone: everything on sale is weighed then, and these are told."""
    ram, sides = spoken.ram, spoken.sides
    if not ram.asked:
        return ()
    if sides.have is None:
        reading.set("ram_gib", ram.wanted_gib)
        return ()
    one_more = MORE_OF_IT.search(question.original) and sides.device
    cards = tuple(each if sides.have in each else f"{sides.have} + {each}" for each in reading.words.pop("among", ()))
    return cards or (
        (f"{sides.owned + 1}x {sides.device}",) if one_more and re.search(r"\b(?:or|than|vs|versus|instead)\b", question.original) else ()
    )


def _set_beside(question: Text, spoken: _Spoken, compared: tuple[str, ...], reading: Reading, catalog: "Catalog") -> tuple[Variant, ...]:
    """What is to be set side by side."""
    sides = spoken.sides
    in_slots = asks.slots(question, reading.words.get("host"), sides.count, catalog.wording) if sides.several else ()
    named = spoken.engines, spoken.ways, spoken.quants, compared
    grown = _grown(question, sides)
    if spoken.ways == ("tensor",) and sides.have and sides.owned > 1 and grown not in (None, sides.have):  # "get a 4th for tp=4?"
        return (
            Variant(f"{sides.have} as layers", system=f"{sides.have} as layers"),
            Variant(f"{grown} as tensor", system=f"{grown} as tensor"),
        )
    return spoken.divided or asks.variants(spoken.bridge, spoken.peers, *named, sides.several, sides.among) or in_slots


def _grown(question: Text, sides: Sides) -> str | None:
    """The devices spoken of with the one more that is asked about."""
    if sides.device is None or not sides.have:
        return None
    return f"{sides.owned + 1}x {sides.device}" if MORE_OF_IT.search(question.original) else sides.have


def _generation(sides: Sides, catalog: "Catalog") -> int:
    """The PCIe generation of the cards spoken of, which the text leaves out."""
    device = catalog.devices.get((sides.device or "").split()[0]) if sides.device else None
    return int(getattr(device, "pcie_generation", None) or catalog.wording.usual_generation)


def _about_owned(question: Text, sides: Sides, beside: bool, budget: bool) -> bool:
    """Whether it asks how what is owned does, with no thought of a purchase."""
    text = question.original
    if not sides.have or sides.among or budget or re.search(LISTS_MODELS, text):
        return False
    asks = re.search(ASKS_HOW, text) or ("?" in text and len(text.split()) >= LEAST_WORDS_ASKED)
    return beside or bool(asks and not re.search(PURCHASE, text))


def _read_systems(
    question: Text, sides: Sides, bridge: asks.Bridge, engines: tuple[str, ...], reading: Reading, catalog: "Catalog"
) -> None:
    """What is owned with the link and engine that it has, and between what is asked."""
    sides, network = networked(question, sides, asks.link(question), catalog.wording.usual_network, reading.assumptions)
    link = network or (asks.lane_link(question) if sides.in_slots and sides.owned > 1 else None)
    if sides.have:
        joined = "nvlink" if bridge.owned and not bridge.asked else link
        words = sides.have + (f" via {joined}" if joined and sides.owned > 1 else "")
        reading.set("have", words + (f" on {engines[0]}" if len(engines) == 1 else ""))
    elif question.take(r"\bthis (?:machine|computer|pc|mac|laptop|box|rig|server)\b"):
        reading.set("have", "auto")
    if sides.among:
        reading.set("among", [over_network(words, network, catalog) for words in sides.among])


def _read_host(question: Text, sides: Sides, devices: list[Mention], reading: Reading, catalog: "Catalog") -> None:
    """The computer around the cards, where the text names one that the catalog has; without any card named, one that is there."""
    if "have" not in reading.words:
        reading.set("have", asks.own_computer(question, catalog.wording))
    if not (sides.in_slots or not devices):
        return
    bare, own = not devices and bool(re.search(asks.NO_CARDS, question.original)), reading.words.get("have")
    everyday = frozenset[str]() if bare else everyday_words()
    for start, end, name in spans(question.left, 4):
        ids = () if everyday.issuperset(name.split()) else catalog.bearing("hosts", name)
        if len(ids) != 1 or (not devices and own is None and not asks.is_there(question, start, name, catalog.wording)):
            continue
        question.cross_out(start, end)
        reading.set("host" if devices and own not in catalog.hosts else "have", ids[0])
        if "ram_gib" not in reading.words:
            reading.set("ram_gib", amounts.ram_beside(question, start, end))
        return
    if devices and sides.have and sides.count <= MOST_IN_DESKTOP and re.search(r"\bddr4\b", question.original):
        reading.set("host", catalog.wording.usual_ddr4_host)


def _leftovers(question: Text) -> tuple[str, ...]:
    """Words that nothing has read and that are no everyday words: names, numbers, terms."""
    found = re.findall(r"\d+ ?(?:gb|tb)\b|[^\s\0,;:!?()\"*]+", question.left)
    words, known = [word.strip(".'`-/~+=<>&") for word in found], everyday_words()
    return tuple(dict.fromkeys(word for word in words if len(word) > 1 and not _everyday(word, known)))


def _everyday(word: str, known: frozenset[str]) -> bool:
    """Whether a word needs no understanding, in whatever form it stands."""
    single = re.sub(r"([bdgklmnprt])\1(?:ing|ed|er)$", r"\1", word)
    stems = {word, single, word.removesuffix("ing") + "e", *(word.removesuffix(ending) for ending in ENDINGS)}
    parts = re.split(r"[-/]", word)
    return bool(stems & known) or (len(parts) > 1 and all(len(part) < 2 or part in known for part in parts))
