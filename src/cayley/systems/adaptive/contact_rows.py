"""Contacts of a system at one state: gaps, the rows of the velocities there, and how these rows turn with the motion.

    velocities of the contacts  R v          accelerations of the contacts  R a + drift,  drift = (dR/dt) v
Joints that are held follow the same equations with rows of the unit matrix and no drift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.array_parts import as_vector, block_diagonal, joined
from cayley.compiler.derivatives.derivative import independent, slope_along
from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.typing import Array, Scalar
from cayley.systems.layout import Record, State
from cayley.systems.system import System
from cayley.systems.text_kernels import text_kernel

_DEPENDENT = 1e-10  # of the largest singular value: rows that depend on each other


class ContactState(NamedTuple):
    """At one state: the gaps (c) and coefficients of friction (c), the rows A (n + 3 c, n) of all velocities that may
    be held and of all contacts, their drift (n + 3 c), and the root G (freedoms, n) of what forces do to
    accelerations."""

    gaps: Array
    friction: Array
    A: Array
    drift: Array
    G: Array

    def pushed(self, forces: Array) -> Array:
        """The accelerations (n) that forces (n + 3 c) cause."""
        return self.G.T @ (self.G @ (self.A.T @ forces))

    def answers(self, rows: Array, forces: Array) -> Array:
        """The accelerations (p) of chosen rows (p, n + 3 c) that unit forces, columns (n + 3 c, k), cause."""
        return (rows @ self.A @ self.G.T) @ (self.G @ self.A.T @ forces)

    def contacts(self, values: Array) -> Array:
        """The part (c, 3) of numbers (n + 3 c) that is of contacts."""
        return values[self.A.shape[1]:].reshape(-1, 3)


def contact_state(found: Sequence[Array], G: Array) -> ContactState:
    """The state of contacts from the numbers that the kernel gives."""
    gaps, rows, drift, friction = found
    n = rows.shape[1]
    return ContactState(gaps, friction, np.concatenate([np.eye(n), rows]), np.concatenate([np.zeros(n), drift]), G)


@kept_with_owner
def contact_rows_kernel(system: System) -> Kernel:
    """Gaps (c), rows (3 c, n), drifts (3 c) and coefficients of friction (c) of all contacts of a system."""
    layout = system.layout

    def text(t: Scalar, x: State, u: Record, p: Record) -> tuple[Any, ...]:
        here = x.replaced({name: independent(x[name]) for name in layout.moved_by})
        places = joined([as_vector(here[name]) for name in layout.moved_by])
        rates = joined([as_vector(layout.blocks[name].manifold.rate(x[name], x[velocity]))
                        for name, velocity in layout.moved_by.items()])
        gaps, rows, drift, friction = [], [], [], []
        for part in system.holds:
            if part.contacts is None:
                rows.append(np.zeros((0, len(part.names))))
                continue
            gap, own = part.contacts.points(t, here, u, p)
            rows.append(np.concatenate(list(own)))
            drift.append(slope_along(rows[-1] @ as_vector(x[part.velocity]), places, rates))
            gaps.append(gap)
            friction.append(part.contacts.friction(t, x, u, p))
        return joined(gaps), block_diagonal(rows), joined(drift), joined(friction)

    n = sum(len(part.names) for part in system.holds)
    c = sum(len(part.contacts.names) for part in system.holds if part.contacts is not None)
    return text_kernel(system, text, [(c,), (3 * c, n), (3 * c,), (c,)], "contact_rows")


def least(rows: Array, wanted: Array) -> Array:
    """The smallest of the nearest solutions x of rows x = wanted."""
    return np.linalg.lstsq(rows, wanted, rcond=_DEPENDENT)[0] if len(wanted) else np.zeros(rows.shape[1])


def rank(rows: Array) -> int:
    """The number of rows that do not depend on others."""
    return int(np.linalg.matrix_rank(rows, tol=_DEPENDENT * np.linalg.norm(rows, 2))) if rows.size else 0
