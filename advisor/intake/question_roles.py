"""What a question says of each device it names: owned, one more of it, to be added, wished for – and which belong together."""

import re
from typing import TYPE_CHECKING

from advisor.intake.question_names import Mention
from advisor.intake.question_plain import SIGN, UNIT
from advisor.intake.question_words import COUNT, Text, sentence_end, sentence_start
from advisor.record import dataclass, replace

if TYPE_CHECKING:
    from advisor.catalog import Catalog

OWN, MORE, ADD, WANT = "own", "more", "add", "want"
ALONE, JOINED, OTHER = "", "joined", "other"  # how a mention stands to the one before: by itself, together with it, or against it
_DETERMINERS = (
    rf"(?:\s*(?:an?|the|this|that|these|those|my|our|his|her|their|one(?: of)?|both|{COUNT}|\d+\s?x|pair of|couple of|dual|quad|triple|"
    rf"old|older|used|new|"
    r"brand[- ]new|current|existing|single|lone|trusty|aging|ageing|poor|little|good|cheap|cheaper|bigger|faster|newer|second[- ]hand|"
    r"refurbished|"
    r"refurb|desktop|gaming|nvidia|geforce|amd|radeon|intel|apple|rig|in|up|of|card|gpu|shiny|big|real|proper|local|matching|identical|"
    r"same|"
    r"similar|extra|cards|gpus|maxed[- ]out|base|fully|loaded|ex-mining|mining)\b)*\s*$"
)
_PLACE = r"(?:pc|rig|server|machine|box|workstation|desktop|laptop|notebook|setup|build|system|homelab|lab|computer|node|tower|station|mac)"
_WHO = r"(?:i|we|he|she|they|my \w+|our \w+|the \w+|who|and|but|also)"
_LATELY = r"(?:\s+(?:already|currently|just|now|only|also|still|recently|personally|both|so far|at home|myself))*"
_CHANGES = (
    r"(?:replac\w*|swap\w*|trad\w+(?:\s+in)?|sell\w*|sold|flip\w*|ditch\w*|dump\w*|retir\w+|exchang\w+|get(?:ting)? rid of|"
    r"upgrad\w+|offload(?:ing)?|drop(?:ping)?|scrap\w*)"
)
_MOVES = r"(?:upgrad\w*|com\w+|mov\w+|switch\w*|jump\w*|go|going|step\w*|migrat\w+|transition\w*|chang\w+)"
_MAC = r"(?:an?\s|any\s|some\s)?(?:macs?|apple(?: silicon)?(?: macs?)?)\b(?!\s(?:mini|studio|pro|m\d))"
ANY_MAC = rf"(?<=\bor\s){_MAC}|(?<=\bvs\s){_MAC}|(?<=\bversus\s){_MAC}|(?<=\bthan\s){_MAC}|\b{_MAC}(?=\s(?:or|vs\.?|versus)\s)"
_NUMERALS = r"second|2nd|third|3rd|fourth|4th|fifth|5th|sixth|6th|seventh|7th|eighth|8th"
OWNED = (
    rf"\b(?:my|our|his|her|their)\b{_DETERMINERS}",
    rf"\b(?:my|our|this)\s+(?:\w+\s+){{0,2}}{_PLACE}\b(?:'s)?(?:\s+(?:has|have|with|is|runs|got|already|currently|only))*\s*(?:[:=(]|"
    rf"an?\b|-)?{_DETERMINERS}",
    rf"(?<!should )(?<!can )(?<!could )(?<!would )(?<!will )(?<!shall )(?<!do )\b{_WHO}(?:'ve|'m|'re| am| are| is| has| have|"
    rf" had)?{_LATELY}(?:\s+(?:have|has|had|got|own|owns|bought|run|use|using|running|rock|rocking|on|"
    rf"stuck with|limited to|working with|got hold of|sitting on|with)|'ve got){_LATELY}\b",
    rf"\b(?:i|we)'ve\b{_DETERMINERS}",
    r"(?<!to )\b(?:have|having|has|had|have got|got|own|owns|owning|owned|bought|inherited|rocking)\b",
    r"\b(?:currently|existing|current|already|owner of|at present|right now|at the moment|present)\b",
    rf"(?:^|[\n.:;,!?(]|\b)\s*(?:specs?|rig|setup|hardware|system|build|got|have)\s*[:=]{_DETERMINERS}",
    rf"\b{_PLACE}\s+(?:with|has|having|of|running|containing)\b{_DETERMINERS}",
    rf"\b{_MOVES}\s+(?:up\s+|over\s+)?from\b{_DETERMINERS}",
    rf"\b{_CHANGES}\b{_DETERMINERS}",
    rf"\b(?:keep|keeping|stay|staying|stick|sticking|hold on|holding on)(?:\s+(?:using|with|to|on))*\b{_DETERMINERS}",
)
IN_ANOTHER = re.compile(  # a computer that is thought of, not one that is there: "a Mac mini or a PC with a 3060"
    rf"\b(?:or|vs\.?|versus|than|build|buy|get)\s+(?:an?|another)\s+(?:\w+\s+)?{_PLACE}\s+(?:with|of|having|containing)\b{_DETERMINERS}"
)
WISHED = (
    r"\b(?:buy|buying|get|getting|grab|grabbing|pick up|picking up|purchas\w+|order(?:ing)?|invest\w*|afford|spend\w*(?: \S+)?(?: on)?|"
    r"splurg\w+(?: on)?|build(?:ing)?)\b",
    rf"\b(?:(?:go|going|went) (?:for|with)|{_MOVES}\s+(?:over\s+|up\s+)?(?:to|for)|upgrad\w*(?:\s+\w+)?\s+to|to)\b{_DETERMINERS}",
    r"\b(?:worth|consider\w*|thinking (?:of|about)|think about|looking (?:at|into|for)|eyeing|how about|what about|deciding|decide|"
    r"torn|better off with|choos\w+|choice|"
    r"pick(?:ing)?|compar\w+|offer(?:ed)?|deals?(?: on)?|found|saw|tempted|interested(?: in)?|want(?:ing|ed)?|need(?:ing|ed)?|"
    r"wait(?:ing)?|recommend\w*|suggest\w*|should i)\b",
    rf"\b(?:replac\w*|swap\w*|trad\w*|exchang\w*|substitut\w*|sell\w*|pass\w*)\b[^.?!]*?\b(?:with|for|by|to)\b{_DETERMINERS}",
    r"\b(?:instead of|rather than|better than|faster than|than|beats?|outperforms?|against|compared? (?:to|with)|matche?s?|vs\.?|"
    r"versus)\b",
)
ADDED = (
    rf"\b(?:add|adding|put|putting|plug|plugging|throw|throwing|slot|slotting|stick|sticking|install|installing|pair(?! of)|pairing|"
    rf"mix|mixing|"
         rf"combine|combining|join|joining)(?:\s+(?:in|it with|with|them with))?\b{_DETERMINERS}",)  # fmt: skip
# what the others are to stand beside: "a 3090 or a 7900 XTX as second GPU beside a 3090"
TO_BE_JOINED = (
    rf"\bas (?:an?\s|the\s|my\s)?(?:{_NUMERALS}|additional|extra|companion|partner)(?:\s(?:gpu|card|one))?\s"
    rf"(?:to|for|beside|besides|next to|alongside|with)\b{_DETERMINERS}|"
    rf"\b(?:to go|to pair|in addition|added|addition)\s(?:with|to)\b{_DETERMINERS}"
)
ONE_MORE = (rf"\b(?:another|{_NUMERALS}|one more|two more|additional|extra|more)\b{_DETERMINERS}",)
_SELLERS = (
    r"(?:someone|somebody|sellers?|guys?|shops?|stores?|friend|colleague|coworker|neighbou?r|he|she|they|ebay|craigslist|marketplace|"
    r"locally?|people)"
)
_SUM = rf"(?:{SIGN}\s?\d[\d,.]*k?|(?<![\w.])\d[\d,.]*k?\s?{UNIT})"
# what is said of a thing that is not the asker's yet, whatever else the words before it say
FOR_SALE = (
    rf"\b{_SELLERS}\b[^.?!,]{{0,25}}\b(?:sell(?:s|ing)?|offer(?:s|ing|ed)?|lists?|asks?|asking|wants?|selling me|sell me)\b{_DETERMINERS}|"
    rf"\b(?:friend|colleague|coworker|neighbou?r|buddy)\s(?:has|owns)\b{_DETERMINERS}|"
    rf"\b(?:has|have|got|with)\s(?:an?\s|the\s)?(?:\w+\s){{0,2}}?{_PLACE}\b[^.?!]*\b(?:no|without(?: an?| any)?)\s"
    r"(?:dedicated\s|discrete\s)?(?:gpus?|graphics cards?|cards?)\b[^.?!]*$|"
    rf"\bbuild(?:ing)?\s(?:\w+\s){{0,3}}{_PLACE}\s(?:with|around|from)\b{_DETERMINERS}|"
    rf"{_SUM}\s(?:in hand\s|cash\s|saved\s(?:up\s)?)?(?:for|on|towards?)\b{_DETERMINERS}"
)
# "I have a PC with an 850 W supply, one 5090 or two 3090s?": what is owned ends before the comma
BESIDE_OWNED = rf"(?:have|got|own)\b[^.?!]*,\s*(?:so\s|and\s|but\s|is\s)?(?:an?|{COUNT})\b{_DETERMINERS}"
OWN_AFTER = re.compile(
    r"\s*(?:,|\()?\s*(?:that|which)?\s*(?:(?:i|we)(?:'ve)?(?:\s+(?:already|currently|now|just))*\s+(?:have|own|got|bought|run|"
    r"use)(?:\s+(?:already|now|here|at home))?"
    r"(?=\s*(?:$|[.,;:!?)]|and\b|or\b|for\b|with\b|to\b|but\b))|(?:already|on hand|at home|sitting|lying|here|owner|at the moment|"
    r"right now|these days|currently|"
    rf"atm|owned|in my {_PLACE})\b)"
)
WANT_AFTER = re.compile(
    r"\s*,?\s*(?:be|is|would be|as an?|really|actually|even|still|ever|much|any|a lot|that much)*\s*(?:worth|better|instead|faster|smarter|"
    r"upgrade|make sense|makes sense|"
    r"good (?:buy|deal)|for [$€£]|at [$€£]|worthwhile|outperform|beat|pay off|pays off)\b"
)
TOGETHER = re.compile(
    rf"\s*(?:\(\d+\s?(?:gb|gib)\))?\s*(?:{_PLACE}\s*)?(?:,|\+|\band\b|\bplus\b|\bwith\b|\bpaired with\b|\bcombined with\b|"
    rf"\btogether with\b|\bnext to\b|\balongside\b|\bbeside\b|\balong with\b|/)+"
    rf"(?:\s*(?:one|the other|another)(?:\s{_PLACE})?\s(?:has|with|having)\b)?{_DETERMINERS}"
)
AGAINST = (
    r"\b(?:or|vs|versus|than|equals?|as (?:good|fast) as|match(?:es)?|against|instead of|rather than|over|compared? (?:to|with)|beats?|"
    r"outperforms?)\b"
)
RIVALS = r"\b(?:between|compar\w+|difference|differ|which|vs\.?|versus|or|better|faster|choose|decide|deciding|pick|torn)\b"
EXCHANGES = r"\b(?:replac\w*|swap\w*|trad\w*|exchang\w*|substitut\w*)\b"
ELSEWHERE = rf"\b(?:for|on|with|in|of|across|between|behind)\b{_DETERMINERS}"  # "do I need a bridge for two 3090s": the bridge is wanted


@dataclass(frozen=True, eq=False)
class Named:
    """A device with what is said of it."""

    mention: Mention
    role: str  # own more add want, or empty where nothing is said
    tie: str = ALONE


def roles(text: str, mentions: list[Mention]) -> list[Named]:
    """Each device with its role; one that only follows another, as in `a 4090 or a 5090`, has that one's."""
    found: list[Named] = []
    for mention in mentions:
        start = sentence_start(text, mention.start)
        before = found[-1] if found and found[-1].mention.end > start else None
        named = _named(text, mention, before, start)
        if named.tie == JOINED and named.role == OWN and before and not before.role:
            found[-1] = Named(before.mention, OWN, before.tie)  # "a 6800 and a 6700 XT lying around"
        found.append(named)
    return found


def _named(text: str, mention: Mention, before: Named | None, start: int) -> Named:
    """The device with its role, by the words around it; those that outweigh all others first."""
    before_it = text[before.mention.end if before else start : mention.named_at]
    tail = text[mention.end : sentence_end(text, mention.end)]
    if before is None and re.search(BESIDE_OWNED, before_it) and re.match(r"\s?(?:or|vs\.?|versus)\b", tail):
        return Named(mention, "")
    if re.search(FOR_SALE, before_it) and not OWN_AFTER.match(tail):
        return Named(mention, WANT, _tie(text, before_it, before, start, mention.end))
    return _by_cues(text, mention, before, start)


def _by_cues(text: str, mention: Mention, before: Named | None, start: int) -> Named:
    gap = text[before.mention.end if before else start : mention.named_at]
    tail = text[mention.end : sentence_end(text, mention.end)]
    tie = _tie(text, gap, before, start, mention.end)
    if IN_ANOTHER.search(gap) and not OWN_AFTER.match(tail):
        return Named(mention, WANT, tie)
    role = OWN if OWN_AFTER.match(tail) or (before and re.search(TO_BE_JOINED, gap)) else _last_cue(gap)
    if role == WANT and before and before.role == ADD and re.match(r"\s*(?:to|with|into|next to)\b", gap):
        role = OWN  # "add a 3060 to a 3090"
    if role and not (tie == JOINED and role == WANT and re.fullmatch(r"\W*(?:and|plus|with|\+|,)?\W*(?:an?\W*)?", gap)):
        return Named(mention, role, tie)
    if before and before.role == OWN and tie == ALONE and re.fullmatch(rf"\s*(?:with|for|by|against)\b{_DETERMINERS}", gap):
        return Named(mention, WANT, tie)
    if WANT_AFTER.match(tail) and tie != JOINED:
        return Named(mention, WANT, tie)
    if before and tie == JOINED:
        return Named(mention, before.role, tie)
    if before and tie == OTHER:
        return Named(mention, WANT if before.role else "", tie)
    return Named(mention, "", tie)


def _tie(text: str, gap: str, before: Named | None, start: int, end: int) -> str:
    """Together with the one before, or against it."""
    if before is None:
        return ALONE
    if before.role == OWN and re.match(r"\s*(?:with|for|by|against)\b", gap) and re.search(EXCHANGES, text[start : before.mention.start]):
        return ALONE
    if re.search(AGAINST, gap):
        return OTHER
    if TOGETHER.fullmatch(gap):
        sentence = text[start : sentence_end(text, end)]
        owned = before.role == OWN and not re.search(r"\b(?:which|between|compar\w+)\b", sentence)
        return OTHER if not owned and _is_list(gap, sentence) else JOINED
    return ALONE


def _is_list(gap: str, sentence: str) -> bool:
    """Whether an `and` or a comma stands between rivals: `between A and B`, `A, B or C`."""
    if re.search(r"\bcompar\w+", sentence) and re.match(r"\s*(?:with|to|and|,)\b", gap):
        return True
    if re.search(r"\+|\b(?:plus|with|together|paired|combined|next to|alongside|beside)\b", gap):
        return False
    if re.search(r"\b(?:between|compar\w+|difference|which)\b", sentence):
        return True
    return "and" not in gap and bool(re.search(RIVALS, sentence))


def _last_cue(stretch: str) -> str:
    """The role of the last cue in the stretch; of two that end alike the one that begins last."""
    kinds = ((OWN, OWNED), (ADD, ADDED), (MORE, ONE_MORE), (WANT, WISHED))
    found = [
        (match.end(), match.end() - match.start() if match.end() == len(stretch) else 0, role)
        for role, patterns in kinds
        for pattern in patterns
        for match in re.finditer(pattern, stretch)
    ]
    closest = max(found, default=(0, 0, ""))
    ending = [each for each in found if each[0] == len(stretch)]
    if ending:
        return min(ending, key=lambda each: (each[1], -_rank(each[2])))[2]
    elsewhere = re.search(ELSEWHERE, stretch[closest[0] :])
    return "" if closest[2] == WANT and elsewhere else closest[2]


def _rank(role: str) -> int:
    return (WANT, ADD, OWN, MORE).index(role)


def settled(question: Text, named: list[Named], catalog: "Catalog", budget: bool = False) -> list[Named]:
    """Devices of which nothing is said: owned where nothing else is, but rivals are all asked about; so are several of a kind without a
    number (`are 3090s any good`), and where money is there a machine whose name leaves its chip open.
    """
    from advisor.advice.offers import goes_in_slot

    has_own = any(each.role in (OWN, MORE, ADD) for each in named)
    loose = WANT if has_own or _are_rivals(question, named) else OWN
    once_more = {each.mention.name for each in named if each.role == MORE}  # "mac mini m4 pro, add a second mac mini"

    def role_of(mention: Mention) -> str:
        for_money = budget and not has_own and not goes_in_slot(catalog.devices[mention.device])
        if _in_general(question, mention) or mention.within or for_money:
            return WANT
        return OWN if mention.name in once_more else loose

    return [replace(each, role=each.role or role_of(each.mention)) for each in named]


def _are_rivals(question: Text, named: list[Named]) -> bool:
    """Whether one of them is asked about against another, or against any Mac."""
    if re.search(ANY_MAC, question.original) or any(each.tie == OTHER for each in named):
        return True
    against = r"\b(?:which|compare|between|vs|versus|or|rather than|instead of)\b"
    return len(named) > 1 and bool(re.search(against, question.original)) and not any(each.tie == JOINED for each in named)


def _in_general(question: Text, mention: Mention) -> bool:
    """Whether a kind is spoken of, not one of it, or one on sale: `are Mac Studios any good`, `a used 3090`."""
    if re.search(r"\b(?:used|refurb\w*|second[- ]hand|brand[- ]new)\s$", question.original[: mention.named_at]):
        return True
    return mention.count == 1 and question.original[mention.named_at : mention.end].strip().endswith("s")
