"""The header of a GGUF file – metadata and tensor infos – read from a memory map, never past its end.

Layout: ggml-org/ggml docs/gguf.md; type numbers and block sizes: the `gguf` package.
"""

import mmap
import struct
from pathlib import Path
from typing import Any

from advisor.errors import BadInput
from advisor.record import dataclass, field

MAGIC = b"GGUF"
MOST_PAIRS, MOST_TENSORS, MOST_DIMENSIONS = 65536, 1_000_000, 8
KEPT_ARRAY = 4096  # longer arrays (vocabularies) are only counted
LONGEST_KEY_BYTES = 65536
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


@dataclass(frozen=True)
class TensorInfo:
    """One tensor: name, dimensions (the row first), ggml type number."""

    name: str
    dimensions: tuple[int, ...]
    type_number: int

    @property
    def elements(self) -> int:
        """Numbers in it."""
        count = 1
        for each in self.dimensions:
            count *= each
        return count


@dataclass
class Header:
    """What a GGUF file says before its weights. `lengths`: of the arrays that are too long to keep."""

    fields: dict[str, Any] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    tensors: list[TensorInfo] = field(default_factory=list)


def read_header(file: Path) -> Header:
    """The header of one file."""
    if file.exists() and not file.is_file():
        raise BadInput(f"{file}: is no ordinary file")
    try:
        with file.open("rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            return _Cursor(memory, str(file)).header()
    except OSError as error:
        raise BadInput(f"{file}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # mmap of an empty file, text that is no UTF-8
        raise BadInput(f"{file}: is no GGUF file: {error}") from error


class _Cursor:
    """A place in the file that moves on with each thing read."""

    def __init__(self, memory: mmap.mmap, where: str) -> None:
        self.memory, self.where, self.at, self.order = memory, where, 0, "<"

    def fail(self, what: str) -> BadInput:
        return BadInput(f"{self.where}: {what} (at byte {self.at}); is the file whole?")

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.memory):
            raise self.fail("the header ends too early")
        found = self.memory[self.at : self.at + size]
        self.at += size
        return found

    def number(self, form: str) -> Any:
        return struct.unpack(self.order + form, self.take(struct.calcsize("=" + form)))[0]

    def text(self, most: int | None = None) -> str:
        size = self.number("Q")
        if most is not None and size > most:
            raise self.fail(f"a name of {size} bytes")
        return self.take(size).decode("utf-8", "replace")

    def header(self) -> Header:
        if self.take(4) != MAGIC:
            raise BadInput(f"{self.where}: is no GGUF file (it does not begin with GGUF)")
        version = self.number("I")
        if version & 0xFFFF == 0:
            self.order, version = ">", version >> 24
        if version not in (2, 3):
            raise BadInput(f"{self.where}: GGUF version {version} is not known (2 and 3 are); convert the model again")
        tensors, pairs = self.number("Q"), self.number("Q")
        if tensors > MOST_TENSORS or pairs > MOST_PAIRS:
            raise self.fail(f"{tensors} tensors and {pairs} pairs are more than any model has")
        found = Header()
        for _ in range(pairs):
            key = self.text(LONGEST_KEY_BYTES)
            self.value(self.number("I"), key, found)
        found.tensors = [self.tensor() for _ in range(tensors)]
        return found

    def value(self, kind: int, key: str, into: Header) -> None:
        if kind == STRING:
            into.fields[key] = self.text()
        elif kind == ARRAY:
            self.array(key, into)
        elif kind in SCALARS:
            into.fields[key] = self.number(SCALARS[kind])
        else:
            raise self.fail(f"{key}: value type {kind} is not known")

    def array(self, key: str, into: Header) -> None:
        kind, count = self.number("I"), self.number("Q")
        into.lengths[key] = count
        if kind == STRING:
            for _ in range(count):
                self.take(self.number("Q"))
        elif kind in SCALARS:
            size = struct.calcsize("=" + SCALARS[kind])
            raw = self.take(size * count)
            if count <= KEPT_ARRAY:
                into.fields[key] = list(struct.unpack(f"{self.order}{count}{SCALARS[kind]}", raw))
        else:
            raise self.fail(f"{key}: an array of type {kind} is not known")

    def tensor(self) -> TensorInfo:
        name, count = self.text(LONGEST_KEY_BYTES), self.number("I")
        if count > MOST_DIMENSIONS:
            raise self.fail(f"tensor {name!r} has {count} dimensions")
        dimensions = tuple(self.number("Q") for _ in range(count))
        kind = self.number("I")
        self.number("Q")  # where its data begins
        return TensorInfo(name, dimensions, kind)
