"""Resolved acceleration control as a system: the error of a frame obeys a linear equation, wherever the arm is.

    tau = ID(q, qd, qdd*)        J qdd* = r'' + kd (r' - J qd) + kp e - J' qd        then  e'' + kd e' + kp e = 0
exactly for positions and for turns about one axis; for other turns to first order in the error. The equations are
solved by qdd* = J^T (J J^T + damping)^-1 (...) + what no row feels, so that a redundant arm moves least and what it
does besides dies out with `null_damping`. Near singular postures, where det(J J^T) is less than `near` times that of an
isotropic matrix of the same trace, damping sets in (Nakamura): accelerations stay bounded, and the error is not that of
the equation. Source: Yamamoto (6.48), (6.49), spec S3-47, E3-34."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.arms import ArmLike, finite_or, gains_of, integral_action
from cayley.control.drive_dynamics import DriveDynamics
from cayley.control.task_space.task_error import FrameTask
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import SignatureError
from cayley.systems import Record, State, System

_TINY = 1e-300


def resolved_acceleration(arm: ArmLike, frame: str, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None = None, *,
                          task: str | Sequence[bool] = "pose", wind_up: ArrayLike | None = None,
                          damping: float = 0.05, near: float = 1e-6, null_damping: float = 10.0,
                          name: str = "resolved acceleration") -> System:
    """Resolved-acceleration control: the error of a frame obeys a linear equation.

    Inputs: `q`, `qd`, `target`, a pose (4, 4), or a point (3) if the `task` is of positions only, and `target_rate` and
    `target_acceleration` (m) of its rows in the root's axes, zero if nothing drives them. Output: `tau`. The gains are
    of the m rows. Forces are zero where they depend on what is not finite.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> plane = [True, True, False, False, False, False]
    >>> loop = cy.connect(arm, resolved_acceleration(arm, "tool", kp=100.0, kd=20.0, task=plane))
    >>> run = loop.simulate({"q": [0.1, 1.2], "qd": [0.0, 0.0]}, until=3.0, inputs={"target": [0.5, 0.35, 0.0]})
    >>> arm.pose(run.end["q"], "tool")[:2, 3].round(6)
    array([0.5 , 0.35])
    """
    asked = FrameTask.of(arm, frame, task, "resolved acceleration")
    tree = asked.tree
    m = asked.size
    drives = DriveDynamics.of(tree, "resolved acceleration")
    n = drives.count
    if m > n:
        raise SignatureError(f"a task of {m} rows needs more than the {n} velocities of {tree.name}: control fewer "
                             f"rows")
    if not damping > 0 or not near > 0 or not null_damping >= 0:
        raise SignatureError("damping and near are positive and null_damping is not negative: without them there are "
                             "no accelerations at singular postures")
    inverse = inverse_dynamics_kernel(tree)
    memory = integral_action(ki, wind_up, m, lambda u, p: asked.error(u.q, u.target))

    def law(t: Scalar, x: State, u: Record, p: Record) -> Array:
        here = drives.at(u.q, u.qd)
        all_rows = asked.jacobian(u.q)
        J = here.rows(all_rows)
        wanted = (u.target_acceleration + p.kd * (u.target_rate - all_rows @ u.qd) + p.kp * asked.error(u.q, u.target)
                  - here.drift(all_rows, asked.bias(u.q, u.qd)))
        besides = -null_damping * drives.picked(u.qd) if n > m else np.zeros(n)
        led = besides + J.T @ _damped_solve(J @ J.T, memory.added(wanted, x, p) - J @ besides, p.damping, p.near)
        return finite_or(inverse(u.q, u.qd, here.acceleration(led)), 0.0)

    return System(
        name, output=law, state=memory.state, outputs={"tau": tree.nv}, derivative=memory.derivative,
        inputs=asked.ports("q qd target target_rate target_acceleration"),
        parameters={"kp": gains_of(kp, m, "kp"), "kd": gains_of(kd, m, "kd"), **memory.gains, "damping": damping,
                    "near": near})


def _damped_solve(A: Array, b: Array, damping: Scalar, near: Scalar) -> Array:
    """(A + damping^2 a 1)^-1 b, with a the mean of the diagonal, the damping fading out where A is regular."""
    m = len(A)
    mean = np.trace(A) / m + _TINY
    isotropy = np.linalg.det(A / mean)
    fade = np.maximum(0.0, 1.0 - isotropy / near)
    return np.linalg.solve(A + damping**2 * mean * fade * np.eye(m), b)
