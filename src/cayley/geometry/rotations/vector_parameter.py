"""The vector-parameter c = tan(phi/2) e (Gibbs, Rodrigues, Cayley): three numbers, a rational composition law, no
trigonometry.

Every finite c is a rotation; half-turns have none (c grows without bound towards them). What would have to return one
raises `SingularityError`; its `unchecked` kernel gives infinities or NaN there. What squares c takes no c beyond 1e150
(float32: 1e18), nor is one given: `check_vector_parameter` refuses it, and an `unchecked` kernel would be wrong without
a word. Closer to a half-turn than that, and through it, use the homogeneous form [w : v] or a quaternion.

Sources: Mladenova 2.4, 2.5 (64)-(67), (72), corrected as in spec E-17; Ruggiu 1.2.4, 1.2.6 (1.25)-(1.31), (1.38),
(1.39); equations (R-1)-(R-3) of docs/developers/theory/rotations.md.

>>> cayley_transform([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) @ [1.0, 0.0, 0.0]
array([0., 1., 0.])
>>> vector_parameter_from_axis_angle([0.0, 1.0, 0.0], np.pi / 2)
array([0., 1., 0.])

>>> vector_parameter_from_rotation_vector([0.0, 0.0, np.pi / 2])
array([0., 0., 1.])
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.implied_values import implied
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SingularityError
from cayley.geometry.batch import first_failure, place
from cayley.geometry.formula import formula
from cayley.geometry.rotations.axis_angle import AxisAngle, check_unit_axis
from cayley.geometry.rotations.even_functions import arctangent_ratio, tangent_ratio
from cayley.geometry.rotations.homogeneous import check_homogeneous, compose_homogeneous
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import check_unit_quaternion, quaternion_from_matrix
from cayley.geometry.scaling import direction, largest_component, scaling, shrinking
from cayley.geometry.tensors.checks import check_skew
from cayley.geometry.tensors.cross import hat, vee


def _longest(dtype: np.dtype) -> float:
    """The largest component whose square, and the reciprocal of it, are numbers to all digits."""
    return 1e18 if dtype == np.float32 else 1e150


_size = kernel("(3)->()")(largest_component)


def check_vector_parameter(c: ArrayLike, *_: object) -> None:
    """Raise `SingularityError` where a vector-parameter is not finite, or its square is not a number.

    >>> check_vector_parameter([1e200, 0.0, 0.0])
    Traceback (most recent call last):
    cayley.errors.SingularityError: the vector-parameter is [1.e+200 0.e+000 0.e+000]: beyond 1e+150 it cannot be ...
    """
    c = np.asarray(c)
    longest = _longest(c.dtype)
    bad = first_failure(_size(c) <= longest)
    if bad is not None:
        if np.isnan(c[bad]).any():
            raise SingularityError(f"the vector-parameter{place(bad)} is {c[bad]}: NaN is no rotation")
        raise SingularityError(
            f"the vector-parameter{place(bad)} is {c[bad]}: beyond {longest:g} it cannot be squared. Next to a "
            "half-turn use the homogeneous form [w : v] or a quaternion, for which half-turns are ordinary rotations")


def check_vector_parameters(*parameters: Array) -> None:
    """`check_vector_parameter` for several."""
    for c in parameters:
        check_vector_parameter(c)


@kernel("(4)->()")
def _reach(h: Array) -> Scalar:
    """The largest component of v/w."""
    h = scaling(largest_component(h)) * h
    return largest_component(h[1:]) / np.abs(h[0])


def check_not_half_turn(h: ArrayLike) -> None:
    """Raise `SingularityError` where [w : v] is a half-turn, or so close to one that the square of v/w is not a number.

    >>> check_not_half_turn([0.0, 1.0, 0.0, 0.0])
    Traceback (most recent call last):
    cayley.errors.SingularityError: the rotation is a half-turn about [1. 0. 0.]: its vector-parameter is infinite. ...
    """
    h = np.asarray(h)
    bad = first_failure(~(_reach(h) > _longest(h.dtype)))
    if bad is not None:
        about = h[bad][1:] / np.linalg.norm(h[bad][1:])
        raise SingularityError(
            f"the rotation{place(bad)} is a half-turn about {about}: its vector-parameter is infinite. Use the "
            "homogeneous form [w : v], for which half-turns are ordinary rotations")


# Matrix, Cayley transform


def doubled_share(c: Array) -> tuple[Scalar, Array]:
    """s = 2/(1 + c.c) and a = s c, to be traced. Their derivatives, ds = -s a.dc and da = s dc - a a.dc, are given:
    those of the quotient square 1 + c.c, which overflows for c beyond 1e75."""
    s: Scalar = 2 / (1 + c @ c)
    a = s * c
    node = next((x for x in a if isinstance(x, Node)), None)
    if node is None:
        return s, a

    def law(held: list[Node], _: object) -> list[Node]:
        along = sum(x * y for x, y in zip(held[1:], c, strict=True))
        return [-held[0] * along, *[held[0] * x - y * along for x, y in zip(c, held[1:], strict=True)]]

    found = wrapped(np.array(implied([node.graph.lift(x) for x in (s, *a)], law).values, dtype=object))
    return found[0], found[1:]


@kernel("(3)->(3,3)", check=check_vector_parameter)
def matrix_from_vector_parameter(c: Array) -> Array:
    """((1 - c.c) 1 + 2 c c^T + 2 hat(c))/(1 + c.c). Mladenova (64), Ruggiu (1.31).

    >>> matrix_from_vector_parameter([0.0, 0.0, 1.0])
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    x, y, z = c
    a, b, d = doubled_share(c)[1]
    ax, by, dz, bx = a * x, b * y, d * z, b * x
    dx, dy = d * x, d * y
    return np.array([[1 - (by + dz), bx - d, dx + b], [bx + d, 1 - (ax + dz), dy - a], [dx - b, dy + a, 1 - (ax + by)]])


def _check_matrix(R: Array) -> None:
    check_rotation_matrix(R)
    check_not_half_turn(quaternion_from_matrix.unchecked(R))


@kernel("(3,3)->(3)", check=_check_matrix)
def vector_parameter_from_matrix(R: Array) -> Array:
    """vee(R - R^T)/(1 + tr R), by way of the largest quaternion component: digits survive next to a half-turn.

    A half-turn raises `SingularityError`. Mladenova (66), Ruggiu (1.29), (1.35).

    >>> vector_parameter_from_matrix([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    array([0., 0., 1.])
    """
    q = quaternion_from_matrix.unchecked(R)
    return q[1:] / q[0]


def _check_skew(B: Array) -> None:
    check_skew(B)
    check_vector_parameter(vee(B))


cayley_transform = formula(
    "cayley_transform", "(3,3)->(3,3)", lambda B: matrix_from_vector_parameter(vee(B)),
    "Q = (1 - B)^-1 (1 + B) of a skew matrix B = hat(b): the rotation with the vector-parameter b. Ruggiu (1.27).",
    _check_skew)


inverse_cayley_transform = formula(
    "inverse_cayley_transform", "(3,3)->(3,3)", lambda Q: hat(vector_parameter_from_matrix.unchecked(Q)),
    "B = (Q - 1)(Q + 1)^-1, which is skew; `SingularityError` at a half-turn. Ruggiu (1.25).", _check_matrix)

# The group


def check_composition(a: Array, b: Array) -> None:
    """Raise `SingularityError` where <a, b> is a half-turn, a.b = 1 to rounding, or a or b cannot be squared.

    >>> check_composition([3.0, 0.0, 0.0], [1 / 3, 0.0, 0.0])
    Traceback (most recent call last):
    cayley.errors.SingularityError: the rotation is a half-turn about [1. 0. 0.]: its vector-parameter is infinite. ...
    """
    check_vector_parameters(a, b)
    check_not_half_turn(_rounded(*_product_form(a, b)))


@kernel("(3),(3)->(4),()")
def _product_form(a: Array, b: Array) -> tuple[Array, Scalar]:
    return _product(homogeneous_from_vector_parameter(a), homogeneous_from_vector_parameter(b))


def _product(a: Array, b: Array) -> tuple[Array, Scalar]:
    """The product of two homogeneous forms, and the sum of the sizes that its w is a difference of."""
    terms = np.abs(a * b)
    return compose_homogeneous.unchecked(a, b), (terms[0] + terms[1]) + (terms[2] + terms[3])


def _rounded(h: Array, terms: Array) -> Array:
    """The form with w = 0 where w is no more than the rounding of the terms it is a difference of: in another order,
    or with a product fused into the sum, it may be exactly zero there."""
    w = np.where(np.abs(h[..., 0]) <= 2 * np.finfo(h.dtype).eps * terms, 0, h[..., 0])
    return np.concatenate([w[..., None], h[..., 1:]], axis=-1)


@kernel("(3),(3)->(3)", check=check_composition)
def compose_vector_parameters(a: Array, b: Array) -> Array:
    """<a, b> = (a + b + a x b)/(1 - a.b): the rotation b, then a. Mladenova (67).

    a.b > 1 is as good as any other. a.b = 1, to rounding, is a half-turn and raises `SingularityError`;
    `compose_homogeneous` gives it.

    >>> compose_vector_parameters([2.0, 0.0, 0.0], [2.0, 1.0, 0.0])
    array([-1.33333333, -0.33333333, -0.66666667])
    """
    return (a + b + np.cross(a, b)) / (1 - a @ b)


def _chain(cs: Array) -> tuple[Array, Scalar]:
    """The homogeneous form of a product, and the sum of the sizes that its w is a difference of.

    Only what grows long is scaled: short numbers stay exact, and so does w = 0."""
    total, terms = np.array([1.0, 0.0, 0.0, 0.0]), 1.0
    for c in cs:
        next_h = homogeneous_from_vector_parameter(c)
        h, sizes = _product(total, shrinking(largest_component(next_h)) * next_h)
        scale = shrinking(largest_component(h))
        total, terms = scale * h, scale * sizes
    return total, terms


def _check_chain(cs: Array) -> None:
    check_not_half_turn(_rounded(*_chain_form(cs)))


@kernel("(n,3)->(4),()")
def _chain_form(cs: Array) -> tuple[Array, Scalar]:
    return _chain(cs)


@kernel("(n,3)->(3)", check=_check_chain)
def compose_all_vector_parameters(cs: Array) -> Array:
    """<c1, c2, ..., cn>, the last applied first; zero for none. A total half-turn raises `SingularityError`.

    >>> compose_all_vector_parameters([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]).round(15)
    array([-1., -0., -0.])
    """
    h, _ = _chain(cs)
    return h[1:] / h[0]


@kernel("(3),(3)->(3)", check=check_vector_parameter)
def rotate_by_vector_parameter(c: Array, x: Array) -> Array:
    """O(c) x = x + 2/(1 + c.c) (c x x + c x (c x x)). Mladenova (65).

    >>> rotate_by_vector_parameter([0.0, 0.0, 1.0], [1.0, 0.0, 5.0])
    array([0., 1., 5.])
    """
    t = np.cross(doubled_share(c)[1], x)
    return x + t + np.cross(c, t)


# Quaternion, homogeneous form, rotation vector, axis and angle


@kernel("(3)->(4)", check=check_vector_parameter)
def quaternion_from_vector_parameter(c: Array) -> Array:
    """(1; c)/sqrt(1 + c.c). Mladenova (72) in the labelling of (11), spec E-17.

    >>> quaternion_from_vector_parameter([0.0, 0.0, 0.75])
    array([0.8, 0. , 0. , 0.6])
    """
    h = homogeneous_from_vector_parameter(c)
    return h / np.sqrt(h @ h)


def _check_quaternion(q: Array) -> None:
    check_unit_quaternion(q)
    check_not_half_turn(q)


@kernel("(4)->(3)", check=_check_quaternion)
def vector_parameter_from_quaternion(q: Array) -> Array:
    """(x, y, z)/w, the same for q and -q. w = 0, a half-turn, raises `SingularityError`. Mladenova (72), spec E-17.

    >>> vector_parameter_from_quaternion([0.8, 0.0, 0.0, 0.6])
    array([0.  , 0.  , 0.75])
    """
    return q[1:] / q[0]


homogeneous_from_vector_parameter = formula("homogeneous_from_vector_parameter", "(3)->(4)",
                                            lambda c: np.concatenate([[1.0], c]), "[1 : c].")


def _check_form(h: Array) -> None:
    check_homogeneous(h)
    check_not_half_turn(h)


@kernel("(4)->(3)", check=_check_form)
def vector_parameter_from_homogeneous(h: Array) -> Array:
    """v/w. A half-turn, w = 0, raises `SingularityError`: stay with the homogeneous form there.

    >>> vector_parameter_from_homogeneous([2.0, 2.0, 4.0, 6.0])
    array([1., 2., 3.])
    """
    h = scaling(largest_component(h)) * h
    return h[1:] / h[0]


vector_parameter_from_rotation_vector = formula(
    "vector_parameter_from_rotation_vector", "(3)->(3)", lambda r: 0.5 * tangent_ratio(0.25 * (r @ r)) * r,
    "tan(|r|/2) r/|r|, smooth at zero; the double nearest to pi gives |c| = 1.6e16. Mladenova, end of 2.5.")

rotation_vector_from_vector_parameter = formula(
    "rotation_vector_from_vector_parameter", "(3)->(3)", lambda c: 2.0 * arctangent_ratio(c @ c) * c,
    "2 atan(|c|) c/|c|, smooth at zero; the angle is below pi or rounds to it. Mladenova, end of 2.5.",
    check_vector_parameter)
vector_parameter_from_axis_angle = formula("vector_parameter_from_axis_angle", "(3),()->(3)",
                                           lambda axis, angle: np.tan(0.5 * angle) * axis,
                                           "tan(phi/2) e. Ruggiu (1.39).", check_unit_axis)


@kernel("(3)->(3),()")
def axis_angle_from_vector_parameter(c: Array) -> AxisAngle:
    """The axis c/|c| (z for c = 0) and the angle 2 atan(|c|), from 0 to pi. Ruggiu (1.38).

    >>> float(axis_angle_from_vector_parameter([0.0, 0.0, 1.0]).angle) == np.pi / 2
    True
    """
    axis, length = direction(c)
    return AxisAngle(axis, 2.0 * np.arctan(length))
