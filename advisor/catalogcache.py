"""The compiled copy of a catalog: one file, an index and the packed form of each record, so that a run reads what it needs.

YAML stays the only source. A copy belongs to the files it was made from (path, size, time of change) and is ignored when it
does not belong or is damaged; one that cannot be written is done without. Records are packed as Python packs its own compiled
modules (`marshal`), which lie beside it with the same rights: read in half the time of JSON.
"""

import marshal
import os
import sys
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from advisor import __version__
from advisor.catalogfolder import CatalogFile, Where
from advisor.correction import home, stated_or_home

if TYPE_CHECKING:
    from pathlib import Path

MAGIC = b"advisor-catalog-2"
PACKING = 2  # the form of marshal that every Python reads, and whose bytes depend on the values alone
LONGEST_FIRST_LINE = 80
MOST_COPIES = 64  # overlays come and go; the oldest copies are removed


class Compiled:
    """Plain records by kind and id, and tables about them; each is unpacked when asked for.

    `head` holds facts about the whole, and where each table lies in `body`. The table `index KIND` says where the records lie.
    """

    def __init__(self, head: dict[str, Any], body: bytes | memoryview) -> None:
        self.head = head
        self.body = body
        self._tables: dict[str, dict[str, Any]] = {}

    def _unpacked(self, start: int, end: int) -> dict[str, Any]:
        found: dict[str, Any] = marshal.loads(self.body[start:end])
        return found

    def table(self, name: str) -> dict[str, Any]:
        """A table of the copy; empty where there is none."""
        if name not in self._tables:
            span = self.head["tables"].get(name)
            self._tables[name] = self._unpacked(*span) if span else {}
        return self._tables[name]

    def index(self, kind: str) -> Mapping[str, list[int]]:
        """Where each record of a kind lies, by id."""
        return self.table(f"index {kind}")

    def plain(self, kind: str, record_id: str) -> dict[str, Any] | None:
        """A record as its file gives it, or None where there is no such record."""
        span = self.index(kind).get(record_id)
        return self._unpacked(*span) if span else None


def compiled(
    records: Mapping[str, Mapping[str, Any]], facts: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]] | None = None
) -> Compiled:
    """Records by kind and id, made ready to be written, with facts about the whole and tables about the records."""
    parts: list[bytes] = []
    at = 0

    def placed(thing: Any) -> list[int]:
        nonlocal at
        packed = marshal.dumps(_bare(thing), PACKING)
        parts.append(packed)
        at += len(packed)
        return [at - len(packed), at]

    found = dict(tables or {})
    for kind in records:
        found[f"index {kind}"] = {each: placed(records[kind][each]) for each in sorted(records[kind])}
    spans = {name: placed(table) for name, table in found.items() if table}
    return Compiled({**facts, "tables": spans}, b"".join(parts))


def _bare(thing: Any) -> Any:
    """Mappings that know the lines of their file, as plain ones."""
    if isinstance(thing, Mapping):
        return {key: _bare(value) for key, value in thing.items()}
    return [_bare(each) for each in thing] if isinstance(thing, list) else thing


def to_bytes(copy: Compiled) -> bytes:
    """The file: a line with lengths and a checksum, the head, the records."""
    head = marshal.dumps(copy.head, PACKING)
    rest = b"%s%s" % (head, copy.body)
    return b"%s %d %d %08x\n" % (MAGIC, len(head), len(rest), zlib.crc32(rest)) + rest


def from_bytes(raw: bytes) -> Compiled | None:
    """The copy in the file's bytes; None when it is damaged or of another make."""
    first = raw[:LONGEST_FIRST_LINE].partition(b"\n")[0]
    words = first.split(b" ")
    if len(words) != 4 or words[0] != MAGIC:
        return None
    rest = memoryview(raw)[len(first) + 1 :]  # megabytes, which a slice of bytes would copy
    try:
        head_length, length, checksum = int(words[1]), int(words[2]), int(words[3], 16)
        if len(rest) != length or zlib.crc32(rest) != checksum:
            return None
        return Compiled(marshal.loads(rest[:head_length]), rest[head_length:])
    except (ValueError, EOFError, TypeError):
        return None


def load(path: str, key: str) -> Compiled | None:
    """The copy at `path` if it is whole and belongs to `key`."""
    try:
        with open(path, "rb", buffering=0) as file:
            copy = from_bytes(file.read())
    except OSError:
        return None
    return copy if copy and copy.head.get("key") == key else None


def save(place: str, copy: Compiled) -> None:
    """Write the copy in one step, so that nobody sees half of it; silently not at all where the folder does not allow it."""
    from pathlib import Path

    path = Path(place)
    half = path.with_name(f"{path.name}.{os.getpid()}.new")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            half.write_bytes(to_bytes(copy))
            half.replace(path)
        finally:
            half.unlink(missing_ok=True)
        _prune(path.parent)


def _prune(folder: "Path") -> None:
    copies = sorted(folder.glob("*.catalog"), key=lambda each: each.stat().st_mtime, reverse=True)
    for old in copies[MOST_COPIES:]:
        old.unlink(missing_ok=True)


def place(roots: Iterable[Where]) -> str:
    """Where the copy of these catalog folders lies: one place for each stack of folders."""
    return os.path.join(cache_folder(), f"{_short(tuple(map(os.path.realpath, roots)))}.catalog")


def key_of(files: Iterable[CatalogFile], below: str = "") -> str:
    """What a copy belongs to: the files as they are now, the code that reads them, and the copy below it."""
    return _short((list(map(tuple, files)), below, _code_stamp()))


def packed_key(root: Where, files: Iterable[CatalogFile]) -> str:
    """What the copy in a wheel belongs to: the release and the names and sizes of the files; their times are the installer's."""
    folder = len(os.fspath(root)) + 1
    stamp = [(each.name[folder:].replace(os.sep, "/"), each.size) for each in files]
    return _short((__version__, stamp))


def _short(thing: Any) -> str:
    """A mark that differs when the thing does; against accidents, not against malice (hashlib takes 3 ms to import)."""
    packed = marshal.dumps(thing, PACKING)
    return f"{zlib.crc32(packed):08x}{zlib.adler32(packed):08x}{len(packed):x}"


def _code_stamp() -> list[tuple[str, int, int]]:
    """The package's modules: a record that gained a field reads its files anew."""
    with os.scandir(os.path.dirname(__file__)) as entries:
        modules = [each for each in entries if each.name.endswith(".py")]
    return sorted((each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in modules)


def cache_folder() -> str:
    """The user's cache folder for this program, by the rules of the system."""
    if sys.platform == "win32":
        return os.path.join(stated_or_home("LOCALAPPDATA", "AppData", "Local"), "advisor", "Cache")
    if sys.platform == "darwin":
        return os.path.join(home(), "Library", "Caches", "advisor")
    return os.path.join(stated_or_home("XDG_CACHE_HOME", ".cache"), "advisor")
