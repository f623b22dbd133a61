"""Following a path of poses with the Jacobian: rates of the joints, integrated step by step.

    qdot = J^-1 (xdot + G e)      G = 0: open loop, the error drifts with the step; G > 0: the error decays as edot = -G
                                  e
    q_(k+1) = q_k + qdot dt       stable for 0 < G dt < 2; for G dt = 1 nothing of an old error is left
With damping, J^-1 is the damped inverse of `rates`: bounded at singular configurations, at the price of an error there.
Source: Ruggiu 5.6, (5.14)-(5.18).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError
from cayley.geometry.rotations.rotation_vector import rotation_vector_from_matrix
from cayley.kinematics.inverse.kernels import moment_kernel, motion_kernel
from cayley.kinematics.inverse.numeric import checked_targets
from cayley.kinematics.inverse.rates import resolved_rates
from cayley.kinematics.inverse.task import Task
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class PathResult:
    """The configurations (..., K, nq) along a path of K poses, the `velocity` (..., K, nv) at each, and how well they
    follow it.

    Where the Jacobian is singular and not damped, the motion ends: from there on q stays, `followed` is false, and
    `velocity` is NaN.
    """

    q: Array
    velocity: Array
    position_error: Array  # [m] (..., K)
    angle_error: Array  # [rad] (..., K)
    smallest_singular_value: Array  # of the rows of the task (..., K)
    damping: Array  # (..., K)
    followed: Array  # (..., K)
    stable: bool  # gain times time step is below 2

    @property
    def residual(self) -> Array:
        """The norm of the error, metres and radians together (..., K)."""
        return np.hypot(self.position_error, self.angle_error)

    @property
    def status(self) -> str | Array:
        """"followed"; "singular" where the motion ended before the path; "unstable" where errors grow from step to step
        (...).
        """
        words = np.where(self.followed.all(axis=-1), "followed" if self.stable else "unstable", "singular")
        return str(words) if words.ndim == 0 else words


def follow_path(tree: Tree, path: Array, frame: str, start: ArrayLike, *, time_step: float, gain: float = 0.0,
                damping: float | tuple[float, float] = 0.0, velocity: ArrayLike | None = None,
                task: str | Sequence[bool] = "pose") -> PathResult:
    """Configurations by which a frame follows poses (..., K, 4, 4) that are `time_step` [s] apart, from the
    configurations (..., nq).

    gain        [1/s] of the error: 0 is the open loop
    damping     0 is the plain inverse (pseudo-inverse where the Jacobian is not square); a number k, or (threshold,
                largest) to choose it
                from the smallest singular value
    velocity    twists (..., K, 6) of the path in the root's axes, at the frame's origin; by default from each pose to
                the next
    task        rows that count, in the root's axes, as in `inverse_kinematics`

    >>> from cayley.model.catalogue import load_robot
    >>> path = np.tile(np.eye(4), (50, 1, 1))
    >>> path[:, 0, 3] = np.linspace(0.8, 1.0, 50)
    >>> plane = (True, True, False, False, False, False)
    >>> found = follow_path(load_robot("planar3r"), path, "tool", [-1.0, 2.0, 1.0], time_step=0.02, gain=25.0,
    ...                     task=plane)
    >>> found.status, bool(found.residual[-1] < 1e-3 < found.residual[0])
    ('followed', True)
    """
    check_independent(tree, "following a path of poses", frame)
    poses = checked_targets(path)
    step = float(time_step)
    if poses.ndim < 3 or not (step > 0 and gain >= 0):
        raise SignatureError(
            f"a path is poses (..., K, 4, 4), not {poses.shape}; its time step is positive and the gain is not "
            f"negative, not {time_step} and {gain}")
    wanted = Task.of(tree, task, "world")
    twists = path_twists(poses, step) if velocity is None else np.broadcast_to(np.asarray(velocity, dtype=float),
                                                                               (*poses.shape[:-2], 6))
    batch = np.broadcast_shapes(poses.shape[:-3], np.shape(start)[:-1])
    q = np.array(np.broadcast_to(start, (*batch, tree.nq)), dtype=float)
    look = kept(tree, ("moment", frame, wanted), lambda: moment_kernel(tree, frame, wanted))
    move = kept(tree, "motion", lambda: motion_kernel(tree))
    moments = []
    going = np.ones(batch, dtype=bool)
    for k in range(poses.shape[-3]):
        error, J, ahead = look(q, poses[..., k, :, :], twists[..., k, :])
        rates = resolved_rates(J, ahead + gain * error, damping=damping)
        going = going & rates.regular
        qd = np.where(going[..., None], rates.velocity, np.nan)
        lengths = [np.linalg.norm(part, axis=-1) for part in np.split(error, [len(wanted.linear)], axis=-1)]
        moments.append((q, qd, *lengths, rates.smallest_singular_value, np.broadcast_to(rates.damping, batch), going))
        q = np.where(going[..., None], move(q, step * np.where(going[..., None], qd, 0.0)), q)
    q, qd, position, angle, smallest, dampings, followed = (np.stack(column, axis=len(batch))
                                                           for column in zip(*moments, strict=True))
    return PathResult(q, qd, position, angle, smallest, dampings, followed, gain * step < 2.0)


def path_twists(poses: Array, step: float) -> Array:
    """The twists (..., K, 6) from each pose to the next, in the root's axes; the last is that before it."""
    p = poses[..., :3, 3]
    R = poses[..., :3, :3]
    turns = rotation_vector_from_matrix.unchecked(R[..., 1:, :, :] @ np.swapaxes(R[..., :-1, :, :], -1, -2))
    twists = np.concatenate([np.diff(p, axis=-2), turns], axis=-1) / step
    return np.concatenate([twists, twists[..., -1:, :] if poses.shape[-3] > 1 else np.zeros((*poses.shape[:-2], 6))],
                          axis=-2)
