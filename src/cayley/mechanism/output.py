"""A mechanism as a table, a file, a report, a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from cayley.compiler.typing import ArrayLike
from cayley.errors import UnreachableError, UnsupportedError
from cayley.mechanism import functions
from cayley.mechanism.rooms import Rooms
from cayley.model.formats import format_to_write
from cayley.showing import LiveView, Player, ReportPage, maker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cayley.compiler.kernel import Kernel
    from cayley.compiler.typing import ArrayLike, DTypeLike
    from cayley.control.law_trial import Trial
    from cayley.drawing.played import MotionLike
    from cayley.exports.folder import ExportedFolder
    from cayley.model.denavit_hartenberg.table import Convention, DHTable
    from cayley.model.report import Report
    from cayley.shapes import Shapes
    from cayley.systems.system import System


class Output(Rooms):
    """A mechanism as a table, a file, a report, a picture."""

    def dh_table(self, *, convention: Convention, frame: str | None = None, canonical: bool = False) -> DHTable:
        """The Denavit-Hartenberg table of the chain to a frame ("tool", or the only end). A mechanism made from a table
        returns the rows as given. Otherwise, or if `canonical`, they follow from the joint axes by the rules of
        `model.denavit_hartenberg.dh_from_tree`, with lengths a >= 0.

        >>> print(cy.load("planar2r").dh_table(convention="standard"))
          i joint         theta [rad]        d [m]        a [m]    alpha [rad]   standard
          1 revolute               q1            0          0.5              0
          2 revolute               q2            0          0.4              0
        """
        from cayley.model.denavit_hartenberg.conversion import dh_from_tree, given_table
        given = None if canonical else given_table(self.tree, convention=convention, frame=frame)
        return dh_from_tree(self.tree, convention=convention, frame=frame).table if given is None else given

    def save(self, path: str | os.PathLike[str], *, leave_out: bool = False) -> None:
        """Write a .toml, .urdf or .xml (MJCF) file. Features that URDF or MJCF lack raise an error, or, with
        `leave_out`, become a comment in the file. The file has the drives as data: call `including` again after
        loading. Files hold no contacts.

        >>> cy.load("planar2r").save("arm.stl")
        Traceback (most recent call last):
        cayley.errors.UnsupportedError: a mechanism is written as .urdf, .xml, .mjcf or .toml, not as '.stl'
        """
        if self.tree.contacts and not leave_out:
            raise UnsupportedError(f"files hold no contacts, and {self.name} has {len(self.tree.contacts)}: leave them "
                                   "out, save(path, leave_out=True), and call `with_contacts` again after loading")
        text = format_to_write(path).write(self.tree.without_motors(), leave_out=leave_out)
        Path(path).write_text(text, encoding="utf-8")

    def export(self, folder: str | os.PathLike[str], *functions: str | Kernel | System, layout: str = "cmake",
               dtype: DTypeLike | None = None, batch: bool = False, name: str | None = None,
               states: Mapping[str, ArrayLike] | None = None) -> ExportedFolder:
        """Write functions as a folder of C for `layout` "cmake" or "arduino", with test vectors and a program that
        checks them.

        A function is a name, "inverse-dynamics", "pose:tool", "jacobian:tool:body", a kernel, or a law of
        `arm.control`; see `cayley.exports.export_folder` for the rest.

        >>> cy.load("planar2r").export("generated", "pose")
        Traceback (most recent call last):
        cayley.errors.SignatureError: 'pose' of planar2r: say of which frame, 'pose:tool'; there are ...
        """
        from cayley.exports.named_kernels import export_mechanism
        return export_mechanism(self, folder, functions, layout=layout, dtype=dtype, batch=batch, name=name,
                                states=states)

    def report(self, *, motion: MotionLike | None = None, payload: float = 0.0, frame: str | None = None,
               effort: ArrayLike | None = None, law: System | Trial | None = None) -> ReportPage:
        """The page of `cayley report`: the robot in 3-D, its tables, workspace, payload chart, equations of motion,
        operation counts and times. A notebook shows it, `save("arm.html")` writes it, and `print` shows the
        `summary()`. For `motion`, `payload` at a `frame`, `effort` of the drives and `law` see
        `cayley.studio.write_report`.

        >>> cy.load("planar2r").report(payload=1.5)
        <report of planar2r: a notebook shows it, save("report.html") writes it>
        """
        return maker("report")(self, motion=motion, payload=payload, frame=frame, effort=effort, law=law)

    def summary(self) -> Report:
        """Summary that prints as text: bodies, joints, limits, masses, mobility of a mechanism with constraints, and
        warnings.

        >>> "3 bodies, 2 joints, nq = 2, nv = 2" in cy.load("planar2r").summary().heading
        True
        """
        if not self.tree.is_constrained:
            return functions.report(self.tree)
        try:
            return functions.report(self.tree, self.loops.mobility, str(self.loops.actuation))
        except UnreachableError as why:
            return functions.report(self.tree, str(why))

    # Pictures

    @property
    def shapes(self) -> Shapes:
        """Shapes of the bodies, read now from the file of the mechanism: boxes, cylinders, spheres, capsules and
        meshes, and a list of missing files; see `cayley.shapes`.

        >>> cy.load("planar2r").shapes
        <shapes: none>
        """
        return functions.shapes_of(self.tree)

    def draw(self, q: ArrayLike | None = None, *, frames: str | Sequence[str] = "ends", labels: bool = True,
             ground: bool = True, trail: bool = True, shapes: str | None = "visual",
             ax: Axes | None = None) -> Axes:
        """Draw the mechanism with its frames, at one configuration (nq) or several (k, nq): with the shapes of its file
        if it has any, otherwise as a stick figure; see `cayley.drawing.stick_figure`.

        >>> cy.load("planar2r").draw([0.3, 0.6]).name
        'rectilinear'
        """
        return functions.stick_figure(self.tree, q, frames=frames, labels=labels, ground=ground, trail=trail,
                                      shapes=shapes, ax=ax)

    @overload
    def animate(self, motion: MotionLike, path: None = None, *, speed: float = 1.0) -> Player: ...

    @overload
    def animate(self, motion: MotionLike, path: str | os.PathLike[str], *, speed: float = 1.0,
                frames: str | Sequence[str] = "ends", trail: bool = True, ground: bool = True,
                shapes: str | None = "visual", size: tuple[float, float] | None = None) -> Path: ...

    def animate(self, motion: MotionLike, path: str | os.PathLike[str] | None = None, *, speed: float = 1.0,
                frames: str | Sequence[str] = "ends", trail: bool = True, ground: bool = True,
                shapes: str | None = "visual", size: tuple[float, float] | None = None) -> Path | Player:
        """Show a motion, the run of a simulation, a planned motion, or a pair (times, configurations): as a page that
        plays it in 3-D (.html), as a moving picture (.gif, or .mp4 where ffmpeg is installed), or without a path in a
        notebook; see `cayley.studio.animate`."""
        return maker("animate")(self.tree, motion, path, speed=speed, frames=frames, trail=trail,
                                ground=ground, shapes=shapes, size=size)

    def view(self, *, host: str = "127.0.0.1", port: int | None = None) -> LiveView:
        """Open the robot live in a browser: sliders, a gizmo, ellipsoids, playback of motions, simulation, plots. `view
        = arm.view(); view.show(motion)`; a notebook shows the page, `view.open()` opens it in a browser. It needs viser
        (the extra `studio`) but no network; see `cayley.studio.live.View`."""
        return maker("View")(self, host=host, port=port)
