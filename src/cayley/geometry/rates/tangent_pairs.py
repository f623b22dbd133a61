"""The unit tangent bundle of the sphere is the rotation group: a unit vector x and a unit tangent y at x are a rotation
[x, y, x x y].

In terms of a = 2 vee(O) = sin(angle) axis * 2 alone a rotation is known up to the sign of cos(angle), that is of tr O -
1. Source: Mladenova 2.6, theorem 3, (82)-(85), corrected as in spec E-19 to E-22: the printed product of pairs
(86)-(88) does not hold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.batch import first_failure, place, tolerance_of
from cayley.geometry.rotations.homogeneous import homogeneous_from_matrix
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.vector_parameter import check_not_half_turn
from cayley.geometry.scaling import nearly_unit
from cayley.geometry.tensors.cross import vee


class TangentPair(NamedTuple):
    point: Array
    tangent: Array


def check_tangent_pair(x: ArrayLike, y: ArrayLike, *others: Array) -> None:
    """Raise `GeometryError` unless x and y (and further pairs) are unit vectors at right angles.

    >>> check_tangent_pair([1.0, 0.0, 0.0], [0.6, 0.8, 0.0])
    Traceback (most recent call last):
    cayley.errors.GeometryError: the vectors of the pair are not at right angles: x.y is 0.6, 1e-08 is allowed
    """
    x = np.asarray(x)
    y = np.asarray(y)
    allowed = max(tolerance_of(x), tolerance_of(y))
    products = {
        "|x| - 1": np.linalg.norm(x, axis=-1) - 1, "|y| - 1": np.linalg.norm(y, axis=-1) - 1,
        "x.y": np.sum(x * y, axis=-1)}
    for name, defect in products.items():
        bad = first_failure(np.abs(defect) <= allowed)
        if bad is not None:
            wrong = "are not at right angles" if name == "x.y" else "are not of length one"
            raise GeometryError(
                f"the vectors of the pair{place(bad)} {wrong}: {name} is {defect[bad]:.3g}, {allowed:.0e} is allowed")
    if others:
        check_tangent_pair(*others)


@kernel("(3),(3)->(3,3)", check=check_tangent_pair)
def matrix_from_tangent_pair(x: Array, y: Array) -> Array:
    """The rotation matrix [x, y, x x y]. Mladenova (82). What the check lets pass of lengths and angle is taken away.

    >>> matrix_from_tangent_pair([0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    x = nearly_unit(x)
    y = nearly_unit(y - (x @ y) * x)
    return np.stack([x, y, np.cross(x, y)], axis=1)


@kernel("(3,3)->(3),(3)", check=check_rotation_matrix)
def tangent_pair_from_matrix(R: Array) -> TangentPair:
    """The first two columns: a `point` of the unit sphere and a unit `tangent` there.

    >>> tangent_pair_from_matrix(np.eye(3)).tangent
    array([0., 1., 0.])
    """
    return TangentPair(R[:, 0], R[:, 1])


@kernel("(3),(3)->(4)", check=check_tangent_pair)
def homogeneous_from_tangent_pair(x: Array, y: Array) -> Array:
    """The homogeneous vector-parameter of the pair, of norm one, half-turns included.

    >>> homogeneous_from_tangent_pair([-1.0, 0.0, 0.0], [0.0, -1.0, 0.0])
    array([0., 0., 0., 1.])
    """
    return homogeneous_from_matrix.unchecked(matrix_from_tangent_pair.unchecked(x, y))


def _check_finite(x: Array, y: Array) -> None:
    check_tangent_pair(x, y)
    check_not_half_turn(homogeneous_from_tangent_pair.unchecked(x, y))


@kernel("(3),(3)->(3)", check=_check_finite)
def vector_parameter_from_tangent_pair(x: Array, y: Array) -> Array:
    """c = a / (1 + tr O) of the pair. Mladenova (83)-(84); `SingularityError` at a half-turn.

    >>> vector_parameter_from_tangent_pair([0.0, 1.0, 0.0], [-1.0, 0.0, 0.0])
    array([0., 0., 1.])
    """
    h = homogeneous_from_tangent_pair.unchecked(x, y)
    return h[1:] / h[0]


@kernel("(3,3)->(3)", check=check_rotation_matrix)
def skew_vector_from_matrix(R: Array) -> Array:
    """a = 2 sin(angle) axis, the vector of O - O^T. Mladenova (83).

    >>> skew_vector_from_matrix([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    array([0., 0., 2.])
    """
    return 2 * vee(R)


def _check_skew_vector(a: Array, cosine_sign: Array) -> None:
    length = np.linalg.norm(np.asarray(a), axis=-1)
    bad = first_failure(length <= 2 * (1 + tolerance_of(a)))
    if bad is not None:
        raise GeometryError(
            f"a{place(bad)} = 2 sin(angle) axis has the length {length[bad]:.10g}, which is more than 2")
    if not np.all(np.abs(np.asarray(cosine_sign)) == 1):
        raise GeometryError(f"the sign of the cosine is 1 or -1, not {cosine_sign}")


@kernel("(3),()->(4)", check=_check_skew_vector)
def homogeneous_from_skew_vector(a: Array, cosine_sign: Scalar) -> Array:
    """[1 + tr O : a] from a = 2 sin(angle) axis and the sign (1 or -1) of cos(angle): 1 + tr O = 2 + sign sqrt(4 -
    a.a).

    Mladenova (85), corrected as in spec E-20: the printed minus is right only for angles beyond a quarter turn. With
    the sign -1, a = 0 is a half-turn whose axis `a` does not tell; then [0 : 0] comes out, which is no attitude.

    >>> homogeneous_from_skew_vector([0.0, 0.0, 1.2], 1.0)
    array([3.6, 0. , 0. , 1.2])
    """
    return np.concatenate([[_one_plus_trace(a, cosine_sign)], a])


def _one_plus_trace(a: Array, cosine_sign: Scalar) -> Scalar:
    """2 + sqrt(4 - a.a), or 2 - sqrt(4 - a.a) written without cancellation."""
    rest = 4 - a @ a
    root = np.sqrt(where(rest > 0, rest, 0.0))
    return where(cosine_sign > 0, 2 + root, (a @ a) / (2 + root))


@kernel("(3),(3),(3),(3)->(3),(3)", check=check_tangent_pair)
def compose_tangent_pairs(x1: Array, y1: Array, x2: Array, y2: Array) -> TangentPair:
    """The product of two pairs, (O1 x2, O1 y2), as `point` and `tangent`. Mladenova (86)-(88) replaced as in spec E-22.

    >>> compose_tangent_pairs([0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]).point
    array([-1.,  0.,  0.])
    """
    R = matrix_from_tangent_pair.unchecked(x1, y1)
    return TangentPair(R @ x2, R @ y2)


@kernel("(3),(),(3),()->(4)")
def compose_skew_vectors(a1: Array, trace1: Scalar, a2: Array, trace2: Scalar) -> Array:
    """The homogeneous vector-parameter of O1 O2 from a = vee(O - O^T) and tr O of the factors: spec R-22, for (86).

    [(1 + T1)(1 + T2) - a1.a2 : (1 + T2) a1 + (1 + T1) a2 + a1 x a2]; zero when a factor is a half-turn, whose a says
    nothing.

    >>> compose_skew_vectors([0.0, 0.0, 2.0], 1.0, [0.0, 0.0, 2.0], 1.0)   # two quarter turns
    array([0., 0., 0., 8.])
    """
    n1 = 1 + trace1
    n2 = 1 + trace2
    return np.concatenate([[n1 * n2 - a1 @ a2], n2 * a1 + n1 * a2 + np.cross(a1, a2)])
