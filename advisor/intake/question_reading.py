"""What the amounts of a question say: money, users, lengths, speeds, prices; each number belongs to the first that claims it."""

from typing import TYPE_CHECKING, Any

from advisor.errors import AdvisorError
from advisor.hints import Length
from advisor.intake import question_money as money
from advisor.intake import question_speeds as speeds
from advisor.intake import question_wishes as wishes
from advisor.intake import question_words as amounts
from advisor.intake.question_words import Text
from advisor.need import USUAL_GENERATE_TOKENS, USUAL_PROMPT_TOKENS
from advisor.reason import Fact, Reason
from advisor.record import dataclass, field, replace
from advisor.words import Amount

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.intake.question_names import Mention


@dataclass
class Reading:
    """What has been read so far."""

    words: dict[str, Any] = field(default_factory=dict)
    assumptions: list[Reason] = field(default_factory=list)
    speed: speeds.Pace = field(default_factory=speeds.Pace)
    length: Length | None = None  # the context that words tell without a number

    def set(self, key: str, value: Any) -> None:
        """Keep a value that is there."""
        if value is not None:
            self.words[key] = value


def read_processors(question: Text, reading: Reading, catalog: "Catalog") -> None:
    """Processors, whose numbers are no cards, lengths or prices: said aloud that they are not weighed."""
    while found := question.take(rf"(?<![\w.])(?:{catalog.wording.processors})(?![\w.]\w|\w)"):
        reading.assumptions.append(Reason("ask.processor", {"name": found[0]}))


def read_amounts(question: Text, reading: Reading, catalog: "Catalog") -> None:
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
    if (part := money.part_price(question)) is not None:
        reading.assumptions.append(Reason("ask.part-price", {"name": part}))
    spent = money.budget(question)
    if spent:
        reading.set("budget", _usd(spent, reading, catalog, digits=0))
    _most_speed(question, reading)
    reading.set("users", amounts.users(question) or wishes.crowd(question, catalog, reading.assumptions))
    reading.length = wishes.length(question, catalog)
    reading.set("context", amounts.context(question))
    _room_for_prompt(reading)


def _most_speed(question: Text, reading: Reading) -> None:
    """`the best way to get more speed for $3000`: the most that the money buys, not only so much more as is worth it."""
    given = reading.speed
    if reading.words.get("budget") and given.factor is not None and given.seen is None and speeds.wants_most(question):
        reading.set("prefer", "fastest")
        reading.speed = replace(given, factor=None)


def read_length(reading: Reading, model: str | None, catalog: "Catalog") -> None:
    """The context of what the text speaks of, and what of it is read before an answer, where it states no numbers: within what the
    model was made for, and said aloud.
    """
    found, words = reading.length, reading.words
    if found is None or ("context" in words and (found.prompt_tokens is None or "prompt" in words)):
        return
    context = words.get("context") or min(found.tokens, _made_for(model, catalog) or found.tokens)
    facts: dict[str, Fact] = {"name": found.name, "context_tokens": context}
    reading.set("context", context)
    if found.prompt_tokens is not None and "prompt" not in words:
        most = found.prompt_tokens if context >= found.tokens else context // 2  # of a shorter one half is left for the answer
        words["prompt"] = min(found.prompt_tokens, most)
        facts["prompt_tokens"] = words["prompt"]
    reading.assumptions.append(Reason("ask.length-read" if "prompt_tokens" in facts else "ask.length", facts, (found.source,)))
    _room_for_prompt(reading)


def _made_for(model: str | None, catalog: "Catalog") -> int | None:
    """The longest context of a model of the catalog."""
    try:
        return catalog.model(model).max_context_tokens if model else None
    except AdvisorError:
        return None  # a size in words


def _room_for_prompt(reading: Reading) -> None:
    """A context that the text calls so but that the stated prompt fills is the prompt's length."""
    words = reading.words
    needed = words.get("prompt", USUAL_PROMPT_TOKENS) + words.get("generate", USUAL_GENERATE_TOKENS)
    if "context" in words and words["context"] < needed:
        reading.assumptions.append(Reason("ask.context-raised", {"stated_tokens": words["context"], "used_tokens": needed}))
        words["context"] = needed


def _whole(number: float | None) -> int | None:
    return None if number is None else int(min(number, amounts.MOST))


def _usd(amount: Amount, reading: Reading, catalog: "Catalog", digits: int) -> float | None:
    """The sum in dollars, converted with the catalog's dated rate, said aloud."""
    if amount.currency == "USD":
        return amount.value
    found = catalog.money.in_usd(amount, digits)
    usd, note = found or (None, Reason("ask.no-rate", {"currency": amount.currency}))
    reading.assumptions.append(note)
    return usd


def read_prices(question: Text, devices: "list[Mention]", reading: Reading, catalog: "Catalog") -> frozenset[int]:
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
