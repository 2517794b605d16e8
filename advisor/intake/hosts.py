"""Several machines in one paste, told apart by shell prompts, by Ansible's heads, or by the host's name before each line."""

import re
from collections.abc import Iterable

from advisor.intake.page import Page

_PROMPT = re.compile(
    r"^\s*\[?(?:\([\w .-]{1,30}\)\s*)?[A-Za-z_][\w.-]{0,31}@([A-Za-z0-9][\w-]{0,62})(?:[.\w-]*)(?::|\s)[^#$%>|]{0,80}[#$%>❯]"
)
_ANSIBLE = re.compile(r"^([\w.-]{1,64}) \| (?:CHANGED|SUCCESS|FAILED!?|UNREACHABLE!?)\s*(?:\||=>)")
_HEAD = re.compile(
    r"^\s*(?:[=#*-]{2,}|==>)\s*((?:node|host|gpu|server|box|rig|worker|machine|dgx|spark)[\w.-]*\d[\w.-]*)\s*:?\s*(?:[=#*-]{2,}|<==)?\s*$",
    re.IGNORECASE,
)
_LINE = re.compile(r"^([A-Za-z][\w.-]{0,62}\d[\w.-]{0,10}): ?(.*)$")
_CONTAINER = re.compile(r"^[0-9a-f]{12}$")


def machines(page: Page) -> tuple[Page, ...]:
    """The page of each machine in the order of their names; one page where one machine, or none, is named."""
    parts = _prefixed(page.lines) or _headed(page.lines)
    if len(parts) < 2:
        return (page,)
    return tuple(Page("\n".join(lines), f"{page.source} ({host})", page.left_out) for host, lines in parts.items())


def _headed(lines: Iterable[str]) -> dict[str, list[str]]:
    """Lines by the host of the last prompt or head before them; a container runs on the host it was started on."""
    found: dict[str, list[str]] = {}
    before: list[str] = []
    at: list[str] = before
    for line in lines:
        head = (_PROMPT.match(line) if "@" in line else None) or (_ANSIBLE.match(line) if " | " in line else None) or _HEAD.match(line)
        if head and not _CONTAINER.match(head.group(1)):
            at = found.setdefault(head.group(1).lower(), [])
        at.append(line)
    found = {host: inner for host, inner in found.items() if sum(bool(line.strip()) for line in inner) > 1}
    if found and len([line for line in before if line.strip()]) > 1:
        next(iter(found.values()))[:0] = before
    return found


def _prefixed(lines: Iterable[str]) -> dict[str, list[str]]:
    """`node1: line` of pdsh and clush, where every line has it."""
    found: dict[str, list[str]] = {}
    for line in lines:
        row = _LINE.match(line)
        if row is None or row.group(1).upper().startswith("GPU"):
            if line.strip():
                return {}
            continue
        found.setdefault(row.group(1), []).append(row.group(2))
    return found
