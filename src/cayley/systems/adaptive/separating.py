"""States in which shapes overlap, and the nearest ones in which they touch.

    d = G^T z,  min |z|  such that  gaps + n.(A d) >= 0      a step; |z| is the length of d by the inertia matrix
Steps follow each other until no gap is negative: the change is the one that the least kinetic energy would make in a
given time. Constraints are kept. Source of the solution of a step: Lawson & Hanson, Solving least squares problems
(1974), 23.4."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import GeometryError, warn_user
from cayley.systems.adaptive.moving_system import MovingSystem
from cayley.systems.adaptive.touching import Touching

APART = 1e-9  # m: what overlaps less touches
TAKEN_APART = 1e-2  # m: what overlaps more is refused at the start of a simulation
_UNSEEN = 1e-6  # m: what is taken apart without a word
_NEAR = 10.0  # of the depth: what is not farther apart is kept apart in a step
_HEAVY = 1e6  # times the largest inertia
_STEPS = 100
_MOST = 0.2  # rad, m: of a step
_HOW = "start where shapes touch or are apart, as at q = cayley.simulation.separated(arm.tree, q)"


def taken_apart(moving: MovingSystem, held: Touching, t: float, x: Array) -> Array:
    """The state (smooth) from which a simulation starts, with a warning if shapes overlapped; an error that names a
    contact if they did so by more than `TAKEN_APART`."""
    k, depth = _deepest(held, t, x)
    if depth <= _UNSEEN:
        return x
    whole = f"at the start the contact {held.contact_names[k]} overlaps by {depth:.3g} m"
    if depth > TAKEN_APART:
        raise GeometryError(f"{whole}: {_HOW}")
    warn_user(f"{whole}: the shapes are taken apart before the simulation; {_HOW}")
    return nearest_apart(moving, held, t, x)


def nearest_apart(moving: MovingSystem, held: Touching, t: float, x: Array, heavier: Array | None = None) -> Array:
    """The state (smooth) near another one in which nothing rigid overlaps. Velocities that are `heavier` (n, a truth
    value each) move as little as they can."""
    for _ in range(_STEPS):
        k, depth = _deepest(held, t, x)
        if depth <= APART:
            return x
        here, (M, A) = held.at(t, x), held.matrices(t, x)
        G = held.roots_of(M if heavier is None else M + np.diag(heavier * _HEAVY * np.diag(M).max()), A)
        near = ~held.soft & (here.gaps < _NEAR * depth)
        normals = here.A[here.A.shape[1] + 2::3][near]
        step = _least_beyond(normals @ G.T, -here.gaps[near] / depth)
        if step is None:
            break
        way = (0.5 if depth > _UNSEEN else 1.0) * depth * (G.T @ step)  # shorter steps turn less, and end nearer
        x = moving.coordinates(t, held.moved(x, way * min(1.0, _MOST / np.abs(way).max())))
    raise GeometryError(f"the contact {held.contact_names[k]} overlaps by {depth:.3g} m, and no motion was found that "
                        "takes it apart: leave the pair out, with_contacts(exclude=...), or take another pose")


def _deepest(held: Touching, t: float, x: Array) -> tuple[int, float]:
    """The rigid contact that overlaps most, and by how much."""
    gaps = np.where(held.soft, np.inf, held.at(t, x).gaps)
    k = int(np.argmin(gaps))
    return k, -float(gaps[k])


def _least_beyond(rows: Array, bounds: Array) -> Array | None:
    """The smallest z with rows z >= bounds, if there is one."""
    from scipy.optimize import nnls
    E = np.vstack([rows.T, bounds])
    weights, _ = nnls(E, np.eye(len(E))[-1])
    left = E @ weights - np.eye(len(E))[-1]
    return None if abs(left[-1]) < 1e-12 else -left[:-1] / left[-1]
