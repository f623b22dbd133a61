"""Workspaces and payload charts of a mechanism: `arm.pictures`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cayley.compiler.typing import ArrayLike, TaskRows
from cayley.mechanism.room import Room

if TYPE_CHECKING:
    from cayley.drawing.payload_maps import PayloadMap
    from cayley.drawing.sampling import JointLimits
    from cayley.drawing.workspaces import Workspace
    from cayley.machines.workspace_maps import WorkspaceMap


class Pictures(Room):
    """Maps of what a mechanism reaches and carries, which draw themselves."""

    def workspace(self, frame: str, *, samples: int | None = None, seed: int = 0, limits: JointLimits | None = None,
                  relative_to: str | None = None, center: ArrayLike = (0.0, 0.0, 0.0),
                  start: ArrayLike | None = None) -> Workspace:
        """The workspace of a frame within the limits; draws itself. With loops, what its actuated joints reach on the
        branch of `start`. See `cayley.drawing.workspace`.

        >>> round(cy.load("planar2r").pictures.workspace("tool", samples=2000).farthest, 6)
        0.9
        """
        from cayley.drawing import workspace
        return workspace(self.tree, frame, samples=samples, seed=seed, limits=limits, relative_to=relative_to,
                         center=center, start=start)

    def workspace_map(self, frame: str, *, start: ArrayLike, box: ArrayLike, plane: str | None = None,
                      task: TaskRows | None = None, characteristic_length: float | None = None,
                      resolution: int = 80) -> WorkspaceMap:
        """Map of a frame of a mechanism with loops over a box ((left, bottom), (right, top)) of a plane, on the
        branch of a start (nq): reach, quality and singular curves; draws itself. See `cayley.drawing.closed_maps`.

        >>> found = cy.load("five_bar").pictures.workspace_map("tool", start=np.zeros(4), box=((-0.1, 0.2), (0.1, 0.4)))
        >>> found.reachable.all()
        np.True_
        """
        from cayley.drawing.closed_maps import workspace_map_of
        return workspace_map_of(self.tree, frame, start=start, box=box, plane=plane, task=task,
                                characteristic_length=characteristic_length, resolution=resolution)

    def payload_map(self, frame: str, *, effort: ArrayLike | None = None, samples: int | None = None, seed: int = 0,
                    limits: JointLimits | None = None, resolution: int | None = None) -> PayloadMap:
        """The payload chart: which load each position that a frame reaches can carry at rest; draws itself. See
        `cayley.drawing.payload_map`.

        >>> round(cy.load("planar2r").pictures.payload_map("tool", effort=[40.0, 15.0], samples=2000).everywhere, 1)
        2.8
        """
        from cayley.drawing import payload_map
        return payload_map(self.tree, frame, effort=effort, samples=samples, seed=seed, limits=limits,
                           resolution=resolution)
