"""The dexterity of a mechanism in a configuration: `arm.dexterity`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import family
from cayley.compiler.typing import Array, ArrayLike, FrameName, TaskRows
from cayley.kinematics.constraints import actuated_motion
from cayley.kinematics.frame_kernels import frame_kernel
from cayley.mechanism import functions
from cayley.mechanism.room import Room, forwarded

if TYPE_CHECKING:
    from cayley.kinematics.singular.indices import Indices


class Dexterity(Room):
    """Manipulability, singularities and payload: how well a mechanism moves and carries in a configuration.

    Tasks are "pose", "position", "orientation", or six truth values (x, y, z; x, y, z) along the axes."""

    @family("q")
    def analytic_jacobian(self, frame: str, *, orientation: str, relative_to: str = "world") -> Kernel:
        """`analytic_jacobian(q, frame, orientation="zyx moving")`: the rates of `coordinates` by the velocities, (...,
        6 or 7, nv).

        Raises `SingularityError` where the orientation parameters are singular; the kernel's `unchecked` does not
        check.

        >>> cy.load("planar2r").dexterity.analytic_jacobian([0.0, 0.0], "tool", orientation="quaternion")[6]
        array([0.5, 0.5])
        """
        from cayley.kinematics.jacobians import analytic
        from cayley.kinematics.orientation import orientation as orientation_named
        check = analytic.check_orientation(self.tree, frame, orientation=orientation, relative_to=relative_to)
        return frame_kernel(self.tree, analytic.analytic_jacobian,
                            f"(q)->({3 + orientation_named(orientation).size},v)", frame,
                            check=check, orientation=orientation, relative_to=relative_to)

    @family("q", "wrench", given=["at"])
    def joint_forces_that_exert(self, frame: str, *, axes: str,
                                at: ArrayLike | FrameName | None = None) -> Kernel:
        """`joint_forces_that_exert(q, wrench, frame, axes=..., at=None)`: the torques J^T wrench (..., nv), at rest and
        without gravity.

        The wrench (..., 6) is exerted by the frame's body on its surroundings; a wrench that acts ON the body has the
        opposite sign. For a mechanism with loops the actuated joints have the forces, and the others zero.

        >>> up = [0.0, 10.0, 0.0, 0.0, 0.0, 0.0]
        >>> cy.load("planar2r").dexterity.joint_forces_that_exert([0.0, 0.0], up, "tool", axes="world")
        array([9., 4.])
        """
        return frame_kernel(self.tree, actuated_motion.joint_forces_that_exert, "(q),(6)->(v)", frame, axes=axes,
                            at=at)

    @family("q")
    def manipulability(self, frame: str, *, task: TaskRows, axes: str,
                       characteristic_length: float | None = None) -> Kernel:
        """`manipulability(q, frame, task=..., axes=...)`: sqrt(det(J J^T)) (...) of the task's Jacobian; see
        `kinematics.indices`.

        >>> plane = (True, True, False, False, False, False)
        >>> cy.load("planar2r").dexterity.manipulability([0.3, np.pi / 2], "tool", task=plane, axes="world").round(12)
        np.float64(0.2)
        """
        self._task_shape(frame, task, characteristic_length)
        return frame_kernel(self.tree, functions.manipulability, "(q)->()", frame, task=task, axes=axes,
                            characteristic_length=characteristic_length)

    @family("q")
    def task_jacobian(self, frame: str, *, task: TaskRows, axes: str,
                      characteristic_length: float | None = None) -> Kernel:
        """`task_jacobian(q, frame, task=..., axes=...)`: the rows (..., m, n) of a task, by the joints on the way, in
        one unit; by the actuated joints, if loops or mimic joints tie these together.

        Mixed units are refused, unless a characteristic length [m] says how many metres are worth a radian; see
        `kinematics.uniform_units`.

        >>> cy.load("planar2r").dexterity.task_jacobian([0.0, 0.0], "tool", task="position", axes="world").shape
        (3, 2)
        """
        rows, columns = self._task_shape(frame, task, characteristic_length)
        return frame_kernel(self.tree, functions.uniform_jacobian, f"(q)->({rows},{columns})", frame, task=task,
                            axes=axes, characteristic_length=characteristic_length)

    def indices(self, q: ArrayLike, frame: str, *, task: TaskRows, axes: str,
                characteristic_length: float | None = None) -> Indices:
        """Condition number, manipulability, isotropy and the four subspaces (null space, lost directions) of the task's
        Jacobian.

        >>> plane = (True, True, False, False, False, False)
        >>> found = cy.load("planar2r").dexterity.indices([0.3, np.pi / 2], "tool", task=plane, axes="world")
        >>> round(float(found.condition_number), 6)
        2.440197
        """
        return functions.indices(self.task_jacobian(q, frame, task=task, axes=axes,
                                                    characteristic_length=characteristic_length))

    singularity = forwarded(lambda: functions.singularity_at)
    singular_locus = forwarded(lambda: functions.singular_locus)

    @family("q", "wrench", given=["at"])
    def joint_forces_that_resist(self, frame: str, *, axes: str,
                                 at: ArrayLike | FrameName | None = None) -> Kernel:
        """`joint_forces_that_resist(q, wrench, frame, axes=..., at=None)`: -J^T wrench (..., nv), the joint forces that
        hold a wrench ON the frame's body, at rest and without gravity.

        >>> load = [0.0, -10.0, 0.0, 0.0, 0.0, 0.0]
        >>> cy.load("planar2r").dexterity.joint_forces_that_resist([0.0, 0.0], load, "tool", axes="world")
        array([9., 4.])
        """
        return frame_kernel(self.tree, actuated_motion.joint_forces_that_resist, "(q),(6)->(v)", frame, axes=axes,
                            at=at)

    def greatest_payload(self, q: ArrayLike, frame: str, *, effort: ArrayLike | None = None) -> Array:
        """The greatest point load (...) [kg] at a frame's origin that the drives hold at rest at configurations
        (..., nq): zero where they cannot hold the mechanism itself, infinite where none of them feels the load.
        `effort` are their greatest forces, one number or (nv), those of the model unless given. See
        `cayley.dynamics.payload_capacity`.

        >>> cy.load("planar2r").dexterity.greatest_payload([[0.0, 0.0], [0.0, np.pi / 2]], "tool",
        ...                                                effort=[40.0, 15.0]).round(3)
        array([2.808, 5.655])
        """
        return functions.payload_capacity(self.tree, q, frame, effort).mass

    def _task_shape(self, frame: str, task: TaskRows, characteristic_length: float | None) -> tuple[int, ...]:
        """Rows and columns of a task's Jacobian; an error if their units are mixed."""
        return np.shape(
            functions.uniform_jacobian(self.tree, self.tree.neutral, frame, task=task, axes="world",
                                       characteristic_length=characteristic_length))
