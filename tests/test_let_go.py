"""What a long batch keeps: a few catalogs, whatever was worked out of the others leaves the memory with them."""

import gc
import weakref
from pathlib import Path

import pytest

from advisor import wishes
from advisor.catalog import Catalog
from advisor.cli.batch import answer_line

REQUESTS = (
    '"command": "estimate", "system": "rtx-3090", "model": "qwen3-8b"',
    '"command": "compare", "systems": ["rtx-3090", "2x rtx-3090"], "model": "8b"',
    '"command": "recommend", "have": "rtx-3090", "model": "qwen3-8b"',
    '"command": "scale", "system": "rtx-3090", "max": 2, "model": "qwen3-8b"',
    '"command": "ask", "question": "should I buy a second 3090 for a gemma 27b?"',
    '"command": "show", "name": "rtx-3090"',
)


def overlays(folder: Path, count: int) -> list[Path]:
    """So many files, each with another power of one card."""
    files = [folder / f"{number}.yaml" for number in range(count)]
    for number, file in enumerate(files):
        file.write_text(f"id: rtx-3090\npower_w: {300 + number}\n")
    return files


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> "list[weakref.ref[Catalog]]":
    """Every catalog that is loaded meanwhile, for as long as somebody holds it."""
    seen: list[weakref.ref[Catalog]] = []
    load = Catalog.load

    def watched(*given: object, **named: object) -> Catalog:
        found = load(*given, **named)  # type: ignore[arg-type]
        seen.append(weakref.ref(found))
        return found

    monkeypatch.setattr(Catalog, "load", watched)
    return seen


@pytest.mark.parametrize("request_line", REQUESTS)
def test_no_answer_holds_its_catalog(request_line: str, tmp_path: Path, loaded: "list[weakref.ref[Catalog]]") -> None:
    (file,) = overlays(tmp_path, 1)
    answer = answer_line(f'{{{request_line}, "catalog": ["{file}"]}}')
    assert not answer.startswith('{"error"'), answer
    wishes._laid.cache_clear()
    gc.collect()
    assert loaded and not any(each() for each in loaded)


def test_of_many_catalogs_few_are_kept(tmp_path: Path, loaded: "list[weakref.ref[Catalog]]") -> None:
    wishes._laid.cache_clear()
    most = wishes._laid.cache_info().maxsize
    assert most is not None and most <= 8
    for file in overlays(tmp_path, most + 3):
        assert not answer_line(f'{{{REQUESTS[0]}, "catalog": ["{file}"]}}').startswith('{"error"')
    gc.collect()
    assert len(loaded) == most + 3 and sum(each() is not None for each in loaded) == most


def test_what_is_worked_out_once_is_bounded() -> None:
    catalog, worked = Catalog.load(user_folder=False), []

    def work_out() -> int:
        worked.append(1)
        return len(worked)

    assert [catalog.once("a thing", 2, key, work_out) for key in "aabab"] == [1, 1, 2, 1, 2]
    assert catalog.once("a thing", 2, "c", work_out) == 3 and set(catalog.kept("a thing")) == {"b", "c"}  # the oldest went
    assert catalog.once("another", 2, "a", work_out) == 4
