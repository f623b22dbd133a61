"""Sweeps of Gauss-Seidel over contacts: one after another is solved as if the others were known (`contact_law`).

The friction of one contact that slides is a root of one number k, S r_t + b = -k r_t, |r_t| = mu r_n, which always
exists (the cone is exact: no pyramid, no smoothing); a sweep comes nearer to it by some steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.contact_law import (
    TINY,
    ContactRows,
    Impulses,
    largest_speed,
    residual,
    step_lengths,
    with_derivatives,
)
from cayley.compiler.solving.loops import repeat
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar

_HELD = 1e-7  # of the largest of W: what a direction has that nothing moves
_LARGE = 20.0  # of a + d: a k at which hardly any friction is left


def swept_impulses(rows: ContactRows, start: Array, sweeps: int, tolerance: float = 1e-4) -> Impulses:
    """The impulses of contacts after so many sweeps of Gauss-Seidel at most, which end when the last one changed no
    velocity by more than `tolerance` of the largest free one: less work and memory than `contact_impulses`, as a GPU
    likes it. A contact that slides comes nearer to the root of k by two steps of Newton's method in each sweep.

    >>> ball = ContactRows(np.eye(3), np.array([0.3, 0.0, -1.0]), np.array([0.2]), np.zeros(0), np.zeros(0))
    >>> swept_impulses(ball, np.zeros(3), 5).r.round(9) + 0.0
    array([-0.2,  0. ,  1. ])
    """
    scales = step_lengths(rows)
    sweep = sweep_of(rows, scales)
    allowed = np.maximum(tolerance * largest_speed(rows), TINY)

    def onward(now: _Sweep) -> _Sweep:
        r, roots = sweep(now.r, now.roots)
        return _Sweep(r, roots, reduce(np.maximum, [abs(x) for x in (r - now.r) / scales]))

    begun = _Sweep(start, 0.0 * rows.friction, 2.0 * allowed)
    r = repeat(onward, begun, sweeps, until=lambda now: now.change <= allowed).r
    r = with_derivatives(rows, scales, r)
    v = rows.free + rows.W @ r
    return Impulses(r, v, residual(rows, scales, r), allowed)


class _Sweep(NamedTuple):
    """The impulses after a sweep, the roots k of contacts, and how much the sweep has changed [m/s]."""

    r: Array
    roots: Array
    change: Scalar


def sweep_of(rows: ContactRows, scales: Array) -> Callable[[Array, Array], tuple[Array, Array]]:
    """A sweep over all contacts and rows: from the impulses (m) and the roots k (c) of contacts to the next ones."""
    m, size = len(rows.W), 3 * len(rows.friction)
    contacts = [_Closed.of(rows.W[3 * c:3 * c + 3, 3 * c:3 * c + 3], mu) for c, mu in enumerate(rows.friction)]

    def sweep(start: Array, roots: Array) -> tuple[Array, Array]:
        r, nearer = list(start), list(roots)
        for c, contact in enumerate(contacts):
            own = range(3 * c, 3 * c + 3)
            others = [*range(own.stop, m), *range(own.start)]  # what has changed last enters a sum last
            free = [rows.free[k] + sum(rows.W[k][j] * r[j] for j in others) for k in own]
            r[own.start:own.stop], nearer[c] = contact.impulse(free, roots[c])
        for k in range(size, m):
            v = rows.free[k] + sum(rows.W[k][j] * r[j] for j in range(m))
            r[k] = np.minimum(np.maximum(r[k] - scales[k] * v, rows.lower[k - size]), rows.upper[k - size])
        return np.stack(r), np.array(nearer)

    return sweep


class _Closed(NamedTuple):
    """One contact with its normal closed: per tangential impulse its tangents move by S = [[a, b], [b, d]], and its
    normal impulse changes by -`lever`. Numbers that all sweeps divide by are here as their reciprocals."""

    lever: tuple[Scalar, Scalar]
    a: Scalar
    b: Scalar
    d: Scalar
    per_area: Scalar
    per_normal: Scalar
    friction: Scalar

    @staticmethod
    def of(W: Array, friction: Scalar) -> _Closed:
        per_normal = 1.0 / where(W[2][2] > 0.0, W[2][2], 1.0)
        p, q = W[0][2] * per_normal, W[1][2] * per_normal
        a, b, d = W[0][0] - p * W[0][2], W[0][1] - p * W[1][2], W[1][1] - q * W[1][2]
        largest = np.maximum(np.maximum(a, d), TINY)  # where a plane holds a point, nothing moves it across
        a, d = (where(x > _HELD * largest, x, largest) for x in (a, d))
        return _Closed((p, q), a, b, d, 1.0 / (a * d - b * b), per_normal, friction)

    def impulse(self, free: Sequence[Any], root: Scalar) -> tuple[list[Any], Scalar]:
        """The impulse (3) of this contact, which moves with `free` (3) without it, and the k for the next sweep."""
        push = -free[2] * self.per_normal
        rest = free[0] - self.lever[0] * free[2], free[1] - self.lever[1] * free[2]
        stuck = self._at(0.0, rest, push, self.per_area)
        root = self._nearer(root, self._at(root, rest, push))
        slid = self._at(root, rest, push)
        n = np.maximum(slid.n, 0.0)
        share = np.minimum(1.0, self.friction * n / slid.size)
        lost = n <= 0.0  # k is too small
        sliding = (where(lost, 0.0, share * slid.x), where(lost, 0.0, share * slid.y), where(lost, push, n))
        touches, sticks = free[2] < 0.0, (stuck.n > 0.0) & (stuck.square <= (self.friction * stuck.n) ** 2)
        found = [where(touches, where(sticks, one, other), 0.0)
                 for one, other in zip((stuck.x, stuck.y, stuck.n), sliding, strict=True)]
        return found, where(touches & ~sticks, self._nearer(root, slid), 0.0)

    def _at(self, k: Scalar, rest: Sequence[Any], push: Scalar, per_area: Scalar | None = None) -> _Pull:
        (p, q), a, b, d = self.lever, self.a + k, self.b, self.d + k
        per_area = 1.0 / (a * d - b * b) if per_area is None else per_area
        x, y = (b * rest[1] - d * rest[0]) * per_area, (b * rest[0] - a * rest[1]) * per_area
        return _Pull(x, y, push - p * x - q * y, x * x + y * y + TINY, per_area)

    def _nearer(self, k: Scalar, at: _Pull) -> Scalar:
        """The root of mu r_n = |r_t| by a step of Newton's method on mu r_n / |r_t| = 1, or a larger k if there is none
        on this side of it."""
        (p, q), a, b, d = self.lever, self.a + k, self.b, self.d + k
        dx, dy = (b * at.y - d * at.x) * at.per_area, (b * at.x - a * at.y) * at.per_area
        slope = self.friction * (-(p * dx + q * dy) * at.square - at.n * (at.x * dx + at.y * dy))
        step = (at.size - self.friction * at.n) * at.square / where(slope > 0.0, slope, 1.0)
        return where(slope > 0.0, where(step > -k, k + step, 0.5 * k), 2.0 * k + _LARGE * (self.a + self.d))


class _Pull(NamedTuple):
    """The impulse of a closed contact at some k, the square of its tangential length, and 1 / det(S + k)."""

    x: Scalar
    y: Scalar
    n: Scalar
    square: Scalar
    per_area: Scalar

    @property
    def size(self) -> Scalar:
        return np.sqrt(self.square)
