"""The moments of a mass distribution about the origin of a frame: all that dynamics knows of a rigid body.

    mass     m = integral dm
    first    u = integral r dm
    second   J = integral r r^T dm, the Euler tensor
They add up over bodies, and a change of the frame is one formula; they need not be those of a real body. As vectors of
ten numbers, in which forces are linear, they are (m, ux, uy, uz, Jxx, Jxy, Jxz, Jyy, Jyz, Jzz), or, in the order of
Pinocchio, mass, first moment and inertia tensor about the origin, (m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz).
Source: Balafoutis & Patel (4.3.4)-(4.3.14); equations (T-3)-(T-4) of docs/developers/theory/tensors.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cayley.compiler.tracing.nominal_values import in_general_position, is_present, is_symbolic, suppose
from cayley.compiler.typing import Array, Scalar
from cayley.model.parts import Body, BodyByMoments
from cayley.model.tree import Tree


class LinkMoments(NamedTuple):
    """Mass [kg], first moment (3) [kg m] and Euler tensor (3, 3) [kg m^2] about the origin of a frame, in its axes."""

    mass: Scalar
    first: Array
    second: Array

    @staticmethod
    def of(body: Body) -> LinkMoments:
        """The moments of a body in its own frame; an unknown mass counts as none."""
        return LinkMoments(*body.moments)

    def seen_from(self, R: Array, p: Array) -> LinkMoments:
        """The same distribution in a frame in which this one has the axes `R` and the origin `p`."""
        first = R @ self.first
        crossed = np.outer(first, p)
        return LinkMoments(self.mass, first + self.mass * p,
                       R @ self.second @ R.T + crossed + crossed.T + self.mass * np.outer(p, p))

    def plus(self, other: LinkMoments) -> LinkMoments:
        return LinkMoments(self.mass + other.mass, self.first + other.first, self.second + other.second)

    def minus(self, other: LinkMoments) -> LinkMoments:
        return LinkMoments(self.mass - other.mass, self.first - other.first, self.second - other.second)

    @property
    def inertia(self) -> Array:
        """The inertia tensor (3, 3) about the origin."""
        return np.trace(self.second) * np.eye(3) - self.second

    @property
    def center(self) -> Array:
        """The centre of mass (3); the origin, if there is no mass."""
        return self.first / self.mass if is_present(self.mass) else np.zeros(3)

    @property
    def second_about_center(self) -> Array:
        """The Euler tensor (3, 3) about the centre of mass."""
        return self.second - np.outer(self.first, self.center)

    @property
    def inertia_about_center(self) -> Array:
        centered = self.second_about_center
        return np.trace(centered) * np.eye(3) - centered


NOTHING = LinkMoments(0.0, np.zeros(3), np.zeros((3, 3)))


MOMENT_NAMES = ("m", "ux", "uy", "uz", "Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz")
_ROWS, _COLUMNS = np.triu_indices(3)
_PINOCCHIO = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


def vector_from_moments(moments: LinkMoments) -> Array:
    """The ten numbers (10) of a link."""
    return np.array([moments.mass, *moments.first, *np.asarray(moments.second)[_ROWS, _COLUMNS]])


def moments_from_vector(ten: Array) -> LinkMoments:
    """
    >>> moments_from_vector(np.arange(10.0)).second[0]
    array([4., 5., 6.])
    """
    second = np.empty((3, 3), dtype=np.asarray(ten).dtype)
    second[_ROWS, _COLUMNS] = ten[4:]
    second[_COLUMNS, _ROWS] = ten[4:]
    return LinkMoments(ten[0], ten[1:4], second)


def moved(R: Array, p: Array) -> Array:
    """The matrix (10, 10) that takes the ten numbers into a frame in which the old one has the axes `R` and the origin
    `p`.

    >>> moved(np.eye(3), np.array([0.5, 0.0, 0.0]))[:, 0]
    array([1.  , 0.5 , 0.  , 0.  , 0.25, 0.  , 0.  , 0.  , 0.  , 0.  ])
    """
    return np.stack(
        [vector_from_moments(moments_from_vector(unit).seen_from(R, p)) for unit in np.eye(10, dtype=R.dtype)], axis=1)


def inertia_vector_from_moments(moments: LinkMoments) -> Array:
    """(m, mc, I about the origin) (10) in the order of Pinocchio's dynamic parameters."""
    I = moments.inertia
    return np.array([moments.mass, *moments.first, *[I[place] for place in _PINOCCHIO]])


def moments_from_inertia_vector(ten: Array) -> LinkMoments:
    """The moments of a link from (m, mc, I about the origin).

    >>> moments_from_inertia_vector([2.0, 0, 0, 0, 5.0, 0, 4.0, 0, 0, 3.0]).second.diagonal()
    array([1., 2., 3.])
    """
    xx, xy, yy, xz, yz, zz = (ten[k] for k in range(4, 10))
    half = (xx + yy + zz) / 2
    second = [np.stack([half - xx, -xy, -xz]), np.stack([-xy, half - yy, -yz]), np.stack([-xz, -yz, half - zz])]
    return LinkMoments(ten[0], np.stack([ten[1], ten[2], ten[3]]), np.stack(second))


def tree_with_inertia_vectors(tree: Tree, vectors: Mapping[str, Array]) -> Tree:
    """The mechanism with other inertias (10), (m, mc, I about the origin), of named bodies: numbers, or inputs of a
    trace, of which the values of the model are then the nominal ones.

    >>> from cayley.model.catalogue import load_robot
    >>> heavy = tree_with_inertia_vectors(load_robot("planar2r"), {"link2": [3.0, 0.6, 0, 0, 0.1, 0, 0.3, 0, 0, 0.3]})
    >>> heavy.bodies[2].mass, heavy.bodies[2].center
    (3.0, array([0.2, 0. , 0. ]))
    """
    bodies = []
    for body in tree.bodies:
        vector = vectors.get(body.name)
        if vector is not None:
            if is_symbolic(vector):
                suppose(vector, in_general_position(inertia_vector_from_moments(LinkMoments.of(body))))
            body = BodyByMoments.of(body.name, *moments_from_inertia_vector(vector))
        bodies.append(body)
    return replace(tree, bodies=tuple(bodies))


MOMENTS_FROM_INERTIA = np.stack([vector_from_moments(moments_from_inertia_vector(unit)) for unit in np.eye(10)], axis=1)
"""(10, 10): a block of ten columns of a regressor times this is the block for (m, mc, I)."""
