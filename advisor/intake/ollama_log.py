"""The server log of ollama: `msg="inference compute"` lines of every version, and the older CUDA lines."""

import re
from collections.abc import Iterator

from advisor.intake.page import Page
from advisor.intake.readings import bus_of, known, maker_of, size_bytes, uuid_of
from advisor.intake.seen import Seen, View

TOOL = "ollama log"

_COMPUTE = re.compile(r"inference compute|dropping integrated GPU|filtering device")
_WORD = re.compile(r"([a-z_]+)=(?:\"((?:[^\"\\]|\\.)*)\"|(\S*))")
_PCI = re.compile(r"^[0-9a-fA-F]{4}:[0-9a-fA-F]{4}$")
_CUDA = re.compile(r"\[(\d+)\] CUDA (device name|totalMem|usedMem):?\s+(.+)$")


def recognise(page: Page) -> bool:
    """Whether such a line is there."""
    return "inference compute" in page.text or "dropping integrated GPU" in page.text or "CUDA device name:" in page.text


def read(page: Page) -> tuple[View, ...]:
    """Devices by library; a server that restarted prints each again."""
    found: dict[tuple[str | None, ...], Seen] = {}
    for words in _words(page):
        if words.get("library", "").lower() == "cpu" or words.get("id") == "cpu":
            continue
        seen = _device(words)
        if seen.name or seen.memory_bytes:
            found.setdefault(
                (
                    words.get("id") if words.get("id", "").startswith("GPU-") else words.get("name"),
                    seen.name,
                    seen.bus,
                    words.get("library"),
                ),
                seen,
            )
    old = _old(page)
    return (View(tool=TOOL, devices=tuple(found.values()) + old),)


def _words(page: Page) -> Iterator[dict[str, str]]:
    """The key=value words of each line."""
    for line in page.lines:
        if _COMPUTE.search(line):
            yield {key: quoted or bare for key, quoted, bare in _WORD.findall(line[:4000])}


def _device(words: dict[str, str]) -> Seen:
    """A device; the printed `type` is not believed, since drivers give it wrongly."""
    name = known(words.get("description")) or known(words.get("name"))
    return Seen(
        name=name,
        maker=maker_of(name) or {"cuda": "nvidia", "rocm": "amd", "metal": "apple"}.get(words.get("library", "").lower()),
        bus=bus_of(words.get("pci_id")),
        pci_id=name.lower() if name and _PCI.match(name) else None,
        uuid=uuid_of(words.get("id")),
        memory_bytes=size_bytes(words.get("total")),
        free_bytes=size_bytes(words.get("available")),
        chip=words.get("compute") if words.get("compute", "").startswith("gfx") else None,
    )


def _old(page: Page) -> tuple[Seen, ...]:
    """Lines of the 2024 versions: `[0] CUDA device name: …`, `[0] CUDA totalMem …`."""
    found: dict[int, dict[str, str]] = {}
    for line in page.lines:
        row = _CUDA.search(line)
        if row and len(found) < 256:
            found.setdefault(int(row.group(1)), {})[row.group(2)] = row.group(3)
    return tuple(
        Seen(name=known(facts.get("device name")), index=index, maker="nvidia", memory_bytes=size_bytes(facts.get("totalMem"), 1.0))
        for index, facts in sorted(found.items())
    )
