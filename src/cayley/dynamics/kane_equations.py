"""Kane's equations of a mechanism, in any generalised speeds, and the operator of Euler and Lagrange on its Lagrangian.

    u = Y(q) qd               generalised speeds, as many as velocities; Z = Y^-1
    w_r, v_r                  partial angular velocity of a link, and partial velocity of its centre of mass: what a
                              unit of speed r gives it, columns of T Z with the twist map T
    F_r  = sum (v_r . m g) + (Z^T tau)_r                        generalised active force, with springs and friction
    F*_r = -sum (v_r . m a + w_r . (I wd + w x I w))            generalised inertia force, with rotors
    F_r + F*_r = 0                                              constraint forces never appear
Source: Kane 1961; Balafoutis & Patel, section 5.2.3, after which (5.2.36), (5.2.37) are the case Y = 1.

    tau = d/dt dK/dqd + N^T p - dK/dq + dP/dq + what friction and dampers take         p = dK/dqd
The energies are differentiated, by q along the velocities. N is zero where velocities are rates of coordinates;
elsewhere a change of the motion has (dq)' = dqd + N dq (Poincare). Source: Balafoutis & Patel (A.1)-(A.7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.definite import is_definite, only_where
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.solving.rounding import relative_rank
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.inertia_matrix.orthogonal_complement import extended_masses, twist_map
from cayley.dynamics.inverse.newton_euler import movements, own_load
from cayley.dynamics.rigid_links import drives, energies
from cayley.dynamics.rigid_links.energies import link_poses
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.errors import ConventionError, SingularityError, UnsupportedError, shown
from cayley.kinematics.frame_kernels import sized, sized_kernel
from cayley.kinematics.jacobians.general_jacobian import on_its_own_variables, task_jacobian
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism
from cayley.model.configuration_space import moving_joints
from cayley.model.tree import Tree
from cayley.showing import shown_briefly

Speeds = Callable[[Array], Any]


class PartialVelocities(NamedTuple):
    """For each speed and each link the partial angular velocity (..., nv, links, 3), and the partial velocity of its
    centre of mass, in the root's axes."""

    angular: Array
    linear: Array


@dataclass(frozen=True, eq=False)
class KaneEquations:
    """Kernels of the configuration q, of speeds u, their rates ud, and of joint forces tau."""

    tree: Tree
    speeds: Speeds
    links: Links

    @cached_property
    def speeds_of(self) -> Kernel:
        """`(q, qd)` -> u (..., nv)."""
        return self._kernel("(q),(v)->(v)", lambda q, qd: self._matrix(q) @ qd, "speeds_of", ("q", "qd"))

    @cached_property
    def velocities(self) -> Kernel:
        """`(q, u)` -> qd (..., nv)."""
        return self._kernel("(q),(v)->(v)", lambda q, u: self._inverse(q) @ u, "velocities", ("q", "u"))

    @cached_property
    def partial_velocities(self) -> Kernel[PartialVelocities]:
        """`(q)` -> `angular`, `linear` (..., nv, links, 3); `links` are named in `link_names`."""
        def text(q: Array) -> PartialVelocities:
            found = np.reshape((twist_map(self.links, q) @ self._inverse(q)).T, (self.tree.nv, -1, 2, 3))
            return PartialVelocities(found[:, :, 0], found[:, :, 1])

        n = len(self.links.links)
        return self._kernel(f"(q)->(v,{n},3),(v,{n},3)", text, "partial_velocities", ("q",), PartialVelocities._fields)

    @property
    def link_names(self) -> tuple[str, ...]:
        """The joints that move the links."""
        return tuple(link.name for link in self.links.links)

    @cached_property
    def active_forces(self) -> Kernel:
        """`(q, u, tau)` -> F (..., nv)."""
        return self._kernel("(q),(v),(v)->(v)", self._active, "active_forces", ("q", "u", "tau"))

    @cached_property
    def inertia_forces(self) -> Kernel:
        """`(q, u, ud)` -> F* (..., nv)."""
        return self._kernel("(q),(v),(v)->(v)", self._inertial, "inertia_forces", ("q", "u", "ud"))

    @cached_property
    def joint_forces(self) -> Kernel:
        """`(q, u, ud)` -> tau (..., nv), with which F + F* = 0."""
        def text(q: Array, u: Array, ud: Array) -> Array:
            return -(self._matrix(q).T @ (self._active(q, u, np.zeros(self.tree.nv)) + self._inertial(q, u, ud)))

        return self._kernel("(q),(v),(v)->(v)", text, "joint_forces", ("q", "u", "ud"))

    @cached_property
    def rates(self) -> Kernel:
        """`(q, u, tau)` -> ud (..., nv), with which F + F* = 0; `SingularityError` where nothing has inertia. Dry
        friction, which holds joints at rest, is refused."""
        if drives.coulomb_frictions(self.tree).any():
            raise UnsupportedError(f"{self.tree.name} includes dry friction, which holds joints at rest: rates of "
                                   "speeds do not know it. Call forward_dynamics, or leave friction out")

        def text(q: Array, u: Array, tau: Array) -> Array:
            Z = self._inverse(q)
            T = twist_map(self.links, q) @ Z
            moved = [M @ T[6 * k:6 * k + 6] for k, M in enumerate(extended_masses(self.links, q))]
            M = T.T @ np.concatenate(moved) + Z.T @ np.diag(drives.rotor_inertias(self.tree)) @ Z
            left = self._active(q, u, tau) + self._inertial(q, u, np.zeros(self.tree.nv))
            return only_where(is_definite(M), ldl_solve(M, left))

        return self._kernel("(q),(v),(v)->(v)", text, "rates", ("q", "u", "tau"))

    def _matrix(self, q: Array) -> Array:
        """Y (nv, nv)."""
        rows = [np.stack([np.asarray(entry) for entry in row]) for row in self.speeds(q)]
        if len(rows) != self.tree.nv or any(row.shape != (self.tree.nv,) for row in rows):
            raise ConventionError(f"generalised speeds of {self.tree.name} are u = Y(q) qd with Y ({self.tree.nv}, "
                                  f"{self.tree.nv}), and this one has rows {[len(row) for row in rows]}")
        return wrapped(np.stack(rows))

    def _inverse(self, q: Array) -> Array:
        Y = self._matrix(q)
        return only_where(is_definite(Y @ Y.T), np.linalg.solve(Y, np.eye(len(Y))))

    def _active(self, q: Array, u: Array, tau: Array) -> Array:
        Z = self._inverse(q)
        weights = [np.concatenate([np.zeros(3), link.moments.mass * self.links.gravity]) for link in self.links.links]
        pulled = twist_map(self.links, q).T @ np.concatenate(weights)
        return Z.T @ (pulled + tau - drives.passive_forces(self.tree, q, Z @ u))

    def _inertial(self, q: Array, u: Array, ud: Array) -> Array:
        Z = self._inverse(q)
        qd = Z @ u
        qdd = Z @ (ud - task_jacobian(self.tree, q, self._matrix) @ qd @ qd)
        afloat = replace(self.links, gravity=np.zeros(3))
        needed = []
        for link, moved, (R, _) in zip(self.links.links, movements(afloat, q, qd, qdd), link_poses(self.links, q),
                                       strict=True):
            f, n = own_load(link, moved)
            needed += [R @ (n - np.cross(link.moments.center, f)), R @ f]
        driven = drives.drive_forces(self.tree, q, qd, qdd) - drives.passive_forces(self.tree, q, qd)
        return -(Z.T @ (twist_map(self.links, q).T @ np.concatenate(needed) + driven))

    def _kernel(self, signature: str, text: Callable[..., Any], name: str, inputs: tuple[str, ...],
                outputs: tuple[str, ...] | None = None) -> Kernel[Any]:
        return kernel(sized(self.tree, signature), name=name, inputs=inputs, outputs=outputs,
                      explain=self._explain)(text)

    def _explain(self, *state: Array) -> None:
        raise SingularityError(f"the generalised speeds of {self.tree.name} depend on each other here, "
                               "where Y(q) is singular; or one of them moves no inertia")


def kane_equations(tree: Tree, speeds: Speeds | ArrayLike | None = None) -> KaneEquations:
    """Kane's equations of a tree. `speeds`: Y (nv, nv), constant or a function of q that can be traced. By default the
    generalised speeds are the velocities of the joints. Coupled joints raise an error that names them.

    >>> from cayley.model.catalogue import load_robot
    >>> absolute = kane_equations(load_robot("s1_f2"), [[1.0, 0.0], [1.0, 1.0]])  # angular velocities of the links
    >>> absolute.partial_velocities([0.3, -0.7]).angular[:, :, 2]
    array([[1., 0.],
           [0., 1.]])
    """
    if not tree.nv:
        raise ConventionError(f"{tree.name} has no joint that moves, and so no generalised speeds")
    links = links_of(tree)
    if callable(speeds):
        return KaneEquations(tree, speeds, links)
    Y = np.eye(tree.nv) if speeds is None else _numbers(tree, speeds)
    _check_constant(tree, Y)
    return KaneEquations(tree, lambda q: Y, links)


def _numbers(tree: Tree, speeds: ArrayLike) -> Array:
    try:
        return np.asarray(speeds, dtype=float)
    except (TypeError, ValueError):
        raise ConventionError(f"generalised speeds of {tree.name} must be a matrix Y ({tree.nv}, {tree.nv}) of "
                              f"numbers, or a function of q, not {shown(speeds)}") from None


def _check_constant(tree: Tree, Y: Array) -> None:
    n = tree.nv
    if Y.shape != (n, n) or not np.isfinite(Y).all():
        raise ConventionError(f"generalised speeds of {tree.name} must be u = Y qd with finite numbers Y ({n}, {n}), "
                              f"not {Y.shape}{'' if np.isfinite(Y).all() else ' with NaN or infinity'}")
    lengths = np.linalg.norm(Y, axis=1, keepdims=True)  # speeds have units of their own
    if not lengths.all() or relative_rank(Y / lengths, exact=True) < n:
        raise SingularityError(f"the generalised speeds of {tree.name} depend on each other: Y is singular")


@shown_briefly
class EulerLagrange(NamedTuple):
    """The terms (..., nv) of Lagrange's equations, and their sum `tau`."""

    momentum_rate: Array
    """d/dt dK/dqd."""
    kinetic_slope: Array
    """dK/dq."""
    potential_slope: Array
    """dP/dq, (A.7)."""
    dissipation: Array
    """Forces that overcome friction and dampers, if they are included: they have no Lagrangian."""

    @property
    def kinetic(self) -> Array:
        """The first part of (A.5), d/dt dK/dqd - dK/dq, (A.6)."""
        return self.momentum_rate - self.kinetic_slope

    @property
    def tau(self) -> Array:
        """The joint torques and forces, (A.2), (A.5)."""
        return self.kinetic + self.potential_slope + self.dissipation


def euler_lagrange(tree: Tree, links: Links, q: Array, qd: Array, qdd: Array) -> EulerLagrange:
    """The text; q and qd are variables of a trace."""
    rotors = drives.rotor_inertias(tree)

    def kinetic(q: Array) -> Scalar:
        return energies.kinetic_energy(links, q, qd) + 0.5 * (rotors * qd) @ qd  # (A.3)

    def potential(q: Array) -> Scalar:
        return energies.potential_energy(links, q) + drives.spring_energy(tree, q)  # (A.4)

    momenta = jacobian(kinetic(q), qd)
    moved = task_jacobian(tree, q, lambda q: jacobian(kinetic(q), qd)) @ qd + jacobian(momenta, qd) @ qdd
    stored = task_jacobian(tree, q, lambda q: drives.spring_energy(tree, q))
    lost = drives.drive_forces(tree, q, qd, qdd) - rotors * qdd - drives.rotor_velocity_forces(tree, qd) - stored
    return EulerLagrange(moved + _turned(tree, qd, momenta), task_jacobian(tree, q, kinetic),
                         task_jacobian(tree, q, potential), lost)


def _turned(tree: Tree, qd: Array, momenta: Array) -> Array:
    """N^T p (nv)."""
    parts = [joint.motion.perturbation_rate(qd[own]).T @ momenta[own] for joint, _, own in moving_joints(tree)]
    return np.concatenate(parts)


@of_a_mechanism
def euler_lagrange_kernel(tree: Tree) -> MechanismKernel[EulerLagrange]:
    """`euler_lagrange(q, qd, qdd)`: `EulerLagrange`; coupled joints raise an error that names them."""
    links = links_of(tree)

    def terms(q: Array, qd: Array, qdd: Array) -> Array:
        return np.stack(euler_lagrange(tree, links, q, qd, qdd))

    def text(q: Array, qd: Array, qdd: Array) -> EulerLagrange:
        return EulerLagrange(*(on_its_own_variables(terms, (4, tree.nv), q, qd, qdd, inside=links.has_symbols)
                               if tree.nv else np.zeros((4, 0))))

    made = sized_kernel(tree, "(q),(v),(v)->(v),(v),(v),(v)", text, "euler_lagrange",
                        sentence="The terms of Lagrange's equations: rates of momenta, slopes of the kinetic and of "
                        "the potential energy, dissipation.")
    return cast("MechanismKernel[EulerLagrange]", made)
