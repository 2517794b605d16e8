"""Every reader on what no tool ever printed: cut, doubled, wrongly encoded, noisy, deeply nested. No crash, bounded time and memory."""

import json
import tracemalloc
from itertools import cycle, islice
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.catalog import Catalog
from advisor.errors import AdvisorError
from advisor.intake import bench, detect, excerpt, loads, other_bench
from advisor.intake.page import MOST_BYTES, MOST_FAILED_CHARS, encoding_of, page_from, page_of

INPUTS = sorted((Path(__file__).parent / "inputs").glob("*"))
PASTED = [
    each["text"].encode()
    for name in ("pastes", "benchmarks")
    for each in yaml.safe_load((INPUTS[0].parent.parent / f"{name}.yaml").read_text())
]
TEXTS = [*(path.read_bytes() for path in INPUTS), *PASTED]
READERS = (*detect.READERS, *bench.READERS, other_bench)
CATALOG = Catalog.load(user_folder=False)
NOISE_BYTES = 2_000_000


def read_all(raw: bytes | str) -> None:
    """Everything that reads pasted text."""
    page = page_of(raw)
    detect.detect([page], CATALOG)
    bench.read(page)
    other_bench.read(page)
    loads.read(page)
    for reader in READERS:  # also those that do not recognise it
        reader.read(page)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A fixture, damaged: cut, doubled, lines shuffled or repeated, bytes replaced, other encodings and line ends."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 3))):
        damage = draw(
            st.sampled_from(("cut", "head", "double", "swap", "bytes", "crlf", "utf16", "latin", "digits", "nulls", "noise", "nest"))
        )
        at = draw(st.integers(0, max(0, len(text) - 1)))
        if damage == "cut":
            text = text[:at]
        elif damage == "head":
            text = text[at:]
        elif damage == "double":
            text = text + text
        elif damage == "swap":
            lines = text.split(b"\n")
            text = b"\n".join(draw(st.permutations(lines[:40])) + lines[40:])
        elif damage == "bytes":
            text = text[:at] + draw(st.binary(min_size=1, max_size=12)) + text[at + 3 :]
        elif damage == "noise":
            text = (
                text[:at]
                + draw(st.sampled_from((b"|" * 9000, b"(" * 9000, b" " * 9000, b"1" * 9000, b"\x1b[" * 3000, b"\n" * 9000)))
                + text[at:]
            )
        elif damage == "nest":
            text = b'{"a":' * 2000 + text + b"}" * 2000
        elif damage == "crlf":
            text = text.replace(b"\n", b"\r\n")
        elif damage == "utf16":
            text = text.decode("utf-8", "replace").encode(draw(st.sampled_from(("utf-16", "utf-16-le", "utf-16-be", "utf-32"))))
        elif damage == "latin":
            text = text.decode("utf-8", "replace").encode("cp1252", "replace")
        elif damage == "digits":
            text = text.replace(b"0", draw(st.sampled_from((b"9" * 40, b"-1", b"", b"NaN", b"1e308"))), 3)
        else:
            text = text.replace(b" ", b"\x00")
    return text[:200_000]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated())
def test_damaged_input_never_crashes(raw: bytes) -> None:
    read_all(raw)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    read_all(text)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(b"\n".join(TEXTS).decode("utf-8", "replace").split("\n")), max_size=60))
def test_lines_of_all_tools_mixed(lines: list[str]) -> None:
    read_all("\n".join(lines))


def _noise() -> dict[str, str]:
    words = (
        "GPU",
        "|",
        "0",
        "MiB",
        "eval time =",
        "NVIDIA",
        "RTX 3090",
        "tokens/s",
        ":",
        "\n",
        "{",
        '"tps":',
        "12.5",
        "}",
        "Device 0:",
        "%",
    )
    mixed = " ".join(islice(cycle(words[::3] + words[1::3] + words[2::3]), NOISE_BYTES // 6))
    forms = {
        "mixed words": mixed,
        "one long line": "x" * NOISE_BYTES,
        "blanks": " \n" * (NOISE_BYTES // 2),
        "open braces": '{\n"a":' * (NOISE_BYTES // 6),
    }
    forms |= {"open brackets": "[" * NOISE_BYTES, "tags": "<a>" * (NOISE_BYTES // 3), "pipes": ("| " * 60 + "\n") * (NOISE_BYTES // 121)}
    forms |= {"commas": "a,b,c,1,2\n" * (NOISE_BYTES // 10), "rates": "12.5 t/s\n" * (NOISE_BYTES // 9), "quotes": '"' * NOISE_BYTES}
    forms |= {
        "escapes": "\x1b[" * (NOISE_BYTES // 2),
        "numbers": "1234567890 " * (NOISE_BYTES // 11),
        "colons": "Key : value\n" * (NOISE_BYTES // 12),
    }
    return forms


NOISE = _noise()


@pytest.mark.parametrize("form", NOISE)
def test_of_noise_a_bounded_part_is_read(form: str) -> None:
    """What the readers see is bounded in bytes and lines, however much is given."""
    page = page_of(NOISE[form])
    assert len(page.text) <= excerpt.MOST_READ_BYTES + 100 and len(page.lines) <= excerpt.MOST_LINES
    detect.detect([page], CATALOG)
    assert len(bench.read(page)) <= bench.MOST_RUNS
    loads.read(page)
    for reader in READERS:
        if reader.recognise(page):
            reader.read(page)


def test_a_tool_in_the_middle_of_noise_is_found() -> None:
    table = (Path(__file__).parent / "inputs" / "smi_2x3090_bridge.txt").read_text()
    page = page_of("some line of a log\n" * 40_000 + table + "some line of a log\n" * 40_000)
    assert page.left_out and "large" in page.warnings[0]
    found = detect.detect([page], CATALOG)
    assert found.system == "2x rtx-3090 via nvlink" and found.warnings[0] == page.warnings[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "utf-32", "cp1252"])
def test_pieces_end_between_lines_and_signs(encoding: str) -> None:
    lines = [f"line {number} é" for number in range(60_000)]
    raw = "\n".join(lines).encode(encoding)
    name, width = encoding_of(raw)
    found = excerpt.cut(raw, name, width)
    assert sum(map(len, found.pieces)) + found.left_out == len(raw)
    read = page_of(raw).lines
    assert read[0] == lines[0] and read[-1] == lines[-1] and set(read) - {""} <= set(lines)  # an empty line parts the pieces


def test_a_long_json_text_is_read_whole() -> None:
    """A server's result with every token's time inside: the figures stand behind megabytes of numbers."""
    times = ",".join(["0.0123"] * 300_000)
    result = f'{{"itls": [[{times}]], "completed": 10, "total_output_tokens": 1000, "output_throughput": 512.5}}'
    page = page_of(result)
    assert page.left_out and not page.warnings
    assert [run.tokens_per_s for run in bench.read(page)] == [512.5]


def test_a_json_text_cut_inside_many_levels_is_not_read_again_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: the signs that the decoder goes through in vain have a limit."""
    read = 0
    whole = json.JSONDecoder.raw_decode

    def counted(self: json.JSONDecoder, text: str, begin: int = 0) -> tuple[object, int]:
        nonlocal read
        read += len(text) - begin
        return whole(self, text, begin)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", counted)
    text = "[\n" * 150 + "1," * 100_000
    assert not page_of(text).documents
    assert read <= MOST_FAILED_CHARS + 2 * len(text)


def test_memory_is_bounded() -> None:
    """Reading takes a small multiple of the text."""
    text = NOISE["mixed words"][:1_000_000]
    tracemalloc.start()
    try:
        read_all(text)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 60 * len(text)


@pytest.mark.parametrize("deep", ['{"a":' * 100_000, "[" * 100_000, '{"hardware":' * 3000 + "{}" + "}" * 3000, "<gpu id=''>" * 20_000])
def test_deep_nesting_ends(deep: str) -> None:
    read_all(deep)


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.txt"
    with large.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(AdvisorError, match="more than"):
        page_from(str(large))
