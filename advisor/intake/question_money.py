"""Money in a question: what the buyer wants to spend, what things are offered for, what electricity costs."""

import re
from typing import TYPE_CHECKING

from advisor.errors import BadValue
from advisor.intake.question_plain import SIGN, UNIT
from advisor.intake.question_words import COUNT, NO_MONEY, NUMBER, Text, number_of
from advisor.units import KILO
from advisor.words import CURRENCIES, Amount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.intake.question_names import Mention

_LAKH = 1e5
_K = r"(?:k|grand|thousand|lakhs?|g)\b"
_LESS = (
    r"(?:under|below|up to|less than|no more than|not more than|at most|max(?:imum|ed)?|within|limit(?:ed to)?|cap(?:ped at)?|budget|"
    r"exceed(?:ing)?|spend(?:ing)?|pay(?:ing)?)"
)
_NEARLY = (
    r"(?:\s*(?:is|of|:|=|around|about|approx\w*|roughly|under|max|up to|at most|~|to|like|maybe|a|the|my|say|only|just|currently|"
    r"would be))*"
)
_NO_NAME = "".join(rf"(?<!\b{word}\s)" for word in ("a", "an", "my", "the", "rtx", "gtx", "rx", "have", "one"))  # `a 3060 or 500 euros`
_NOT_LONG = r"(?!\s*-?(?:context|ctx|tokens?|prompts?|window|long))"
_NOTHING_SPENT = (
    r"\b(?:(?:do not|don't|dont|can't|cannot|won't) (?:want to |wanna |need to |have to |plan to )?(?:buy|spend)|without (?:buying|"
    r"spending)) (?:anything|any money|money|a (?:cent|dime|penny)|any (?:new |more )?hardware)(?: (?:else|new|more|extra|now))*"
    r"(?! (?:on|if|unless|until|before|from|used|bigger|larger|with|over|above|that|for (?:an?|the)))\b"
)
_BELOW_ZERO = (
    rf"(?:(?<=^)|(?<=\s))-\s?(?:{SIGN}\s?{NUMBER}|{NUMBER}\s?(?:{_K})?\s?{UNIT}(?!\w))|{SIGN}\s?-\s?{NUMBER}|"
    rf"\bbudget(?:\sis|\sof|:)?\s-\s?{NUMBER}(?:\s?{UNIT}(?!\w))?"
)
_FEW = r"(?:about\s|around\s|only\s|just\s|like\s|~|the\s|now\s)?"
_LEAD = (
    r"(?:\s?\((?:used|new|at)?\s?|\s(?:is|are)\s(?:\w+\s){1,3}?\(|\s(?:used\s|new\s|each\s|cards?\s)?(?:prices?\s)?"
    r"(?P<cue>for|at|@|costs?|(?:is|are)(?: at)?|goes for|going for|sells? for|(?:still )?worth|listed (?:at|for)|offered (?:at|for))\s)"
    rf"{_FEW}"
)
_BARE = rf"(?P<number>[1-9]\d{{2,4}}|\d,\d{{3}}|\d{{1,2}}\.\d(?=k))(?P<k>k)?{NO_MONEY}(?!\s?(?:nm|tflops|tops|mt|w\b|\w+\sof\b))"
_YEAR = range(2020, 2036)
_EACH = r"\s?(?:used\s|new\s|bucks\s|per\s(?:card|piece|gpu)|each\b|apiece\b|a piece\b|/\s?(?:each|card|piece)|a pop\b)"
_ASKED_FOR = rf"(?P<all>(?P<sign>{SIGN})?\s?(?P<number>{NUMBER})(?P<k>k)?\s?(?P<unit>{UNIT})?)"
_BEFORE = (
    rf"\bis\s(?:it\s)?{_FEW}{_ASKED_FOR}\s(?:(?:an?|too)\s)?(?:(?:good|fair|ok|okay|decent|reasonable|right|great|bad|crazy|much|high|"
    r"steep|price|deal|value|still)\s){0,4}for\s$"
)
_EACH_BEFORE = rf"(?<![\w.,-]){_ASKED_FOR}\s(?:on|for)\s$"


def _thousands(number: str, k: str | None) -> float:
    scale = 100 if k == "hundred" else _LAKH if k and k.startswith("lakh") else KILO if k else 1
    return number_of(number) * scale


def _amount(found: re.Match[str]) -> Amount:
    """The sum in its currency; dollars where none is told."""
    groups = found.groupdict()
    unit = (groups.get("sign") or groups.get("unit") or "$").strip(".")
    return Amount(_thousands(groups["number"], groups.get("k")), CURRENCIES[unit])


def part_price(text: Text) -> str | None:
    """The price of a bridge, which is neither a budget nor a device's; crossed out."""
    found = text.take(rf"(?<=bridge)\s?(?:\(|for\s|at\s|costs?\s|is\s)(?:about\s|~)?(?:{SIGN}\s?{NUMBER}|{NUMBER}\s?{UNIT}(?!\w))\)?")
    return found[0].strip(" ()") if found else None


def budget(text: Text) -> Amount | None:
    """What the buyer wants to spend: `$2k`, `under 3000 euros`, `a budget of 3k`; of a range the upper end."""
    if text.take(_NOTHING_SPENT):
        return Amount(0, "USD")
    below = re.search(_BELOW_ZERO, text.left)
    if below:
        raise BadValue(f"QUESTION: “{below[0].strip()}” is no amount to spend: write what you have, such as $500.")
    first = rf"{NUMBER}\s?(?:k|grand)?\s?"
    to = rf"(?:(?:{first}(?:-|to)|(?:(?<=between )|(?<=between [$€£])){first}and|{_NO_NAME}{first}or)\s?(?:{SIGN}\s?)?)?"
    found = text.take(
        rf"(?P<sign>{SIGN})\s?{to}(?P<number>{NUMBER})\s?(?P<k>{_K})?(?:\s?{UNIT}(?!\w))?",
        rf"(?<![\w.-]){to}(?P<number>{NUMBER}|{COUNT})\s?(?P<k>k|grand|thousand|hundred|lakhs?)?[\s-]?(?P<unit>{UNIT})(?!\w)",
        rf"(?<![\w.-])(?P<number>{NUMBER}|{COUNT})\s?(?P<k>lakhs?)\b",
        rf"\b{_LESS}{_NEARLY}\s*{to}(?P<number>{NUMBER}|{COUNT})\s?(?P<k>{_K}){_NOT_LONG}",
        rf"(?<![\w.-]){to}(?P<number>{NUMBER})\s?(?P<k>k\b|grand\b)?\s*(?:budget|to spend|to play with|burning)",
        rf"(?<![\w.-]){to}(?P<number>{NUMBER}|{COUNT})\s(?P<k>grand)\b",
        rf"\b(?:gave|gives|given|have|got|has|with)\s(?:me\s|us\s)?(?:about\s|around\s)?(?P<number>{NUMBER})(?P<k>k)\s(?:to|for)\b",
        rf"\b(?:i|we)(?:'ve)?\s(?:(?:only|have|got|just|about|around|like|maybe)\s)+(?P<number>(?!(?:32|64|128|256)k){NUMBER})(?P<k>k)\b(?=\s?[.,;!?]|$)",
        rf"\b(?:do|buy|build|get|go|start)\b[^.?!]{{0,20}}\bwith\s(?:about\s|only\s|just\s)?(?P<number>(?!(?:8|16|32|64|128|256)k){NUMBER})(?P<k>k)\b"
        rf"{_NOT_LONG}",
        rf"\b(?:budget|spend|pay){_NEARLY}\s*{to}(?P<number>\d[\d,]*)(?P<k>k)?\b{NO_MONEY}",
        rf"(?<!ai )(?<!m\d )\b{_LESS}{_NEARLY}\s*{to}(?P<number>\d,?\d\d\d|\d\d,?\d\d\d|[3-9]\d\d)(?P<k>k)?\b{NO_MONEY}",
        rf"\b(?:for|around|about)\s+(?P<number>{NUMBER})\s?(?P<k>k|grand)\b{_NOT_LONG}",
    )
    return _amount(found) if found else None


def prices(text: Text, mentions: "Sequence[Mention]") -> dict[int, Amount]:
    """What each device is offered for, by the place where it stands in the text; for one of them. Crossed out."""
    before = {each.start: found for each in mentions if (found := _before(text, each, _BEFORE))}
    several = {each.start: found for each in mentions if (found := _before(text, each, _EACH_BEFORE))}
    before |= several if len(several) > 1 else {}
    offered: dict[int, Amount] = {}
    for each in mentions:
        amount = _behind(text, each)
        if amount is None and (found := before.get(each.start)):
            amount = _amount(found)
            text.cross_out(*found.span("all"))
        if amount is not None and amount.value > 0:
            offered[each.start] = amount
    return offered


def _before(text: Text, mention: "Mention", pattern: str) -> re.Match[str] | None:
    """A sum that leads to the device: `is 700 for a used 3090`; a bare one is none below a hundred."""
    stretch = re.sub(
        r"(?:\b(?:an?|the|one|each|used|new|my|this|that|second|refurb\w*|good|old|single)\s)+$", "", text.original[: mention.start]
    )
    start = mention.named_at if mention.named_at > mention.start else mention.start
    stretch = stretch if mention.count == 1 else text.original[:start]
    found = re.search(pattern, stretch)
    if found is None or not (found["sign"] or found["unit"] or found["k"] or number_of(found["number"]) >= 100):
        return None
    return found


def _behind(text: Text, mention: "Mention") -> Amount | None:
    """A sum behind the device's name: ` for $650`, ` at 700 euros`, ` for 650 each`; of several for one sum its share."""
    after = text.original[mention.end :]
    found = re.match(rf"{_LEAD}(?P<sign>{SIGN})\s?(?P<number>{NUMBER})\s?(?P<k>k\b)?", after)
    found = found or re.match(rf"{_LEAD}(?P<number>{NUMBER})(?P<k>k)?\s?(?P<unit>{UNIT})(?!\w)", after)
    found = found or re.match(rf"{_LEAD}{_BARE}", after)
    if not found or re.match(r"\s?(?:\w+\s?)?(?:/|per|a)\s?kwh", after[found.end() :]):
        return None
    groups = found.groupdict()
    if not (groups.get("sign") or groups.get("unit") or found["k"]) and number_of(found["number"]) in _YEAR:
        return None
    each = re.match(_EACH, after[found.end() :]) or (found["cue"] or "at").split()[-1] in ("at", "@")
    text.cross_out(mention.end, mention.end + found.end())
    amount = _amount(found)
    return amount if each or mention.count == 1 else Amount(amount.value / mention.count, amount.currency)


def electricity(text: Text) -> Amount | None:
    """The price of a kilowatt-hour."""
    found = text.take(rf"(?:electricity\s)?(?P<sign>{SIGN})?\s?(?P<number>\d*\.?\d+)\s?(?P<unit>{UNIT}|cents?|ct)?\s?(?:/|per|a)\s?kwh")
    if not found:
        return None
    unit = (found["sign"] or found["unit"] or "$").strip(".")
    cents = unit.startswith("c") and unit not in CURRENCIES
    return Amount(number_of(found["number"]) / (100 if cents else 1), "USD" if cents else CURRENCIES[unit])
