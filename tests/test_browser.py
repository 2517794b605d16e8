"""The HTML answers opened and read in a real Chromium: at three widths, in light and dark, on paper, by a screen reader.

Skipped where there is none (on Debian: apt install chromium).
"""

import contextlib
import io

import chromium
import pytest

from advisor.cli import run
from advisor.report import as_html
from advisor.report.page import Bar, Bars, Chart, Dot, Facts, Listing, Page, Table

pytestmark = pytest.mark.skipif(not chromium.PROGRAM, reason="no Chromium on this machine")

FAR = (
    "rtx-5090",
    "2x rtx-3090 via nvlink",
    "mac-m3-ultra-80c 96gb",
    "4x tesla-p40",
    "rtx-4060",
    "h100-sxm",
    "3x rtx-3090 as tensor on vllm",
)
LONG = (
    "4x rtx-pro-6000-blackwell-server",
    "2x (4x h100-sxm via nvlink4-nvswitch-h100) via ib-ndr as tensor",
    "rtx-4090 + tesla-p40 + rtx-3060-12gb",
    "8x mi300x",
)
ANSWERS = {
    "recommend": ("recommend", "--have", "rtx-3090", "--model", "llama-3.3-70b", "--budget", "3000"),
    "recommend-far": ("recommend", "--have", "2x rtx-3090", "--model", "qwen3-8b", "--users", "64", "--why"),
    "nothing": ("recommend", "--model", "llama-3.1-405b", "--budget", "500"),
    "ladder": ("recommend", "--have", "rtx-4090"),
    "ask": ("ask", "should I buy a second 3090 for a 70B model with 4 users?"),
    "compare": ("compare", *FAR, "--model", "qwen3-32b"),
    "compare-long": ("compare", *LONG, "--model", "deepseek-v3"),
    "none-fits": ("compare", "rtx-3060-12gb", "rtx-4060-ti-8gb", "--model", "llama-3.1-405b"),
    "scale": ("scale", "rtx-3090", "--max", "16", "--model", "llama-3.3-70b", "--users", "16"),
    "scale-ceiling": ("scale", "mac-m3-ultra-80c 512gb via thunderbolt-5-rdma", "--max", "4", "--model", "qwen3-235b-a22b"),
}
WIDTHS = (1280, 800, 400)
# Rectangles of what is seen, in pixels of the page; `svg` is the picture that words belong to.
SEEN = """[...document.querySelectorAll('QUERY')].filter(e => e.getClientRects().length && !e.closest('details:not([open])') &&
  !(e.closest('thead') && getComputedStyle(e.closest('thead')).position == 'absolute')).map(e => {
  const r = e.getBoundingClientRect(), svg = e.closest('svg');
  return {words: e.textContent, left: r.left + scrollX, right: r.right + scrollX, top: r.top + scrollY, bottom: r.bottom + scrollY,
          size: svg ? parseFloat(getComputedStyle(e).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 0,
          svg: [...document.querySelectorAll('svg')].indexOf(svg), turned: e.hasAttribute('transform')}; })"""
# Single words of headers and numbers that stand on several lines.
BROKEN = """[...document.querySelectorAll('th,td.n')].filter(e => /^[^\\s/–-]+$/.test(e.textContent)).filter(e => {
  const range = document.createRange(); range.selectNodeContents(e);
  return new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1; }).map(e => e.textContent)"""
# (ink, paper, least contrast) of every kind of thing drawn or written, colours as the browser computes them.
COLOURS = """(() => {
  const paper = getComputedStyle(document.body).backgroundColor, found = [];
  for (const e of document.querySelectorAll('h1,h1 strong,h2,dt,dd,th,td,li,summary,footer'))
    found.push([e.tagName, getComputedStyle(e).color, paper, 4.5]);
  for (const e of document.querySelectorAll('svg text')) found.push([e.getAttribute('class'), getComputedStyle(e).fill, paper, 4.5]);
  for (const e of document.querySelectorAll('svg rect:not(.free):not(.band),svg circle'))
    found.push([e.getAttribute('class'), getComputedStyle(e).fill, paper, 3]);
  for (const e of document.querySelectorAll('svg .limit,svg .interval,svg .curve,svg .axis,svg .end'))
    found.push([e.getAttribute('class'), getComputedStyle(e).stroke, paper, 3]);
  return found; })()"""


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    """One browser for all pages."""
    with chromium.browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Every answer as a file."""
    folder = tmp_path_factory.mktemp("pages")
    for name, arguments in ANSWERS.items():
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            run([*arguments, "--format", "html"])
        (folder / f"{name}.html").write_text(out.getvalue(), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in ANSWERS}


def seen(window, query):
    """What of a kind is visible."""
    return window.run(SEEN.replace("QUERY", query))


def overlap(one, other):
    """Whether two rectangles of one picture share more than a hair."""
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return one["svg"] == other["svg"] and across > 1 and down > 2


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ANSWERS)
def test_everything_is_seen_and_nothing_lies_on_anything_else(name, width, window, pages):
    window.open(pages[name], width)
    window.run("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert window.run("document.documentElement.scrollWidth") <= width
    cells = seen(window, "th,td,dd,dt,li,h1,h2,summary")
    assert cells
    assert not [cell["words"] for cell in cells if cell["right"] > width or cell["left"] < -1], "cut off at the edge"
    assert window.run(BROKEN) == []
    words = seen(window, "svg text")
    assert words or name == "nothing"
    assert not [each["words"] for each in words if each["size"] < 9], "too small to read"
    pairs = [(one["words"], other["words"]) for at, one in enumerate(words) for other in words[:at] if overlap(one, other)]
    assert not pairs
    frames = seen(window, "svg")
    for each in words:
        assert any(
            f["left"] - 1 <= each["left"] and each["right"] <= f["right"] + 1 and f["top"] <= each["bottom"] <= f["bottom"] + 1
            for f in frames
        ), each


def luminance(colour):
    """Relative luminance of `rgb(r, g, b)` [WCAG 2.2]."""
    parts = [int(float(part)) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Contrast ratio [WCAG 2.2]: 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_counted_as_wcag_does():
    """Black on white is 21; #767676 on white is the well-known 4.54."""
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21)
    assert contrast("rgb(118, 118, 118)", "rgb(255, 255, 255)") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["recommend", "nothing", "compare", "scale-ceiling"])
def test_contrast(name, dark, window, pages):
    window.open(pages[name], dark=dark)
    colours = window.run(COLOURS)
    assert (luminance(colours[0][2]) < 0.1) is dark
    weak = {(what, ink, paper) for what, ink, paper, least in colours if contrast(ink, paper) < least}
    assert not weak


@pytest.mark.parametrize("name", ["recommend", "compare", "scale"])
def test_it_asks_nothing_of_a_network_and_reports_no_fault(name, window, pages):
    window.open(pages[name])
    asked = [event["params"]["request"]["url"] for event in window.events if event["method"] == "Network.requestWillBeSent"]
    assert asked == [pages[name].as_uri()]
    assert not [event for event in window.events if event["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")]


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", ["recommend", "compare", "scale"])
def test_a_screen_reader_finds_headings_pictures_and_tables(name, width, window, pages):
    window.open(pages[name], width)
    spoken = window.spoken()
    roles = [role for role, _ in spoken]
    assert roles.count("heading") >= 3
    assert "table" in roles
    assert "rowheader" in roles
    pictures = [words for role, words in spoken if role in ("image", "img")]
    figures = window.run("document.querySelectorAll('figure').length")
    assert len(pictures) == figures, "each picture once, whatever the width"
    assert all(pictures)
    assert sum("numbers as a table" in words for role, words in spoken if role not in ("StaticText", "InlineTextBox")) >= figures


@pytest.mark.parametrize("name", ["recommend", "scale"])
def test_on_paper_it_is_light_and_whole(name, window, pages):
    window.open(pages[name], 720, dark=True, media="print")
    assert window.run("getComputedStyle(document.documentElement).getPropertyValue('--page')") == "#fff"
    assert window.run("[...document.querySelectorAll('details')].every(e => !e.getClientRects().length)")
    assert window.run("document.documentElement.scrollWidth") <= 720
    window.open(pages[name])
    assert window.printed().startswith(b"%PDF")


def test_it_is_a_picture_and_not_a_blank_page(window, pages):
    window.open(pages["recommend"])
    picture = window.picture()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 50_000


NAME = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\"> & " + "averylongnamewithoutanybreak" * 12
NAMED = Page(
    NAME,
    "",
    (
        Facts(((NAME, NAME),)),
        Listing(NAME, (NAME,)),
        Listing(NAME, (NAME,), commands=True),
        Table(NAME, ("System", "n"), ((NAME, "1"),), (), (1,), (0,)),
        Bars(NAME, (Bar(NAME, (("weights", 1.0),), "1 GiB", 2.0), Bar("b", (("c", 3.0),), "3 GiB")), 4.0, "GiB", "free"),
        Chart(NAME, (Dot(NAME, 1, 2, 1, 3, chosen=True), Dot(NAME, 1, 2)), "USD", "tokens/s", (1.0, "budget"), (2.0, "wanted")),
    ),
)


@pytest.mark.parametrize("width", [1280, 400])
def test_a_name_that_is_code_stays_a_name_and_a_long_one_breaks(width, window, tmp_path):
    page = tmp_path / "named.html"
    page.write_text(as_html.written(NAMED), encoding="utf-8")
    window.open(page, width)
    window.run("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert window.run("document.title").startswith("<script>")
    assert window.run("document.querySelectorAll('script,img').length") == 0
    assert window.run("document.documentElement.scrollWidth") <= width
    frames = seen(window, "svg")
    assert all(any(f["left"] <= each["left"] and each["right"] <= f["right"] + 1 for f in frames) for each in seen(window, "svg text"))
