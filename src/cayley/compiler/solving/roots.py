"""Equations solved by iteration inside a kernel: a fixed number of steps, derivatives from the equations themselves.

A state whose residual is small enough is kept, and the steps end when all states of a block are. How the solution
changes with everything that the residual depends on follows from the implicit function theorem,
at the solution: no derivative goes through the steps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.algebras.interpret import NUMPY, interpret
from cayley.compiler.derivatives.derivative import jacobian_nodes
from cayley.compiler.signature import Signature, spell
from cayley.compiler.solving.linear import eliminated
from cayley.compiler.solving.loops import graph_of, repeated
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.implied_values import implied, plain, released_from
from cayley.compiler.tracing.symbols import symbols, wrapped
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError
from cayley.explained_calls import explained

Nodes = list[Node]
Residual = Callable[[Nodes], Nodes]
Step = Callable[[Nodes, Nodes], Sequence[Node]]  # from where the residual was taken, and the residual


class Root(NamedTuple):
    """`x` solves the equations as far as `residual` says; `converged`: no entry of it is larger than the tolerance."""

    x: Any
    residual: Any
    converged: Any


@explained
def newton(residual: Callable[..., Any], x0: Scalar, *parameters: Scalar, iterations: int = 8,
           tolerance: float = 1e-12) -> Root:
    """The x near `x0` where `residual(x, *parameters)` is zero, by at most `iterations` steps of Newton's method.

    x is a number or an array, and the residual has its shape. A state is kept once no entry of its residual is larger
    than `tolerance`, in the units of the residual. Where that is not reached, `converged` is false and x is as far as
    the steps came: infinite or NaN if the equations were singular on the way. Derivatives of x by everything that the
    residual depends on are those of the solution, by the implicit function theorem, to every order.

    >>> newton(lambda x, a: x * x - a, 1.0, 2.0).x.round(12)
    np.float64(1.414213562373)
    """
    def step(places: Nodes, found: Nodes) -> Sequence[Node]:
        return eliminated(jacobian_nodes(found, places)).solve([-r for r in found])

    return _root(_Asked("cy.newton", residual, parameters, step, iterations, tolerance), x0)


@explained
def fixed_point(function: Callable[..., Any], x0: float, *parameters: Scalar, iterations: int = 32,
                tolerance: float = 1e-12) -> Root:
    """The x that `function(x, *parameters)` maps to itself, reached from `x0` by applying it `iterations` times.

    The residual is function(x) - x; everything else is as for `newton`.

    >>> fixed_point(np.cos, 1.0, iterations=80).x.round(9)
    np.float64(0.739085133)
    """
    def residual(x: Scalar, *given: Scalar) -> Scalar:
        return np.asarray(function(x, *given), dtype=object) - np.asarray(x, dtype=object)

    return _root(_Asked("cy.fixed_point", residual, parameters, lambda places, found: found, iterations, tolerance), x0)


class _Asked(NamedTuple):
    name: str
    residual: Callable[..., Any]
    parameters: tuple[Any, ...]
    step: Step
    iterations: int
    tolerance: float


def _root(asked: _Asked, x0: Scalar) -> Root:
    if operator.index(asked.iterations) < 1 or not asked.tolerance >= 0.0:
        raise SignatureError(f"{asked.name} takes at least one iteration and a tolerance of at least 0, not "
                             f"iterations={asked.iterations} and tolerance={asked.tolerance}")
    start = np.asarray(x0, dtype=object)
    known = [start, *asked.parameters]
    graph = graph_of(*known) or graph_of(asked.residual(_shaped(list(start.flat), start.shape), *asked.parameters))
    return _of_numbers(asked, np.asarray(x0, dtype=float)) if graph is None else _of_symbols(asked, graph, start)


def _of_numbers(asked: _Asked, x0: Array) -> Root:
    """Outside of a kernel: traced, and evaluated at once."""
    shape = spell(x0.shape)
    signature = Signature.parse(f"{shape}->{shape},{shape},()")
    program = trace(lambda x: tuple(_root(asked, x)), signature, {}, name=asked.name, inputs=["x"])
    x, residual, converged = interpret(plain(program), NUMPY, x0)
    return Root(x, residual, np.bool_(converged))


def _of_symbols(asked: _Asked, graph: Graph, start: Array) -> Root:
    def residual(x: Nodes) -> Nodes:
        found = np.asarray(asked.residual(_shaped(x, start.shape), *asked.parameters), dtype=object)
        if found.shape != start.shape:
            raise SignatureError(f"{asked.name} needs as many equations as unknowns: x has shape {start.shape}, "
                                 f"and the residual {found.shape}")
        return [graph.lift(r) for r in found.flat]

    x = [graph.lift(value) for value in start.flat]
    if not x:
        return Root(symbols(start), symbols(start), True)
    x = repeated(graph, x, asked.iterations, partial(_moved, asked, residual), zeros=False)
    equations: Nodes = []

    def law(places: Nodes, hold: Callable[[Any], Any]) -> list[Node]:
        equations.extend(residual(places))
        elimination = eliminated(jacobian_nodes(equations, places))
        return [place - change for place, change in zip(places, elimination.mapped(hold).solve(equations), strict=True)]

    group = implied(x, law)
    left = released_from(group, equations)
    return Root(_shaped(group.values, start.shape), _shaped(left, start.shape), _is_small(left, asked.tolerance))


def _moved(asked: _Asked, residual: Residual, x: Sequence[Node]) -> tuple[Nodes, Scalar]:
    """One step, and whether the residual is small enough where it starts."""
    found = residual(list(x))
    change = asked.step(list(x), found)
    return [old + by for old, by in zip(x, change, strict=True)], _is_small(found, asked.tolerance)


def _is_small(found: Nodes, tolerance: float) -> Scalar:
    return reduce(operator.and_, [abs(r) <= tolerance for r in found])


def _shaped(scalars: Sequence[Any], shape: tuple[int, ...]) -> Scalar:
    array = np.empty(len(scalars), dtype=object)
    array[:] = scalars
    return wrapped(array.reshape(shape))

