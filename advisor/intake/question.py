"""A plain English question into the options of `recommend`, with what was taken on trust and what was not understood."""

import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from advisor.intake import question_words as amounts
from advisor.intake.everyday import everyday_words
from advisor.intake.question_names import Mention, engines_in, mentions, models_in, quants_in
from advisor.intake.question_words import Amount, Text
from advisor.reason import Fact, Reason
from advisor.record import dataclass, field

if TYPE_CHECKING:
    from advisor.catalog import Catalog

OWN = (
    r"\b(?:i have|i've got|i got|i own|i run|i use|we have|we've got|we own|we run|have got|already have|my|our|owner of|running|"
    r"currently|existing|current|upgrade from|upgrading from|coming from|sell my|selling my|replace my|next to my|beside my|add to my|"
    r"on my|on a|have an?|have|own|owning|bought|with an?|sitting on|on an|from an?|on the|enough)\b"
)
MORE = r"\b(?:second|2nd|third|3rd|fourth|4th|another|one more|additional|extra|more)\b"
WANT = (
    r"\b(?:buy|buying|get|getting|or|vs\.?|versus|to an?|upgrade to|for an?|instead of|add|adding|swap|go for|go with|worth|order|purchase|"
    r"better than|beat|beats|than|between|consider|considering|compare|choose|pick|against|join|pair|cluster)\b"
)
ORDINALS = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
LINKS = (
    (r"\bnv-?link(?:ed)?\b|\bbridge\b", "nvlink"),
    (r"\brdma\b", "rdma"),
    (r"\b10 ?g(?:be|bit|igabit)?\b", "eth-10g-tcp"),
    (r"\bethernet\b", "ethernet"),
)
KINDS = (
    (r"\bmacs?\b(?! m\d)|\bapple silicon\b|\bunified memory\b", "unified-memory-machine"),
    (r"\bclusters?\b", "rdma-cluster"),
)


@dataclass(frozen=True)
class Understood:
    """How a question was read: `recommend`'s options by key, and the command line that says the same."""

    words: Mapping[str, Any]
    command_line: str
    not_understood: tuple[str, ...] = ()
    assumptions: tuple[Reason, ...] = ()


@dataclass
class _Reading:
    """What has been read so far."""

    words: dict[str, Any] = field(default_factory=dict)
    assumptions: list[Reason] = field(default_factory=list)

    def set(self, key: str, value: Any) -> None:
        """Keep a value that is there."""
        if value is not None:
            self.words[key] = value


def understand(text: str, catalog: "Catalog") -> Understood:
    """The question read from its amounts to its names; what is left over is listed."""
    question, reading = Text(text), _Reading()
    _read_amounts(question, reading, catalog)
    devices, unclear = mentions(question, catalog)
    reading.set("model", models_in(question, catalog, unclear, reading.assumptions))
    reading.set("quant", quants_in(question, catalog, reading.assumptions))
    reading.set("ram_gib", amounts.ram_gib(question))
    engine = engines_in(question, catalog)
    _read_wishes(question, reading)
    _read_devices(question, devices, reading, engine)
    reading.assumptions += [mention.note for mention in devices if mention.note]
    return Understood(
        words=reading.words,
        command_line=command_line(reading.words),
        not_understood=(*unclear, *_leftovers(question)),
        assumptions=tuple(reading.assumptions),
    )


def _read_amounts(question: Text, reading: _Reading, catalog: "Catalog") -> None:
    """Money, users, lengths, speeds; the order matters, since a number belongs to the first reader that claims it."""
    power = amounts.electricity(question)
    if power:
        reading.set("electricity", _usd(power, reading, catalog, digits=4))
    reading.set("max_first_token_s", amounts.first_token(question))
    reading.set("min_tokens_per_s", amounts.floor(question))
    reading.set("hours_per_day", amounts.hours(question))
    reading.set("generate", _whole(amounts.generate(question)))
    reading.set("prompt", amounts.prompt(question))
    reading.set("psu_w", amounts.supply_w(question))
    money = amounts.budget(question)
    if money:
        reading.set("budget", _usd(money, reading, catalog, digits=0))
    reading.set("users", amounts.users(question))
    reading.set("context", amounts.context(question))
    _room_for_prompt(reading)


def _room_for_prompt(reading: _Reading) -> None:
    """A context that the text calls so but that the stated prompt fills is the prompt's length."""
    words = reading.words
    needed = words.get("prompt", 1024) + words.get("generate", 256)
    if "context" in words and words["context"] < needed:
        reading.assumptions.append(Reason("ask.context-raised", {"stated_tokens": words["context"], "used_tokens": needed}))
        words["context"] = needed


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _usd(money: Amount, reading: _Reading, catalog: "Catalog", digits: int) -> float | None:
    """The sum in dollars, converted with the catalog's dated rate, said aloud."""
    if money.currency == "USD":
        return money.number
    rate = catalog.money.rate(money.currency)
    if rate is None:
        reading.assumptions.append(Reason("ask.no-rate", {"currency": money.currency}))
        return None
    usd = round(money.number * rate.usd, digits)
    facts: dict[str, Fact] = {"amount": money.number, "currency": money.currency, "rate": rate.usd, "date": rate.date, "converted_usd": usd}
    reading.assumptions.append(Reason("ask.converted", facts, (rate.source,)))
    return usd


def _read_wishes(question: Text, reading: _Reading) -> None:
    """Wishes: speed before price, nothing used, the old one sold."""
    if question.take(r"\b(?:the )?(?:fastest|as fast as possible|maximum speed|max speed|best performance)\b"):
        reading.set("prefer", "fastest")
    if question.take(r"\b(?:only new|new only|brand new|nothing used|not used|no used|don't want used|with warranty|new hardware)\b"):
        reading.set("new_only", True)
    if question.take(r"\b(?:sell(?:ing)? (?:my|the) (?:old|current|one)|if i sell|trade[- ]in|by selling)\b") or re.search(
        r"\bsell(?:ing)? my\b", question.original.lower()
    ):
        reading.set("sell_old", True)


def _role(question: Text, mention: Mention) -> str:
    """Whether a device is owned, one more, or wanted: by the nearest such word before it in its sentence."""
    text = question.original.lower()
    start = max(text.rfind(mark, 0, mention.start) for mark in (". ", "? ", "! ", "\n", "; "))
    before = text[start + 1 : mention.start]
    found = [(match.end(), role) for role, words in (("own", OWN), ("more", MORE), ("want", WANT)) for match in re.finditer(words, before)]
    return max(found, default=(0, ""))[1]


def _ordinal(question: Text, mention: Mention) -> int:
    """The which-eth device is asked about: a second one is the 2nd."""
    before = question.original.lower()[max(0, mention.start - 40) : mention.start]
    found = re.findall("|".join(ORDINALS), before)
    return ORDINALS[found[-1]] if found else 2


def _read_devices(question: Text, devices: list[Mention], reading: _Reading, engine: str | None) -> None:
    """What is owned, and between which systems the question asks."""
    roles = [(mention, _role(question, mention)) for mention in devices]
    own = [mention for mention, role in roles if role == "own"]
    more = [mention for mention, role in roles if role == "more"]
    want = [mention for mention, role in roles if role == "want"]
    loose = [mention for mention, role in roles if not role]
    alternatives = bool(re.search(r"\b(?:or|vs\.?|versus|compare|between|against|better than)\b", question.original.lower()))
    if loose and (alternatives and (want or len(loose) > 1) and not more):
        want = loose + want
    elif loose and not own:
        own = loose
    else:
        want += loose
    if not own and more:
        own = [Mention(m.name, max(1, _ordinal(question, m) - 1), m.start, m.end, m.note) for m in more[:1]]
    link = _link(question)
    if not own and want and not alternatives and len(want) == 1 and not re.search(WANT, question.original.lower()):
        own, want = want, []
    _set_have(own, link, engine, reading)
    if not devices and question.take(r"\bthis (?:machine|computer|pc|mac|laptop|box)\b"):
        reading.set("have", "auto")
    _set_sides(own, more, want, reading)


def _set_have(own: list[Mention], link: str | None, engine: str | None, reading: _Reading) -> None:
    if own:
        system = _joined(own)
        count = sum(mention.count for mention in own)
        words = system + (f" via {link}" if link and count > 1 else "") + (f" on {engine}" if engine else "")
        reading.set("have", words)


def _set_sides(own: list[Mention], more: list[Mention], want: list[Mention], reading: _Reading) -> None:
    """The sides of an "A or B?": one more of what is owned is a side where something else is named beside it."""
    sides = [mention.words for mention in sorted(want, key=lambda mention: mention.start)]
    if more and sides and own:
        sides.insert(0, _joined([*own, more[0]]))
    sides = list(dict.fromkeys(sides))
    if len(sides) > 1:
        reading.set("among", sides)


def _joined(parts: list[Mention]) -> str:
    """SYSTEM words of several devices: equal ones counted together."""
    counts: dict[str, int] = {}
    for mention in parts:
        counts[mention.name] = counts.get(mention.name, 0) + mention.count
    return " + ".join(f"{count}x {name}" if count > 1 else name for name, count in counts.items())


def _link(question: Text) -> str | None:
    """The link that the text names for what is owned: only said together with `have`, `with`, `over`."""
    for pattern, link in LINKS:
        if re.search(rf"\b(?:with|over|via|through|by|using|joined by)\s(?:an?\s)?(?:{pattern})", question.left):
            question.take(pattern)
            return link
        question.take(pattern)
    return None


OPTIONS = (
    ("have", "--have"), ("model", "--model"), ("quant", "--quant"), ("users", "--users"), ("context", "--context"), ("prompt", "--prompt"),
    ("generate", "--generate"), ("min_tokens_per_s", "--min-tokens-per-s"), ("max_first_token_s", "--max-first-token-s"),
    ("budget", "--budget"), ("prefer", "--prefer"), ("ram_gib", "--ram-gib"), ("psu_w", "--psu-w"), ("electricity", "--electricity"),
    ("hours_per_day", "--hours-per-day"), ("new_only", "--new-only"), ("sell_old", "--sell-old"),
)  # fmt: skip


def command_line(words: Mapping[str, Any]) -> str:
    """The `advisor recommend` line that asks the same."""
    parts = ["advisor", "recommend"]
    for key, option in OPTIONS:
        value = words.get(key)
        if value is True:
            parts.append(option)
        elif value is not None and value is not False:
            parts += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    for system in words.get("among", ()):
        parts += ["--among", system]
    return shlex.join(parts)


def _leftovers(question: Text) -> tuple[str, ...]:
    """Words that nothing has read and that are no everyday words: names, numbers, terms."""
    found = re.findall(r"[^\s\0,;:!?()\"“”]+", question.left)
    words, known = [word.strip(".'`-/–—") for word in found], everyday_words()
    return tuple(dict.fromkeys(word for word in words if len(word) > 1 and word not in known and not word.endswith("ing")))
