"""The small products of the published operation counts, for the axes of a link: A = Rx(alpha) Rz(theta), alpha
constant.

    similarity             A X A^T of a symmetric X by double angles: 18 multiplications and 19 additions, 10 and 11 if
                           alpha is 0 or 90
                           degrees (the source counts 21 and 18, 11 and 11)
    skew_products          S(s) S(u) + transpose: 9 and 9, from S(s) S(u) = u s^T - (s.u) 1
    origin_in_own_axes     A^T s without a product: 2 multiplications
A v and A^T v are `Link.inwards` and `Link.outwards` (8 and 4, or 4 and 2), S(a) v is `np.cross` (6 and 3). Between
frames that are not those of Denavit and Hartenberg there is one more constant turn, and one more step of each. Source:
Balafoutis & Patel, section 6.4, with the subscripts of spec E-8; spec E-15, R7."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.tracing.nominal_values import cleared, samples
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.links import Link
from cayley.dynamics.rigid_links.planar_rotations import PlanarRotation, turn_about_z, zxz

_ROUNDING = 1e-15  # parts of an offset this small beside the rest are the rounding of constants


def similarity(link: Link, X: Array, q: Array) -> Array:
    """A X A^T (3, 3) of a symmetric tensor in the axes of a link: the same tensor in the axes of the link before.

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> link = serial_chain(load_robot("s1_g1")).links[0]
    >>> similarity(link, np.diag([1.0, 3.0, 4.0]), np.array([np.pi / 4, 0.0])).round(12)
    array([[ 2., -1.,  0.],
           [-1.,  2.,  0.],
           [ 0.,  0.,  4.]])
    """
    beta, alpha, theta = turns(link, q)
    return _about_z(beta, _about_x(alpha, _about_z(theta, X)))


def skew_products(s: Array, u: Array) -> Array:
    """S(s) S(u) + its transpose (3, 3).

    >>> skew_products(np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 4.0]))
    array([[-28.,   5.,  10.],
           [  5., -28.,  11.],
           [ 10.,  11.,  -8.]])
    """
    x = s[0] * u[0]
    y = s[1] * u[1]
    z = s[2] * u[2]
    yz = y + z
    xz = x + z
    xy = x + y
    a = s[0] * u[1] + s[1] * u[0]
    b = s[0] * u[2] + s[2] * u[0]
    c = s[1] * u[2] + s[2] * u[1]
    return np.array([[-(yz + yz), a, b], [a, -(xz + xz), c], [b, c, -(xy + xy)]])


def origin_in_own_axes(link: Link, q: Array) -> Array:
    """The way (3) from the origin of the link before to that of a link, in the link's own axes: (a cos, -a sin, d).

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> origin_in_own_axes(serial_chain(load_robot("s1_g1")).links[1], np.array([0.0, np.pi / 6])).round(12)
    array([ 0.8660254, -0.5      ,  0.       ])
    """
    beta, alpha, theta = turns(link, q)
    place = alpha.back_about_x(beta.back_about_z(link.placement[:3, 3]))
    place = cleared(place, _ROUNDING * np.abs(samples(place)).max(axis=-1))
    turned = theta.back_about_z(place)
    return turned if link.is_revolute else turned + np.array([0.0, 0.0, 1.0]) * q[link.coordinates][0]


def turns(link: Link, q: Array) -> tuple[PlanarRotation, PlanarRotation, PlanarRotation]:
    """A = Rz(beta) Rx(alpha) Rz(theta) of a revolute or prismatic link; beta is no turn in frames of Denavit and
    Hartenberg."""
    beta, alpha, gamma = zxz(link.placement[:3, :3])
    return beta, alpha, turn_about_z(gamma, q[link.coordinates][0]) if link.is_revolute else gamma


def _about_z(turn: PlanarRotation, X: Array) -> Array:
    xx, yy, xy = _double_angle(turn, X[0, 0], X[1, 1], X[0, 1])
    xz = turn.c * X[0, 2] - turn.s * X[1, 2]
    yz = turn.s * X[0, 2] + turn.c * X[1, 2]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, X[2, 2]]])


def _about_x(turn: PlanarRotation, X: Array) -> Array:
    yy, zz, yz = _double_angle(turn, X[1, 1], X[2, 2], X[1, 2])
    xy = turn.c * X[0, 1] - turn.s * X[0, 2]
    xz = turn.s * X[0, 1] + turn.c * X[0, 2]
    return np.array([[X[0, 0], xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _double_angle(turn: PlanarRotation, a: Scalar, b: Scalar, ab: Scalar) -> tuple[Any, Any, Any]:
    """The symmetric tensor [[a, ab], [ab, b]] of a plane, turned."""
    c, s = turn
    if isinstance(c, float) and c * s == 0:  # a constant turn by quarters
        return (a, b, ab) if s == 0 else (b, a, -ab)
    cc = c * c
    sc = s * c
    d = a - b
    sine = sc + sc
    cosine = cc + cc - 1
    turned = a - cc * d + sine * ab
    return a + b - turned, turned, sc * d + cosine * ab
