"""Slips of the pen in a question, put right where only one word is near, and said aloud."""

import re
from typing import TYPE_CHECKING

from advisor.intake.everyday import everyday_words
from advisor.intake.question_models import families
from advisor.intake.question_plain import plain
from advisor.reason import Reason

if TYPE_CHECKING:
    from advisor.catalog import Catalog

LEAST_LETTERS = 4
LIKENESS = 0.84
WORDS = """
upgrade second another replace nvlink budget context macbook studio framework geforce radeon tensor pipeline parallel between
instead currently versus strix halo spark ollama vllm sglang tokens users dollars euro euros bridge bridged nvlinked worth faster
better should would which buying quad dual people concurrent laptop desktop without
"""


def corrected(text: str, catalog: "Catalog", notes: list[Reason]) -> str:
    """The text with words that are no words put right: `upgarde`, `lama`, `deepseak`."""
    from difflib import get_close_matches

    names = families(catalog)
    known = everyday_words() | names | frozenset(WORDS.split())
    targets = sorted({*WORDS.split(), *(name for name in names if len(name) > LEAST_LETTERS)})

    def right(found: re.Match[str]) -> str:
        word = found.group()
        if word in known or word.removesuffix("s") in known or word.removesuffix("ing") in known or _is_name(word, catalog):
            return word
        near = get_close_matches(word, targets, 2, LIKENESS)
        if not near or near[0][0] != word[0]:
            return word
        notes.append(Reason("ask.spelling", {"written": word, "read": near[0]}))
        return near[0]

    return re.sub(rf"(?<![\w.'-])[a-z]{{{LEAST_LETTERS},}}(?![\w'-])", right, plain(text))


def laptops_named(text: str, catalog: "Catalog", notes: list[Reason]) -> str:
    """The text with the makers' names of portable computers read as `laptop`, said aloud: `zephyrus g14`."""

    def plainly(found: re.Match[str]) -> str:
        if found[0] not in ("laptop", "laptops", "notebook", "notebooks"):
            notes.append(Reason("ask.spelling", {"written": found[0], "read": "laptop"}))
        return "laptops" if found[0] in ("laptops", "notebooks") else "laptop"

    return re.sub(rf"(?<![\w-])(?:{catalog.wording.laptops})\b", plainly, text)


def _is_name(word: str, catalog: "Catalog") -> bool:
    return any(catalog.bearing(kind, word) for kind in ("devices", "models", "quants", "engines", "hosts"))
