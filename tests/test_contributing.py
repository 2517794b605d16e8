"""CONTRIBUTING.md alone is enough: each file that it gives is valid, and estimates can be asked with it at once."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from advisor import catalogcheck, wishes
from advisor.catalog import Catalog
from advisor.cli import run

FROZEN = Path(__file__).parent / "catalog"
PAGE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```yaml\n# catalog/(\S+?\.yaml).*?\n(.*?)```", PAGE, flags=re.S))
COMMANDS = [shlex.split(line) for block in re.findall(r"```sh\n(advisor .*?)```", PAGE, flags=re.S) for line in
            block.replace("\\\n", " ").splitlines()]  # fmt: skip
PATCH = re.search(r"```yaml\n# my-prices.yaml.*?\n(.*?)```", PAGE, flags=re.S)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the page, where the page says that they go."""
    monkeypatch.setattr("advisor.catalog.shipped", lambda: FROZEN)
    monkeypatch.setattr("advisor.catalogcheck.shipped", lambda: FROZEN)
    for name, written in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(written, encoding="utf-8")
    return tmp_path


def test_the_page_has_a_file_of_each_kind_that_people_add() -> None:
    assert [name.split("/")[0] for name in FILES] == ["devices", "devices", "links", "models", "measurements", "host_measurements"]


def test_every_file_of_the_page_is_valid(folder: Path) -> None:
    assert catalogcheck.check([folder]).problems == ()


def test_the_patch_of_the_page_works(folder: Path, tmp_path: Path) -> None:
    assert PATCH
    path = tmp_path / "my-prices.yaml"
    path.write_text(PATCH[1])
    assert catalogcheck.check([path]).problems == ()
    catalog = Catalog.load([path], user_folder=False)
    assert (catalog.device("rtx-3090").power_w, catalog.link("pcie-4-x8").effective_bytes_per_s) == (280, 12.4e9)
    assert [(price.low, price.currency) for price in catalog.device("rtx-3090").prices] == [(650, "EUR")]


def test_every_command_of_the_page_adds_what_the_check_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """A GPU, a Mac, a link and a model by their options, word for word as the page has them; then an estimate with them."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("advisor.wishes._laid", wishes._laid.__wrapped__)  # a process keeps the catalogs that it has read
    for module in ("catalog", "catalogcheck", "catalogstack"):
        monkeypatch.setattr(f"advisor.{module}.shipped", lambda: FROZEN)
    assert [words[1:3] for words in COMMANDS] == [["add", "device"], ["add", "device"], ["add", "link"], ["add", "model"],
                                                  ["estimate", "2x rtx-9070-48gb"]]  # fmt: skip
    for words in COMMANDS:
        code = run(words[1:])
        printed = capsys.readouterr()
        assert code == 0, printed.err
        assert "advisor check" not in printed.err, printed.err
    assert "Fits: Bar 8B" in printed.out
    assert catalogcheck.check([tmp_path / "advisor" / "catalog"]).problems == ()
    catalog = Catalog.load()
    found = catalog.find("devices", "Apple M9 Max (48-core GPU) 128gb")
    mac = catalog.devices[found.id]
    assert (mac.mount, mac.unified_memory, found.memory_gib) == ("fixed", True, 128)
    assert [(price.low, price.memory_bytes / 2**30) for price in mac.prices if price.memory_bytes] == [(3299, 64), (4999, 128)]


@pytest.mark.parametrize(
    "words",
    [
        ("rtx-9090", "--model", "foo-8b"),
        ("NVIDIA GeForce RTX 9090", "--model", "example/Foo-8B-Instruct"),
        ("Apple M9 Ultra (96-core GPU) 512gb", "--model", "foo-8b"),
        ("2x (2x rtx-9090 via pcie-5-x8) via eth-800g-roce as layers on vllm", "--model", "llama-3.3-70b"),
        ("2x mac-m9-ultra-96c via thunderbolt-5-rdma as tensor on mlx", "--model", "llama-3.3-70b"),
    ],
)
def test_estimates_with_the_new_records(words: tuple[str, ...], folder: Path, capsys: Any) -> None:
    code = run(("estimate", *words, "--catalog", str(folder), "--json"))
    printed = capsys.readouterr()
    assert code == 0, printed.err
    found = json.loads(printed.out)
    assert found["fits"] is True
    assert found["speed"]["decode_tokens_per_s"]["value"] > 1
    assert found["speed"]["prefill_tokens_per_s"]["value"] > 1


def test_every_command_of_the_page_exists() -> None:
    from advisor.cli import COMMANDS

    named = set(re.findall(r"`advisor (\w+)", PAGE))
    assert named <= set(COMMANDS)
    assert {"add", "check", "show", "estimate", "schema", "calibrate"} <= named
