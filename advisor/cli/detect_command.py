"""`advisor detect`: what hardware is this?"""

from pathlib import Path

import click

from advisor.cli.options import form_options

_FORMS = (
    "Give the output of nvidia-smi, rocm-smi, amd-smi, lspci -nn, system_profiler, vulkaninfo, clinfo, dxdiag, "
    "or a log of llama.cpp or ollama."
)


@click.command("detect", epilog='Example:  advisor recommend --have "$(advisor detect --system)" --model 70b')
@click.option(
    "--from",
    "sources",
    metavar="FILE",
    multiple=True,
    help="Pasted output of nvidia-smi, rocm-smi, lspci, system_profiler, … (repeatable); - = standard input.",
)
@click.option("--system", "words_only", is_flag=True, help="Print the SYSTEM words alone.")
@click.option(
    "--catalog", metavar="PATH", multiple=True, help="Overlay file or folder on the catalog (repeatable).  [env: ADVISOR_CATALOG]"
)
@form_options("text", "json")
def detect_command(sources: tuple[str, ...], words_only: bool, catalog: tuple[str, ...], form: str) -> int:
    """What hardware is this? Reads this machine, or pasted tool output."""
    from advisor.catalog import Catalog
    from advisor.cli.streams import say, wrapped
    from advisor.errors import BadInput
    from advisor.intake import detect
    from advisor.intake.page import page_from
    from advisor.report.detected import WITHOUT_CARDS

    records = Catalog.load([Path(path) for path in catalog])
    pages = [page_from(source) for source in sources]
    for page in pages:
        if not detect.recognise(page):
            raise BadInput(f"{page.source}: no hardware tool's output is recognised in it. {_FORMS}")
    found = detect.detect(pages, records) if pages else detect.this_machine(records)
    for warning in found.warnings:
        say(wrapped(f"Note: {warning}"), error=True)
    if words_only:
        if found.system is None:
            raise BadInput(
                f"No SYSTEM words: {_why(found.warnings, found.devices != ())} Write the words yourself: `advisor list devices`."
                + ("" if found.devices else f" {WITHOUT_CARDS}")
            )
        if form != "json":
            say(found.system)
            return 0
    _print(found, form)
    return 0 if found.devices else 3


def _why(warnings: tuple[str, ...], devices: bool) -> str:
    """Why there are none."""
    if warnings:
        return warnings[0]
    return "the only GPU found is integrated." if devices else "no GPU was found."


def _print(found: object, form: str) -> None:
    """The answer in its form."""
    import json

    from advisor.cli.streams import say
    from advisor.intake.detect import Detected
    from advisor.report import detected

    if isinstance(found, Detected):
        say(json.dumps(detected.as_object(found), indent=2) if form == "json" else detected.as_text(found))
