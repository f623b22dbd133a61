"""Compiled code on disk, so that a kernel is compiled once for a machine and not once for a process.

`CAYLEY_CACHE` names the folder, or turns the cache off with `off`. An entry carries its whole key and a digest of its code: one
that is damaged, was made for something else, or belongs to another user is not loaded but compiled anew and replaced.
"""

from __future__ import annotations

import hashlib
import os
import struct
import sys
import tempfile
import warnings
from pathlib import Path

_MAGIC = b"cayley-code-1\n"
_MOST_BYTES = 1 << 30


class CacheWarning(UserWarning):
    """The cache of compiled code cannot be used; kernels are compiled in every process."""


def folder() -> Path | None:
    """Where compiled code is kept, or None if the cache is off."""
    said = os.environ.get("CAYLEY_CACHE")
    if said is not None:
        return None if said.strip().lower() in ("", "0", "off", "none") else Path(said).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "cayley"


def load(key: str) -> list[bytes] | None:
    """The object files stored under `key`, or None."""
    if (place := folder()) is None:
        return None
    path = place / _file_name(key)
    try:
        with path.open("rb") as stream:
            if not _is_own(os.fstat(stream.fileno())):
                return None
            return _unpack(stream.read(), key)
    except (OSError, ValueError, struct.error):
        return None


def store(key: str, objects: list[bytes]) -> None:
    """Keep the object files under `key`. The entry appears whole or not at all, whoever else writes it."""
    if (place := folder()) is None:
        return
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".new")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(_pack(key, objects))
            os.replace(temporary, place / _file_name(key))
        except OSError:
            os.unlink(temporary)
            raise
        _prune(place)
    except OSError as error:
        warnings.warn(f"compiled code cannot be kept in {place} ({error.strerror or error}): set CAYLEY_CACHE to a folder that can be "
                      "written, or to 'off'", CacheWarning, stacklevel=2)


def _file_name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest() + ".code"


def _is_own(status: os.stat_result) -> bool:
    """Code is only loaded from files that nobody else could have written."""
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


def _prune(place: Path) -> None:
    """Drop the entries longest unused until the folder is within its limit."""
    entries = sorted(((e.stat(), e.path) for e in os.scandir(place) if e.name.endswith(".code")), key=lambda item: item[0].st_atime)
    total = sum(status.st_size for status, _ in entries)
    for status, path in entries:
        if total <= _MOST_BYTES:
            return
        os.unlink(path)
        total -= status.st_size
