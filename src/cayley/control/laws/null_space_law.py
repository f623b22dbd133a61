"""Null-space control of a redundant arm: forces that do not disturb its task pull it to a posture.

    tau = task_tau + N^T (kp (posture - q) - kd qd)        N^T = 1 - J^T Lambda J M^-1
The projection is the one for which J M^-1 N^T = 0: it accelerates nothing of the task, in motion too (dynamically
consistent). It is put behind any law of a frame; laws of operational space have it inside, as their input `null_tau`.
Source: Khatib 1987, (51)-(56)."""

from __future__ import annotations

from collections.abc import Sequence

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, finite_or, gains_of
from cayley.control.task_space.task_dynamics import TaskDynamics
from cayley.control.task_space.task_error import FrameTask
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.errors import UnsupportedError
from cayley.model.configuration_space import configuration_difference
from cayley.systems import Record, System


def null_space_control(arm: ArmLike, frame: str, kp: ArrayLike, kd: ArrayLike, *,
                       task: str | Sequence[bool] = "pose", near: float = 1e-3, name: str = "null space") -> System:
    """Null-space control: pull a redundant arm to a posture without disturbing its task.

    Inputs: `q`, `qd`, `task_tau` (nv), the forces of the law of the frame, and `posture` (nq). Output: `tau`. Gains are
    of the joints. Where `task_tau` is not finite, the force is zero; where anything else is not, it is `task_tau`.

    >>> import cayley as cy
    >>> arm = cy.load("panda")
    >>> hand = arm.control.resolved_acceleration("panda_link8", 100.0, 20.0).renamed({"tau": "task_tau"})
    >>> cy.connect(arm, hand, null_space_control(arm, "panda_link8", 20.0, 5.0))
    <system panda + resolved acceleration + null space: state q, qd; inputs target, target_rate, ...>
    """
    asked = FrameTask.of(arm, frame, task, "null-space control")
    tree = asked.tree
    n = tree.nv
    felt = TaskDynamics.of(tree, frame, asked.rows, near, 0.0, "null-space control")
    if not felt.is_redundant:
        raise UnsupportedError(f"{tree.name} is not redundant: a task of {asked.size} rows uses all of its "
                               f"{felt.drives.count} velocities")

    def besides(u: Record, p: Record) -> Array:
        drawn = p.posture_kp * configuration_difference(tree, u.q, u.posture) - p.posture_kd * u.qd
        here = felt.drives.at(u.q)
        J = here.rows(felt.jacobian(u.q))
        M = here.inertia(inertia_matrix_kernel(tree)(u.q))
        onward = solve(M, J.T)
        own = felt.drives.picked(drawn)
        return felt.drives.spread(own - J.T @ felt.heavy(M, J, onward, onward.T @ own))

    return System(
        name, inputs=asked.ports("q qd task_tau posture"), outputs={"tau": n},
        parameters={"posture_kp": gains_of(kp, n, "kp"), "posture_kd": gains_of(kd, n, "kd")},
        output=lambda t, x, u, p: finite_or(u.task_tau, 0.0) + finite_or(besides(u, p), 0.0))
