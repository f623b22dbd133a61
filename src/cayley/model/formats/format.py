"""Base class of file formats: a format knows its file endings, reads and writes files, and names what it does not
support. `FORMATS` in `cayley.model.formats` lists all formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from cayley.errors import CayleyError, UnsupportedError

if TYPE_CHECKING:
    from cayley.model.tree import Tree


class Format:
    """A format of files that describe mechanisms. A subclass has a name and endings, and reads or writes or both."""

    name: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]  # in small letters, with their dots; the first is the usual one
    check_words: ClassVar[str] = ""  # a sentence for `cayley check --help`: how much of what is wrong is found at once
    floats_by: ClassVar[str] = ""  # how the format itself says that a root floats, if it does
    takes: ClassVar[frozenset[str]] = frozenset()  # of the keywords of `cayley.load`: exact_angles, arguments, trust

    def read(self, path: Path) -> Tree:
        """The mechanism of a file; `ModelError` names the file, the line and what is wrong. Nothing is half read."""
        raise UnsupportedError(f"{path}: {self.name} files are written, not read")

    def write(self, tree: Tree, *, leave_out: bool) -> str:
        """The text of a file. What the format cannot hold is refused by `check_holds`, or, with `leave_out`, named in a
        comment."""
        raise UnsupportedError(f"{self.name} files are read, not written")

    def parts(self, path: Path) -> Iterator[list[str]]:
        """Errors of the parts of a file that cannot be read as a whole, each read alone, for `cayley check`.

        Without this, the first error is all that is known."""
        return iter(())

    @property
    def is_written(self) -> bool:
        """True if the format can be written."""
        return type(self).write is not Format.write

    @property
    def words(self) -> str:
        """The usual ending, with the name where that does not say it: ".xml (MJCF)"."""
        usual = self.endings[0]
        return usual if usual == f".{self.name.lower()}" else f"{usual} ({self.name})"


def check_holds(format_name: str, tree: Tree, lost: Sequence[str], *, leave_out: bool) -> None:
    """Refuse to write a mechanism of which parts would be lost, unless they are to be left out.

    >>> check_holds("URDF", cy.load("planar2r").tree, ["the loop 'ring'"], leave_out=False)
    Traceback (most recent call last):
    cayley.errors.UnsupportedError: URDF cannot hold these parts of planar2r: the loop 'ring'; with leave_out=...
    """
    if lost and not leave_out:
        raise UnsupportedError(f"{format_name} cannot hold these parts of {tree.name}: {'; '.join(lost)}; with "
                               "leave_out=True they are left out")


def error_of(read: Callable[[], object]) -> list[str]:
    """Error message of a reader of one part, as a list of at most one."""
    try:
        read()
    except CayleyError as error:
        return [str(error)]
    return []
