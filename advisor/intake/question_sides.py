"""What is owned, and between which systems a question asks."""

import re
from typing import TYPE_CHECKING

from advisor.intake.question_names import Mention
from advisor.intake.question_roles import ADD, JOINED, MORE, OWN, WANT, Named, roles, settled
from advisor.intake.question_words import COUNT, Text, whole
from advisor.reason import Reason
from advisor.record import dataclass, replace

if TYPE_CHECKING:
    from advisor.catalog import Catalog

ORDINALS = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5, "sixth": 6, "6th": 6,
            "seventh": 7, "7th": 7,
            "eighth": 8, "8th": 8}  # fmt: skip
THINGS = (
    r"(?:ones?|gpus?|cards?|graphics cards?|identical|same|of (?:them|those|these|the same)|box(?:es)?|macs?|machines?|units?|sparks?|"
    r"studios?)"
)
MORE_OF_IT = re.compile(
    rf"\b(?:another|{'|'.join(ORDINALS)}|one more|an? (?:additional|extra)|the same again)\b(?:\s(?:used|new|identical|matching|same|"
    rf"such))*(?:\s{THINGS})?\b"
)
KEPT_TOO = (
    r"\b(?:and|but|while)\s(?:also\s)?keep(?:ing)?\b|\b(?:next to|beside|besides|alongside|in addition to|together with|paired with|"
    r"combined with) (?:it|my|the|them)\b|\b(?:combin\w+|pair\w*|join\w*|mix\w*|use|run) (?:them|both|the two)\b|\bbottleneck\w*\b"
)
AS_ONE_MORE = (  # every side is to stand beside what is owned
    rf"\bas (?:an?\s|the\s|my\s)?(?:{'|'.join(ORDINALS)}|additional|extra|companion|partner)\b|"
    rf"\b(?:{'|'.join(ORDINALS)}|additional|extra)\s(?:gpu|card|graphics card)s?(?:\s(?:for|to|beside|next to|with|alongside)\b|\s?[:,–-])|"
    rf"\b(?:what|which)\s(?:{'|'.join(ORDINALS)}|additional|extra)\s(?:gpu|card)\b"
)
TO_COUNT = re.compile(rf"\b(?:to|into)\s((?!an?\b){COUNT})x?(?=\s*(?:[?.,!]|$|of (?:them|those|these)\b|cards\b|gpus\b))")
SO_MANY = re.compile(rf"\b((?!an?\b|one\b){COUNT})\s(?:gpus|cards)\b(?=[^.?!]*\b(?:twice|double|faster|better|as fast|vs|versus|than)\b)")
SO_MANY_MORE = re.compile(rf"\b((?!an?\b|one\b){COUNT})\s(?:more|additional|extra)(?=\s(?:{THINGS}|or|vs|versus)\b)")
OTHER_COUNT = re.compile(
    rf"\s(?:or|vs\.?|versus|instead of)\s(?:just\s|only\s)?((?!an?\b){COUNT})x?(?=\s*(?:$|[?.,!]|of (?:them|those|these)\b|(?:cards?|"
    r"gpus?|for|to|with|on|running)\b))"
)
HOW_MANY = r"\bhow many (?:used |new )?#|#(?:'?s)?(?!\w).*\bhow many (?:do|would|should|will|of|cards|gpus|are|for|to|needed)\b"
COUNTS_TRIED = (1, 2, 3, 4, 6, 8)
HOSTS_BEFORE = re.compile(
    rf"\b((?!an?\s){COUNT})\s(?:hosts?|machines|boxes|servers|nodes|pcs|computers|workstations|rigs)\s(?:each\s)?(?:with|of|having)\s(?:(?:an?|one)\s)?$"
)
JOINED_BOXES = r"\b(?:cluster|joined|connected|linked|network|rpc|exo|rdma|thunderbolt|ethernet|together|pair|mesh|combined?|pool(?:ed)?)\b"


@dataclass(frozen=True)
class Sides:
    """SYSTEM words of what is owned, how many devices that are, and the systems asked between."""

    have: str | None
    owned: int
    among: tuple[str, ...]
    notes: tuple[Reason, ...] = ()
    several: bool = False  # whether the devices spoken of are two or more
    device: str | None = None  # the only device spoken of
    count: int = 0  # the most of it that are
    in_slots: bool = False  # whether they are cards for slots

    def compared_on(self, several: bool) -> str | None:
        """The system on which ways of doing the same are set side by side."""
        system = self.have or (self.among[0] if self.among else None)
        return f"2x {system}" if system and several and self.owned == 1 and self.have else system


def sides_of(question: Text, devices: list[Mention], catalog: "Catalog", offered: frozenset[int] = frozenset()) -> Sides:
    """The devices sorted into what is owned and what is asked about; `offered`: where those stand that have a price."""
    devices = [_in_hosts(question, mention, catalog.wording.usual_network) for mention in devices]
    spoken = [replace(each, role=WANT) if _is_offered(each, offered) else each for each in roles(question.original, devices)]
    named = settled(question, spoken, catalog)
    own = _once(question, [each.mention for each in named if each.role == OWN])
    more = [each for each in named if each.role == MORE]
    if not own and more:
        first = more[0].mention
        count = first.count if first.count > 1 else max(1, _ordinal(question, first) - 1)
        own = [Mention(first.name, count, first.start, first.end, first.note, first.named_at, first.sizes)]
    counted = _counts(question, named) or _two_counts(question, spoken)
    if counted:
        own = []
    own, notes = _one_place(question, own, catalog)
    among = counted or _among(question, named, own, catalog)
    owned = sum(mention.count for mention in own)
    asked_more = bool(more) or bool(MORE_OF_IT.search(question.original))
    from advisor.advice.offers import goes_in_slot

    in_slots = bool(devices) and all(goes_in_slot(catalog.devices[mention.device]) for mention in devices)
    return Sides(
        joined(own) if own else None,
        owned,
        among,
        notes,
        in_slots=in_slots,
        several=owned > 1 or asked_more or any(each.mention.count > 1 for each in named),
        device=devices[0].name if len({mention.name for mention in devices}) == 1 else None,
        count=max((mention.count for mention in devices), default=0),
    )


def _is_offered(named: Named, offered: frozenset[int]) -> bool:
    """Whether a device of which nothing else is said is for sale."""
    return named.role == "" and named.mention.start in offered


def _in_hosts(question: Text, mention: Mention, network: str) -> Mention:
    """`three hosts with four A5000 each` is one system of three boxes, joined by the usual network."""
    before = HOSTS_BEFORE.search(question.left[: mention.start])
    if not before:
        return mention
    question.cross_out(before.start(), before.end())
    words = f"{whole(before[1])}x ({mention.words}) via {network}"
    return Mention(words, 1, before.start(), mention.end, mention.note, before.start())


def _ordinal(question: Text, mention: Mention) -> int:
    """The which-eth device is asked about: a second one is the 2nd."""
    before = question.original[max(0, mention.start - 40) : mention.named_at]
    found = re.findall("|".join(ORDINALS), before)
    return ORDINALS[found[-1]] if found else 2


def _once(question: Text, own: list[Mention]) -> list[Mention]:
    """What is owned without what is only spoken of again: `my 4090 and 3090 … swap the 3090`."""
    kept: list[Mention] = []
    for mention in own:
        again = re.search(r"\b(?:the|my|this|that|it)\s(?:\w+\s)?$", question.original[: mention.start])
        if not (again and any(each.device == mention.device for each in kept)):
            kept.append(mention)
    return kept


def _one_place(question: Text, own: list[Mention], catalog: "Catalog") -> tuple[list[Mention], tuple[Reason, ...]]:
    """What can work together: machines of their own that nothing joins are several systems, of which the largest is taken."""
    from advisor.advice.offers import goes_in_slot

    devices = {mention.name: catalog.devices[mention.device] for mention in own}
    alone = [name for name, device in devices.items() if not goes_in_slot(device)]
    if len(devices) < 2 or not alone or re.search(JOINED_BOXES, question.original):
        return own, ()
    largest = max(own, key=lambda mention: mention.count * devices[mention.name].memory_options_bytes[0])
    others = ", ".join(name for name in devices if name != largest.name)
    return [largest], (Reason("ask.apart", {"taken": largest.name, "others": others}),)


def _among(question: Text, named: list[Named], own: list[Mention], catalog: "Catalog") -> tuple[str, ...]:
    """The sides of an "A or B?"; one more of what is owned is a side where something else is named beside it."""
    from advisor.advice.offers import goes_in_slot

    beside = all(goes_in_slot(catalog.devices[mention.device]) for mention in own)  # nothing goes into a Mac
    sides: list[tuple[int, tuple[str, ...]]] = []
    for group in _groups(named):
        first = group[0]
        mentions = [each.mention for each in group]
        if first.role == WANT:
            sides.append((first.mention.start, _systems(mentions)))
        elif first.role in (MORE, ADD) and own and (beside or first.role == MORE):
            sides.append((first.mention.start, (joined([*own, *mentions]),)))
        elif first.role == ADD:
            sides.append((first.mention.start, _systems(mentions)))
    again_of = {each.mention.name for each in named if each.role == MORE}
    wished = bool(sides) and (len(again_of) > 1 or not all(each.role in (MORE, OWN) and _same(each, own) for each in named))
    more = _to_count(question, own)
    if not wished:
        return tuple(f"{count}x {own[0].name}" for count in more)
    again = _again(question, named)
    if again is not None and own:
        start, count = again
        sides.append((start, (joined([*own, Mention(own[0].name, count, 0, 0)]),)))
    sides = [(start, _beside_own(question, start, systems, own, named) if beside else systems) for start, systems in sides]
    sides += [(len(question.original), (f"{count}x {own[0].name}",)) for count in more]
    return tuple(dict.fromkeys(system for _, systems in sorted(sides) for system in systems))


def _beside_own(question: Text, start: int, systems: tuple[str, ...], own: list[Mention], named: list[Named]) -> tuple[str, ...]:
    """The side with what is owned where the text keeps that too: `a 3090 next to my 3080`, `buy a 5090 and keep the 4090`."""
    later = [each.mention.start for each in named if each.mention.start > start and each.role != OWN]
    stretch = question.original[start : min([*later, start + 70])]
    if not own or not (re.search(KEPT_TOO, stretch) or re.search(AS_ONE_MORE, question.original)):
        return systems
    return tuple(_with_own(own, system, named) for system in systems)


def _with_own(own: list[Mention], system: str, named: list[Named]) -> str:
    """The system and what is owned as one; equal cards are counted together."""
    same = next((each.mention for each in named if each.role != OWN and each.mention.words == system), None)
    return joined([*own, same]) if same else system if own[0].name in system else f"{joined(own)} + {system}"


def _to_count(question: Text, own: list[Mention]) -> list[int]:
    """`from one 3090 to three`, `move to 4x`: that many of what is owned."""
    found = (TO_COUNT.search(question.left) or SO_MANY.search(question.left)) if len(own) == 1 else None
    count = whole(found[1]) if found else 0
    if found and count > own[0].count:
        question.cross_out(*found.span(1))
        return [count]
    return []


def _counts(question: Text, named: list[Named]) -> tuple[str, ...]:
    """`how many 4090s do I need?` is asked between several counts."""
    if len(named) != 1 or not re.search(
        HOW_MANY, question.original[: named[0].mention.start] + "#" + question.original[named[0].mention.end :]
    ):
        return ()
    return tuple(f"{count}x {named[0].mention.name}" if count > 1 else named[0].mention.name for count in COUNTS_TRIED)


def _two_counts(question: Text, spoken: list[Named]) -> tuple[str, ...]:
    """`two 3090s vs one` of which nothing is owned is asked between both counts."""
    if len(spoken) != 1 or spoken[0].role not in ("", WANT):
        return ()
    mention = spoken[0].mention
    found = OTHER_COUNT.match(question.left, mention.end)
    if not found or whole(found[1]) == mention.count:
        return ()
    question.cross_out(*found.span())
    return mention.words, replace(mention, count=whole(found[1])).words


def _same(named: Named, own: list[Mention]) -> bool:
    return named.mention.name in {mention.name for mention in own}


def _again(question: Text, named: list[Named]) -> tuple[int, int] | None:
    """Where the text asks for more of what is owned without naming it, and how many: `a second one or a 5090`, `two more or a 5090`."""
    for found in (*MORE_OF_IT.finditer(question.original), *SO_MANY_MORE.finditer(question.original)):
        inside = any(found.start() < each.mention.end and each.mention.start < found.end() + 4 for each in named)
        if (
            not inside
            and re.search(r"\b(?:or|vs|versus|than)\b", question.original)
            and not re.search(r"\bslots?\b", question.original[found.end() : found.end() + 8])
            and not re.search(r"\b(?:which|what|as an?|as)\s$", question.original[: found.start()])
        ):
            return found.start(), whole(found[1]) if found.re is SO_MANY_MORE else 1
    return None


def _groups(named: list[Named]) -> list[list[Named]]:
    """Devices that belong together: `a 3090 and a 4090`."""
    groups: list[list[Named]] = []
    for each in named:
        if groups and each.tie == JOINED and groups[-1][-1].role == each.role:
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def _systems(mentions: list[Mention]) -> tuple[str, ...]:
    """SYSTEM words of a wish; every memory size of one machine whose size the text leaves open."""
    only = mentions[0]
    if len(mentions) == 1 and only.sizes:
        return tuple(f"{only.count}x {size}" if only.count > 1 else size for size in only.sizes)
    return (joined(mentions),)


def joined(parts: list[Mention]) -> str:
    """SYSTEM words of several devices: equal ones counted together."""
    counts: dict[str, int] = {}
    for mention in parts:
        counts[mention.name] = counts.get(mention.name, 0) + mention.count
    return " + ".join(f"{count}x {name}" if count > 1 else name for name, count in counts.items())
