"""Where the catalog's YAML files lie, and which kind of record each holds; nothing is opened."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from advisor.errors import BadInput
from advisor.tables import FOLDERS, TABLES

if TYPE_CHECKING:
    from pathlib import Path

Where = str | os.PathLike[str]  # most runs only compare names, and pathlib takes 3 ms to import


class CatalogFile(NamedTuple):
    """A YAML file of a catalog folder, or one that was named alone (`kind` None where only its keys can tell)."""

    name: str  # its whole path
    kind: str | None
    size: int
    mtime_ns: int

    @property
    def path(self) -> "Path":
        """Where it is."""
        from pathlib import Path

        return Path(self.name)

    @property
    def label(self) -> str:
        """The file's name in messages: relative to where the user stands, if it lies below."""
        try:
            return str(self.path.relative_to(os.getcwd()))
        except ValueError:
            return str(self.path)


def files_of(root: Where) -> list[CatalogFile]:
    """The catalog files of a folder, or the one file that `root` is; in a fixed order."""
    try:
        if os.path.isfile(root):
            return [_file(os.fspath(root), os.stat(root))]
        if os.path.exists(root) and not os.path.isdir(root):
            raise BadInput(f"catalog {root}: is neither a file nor a folder. Give a folder with catalog files, or one .yaml file.")
        return sorted(_files_in(root))
    except OSError as error:
        raise BadInput(f"catalog {root}: cannot be read: {error.strerror or error}") from None


def _files_in(root: Where) -> Iterator[CatalogFile]:
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.name in FOLDERS and entry.is_dir():
                with os.scandir(entry.path) as inner:
                    for each in inner:
                        if _is_yaml(each.name):  # hundreds of them, at every start
                            stat = each.stat()
                            yield CatalogFile(each.path, entry.name, stat.st_size, stat.st_mtime_ns)
            elif _is_yaml(entry.name):
                yield _file(entry.path, entry.stat())


def _is_yaml(name: str) -> bool:
    return name.endswith(".yaml") and not name.startswith(".")


def _file(path: str, stat: os.stat_result) -> CatalogFile:
    return CatalogFile(path, _kind_of_file(path), stat.st_size, stat.st_mtime_ns)


def _kind_of_file(path: str) -> str | None:
    """The kind that a file's name or folder tells."""
    folder, name = os.path.split(path)
    table = TABLES.get(os.path.splitext(name)[0])
    if table and table.form in ("list", "single"):
        return table.kind
    above = os.path.basename(folder)
    return above if above in FOLDERS else None
