"""Forward dynamics with dry friction, which at rest holds a joint as long as it can
(`compiler.solving.complementarity`); and the friction that rolling needs: of each contact, the force along the ground
beside the force across it.

A cart on a planar base is taken as it stands on its wheels. Where more is needed than the coefficient of friction the
wheel would slip. Infinity: a contact that would have to pull. NaN: other contacts could do the same, as two wheels on
one axle; what all contacts need together `slip_check` of `machines.rolling` knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.solving.complementarity import corrected
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array
from cayley.dynamics.forward.constrained import forces_by_method, state_signature
from cayley.dynamics.forward.standing_wheels import standing
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links import drives
from cayley.dynamics.rigid_links.links import Links
from cayley.errors import UnsupportedError
from cayley.kinematics.constraints.rows import timed
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.mechanism_kernel import MechanismKernel, described, of_a_mechanism, units_of
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree, slices

_MOST_ROUNDS = 8


def with_friction(tree: Tree, links: Links, forward_dynamics: Callable[..., Any],
                  rotors: Array | float) -> Callable[..., Any]:
    """Forward dynamics `(q, qd, tau, **external)` with the friction that the mechanism includes.

    At exactly zero velocity, dry friction holds a joint as long as it can, and otherwise acts against the motion that
    begins. If the rounds do not end, which was not seen yet, the answer is NaN."""
    coulomb = drives.coulomb_frictions(tree)
    if not drives.rubbing(coulomb).any():
        passive = drives.passive_forces
        return lambda q, qd, tau, **external: forward_dynamics(q, qd, tau - passive(tree, q, qd), **external)

    def text(q: Array, qd: Array, tau: Array, **external: Any) -> Array:  # noqa: ANN401 (handed on)
        acting = {name: value for name, value in external.items() if name != "rotors"}
        forces = tau - drives.viscous_frictions(tree) * qd - drives.spring_forces(tree, q, qd)
        M = inertia_matrix(links, q) + np.diag(np.zeros(tree.nv) + rotors)
        pull = forces - inverse_dynamics(links, q, qd, np.zeros(tree.nv), **acting)
        friction, going = resistance(M, pull, coulomb, qd)
        return where(going == 0, 0.0, forward_dynamics(q, qd, forces + friction, **external))

    return text


def resistance(M: Array, forces: Array, coulomb: Array, v: Array) -> tuple[Any, Any]:
    """The forces (nv) of dry friction at the velocity `qd`, and how the joints go (nv)."""
    rubs = drives.rubbing(coulomb)
    slides = -coulomb * np.sign(v)
    lower, upper = (where(rubs, where(v == 0, side * coulomb, slides), slides) for side in (-1.0, 1.0))
    going = where(rubs, where(v == 0, 0.0, 1.0), 1.0)
    for _ in range(min(int(rubs.sum()) + 2, _MOST_ROUNDS)):
        before = going
        acceleration, going = corrected(M, forces, lower, upper, before)
    unsettled = np.sum((going - before) ** 2)
    friction = where(going == 0, M @ acceleration - forces, where(going > 0, lower, upper))
    with np.errstate(invalid="ignore"):  # NumPy warns of a constant that is NaN
        return where(unsettled == 0, friction, np.nan), going


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
    """The friction needed of the force across the ground and those along it."""
    across = forces[0]
    along = forces[1:]
    return where(across <= 0.0, np.inf, np.sqrt(along @ along) / across)
