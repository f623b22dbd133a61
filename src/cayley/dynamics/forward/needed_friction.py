"""How much friction it takes to roll: of each contact, the force along the ground beside the force across it.

A cart on a planar base is taken as it stands on its wheels. Where it is more than the coefficient of friction the wheel
would slip, and the constraint no longer says what happens. A contact that would have to pull has none to go by:
infinity. NaN where other contacts could do the same, so that the motion does not tell (two wheels on one axle share
their side forces in a way that it leaves open): what all contacts need together `slip_check` of `mechanisms.rolling`
knows.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array
from cayley.dynamics.forward.constrained import forces_by_method, state_signature
from cayley.dynamics.forward.standing_wheels import standing
from cayley.errors import UnsupportedError
from cayley.kinematics.constraints.rows import timed
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.kernel_words import described, units_of
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree, slices


@of_a_mechanism
def needed_friction_kernel(tree: Tree) -> MechanismKernel:
    """`needed_friction(q, qd, tau)` (..., contacts)."""
    contacts = contacts_of(tree)
    on_wheels = standing(tree)
    forces = forces_by_method(on_wheels.tree, constraint_structure(on_wheels.tree), "multipliers",
                              MechanismKernel).__wrapped__
    assert forces is not None

    def needed_friction(*state: Array) -> Array:
        found = forces(*on_wheels.state(*state[:3]), *state[3:])
        return np.stack([_needed(found[place]) for place in contacts.values()])

    described(tree, needed_friction, "How much friction rolling takes, force along the ground by force across it: "
              f"{', '.join(contacts)}.", "Infinite for a contact that would have to pull.")
    return kernel(sized(tree, f"{state_signature(tree)}->({len(contacts)})"), name="needed_friction",
                  inputs=timed(tree, ("q", "qd", "tau")), units=units_of(tree) | {"t": "s"},
                  kind=MechanismKernel)(needed_friction)


def contacts_of(tree: Tree) -> dict[str, slice]:
    """The contacts whose force upon the ground is known, and their rows in those of the mechanism on its wheels."""
    every = constraints_of(standing(tree).tree)
    places = slices([len(each.row_names) for each in every])
    found = {each.name: place for each, place in zip(every, places, strict=True) if each.presses}
    if not found:
        raise UnsupportedError(
            f"{tree.name} has no disc, no ball and no wheel on a planar base, whose force upon the ground is known: "
            "what keeps its wheels at their height carries it")
    return found


def _needed(forces: Array) -> Array:
    """Of the force across the ground and those along it."""
    across = forces[0]
    along = forces[1:]
    return where(across <= 0.0, np.inf, np.sqrt(along @ along) / across)
