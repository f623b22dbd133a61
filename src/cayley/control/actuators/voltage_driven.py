"""The dynamics of an arm from the voltages of its motors, whose inductances are negligible.

    M' qdd + h + g + D' qd = K_hat V
    M' = M + N Jm N        D' = D + N k ke N / R        K_hat = N k / R
D is the friction of the arm, as far as it is included. Source: Yamamoto (6.11)-(6.17), spec S3-40.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array
from cayley.control.actuators.windings import Windings, windings_of
from cayley.control.arms import HasTree, tree_of
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.rigid_links.drives import viscous_frictions
from cayley.kinematics.frame_kernels import sized
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class VoltageDynamics:
    """Made by `voltage_dynamics`; its `tree` includes the rotors."""

    tree: Tree
    windings: Windings

    @property
    def gain(self) -> Array:
        """K_hat (n) [N m/V]."""
        return self.windings.gain

    @property
    def damping(self) -> Array:
        """D' (n) [N m s]: viscous friction, and what induced voltages do."""
        return viscous_frictions(self.tree) + self.windings.induced_damping

    @property
    def rotor_inertia(self) -> Array:
        """N Jm N (n) [kg m^2]."""
        return self.windings.rotor * self.windings.gear**2

    @cached_property
    def inertia_matrix(self) -> Kernel:
        """`inertia_matrix(q)`: M' (..., n, n)."""
        return inertia_matrix_kernel(self.tree)

    @cached_property
    def voltages(self) -> Kernel:
        """`voltages(q, qd, qdd)`: V (..., n) that a motion needs."""
        forces = inverse_dynamics_kernel(self.tree)
        gain = self.gain
        induced = self.windings.induced_damping

        def voltages(q: Array, qd: Array, qdd: Array) -> Array:
            return (forces(q, qd, qdd) + induced * qd) / gain

        return kernel(sized(self.tree, "(q),(v),(v)->(v)"))(voltages)

    @cached_property
    def accelerations(self) -> Kernel:
        """`accelerations(q, qd, V)`: qdd (..., n)."""
        forward = forward_dynamics_kernel(self.tree)
        gain = self.gain
        induced = self.windings.induced_damping

        def accelerations(q: Array, qd: Array, V: Array) -> Array:
            return forward(q, qd, gain * V - induced * qd)

        return kernel(sized(self.tree, "(q),(v),(v)->(v)"))(accelerations)


def voltage_dynamics(arm: Tree | HasTree) -> VoltageDynamics:
    """Of an arm whose drives have windings. The rotors are included; friction is if the arm includes it. As a system it
    is `cy.connect(arm.including("armature"), motors_of(arm))`, which knows inductances, too.

    >>> import cayley as cy
    >>> from cayley.model.winding import Winding
    >>> arm = cy.load("planar2r")
    >>> for joint in arm.joint_names:
    ...     arm = arm.with_drive(joint, inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05))
    >>> driven = voltage_dynamics(arm)
    >>> driven.gain, driven.damping, driven.rotor_inertia
    (array([5., 5.]), array([25., 25.]), array([0.1, 0.1]))
    """
    given = tree_of(arm)
    tree = given.including(*given.included, "armature")
    return VoltageDynamics(tree, windings_of(tree, "dynamics from voltages"))
