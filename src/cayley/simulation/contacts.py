"""The contacts of a mechanism as a part of its system."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.kinematics.contacts.contact_jacobian import contact_jacobian
from cayley.kinematics.contacts.contact_points import contact_layout, contact_points
from cayley.model.tree import Tree
from cayley.systems.contacts import TouchingPoints
from cayley.systems.layout import Record, State
from cayley.systems.ports import Block
from cayley.systems.system import System

FORCES = "contact_forces"
FRICTION = "contact_friction"


def with_contacts(system: System, tree: Tree) -> System:
    """The system of a mechanism with its contacts: their forces (c, 3) [N] in the last step are a block of the state,
    `contact_forces`, along two tangents and the normal, and the friction (c) is the parameter `contact_friction`."""
    layout = contact_layout(tree)
    pairs = [tree.contacts[spot.pair] for spot in layout]
    count = len(layout)

    def points(t: Scalar, x: State, u: Record, p: Record) -> tuple[Array, Array]:
        found = contact_points(tree, x["q"])
        return found.gap, contact_jacobian(tree, x["q"], found)

    contacts = TouchingPoints(FORCES, tuple(spot.name for spot in layout), points, lambda t, x, u, p: p[FRICTION],
                        np.array([pair.restitution for pair in pairs]), np.array([pair.compliance for pair in pairs]))

    def derivative(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        return {**system.written(t, x, u, p), FORCES: np.zeros((count, 3))}

    held, = system.holds
    return replace(
        system, state={**system.state, FORCES: Block((count, 3), "N", default=0.0)},
        outputs={**system.outputs, FORCES: ((count, 3), "N")}, derivative=derivative,
        parameters={**system.parameters, FRICTION: np.array([float(pair.friction) for pair in pairs])},
        holds=[replace(held, contacts=contacts)])
