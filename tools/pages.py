"""The live parts of README and docs: console blocks are run, tables are made from the calibration and the accuracy.

    python tools/pages.py            what would change
    python tools/pages.py --write    change it

A console block holds commands (`$ …`) and what they print; a last line `…` stands for the rest of an output. A command that first
makes a virtual environment is run from its last `&&` on. Tables stand between `<!-- table NAME -->` and `<!-- end -->`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"(?ms)^```console\n(.*?)^```$")
TABLE = re.compile(r"(?ms)(^<!-- table ([a-z-]+) -->\n)(.*?)(^<!-- end -->$)")
TOOLS = ("jq", "parallel")
REST = "…"
US = 1e-6
MEANINGS = {  # the fitted terms in the letters of docs/how-it-works.md; `Constants` in advisor/calibration.py has the same in words
    "weights_share": "η, of the memory's bandwidth, for weights",
    "expert_share": "of η, for routed experts: gathered, so slower",
    "cache_share": "η_a, of the bandwidth, for the KV cache",
    "state_share": "of the bandwidth, for recurrent state",
    "attention_share": "of the vector rate, for attention on the cache",
    "unpack_operations": "q, operations that unpack one weight",
    "unpack_exponent": "how q grows with the users of a step: 0 once for all, 1 for each",
    "batch_share": "of the rate of a prompt's matrix work, reached by many users' (F)",
    "layer_s": "τ, seconds a layer",
    "expert_layer_s": "more of τ, for a mixture's layer",
    "recurrent_layer_s": "more of τ, for a layer of linear attention",
    "scan_layer_s": "more of τ, for a layer with a selective scan (Mamba)",
    "step_s": "t₀, seconds a step",
    "user_s": "more of t₀, for each further user",
    "prompt_rate_share": "of the matrix rate, for a prompt, where that is 100 TFLOPS",
    "prompt_size_exponent": "how that share falls with the matrix rate",
    "prompt_width_exponent": "how it grows with the hidden size, from 4,096",
    "prompt_expert_factor": "as so many dense weights count a prompt's expert weights",
    "prompt_attention_share": "of the prompt's rate, for its attention",
    "prompt_recurrent_factor": "as so many operations counts one of a recurrent layer",
    "prompt_weights_share": "of the bandwidth, for reading the weights once a chunk",
    "prompt_half_tokens": "a chunk of so many tokens reaches half the rate",
    "prompt_layer_s": "seconds a layer of each chunk",
    "prompt_unhidden_share": "of the prompts' time, not hidden behind generating",
    "prompt_chunk_tokens": "tokens read at a time",
    "knee_exponent": "how sharply a step turns from one limit to the other",
    "cap_exponent": "how softly a share ends at 1",
    "routing_exponent": "how unevenly experts are chosen",
}


def commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """(command, printed lines) of a console block; a command goes on while its lines end with a backslash."""
    command, printed = "", []
    for line in block.splitlines():
        if command.endswith("\\"):
            command = command[:-1] + line.removeprefix("> ").strip()
        elif line.startswith("$ "):
            if command:
                yield command, printed
            command, printed = line[2:], []
        else:
            printed.append(line)
    if command:
        yield command, printed


def missing_tool(command: str) -> str | None:
    """A tool that the command needs and this machine does not have."""
    return next((tool for tool in TOOLS if re.search(rf"\b{tool}\b", command) and not shutil.which(tool)), None)


def run(command: str, folder: Path) -> str:
    """What a command prints on stdout, with this tree's advisor and with user folders of its own."""
    line = re.sub(r"\.venv/bin/", "", command.split("&& .venv/bin/")[-1] if ".venv" in command else command)
    shim = folder / "advisor"
    if not shim.exists():
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m advisor "$@"\n')
        shim.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ADVISOR_") and key != "NO_COLOR"}
    environment |= {
        "PATH": f"{folder}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, encoding="utf-8", cwd=ROOT, env=environment, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{line}\nexit {done.returncode}: {done.stderr}")
    return done.stdout


def lines_of(text: str) -> list[str]:
    """Lines without spaces at their ends, without empty lines around."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def refreshed_block(block: str, folder: Path) -> str:
    """The block with what its commands print now; a shortened output keeps its length."""
    lines: list[str] = []
    shown = dict(commands(block))
    texts = iter([line for line in block.splitlines() if line.startswith(("$ ", "> "))])
    for command, printed in shown.items():
        lines += _as_written(command, texts)
        if missing_tool(command):
            lines += printed
            continue
        now, old = lines_of(run(command, folder)), lines_of("\n".join(printed))
        if old and old[-1] == REST:
            now = [*now[: max(len(old) - 1, 3)], REST]
        lines += [*now, ""]
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines) + "\n"


def _as_written(command: str, texts: Iterator[str]) -> list[str]:
    """The command's own lines in the page."""
    lines = [next(texts)]
    while lines[-1].endswith("\\"):
        lines.append(next(texts))
    return lines


def tables() -> dict[str, str]:
    """Every generated table."""
    import json

    from advisor.wishes import catalog_with

    with tempfile.TemporaryDirectory() as folder:
        found = json.loads(run("advisor accuracy --json", Path(folder)))
    catalog = catalog_with(())
    return {
        "accuracy": _accuracy(found, catalog),
        "constants": _constants(catalog),
        "messages": _messages(catalog.link_calibration),
        "host-memory": _host_memory(catalog.host_calibration),
    }


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _accuracy(found: dict, catalog: Any) -> str:
    """Each kind of figure: as fitted, what a fit does that has not seen the row, its device or its source, and the floor."""
    from advisor.report.accuracy_page import KIND_NAMES, UNSEEN

    rows = [
        "| published figures | count | median error | within 30 % | median error on unseen figures | … on unseen devices | "
        "… from unseen sources | the same run by others |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    floor = {each["kind"]: _error(each["median_abs_error"]) for each in found["repeated"]}
    for group in found["groups"]:
        kind = group["name"]
        if kind in KIND_NAMES:
            apart = catalog.calibration.kept_out.get(kind, {})
            unseen = [_error(apart[way].median_share) if way in apart else "–" for way in UNSEEN]
            seen = [str(group["rows"]), _error(group["median_abs_error"]), _percent(group["within_30_percent"])]
            rows.append(f"| {' | '.join([KIND_NAMES[kind], *seen, *unseen, floor.get(kind, '–')])} |")
    return "\n".join(rows) + "\n"


def _error(share: float) -> str:
    return f"{100 * share:.1f} %"


def _constants(catalog: Any) -> str:
    """Every fitted term: its base, and the factors of hardware and quantization families."""
    rows = ["| constant | is | base | factors |", "|---|---|---:|---|"]
    for name, term in catalog.calibration.terms.items():
        families = "; ".join(
            f"{grouping}: " + ", ".join(f"{level} {factor:.3g}" for level, factor in levels.items())
            for grouping, levels in term.factors.items()
        )
        rows.append(f"| `{name}` | {MEANINGS[name]} | {term.base:.4g} | {families} |")
    return "\n".join(rows) + "\n"


def _messages(fitted: Any) -> str:
    """What small messages take, by software and link: the first entry that fits counts."""
    rows = [
        "| software | over | all-reduce of two, µs | each doubling, µs | send, µs | share of the bandwidth | rows |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for each in fitted.latencies:
        over = ", ".join((*each.kinds, *each.transports, *each.shapes)) or "any link"
        over += f", generation {each.least_nvlink_generation} on" if each.least_nvlink_generation else ""
        over += f", up to {each.most_ranks} devices" if each.most_ranks else ""
        times = " | ".join(f"{seconds / US:.4g}" for seconds in (each.all_reduce_s, each.doubling_s, each.send_s))
        rows.append(f"| `{each.software}` | {over} | {times} | {each.bandwidth_share:.2g} | {each.rows} |")
    return "\n".join(rows) + "\n"


def _host_memory(fitted: Any) -> str:
    """What engines reach of a computer's memory."""
    return "\n".join(
        (
            "| constant | is | value |",
            "|---|---|---:|",
            f"| `reached_share` | of the memory's nominal rate | {fitted.reached_share:.3g} |",
            f"| `layer_us` | way out of the card and back, for each layer there, µs | {fitted.layer_s / US:.3g} |",
            f"| `carried_share` | of the slot's rate, when a prompt's weights are carried to the card | {fitted.carried_share:.3g} |",
            f"| `rows` | published runs it is fitted to | {fitted.rows} |",
            "",
        )
    )


def refreshed(page: Path, folder: Path, made: dict[str, str]) -> str:
    """The page as it should be."""
    text = BLOCK.sub(lambda found: f"```console\n{refreshed_block(found[1], folder)}```", page.read_text(encoding="utf-8"))
    return TABLE.sub(lambda found: found[1] + made[found[2]] + found[4], text)


def main() -> int:
    """Say which pages are behind, or bring them up to date."""
    sys.path.insert(0, str(ROOT))
    made, behind = tables(), []
    with tempfile.TemporaryDirectory() as folder:
        for page in PAGES:
            now = refreshed(page, Path(folder), made)
            if now != page.read_text(encoding="utf-8"):
                behind.append(page.name)
                if "--write" in sys.argv:
                    page.write_text(now, encoding="utf-8")
    print("\n".join(behind) or "all pages are up to date")
    return 0 if not behind or "--write" in sys.argv else 1


if __name__ == "__main__":
    sys.exit(main())
