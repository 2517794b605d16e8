"""`nvidia-smi -L` and `nvidia-smi nvlink -s`: names, MIG slices, and the NVLinks that are up."""

import re

from advisor.intake.page import Page
from advisor.intake.readings import known, number, uuid_of
from advisor.intake.seen import Joint, Seen, View
from advisor.record import dataclass, field, replace
from advisor.units import GIB

TOOL = "nvidia-smi -L"

_GPU = re.compile(r"^[\s>]*GPU\s+(\d{1,3}(?:,\d{1,3}){0,63}):\s+(.*?)\s*(?:\((?:UUID:\s*)?(\S+?)\)?\s*)?$")
_MIG = re.compile(r"^[\s>]*MIG\s+(?:\d+c\.)?(\d+)g\.(\d+)gb\S*\s+Device\s+(\d+)")
_LINK = re.compile(r"^[\s>]*Link\s+(\d+):\s*(?:([\d.]+)\s*GB/s|<?inactive>?)", re.IGNORECASE)
_NO_LINKS = re.compile(r"all links are inactive", re.IGNORECASE)
_SWITCH_LINKS = 6  # cards of a pair have at most four links up (GeForce, RTX A) or twelve (A100 PCIe, three bridges of four)


@dataclass
class _Row:
    """A GPU's lines while they are read."""

    seen: Seen
    links: int = 0
    asked: bool = False
    slices: list[float | None] = field(default_factory=list)


def recognise(page: Page) -> bool:
    """Whether a line of `-L` may be there."""
    return page.has("GPU ")


def _is_gpu(line: str) -> re.Match[str] | None:
    """A line `GPU 0: name (UUID: …)`; without the UUID the name must be a maker's."""
    found = _GPU.match(line) if "GPU" in line else None
    if not found or not found.group(2) or line.endswith("]"):  # fastfetch's [Discrete]
        return None
    return (
        found
        if "UUID" in line or re.match(r"(?:NVIDIA|GeForce|Tesla|Quadro|TITAN|RTX|GRID|A\d|H\d|L\d|B\d|GB\d)", found.group(2))
        else None
    )


def read(page: Page) -> tuple[View, ...]:
    """Devices with their slices, and links where they can only go one way."""
    rows: dict[int, _Row] = {}
    at: _Row | None = None
    for line in page.lines:
        gpu = _is_gpu(line)
        if gpu:
            for index in map(int, gpu.group(1).split(",")):  # SGLang's check_env joins equal ones: `GPU 0,1,2,3: NVIDIA H200`
                at = rows.setdefault(index, _Row(Seen(name=known(gpu.group(2)), index=index, maker="nvidia", uuid=uuid_of(line))))
                at.links, at.slices = 0, []
        elif at is not None:
            _under(at, line)
    devices = tuple(replace(row.seen, mig_bytes=tuple(row.slices), notes=_notes(row)) for row in rows.values())
    joints, warnings = _joints(rows)
    return (View(tool=TOOL, devices=devices, links=joints, warnings=warnings),)


def _under(row: _Row, line: str) -> None:
    """A line below a GPU: a slice or a link."""
    mig, link = _MIG.match(line), _LINK.match(line)
    if mig:
        row.slices.append(float(mig.group(2)) * GIB)
    elif link:
        row.asked = True
        row.links += bool(link.group(2) and number(link.group(2)))
    elif _NO_LINKS.search(line):
        row.asked = True


def _notes(row: _Row) -> tuple[str, ...]:
    """Links that are wired but not up."""
    if row.asked and not row.links:
        return ("no NVLink is up on this card",)
    return ("MIG is on: the card is cut into slices",) if row.slices else ()


def _joints(rows: dict[int, _Row]) -> tuple[tuple[Joint, ...], tuple[str, ...]]:
    """Two cards with links up can only be joined to each other; more than two of a board with many links share a switch."""
    up = sorted((index, row.links) for index, row in rows.items() if row.links)
    counts = {links for _, links in up}
    if len(up) < 2 or len(counts) != 1:
        return (), ()
    count = counts.pop()
    if len(up) > 2 and count < _SWITCH_LINKS:
        return (), ("Which cards the NVLinks join is not in `nvlink -s`: give `nvidia-smi topo -m` too.",)
    pairs = [(a, b) for place, (a, _) in enumerate(up) for b, _ in up[place + 1 :]]
    return tuple(Joint(a=a, b=b, kind=f"NV{count}") for a, b in pairs), ()
