"""The bias forces of trees with joints of every kind: the joint forces that keep the velocities as they are, b = C + G
+ J^T f.

    C   Coriolis and centrifugal forces, quadratic in the velocities
    G   what holds the links against gravity
    J^T f   what passes a wrench f on to the surroundings; a wrench that acts on the robot is -f, and pushes the other
            way
The accelerations are zeros from the start, so that a compiled or counted text spends nothing on them. Source: Walker &
Orin 1982; Balafoutis & Patel (6.2.3), sign of f as in spec E-17; spec R1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.closed_form import gravity_forces, velocity_forces
from cayley.dynamics.inverse.newton_euler import Load, inverse_dynamics
from cayley.dynamics.rigid_links.links import Links


class Bias(NamedTuple):
    """The parts (nv) of the bias forces."""

    velocity: Array  # C
    gravity: Array  # G
    external: Array  # J^T f

    @property
    def total(self) -> Array:
        return self.velocity + self.gravity + self.external  # (6.2.3)


def bias_forces(links: Links, q: Array, qd: Array, *, loads: Iterable[tuple[int, Load]] = ()) -> Array:
    """b (nv) in one sweep. `loads`: links and what acts on them from outside, at their origins and in their axes.

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> bias_forces(serial_chain(load_robot("s1_g1")), np.array([0.3, -0.7]), np.array([0.5, 1.2])).round(10)
    array([29.87143322,  5.32473236])
    """
    return inverse_dynamics(links, q, qd, np.zeros(links.nv), loads=loads)


def bias_parts(links: Links, q: Array, qd: Array, *, loads: Iterable[tuple[int, Load]] = ()) -> Bias:
    """C, G and J^T f, each by itself."""
    rest = np.zeros(links.nv)
    external = inverse_dynamics(replace(links, gravity=np.zeros(3)), q, rest, rest, loads=loads)
    return Bias(velocity_forces(links, q, qd), gravity_forces(links, q), external)
