"""How fast it is, as ratios to a bare `python -c pass` of the same run, so that figures of different machines compare.

python tools/bench.py            the table of docs/benchmarks.md
python tools/bench.py --check    the same, and exit 1 where a target is missed
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

PYTHON = sys.executable
ADVISOR = [PYTHON, "-m", "advisor"]
BARE = [PYTHON, "-c", "pass"]
RECOMMEND = ["recommend", "--have", "rtx-3090", "--model", "llama-3.3-70b", "--quant", "q4_k_m"]
ESTIMATE = ["estimate", "2x rtx-3090 via nvlink as tensor on vllm", "--model", "llama-3.3-70b"]
MOST_RATIO = {"--help": 5.0, "recommend, whole catalog": 18.0}
LEAST_ESTIMATES_PER_S = 1000.0
LEAST_RECOMMENDATIONS_PER_S = 20.0
CATALOG = Path(__file__).parent.parent / "catalog"
NEW_PAIR = "estimate of another device and model"
MOST_PEAK_MIB = 60.0
MOST_NOISE_S = 2.0  # reading 10 MB of anything
NOISE = {
    "10 MB of one nvidia-smi row": b"|   0  NVIDIA GeForce RTX 3090        On  | 00000000:01:00.0 Off |                  N/A |\n" * 110_000,
    "10 MB of llama-bench rows": b"| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | pp512 | 1234.50 \xc2\xb1 1.00 |\n" * 120_000,
    "10 MB of key: value": b"    Key              : value 12 MiB\n" * 280_000,
    "10 MB in one line": b"1234567890 (| " * 720_000,
}
MORE_DEVICES = 1000
COPIED = ("rtx-3090", "rtx-4070", "rtx-5060-ti-16gb", "rx-7900-xtx", "arc-b580-12gb")
MOST_S_WITH_MORE = 1.0


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    seconds: float
    ratio: float | None
    note: str
    kept: bool | None  # whether its target is met; None without one


def best_s(commands: dict[str, list[str]], rounds: int) -> dict[str, float]:
    """The least seconds of each command; the rounds go over all of them in turn, so that a busy moment hits all alike."""
    least = dict.fromkeys(commands, float("inf"))
    for _ in range(rounds):
        for name, command in commands.items():
            least[name] = min(least[name], spent_s(command))
    return least


def spent_s(command: list[str]) -> float:
    """Seconds of processor time: what else the machine does matters little to them, and one core is what is asked about."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def requests(kind: str, count: int) -> list[dict]:
    """Requests that differ from each other, as those of a sweep do."""
    models = ("llama-3.3-70b", "qwen3-32b", "qwen3-8b", "gpt-oss-120b", "qwen3-30b-a3b")
    systems = (
        "rtx-3090",
        "2x rtx-3090 via nvlink as tensor on vllm",
        "rtx-5090",
        "mac-m3-ultra-80c 512gb on mlx",
        "2x rtx-4090 as layers on llama.cpp",
    )
    asked = []
    for number in range(count):
        work = {"model": models[number % 5], "users": 1 + number % 7, "context": 8192 + 1024 * (number % 11), "prompt": 512 + number % 997}
        if kind == "estimate":
            asked.append({"command": "estimate", "system": systems[number // 5 % 5], **work})
        else:
            asked.append({"command": "recommend", "have": "rtx-3090", "budget": 2000 + 100 * (number % 37), **work})
    return asked


def new_pairs(count: int) -> list[dict]:
    """Estimates that each ask of another device and model: nothing is kept from the one before."""
    devices, models = (sorted(path.stem for path in (CATALOG / kind).glob("*.yaml")) for kind in ("devices", "models"))
    pairs = ((device, models[(at + turn) % len(models)]) for turn in range(len(models)) for at, device in enumerate(devices))
    return [{"command": "estimate", "system": device, "model": model} for device, model in islice(pairs, count)]


def rate(kind: str, few: int, many: int, folder: Path) -> float:
    """Answers a second after the start: the difference of a long and a short batch, of the quicker of three runs by turns."""
    commands = {}
    for count in (few, many):
        path = folder / f"{kind}-{count}.jsonl"
        asked = new_pairs(count) if kind == NEW_PAIR else requests(kind, count)
        path.write_text("".join(json.dumps(request) + "\n" for request in asked))
        commands[str(count)] = [*ADVISOR, "batch", str(path)]
    least = best_s(commands, 3)
    return (many - few) / max(1e-9, least[str(many)] - least[str(few)])


def peak_mib(command: list[str]) -> float:
    """The most memory that a command holds."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([PYTHON, "-c", code, *command], capture_output=True, text=True, check=True)
    unit = 1 if sys.platform == "darwin" else 1024
    return int(done.stdout) * unit / 2**20


def noise_rows(folder: Path, bare: float) -> list[Row]:
    """How long large files of little worth take."""
    rows = []
    for name, text in NOISE.items():
        path = folder / "noise.txt"
        path.write_bytes(text)
        commands = {"detect": [*ADVISOR, "detect", "--from", str(path)], "calibrate": [*ADVISOR, "calibrate", str(path)]}
        for command, seconds in best_s(commands, 2).items():
            note = f"at most {MOST_NOISE_S:g} s"
            rows.append(Row(f"{command}, {name}", seconds, seconds / bare, note, seconds <= MOST_NOISE_S))
    return rows


def more_devices(folder: Path, count: int) -> Path:
    """A catalog folder with `count` made-up cards: known ones under other names, each a little slower than the last."""
    texts = [(CATALOG / "devices" / f"{name}.yaml").read_text(encoding="utf-8") for name in COPIED]
    (folder / "devices").mkdir()
    for number in range(count):
        kept = re.sub(r"^(aliases|pci_ids|links): \[[^]]*\]\n", "", texts[number % len(texts)], flags=re.M)
        named = re.sub(r"^id: .*\nname: .*", f"id: made-up-{number}\nname: Made Up {number}", kept)
        before, key, after = named.partition("bandwidth_gb_per_s: ")
        rate, _, rest = after.partition("\n")
        slower = f"{before}{key}{float(rate) * (1 - number / count / 100):.6g}\n{rest}"
        (folder / "devices" / f"made-up-{number}.yaml").write_text(slower, encoding="utf-8")
    return folder


def with_more_devices(rounds: int, folder: Path) -> list[Row]:
    """Recommending and checking with a thousand devices more: under a second, and no more for each than for those that are there."""
    more = str(more_devices(folder, MORE_DEVICES))
    commands = {"recommend": [*ADVISOR, *RECOMMEND, "--catalog", more], "check": [*ADVISOR, "check", more]}
    subprocess.run(commands["recommend"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)  # fills the cache
    least = best_s(commands, max(1, rounds // 3))
    each_ms = 1000 * least["check"] / MORE_DEVICES
    under = least["recommend"] < MOST_S_WITH_MORE
    return [
        Row("recommend, 1,000 more devices", least["recommend"], None, f"at most {1000 * MOST_S_WITH_MORE:g} ms", under),
        Row("check of 1,000 more devices", least["check"], None, f"{each_ms:.1f} ms a device", None),
    ]


def measured(rounds: int) -> list[Row]:
    """Every row of the table."""
    commands = {
        "python -c pass": BARE,
        "--help": [*ADVISOR, "--help"],
        "estimate": [*ADVISOR, *ESTIMATE],
        "recommend, whole catalog": [*ADVISOR, *RECOMMEND],
        "check (parses every YAML file)": [*ADVISOR, "check"],
    }
    subprocess.run(commands["estimate"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)  # fills the cache
    least = best_s(commands, rounds)
    bare = least["python -c pass"]
    rows = []
    for name, seconds in least.items():
        most = MOST_RATIO.get(name)
        rows.append(Row(name, seconds, seconds / bare, f"at most {most:g} ×" if most else "", seconds / bare <= most if most else None))
    with tempfile.TemporaryDirectory() as folder:
        for kind, few, many, target in (
            ("estimate", 500, 4500, LEAST_ESTIMATES_PER_S),
            (NEW_PAIR, 500, 2500, None),
            ("recommend", 5, 45, LEAST_RECOMMENDATIONS_PER_S),
        ):
            each = rate(kind, few, many, Path(folder))
            note = f"{each:,.0f} a second" + (f"; at least {target:,.0f}" if target else "")
            rows.append(Row(f"batch, one {kind}", 1 / each, None, note, each >= target if target else None))
        rows += noise_rows(Path(folder), bare)
        batches = {"4,500 estimates": "estimate-4500", "45 recommendations": "recommend-45"}
        commands = {f"batch of {name}": [*ADVISOR, "batch", f"{folder}/{stem}.jsonl"] for name, stem in batches.items()}
        for name, command in {"recommend": [*ADVISOR, *RECOMMEND], **commands}.items():
            peak = peak_mib(command)
            rows.append(Row(f"peak memory, {name}", 0.0, None, f"{peak:.0f} MiB; at most {MOST_PEAK_MIB:.0f}", peak <= MOST_PEAK_MIB))
    with tempfile.TemporaryDirectory() as folder:
        rows += with_more_devices(rounds, Path(folder))
    return rows


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| what | ms | × bare Python | |", "|---|---:|---:|---|"]
    for row in rows:
        ms = f"{1000 * row.seconds:.1f}" if row.seconds else ""
        ratio = f"{row.ratio:.1f}" if row.ratio else ""
        lines.append(f"| {row.what} | {ms} | {ratio} | {row.note} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table; with --check, say which targets are missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    for name in ("ADVISOR_DEBUG", "PYTHONDONTWRITEBYTECODE"):  # an installed program has its bytecode
        os.environ.pop(name, None)
    rows = measured(asked.rounds)
    print(table(rows))
    missed = [row.what for row in rows if row.kept is False]
    if asked.check and missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
