"""llama-bench in its five forms – table, CSV, JSON, JSON lines, SQL – also with log lines before it or wrapped by other tools."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from advisor.intake import llama_devices, quant_words
from advisor.intake.page import MOST_DEPTH, Page
from advisor.intake.readings import known, number, size_bytes, whole
from advisor.intake.run import MOST_RUNS, Run
from advisor.record import replace

TOOL = "llama-bench"

_TEST = re.compile(r"^(pp|tg|pg)\s*(\d+)(?:\s*\+\s*tg\s*(\d+))?(?:\s*@\s*d\s*(\d+))?$", re.IGNORECASE)
_HINT = re.compile(r"t/s|tok/s|(?:pp|tg|pg)\s?\d", re.IGNORECASE)
_SQL = re.compile(r"INSERT INTO\s+\S+\s*\(([^)]{20,4000})\)\s*VALUES\s*\((.{10,8000})\)\s*;?\s*$", re.IGNORECASE)
_BUILD = re.compile(r"^build:\s*(\w{6,12})\s*\((\d+)\)")
_FIGURE = re.compile(
    r"^\s*\**\s*(-?(?:\d[\d,]*\.?\d*(?:e[+-]?\d+)?|nan|inf))\s*\**\s*(?:(?:±|\+/?-|Â±|\?)\s*[\d.naif]+\s*)?\**\s*(?:t/s|tok/s)?\s*$",
    re.IGNORECASE,
)
_MAKERS = {
    "cuda": "cuda",
    "rocm": "rocm",
    "hip": "rocm",
    "vulkan": "vulkan",
    "metal": "metal",
    "mtl": "metal",
    "sycl": "sycl",
    "cpu": "cpu",
}


def recognise(page: Page) -> bool:
    """Whether a row of any of the forms, or a table's head, is there."""
    return (
        any(_head(_barred(line)) for line in page.lines)
        or any(_figures(one) for one in page.objects)
        or any("avg_ts" in line for line in page.lines)
    )


def read(page: Page) -> tuple[Run, ...]:
    """Every row. Device lines of the log before a table name its hardware; a head without rows is a run that broke off."""
    rows = [*_json(page.objects), *_csv(page.lines), *_sql(page.lines)]
    if rows:
        return tuple(_run(row) for row in rows[:MOST_RUNS])
    runs = list(islice(_tables(page.lines), MOST_RUNS))
    devices = _devices(page)
    version = next((f"{build.group(1)} ({build.group(2)})" for build in map(_BUILD.match, page.lines) if build), None)
    if not runs:
        return (
            Run(
                tool=TOOL,
                test="",
                kind="decode",
                tokens_per_s=None,
                engine="llama.cpp",
                devices=devices,
                aborted="the run broke off before its first row",
            ),
        )
    return tuple(replace(run, devices=devices, version=version) for run in runs)


def _devices(page: Page) -> tuple[str, ...]:
    """Names of the devices that the log lists."""
    views = llama_devices.read(page)
    return tuple(seen.name for seen in views[0].devices if seen.name) if views else ()


def _barred(line: str) -> str:
    """A table's line that came through a spreadsheet, with bars for its tabs."""
    return line.replace("\t", "|") if line.count("\t") >= 3 and "|" not in line else line


def _cells(line: str) -> list[str]:
    """The cells of a table's line."""
    return [cell.strip().strip("`").strip() for cell in line.strip().strip(">").strip().strip("|").split("|")]


def _head(line: str) -> list[str] | None:
    """The columns of a table of speeds: a test and its t/s, or a column for each test."""
    if "|" not in line or len(line) > 4000 or not _HINT.search(line):
        return None
    cells = [re.sub(r"[*`]|^_+|_+$", "", cell).strip().lower() for cell in _cells(line)]
    speeds = [cell for cell in cells if cell.startswith(("t/s", "tok/s")) or _TEST.match(re.sub(r"\s*\(?(?:t/s|tok/s)\)?$", "", cell))]
    named = "model" in cells or "test" in cells
    return cells if speeds and named and len(cells) >= 2 else None


def _tables(lines: Iterable[str]) -> Iterator[Run]:
    """The runs of every table."""
    head: list[str] | None = None
    for line in map(_barred, lines):
        found = _head(line)
        if found:
            head = found
        elif head and "|" in line:
            cells = _cells(line)
            if len(cells) == len(head) and not all(re.fullmatch(r":?-+:?", cell) for cell in cells if cell):
                yield from _row(dict(zip(head, cells, strict=True)))


def _row(row: Mapping[str, str]) -> Iterator[Run]:
    """A run for each figure of a table's row."""
    for column, cell in row.items():
        short = re.sub(r"\s*\(?(?:t/s|tok/s)\)?$", "", column)
        test = _TEST.match(row.get("test", "")) if column.startswith(("t/s", "tok/s")) else _TEST.match(short)
        figure = _FIGURE.match(cell)
        if test is None or figure is None:
            continue
        yield _of_table(row, test, number(figure.group(1).replace(",", "")), column)


def _of_table(row: Mapping[str, str], test: re.Match[str], speed: float | None, column: str) -> Run:
    """The run of one cell."""
    name = row.get("model", "")
    backend, elsewhere = backend_of(row.get("backend"))
    devices = row.get("dev") or row.get("devices") or ""
    others = re.sub(r"^t(?:ok)?/s", "", column).strip() if column.startswith(("t/s", "tok/s")) else ""
    phase = phase_of(test)
    return replace(
        phase,
        tokens_per_s=speed,
        test=phase.test + (f" {others}" if others else ""),
        model=_bare(name),
        quant=quant_words.of_type(row.get("quant") or name),
        params=_params(row.get("params")),
        file_bytes=size_bytes(row.get("size")),
        backend=backend,
        elsewhere=elsewhere,
        count=devices.count("/") + 1 if devices else None,
        flash_attention=_flag(row.get("fa")),
        kv_quant=known(row.get("type_k")),
        strategy=_split(row.get("sm")),
        offload=_offloads(row.get("ngl"), row.get("ot"), row.get("n_cpu_moe") or row.get("ncmoe")),
    )


def phase_of(test: re.Match[str]) -> Run:
    """Kind and lengths of `pp512`, `tg128`, `pp4096+tg128`, each perhaps `@ d8192`."""
    what, first, second, depth = test.group(1).lower(), int(test.group(2)), test.group(3), int(test.group(4) or 0)
    plain = f"{what}{first}" + (f"+tg{second}" if second else "") + (f" @ d{depth}" if depth else "")
    base = Run(tool=TOOL, test=plain, kind="decode", tokens_per_s=None, engine="llama.cpp", filled_tokens=depth)
    if second:
        return replace(base, kind="mixed", prompt_tokens=first, generate_tokens=int(second))
    if what == "tg":
        return replace(base, prompt_tokens=0, generate_tokens=first)
    return replace(base, kind="prefill", prompt_tokens=first)


def backend_of(text: str | None) -> tuple[str | None, bool]:
    """The backend that computes, and whether other machines take part: `CUDA,RPC`, `Metal,BLAS`."""
    words = [word.strip().lower() for word in (text or "").split(",")]
    return next((_MAKERS[word] for word in words if word in _MAKERS), None), "rpc" in words


def _bare(name: str) -> str | None:
    """The type words without the quantization: `llama 8B Q4_K - Medium` is `llama 8B`."""
    return known(re.sub(r"\s+(?:(?:IQ|TQ|Q)\d\S*|MXFP4|NVFP4|BF16|F16|FP16|F32|all F32|mostly)\b.*$", "", name, flags=re.IGNORECASE))


def _params(text: object) -> float | None:
    """`8.03 B` as a number."""
    found = re.match(r"^\s*([\d.]+)\s*([BMT])\b", str(text or ""))
    return float(found.group(1)) * {"M": 1e6, "B": 1e9, "T": 1e12}[found.group(2)] if found else None


def _flag(text: object) -> bool | None:
    """0 or 1, on or off."""
    word = str(text).strip().lower()
    return {"1": True, "0": False, "true": True, "false": False, "on": True, "off": False}.get(word)


def _split(text: object) -> str | None:
    """llama.cpp's split mode as a strategy."""
    return {"layer": "layers", "row": "tensor", "tensor": "tensor", "none": "whole"}.get(str(text or "").strip().lower())


def _offloads(layers: object, overrides: object, experts: object) -> bool:
    """Whether layers or experts stay on the host: few GPU layers, tensor overrides to the CPU."""
    count = whole(layers)
    to_cpu = "cpu" in str(overrides or "").lower()
    return (count is not None and 0 <= count < 20) or to_cpu or bool(whole(experts) and (whole(experts) or 0) > 0)


def _figures(one: Mapping[str, Any]) -> bool:
    """Whether an object is a row of the JSON form, or wraps one."""
    return "avg_ts" in one or any(isinstance(value, dict) and "avg_ts" in value for value in list(one.values())[:64])


def _json(objects: Iterable[Mapping[str, Any]], depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Rows of the JSON forms, also inside wrappers."""
    for one in objects:
        if "avg_ts" in one and ("n_prompt" in one or "n_gen" in one):
            yield one
        elif depth < min(MOST_DEPTH, 6):
            inner: list[Mapping[str, Any]] = []
            for value in list(one.values())[:200]:
                inner += (
                    [value]
                    if isinstance(value, dict)
                    else [each for each in value[:5000] if isinstance(each, dict)]
                    if isinstance(value, list)
                    else []
                )
            yield from _json(inner, depth + 1)


def _csv(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Rows under a head with `avg_ts`."""
    head: list[str] | None = None
    for line in lines:
        if "avg_ts" in line and "n_prompt" in line and "INSERT" not in line and "{" not in line:
            head = [cell.strip() for cell in next(csv.reader([line]), [])]
        elif head and line.count(",") >= len(head) - 1:
            cells = next(csv.reader([line]), [])
            if len(cells) == len(head):
                yield dict(zip(head, cells, strict=True))


def _sql(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Rows of `INSERT INTO … (columns) VALUES ('…', …);`."""
    for line in lines:
        found = _SQL.search(line) if "avg_ts" in line else None
        if found:
            names = [name.strip(" \"'`") for name in found.group(1).split(",")]
            cells = [cell.strip() for cell in next(csv.reader([found.group(2)], quotechar="'", skipinitialspace=True), [])]
            if len(cells) == len(names):
                yield dict(zip(names, cells, strict=True))


def _run(row: Mapping[str, Any]) -> Run:
    """The run of a JSON, CSV or SQL row."""
    prompt, generate, depth = (whole(row.get(key)) or 0 for key in ("n_prompt", "n_gen", "n_depth"))
    backend, elsewhere = backend_of(known(row.get("backends")) or _old_backend(row))
    kind = "mixed" if prompt and generate else ("prefill" if prompt else "decode")
    test = "+".join(part for part in (f"pp{prompt}" if prompt else "", f"tg{generate}" if generate else "") if part)
    size, params = number(row.get("model_size")), number(row.get("model_n_params"))
    file = known(row.get("model_filename"))
    return Run(
        tool=TOOL,
        test=test + (f" @ d{depth}" if depth else ""),
        kind=kind,
        tokens_per_s=number(row.get("avg_ts")),
        engine="llama.cpp",
        backend=backend,
        elsewhere=elsewhere,
        model=_bare(str(row.get("model_type") or "")),
        file=file,
        quant=quant_words.of_file(file) or quant_words.of_type(str(row.get("model_type") or "")),
        params=params or None,
        file_bytes=size or None,
        version=known(row.get("build_commit")),
        devices=_info(row),
        prompt_tokens=prompt or (None if kind == "prefill" else 0),
        generate_tokens=generate or None,
        filled_tokens=depth,
        kv_quant=known(row.get("type_k")),
        flash_attention=_flag(row.get("flash_attn")),
        strategy=_split(row.get("split_mode")),
        date=(known(row.get("test_time")) or "")[:10] or None,
        offload=_offloads(row.get("n_gpu_layers"), row.get("tensor_buft_overrides"), row.get("n_cpu_moe")),
    )


def _old_backend(row: Mapping[str, Any]) -> str | None:
    """Older versions have a column for each backend: cuda, metal, vulkan …"""
    return next((name for name in ("cuda", "hip", "vulkan", "metal", "sycl") if str(row.get(name, "")).lower() in ("1", "true")), None)


def _info(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The device names of `gpu_info`."""
    return tuple(part.strip() for part in str(row.get("gpu_info") or "")[:4000].split(",") if part.strip())[:64]
