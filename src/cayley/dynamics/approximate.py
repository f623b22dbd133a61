"""Historical approximations of inverse dynamics: without the velocity terms, and with configuration terms from a table.

    M   inertia matrix (nv, nv)
    c   coefficients of products of velocities (nv, nv, nv)
    G   gravity forces (nv)
Dropping the velocity terms (Paul, Bejczy) is right for slow motion only: the error falls with the square of the
velocity. Tables of M, c and G, along a trajectory (Albus, Raibert) or over all configurations (Horn & Raibert), are
interpolated: the error falls with the square of the grid's width, and the memory grows as the number of points to the
power of the number of coordinates. Source: Balafoutis & Patel, section 5.2.1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.closed_form import gravity_forces, velocity_coefficients
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse import newton_euler
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.errors import SignatureError, UnsupportedError, shown
from cayley.kinematics.frame_kernels import sized_kernel
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.showing import brief, shown_briefly


def inverse_dynamics_without_velocities(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """M qdd + G (nv): the velocities `qd` (nv) have no effect.

    >>> from cayley.dynamics.rigid_links.links import links_of
    >>> from cayley.model.catalogue import load_robot
    >>> arm, rest = links_of(load_robot("s2_we19")), np.zeros(2)
    >>> inverse_dynamics_without_velocities(arm, np.array([0.3, 0.7]), np.array([9.0, 9.0]), rest).round(8)
    array([26.60984677, 3.18021937])
    """
    return newton_euler.inverse_dynamics(links, q, np.zeros(links.nv), qdd)


@of_a_mechanism
def inverse_dynamics_without_velocities_kernel(tree: Tree) -> MechanismKernel:
    """`inverse_dynamics_without_velocities(q, qdd)` (..., nv), with the drives that are included."""
    check_independent(tree, "inverse dynamics without velocities")
    whole: Any = inverse_dynamics_kernel(tree).__wrapped__
    return sized_kernel(tree, "(q),(v)->(v)", lambda q, qdd: whole(q, np.zeros(tree.nv), qdd),
                        "inverse_dynamics_without_velocities", unit="tau",
                        sentence="The joint forces of a motion so slow that velocities ask for none.")


@shown_briefly
class ConfigurationTerms(NamedTuple):
    """The terms that depend on the configuration alone."""

    M: Array
    c: Array
    G: Array


@dataclass(frozen=True, eq=False)
class DynamicsTable:
    """The configuration terms of a mechanism at the points of a grid. Made by `tabulate`."""

    axes: tuple[Array, ...]
    nv: int
    _look_up: RegularGridInterpolator

    __repr__ = brief

    @property
    def numbers(self) -> int:
        """The count of stored numbers."""
        return int(self._look_up.values.size)

    def terms(self, place: ArrayLike) -> ConfigurationTerms:
        """M (..., nv, nv), c (..., nv, nv, nv) and G (..., nv) at places (..., d) between the points of the grid."""
        place = real_places(place, len(self.axes))
        for k, axis in enumerate(self.axes):
            if not ((place[..., k] >= axis[0]) & (place[..., k] <= axis[-1])).all():
                raise SignatureError(
                    f"coordinate {k} is outside of the table, which goes from {axis[0]:g} to {axis[-1]:g}: tabulate "
                    "more"
                )
        n = self.nv
        batch = place.shape[:-1]
        row = self._look_up(place).reshape(*batch, self._look_up.values.shape[-1])
        return ConfigurationTerms(row[..., :n * n].reshape(*batch, n, n), row[..., n * n:-n].reshape(*batch, n, n, n),
                                  row[..., -n:])

    def inverse_dynamics(self, place: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Generalised forces (..., nv) from the table, at places (..., d), velocities and accelerations (..., nv)."""
        M, c, G = self.terms(place)
        qd, qdd = np.asarray(qd, dtype=float), np.asarray(qdd, dtype=float)
        for name, given in (("qd", qd), ("qdd", qdd)):
            if given.shape[-1:] != (self.nv,):
                raise SignatureError(f"{name} must have shape (..., {self.nv}), not {given.shape}")
        return np.einsum("...ij,...j->...i", M, qdd) + np.einsum("...ijk,...j,...k->...i", c, qd, qd) + G


def real_places(place: ArrayLike, count: int) -> Array:
    """Places (..., d) in a table with d axes."""
    found = np.asarray(place, dtype=float)
    if found.shape[-1:] != (count,):
        raise SignatureError(f"places of this table must have shape (..., {count}), not {found.shape}")
    return found


def table_of(tree: Tree, axes: Sequence[ArrayLike], *,
             configuration: Callable[[Array], ArrayLike] | None = None) -> DynamicsTable:
    """A table of the bodies of a mechanism; included drives and tied joints raise an error that names them."""
    if tree.included:
        raise UnsupportedError(f"{tree.name} includes {', '.join(sorted(tree.included))}: a table holds the terms of "
                               "its bodies alone. Tabulate it without, `including()` nothing, and add the drives")
    return tabulate(links_of(tree), axes, configuration=configuration)


def tabulate(links: Links, axes: Sequence[Any], *,
             configuration: Callable[[Array], Any] | None = None) -> DynamicsTable:
    """A table of the configuration terms over a grid: `axes` are d increasing lists of numbers. By default they are
    those of the coordinates q. With `configuration`, a function from places (..., d) to q (..., nq), they are of
    something else: the one parameter of a trajectory, say.

    >>> from cayley.dynamics.rigid_links.links import links_of
    >>> from cayley.model.catalogue import load_robot
    >>> table = tabulate(links_of(load_robot("s2_we19")), [np.linspace(-1, 1, 21)] * 2)
    >>> table.inverse_dynamics([0.3, 0.7], [0.5, -1.2], [1.0, 2.0]).round(6)
    array([31.479367, 4.695757])
    """
    grid = tuple(np.asarray(axis, dtype=float) for axis in axes)
    for k, axis in enumerate(grid):
        if axis.ndim != 1 or len(axis) < 2 or not (np.isfinite(axis).all() and (np.diff(axis) > 0).all()):
            raise SignatureError(f"axis {k} of the table has to be two or more increasing numbers, not {shown(axis)}")
    points = np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1)
    q = points if configuration is None else np.asarray(configuration(points))
    if q.shape[-1] != links.nq:
        raise SignatureError(
            f"{links.name} has {links.nq} coordinates, and the table's configurations have {q.shape[-1]}: give an axis "
            "for each, or a function that makes configurations of the places")

    def rows(q: Array) -> Array:
        parts = inertia_matrix(links, q), velocity_coefficients(links, q), gravity_forces(links, q)
        return np.concatenate([part.reshape(-1) for part in parts])

    stored = kernel(f"({links.nq})->(k)", name="configuration_terms")(rows)(q)
    return DynamicsTable(grid, links.nv, RegularGridInterpolator(grid, stored))
