"""A mechanism with constraints as a nonholonomic system, whose pseudo-velocities are some of its velocities, or forms
of them."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.mechanics.lagrange import lagrange_system
from cayley.dynamics.nonholonomic.moving_frame import Forms, MovingFrame
from cayley.dynamics.nonholonomic.system import NonholonomicSystem
from cayley.dynamics.rigid_links import drives, energies
from cayley.dynamics.rigid_links.links import links_of
from cayley.errors import UnsupportedError
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.space import actuation
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.model.tree import Tree


def nonholonomic_model(tree: Tree, pseudo_velocities: Forms | None = None) -> NonholonomicSystem:
    """The system of a mechanism with constraints, loops and wheels alike; its pseudo-velocities are A1(q) qd, such as
    the velocities of a task, or those of its actuated joints, if they are as many as it takes, or the independent ones
    of the `constraint_structure`. For joints whose velocities are rates of their coordinates.

    >>> from cayley.model.catalogue import load_robot
    >>> bar = nonholonomic_model(load_robot("four_bar"))
    >>> bar.frame.pseudo_velocities([0.0, 0.0, 0.0], [1.6, -1.6, 1.0]).round(12) + 0.0
    array([1.6, 0. , 0. ])
    """
    free = tree.spanning_tree()
    turning = [joint.name for joint in tree.joints if joint.motion.nq != joint.motion.nv]
    if turning or tree.is_timed or drives.coulomb_frictions(free).any():
        reason = (f"joint {turning[0]!r} has velocities that are no rates of coordinates" if turning else
                  "a constraint depends on time" if tree.is_timed else "it includes dry friction")
        raise UnsupportedError(f"Hamel's equations and their like are not for {tree.name}: {reason}")
    structure = constraint_structure(tree)
    if not structure.by_structure:
        raise UnsupportedError(
            f"the constraints of {tree.name} are redundant in a way that changes with its configuration: there are no "
            "rows of them that a frame could have")
    links = links_of(free)
    rotors = drives.rotor_inertias(free)
    rows = list(structure.leading)
    mechanics = lagrange_system(
        lambda q, qd: energies.kinetic_energy(links, q, qd) + 0.5 * (rotors * qd) @ qd,
        lambda q: energies.potential_energy(links, q) + drives.spring_energy(free, q),
        name=tree.name, forces=lambda q, qd: np.ones(tree.nv) * (drives.stored_spring_forces(free, q)
                                                                 - drives.passive_forces(free, q, qd)))

    def held(q: Array) -> Array:
        return constraints.jacobian(tree, q)[rows]

    is_driven = actuation(tree).kind == "fully actuated"
    own = np.eye(tree.nv)[list(tree.actuated_velocities if is_driven else structure.independent)]
    return NonholonomicSystem(mechanics, MovingFrame(pseudo_velocities or (lambda q: own), held, tree.name))
