"""Formulas of moving rotations: attitude and rate as one group, the unit tangent bundle of the sphere, moving points.

A pair (attitude, rate) of frame b in a, composed with one of frame c in b, is that of c in a. With spatial angular
velocities the law is (g1, w1)(g2, w2) = (g1 g2, w1 + R1 w2). A unit vector x and a unit tangent y at x are a rotation
[x, y, x x y]. Source: Mladenova 2.6, theorems 1 to 3, (82)-(88), corrected as in spec E-19 to E-22, R-21, R-22.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.batch import first_failure, place, tolerance_of
from cayley.geometry.rates.charts import chart
from cayley.geometry.rates.points import InstantaneousScrew, instantaneous_screw
from cayley.geometry.rotations.axis_angle import check_unit_axis
from cayley.geometry.rotations.homogeneous import (
    check_homogeneous,
    compose_homogeneous,
    homogeneous_from_matrix,
    inverse_homogeneous,
    rotate_by_homogeneous,
)
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import check_nonzero_quaternion
from cayley.geometry.rotations.vector_parameter import (
    check_composition,
    check_not_half_turn,
    check_vector_parameter,
    compose_vector_parameters,
    rotate_by_vector_parameter,
)
from cayley.geometry.scaling import nearly_unit
from cayley.geometry.tensors.cross import vee


@kernel("(3),()->(3)", check=check_unit_axis)
def angular_velocity_about_axis(axis: Array, speed: Scalar) -> Array:
    """Angular velocity [rad/s] of a turn about a unit axis with `speed` [rad/s]. Yamamoto (1.25), corrected as in spec
    E3-09.
    """
    return speed * axis


@kernel("(3,3),(3),(3),(3),(3)->(3)", check=check_rotation_matrix)
def velocity_of_moving_point(R: Array, origin_velocity: Array, w: Array, point: Array, point_rate: Array) -> Array:
    """Velocity [m/s] of a point that moves in a moving frame: v_q + w x R B_p + R B_v. Ruggiu (2.13), Yamamoto (4.3).
    """
    return origin_velocity + np.cross(w, R @ point) + R @ point_rate


@kernel("(3),(3),(3)->(3)")
def rate_from_rotating_frame(w: Array, vector: Array, relative_rate: Array) -> Array:
    """The rate of a vector seen from the base, when a frame turning with `w` sees `relative_rate`: w x vector +
    relative rate.

    All components in the same axes. Yamamoto (4.1), (4.2).
    """
    return np.cross(w, vector) + relative_rate


@kernel("(3),(3),(3),(3)->(3),(3),(3),(),(),()", check=check_vector_parameter)
def instantaneous_screw_from_vector_parameter(c: Array, dc: Array, p: Array, dp: Array) -> InstantaneousScrew:
    """The screw axis of the motion r = O(c) r_d + p with the rates `dc` [1/s] and `dp` [m/s]; fields as
    `instantaneous_screw`.

    Mladenova (142)-(145), corrected as in spec E-33.
    """
    return instantaneous_screw(chart("vector_parameter").velocity(c, dc).world, dp, p)


@kernel("(4),(4),(3),(3)->(3),(3),(3),(),(),()", check=check_nonzero_quaternion)
def instantaneous_screw_from_homogeneous(h: Array, dh: Array, p: Array, dp: Array) -> InstantaneousScrew:
    """The screw axis of the motion r = R r_d + p with R given by [w : v] of any norm and its rate: half-turns included.
    """
    return instantaneous_screw(chart("homogeneous").velocity.unchecked(h, dh).world, dp, p)


class Moving(NamedTuple):
    attitude: Array
    velocity: Array


class Changing(NamedTuple):
    attitude: Array
    rate: Array


def _check_parameters(c1: Array, _1: Array, c2: Array, _2: Array) -> None:
    check_composition(c1, c2)


def _check_forms(h1: Array, _1: Array, h2: Array, _2: Array) -> None:
    check_homogeneous(h1, h2)


@kernel("(3),(3),(3),(3)->(3),(3)", check=_check_parameters)
def compose_moving_vector_parameters(c1: Array, w1: Array, c2: Array, w2: Array) -> Moving:
    """(<c1, c2>, w1 + O(c1) w2): `attitude` as vector-parameter and spatial angular `velocity` [rad/s]. Mladenova,
    theorem 1.

    `SingularityError` at c1.c2 = 1, a half-turn: `compose_moving_homogeneous` goes through.
    """
    return Moving(compose_vector_parameters.unchecked(c1, c2), w1 + rotate_by_vector_parameter(c1, w2))


@kernel("(4),(3),(4),(3)->(4),(3)", check=_check_forms)
def compose_moving_homogeneous(h1: Array, w1: Array, h2: Array, w2: Array) -> Moving:
    """(h1 h2, w1 + R1 w2): `attitude` as [w : v] of any norm and spatial angular `velocity` [rad/s], half-turns
    included.
    """
    return Moving(compose_homogeneous(h1, h2), w1 + rotate_by_homogeneous.unchecked(h1, w2))


@kernel("(3),(3)->(3),(3)", check=check_vector_parameter)
def inverse_of_moving_vector_parameter(c: Array, w: Array) -> Moving:
    """(-c, -O(-c) w): `attitude` and spatial angular `velocity` of the inverse motion."""
    return Moving(-c, -rotate_by_vector_parameter(-c, w))


@kernel("(4),(3)->(4),(3)", check=lambda h, _: check_homogeneous(h))
def inverse_of_moving_homogeneous(h: Array, w: Array) -> Moving:
    """([w : -v], -R^T w): `attitude` and spatial angular `velocity` of the inverse motion."""
    inverse = inverse_homogeneous(h)
    return Moving(inverse, -rotate_by_homogeneous.unchecked(inverse, w))


@kernel("(3),(3),(3),(3)->(3),(3)", check=_check_parameters)
def compose_changing_vector_parameters(c1: Array, dc1: Array, c2: Array, dc2: Array) -> Changing:
    """The product of two vector-parameters and its `rate` [1/s], from those of the factors. Mladenova, theorem 2, spec
    R-21.

    `SingularityError` at c1.c2 = 1, where the product and its rate are infinite: `compose_changing_homogeneous` goes
    through.
    """
    across = c1 + c2 + np.cross(c1, c2)
    scale = 1 - c1 @ c2
    across_rate = dc1 + dc2 + np.cross(dc1, c2) + np.cross(c1, dc2)
    product = across / scale
    return Changing(product, (across_rate + (dc1 @ c2 + c1 @ dc2) * product) / scale)


@kernel("(4),(4),(4),(4)->(4),(4)", check=_check_forms)
def compose_changing_homogeneous(h1: Array, dh1: Array, h2: Array, dh2: Array) -> Changing:
    """(h1 h2, dh1 h2 + h1 dh2): the product of two homogeneous forms and its `rate`, half-turns included."""
    return Changing(compose_homogeneous(h1, h2), compose_homogeneous(dh1, h2) + compose_homogeneous(h1, dh2))


class TangentPair(NamedTuple):
    point: Array
    tangent: Array


def check_tangent_pair(x: ArrayLike, y: ArrayLike, *others: Array) -> None:
    """Raise `GeometryError` unless x and y (and further pairs) are unit vectors at right angles."""
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
    """
    x = nearly_unit(x)
    y = nearly_unit(y - (x @ y) * x)
    return np.stack([x, y, np.cross(x, y)], axis=1)


@kernel("(3,3)->(3),(3)", check=check_rotation_matrix)
def tangent_pair_from_matrix(R: Array) -> TangentPair:
    """The first two columns: a `point` of the unit sphere and a unit `tangent` there."""
    return TangentPair(R[:, 0], R[:, 1])


@kernel("(3),(3)->(4)", check=check_tangent_pair)
def homogeneous_from_tangent_pair(x: Array, y: Array) -> Array:
    """The homogeneous vector-parameter of the pair, of norm one, half-turns included."""
    return homogeneous_from_matrix.unchecked(matrix_from_tangent_pair.unchecked(x, y))


def _check_finite(x: Array, y: Array) -> None:
    check_tangent_pair(x, y)
    check_not_half_turn(homogeneous_from_tangent_pair.unchecked(x, y))


@kernel("(3),(3)->(3)", check=_check_finite)
def vector_parameter_from_tangent_pair(x: Array, y: Array) -> Array:
    """c = a / (1 + tr O) of the pair. Mladenova (83)-(84); `SingularityError` at a half-turn."""
    h = homogeneous_from_tangent_pair.unchecked(x, y)
    return h[1:] / h[0]


@kernel("(3,3)->(3)", check=check_rotation_matrix)
def skew_vector_from_matrix(R: Array) -> Array:
    """a = 2 sin(angle) axis, the vector of O - O^T. Mladenova (83)."""
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
    """
    R = matrix_from_tangent_pair.unchecked(x1, y1)
    return TangentPair(R @ x2, R @ y2)


@kernel("(3),(),(3),()->(4)")
def compose_skew_vectors(a1: Array, trace1: Scalar, a2: Array, trace2: Scalar) -> Array:
    """The homogeneous vector-parameter of O1 O2 from a = vee(O - O^T) and tr O of the factors: spec R-22, for (86).

    [(1 + T1)(1 + T2) - a1.a2 : (1 + T2) a1 + (1 + T1) a2 + a1 x a2]; zero when a factor is a half-turn, whose a says
    nothing.
    """
    n1 = 1 + trace1
    n2 = 1 + trace2
    return np.concatenate([[n1 * n2 - a1 @ a2], n2 * a1 + n1 * a2 + np.cross(a1, a2)])
