"""Rates of the joints for the twist of a frame, by the inverse of the Jacobian or damped least squares, and a path of
poses followed by integrating them step by step.

    qdot = J^-1 xdot                                                      plain; pseudo-inverse where J is not square
    qdot = (J^T J + k^2 1)^-1 J^T xdot = J^T (J J^T + k^2 1)^-1 xdot      damped: gains s/(s^2 + k^2) <= 1/(2k)
    k^2 = (1 - (s/threshold)^2) largest^2                                 by the smallest singular value s, below it
    qdot = J^-1 (xdot + G e)      G = 0: open loop, the error drifts; G > 0: the error decays as edot = -G e
    q_(k+1) = q_k + qdot dt       multiplies the error by 1 - G dt: stable while all eigenvalues of G dt are below 2
    "rotation vector"       l = log(R_t R^T), the angle from 0 to pi; partial tasks as in `task`
    "vect"                  vect(R_t R^T) = sin(angle) e; zero at a half-turn too, though the frame is not there
    "zyx moving", ...       differences of Euler angles, every sequence of `orientation`; no rates at gimbal lock
What the task leaves free may serve another purpose, qdot + (1 - J^+ J) qdot0. Sources: Ruggiu 5.6, (5.14)-(5.18),
(2.75), spec S2-90; Nakamura and Hanafusa in the form of Chiaverini; Yamamoto 1.9, steps 1 to 5, (1.22)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.signature import joined_batch
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, GeometryError, SignatureError, SingularityError
from cayley.geometry.batch import first_failure, float_array, place
from cayley.geometry.pose import Pose
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.geometry.rotations.rotation_vector import rotation_vector_from_matrix, rotation_vector_from_quaternion
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.frame_kernels import integrate_kernel
from cayley.kinematics.inverse.goal import Task, named_kernel, target_motion, task_error, task_jacobian
from cayley.kinematics.inverse.numeric import checked_targets
from cayley.kinematics.jacobians.velocity import jacobian
from cayley.kinematics.orientation import orientation as orientation_named
from cayley.kinematics.subspaces import subspaces
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.showing import brief

_LOCKED = 1e-9  # margin of the orientation's parameters
_WORDS = np.array(["followed", "singular", "gimbal lock", "half-turn"])


@dataclass(frozen=True, eq=False)
class PathResult:
    """The configurations (..., K, nq) along a path of K poses, the `velocity` (..., K, nv) at each, and how well they
    follow it: `error` (..., K, m) and what was asked of the joints, `command` = xdot + G e (..., K, m). Where the
    Jacobian is singular and not damped, or the orientation's parameters say nothing, the motion ends: from there on q
    stays, `followed` is false, and `velocity` is NaN."""

    q: Array
    velocity: Array
    error: Array
    command: Array
    position_error: Array  # [m] (..., K)
    angle_error: Array  # [rad] (..., K), of the rotation that is missing
    smallest_singular_value: Array  # of the rows of the task (..., K)
    damping: Array  # (..., K)
    obstacle: Array  # (..., K) 0, or 1 singular Jacobian, 2 gimbal lock, 3 half-turn of vect: what ended it
    stable: bool  # every eigenvalue of gain times time step is below 2
    is_off: Array  # (...) whether the frame is farther from the path than the tolerance, at the end or on the way

    __repr__ = brief

    @property
    def followed(self) -> Array:
        """True while the motion goes on (..., K)."""
        return self.obstacle == 0

    @property
    def residual(self) -> Array:
        """The norm of what is missing, metres and radians together (..., K)."""
        return np.hypot(self.position_error, self.angle_error)

    @property
    def status(self) -> str | Array:
        """"followed", or why not: the motion ended early at "singular", "gimbal lock" (of Euler angles) or "half-turn"
        (where vect vanishes), errors grow from step to step ("unstable"), or the frame is not within the tolerance
        ("off the path")."""
        ended = self.obstacle.max(axis=-1, initial=0)
        otherwise = np.where(self.is_off, "off the path", "followed") if self.stable else "unstable"
        words = np.where(ended == 0, otherwise, _WORDS[ended])
        return str(words) if words.ndim == 0 else words


def follow_path(tree: Tree, path: Array, frame: str, start: ArrayLike, *, time_step: float, gain: ArrayLike = 0.0,
                damping: float | tuple[float, float] = 0.0, velocity: ArrayLike | None = None,
                task: str | Sequence[bool] = "pose", orientation: str = "rotation vector",
                secondary: Callable[[Array], Array] | None = None, tolerance: float = 1e-2) -> PathResult:
    """Configurations by which a frame follows poses (..., K, 4, 4) that are `time_step` [s] apart, from the
    configurations (..., nq).

    gain         [1/s] of the error: 0 is the open loop; a number, a diagonal (m), or a symmetric positive definite
                 matrix (m, m) for the m rows of the task
    damping      0 is the plain or pseudo-inverse; a number k, or (threshold, largest) by the smallest singular value
    velocity     twists (..., K, 6) of the path in the root's axes, at the frame's origin; by default from the poses
    task         rows that count, in the root's axes, as in `inverse_kinematics`
    orientation  the measure of its error: "rotation vector", "vect", or Euler angles such as "zyx moving"
    secondary    a function of configurations (..., nq) for velocities (..., nv): what the task leaves free is added
    tolerance    how far the frame may be from its path, metres and radians together, besides what is left of the error
                 of the start: if it is farther, the status is "off the path"

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
    if not tolerance > 0:
        raise SignatureError(f"the tolerance of a path must be positive, not {tolerance}")
    if poses.ndim < 3 or not poses.shape[-3] or not step > 0:
        raise SignatureError(f"a path must be poses (..., K, 4, 4), one or more, not {poses.shape}; its time step is "
                             f"positive, not {time_step}")
    wanted = Task.of(tree, task, "world")
    G = gain_matrix(gain, sum(wanted.rows))
    twists = path_twists(poses, step) if velocity is None else np.broadcast_to(np.asarray(velocity, dtype=float),
                                                                               (*poses.shape[:-2], 6))
    batch = joined_batch([poses.shape[:-3], np.shape(start)[:-1]], ["path", "start"])
    q = np.array(np.broadcast_to(start, (*batch, tree.nq)), dtype=float)
    found = _marched(tree, frame, wanted, orientation, poses, twists, q, G, step, damping, secondary)
    eigenvalues = np.linalg.eigvalsh(G) * step
    away = np.hypot(found[4], found[5])
    left = np.abs(1.0 - eigenvalues).max() ** (away.shape[-1] - 1) if eigenvalues[-1] > 0.0 else 0.0
    is_off = (away[..., -1] > tolerance + left * away[..., 0]) | (away.max(axis=-1) > tolerance + away[..., 0])
    return PathResult(*found, bool(eigenvalues[-1] < 2.0), is_off)


def _marched(tree: Tree, frame: str, task: Task, orientation: str, poses: Array, twists: Array, q: Array, G: Array,
             step: float, damping: float | tuple[float, float], secondary: Callable[[Array], Array] | None
             ) -> tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array]:
    """The columns of `PathResult`, from q to obstacle."""
    look = kept(tree, ("moment", frame, task, orientation), lambda: moment_kernel(tree, frame, task, orientation))
    move = kept(tree, "integrate", lambda: integrate_kernel(tree))
    batch = q.shape[:-1]
    moments = []
    obstacle = np.zeros(batch, dtype=int)
    for k in range(poses.shape[-3]):
        here = look(q, poses[..., k, :, :], twists[..., k, :])
        locked = here.margin <= _LOCKED
        J = np.where(locked[..., None, None], 0.0, here.jacobian)
        command = np.where(locked[..., None], 0.0, here.ahead) + here.error @ G
        rates = resolved_rates(J, command, damping=damping)
        stopped = np.where(locked, 3 if orientation == "vect" else 2, np.where(rates.regular, 0, 1))
        obstacle = np.where(obstacle > 0, obstacle, stopped)
        going = (obstacle == 0)[..., None]
        rate = rates.velocity if secondary is None else rates.velocity + _free_part(J, secondary(q))
        qd = np.where(going, rate, np.nan)
        moments.append((q, qd, here.error, command, here.distance, here.angle, rates.smallest_singular_value,
                        np.broadcast_to(rates.damping, batch), obstacle))
        q = np.where(going, move(q, step * np.where(going, qd, 0.0)), q)
    columns = tuple(np.stack(column, axis=len(batch)) for column in zip(*moments, strict=True))
    return columns  # type: ignore[return-value]


def _free_part(J: Array, velocities: ArrayLike) -> Array:
    """The part of velocities (..., nv) that the rows of J (..., m, nv) do not see."""
    return (subspaces(J).null_projector @ np.asarray(velocities, dtype=float)[..., None])[..., 0]


def path_twists(poses: Array, step: float) -> Array:
    """The twists (..., K, 6) from each pose to the next, in the root's axes; the last is that before it."""
    p = poses[..., :3, 3]
    R = poses[..., :3, :3]
    turns = rotation_vector_from_matrix.unchecked(R[..., 1:, :, :] @ np.swapaxes(R[..., :-1, :, :], -1, -2))
    twists = np.concatenate([np.diff(p, axis=-2), turns], axis=-1) / step
    return np.concatenate([twists, twists[..., -1:, :] if poses.shape[-3] > 1 else np.zeros((*poses.shape[:-2], 6))],
                          axis=-2)


_SYMMETRIC = 1e-12


def gain_matrix(gain: ArrayLike, size: int) -> Array:
    """G (size, size) [1/s] of a number (0 for an open loop), a diagonal (size) or a matrix.

    >>> gain_matrix([1.0, 2.0], 2)
    array([[1., 0.],
           [0., 2.]])
    >>> gain_matrix([[1.0, 3.0], [3.0, 1.0]], 2)
    Traceback (most recent call last):
    cayley.errors.SignatureError: the gain is not positive definite: its eigenvalues are -2 to 4, and errors would grow
    """
    G = np.asarray(gain, dtype=float)
    if not np.isfinite(G).all():
        raise SignatureError("a gain is of finite numbers")
    if G.ndim == 0:
        if G < 0:
            raise SignatureError(f"the gain is not negative: {float(G):g} would let errors grow")
        return float(G) * np.eye(size)
    if G.shape not in ((size,), (size, size)):
        raise SignatureError(f"a gain must be a number, a diagonal ({size}) or a matrix ({size}, {size}) for the "
                             f"{size} rows of this task, not {G.shape}")
    full = np.diag(G) if G.ndim == 1 else G
    if np.abs(full - full.T).max() > _SYMMETRIC * np.abs(full).max():
        raise SignatureError("the gain is not symmetric: give (G + G^T)/2, or a diagonal")
    values = np.linalg.eigvalsh(full)
    if values[0] <= 0:
        raise SignatureError(f"the gain is not positive definite: its eigenvalues are {values[0]:.6g} to "
                             f"{values[-1]:.6g}, and errors would grow")
    return full


class TrackingError(NamedTuple):
    """Rows (m) of the error, (m, nv) of the Jacobian, and (m) of the motion of the target itself; the distance [m] and
    the angle [rad] that are missing, and the margin of the orientation's parameters, 1 where there is none."""

    error: Array
    jacobian: Array
    ahead: Array
    distance: Scalar
    angle: Scalar
    margin: Scalar


def moment_kernel(tree: Tree, frame: str, task: Task, orientation: str) -> Kernel[TrackingError]:
    """`(q, target, twist) -> Moment`, for a target that moves with a twist (v; w) in the root's axes."""
    if orientation != "rotation vector" and len(task.angular) != 3:
        raise ConventionError(f"the orientation error {orientation!r} is of all three angular rows: ask for the task "
                              '"pose" or "orientation", or leave it to "rotation vector"')
    if orientation not in ("rotation vector", "vect") and not orientation.endswith((" moving", " fixed")):
        raise ConventionError(f'an orientation error must be "rotation vector", "vect" or of Euler angles as "zyx '
                              f'moving", '
                              f"not {orientation!r}")

    def text(q: Array, target: Array, twist: Array) -> TrackingError:
        if orientation == "rotation vector":
            linear, angular = task_error(tree, q, frame, target, task)
            return TrackingError(np.concatenate([linear, angular]), task_jacobian(tree, q, frame, target, task),
                          target_motion(tree, q, frame, target, task, twist), np.sqrt(linear @ linear),
                          np.sqrt(angular @ angular), 1.0 + 0.0 * q[0] if tree.nq else 1.0)
        return _whole(tree, q, frame, target, task, twist, orientation)

    rows = sum(task.rows)
    return named_kernel(tree, "moment_of", f"{frame} {orientation}",
                        f"({tree.nq}),(4,4),(6)->({rows}),({rows},{tree.nv}),({rows}),(),(),()", text)


def _whole(tree: Tree, q: Array, frame: str, target: Array, task: Task, twist: Array,
           orientation: str) -> TrackingError:
    here = frame_pose(tree, q, frame)
    there = Pose.of(target)
    J = jacobian(tree, q, frame, axes="world")
    missing = (there.p - here.p)[task.linear]
    turn = there.R @ here.R.T
    quaternion = quaternion_from_matrix.unchecked(turn)
    rotation = rotation_vector_from_quaternion.unchecked(quaternion)
    angle = np.sqrt(rotation @ rotation)
    if orientation == "vect":
        error = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        rows = J[3:]
        ahead = twist[3:]
        margin = quaternion[0]
    else:
        named = orientation_named(orientation)
        off = named.parameters(there.R) - named.parameters(here.R)
        error = np.arctan2(np.sin(off), np.cos(off))
        rows = named.rate_map(here.R) @ J[3:]
        ahead = named.rate_map(there.R) @ twist[3:]
        margin = np.minimum(named.margin(here.R), named.margin(there.R))
    return TrackingError(np.concatenate([missing, error]), np.concatenate([J[:3][task.linear], rows]),
                  np.concatenate([twist[:3][task.linear], ahead]), np.sqrt(missing @ missing), angle, margin)




def _check_damping(J: ArrayLike, damping: ArrayLike) -> None:
    smallest = least_singular(np.shape(J)[-1], float_array(J).dtype, exact=True)
    J = np.asarray(J, dtype=float)
    k = np.asarray(damping, dtype=float)
    _check_finite(J, k)
    s = np.linalg.svd(J, compute_uv=False)
    bad = first_failure((s[..., -1] > smallest * s[..., 0]) | (k > 0))
    if bad is not None:
        raise SingularityError(
            f"the Jacobian{place(bad)} is singular and not damped: it has no inverse; give a damping above zero")


def _check_finite(J: Array, damping: Array) -> None:
    bad = first_failure(damping >= 0)
    if bad is not None:
        raise SignatureError(f"the damping{place(bad)} is {damping[bad]}: it must not be negative")
    bad = first_failure(np.isfinite(J).all(axis=(-2, -1)))
    if bad is not None:
        raise GeometryError(f"the Jacobian{place(bad)} is not finite")


@kernel("(m,n),()->(n,m)", check=_check_damping)
def damped_inverse(J: Array, damping: Scalar) -> Array:
    """The damped inverse J* (n, m) of a Jacobian (m, n): J* x has the least |J v - x|^2 + damping^2 |v|^2. Ruggiu
    (5.17). By the smaller of the two normal equations. Without damping it is the inverse or pseudo-inverse, which a
    singular J does not have.

    >>> damped_inverse([[2.0, 0.0], [0.0, 0.0]], 0.1).round(6)
    array([[0.498753, 0.      ],
           [0.      , 0.      ]])
    """
    m, n = J.shape
    A = J @ J.T if m <= n else J.T @ J
    A = A + damping * damping * np.eye(len(A))
    return ldl_solve(A, J).T if m <= n else ldl_solve(A, J.T)


@kernel("(),(),()->()")
def damping_from_singular_value(smallest: Scalar, threshold: Scalar, largest_damping: Scalar) -> Scalar:
    """The damping k for a smallest singular value: zero from `threshold` on, `largest_damping` at zero.

    >>> float(damping_from_singular_value(0.0, 0.05, 0.1)), float(damping_from_singular_value(0.05, 0.05, 0.1))
    (0.1, 0.0)
    """
    share = smallest / threshold
    return largest_damping * np.sqrt(where(share < 1.0, 1.0 - share * share, 0.0))


@dataclass(frozen=True, eq=False)
class Rates:
    """`velocity` (..., n), the `singular_values` (..., min(m, n)) of J, and the `damping` (...) that was used."""

    velocity: Array
    singular_values: Array
    damping: Array
    regular: Scalar  # whether the velocity is determined: J has full rank, or is damped (...)

    __repr__ = brief

    @property
    def smallest_singular_value(self) -> Array:
        return self.singular_values[..., -1]


def resolved_rates(J: ArrayLike, twist: ArrayLike, *, damping: float | tuple[float, float] = 0.0) -> Rates:
    """The velocities that give a twist (..., m), for Jacobians (..., m, n). `damping` is a number (0 for the plain
    inverse), or (threshold, largest): then it is chosen from the smallest singular value. Where J is singular and not
    damped, `regular` is false, and what cannot be determined is NaN.

    >>> resolved_rates(np.diag([2.0, 4.0]), [1.0, 1.0]).velocity
    array([0.5 , 0.25])
    """
    smallest = least_singular(np.shape(J)[-1], float_array(J).dtype, exact=True)
    J = np.asarray(J, dtype=float)
    twist = np.asarray(twist, dtype=float)
    if J.ndim < 2 or twist.shape[-1:] != J.shape[-2:-1]:
        raise SignatureError(f"a Jacobian (..., m, n) needs a twist (..., m), not {J.shape} and {twist.shape}")
    _check_finite(J, np.asarray(damping, dtype=float))
    left, s, right = np.linalg.svd(J, full_matrices=False)
    k = damping_from_singular_value(s[..., -1], *damping) if isinstance(damping, tuple) else np.full(
        s.shape[:-1], float(damping))
    with np.errstate(all="ignore"):
        gains = s / (s * s + (k * k)[..., None])
    known = (s > smallest * s[..., :1]) | (k > 0)[..., None]
    gains = np.where(known, gains, np.nan)
    along = gains * (np.swapaxes(left, -1, -2) @ twist[..., None])[..., 0]
    return Rates((np.swapaxes(right, -1, -2) @ along[..., None])[..., 0], s, k[()], np.all(known, axis=-1)[()])


@dataclass(frozen=True, eq=False)
class NewtonResult:
    """`q` (n), whether it is `solved`, the `residuals` |r - f(q)| of the start and after every step, and the `reason`
    for the end: "within tolerance", "singular Jacobian", "iteration limit" or "diverged"."""

    q: Array
    solved: bool
    residuals: Array
    reason: str

    __repr__ = brief

    @property
    def residual(self) -> float:
        return float(self.residuals[-1])

    @property
    def iterations(self) -> int:
        return len(self.residuals) - 1

    @property
    def status(self) -> str:
        return "solved" if self.solved else "not found"


def newton_iteration(f: Kernel, target: ArrayLike, start: ArrayLike, *, gain: float = 1.0, tolerance: float = 1e-12,
                     iterations: int = 100, angles: Sequence[int] = ()) -> NewtonResult:
    """A solution of f(q) = target (m) near `start` (n), with `f` a kernel of one argument. `angles` are the rows of f
    that are angles: their residuals are wrapped to between -pi and pi. The text has as many equations as unknowns; with
    more unknowns the step is the shortest, with fewer the one of least squares. It stops at a singular Jacobian.

    >>> import cayley as cy
    >>> square = cy.kernel("(1)->(1)")(lambda q: q * q)
    >>> newton_iteration(square, [2.0], [1.0]).q
    array([1.41421356])
    """
    if not 0.0 < gain <= 1.0:
        raise SignatureError(f"the gain of Newton's iteration must be above 0 and at most 1, not {gain}")
    if len(f.inputs) != 1:
        raise SignatureError(f"{f.__name__} has {len(f.inputs)} inputs; Newton's iteration is for functions of one")
    q = np.array(start, dtype=float)
    r = np.asarray(target, dtype=float)
    for name, given in (("start", q), ("target", r)):
        if not np.isfinite(given).all():
            raise SignatureError(f"the {name} of Newton's iteration is {given}: it has to be finite")
    slopes = f.jacobian(f.inputs[0])
    missing = _wrapped(r - f(q), angles)
    residuals = [float(np.linalg.norm(missing))]
    reason = "iteration limit" if np.isfinite(residuals[0]) else "diverged"
    while residuals[-1] > tolerance and len(residuals) <= iterations:
        rates = resolved_rates(slopes(q), missing)
        if not rates.regular:
            reason = "singular Jacobian"
            break
        q = q + gain * rates.velocity
        missing = _wrapped(r - f(q), angles)
        residuals.append(float(np.linalg.norm(missing)))
        if not np.isfinite(residuals[-1]):
            reason = "diverged"
            break
    solved = residuals[-1] <= tolerance
    return NewtonResult(q, solved, np.array(residuals), "within tolerance" if solved else reason)


def _wrapped(missing: Array, angles: Sequence[int]) -> Array:
    chosen = np.isin(np.arange(len(missing)), list(angles))
    return np.where(chosen, missing - 2 * np.pi * np.round(missing / (2 * np.pi)), missing)
