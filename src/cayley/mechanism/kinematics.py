"""Poses, velocities, Jacobians, statics, singularities and inverse kinematics of a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import family
from cayley.compiler.typing import Array, ArrayLike, FrameName, TaskRows
from cayley.kinematics.frame_kernels import frame_kernel, pose_matrix
from cayley.mechanism.data import Data

if TYPE_CHECKING:
    from cayley.kinematics.inverse import InverseKinematicsResult
    from cayley.kinematics.inverse.analytic import AllSolutions
    from cayley.kinematics.jacobians.formed_jacobian import By
    from cayley.kinematics.link_motion import LinkMotion
    from cayley.kinematics.singular.indices import Indices
    from cayley.kinematics.singular.singular_loci import SingularLocus
    from cayley.kinematics.singular.singularities import Singularity


class Kinematics(Data):
    """Poses, velocities, Jacobians, statics, singularities and inverse kinematics of a mechanism."""

    # Positions

    @family("q")
    def pose(self, frame: str, *, relative_to: str = "world") -> Kernel:
        """`pose(q, frame, relative_to="world")`: forward kinematics, the pose (..., 4, 4) of a frame in the root's
        frame, or in another.

        >>> cy.load("planar2r").pose([0.0, np.pi / 2], "tool")[:3, 3].round(12)
        array([0.5, 0.4, 0. ])
        """
        return frame_kernel(self.tree, pose_matrix, "(q)->(4,4)", frame, relative_to=relative_to)

    @family("q", "point")
    def point(self, frame: str, *, relative_to: str = "world") -> Kernel:
        """`point(q, point, frame, relative_to="world")`: where a point (..., 3) of a frame is, seen from another [m].

        >>> cy.load("planar2r").point([0.0, np.pi / 2], [0.1, 0.0, 0.0], "tool").round(12)
        array([0.5, 0.5, 0. ])
        """
        from cayley.kinematics.body_points import point_position
        return frame_kernel(self.tree, point_position, "(q),(3)->(3)", frame, relative_to=relative_to)

    @family("q")
    def coordinates(self, frame: str, *, orientation: str, relative_to: str = "world") -> Kernel:
        """`coordinates(q, frame, orientation="zyx moving")`: position and orientation (..., 6 or 7) of a frame; see
        `kinematics.orientation`.

        `SingularityError` where a vector-parameter is infinite, at half-turns; the kernel's `unchecked` does not look.

        >>> cy.load("planar2r").coordinates([0.0, np.pi / 2], "tool", orientation="rotation vector").round(6)
        array([0.5 , 0.4 , 0. , 0. , 0. , 1.570796])
        """
        from cayley.kinematics.jacobians import analytic
        from cayley.kinematics.orientation import orientation as orientation_named
        size = 3 + orientation_named(orientation).size
        infinite = orientation == "vector-parameter"  # the others have values everywhere
        check = analytic.check_orientation(self.tree, frame, orientation=orientation,
                                           relative_to=relative_to) if infinite else None
        return frame_kernel(self.tree, analytic.coordinates, f"(q)->({size})", frame, check=check,
                            orientation=orientation,
                            relative_to=relative_to)

    # Velocities and accelerations

    @family("q", "qd", given=["at"])
    def twist(self, frame: str, *, axes: str, at: ArrayLike | FrameName | None = None) -> Kernel:
        """`twist(q, qd, frame, axes=..., at=None)`: velocity of a point of the frame's body and its angular velocity,
        (..., 6).

        >>> cy.load("planar2r").twist([0.0, 0.0], [1.0, 0.0], "tool", axes="world") + 0.0
        array([0. , 0.9, 0. , 0. , 0. , 1. ])
        """
        from cayley.kinematics.jacobians import velocity
        return frame_kernel(self.tree, velocity.twist, "(q),(v)->(6)", frame, axes=axes, at=at)

    @family("q", "qd", "qdd", given=["at"])
    def acceleration(self, frame: str, *, axes: str, at: ArrayLike | FrameName | None = None) -> Kernel:
        """`acceleration(q, qd, qdd, frame, axes=..., at=None)`: true acceleration of a point and angular acceleration,
        (..., 6), no gravity.

        >>> cy.load("planar2r").acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "tool", axes="world") + 0.0
        array([-0.9, 0. , 0. , 0. , 0. , 0. ])
        """
        from cayley.kinematics.jacobians import velocity
        return frame_kernel(self.tree, velocity.acceleration, "(q),(v),(v)->(6)", frame, axes=axes, at=at)

    @family("q", "qd", given=["at"])
    def frame_bias(self, frame: str, *, axes: str, at: ArrayLike | FrameName | None = None) -> Kernel:
        """`frame_bias(q, qd, frame, axes=..., at=None)`: Jdot qd (..., 6), the part of `acceleration` that comes from
        the velocity alone: acceleration = jacobian @ qdd + frame_bias, in whatever axes. In those of the world it is
        jacobian_rate @ qd.

        >>> cy.load("planar2r").frame_bias([0.0, 0.0], [1.0, 0.0], "tool", axes="world") + 0.0
        array([-0.9, 0. , 0. , 0. , 0. , 0. ])
        """
        from cayley.kinematics.jacobians import velocity
        return frame_kernel(self.tree, velocity.frame_bias, "(q),(v)->(6)", frame, axes=axes, at=at)

    @family("q", "qd", "qdd")
    def link_motion(self, *, axes: str = "world", relative_to: str = "world") -> Kernel[LinkMotion]:
        """`link_motion(q, qd, qdd, axes="world", relative_to="world")`: of every body, in the order of `bodies`,
        `angular_velocity`, `angular_acceleration` (..., bodies, 3), their `tensor` (..., bodies, 3, 3), and `velocity`
        and `acceleration` (..., bodies, 3) of its origin; no gravity. `relative_to`: the "world", each one's "parent"
        or a frame, as an observer there sees it; see `cayley.kinematics.link_motion`.

        >>> cy.load("planar2r").link_motion([0.0, 0.0], [1.0, 0.5], [0.0, 0.0]).acceleration[:, 0] + 0.0
        array([ 0. ,  0. , -0.5])
        """
        from cayley.kinematics.link_motion import link_motion_kernel
        return link_motion_kernel(self.tree, axes, relative_to)

    @family("q", "qd", "qdd", given=["at"])
    def point_motion(self, frame: str, *, axes: str, at: ArrayLike | FrameName | None = None,
                     relative_to: str = "world") -> Kernel[LinkMotion]:
        """`point_motion(q, qd, qdd, frame, axes=..., at=None, relative_to="world")`: the same of one frame's body and
        any point of it, (..., 3).

        >>> arm = cy.load("planar2r")
        >>> arm.point_motion([0.0, 0.0], [1.0, 0.5], [0.0, 0.0], "tool", axes="world", relative_to="link1").velocity
        array([0. , 0.2, 0. ])
        """
        from cayley.kinematics.link_motion import point_motion_kernel
        return point_motion_kernel(self.tree, frame, axes, at, relative_to)

    # Jacobians

    @family("q", given=["at"])
    def jacobian(self, frame: str, *, axes: str, at: ArrayLike | FrameName | None = None,
                 relative_to: str = "world") -> Kernel:
        """`jacobian(q, frame, axes=..., at=None, relative_to="world")`: the geometric Jacobian, the twist by the
        velocities, (..., 6, nv).

        >>> cy.load("planar2r").jacobian([0.0, 0.0], "tool", axes="world")[1]
        array([0.9, 0.4])
        """
        from cayley.kinematics.jacobians import general_jacobian
        return frame_kernel(self.tree, general_jacobian.general_jacobian, "(q)->(6,v)", frame, axes=axes, at=at,
                            relative_to=relative_to)

    @family("q")
    def formed_jacobian(self, frame: str, *, formed_in: str, referred_to: str, by: By = "matrices") -> Kernel:
        """`formed_jacobian(q, frame, formed_in=..., referred_to=..., by="matrices")`: the Jacobian (..., 6, nv) formed
        at the origin of one frame and referred to the axes of another, "world", "body" (the frame itself) or a name;
        by rotation matrices, or by "vector-parameters". See `cayley.kinematics.jacobians.formed_jacobian`.

        >>> arm = cy.load("planar2r")
        >>> middle = arm.formed_jacobian([0.3, 0.7], "tool", formed_in="link2", referred_to="link2")
        >>> np.allclose(middle, arm.jacobian([0.3, 0.7], "tool", axes="link2", at="link2"))
        True
        """
        from cayley.kinematics.jacobians.formed_jacobian import formed_jacobian
        return frame_kernel(self.tree, formed_jacobian, "(q)->(6,v)", frame, formed_in=formed_in,
                            referred_to=referred_to, by=by)

    @family("q", "qd", given=["at"])
    def jacobian_rate(self, frame: str, *, axes: str, at: ArrayLike | FrameName | None = None,
                      relative_to: str = "world") -> Kernel:
        """`jacobian_rate(q, qd, frame, axes=..., at=None, relative_to="world")`: the time derivative of `jacobian`,
        (..., 6, nv).

        >>> cy.load("planar2r").jacobian_rate([0.0, 0.0], [1.0, 0.0], "tool", axes="world")[0]
        array([-0.9, -0.4])
        """
        from cayley.kinematics.jacobians import general_jacobian
        return frame_kernel(self.tree, general_jacobian.jacobian_rate, "(q),(v)->(6,v)", frame, axes=axes, at=at,
                            relative_to=relative_to)

    @family("q", given=["at"])
    def hessian(self, frame: str, *, axes: str, at: ArrayLike | FrameName | None = None,
                relative_to: str = "world") -> Kernel:
        """`hessian(q, frame, axes=..., at=None, relative_to="world")`: changes of `jacobian` by unit velocities, (...,
        6, nv, nv).

        >>> cy.load("planar2r").hessian([0.0, 0.0], "tool", axes="world")[0]
        array([[-0.9, -0.4],
               [-0.4, -0.4]])
        """
        from cayley.kinematics.jacobians import general_jacobian
        return frame_kernel(self.tree, general_jacobian.hessian, "(q)->(6,v,v)", frame, axes=axes, at=at,
                            relative_to=relative_to)

    @family("q")
    def analytic_jacobian(self, frame: str, *, orientation: str, relative_to: str = "world") -> Kernel:
        """`analytic_jacobian(q, frame, orientation="zyx moving")`: the rates of `coordinates` by the velocities, (...,
        6 or 7, nv).

        `SingularityError` where the parameters of the orientation are singular; the kernel's `unchecked` does not look.

        >>> cy.load("planar2r").analytic_jacobian([0.0, 0.0], "tool", orientation="quaternion")[6]
        array([0.5, 0.5])
        """
        from cayley.kinematics.jacobians import analytic
        from cayley.kinematics.orientation import orientation as orientation_named
        check = analytic.check_orientation(self.tree, frame, orientation=orientation, relative_to=relative_to)
        return frame_kernel(self.tree, analytic.analytic_jacobian,
                            f"(q)->({3 + orientation_named(orientation).size},v)", frame,
                            check=check, orientation=orientation, relative_to=relative_to)

    # Statics

    @family("q", "wrench", given=["at"])
    def joint_forces_that_exert(self, frame: str, *, axes: str,
                                at: ArrayLike | FrameName | None = None) -> Kernel:
        """`joint_forces_that_exert(q, wrench, frame, axes=..., at=None)`: the torques J^T wrench (..., nv), at rest and
        without gravity.

        The wrench (..., 6) is what the frame's body exerts on its surroundings; of one that acts ON it, the sign is the
        other. Of a mechanism with loops they are the forces of its actuated joints, zero at the others.

        >>> up = [0.0, 10.0, 0.0, 0.0, 0.0, 0.0]
        >>> cy.load("planar2r").joint_forces_that_exert([0.0, 0.0], up, "tool", axes="world")
        array([9., 4.])
        """
        from cayley.kinematics.constraints import actuated_motion
        return frame_kernel(self.tree, actuated_motion.joint_forces_that_exert, "(q),(6)->(v)", frame, axes=axes,
                            at=at)

    @family("q", "wrench", given=["at"])
    def joint_forces_that_resist(self, frame: str, *, axes: str,
                                 at: ArrayLike | FrameName | None = None) -> Kernel:
        """`joint_forces_that_resist(q, wrench, frame, axes=..., at=None)`: -J^T wrench (..., nv), against a wrench ON
        the frame's body.

        >>> cy.load("planar2r").joint_forces_that_resist([0.0, 0.0], [0.0, -10.0, 0.0, 0.0, 0.0, 0.0], "tool",
        ...                                           axes="world")
        array([9., 4.])
        """
        from cayley.kinematics.constraints import actuated_motion
        return frame_kernel(self.tree, actuated_motion.joint_forces_that_resist, "(q),(6)->(v)", frame, axes=axes,
                            at=at)

    # How good a configuration is. Tasks are "pose", "position", "orientation", or six truth values (x, y, z; x, y, z)
    # along the axes

    @family("q")
    def manipulability(self, frame: str, *, task: TaskRows, axes: str,
                       characteristic_length: float | None = None) -> Kernel:
        """`manipulability(q, frame, task=..., axes=...)`: sqrt(det(J J^T)) (...) of the task's Jacobian; see
        `kinematics.indices`.

        >>> plane = (True, True, False, False, False, False)
        >>> cy.load("planar2r").manipulability([0.3, np.pi / 2], "tool", task=plane, axes="world").round(12)
        np.float64(0.2)
        """
        from cayley.kinematics.singular.indices import manipulability
        self._task_shape(frame, task, characteristic_length)
        return frame_kernel(self.tree, manipulability, "(q)->()", frame, task=task, axes=axes,
                            characteristic_length=characteristic_length)

    @family("q")
    def task_jacobian(self, frame: str, *, task: TaskRows, axes: str,
                      characteristic_length: float | None = None) -> Kernel:
        """`task_jacobian(q, frame, task=..., axes=...)`: the rows (..., m, n) of a task, by the joints on the way, in
        one unit; by the actuated joints, if loops or mimic joints tie these together.

        Mixed units are refused, unless a characteristic length [m] says how many metres are worth a radian; see
        `kinematics.uniform_units`.

        >>> cy.load("planar2r").task_jacobian([0.0, 0.0], "tool", task="position", axes="world").shape
        (3, 2)
        """
        from cayley.kinematics.singular.uniform_units import uniform_jacobian
        rows, columns = self._task_shape(frame, task, characteristic_length)
        return frame_kernel(self.tree, uniform_jacobian, f"(q)->({rows},{columns})", frame, task=task, axes=axes,
                            characteristic_length=characteristic_length)

    def indices(self, q: ArrayLike, frame: str, *, task: TaskRows, axes: str,
                characteristic_length: float | None = None) -> Indices:
        """Condition number, manipulability, isotropy and the four subspaces (null space, lost directions) of the task's
        Jacobian.

        >>> plane = (True, True, False, False, False, False)
        >>> found = cy.load("planar2r").indices([0.3, np.pi / 2], "tool", task=plane, axes="world")
        >>> round(float(found.condition_number), 6)
        2.440197
        """
        from cayley.kinematics.singular.indices import indices
        return indices(self.task_jacobian(q, frame, task=task, axes=axes, characteristic_length=characteristic_length))

    def singularity(self, q: ArrayLike, frame: str, *, task: TaskRows, axes: str, tolerance: float | None = None,
                    step: float = 1e-3, limits: bool = True,
                    reachable: Callable[[Array], bool] | None = None) -> Singularity:
        """Whether one configuration (nq) is singular for a task, what is lost, and the class; see
        `kinematics.singularities.singularity_at`.

        >>> plane = (True, True, False, False, False, False)
        >>> cy.load("planar2r").singularity([0.3, 0.0], "tool", task=plane, axes="world").kind
        'boundary'
        """
        from cayley.kinematics.singular.singularities import singularity_at
        return singularity_at(self.tree, q, frame, task=task, axes=axes, tolerance=tolerance, step=step, limits=limits,
                              reachable=reachable)

    def singular_locus(self, frame: str, *, limits: bool = True, held: Sequence[str] = (), samples: int = 200,
                       points: int = 181, seed: int = 0) -> SingularLocus:
        """The singular postures of a frame's origin as curves, their image, and of each place whether it is at the
        boundary of the workspace or interior; see `kinematics.singular_loci` and `cayley.drawing.draw_singular_locus`.

        >>> [round(curve.radius, 3) for curve in cy.load("planar3r").singular_locus("tool").curves]
        [2.3, 1.3, 0.7, 0.3]
        """
        from cayley.kinematics.singular.singular_loci import singular_locus
        return singular_locus(self.tree, frame, limits=limits, held=held, samples=samples, points=points, seed=seed)

    # Inverse kinematics

    def inverse_kinematics(self, target: ArrayLike, frame: str, *, start: ArrayLike | None = None,
                           tolerance: float = 1e-10, limits: bool = True, task: TaskRows = "pose", axes: str = "world",
                           restarts: int = 100, iterations: int = 200, seed: int = 0) -> InverseKinematicsResult:
        """Configurations (..., nq) that bring a frame to poses (..., 4, 4), by search from `start` (..., nq), then
        from random ones; see `kinematics.inverse.inverse_kinematics`. A task may be less: points (..., 3) are targets
        of `task="position"`, (x, y) of `task="xy"`.

        >>> arm = cy.load("ur5")
        >>> found = arm.inverse_kinematics(arm.pose([0.1, -1.2, 1.0, 0.2, 0.7, 0.0], "tool"), "tool")
        >>> found.status, bool(found.residual < 1e-10)
        ('solved', True)
        >>> cy.load("planar2r").inverse_kinematics([0.5, 0.3], "tool", task="xy").status
        'solved'
        """
        from cayley.kinematics.inverse import inverse_kinematics
        return inverse_kinematics(self.tree, target, frame, start=start, tolerance=tolerance, limits=limits, task=task,
                                  axes=axes, restarts=restarts, iterations=iterations, seed=seed)

    def all_inverse_kinematics(self, target: ArrayLike, frame: str, *,
                               reference: ArrayLike | None = None) -> AllSolutions:
        """All configurations (..., m, nq) that bring a frame to poses (..., 4, 4), in closed form; see `AllSolutions`.

        For planar arms of two and three joints, SCARA and Stanford arms, arms with a spherical wrist, and the UR
        family; `UnsupportedError` says why an arm is none of these. `reference` chooses among whole turns, and values
        for free joints.

        >>> arm = cy.load("ur5")
        >>> found = arm.all_inverse_kinematics(arm.pose([0.1, -1.2, 1.0, 0.2, 0.7, 0.0], "tool"), "tool")
        >>> found.status, int(found.count), found.branches[0]
        ('solved', 8, 'shoulder left, wrist up, elbow up')
        """
        from cayley.kinematics.inverse.analytic import all_solutions
        return all_solutions(self.tree, target, frame, reference=reference)

    def _task_shape(self, frame: str, task: TaskRows, characteristic_length: float | None) -> tuple[int, ...]:
        """Rows and columns of a task's Jacobian; an error if their units are mixed."""
        from cayley.kinematics.singular.uniform_units import uniform_jacobian
        return np.shape(
            uniform_jacobian(self.tree, self.neutral, frame, task=task, axes="world",
                             characteristic_length=characteristic_length))
