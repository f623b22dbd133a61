"""What the drives of the joints add to the links: the inertia of rotors behind gears, and friction. Mechanisms include it on request:

    real = arm.including("rotors", "friction")
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.model.tree import Tree


def drive_forces(tree: Tree, qd: Any, qdd: Any) -> Any:
    """Forces (nv) that the included drives need by themselves at the velocity `qd` and the acceleration `qdd`."""
    return rotor_inertias(tree) * qdd + friction_forces(tree, qd)


def rotor_inertias(tree: Tree) -> np.ndarray:
    """The inertia (nv) that each velocity feels of its rotor, zero if rotors are not included."""
    included = "rotors" in tree.included
    return _by_velocity(tree, [joint.rotor.reflected if included else 0.0 for joint in tree.joints])


def friction_forces(tree: Tree, qd: Any) -> Any:
    """The forces (nv) that overcome friction, zero if it is not included: viscous qd + coulomb sign(qd)."""
    if "friction" not in tree.included:
        return np.zeros(tree.nv)
    viscous = _by_velocity(tree, [joint.friction.viscous for joint in tree.joints])
    coulomb = _by_velocity(tree, [joint.friction.coulomb for joint in tree.joints])
    return viscous * qd + coulomb * np.sign(qd)


def _by_velocity(tree: Tree, values: list[float]) -> np.ndarray:
    return np.concatenate([np.full(joint.motion.nv, value) for joint, value in zip(tree.joints, values, strict=True)] or [np.zeros(0)])
