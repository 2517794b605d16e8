"""An answer as one HTML file: opens from disk, needs no network, follows light and dark, prints well."""

from collections.abc import Iterable, Iterator
from html import escape

from advisor.report.page import PLAIN, Bars, Block, Chart, Facts, Listing, Page, Table, bare
from advisor.report.svg.bars import bars, part_names
from advisor.report.svg.chart import chart
from advisor.report.svg.drawing import FRAMES
from advisor.units import figure

STYLE = """
:root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--soft:#57606a;--rule:#d8dee4;--good:#116329;--bad:#a40e26;
--s0:#2563c4;--s1:#c2570c;--s2:#12805c;--s3:#7c4dbd;--s4:#b0355a;--s5:#5c6773;--free:#eef1f4}
@media screen and (prefers-color-scheme:dark){:root{--page:#14181d;--ink:#e6eaee;--soft:#9aa5b1;--rule:#38414b;--good:#6fdd8b;--bad:#ff8f9c;
--s0:#7aa9ff;--s1:#f2a15c;--s2:#5ccfa4;--s3:#c3a1f5;--s4:#f08bab;--s5:#a7b1bc;--free:#242b33}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:2rem 1.25rem 4rem;max-width:52rem;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.5rem;line-height:1.3;margin:0 0 1.25rem}h1 strong{color:var(--good)}h1 strong.no{color:var(--bad)}
h2{font-size:1.05rem;margin:2rem 0 .5rem}
dl{display:grid;grid-template-columns:9rem minmax(0,1fr);gap:.35rem 1rem;margin:1rem 0}dt{color:var(--soft)}dd{margin:0}
table{border-collapse:collapse;width:100%;font-size:.92rem}
h1,h2,dt,dd,li,p,tbody>tr>:not(.n){overflow-wrap:anywhere}tbody>tr>:not(.n){min-width:5.5rem}
th,td{padding:.4rem .6rem;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}
thead th{color:var(--soft);font-weight:600}tbody th{font-weight:400}tr.chosen>*{font-weight:700}
td.n,th.n{text-align:right}td.n{white-space:nowrap;font-variant-numeric:tabular-nums}
pre{background:var(--free);padding:.75rem 1rem;border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem}
figure{margin:1rem 0}svg{width:100%;height:auto;display:block}
svg.narrow{display:none}figure p{margin:.25rem 0;font-size:.92rem;color:var(--soft)}
details{font-size:.92rem;color:var(--soft)}footer{margin-top:3rem;color:var(--soft);font-size:.85rem}
svg text{fill:var(--ink);font-size:12px}svg .tick,svg .note{fill:var(--soft)}
svg .leader{stroke:var(--soft);stroke-width:.75}svg .end{stroke:var(--ink)}svg .label.chosen{font-weight:700}
svg .label,svg .note{paint-order:stroke;stroke:var(--page);stroke-width:4px;stroke-linejoin:round}
svg .grid{stroke:var(--rule)}svg .axis{stroke:var(--soft)}svg .limit{fill:none;stroke:var(--s4);stroke-width:1.5;stroke-dasharray:5 4}
svg .dot{fill:var(--s0)}svg .dot.chosen{fill:var(--good);stroke:var(--page);stroke-width:2}svg .interval{stroke:var(--s5);stroke-width:2}
svg .curve{fill:none;stroke:var(--s0);stroke-width:2.5}svg .band{fill:var(--s0);opacity:.15}svg .free{fill:var(--free)}
svg .s0{fill:var(--s0)}svg .s1{fill:var(--s1)}svg .s2{fill:var(--s2)}svg .s3{fill:var(--s3)}svg .s4{fill:var(--s4)}svg .s5{fill:var(--s5)}
@media print{body{max-width:none;padding:0;font-size:10.5pt}figure,tr,li,dd{break-inside:avoid}h1,h2,dt{break-after:avoid}
thead{display:table-header-group}details{display:none}svg{max-width:44rem}}
@media screen and (max-width:40rem){dl{grid-template-columns:minmax(0,1fr)}dd{margin-bottom:.5rem}ul{padding-left:1.25rem}
svg.wide{display:none}svg.narrow{display:block;max-width:30rem}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}table,tbody{display:block}
tr{display:block;padding:.6rem 0;border-bottom:1px solid var(--rule)}
tbody th,td{display:block;padding:.1rem 0;border:0}tbody [data-of]{display:grid;grid-template-columns:7rem minmax(0,1fr);gap:.75rem}
tbody th{font-weight:600}
td.n,th.n{text-align:left;white-space:normal}
tbody [data-of]::before{content:attr(data-of);color:var(--soft);font-weight:400}}
"""
NEGATIVE = ("Does not fit", "None fits", "Nothing", "Unusable")


def _facts(block: Facts, _: str) -> Iterator[str]:
    yield "<dl>"
    for label, text in block.lines:
        yield f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>"
    yield "</dl>"


def _listing(block: Listing, _: str) -> Iterator[str]:
    yield f"<h2>{escape(block.title)}</h2>"
    if block.commands:
        yield f"<pre><code>{escape(chr(10).join(block.lines))}</code></pre>"
    else:
        yield f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in block.lines)}</ul>"


def _rows(
    headers: tuple[str, ...], rows: tuple[tuple[str, ...], ...], right: tuple[int, ...], chosen: tuple[int, ...] = ()
) -> Iterator[str]:
    kinds = [' class="n"' if column in right else "" for column in range(len(headers))]
    yield "<table><thead><tr>"
    yield "".join(f'<th scope="col"{kind}>{escape(header)}</th>' for header, kind in zip(headers, kinds, strict=True))
    yield "</tr></thead><tbody>"
    for index, row in enumerate(rows):
        mark = ' class="chosen"' if index in chosen else ""
        first, *rest = (_cell(*each) for each in zip(headers, row, kinds, strict=True))
        yield f'<tr{mark}><th scope="row"{first}</th>{"".join(f"<td{cell}</td>" for cell in rest)}</tr>'
    yield "</tbody></table>"


def _cell(header: str, cell: str, kind: str) -> str:
    """Attributes and text of a cell; on a narrow page, where rows are stacked, its header stands before it."""
    of = f' data-of="{escape(header)}"' if header else ""
    return f"{kind}{of}>{escape(cell)}"


def _table(block: Table, _: str) -> Iterator[str]:
    if block.title:
        yield f"<h2>{escape(block.title)}</h2>"
    yield from _rows(block.headers, block.rows, block.right, block.chosen)


def _figure(title: str, pictures: Iterable[str], table: Iterator[str], note: str = "") -> Iterator[str]:
    """A picture for each width of page, and the same numbers as a table behind it."""
    yield f"<figure><h2>{escape(title)}</h2>{''.join(pictures)}<figcaption>"
    yield f"<p>{escape(note)}</p>" if note else ""
    yield "<details><summary>The numbers as a table</summary>"
    yield from table
    yield "</details></figcaption></figure>"


def _bars(block: Bars, name: str) -> Iterator[str]:
    parts = part_names(block)
    rows = tuple((bar.label, *(figure(dict(bar.parts).get(part, 0.0)) for part in parts), bar.note) for bar in block.bars)
    headers = ("", *(f"{part}, {block.unit}" for part in parts), "")
    return _figure(block.title, (bars(block, name, frame) for frame in FRAMES), _rows(headers, rows, tuple(range(1, len(parts) + 1))))


def _chart(block: Chart, name: str) -> Iterator[str]:
    if not block.dots:
        return iter(())
    rows = tuple((dot.label, *(bare(number) for number in (dot.x, dot.y, dot.low, dot.high))) for dot in block.dots)
    table = _rows(("", block.x_name, block.y_name, "low", "high"), rows, (1, 2, 3, 4))
    return _figure(block.title, (chart(block, name, frame) for frame in FRAMES), table, block.note)


def _block(block: Block, name: str) -> Iterator[str]:
    if isinstance(block, Facts):
        return _facts(block, name)
    if isinstance(block, Listing):
        return _listing(block, name)
    if isinstance(block, Table):
        return _table(block, name)
    return _bars(block, name) if isinstance(block, Bars) else _chart(block, name)


def _headline(page: Page) -> str:
    rest = page.headline.removeprefix(page.verdict)
    kind = ' class="no"' if page.verdict.startswith(NEGATIVE) else ""
    return f"<h1><strong{kind}>{escape(page.verdict)}</strong>{escape(rest)}</h1>"


def written(page: Page) -> str:
    """The page as a whole HTML document."""
    blocks = [block for block in page.blocks if not (isinstance(block, Bars) and block.only == PLAIN)]
    body = "\n".join(line for number, block in enumerate(blocks) for line in _block(block, f"b{number}"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(page.headline)}</title><style>{STYLE}</style></head>\n<body><main>\n{_headline(page)}\n{body}\n</main>"
        "<footer>Made by advisor. Estimates with 80 % intervals; prices are dated.</footer></body></html>\n"
    )
