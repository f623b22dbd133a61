"""The equations of motion of a mechanism with three degrees of freedom with a diagonal inertia matrix: H qdd + h = P,
turned.

    O     rotation with O^T H O diagonal         s   the rate of O in its own axes: O' = O s~, s~ skew
    eta   quasi-velocities O^T q'                qb  coordinates O^T q
Quasi-velocities give explicit equations:  Hd (eta' + s~ eta) + O^T h = O^T P,  q' = O eta. Coordinates do not, as O''
contains q'': Hd (qb'' + 2 s~ qb' + O^T O'' qb) + O^T h = O^T P. Where principal inertias cross, O is not continuous and
s~ does not exist. Source: Mladenova (206)-(213), without the transposes on O' and O'' as in spec E-38b, and with
quasi-velocities as in spec E-39; R-41.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.closed_form import coriolis_matrix, gravity_forces, velocity_forces
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.rigid_links.links import Links
from cayley.errors import SingularityError, UnsupportedError
from cayley.geometry.principal_axes.diagonalization import diagonalizing_rotations

CLOSEST = 1e-9  # principal inertias nearer than this, relative to the largest, count as equal


@dataclass(frozen=True)
class PrincipalAxes:
    """How the principal axes of an inertia matrix (3, 3) stand and move."""

    axes: Array
    """O (3, 3), a rotation; its columns are the axes."""
    inertias: Array
    """The diagonal (3) of Hd = O^T H O."""
    spin: Array
    """O^T O' (3, 3), skew."""
    spin_rate: Array | None = None
    """Its derivative by time (3, 3), skew; if the second derivative of H was given."""

    @property
    def second_rate(self) -> Array:
        """O^T O'' (3, 3)."""
        if self.spin_rate is None:
            raise UnsupportedError(
                "the second rate of the principal axes needs the second derivative of the inertia matrix by time")
        return self.spin_rate + self.spin @ self.spin


@dataclass(frozen=True)
class DecoupledModel:
    """The equations in the principal axes: `inertias` (eta' + spin eta) + `bias` = `forces`."""

    principal: PrincipalAxes
    velocities: Array
    """The quasi-velocities eta = O^T q' (3)."""
    bias: Array
    """O^T h (3)."""
    forces: Array
    """O^T P (3)."""

    @property
    def accelerations(self) -> Array:
        """eta' (3)."""
        return (self.forces - self.bias) / self.principal.inertias - self.principal.spin @ self.velocities

    @property
    def qdd(self) -> Array:
        """The joint accelerations (3): O (eta' + spin eta)."""
        return self.principal.axes @ ((self.forces - self.bias) / self.principal.inertias)


def decoupled_model(H: ArrayLike, dH: ArrayLike, h: ArrayLike, P: ArrayLike, qd: ArrayLike, *,
                    near: Array | None = None) -> DecoupledModel:
    """The model H qdd + h = P (3) with a diagonal inertia matrix; `dH` (3, 3) is the derivative of H by time along
    `qd`.

    Of the 24 rotations that diagonalize H it takes the one nearest to `near` (3, 3), such as the axes of the time step
    before, or else to no rotation. Raises `SingularityError` where principal inertias coincide.

    >>> model = decoupled_model(np.diag([1.0, 2.0, 4.0]), np.zeros((3, 3)), np.zeros(3), np.array([1.0, 1.0, 1.0]),
    ...                         np.zeros(3))
    >>> model.qdd
    array([1.  , 0.5 , 0.25])
    """
    principal = principal_axes_of(H, dH, near=near)
    O = principal.axes
    return DecoupledModel(principal, O.T @ qd, O.T @ h, O.T @ P)


def decoupled_dynamics(links: Links, q: Array, qd: Array, tau: Array, *, near: Array | None = None) -> DecoupledModel:
    """The same for a mechanism with three velocities at the state (`q`, `qd`), moved by the forces `tau`."""
    if links.nv != 3:
        raise UnsupportedError(
            f"rotations diagonalize inertia matrices (3, 3), and {links.name} has {links.nv} velocities")
    C = coriolis_matrix(links, q, qd)
    bias = velocity_forces(links, q, qd) + gravity_forces(links, q)
    return decoupled_model(inertia_matrix(links, q), C + C.T, bias, tau, qd, near=near)


def principal_axes_of(H: ArrayLike, dH: ArrayLike, ddH: Array | None = None, *,
                      near: Array | None = None) -> PrincipalAxes:
    """The principal axes of H (3, 3), and how they move when H changes at the rate `dH`, and that at the rate `ddH`."""
    every = diagonalizing_rotations(H)
    wanted = np.eye(3) if near is None else np.asarray(near)
    nearest = int(np.argmax(np.einsum("kij,ij->k", every.matrix, wanted)))
    O = every.matrix[nearest]
    values = every.values[nearest]
    gaps = values[None, :] - values[:, None] + np.eye(3)
    least = np.abs(gaps[~np.eye(3, dtype=bool)]).min()
    if least <= CLOSEST * np.abs(values).max():
        raise SingularityError(
            f"two of the principal inertias {np.array2string(values, precision=9)} coincide: their axes are not "
            "defined "
            "here, and not continuous along the motion. Pass this state in another way, or use the coupled equations")
    B = O.T @ dH @ O
    spin = _without_diagonal(B) / gaps
    if ddH is None:
        return PrincipalAxes(O, values, spin)
    dB = O.T @ ddH @ O + B @ spin - spin @ B
    dgaps = B.diagonal()[None, :] - B.diagonal()[:, None]
    return PrincipalAxes(O, values, spin, _without_diagonal(dB - spin * dgaps) / gaps)


def forces_by_coordinates(principal: PrincipalAxes, qb: Array, dqb: Array, ddqb: Array, bias: Array) -> Array:
    """O^T P (3) from the coordinates qb = O^T q and their derivatives: Hd (qb'' + 2 O^T O' qb' + O^T O'' qb) + O^T h,
    (212).
    """
    return principal.inertias * (ddqb + 2 * principal.spin @ dqb + principal.second_rate @ qb) + principal.axes.T @ bias


def _without_diagonal(A: Array) -> Array:
    return A - np.diag(A.diagonal())
