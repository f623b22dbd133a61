"""Feet of a planar biped that are held by the ground: forces and impulses.

    H a = f + J^T R,    and of each row of J either R = 0 (in the air), or J a as given (on the ground)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array
from cayley.machines.walking import biped_equations as equations

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped


class Contacts(NamedTuple):
    """The mechanics at one configuration with some feet on the ground: `on` (4) is 1 in the rows of those, else 0."""

    H: Array
    J: Array
    on: Array

    def held(self, f: Array, rates: Array) -> tuple[Array, Array]:
        """a (7) and R (4) of H a = f + J^T R with J a = rates for feet on the ground, R = 0 for those in the air."""
        J = self.on[:, None] * self.J
        # from the shanks to the hip no zero of H is filled
        columns = ldl_solve(self.H[::-1, ::-1], np.concatenate([f[:, None], J.T], axis=1)[::-1])[::-1]
        free = columns[:, 0]
        yielding = columns[:, 1:]
        softness = J @ yielding + np.diag(np.ones(4)) * (1.0 - self.on)
        R = ldl_solve(softness, self.on * (rates - self.J @ free))
        return free + yielding @ R, R


def impact(biped: PlanarBiped, q: Array, qd: Array, on: Array) -> tuple[Array, Array]:
    """The velocity after an impact at which the feet with `on` (4) = 1 come to rest, and the impulses (4) [N s]."""
    held = contacts(biped, q, on)
    change, impulse = held.held(np.zeros(7), -(held.J @ qd))
    return qd + change, impulse


def contacts(biped: PlanarBiped, q: Array, on: Array) -> Contacts:
    at = equations.posture_of_angles(q)
    return Contacts(equations.inertia(biped, at), equations.feet_jacobian(biped, at), on)
