"""Which catalogs lie over one another, where they are, and how each is got ready: compiled copy or YAML."""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from advisor import catalogcache
from advisor.catalogcache import Compiled
from advisor.catalogfolder import CatalogFile, files_of
from advisor.correction import folder
from advisor.errors import BadInput
from advisor.units import NS

PACKED = "compiled.catalog"
SETTLED_S = 600  # an installer writes all files of a wheel within this time; what changed later was edited


class Layer(NamedTuple):
    """One stage of the stack, ready to be read: the shipped catalog, or all that is laid over it."""

    copy: Compiled
    roots: tuple[Path, ...]


@cache
def shipped() -> Path:
    """The catalog beside this file in a wheel, beside the package in a checkout."""
    here = Path(__file__).parent
    packed = here / "_catalog"
    return packed if packed.is_dir() else here.parent / "catalog"


def user_catalog() -> Path:
    """The catalog in the user's own folder."""
    return folder() / "catalog"


def overlay_paths(stated: Sequence[Path], *, user_folder: bool = True) -> tuple[Path, ...]:
    """What is laid over the shipped catalog, the lowest first; a stated path that is not there is an error."""
    named = [Path(each) for each in os.environ.get("ADVISOR_CATALOG", "").split(os.pathsep) if each]
    for path in (*named, *stated):
        if not path.exists():
            raise BadInput(f"catalog {path}: there is no such file or folder")
    own = [user_catalog()] if user_folder and user_catalog().is_dir() else []
    return tuple(dict.fromkeys([*own, *named, *map(Path, stated)]))


def base_layer(root: Path) -> Layer:
    """The shipped catalog: the wheel's compiled copy, else the one in the cache folder, else its YAML."""
    files = files_of(root)
    if not files:
        raise BadInput(f"catalog {root}: there is no catalog here; install the program again")
    copy = _packed(root, files)
    if copy is None:
        place, key = catalogcache.place([root]), catalogcache.key_of(files)
        copy = catalogcache.load(place, key)
        if copy is None:
            from advisor.catalogcompile import compile_files

            copy = compile_files(files, None, key)
            catalogcache.save(place, copy)
    return Layer(copy, (root,))


def _packed(root: Path, files: Sequence[CatalogFile]) -> Compiled | None:
    """The copy that was made with the wheel, unless a file beside it was changed after the installation."""
    path = root / PACKED
    try:
        made_s = path.stat().st_mtime
    except OSError:
        return None
    if any(abs(each.mtime_ns * NS - made_s) > SETTLED_S for each in files):
        return None
    return catalogcache.load(path, catalogcache.packed_key(root, files))


def laid_layer(base: Layer, paths: tuple[Path, ...]) -> Layer:
    """What the overlays make of the records they name."""
    files = [each for path in paths for each in files_of(path)]
    place = catalogcache.place([*base.roots, *paths])
    key = catalogcache.key_of(files, base.copy.head["key"])
    copy = catalogcache.load(place, key)
    if copy is None:
        from advisor.catalogcompile import compile_files

        copy = compile_files(files, base.copy, key)
        catalogcache.save(place, copy)
    return Layer(copy, paths)
