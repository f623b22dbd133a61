"""Angular velocity and angular acceleration as tensors, in space and in n dimensions, and what they do to points of a
body.

For an orthogonal tensor Q(t):  Phi = Qd Q^T is skew, Psi = Qdd Q^T = Phid + Phi Phi is neither skew nor symmetric. In
space, Phi = hat(w) and Psi = Omega = hat(wd) + hat(w) hat(w). All components are in the fixed ("world") frame. The
forms with vectors and cross products are in `cayley.geometry.rates`. Source: Balafoutis & Patel, section 4.2, equations
(4.2.1)-(4.2.24).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.geometry.tensors.checks import check_orthogonal, check_skew, is_rounding, refuse_where


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


def _check_second_rate(Q: Array, Qdd: Array) -> None:
    check_orthogonal(Q)


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


@kernel("(n,n),(n,n)->(n,n)", check=_check_second_rate)
def angular_acceleration_tensor(Q: Array, Qdd: Array) -> Array:
    """Psi = Qdd Q^T [rad/s^2], with Qdd = Psi Q, (4.2.7), (4.2.13); n by n.

    >>> angular_acceleration_tensor(np.eye(2), [[-4.0, -1.0], [1.0, -4.0]])
    array([[-4., -1.],
           [ 1., -4.]])
    """
    return Qdd @ Q.T


def _check_both_skew(Phi: Array, Phid: Array) -> None:
    check_skew(Phi)
    check_skew(Phid)


@kernel("(n,n),(n,n)->(n,n)", check=_check_both_skew)
def angular_acceleration_from_tensors(Phi: Array, Phid: Array) -> Array:
    """Psi = Phid + Phi Phi from the angular velocity tensor and its derivative, (4.2.8); n by n.

    >>> angular_acceleration_from_tensors([[0.0, -2.0], [2.0, 0.0]], [[0.0, -1.0], [1.0, 0.0]])
    array([[-4., -1.],
           [ 1., -4.]])
    """
    return Phid + Phi @ Phi


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


class AngularAcceleration(NamedTuple):
    """The two parts of an angular acceleration tensor: Phid, skew, and Phi Phi, symmetric."""

    turning: Array
    centripetal: Array


@kernel("(n,n)->(n,n),(n,n)")
def split_angular_acceleration(Psi: Array) -> AngularAcceleration:
    """The Cartesian decomposition of an angular acceleration tensor: `turning` = Phid and `centripetal` = Phi Phi,
    (4.2.12).

    In space `vee(Psi)` is the angular acceleration vector, (4.2.14).

    >>> split_angular_acceleration([[-4.0, -1.0], [1.0, -4.0]]).centripetal
    array([[-4.,  0.],
           [ 0., -4.]])
    """
    return AngularAcceleration((Psi - Psi.T) / 2, (Psi + Psi.T) / 2)


@kernel("(n),(n,n),(n)->(n)")
def point_velocity_by_tensor(sd: Array, Phi: Array, r: Array) -> Array:
    """rd = sd + Phi r: velocity of a point of the body, from that of another and the vector r from there to it,
    (4.2.19).

    >>> point_velocity_by_tensor([1.0, 0.0], [[0.0, -2.0], [2.0, 0.0]], [1.0, 0.0])
    array([1., 2.])
    """
    return sd + Phi @ r


@kernel("(n),(n,n),(n)->(n)")
def point_acceleration_by_tensor(sdd: Array, Psi: Array, r: Array) -> Array:
    """rdd = sdd + Psi r: acceleration of a point of the body, (4.2.20), by 9 multiplications and 9 additions in space.

    >>> point_acceleration_by_tensor([0.0, 0.0], [[-4.0, -1.0], [1.0, -4.0]], [1.0, 0.0])
    array([-4.,  1.])
    """
    return sdd + Psi @ r
