"""The steps of the interior-point method as a loop, and what is made of where it ends."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.interior_point import (
    ConeProgram,
    Place,
    Residuals,
    Right,
    StepEquations,
    advanced,
    residuals,
    start,
)
from cayley.compiler.solving.linear import chosen, is_zero
from cayley.compiler.solving.loops import repeat
from cayley.compiler.solving.quasidefinite import factored, times
from cayley.compiler.tracing.symbols import symbols, where
from cayley.compiler.typing import Array, Scalar

_DEEPER = 0.1  # of the tolerance, in scaled units
_REFINED = 2
_ROUNDS = 5
_EXACT = 2.0**6  # units of rounding
_CURVED = 2.0**13


class LoopTurn(NamedTuple):
    """The state of the loop: a place, how many steps led there, and whether it is the last one."""

    at: Place
    steps: Scalar
    has_ended: Scalar


def brought_near(program: ConeProgram, has_ended: Scalar, iterations: int, tolerance: Scalar) -> tuple[Place, Scalar]:
    """The point to which at most so many steps from the usual start lead, and how many were taken: none where it
    `has_ended` (0, 1) before, none after it was found solved, infeasible or unbounded, or a step would not have been of
    numbers."""
    def step(turn: LoopTurn) -> LoopTurn:
        after = advanced(program, turn.at)
        is_finite = reduce(operator.and_, [abs(x) < np.inf for x in _scalars(after)])
        goes = is_finite & ~_has_ended(program, turn.at, tolerance if program.cones else _DEEPER * tolerance)
        return LoopTurn(_where(goes, after, turn.at), turn.steps + chosen(goes, 1.0, 0.0), chosen(goes, 0.0, 1.0))

    found = repeat(step, LoopTurn(start(program), 0.0, has_ended), iterations,
                   until=lambda turn: turn.has_ended != 0.0)
    return found.at, found.steps


def _where(condition: Scalar, new: Place, old: Place) -> Place:
    def either(a: Any, b: Any) -> Any:  # noqa: ANN401 (an array, a number, or tuples of them)
        if isinstance(a, tuple):
            parts = [either(x, y) for x, y in zip(a, b, strict=True)]
            return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
        return where(condition, a, b)

    return Place(*[either(a, b) for a, b in zip(new, old, strict=True)])


def _has_ended(program: ConeProgram, at: Place, tolerance: Scalar) -> Scalar:
    left = residuals(program, at)
    return is_solved(program, at, left, tolerance) | is_infeasible(program, at, left, tolerance) | is_unbounded(
        program, at, left, tolerance)


def is_solved(program: ConeProgram, at: Place, left: Residuals, tolerance: Scalar) -> Scalar:
    """True if x / tau is a solution."""
    quadratic = at.x @ left.Px / at.tau
    least = np.minimum(abs(quadratic / 2.0 + left.cost), abs(quadratic / 2.0 + left.support))
    return ((largest(_of_rows(left.right)) <= tolerance * (at.tau + largest(at.x)))
            & (largest(left.right.x) <= tolerance * (at.tau + largest(left.Px)))
            & (abs(quadratic + left.cost + left.support) <= tolerance * (at.tau + least))
            & (largest([np.minimum(a, b) for a, b in zip(at.s, at.z, strict=True)]) <= tolerance * at.tau))


def is_infeasible(program: ConeProgram, at: Place, left: Residuals, tolerance: Scalar) -> Scalar:
    """True if the multipliers show that no x meets the constraints."""
    return (left.support < 0.0) & (largest(left.right.x - left.Px - at.tau * program.q) <= tolerance * -left.support)


def is_unbounded(program: ConeProgram, at: Place, left: Residuals, tolerance: Scalar) -> Scalar:
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


def _symbols(scalars: Sequence[Any]) -> Array:
    return symbols(np.array(scalars, dtype=object))


class Solution(NamedTuple):
    """An x with its multipliers of equations and sides, and how far it is from being a solution."""

    x: Array
    y: Array
    z: Array
    left: Scalar


def measured(program: ConeProgram, x: Array, y: Array, z: Array) -> Solution:
    """The point with its distance from a solution: of each side, its distance or its multiplier must be zero, and
    neither less.
    """
    short = program.side - program.across(x)
    return Solution(x, y, z, largest([*_slope(program, x, y, z), *(times(program.A, x) - program.b),
                                      *[np.minimum(a, b) for a, b in zip(short, z, strict=True)]]))


def sharpened(program: ConeProgram, near: Solution) -> Solution:
    """The best of some solutions, in each of which the sides that seemed to be active before are so exactly
    (Hintermueller, Ito & Kunisch, SIAM J. Optim. 13, 2002)."""
    def turn(now: Solution, best: Solution) -> tuple[Solution, Solution]:
        active, equations = with_active(program, now)
        x, y, z = now.x, now.y, _only(active, now.z)
        for _ in range(_REFINED):
            change = equations.solve(Right(-_slope(program, x, y, z), program.b - times(program.A, x),
                                           _only(active, program.side - program.across(x)), []))
            x, y, z = x + change.x, y + change.y, z + change.z
        new = measured(program, x, y, z)
        better = new.left <= best.left
        return new, Solution(*[where(better, a, b) for a, b in zip(new, best, strict=True)])

    found: Solution = repeat(lambda both: turn(*both), (near, near), _ROUNDS,
                             until=lambda both: is_exact(program, both[1]))[1]
    return found


def with_own_curvature(program: ConeProgram) -> ConeProgram:
    """The program without what is added to P, where P has an inverse beyond rounding."""
    least = _CURVED * program.regular * program.regular
    is_curved = reduce(operator.and_, [pivot > least for pivot in factored(program.P).pivots])
    return program._replace(flat=chosen(is_curved, 0.0, program.flat))


def is_exact(program: ConeProgram, found: Solution) -> Scalar:
    """True if rounding is all that is left."""
    return found.left <= _EXACT * program.regular * program.regular * (1.0 + largest(found.x) + largest(found.z))


def with_active(program: ConeProgram, found: Solution) -> tuple[list[Scalar], StepEquations]:
    """The sides that are active in a solution, and the equations that hold them so."""
    active = [z > short for z, short in zip(found.z, program.side - program.across(found.x), strict=True)]
    return active, StepEquations(program, _only(active, np.full(len(active), 1.0) / program.regular), [])


def _only(active: Sequence[Scalar], values: Array) -> Array:
    return _symbols([chosen(a, value, 0.0) for a, value in zip(active, values, strict=True)])


def _slope(program: ConeProgram, x: Array, y: Array, z: Array) -> Array:
    return times(program.P, x) + program.q + times(program.A.T, y) + program.pulled(z)
