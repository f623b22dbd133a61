"""Compiled code on disk, so that a kernel is compiled once for a machine and not once for a process.

`CAYLEY_CACHE` names the folder, or turns the cache off with `off`. An entry carries its whole key and a digest of its
code: one that is damaged, was made for something else, or belongs to another user is not loaded but compiled anew and
replaced.

What is trusted: the user. An entry is machine code, and runs as the program does that loads it. It is loaded only from
a regular file that belongs to this user and that nobody else may write, so in a folder that is open to others they can
delete entries, but not plant any. The digest has no secret in it: it protects from damage, not from the user's own
other programs, which could write an entry that runs, as they could write any of the user's Python files."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_MAGIC = b"cayley-code-1\n"
_MOST_BYTES = 1 << 30
_KEPT = 0.875  # of them, once there are more: a full folder would be looked through after nearly every entry
_UNFINISHED = ".new"
_UNSEEN = 16  # of the room in the folder, the part that one process fills before it looks again: others write, too
_LONGEST_WRITE = 3600.0  # seconds; an unfinished file older than this was left behind by a process that died


class CacheWarning(UserWarning):
    """The cache of compiled code cannot be used; kernels are compiled in every process."""


def folder() -> Path | None:
    """The folder of compiled code, or None if the cache is off or there is no such place."""
    said = os.environ.get("CAYLEY_CACHE")
    if said is not None:
        return None if said.strip().lower() in ("", "0", "off", "none") else _expanded(said)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    found = _expanded(base)
    return found and found / "cayley"


def _expanded(place: str) -> Path | None:
    """A path without its ~, or None for a user who has no home."""
    try:
        return Path(place).expanduser()
    except RuntimeError as error:
        _warn_of_no_home(place, str(error))
        return None


@lru_cache
def _warn_of_no_home(place: str, reason: str) -> None:
    warnings.warn(
        f"there is no folder {place} to keep compiled code in ({reason}): set CAYLEY_CACHE to a folder that can be "
        "written, or to 'off'", CacheWarning, stacklevel=2)


def load(key: str) -> list[bytes] | None:
    """The object files stored under `key`, or None."""
    if (place := folder()) is None:
        return None
    path = place / _file_name(key)
    try:
        with open(path, "rb", opener=_open_at_once) as stream:
            if not _is_own(os.fstat(stream.fileno())):
                return None
            return _unpack(stream.read(), key)
    except (OSError, ValueError, struct.error):
        return None


def _open_at_once(path: str, flags: int) -> int:
    """A pipe in place of an entry would be waited for until somebody writes into it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def store(key: str, objects: list[bytes]) -> None:
    """Keep the object files under `key`. The entry appears whole or not at all, even when other processes write it too.
    """
    if (place := folder()) is None:
        return
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=place, suffix=_UNFINISHED)
        try:
            entry = _pack(key, objects)
            with os.fdopen(handle, "wb") as stream:
                stream.write(entry)
            os.replace(temporary, place / _file_name(key))
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        with suppress(OSError):
            _make_room(place, len(entry))
    except OSError as error:
        warnings.warn(
            f"compiled code cannot be kept in {place} ({error.strerror or error}): set CAYLEY_CACHE to a folder that "
            "can be written, or to 'off'", CacheWarning, stacklevel=2)


@lru_cache
def compiler_text() -> str:
    """A fingerprint of the compiler itself: code made by another version of it is not this one's."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _file_name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest() + ".code"


def _is_own(status: os.stat_result) -> bool:
    """Code is only loaded from files that nobody else could have written."""
    if not stat.S_ISREG(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _pack(key: str, objects: list[bytes]) -> bytes:
    name = key.encode()
    body = struct.pack("<QQ", len(name), len(objects)) + name + b"".join(struct.pack("<Q", len(o)) + o for o in objects)
    return _MAGIC + hashlib.sha256(body).digest() + body


def _unpack(data: bytes, key: str) -> list[bytes] | None:
    head = len(_MAGIC) + 32
    body = data[head:]
    if data[:head] != _MAGIC + hashlib.sha256(body).digest():
        return None
    length, count = struct.unpack_from("<QQ", body)
    place = 16 + length
    if body[16:place] != key.encode():
        return None
    objects = []
    for _ in range(count):
        (size,) = struct.unpack_from("<Q", body, place)
        objects.append(body[place + 8:place + 8 + size])
        place += 8 + size
    return objects


_room: dict[Path, float] = {}


def _make_room(place: Path, written: int) -> None:
    """Look at the folder, which may have many thousand entries, only when what was written since may matter."""
    _room[place] = _room.get(place, 0.0) - written
    if _room[place] < 0:
        _room[place] = (_MOST_BYTES - _prune(place)) / _UNSEEN


def _prune(place: Path) -> int:
    """Drop what died unfinished, and the entries longest unused if the folder is beyond its limit, until it has room
    again: how many bytes are left in it.

    Others may be doing the same."""
    entries = []
    for entry in os.scandir(place):
        with suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            if entry.name.endswith(".code"):
                entries.append((status.st_atime, status.st_size, entry.path))
            elif entry.name.endswith(_UNFINISHED) and status.st_mtime < time.time() - _LONGEST_WRITE:
                os.unlink(entry.path)
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries) if total > _MOST_BYTES else []:
        if total <= _KEPT * _MOST_BYTES:
            break
        with suppress(OSError):
            os.unlink(path)
        total -= size
    return total
