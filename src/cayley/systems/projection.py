"""States brought back onto constraints: the smallest change, in the tangents of the blocks, that makes them zero."""

from __future__ import annotations

import numpy as np

from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.typing import Array, Scalar
from cayley.systems.layout import Layout, State, as_vector, joined
from cayley.systems.record import Record
from cayley.systems.system import System

ROUNDS = 3  # of Newton's method: what one step leaves is small already, and squared by each


def on_constraints(system: System, t: Scalar, x: State, u: Record, p: Record) -> State:
    """A state near the constraints of its system, on them: by the system's own `project`, or by Newton's method, with
    which redundant constraints are allowed."""
    if system.project is not None:
        return x.replaced(system.project(t, x, u, p))
    for _ in range(ROUNDS):
        here = x.replaced({name: independent(x[name]) for name in system.blocks})
        phi = joined([as_vector(constraint(t, here, u, p)) for constraint in system.constraints.values()])
        change = np.linalg.pinv(_by_tangents(system.layout, here, phi)) @ phi
        x = x.replaced(system.layout.stepped(x, system.layout.tangents(-change)))
    return x


def _by_tangents(layout: Layout, x: State, phi: Array) -> Array:
    """The derivatives (constraints, freedoms) by displacements of the blocks."""
    columns = []
    for name, block in layout.blocks.items():
        by_coordinates = jacobian(phi, as_vector(x[name]))
        size = int(np.prod(block.tangent))
        ways = [np.eye(size)[k].reshape(block.tangent)[()] for k in range(size)]
        rates = [as_vector(block.manifold.rate(x[name], way)) for way in ways]
        columns.append(by_coordinates @ np.stack(rates, axis=1))
    return np.concatenate(columns, axis=1)
