"""A file written whole or not at all, and never over one that somebody else wrote."""

import errno
import os
import tempfile
from pathlib import Path

from advisor.errors import BadInput, BadValue

NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS, errno.EACCES, errno.EXDEV)


def write(path: Path, text: str, *, force: bool = False) -> None:
    """Write the file in one step, on the disk before it bears its name. Without `force`, a file of that name is an error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, half = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".new")
    except OSError as error:
        raise _failed(path, error) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(half).chmod(0o644)
        if force:
            os.replace(half, path)
        else:
            _name(half, path)
    except FileExistsError:
        raise BadValue(f"{path} is there already: nothing was written; --force replaces it") from None
    except OSError as error:
        raise _failed(path, error) from None
    finally:
        Path(half).unlink(missing_ok=True)


def _name(half: str, path: Path) -> None:
    """Give the finished file its name, unless somebody has it: of two at the same time one fails."""
    try:
        os.link(half, path)
    except OSError as error:
        if error.errno not in NO_HARD_LINKS:
            raise
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))  # a file system without hard links
        os.replace(half, path)


def _failed(path: Path, error: OSError) -> BadInput:
    return BadInput(f"{path}: cannot be written: {error.strerror or error}; nothing was changed")
