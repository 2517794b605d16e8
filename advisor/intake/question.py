"""A plain English question into the options of `recommend`, with what was taken on trust and what was not understood."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from advisor.errors import BadValue
from advisor.intake import question_asks as asks
from advisor.intake import question_money as money
from advisor.intake import question_speeds as speeds
from advisor.intake import question_wishes as wishes
from advisor.intake import question_words as amounts
from advisor.intake.everyday import everyday_words
from advisor.intake.question_asks import Variant
from advisor.intake.question_cards import unnamed_cards
from advisor.intake.question_line import command_line
from advisor.intake.question_models import engines_in, models_in, quants_in, rivals, usual_in
from advisor.intake.question_names import Mention, mentions, spans
from advisor.intake.question_sides import MORE_OF_IT, SEVERAL_PLACES, Sides, over_network, sides_of
from advisor.intake.question_topics import MORE_GPUS, PURCHASE, beside_text, topics_in
from advisor.intake.question_words import Text
from advisor.intake.spelling import corrected, laptops_named
from advisor.intake.wording import Topic
from advisor.reason import Reason
from advisor.record import dataclass, field, replace
from advisor.words import Amount

if TYPE_CHECKING:
    from advisor.catalog import Catalog

ASKS_SPEED = (
    r"\b(?:faster|fastest|quicker|slower|speed|increase (?:my |the )?(?:tok|t/s|tps)|how much (?:more|better)|gain|as fast|twice|double|"
    r"outperform\w*|beats?)\b"
)
ASKS_MEMORY = r"\bhow (?:much|many (?:gb|gigs) of) (?:v?ram|gpu memory|video memory|memory)\b|\bv?ram (?:needed|required|requirements?)\b"
ASKS_HOW = r"\b(?:is|are|do|does|did|will|would|can|could|how|why|fine|useful|normal)\b"
LEAST_WORDS_ASKED = 4
LISTS_MODELS = r"\b(?:what|which)\b.{0,20}\b(?:run|models?|fit|load)\b"
USUAL_GENERATION = 4
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
    asks_supply: bool = False  # whether the power supply is strong enough
    asks_rent: bool = False
    asks_memory: bool = False  # how much memory the model takes
    about_text: bool = False  # whether it speaks of text to be generated
    asks_speed: bool = False  # which is the faster
    asks_one_more: bool = False  # how much faster one more of what is owned makes it
    unnamed_card: bool = False  # whether it speaks of a card of the buyer's that it does not name


@dataclass
class _Reading:
    """What has been read so far."""

    words: dict[str, Any] = field(default_factory=dict)
    assumptions: list[Reason] = field(default_factory=list)
    speed: speeds.Pace = field(default_factory=speeds.Pace)

    def set(self, key: str, value: Any) -> None:
        """Keep a value that is there."""
        if value is not None:
            self.words[key] = value


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


def understand(text: str, catalog: "Catalog") -> Understood:
    """The question read from its amounts to its names; what is left over is listed."""
    if len(text) > MOST_CHARACTERS:
        raise BadValue(f"QUESTION: {len(text):,} characters are too many: at most {MOST_CHARACTERS:,}.")
    reading = _Reading()
    question = Text(laptops_named(corrected(text, catalog, reading.assumptions), catalog, reading.assumptions))
    counts_users = bool(question.take(r"\bhow many (?:\w+ )?(?:users|people|requests|clients|streams|sessions|employees|students)\b"))
    _read_processors(question, reading, catalog)
    _read_amounts(question, reading, catalog)
    spoken = _spoken(question, reading, catalog)
    sides = spoken.sides
    _read_systems(question, sides, spoken.bridge, spoken.engines, reading, catalog)
    _read_host(question, sides, spoken.devices, reading, catalog)
    reading.set("model", spoken.models[0] if spoken.models else None)
    reading.set("quant", spoken.quants[0] if len(spoken.quants) == 1 else None)
    reading.assumptions += [mention.note for mention in spoken.devices if mention.note]
    reading.assumptions += sides.notes
    compared = spoken.models if rivals(question, spoken.models) else ()
    variants = _set_beside(question, spoken, compared, reading, catalog)
    asks_supply = asks.supply(question)
    lost = () if compared and variants else spoken.models[1:]
    return Understood(
        words=reading.words,
        command_line=command_line(reading.words),
        not_understood=(*lost, *_leftovers(question)),
        assumptions=tuple({(note.code, str(note.facts)): note for note in reading.assumptions}.values()),
        variants=variants,
        compared_on=sides.compared_on(several=asks_supply and sides.several or bool(variants and variants[0].on_several)),
        about_owned=_about_owned(question, sides, bool(variants), bool(reading.words.get("budget"))),
        counts_users=counts_users,
        engine=spoken.engines[0] if len(spoken.engines) == 1 else None,
        topics=spoken.topics,
        faster=None if "min_tokens_per_s" in reading.words else reading.speed.factor,
        asks_supply=asks_supply,
        asks_rent=spoken.rents,
        asks_memory=bool(re.search(ASKS_MEMORY, question.original)),
        about_text=beside_text(text),
        asks_speed=bool(re.search(ASKS_SPEED, question.original)),
        asks_one_more=bool(re.search(ASKS_SPEED, question.original) and MORE_OF_IT.search(question.original)),
        unnamed_card=not spoken.devices and bool(re.search(MORE_GPUS, question.original)),
    )


def _read_processors(question: Text, reading: _Reading, catalog: "Catalog") -> None:
    """Processors, whose numbers are no cards, lengths or prices: said aloud that they are not weighed."""
    while found := question.take(rf"(?<![\w.])(?:{catalog.wording.processors})(?![\w.]\w|\w)"):
        reading.assumptions.append(Reason("ask.processor", {"name": found[0]}))


def _spoken(question: Text, reading: _Reading, catalog: "Catalog") -> _Spoken:
    """The names of the text; the order matters here too."""
    topics, rents = topics_in(question, catalog), asks.rent(question)
    bridge, peers = asks.bridge(question), asks.peer_access(question)
    devices = mentions(question, catalog) or unnamed_cards(question, catalog, reading.assumptions)
    offered = _read_prices(question, devices, reading, catalog)
    models = models_in(question, catalog, reading.assumptions) or usual_in(question, catalog, reading.assumptions)
    quants = quants_in(question, catalog, reading.assumptions)
    reading.set("ram_gib", amounts.ram_gib(question))
    engines = engines_in(question, catalog)
    sides = sides_of(question, devices, catalog, offered)
    bridged = asks.bridged_sides(question, devices, sides.among)
    if len(sides.among) > 1 and bridged != sides.among:
        sides, bridge = replace(sides, among=bridged), asks.Bridge()
    over = asks.lanes(question, _generation(sides, catalog)) if sides.several and sides.in_slots else ()
    divided = asks.parts(question, sides.device, sides.count) or over
    return _Spoken(topics, rents, bridge, peers, devices, models, quants, engines, sides, divided, asks.splits(question))


def _set_beside(question: Text, spoken: _Spoken, compared: tuple[str, ...], reading: _Reading, catalog: "Catalog") -> tuple[Variant, ...]:
    """What is to be set side by side."""
    sides = spoken.sides
    in_slots = asks.slots(question, reading.words.get("host"), sides.count, catalog.wording) if sides.several else ()
    named = spoken.engines, spoken.ways, spoken.quants, compared
    return spoken.divided or asks.variants(spoken.bridge, spoken.peers, *named, sides.several, sides.among) or in_slots


def _generation(sides: Sides, catalog: "Catalog") -> int:
    """The PCIe generation of the cards spoken of, which the text leaves out."""
    device = catalog.devices.get((sides.device or "").split()[0]) if sides.device else None
    return int(getattr(device, "pcie_generation", None) or USUAL_GENERATION)


def _about_owned(question: Text, sides: Sides, beside: bool, budget: bool) -> bool:
    """Whether it asks how what is owned does, with no thought of a purchase."""
    text = question.original
    if not sides.have or sides.among or budget or re.search(LISTS_MODELS, text):
        return False
    asks = re.search(ASKS_HOW, text) or ("?" in text and len(text.split()) >= LEAST_WORDS_ASKED)
    return beside or bool(asks and not re.search(PURCHASE, text))


def _read_amounts(question: Text, reading: _Reading, catalog: "Catalog") -> None:
    """Money, users, lengths, speeds; the order matters, since a number belongs to the first reader that claims it."""
    power = money.electricity(question)
    if power:
        reading.set("electricity", _usd(power, reading, catalog, digits=4))
    reading.set("consider", wishes.kinds(question, reading.assumptions))
    reading.set("new_only", wishes.new_only(question))
    reading.set("prefer", wishes.prefers(question))
    reading.set("sell_old", wishes.sells(question))
    reading.set("max_first_token_s", speeds.first_token(question))
    reading.speed = speeds.pace(question, catalog)
    floor = speeds.wanted(reading.speed, reading.assumptions)
    reading.set("min_tokens_per_s", floor or wishes.pace(question, catalog, reading.assumptions))
    reading.set("hours_per_day", amounts.hours(question))
    reading.set("generate", _whole(amounts.generate(question)))
    reading.set("prompt", amounts.prompt(question))
    reading.set("psu_w", amounts.supply_w(question))
    spent = money.budget(question)
    if spent:
        reading.set("budget", _usd(spent, reading, catalog, digits=0))
    reading.set("users", amounts.users(question) or wishes.crowd(question, catalog, reading.assumptions))
    reading.set("context", amounts.context(question) or wishes.length(question, catalog, reading.assumptions))
    _room_for_prompt(reading)


def _room_for_prompt(reading: _Reading) -> None:
    """A context that the text calls so but that the stated prompt fills is the prompt's length."""
    words = reading.words
    needed = words.get("prompt", 1024) + words.get("generate", 256)
    if "context" in words and words["context"] < needed:
        reading.assumptions.append(Reason("ask.context-raised", {"stated_tokens": words["context"], "used_tokens": needed}))
        words["context"] = needed


def _whole(number: float | None) -> int | None:
    return None if number is None else int(min(number, amounts.MOST))


def _usd(amount: Amount, reading: _Reading, catalog: "Catalog", digits: int) -> float | None:
    """The sum in dollars, converted with the catalog's dated rate, said aloud."""
    if amount.currency == "USD":
        return amount.value
    found = catalog.money.in_usd(amount, digits)
    usd, note = found or (None, Reason("ask.no-rate", {"currency": amount.currency}))
    reading.assumptions.append(note)
    return usd


def _read_systems(
    question: Text, sides: Sides, bridge: asks.Bridge, engines: tuple[str, ...], reading: _Reading, catalog: "Catalog"
) -> None:
    """What is owned with the link and engine that it has, and between what is asked."""
    network, usual = asks.link(question), f" via {catalog.wording.usual_network}"
    if network:  # the one that is named, not the usual one
        have, among = (
            sides.have and sides.have.replace(usual, f" via {network}"),
            tuple(each.replace(usual, f" via {network}") for each in sides.among),
        )
        sides = replace(sides, have=have, among=among)
    apart = sides.owned > 1 and not network and bool(re.search(SEVERAL_PLACES, question.original))
    if apart:
        network = "ethernet"
        reading.assumptions.append(Reason("ask.network", {"system": sides.have}))
    link = network or (asks.lane_link(question) if sides.in_slots and sides.owned > 1 else None)
    if sides.have:
        joined = "nvlink" if bridge.owned and not bridge.asked else link
        words = sides.have + (f" via {joined}" if joined and sides.owned > 1 else "")
        reading.set("have", words + (f" on {engines[0]}" if len(engines) == 1 else ""))
    elif question.take(r"\bthis (?:machine|computer|pc|mac|laptop|box|rig|server)\b"):
        reading.set("have", "auto")
    if sides.among:
        reading.set("among", [over_network(words, network, catalog) for words in sides.among])


def _read_host(question: Text, sides: Sides, devices: list[Mention], reading: _Reading, catalog: "Catalog") -> None:
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


def _read_prices(question: Text, devices: list[Mention], reading: _Reading, catalog: "Catalog") -> frozenset[int]:
    """What devices are offered for: `a used 3090 for $650` is its price, not the budget. Where the devices stand that are offered."""
    offered = money.prices(question, devices)
    for mention in devices:
        usd = _usd(offered[mention.start], reading, catalog, digits=0) if mention.start in offered else None
        if usd is not None:
            reading.words.setdefault("price", {})[mention.device] = usd
    totals = (
        {mention.count * reading.words["price"][mention.device] for mention in devices if mention.start in offered} if offered else set()
    )
    if reading.words.get("budget") in {*totals, *reading.words.get("price", {}).values()}:
        del reading.words["budget"]
        spent = money.budget(question)  # another sum
        reading.set("budget", _usd(spent, reading, catalog, digits=0) if spent else None)
    return frozenset(offered)


def _leftovers(question: Text) -> tuple[str, ...]:
    """Words that nothing has read and that are no everyday words: names, numbers, terms."""
    found = re.findall(r"\d+ ?(?:gb|tb)\b|[^\s\0,;:!?()\"*]+", question.left)
    words, known = [word.strip(".'`-/~+=<>&") for word in found], everyday_words()
    return tuple(dict.fromkeys(word for word in words if len(word) > 1 and not _everyday(word, known)))


ENDINGS = ("s", "es", "'s", "d", "ed", "ly", "ing", "er", "y")


def _everyday(word: str, known: frozenset[str]) -> bool:
    """Whether a word needs no understanding, in whatever form it stands."""
    single = re.sub(r"([bdgklmnprt])\1(?:ing|ed|er)$", r"\1", word)
    stems = {word, single, word.removesuffix("ing") + "e", *(word.removesuffix(ending) for ending in ENDINGS)}
    parts = re.split(r"[-/]", word)
    return bool(stems & known) or (len(parts) > 1 and all(len(part) < 2 or part in known for part in parts))
