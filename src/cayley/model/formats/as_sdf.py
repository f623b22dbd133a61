"""SDF among the formats: the description of models in Gazebo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cayley.model.formats.format import Format

if TYPE_CHECKING:
    from cayley.model.tree import Tree


class SDF(Format):
    """The description of models in Gazebo; see `sdf`, which is loaded when it is needed."""

    name = "SDF"
    endings = (".sdf", ".world")
    takes = frozenset({"exact_angles", "trust"})

    def read(self, path: Path, *, exact_angles: bool = True, trust: bool = False) -> Tree:
        from cayley.model.formats.sdf import load_sdf
        return load_sdf(path, exact_angles=exact_angles, trust=trust)
