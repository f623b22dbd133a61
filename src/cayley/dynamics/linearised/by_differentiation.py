"""The sensitivity matrices of trees with joints of every kind: the graph of inverse dynamics, differentiated.

    D = dtau/dvd       V = dtau/dv       P = the change of tau when the configuration moves with a unit velocity
Where coordinates are more than velocities (quaternions) the configuration is perturbed along the velocities, dq = G
dphi with the matrix G of q' = G v: P has a column for each velocity, and neither chart nor unit length come into it.
The same convention as Pinocchio's. Source: Balafoutis & Patel (7.2.1), for every joint kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.linearised.closed_form_for_trees import Sensitivities
from cayley.dynamics.rigid_links.links import Links
from cayley.kinematics.jacobians.general_jacobian import derivatives as derivatives_of


def sensitivities(links: Links, q: Array, qd: Array, qdd: Array) -> Sensitivities:
    """D, V and P (nv, nv) at a state and an acceleration."""
    by_q, by_v, _ = derivatives(inverse_dynamics, links, q, qd, qdd)
    return Sensitivities(inertia_matrix(links, q), by_v, along_velocities(links, q, by_q))


def derivatives(text: Callable[..., Any], links: Links, q: Array, qd: Array, qdd: Array) -> tuple[Any, ...]:
    """The derivatives (nv, nq), (nv, nv), (nv, nv) of `text(links, q, qd, qdd)`; on numbers, or inside a trace."""
    if not links.nv:
        return np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0))

    return derivatives_of(partial(text, links), (links.nv,), q, qd, qdd, inside=links.has_symbols)


def along_velocities(links: Links, q: Array, by_q: Array) -> Array:
    """Derivatives (..., nq) by the coordinates as derivatives (..., nv) along the velocities."""
    columns = []
    for link in links.links:
        own = by_q[..., link.coordinates]
        if link.motion.velocity_is_rate:
            columns.append(own)
        else:
            G = np.stack([link.motion.rate(q[link.coordinates], unit) for unit in np.eye(link.motion.nv)], axis=1)
            columns.append(own @ G)
    return np.concatenate(columns, axis=-1) if columns else np.zeros((*np.shape(by_q)[:-1], 0))


def times(matrix: Array, vector: ArrayLike) -> Array:
    """A x (..., m) of A (..., m, n) and x (..., n)."""
    return (matrix @ np.asarray(vector, dtype=float)[..., None])[..., 0]


def solved(matrix: Array, vector: ArrayLike) -> Array:
    """A^-1 x (..., n)."""
    return np.linalg.solve(matrix, np.asarray(vector, dtype=float)[..., None])[..., 0]


def transposed(matrix: Array) -> Array:
    return np.swapaxes(matrix, -2, -1)


def regularity(matrix: Array) -> Array:
    """The ratio of the least to the largest singular value (...), zero with more rows than columns, NaN for NaN."""
    rows, columns = matrix.shape[-2:]
    known = np.asarray(np.isfinite(matrix).all(axis=(-2, -1)))
    if rows > columns:
        return np.where(known, 0.0, np.nan)
    values = np.linalg.svd(np.where(known[..., None, None], matrix, 0.0), compute_uv=False)
    largest = values.max(axis=-1, initial=0.0)
    smallest = values.min(axis=-1, initial=np.inf)
    return np.where(known, np.divide(smallest, largest, out=np.zeros_like(largest), where=largest > 0), np.nan)


def over(A: Array, B: Array) -> Array:
    """A B^-1."""
    return transposed(np.linalg.solve(transposed(B), transposed(A)))
