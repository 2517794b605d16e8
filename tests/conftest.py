"""Every test runs with its own user folders, so that what is installed or saved on this machine changes nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from advisor.catalog import Catalog

# The same examples on every run, so that a red build says something about the change it is red on. `tools/deep-check` runs the laws on
# other examples, and more of them: HYPOTHESIS_PROFILE=wild.
settings.register_profile("steady", derandomize=True, deadline=None)  # no test is timed: machines are busy
settings.register_profile("wild", print_blob=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as tools/fit.py, which tests that import numpy first would come too late for


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache and a configuration folder of the test run's own, and no overlay from the environment. `tools/mutate.py` runs a few tests
    many times, and has them share a cache in TESTS_CACHE."""
    folder = tmp_path_factory.mktemp("user")
    kept = {key: os.environ.get(key) for key in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "ADVISOR_CATALOG", "ADVISOR_DEBUG")}
    os.environ.update(XDG_CACHE_HOME=os.environ.get("TESTS_CACHE", str(folder / "cache")), XDG_CONFIG_HOME=str(folder / "config"))
    os.environ.pop("ADVISOR_CATALOG", None)
    os.environ.pop("ADVISOR_DEBUG", None)
    yield folder
    for key, value in kept.items():
        if value is None:
            os.environ.pop(key, None)
        else:
            os.environ[key] = value


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """The shipped catalog, one for each file of tests: what is kept with it is forgotten after them."""
    return Catalog.load(user_folder=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--golden` writes the golden files anew instead of comparing with them."""
    parser.addoption("--golden", action="store_true", help="write tests/golden anew")
