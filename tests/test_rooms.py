"""The house: imports point one way, powers of ten live in one room, numbers carry units, functions stay short."""

import ast
import dataclasses
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "advisor"
MODULES = sorted(PACKAGE.rglob("*.py"))

# A module imports only from rooms of its own line or above.
ROOMS = (
    ("record", "latemethods", "standin", "units"),
    ("reason",),
    ("errors",),
    ("words", "names", "safewrite", "jsontext"),
    ("yamltext", "yamlfile", "yamlcheck", "yamlwrite"),
    ("price", "money", "choices", "hints", "integrated", "tensor", "mixer", "feedforward"),
    ("device", "link", "model", "quant", "engine", "host", "hostrate", "measurement", "platforms"),
    ("system", "need"),
    ("weights", "cache"),
    ("placement",),
    ("step", "served", "calibration", "correction"),
    ("collective",),
    ("buffers",),
    ("rooms", "memory", "evidence", "pace"),
    ("why", "around", "commands", "against"),
    ("plan", "timed"),
    ("speed",),
    ("refusals", "runs"),
    ("tables", "catalogfiles", "catalogfolder", "catalogcompile", "catalogcache", "catalogstack", "layered", "catalogschema", "lookup"),
    ("bounds", "sanity_joins", "sanity", "plausible", "catalogcheck", "catalog"),
    ("joined",),
    ("bind",),
    ("offload_short", "dealing"),
    ("ways",),
    ("relaid",),
    ("choose",),
    ("repeated", "scale", "accuracy"),
    ("prices", "supply", "billed", "airflow"),
    ("memorykit",),
    ("market",),
    ("where",),
    ("browse", "drafts", "draftnotes"),
    ("advice",),
    ("intake",),
    ("request",),
    ("wishes",),
    ("asked", "told_facts"),
    ("asked_ram",),
    ("told",),
    ("answers",),
    ("report",),
    ("cli",),
)
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
PHYSICS = (
    "placement",
    "buffers",
    "rooms",
    "memory",
    "step",
    "served",
    "plan",
    "timed",
    "speed",
    "weights",
    "cache",
    "collective",
    "calibration",
)


def room_of(path: Path) -> str:
    """The first name below the package."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The rooms that a module imports when it is loaded or run; imports for type checkers alone do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    assert room in LEVEL, f"{room}: give it a place in ROOMS"
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "advisor" and len(parts) > 1 and parts[1] in LEVEL:
            assert LEVEL[parts[1]] <= LEVEL[room], f"{path.name} imports {name}"


@pytest.mark.parametrize("path", [p for p in MODULES if room_of(p) in PHYSICS], ids=lambda path: path.name)
def test_physics_knows_no_files_and_no_flags(path):
    for name in imported(path):
        assert name.split(".")[0] not in ("yaml", "click", "tabulate")
        assert not name.startswith(("advisor.catalog.", "advisor.cli", "advisor.report", "advisor.market"))


@pytest.mark.parametrize("path", [p for p in MODULES if room_of(p) != "units"], ids=lambda path: str(path.relative_to(PACKAGE)))
def test_powers_of_ten_and_two_live_in_units(path):
    """A unit's factor is written once; what is not a unit (a limit, a count) has a name of its own."""
    code = "\n".join(line.split("#")[0] for line in path.read_text(encoding="utf-8").splitlines())
    tree = ast.parse(path.read_text(encoding="utf-8"))
    factors = {1000, 1024, 10**6, 10**9, 10**12, 1024**2, 1024**3, 1e-3, 1e-6, 1e-9}
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
            for side in (node.left, node.right):
                value = getattr(side, "value", None) if isinstance(side, ast.Constant) else None
                assert value not in factors or isinstance(value, bool), f"{path.name}:{node.lineno}: {ast.unparse(node)}"
    without_limits = re.sub(r"^[A-Z_]+ = .*$", "", code, flags=re.M)
    assert not re.search(r"\b1024\s*\*\*|\b10\s*\*\*\s*(?:-?[369]|12)\b(?!\s*$)", without_limits), path.name


def functions(path: Path) -> list[ast.FunctionDef]:
    """Every function of a module."""
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)]


def test_functions_stay_short():
    lengths = {f"{path.name}:{each.name}": (each.end_lineno or 0) - each.lineno + 1 for path in MODULES for each in functions(path)}
    long = {name: length for name, length in lengths.items() if length > 50}
    assert not long
    assert sum(length <= 25 for length in lengths.values()) >= 0.9 * len(lengths)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_stay_readable(path):
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 420, f"{lines} lines: split it by nouns"
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), "a module says what it is"


def suffixes() -> tuple[list[str], list[str]]:
    """The unit suffixes and the nouns of pure numbers, as the table at the end of the README lists them."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text[text.index("## Nomenclature") :]
    names = [name for row in re.findall(r"^\| (`[^|]*) \|", table, re.M) for name in re.findall(r"`([a-z0-9_]+)`", row)]
    units = [name for name in names if name.startswith("_")]
    nouns = [name for name in names if not name.startswith("_")]
    return units, nouns


def numeric_fields() -> list[tuple[str, str]]:
    """(class, field) of every number in the records and results."""
    found = []
    for path in MODULES:
        room = room_of(path)
        if room in ("cli", "report", "intake", "__init__", "__main__"):  # what a tool's output says keeps the tool's words
            continue
        name = ".".join(("advisor", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        module = importlib.import_module(name)
        for thing in vars(module).values():
            if isinstance(thing, type) and dataclasses.is_dataclass(thing) and thing.__module__ == name and thing.__name__[0] != "_":
                found += [
                    (thing.__name__, field.name)
                    for field in dataclasses.fields(thing)
                    if re.fullmatch(r"(float|int)( \| None)?", str(getattr(field.type, "__name__", field.type)).replace("builtins.", ""))
                ]
    return found


def test_numbers_carry_their_unit():
    units, nouns = suffixes()
    wrong = [f"{owner}.{name}" for owner, name in numeric_fields() if not name.endswith(tuple(units)) and name not in nouns]
    assert not wrong, f"no unit suffix and not in the README's nomenclature: {wrong}"


REASON = re.compile(r"""Reason\(\s*f?["']([a-z][a-z0-9-]*\.[a-z0-9.-]+)["']""")


def test_every_reason_has_a_sentence():
    from advisor.report.sentences import SENTENCES

    used = {code for path in MODULES for code in REASON.findall(path.read_text(encoding="utf-8"))}
    assert used
    assert not used - set(SENTENCES), "write their sentences in advisor/report/sentences.py"


def product_files() -> list[Path]:
    """Every text file that people get."""
    kept = [*ROOT.glob("*.md"), *ROOT.glob("*.toml"), ROOT / ".ci" / "run"]
    for folder in ("advisor", "catalog", "docs", "tests", "tools"):
        kept += [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md", ".yaml", ".txt", ".sh") and path.is_file()]
    return [path for path in kept if path.is_file() and "__pycache__" not in path.parts]


def test_nothing_names_private_places():
    """The project stands for itself: no folder beside it, nobody's own folder, no mirror of a package index."""
    beside = r"(?<![\w./])\.\./[a-z]\w+"  # pages link upwards within the project only
    own = r"(?<![\w.\"'])/(?:home|root|srv|work|mnt|opt(?!/(?:rocm|homebrew)))/\w+"
    mirror = r"--(?:extra-)?index-" + r"url|PIP_(?:EXTRA_)?INDEX"
    private = re.compile("|".join((beside, own, mirror)))
    found = {path.name: private.findall(path.read_text(encoding="utf-8", errors="replace")) for path in product_files()}
    assert not {name: places for name, places in found.items() if places}
