"""A mechanism drawn, and what it can reach."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from cayley.compiler.typing import Array, ArrayLike, TaskRows
from cayley.mechanism.data import Data
from cayley.showing import LiveView, Player, maker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cayley.drawing.payload_maps import PayloadMap
    from cayley.drawing.played import MotionLike
    from cayley.drawing.sampling import JointLimits
    from cayley.drawing.workspaces import Workspace
    from cayley.machines.workspace_maps import WorkspaceMap
    from cayley.shapes import Shapes


class Pictures(Data):
    """A mechanism drawn, and what it can reach."""

    # Pictures

    @property
    def shapes(self) -> Shapes:
        """What its bodies look like, read now from the file that it came from: boxes, cylinders, balls, capsules and
        meshes, and what of them is missing; see `cayley.shapes`.

        >>> cy.load("planar2r").shapes
        <shapes: none>
        """
        from cayley.shapes import shapes_of
        return shapes_of(self.tree)

    def draw(self, q: ArrayLike | None = None, *, frames: str | Sequence[str] = "ends", labels: bool = True,
             ground: bool = True, trail: bool = True, shapes: str | None = "visual",
             ax: Axes | None = None) -> Axes:
        """The mechanism with frames, at one configuration (nq) or several (k, nq): in its shapes if it was read from a
        file that has any, otherwise as a stick figure; see `cayley.drawing.stick_figure`.

        >>> cy.load("planar2r").draw([0.3, 0.6]).name
        'rectilinear'
        """
        from cayley.drawing import stick_figure
        return stick_figure(self.tree, q, frames=frames, labels=labels, ground=ground, trail=trail, shapes=shapes,
                            ax=ax)

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
        notebook; see `cayley.studio.animate`.
        """
        shown: Path | Player = maker("animate")(self.tree, motion, path, speed=speed, frames=frames, trail=trail,
                                                ground=ground, shapes=shapes, size=size)
        return shown

    def view(self, *, host: str = "127.0.0.1", port: int | None = None) -> LiveView:
        """The robot in a browser, live: sliders, a gizmo, ellipsoids, motions that are played, simulation, plots. `view
        = arm.view(); view.show(motion)`; a notebook shows the page, `view.open()` opens it in a browser. Drawn by viser
        (the extra `studio`), on this machine alone, without a network; see `cayley.studio.live.View`.
        """
        made: LiveView = maker("View")(self, host=host, port=port)
        return made

    def workspace(self, frame: str, *, samples: int | None = None, seed: int = 0, limits: JointLimits | None = None,
                  relative_to: str | None = None, center: ArrayLike = (0.0, 0.0, 0.0),
                  start: ArrayLike | None = None) -> Workspace:
        """What a frame can reach within the limits; draws itself. With loops, what its actuated joints reach on the
        branch of `start`. See `cayley.drawing.workspace`.

        >>> round(cy.load("planar2r").workspace("tool", samples=2000).farthest, 6)
        0.9
        """
        from cayley.drawing import workspace
        return workspace(self.tree, frame, samples=samples, seed=seed, limits=limits, relative_to=relative_to,
                         center=center, start=start)

    def greatest_payload(self, q: ArrayLike, frame: str, *, effort: ArrayLike | None = None) -> Array:
        """The greatest point load (...) [kg] at a frame's origin that the drives hold at rest at configurations
        (..., nq): zero where they cannot hold the mechanism itself, infinite where none of them feels the load.
        `effort` are their greatest forces, one number or (nv), those of the model unless given. See
        `cayley.dynamics.payload_capacity`.

        >>> cy.load("planar2r").greatest_payload([[0.0, 0.0], [0.0, np.pi / 2]], "tool", effort=[40.0, 15.0]).round(3)
        array([2.808, 5.655])
        """
        from cayley.dynamics.payload_capacity import payload_capacity
        return payload_capacity(self.tree, q, frame, effort).mass

    def payload_map(self, frame: str, *, effort: ArrayLike | None = None, samples: int | None = None, seed: int = 0,
                    limits: JointLimits | None = None, resolution: int | None = None) -> PayloadMap:
        """The payload chart: which load each position that a frame reaches can carry at rest; draws itself. See
        `cayley.drawing.payload_map`.

        >>> round(cy.load("planar2r").payload_map("tool", effort=[40.0, 15.0], samples=2000).everywhere, 1)
        2.8
        """
        from cayley.drawing import payload_map
        return payload_map(self.tree, frame, effort=effort, samples=samples, seed=seed, limits=limits,
                           resolution=resolution)

    def workspace_map(self, frame: str, *, start: ArrayLike, box: ArrayLike, plane: str | None = None,
                      task: TaskRows | None = None, characteristic_length: float | None = None,
                      resolution: int = 80) -> WorkspaceMap:
        """What a frame of a mechanism with loops reaches over a box ((left, bottom), (right, top)) of a plane, on the
        branch of a start (nq), and how well, with its singular curves; draws itself. See `cayley.drawing.closed_maps`.

        >>> found = cy.load("five_bar").workspace_map("tool", start=np.zeros(4), box=((-0.1, 0.2), (0.1, 0.4)))
        >>> found.reachable.all()
        np.True_
        """
        from cayley.drawing.closed_maps import workspace_map_of
        return workspace_map_of(self.tree, frame, start=start, box=box, plane=plane, task=task,
                                characteristic_length=characteristic_length, resolution=resolution)
