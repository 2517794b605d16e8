"""Where the catalog's YAML files lie, and which kind of record each holds; nothing is opened."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from advisor.errors import BadInput
from advisor.tables import FOLDERS, TABLES


class CatalogFile(NamedTuple):
    """A YAML file of a catalog folder, or one that was named alone (`kind` None where only its keys can tell)."""

    name: str  # its whole path; text, because most runs only compare it
    kind: str | None
    size: int
    mtime_ns: int

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.name)

    @property
    def label(self) -> str:
        """The file's name in messages: relative to where the user stands, if it lies below."""
        try:
            return str(self.path.relative_to(Path.cwd()))
        except ValueError:
            return str(self.path)


def files_of(root: Path) -> list[CatalogFile]:
    """The catalog files of a folder, or the one file that `root` is; in a fixed order."""
    try:
        if root.is_file():
            return [_file(root, _kind_of_file(root))]
        if root.exists() and not root.is_dir():
            raise BadInput(f"catalog {root}: is neither a file nor a folder. Give a folder with catalog files, or one .yaml file.")
        return sorted(_files_in(root))
    except OSError as error:
        raise BadInput(f"catalog {root}: cannot be read: {error.strerror or error}") from None


def _files_in(root: Path) -> Iterator[CatalogFile]:
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.name in FOLDERS and entry.is_dir():
                with os.scandir(entry.path) as inner:
                    for each in inner:
                        if _is_yaml(each.name):  # hundreds of them, at every start
                            stat = each.stat()
                            yield CatalogFile(each.path, entry.name, stat.st_size, stat.st_mtime_ns)
            elif _is_yaml(entry.name):
                yield _file(entry, _kind_of_file(Path(entry.path)))


def _is_yaml(name: str) -> bool:
    return name.endswith(".yaml") and not name.startswith(".")


def _file(entry: "os.DirEntry[str] | Path", kind: str | None) -> CatalogFile:
    stat = entry.stat()
    return CatalogFile(os.fspath(entry), kind, stat.st_size, stat.st_mtime_ns)


def _kind_of_file(path: Path) -> str | None:
    """The kind that a file's name or folder tells."""
    table = TABLES.get(path.stem)
    if table and table.form in ("list", "single"):
        return table.kind
    return path.parent.name if path.parent.name in FOLDERS else None
