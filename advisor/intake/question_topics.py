"""What a question is about beside what to buy, and which language it is written in."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from advisor.errors import BadValue
from advisor.intake.everyday import everyday_words
from advisor.intake.question_asks import PEER
from advisor.intake.question_words import COUNT, Text
from advisor.intake.wording import Topic
from advisor.units import GIB, figure

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.intake.question import Understood

EXAMPLE = 'advisor ask "should I buy a second 3090 for a 70B model with 4 users?"'
HARDWARE = (
    r"\b(?:gpus?|cards?|graphics|vram|macs?|macbooks?|mac studio|computers?|pcs?|machines?|rigs?|servers?|workstations?|laptops?|"
    r"hardware|llms?|models?|inference|nvidia|amd|apple|tokens?|upgrade|setup|build|box)\b"
)
PURCHASE = (
    r"\b(?:buy|buying|get|getting|purchas\w+|order|second|another|2nd|third|3rd|fourth|4th|upgrad\w+|worth|new|add|adding|"
    r"more (?:cards|gpus)|need|replac\w+|"
    r"swap\w*|switch\w*|sell\w*|invest\w*|spend|budget|recommend\w*|suggest\w*|best|cheapest|fastest|what (?:gpu|card|hardware|"
    r"machine)|which|instead|"
    r"enough|improve)\b"
)
UNNAMED = rf"(?:\b(?:my|with|have|on|{COUNT}|\d+\s?x)\s(?:\w+\s)?)(\d+\s?gb\s(?:\w+\s)?(?:cards?|gpus?))\b"
MEMORY_ALONE = r"\b\d{2,3}\s?(?:gb|gib|g)\s(?:of\s)?(?:vram|gpu memory)\b"
ABOUT_TEXT = (
    r"\b(?:llms?|language models?|inference|chat\w*|coding|tok(?:en)?s?(?:/s| per)?|ollama|vllm|llama\.?cpp|gguf|exl[23]|"
    r"agents?|prompts?|context|lm studio)\b"
)
LEAST_LETTERS = 4  # of a word that tells a language alone
FOREIGN_SHARE = 0.4  # of the words that are no names: so many, or two that differ, tell another language
MORE_GPUS = (
    r"\b(?:second|2nd|another|additional|extra|one more|third|my|current|more|multiple|several|dual|two|2) "
    r"(?:gpus?|cards?|graphics cards?|video cards?)\b"
)


def topics_in(text: Text, catalog: "Catalog") -> tuple[Topic, ...]:
    """The topics that the text speaks of; the words of one that nothing here estimates are understood, and crossed out."""
    found = []
    for topic in catalog.wording.topics:
        words = rf"\b(?:{topic.words})\b"
        if re.search(words, text.left):
            found.append(topic)
        while (topic.outside or topic.always) and text.take(words):
            pass
    return tuple(found)


def beside_text(text: str) -> bool:
    """Whether the words speak of text to be generated."""
    return bool(re.search(ABOUT_TEXT, text.lower()))


def only_outside(text: str, topics: tuple[Topic, ...], words: Mapping[str, object]) -> Topic | None:
    """The topic that nothing here estimates, where the text speaks of no text to be generated beside it."""
    outside = next((topic for topic in topics if topic.outside), None)
    about_text = "model" in words or "quant" in words or "min_tokens_per_s" in words or beside_text(text)
    return None if about_text else outside


def foreign(text: str, catalog: "Catalog") -> str | None:
    """The language of a text that is not English; None of one that is."""
    letters = [letter for letter in text if letter.isalpha()]
    if letters and sum(ord(letter) > 0x24F for letter in letters) > len(letters) / 4:
        return "another language"
    whole = re.findall(r"(?<!\w)[^\W\d_]+(?:[-'’][^\W\d_]+)*(?!\w)", text.lower())
    words = {word for word in whole if word not in everyday_words()}
    hits = {each.name: each.known & words for each in catalog.wording.languages}
    name = max(hits, key=lambda each: len(hits[each]), default="")
    found = hits.get(name, frozenset())
    telling = any(len(word) >= LEAST_LETTERS for word in found) and len(found) >= FOREIGN_SHARE * len(words)
    return name if len(found) >= 2 or telling else None


def refuse(understood: "Understood", text: str, catalog: "Catalog", *, stated: bool) -> None:
    """Raise what to say where nothing of the question can be answered; of a topic that it speaks of, what is known.

    `stated`: options beside the text already tell what is asked.
    """
    language = foreign(text, catalog)
    if language:
        raise BadValue(f"QUESTION: this looks like {language}: only English is understood. For example: {EXAMPLE}")
    outside = only_outside(text, understood.topics, understood.words)
    if outside and not stated:
        raise BadValue(f"QUESTION: {outside.text}.{_sizes(understood, catalog)} Name a language model for its speed: {EXAMPLE}")
    if not stated and not _answerable(understood, text):
        raise BadValue(f"QUESTION: {_lacks(understood, text)}.{_known(understood, catalog)} Name what you have or think of buying, "
                       f"and a model: {EXAMPLE}", understood.not_understood)  # fmt: skip


def _answerable(understood: "Understood", text: str) -> bool:
    """Whether hardware, a model or money is there, or a purchase is spoken of and most of the words are understood."""
    content = set(understood.words) - {"users", "prefer", "new_only", "sell_old", "context", "consider", "host", "psu_w"}
    unnamed = re.search(UNNAMED, text.lower()) and not {"have", "among"} & set(understood.words)
    if content or unnamed:
        return not unnamed
    if re.search(MEMORY_ALONE, text.lower()):
        return False
    general = [topic for topic in understood.topics if not topic.outside]
    if general and not understood.unnamed_card:
        return False
    about = re.search(HARDWARE, text.lower()) and re.search(PURCHASE, text.lower())
    return bool(about) and len(understood.not_understood) < len(text.split()) / 2


def _lacks(understood: "Understood", text: str) -> str:
    unnamed = re.search(UNNAMED, text.lower())
    if unnamed:
        return f"“{unnamed[1]}” could be many: name the card"
    memory = re.search(MEMORY_ALONE, text.lower())
    if memory:
        return f"“{memory[0]}” alone is no need: name the model that it shall hold"
    lost = ", ".join(understood.not_understood)
    return f"not understood: {lost}" if lost else "it names no hardware, no model and no budget"


def _known(understood: "Understood", catalog: "Catalog") -> str:
    """What is known in general of what the question is about."""
    risks = catalog.hints.risks if any(variant.suffix == PEER for variant in understood.variants) else ()
    known = "; ".join((*(topic.text for topic in understood.topics if not topic.outside), *(risk.text for risk in risks)))
    return f" Known of it: {known}." if known else ""


def _sizes(understood: "Understood", catalog: "Catalog") -> str:
    """The memory of the devices that are named, which is all that is known of them for such work."""
    from advisor.system import parse

    named = [words for words in (understood.words.get("have"), *understood.words.get("among", ())) if words]
    ids = dict.fromkeys(member.name.split()[0] for words in named for member in parse(words).members if hasattr(member, "name"))
    devices = [catalog.devices[each] for each in ids if each in catalog.devices]
    sizes = ", ".join(f"{device.name}: {figure(max(device.memory_options_bytes) / GIB)} GiB" for device in devices)
    return f" Their memory: {sizes}." if sizes else ""
