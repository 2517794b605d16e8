"""`advisor calibrate`: own benchmark results against the estimate."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from advisor.cli.complete import catalog_ids, system_words
from advisor.cli.options import form_options

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.intake.bound_run import Stated
    from advisor.intake.calibrate import Judged


@click.command("calibrate", epilog="Example:  llama-bench -m model.gguf | advisor calibrate - --save")
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option(
    "--system",
    metavar="SYSTEM",
    shell_complete=system_words("devices"),
    help="What it ran on, in SYSTEM words, where the file does not say.",
)
@click.option("--model", metavar="M", shell_complete=catalog_ids("models"), help="The model, where the file does not say.")
@click.option("--quant", metavar="Q", shell_complete=catalog_ids("quants"), help="Its quantization, where the file does not say.")
@click.option("--save", is_flag=True, help="Keep a local correction that later estimates use.")
@click.option("--reset", is_flag=True, help="Drop every local correction first.")
@click.option("--export", "target", metavar="FILE", help="Write the accepted rows as a file for the catalog's measurements.")
@click.option("--force", is_flag=True, help="Let --export replace an existing file.")
@click.option(
    "--catalog", metavar="PATH", multiple=True, help="Overlay file or folder on the catalog (repeatable).  [env: ADVISOR_CATALOG]"
)
@form_options("text", "json")
def calibrate_command(
    files: tuple[str, ...], system: str | None, model: str | None, quant: str | None, save: bool, reset: bool, target: str | None,
    force: bool, catalog: tuple[str, ...], form: str,
) -> int:  # fmt: skip
    """Your own benchmark results against the estimate. Reads the output of llama-bench, llama.cpp, ollama, vLLM, SGLang, mlx_lm, …"""
    from advisor.catalog import Catalog
    from advisor.cli.streams import say
    from advisor.errors import BadValue
    from advisor.intake import calibrate, measured_memory
    from advisor.intake.page import page_from

    if not files and not reset:
        raise BadValue("FILE is missing: give the output of a benchmark, or - for standard input.")
    if reset:
        _reset()
    if not files:
        if form == "json":
            _print((), (), (), False, form)
        return 0
    records = Catalog.load([Path(path) for path in catalog])
    stated = _stated(system, model, quant, records)
    pages = [page_from(path) for path in files]
    rows, memory = calibrate.compare(pages, records, stated), measured_memory.read(pages, records, stated)
    if not rows and not memory:
        raise BadValue(
            f"{', '.join(files)}: no speed is recognised. Give the output of llama-bench, llama.cpp, ollama --verbose, vllm bench, …"
        )
    if target:
        _export(target, rows, force)
    warnings = calibrate.warnings(pages)
    for warning in warnings:
        say(f"Note: {warning}", error=True)
    _print(rows, memory, warnings, save, form)
    return 0 if memory or any(each.accepted for each in rows) else 3


def _reset() -> None:
    """Drop the corrections."""
    from advisor.cli.streams import say
    from advisor.intake import corrections

    say("Note: the local corrections are dropped." if corrections.reset() else "Note: there were no local corrections.", error=True)


def _stated(system: str | None, model: str | None, quant: str | None, catalog: "Catalog") -> "Stated":
    """What the options say, looked up at once so that a wrong name is an error."""
    from advisor import choose
    from advisor.intake.bound_run import Stated
    from advisor.wishes import model_of

    if system is not None:
        choose.bind(system, catalog)
    return Stated(system, model_of(model, catalog) if model else None, catalog.quant(quant).id if quant else None)


def _export(target: str, rows: "tuple[Judged, ...]", force: bool) -> None:
    """Write the contribution file."""
    from datetime import date

    from advisor import safewrite
    from advisor.cli.streams import say
    from advisor.intake import contribution

    safewrite.write(Path(target), contribution.written(rows, date.today()), force=force)
    say(f"Note: written to {target}.", error=True)


def _print(rows: "tuple[Judged, ...]", memory: "tuple[object, ...]", warnings: tuple[str, ...], save: bool, form: str) -> None:
    """The answer in its form; saved first if asked."""
    import json
    from datetime import date

    from advisor import correction
    from advisor.cli.streams import say
    from advisor.intake import corrections
    from advisor.intake.measured_memory import Memory
    from advisor.report import calibrated

    found = corrections.rows_of(rows, date.today())
    saved = save and bool(found)
    held = corrections.save(found) if saved else {key: each for key, new in found.items() if (each := correction.correction_of(new))}
    loads = [each for each in memory if isinstance(each, Memory)]
    if save and not found:
        say("Note: no row can correct later estimates; nothing was saved.", error=True)
    shown = calibrated.as_object(rows, loads, held, saved, warnings) if form == "json" else None
    say(json.dumps(shown, indent=2) if shown is not None else calibrated.as_text(rows, loads, held, saved))
