"""Euler angles: all twelve sequences about moving or about fixed axes, every branch, and what is left at a singularity.

A sequence is three axis letters. Its angles (first, middle, third) are listed in the order in which the turns are made:
about moving axes (intrinsic) `R = R_i(first) R_j(middle) R_k(third)`, about fixed axes (extrinsic) `R = R_k(third)
R_j(middle) R_i(first)`. A proper sequence ends on the axis it began with (zyz), a Tait-Bryan sequence does not (zyx).

Every rotation has two triples: (first, middle, third) and (first + pi, -middle, third + pi) of a proper sequence, the
middle angle pi - middle of a Tait-Bryan one. Where the first and third axes become parallel (middle angle 0 or pi;
+-pi/2) only the sum or the difference of the outer angles is determined, and they belong to a family with one
parameter.

Sources: Yamamoto (1.8)-(1.10), corrected as in spec E3-01 and E3-03; Ruggiu (1.40)-(1.43). The half-angle form for
quaternions is that of Bernardes and Viollet (2022).

Roll, pitch and yaw turn about the fixed axes x, y, z. The same three angles, listed backwards, are the z-y-x Euler
angles about moving axes, and they are Bryant's angles. Where the pitch is +-pi/2, only yaw - roll or yaw + roll is
determined.

Sources: Ruggiu (1.40), (1.41); Yamamoto (1.10), corrected as in spec E3-03; its inverse is not in the text.

>>> quaternion_from_roll_pitch_yaw([np.pi, 0.0, 0.0]).round(15)
array([0., 1., 0., 0.])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError
from cayley.geometry.batch import place, refuse
from cayley.geometry.formula import formula
from cayley.geometry.rotations.axis_angle import quaternion_from_axis_angle
from cayley.geometry.rotations.euler_decomposition import (
    EulerBranches,
    angles_of_matrix,
    angles_of_quaternion,
    branches,
    frame_of,
    wrapped,
)
from cayley.geometry.rotations.matrix import check_rotation_matrix, rotation_x, rotation_y, rotation_z
from cayley.geometry.rotations.quaternion import check_unit_quaternion, quaternion_product

Axes = Literal["moving", "fixed"]

PROPER = ("xyx", "xzx", "yxy", "yzy", "zxz", "zyz")
TAIT_BRYAN = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx")
SEQUENCES = PROPER + TAIT_BRYAN

_ELEMENTARY = {"x": rotation_x, "y": rotation_y, "z": rotation_z}
_UNIT = dict(zip("xyz", np.eye(3), strict=True))
_DECOMPOSITION = "(3),(3),(),(),(),()"


@dataclass(frozen=True, eq=False)
class EulerSolutions:
    """All the Euler angles of rotations, in radians; leading axes are the batch.

    `angles` (..., 3) has its middle angle in [0, pi] (proper) or [-pi/2, pi/2] (Tait-Bryan), `other` (..., 3) is the
    second triple. `margin` is |sin middle| (proper) or |cos middle|: 0 at the singularity; each outer angle is known to
    about rounding / margin. `singular` says that the margin is mere rounding, of float64 or of float32. Then
    `angles` is one representative of a family: the turn nearest the body (third about moving axes, first about fixed
    ones) is 0. `combined` = first + sign * third is well determined at and near the singularity, where the outer angles
    alone are not."""

    angles: Array
    other: Array
    margin: Scalar
    singular: Scalar
    sign: Scalar
    combined: Array
    sequence: str
    axes: Axes

    def family(self, *, first: ArrayLike | None = None, third: ArrayLike | None = None) -> Array:
        """At a singularity, the triple with one outer angle as chosen, for instance as it was a moment ago: (..., 3).

        >>> found = euler_from_matrix(matrix_from_euler([0.3, 0.0, -1.1], sequence="zyz", axes="moving"),
        ...                           sequence="zyz",
        ...                           axes="moving")
        >>> found.family(third=0.25)
        array([-1.05,  0.  ,  0.25])
        """
        if (first is None) == (third is None):
            raise ConventionError("choose one of the two outer angles of the family: first=... or third=...")
        refuse(self.singular, lambda bad:
               f"rotation{place(bad)} is not singular (margin {np.asarray(self.margin)[bad]:.1e}): "
               "its angles are determined, see .angles and .other")
        if third is not None:
            outer = wrapped(self.combined - self.sign * np.asarray(third)), third
        else:
            outer = first, wrapped(self.sign * (self.combined - np.asarray(first)))
        return np.stack(np.broadcast_arrays(outer[0], self.angles[..., 1], outer[1]), axis=-1)


class EulerKernels(NamedTuple):
    """The kernels of one convention."""

    matrix_from_euler: Kernel
    euler_from_matrix: Kernel[EulerBranches]
    quaternion_from_euler: Kernel
    euler_from_quaternion: Kernel[EulerBranches]


def matrix_from_euler(angles: ArrayLike, *, sequence: str, axes: Axes) -> Array:
    """The rotation matrix (..., 3, 3) of Euler angles (..., 3) [rad]. Never singular. Yamamoto (1.8), (1.10).

    >>> matrix_from_euler([np.pi / 2, 0.0, 0.0], sequence="zyz", axes="moving").round(15) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    return euler_kernels(sequence, axes=axes).matrix_from_euler(angles)


def euler_from_matrix(R: ArrayLike, *, sequence: str, axes: Axes) -> EulerSolutions:
    """The two triples of Euler angles [rad] of rotation matrices (..., 3, 3), and what is determined at a singularity.

    The outer angles fit each other at and near the singularity: the attitude of `angles` is that of `R` to a few
    roundings. Yamamoto (1.9), corrected as in spec E3-01.

    >>> found = euler_from_matrix(np.eye(3), sequence="zyz", axes="moving")
    >>> found.singular, found.sign, found.combined   # first + third = 0 is all that is known
    (np.True_, np.float64(1.0), np.float64(0.0))
    """
    return _solutions(euler_kernels(sequence, axes=axes).euler_from_matrix(R), sequence, axes)


def quaternion_from_euler(angles: ArrayLike, *, sequence: str, axes: Axes) -> Array:
    """The unit quaternion (..., 4) of Euler angles (..., 3) [rad]; it moves continuously with the angles.

    >>> quaternion_from_euler([0.0, 0.0, np.pi], sequence="zyx", axes="moving").round(15)
    array([0., 1., 0., 0.])
    """
    return euler_kernels(sequence, axes=axes).quaternion_from_euler(angles)


def euler_from_quaternion(q: ArrayLike, *, sequence: str, axes: Axes) -> EulerSolutions:
    """The two triples of Euler angles [rad] of unit quaternions (..., 4), as `euler_from_matrix`.

    >>> euler_from_quaternion([0.0, 1.0, 0.0, 0.0], sequence="xyz", axes="fixed").angles
    array([3.14159265, 0.        , 0.        ])
    """
    return _solutions(euler_kernels(sequence, axes=axes).euler_from_quaternion(q), sequence, axes)


@cache
def euler_kernels(sequence: str, *, axes: Axes) -> EulerKernels:
    """The kernels of one convention, which the functions of this module call.

    >>> print(euler_kernels("zyx", axes="moving").matrix_from_euler.operations())
    14 multiplications, 4 additions, 3 trigonometric
    """
    if sequence not in SEQUENCES and str(sequence).lower() in SEQUENCES:
        raise ConventionError(
            f"the Euler sequence {sequence!r} is written {sequence.lower()!r}: say with axes='moving' (the upper case "
            "of SciPy, intrinsic) or axes='fixed' (its lower case, extrinsic) whether the axes move")
    if sequence not in SEQUENCES:
        raise ConventionError(
            f"there is no Euler sequence {sequence!r}: three of the letters x, y, z, neighbours different, such as "
            "'zyz' or 'zyx'; say with axes= whether they move")
    if axes not in ("moving", "fixed"):
        raise ConventionError(
            f"axes={axes!r}: say 'moving' (intrinsic: each turn about an axis of the turned frame) or 'fixed' "
            "(extrinsic)")
    moving = sequence if axes == "moving" else sequence[::-1]
    ordered: Callable[[Array], Array] = (lambda angles: angles) if axes == "moving" else (lambda angles: angles[::-1])
    frame = frame_of(moving)
    name = f"{sequence}_{axes}"

    @kernel("(3)->(3,3)", name=f"matrix_from_{name}")
    def matrix(angles: Array) -> Array:
        """The rotation matrix of Euler angles [rad] of the convention in the name."""
        first, middle, third = (_ELEMENTARY[axis](angle) for axis, angle in zip(moving, ordered(angles), strict=True))
        return first @ middle @ third

    @kernel("(3)->(4)", name=f"quaternion_from_{name}")
    def quaternion(angles: Array) -> Array:
        """The unit quaternion of Euler angles [rad] of the convention in the name."""
        first, middle, third = (quaternion_from_axis_angle(_UNIT[axis], angle)
                                for axis, angle in zip(moving, ordered(angles), strict=True))
        return quaternion_product(quaternion_product(first, middle), third)

    @kernel(f"(3,3)->{_DECOMPOSITION}", name=f"{name}_from_matrix", check=check_rotation_matrix)
    def from_matrix(R: Array) -> EulerBranches:
        """The two triples of angles [rad] of a matrix, in the convention of the name."""
        return branches(angles_of_matrix(R, frame), frame, ordered)

    @kernel(f"(4)->{_DECOMPOSITION}", name=f"{name}_from_quaternion", check=check_unit_quaternion)
    def from_quaternion(q: Array) -> EulerBranches:
        """The two triples of angles [rad] of a unit quaternion, in the convention of the name."""
        return branches(angles_of_quaternion(q, frame), frame, ordered)

    return EulerKernels(matrix, from_matrix, quaternion, from_quaternion)


def _solutions(found: EulerBranches, sequence: str, axes: Axes) -> EulerSolutions:
    angles, other, margin, singular, sign, combined = found
    if angles.dtype != object:  # of symbols, inside another kernel, it stays a number
        singular = singular > 0
    return EulerSolutions(angles, other, margin, singular, sign, combined, sequence, axes)


matrix_from_roll_pitch_yaw = formula("matrix_from_roll_pitch_yaw", "(3)->(3,3)",
                                     lambda angles: matrix_from_euler(angles, sequence="xyz", axes="fixed"),
                                     "The rotation matrix of (roll, pitch, yaw) [rad]. Ruggiu (1.40).")


def roll_pitch_yaw_from_matrix(R: ArrayLike) -> EulerSolutions:
    """(roll, pitch, yaw) of matrices (..., 3, 3), both triples; pitch +-pi/2: roll 0, `singular`. Ruggiu (1.41).

    >>> roll_pitch_yaw_from_matrix([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]).angles + 0.0
    array([0.        , 1.57079633, 0.        ])
    """
    return euler_from_matrix(R, sequence="xyz", axes="fixed")


quaternion_from_roll_pitch_yaw = formula("quaternion_from_roll_pitch_yaw", "(3)->(4)",
                                         lambda angles: quaternion_from_euler(angles, sequence="xyz", axes="fixed"),
                                         "The unit quaternion of (roll, pitch, yaw) [rad].")


def roll_pitch_yaw_from_quaternion(q: ArrayLike) -> EulerSolutions:
    """(roll, pitch, yaw) [rad] of unit quaternions (..., 4): both triples, as `roll_pitch_yaw_from_matrix`.

    >>> roll_pitch_yaw_from_quaternion([0.0, 0.0, 0.0, 1.0]).angles
    array([0.        , 0.        , 3.14159265])
    """
    return euler_from_quaternion(q, sequence="xyz", axes="fixed")
