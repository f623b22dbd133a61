"""Poses, velocities, Jacobians, statics and inverse kinematics of a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import family, one_kernel
from cayley.compiler.typing import Array, ArrayLike, FrameName, TaskRows
from cayley.kinematics.frame_kernels import frame_kernel, pose_matrix
from cayley.mechanism import functions
from cayley.mechanism.data import Data
from cayley.model import configurations

if TYPE_CHECKING:
    from cayley.kinematics.inverse import InverseKinematicsResult
    from cayley.kinematics.inverse.analytic import AllSolutions


class Kinematics(Data):
    """Poses, velocities, Jacobians, statics and inverse kinematics of a mechanism."""

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
        """`point(q, point, frame, relative_to="world")`: the position (..., 3) of a point of a frame, in the root's
        frame or another [m].

        >>> cy.load("planar2r").point([0.0, np.pi / 2], [0.1, 0.0, 0.0], "tool").round(12)
        array([0.5, 0.5, 0. ])
        """
        return frame_kernel(self.tree, functions.point_position, "(q),(3)->(3)", frame, relative_to=relative_to)

    @family("q")
    def coordinates(self, frame: str, *, orientation: str, relative_to: str = "world") -> Kernel:
        """`coordinates(q, frame, orientation="zyx moving")`: position and orientation (..., 6 or 7) of a frame; see
        `kinematics.orientation`.

        Raises `SingularityError` at half-turns, where a vector-parameter is infinite; the kernel's `unchecked` does not
        check.

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
        the velocity alone: acceleration = jacobian @ qdd + frame_bias, in any axes. In the world's axes it is
        jacobian_rate @ qd.

        >>> cy.load("planar2r").frame_bias([0.0, 0.0], [1.0, 0.0], "tool", axes="world") + 0.0
        array([-0.9, 0. , 0. , 0. , 0. , 0. ])
        """
        from cayley.kinematics.jacobians import velocity
        return frame_kernel(self.tree, velocity.frame_bias, "(q),(v)->(6)", frame, axes=axes, at=at)

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

    # Inverse kinematics

    def inverse_kinematics(self, target: ArrayLike, frame: str, *, start: ArrayLike | None = None,
                           tolerance: float = 1e-10, limits: bool = True, task: TaskRows = "pose", axes: str = "world",
                           restarts: int = 100, iterations: int = 200, seed: int = 0) -> InverseKinematicsResult:
        """Configurations (..., nq) that bring a frame to poses (..., 4, 4), by search from `start` (..., nq), then from
        random ones; see `kinematics.inverse.inverse_kinematics`. The target may be a point (..., 3) with
        `task="position"`, or (x, y) with `task="xy"`.

        >>> arm = cy.load("ur5")
        >>> found = arm.inverse_kinematics(arm.pose([0.1, -1.2, 1.0, 0.2, 0.7, 0.0], "tool"), "tool")
        >>> found.status, bool(found.residual < 1e-10)
        ('solved', True)
        >>> cy.load("planar2r").inverse_kinematics([0.5, 0.3], "tool", task="xy").status
        'solved'
        """
        return functions.inverse_kinematics(
            self.tree, target, frame, start=start, tolerance=tolerance, limits=limits, task=task, axes=axes,
            restarts=restarts, iterations=iterations, seed=seed)

    def all_inverse_kinematics(self, target: ArrayLike, frame: str, *,
                               reference: ArrayLike | None = None) -> AllSolutions:
        """All configurations (..., m, nq) that bring a frame to poses (..., 4, 4), in closed form; see `AllSolutions`.

        Supports planar arms of two and three joints, SCARA and Stanford arms, arms with a spherical wrist, and the UR
        family; `UnsupportedError` says why another arm is not supported. `reference` chooses among whole turns, and
        gives values for free joints.

        >>> arm = cy.load("ur5")
        >>> found = arm.all_inverse_kinematics(arm.pose([0.1, -1.2, 1.0, 0.2, 0.7, 0.0], "tool"), "tool")
        >>> found.status, int(found.count), found.branches[0]
        ('solved', 8, 'shoulder left, wrist up, elbow up')
        """
        from cayley.kinematics.inverse.analytic import all_solutions
        return all_solutions(self.tree, target, frame, reference=reference)

    # Configurations

    def random_configuration(self, size: int | tuple[int, ...] = (), *,
                             seed: int | np.random.Generator | None = None) -> Array:
        """Random configurations (*size, nq) within the limits; see `cayley.model.configurations`. With loops, rods or
        couplings they are closed, in any assembly mode; see `cayley.kinematics.loops.closing`.

        >>> cy.load("ur5").random_configuration((2, 3), seed=0).shape
        (2, 3, 6)
        """
        if self.tree.loops or self.tree.constraints:
            from cayley.kinematics.loops.closing import random_closed_configuration
            return random_closed_configuration(self.tree, size, seed=seed)
        return configurations.random_configuration(self.tree, size, seed=seed)

    @one_kernel("q", "qd")
    def integrate(self) -> Kernel:
        """`integrate(q, qd)`: the configuration that the constant velocity qd reaches from q in unit time."""
        return functions.integrate_kernel(self.tree)

    @one_kernel("start", "end")
    def difference(self) -> Kernel:
        """`difference(start, end)`: the constant velocity that leads from one configuration to another in unit time."""
        return functions.difference_kernel(self.tree)
