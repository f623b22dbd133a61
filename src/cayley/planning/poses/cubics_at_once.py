"""Cubics of the vector-parameter on every gap between rotations, with the angular velocities at the knots that make the
angular acceleration continuous: Newton's method on one block-tridiagonal system. Spec R-64, the global variant.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_banded

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import PlanningError
from cayley.planning.poses.rotation_curve import RotationCurve
from cayley.planning.poses.rotation_splines import aligned, checked_rotations, rotation_spline
from cayley.planning.poses.vector_parameter_curves import cubic, gap, piece
from cayley.planning.splines.pieces import checked_breaks

_ITERATIONS = 20
_ENOUGH = 1e-13  # of the angular accelerations


def rotation_cubics(times: ArrayLike, rotations: ArrayLike, *,
                    velocities: tuple[ArrayLike, ArrayLike] = (0.0, 0.0)) -> RotationCurve:
    """The curve through rotations, quaternions (k, 4) or matrices (k, 3, 3), at times (k), whose vector-parameter is a
    cubic between knots, with continuous angular acceleration and the angular `velocities` (3) in body axes at both
    ends.

    Stable, where `rotation_forward` is not. Gaps of half a turn have no vector-parameter, and near ones turn unevenly:
    `rotation_spline` has no such limit.

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
    """The angular accelerations at both ends of a gap."""
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
