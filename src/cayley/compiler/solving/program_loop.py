"""The steps of the interior-point method as a loop, and what is made of where it ends."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.signature import Signature
from cayley.compiler.solving.interior_point import (
    Cone,
    Equations,
    Place,
    Program,
    Residuals,
    Right,
    advanced,
    residuals,
    start,
)
from cayley.compiler.solving.linear import chosen, is_zero
from cayley.compiler.solving.loops import repeat
from cayley.compiler.tracing.calls import Callee
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, Scalar

_DEEPER = 0.1  # of the tolerance, in scaled units
_REFINED = 3


def brought_near(program: Program, graph: Graph, iterations: int, tolerance: Scalar) -> tuple[Place, Scalar]:
    """Where at most so many steps from the usual start lead, and how many were taken: none after the program was found
    solved, infeasible or unbounded, or a step would not have been of numbers."""
    first = start(program)
    own = Packing([*_arrays(program), np.asarray(tolerance)])

    def text(state: Array, data: Array) -> Array:
        *arrays, limit = own.unpacked(data)
        inner = _of_arrays(arrays, program)
        at = _placed(state[:-2], first)
        after = _scalars(advanced(inner, at))
        is_finite = reduce(operator.and_, [abs(x) < np.inf for x in after])
        goes = is_finite & ~_has_ended(inner, at, _DEEPER * limit.item())
        return np.stack([*[chosen(goes, new, old) for new, old in zip(after, state, strict=False)],
                         state[-2] + chosen(goes, 1.0, 0.0), chosen(goes, 0.0, 1.0)])

    begin = _symbols([graph.lift(x) for x in [*_scalars(first), 0.0, 0.0]])
    shape = f"({len(begin)}),({len(own.nodes)})->({len(begin)})"
    step = Callee(trace(text, Signature.parse(shape), {}, name="program_step", inputs=["state", "data"]),
                  is_step=True)
    found = repeat(lambda state, data: _symbols(step.called_with([*state, *data])), begin, iterations,
                   _symbols(own.nodes), until=lambda state, data: state[-1] != 0.0)
    return _placed(found[:-2], first), found[-2]


def _has_ended(program: Program, at: Place, tolerance: Scalar) -> Scalar:
    left = residuals(program, at)
    return is_solved(program, at, left, tolerance) | is_infeasible(program, at, left, tolerance) | is_unbounded(
        program, at, left, tolerance)


def is_solved(program: Program, at: Place, left: Residuals, tolerance: Scalar) -> Scalar:
    """True if x / tau is a solution."""
    quadratic = at.x @ left.Px / at.tau
    least = np.minimum(abs(quadratic / 2.0 + left.cost), abs(quadratic / 2.0 + left.support))
    return ((largest(_of_rows(left.right)) <= tolerance * (at.tau + largest(at.x)))
            & (largest(left.right.x) <= tolerance * (at.tau + largest(left.Px)))
            & (abs(quadratic + left.cost + left.support) <= tolerance * (at.tau + least)))


def is_infeasible(program: Program, at: Place, left: Residuals, tolerance: Scalar) -> Scalar:
    """True if the multipliers show that no x meets the constraints."""
    return (left.support < 0.0) & (largest(left.right.x - left.Px - at.tau * program.q) <= tolerance * -left.support)


def is_unbounded(program: Program, at: Place, left: Residuals, tolerance: Scalar) -> Scalar:
    """True if the costs fall for ever along x."""
    along = [*(left.right.y + at.tau * program.b), *(left.right.z + at.tau * program.side),
             *[e for part, (_, g) in zip(left.right.cones, program.cones, strict=True) for e in part + at.tau * g]]
    return (left.cost < 0.0) & (largest([*along, *left.Px]) <= tolerance * -left.cost)


def largest(values: Iterable[Any]) -> Scalar:
    """The largest size of some numbers, 0 of none."""
    return reduce(np.maximum, [abs(x) for x in values if not is_zero(x)], 0.0)


def _of_rows(right: Right) -> list[Any]:
    return [*right.y, *right.z, *[e for part in right.cones for e in part]]


def _scalars(at: Place) -> list[Any]:
    parts = [at.x, at.y, at.z, at.s, *[v for cone in at.cones for v in cone]]
    return [*[e for part in parts for e in part], at.tau, at.kappa]


def _placed(scalars: Array, like: Place) -> Place:
    sizes = [len(v) for v in (like.x, like.y, like.z, like.s, *[v for cone in like.cones for v in cone])]
    ends = np.cumsum([0, *sizes])
    x, y, z, s, *cones = [scalars[a:b] for a, b in pairwise(ends)]
    return Place(x, y, z, s, list(zip(cones[::2], cones[1::2], strict=True)), scalars[-2], scalars[-1])


def _arrays(program: Program) -> list[Array]:
    return [program.P, program.q, program.A, program.b, program.G, program.factor, program.side,
            np.asarray(program.regular), *[array for cone in program.cones for array in cone]]


def _of_arrays(arrays: Sequence[Array], like: Program) -> Program:
    P, q, A, b, G, factor, side, regular, *cones = arrays
    return Program(P, q, A, b, G, like.rows, factor, side, list(zip(cones[::2], cones[1::2], strict=True)),
                   regular.item())


class Packing:
    """Arrays of nodes and numbers as one vector of the nodes that are no numbers."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self.arrays: list[Any] = [np.asarray(array, dtype=object) for array in arrays]
        self.nodes = list({x.index: x for array in self.arrays for x in array.flat if _varies(x)}.values())

    def unpacked(self, values: Array) -> list[Array]:
        """The arrays with values in the place of their nodes."""
        new = {node.index: value for node, value in zip(self.nodes, values, strict=True)}
        return [_symbols([new[x.index] if _varies(x) else x.value if isinstance(x, Node) else x for x in array.flat]
                         ).reshape(array.shape) for array in self.arrays]


def _symbols(scalars: Sequence[Any]) -> Array:
    return symbols(np.array(scalars, dtype=object))


def _varies(x: object) -> bool:
    return isinstance(x, Node) and x.op != "constant"


class Found(NamedTuple):
    """A solution in scaled units, the equations whose solution changes with the data as it does, and how many steps
    were taken."""

    x: Array
    y: Array
    z: Array
    cones: Sequence[Array]
    equations: Equations


def sharpened(program: Program, at: Place) -> Found:
    """The solution in which the sides that seem to be active are so exactly, if that leaves less than before."""
    x, y, z = at.x / at.tau, at.y / at.tau, at.z / at.tau
    cones = [w / at.tau for _, w in at.cones]
    scalings = [Cone(s, w).weight(program.regular) for s, w in at.cones]
    active = [a > b for a, b in zip(at.z, at.s, strict=True)]
    equations = Equations(program, _symbols([chosen(a, 1.0 / program.regular, 0.0) for a in active]), scalings)
    if program.cones:
        return Found(x, y, z, cones, equations)
    before = _left(program, x, y, z)
    own = x, y, _symbols([chosen(a, e, 0.0) for a, e in zip(active, z, strict=True)])
    for _ in range(_REFINED):
        short = program.side - program.across(own[0])
        change = equations.solve(Right(-_slope(program, *own), program.b - program.A @ own[0],
                                       _symbols([chosen(a, e, 0.0) for a, e in zip(active, short, strict=True)]), []))
        own = own[0] + change.x, own[1] + change.y, own[2] + change.z
    better = _left(program, *own) <= before
    x, y, z = [_symbols([chosen(better, new, old) for new, old in zip(a, b, strict=True)])
               for a, b in zip(own, (x, y, z), strict=True)]
    return Found(x, y, z, cones, equations)


def _slope(program: Program, x: Array, y: Array, z: Array) -> Array:
    return program.P @ x + program.q + y @ program.A + program.pulled(z)


def _left(program: Program, x: Array, y: Array, z: Array) -> Scalar:
    """How far from a solution: of each side, its distance or its multiplier must be zero, and neither less."""
    short = program.side - program.across(x)
    return largest([*_slope(program, x, y, z), *(program.A @ x - program.b),
                    *[np.minimum(a, b) for a, b in zip(short, z, strict=True)]])
