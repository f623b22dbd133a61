"""The second chart d = sin(phi/2) e: every rotation has a finite d, half-turns have |d| = 1.

The cosine of the half angle, s = sqrt(1 - d.d) >= 0, is hidden: d and s together are the unit homogeneous form [s : d].
At a half-turn d and -d are the same rotation. Near a half-turn s recomputed from d has lost half of its digits (1e-8
instead of 1e-16): where that matters, carry the homogeneous form and take d at the end.

Source: Mladenova 2.4 (68)-(70), corrected as in spec E-12, E-13.

>>> homogeneous_from_half_sine([0.0, 0.6, 0.0])
array([0.8, 0. , 0.6, 0. ])
>>> vector_parameter_from_half_sine([0.0, 0.6, 0.0])
array([0.  , 0.75, 0.  ])
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.errors import GeometryError
from cayley.geometry.batch import first_failure, place, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.rotations.axis_angle import vector_length
from cayley.geometry.rotations.homogeneous import normalize_homogeneous
from cayley.geometry.rotations.quaternion import check_nonzero_quaternion, quaternion_product
from cayley.geometry.rotations.vector_parameter import check_not_half_turn, check_vector_parameter
from cayley.geometry.scaling import nearly_unit


def check_half_sine(*parameters: Array, tolerance: float | None = None) -> None:
    """Raise `GeometryError` where |d| exceeds one by more than 1e-8 (float32: 1e-4) or `tolerance`."""
    for d in map(np.asarray, parameters):
        if d.ndim < 1 or d.shape[-1] != 3:
            raise GeometryError(f"a half-sine parameter must have shape (..., 3), not {d.shape}")
        bad = first_failure(vector_length(d) <= 1.0 + tolerance_of(d, tolerance))
        if bad is not None:
            raise GeometryError(f"half-sine parameter{place(bad)} has length {np.linalg.norm(d[bad]):.10g}: the sine "
                                "of half an angle is at most 1")


def _cosine(d: Array) -> Scalar:
    rest = 1.0 - d @ d
    return where(rest > 0, np.sqrt(where(rest > 0, rest, 1.0)), 0.0)


homogeneous_from_half_sine = formula(
    "homogeneous_from_half_sine", "(3)->(4)", lambda d: np.concatenate([[_cosine(d)], d]),
    "[s : d] with the hidden cosine s = sqrt(1 - d.d), zero where rounding has made |d| larger than one.",
    check_half_sine)


@kernel("(4)->(3)", check=check_nonzero_quaternion)
def half_sine_from_homogeneous(h: Array) -> Array:
    """The vector part of [w : v] scaled to length one, w >= 0. At a half-turn the sign is that of h.

    >>> half_sine_from_homogeneous([-4.0, 0.0, 3.0, 0.0])
    array([-0. , -0.6, -0. ])
    """
    h = normalize_homogeneous.unchecked(h)
    return where(h[0] < 0, -1.0, 1.0) * h[1:]


half_sine_from_vector_parameter = formula(
    "half_sine_from_vector_parameter", "(3)->(3)", lambda c: c / np.sqrt(1.0 + c @ c),
    "d = c/sqrt(1 + c.c). Mladenova (68), corrected as in spec E-12.", check_vector_parameter)


def _check_finite(d: Array) -> None:
    check_half_sine(d)
    check_not_half_turn(homogeneous_from_half_sine.unchecked(d))


vector_parameter_from_half_sine = formula(
    "vector_parameter_from_half_sine", "(3)->(3)", lambda d: d / _cosine(d),
    "c = d/sqrt(1 - d.d). A half-turn, |d| = 1, raises `SingularityError`. Mladenova (68).", _check_finite)


@kernel("(3)->(3,3)", check=check_half_sine)
def matrix_from_half_sine(d: Array) -> Array:
    """1 + 2 (s 1 + hat(d)) hat(d), Mladenova (69); |d| beyond one, as the check admits it, is taken away.

    >>> matrix_from_half_sine([0.0, 0.0, 1.0])
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    x, y, z = d
    a, b, c = 2.0 * _cosine(d) * d
    u, v, w = np.minimum(2.0, 4.0 - 2.0 * (d @ d)) * d
    ux, vy, wz, vx = u * x, v * y, w * z, v * x
    wx, wy = w * x, w * y
    return np.array([[1.0 - (vy + wz), vx - c, wx + b], [vx + c, 1.0 - (ux + wz), wy - a],
                     [wx - b, wy + a, 1.0 - (ux + vy)]])


@kernel("(3),(3)->(3)", check=check_half_sine)
def compose_half_sines(a: Array, b: Array) -> Array:
    """s2 d1 + s1 d2 + d1 x d2, its sign that of the hidden cosine s1 s2 - d1.d2: the rotation b, then a.

    Mladenova (70), with the sign rule of spec E-13: the product of two vector-parameters with c1.c2 > 1 needs it.

    >>> compose_half_sines([0.0, 0.0, 0.8], [0.0, 0.0, 0.8]).round(15)
    array([-0.  , -0.  , -0.96])
    """
    h = nearly_unit(quaternion_product(homogeneous_from_half_sine.unchecked(a),
                                       homogeneous_from_half_sine.unchecked(b)))
    return where(h[0] < 0, -1.0, 1.0) * h[1:]
