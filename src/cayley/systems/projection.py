"""States and constraints: the way back onto them, by the smallest change in the tangents of the blocks, and a check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from cayley.compiler.array_parts import as_vector, joined
from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.batch import first_failure, place, tolerance_of
from cayley.systems.layout import Layout, Record, State
from cayley.systems.system import System
from cayley.systems.text_kernels import text_kernel

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


def check_constraints(system: System, t: ArrayLike, x: Array, inputs: Iterable[Array],
                      parameters: Mapping[str, Array], when: str = "it starts from") -> None:
    """Refuse states (..., size) at the times t (...) that are not on the constraints, by the name of one; `when` says
    which states they are."""
    if not system.constraints or not x.size:
        return
    own = [{**system.parameters, **parameters}[n] for n in system.parameters]
    found = _openings(system)(t, x, *inputs, *own)
    squares = found if len(system.constraints) > 1 else [found]
    most = tolerance_of(x) * (1.0 + np.abs(x).max(-1))
    for name, square in zip(system.constraints, squares, strict=True):
        left = np.sqrt(square)
        bad = first_failure(np.asarray(left <= most))
        if bad is not None:
            raise GeometryError(
                f"the state of {system.name} that {when} is not on its constraints"
                f"{f' (state{place(bad)})' if bad else ''}: {name!r} is {np.asarray(left)[bad]:.3g}, and must be zero")


@kept_with_owner
def _openings(system: System) -> Kernel:
    """The squares of the lengths of what is left of each constraint."""
    def text(t: Scalar, state: State, u: Record, p: Record) -> tuple[Array, ...]:
        left = [as_vector(constraint(t, state, u, p)) for constraint in system.constraints.values()]
        return tuple(sum(entry * entry for entry in each) + 0.0 * t for each in left)

    return text_kernel(system, text, [() for _ in system.constraints], "openings")
