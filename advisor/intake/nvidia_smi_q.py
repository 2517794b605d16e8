"""`nvidia-smi -q` as text and `-q -x` as XML: one record for each GPU, read by the path of its keys."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, known, number, size_bytes, uuid_of, whole
from advisor.intake.seen import Seen, View
from advisor.units import MIB

TOOL = "nvidia-smi -q"

_TAG = re.compile(r"<(/?)([A-Za-z_][\w.-]{0,80})([^<>]{0,400})>([^<]{0,2000})")
_GPU_LINE = re.compile(r"^\s{0,8}GPU\s+((?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s*$")
_PAIR = re.compile(r"^(\s*)([A-Z][^:]{0,60}?)\s*:\s*(.*)$")
_SECTION = re.compile(r"^(\s+)([A-Z][\w ().,/#-]{0,60})$")
MOST_DEPTH = 32

Facts = dict[str, str]


def recognise(page: Page) -> bool:
    """Whether it may be the log of `-q`, or its XML."""
    return page.has("<nvidia_smi_log", "<product_name>", "NVSMI LOG", "Product Name ", "FB Memory Usage", "<fb_memory_usage>")


def read(page: Page) -> tuple[View, ...]:
    """The devices, and how many the tool says are attached."""
    xml = "<gpu" in page.text or "<product_name>" in page.text
    head, gpus = _of_xml(page.text) if xml else _of_text(page.lines)
    driver = known(head.get("driver version"))
    devices = tuple(_device(place, facts, driver) for place, facts in enumerate(gpus))
    attached = whole(head.get("attached gpus"))
    return (View(tool=TOOL, devices=devices, attached=attached, os="windows" if _is_windows(gpus) else None),)


def _of_xml(text: str) -> tuple[Facts, list[Facts]]:
    """Facts by path, without an XML parser: no entity is ever expanded, and a cut file gives what it has."""
    head: Facts = {}
    gpus: list[Facts] = []
    path: list[str] = []
    for tag in _TAG.finditer(text):
        closing, name, attributes, value = tag.groups()
        name = name.lower()
        if closing:
            if name in path:
                del path[path.index(name) :]
            continue
        if attributes.endswith("/") or len(path) >= MOST_DEPTH:
            continue
        if name == "gpu" and "id=" in attributes:
            path = []
            gpus.append({"bus": attributes})
        path.append(name)
        _keep(
            gpus[-1] if gpus else head,
            " ".join(part.replace("_", " ") for part in path if part not in ("nvidia_smi_log", "gpu")),
            html.unescape(value),
        )
    return head, _unique(gpus)


def _of_text(lines: Iterable[str]) -> tuple[Facts, list[Facts]]:
    """Facts by the section they are indented under."""
    head: Facts = {}
    gpus: list[Facts] = []
    path: list[tuple[int, str]] = []
    for line in lines:
        gpu = _GPU_LINE.match(line)
        if gpu:
            path = []
            gpus.append({"bus": gpu.group(1)})
            continue
        pair = _PAIR.match(line)
        section = None if pair else _SECTION.match(line)
        found = pair or section
        if found is None:
            continue
        indent = len(found.group(1))
        path = [step for step in path if step[0] < indent][-MOST_DEPTH:]
        if section:
            path.append((indent, section.group(2).strip().lower()))
        elif pair:
            key = " ".join([*(name for _, name in path), pair.group(2).strip().lower()])
            _keep(gpus[-1] if gpus else head, key, pair.group(3))
    return head, _unique(gpus)


def _keep(facts: Facts, key: str, value: str) -> None:
    """The first value of a key stays, but MIG slices are numbered, for they repeat."""
    if len(facts) > 5000 or not value.strip():
        return
    if key.startswith(("mig devices mig device", "mig device")) and "memory" in key and key.endswith("total") and "bar1" not in key:
        key = f"slice {sum(known_key.startswith('slice ') for known_key in facts)}"
    facts.setdefault(key[:300], value.strip())


def _unique(gpus: list[Facts]) -> list[Facts]:
    """Each bus address once, as first printed."""
    found: dict[str, Facts] = {}
    for place, facts in enumerate(gpus[:1024]):
        found.setdefault(bus_of(facts.get("bus")) or f"row {place}", facts)
    return list(found.values())


def _first(facts: Mapping[str, str], *keys: str) -> str | None:
    """The first of several names for one thing that is there and known."""
    return next((value for value in (known(facts.get(key)) for key in keys) if value is not None), None)


def _device(place: int, facts: Facts, driver: str | None) -> Seen:
    """A GPU from its facts; text and XML name them nearly alike."""
    generation = _first(
        facts,
        "pci pci gpu link info pcie gen max link gen",
        "pci gpu link info pcie generation max",
        "pci pci gpu link info pcie gen current link gen",
        "pci gpu link info pcie generation current",
    )
    lanes = _first(
        facts,
        "pci pci gpu link info link widths current link width",
        "pci gpu link info link width current",
        "pci pci gpu link info link widths max link width",
        "pci gpu link info link width max",
    )
    power = _first(
        facts,
        "gpu power readings current power limit",
        "gpu power readings power limit",
        "power readings power limit",
        "power readings current power limit",
        "gpu power readings requested power limit",
        "power readings enforced power limit",
    )
    return Seen(
        name=_first(facts, "product name"),
        index=place,
        maker="nvidia",
        bus=bus_of(facts.get("bus")),
        driver=driver,
        uuid=uuid_of(_first(facts, "uuid", "gpu uuid")),
        pci_id=_pci_id(_first(facts, "pci pci device id", "pci device id")),
        memory_bytes=size_bytes(_first(facts, "fb memory usage total", "memory usage total"), MIB),
        free_bytes=size_bytes(_first(facts, "fb memory usage free", "memory usage free"), MIB),
        pcie_generation=whole(generation),
        pcie_lanes=whole(lanes),
        power_limit_w=number(power),
        mig_bytes=tuple(_slices(facts)),
        board=_board(facts),
        notes=_notes(facts),
    )


def _slices(facts: Facts) -> Iterator[float | None]:
    """Memory of the MIG slices."""
    for key, value in facts.items():
        if key.startswith("slice "):
            yield size_bytes(value, MIB)


def _pci_id(text: str | None) -> str | None:
    """`0x2B8510DE` (device, then vendor) as 10de:2b85."""
    found = re.search(r"(?:0x)?([0-9A-Fa-f]{4})(10DE)\b", text or "", re.IGNORECASE)
    return f"10de:{found.group(1)}".lower() if found else None


def _board(facts: Facts) -> str | None:
    """The board's id where the tool says that several GPUs sit on it."""
    return _first(facts, "board id") if (_first(facts, "multigpu board") or "").lower() == "yes" else None


def _notes(facts: Facts) -> tuple[str, ...]:
    """What the reader of the table should know."""
    on = (_first(facts, "mig mode current mig", "mig mode current") or "").lower() == "enabled"
    return ("MIG is on: the card is cut into slices",) if on else ()


def _is_windows(gpus: Iterable[Facts]) -> bool:
    """Whether a Windows driver model is named."""
    return any((_first(facts, "driver model current dm", "driver model current") or "") in ("WDDM", "TCC", "MCDM") for facts in gpus)
