"""Forward dynamics of links and of the rotors of their drives by way of the inertia matrix.

    B qdd = tau - (what inverse dynamics needs without acceleration)
Source: Mladenova, section 7.4.1, spec R-50, R-60."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.links_and_rotors import inertia_matrix
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.inverse.links_and_rotors import inverse_dynamics
from cayley.dynamics.rigid_links.spatial_operators import LinksAndRotors


def forward_dynamics(arm: LinksAndRotors, q: Array, qd: Array, tau: Array, *, rotors: Array | float = 0.0) -> Array:
    """The accelerations (nv) of joints and motors; the arguments are those of `links_and_rotors`."""
    nv = arm.links.nv
    bias = inverse_dynamics(arm, q, qd, np.zeros(nv))
    return solve(inertia_matrix(arm, q) + np.diag(np.zeros(nv) + rotors), tau - bias)
