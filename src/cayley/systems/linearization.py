"""Linear models of systems: A, B, C, D by derivatives of their texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cayley.compiler.array_parts import as_vector, block_diagonal, joined
from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.showing import shown_briefly
from cayley.systems.arguments import given_inputs, given_parameters
from cayley.systems.layout import Record, State, StateLike
from cayley.systems.system import System
from cayley.systems.text_kernels import text_kernel


@shown_briefly
class StateMatrices(NamedTuple):
    """d(dx)/dt = A dx + B du, dy = C dx + D du: (..., n, n), (..., n, m), (..., k, n), (..., k, m)."""

    A: Array
    B: Array
    C: Array
    D: Array


def linearize(system: System, x: StateLike, inputs: Mapping[str, ArrayLike], t: float,
              parameters: Mapping[str, ArrayLike]) -> StateMatrices:
    """The linear model at a state."""
    flat = system.layout.vectors(system.layout.given(x))
    u = given_inputs(system, inputs, system.inputs)
    p = given_parameters(system, parameters, system.parameters)
    return _linearized(system)(t, flat, *u.values(), *p.values(), np.zeros(system.layout.freedoms))


@kept_with_owner
def _linearized(system: System) -> Kernel[StateMatrices]:
    layout = system.layout
    n = layout.freedoms
    m = sum(port.size for port in system.ports.values())
    k = sum(port.size for port in system.output_ports.values())

    def text(t: Scalar, here: State, u: Record, p: Record, d: Array) -> StateMatrices:
        x = here.replaced(layout.stepped(here, layout.tangents(d)))
        f = system.tangents(t, x, u, p)
        y = system.values(t, x, u, p)
        inputs = _together({name: u[name] for name in u})
        A, B, C, D = (jacobian(_together(of), by) if len(of) and np.size(by) else np.zeros((size, np.size(by)))
                      for of, size in ((f, n), (y, k)) for by in (d, inputs))
        turning = [block.manifold.perturbation_rate(f[name]) for name, block in system.blocks.items()]
        return StateMatrices(A + block_diagonal(turning), B, C, D)  # differences on manifolds turn as their points move

    return text_kernel(system, text, [(n, n), (n, m), (k, n), (k, m)], "linearized", {"d": (n,)})


def _together(values: Mapping[str, Array]) -> Array:
    return joined([as_vector(value) for value in values.values()])
