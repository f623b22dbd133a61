"""The motors of an arm as numbers: what the windings and gears of its drives say, by joint."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.arms import check_rigid_drives, check_single_coordinates
from cayley.errors import ModelError
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree


class Windings(NamedTuple):
    """Each (n): resistance [ohm], inductance [H], torque constant [N m/A], back-EMF constant [V s/rad], gear, and the
    inertia of the rotor [kg m^2] before it."""

    resistance: Array
    inductance: Array
    torque_constant: Array
    back_emf: Array
    gear: Array
    rotor: Array

    @property
    def gain(self) -> Array:
        """K_hat = N k / R [N m/V]: the force at a joint that stands, by the voltage. (6.17)"""
        return self.gear * self.torque_constant / self.resistance

    @property
    def induced_damping(self) -> Array:
        """N^2 k ke / R [N m s]: what the induced voltage does to a joint that moves. (6.16)"""
        return self.gain * self.back_emf * self.gear


def windings_of(tree: Tree, what: str) -> Windings:
    """The motors of a tree whose joints all have one; `what` asks for them. A joint without one is named."""
    check_independent(tree, what)
    check_rigid_drives(tree, what)
    check_single_coordinates(tree, what)
    rows = []
    for joint in tree.joints:
        if not joint.motion.nv:
            continue
        winding = joint.rotor.winding
        if winding is None or not joint.rotor.gear:
            lacks = "motor has no winding" if winding is None else "gear is 0"
            raise ModelError(f"{what} needs the motors of {tree.name}, but the {lacks} at joint {joint.name!r}: "
                             "`with_drive(joint, inertia=..., gear=..., winding=Winding(resistance, torque_constant))`")
        rows.append((winding.resistance, winding.inductance, winding.torque_constant, winding.induced,
                     joint.rotor.gear, joint.rotor.inertia))
    return Windings(*np.array(rows, dtype=float).reshape(-1, 6).T.copy())
