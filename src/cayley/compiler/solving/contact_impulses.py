"""Impulses of contacts with Coulomb friction, and impulses within bounds: one problem, solved inside a kernel.

Each round takes steps of Newton's method on the law of contact, r = P(r - s v) (semismooth; Alart & Curnier 1991;
`contact_law`), keeps the best of them, and then sweeps over the contacts (`contact_sweeps`). From the last impulses,
one step of Newton's method is exact as long as no contact changes between open, sticking and sliding.

About a hundredth of the postures of a humanoid on the corners of its soles make both of them run in circles. Then the
law is smoothed, from zero impulses: first so much that a few steps solve it, and less and less as the solution is
followed (Chen & Mangasarian 1996). A path that turns back before it arrives is left for one of other lengths s.

Where rows depend on each other (a box on four corners) impulses are not unique: steps are damped, more or less from
round to round, and end near the start, or in the middle if the law was smoothed. Derivatives are those of the solution
where no contact is about to change."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.contact_law import (
    DAMPING,
    ContactRows,
    Impulses,
    derivative,
    distance,
    eliminated,
    largest_speed,
    residual,
    smoothed,
    step_lengths,
    with_derivatives,
)
from cayley.compiler.solving.contact_sweeps import sweep_of
from cayley.compiler.solving.loops import repeat
from cayley.compiler.tracing.symbols import rounding, where
from cayley.compiler.typing import Array, Scalar

_STEPS = 10  # of Newton's method in a round
_SWEEPS = 16
_DAMPINGS = (DAMPING, 1e-3)  # of these steps, round by round
_TOLERANCE = 1e-11  # of the largest free velocity
_ROUNDING = 512.0  # units of it that are asked for at least: 6e-5 in float32
_PATHS = ((1.0, 0.7), (3.0, 0.7), (1.0, 0.9), (9.0, 0.9))  # factors of the lengths s, and of widths at the next place
_PLACES = 160  # along a path
_NEAR = 2.0  # widths: what is left at a place before its last step


def contact_impulses(rows: ContactRows, start: Array) -> Impulses:
    """The impulses of contacts, found from those of a `start` (m).

    >>> ball = ContactRows(np.eye(3), np.array([0.3, 0.0, -1.0]), np.array([0.2]), np.zeros(0), np.zeros(0))
    >>> contact_impulses(ball, np.zeros(3)).r.round(9) + 0.0
    array([-0.2,  0. ,  1. ])
    """
    scales = step_lengths(rows)
    whole = largest_speed(rows)
    allowed = np.maximum(_TOLERANCE, _ROUNDING * rounding(whole - whole + 1.0)) * whole

    sweep = sweep_of(rows, scales)

    def swept(now: _Swept) -> _Swept:
        r, roots = sweep(now.last.r, now.roots)
        return _Swept(_Try(r, residual(rows, scales, r)), roots)

    def improved(best: _Try, turn: Scalar) -> tuple[_Try, Scalar]:
        begun, way = _begun(best, turn, whole)
        steps = repeat(lambda x: _newton(rows, scales, x, way), begun, _PLACES,
                       until=lambda x: (x.best.residual <= allowed) | (x.left <= 0.0))
        last = repeat(swept, _Swept(steps.best, 0.0 * rows.friction), _SWEEPS,
                      until=lambda x: x.last.residual <= allowed).last
        return last, turn + 1.0

    begun = _Try(start, residual(rows, scales, start)), 0.0 * whole
    found, _ = repeat(lambda x: improved(*x), begun, len(_DAMPINGS) + len(_PATHS),
                      until=lambda x: x[0].residual <= allowed)
    r = with_derivatives(rows, scales, found.r)
    return Impulses(r, rows.free + rows.W @ r, found.residual, allowed)


class _Try(NamedTuple):
    """Impulses, and how far they are from a solution [m/s]."""

    r: Array
    residual: Scalar


class _Swept(NamedTuple):
    """The impulses after the last sweep, and the roots k of contacts."""

    last: _Try
    roots: Array


class _Steps(NamedTuple):
    """The impulses after the last step of Newton's method, the width [m/s] of corners, the best impulses of all, and
    how many steps are left."""

    r: Array
    width: Scalar
    best: _Try
    left: Scalar


class _Way(NamedTuple):
    """The damping of a round, and on a path the factors of the lengths s and of widths at the next place."""

    damping: Scalar
    longer: Scalar
    narrower: Scalar


def _begun(best: _Try, turn: Scalar, whole: Scalar) -> tuple[_Steps, _Way]:
    """The start of a round or of a path, and its way."""
    ways = [_Way(damping, 1.0, 1.0) for damping in _DAMPINGS] + [_Way(DAMPING, *path) for path in _PATHS]
    chosen = reduce(lambda x, k: _Way(*(where(turn == float(k), a, b) for a, b in zip(ways[k], x, strict=True))),
                    range(1, len(ways)), ways[0])
    follows = turn >= float(len(_DAMPINGS))
    return _Steps(where(follows, 0.0, best.r), where(follows, whole, 0.0), best,
                  where(follows, float(_PLACES), float(_STEPS))), chosen


def _newton(rows: ContactRows, scales: Array, steps: _Steps, way: _Way) -> _Steps:
    """One more step of Newton's method, from the best impulses if the last ones are not numbers, and narrower corners
    if it began near."""
    lengths, r = way.longer * scales, steps.r
    aim = smoothed(rows, r - lengths * (rows.free + rows.W @ r), steps.width * lengths)
    is_near = distance(lengths, r, aim.value) <= _NEAR * steps.width
    r = r + np.stack(eliminated(derivative(rows, lengths, aim, way.damping)).solve(list(aim.value - r)))
    left = residual(rows, scales, r)
    last = _where(left < np.inf, _Try(r, left), steps.best)
    return _Steps(last.r, where(is_near, way.narrower * steps.width, steps.width),
                  _where(last.residual < steps.best.residual, last, steps.best), steps.left - 1.0)


def _where(condition: Scalar, one: _Try, other: _Try) -> _Try:
    return _Try(where(condition, one.r, other.r), where(condition, one.residual, other.residual))
