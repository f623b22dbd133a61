"""Forward dynamics of open chains as Balafoutis & Patel do it: Algorithm 6.2, Algorithm 5.7 without accelerations, and
L D L^T.

    D   inertia matrix by augmented and generalized links         b   bias forces by augmented links
Source: Balafoutis & Patel, sections 6.2 (steps i to iii) and 6.4, Table 6.3; spec S1-71, R7."""

from __future__ import annotations

import numpy as np

from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.generalized_links import inertia_matrix
from cayley.dynamics.inverse.augmented_links import inverse_dynamics
from cayley.dynamics.rigid_links.links import Links


def forward_dynamics(links: Links, q: Array, qd: Array, tau: Array, *, rotors: float = 0.0) -> Array:
    """The accelerations (n) that the forces `tau` give at the state (`q`, `qd`); infinite or NaN where a joint moves no
    inertia.

    `rotors`: inertia (n) of the drives, added to the diagonal of D."""
    D = inertia_matrix(links, q) + np.diag(np.zeros(links.nv) + rotors)
    b = inverse_dynamics(links, q, qd, np.zeros(links.nv))
    return ldl_solve(D, tau - b)
