"""The equations of motion of a mechanism with a diagonal inertia matrix: H qdd + h = P, turned.

    O     rotation with O^T H O diagonal         s   the rate of O in its own axes: O' = O s~, s~ skew
    eta   quasi-velocities O^T q'                qb  coordinates O^T q
Quasi-velocities give explicit equations:  Hd (eta' + s~ eta) + O^T h = O^T P,  q' = O eta, for any number of degrees of
freedom. Coordinates do not, as O'' contains q'': Hd (qb'' + 2 s~ qb' + O^T O'' qb) + O^T h = O^T P. Where principal
inertias coincide see `principal_axes`. Of joints that turn and joints that slide together, H has several units: its
principal axes belong to radians and metres, and are others for other units. Source: Mladenova (206)-(213), without the
transposes on O' and O'' as in spec E-38b, and with quasi-velocities as in spec E-39; R-41, S0-86.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.forward.principal_axes import PrincipalAxes, principal_axes_of
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.rigid_links.drives import coulomb_frictions
from cayley.dynamics.state_kernels import bias_forces_kernel, coriolis_matrix_kernel
from cayley.errors import SignatureError, SingularityError, UnsupportedError
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.showing import brief


@dataclass(frozen=True)
class DecoupledModel:
    """The equations in the principal axes: `inertias` (eta' + spin eta) + `bias` = `forces`."""

    principal: PrincipalAxes
    velocities: Array
    """The quasi-velocities eta = O^T q' (n)."""
    bias: Array
    """O^T h (n)."""
    forces: Array
    """O^T P (n)."""

    __repr__ = brief

    @property
    def accelerations(self) -> Array:
        """eta' (n)."""
        return (self.forces - self.bias) / self.principal.inertias - self.principal.spin @ self.velocities

    @property
    def qdd(self) -> Array:
        """The joint accelerations (n): O (eta' + spin eta)."""
        return self.principal.axes @ ((self.forces - self.bias) / self.principal.inertias)

    def forces_for(self, accelerations: ArrayLike) -> Array:
        """The joint forces (n) that give the quasi-velocities these rates eta' (n): each is driven by itself."""
        turned = np.asarray(accelerations) + self.principal.spin @ self.velocities
        return self.principal.axes @ (self.principal.inertias * turned + self.bias)


def decoupled_model(H: ArrayLike, dH: ArrayLike, h: ArrayLike, P: ArrayLike, qd: ArrayLike, *,
                    near: Array | None = None, carried: bool = False) -> DecoupledModel:
    """The model H qdd + h = P (n) with a diagonal inertia matrix; `dH` (n, n) is the derivative of H by time along
    `qd`.

    The axes are those nearest to `near` (n, n), such as the axes of the time step before, or else to no rotation.
    `SingularityError` where principal inertias coincide, unless their axes are `carried`, and where one is not
    positive: a motion that moves no mass.

    >>> model = decoupled_model(np.diag([1.0, 2.0, 4.0]), np.zeros((3, 3)), np.zeros(3), np.array([1.0, 1.0, 1.0]),
    ...                         np.zeros(3))
    >>> model.qdd
    array([1.  , 0.5 , 0.25])
    """
    principal = principal_axes_of(H, dH, near=near, carried=carried)
    least = principal.inertias.min(initial=np.inf)
    if not least > 0:
        raise SingularityError(f"a principal inertia of the mass matrix is {least:.3g}: along its axis no mass moves")
    O = principal.axes
    return DecoupledModel(principal, O.T @ qd, O.T @ h, O.T @ P)


def decoupled_dynamics(tree: Tree, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
                       near: Array | None = None) -> DecoupledModel:
    """The same for a mechanism at one state (`q`, `qd`), moved by the forces `tau`, with its drives as far as they are
    included; axes of inertias that coincide are carried. Joints that are tied together are refused by name.

    >>> from cayley.model.catalogue import load_robot
    >>> model = decoupled_dynamics(load_robot("s3_w08"), [0.4, 0.15, -0.7, 1.1], [0.5, -0.3, 0.8, -1.2], np.zeros(4))
    >>> model.principal.inertias.round(4)
    array([1.15  , 4.802 , 0.0603, 0.0112])
    """
    check_independent(tree, "decoupled dynamics")
    inertia_matrix, coriolis_matrix, bias_forces = kept(
        tree, "kernels of decoupled dynamics",
        lambda: (inertia_matrix_kernel(tree), coriolis_matrix_kernel(tree), bias_forces_kernel(tree)))
    if np.shape(q) != (tree.nq,) or np.shape(qd) != (tree.nv,) or np.shape(tau) != (tree.nv,):
        raise SignatureError(f"decoupled dynamics are of one state of {tree.name}: q ({tree.nq}), qd and tau "
                             f"({tree.nv}), not {np.shape(q)}, {np.shape(qd)} and {np.shape(tau)}")
    if coulomb_frictions(tree)[np.asarray(qd) == 0].any():
        raise UnsupportedError(f"{tree.name} includes dry friction, and a joint that has it is at rest: what it holds "
                               "is no number of the state. Call forward_dynamics, or leave friction out")
    C = coriolis_matrix(q, qd)
    return decoupled_model(inertia_matrix(q), C + C.T, bias_forces(q, qd), tau, qd, near=near, carried=True)


def forces_by_coordinates(principal: PrincipalAxes, qb: Array, dqb: Array, ddqb: Array, bias: Array) -> Array:
    """O^T P (n) from the coordinates qb = O^T q and their derivatives: Hd (qb'' + 2 O^T O' qb' + O^T O'' qb) + O^T h,
    (212).
    """
    return principal.inertias * (ddqb + 2 * principal.spin @ dqb + principal.second_rate @ qb) + principal.axes.T @ bias
