"""Energy and momentum along trajectories, and how far they are from what forces and gravity account for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.drives import rotor_inertias, spring_energy
from cayley.dynamics.rigid_links.energies import (
    center_of_mass,
    centroidal_momentum,
    kinetic_energy,
    momentum,
    potential_energy,
    total_mass,
)
from cayley.dynamics.rigid_links.links import links_of
from cayley.kinematics.frame_kernels import sized_kernel
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree
from cayley.showing import brief


class Balance(NamedTuple):
    """Along a trajectory: kinetic and potential energy (..., samples) [J], momentum (..., samples, 6) about the centre
    of mass in the root's axes [kg m/s, kg m^2/s]."""

    kinetic: Array
    potential: Array
    momentum: Array

    def __repr__(self) -> str:
        return brief(self)


def balance_kernel(tree: Tree) -> Kernel:
    """`balance(q, qd)`: kinetic energy, potential energy and centroidal momentum.

    The energy of included rotors and springs counts.
    """
    return kept(tree, "balance", lambda: _balance_kernel(tree))


def _balance_kernel(tree: Tree) -> Kernel:
    links = links_of(tree.spanning_tree())  # constraints do no work and store no energy
    rotors = rotor_inertias(tree)

    def text(q: Array, qd: Array) -> tuple[Any, Any, Any]:
        about_center = centroidal_momentum(links, q, qd) if total_mass(links) else np.zeros(6)
        kinetic = kinetic_energy(links, q, qd) + (rotors * qd) @ qd / 2
        potential = potential_energy(links, q) + spring_energy(tree, q)
        return kinetic, potential + 0.0 * q.sum(), about_center + 0.0 * q.sum()

    return sized_kernel(tree, "(q),(v)->(),(),(6)", text, "balance")


def energy_drift(kinetic: Array, potential: Array, work: Array) -> Array:
    """K + P - work - what it was at the start (..., samples) [J]: zero for an exact solution."""
    surplus = kinetic + potential - work
    return surplus - surplus[..., :1]


def floats(tree: Tree) -> bool:
    """True if the whole mechanism hangs on one floating joint, and no loop or rod ties it to the root, so that only
    gravity and wrenches change its momentum.
    """
    if any(tree.body_number(tree.frame(end).body) == 0 for each in constraints_of(tree) for end in each.frames):
        return False
    at_root = [joint for joint, parent in zip(tree.joints, tree.parents, strict=True) if parent == 0]
    return len(at_root) == 1 and at_root[0].motion.free


def momentum_drift(tree: Tree, t: Array, q: Array, qd: Array) -> Array:
    """Momentum about the root's origin, a fixed point, less the impulse of gravity, less what it was at the start (...,
    samples, 6).

    The centre of mass falls freely, c + v t + g t^2 / 2, so the moment of gravity about the origin has the impulse m (c
    t + v t^2 / 2) x g.
    """
    found, center = kept(tree, "momentum about the root", lambda: _momentum_kernel(tree))(q, qd)
    mass = total_mass(links_of(tree.spanning_tree()))
    g = tree.gravity
    since = (t - t[0])[:, None]
    c = center[..., :1, :]
    v = found[..., :1, :3] / mass
    impulse = np.concatenate([mass * since * g + 0.0 * c, mass * np.cross(c * since + v * since**2 / 2, g)], axis=-1)
    return found - impulse - found[..., :1, :]


def _momentum_kernel(tree: Tree) -> Kernel:
    """`momentum(q, qd)`: momentum (6) about the root's origin, and the centre of mass (3), in the root's axes."""
    links = links_of(tree.spanning_tree())
    return sized_kernel(tree, "(q),(v)->(6),(3)", lambda q, qd: (momentum(links, q, qd), center_of_mass(links, q)),
                        "momentum")
