"""The kernels of the parts of tau = M qdd + C qd + G, and of energies and momentum: functions of the state of a
mechanism.

Of a mechanism with constraints they are those of the coordinates of its tree, M qdd + C qd + G = tau + A^T forces.
The bias forces keep the velocities as they are, b = C + G + J^T f, f a wrench that is passed on to the surroundings.
Source: Walker & Orin 1982; Balafoutis & Patel (6.2.3), sign of f as in spec E-17; spec R1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept, kept_with_owner
from cayley.compiler.typing import Array, Scalar, Text
from cayley.dynamics import closed_form
from cayley.dynamics.centroidal import center_of_mass_jacobian, centroidal_bias, centroidal_momentum_matrix
from cayley.dynamics.closed_form import gravity_forces, velocity_forces
from cayley.dynamics.inverse.external_loads import ExternalLoads, loaded_text
from cayley.dynamics.inverse.methods import DEFAULT, METHODS
from cayley.dynamics.inverse.newton_euler import JointLoad, inverse_dynamics
from cayley.dynamics.rigid_links import drives, energies
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.dynamics.rigid_links.methods import check_method
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.explained_calls import with_explained_calls
from cayley.kinematics.frame_kernels import sized, sized_kernel
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, described, of_a_mechanism, of_the_tree, units_of
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree


@with_explained_calls
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


# Energies and momentum


class Quantity(NamedTuple):
    """A quantity of the state: its shapes, text `(tree, links, q, ...)`, sentence for docstrings, and unit."""

    signature: str
    text: Callable[..., Scalar]
    sentence: str
    unit: str = ""


_MOMENTUM = "kg m/s; kg m^2/s"
QUANTITIES = {
    "kinetic_energy": Quantity("(q),(v)->()", lambda tree, links, q, qd: energies.kinetic_energy(links, q, qd) + 0.5 * (
        drives.rotor_inertias(tree) * qd) @ qd, "The kinetic energy.", "J"),
    "potential_energy": Quantity("(q)->()", lambda tree, links, q: energies.potential_energy(links, q)
                                 + drives.spring_energy(tree, q),
                                 "The potential energy of gravity, and of springs.", "J"),
    "center_of_mass": Quantity("(q)->(3)", lambda tree, links, q: energies.center_of_mass(links, q),
                               "The centre of mass of all that moves, in the frame of the root.", "m"),
    "momentum": Quantity("(q),(v)->(6)", lambda tree, links, q, qd: energies.momentum(links, q, qd),
                         "Linear and angular momentum about the root's origin, in its axes.", _MOMENTUM),
    "centroidal_momentum": Quantity(
        "(q),(v)->(6)", lambda tree, links, q, qd: energies.centroidal_momentum(links, q, qd),
        "Linear and angular momentum about the centre of mass, in the axes of the root.", _MOMENTUM),
    "centroidal_momentum_matrix": Quantity(
        "(q)->(6,v)", lambda tree, links, q: centroidal_momentum_matrix(links, q),
        "The centroidal momentum matrix: linear and angular momentum about the centre of mass by the velocities, in "
        "the axes of the root."),
    "centroidal_bias": Quantity(
        "(q),(v)->(6)", lambda tree, links, q, qd: centroidal_bias(links, q, qd),
        "The rate of the centroidal momentum without accelerations, in the axes of the root.", "N; N m"),
    "center_of_mass_jacobian": Quantity(
        "(q)->(3,v)", lambda tree, links, q: center_of_mass_jacobian(links, q),
        "The velocity of the centre of mass by the velocities, in the axes of the root."),
}


@of_a_mechanism
def state_kernel(tree: Tree, name: str) -> MechanismKernel:
    """The kernel of one of `QUANTITIES` by its name."""
    signature, text, sentence, unit = QUANTITIES[name]
    links = _links_of_state(tree)
    moving = signature.startswith("(q),(v)")
    of_state: Text = (lambda q, qd: text(tree, links, q, qd)) if moving else (lambda q: text(tree, links, q))
    return sized_kernel(tree, signature, of_state, name, sentence=sentence, unit=unit)


kinetic_energy_kernel = partial(state_kernel, name="kinetic_energy")


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


def bias_forces(links: Links, q: Array, qd: Array, *, loads: Iterable[tuple[int, JointLoad]] = ()) -> Array:
    """b (nv) in one sweep. `loads`: links and what acts on them from outside, at their origins and in their axes.

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> bias_forces(serial_chain(load_robot("s1_g1")), np.array([0.3, -0.7]), np.array([0.5, 1.2])).round(10)
    array([29.87143322,  5.32473236])
    """
    return inverse_dynamics(links, q, qd, np.zeros(links.nv), loads=loads)


def bias_parts(links: Links, q: Array, qd: Array, *, loads: Iterable[tuple[int, JointLoad]] = ()) -> Bias:
    """C, G and J^T f, each by itself."""
    rest = np.zeros(links.nv)
    external = inverse_dynamics(replace(links, gravity=np.zeros(3)), q, rest, rest, loads=loads)
    return Bias(velocity_forces(links, q, qd), gravity_forces(links, q), external)


@kept_with_owner
def balance_kernel(tree: Tree) -> Kernel:
    """`balance(q, qd)`: kinetic energy, potential energy and centroidal momentum. The energy of included rotors and
    springs counts."""
    links = links_of(tree.spanning_tree())  # constraints do no work and store no energy
    rotors = drives.rotor_inertias(tree)

    def text(q: Array, qd: Array) -> tuple[Scalar, Scalar, Array]:
        about_center = energies.centroidal_momentum(links, q, qd) if energies.total_mass(links) else np.zeros(6)
        kinetic = energies.kinetic_energy(links, q, qd) + (rotors * qd) @ qd / 2
        potential = energies.potential_energy(links, q) + drives.spring_energy(tree, q)
        return kinetic, potential + 0.0 * q.sum(), about_center + 0.0 * q.sum()

    return sized_kernel(tree, "(q),(v)->(),(),(6)", text, "balance")


def floats(tree: Tree) -> bool:
    """True if the whole mechanism hangs on one floating joint, and no loop or rod ties it to the root, so that only
    gravity and wrenches change its momentum."""
    if any(tree.body_number(tree.frame(end).body) == 0 for each in constraints_of(tree) for end in each.frames):
        return False
    at_root = [joint for joint, parent in zip(tree.joints, tree.parents, strict=True) if parent == 0]
    return len(at_root) == 1 and at_root[0].motion.free


def momentum_drift(tree: Tree, t: Array, q: Array, qd: Array) -> Array:
    """Momentum about the root's origin, a fixed point, less the impulse of gravity, less what it was at the start (...,
    samples, 6).

    The centre of mass falls freely, c + v t + g t^2 / 2, so the moment of gravity about the origin has the impulse m (c
    t + v t^2 / 2) x g."""
    found, center = _momentum_kernel(tree)(q, qd)
    mass = energies.total_mass(links_of(tree.spanning_tree()))
    g = tree.gravity
    since = (t - t[..., :1])[..., None]
    c = center[..., :1, :]
    v = found[..., :1, :3] / mass
    impulse = np.concatenate([mass * since * g + 0.0 * c, mass * np.cross(c * since + v * since**2 / 2, g)], axis=-1)
    return found - impulse - found[..., :1, :]


@kept_with_owner
def _momentum_kernel(tree: Tree) -> Kernel:
    """`momentum(q, qd)`: momentum (6) about the root's origin, and the centre of mass (3), in the root's axes."""
    links = links_of(tree.spanning_tree())
    return sized_kernel(tree, "(q),(v)->(6),(3)", lambda q, qd: (
        energies.momentum(links, q, qd), energies.center_of_mass(links, q)), "momentum")
