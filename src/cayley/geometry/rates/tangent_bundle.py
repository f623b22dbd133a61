"""Rotations together with their rates, as a group: attitude and angular velocity compose in one step.

A pair (attitude, rate) of frame b in a, composed with one of frame c in b, is that of c in a. With spatial angular
velocities the law is (g1, w1)(g2, w2) = (g1 g2, w1 + R1 w2). The vector-parameter of a product may be infinite (c1.c2 =
1); the homogeneous form is not. Source: Mladenova 2.6, theorems 1 and 2; the law for (c, dc), which she names but does
not print, is that of spec R-21.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.rotations.homogeneous import (
    check_homogeneous,
    compose_homogeneous,
    inverse_homogeneous,
    rotate_by_homogeneous,
)
from cayley.geometry.rotations.vector_parameter import (
    check_composition,
    check_vector_parameter,
    compose_vector_parameters,
    rotate_by_vector_parameter,
)


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

    >>> compose_moving_vector_parameters([0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.5], [1.0, 0.0, 0.0])
    Moving(attitude=array([0., 0., 3.]), velocity=array([0., 1., 2.]))
    """
    return Moving(compose_vector_parameters.unchecked(c1, c2), w1 + rotate_by_vector_parameter(c1, w2))


@kernel("(4),(3),(4),(3)->(4),(3)", check=_check_forms)
def compose_moving_homogeneous(h1: Array, w1: Array, h2: Array, w2: Array) -> Moving:
    """(h1 h2, w1 + R1 w2): `attitude` as [w : v] of any norm and spatial angular `velocity` [rad/s], half-turns
    included.

    >>> compose_moving_homogeneous([1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 1.0],
    ...                            [1.0, 0.0, 0.0]).attitude
    array([0., 0., 0., 2.])
    """
    return Moving(compose_homogeneous(h1, h2), w1 + rotate_by_homogeneous.unchecked(h1, w2))


@kernel("(3),(3)->(3),(3)", check=check_vector_parameter)
def inverse_of_moving_vector_parameter(c: Array, w: Array) -> Moving:
    """(-c, -O(-c) w): `attitude` and spatial angular `velocity` of the inverse motion.

    >>> inverse_of_moving_vector_parameter([0.0, 0.0, 1.0], [1.0, 3.0, 2.0]).velocity
    array([-3.,  1., -2.])
    """
    return Moving(-c, -rotate_by_vector_parameter(-c, w))


@kernel("(4),(3)->(4),(3)", check=lambda h, _: check_homogeneous(h))
def inverse_of_moving_homogeneous(h: Array, w: Array) -> Moving:
    """([w : -v], -R^T w): `attitude` and spatial angular `velocity` of the inverse motion.

    >>> inverse_of_moving_homogeneous([0.0, 0.0, 0.0, 1.0], [1.0, 3.0, 2.0]).velocity
    array([ 1.,  3., -2.])
    """
    inverse = inverse_homogeneous(h)
    return Moving(inverse, -rotate_by_homogeneous.unchecked(inverse, w))


@kernel("(3),(3),(3),(3)->(3),(3)", check=_check_parameters)
def compose_changing_vector_parameters(c1: Array, dc1: Array, c2: Array, dc2: Array) -> Changing:
    """The product of two vector-parameters and its `rate` [1/s], from those of the factors. Mladenova, theorem 2, spec
    R-21.

    `SingularityError` at c1.c2 = 1, where the product and its rate are infinite: `compose_changing_homogeneous` goes
    through.

    >>> compose_changing_vector_parameters([0.0, 0.0, 0.5], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]).rate
    array([0., 0., 1.])
    """
    across = c1 + c2 + np.cross(c1, c2)
    scale = 1 - c1 @ c2
    across_rate = dc1 + dc2 + np.cross(dc1, c2) + np.cross(c1, dc2)
    product = across / scale
    return Changing(product, (across_rate + (dc1 @ c2 + c1 @ dc2) * product) / scale)


@kernel("(4),(4),(4),(4)->(4),(4)", check=_check_forms)
def compose_changing_homogeneous(h1: Array, dh1: Array, h2: Array, dh2: Array) -> Changing:
    """(h1 h2, dh1 h2 + h1 dh2): the product of two homogeneous forms and its `rate`, half-turns included.

    >>> compose_changing_homogeneous([1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 1.0],
    ...                              [0.0, 0.0, 0.0, 0.0]).rate
    array([-2.,  0.,  0.,  2.])
    """
    return Changing(compose_homogeneous(h1, h2), compose_homogeneous(dh1, h2) + compose_homogeneous(h1, dh2))
