"""The forces of a motion by their causes, tau = own + coupling + centrifugal + Coriolis + gravity, and the matrices by
which they are linear.

    own, coupling   the diagonal of M, and the rest of it, times the accelerations
    centrifugal     V_jj (nv, nv) times the squares of the velocities
    Coriolis        V_jk (nv, nv (nv - 1)/2) times their products qd_j qd_k, j < k: (1, 2), (1, 3), ..., (2, 3), ...
    gravity         a matrix (nv, 3) times the acceleration of free fall
What a unit velocity needs are centrifugal coefficients, and the Coriolis matrix, linear in the velocities, has all at
unit velocities. Friction and springs are apart from these. Of a mechanism with constraints they are those of the
coordinates of its tree, as M, C and G are. Sources: Ruggiu (3.58), (3.59), where the off-diagonal part of M is called
acceleration coupling; Mladenova (5), (139); spec S0-78, S2-99."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.dynamics import closed_form
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.rigid_links.drives import rotor_coriolis_matrix, rotor_velocity_forces
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.mechanism_kernel import MechanismKernel, described, of_a_mechanism, of_the_tree, units_of
from cayley.model.tree import Tree
from cayley.showing import shown_briefly


@shown_briefly
class BiasParts(NamedTuple):
    """The forces (nv) that a motion without acceleration needs, by their causes."""

    centrifugal: Array
    coriolis: Array
    gravity: Array


@shown_briefly
class BiasCoefficients(NamedTuple):
    """The coefficients of the bias forces: (nv, nv) for the squares of velocities, (nv, nv (nv - 1)/2) for their
    products, and (nv, 3) for the acceleration of free fall in the root's axes."""

    centrifugal: Array
    coriolis: Array
    gravity: Array


@shown_briefly
class InertiaParts(NamedTuple):
    """The forces (nv) that accelerations need: of each joint by its own, and by those of the others."""

    own: Array
    coupling: Array


@of_a_mechanism
def bias_parts_kernel(tree: Tree) -> MechanismKernel[BiasParts]:
    """`bias_parts(q, qd)`."""
    free = tree.spanning_tree()
    links = minimal_links(free)

    def velocity_forces(q: Array, qd: Array) -> Array:
        return closed_form.velocity_forces(links, q, qd) + rotor_velocity_forces(free, qd)

    def bias_parts(q: Array, qd: Array) -> BiasParts:
        centrifugal = np.zeros(tree.nv)
        for unit, rate in zip(np.eye(tree.nv), qd, strict=True):
            centrifugal = centrifugal + velocity_forces(q, unit) * (rate * rate)
        return BiasParts(centrifugal, velocity_forces(q, qd) - centrifugal, closed_form.gravity_forces(links, q))

    described(tree, bias_parts, "Centrifugal, Coriolis and gravity forces, each by itself.", of_the_tree(tree))
    return kernel(sized(tree, "(q),(v)->(v),(v),(v)"), units=units_of(tree), kind=MechanismKernel)(bias_parts)


@of_a_mechanism
def bias_coefficients_kernel(tree: Tree) -> MechanismKernel[BiasCoefficients]:
    """`bias_coefficients(q)`."""
    free = tree.spanning_tree()
    links = minimal_links(free)
    whole = links_of(free)  # the others are grouped for one direction of gravity

    def bias_coefficients(q: Array) -> BiasCoefficients:
        pulls = [closed_form.gravity_forces(replace(whole, gravity=unit), q) for unit in np.eye(3)]
        return BiasCoefficients(*_velocity_coefficients(free, links, q), np.stack(pulls, axis=1))

    described(tree, bias_coefficients, "The matrices of the centrifugal forces, by squares of velocities, of the "
              "Coriolis forces, by products of two (first with second, ...), and of gravity, by free fall.",
              of_the_tree(tree))
    pairs = tree.nv * (tree.nv - 1) // 2
    return kernel(sized(tree, f"(q)->(v,v),(v,{pairs}),(v,3)"), units=units_of(tree),
                  kind=MechanismKernel)(bias_coefficients)


@of_a_mechanism
def inertia_parts_kernel(tree: Tree) -> MechanismKernel[InertiaParts]:
    """`inertia_parts(q, qdd)`."""
    inertia_matrix: Any = inertia_matrix_kernel(tree).__wrapped__

    def inertia_parts(q: Array, qdd: Array) -> InertiaParts:
        M = inertia_matrix(q)
        apart = np.eye(tree.nv, dtype=bool)
        return InertiaParts(np.diag(M) * qdd, np.where(apart, 0.0, M) @ qdd)

    described(tree, inertia_parts, "Inertia forces by the accelerations of the joints themselves, and of the others.",
              of_the_tree(tree))
    return kernel(sized(tree, "(q),(v)->(v),(v)"), units=units_of(tree), kind=MechanismKernel)(inertia_parts)


def _velocity_coefficients(tree: Tree, links: Links, q: Array) -> tuple[Array, Array]:
    """The coefficients of squares (nv, nv) and of products (nv, pairs) of velocities."""
    n = tree.nv
    units = np.eye(n)
    C = [closed_form.coriolis_matrix(links, q, unit) + rotor_coriolis_matrix(tree, unit) for unit in units]
    squares = np.stack([C[j][:, j] for j in range(n)], axis=1) if n else np.zeros((0, 0))
    products = [C[k][:, j] + C[j][:, k] for j in range(n) for k in range(j + 1, n)]
    return squares, np.stack(products, axis=1) if products else np.zeros((n, 0))
