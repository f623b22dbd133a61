"""Curves whose vector-parameter c = tan(phi/2) e, counted from the last knot, is a cubic of time: between two rotations
with given angular velocities, and from knot to knot through many.

    O(t) = O0 O(c)     c = x u^3 + y u^2 + z u     u = (t - t0)/h     w = 2 (c' - c x c')/(1 + c.c) in body axes
Poses have dual vector-parameters and twists in place of these. Such curves cost more than the least angular
acceleration as the angle grows (1.02 times at 60 degrees, 1.5 at 120); half a turn has no vector-parameter. From knot
to knot errors grow by -3.7 at each; `rotation_spline` and `rotation_cubics` solve for all knots at once. Source:
Mladenova 9.2 (389)-(397), corrected as in spec E-67 to E-72."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_banded

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import PlanningError, SingularityError, warn_user
from cayley.geometry.motions.dual import Dual
from cayley.geometry.rotations.quaternion import quaternion_conjugate, quaternion_product
from cayley.planning.poses.rotation_splines import (
    PoseCurve,
    RotationCurve,
    aligned,
    checked_poses,
    checked_rotations,
    cross,
    rotation_spline,
)
from cayley.planning.splines.polynomials import checked_breaks, checked_vector

_HALF_TURN = 1e-12  # of the cosine of half the angle
_ALMOST = 0.1  # 168.5 degrees: from here on the greatest angular velocity is more than twice that of a spline


def rotation_cubic(times: ArrayLike, rotations: ArrayLike, *,
                   velocities: tuple[ArrayLike, ArrayLike] = (0.0, 0.0)) -> RotationCurve:
    """The curve between two rotations, quaternions (2, 4) or matrices (2, 3, 3), at two times, with the angular
    `velocities` (3) in body axes at both.

    >>> quarter = rotation_cubic([0.0, 1.0], [[1.0, 0.0, 0.0, 0.0], [0.5**0.5, 0.0, 0.0, 0.5**0.5]])
    >>> (2 * np.degrees(np.arccos(quarter(0.5).q[0]))).round(6)                                       # not 45
    np.float64(53.130102)
    """
    w = [checked_vector(v, 3, "angular velocities") for v in velocities]
    return RotationCurve(*_between(checked_breaks(times), checked_rotations(rotations, 2), w, "rotation_spline"))


def pose_cubic(times: ArrayLike, poses: ArrayLike, *,
               twists: tuple[ArrayLike, ArrayLike] = (0.0, 0.0)) -> PoseCurve:
    """The curve between two poses (2, 4, 4) at two times, with the `twists` (v; w) (6) in body axes at both; from rest
    to rest it is about one line in space."""
    w = [_dual(checked_vector(twist, 6, "twists")) for twist in twists]
    return PoseCurve(*_between(checked_breaks(times), checked_poses(poses, 2), w, "pose_spline"))


def _between(t: Array, knots: Array, w: list[Scalar], instead: str) -> tuple[Array, list[Array]]:
    """Breaks and the one piece between two knots; a warning if it is almost half a turn, nearly all of which is passed
    in an instant."""
    q = aligned(knots, np.zeros(3))
    cosine = quaternion_product(quaternion_conjugate(q[0, :4]), q[1, :4])[0]
    if _HALF_TURN < abs(cosine) < _ALMOST:
        warn_user(f"the rotation is by {np.degrees(2.0 * np.arccos(abs(cosine))):.6g} degrees, and a cubic of the "
                  "vector-parameter passes most of it in an instant, the faster the nearer it is to half a turn: "
                  f"`{instead}` does not")
    return t, [piece(q[0], cubic(gap(q[0], q[1], t, 0), w[0], w[1], t[1] - t[0]), t[1] - t[0])]


def rotation_forward(times: ArrayLike, rotations: ArrayLike, *, velocity: ArrayLike = 0.0,
                     acceleration: ArrayLike = 0.0) -> RotationCurve:
    """The curve through rotations, quaternions (k, 4) or matrices (k, 3, 3), at times (k), from the angular velocity
    and acceleration (3) in body axes at the first, knot after knot, both continuous. Unstable: for a few knots."""
    t = checked_breaks(times)
    q = aligned(checked_rotations(rotations, len(t)), np.zeros(3))
    w = checked_vector(velocity, 3, "angular velocities")
    return RotationCurve(t, _forward(t, q, w, checked_vector(acceleration, 3, "angular accelerations")))


def pose_forward(times: ArrayLike, poses: ArrayLike, *, twist: ArrayLike = 0.0,
                 acceleration: ArrayLike = 0.0) -> PoseCurve:
    """The curve through poses (k, 4, 4) at times (k), from the twist (v; w) and its derivative (6) in body axes at the
    first, knot after knot, both continuous. Unstable: for a few knots."""
    t = checked_breaks(times)
    q = aligned(checked_poses(poses, len(t)), np.zeros(3))
    first = checked_vector(twist, 6, "twists")
    bend = checked_vector(acceleration, 6, "derivatives of twists")
    return PoseCurve(t, _forward(t, q, _dual(first), _dual(bend)))


def cubic(f: Scalar, w0: Scalar, w1: Scalar, h: float) -> tuple[Scalar, Scalar, Scalar]:
    """z, y, x of the curve that reaches the vector-parameter f in the time h, with angular velocities at both ends."""
    slope = 0.5 * h * (w1 + (f @ w1) * f + cross(f, w1))
    z = 0.5 * h * w0
    return z, 3.0 * f - 2.0 * z - slope, slope + z - 2.0 * f


def _forward(t: Array, q: Array, velocity: Scalar, acceleration: Scalar) -> Array:
    h = np.diff(t)
    f = gap(q[0], q[1], t, 0)
    z = 0.5 * h[0] * velocity
    y = 0.25 * h[0]**2 * acceleration
    x = f - z - y
    pieces = [piece(q[0], (z, y, x), h[0])]
    for i in range(1, len(h)):
        ratio = h[i] / h[i - 1]
        slope = ratio * (3.0 * x + 2.0 * y + z)
        bend = ratio**2 * (6.0 * x + 2.0 * y)
        size = 1.0 + f @ f
        z = (slope - cross(f, slope)) / size
        y = (bend - cross(f, bend) - 2.0 * (f @ slope) * z) / (2.0 * size)
        f = gap(q[i], q[i + 1], t, i)
        x = f - z - y
        pieces.append(piece(q[i], (z, y, x), h[i]))
    return np.array(pieces)


def gap(first: Array, last: Array, t: Array, place: int) -> Scalar:
    """The vector-parameter from one quaternion, or dual one, to another."""
    back = quaternion_conjugate(first[:4])
    turn = quaternion_product(back, last[:4])
    if abs(turn[0]) <= _HALF_TURN:
        raise SingularityError(f"from t = {t[place]:g} to {t[place + 1]:g} is half a turn, which has no "
                               "vector-parameter: give a rotation between them, or use `rotation_spline` or "
                               "`pose_spline`, for which it is as any other")
    if len(first) == 4:
        return turn[1:] / turn[0]
    moved = quaternion_product(back, last[4:]) + quaternion_product(quaternion_conjugate(first[4:]), last[:4])
    return Dual(turn[1:], moved[1:]) / Dual(turn[0], moved[0])


def piece(q: Array, powers: tuple[Scalar, ...], h: float) -> Array:
    """The coefficients (4, 4 or 8) of q (1, c) in powers of the time."""
    rows = [q]
    for j, c in enumerate(powers, 1):
        if not isinstance(c, Dual):
            rows.append(quaternion_product(q, _pure(c)) / h**j)
            continue
        turn = _pure(c.real)
        moved = quaternion_product(q[:4], _pure(c.dual)) + quaternion_product(q[4:], turn)
        rows.append(np.concatenate([quaternion_product(q[:4], turn), moved]) / h**j)
    return np.array(rows)


def _pure(vector: Array) -> Array:
    return np.concatenate([[0.0], vector])


def _dual(twist: Array) -> Dual:
    return Dual(twist[3:], twist[:3])


_ITERATIONS = 20
_ENOUGH = 1e-13  # of the angular accelerations


def rotation_cubics(times: ArrayLike, rotations: ArrayLike, *,
                    velocities: tuple[ArrayLike, ArrayLike] = (0.0, 0.0)) -> RotationCurve:
    """The curve through rotations, quaternions (k, 4) or matrices (k, 3, 3), at times (k), whose vector-parameter is a
    cubic between knots, with continuous angular acceleration and the angular `velocities` (3) in body axes at both
    ends. Stable, where `rotation_forward` is not; `rotation_spline` passes gaps near half a turn evenly, too.

    >>> angle = 0.1 * np.arange(13)
    >>> knots = np.stack([np.cos(angle), 0 * angle, 0 * angle, np.sin(angle)], axis=-1)
    >>> steady = rotation_cubics(np.arange(13), knots, velocities=([0.0, 0.0, 0.2], [0.0, 0.0, 0.2]))
    >>> bool(abs(steady(np.arange(13)).qd[:, 2] - 0.2).max() < 1e-6)
    True
    """
    t = checked_breaks(times)
    q = aligned(checked_rotations(rotations, len(t)), np.zeros(3))
    h = np.diff(t)
    f = np.array([gap(q[k], q[k + 1], t, k) for k in range(len(h))])
    start = rotation_spline(t, q, "clamped", velocities=velocities).velocity(t)
    w = start if len(t) == 2 else _with_continuous_acceleration(f, h, start)
    return RotationCurve(t, [piece(q[k], cubic(f[k], w[k], w[k + 1], h[k]), h[k]) for k in range(len(h))])


@kernel("(3),(3),(3),()->(3),(3)", outputs=("begin", "end"))
def _accelerations(f: Array, w0: Array, w1: Array, h: Scalar) -> tuple[Array, Array]:
    z, y, x = cubic(f, w0, w1, h)
    slope = 3.0 * x + 2.0 * y + z
    bend = 6.0 * x + 2.0 * y
    size = 1.0 + f @ f
    return 4.0 * y / h**2, 2.0 * ((bend - np.cross(f, bend)) / h**2 - (f @ slope) * w1 / h) / size


def _with_continuous_acceleration(f: Array, h: Array, start: Array) -> Array:
    """The angular velocities (k, 3) at the knots; those at both ends stay."""
    w = np.array(start)
    for _ in range(_ITERATIONS):
        gaps = (f, w[:-1], w[1:], h)
        begin, end = _accelerations(*gaps)
        jumps = end[:-1] - begin[1:]
        if np.abs(jumps).max() <= _ENOUGH * (1.0 + np.abs(begin).max()):
            return w
        end_by_w0, end_by_w1, begin_by_w0, begin_by_w1 = (
            _accelerations.jacobian(variable, of)(*gaps) for of in ("end", "begin") for variable in ("w0", "w1"))
        w[1:-1] -= _block_solve(end_by_w0[1:-1], end_by_w1[:-1] - begin_by_w0[1:], -begin_by_w1[1:-1], jumps)
    raise PlanningError("no angular velocities at the knots make the angular acceleration continuous: gaps are too "
                        "near to half a turn; give more knots, or use `rotation_spline`")


def _block_solve(below: Array, diagonal: Array, above: Array, right: Array) -> Array:
    """The solution (m, 3) of a block-tridiagonal system with the blocks (m - 1, 3, 3), (m, 3, 3), (m - 1, 3, 3)."""
    m = len(diagonal)
    bands = np.zeros((11, 3 * m))
    for row in range(3):
        for column in range(3):
            bands[5 + row - column, column::3] = diagonal[:, row, column]
            bands[5 + row - column + 3, column:3 * (m - 1):3] = below[:, row, column]
            bands[5 + row - column - 3, 3 + column::3] = above[:, row, column]
    return solve_banded((5, 5), bands, right.ravel()).reshape(m, 3)
