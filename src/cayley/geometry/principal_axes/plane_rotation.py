"""Diagonalization of a symmetric 3x3 matrix, second level: the rotations (u, 0, 0) that annihilate b23 when b12 = b13 =
0.

u solves u^4 - 2 a u^3 - 6 u^2 + 2 a u + 1 = 0 with a = (b33 - b22)/b23. Its four roots are tan(t), tan(t + pi/4), tan(t
- pi/4) and tan(t + pi/2): rotations a quarter turn apart. Computed from the angle they keep their digits for every a,
where the radicals lose all of them, and the fourth may be a half-turn. Source: Mladenova 5.4, (182)-(188), evaluated as
in spec R-38, E-37.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array


def _half_angles(B: Array) -> Array:
    t = np.arctan2(-2 * B[1, 2], B[2, 2] - B[1, 1]) / 4
    # the root in (-1, 0]: zero, not -1, for b23 = 0
    t = where(t > 0, t - np.pi / 4, where(t <= -np.pi / 4, t + np.pi / 4, t))
    return np.stack([t, t + np.pi / 4, t - np.pi / 4, t + np.pi / 2])


@kernel("(3,3)->(4,4)")
def second_level_rotations(B: Array) -> Array:
    """The four rotations about the first axis that make b23 zero, as homogeneous [w : v]; for b23 = 0 the first is the
    identity.

    >>> second_level_rotations(np.diag([1.0, 3.0, 2.0]))[0]
    array([1., 0., 0., 0.])
    """
    t = _half_angles(B)
    zero = 0 * t
    return np.stack([np.cos(t), np.sin(t), zero, zero], axis=1)


@kernel("(3,3)->(4)")
def second_level_roots(B: Array) -> Array:
    """The roots u1 to u4 of (184) in the order of (185)-(188): in (-1, 0], in (0, 1], in (-inf, -1], in (1, inf],
    infinite for b23 = 0.

    >>> second_level_roots([[0.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]).round(9)
    array([-0.41421356,  0.41421356, -2.41421356,  2.41421356])
    """
    t = _half_angles(B)[0]
    sin = np.sin(t)
    cos = np.cos(t)
    # sin <= 0, of either zero
    return np.stack([sin / cos, (cos + sin) / (cos - sin), (sin - cos) / (cos + sin), cos / np.abs(sin)])
