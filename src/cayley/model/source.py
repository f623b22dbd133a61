"""Source of a model in words, with the name and the digest of the file that it was read from."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

_PATH = re.compile(r"[/\\][^/\\]*\.\w+$")  # a file in a folder


class Source(str):
    """The words of a source, a path or a publication, which know the file too: `file`, its name without its folders,
    and `sha256`, the digest of its bytes; and whether it was read with `trust`, as it then is again when its shapes
    are looked at. What is made of the model of a file keeps them.

    >>> words = Source("Paul 1972", "stanford.toml", "5ba9")
    >>> print(words, words.file, words.sha256)
    Paul 1972 stanford.toml 5ba9
    """

    file: str
    sha256: str
    trusted: bool

    def __new__(cls, words: str, file: str = "", sha256: str = "", trusted: bool = False) -> Source:
        made = super().__new__(cls, words)
        made.file = file
        made.sha256 = sha256
        made.trusted = trusted
        return made

    def __getnewargs__(self) -> tuple[str, str, str, bool]:  # type: ignore[override]
        return str(self), self.file, self.sha256, self.trusted


def source_in_words(source: str) -> str:
    """For a reader elsewhere: the publication, or the name of the file without the folders of this machine.

    >>> source_in_words("/home/me/arm.urdf"), source_in_words("Paul 1972")
    ('arm.urdf', 'Paul 1972')
    """
    return source if _PATH.search(source) is None else re.split(r"[/\\]", source)[-1]


def source_file(path: str | os.PathLike[str], data: bytes, words: str = "") -> Source:
    """The source of a model that was read from a file of these bytes."""
    return Source(words or os.fspath(path), Path(path).name, hashlib.sha256(data).hexdigest())
