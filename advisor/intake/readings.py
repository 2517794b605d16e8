"""Small readings that every tool's output needs: sizes, bus addresses, names, what stands for "unknown"."""

import re

from advisor.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB

_UNITS = {
    "b": 1.0,
    "byte": 1.0,
    "bytes": 1.0,
    "kib": KIB,
    "ki": KIB,
    "k": KIB,
    "kb": KIB,
    "mib": MIB,
    "mi": MIB,
    "m": MIB,
    "mb": MIB,
    "gib": GIB,
    "gi": GIB,
    "g": GIB,
    "gb": GIB,
    "ko": KIB,
    "mo": MIB,
    "go": GIB,
    "to": TIB,
    "кб": KIB,
    "мб": MIB,
    "гб": GIB,
    "тб": TIB,
    "tib": TIB,
    "ti": TIB,
    "t": TIB,
    "tb": TIB,
}
DECIMAL_UNITS = {"kb": KB, "mb": MB, "gb": GB, "tb": TB}
SIZE = re.compile(r"(\d+(?:[.,]\d+)?)\s*([KMGT](?:i?B?|o)|[КМГТ]Б|B|bytes?)\b", re.IGNORECASE)
_BUS = re.compile(r"\b(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])\b", re.IGNORECASE)
_UNKNOWN = re.compile(r"^\s*(?:\[.*\]|n/?a|err!?|unknown.*|not supported|none|null|-+|unsupported|<.*>|\?*)\s*$", re.IGNORECASE)
_UUID = re.compile(r"\bGPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)


def number(text: object) -> float | None:
    """The first plain number of a text, or None."""
    if isinstance(text, bool) or text is None:
        return None
    if isinstance(text, int | float):
        return float(text) if abs(text) < 1e30 else None
    found = re.search(r"-?\d{1,30}(?:\.\d{1,12})?", str(text)[:200])
    return float(found.group()) if found else None


def written_number(text: object) -> float | None:
    """The first number of a text that a person's locale may have written: 45,6 is 45.6 and 1,234.5 is 1234.5."""
    words = re.sub(r"(?<=\d),(?=\d{3}(?:\D|$))", "", str(text)[:200])
    return number(re.sub(r"(?<=\d),(?=\d{1,2}(?:\D|$))", ".", words)) if text is not None else None


def whole(text: object) -> int | None:
    """The first whole number of a text, or None."""
    found = number(text)
    return int(found) if found is not None else None


def size_bytes(text: object, bare: float | None = None, *, decimal: bool = False) -> float | None:
    """Bytes of `24576 MiB`, `24 GB` (binary in all these tools unless `decimal`), or of a bare number times `bare`."""
    if unknown(text):
        return None
    words = str(text)[:200]
    found = SIZE.search(words)
    if found:
        unit = found.group(2).lower()
        factor = DECIMAL_UNITS.get(unit, _UNITS[unit]) if decimal else _UNITS[unit]
        return _positive(float(found.group(1).replace(",", ".")) * factor)
    plain = number(words)
    return _positive(plain * bare) if plain is not None and bare is not None else None


def _positive(value: float) -> float | None:
    """Nothing measured is never zero memory: it is unknown."""
    return value if 0 < value < 1e16 else None


def unknown(text: object) -> bool:
    """Whether this is a tool's way to say that it does not know: N/A, ERR!, [Unknown Error], Not Supported, nothing."""
    return text is None or bool(_UNKNOWN.match(str(text)[:200]))


def known(text: object) -> str | None:
    """The text without blanks around it, or None where it says unknown."""
    return None if unknown(text) else " ".join(str(text)[:200].split())


def bus_of(text: object) -> str | None:
    """A PCI address in one form: 0000:01:00.0."""
    found = _BUS.search(str(text)[:200]) if text is not None else None
    if not found:
        return None
    domain = int(found.group(1) or "0", 16)
    return f"{domain:04x}:{found.group(2)}:{found.group(3)}.{found.group(4)}".lower()


def uuid_of(text: object) -> str | None:
    """A GPU's UUID, unless it was blanked before it was pasted."""
    found = _UUID.search(str(text)[:300]) if text is not None else None
    if not found or set(found.group()[4:]) <= {"0", "-"}:
        return None
    return found.group().lower()


def pcie_generation(gt_per_s: object) -> int | None:
    """The PCIe generation of a transfer rate in GT/s [PCI-SIG: 2.5 5 8 16 32 64]."""
    rates = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
    rate = number(gt_per_s)
    return rates.get(rate) if rate is not None else None


def maker_of(name: str | None) -> str | None:
    """The maker that a printed name betrays."""
    if not name:
        return None
    for maker, pattern in _MAKERS:
        if pattern.search(name):
            return maker
    return None


_MAKERS = (
    ("apple", re.compile(r"\bapple\b", re.IGNORECASE)),
    (
        "nvidia",
        re.compile(
            r"nvidia|geforce|\bquadro|\btesla\b|\brtx\b|\bgtx\b|\btitan\b|\bjetson\b|^(?:GB10|GH200|GB[23]00|[ABHL]\d{1,3}S?)\b",
            re.IGNORECASE,
        ),
    ),
    ("intel", re.compile(r"\bintel\b|\barc\b|\biris\b|\bu?hd graphics\b", re.IGNORECASE)),
    ("amd", re.compile(r"\bamd\b|radeon|instinct|\bati\b|firepro|\bryzen\b|\bvega\b|\bnavi\b|\bMI\d{2,3}[AX]?\b|\bgfx\d", re.IGNORECASE)),
)
