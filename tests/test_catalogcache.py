"""The compiled copy: used when it belongs to the files, made anew when it does not, done without when it cannot be written."""

import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from advisor import catalogcache, catalogcompile, correction, safewrite
from advisor.catalog import Catalog
from advisor.catalogcache import MOST_COPIES, cache_folder, from_bytes, packed_key, to_bytes
from advisor.catalogfolder import files_of
from advisor.catalogstack import PACKED
from advisor.errors import BadInput

FROZEN = Path(__file__).parent / "catalog"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "advisor"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A catalog of three files, so that compiling is quick."""
    root = tmp_path / "catalog"
    for name in ("devices/rtx-3090.yaml", "links/nvlink3-bridge-3090.yaml", "quants.yaml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FROZEN / name, root / name)
    return root


class Counted:
    """How often the YAML was compiled."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        real = catalogcompile.compile_files

        def counting(*args: object) -> object:
            self.times += 1
            return real(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(catalogcompile, "compile_files", counting)


@pytest.fixture
def compiled_times(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


def load(root: Path, *overlays: Path) -> Catalog:
    return Catalog.load(overlays, root=root, user_folder=False)


def test_the_second_reading_needs_no_yaml(root: Path, compiled_times: Counted) -> None:
    first, second = load(root), load(root)
    assert compiled_times.times == 1
    assert first.devices["rtx-3090"] == second.devices["rtx-3090"]
    assert first.ids("quants") == second.ids("quants")
    assert first.version == second.version


def test_no_yaml_is_imported_when_the_copy_serves(root: Path) -> None:
    import subprocess

    load(root)
    program = (
        "import sys; from pathlib import Path; from advisor.catalog import Catalog; "
        f"Catalog.load(root=Path({str(root)!r}), user_folder=False).device('rtx-3090'); print('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("change", ["content", "time", "new", "gone"])
def test_a_changed_file_is_read_anew(change: str, root: Path, compiled_times: Counted) -> None:
    load(root)
    path = root / "devices/rtx-3090.yaml"
    if change == "content":
        path.write_text(path.read_text().replace("power_w: 350", "power_w: 3500"))
    elif change == "time":
        os.utime(path, ns=(1, 1))
    elif change == "new":
        (root / "devices/other.yaml").write_text(path.read_text().replace("id: rtx-3090", "id: other"))
    else:
        path.unlink()
        (root / "links/nvlink3-bridge-3090.yaml").unlink()
    catalog = load(root)
    assert compiled_times.times == 2
    assert len(catalog.devices) == {"content": 1, "time": 1, "new": 2, "gone": 0}[change]


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[:-1],
        lambda raw: raw[: len(raw) // 2],
        lambda raw: b"",
        lambda raw: raw[:200] + b"X" + raw[201:],
        lambda raw: b"\x00" * 99,
        lambda raw: raw.replace(b"advisor-catalog-2", b"advisor-catalog-9"),
        lambda raw: b"advisor-catalog-2 x y z\n",
        lambda raw: raw + b"more",
    ],
)
def test_a_damaged_copy_is_ignored(damage: object, root: Path, own_cache: Path, compiled_times: Counted) -> None:
    load(root)
    (copy,) = own_cache.iterdir()
    copy.write_bytes(damage(copy.read_bytes()))  # type: ignore[operator]
    assert load(root).device("rtx-3090").id == "rtx-3090"
    assert compiled_times.times == 2


def test_an_overlay_is_compiled_apart(root: Path, own_cache: Path, tmp_path: Path, compiled_times: Counted) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("id: rtx-3090\npower_w: 1\n")
    for _ in range(2):
        assert load(root, path).device("rtx-3090").power_w == 1
    assert compiled_times.times == 2  # the catalog once, the overlay once
    path.write_text("id: rtx-3090\npower_w: 22\n")
    assert load(root, path).device("rtx-3090").power_w == 22
    assert compiled_times.times == 3
    assert len(list(own_cache.iterdir())) == 2


def test_an_overlay_follows_the_catalog_below_it(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("id: rtx-3090\nnoise: loud\n")
    load(root, path)
    device = root / "devices/rtx-3090.yaml"
    device.write_text(device.read_text().replace("power_w: 350", "power_w: 351"))
    found = load(root, path).device("rtx-3090")
    assert (found.power_w, found.noise) == (351, "loud")


def test_a_cache_that_cannot_be_written_is_done_without(root: Path, own_cache: Path, compiled_times: Counted) -> None:
    own_cache.parent.mkdir(parents=True)
    own_cache.write_text("a file where the folder should be")
    assert load(root).device("rtx-3090").id == "rtx-3090"
    assert load(root).device("rtx-3090").id == "rtx-3090"
    assert compiled_times.times == 2


def test_many_at_once_all_get_the_catalog(root: Path, own_cache: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: load(root).device("rtx-3090").power_w, range(16)))
    assert found == [350] * 16
    assert [each.suffix for each in own_cache.iterdir()] == [".catalog"]


def test_old_copies_are_removed(root: Path, own_cache: Path) -> None:
    own_cache.mkdir(parents=True)
    for number in range(MOST_COPIES + 10):
        (own_cache / f"{number}.catalog").write_bytes(b"")
        os.utime(own_cache / f"{number}.catalog", ns=(number, number))
    load(root)
    kept = {each.name for each in own_cache.iterdir()}
    assert len(kept) == MOST_COPIES
    assert "0.catalog" not in kept


def packed(root: Path) -> Path:
    files = files_of(root)
    copy = catalogcompile.compile_files(files, None, packed_key(root, files))
    (root / PACKED).write_bytes(to_bytes(copy))
    return root / PACKED


def test_the_copy_in_a_wheel_serves_until_a_file_is_edited(root: Path, own_cache: Path, compiled_times: Counted) -> None:
    packed(root)
    assert load(root).device("rtx-3090").power_w == 350
    assert compiled_times.times == 1
    assert not own_cache.exists()
    path = root / "devices/rtx-3090.yaml"
    path.write_text(path.read_text().replace("power_w: 350", "power_w: 351"))  # the size is the same
    later = path.stat().st_mtime + 3600
    os.utime(path, (later, later))
    assert load(root).device("rtx-3090").power_w == 351


def test_the_copy_in_a_wheel_is_ignored_when_damaged(root: Path) -> None:
    path = packed(root)
    path.write_bytes(path.read_bytes()[:-9])
    assert load(root).device("rtx-3090").power_w == 350


def test_the_copy_is_the_same_bytes_each_time(root: Path) -> None:
    assert packed(root).read_bytes() == packed(root).read_bytes()
    assert from_bytes(packed(root).read_bytes()) is not None


def test_the_cache_folder_follows_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path.replace("~", str(tmp_path)))
    monkeypatch.setattr(catalogcache.sys, "platform", "darwin")
    assert Path(cache_folder()) == tmp_path / "Library" / "Caches" / "advisor"
    monkeypatch.setattr(catalogcache.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert Path(cache_folder()) == tmp_path / "Local" / "advisor" / "Cache"
    monkeypatch.setattr(catalogcache.sys, "platform", "linux")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert Path(cache_folder()) == tmp_path / ".cache" / "advisor"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert Path(cache_folder()) == tmp_path / ".cache" / "advisor"


def test_who_has_no_home_is_answered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container under a number that has no name, Python finds no home: nothing of one's own is read, and nothing written."""
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert not correction.folder().exists()
    assert not Path(cache_folder()).exists()
    assert Catalog.load().device("rtx-3090").id == "rtx-3090"
    with pytest.raises(BadInput, match="cannot be written"):
        safewrite.write(correction.file(), "{}", force=True)
