"""From one attitude to another at constant angular velocity: the shortest way, and the long way round.

Attitudes are homogeneous forms [w : v] (unit quaternions among them) of any size; results have length one. t = 0 is the
start, t = 1 the goal; other values of t continue the motion. Half-turns, on the way or between the ends, are nothing
special: exactly a half-turn apart both ways are equally long, and the sign of the given forms decides which one is
"shortest".
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SingularityError
from cayley.geometry.batch import first_failure, place
from cayley.geometry.rotations.axis_angle import vector_length
from cayley.geometry.rotations.homogeneous import (
    check_homogeneous,
    compose_homogeneous,
    inverse_homogeneous,
    normalize_homogeneous,
)
from cayley.geometry.rotations.rotation_vector import quaternion_from_rotation_vector, rotation_vector_from_quaternion
from cayley.geometry.scaling import direction


def _between(a: Array, b: Array) -> Array:
    """The rotation vector from a to b in the frame of a, its angle from 0 to pi."""
    return rotation_vector_from_quaternion.unchecked(compose_homogeneous(inverse_homogeneous(a), b))


def _check_ends(a: Array, b: Array, *_: object) -> None:
    check_homogeneous(a, b)


@kernel("(4),(4),()->(4)", check=_check_ends)
def interpolate_shortest(a: Array, b: Array, t: Scalar) -> Array:
    """The attitude at the fraction t of the shortest way from a to b: a turn by at most pi about one axis.

    >>> interpolate_shortest([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], 0.5)
    array([0.70710678, 0.        , 0.        , 0.70710678])
    """
    a = normalize_homogeneous.unchecked(a)
    b = normalize_homogeneous.unchecked(b)
    return compose_homogeneous(a, quaternion_from_rotation_vector(t * _between(a, b)))


def _check_long_way(a: Array, b: Array, *_: object) -> None:
    check_homogeneous(a, b)
    turn = _turn(a, b)
    bad = first_failure(vector_length(turn) > 8 * np.finfo(turn.dtype).eps)
    if bad is not None:
        raise SingularityError(
            f"the attitudes{place(bad)} are equal: the long way is a full turn, about an axis they do not determine")


@kernel("(4),(4)->(3)")
def _turn(a: Array, b: Array) -> Array:
    return _between(normalize_homogeneous.unchecked(a), normalize_homogeneous.unchecked(b))


@kernel("(4),(4),()->(4)", check=_check_long_way)
def interpolate_long_way(a: Array, b: Array, t: Scalar) -> Array:
    """The attitude at the fraction t of the long way from a to b: a turn by at least pi, opposite to the shortest.

    Attitudes that are equal, but for rounding, raise `SingularityError`.

    >>> interpolate_long_way([1.0, 0.0, 0.0, 0.0], [0.8, 0.0, 0.0, 0.6], 1.0)
    array([-0.8,  0. ,  0. , -0.6])
    """
    a = normalize_homogeneous.unchecked(a)
    b = normalize_homogeneous.unchecked(b)
    axis, angle = direction(_between(a, b))
    return compose_homogeneous(a, quaternion_from_rotation_vector(t * (angle - 2.0 * np.pi) * axis))
