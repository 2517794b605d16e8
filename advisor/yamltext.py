"""YAML text into plain mappings that remember their lines; what YAML would quietly misread is refused. Knows no records."""

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from advisor.errors import BadInput

MOST_BYTES = 4_000_000
MOST_DEPTH = 24
MOST_LEVELS = 500  # of nodes in nodes that are read at all, before anything is made of them
UNSAFE = re.compile(  # control characters, and those that hide text or turn its direction
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff\U000e0000-\U000e0fff]"
)
WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]{0,30})")
DECIMAL = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]{1,3})?")


class Problem(NamedTuple):
    """One thing wrong in a catalog file, printed as `file:line: key: message`; the key of what concerns the whole file is `file`."""

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key or 'file'}: {self.message}"


class Lined(dict[str, Any]):
    """A mapping that remembers the line it starts on and the line each key was written on."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class Trap(NamedTuple):
    """A scalar that YAML reads as something its writer hardly meant."""

    text: str
    advice: str


def read(path: Path, label: str) -> tuple[Any, list[Problem]]:
    """The tree of one file and its problems of form. `label` is the file's name in messages."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise BadInput(f"{label}: cannot be read: it is no file")
        with path.open("rb") as stream:
            raw = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{label}: cannot be read: {error.strerror or error}") from None
    return parse(raw, label)


def parse(raw: bytes, label: str) -> tuple[Any, list[Problem]]:
    """The tree of one YAML text and its problems of form: syntax, keys written twice, anchors, depth, odd characters."""
    if len(raw) > MOST_BYTES:
        return None, [Problem(label, 1, "", f"larger than {MOST_BYTES // 1_000_000} MB")]
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        return None, [Problem(label, raw.count(b"\n", 0, error.start) + 1, "", "not UTF-8 text")]
    found = UNSAFE.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        return None, [Problem(label, line, "", f"holds the control character U+{ord(found[0]):04X}")]
    return _load(text, label)


def _load(text: str, label: str) -> tuple[Any, list[Problem]]:
    import yaml

    loader = _loader_class()(text)
    loader.label = label
    loader.problems = []
    loader.seen = set()
    loader.depth = loader.level = 0
    try:
        tree = loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        return None, [*loader.problems, Problem(label, line, "", str(error.problem or error.context))]
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        return None, [*loader.problems, Problem(label, 1, "", str(error).splitlines()[0])]
    finally:
        loader.dispose()
    return tree, loader.problems


@cache
def _loader_class() -> Any:
    """CSafeLoader (six times faster than SafeLoader) with lined mappings and strict scalars."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    ours: dict[str | None, Any] = {f"tag:yaml.org,2002:{tag}": construct for tag, construct in CONSTRUCTORS.items()}
    kept: dict[str | None, Any] = {tag: base.yaml_constructors[tag] for tag in ("tag:yaml.org,2002:null", None)}
    levels = {"descend_resolver": _descend, "ascend_resolver": _ascend}
    return type("LinedLoader", (base,), {"yaml_constructors": {**kept, **ours}, **levels})


def _descend(loader: Any, *_: Any) -> None:
    """Called for every node before what is in it: PyYAML 6.0.1 goes on until the stack is full, and takes the process with it."""
    import yaml

    loader.level += 1
    if loader.level > MOST_LEVELS:
        raise yaml.MarkedYAMLError(problem="exceeded maximum nesting depth")


def _ascend(loader: Any) -> None:
    loader.level -= 1


def _complain(loader: Any, node: Any, key: str, message: str) -> None:
    loader.problems.append(Problem(loader.label, node.start_mark.line + 1, key, message))


def _child(loader: Any, node: Any, key: str, at: Any) -> Any:
    """A child's value, which stands at the node `at`; refuses a node met before (an alias) and nesting beyond reason."""
    if id(node) in loader.seen:
        _complain(loader, at, key, "anchors and aliases (& and *) are not supported: write the value out")
        return None
    loader.seen.add(id(node))
    if loader.depth >= MOST_DEPTH:
        _complain(loader, node, key, f"nested more than {MOST_DEPTH} deep")
        return None
    loader.depth += 1
    value = loader.construct_object(node, deep=True)
    loader.depth -= 1
    return value


def _mapping(loader: Any, node: Any) -> Lined:
    lined = Lined(node.start_mark.line + 1)
    for key_node, value_node in node.value:
        key = _key(loader, key_node)
        if key is None:
            continue
        if key in lined:
            _complain(loader, key_node, key, f"written twice (first on line {lined.lines[key]})")
            continue
        lined.lines[key] = key_node.start_mark.line + 1
        lined[key] = _child(loader, value_node, key, key_node)
    return lined


def _key(loader: Any, node: Any) -> str | None:
    """A key as text: numbers and words like `on` are taken as they are written, for keys are never computed with."""
    if node.tag == "tag:yaml.org,2002:merge":
        _complain(loader, node, "<<", "merge keys are not supported: write the keys out")
        return None
    if not isinstance(node.value, str):
        _complain(loader, node, "", "a key must be a word")
        return None
    if UNSAFE.search(node.value) or "\n" in node.value:
        _complain(loader, node, "", f"the key {ascii(node.value)} holds a control character")
        return None
    return str(node.value)


def _sequence(loader: Any, node: Any) -> list[Any]:
    return [_child(loader, child, "", node) for child in node.value]


def _text(loader: Any, node: Any) -> str:
    found = UNSAFE.search(node.value)
    if found:
        _complain(loader, node, "", f"holds the control character U+{ord(found[0]):04X}")
        return ""
    return str(node.value)


def _whole(_: Any, node: Any) -> int | Trap:
    if WHOLE.fullmatch(node.value):
        return int(node.value)
    return Trap(node.value, "write a whole number in plain digits, or put the text in quotes")


def _decimal(_: Any, node: Any) -> float | Trap:
    if DECIMAL.fullmatch(node.value):
        return float(node.value)
    return Trap(node.value, "write a finite number in plain digits, or put the text in quotes")


def _truth(_: Any, node: Any) -> bool | Trap:
    word = node.value.lower()
    if word in ("true", "false"):
        return bool(word == "true")
    return Trap(node.value, "write true or false, or put the text in quotes")


CONSTRUCTORS: dict[str, Any] = {
    "map": _mapping,
    "seq": _sequence,
    "str": _text,
    "int": _whole,
    "float": _decimal,
    "bool": _truth,
    "timestamp": _text,
}
