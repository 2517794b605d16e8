"""README and docs tell the truth: every console block is run and compared, every Python example runs, every table is current."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import pages  # noqa: E402

PYTHON = re.compile(r"(?ms)^```python\n(.*?)^```$")
CASES = [
    pytest.param(command, printed, id=f"{page.stem}: {command[:60]}")
    for page in pages.PAGES
    for block in pages.BLOCK.findall(page.read_text(encoding="utf-8"))
    for command, printed in pages.commands(block)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the commands' own user folders and the `advisor` on their path stand."""
    return tmp_path_factory.mktemp("pages")


@pytest.mark.parametrize(("command", "printed"), CASES)
def test_the_page_shows_what_the_command_prints(command, printed, folder):
    missing = pages.missing_tool(command)
    if missing:
        pytest.skip(f"{missing} is not installed")
    now = pages.lines_of(pages.run(command, folder))
    shown = pages.lines_of("\n".join(printed))
    assert shown, "run `python tools/pages.py --write`"
    if shown[-1] == pages.REST:
        shown, now = shown[:-1], now[: len(shown) - 1]
    assert as_of_any_jq(command, now) == as_of_any_jq(command, shown), "run `python tools/pages.py --write`"


def as_of_any_jq(command, lines):
    """jq prints a number as JSON has it (875.0) from version 1.7 on, and as 875 before."""
    return [re.sub(r"(\d)\.0\b", r"\1", line) for line in lines] if "| jq" in command else lines


def test_tables_are_current():
    made = pages.tables()
    for page in pages.PAGES:
        for _, name, table, _ in pages.TABLE.findall(page.read_text(encoding="utf-8")):
            assert table == made[name], f"{page.name}: run `python tools/pages.py --write`"


@pytest.mark.parametrize("name", ["python.md", "sweeps.md"])
def test_python_examples_run(name):
    shared: dict = {}
    for example in PYTHON.findall((ROOT / "docs" / name).read_text(encoding="utf-8")):
        if example.startswith("# dask"):
            pytest.importorskip("dask.bag")
        exec(compile(example, name, "exec"), shared)


def test_every_link_of_the_pages_leads_somewhere():
    for page in (*pages.PAGES, ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_pages_name_only_commands_and_options_that_exist():
    import click

    from advisor.cli import COMMANDS, group

    context = click.Context(group)
    for page in pages.PAGES:
        for command, rest in re.findall(r"advisor ([a-z]+)([^`\n|]*)", page.read_text(encoding="utf-8")):
            if command not in COMMANDS:
                continue
            found = group.get_command(context, command)
            assert found is not None
            known = {option for parameter in found.params for option in parameter.opts} | {"--help"}
            assert set(re.findall(r"(?<!\S)--[a-z][a-z-]*", rest)) <= known, f"{page.name}: advisor {command}{rest}"


def test_public_names_have_types():
    tree = ast.parse((ROOT / "advisor" / "__init__.py").read_text(encoding="utf-8"))
    names = {alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert {"Catalog", "estimate", "recommend"} <= names
    assert (ROOT / "advisor" / "py.typed").exists()
