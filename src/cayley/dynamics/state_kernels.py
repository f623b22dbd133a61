"""The kernels of the parts of tau = M qdd + C qd + G, and of energies and momentum: functions of the state of a
mechanism.

Of a mechanism with constraints they are those of the coordinates of its tree, M qdd + C qd + G = tau + A^T forces, as
its energies and momentum are: functions of (q, qd), whatever ties the joints together.

The bias forces of trees with joints of every kind: the joint forces that keep the velocities as they are, b = C + G
+ J^T f.

    C   Coriolis and centrifugal forces, quadratic in the velocities
    G   what holds the links against gravity
    J^T f   what passes a wrench f on to the surroundings; a wrench that acts on the robot is -f, and pushes the other
            way
The accelerations are zeros from the start, so that a compiled or counted text spends nothing on them. Source: Walker &
Orin 1982; Balafoutis & Patel (6.2.3), sign of f as in spec E-17; spec R1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.dynamics import closed_form
from cayley.dynamics.closed_form import gravity_forces, velocity_forces
from cayley.dynamics.inverse.external_loads import ExternalLoads, loaded_text
from cayley.dynamics.inverse.methods import DEFAULT, METHODS
from cayley.dynamics.inverse.newton_euler import Load, inverse_dynamics
from cayley.dynamics.rigid_links import drives, energies
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.dynamics.rigid_links.methods import check_method
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.kinematics.frame_kernels import sized, sized_kernel
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, described, of_a_mechanism, of_the_tree, units_of
from cayley.model.tree import Tree


class BiasForces(MechanismKernel):
    """`bias_forces(q, qd)`: the forces (..., nv) that the state (`q`, `qd`) takes without acceleration."""

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body",
                    base_motion: bool = False, method: str = DEFAULT) -> MechanismKernel:
        """The kernel with more inputs: wrenches and the motion of the base, as in inverse dynamics, by any of its
        methods. The inertia matrix is the same whatever they are.

        >>> arm = cy.load("planar2r")
        >>> by = arm.bias_forces.with_inputs(wrenches=["tool"], method="kane")
        >>> by([0.3, 0.4], [0.1, 0.2], [1.0, 2.0, 0.0, 0.0, 0.0, 0.5]).round(9).tolist()
        [11.54530107, 0.951514685]
        """
        check_method("bias_forces", method, METHODS)
        return _bias(self.tree, ExternalLoads(tuple(wrenches), axes, base_motion), method, MechanismKernel)

    def __reduce__(self) -> tuple[Callable[[Tree], BiasForces], tuple[Tree]]:
        """Pickled as the tree and the function that makes it."""
        return bias_forces_kernel, (self.tree,)


def bias_forces_kernel(tree: Tree) -> BiasForces:
    """`bias_forces(q, qd)` (..., nv)."""
    return _bias(tree, ExternalLoads(), DEFAULT, BiasForces)


@of_a_mechanism
def _bias(tree: Tree, external: ExternalLoads, method: str, kind: type[Made]) -> Made:
    loaded = loaded_text(tree.spanning_tree(), external, method)

    def text(q: Array, qd: Array, *more: Array) -> Array:
        needed = loaded(q, qd, np.zeros(tree.nv), more)
        return needed + drives.rotor_velocity_forces(tree, qd) + drives.passive_forces(tree, q, qd)

    described(tree, text, "Nonlinear effects: Coriolis, centrifugal, gravity, friction and spring forces.",
              " ".join(filter(None, [external.words, of_the_tree(tree)])))
    return kernel(sized(tree, f"(q),(v){external.shapes}->(v)"), name="bias_forces",
                  inputs=("q", "qd", *external.names), units=units_of(tree) | {"out": units_of(tree)["tau"]},
                  kind=kind)(text)


@of_a_mechanism
def coriolis_matrix_kernel(tree: Tree) -> MechanismKernel:
    """`coriolis_matrix(q, qd)` (..., nv, nv)."""
    links = _links_of_state(tree)

    def text(q: Array, qd: Array) -> Array:
        return closed_form.coriolis_matrix(links, q, qd) + drives.rotor_coriolis_matrix(tree, qd)

    return sized_kernel(tree, "(q),(v)->(v,v)", text, "coriolis_matrix",
                        sentence="The Coriolis matrix C(q, qd), with Christoffel's coefficients. "
                        f"{of_the_tree(tree)}".rstrip())


@of_a_mechanism
def gravity_forces_kernel(tree: Tree) -> MechanismKernel:
    """`gravity_forces(q)` (..., nv)."""
    links = _grouped_links_of_state(tree)
    rest = np.zeros(tree.nv)
    return sized_kernel(tree, "(q)->(v)", lambda q: inverse_dynamics(links, q, rest, rest), "gravity_forces",
                        sentence="Gravity compensation: the joint forces that hold the mechanism at rest. "
                        f"{of_the_tree(tree)}".rstrip(), unit="tau")


@of_a_mechanism
def kinetic_energy_kernel(tree: Tree) -> MechanismKernel:
    """`kinetic_energy(q, qd)` (...)."""
    links = _links_of_state(tree)
    rotors = drives.rotor_inertias(tree)

    def text(q: Array, qd: Array) -> Array:
        return energies.kinetic_energy(links, q, qd) + 0.5 * (rotors * qd) @ qd

    return sized_kernel(tree, "(q),(v)->()", text, "kinetic_energy", sentence="The kinetic energy.", unit="J")


@of_a_mechanism
def potential_energy_kernel(tree: Tree) -> MechanismKernel:
    """`potential_energy(q)` (...)."""
    links = _links_of_state(tree)
    return sized_kernel(tree, "(q)->()", lambda q: energies.potential_energy(links, q) + drives.spring_energy(tree, q),
                        "potential_energy", sentence="The potential energy of gravity, and of springs.", unit="J")


@of_a_mechanism
def center_of_mass_kernel(tree: Tree) -> MechanismKernel:
    """`center_of_mass(q)` (..., 3)."""
    links = _links_of_state(tree)
    return sized_kernel(tree, "(q)->(3)", lambda q: energies.center_of_mass(links, q), "center_of_mass",
                        sentence="The centre of mass of all that moves, in the frame of the root.", unit="m")


@of_a_mechanism
def momentum_kernel(tree: Tree) -> MechanismKernel:
    """`momentum(q, qd)` (..., 6)."""
    links = _links_of_state(tree)
    return sized_kernel(tree, "(q),(v)->(6)", lambda q, qd: energies.momentum(links, q, qd), "momentum",
                        sentence="Linear and angular momentum about the root's origin, in its axes.",
                        unit="kg m/s; kg m^2/s")


def _links_of_state(tree: Tree) -> Links:
    return kept(tree, "links of the spanning tree", lambda: links_of(tree.spanning_tree()))


def _grouped_links_of_state(tree: Tree) -> Links:
    return minimal_links(tree.spanning_tree())


class Bias(NamedTuple):
    """The parts (nv) of the bias forces."""

    velocity: Array  # C
    gravity: Array  # G
    external: Array  # J^T f

    @property
    def total(self) -> Array:
        return self.velocity + self.gravity + self.external  # (6.2.3)


def bias_forces(links: Links, q: Array, qd: Array, *, loads: Iterable[tuple[int, Load]] = ()) -> Array:
    """b (nv) in one sweep. `loads`: links and what acts on them from outside, at their origins and in their axes.

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> bias_forces(serial_chain(load_robot("s1_g1")), np.array([0.3, -0.7]), np.array([0.5, 1.2])).round(10)
    array([29.87143322,  5.32473236])
    """
    return inverse_dynamics(links, q, qd, np.zeros(links.nv), loads=loads)


def bias_parts(links: Links, q: Array, qd: Array, *, loads: Iterable[tuple[int, Load]] = ()) -> Bias:
    """C, G and J^T f, each by itself."""
    rest = np.zeros(links.nv)
    external = inverse_dynamics(replace(links, gravity=np.zeros(3)), q, rest, rest, loads=loads)
    return Bias(velocity_forces(links, q, qd), gravity_forces(links, q), external)
