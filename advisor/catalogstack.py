"""Which catalogs lie over one another, where they are, and how each is got ready: compiled copy or YAML."""

import os
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from advisor import catalogcache
from advisor.catalogcache import Compiled
from advisor.catalogfolder import CatalogFile, Where, files_of
from advisor.correction import folder_name
from advisor.errors import BadInput
from advisor.units import NS

if TYPE_CHECKING:
    from pathlib import Path

PACKED = "compiled.catalog"
SETTLED_S = 600  # an installer writes all files of a wheel within this time; what changed later was edited


class Layer(NamedTuple):
    """One stage of the stack, ready to be read: the shipped catalog, or all that is laid over it."""

    copy: Compiled
    roots: tuple[Where, ...]


@cache
def shipped() -> str:
    """The catalog beside this file in a wheel, beside the package in a checkout."""
    here = os.path.dirname(__file__)
    packed = os.path.join(here, "_catalog")
    return packed if os.path.isdir(packed) else os.path.join(os.path.dirname(here), "catalog")


def _user_catalog() -> str:
    return os.path.join(folder_name(), "catalog")


def user_catalog() -> "Path":
    """The catalog in the user's own folder."""
    from pathlib import Path

    return Path(_user_catalog())


def overlay_paths(stated: Sequence[Where], *, user_folder: bool = True) -> "tuple[Path, ...]":
    """What is laid over the shipped catalog, the lowest first; a stated path that is not there is an error."""
    named = [each for each in os.environ.get("ADVISOR_CATALOG", "").split(os.pathsep) if each]
    own = [_user_catalog()] if user_folder and os.path.isdir(_user_catalog()) else []
    if not (named or stated or own):
        return ()
    from pathlib import Path

    paths = list(map(Path, [*own, *named, *stated]))
    for path in paths[len(own) :]:
        if not path.exists():
            raise BadInput(f"catalog {path}: there is no such file or folder")
    return tuple(dict.fromkeys(paths))


def base_layer(root: Where) -> Layer:
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


def _packed(root: Where, files: Sequence[CatalogFile]) -> Compiled | None:
    """The copy that was made with the wheel, unless a file beside it was changed after the installation."""
    path = os.path.join(root, PACKED)
    try:
        made_s = os.stat(path).st_mtime
    except OSError:
        return None
    if any(abs(each.mtime_ns * NS - made_s) > SETTLED_S for each in files):
        return None
    return catalogcache.load(path, catalogcache.packed_key(root, files))


def laid_layer(base: Layer, paths: Sequence[Where]) -> Layer:
    """What the overlays make of the records they name."""
    files = [each for path in paths for each in files_of(path)]
    place = catalogcache.place([*base.roots, *paths])
    key = catalogcache.key_of(files, base.copy.head["key"])
    copy = catalogcache.load(place, key)
    if copy is None:
        from advisor.catalogcompile import compile_files

        copy = compile_files(files, base.copy, key)
        catalogcache.save(place, copy)
    return Layer(copy, tuple(paths))
