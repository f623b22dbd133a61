"""Mass, centre of mass and inertia of a body: from point masses, from a density, and put together from parts.

A body without mass is a body like any other: its centre is given as the origin. Sources: seed 2, sections 3.1-3.3;
Yamamoto App. D."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.batch import real_array
from cayley.geometry.inertia.tensors import (
    euler_tensor_from_inertia,
    inertia_about_center,
    inertia_about_point,
    moments_from_pseudo_inertia,
    pseudo_inertia,
)
from cayley.geometry.tensors.frames import tensor_in_frame
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass [kg], centre of mass [m] and inertia about it [kg m^2], in one frame; `+` joins bodies, `-` cuts out.

    Anything that NumPy reads as a number, three and nine of them will do. Whether a body can have them is for
    `physical_consistency` to say: a part that is to be cut out may have a negative mass. Two are equal if all their
    numbers are.

    >>> MassProperties(2, [0.1, 0, 0], np.eye(3)).first_moment
    array([0.2, 0. , 0. ])
    """

    mass: float
    center: Array
    inertia: Array

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", float(real_array(self.mass, (), "the mass of a body")))
        for name, shape, what in (("center", (3,), "the centre of mass"), ("inertia", (3, 3),
                                                                            "the inertia tensor of a body")):
            values = real_array(getattr(self, name), shape, what)
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MassProperties):
            return NotImplemented
        return self.mass == other.mass and np.array_equal(self.center, other.center) and np.array_equal(
            self.inertia, other.inertia)

    def __hash__(self) -> int:
        return hash((self.mass, *self.center.tolist(), *self.inertia.ravel().tolist()))

    @property
    def first_moment(self) -> Array:
        """m c [kg m]."""
        return self.mass * self.center

    @property
    def euler_tensor(self) -> Array:
        """The Euler tensor about the centre of mass [kg m^2]."""
        return euler_tensor_from_inertia(self.inertia)

    @property
    def pseudo_inertia(self) -> Array:
        """The 4 by 4 pseudo-inertia about the origin of the frame."""
        return pseudo_inertia(self.mass, self.center, self.inertia_about((0.0, 0.0, 0.0)))

    def inertia_about(self, point: ArrayLike) -> Array:
        """The inertia tensor about a point of the frame, in the axes of the frame."""
        return inertia_about_point(self.mass, self.center - real_array(point, (3,), "a point"), self.inertia)

    def in_frame(self, R_ab: ArrayLike, p_ab: ArrayLike = (0.0, 0.0, 0.0)) -> MassProperties:
        """The same body in frame a, if it is given here in frame b, whose axes are R_ab and whose origin is p_ab in a.
        """
        R = real_array(R_ab, (3, 3), "the axes of a frame")
        p = real_array(p_ab, (3,), "the origin of a frame")
        return MassProperties(self.mass, R @ self.center + p, tensor_in_frame(R, self.inertia))

    def __add__(self, other: MassProperties) -> MassProperties:
        return _joined(self, other, 1.0)

    def __sub__(self, other: MassProperties) -> MassProperties:
        return _joined(self, other, -1.0)


def _joined(a: MassProperties, b: MassProperties, sign: float) -> MassProperties:
    mass = a.mass + sign * b.mass
    first = a.first_moment + sign * b.first_moment
    center = _center(mass, first, abs(a.mass) + abs(b.mass))
    return MassProperties(mass, center, inertia_about_point(a.mass, a.center - center, a.inertia)
                          + sign * inertia_about_point(b.mass, b.center - center, b.inertia))


def _center(mass: float, first: Array, size: float) -> Array:
    if mass != 0:
        return first / mass
    if np.abs(first).max() > 1e-12 * size:
        raise GeometryError(
            f"the masses cancel, but their first moment {first.tolist()} kg m does not: there is no centre of mass")
    return np.zeros(3)


def mass_properties_from_pseudo_inertia(H: ArrayLike) -> MassProperties:
    """The mass properties of a 4 by 4 pseudo-inertia about the origin of the frame; the way back is the property
    `pseudo_inertia`.

    >>> mass_properties_from_pseudo_inertia(np.diag([0.0, 0.0, 0.0, 2.0])).mass
    2.0
    """
    H = real_array(H, (4, 4), "a pseudo-inertia")
    if H[3, 3] == 0 and H[:3, 3].any():
        raise GeometryError(
            f"a pseudo-inertia has no mass, but the first moment {H[:3, 3].tolist()} kg m: it belongs to no body")
    mass, center, inertia = moments_from_pseudo_inertia(H)
    return MassProperties(float(mass), center, inertia_about_center(mass, center, inertia))


def mass_properties_of_points(masses: ArrayLike, points: ArrayLike) -> MassProperties:
    """The mass properties of point masses (n) [kg] at points (n, 3) [m].

    >>> body = mass_properties_of_points([1, 2, 3, 0.5],
    ...                                  [(0.2, 0.1, 0.3), (1, -0.4, 0.2), (0.3, 0.9, -0.5), (-0.6, 0.2, 0.8)])
    >>> body.inertia_about((0, 0, 0)).round(12)   # WE-16
    array([[4.02, 0.03, 0.23],
           [0.03, 3.73, 1.4 ],
           [0.23, 1.4 , 5.27]])
    """
    m = real_array(np.atleast_1d(masses), (None,), "a list of masses")
    r = real_array(points, (None, 3), "a list of points")
    if len(m) != len(r):
        raise GeometryError(f"{len(m)} masses and {len(r)} points do not belong together")
    wrong = np.flatnonzero(~(m >= 0) | ~np.isfinite(m) | ~np.isfinite(r).all(axis=1))
    if len(wrong):
        raise GeometryError(
            f"point mass {wrong[0]} is {m[wrong[0]]} kg at {r[wrong[0]].tolist()}: masses are finite and not negative; "
            "cut holes out with body - part")
    total = float(m.sum())
    if total == 0:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    center = m @ r / total
    s = r - center
    euler = (m[:, None] * s).T @ s
    return MassProperties(total, center, np.trace(euler) * np.eye(3) - euler)


def mass_properties_of_density(density: Callable[..., Any], low: ArrayLike, high: ArrayLike, *,
                               points: int = 24) -> MassProperties:
    """The mass properties of density(x, y, z) [kg/m^3] in a box from `low` to `high` [m], by Gauss's rule with `points`
    a side.

    Exact for polynomials of degree 2 points - 3; `density` is called once with three arrays.

    >>> mass_properties_of_density(lambda x, y, z: 6 * x, (0, 0, 0), (1, 1, 1)).center.round(12)
    array([0.66666667, 0.5       , 0.5       ])
    """
    low = real_array(low, (3,), "a corner of the box")
    high = real_array(high, (3,), "a corner of the box")
    if not np.all(high >= low):
        raise GeometryError(f"the box from {low.tolist()} to {high.tolist()} is turned inside out")
    nodes, weights = np.polynomial.legendre.leggauss(points)
    grid = np.stack(
        np.meshgrid(*[(a + b) / 2 + (b - a) / 2 * nodes for a, b in zip(low, high, strict=True)], indexing="ij"),
        axis=-1)
    weight = np.einsum("i,j,k->ijk", weights, weights, weights) * np.prod((high - low) / 2)
    values = np.broadcast_to(density(grid[..., 0], grid[..., 1], grid[..., 2]), weight.shape)
    return mass_properties_of_points((weight * values).ravel(), grid.reshape(-1, 3))


def mass_properties_of_cells(densities: ArrayLike, cell: ArrayLike, *,
                             corner: ArrayLike = (0.0, 0.0, 0.0)) -> MassProperties:
    """The mass properties of uniform cells (i, j, k) of a density [kg/m^3], each of the size `cell` (3) [m], from
    `corner` on.

    Exact for cells that are uniform: each brings its own moments, not those of a point.

    >>> mass_properties_of_cells(np.ones((2, 2, 2)), (0.5, 0.5, 0.5)).inertia.round(12).diagonal()   # a unit cube
    array([0.16666667, 0.16666667, 0.16666667])
    """
    rho = real_array(densities, (None, None, None), "the densities of cells")
    size = real_array(cell, (3,), "the size of a cell")
    if not (size >= 0).all():
        raise GeometryError(f"the size of a cell is {size.tolist()} m: sizes are not negative")
    index = np.stack(np.meshgrid(*[np.arange(n) for n in rho.shape], indexing="ij"), axis=-1).reshape(-1, 3)
    masses = rho.ravel() * np.prod(size)
    body = mass_properties_of_points(masses, real_array(corner, (3,), "the corner of the cells") + (index + 0.5) * size)
    own = body.mass * np.diag(size * size) / 12
    return MassProperties(body.mass, body.center, body.inertia + np.trace(own) * np.eye(3) - own)
