"""Dual vector-parameters c^ = tan(phi^/2) e^: a pose as three dual numbers, a rational composition law, chains of
joints.

c^ = c + mu c*, an array (2, 3) of (real, dual): c is the vector-parameter of the rotation, c* = (1 + c c^T - hat(c)) p
/ 2 carries the translation. The composition law is that of vector-parameters, over dual numbers. Half-turns have no
finite c^; a chain of joints goes through them in the dual homogeneous form, a unit dual quaternion [w^ : v^], c^ = v^ /
w^. A joint is a row (theta, d, alpha, a) of a classical Denavit-Hartenberg table: turn theta about and shift d along z,
then turn alpha about and shift a along the new x. Source: Mladenova (153)-(156), spec R-34.

Kinematic equations, those of rotations over dual numbers:
    w^ = 2 (c^' + c^ x c^') / (1 + c^.c^)         c^' = (w^ + c^ (c^.w^) - c^ x w^) / 2
w^ = w + mu w* is the dual angular velocity: w the angular velocity, w* the velocity of the point of the body that is at
the origin, p' - w x p in the axes of the world; in those of the body, where the signs of the vector products change,
R^T p', the velocity of its own origin. As the twist (w*; w) it is at hand for every frame of a mechanism,
`arm.twist(q, qd, frame, axes="world", at="world")`, or `axes="body"`. Half-turns send c^ to infinity in finite time:
`integrate_pose` goes through. Source: Mladenova (157), spec S0-73; for rotations (79), (81).

The dual Jacobian of a chain of cylindric joints: joint i turns about and slides along the z axis of
frame i - 1, the line K^_i = K_i + mu K*_i in the base frame. The dual angular velocity w^ = sum (dtheta_i + mu dd_i)
K^_i of the last frame has as its real part the angular velocity and as its dual part the velocity of the body point
that is at the base origin: w* = dp - w x p. Source: Mladenova (157)-(163), numbered as in spec E-77.

>>> pose_of_chain([[0.0, 2.0, 0.0, 4.0]])[:3, 3]
array([4., 0., 2.])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError
from cayley.geometry.formula import formula
from cayley.geometry.motions.dual import Dual, dual_cross, dual_dot
from cayley.geometry.motions.dual_quaternion import (
    dual_quaternion_from_pose,
    dual_quaternion_from_screw,
    dual_quaternion_product,
    pose_from_dual_quaternion,
)
from cayley.geometry.motions.homogeneous import check_pose, compose_poses, pose_from_vector_parameter
from cayley.geometry.rotations.vector_parameter import (
    check_composition,
    check_not_half_turn,
    check_vector_parameter,
    doubled_share,
)
from cayley.showing import shown_briefly

_ALONG_X = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
_ALONG_Z = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def _check_finite_pose(T: Array) -> None:
    check_pose(T)
    check_not_half_turn(dual_quaternion_from_pose.unchecked(T)[..., 0, :])


dual_vector_parameter_from_pose = formula(
    "dual_vector_parameter_from_pose", "(4,4)->(2,3)", lambda T: dual_ratio(dual_quaternion_from_pose.unchecked(T)),
    "c + mu (1 + c c^T - hat(c)) p / 2. `SingularityError` at a half-turn, where it is infinite.", _check_finite_pose)


@kernel("(2,3)->(4,4)", check=lambda c: check_vector_parameter(np.asarray(c)[..., 0, :]))
def pose_from_dual_vector_parameter(c: Array) -> Array:
    """The pose of c^: rotation O(c), translation p = 2 (c* + c x c*) / (1 + c.c).

    >>> pose_from_dual_vector_parameter([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]])[:3, 3]
    array([0., 0., 2.])
    """
    per, turn = doubled_share(c[0])
    return pose_from_vector_parameter(c[0], per * c[1] + np.cross(turn, c[1]))


def dual_ratio(q: Array) -> Array:
    return (Dual(q[0, 1:], q[1, 1:]) / Dual(q[0, 0], q[1, 0])).stacked()


def _check_composition(a: Array, b: Array) -> None:
    check_composition(*(np.asarray(c)[..., 0, :] for c in (a, b)))


@kernel("(2,3),(2,3)->(2,3)", check=_check_composition)
def compose_dual_vector_parameters(a: Array, b: Array) -> Array:
    """<a^, b^> = (a^ + b^ + a^ x b^) / (1 - a^.b^) over dual numbers: the pose b, then a. Mladenova (154).

    `SingularityError` where the real parts have a.b = 1, a half-turn: compose dual quaternions instead.

    >>> compose_dual_vector_parameters([[0.0, 0.0, 0.5], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    array([[0. , 0. , 0.5],
           [1. , 0.5, 0. ]])
    """
    first, second = Dual(a[0], a[1]), Dual(b[0], b[1])
    return ((first + second + dual_cross(first, second)) / (1 - dual_dot(first, second))).stacked()


# Chains of joints


@kernel("(4)->(2,4)")
def dual_quaternion_from_joint(row: Array) -> Array:
    """The unit dual quaternion of a joint (theta, d, alpha, a) [rad, m]: half-turns included.

    >>> dual_quaternion_from_joint([0.0, 2.0, 0.0, 4.0])[1, 1:]
    array([2., 0., 1.])
    """
    theta, d, alpha, a = row
    along_z = dual_quaternion_from_screw.unchecked(_ALONG_Z, theta, d)
    along_x = dual_quaternion_from_screw.unchecked(_ALONG_X, alpha, a)
    return dual_quaternion_product(along_z, along_x)


dual_quaternion_of_chain = formula(
    "dual_quaternion_of_chain", "(n,4)->(2,4)", lambda table: _through(table),
    "The unit dual quaternion of the last frame of joints (rows theta, d, alpha, a). Mladenova (156).")


def _through(table: Array) -> Array:
    total = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    for row in table:
        total = dual_quaternion_product(total, dual_quaternion_from_joint(row))
    return total


pose_of_chain = formula(
    "pose_of_chain", "(n,4)->(4,4)", lambda table: pose_from_dual_quaternion.unchecked(_through(table)),
    "The pose of the last frame of joints (rows theta, d, alpha, a) in the first, half-turns included.")


class DualRate(NamedTuple):
    """A dual angular velocity (2, 3), (w, w*) [rad/s, m/s], in the axes of the `world` and in those of the `body`."""

    world: Array
    body: Array


def _check_finite(c: ArrayLike, *_: object) -> None:
    check_vector_parameter(np.asarray(c)[..., 0, :])


@kernel("(2,3),(2,3)->(2,3),(2,3)", check=_check_finite)
def dual_velocity_from_dual_vector_parameter_rate(c: Array, dc: Array) -> DualRate:
    """The dual angular velocity `world` and `body` (2, 3) from c^ and its rate (2, 3), (real, dual) [-, m; 1/s, m/s].
    `SingularityError` where c is not finite. Mladenova (157).

    >>> here = [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]]   # a quarter turn about z, and 2 m up
    >>> dual_velocity_from_dual_vector_parameter_rate(here, [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]]).world
    array([[0., 0., 1.],
           [0., 0., 0.]])
    """
    at, rate = Dual(c[0], c[1]), Dual(dc[0], dc[1])
    per = 2 / (1 + dual_dot(at, at))
    across = dual_cross(at, rate)
    return DualRate((per * (rate + across)).stacked(), (per * (rate - across)).stacked())


dual_vector_parameter_rate_from_world_velocity = formula(
    "dual_vector_parameter_rate_from_world_velocity", "(2,3),(2,3)->(2,3)",
    lambda c, w: _rate(Dual(c[0], c[1]), Dual(w[0], w[1]), -1.0),
    "The rate (2, 3) of c^ under the dual angular velocity w^ (2, 3) in the axes of the world: (w^ + c^ (c^.w^) -"
    " c^ x w^) / 2.")


dual_vector_parameter_rate_from_body_velocity = formula(
    "dual_vector_parameter_rate_from_body_velocity", "(2,3),(2,3)->(2,3)",
    lambda c, w: _rate(Dual(c[0], c[1]), Dual(w[0], w[1]), 1.0),
    "The rate (2, 3) of c^ under w^ (2, 3) in the axes of the body: (w^ + c^ (c^.w^) + c^ x w^) / 2.")


def _rate(c: Dual, w: Dual, hand: float) -> Array:
    return (0.5 * (w + c * dual_dot(c, w) + hand * dual_cross(c, w))).stacked()


@shown_briefly
class DualLines(NamedTuple):
    directions: Array
    moments: Array


class DualVelocity(NamedTuple):
    angular: Array
    linear: Array


@dataclass(frozen=True)
class ActiveJacobian:
    """The columns of moving coordinates: `matrix` (..., 6, m), `coordinates` such as ('theta 1', 'd 2')."""

    matrix: Array
    coordinates: tuple[str, ...]


@kernel("(n,4)->(n,3),(n,3)")
def joint_lines(table: Array) -> DualLines:
    """The joint axes as lines in the base frame: rows `directions` K_i, `moments` K*_i. Mladenova (158)-(160).

    >>> joint_lines([[0.0, 2.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]]).moments
    array([[ 0.,  0.,  0.],
           [ 0., -4.,  0.]])
    """
    T = np.eye(4)
    directions = []
    moments = []
    for row in table:
        directions.append(T[:3, 2])
        moments.append(np.cross(T[:3, 3], T[:3, 2]))
        T = compose_poses.unchecked(T, pose_from_dual_quaternion.unchecked(dual_quaternion_from_joint(row)))
    if not directions:
        return DualLines(np.zeros((0, 3)), np.zeros((0, 3)))
    return DualLines(np.stack(directions), np.stack(moments))


@kernel("(n,4),(n),(n)->(3),(3)")
def dual_angular_velocity(table: Array, theta_rates: Array, d_rates: Array) -> DualVelocity:
    """`angular` [rad/s] and `linear` velocity [m/s] of the last frame at the base origin, in base axes. (157).

    >>> dual_angular_velocity([[0.0, 2.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]], [0.0, 1.0], [3.0, 0.0])
    DualVelocity(angular=array([0., 0., 1.]), linear=array([ 0., -4.,  3.]))
    """
    lines = joint_lines(table)
    total = Dual(theta_rates, d_rates) @ Dual(*lines)
    return DualVelocity(total.real, total.dual)


def dual_jacobian(table: ArrayLike) -> Array:
    """The 6 x 2n matrix from (theta rates; d rates) to the twist of the last frame at the base origin. (163).

    Left half: columns (K*_i; K_i), of the turns. Right half: columns (K_i; 0), of the slides.

    >>> dual_jacobian([[0.0, 2.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]])[:, 1]
    array([ 0., -4.,  0.,  0.,  0.,  1.])
    """
    lines = joint_lines(table)
    K = np.swapaxes(lines.directions, -2, -1)
    moments = np.swapaxes(lines.moments, -2, -1)
    return np.concatenate([np.concatenate([moments, K], axis=-2),
                           np.concatenate([K, np.zeros_like(K)], axis=-2)], axis=-1)


def active_jacobian(table: ArrayLike, joints: str | Sequence[str]) -> ActiveJacobian:
    """The columns for a chain whose joints are `joints`, one letter each: R turns, P slides, C does both. Spec S0-35.

    A cylindric joint has two columns, the turn first. `ModelError` for other letters or another number of joints.

    >>> active_jacobian([[0.0, 2.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]], "PR").coordinates
    ('d 1', 'theta 2')
    """
    whole = dual_jacobian(table)
    n = whole.shape[-1] // 2
    if len(joints) != n or any(letter not in ("R", "P", "C") for letter in joints):
        raise ModelError(
            f"joints={joints!r}: the table has {n} rows; give one letter for each, R (turns), P (slides) or C (both)")
    chosen = [(name, i + offset) for i, letter in enumerate(joints) for name, offset in _COLUMNS[letter](i, n)]
    return ActiveJacobian(whole[..., [column for _, column in chosen]], tuple(name for name, _ in chosen))


_COLUMNS: dict[str, Callable[[int, int], list[tuple[str, int]]]] = {
    "R": lambda i, n: [(f"theta {i + 1}", 0)],
    "P": lambda i, n: [(f"d {i + 1}", n)],
    "C": lambda i, n: [(f"theta {i + 1}", 0), (f"d {i + 1}", n)],
}
