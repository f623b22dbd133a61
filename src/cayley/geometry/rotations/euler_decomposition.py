"""Euler angles of a matrix or a quaternion, for one state: the traced text behind `euler`.

All twelve sequences are one text. With the axes i, j of the first two turns, k across them, and `hand` the sign of (i,
j, k):

    proper       R_i(first) R_j(middle) R_i(third)      R_ii = cos(middle), (R_ij, hand R_ik) = sin(middle) (s, c)
    Tait-Bryan   R_i(first) R_j(middle) R_k(third)      hand R_ik = sin(middle), (-hand R_ij, R_ii) = cos(middle) (s, c)

in row i of the matrix, where (s, c) are the sine and cosine of the third angle.

It uses no formula for the elements of the matrix, only what is seen after each turn, and so is a second, independent
way to the angles of `euler_from_matrix`. Source: Yamamoto 1.3, "Direct Method"."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import rounding, where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.rotations.matrix import check_rotation_matrix, rotation_y, rotation_z

NO_MARGIN = 4
"""A sine below so many roundings of the cosine: the outer angles say nothing apart from each other."""


class EulerBranches(NamedTuple):
    """The results of the kernels of `euler_kernels`; `EulerSolutions` explains the fields."""

    angles: Array
    other: Array
    margin: Scalar
    singular: Scalar
    sign: Scalar
    combined: Array


class Decomposition(NamedTuple):
    first: Scalar
    middle: Scalar
    third: Scalar
    margin: Scalar
    singular: Scalar


class SequenceFrame(NamedTuple):
    """The numbers of the first and middle axis and of the one across; `hand` is the sign of the three."""

    i: int
    j: int
    k: int
    hand: int
    proper: bool


def frame_of(sequence: str) -> SequenceFrame:
    i, j = "xyz".index(sequence[0]), "xyz".index(sequence[1])
    return SequenceFrame(i, j, 3 - i - j, 1 if (j - i) % 3 == 1 else -1, sequence[0] == sequence[2])


def angles_of_matrix(R: Array, frame: SequenceFrame) -> Decomposition:
    """Turn back about the body's own axis until the middle axis is perpendicular to the first; then read off the rest.

    The first angle comes from the matrix after this turn, so that it makes up for whatever the third one is. Reading
    both from `R` gives two angles that do not fit each other near a singularity."""
    i, j, k, hand, proper = frame
    sine, cosine = (R[i, j], hand * R[i, k]) if proper else (-hand * R[i, j], R[i, i])
    square = sine * sine + cosine * cosine
    singular = square <= (NO_MARGIN * rounding(R[i, i] if proper else R[i, k]))**2
    margin = np.sqrt(where(singular, 1.0, square))
    sine = where(singular, 0.0, sine / margin)
    cosine = where(singular, 1.0, cosine / margin)
    turned = R[:, j] * cosine + (R[:, k] * (-hand * sine) if proper else R[:, i] * (hand * sine))
    margin = where(singular, 0.0, margin)
    middle = np.arctan2(margin, R[i, i]) if proper else np.arctan2(hand * R[i, k], margin)
    return Decomposition(np.arctan2(hand * turned[k], turned[j]), middle, np.arctan2(sine, cosine), margin, singular)


def angles_of_quaternion(q: Array, frame: SequenceFrame) -> Decomposition:
    """Half the sum and half the difference of the outer angles, each from a plane of its own.

    A Tait-Bryan rotation becomes a proper one by a quarter turn about the middle axis: (first, middle + pi/2, -hand
    third)."""
    i, j, k, hand, proper = frame
    w, a, b = q[0], q[1 + i], q[1 + j]
    c = hand * q[1 + k]
    sine = 2 * (w * b + a * c)
    if not proper:
        w, a, b, c = w - b, a - c, b + w, c + a
    sums, differences = w * w + a * a, b * b + c * c
    cosine_half, sine_half = _root(sums), _root(differences)
    margin = 2 * cosine_half * sine_half / (sums + differences)
    singular = 2 * cosine_half * sine_half <= NO_MARGIN * rounding(sums + differences)
    small = differences < sums
    half_sum, half_difference = _angle(a, w), _angle(c, b)
    determined = where(small, half_sum, half_difference)
    half_sum = where(singular, determined, half_sum)
    half_difference = where(singular, determined, half_difference)
    if proper:
        middle = 2 * np.arctan2(where(singular & small, 0.0, sine_half), where(singular & ~small, 0.0, cosine_half))
    else:
        middle = np.arctan2(sine, where(singular, 0.0, cosine_half * sine_half))
    first = wrapped(half_sum + half_difference)
    third = wrapped(half_sum - half_difference)
    return Decomposition(first, middle, third if proper else -hand * third, where(singular, 0.0, margin), singular)


def branches(found: Decomposition, frame: SequenceFrame, ordered: Callable[[Array], Array]) -> EulerBranches:
    """The two triples, `ordered` as their convention lists them, and the combination that is always determined."""
    first, middle, third, margin, singular = found
    if frame.proper:
        sign = where(middle < np.pi / 2, 1.0, -1.0)
        other_middle = -middle
    else:
        sign = where(middle < 0, -1.0, 1.0) * frame.hand
        other_middle = where(middle < 0, -np.pi, np.pi) - middle
    angles = ordered(np.stack([first, middle, third]))
    other = ordered(np.stack([_opposite(first), other_middle, _opposite(third)]))
    return EulerBranches(angles, other, margin, where(singular, 1.0, 0.0), sign, wrapped(angles[0] + sign * angles[2]))


def _root(square: Scalar) -> Scalar:
    return where(square > 0, np.sqrt(where(square > 0, square, 1.0)), 0.0)


def _angle(y: Scalar, x: Scalar) -> Scalar:
    """arctan2, with a derivative also at (0, 0)."""
    return np.arctan2(y, where((x == 0) & (y == 0), 1.0, x))


def _opposite(angle: Scalar) -> Scalar:
    return angle - where(angle > 0, np.pi, -np.pi)


def wrapped(angle: Scalar) -> Scalar:
    """An angle of at most 3 pi, in [-pi, pi]."""
    return angle - where(angle > np.pi, 2 * np.pi, where(angle < -np.pi, -2 * np.pi, 0.0))


class TurnedBack(NamedTuple):
    angles: Array
    after_psi: Array
    after_theta: Array
    after_phi: Array
    singular: Scalar


@kernel("(3,3),()->(2,3),(2,3,3),(2,3,3),(2,3,3),()", check=check_rotation_matrix)
def zyz_by_turning_back(R: Array, free_psi: Scalar) -> TurnedBack:
    """The triples (phi, theta, psi) [rad], R = Rz(phi) Ry(theta) Rz(psi), and the attitude after each turn back.

    1. Turn by -psi about the tool's z until its y lies in the base's x-y plane: two solutions, half a turn apart. Where
    the two z axes
       are parallel (`singular`) every psi will do, and `free_psi` is taken.
    2. Turn by -theta about that y until the tool's z is the base's z.
    3. Turn by -phi about z: what is left is the identity.

    >>> zyz_by_turning_back(rotation_z(0.3) @ rotation_y(0.7) @ rotation_z(-1.1), 0.0).angles      # spec W3-01
    array([[ 0.3       ,  0.7       , -1.1       ],
           [-2.84159265, -0.7       ,  2.04159265]])
    """
    sine = R[2, 1]
    cosine = -R[2, 0]
    singular = sine * sine + cosine * cosine <= (NO_MARGIN * rounding(R[2, 2]))**2
    ways = [
        _one_way(R, where(singular, free_psi, np.arctan2(s, where(singular, 1.0, c))))
        for s, c in ((sine, cosine), (-sine, -cosine))]
    angles, after_psi, after_theta, after_phi = (np.stack(both) for both in zip(*ways, strict=True))
    return TurnedBack(angles, after_psi, after_theta, after_phi, where(singular, 1.0, 0.0))


def _one_way(R: Array, psi: Scalar) -> tuple[Array, ...]:
    after_psi = R @ rotation_z(-psi)
    theta = np.arctan2(-after_psi[2, 0], after_psi[2, 2])
    after_theta = after_psi @ rotation_y(-theta)
    phi = np.arctan2(after_theta[1, 0], after_theta[0, 0])
    return np.stack([phi, theta, psi]), after_psi, after_theta, after_theta @ rotation_z(-phi)
