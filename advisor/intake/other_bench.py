"""Speeds in forms that have no reader of their own: JSON, CSV and lines whose keys or units say tokens per second."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from advisor.intake import quant_words
from advisor.intake.page import Page
from advisor.intake.readings import number, whole
from advisor.intake.run import MOST_RUNS, Run
from advisor.record import dataclass, replace

TOOL = "other benchmark"
MOST_DEPTH = 8

_UNIT = r"(?:tokens?|toks?|tok|t)\s?(?:/|-?per[- ]?)\s?s(?:ec(?:ond)?)?\b|TPS\b|tps\b"
_KEY = re.compile(
    r"(?:^|[_.\s\[(-]|(?<=[a-z0-9]))(?:tps|t_s|tok_s|toks?_per_s|[Tt]oks?/s(?:ec)?|t/s|tokens?_per_s(?:ec(?:ond)?)?|tokens?[_ "
    r"]?/[_ ]?s(?:ec)?|tokens?PerSec(?:ond)?|Tps|TPS|throughput)(?:$|[_.\s\])])"
)
_NOT = re.compile(
    r"per_w|tps_per|std|stddev|_sd$|variance|target|limit|min|max|p\d\d|request|estimated|claimed|predicted_tps|accept", re.IGNORECASE
)
_READING = re.compile(r"prefill|prompt|\bpp|^pp|input|ingest", re.IGNORECASE)
_SERVED = re.compile(r"aggregate|total|server|throughput|system", re.IGNORECASE)
_PER_USER = re.compile(r"per_request|per_user|per_stream|single", re.IGNORECASE)
_IN_LINE = re.compile(rf"(?<![\w.])(\d+(?:\.\d+)?)\s*((?:[a-z]+\s+){{0,2}})(?:{_UNIT})")
_AFTER = re.compile(rf"^.{{0,60}}?\b((?:\w+[ _]){{0,2}}?)(?:{_UNIT})\)?\s*[:=]\s*(\d+(?:\.\d+)?)\s*$")  # `response_token/s: 45.12`
_WITH_UNIT = re.compile(r"^\d[\d,]*(?:\.\d+)?\s*(?:t|toks?|tokens?)/s(?:ec)?$")
_HINT = re.compile(rf"tps|tok/s|t/s|tok_s|t_s\b|persec|tokens?.{{0,3}}per|{_UNIT}|throughput", re.IGNORECASE)
_ENGINES = {
    "llamacpp": "llama.cpp",
    "llama.cpp": "llama.cpp",
    "llama-server": "llama.cpp",
    "ollama": "llama.cpp",
    "lmstudio": "llama.cpp",
    "vllm": "vllm",
    "sglang": "sglang",
    "mlx": "mlx",
    "mlx-lm": "mlx",
    "mlx_lm": "mlx",
    "exo": "exo",
    "exllamav3": "exllamav3",
    "tensorrt-llm": "tensorrt-llm",
    "trtllm": "tensorrt-llm",
}


@dataclass(frozen=True)
class _Around:
    """What the objects around a figure say."""

    model: str | None = None
    engine: str | None = None
    quant: str | None = None
    users: int | None = None
    prompt: int | None = None
    generate: int | None = None
    filled: int | None = None
    count: int | None = None
    errors: bool = False


def recognise(page: Page) -> bool:
    """Whether anything looks like a speed."""
    return bool(_HINT.search(page.text[:4_000_000]))


def read(page: Page) -> tuple[Run, ...]:
    """Speeds of JSON objects, else of a table with commas, else of lines."""
    forms = (
        (run for one in page.objects[:MOST_RUNS] for run in _walk(one, _Around(), 0, "")),
        _csv(page.lines),
        _tables(page.lines),
        (run for line in page.lines for run in _line(line)),
    )
    for form in forms:
        runs = tuple(islice(form, MOST_RUNS))
        if runs:
            return runs
    return ()


def _walk(one: Mapping[str, Any], around: _Around, depth: int, path: str) -> Iterator[Run]:
    """The figures of an object, then those inside it; `path` = the key that holds it."""
    here = _around(one, around)
    for key, value in list(one.items())[:300]:
        speed = _speed(str(key), value)
        if speed is not None:
            yield _run(f"{path} {key}".strip() if isinstance(value, dict) else str(key), speed, here)
    for name, inner in _inside(one) if depth < MOST_DEPTH else ():
        yield from _walk(inner, here, depth + 1, name)


def _speed(key: str, value: object) -> float | None:
    """A figure whose key says tokens per second, or an average whose unit does."""
    if isinstance(value, dict):
        said = value.get("avg") if "avg" in value else value.get("value")
        return number(said) if re.search(r"tok|t/s", str(value.get("unit", ""))) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if _KEY.search(key) and not _NOT.search(key) else None


def _inside(one: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects within an object, also those of its lists, each with its key."""
    for key, value in list(one.items())[:300]:
        for inner in (value if isinstance(value, list) else [value])[:5000]:
            if isinstance(inner, dict):
                yield str(key)[:60], inner


def _text(one: Mapping[str, Any], *keys: str) -> str | None:
    """The first of the keys that holds words."""
    return next((one[key][:200] for key in keys if isinstance(one.get(key), str) and one[key]), None)


def _count(one: Mapping[str, Any], *keys: str) -> int | None:
    """The first of the keys that holds a count."""
    return next((whole(one[key]) for key in keys if isinstance(one.get(key), int | float | str) and whole(one[key]) is not None), None)


def _around(one: Mapping[str, Any], before: _Around) -> _Around:
    """What this object adds to what is known around it."""
    engine = _text(one, "provider", "engine", "backend", "runtime", "framework")
    hardware = one.get("hardware") if isinstance(one.get("hardware"), dict) else one
    return _Around(
        model=_text(one, "model", "model_name", "modelName", "model_id", "name_model") or before.model,
        engine=_ENGINES.get((engine or "").lower()) or before.engine,
        quant=_text(one, "quant", "quantization", "quantisation", "precision") or before.quant,
        users=_count(one, "concurrency", "users", "num_users", "batch_size", "parallel") or before.users,
        prompt=_count(one, "prompt_tokens", "prefill_tokens", "input_tokens", "n_prompt", "input_len") or before.prompt,
        generate=_count(one, "gen_tokens", "output_tokens", "completion_tokens", "n_gen", "avgOutputTokens") or before.generate,
        filled=_count(one, "context_tokens", "ctx_tokens", "depth", "context", "n_depth", "ctx") or before.filled,
        count=_count(hardware or {}, "gpuCount", "gpu_count", "num_gpus") or before.count,
        errors=bool(number(one.get("num_errors"))) or before.errors,
    )


def _run(key: str, speed: float, around: _Around) -> Run:
    """The run of one figure."""
    per_user, users = bool(_PER_USER.search(key)), float(around.users or 1)
    if _READING.search(key):
        kind = "prefill"
    elif _SERVED.search(key) and users > 1:
        kind = "served"
    else:
        kind = "decode" if users == 1 or per_user else "served"
    if "output_token_throughput" in key and around.users is None:  # a server's, of how many users is not said
        kind = "peak"
    if re.search(r"\btotal\b", key, re.IGNORECASE) and kind == "decode":
        kind = "total"
    if per_user and users > 1:
        kind = "peak"
    return Run(
        tool=TOOL,
        test=key,
        kind=kind,
        tokens_per_s=speed,
        model=quant_words.model_of(around.model),
        file=around.model,
        quant=quant_words.of_file(around.model) or quant_words.of_type(around.quant) or (around.quant or "").lower() or None,
        engine=around.engine,
        users=users,
        prompt_tokens=around.prompt if kind == "prefill" else 0,
        generate_tokens=around.generate,
        filled_tokens=around.filled or 0 if kind != "prefill" else 0,
        count=around.count,
        aborted="some requests failed" if around.errors else None,
    )


def _csv(lines: Iterable[str]) -> Iterator[Run]:
    """Rows under a head with a column of speeds."""
    head: list[str] | None = None
    for line in lines:
        if "," not in line and "\t" not in line:
            continue
        mark = "\t" if line.count("\t") > line.count(",") else ","
        cells = [cell.strip() for cell in next(csv.reader([line[:8000]], delimiter=mark), [])]
        if any(_KEY.search(cell) for cell in cells) and not any(
            number(cell) is not None and re.fullmatch(r"[\d.]+", cell) for cell in cells
        ):
            head = cells
        elif head and len(cells) == len(head):
            row: dict[str, Any] = {
                name: (float(cell) if re.fullmatch(r"-?\d+(?:\.\d+)?", cell) else cell) for name, cell in zip(head, cells, strict=True)
            }
            yield from _walk(_with_plain(row), _Around(), MOST_DEPTH, "")


def _tables(lines: Iterable[str]) -> Iterator[Run]:
    """Rows of a table with bars whose head has a column of speeds."""
    head: list[str] | None = None
    words: list[str] = []  # a row without figures: a head if figures with their unit follow
    for line in lines:
        if "|" not in line or len(line) > 4000:
            continue
        cells = [
            re.sub(r"<br ?/?>|[*_`]{1,2}(?=\W|$)|(?<!\w)[*_`]{1,2}", " ", cell).strip()
            for cell in line.strip().strip(">").strip().strip("|").split("|")
        ]
        figures = [cell for cell in cells if re.match(r"^[\d.,]+\b", cell)]
        if any(_KEY.search(cell) for cell in cells) and not figures:
            head = cells
        elif any(_WITH_UNIT.match(cell) for cell in cells) and len(words) == len(cells):
            head = [f"{name} tok/s" if _WITH_UNIT.match(cell) else name for name, cell in zip(words, cells, strict=True)]
        elif not figures and not all(re.fullmatch(r":?-*:?", cell) for cell in cells):
            words = cells
        if head and len(cells) == len(head) and head is not cells:
            yield from _walk(_with_plain({name: _figure(cell) for name, cell in zip(head, cells, strict=True)}), _Around(), MOST_DEPTH, "")


def _with_plain(row: dict[str, Any]) -> dict[str, Any]:
    """A table's row, its words and counts also under keys as a JSON has them: `batch size` as `batch_size`."""
    plain = {re.sub(r"[ -]+", "_", name.lower()): value for name, value in row.items() if not _KEY.search(name)}
    return {**plain, **{name: value for name, value in row.items() if _KEY.search(name)}}


def _figure(cell: str) -> float | str:
    """A cell's number, perhaps with its spread or unit; else the words."""
    found = re.match(r"^(\d[\d,]*(?:\.\d+)?)\s*(?:(?:±|\+/?-).*|(?:t|tok|tokens)/s(?:ec)?)?$", cell)
    return float(found.group(1).replace(",", "")) if found else cell


def _line(line: str) -> Iterator[Run]:
    """`18.54 decode TPS`, `126.3 prefill tok/s`, `45.2 t/s`; figures of a summary (mean, min) are not told apart from runs."""
    if len(line) > 600 or not re.search(r"TPS|tps|/s|per", line) or re.search(r"estimat|expected", line, re.IGNORECASE):
        return
    keyed = _AFTER.match(line)
    if keyed and not _NOT.search(keyed.group(1)):
        kind = "prefill" if _READING.search(keyed.group(1)) else "decode"
        yield Run(
            tool=TOOL, test="tokens/s", kind=kind, tokens_per_s=number(keyed.group(2)), prompt_tokens=None if kind == "prefill" else 0
        )
        return
    for found in list(_IN_LINE.finditer(line))[:20]:
        before = line[max(0, found.start() - 24) : found.start()]
        after = re.match(r"[^\d,;|]{0,24}", line[found.end() :])
        words = before + found.group(2) + (after.group() if after and not _READING.search(before) else "")
        if re.search(r"sampl|GB|MB|req", words):
            continue
        kind = "prefill" if _READING.search(words) and not re.search(r"decode|gen", found.group(2)) else "decode"
        run = Run(
            tool=TOOL,
            test=" ".join((found.group(2) or "tokens/s").split()),
            kind=kind,
            tokens_per_s=number(found.group(1)),
            prompt_tokens=None if kind == "prefill" else 0,
        )
        yield replace(run, test=run.test or "tokens/s")
