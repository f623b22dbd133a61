"""Angular velocity and angular acceleration as tensors, in space and in n dimensions, and what they do to points of a
body.

For an orthogonal tensor Q(t):  Phi = Qd Q^T is skew, Psi = Qdd Q^T = Phid + Phi Phi is neither skew nor symmetric. In
space, Phi = hat(w) and Psi = Omega = hat(wd) + hat(w) hat(w). All components are in the fixed ("world") frame. The
forms with vectors and cross products are in `cayley.geometry.rates`. Source: Balafoutis & Patel, section 4.2, equations
(4.2.1)-(4.2.24).
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.geometry.tensors.checks import check_orthogonal, is_rounding, refuse_where


def _check_rate(Q: Array, Qd: ArrayLike) -> None:
    check_orthogonal(Q)
    Qd = np.asarray(Qd)
    rate = Qd @ np.swapaxes(Q, -1, -2)
    defect = np.abs(rate + np.swapaxes(rate, -1, -2)).max(axis=(-2, -1))
    size = np.abs(rate).max(axis=(-2, -1))
    refuse_where(
        ~is_rounding(defect, Qd, size),
        "the rate does not keep the matrix orthogonal{element}: Qd Q^T + Q Qd^T reaches "
        "{defect:.3g}, so there is no angular velocity; skew_part(Qd Q^T) is the nearest one", defect)


@kernel("(n,n),(n,n)->(n,n)", check=_check_rate)
def angular_velocity_tensor(Q: Array, Qd: Array) -> Array:
    """Phi = Qd Q^T [rad/s], skew, with Qd = Phi Q, (4.2.3), (4.2.6); n by n.

    In space its vector is `dual_vector` of it; for n other than 3 no vector exists. A matrix that drifted off
    orthogonality, or a rate that would lead it off, is refused with the size of the defect.

    >>> angular_velocity_tensor(np.eye(3), [[0.0, -2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    array([[ 0., -2.,  0.],
           [ 2.,  0.,  0.],
           [ 0.,  0.,  0.]])
    """
    return Qd @ Q.T


@kernel("(3),(3)->(3,3)")
def angular_acceleration_from_vectors(w: Array, wd: Array) -> Array:
    """Omega = hat(wd) + hat(w) hat(w) in space, (4.2.12), by 6 multiplications and 9 additions.

    w is the angular velocity [rad/s], wd its derivative. Both may be in body axes too: then Omega is.

    >>> angular_acceleration_from_vectors([0.0, 0.0, 2.0], [0.0, 0.0, 1.0]) @ [1.0, 0.0, 0.0]
    array([-4.,  1.,  0.])
    """
    xx, yy, zz = w * w
    xy = w[0] * w[1]
    xz = w[0] * w[2]
    yz = w[1] * w[2]
    x, y, z = wd
    return np.array([[-(yy + zz), xy - z, xz + y], [xy + z, -(xx + zz), yz - x], [xz - y, yz + x, -(xx + yy)]])
