"""The operator of Euler and Lagrange, applied to the Lagrangian of a mechanism.

    K, P    kinetic and potential energy, with those of rotors and springs that are included      p    momenta dK/dqd
    N       of the joints whose velocities are no rates of coordinates: a change of the motion has (dq)' = dqd + N dq

    tau = d/dt dK/dqd + N^T p - dK/dq + dP/dq + what friction and dampers take
Nothing is known here of links and recursions but their energies: they are differentiated. Derivatives by q are those
along the velocities. Where velocities are rates N is zero, and the equations are Lagrange's; for floating bases and
ball joints they are those of Poincare. Source: Balafoutis & Patel (A.1)-(A.7).
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links import energies
from cayley.dynamics.rigid_links.drives import drive_forces, rotor_inertias, rotor_velocity_forces
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.dynamics.rigid_links.springs import spring_energy
from cayley.kinematics.frame_kernels import sized_kernel
from cayley.kinematics.jacobians.differentiated_jacobians import on_its_own_variables, task_jacobian
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism
from cayley.model.configuration_space import moving_joints
from cayley.model.tree import Tree
from cayley.showing import brief


class EulerLagrange(NamedTuple):
    """The terms (..., nv) of Lagrange's equations, and their sum `tau`."""

    momentum_rate: Array
    """d/dt dK/dqd."""
    kinetic_slope: Array
    """dK/dq."""
    potential_slope: Array
    """dP/dq, (A.7)."""
    dissipation: Array
    """What overcomes friction and dampers, if they are included: it has no Lagrangian."""

    def __repr__(self) -> str:
        return brief(self)

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
    rotors = rotor_inertias(tree)

    def kinetic(q: Array) -> Scalar:
        return energies.kinetic_energy(links, q, qd) + 0.5 * (rotors * qd) @ qd  # (A.3)

    def potential(q: Array) -> Scalar:
        return energies.potential_energy(links, q) + spring_energy(tree, q)  # (A.4)

    momenta = jacobian(kinetic(q), qd)
    moved = task_jacobian(tree, q, lambda q: jacobian(kinetic(q), qd)) @ qd + jacobian(momenta, qd) @ qdd
    stored = task_jacobian(tree, q, lambda q: spring_energy(tree, q))
    lost = drive_forces(tree, q, qd, qdd) - rotors * qdd - rotor_velocity_forces(tree, qd) - stored
    return EulerLagrange(moved + _turned(tree, qd, momenta), task_jacobian(tree, q, kinetic),
                         task_jacobian(tree, q, potential), lost)


def _turned(tree: Tree, qd: Array, momenta: Array) -> Array:
    """N^T p (nv)."""
    parts = [joint.motion.perturbation_rate(qd[own]).T @ momenta[own] for joint, _, own in moving_joints(tree)]
    return np.concatenate(parts)


@of_a_mechanism
def euler_lagrange_kernel(tree: Tree) -> MechanismKernel[EulerLagrange]:
    """`euler_lagrange(q, qd, qdd)`: `EulerLagrange`; joints that are tied together are refused by name."""
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
