"""The forms of an answer: JSON against its schema, text within 80 columns, Markdown, HTML read by a browser."""

import html.parser
import json
import re

import jsonschema
import pytest

from advisor.cli import run
from advisor.reason import Reason
from advisor.report import as_html, as_markdown, as_text
from advisor.report.page import REST, Bar, Bars, Chart, Dot, Facts, Listing, Page, Table
from advisor.report.schemas import BUILDERS, schema
from advisor.report.sentences import SENTENCES, text
from advisor.report.svg.axis import ticks

MODEL = ("--model", "qwen3-8b")
COMMANDS = {
    "estimate": ("estimate", "2x rtx-3090 via nvlink as tensor on vllm", *MODEL, "--users", "4"),
    "estimate-no": ("estimate", "rtx-3060-12gb as whole", "--model", "llama-3.3-70b", "--quant", "q8_0"),
    "estimate-unread": ("estimate", "rtx-3090", *MODEL, "--prompt", "0"),
    "compare": ("compare", "rtx-3090", "3x rtx-3090 as tensor on vllm", *MODEL),
    "scale": ("scale", "rtx-3090 via pcie-4-x8 as tensor on vllm", "--max", "4", *MODEL),
    "recommend": ("recommend", "--have", "rtx-3090", "--model", "llama-3.3-70b", "--budget", "3000"),
    "recommend-new": ("recommend", *MODEL, "--prefer", "fastest", "--budget", "2k"),
    "recommend-no": ("recommend", "--have", "rtx-3090", "--model", "deepseek-r1", "--budget", "100"),
    "ladder": ("recommend", "--have", "rtx-3090"),
    "ask": ("ask", "should I buy a second 3090 for a 70B model with 4 users?"),
    "list": ("list", "devices"),
    "show": ("show", "rtx-3090"),
}
TEXTS = [name for name in COMMANDS if name not in ("list", "show")]
NEGATIVE = {"estimate-no", "recommend-no"}


def asked(capsys, *arguments):
    """(exit code, stdout, stderr) of a command line."""
    code = run(arguments)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_what_its_schema_says(name, capsys):
    code, out, _ = asked(capsys, *COMMANDS[name], "--json")
    assert code == (3 if name in NEGATIVE else 0)
    answer = json.loads(out)
    command = COMMANDS[name][0]
    assert out.endswith("}\n")
    assert next(iter(answer)) == "schema_version"
    assert answer["command"] == command
    jsonschema.Draft202012Validator(BUILDERS[command]()).validate(answer)


def known_keys(shape, path=""):
    """Every key path that a schema names; where several shapes are possible, the keys of all."""
    found = set()
    for each in (shape, *shape.get("anyOf", ())):
        for key, inner in each.get("properties", {}).items():
            found |= {f"{path}.{key}", *known_keys(inner, f"{path}.{key}")}
        if "items" in each:
            found |= known_keys(each["items"], path)
    for each in shape.get("anyOf", ()):
        found |= known_keys(each, path)
    return found


def given_keys(answer, path=""):
    """Every key path of an answer; facts are free."""
    if isinstance(answer, list):
        return set().union(*(given_keys(each, path) for each in answer)) if answer else set()
    if not isinstance(answer, dict) or path.endswith((".facts", ".record", ".records")):
        return set()
    return {f"{path}.{key}" for key in answer} | set().union(*(given_keys(each, f"{path}.{key}") for key, each in answer.items()))


@pytest.mark.parametrize("name", TEXTS)
def test_the_schema_names_every_key(name, capsys):
    _, out, _ = asked(capsys, *COMMANDS[name], "--json")
    assert given_keys(json.loads(out)) <= known_keys(BUILDERS[COMMANDS[name][0]]())


@pytest.mark.parametrize("command", BUILDERS)
def test_every_schema_is_a_schema(command):
    jsonschema.Draft202012Validator.check_schema(schema(command))


def test_an_error_is_what_the_schema_says(capsys):
    _, out, _ = asked(capsys, "estimate", "rtx-309", *MODEL, "--json")
    jsonschema.Draft202012Validator(schema("estimate")).validate(json.loads(out))


def test_a_speed_lies_in_its_interval_and_parts_sum(capsys):
    _, out, _ = asked(capsys, *COMMANDS["estimate"], "--json")
    answer = json.loads(out)
    for speed in answer["speed"].values():
        assert speed["low"] <= speed["value"] <= speed["high"]
    parts = dict(answer["time_per_token_ms"])
    assert parts.pop("total") == pytest.approx(sum(parts.values()))
    memory = answer["memory"]
    assert memory["needed_gib"] + memory["headroom_gib"] == pytest.approx(memory["usable_gib"])
    assert len(memory["per_device"]) == 2
    assert memory["weights_gib"] == pytest.approx(sum(each["weights_gib"] for each in memory["per_device"]))


def test_nothing_read_gives_no_prefill(capsys):
    _, out, _ = asked(capsys, *COMMANDS["estimate-unread"], "--json")
    speed = json.loads(out)["speed"]
    assert speed["prefill_tokens_per_s"] is None
    assert speed["first_token_s"] is None
    assert speed["decode_tokens_per_s"] is not None


UNBREAKABLE = re.compile(r"https?://|--[a-z]|\[|vllm |llama-|mlx_lm|/|^  - [a-z0-9.-]+:$")


@pytest.mark.parametrize("why", [False, True])
@pytest.mark.parametrize("name", TEXTS)
def test_text_fits_80_columns(name, why, capsys):
    _, out, _ = asked(capsys, *COMMANDS[name], *(["--why"] if why else []))
    assert "Reason(" not in out
    assert "unknown for" not in out
    long = [line for line in out.splitlines() if len(line) > 80 and not UNBREAKABLE.search(line)]
    assert not long


@pytest.mark.parametrize("name", ["recommend", "recommend-new", "estimate", "ask"])
def test_text_is_one_page(name, capsys):
    """No longer than a page of 72 lines, with the settings, the assumptions and the command that gives the numbers again."""
    _, out, _ = asked(capsys, *COMMANDS[name])
    assert len(out.splitlines()) <= 72


def test_the_first_line_is_the_verdict_with_price_and_speed(capsys):
    _, out, _ = asked(capsys, *COMMANDS["recommend"])
    first = out.split("\n\n")[0]
    assert re.search(r"\$[0-9,]+", first)
    assert re.search(r"tokens/\s?s", first.replace("\n", " "))


@pytest.mark.parametrize(("have", "told"), [((), True), (("--have", "desktop"), False), (("--have", "rtx-3090"), False)])
def test_a_computer_on_the_bill_of_who_owns_nothing_may_be_there_already(have, told, capsys):
    _, out, _ = asked(capsys, "recommend", *have, "--model", "llama-3.3-70b")
    assert ("--have desktop" in out) == told


def test_why_shows_arithmetic_and_sources(capsys):
    _, out, _ = asked(capsys, *COMMANDS["estimate"], "--why")
    assert "Sources" in out
    assert "GB/s" in out or "TB/s" in out


@pytest.mark.parametrize("name", TEXTS)
def test_markdown(name, capsys):
    _, out, _ = asked(capsys, *COMMANDS[name], "--format", "markdown")
    assert out.startswith("**")
    tables = re.findall(r"(?m)^\|.*\|$", out)
    assert all(row.count("|") >= 3 for row in tables)


HOSTILE = '<script>alert("x")</script> & | `rm` \x1b[31m'
HOSTILE_PAGE = Page(
    HOSTILE,
    HOSTILE[:8],
    (
        Facts(((HOSTILE, HOSTILE),)),
        Listing(HOSTILE, (HOSTILE,)),
        Listing(HOSTILE, (HOSTILE,), commands=True),
        Table(HOSTILE, (HOSTILE, "n"), ((HOSTILE, "1"),), (None, REST), (1,)),
        Bars(HOSTILE, (Bar(HOSTILE, ((HOSTILE, 1.0), ("b", 2.0)), HOSTILE),), 4.0, HOSTILE),
        Chart(HOSTILE, (Dot(HOSTILE, 1, 2, 1, 3), Dot("b", 1, 2)), HOSTILE, HOSTILE, (1.0, HOSTILE), (2.0, HOSTILE)),
    ),
)


class Reader(html.parser.HTMLParser):
    """Collects tags, and complains of what is not closed."""

    def __init__(self):
        super().__init__()
        self.tags, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "line", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(document):
    """The document's tags, everything closed."""
    reader = Reader()
    reader.feed(document)
    assert reader.open == []
    return reader.tags


def test_hostile_names_stay_text():
    written = as_html.written(HOSTILE_PAGE)
    assert "script" not in {tag for tag, _ in read(written)}
    assert "<script>" not in as_markdown.written(HOSTILE_PAGE).replace("\\<", "")[:200]
    assert as_text.written(HOSTILE_PAGE)


@pytest.mark.parametrize("name", ["recommend", "recommend-no", "ladder", "compare", "scale"])
def test_html_is_one_accessible_file(name, capsys):
    _, out, _ = asked(capsys, *COMMANDS[name], "--format", "html")
    tags = read(out)
    assert not [attrs for tag, attrs in tags if "src" in attrs or (tag == "link" and "href" in attrs)]
    assert "http" not in re.sub(r">[^<]*<", "><", out).replace("http-equiv", "")
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    pictures = [attrs for tag, attrs in tags if tag == "svg"]
    assert all(set(attrs["aria-labelledby"].split()) <= set(ids) and attrs["role"] == "img" for attrs in pictures)
    assert 2 * sum(tag == "details" for tag, _ in tags) == len(pictures), "a table stands behind every picture, drawn wide and narrow"
    assert "prefers-color-scheme:dark" in out
    assert "default-src 'none'" in out, "a browser asks nothing of a network, whatever a name holds"
    chosen = [attrs for tag, attrs in tags if tag == "tr" and attrs.get("class") == "chosen"]
    assert bool(chosen) is (name in ("recommend", "ladder")), "what the answer takes stands out in its table"
    assert "@media print" in out


@pytest.mark.parametrize(("most", "last"), [(1, 1.0), (7, 8.0), (41.2, 50.0), (95, 100.0), (17_800, 20_000.0), (0.03, 0.03)])
def test_ticks_are_round_and_cover(most, last):
    """By hand: a fifth of 41.2 is 8.2, the next of 1, 2, 5, 10 is 10, and five tens cover it."""
    assert ticks(most)[-1] == pytest.approx(last)
    assert ticks(most)[-1] >= most * (1 - 1e-9)


def test_bars_end_where_they_belong():
    """Half of the scale is half of the room, whatever the rounding of the parts."""
    page = Page("x", "x", (Bars("", (Bar("a", (("p", 1 / 3), ("q", 1 / 3), ("r", 1 / 3)), "n"),), 2.0, "GiB"),))
    line = as_text.written(page).splitlines()[-1]
    drawn = line.split()[1]
    assert abs(drawn.count(as_text.FREE) - len(drawn) / 2) <= 1


def test_sentences_never_fail():
    for code, template in SENTENCES.items():
        names = re.findall(r"\{([a-z0-9_]+)", template) if isinstance(template, str) else []
        assert text(Reason(code, dict.fromkeys(names, 1)))
        assert text(Reason(code, {}))
    assert text(Reason("no.such", {"share_share": 0.5})) == "no.such: share_share 50 %"


def test_a_warning_of_a_comparison_names_its_system(capsys):
    """Two systems of which one cannot hold the weights anywhere."""
    systems = ("8x mi300x", "rtx-3060-12gb", "rtx-4090 + tesla-p40")
    _, _, said = asked(capsys, "compare", *systems, "--model", "deepseek-v3")
    notes = [line for line in said.splitlines() if "fit neither memory" in line]
    assert [note[:9] for note in notes] == ["Note: 2: ", "Note: 3: "]
    assert len({note[9:] for note in notes}) == 2
