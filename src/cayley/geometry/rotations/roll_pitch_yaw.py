"""Roll, pitch and yaw: turns about the fixed x, then y, then z axis, R = Rz(yaw) Ry(pitch) Rx(roll).

The same three angles, listed backwards, are the z-y-x Euler angles about moving axes, and they are Bryant's angles.
Where the pitch is +-pi/2, only yaw - roll or yaw + roll is determined.

Sources: Ruggiu (1.40), (1.41); Yamamoto (1.10), corrected as in spec E3-03; its inverse is not in the text.
"""

from __future__ import annotations

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.geometry.rotations.euler import (
    EulerSolutions,
    euler_from_matrix,
    euler_from_quaternion,
    matrix_from_euler,
    quaternion_from_euler,
)


@kernel("(3)->(3,3)")
def matrix_from_roll_pitch_yaw(angles: Array) -> Array:
    """The rotation matrix of (roll, pitch, yaw) [rad]. Ruggiu (1.40).

    >>> matrix_from_roll_pitch_yaw([0.0, np.pi / 2, 0.0]).round(15)
    array([[ 0.,  0.,  1.],
           [ 0.,  1.,  0.],
           [-1.,  0.,  0.]])
    """
    return matrix_from_euler(angles, sequence="xyz", axes="fixed")


def roll_pitch_yaw_from_matrix(R: ArrayLike) -> EulerSolutions:
    """(roll, pitch, yaw) [rad] of rotation matrices (..., 3, 3): both triples; at pitch = +-pi/2 roll = 0 and
    `singular`. Ruggiu (1.41).

    >>> roll_pitch_yaw_from_matrix([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]).angles + 0.0
    array([0.        , 1.57079633, 0.        ])
    """
    return euler_from_matrix(R, sequence="xyz", axes="fixed")


@kernel("(3)->(4)")
def quaternion_from_roll_pitch_yaw(angles: Array) -> Array:
    """The unit quaternion of (roll, pitch, yaw) [rad].

    >>> quaternion_from_roll_pitch_yaw([np.pi, 0.0, 0.0]).round(15)
    array([0., 1., 0., 0.])
    """
    return quaternion_from_euler(angles, sequence="xyz", axes="fixed")


def roll_pitch_yaw_from_quaternion(q: ArrayLike) -> EulerSolutions:
    """(roll, pitch, yaw) [rad] of unit quaternions (..., 4): both triples, as `roll_pitch_yaw_from_matrix`.

    >>> roll_pitch_yaw_from_quaternion([0.0, 0.0, 0.0, 1.0]).angles
    array([0.        , 0.        , 3.14159265])
    """
    return euler_from_quaternion(q, sequence="xyz", axes="fixed")
