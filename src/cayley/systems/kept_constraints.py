"""Check that a state that is given to a system is on its constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.batch import first_failure, place, tolerance_of
from cayley.systems.layout import State, as_vector
from cayley.systems.output_kernels import text_kernel
from cayley.systems.record import Record
from cayley.systems.system import System


def check_constraints(system: System, t: ArrayLike, x: Array, inputs: Iterable[Array],
                      parameters: Mapping[str, Array], when: str = "it starts from") -> None:
    """Refuse states (..., size) at the times t (...) that are not on the constraints, by the name of one; `when` says
    which states they are."""
    if not system.constraints or not x.size:
        return

    def text(t: Scalar, state: State, u: Record, p: Record) -> tuple[Array, ...]:
        left = [as_vector(constraint(t, state, u, p)) for constraint in system.constraints.values()]
        return tuple(sum(entry * entry for entry in each) + 0.0 * t for each in left)

    kernel = kept(system, "openings of constraints", lambda: text_kernel(
        system, text, [() for _ in system.constraints], "openings"))
    own = [{**system.parameters, **parameters}[n] for n in system.parameters]
    found = kernel(t, x, *inputs, *own)
    squares = found if len(system.constraints) > 1 else [found]
    most = tolerance_of(x) * (1.0 + np.abs(x).max(-1))
    for name, square in zip(system.constraints, squares, strict=True):
        left = np.sqrt(square)
        bad = first_failure(np.asarray(left <= most))
        if bad is not None:
            raise GeometryError(
                f"the state of {system.name} that {when} is not on its constraints"
                f"{f' (state{place(bad)})' if bad else ''}: {name!r} is {np.asarray(left)[bad]:.3g}, and must be zero")
