"""The shipped link table is what tools/fit_links.py makes of the shipped rows."""

import sys
from pathlib import Path

import pytest
import yaml

TOOLS = Path(__file__).parent.parent / "tools"


@pytest.fixture
def fit_links(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("scipy")
    monkeypatch.syspath_prepend(str(TOOLS))
    import fit_links

    yield fit_links
    for name in ("fit_links", "several"):
        sys.modules.pop(name, None)


def test_the_shipped_table_is_refitted(fit_links) -> None:
    from advisor.catalog import Catalog, shipped

    catalog = Catalog.load(user_folder=False)
    plain = {k: v for k, v in yaml.safe_load((TOOLS / "link_starts.yaml").read_text()).items() if k != "entries"}
    entries, rows = fit_links.starts(), list(fit_links.rows_of(catalog))
    assert len(rows) >= 50
    logs = fit_links.fit(entries, rows, plain)
    moved = dict(zip((entry.key for entry in entries), logs, strict=True))
    table = fit_links.calibration_of(entries, moved, plain)
    shipped_table = catalog.link_calibration
    assert [each.software for each in table.latencies] == [each.software for each in shipped_table.latencies]
    for ours, theirs in zip(table.latencies, shipped_table.latencies, strict=True):
        # other constants move while the fit of one device is refined: the table may lag behind it by so much
        assert ours.all_reduce_s == pytest.approx(theirs.all_reduce_s, rel=0.25), ours.software
        assert ours.send_s == pytest.approx(theirs.send_s, rel=0.25), ours.software
    assert Path(shipped(), "link_calibration.yaml").is_file()


def test_no_entry_leaves_its_microbenchmarks_far_behind(fit_links) -> None:
    from advisor.catalog import Catalog

    shipped = Catalog.load(user_folder=False).link_calibration.latencies
    for start, entry in zip(fit_links.starts(), shipped, strict=True):
        assert 1 / 3 < entry.all_reduce_s * 1e6 / start.entry["all_reduce_us"] < 3, start.key
