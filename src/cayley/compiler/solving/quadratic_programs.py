"""Quadratic programs, and those with second-order cones, solved inside a kernel in a bounded number of operations.

The text is the same for numbers, which a kernel made for their shapes solves, and for symbols within a kernel. How the
solution changes with the data follows from the implicit function theorem at the solution: no derivative goes through
the steps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from cayley.compiler.solving.active_sets import by_active_sets, is_small
from cayley.compiler.solving.interior_point import (
    ConeProgram,
    Place,
    Right,
    StepEquations,
    residuals,
    weight_at_solution,
)
from cayley.compiler.solving.linear import chosen
from cayley.compiler.solving.optimum import Optimum, Status
from cayley.compiler.solving.program_data import ProgramData, as_program
from cayley.compiler.solving.program_loop import (
    Solution,
    brought_near,
    is_exact,
    is_infeasible,
    is_unbounded,
    largest,
    measured,
    sharpened,
    with_active,
    with_own_curvature,
)
from cayley.compiler.solving.quasidefinite import factored, times
from cayley.compiler.solving.scaled_programs import Scales, scaled
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.implied_values import implied
from cayley.compiler.tracing.symbols import rounding, symbols, where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SignatureError
from cayley.explained_calls import explained

Start = Optimum | tuple[ArrayLike, ArrayLike, ArrayLike]
ITERATIONS = 40
TOLERANCE = 1e-8
_LEAST = 2.0**10  # units of rounding below which no residual is asked for


@explained
def quadratic_program(P: ArrayLike, q: ArrayLike, A: ArrayLike | None = None, b: ArrayLike | None = None,
                      G: ArrayLike | None = None, lower: ArrayLike | None = None, upper: ArrayLike | None = None, *,
                      start: Start | None = None,
                      iterations: int = ITERATIONS, tolerance: float = TOLERANCE) -> Optimum:
    """The x (n) that minimises x'P x / 2 + q'x subject to A x = b and lower <= G x <= upper.

    P (n, n) is positive semidefinite, and only its symmetric part counts; zeros make a linear program. A (p, n) with
    b (p), and G (m, n) with its bounds (m), may be absent; bounds without G are bounds of x itself. A bound may be
    infinite, which 1e20 is, too. Within a kernel an entry that is the number 0, an infinite bound, or bounds that are
    the same are structure, and what follows from them takes no work. On numbers all arrays may have leading axes, which
    broadcast.

    See `Optimum` for the result: look at its `status`. A program is solved when no residual is larger than `tolerance`
    beside the largest terms that it is the sum of. A program with at most 48 bounded rows is solved by active sets, in
    at most three turns for each row. Any other one, and one that is not solved so, takes at most `iterations` steps of
    an interior-point method, ten as a rule. `start` is a former result for nearly the same data, or its x, equalities
    and inequalities: if about the same bounds are active, no step is taken. Derivatives of the solution are those of
    the program in which the bounds that are active stay so. Where a bound is just about to become active, or to be
    left, the solution has a derivative to each side, and the one given is one of them.

    >>> best = cy.quadratic_program(np.eye(2), [-2.0, -1.0], G=[[1.0, 1.0]], upper=[2.0])
    >>> best.words, best.x.round(9), best.inequalities.round(9)
    ('solved', array([1.5, 0.5]), array([0.5]))
    """
    return _answered("cy.quadratic_program", ProgramData(P, q, A, b, G, lower, upper, ()), start, iterations, tolerance)


@explained
def cone_program(P: ArrayLike, q: ArrayLike, A: ArrayLike | None = None, b: ArrayLike | None = None,
                 G: ArrayLike | None = None, lower: ArrayLike | None = None, upper: ArrayLike | None = None, *,
                 cones: Sequence[tuple[ArrayLike, ArrayLike]], iterations: int = ITERATIONS,
                 tolerance: float = TOLERANCE) -> Optimum:
    """The x (n) that minimises x'P x / 2 + q'x subject to A x = b, lower <= G x <= upper and second-order cones.

    Each of the `cones` is a pair of F (k, n) and g (k): of t = F x + g the first entry is at least the length of the
    others, t[0] >= |t[1:]|. All else is as for `quadratic_program`, but x is known only to about the root of the
    tolerance. A contact force x with the normal z and a coefficient of friction 0.5 is in its cone with

    >>> F = [[0.0, 0.0, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> wanted = np.array([3.0, 4.0, 5.0])
    >>> cy.cone_program(np.eye(3), -wanted, cones=[(F, np.zeros(3))]).x.round(6)
    array([1.8, 2.4, 6. ])
    """
    given = ProgramData(P, q, A, b, G, lower, upper, tuple(cones))
    return _answered("cy.cone_program", given, None, iterations, tolerance)


def _answered(name: str, given: ProgramData, start: Start | None, iterations: int, tolerance: float) -> Optimum:
    if operator.index(iterations) < 1 or not tolerance > 0.0:
        raise SignatureError(f"{name} takes at least one iteration and a tolerance above 0, not "
                             f"iterations={iterations} and tolerance={tolerance}")
    given = given.checked(name)
    near = None if start is None else given.nearby(name, start[:3])
    if (graph := given.graph()) is None:
        from cayley.compiler.solving.programs_of_numbers import solved_as_numbers  # which makes kernels of this text
        return solved_as_numbers(name, given, near, iterations, tolerance)
    return solved_in_kernel(given, graph, near, iterations, tolerance)


def solved_in_kernel(given: ProgramData, graph: Graph, start: tuple[Array, ...] | None, iterations: int,
                     tolerance: float) -> Optimum:
    """The solution as symbols of a graph, near a start if there is one: x and multipliers of equations and rows."""
    original, layout = as_program(given, graph)
    program, scales = scaled(original)
    sharp = program if program.cones else with_own_curvature(program)
    tolerance = np.maximum(tolerance, _LEAST * rounding(graph.constant(1.0)))
    ready = graph.constant(0.0)
    warm = None
    if start is not None:
        warm = sharpened(sharp, measured(sharp, *_in_units_of(scales, layout.sides(original, start))))
        ready = 1.0 * (is_exact(program, warm) & (warm.left <= tolerance))
    proof = None
    if is_small(program):
        tried, proof, proven = _by_active_sets(sharp, ready, tolerance)
        warm = tried if warm is None else _either(ready != 0.0, warm, tried)
        ready = 1.0 * ((is_exact(program, warm) & (warm.left <= tolerance)) | proven)
    at, count = brought_near(program, ready, iterations, tolerance)
    if proof is not None:
        at = _either(proven, proof, at)
    ended = residuals(program, at)
    infeasible = is_infeasible(program, at, ended, tolerance)
    unbounded = is_unbounded(program, at, ended, tolerance)
    found = measured(program, at.x / at.tau, at.y / at.tau, at.z / at.tau)
    if warm is not None:
        found = _either(ready != 0.0, warm, found)
    if program.cones:
        equations = StepEquations(program, at.z / (at.s + program.regular * at.z),
                              [weight_at_solution(s, w, program.regular) for s, w in at.cones])
    else:
        found = sharpened(sharp, found)
        equations = with_active(sharp, found)[1]
    x, y, z, cones = _differentiable(original, program, scales, found, [w / at.tau for _, w in at.cones], equations)
    primal, dual, gap, solved = _measured(original, x, y, z, cones, tolerance)
    status = _status(given, program, solved, infeasible, unbounded, at)
    is_ray, is_proof = status == Status.UNBOUNDED.value, status == Status.INFEASIBLE.value
    net = program.without_opposites(at.z)
    support = program.b @ at.y + program.side @ net
    for (_, g), (_, w) in zip(program.cones, at.cones, strict=True):
        support = support + g @ w
    proof = -1.0 / chosen(is_proof, support, -1.0)
    ray = -1.0 / chosen(is_ray, ended.cost, -1.0)
    unknown = _crossed(given) | (status == Status.NOT_A_NUMBER.value)

    def multipliers(values: Array, certificate: Array) -> Array:
        shown = [chosen(is_proof, c, v) for c, v in zip(certificate, values, strict=True)]
        return symbols([chosen(is_ray | unknown, np.nan, v) for v in shown])

    y = multipliers(y, proof * scales.y * at.y)
    z = multipliers(z, proof * scales.rows[list(program.rows)] * net if len(program.rows) else net)
    return Optimum(
        symbols([chosen(is_proof | unknown, np.nan, chosen(is_ray, ray * scales.cost * s * r, v))
                 for s, r, v in zip(scales.x, at.x, x, strict=True)]),
        y[:layout.equations], layout.inequalities(original, y, z),
        tuple(multipliers(w, proof * size * v)
              for w, size, (_, v) in zip(cones, scales.cones, at.cones, strict=True)),
        primal, dual, gap, count, status)


def _by_active_sets(program: ConeProgram, has_ended: Scalar, tolerance: Scalar) -> tuple[Solution, Place, Scalar]:
    """A solution of a small program, a place whose multipliers are a certificate if it has none, and whether they are.
    """
    guess = by_active_sets(program, has_ended)
    ones = np.ones(len(guess.z))
    proof = Place(guess.x, guess.y, guess.z, ones, (), 1.0, 1.0)
    proven = guess.proves & is_infeasible(program, proof, residuals(program, proof), tolerance)
    return sharpened(program, measured(program, guess.x, guess.y, guess.z)), proof, proven


def _either(condition: Scalar, one: Any, other: Any) -> Any:  # noqa: ANN401 (two solutions, or two places)
    """One of two solutions or places, number by number."""
    return type(one)(*[b if isinstance(a, tuple) else where(condition, a, b) for a, b in zip(one, other, strict=True)])


def _differentiable(original: ConeProgram, program: ConeProgram, scales: Scales, found: Solution,
                    cones: Sequence[Array], equations: StepEquations) -> tuple[Array, Array, Array, list[Array]]:
    """The solution in the units given, with the derivatives that the equations of the active bounds give it."""
    rows = scales.rows[list(program.rows)] if len(program.rows) else np.zeros(0)
    back = [scales.x, scales.y / scales.cost, rows / scales.cost,
            *[np.full(len(g), size) / scales.cost for size, (_, g) in zip(scales.cones, program.cones, strict=True)]]
    parts = [size * part for size, part in zip(back, (found.x, found.y, found.z, *cones), strict=True)]
    ends = np.cumsum([0, *[len(part) for part in parts]])

    def split(values: Sequence[Any]) -> list[Array]:
        return [symbols(values[a:b]) for a, b in pairwise(ends)]

    def law(places: list[Node], hold: Callable[[Any], Any]) -> Sequence[Node]:
        def held(array: Array) -> Array:
            return symbols([hold(e) for e in np.asarray(array, dtype=object).flat]).reshape(np.shape(array))

        x, y, z, *cones = split(places)
        slope = times(original.P, x) + original.q + times(original.A.T, y) + original.pulled(z)
        for (F, _), w in zip(original.cones, cones, strict=True):
            slope = slope - w @ F
        right = Right(held(scales.cost * scales.x) * slope, held(scales.y) * (times(original.A, x) - original.b),
                      held(rows) * (original.across(x) - original.side),
                      [hold(size) * -(F @ x + g) for size, (F, g) in zip(scales.cones, original.cones, strict=True)])
        change = equations.mapped(held).solve(right)
        changes = np.concatenate([held(size) * part for size, part
                                  in zip(back, (change.x, change.y, change.z, *change.cones), strict=True)])
        return [place - moved for place, moved in zip(places, changes, strict=True)]

    numbers = [program.regular.graph.lift(e) for part in parts for e in part]
    x, y, z, *cones = split(implied(numbers, law).values)
    return x, y, z, cones


def _in_units_of(scales: Scales, given: tuple[Array, Array, Array, Sequence[int]]) -> tuple[Array, Array, Array]:
    """A solution in the units of the scaled program; what is no number is zero."""
    x, y, z, rows = given
    parts = x / scales.x, scales.cost * y / scales.y, scales.cost * z / scales.rows[list(rows)] if len(z) else z
    known = [symbols([chosen(abs(e) < np.inf, e, 0.0) for e in part]) for part in parts]
    return known[0], known[1], known[2]


def _measured(program: ConeProgram, x: Array, y: Array, z: Array, cones: Sequence[Array],
              tolerance: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """The residuals, and whether all are small beside the largest terms that they are sums of."""
    Px, Ax, across = times(program.P, x), times(program.A, x), program.across(x)
    pulls = [times(program.A.T, y), program.pulled(z),
             *[-(w @ F) for (F, _), w in zip(program.cones, cones, strict=True)]]
    beyond = [*(Ax - program.b), *[np.maximum(e, 0.0) for e in across - program.side]]
    terms = [Px @ x, program.q @ x, program.b @ y, program.side @ z]
    sizes = [*Ax, *program.b, *across, *program.side]
    wrong = [np.minimum(e, 0.0) for e in z]
    for (F, g), w in zip(program.cones, cones, strict=True):
        t = F @ x + g
        beyond.append(np.maximum(_length(t[1:]) - t[0], 0.0))
        wrong.append(np.minimum(w[0] - _length(w[1:]), 0.0))
        terms.append(g @ w)
        sizes += [*t, *g]
    primal, dual, gap = largest(beyond), largest(sum(pulls, Px + program.q)), abs(sum(terms))
    pull = largest([e for part in (Px, program.q, *pulls) for e in part])
    return primal, dual, gap, ((primal <= tolerance * (1.0 + largest(sizes))) & (dual <= tolerance * (1.0 + pull))
                               & (largest(wrong) <= tolerance * (1.0 + pull))
                               & (gap <= tolerance * (1.0 + largest(terms))))


def _length(v: Array) -> Scalar:
    return np.sqrt(v @ v)


def _crossed(given: ProgramData) -> Scalar:
    """True if a lower bound is above its upper one."""
    if given.lower is None or given.upper is None:
        return False
    return reduce(operator.or_, [a > b for a, b in zip(given.lower, given.upper, strict=True)])


def _status(given: ProgramData, program: ConeProgram, solved: Scalar, infeasible: Scalar, unbounded: Scalar,
            at: Place) -> Scalar:
    shifted = program.P + program.regular * np.diag([1.0] * len(program.q))
    convex = reduce(operator.and_, [pivot > 0.0 for pivot in factored(shifted).pivots])
    known = reduce(operator.and_, [e == e for array in given.named().values() for e in array.flat])
    status: Any = Status.NOT_CONVERGED.value
    for condition, found in ((unbounded, Status.UNBOUNDED), (infeasible, Status.INFEASIBLE), (solved, Status.SOLVED),
                             (_crossed(given), Status.INFEASIBLE), (~convex, Status.NOT_CONVEX),
                             (~known, Status.NOT_A_NUMBER)):
        status = chosen(condition, float(found.value), status)
    return status
