"""A mechanism as a table, a file, a report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cayley.errors import UnreachableError
from cayley.mechanism.constraints import Constraints
from cayley.model.formats import format_to_write

if TYPE_CHECKING:
    from cayley.model.denavit_hartenberg.table import Convention, DHTable
    from cayley.model.report import Report


class Description(Constraints):
    """A mechanism as a table, a file, a report."""

    # Tables, files, what is known of it

    def dh_table(self, *, convention: Convention, frame: str | None = None) -> DHTable:
        """The Denavit-Hartenberg table of the chain to a frame ("tool", or the only end); see
        `model.denavit_hartenberg.dh_from_tree`.

        >>> print(cy.load("planar2r").dh_table(convention="standard"))
          i joint         theta [rad]        d [m]        a [m]    alpha [rad]   standard
          1 revolute               q1            0          0.5              0
          2 revolute               q2            0          0.4              0
        """
        from cayley.model.denavit_hartenberg.conversion import dh_from_tree
        return dh_from_tree(self.tree, convention=convention, frame=frame).table

    def save(self, path: str | os.PathLike[str], *, leave_out: bool = False) -> None:
        """Write a .toml, .urdf or .xml (MJCF) file. What URDF or MJCF cannot hold is an error, or, with `leave_out`, a
        comment in the file. Files hold the mechanism with its drives as data; what is included is said of it again.

        >>> cy.load("planar2r").save("arm.stl")
        Traceback (most recent call last):
        cayley.errors.UnsupportedError: a mechanism is written as .urdf, .xml, .mjcf or .toml, not as '.stl'
        """
        text = format_to_write(path).write(self.tree.without_motors(), leave_out=leave_out)
        Path(path).write_text(text, encoding="utf-8")

    def report(self) -> Report:
        """Bodies, joints, limits, masses, the mobility if there are constraints, and warnings about them.

        It prints as text; `cayley.studio.write_report` makes a page of HTML, with the robot in 3-D.
        """
        from cayley.model.report import report
        if not self.tree.is_constrained:
            return report(self.tree)
        try:
            return report(self.tree, self.mobility, str(self.actuation))
        except UnreachableError as why:
            return report(self.tree, str(why))
