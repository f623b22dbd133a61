"""Spatial vectors: motions and forces of a rigid body as six numbers, about a point and in axes, and their algebra.

    V   (v; w)   a motion (twist): velocity of the body point at the reference point, and angular velocity
    F   (f; m)   a force (wrench): force, and moment about the reference point; F.V is its power
    I            spatial inertia (6, 6), from motions to momenta (which are forces in time); V.I V / 2 is the energy
    R, p         axes and origin of frame b in frame a: x_a = R x_b + p, for points

Every function is written for one vector, of any scalars; linear parts stand first. Methods that write motions as (w; v)
or forces as (m; f) use the same matrices, with `swapped` rows or columns. Source: Featherstone, Rigid Body Dynamics
Algorithms (2008), chapter 2, in the order (linear; angular)."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.geometry.tensors.cross import skew

_ZERO = np.zeros((3, 3))


def spatial_inertia(mass: Scalar, first: Array, inertia: Array) -> Array:
    """(6, 6): [[m 1, -u~], [u~, I]] of a mass [kg], its first moment u (3) [kg m] and its inertia (3, 3) [kg m^2], both
    about the reference point.

    >>> V = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0])                     # turning about z
    >>> spatial_inertia(3.0, np.array([1.5, 0, 0]), np.eye(3)) @ V       # 3 kg, half a metre along x
    array([0., 3., 0., 0., 0., 2.])
    """
    u = skew(first)
    return _blocks(mass * np.eye(3), -u, u, inertia)


def motion_transform(R: Array, p: Array) -> Array:
    """(6, 6): motions in b as motions in a, [[R, p~ R], [0, R]]. Its transpose takes forces in a to forces in b.

    >>> motion_transform(np.eye(3), np.array([1.0, 0.0, 0.0])) @ [0, 0, 0, 0, 0, 1.0]
    array([ 0., -1.,  0.,  0.,  0.,  1.])
    """
    return _blocks(R, skew(p) @ R, _ZERO, R)


def force_transform(R: Array, p: Array) -> Array:
    """(6, 6): forces in b as forces in a, [[R, 0], [p~ R, R]]. Its transpose takes motions in a to motions in b, and
    X I X^T is the inertia I of b, seen from a.

    >>> force_transform(np.eye(3), np.array([1.0, 0.0, 0.0])) @ [0, 1.0, 0, 0, 0, 0]
    array([0., 1., 0., 0., 0., 1.])
    """
    return _blocks(R, _ZERO, skew(p) @ R, R)


def motion_cross(V: Array) -> Array:
    """V x (6, 6): the rate of a motion that moves along with V, [[w~, v~], [0, w~]].

    >>> motion_cross(np.array([0, 0, 0, 0, 0, 2.0])) @ [1.0, 0, 0, 0, 0, 0]
    array([0., 2., 0., 0., 0., 0.])
    """
    w = skew(V[3:])
    return _blocks(w, skew(V[:3]), _ZERO, w)


def force_cross(V: Array) -> Array:
    """V x* (6, 6): the rate of a force that moves along with V, [[w~, 0], [v~, w~]]; it is -(V x)^T.

    >>> force_cross(np.array([0, 0, 0, 0, 0, 2.0])) @ [1.0, 0, 0, 0, 0, 0]
    array([0., 2., 0., 0., 0., 0.])
    """
    w = skew(V[3:])
    return _blocks(w, _ZERO, skew(V[:3]), w)


def cross_with_force(F: Array) -> Array:
    """(6, 6), skew: the product V x* F as a matrix of F on V, [[0, -f~], [-f~, -m~]].

    >>> V = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> F = np.array([6.0, 1.0, 5.0, 2.0, 4.0, 3.0])
    >>> (cross_with_force(F) @ V == force_cross(V) @ F).all()
    np.True_
    """
    f = -skew(F[:3])
    return _blocks(_ZERO, f, f, -skew(F[3:]))


def swapped(x: Array) -> Array:
    """(angular; linear) of (linear; angular), and back: of a vector (6), or of the rows of a matrix (6, k)."""
    return np.concatenate([x[3:], x[:3]])


def _blocks(a: Array, b: Array, c: Array, d: Array) -> Array:
    return np.concatenate([np.concatenate([a, b], axis=1), np.concatenate([c, d], axis=1)])
