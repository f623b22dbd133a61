"""The inertia matrix of open chains by unit accelerations: inverse dynamics for one column after the other.

Without velocities, gravity and outside forces, the joint forces that the acceleration 1 of joint i alone needs are
column i. Nothing makes the columns symmetric but mechanics. Source: Walker & Orin 1982, method 1; Balafoutis & Patel
(6.2.4), spec R2."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inverse.luh_walker_paul import inverse_dynamics
from cayley.dynamics.rigid_links.links import Links


def inertia_matrix(links: Links, q: Array) -> Array:
    """The inertia matrix (n, n) at the configuration `q`."""
    columns = [column(links, q, i) for i in range(links.nv)]
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def column(links: Links, q: Array, i: int) -> Array:
    """Column i (n) by itself: it needs no other, so that columns can be computed side by side."""
    return inverse_dynamics(weightless(links), q, np.zeros(links.nv), np.eye(links.nv)[i])  # (6.2.4)


def weightless(links: Links) -> Links:
    return replace(links, gravity=np.zeros(3))
