"""Unit dual quaternions: poses as r + mu d with d = (0; p) r / 2, in arrays (2, 4) of (real, dual), each (w, x, y, z).

They are the dual homogeneous vector-parameters [w^ : v^] of norm one: a half-turn, w = 0, is an ordinary pose, and a
product never divides. q^ and -q^ are the same pose. Any dual multiple of one describes the same pose too;
`normalize_dual_quaternion` brings it back. Source: Mladenova 4.2.2, made homogeneous over dual numbers as in spec R-13,
R-34.

>>> dual_quaternion_conjugate([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])[1]
array([ 5., -6., -7., -8.])
>>> pose_from_dual_quaternion([[1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 1.0, 1.5]])[:3, 3]
array([1., 2., 3.])
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError, SingularityError
from cayley.geometry.batch import first_failure, place, refuse, shaped, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.motions.dual import Dual, dual_cos, dual_norm, dual_sin
from cayley.geometry.motions.homogeneous import check_pose, pose_from_quaternion
from cayley.geometry.motions.screws import fraction_of_pose
from cayley.geometry.rotations.axis_angle import check_unit_axis
from cayley.geometry.rotations.quaternion import (
    check_unit_quaternion,
    quaternion_conjugate,
    quaternion_from_matrix,
    quaternion_product,
)


def check_unit_dual_quaternion(q: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` unless |r| = 1 and r.d = 0, within 1e-8 (float32: 1e-4) or `tolerance` (of |d|).

    >>> check_unit_dual_quaternion([[1.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 1.0]])
    Traceback (most recent call last):
    cayley.errors.GeometryError: dual quaternion is not a pose: r.d = 0.5 should be zero. ...
    """
    q = shaped(q, (2, 4), "a dual quaternion", ", (real, dual)")
    check_unit_quaternion(q[..., 0, :], tolerance=tolerance)
    product = np.sum(q[..., 0, :] * q[..., 1, :], axis=-1)
    bad = first_failure(
        np.abs(product) <= tolerance_of(q, tolerance) * np.maximum(1, np.linalg.norm(q[..., 1, :], axis=-1)))
    if bad is not None:
        raise GeometryError(f"dual quaternion{place(bad)} is not a pose: r.d = {product[bad]:.3g} should be zero. "
                            "normalize_dual_quaternion(q) makes it so")


@kernel("(2,4),(2,4)->(2,4)")
def dual_quaternion_product(p: Array, q: Array) -> Array:
    """p^ q^, for any norms; for unit ones the pose q^, then p^.

    >>> dual_quaternion_product([[0, 1, 0, 0], [0, 0, 0, 0]], [[0, 0, 1, 0], [1, 0, 0, 0]])
    array([[0., 0., 0., 1.],
           [0., 1., 0., 0.]])
    """
    return np.stack([quaternion_product(p[0], q[0]), quaternion_product(p[0], q[1]) + quaternion_product(p[1], q[0])])


dual_quaternion_conjugate = formula("dual_quaternion_conjugate", "(2,4)->(2,4)",
                                    lambda q: np.stack([quaternion_conjugate(q[0]), quaternion_conjugate(q[1])]),
                                    "The conjugate of both parts: for a unit dual quaternion, the inverse pose.")


def check_real_part(q: ArrayLike) -> None:
    q = shaped(q, (2, 4), "a dual quaternion", ", (real, dual)")
    refuse(np.any(q[..., 0, :] != 0, axis=-1) & np.all(np.isfinite(q), axis=(-2, -1)), lambda bad:
           f"dual quaternion{place(bad)} has no inverse: its real part is {q[bad][0].tolist()}", SingularityError)


@kernel("(2,4)->(2,4)", check=check_real_part)
def normalize_dual_quaternion(q: Array) -> Array:
    """q^ / |q^|: of norm 1 + mu 0. `SingularityError` where the real part is zero.

    >>> normalize_dual_quaternion([[2.0, 0.0, 0.0, 0.0], [1.0, 4.0, 0.0, 0.0]])
    array([[1., 0., 0., 0.],
           [0., 2., 0., 0.]])
    """
    form = Dual(q[0], q[1])
    return (form / dual_norm(form)).stacked()


@kernel("(4,4)->(2,4)", check=check_pose)
def dual_quaternion_from_pose(T: Array) -> Array:
    """r + mu (0; p) r / 2; w >= 0.

    >>> dual_quaternion_from_pose(np.diag([-1.0, -1.0, 1.0, 1.0]))[0]
    array([0., 0., 0., 1.])
    """
    r = quaternion_from_matrix.unchecked(T[:3, :3])
    return np.stack([r, 0.5 * quaternion_product(np.concatenate([[0.0], T[:3, 3]]), r)])


pose_from_dual_quaternion = formula("pose_from_dual_quaternion", "(2,4)->(4,4)",
                                    lambda q: pose_from_quaternion.unchecked(q[0], _translation(q)),
                                    "The pose of a unit dual quaternion: p = 2 d conj(r).", check_unit_dual_quaternion)


def _translation(q: Array) -> Array:
    return 2 * quaternion_product(q[1], quaternion_conjugate(q[0]))[1:]


def _check_screw(line: ArrayLike, *_: object) -> None:
    check_unit_axis(np.asarray(line)[..., :3])


@kernel("(6),(),()->(2,4)", check=_check_screw)
def dual_quaternion_from_screw(line: Array, angle: Scalar, distance: Scalar) -> Array:
    """cos(phi^/2) + sin(phi^/2) e^ for the line (e; m), |e| = 1, and phi^ = angle + mu distance. [rad, m]

    >>> dual_quaternion_from_screw([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], 0.0, 2.0)[1, 1:]
    array([0., 0., 1.])
    """
    half = Dual(0.5 * angle, 0.5 * distance)
    scalar = dual_cos(half)
    vector = dual_sin(half) * Dual(line[:3], line[3:])
    return np.stack([
        np.concatenate([np.stack([scalar.real]), vector.real]),
        np.concatenate([np.stack([scalar.dual]), vector.dual])])


def _check_two(a: Array, b: Array, *_: object) -> None:
    check_unit_dual_quaternion(a)
    check_unit_dual_quaternion(b)


@kernel("(2,4),(2,4),()->(2,4)", check=_check_two)
def interpolate_screw(a: Array, b: Array, t: Scalar) -> Array:
    """The pose on the way from `a` (t = 0) to `b` (t = 1) along one steady screw motion, by the smaller angle.

    >>> here, there = [[1, 0, 0, 0], [0, 0, 0, 0]], [[0, 0, 0, 1], [-1, 0, 0, 0]]   # a half-turn about z, 2 m up
    >>> pose_from_dual_quaternion(interpolate_screw(here, there, 0.5))[:3, 3].round(12)
    array([0., 0., 1.])
    """
    step = pose_from_dual_quaternion.unchecked(dual_quaternion_product(dual_quaternion_conjugate(a), b))
    return dual_quaternion_product(a, dual_quaternion_from_pose.unchecked(fraction_of_pose.unchecked(step, t)))
