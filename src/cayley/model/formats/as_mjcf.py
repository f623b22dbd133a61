"""MJCF among the formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cayley.model.formats.format import Format

if TYPE_CHECKING:
    from cayley.model.tree import Tree


class MJCF(Format):
    """MuJoCo's format; see `mjcf` and `mjcf_text`, which are loaded when they are needed."""

    name = "MJCF"
    endings = (".xml", ".mjcf")
    check_words = "MuJoCo, which reads MJCF, stops at the first mistake."
    floats_by = "MJCF says itself what floats; leave floating_base out, and give the body a <freejoint/>"

    takes = frozenset({"trust"})

    def read(self, path: Path, *, trust: bool = False) -> Tree:
        from cayley.model.formats.mjcf import load_mjcf
        return load_mjcf(path, trust=trust)

    def write(self, tree: Tree, *, leave_out: bool) -> str:
        from cayley.model.formats.mjcf_text import dump_mjcf
        return dump_mjcf(tree, leave_out=leave_out)
