"""A system: what is on the bill – devices, link, host – and the SYSTEM words, parsed and printed.

SYSTEM := GROUP ["+" GROUP]… ["via" LINK] ["as" STRATEGY] ["on" ENGINE["/"BACKEND]]
GROUP  := [COUNT "x"] DEVICE [MEMORY] | COUNT "x" "(" SYSTEM ")"
"""

import re
from collections.abc import Iterator
from functools import cached_property

from advisor.device import Device
from advisor.engine import SPLITS, Backend, Engine
from advisor.errors import BadValue
from advisor.host import Host
from advisor.link import Link
from advisor.reason import Reason
from advisor.record import dataclass, field, replace
from advisor.units import GIB

MOST_DEVICES = 10_000
# what other programs call the same split: suggested, never taken silently
OTHER_WORDS = {
    "pipeline": "layers", "pp": "layers", "layer": "layers", "rpc": "layers", "tp": "tensor", "row": "tensor", "graph": "tensor",
    "ep": "experts", "expert": "experts", "dp": "replicas", "data": "replicas", "single": "whole", "one": "whole", "cpu": "offload",
}  # fmt: skip
_COUNT = re.compile(r"(-?\d+)\s*[x×]\s*(?=\S)", re.IGNORECASE)


@dataclass(frozen=True)
class Group:
    """Equal devices of one box, each with `memory_bytes` of the sizes its record offers."""

    device: Device
    count: int  # boards or boxes on the bill
    memory_bytes: float

    @cached_property
    def gpus(self) -> int:
        """Devices that compute: some boards carry several."""
        return self.count * self.device.gpus_on_board


@dataclass(frozen=True)
class Box:
    """One computer: its groups of devices, the link between them (None for a single device), its own strategy if stated."""

    groups: tuple[Group, ...]
    link: Link | None = None
    strategy: str | None = None
    host: Host | None = None
    host_assumed: bool = field(default=False, compare=False)  # nobody named the host: it is the usual one for that many cards
    slot: Link | None = field(default=None, compare=False)  # the PCIe link of its slots, also where the cards talk over another
    networks: tuple[Link, ...] = field(default=(), compare=False)  # built into it

    def has_port(self, link: Link) -> bool:
        """Whether its own ports take the cable of a network; an Ethernet port also runs at any lower speed."""
        same = (each for each in self.networks if each.kind == link.kind == "ethernet")
        return link in self.networks or any(each.bandwidth_bytes_per_s >= link.bandwidth_bytes_per_s for each in same)

    @cached_property
    def count(self) -> int:
        """Devices in the box that compute."""
        return sum(group.gpus for group in self.groups)


@dataclass(frozen=True)
class System:
    """Boxes (each listed once a box, so equal boxes repeat), the link between them, and what was stated of the software.

    `strategy`, `engine`, `backend` are None where left to the tool.
    """

    boxes: tuple[Box, ...]
    link: Link | None = None
    strategy: str | None = None
    engine: Engine | None = None
    backend: Backend | None = None
    storage: str | None = None
    ram_bytes: float | None = None  # host memory of each box where stated, else its host's
    link_stated: bool = field(default=False, compare=False)  # the words named a link; otherwise the tool chose it
    remarks: tuple[Reason, ...] = field(default=(), compare=False)  # what was taken from the words that they do not say

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Every group of every box."""
        return tuple(group for box in self.boxes for group in box.groups)

    @cached_property
    def count(self) -> int:
        """Devices that compute, in all."""
        return sum(box.count for box in self.boxes)

    @property
    def unsplit(self) -> "System":
        """The same with its own split left open: one object for each."""
        return self if self.strategy is None else self._unsplit

    @cached_property
    def _unsplit(self) -> "System":
        return replace(self, strategy=None)

    @property
    def free(self) -> "System":
        """The same with every split left open, those inside its boxes too: one object for each."""
        return self.unsplit if all(box.strategy is None for box in self.boxes) else self._free

    @cached_property
    def _free(self) -> "System":
        return replace(self.unsplit, boxes=tuple(replace(box, strategy=None) for box in self.boxes))

    @cached_property
    def unrun(self) -> "System":
        """The same with its engine left open."""
        return replace(self, engine=None, backend=None)

    @cached_property
    def words(self) -> str:
        """The SYSTEM words of it, in catalog ids; parsed and bound they give the same system."""
        runs, single, link = _runs(self.boxes), len(self.boxes) == 1, self.shown_link
        words = " + ".join(_box_words(box, count, single) for box, count in runs)
        words += f" via {link.id}" if link else ""
        words += f" as {self.strategy}" if self.strategy else ""
        if self.engine:
            words += f" on {self.engine.id}" + (f"/{self.backend.id}" if self.backend and len(self.engine.backends) > 1 else "")
        return words

    @property
    def shown_link(self) -> Link | None:
        """The link that the words name: between the boxes, or between the cards of the only box."""
        return self.link if len(self.boxes) > 1 else self.boxes[0].link


@dataclass(frozen=True)
class GroupWords:
    """`count` devices called `name` (memory words included: only the catalog knows which belong to the name)."""

    count: int
    name: str
    at: int  # where it stands in the text, from 0


@dataclass(frozen=True)
class BoxWords:
    """`count` equal boxes in brackets."""

    count: int
    inside: "SystemWords"
    at: int


@dataclass(frozen=True)
class SystemWords:
    """SYSTEM as written: names not yet looked up."""

    members: tuple[GroupWords | BoxWords, ...]
    link: str | None = None
    strategy: str | None = None
    engine: str | None = None
    backend: str | None = None
    text: str = ""


def parse(text: str) -> SystemWords:
    """SYSTEM words of `text`; an error says at which character it stopped making sense."""
    if not text or not text.strip():
        raise BadValue("SYSTEM is empty: write for instance 'rtx-3090' or '2x rtx-3090 via nvlink as tensor on vllm'")
    return _system(text, 0, text)


def _wrong(text: str, at: int, what: str, nearest: tuple[str, ...] = ()) -> BadValue:
    hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
    return BadValue(f"SYSTEM {text!r}, character {at + 1}: {what}{hint}", nearest)


def _system(part: str, at: int, text: str) -> SystemWords:
    """The words of `part`, which starts at `at` of the whole text."""
    marks = _marks(part, at, text)
    cuts = [mark for mark in marks if mark[2] != "+"]
    clauses: dict[str, str] = {}
    for index, (start, end, word) in enumerate(cuts):
        stop = cuts[index + 1][0] if index + 1 < len(cuts) else len(part)
        value = part[end:stop].strip()
        if word in clauses:
            raise _wrong(text, at + start, f"'{word}' is written twice")
        if not value or any(start < plus < stop for plus, _, sign in marks if sign == "+"):
            raise _wrong(text, at + end, f"one name must follow '{word}', and groups ('+') stand before it")
        clauses[word] = value
    members_end = cuts[0][0] if cuts else len(part)
    members = tuple(_members(part[:members_end], [m for m in marks if m[2] == "+"], at, text))
    engine, _, backend = clauses.get("on", "").partition("/")
    _check_strategy(clauses.get("as"), part, at, text)
    if "on" in clauses and (not engine.strip() or ("/" in clauses["on"] and not backend.strip())):
        raise _wrong(text, at, "write ENGINE or ENGINE/BACKEND after 'on', as in 'on llama.cpp/vulkan'")
    strategy = clauses["as"].lower() if "as" in clauses else None
    return SystemWords(members, clauses.get("via"), strategy, engine.strip() or None, backend.strip() or None, text)


def _check_strategy(strategy: str | None, part: str, at: int, text: str) -> None:
    if strategy is None or strategy.lower() in SPLITS:
        return
    word = strategy.lower()
    from difflib import get_close_matches

    nearest = (OTHER_WORDS[word],) if word in OTHER_WORDS else tuple(get_close_matches(word, SPLITS, 2))
    where = at + part.rfind(strategy)
    raise _wrong(text, where, f"{strategy!r} is no strategy; there are {', '.join(SPLITS)}", nearest)


def _marks(part: str, at: int, text: str) -> list[tuple[int, int, str]]:
    """(start, end, word) of each '+', via, as, on outside brackets.

    A plus joins groups with a space on both sides or on neither ('Ryzen AI Max+ 395' is a name).
    """
    found, depth = [], 0
    for match in re.finditer(r"[()]|\+|(?<!\S)(?:via|as|on)(?!\S)", part, re.IGNORECASE):
        word = match.group().lower()
        if word in "()":
            depth += 1 if word == "(" else -1
            if depth < 0:
                raise _wrong(text, at + match.start(), "')' without '('")
        elif depth == 0 and (word != "+" or _joins(part, match.start())):
            found.append((match.start(), match.end(), word))
    if depth:
        raise _wrong(text, at + part.find("("), "'(' without ')'")
    return found


def _joins(part: str, at: int) -> bool:
    before, after = part[at - 1 : at], part[at + 1 : at + 2]
    if before.isspace() or not before or not after:
        return True
    return not after.isspace() and (not after.isdigit() or bool(_COUNT.match(part, at + 1)))


def _members(part: str, plusses: list[tuple[int, int, str]], at: int, text: str) -> Iterator[GroupWords | BoxWords]:
    start = 0
    for end, after, _ in [*plusses, (len(part), len(part), "")]:
        yield _member(part[start:end], at + start, text)
        start = after


def _member(piece: str, at: int, text: str) -> GroupWords | BoxWords:
    """One group: a count and a device, or a count and a system in brackets."""
    at += len(piece) - len(piece.lstrip())
    piece = piece.strip()
    match = _COUNT.match(piece)
    count = int(match.group(1)) if match else 1
    name = piece[match.end() :] if match else piece
    if not name or (not match and re.fullmatch(r"\d+\s*[x×]", piece, re.IGNORECASE)):
        raise _wrong(text, at, "a device is missing here")
    if not 1 <= count <= MOST_DEVICES:
        raise _wrong(text, at, f"{count} devices: the count must be between 1 and {MOST_DEVICES}")
    if minus := re.search(r"(?<!\S)-\d[^\s)]*", name):
        raise _wrong(text, at + (match.end() if match else 0) + minus.start(), f"{minus.group()!r}: nothing here can be negative")
    if name.startswith("(") and name.endswith(")"):
        offset = at + (match.end() if match else 0) + 1
        inside = _system(name[1:-1], offset, text)
        if inside.engine:
            raise _wrong(text, offset, "one engine runs the whole system: write 'on ENGINE' once, at the end")
        return BoxWords(count, inside, at)
    return GroupWords(count, name, at)


def spec(system: System) -> str:
    """The SYSTEM words of a system."""
    return system.words


def _runs(boxes: tuple[Box, ...]) -> list[tuple[Box, int]]:
    """Equal neighbouring boxes counted together."""
    runs: list[tuple[Box, int]] = []
    for box in boxes:
        if runs and runs[-1][0] == box:
            runs[-1] = (box, runs[-1][1] + 1)
        else:
            runs.append((box, 1))
    return runs


def _box_words(box: Box, count: int, single: bool) -> str:
    inside = " + ".join(_group_words(group) for group in box.groups)
    if single:
        return inside
    if box.count == 1 and box.strategy is None:
        return f"{count}x {inside}" if count > 1 else inside
    inside += f" via {box.link.id}" if box.link else ""
    inside += f" as {box.strategy}" if box.strategy else ""
    return f"{count}x ({inside})"


def _group_words(group: Group) -> str:
    count = f"{group.count}x " if group.count > 1 else ""
    sizes = group.device.memory_options_bytes
    memory = f" {group.memory_bytes / GIB:g}gb" if len(sizes) > 1 else ""
    return f"{count}{group.device.id}{memory}"
