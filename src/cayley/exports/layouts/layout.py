"""Base class of layouts: the files of a folder, and the commands that build it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from cayley.exports.check_text import check_text, vectors_text
from cayley.wording import printable

if TYPE_CHECKING:
    from cayley.exports.vectors import Part


@dataclass(frozen=True)
class Library:
    """A library to be written: the name of the library, an identifier; words about it; its functions; the type of its
    numbers."""

    name: str
    about: str
    parts: Sequence[Part]
    real: str

    @property
    def umbrella(self) -> str:
        """The header that includes those of all functions."""
        guard = f"CAYLEY_LIBRARY_{self.name.upper()}_H"
        included = "\n".join(f'#include "{part.source.name}.h"' for part in self.parts)
        return (f"/* All of {self.name}. Written by Cayley. */\n\n#ifndef {guard}\n#define {guard}\n\n{included}\n\n"
                "#endif\n")

    @property
    def vectors(self) -> str:
        return vectors_text(self.name, self.parts, self.real)

    @property
    def check(self) -> str:
        return check_text(self.name, self.parts, self.real)

    def readme(self, layout: str) -> str:
        """A description of the folder for a reader."""
        rows = "\n".join(f"- `{part.source.name}.h`: {_first_line(part)}" for part in self.parts)
        about = " ".join(printable(self.about).split())
        return (f"# {self.name}\n\n{about}\n\nC99 in `{self.real}`, without allocation, with nothing but `math.h`.\n"
                "Joints in their order, units, frames and the digest of the model are in the headers.\n\n"
                f"{rows}\n\n{layout}\n")


def _first_line(part: Part) -> str:
    """The beginning of the comment of a header, its name aside, up to the end of the sentence."""
    comment = " ".join(line.removeprefix(" * ") for line in part.source.header.splitlines()[1:4])
    _, _, words = comment.partition(": ")
    return f"{words.split('. ')[0].split(' *')[0].strip().rstrip('.')}." if words else "a function."


class Layout:
    """Where the files of a library go."""

    title: ClassVar[str]
    real: ClassVar[str]  # the usual precision there, as NumPy calls it
    rows: ClassVar[int]  # how many test vectors of each function

    def files(self, library: Library) -> dict[str, str]:
        """The texts, by their paths in the folder."""
        raise NotImplementedError

    def commands(self, library: Library) -> tuple[str, ...]:
        """The commands that build and check the folder."""
        raise NotImplementedError
