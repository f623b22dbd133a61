"""Linear models of systems: A, B, C, D by derivatives of their texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.signature import spell
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.showing import shown_briefly
from cayley.systems.arguments import given_inputs, given_parameters
from cayley.systems.layout import StateLike, as_vector, joined
from cayley.systems.system import System


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
    linearized = kept(system, "linearized", lambda: _kernel(system))
    return linearized(t, flat, np.zeros(system.layout.freedoms), *u.values(), *p.values())


def _kernel(system: System) -> Kernel[StateMatrices]:
    n = system.layout.freedoms
    m = sum(port.size for port in system.ports.values())
    k = sum(port.size for port in system.output_ports.values())
    shapes = {"t": (), "x": (system.layout.size,), "d": (n,),
              **{f"u.{name}": port.shape for name, port in system.ports.items()},
              **{f"p.{name}": np.shape(value) for name, value in system.parameters.items()}}

    def text(*arguments: Scalar) -> StateMatrices:
        given = dict(zip(shapes, arguments, strict=True))
        here = system.layout.state(given["x"])
        p = system.parameter_record({name: given[f"p.{name}"] for name in system.parameters})
        x = here.replaced(system.layout.stepped(here, system.layout.tangents(given["d"])))
        u = {name: given[f"u.{name}"] for name in system.inputs}
        f = system.tangents(given["t"], x, system.input_record(u), p)
        y = system.values(given["t"], x, system.input_record(u), p)
        inputs = _together(u)
        A, B, C, D = (jacobian(_together(of), by) if len(of) and np.size(by) else np.zeros((size, np.size(by)))
                      for of, size in ((f, n), (y, k)) for by in (given["d"], inputs))
        return StateMatrices(A + _perturbation(system, f), B, C, D)

    results = ",".join(spell(shape) for shape in ((n, n), (n, m), (k, n), (k, m)))
    signature = f"{','.join(map(spell, shapes.values()))}->{results}"
    return kernel(signature, name="linearized", inputs=list(shapes))(text)


def _together(values: Mapping[str, Array]) -> Array:
    return joined([as_vector(value) for value in values.values()])


def _perturbation(system: System, f: Mapping[str, Array]) -> Array:
    """The matrix that turns the differences of blocks on manifolds, as their points move."""
    n = system.layout.freedoms
    rows = []
    start = 0
    for name, block in system.blocks.items():
        size = int(np.prod(block.tangent))
        own = block.manifold.perturbation_rate(f[name])
        rows.append(np.concatenate([np.zeros((size, start)), own, np.zeros((size, n - start - size))], axis=1))
        start += size
    return np.concatenate(rows) if rows else np.zeros((0, 0))
