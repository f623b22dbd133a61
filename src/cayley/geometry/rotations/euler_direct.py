"""Z-Y-Z Euler angles by the direct method: turn the end effector back until it stands as the base.

It uses no formula for the elements of the matrix, only what is seen after each turn, and so is a second, independent
way to the angles of `euler_from_matrix`. Source: Yamamoto 1.3, "Direct Method".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import rounding, where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.rotations.euler_decomposition import NO_MARGIN
from cayley.geometry.rotations.matrix import check_rotation_matrix, rotation_y, rotation_z


class TurnedBack(NamedTuple):
    angles: Array
    after_psi: Array
    after_theta: Array
    after_phi: Array
    singular: Scalar


@kernel("(3,3),()->(2,3),(2,3,3),(2,3,3),(2,3,3),()", check=check_rotation_matrix)
def zyz_by_turning_back(R: Array, free_psi: Scalar) -> TurnedBack:
    """Both triples (phi, theta, psi) [rad] with R = Rz(phi) Ry(theta) Rz(psi), and the attitude after each turn back.

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
