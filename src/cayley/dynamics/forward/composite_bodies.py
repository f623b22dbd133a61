"""Forward dynamics of trees by the inertia matrix: what the bias forces leave of the joint forces, divided by the
inertia matrix.

The matrix is symmetric and positive definite, and zero between branches. Eliminated from the tips inwards it stays so:
L D L^T in that order has no entries where the matrix has none. Of short chains this is the fastest method. Source:
Balafoutis & Patel, section 6.2 (steps i to iii); Featherstone 2005 for the order."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.links import Links


def forward_dynamics(links: Links, q: Array, qd: Array, tau: Array, *, rotors: Array | float = 0.0,
                     **external: Any) -> Array:  # noqa: ANN401 (handed on)
    """The accelerations (nv) that the forces `tau` give at the state (`q`, `qd`).

    `rotors`: inertia (nv) added to the diagonal. `external`: `base` and `loads`, as in inverse dynamics."""
    bias = inverse_dynamics(links, q, qd, np.zeros(links.nv), **external)
    return solve(inertia_matrix(links, q) + np.diag(np.zeros(links.nv) + rotors), tau - bias)
