"""A kernel as a CasADi function that brings its exact derivatives: for `nlpsol`, `Opti`, integrators and their codegen.

The values are the kernel's expression in SX. The Jacobian is not CasADi's own, of that expression, but the kernel's,
simplified as kernels are (Panda's forward dynamics: 9394 instructions, and 13153 of CasADi's own). It is again an
expression, which CasADi differentiates for Hessians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.algebras.interpret import CASADI, interpret
from cayley.compiler.algebras.protocol import package
from cayley.compiler.derivatives.derivative import jacobian_nodes
from cayley.compiler.kernel import Kernel
from cayley.compiler.tracing.implied_values import build_marked
from cayley.compiler.tracing.names import identifier
from cayley.compiler.tracing.program import Program, Variable, rebuild
from cayley.compiler.tracing.simplify import simplify
from cayley.errors import UnsupportedError

if TYPE_CHECKING:
    from casadi import SX, Function


def casadi_function(kernel: Kernel[Any], name: str | None, dimensions: Mapping[str, int]) -> Function:
    """See `Kernel.for_casadi`."""
    casadi: Any = package("casadi")
    program = kernel.program(**dimensions)
    for variable in (*program.inputs, *program.outputs):
        if len(variable.shape) > 2:
            raise UnsupportedError(f"{kernel.__name__} cannot be a function of CasADi, which has matrices of two axes: "
                                   f"{variable.name} has the shape {variable.shape}; kernel.evaluate(cy.CASADI, ...) "
                                   "takes and gives nested lists")
    called = identifier(name or kernel.__name__, ("null", "jac", "hess"))
    inputs = _names(program.inputs, ())
    outputs = _names(program.outputs, inputs)
    symbols = [casadi.SX.sym(name, *_two_axes(v)) for name, v in zip(inputs, program.inputs, strict=True)]
    values = [casadi.SX(part) for part in interpret(program, CASADI, *symbols)]
    held = [casadi.SX.sym(f"out_{name}", *_two_axes(v)) for name, v in zip(outputs, program.outputs, strict=True)]
    slopes = casadi.Function(f"jac_{called}", [*symbols, *held],
                             _slopes(casadi, kernel._differentiable(**dimensions), symbols),
                             [*inputs, *[f"out_{name}" for name in outputs]],
                             [f"jac_{out}_{given}" for out in outputs for given in inputs])
    return casadi.Function(called, symbols, values, inputs, outputs, {
        "custom_jacobian": slopes, "jac_penalty": 0, "never_inline": True, "enable_forward": False,
        "enable_reverse": False})


def _names(variables: Sequence[Variable], taken: Sequence[str]) -> list[str]:
    found: list[str] = []
    for variable in variables:
        name = f"{variable.name}_out" if variable.name in taken else variable.name
        found.append(identifier(name, ("null", "jac", "hess"), [*found, *taken]))
    return found


def _two_axes(variable: Variable) -> tuple[int, int]:
    rows, columns = (*variable.shape, 1, 1)[:2]
    return rows, columns


def _slopes(casadi: Any, program: Program, symbols: Sequence[SX]) -> list[SX]:  # noqa: ANN401 (a module)
    """Each output by each input, flattened column by column, as CasADi flattens."""
    own = rebuild(program, build_marked)
    matrix = jacobian_nodes(own.results, [node for v in own.inputs for node in v.nodes])
    whole = Variable("slopes", matrix.shape, tuple(matrix.flat))
    found = casadi.SX(interpret(simplify(replace(own, outputs=(whole,))), CASADI, *symbols)[0])
    blocks = []
    for rows in _columnwise(own.outputs):
        blocks += [casadi.sparsify(found[rows, columns]) for columns in _columnwise(own.inputs)]
    return blocks


def _columnwise(variables: Sequence[Variable]) -> list[list[int]]:
    """The places, row by row, of the elements of each array taken column by column."""
    start = 0
    found = []
    for variable in variables:
        size = len(variable.nodes)
        found.append((start + np.arange(size).reshape(_two_axes(variable)).ravel(order="F")).tolist())
        start += size
    return found
