"""The inertia matrix of open chains by unit accelerations, one triangle of it: the matrix is known to be symmetric.

If only joint i accelerates, the links before it stay at rest: the recursions run from link i to the tip and back, and
give the rows from the diagonal down. Source: Walker & Orin 1982, method 2; Balafoutis & Patel, after (6.2.4), spec R2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.solve import mirrored
from cayley.dynamics.inertia_matrix.walker_orin import weightless
from cayley.dynamics.inverse.luh_walker_paul import inverse_dynamics
from cayley.dynamics.rigid_links.links import Links


def inertia_matrix(links: Links, q: Array) -> Array:
    """The inertia matrix (n, n) at the configuration `q`."""
    below = [_from_the_diagonal_down(links, q, i) for i in range(links.nv)]
    return mirrored([[below[j][i - j] for j in range(i + 1)] for i in range(links.nv)])


def _from_the_diagonal_down(links: Links, q: Array, i: int) -> Array:
    outer = replace(weightless(links), links=links.links[i:])
    return inverse_dynamics(outer, q, np.zeros(links.nv), np.eye(links.nv)[i])  # (6.2.4)
