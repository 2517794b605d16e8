"""What is looked at of a large paste: its beginning, its end, and the surroundings of words that begin a tool's output."""

from collections.abc import Iterable

from advisor.record import dataclass
from advisor.units import KIB

MOST_READ_BYTES = int(576 * KIB)  # of one text; in a wide encoding as many signs
MOST_LINES = 12_000  # of one text
HEAD_BYTES, HEAD_LINES = int(384 * KIB), 8_000
TAIL_BYTES, TAIL_LINES = int(64 * KIB), 1_600
AROUND_BYTES, AROUND_LINES = int(16 * KIB), 300
BEFORE_BYTES = int(2 * KIB)
MOST_PLACES = 8  # so all pieces together stay below the two bounds

_LANDMARKS = (
    "NVIDIA-SMI", "<product_name>", "NVSMI LOG", "GPU 0: ", "\tGPU0\t", "VGA compatible",
    "AMD-SMI", "ROCm System Management", "Marketing Name",
    "SPDisplaysDataType", "Chipset Model", "inference compute", "MiB free", "ggml_vulkan: 0", "deviceName", "MemTotal", "Card name:",
    "AdapterRAM", "avg_ts", " t/s |", "eval time =", "eval rate:", "throughput (tok/s)", "S_TG t/s", "tokens-per-sec", "_throughput\"",
    "tokens/s", "buffer size =",
)  # fmt: skip


@dataclass(frozen=True)
class Cut:
    """Pieces of a text in their order, and how many bytes were left out between them."""

    pieces: tuple[bytes, ...]
    left_out: int


def cut(raw: bytes, encoding: str, width: int) -> Cut:
    """The pieces to look at. `width` = bytes of a sign: cuts fall between signs, where possible between lines."""
    line = "\n".encode(encoding)
    if len(raw) <= MOST_READ_BYTES * width and raw.count(line) <= MOST_LINES:
        return Cut((raw,), 0)
    spans = [(0, _end(raw, 0, HEAD_BYTES * width, HEAD_LINES, line))]
    tail = _start(raw, TAIL_BYTES * width, TAIL_LINES, line)
    places = sorted(at for at in _places(raw, spans[0][1], encoding, width) if at < tail)
    spans += [_around(raw, at, line, width) for at in places[:MOST_PLACES]]
    pieces = tuple(raw[start:end] for start, end in _merged([*spans, (tail, len(raw))]))
    return Cut(pieces, len(raw) - sum(map(len, pieces)))


def _places(raw: bytes, start: int, encoding: str, width: int) -> Iterable[int]:
    """Where each landmark first stands behind the head."""
    for word in _LANDMARKS if width == 1 else ():  # a search for signs of two bytes takes too long
        at = raw.find(word.encode(encoding), start)
        if at >= 0:
            yield at


def _around(raw: bytes, at: int, line: bytes, width: int) -> tuple[int, int]:
    """The surroundings of a landmark: from the beginning of a line a little before it."""
    begin = max(0, at - BEFORE_BYTES * width)
    near = raw.find(line, begin, at)
    while near >= 0 and near % width:
        near = raw.find(line, near + 1, at)
    start = near + len(line) if near >= 0 else begin
    return start, _end(raw, start, AROUND_BYTES * width, AROUND_LINES, line)


def _end(raw: bytes, start: int, most_bytes: int, most_lines: int, line: bytes) -> int:
    """Where so many bytes or lines from the start end, at a line's end where there is one."""
    lines = raw[start : start + most_bytes].split(line, most_lines)
    if len(lines) > most_lines:
        return start + sum(map(len, lines[:most_lines])) + len(line) * most_lines
    if start + most_bytes >= len(raw):
        return len(raw)
    rest = len(lines[-1]) if len(lines) > 1 else 0
    return _whole_sign(start + most_bytes - rest, len(line))


def _start(raw: bytes, most_bytes: int, most_lines: int, line: bytes) -> int:
    """Where the last so many bytes or lines begin."""
    begin = _whole_sign(max(0, len(raw) - most_bytes), len(line))
    lines = raw[begin:].rsplit(line, most_lines)
    first = lines[0] if len(lines) > most_lines else lines[0] if len(lines) > 1 else b""
    return min(len(raw), begin + len(first) + (len(line) if first else 0))


def _whole_sign(at: int, width: int) -> int:
    """A place between two signs."""
    return at - at % width


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in their order, overlapping ones made one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
