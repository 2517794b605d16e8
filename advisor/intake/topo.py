"""Link matrices: `nvidia-smi topo -m` and `topo -p2p`, `rocm-smi --showtopo` (link types)."""

import re
from collections.abc import Sequence

from advisor.intake.page import Page
from advisor.intake.seen import Joint, View

TOOL = "topology"

_COLUMN = re.compile(r"^(?:GPU|NIC|mlx|ibp?|hfi|eth|roce|bnxt|efa|irdma|rdma)\w*\d*(?:_\d+)?$", re.IGNORECASE)
_GPU = re.compile(r"^GPU(\d{1,3})$")
_PATH = re.compile(r"^(?:NV\d+|PIX|PXB|PHB|NODE|SYS|SOC|XGMI|PCIE)$")
_PEER = re.compile(r"^(?:OK|CNS|GNS|TNS|NS|DR|U)$")
MOST_GPUS = 128


def recognise(page: Page) -> bool:
    """Whether a matrix with GPU columns and GPU rows may be there."""
    return page.has("GPU0", "GPU1")


def read(page: Page) -> tuple[View, ...]:
    """Links between GPUs by index. A matrix names no device: it counts them."""
    joints: dict[tuple[int, int, bool], Joint] = {}
    columns: list[str] = []
    gpus: set[int] = set()
    for line in page.lines:
        tokens = line.strip(" \t|>").split() if "GPU" in line else []
        header = _header(tokens)
        if header:
            columns = header
        elif columns and tokens and _GPU.match(tokens[0]):
            gpus.add(int(tokens[0][3:]))
            _row(tokens, columns, joints)
    return (View(tool=TOOL, links=tuple(joints.values()), attached=len(gpus) or None),)


def _header(tokens: Sequence[str]) -> list[str]:
    """The columns of a matrix, up to the affinities; empty if the line is no header."""
    columns: list[str] = []
    for token in tokens[: MOST_GPUS * 2]:
        if not _COLUMN.match(token):
            break
        columns.append(token)
    return (
        columns
        if columns and _GPU.match(columns[0]) and (len(columns) == len(tokens) or tokens[len(columns)] in ("CPU", "NUMA", "GPU"))
        else []
    )


def _row(tokens: Sequence[str], columns: Sequence[str], joints: dict[tuple[int, int, bool], Joint]) -> None:
    """The cells of one GPU's row that stand above the diagonal or repeat it below."""
    one = int(tokens[0][3:])
    for column, cell in zip(columns, tokens[1:], strict=False):
        found = _GPU.match(column)
        other = int(found.group(1)) if found else one
        if other == one:
            continue
        peer = bool(_PEER.match(cell))
        if peer or _PATH.match(cell):
            a, b = sorted((one, other))
            joints.setdefault((a, b, peer), Joint(a=a, b=b, kind=f"p2p-{cell}" if peer else cell))
