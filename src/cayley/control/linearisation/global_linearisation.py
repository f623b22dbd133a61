"""Global linearisation by feedback: forces under which a mechanism is a linear system, wherever it is.

    joint space          tau = ID(q, qd, qdd_d + Kv (qd_d - qd) + Kp (q_d - q))         then  e'' + Kv e' + Kp e = 0
    resolved acceleration    the same for the pose of a frame, qdd* = J^-1 (x''_d + Kv (x'_d - x') + Kp e - J' qd)
    coordinate change    y = h(q), J = dh/dq:  (q, qd) -> (y, J qd),  tau = D J^-1 (v - J' qd) + b         then  y'' = v
What the model does not know is not cancelled, and J must be regular. Source: Balafoutis & Patel 7.2.1, spec R8.8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.control.arms import check_rigid_drives
from cayley.control.task_space.task_error import TaskMap, task_map
from cayley.dynamics.forward.constrained import equations_text
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.linearised.by_differentiation import regularity, solved
from cayley.dynamics.rigid_links.drives import drive_forces
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import SignatureError, SingularityError
from cayley.geometry.batch import first_failure, place
from cayley.geometry.motions.homogeneous import check_pose
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.space import ConstraintSpace
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.jacobians.general_jacobian import configuration_rate_map, task_jacobian
from cayley.kinematics.orientation import changing
from cayley.model.configuration_space import configuration_difference
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree


def error_matrix(Kp: ArrayLike, Kv: ArrayLike) -> Array:
    """[[0, 1], [-Kp, -Kv]] (2n, 2n): the state matrix of e'' + Kv e' + Kp e = 0; gains are diagonals (n) or matrices.

    >>> error_matrix([4.0], [4.0])
    array([[ 0., 1.],
           [-4., -4.]])
    """
    P, V = (np.diag(K) if np.ndim(K) < 2 else np.asarray(K, dtype=float)
            for K in (np.atleast_1d(Kp), np.atleast_1d(Kv)))
    if P.ndim != 2 or P.shape[0] != P.shape[1] or P.shape != V.shape:
        raise SignatureError(f"the gains Kp and Kv must be both (n) or (n, n), not {np.shape(Kp)} and {np.shape(Kv)}")
    return np.block([[np.zeros(P.shape), np.eye(len(P))], [-P, -V]])


def computed_torque_kernel(tree: Tree) -> Kernel:
    """`computed_torque(q, qd, q_d, qd_d, qdd_d, Kp, Kv)`: the forces (..., nv); gains are diagonals (..., nv).

    Of a mechanism with constraints it is the errors of its actuated joints, if these are as many as its mobility, or
    otherwise of independent ones, that obey e'' + Kv e' + Kp e = 0; the forces are those of its drives.

    >>> from cayley.model.catalogue import load_robot
    >>> law = computed_torque_kernel(load_robot("s1_g1"))
    >>> # no error yet
    >>> law([0.3, -0.7], [0.5, 1.2], [0.3, -0.7], [0.5, 1.2], [-0.4, 0.8], [100.0, 100.0], [20.0, 20.0]).round(10)
    array([29.14743322, 5.25717023])
    """
    inverse = _needed_forces(tree)

    def computed_torque(q: Array, qd: Array, q_d: Array, qd_d: Array, qdd_d: Array, Kp: Array, Kv: Array) -> Array:
        wanted = qdd_d + Kv * (qd_d - qd) + Kp * configuration_difference(tree, q, q_d)
        return inverse(q, qd, wanted)

    return kernel(sized(tree, "(q),(v),(q),(v),(v),(v),(v)->(v)"))(computed_torque)


def _needed_forces(tree: Tree) -> Text:
    """The text `(q, qd, wanted)` of the forces that accelerate the joints, or those that lead the others, as wanted."""
    check_rigid_drives(tree, "computed torque")
    if not tree.is_constrained:
        links = minimal_links(tree)
        return lambda q, qd, wanted: inverse_dynamics(links, q, qd, wanted) + drive_forces(tree, q, qd, wanted)
    check_untimed(tree)
    structure = constraint_structure(tree)
    driven = tree.actuated_velocities
    leading = list(driven if len(driven) == structure.mobility else structure.independent)
    equations = equations_text(tree, structure)
    closed = inverse_dynamics_kernel(tree)

    def text(q: Array, qd: Array, wanted: Array) -> Array:
        found = equations(q, qd, np.zeros(tree.nv))
        N, G = ConstraintSpace(structure, found.A, structure.used).followers(leading)
        return closed(q, qd, N @ wanted[leading] - G @ found.drift)

    return text


class Outputs(NamedTuple):
    """y = h(q), its rate, J = dh/dq along the velocities, and J' qd."""

    y: Array
    yd: Array
    J: Array
    bias: Array


@dataclass(frozen=True, eq=False)
class OutputLinearisation(HoldsFunctions):
    """Feedback and a change of coordinates after which an output y = h(q) (nv) obeys y'' = v.

    `output(q)` is a text that can be traced.

    >>> from cayley.kinematics import frame_pose
    >>> from cayley.model.catalogue import load_robot
    >>> arm = load_robot("planar2r")
    >>> law = OutputLinearisation(arm, lambda q: frame_pose(arm, q, "tool").p[:2])
    >>> law.state([0.0, np.pi / 2], [1.0, 0.0]).round(12)
    array([ 0.5, 0.4, -0.4, 0.5])
    """

    tree: Tree
    output: Callable[[Any], Any]

    @cached_property
    def outputs(self) -> Kernel[Outputs]:
        """`outputs(q, qd)`: y, yd, J and J' qd."""
        size = np.shape(self.output(self.tree.neutral))[0]
        if size != self.tree.nv:
            raise SignatureError(
                f"an output of {self.tree.name} must have {self.tree.nv} entries, one for each velocity, not {size}")

        def outputs(q: Array, qd: Array) -> Outputs:
            J = task_jacobian(self.tree, q, self.output)
            rate = J @ qd
            return Outputs(self.output(q), rate, J, changing(rate, [q], [configuration_rate_map(self.tree, q) @ qd]))

        return kernel(sized(self.tree, "(q),(v)->(v),(v),(v,v),(v)"), outputs=Outputs._fields)(outputs)

    @cached_property
    def _inverse_dynamics(self) -> Kernel:
        check_independent(self.tree, "an output for each velocity")
        check_rigid_drives(self.tree, "an output for each velocity")
        return inverse_dynamics_kernel(self.tree)

    def state(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """(y, y') (..., 2 nv): the state in which the closed loop is linear."""
        found = self.outputs(q, qd)
        return np.concatenate([found.y, found.yd], axis=-1)

    def forces(self, q: Array, qd: Array, v: ArrayLike) -> Array:
        """tau (..., nv) that make y'' = v (..., nv). `SingularityError` where J is singular."""
        found = self.outputs(q, qd)
        return self._inverse_dynamics(q, qd, regular_solve(found.J, v - found.bias))


@dataclass(frozen=True, eq=False)
class ResolvedAcceleration(HoldsFunctions):
    """Resolved acceleration of a frame of a mechanism with six velocities as a function, `law.forces(q, qd, pose,
    twist, acceleration)`: the law `resolved_acceleration` without its damping, which raises an error instead.

    The target is a pose (4, 4), its twist (6) and its acceleration (6), in the root's axes; the error of attitude is
    the rotation vector from the frame to the target. `Kp`, `Kv`: numbers or diagonals (6), linear first."""

    tree: Tree
    frame: str
    Kp: Array
    Kv: Array

    @cached_property
    def _task(self) -> TaskMap:
        return task_map(self.tree, self.frame)

    def forces(self, q: Array, qd: Array, pose: ArrayLike, twist: Array, acceleration: Array) -> Array:
        """tau (..., nv). `SingularityError` where J is singular."""
        check_pose(pose)
        task = self._task
        wanted = acceleration + self.Kv * (twist - task.velocity(q, qd)) + self.Kp * task.error(q, pose)
        return inverse_dynamics_kernel(self.tree)(q, qd, regular_solve(task.jacobian(q), wanted - task.bias(q, qd)))


def regular_solve(J: Array, x: Array) -> Array:
    """J^-1 x (..., n) for regular matrices (..., n, n); an error names the singular one."""
    if J.shape[-1] != J.shape[-2]:
        raise SignatureError(
            f"a Jacobian (..., {J.shape[-2]}, {J.shape[-1]}) has no inverse: there must be as many velocities as "
            "outputs"
        )
    bad = first_failure(~(regularity(J) <= least_singular(J.shape[-1], J.dtype, exact=True)))
    if bad is not None:
        raise SingularityError(
            f"the Jacobian{place(bad)} is singular: the output cannot be accelerated in every direction there")
    return solved(J, x)
