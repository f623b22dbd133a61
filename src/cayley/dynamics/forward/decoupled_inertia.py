"""The equations of motion of a mechanism with a diagonal inertia matrix: H qdd + h = P, turned.

    O     rotation with O^T H O = Hd diagonal: the principal axes, in closed form for (3, 3), by LAPACK for others
    s     the rate of O in its own axes: O' = O s~,  s_ij = (O^T H' O)_ij / (h_j - h_i), h the principal inertias
    eta   quasi-velocities O^T q'                qb  coordinates O^T q
Quasi-velocities give explicit equations:  Hd (eta' + s~ eta) + O^T h = O^T P,  q' = O eta. Coordinates do not, as O''
contains q'': Hd (qb'' + 2 s~ qb' + O^T O'' qb) + O^T h = O^T P. The axes are ordered and signed as those that are given
as `near`, so that they follow a motion. Where principal inertias coincide the axes are not determined, and where they
cross O is not continuous: an error, or, `carried`, axes of one inertia are those nearest to `near` in their common
plane, and do not turn in it, which is all that quasi-velocities need. Of joints that turn and joints that slide
together, the principal axes belong to radians and metres. Source: Mladenova 5.2-5.5, (206)-(213), without the
transposes on O' and O'' as in spec E-38b, and with quasi-velocities as in spec E-39; R-41, S0-86."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.rigid_links.drives import coulomb_frictions
from cayley.dynamics.state_kernels import bias_forces_kernel, coriolis_matrix_kernel
from cayley.errors import SignatureError, SingularityError, UnsupportedError
from cayley.geometry.principal_axes.diagonalization import diagonalizing_rotations
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.showing import brief

CLOSEST = 1e-9  # principal inertias nearer than this, relative to the largest, are refused
SAME = 1e-12  # and nearer than this, they are the same


@dataclass(frozen=True)
class PrincipalAxes:
    """The principal axes of an inertia matrix (n, n) and their motion."""

    axes: Array
    """O (n, n), a rotation; its columns are the axes."""
    inertias: Array
    """The diagonal (n) of Hd = O^T H O."""
    spin: Array
    """O^T O' (n, n), skew."""
    spin_rate: Array | None = None
    """Its derivative by time (n, n), skew; if the second derivative of H was given."""

    @property
    def second_rate(self) -> Array:
        """O^T O'' (n, n)."""
        if self.spin_rate is None:
            raise UnsupportedError(
                "the second rate of the principal axes needs the second derivative of the inertia matrix by time")
        return self.spin_rate + self.spin @ self.spin


def principal_axes_of(H: ArrayLike, dH: ArrayLike, ddH: Array | None = None, *, near: Array | None = None,
                      carried: bool = False) -> PrincipalAxes:
    """The principal axes of H (n, n), and how they move when H changes at the rate `dH`, and that at the rate `ddH`.

    `carried`: inertias that coincide share their axes, as above; otherwise `SingularityError`.

    >>> found = principal_axes_of(np.diag([1.0, 2.0, 2.0, 5.0]), np.ones((4, 4)), carried=True)
    >>> found.inertias, found.spin[1]
    (array([1., 2., 2., 5.]), array([-1.        ,  0.        ,  0.        ,  0.33333333]))
    """
    given = np.asarray(H, dtype=float)
    wanted = np.eye(len(given)) if near is None else np.asarray(near, dtype=float)
    if wanted.shape != given.shape or not np.isfinite(wanted).all():
        raise SignatureError(f"axes to follow are finite numbers {given.shape}, such as the axes of the instant "
                             f"before, and near is {wanted}")
    ordered = np.linalg.eigvalsh(given)
    if same_as_before(ordered, CLOSEST).any() and not carried:
        raise SingularityError(
            f"two of the principal inertias {np.array2string(ordered, precision=9)} coincide: their axes are not "
            "defined here, and not continuous along the motion. Pass this state in another way, or use the coupled "
            "equations")
    equal = same_as_before(ordered)
    O = _closed_form(given, wanted) if len(given) == 3 and not equal.any() else _following(given, wanted)
    values = np.diag(O.T @ given @ O)
    gaps = values[None, :] - values[:, None]
    apart = np.abs(gaps) > SAME * np.abs(values).max(initial=0.0)
    gaps = np.where(apart, gaps, 1.0)
    B = O.T @ dH @ O
    spin = np.where(apart, B, 0.0) / gaps
    if ddH is None:
        return PrincipalAxes(O, values, spin)
    if equal.any():
        raise UnsupportedError("the second rate of principal axes is not determined where inertias coincide")
    dB = O.T @ ddH @ O + B @ spin - spin @ B
    dgaps = B.diagonal()[None, :] - B.diagonal()[:, None]
    return PrincipalAxes(O, values, spin, np.where(apart, dB - spin * dgaps, 0.0) / gaps)


def same_as_before(ordered: Array, within: float = SAME) -> Array:
    """Flags (n - 1) of ordered inertias (n), from the second on, that equal those before them."""
    return np.diff(ordered) <= within * np.abs(ordered).max(initial=0.0)


def _closed_form(H: Array, near: Array) -> Array:
    """The nearest of the 24 rotations that diagonalize H (3, 3)."""
    every = diagonalizing_rotations(H)
    return every.matrix[int(np.argmax(np.einsum("kij,ij->k", every.matrix, near)))]


def _following(H: Array, near: Array) -> Array:
    """Axes (n, n) of H, each in the place and with the sign of the one of `near` that it follows; those of one inertia
    as near as their common plane lets them."""
    from scipy.optimize import linear_sum_assignment  # which nothing else here needs
    values, V = np.linalg.eigh(H)
    planes = np.split(np.arange(len(values)), np.flatnonzero(~same_as_before(values)) + 1)
    share = np.empty_like(V)
    for plane in planes:
        share[plane] = np.sum((V[:, plane].T @ near)**2, axis=0)
    places = linear_sum_assignment(-share)[1]
    O = np.empty_like(V)
    for plane in planes:
        U, _, W = np.linalg.svd(V[:, plane].T @ near[:, places[plane]])
        O[:, places[plane]] = V[:, plane] @ U @ W
    if np.linalg.det(O) < 0:
        O[:, int(np.argmin(np.abs(np.sum(O * near, axis=0))))] *= -1.0
    return O


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
    included; axes of inertias that coincide are carried. Coupled joints raise an error that names them.

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
        raise UnsupportedError(f"{tree.name} includes dry friction, and a joint that has it is at rest, where the "
                               f"friction force does not follow from the state. Call forward_dynamics, or leave "
                               f"friction out")
    C = coriolis_matrix(q, qd)
    return decoupled_model(inertia_matrix(q), C + C.T, bias_forces(q, qd), tau, qd, near=near, carried=True)
