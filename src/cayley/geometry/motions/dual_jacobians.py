"""Dual angular velocity and dual Jacobian of a chain of cylindric joints, and the columns of the joints that really
move.

Joints are rows (theta, d, alpha, a) as in `dual_vector_parameter`. Joint i turns about and slides along the z axis of
frame i - 1, the line K^_i = K_i + mu K*_i in the base frame. The dual angular velocity w^ = sum (dtheta_i + mu dd_i)
K^_i of the last frame has as its real part the angular velocity and as its dual part the velocity of the body point
that is at the base origin: w* = dp - w x p. Source: Mladenova (157)-(163), numbered as in spec E-77.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError
from cayley.geometry.motions.dual import Dual
from cayley.geometry.motions.dual_quaternion import pose_from_dual_quaternion
from cayley.geometry.motions.dual_vector_parameter import dual_quaternion_from_joint
from cayley.geometry.motions.homogeneous import compose_poses
from cayley.showing import brief


class JointLines(NamedTuple):
    directions: Array
    moments: Array

    def __repr__(self) -> str:
        return brief(self)


class DualVelocity(NamedTuple):
    angular: Array
    linear: Array


@dataclass(frozen=True)
class ActiveJacobian:
    """The columns of a dual Jacobian that belong to moving coordinates: `matrix` (..., 6, m), `coordinates` such as
    ('theta 1', 'd 2').
    """

    matrix: Array
    coordinates: tuple[str, ...]


@kernel("(n,4)->(n,3),(n,3)")
def joint_lines(table: Array) -> JointLines:
    """The axes of the joints as lines in the base frame: `directions` K_i and `moments` K*_i, rows. Mladenova
    (158)-(160).

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
        return JointLines(np.zeros((0, 3)), np.zeros((0, 3)))
    return JointLines(np.stack(directions), np.stack(moments))


@kernel("(n,4),(n),(n)->(3),(3)")
def dual_angular_velocity(table: Array, theta_rates: Array, d_rates: Array) -> DualVelocity:
    """`angular` velocity [rad/s] of the last frame and `linear` velocity [m/s] of its point at the base origin, in base
    axes. (157).

    >>> dual_angular_velocity([[0.0, 2.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]], [0.0, 1.0], [3.0, 0.0])
    DualVelocity(angular=array([0., 0., 1.]), linear=array([ 0., -4.,  3.]))
    """
    lines = joint_lines(table)
    total = Dual(theta_rates, d_rates) @ Dual(*lines)
    return DualVelocity(total.real, total.dual)


def dual_jacobian(table: ArrayLike) -> Array:
    """The 6 x 2n matrix from (theta rates; d rates) to the twist (linear; angular) of the last frame at the base
    origin. (163).

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
