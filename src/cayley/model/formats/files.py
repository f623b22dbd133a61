"""The one way in which files are read: plain files of bounded size, without waiting. All else is a `ModelError`."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cayley.errors import ModelError

MOST_BYTES = 32 * 2**20

_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
          stat.S_IFBLK: "a device"}
_AT_ONCE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def read_bytes(path: str | os.PathLike[str], *, most: int = MOST_BYTES) -> bytes:
    """Read a regular file of at most `most` bytes.

    >>> read_bytes("/")
    Traceback (most recent call last):
    cayley.errors.ModelError: '/' cannot be read: it is a folder, not a file
    """
    try:
        descriptor = os.open(path, _AT_ONCE)
        try:
            found = os.fstat(descriptor)
            _check_is_plain(path, found, most)
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(found.st_size + 1)
                if len(data) > found.st_size:  # it has grown
                    data += file.read(most - found.st_size)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:  # a ValueError of paths that cannot be, with a null character in them
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{os.fspath(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > most:
        raise _too_large(path, most)
    return data


def check_file(path: Path, *, most: int = MOST_BYTES) -> None:
    """Raise an error for an existing file that is not a plain file of bounded size, before another library reads it."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return
    _check_is_plain(path, found, most)


def _check_is_plain(path: str | os.PathLike[str], found: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise ModelError(f"{os.fspath(path)!r} cannot be read: it is {kind}, not a file")
    if found.st_size > most:
        raise _too_large(path, most)


def _too_large(path: str | os.PathLike[str], most: int) -> ModelError:
    return ModelError(f"{os.fspath(path)!r} is larger than {most // 2**20} MiB, the most that can be read")


def decoded(file: str, data: bytes) -> str:
    """The text of a file, which is UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ModelError(f"{file}, line {line}: the text is not UTF-8: {error.reason}") from error
