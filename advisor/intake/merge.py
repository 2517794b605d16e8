"""Views of one machine by several tools made into one list: a GPU seen by two tools is one GPU."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from advisor.intake.readings import maker_of
from advisor.intake.seen import Joint, Seen, View
from advisor.integrated import Integrated
from advisor.lookup import device_words
from advisor.record import dataclass, field, replace

T = TypeVar("T")
SURE = 100
MOST_DEVICES = 256  # of one machine, by one tool
NEARLY_SAME = 0.08  # two tools may count a card's memory this much apart

_ORDER = (
    "nvidia-smi -q",
    "nvidia-smi csv",
    "nvidia-smi table",
    "nvidia-smi -L",
    "amd-smi",
    "rocm-smi",
    "system_profiler",
    "sysctl",
    "lspci",
)
_CUT = re.compile(r"\.{2,3}\s*$|…\s*$")
_NUMBERED = re.compile(r"^(?:\w+ )?Device [0-9a-fA-F]{4}$")
_MEMORY_WORD = re.compile(r"\d+(?:gb|tb)")
LAPTOP_FORMS = frozenset(["mobile", "max-q"])  # a chip's line ends in them: `AD104M [GeForce RTX 4080 Max-Q / Mobile]`
_PLACEHOLDER = frozenset(["graphics", "vf", "oam", "generation", "with", "design", "edition", "workstation", "corporation", "adapter"])


@dataclass
class _Card:
    """A device while views are laid over each other."""

    seen: Seen
    marked: bool | None = None
    numbers: dict[str, int] = field(default_factory=dict)  # family of tools -> its number there


@dataclass(frozen=True)
class Merged:
    """One machine."""

    devices: tuple[Seen, ...]
    links: tuple[Joint, ...]  # by place in `devices`
    ram_bytes: float | None
    available_bytes: float | None
    os: str | None
    cpu: str | None
    box: str | None
    wired_limit_bytes: float | None
    counted: int | None  # devices that some tool says there are
    warnings: tuple[str, ...]


def merge(views: Sequence[View], marks: Integrated) -> Merged:
    """All views laid over each other, the ones that say most first."""
    ordered = sorted(views, key=lambda view: _ORDER.index(view.tool) if view.tool in _ORDER else len(_ORDER))
    cards: list[_Card] = []
    for view in ordered:
        _lay(cards, view, marks)
    joints = {(joint.a, joint.b, joint.kind): joint for view in ordered for joint in _placed(view, cards)}
    return Merged(
        devices=tuple(card.seen for card in cards),
        links=tuple(joints.values()),
        ram_bytes=_first(view.ram_bytes for view in ordered),
        available_bytes=_first(view.available_bytes for view in ordered),
        os=_os(ordered),
        cpu=_first(view.cpu for view in ordered),
        box=_first(view.box for view in ordered),
        wired_limit_bytes=_first(view.wired_limit_bytes for view in ordered),
        counted=max((view.attached for view in ordered if view.attached), default=None),
        warnings=tuple(dict.fromkeys(warning for view in ordered for warning in view.warnings)),
    )


def _first(values: Iterable[T | None]) -> T | None:
    """The first that is known."""
    return next((value for value in values if value is not None), None)


def _os(views: Sequence[View]) -> str | None:
    """WSL is told by more tools than say Linux."""
    names = [view.os for view in views if view.os]
    return "wsl" if "wsl" in names and "windows" not in names else (names[0] if names else None)


def family(tool: str) -> str:
    """Tools that number devices alike."""
    if tool.startswith("nvidia-smi") or tool == "topology":
        return "nvidia-smi"
    return "rocm-smi" if tool in ("rocm-smi", "amd-smi") else tool


def _lay(cards: list[_Card], view: View, marks: Integrated) -> None:
    """Each device of the view upon the card that it must be, or as a new one; two of one view are two."""
    free = list(cards)
    kind = family(view.tool)
    for seen in view.devices[:MOST_DEVICES]:
        marked = _marked(seen, marks)
        best = max(((_likeness(card, seen, kind, marked), -place) for place, card in enumerate(free)), default=(0, 0))
        card = free.pop(-best[1]) if best[0] > 0 else _Card(Seen())
        if best[0] <= 0:
            cards.append(card)
        card.seen = _joined(card.seen, seen)
        card.marked = _marked(card.seen, marks)
        if seen.index is not None:
            card.numbers.setdefault(kind, seen.index)


def _joined(before: Seen, seen: Seen) -> Seen:
    """What the later tool knows fills what the earlier did not say; the fuller name of the two stays."""
    filled = {key: value for key, value in vars(seen).items() if value not in (None, ()) and getattr(before, key) in (None, ())}
    notes = tuple(dict.fromkeys((*before.notes, *seen.notes)))
    name = before.name
    if seen.name and (name is None or _CUT.search(name) or (is_generic(name) and not is_generic(seen.name))):
        name = seen.name
    return replace(before, **{**filled, "notes": notes, "name": name})


def _likeness(card: _Card, seen: Seen, kind: str, marked: bool | None) -> int:
    """How surely the two are one device; 0 = they are not."""
    one = card.seen
    score = _by_address(one, seen)
    if score == 0 or score > SURE:
        return score
    if _differ(one.maker or maker_of(one.name), seen.maker or maker_of(seen.name)) or _differ(card.marked, marked):
        return 0
    if kind in card.numbers and seen.index is not None:
        if card.numbers[kind] != seen.index:
            return 0
        score += 20
    borrows = card.marked or marked  # its memory is what the backend may take: 80 GiB by Vulkan are the 120 by ROCm
    if not (borrows or _memory_agrees(one, seen)) or not names_agree(one.name, seen.name):
        return 0
    named = bool(one.name and seen.name and not is_generic(one.name) and not is_generic(seen.name))
    return score + 10 * named + (5 if one.memory_bytes and seen.memory_bytes else 0)


def _by_address(one: Seen, other: Seen) -> int:
    """By bus, UUID and PCI id: 0 where one contradicts, above SURE where bus or UUID is the same, 1 where nothing is known."""
    score = 1
    for mine, theirs, weight in ((one.bus, other.bus, SURE), (one.uuid, other.uuid, SURE), (one.pci_id, other.pci_id, 30)):
        if mine and theirs:
            if mine != theirs:
                return 0
            score += weight
    return score


def _differ(one: object, other: object) -> bool:
    """Whether both are known and not the same."""
    return one is not None and other is not None and one != other


def _marked(seen: Seen, marks: Integrated) -> bool | None:
    """Integrated or a card, by its own marks."""
    said = marks.says(name=seen.name, maker=seen.maker, pci_id=seen.pci_id, chip=seen.chip)
    return said if said is not None else seen.integrated


def _memory_agrees(one: Seen, other: Seen) -> bool:
    """Memory within what two tools differ by; a GPU that borrows memory has no fixed size."""
    if one.memory_bytes and other.memory_bytes and not (one.integrated or other.integrated or one.shared_bytes or other.shared_bytes):
        return abs(one.memory_bytes / other.memory_bytes - 1) < NEARLY_SAME
    return True


@lru_cache(maxsize=4096)
def is_generic(name: str | None) -> bool:
    """Whether a name says only whose it is: `AMD Radeon Graphics`, `NVIDIA GeForce ...`, or the number alone: `Device 2e12`."""
    return (
        name is None
        or bool(_NUMBERED.match(name))
        or not any(any(sign.isdigit() for sign in word) or len(word) > 3 for word in _words(name))
    )


def _words(name: str) -> list[str]:
    """A name's telling words."""
    words = device_words(_CUT.sub("", name))
    return [word for word in words if not _MEMORY_WORD.fullmatch(word) and word not in _PLACEHOLDER]


def alternatives(name: str) -> tuple[str, ...]:
    """The names that a chip's line stands for: `Navi 31 [Radeon RX 7900 XT/7900 XTX/7900M]` gives three."""
    inside = re.search(r"\[([^\]]{3,200})\]", name)
    inner = inside.group(1) if inside else name
    parts = [part.strip() for part in inner.split("/") if part.strip()]
    head = re.match(r"^((?:[A-Za-z]+\s+)*)(\d\S*)?", parts[0])
    prefix, number = (head.group(1), head.group(2)) if head else ("", None)
    forms = []
    for place, part in enumerate(parts[:12]):
        if place and number and part.lower() in LAPTOP_FORMS:
            part = f"{prefix}{number} {part}"
        elif place and not re.match(r"[A-Za-z]{2,}", part):
            part = f"{prefix}{part}".strip()
        forms.append(part)
    return tuple(forms)


@lru_cache(maxsize=16384)
def names_agree(one: str | None, other: str | None) -> bool:
    """Whether two printed names can be one device's."""
    if is_generic(one) or is_generic(other):
        return True
    return any(_agree(mine, theirs) for mine in alternatives(one or "") for theirs in alternatives(other or ""))


def _agree(one: str, other: str) -> bool:
    """Two plain names: the same telling words, or one cut off."""
    mine, theirs = _words(one), _words(other)
    a, b = "".join(mine), "".join(theirs)
    if _CUT.search(one) or _CUT.search(other):
        return bool(a and b) and (a.startswith(b) if _CUT.search(other) else b.startswith(a))
    numbers = [
        {word for word in words if any(sign.isdigit() for sign in word) or word in ("ti", "super", "xt", "xtx", "gre", "laptop")}
        for words in (mine, theirs)
    ]
    return numbers[0] == numbers[1] if numbers[0] and numbers[1] else (a in b or b in a)


def _placed(view: View, cards: Sequence[_Card]) -> list[Joint]:
    """Links of a view by place in the list; a matrix that counts more devices than are known is left out."""
    kind = "rocm-smi" if any(joint.kind in ("XGMI", "PCIE") for joint in view.links) else family(view.tool)
    place = {card.numbers[kind]: at for at, card in enumerate(cards) if kind in card.numbers}
    if not cards:
        place = {number: number for number in {joint.a for joint in view.links} | {joint.b for joint in view.links}}
    return [Joint(a=place[joint.a], b=place[joint.b], kind=joint.kind) for joint in view.links if joint.a in place and joint.b in place]
