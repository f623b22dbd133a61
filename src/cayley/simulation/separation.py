"""Configurations near others in which the shapes of a mechanism overlap."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import UnsupportedError
from cayley.explained_calls import explained
from cayley.kinematics.constraints.closure_checks import check_closed_state
from cayley.model.configurations import check_configuration
from cayley.model.tree import Tree
from cayley.simulation.fixed_steps import mechanism_system
from cayley.systems.adaptive.driving import Driving
from cayley.systems.adaptive.moving_system import MovingSystem
from cayley.systems.adaptive.separating import nearest_apart
from cayley.systems.adaptive.touching import Touching


@explained
def separated(tree: Tree, q: ArrayLike) -> Array:
    """Configurations (..., nq) near `q` (..., nq) where no rigid contacts overlap. Free bodies and floating bases move,
    other joints only where these are not enough, in short steps, each the smallest by the inertia matrix. Loops stay
    closed; limits of joints are not looked at. A `GeometryError` names a contact that cannot be taken apart.

    >>> from cayley.model.joint_kinds import Prismatic
    >>> from cayley.model.parts import Body, Joint
    >>> rail = Joint("up", "base", "foot", Prismatic((0, 0, 1)))
    >>> press = cy.Mechanism.of("press", [Body("base"), Body("foot", 1.0, (0, 0, 0), 1e-3 * np.eye(3))], [rail])
    >>> separated(press.with_contacts(points={"foot": 0.05}).tree, [[0.02], [0.3]]).round(6)
    array([[0.05], [0.3 ]])
    """
    at = np.asarray(q, dtype=float)
    check_configuration(tree, at, limits=False)
    check_closed_state(tree, at, np.zeros((*at.shape[:-1], tree.nv)), 0.0)
    system = mechanism_system(tree)
    moving = MovingSystem(Driving(system, {"tau": np.zeros(tree.nv)}, {}), np.zeros(0))
    held = moving.held
    if not isinstance(held, Touching):
        raise UnsupportedError(f"{tree.name} has nothing that may touch: `with_contacts` says what may")
    place = system.layout.places["q"]
    rows = [system.layout.vectors(system.layout.given({"q": each, "qd": np.zeros(tree.nv)}))
            for each in at.reshape(-1, tree.nq)]
    free = np.concatenate([np.full(joint.motion.nv, joint.motion.free) for joint in tree.joints])
    heavier = ~free if free.any() else None
    found = [nearest_apart(moving, held, 0.0, row, heavier)[place] for row in rows]
    apart = np.array(found).reshape(at.shape)
    check_closed_state(tree, apart, np.zeros((*at.shape[:-1], tree.nv)), 0.0)
    return apart
