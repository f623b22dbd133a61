"""Lines in Pluecker coordinates (e; m): the direction e, and the moment m = x x e of any point x of the line.

Six numbers are a line if e.m = 0 (Klein's condition) and e is not zero; a multiple is the same line, with a direction
of another length. Moved by a pose, (e; m) becomes (R e; R m + p x R e). Source: Mladenova (148)-(150).

>>> line_through_point([1.0, 2.0, 0.0], [0.0, 0.0, 1.0])
array([ 0.,  0.,  1.,  2., -1.,  0.])
>>> point_of_line([0.0, 0.0, 2.0, 4.0, -2.0, 0.0])[:2]
array([1., 2.])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SingularityError
from cayley.geometry.batch import place, refuse, shaped, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.motions.homogeneous import check_pose
from cayley.geometry.rotations.axis_angle import check_unit_axis
from cayley.geometry.scaling import direction

_PARALLEL = 1e-15
"""The sine of the angle between two directions that differ by rounding only."""


class LinePair(NamedTuple):
    """`angle` [rad], 0 to pi, of the directions; `distance` [m] along `normal`, the unit common perpendicular."""

    angle: Scalar
    distance: Scalar
    normal: Array


def check_line(*lines: ArrayLike, tolerance: float | None = None) -> None:
    """Raise `GeometryError` where six numbers are not a line: the direction is zero, or Klein's condition fails.

    e.m may be 1e-8 (float32: 1e-4), or `tolerance`, times |e| |m|, or times e.e (a pitch of so many metres) for lines
    near the origin.

    >>> check_line([0.0, 0.0, 2.0, 1.0, 0.0, 6.0])
    Traceback (most recent call last):
    cayley.errors.GeometryError: the line breaks Klein's condition: e.m = 12 should be zero; these coordinates are ...
    """
    for line in lines:
        _check_one(shaped(line, (6,), "a line", ", direction and moment"), tolerance)


def _check_one(line: Array, tolerance: float | None) -> None:
    e, m = line[..., :3], line[..., 3:]
    size = np.linalg.norm(e, axis=-1)
    product = np.sum(e * m, axis=-1)
    refuse(size > 0, lambda bad: f"the line{place(bad)} has no direction: {line[bad].tolist()}")
    reach = size * np.maximum(size, np.linalg.norm(m, axis=-1))
    refuse(np.abs(product) <= tolerance_of(line, tolerance) * reach, lambda bad:
           f"the line{place(bad)} breaks Klein's condition: e.m = {product[bad]:.4g} should be zero; these "
           f"coordinates are a screw of pitch {product[bad] / size[bad] ** 2:.4g}")


line_through_point = formula(
    "line_through_point", "(3),(3)->(6)", lambda point, axis: np.concatenate([axis, np.cross(point, axis)]),
    "The line through `point` [m] along the unit vector `axis`: (e; x x e).", lambda point, axis: check_unit_axis(axis))


def _check_apart(a: ArrayLike, b: ArrayLike) -> None:
    refuse(np.any(np.asarray(a) != np.asarray(b), axis=-1), lambda bad:
           f"the two points{place(bad)} coincide: no line is determined", SingularityError)


@kernel("(3),(3)->(6)", check=_check_apart)
def line_through_points(a: Array, b: Array) -> Array:
    """The line from `a` to `b` [m], its direction of length one.

    >>> line_through_points([1.0, 2.0, 0.0], [1.0, 2.0, 5.0])
    array([ 0.,  0.,  1.,  2., -1.,  0.])
    """
    axis, _ = direction(b - a)
    return np.concatenate([axis, np.cross(a, axis)])


point_of_line = formula("point_of_line", "(6)->(3)", lambda line: np.cross(line[:3], line[3:]) / (line[:3] @ line[:3]),
                        "The point of the line nearest to the origin [m]: e x m / e.e.", check_line)


def _check_pose_and_line(T: Array, line: Array) -> None:
    check_pose(T)
    check_line(line)


@kernel("(4,4),(6)->(6)", check=_check_pose_and_line)
def transform_line(T_ab: Array, line_b: Array) -> Array:
    """The Pluecker coordinates in a of a line given in b: (R e; R m + p x R e).

    >>> from cayley.geometry.motions import translation_pose
    >>> transform_line(translation_pose([1.0, 2.0, 0.0]), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    array([ 0.,  0.,  1.,  2., -1.,  0.])
    """
    e = T_ab[:3, :3] @ line_b[:3]
    return np.concatenate([e, T_ab[:3, :3] @ line_b[3:] + np.cross(T_ab[:3, 3], e)])


@kernel("(6),(6)->()", check=check_line)
def reciprocal_product(line_1: Array, line_2: Array) -> Scalar:
    """e1.m2 + e2.m1 [m], minus distance times sine of the angle: zero when lines meet or are parallel.

    >>> float(reciprocal_product([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0, -2.0]))
    -2.0
    """
    return line_1[:3] @ line_2[3:] + line_2[:3] @ line_1[3:]


@kernel("(6),(6)->(),(),(3)", check=check_line)
def between_lines(line_1: Array, line_2: Array) -> LinePair:
    """`angle` [rad], `distance` [m] and common `normal` of two lines: the dual angle from the first to the second.

    For skew lines the normal is e1 x e2 and the distance along it is signed, known to about rounding / sin(angle). For
    parallel lines (sin(angle) below 1e-15, mere rounding) the normal goes from the first to the second (z if they
    coincide), the distance is positive.

    >>> found = between_lines([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -3.0, 6.0, -3.0, 0.0])
    >>> float(found.angle), float(found.distance) == 5 ** 0.5
    (3.141592653589793, True)
    """
    per_1 = 1 / np.linalg.norm(line_1[:3])
    per_2 = 1 / np.linalg.norm(line_2[:3])
    e1, m1, e2, m2 = line_1[:3] * per_1, line_1[3:] * per_1, line_2[:3] * per_2, line_2[3:] * per_2
    normal, sine = direction(np.cross(e1, e2))
    cosine = e1 @ e2
    skew = sine > _PARALLEL
    beside, gap = direction(np.cross(e1, where(cosine < 0, -1.0, 1.0) * m2 - m1))
    distance = where(skew, -(e1 @ m2 + e2 @ m1) / where(skew, sine, 1.0), gap)
    return LinePair(np.arctan2(sine, cosine), distance, where(skew, normal, beside))
