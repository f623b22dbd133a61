"""One predictor-corrector for all curves and ways that are followed: closed configurations and their dead centres,
singular postures, the curves of maps, postures along poses, and joints that follow inputs.

    x + h t          the prediction, along the tangent t of length one
    M dx = r         the correction by Newton's method: the shortest dx, again and again
A step is taken if the corrector arrives and the tangent has turned little; otherwise it is halved, and the curve ends
where the shortest fails. A way with a parameter is walked in shares of it that are halved and doubled alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from cayley.compiler.solving.rounding import significant
from cayley.compiler.typing import Array

_GROWTH = 1.5
_NEAR = 0.75  # of the longest step: a curve that comes so near to its start is closed
_FEWEST = 4  # points of a closed curve

Equations = Callable[[Array], tuple[Array, Array]]
"""Rows M (n, m, k) at points (n, ...), and what is missing r (n, m)."""
Advance = Callable[[Array, Array, float], "tuple[Array, Array] | None"]
"""The point and the tangent a length beyond a point, predicted along its tangent and corrected; or None."""


class Corrected(NamedTuple):
    """Points (n, ...) brought onto a curve, with (n) of each: whether the equations had values all the way, the largest
    entry that is still missing, and that of the step that would be next; the singular values (n, ·) of M, and the
    tangent (n, k), its null vector."""

    points: Array
    is_known: Array
    missing: Array
    step: Array
    singular_values: Array
    tangent: Array


class Curve(NamedTuple):
    """Points (m, ...) of a curve in their order, and whether it comes back to its start, which then is the last too."""

    points: Array
    closes: bool


def corrected(equations: Equations, moved: Callable[[Array, Array], Array], points: Array, *, iterations: int,
              tolerance: float, longest: float = np.inf, least: float | None = None,
              along: Callable[[Corrected], Array] | None = None) -> Corrected:
    """Newton's method for many points at once, by the shortest steps.

    tolerance   of what is missing and of the step, where nothing is left to do
    longest     the largest entry of a step
    least       singular values below this share of the largest are left out: those that are rounding, if not given
    along       how far (n) to slide along the tangent in the same step"""
    x = points.copy()
    is_known = np.ones(len(x), dtype=bool)
    for _ in range(iterations):
        M, missing = equations(x)
        is_known = is_known & np.isfinite(M).all(axis=(1, 2)) & np.isfinite(missing).all(axis=1)
        M = np.where(is_known[:, None, None], M, 0.0)
        missing = np.where(is_known[:, None], missing, 0.0)
        U, values, V = np.linalg.svd(M)
        rank = values.shape[1]
        seen = significant(values, M.shape[-1], exact=True, tolerance=least)
        shares = np.einsum("nij,ni->nj", U[:, :, :rank], missing) * seen / np.where(seen, values, 1.0)
        step = np.einsum("nij,ni->nj", V[:, :rank], shares)
        found = Corrected(x, is_known, np.abs(missing).max(axis=1, initial=0.0), np.abs(step).max(axis=1, initial=0.0),
                          values, V[:, -1])
        if along is not None:
            step = step + along(found)[:, None] * found.tangent
        sizes = np.abs(step).max(axis=1, initial=0.0)
        if (np.minimum(sizes, np.inf if along is not None else found.missing) <= tolerance).all():
            break
        x = moved(x, step / np.maximum(1.0, sizes / longest)[:, None])
    return found


def follow(point: Array, tangent: Array, advance: Advance, *, longest: float, shortest: float, straight: float = -1.0,
           growth: float = _GROWTH, most: int, back: Callable[[Array, Array], float] | None = None,
           ends: Callable[[Array], bool] | None = None) -> Curve:
    """The curve from a point on, in the direction of a tangent, to where it ends, or comes back.

    longest, shortest   of the steps
    straight            the least cosine between the tangents before and after a step
    most                steps that are tried
    back                how far a point, with the tangent there, is from the start
    ends                whether a point that was reached is the last"""
    found = [point]
    t = tangent
    size = longest
    for _ in range(most):
        trial = advance(found[-1], t, size)
        if trial is None or trial[1] @ t < straight:
            size /= 2
            if size < shortest:
                break
            continue
        found.append(trial[0])
        t = trial[1]
        size = min(longest, growth * size)
        if back is not None and len(found) > _FEWEST and back(*trial) < _NEAR * longest:
            return Curve(np.array([*found, point]), closes=True)
        if ends is not None and ends(trial[0]):
            break
    return Curve(np.array(found), closes=False)


def whole_curve(point: Array, tangent: Array, advance: Advance, *, longest: float, shortest: float, straight: float,
                most: int, back: Callable[[Array, Array], float]) -> Curve:
    """The curve through a point: all round, or from one end to the other."""
    def half(direction: Array) -> Curve:
        return follow(point, direction, advance, longest=longest, shortest=shortest, straight=straight, most=most,
                      back=back)

    ahead = half(tangent)
    return ahead if ahead.closes else Curve(np.concatenate([half(-tangent).points[:0:-1], ahead.points]), closes=False)


def zero_ahead(value: Callable[[Array, Array], float], point: Array, tangent: Array, advance: Advance,
               length: float) -> Array | None:
    """The point within a length of the curve at which a function of point and tangent goes through zero, to rounding;
    None if its sign is the same at both ends."""
    def at(h: float) -> float:
        there = advance(point, tangent, h)
        return np.nan if there is None else value(*there)

    if not at(0.0) * at(length) <= 0:
        return None
    there = advance(point, tangent, float(brentq(at, 0.0, length, xtol=1e-15, rtol=1e-14)))
    return None if there is None else there[0]


class Progress:
    """The progress of each of n walks: the share that is done, from 0 to 1, and the share to try next."""

    def __init__(self, count: int, first: float = 1.0) -> None:
        self.done = np.zeros(count)
        self.next = np.full(count, first)

    def ahead(self, rows: Array) -> tuple[Array, Array]:
        """The share of the rest of the way that the next step is, and whether it is the last."""
        share = np.minimum(self.next[rows] / (1.0 - self.done[rows]), 1.0)
        return share, share >= 1.0

    def record(self, rows: Array, fine: Array, last: Array) -> None:
        """Double what to try next where a step was fine, and halve it where not; after a last step another way
        begins."""
        done = self.done[rows]
        tried = self.next[rows]
        self.done[rows] = np.where(fine, np.where(last, 0.0, done + tried), done)
        self.next[rows] = np.where(fine, np.where(last, 1.0, np.minimum(2 * tried, 1.0)), tried / 2)
