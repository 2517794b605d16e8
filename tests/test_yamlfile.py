"""The decoder: a table of bad text and the exact message, and the laws that hold for any text."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as some

from advisor.device import Device
from advisor.errors import BadInput, CatalogError
from advisor.units import GB, GIB
from advisor.yamlcheck import decode, problems_of
from advisor.yamlfile import build, given
from advisor.yamltext import MOST_BYTES, UNSAFE, Lined, parse
from advisor.yamlwrite import encode, lines, text


@dataclass(frozen=True, kw_only=True)
class Inner:
    low: float = given(above=0)
    tag: str | None = given(default=None)


@dataclass(frozen=True, kw_only=True)
class Thing:
    id: str = given()
    memory_bytes: float = given("memory_gib", GIB, above=0, most=4096)
    cores: int | None = given(default=None, least=1)
    kind: str = given(default="a", one_of=("alpha", "beta", "a"))
    words: tuple[str, ...] = given(default=())
    sizes_bytes: tuple[float, ...] = given("sizes_gb", GB, default=(), above=0)
    pair: tuple[int, str] | None = given(default=None)
    flag: bool = given(default=False)
    inner: Inner | None = given(default=None)
    inners: tuple[Inner, ...] = given(default=())
    table: Mapping[str, float] | None = given(default=None)
    either: float | str | None = given(default=None)
    mode: Literal["x", "y"] | None = given(default=None)


def problems(written: str) -> list[str]:
    tree, found = parse(written.encode(), "t.yaml")
    found = found or problems_of(Thing, tree, "t.yaml")
    return [str(each) for each in sorted(found)]


DIGITS = "is not plain: write a whole number in plain digits, or put the text in quotes"
FINITE = "is not plain: write a finite number in plain digits, or put the text in quotes"
GOOD = "id: t\nmemory_gib: 1\n"
BAD = [
    # text, the one message
    (GOOD + "pwer_w: 3", "t.yaml:3: pwer_w: unknown key"),
    (GOOD + "croes: 3", "t.yaml:3: croes: unknown key (did you mean cores?)"),
    ("id: t", "t.yaml:1: memory_gib: missing"),
    ("id: t\nmemory_gib: null", "t.yaml:2: memory_gib: missing: null says that nobody knows, and this must be known"),
    (
        "id: t\nmemory_gib: '24 GB'",
        "t.yaml:2: memory_gib: expected a number, got the text '24 GB': the unit stands in the key, give the number alone",
    ),
    (
        "id: t\nmemory_gib: 1e2",
        "t.yaml:2: memory_gib: expected a number, got the text '1e2': YAML reads it as text, write 100",
    ),
    ("id: t\nmemory_gib: true", "t.yaml:2: memory_gib: expected a number, got true"),
    ("id: t\nmemory_gib: [1]", "t.yaml:2: memory_gib: expected a number, got a list of 1"),
    ("id: t\nmemory_gib: {a: 1}", "t.yaml:2: memory_gib: expected a number, got keys and values"),
    ("id: t\nmemory_gib: 0", "t.yaml:2: memory_gib: expected more than 0, got 0"),
    ("id: t\nmemory_gib: 5000", "t.yaml:2: memory_gib: expected at most 4096, got 5000"),
    ("id: t\nmemory_gib: .inf", f"t.yaml:2: memory_gib: '.inf' {FINITE}"),
    ("id: t\nmemory_gib: .nan", f"t.yaml:2: memory_gib: '.nan' {FINITE}"),
    ("id: t\nmemory_gib: 010", f"t.yaml:2: memory_gib: '010' {DIGITS}"),
    ("id: t\nmemory_gib: 12:30", f"t.yaml:2: memory_gib: '12:30' {DIGITS}"),
    ("id: t\nmemory_gib: 1_000", f"t.yaml:2: memory_gib: '1_000' {DIGITS}"),
    ("id: t\nmemory_gib: 0x10", f"t.yaml:2: memory_gib: '0x10' {DIGITS}"),
    ("id: t\nmemory_gib: 99999999999999999999", "t.yaml:2: memory_gib: 99999999999999999999 is beyond any number a datasheet holds"),
    ("id: t\nmemory_gib: 1.0e-300", "t.yaml:2: memory_gib: 1e-300 is beyond any number a datasheet holds"),
    ("id: 3090\nmemory_gib: 1", "t.yaml:1: id: expected text, got the number 3090: put it in quotes, '3090'"),
    ("id: no\nmemory_gib: 1", "t.yaml:1: id: 'no' is not plain: write true or false, or put the text in quotes"),
    ("id: true\nmemory_gib: 1", "t.yaml:1: id: expected text, got true: put it in quotes, 'True'"),
    ("id: ' '\nmemory_gib: 1", "t.yaml:1: id: empty"),
    (GOOD + "cores: 1.5", "t.yaml:3: cores: expected a whole number, got the number 1.5"),
    (GOOD + "cores: 0", "t.yaml:3: cores: expected at least 1, got 0"),
    (GOOD + "kind: alpa", "t.yaml:3: kind: 'alpa' is none of alpha, beta, a (did you mean alpha?)"),
    (GOOD + "mode: z", "t.yaml:3: mode: 'z' is none of x, y"),
    (GOOD + "words: one", "t.yaml:3: words: expected a list, got the text 'one': put it in [ ] or after a dash"),
    (GOOD + "words: [a, 3]", "t.yaml:3: words[1]: expected text, got the number 3: put it in quotes, '3'"),
    (GOOD + "sizes_gb: [1, -2]", "t.yaml:3: sizes_gb[1]: expected more than 0, got -2"),
    (GOOD + "pair: [1]", "t.yaml:3: pair: expected a list of 2, got a list of 1"),
    (GOOD + "pair: [x, y]", "t.yaml:3: pair[0]: expected a whole number, got the text 'x'"),
    (GOOD + "flag: yes", "t.yaml:3: flag: 'yes' is not plain: write true or false, or put the text in quotes"),
    (GOOD + "flag: 1", "t.yaml:3: flag: expected true or false, got the number 1"),
    (GOOD + "inner: 3", "t.yaml:3: inner: expected keys and values, got the number 3"),
    (GOOD + "inner:\n  tag: x", "t.yaml:4: inner.low: missing"),
    (GOOD + "inners:\n  - low: 1\n  - low: -1", "t.yaml:5: inners[1].low: expected more than 0, got -1"),
    (GOOD + "inners:\n  - low: 1\n    lwo: 2", "t.yaml:5: inners[0].lwo: unknown key (did you mean low?)"),
    (GOOD + "table: {a: x}", "t.yaml:3: table.a: expected a number, got the text 'x'"),
    (GOOD + "table: [1]", "t.yaml:3: table: expected keys and values, got a list of 1"),
    (GOOD + "either: [1]", "t.yaml:3: either: expected a number, got a list of 1"),
    (GOOD + "id: u", "t.yaml:3: id: written twice (first on line 1)"),
    (GOOD + "inner: {low: 1, low: 2}", "t.yaml:3: low: written twice (first on line 3)"),
    (GOOD + "words: &a [x]\ntable: *a", "t.yaml:4: table: anchors and aliases (& and *) are not supported: write the value out"),
    (GOOD + "inner: {<<: {low: 1}}", "t.yaml:3: <<: merge keys are not supported: write the keys out"),
    (GOOD + "inner: {[1]: 2}", "t.yaml:3: file: a key must be a word"),
    (GOOD + 'words: ["\\e[31m"]', "t.yaml:3: file: holds the control character U+001B"),
    (GOOD + 'words: ["\\u202E"]', "t.yaml:3: file: holds the control character U+202E"),
    (GOOD + "words: [\u202e]", "t.yaml:3: file: holds the control character U+202E"),
    (GOOD + '"\\e": 1', "t.yaml:3: file: the key '\\x1b' holds a control character"),
    (GOOD + "words: !!x 1", "t.yaml:3: file: could not determine a constructor for the tag 'tag:yaml.org,2002:x'"),
    (GOOD + "words: [a", "t.yaml:4: file: did not find expected ',' or ']'"),
    (GOOD + "words: a: b", "t.yaml:3: file: mapping values are not allowed in this context"),
    (GOOD + "\tx: 1", "t.yaml:3: file: found a tab character that violates indentation"),
    (GOOD + "---\nid: u", "t.yaml:3: file: but found another document"),
    ("[" * 100_000, "t.yaml:1: file: exceeded maximum nesting depth"),
    ("- 1", "t.yaml:1: file: expected keys and values, got a list of 1"),
    ("", "t.yaml:1: file: expected keys and values, got nothing"),
    ("just words", "t.yaml:1: file: expected keys and values, got the text 'just words'"),
]


@pytest.mark.parametrize(("written", "message"), BAD, ids=[f"{index}-{text[-18:]!r}" for index, (text, _) in enumerate(BAD)])
def test_a_bad_text_says_where_and_what(written: str, message: str) -> None:
    assert problems(written) == [message]


def test_all_problems_are_told_at_once() -> None:
    assert problems("id: 3\nmemory_gib: x\ninner: {low: 0}\nnope: 1") == [
        "t.yaml:1: id: expected text, got the number 3: put it in quotes, '3'",
        "t.yaml:2: memory_gib: expected a number, got the text 'x'",
        "t.yaml:3: inner.low: expected more than 0, got 0",
        "t.yaml:4: nope: unknown key",
    ]


def test_nesting_beyond_reason_is_refused_where_it_begins() -> None:
    found = problems(GOOD + "inner: " + "{low: " * 30 + "1" + "}" * 30)
    assert found == ["t.yaml:3: low: nested more than 24 deep"]


def test_an_alias_bomb_is_refused_at_its_first_alias() -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20))
    _, found = parse(bomb.encode(), "t.yaml")
    assert found
    assert {each.message for each in found} == {"anchors and aliases (& and *) are not supported: write the value out"}


def test_a_file_that_is_too_large_or_no_text_is_refused() -> None:
    assert str(parse(b"a" * (MOST_BYTES + 1), "t.yaml")[1][0]) == "t.yaml:1: file: larger than 4 MB"
    assert str(parse(b"id: a\nname: \xff", "t.yaml")[1][0]) == "t.yaml:2: file: not UTF-8 text"


def made(written: str) -> Thing:
    tree, found = parse(written.encode(), "t.yaml")
    assert not found
    assert not problems_of(Thing, tree, "t.yaml")
    return build(Thing, tree)


def test_a_good_text_becomes_a_record_in_si() -> None:
    thing = made(
        "id: '010'\nmemory_gib: 24\ncores: 3\nsizes_gb: [1, 2.5]\npair: [1, x]\nflag: true\n"
        "inner: {low: 1}\ninners:\n  - {low: 2, tag: 2026-11-01}\ntable: {8: 1}\neither: 3\nmode: x\n"
    )
    assert thing == Thing(
        id="010",
        memory_bytes=24 * 1024**3,
        cores=3,
        sizes_bytes=(1e9, 2.5e9),
        pair=(1, "x"),
        flag=True,
        inner=Inner(low=1.0),
        inners=(Inner(low=2.0, tag="2026-11-01"),),  # a YAML date is kept as it is written
        table={"8": 1.0},
        either=3.0,
        mode="x",
    )
    assert isinstance(thing.memory_bytes, float)
    assert isinstance(thing.inner and thing.inner.low, float)


def test_one_number_stands_for_a_list_of_one_and_null_for_the_default() -> None:
    assert made(GOOD + "sizes_gb: 2\nkind: null\nwords: null").sizes_bytes == (2e9,)
    assert made(GOOD + "kind: null").kind == "a"
    assert made(GOOD + "either: word").either == "word"


def test_a_byte_order_mark_and_windows_lines_do_not_matter() -> None:
    tree, found = parse(b"\xef\xbb\xbfid: t\r\nmemory_gib: 1\r\n", "t.yaml")
    assert (found, dict(tree)) == ([], {"id": "t", "memory_gib": 1})


def test_decode_reads_a_file_or_raises_everything(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(GOOD)
    assert decode(Thing, path) == Thing(id="t", memory_bytes=GIB)
    path.write_text("id: 3")
    with pytest.raises(CatalogError) as error:
        decode(Thing, path, "t.yaml")
    assert error.value.problems == (
        "t.yaml:1: id: expected text, got the number 3: put it in quotes, '3'",
        "t.yaml:1: memory_gib: missing",
    )
    with pytest.raises(BadInput, match="t.yaml: cannot be read: No such file"):
        decode(Thing, tmp_path / "gone.yaml", "t.yaml")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.yaml")
    with pytest.raises(BadInput, match="t.yaml: cannot be read: it is no file"):
        decode(Thing, tmp_path / "t.yaml", "t.yaml")


def test_of_an_endless_file_no_more_is_read_than_a_record_may_have(tmp_path: Path) -> None:
    with (tmp_path / "t.yaml").open("wb") as stream:
        stream.truncate(100 * MOST_BYTES)  # takes no room on the disk
    with pytest.raises(CatalogError) as error:
        decode(Thing, tmp_path / "t.yaml", "t.yaml")
    assert error.value.problems == ("t.yaml:1: file: larger than 4 MB",)


def test_a_mapping_remembers_its_lines() -> None:
    tree, _ = parse(b"a: 1\n\nb:\n  c: 2\n", "t.yaml")
    assert isinstance(tree["b"], Lined)
    assert (tree.lines, tree["b"].lines, tree["b"].line) == ({"a": 1, "b": 3}, {"c": 4}, 4)


# What people and attackers write: pieces of YAML in any order.
PIECES = some.sampled_from(
    ["id", "memory_gib", ": ", "\n", "- ", "[", "]", "{", "}", "&a ", "*a", "!!int ", "'", '"', "\\", "#", "|", ">", "?", "1e9", "0x1",
     "no", "12:30", "~", "\t", "  ", "---", "...", "%", "@", "`", "é", "\u202e", "\x00", "<<", "9" * 400, "2026-13-45", ".inf"]
)  # fmt: skip


@for_all(some.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
def test_no_text_breaks_the_decoder(written: str) -> None:
    tree, found = parse(written.encode(), "t.yaml")
    if not found:
        found = problems_of(Thing, tree, "t.yaml")
    if not found:
        assert build(Thing, tree).memory_bytes > 0
    assert all(each.line >= 1 and str(each).startswith("t.yaml:") for each in found)


@for_all(some.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_no_bytes_break_the_decoder(raw: bytes) -> None:
    tree, found = parse(raw, "t.yaml")
    assert found or problems_of(Thing, tree, "t.yaml") or isinstance(tree, Mapping)


SAFE_TEXT = some.text(
    some.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")), min_size=1, max_size=20
).filter(lambda value: value.strip() != "" and not UNSAFE.search(value))


@for_all(
    some.builds(
        Thing,
        id=SAFE_TEXT,
        memory_bytes=some.integers(1, 4096).map(lambda n: n * GIB),
        cores=some.none() | some.integers(1, 10**9),
        kind=some.sampled_from(["alpha", "beta", "a"]),
        words=some.lists(SAFE_TEXT, max_size=3).map(tuple),
        sizes_bytes=some.lists(some.floats(1e-6, 1e6).map(lambda x: float(f"{x:.6g}") * GB), max_size=3).map(tuple),
        pair=some.none() | some.tuples(some.integers(-99, 99), SAFE_TEXT),
        flag=some.booleans(),
        inner=some.none() | some.builds(Inner, low=some.floats(1e-3, 1e9), tag=some.none() | SAFE_TEXT),
        inners=some.lists(some.builds(Inner, low=some.just(2.0), tag=SAFE_TEXT), max_size=3).map(tuple),
    )
)
@settings(max_examples=150, deadline=None)
def test_what_is_written_reads_back_the_same(thing: Thing) -> None:
    written = "\n".join(lines(Thing, encode(thing)))
    again = made(written)
    assert again.sizes_bytes == pytest.approx(thing.sizes_bytes)
    assert again.inner is None or thing.inner is None or again.inner.low == pytest.approx(thing.inner.low)
    same = {name: value for name, value in vars(thing).items() if name not in ("sizes_bytes", "inner")}
    assert {name: getattr(again, name) for name in same} == same


@for_all(SAFE_TEXT)
@settings(max_examples=200, deadline=None)
def test_text_reads_back_the_same(value: str) -> None:
    tree, found = parse(f"id: {text(value)}\n".encode(), "t.yaml")
    assert (found, tree["id"]) == ([], value)


def test_a_template_names_every_key_with_its_unit_and_choices() -> None:
    written = list(lines(Device, {"id": "x", "power_w": 3}))
    assert "id: x" in written
    assert any(line.startswith("power_w: 3  # W") for line in written)
    assert any(line.startswith("# bandwidth_gb_per_s:  # GB/s") for line in written)
    assert any(line.startswith("# maker:  # ") and line.endswith("nvidia, amd, intel, apple") for line in written)
