"""URDF among the formats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cayley.model.formats.format import Format

if TYPE_CHECKING:
    from cayley.model.tree import Tree


class URDF(Format):
    """The description of robots in ROS; see `urdf` and `urdf_text`, which are loaded when they are needed."""

    name = "URDF"
    endings = (".urdf",)
    takes = frozenset({"exact_angles"})
    check_words = "Links and joints of URDF are read one by one, so that one mistake does not hide another."

    def read(self, path: Path, *, exact_angles: bool = True) -> Tree:
        from cayley.model.formats.srdf import with_srdf
        from cayley.model.formats.urdf import load_urdf
        return with_srdf(load_urdf(path, exact_angles=exact_angles), path)

    def write(self, tree: Tree, *, leave_out: bool) -> str:
        from cayley.model.formats.urdf_text import dump_urdf
        return dump_urdf(tree, leave_out=leave_out)

    def parts(self, path: Path) -> Iterator[list[str]]:
        from cayley.model.formats.urdf_parts import errors_of_parts
        return errors_of_parts(path)
